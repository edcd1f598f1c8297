/* params.c: parameters that follow from the grains, the solver and a step. Those of materials: materials.c. */
#include <math.h>
#include <string.h>

#include "../contact/cells.h"
#include "../solvers/spheres/coloured/coloured.h"
#include "../solvers/planar/planar.h"
#include "world.h"

/* size classes: one up to a ratio of radii of 2.5, then one more for each further factor of about 3 */
void gg_params_from_grains(gg_world *w) {
    gg_params *p = &w->view.params;
    int64_t n = w->view.dims.grain_count;
    const gg_vec4 *x = w->view.position;
    float low = 1e30f, high = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        low = gg_minf(low, x[i].w);
        high = gg_maxf(high, x[i].w);
    }
    p->radius_min = n ? low : 1.0f;
    p->radius_max = n ? high : 1.0f;
    float ratio = p->radius_max / p->radius_min;
    p->size_class_count = ratio <= 2.5f ? 1 : ratio <= 8.0f ? 2 : ratio <= 25.0f ? 3 : GG_SIZE_CLASSES;
    for (int k = 0; k < p->size_class_count; k++) {
        float bound = p->radius_min * powf(ratio, (float)(k + 1) / (float)p->size_class_count);
        float largest = p->radius_min;
        for (int64_t i = 0; i < n; i++) {
            if (x[i].w <= bound || k + 1 == p->size_class_count) {
                largest = gg_maxf(largest, x[i].w);
            }
        }
        p->size_class_radius[k] = n ? largest : 1.0f;
        float grow = p->size_class_radius[k] / p->radius_min;
        p->size_class_candidates[k] = 16 + (int32_t)(4.0f * (grow * grow - 1.0f));
        if (p->law == GG_LAW_table) {
            /* as many more as its reach takes in */
            float wide = 1.0f + 0.5f * p->table.reach / p->radius_min;
            p->size_class_candidates[k] = (int32_t)(20.0f * wide * wide * wide) + p->size_class_candidates[k] - 16;
        }
    }
    memset(w->size_class_grains, 0, sizeof w->size_class_grains);
    for (int64_t i = 0; i < n; i++) {
        w->size_class_grains[gg_size_class_of(p, x[i].w)]++;
    }
}

/* the relaxation factors of a contact, see solvers/spheres/ncp.h for what they bound */
static void set_relaxation(gg_params *p, const gg_solver *s, int tools) {
    gg_solver_safe_relaxation(s, tools, &p->relaxation, &p->relaxation_sum);
    if (gg_is_planar(p)) {
        p->relaxation = GG_PLANAR_RELAXATION;
        p->relaxation_sum = p->nesterov ? GG_PLANAR_SUM : 1.8f;
    }
    p->relaxation = s->relaxation > 0.0f ? s->relaxation : p->relaxation;
    p->relaxation = p->law == GG_LAW_clumps ? gg_minf(p->relaxation, 1.0f) : p->relaxation;
    p->relaxation_sum = s->relaxation_sum > 0.0f ? s->relaxation_sum : p->relaxation_sum;
    /* The contacts of a grain with much heavier bodies get the whole sum, those with its like half of it. The spin of a
     * grain among heavy bodies is then relaxed by 5/7 of the sum plus half of the rolling one, of which acceleration
     * bears up to 4/3 and the plain iteration up to 2. */
    p->mass_ratio_factor = gg_maxf(p->relaxation_sum / (p->nesterov ? 1.4f : 2.1f), 1.0f);
    p->roll_relaxation = 0.2f;
    p->roll_relaxation_sum = 0.5f;
}

/* Weights of Nesterov's sequence, started anew every substep; all 0: not accelerated. start: the sequence is entered at
 * this index, after two iterations without momentum; 0: at its beginning. From iteration `last` on it stays as it is. */
static void set_nesterov_weights(float *beta, int accelerated, int start, int last) {
    double t = 1.0;
    for (int k = 1; k < start; k++) {
        t = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
    }
    for (int k = 0; k < GG_MAX_ITERATIONS; k++) {
        double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        beta[k] = accelerated && k > (start > 0) ? (float)((t - 1.0) / next) : 0.0f;
        t = (k > 0 || start > 0) && k + 1 < last ? next : t;
    }
}

void gg_params_from_solver(gg_world *w) {
    const gg_solver *s = &w->solver;
    gg_params *p = &w->view.params;
    int paper = s->mode == GG_MODE_PAPER, penalty = s->mode == GG_MODE_PENALTY;
    p->iterations = s->iterations;
    p->mode = s->mode;
    p->spin = s->spin;
    p->nesterov = s->nesterov && !paper;
    p->broad_phase = s->broad_phase;
    p->sleep = s->sleep;
    p->grain_sleep = gg_grains_may_sleep(w, s);
    set_relaxation(p, s, gg_own_tool_count(w) > 0);
    p->alpha = s->alpha;
    p->tool_alpha = paper ? s->alpha : s->tool_alpha;
    p->correction_max = s->correction_share * p->radius_min;
    /* a few units in the last place of the coordinates, but far below the size of a grain */
    float size = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        size = gg_maxf(size, gg_maxf(gg_absf(gg_axis_of(p->lower, axis)), gg_absf(gg_axis_of(p->upper, axis))));
    }
    p->slack = paper ? 0.0f : gg_clampf(2.5e-7f * size, 1e-5f * p->radius_min, 2e-4f * p->radius_min);
    /* springs act where there is overlap, and the printed algorithm has no speculative contacts: they have no foresight
     * either, see gg_params_from_step */
    p->margin = paper || penalty ? 0.0f : s->margin;
    p->skin = s->skin * 2.0f * p->radius_min;
    p->bounce_speed = s->bounce_speed;
    p->tolerance = s->tolerance;
    p->stiffness = s->stiffness;
    p->tangential_stiffness = s->tangential_stiffness * s->stiffness;
    p->damping = 2.0f * s->damping;
    p->bell.modulus = s->bell_modulus;
    p->bell.stiffness = s->bell_stiffness;
    p->bell.damping = s->bell_damping;
    p->bell.sliding = s->bell_sliding;
    p->bell.damping_quarters = s->bell_damping_quarters;
    p->bell.stiffness_quarters = s->bell_stiffness_quarters;
    p->bell.integrator = s->integrator;
    p->tangential_damping = s->tangential_damping;
    int coloured = gg_has_owners(p);
    set_nesterov_weights(w->scene.beta, p->nesterov, coloured ? GG_MOMENTUM_START : 0,
                         coloured ? GG_MOMENTUM_SWEEPS : GG_MAX_ITERATIONS);
}

void gg_params_from_step(gg_world *w, double dt, int32_t substeps) {
    gg_params *p = &w->view.params;
    p->dt = (float)dt;
    p->substeps = substeps;
    p->foresight = gg_mode_foresees(p->mode) ? p->dt : 0.0f;
}
