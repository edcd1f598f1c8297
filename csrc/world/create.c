/* create.c: from a definition to a world: checks every value, sizes the arrays, places the grains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/rng.h"
#include "../contact/narrow.h"
#include "../phases/access.h"
#include "../solvers/planar/planar.h"
#include "world.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#define EXPECT(w, condition, ...)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return gg_world_fail(w, GG_ERROR_ARGUMENT, __VA_ARGS__);                                                   \
        }                                                                                                              \
    } while (0)

static int within(float x, float low, float high) { return x >= low && x <= high; }

gg_status gg_world_check_solver(gg_world *w, const gg_solver *solver) {
    static const char prefix[] = "solver.";
    const size_t length = sizeof prefix - 1;
    memcpy(w->message, prefix, sizeof prefix);
    return gg_solver_check(solver, w->message + length, sizeof w->message - length);
}

static gg_status check_counts(gg_world *w, const gg_world_def *d) {
    EXPECT(w, d->env_count >= 1 && d->env_count <= 1000000, "env_count: expected 1 to 1000000, got %lld",
           (long long)d->env_count);
    EXPECT(w, d->grain_count >= 0 && d->grain_count <= 50000000, "grain_count: expected 0 to 50000000, got %lld",
           (long long)d->grain_count);
    EXPECT(w, d->material_count >= 1 && d->material_count <= 256, "material_count: expected 1 to 256, got %d",
           (int)d->material_count);
    EXPECT(w, d->tool_count >= 0 && d->part_count >= 0 && d->grid_count >= 0 && d->camera_count >= 0,
           "tool_count, part_count, grid_count, camera_count: expected values >= 0");
    EXPECT(w, d->wall_material >= 0 && d->wall_material < d->material_count,
           "wall_material: expected an index in [0, %d), got %d", (int)d->material_count, (int)d->wall_material);
    return GG_OK;
}

static gg_status check_space(gg_world *w, const gg_world_def *d) {
    static const char axis_name[] = "xyz";
    for (int axis = 0; axis < 3; axis++) {
        float low = gg_axis_of(d->lower, axis), high = gg_axis_of(d->upper, axis);
        EXPECT(w, gg_finite(low) && gg_finite(high) && low < high,
               "bounds: expected finite lower < upper on %c, got [%g, %g]", axis_name[axis], low, high);
        int a = d->boundary[axis][0], b = d->boundary[axis][1];
        EXPECT(w, a >= 0 && a <= GG_BOUNDARY_PERIODIC && b >= 0 && b <= GG_BOUNDARY_PERIODIC,
               "boundary: expected kinds 0 to 3 on %c, got (%d, %d)", axis_name[axis], a, b);
        EXPECT(w, (a < GG_BOUNDARY_CYCLIC && b < GG_BOUNDARY_CYCLIC) || a == b,
               "boundary: cyclic and periodic hold for both faces of an axis, got (%d, %d) on %c", a, b,
               axis_name[axis]);
        EXPECT(w, !(a == GG_BOUNDARY_PERIODIC && d->solver.broad_phase == GG_BROAD_LINKED_HASH),
               "solver.broad_phase: the linked hash finds no contacts across a periodic face; use cells");
        for (int64_t i = 0; a == GG_BOUNDARY_PERIODIC && i < d->grain_count; i++) {
            EXPECT(w, high - low > 8.0f * d->radius[i],
                   "bounds: a periodic axis must be longer than 8 radii of the largest grain (%g m), got %g on %c",
                   8.0f * d->radius[i], high - low, axis_name[axis]);
        }
    }
    EXPECT(w, gg_finite3(d->gravity), "gravity: expected finite values, got (%g, %g, %g)", d->gravity.x, d->gravity.y,
           d->gravity.z);
    return GG_OK;
}

gg_status gg_pairs_check(gg_world *w, const gg_pair *pair, const float *density, int64_t m, float radius_min) {
    for (int64_t k = 0; density && k < m; k++) {
        EXPECT(w, density[k] > 0.0f && gg_finite(density[k]), "density: expected a value > 0, got %g for material %d",
               density[k], (int)k);
    }
    for (int64_t k = 0; pair && k < m * m; k++) {
        const gg_pair *p = &pair[k], *q = &pair[k % m * m + k / m];
        int a = (int)(k / m), b = (int)(k % m);
        EXPECT(w, within(p->friction, 0.0f, 1e3f), "friction: expected [0, 1000], got %g for materials %d, %d",
               p->friction, a, b);
        EXPECT(w, within(p->restitution, 0.0f, 1.0f), "restitution: expected [0, 1], got %g for materials %d, %d",
               p->restitution, a, b);
        EXPECT(w, within(p->rolling_friction, 0.0f, 1e3f),
               "rolling_friction: expected [0, 1000], got %g for materials %d, %d", p->rolling_friction, a, b);
        EXPECT(w, within(p->twisting_friction, 0.0f, 1e3f),
               "twisting_friction: expected [0, 1000], got %g for materials %d, %d", p->twisting_friction, a, b);
        EXPECT(w, within(p->cohesion, 0.0f, 1e6f), "cohesion: expected [0, 1e6] N/m, got %g for materials %d, %d",
               p->cohesion, a, b);
        EXPECT(w, p->cohesion == 0.0f || w->solver.mode == GG_MODE_CONVERGENT,
               "cohesion: the printed algorithm knows none, expected 0, got %g for materials %d, %d", p->cohesion, a,
               b);
        EXPECT(w, within(p->cohesion_range, 0.0f, 1e3f),
               "cohesion_range: expected a length >= 0, got %g for materials %d, %d", p->cohesion_range, a, b);
        EXPECT(w, p->cohesion == 0.0f || within(p->cohesion_range, 1e-3f * radius_min, radius_min),
               "cohesion_range: expected 0.001 to 1 radii of the smallest grain (%g m), got %g for materials %d, %d",
               radius_min, p->cohesion_range, a, b);
        EXPECT(w,
               p->friction == q->friction && p->restitution == q->restitution &&
                   p->rolling_friction == q->rolling_friction && p->twisting_friction == q->twisting_friction &&
                   p->cohesion == q->cohesion && p->cohesion_range == q->cohesion_range,
               "pair: expected a symmetric table, materials %d, %d differ from %d, %d", a, b, b, a);
    }
    return GG_OK;
}

gg_status gg_air_check(gg_world *w, const gg_air *air) {
    EXPECT(w, within(air->density, 0.0f, 1e5f), "air: expected a density in [0, 1e5] kg/m3, got %g", air->density);
    EXPECT(w, within(air->viscosity, 0.0f, 1e5f), "air: expected a viscosity in [0, 1e5] Pa s, got %g", air->viscosity);
    EXPECT(w, gg_finite3(air->wind) && gg_norm2(air->wind) <= 1e12f,
           "air: expected a wind of up to 1e6 m/s, got (%g, %g, %g)", air->wind.x, air->wind.y, air->wind.z);
    return GG_OK;
}

static float smallest_radius(const gg_world_def *d) {
    float low = 1e30f;
    for (int64_t i = 0; i < d->grain_count; i++) {
        low = gg_minf(low, d->radius[i]);
    }
    return d->grain_count ? low : 1.0f;
}

static gg_status check_grains(gg_world *w, const gg_world_def *d) {
    for (int64_t i = 0; i < d->grain_count; i++) {
        const float *x = d->position + 3 * i;
        EXPECT(w, gg_finite3(gg_v3(x[0], x[1], x[2])),
               "position: expected finite values, got (%g, %g, %g) for grain %lld", x[0], x[1], x[2], (long long)i);
        EXPECT(w, within(d->radius[i], 1e-6f, 1e3f),
               "radius: expected a value in [1e-6, 1000] m, got %g for grain %lld", d->radius[i], (long long)i);
        EXPECT(w, d->grain_material[i] >= 0 && d->grain_material[i] < d->material_count,
               "grain_material: expected an index in [0, %d), got %d for grain %lld", (int)d->material_count,
               (int)d->grain_material[i], (long long)i);
        const float *u = d->velocity ? d->velocity + 3 * i : x;
        EXPECT(w, gg_finite3(gg_v3(u[0], u[1], u[2])),
               "velocity: expected finite values, got (%g, %g, %g) for grain %lld", u[0], u[1], u[2], (long long)i);
    }
    return GG_OK;
}

static gg_status check_tools(gg_world *w, const gg_world_def *d) {
    for (int32_t k = 0; k < d->part_count; k++) {
        const gg_shape *s = &d->part[k];
        EXPECT(w, s->kind > GG_SHAPE_NONE && s->kind < GG_SHAPE_KIND_COUNT, "part %d: unknown kind %d", (int)k,
               (int)s->kind);
        EXPECT(w, s->tool >= 0 && s->tool < d->tool_count, "part %d: expected a tool in [0, %d), got %d", (int)k,
               (int)d->tool_count, (int)s->tool);
        EXPECT(w, s->material >= 0 && s->material < d->material_count,
               "part %d: expected a material in [0, %d), got %d", (int)k, (int)d->material_count, (int)s->material);
        EXPECT(w, s->kind != GG_SHAPE_GRID || (s->grid >= 0 && s->grid < d->grid_count),
               "part %d: expected a grid in [0, %d), got %d", (int)k, (int)d->grid_count, (int)s->grid);
        for (int c = 0; c < 4; c++) {
            EXPECT(w, gg_finite(s->size[c]) && s->size[c] >= 0.0f, "part %d: expected sizes >= 0, got %g", (int)k,
                   s->size[c]);
        }
        EXPECT(w, gg_finite3(s->position), "part %d: expected a finite position", (int)k);
    }
    for (int32_t k = 0; k < d->grid_count; k++) {
        const gg_sdf_grid *g = &d->grid[k];
        int64_t n = (int64_t)g->count[0] * g->count[1] * g->count[2];
        EXPECT(w,
               g->count[0] >= 2 && g->count[1] >= 2 && g->count[2] >= 2 && g->spacing > 0.0f && g->first_sample >= 0 &&
                   g->first_sample + n <= d->sample_count,
               "grid %d: expected at least 2 samples per axis, a spacing > 0 and %lld samples in the array", (int)k,
               (long long)n);
        for (int64_t c = 0; c < n; c++) {
            EXPECT(w, gg_finite(d->sample[g->first_sample + c]), "grid %d: expected finite samples", (int)k);
        }
    }
    for (int32_t k = 0; k < d->camera_count; k++) {
        const gg_camera *c = &d->camera[k];
        EXPECT(w, c->kind == GG_CAMERA_PERSPECTIVE || c->kind == GG_CAMERA_ORTHOGRAPHIC, "camera %d: unknown kind %d",
               (int)k, (int)c->kind);
        EXPECT(w, c->height >= 1 && c->width >= 1 && c->height <= 16384 && c->width <= 16384,
               "camera %d: expected 1 to 16384 pixels each way, got %d x %d", (int)k, (int)c->height, (int)c->width);
        EXPECT(w, c->tool >= -1 && c->tool < d->tool_count, "camera %d: expected a tool in [-1, %d), got %d", (int)k,
               (int)d->tool_count, (int)c->tool);
        EXPECT(w, c->extent > 0.0f && gg_finite(c->extent), "camera %d: expected an extent > 0, got %g", (int)k,
               c->extent);
        EXPECT(w, c->near_depth >= 0.0f && c->far_depth > c->near_depth && gg_finite(c->far_depth),
               "camera %d: expected 0 <= near < far, got %g, %g", (int)k, c->near_depth, c->far_depth);
    }
    return GG_OK;
}

/* size classes: one up to a ratio of 2.5, then one more for each further factor of about 3 */
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
    for (int l = 0; l < p->size_class_count; l++) {
        float bound = p->radius_min * powf(ratio, (float)(l + 1) / (float)p->size_class_count);
        float largest = p->radius_min;
        for (int64_t i = 0; i < n; i++) {
            if (x[i].w <= bound || l + 1 == p->size_class_count) {
                largest = gg_maxf(largest, x[i].w);
            }
        }
        p->size_class_radius[l] = n ? largest : 1.0f;
        float grow = p->size_class_radius[l] / p->radius_min;
        p->size_class_candidates[l] = 16 + (int32_t)(4.0f * (grow * grow - 1.0f));
    }
    memset(w->size_class_grains, 0, sizeof w->size_class_grains);
    for (int64_t i = 0; i < n; i++) {
        w->size_class_grains[gg_size_class_of(p, x[i].w)]++;
    }
}

/* whether these pairs resist rolling, and whether they attract or resist twisting otherwise than rolling */
static int pairs_roll(const gg_world *w, const gg_pair *pair, int64_t count) {
    int rolling = 0;
    for (int64_t k = 0; k < count; k++) {
        rolling |= pair[k].rolling_friction > 0.0f || pair[k].twisting_friction > 0.0f;
    }
    return rolling && !w->view.dims.outline_count && w->solver.spin && w->solver.mode == GG_MODE_CONVERGENT;
}

static int pairs_cohesive(const gg_world *w, const gg_pair *pair, int64_t count) {
    int cohesive = 0;
    for (int64_t k = 0; k < count; k++) {
        cohesive |=
            pair[k].cohesion > 0.0f || (pair[k].twisting_friction != pair[k].rolling_friction && w->solver.spin);
    }
    return cohesive && !w->view.dims.outline_count && w->solver.mode == GG_MODE_CONVERGENT;
}

int gg_dims_need(const gg_world *w, gg_dims *dims, const gg_pair *pair, int64_t count) {
    gg_dims before = *dims;
    dims->roll_rows = dims->roll_rows || pairs_roll(w, pair, count) ? dims->contact_rows : 0;
    dims->cohesive_rows = dims->cohesive_rows || pairs_cohesive(w, pair, count) ? dims->contact_rows : 0;
    return before.roll_rows != dims->roll_rows || before.cohesive_rows != dims->cohesive_rows;
}

/* mass of the lightest grain that is not fixed, 0: there is none */
static float lightest(const gg_world *w, const gg_view *v) {
    float mass = 0.0f;
    for (int64_t at = 0; at < v->dims.env_count * v->dims.slots; at++) {
        int32_t material = v->material[at];
        if (v->grain_id[at] >= 0 && !w->scene.material_fixed[material]) {
            float density = v->density[at / v->dims.slots * v->dims.material_count + material];
            float own = density * w->scene.outlines[w->scene.material_outline[material]].area;
            mass = mass > 0.0f ? gg_minf(mass, own) : own;
        }
    }
    return mass;
}

gg_status gg_params_from_materials(gg_world *w) {
    const gg_dims *d = &w->view.dims;
    int64_t pairs = d->material_count * d->material_count;
    gg_params *p = &w->view.params;
    gg_view *host;
    uint64_t changed = 0;
    gg_fields springs = w->solver.mode == GG_MODE_PENALTY ? GG_BIT(density) | GG_BIT(material) | GG_BIT(grain_id) : 0;
    gg_status status = gg_world_pull(w, GG_BIT(pair) | GG_BIT(env) | springs, -1, &host);
    if (status != GG_OK) {
        return status;
    }
    p->mass_min = springs ? lightest(w, host) : 0.0f;
    p->cohesion_range = 0.0f;
    for (int64_t e = 0; e < d->env_count; e++) {
        gg_env *env = &host->env[e];
        float range = 0.0f;
        for (int64_t k = 0; k < pairs; k++) {
            range = gg_maxf(range, gg_pair_attraction_range(&host->pair[e * pairs + k]));
        }
        /* lists that were built for shorter ranges would miss pairs */
        env->rebuild |= range > env->cohesion_range;
        changed |= range != env->cohesion_range ? GG_BIT(env) : 0;
        env->cohesion_range = range;
        p->cohesion_range = gg_maxf(p->cohesion_range, range);
    }
    p->rolling = pairs_roll(w, host->pair, d->env_count * pairs);
    p->cohesive = pairs_cohesive(w, host->pair, d->env_count * pairs);
    return gg_world_push(w, changed, -1);
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
    /* see solvers/ncp.h for what these bound */
    gg_solver_safe_relaxation(s, gg_own_tool_count(w) > 0, &p->relaxation, &p->relaxation_sum);
    if (p->planar) {
        p->relaxation = GG_PLANAR_RELAXATION;
        p->relaxation_sum = p->nesterov ? GG_PLANAR_SUM : 1.8f;
    }
    p->relaxation = s->relaxation > 0.0f ? s->relaxation : p->relaxation;
    p->relaxation_sum = s->relaxation_sum > 0.0f ? s->relaxation_sum : p->relaxation_sum;
    /* One grain's contacts with much heavier things get the whole sum, those with its like half of it. The spin of a grain
     * among heavy ones is then relaxed by 5/7 of the sum plus half of the rolling one, which acceleration bears up to 4/3
     * and the plain iteration up to 2. */
    p->mass_ratio_factor = gg_maxf(p->relaxation_sum / (p->nesterov ? 1.4f : 2.1f), 1.0f);
    p->roll_relaxation = 0.2f;
    p->roll_relaxation_sum = 0.5f;
    p->alpha = s->alpha;
    p->tool_alpha = paper ? s->alpha : s->tool_alpha;
    p->correction_max = s->correction_share * p->radius_min;
    /* a few units in the last place of the coordinates, but nothing that a grain would notice */
    float size = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        size = gg_maxf(size, gg_maxf(gg_absf(gg_axis_of(p->lower, axis)), gg_absf(gg_axis_of(p->upper, axis))));
    }
    p->slack = paper ? 0.0f : gg_clampf(2.5e-7f * size, 1e-5f * p->radius_min, 2e-4f * p->radius_min);
    /* springs are felt where there is overlap */
    p->margin = paper || penalty ? 0.0f : s->margin;
    p->foresight = paper || penalty ? 0.0f : p->dt;
    p->skin = s->skin * 2.0f * p->radius_min;
    p->bounce_speed = s->bounce_speed;
    p->tolerance = s->tolerance;
    p->stiffness = s->stiffness;
    p->tangential_stiffness = s->tangential_stiffness * s->stiffness;
    p->damping = 2.0f * s->damping;
    p->tangential_damping = s->tangential_damping;
    /* Nesterov's sequence, started anew every substep */
    double t = 1.0;
    for (int k = 0; k < GG_MAX_ITERATIONS; k++) {
        w->scene.beta[k] = 0.0f;
        if (p->nesterov && k > 0) {
            double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
            w->scene.beta[k] = (float)((t - 1.0) / next);
            t = next;
        }
    }
}

static gg_dims dims_of(const gg_world_def *d) {
    gg_dims dims;
    memset(&dims, 0, sizeof dims);
    dims.env_count = d->env_count;
    dims.grain_count = d->grain_count;
    dims.slices = GG_MAX((d->grain_count + GG_LANES - 1) / GG_LANES, 1);
    dims.slots = dims.slices * GG_LANES;
    dims.blocks = (dims.slots + GG_BLOCK - 1) / GG_BLOCK;
    gg_dims_set_tool_contacts(&dims, dims.slots / 4 + 64);
    dims.outline_count = d->planar.outline_count;
    dims.outline_points = d->planar.outline_point_count;
    dims.planar_slots = d->planar.outline_count ? dims.slots : 0;
    gg_dims_set_contact_rows(&dims, dims.slices * 5 + 8);
    dims.material_count = d->material_count;
    dims.tool_count = GG_WALL_COUNT + d->tool_count;
    dims.part_count = d->part_count;
    for (int face = 0; face < GG_WALL_COUNT; face++) {
        dims.part_count += d->boundary[face / 2][face % 2] == GG_BOUNDARY_WALL;
    }
    dims.camera_count = d->camera_count;
    for (int32_t k = 0; k < d->camera_count; k++) {
        dims.pixels += (int64_t)d->camera[k].height * d->camera[k].width;
        dims.bands += gg_depth_camera_bands(&d->camera[k]);
    }
    if (d->solver.broad_phase == GG_BROAD_LINKED_HASH) {
        double buckets = (double)d->solver.hash_ratio * (double)d->grain_count;
        dims.hash_size = buckets < 1.0 ? 1 : buckets > (double)INT32_MAX ? INT32_MAX : (int64_t)buckets;
        dims.hash_next = dims.slots;
    }
    return dims;
}

static void place_env(gg_world *w, const gg_world_def *d, int64_t e) {
    gg_view *v = &w->view;
    gg_env *env = &v->env[e];
    int64_t base = e * v->dims.slots, m = d->material_count;
    memset(env, 0, sizeof *env);
    env->gravity = d->gravity;
    env->air = d->air;
    env->rebuild = 1;
    memcpy(v->pair + e * m * m, d->pair, sizeof(gg_pair) * (size_t)(m * m));
    memcpy(v->density + e * m, d->density, sizeof(float) * (size_t)m);
    for (int64_t i = 0; i < v->dims.slots; i++) {
        int used = i < d->grain_count;
        gg_vec4 none = {0.0f, 0.0f, 0.0f, 0.0f};
        v->grain_id[base + i] = used ? (int32_t)i : -1;
        v->slot_of[base + i] = used ? (int32_t)i : -1;
        v->position[base + i] = none;
        float *row = v->body_a + (e * v->dims.bodies + i) * GG_BODY;
        if (used) {
            gg_vec4 x = {d->position[3 * i], d->position[3 * i + 1], d->position[3 * i + 2], d->radius[i]};
            v->position[base + i] = x;
            v->material[base + i] = d->grain_material[i];
            for (int k = 0; d->velocity && k < 3; k++) {
                row[k] = d->velocity[3 * i + k];
            }
            row[7] = 1.0f / d->radius[i];
            if (v->dims.planar_slots && d->planar.angle) {
                v->angle[e * v->dims.planar_slots + i] = gg_turn_within(d->planar.angle[i]);
            }
        }
        v->built_position[base + i] = v->position[base + i];
    }
    for (int64_t t = 0; t < v->dims.tool_count; t++) {
        gg_pose rest = {gg_v3(0.0f, 0.0f, 0.0f), gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f)};
        if (t >= GG_WALL_COUNT) {
            rest = d->tool_pose[t - GG_WALL_COUNT];
            rest.rotation = gg_quat_unit(rest.rotation);
        }
        v->tool_pose[e * v->dims.tool_count + t] = rest;
    }
}

static uint64_t layout_of(const gg_world *w) {
    uint64_t hash = 0;
    const gg_dims *d = &w->view.dims;
    const int64_t words[] = {d->grain_count,
                             d->slots,
                             d->material_count,
                             d->tool_count,
                             d->part_count,
                             (int64_t)sizeof(gg_dims),
                             (int64_t)sizeof(gg_env),
                             (int64_t)GG_FIELD_COUNT,
                             w->solver.spin,
                             w->solver.mode,
                             (int64_t)sizeof(gg_pair),
                             w->solver.broad_phase,
                             (int64_t)GG_LANES,
                             w->view.params.size_class_count,
                             d->outline_count,
                             d->outline_points};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        hash = gg_rng_mix(hash ^ (uint64_t)words[k]);
    }
    for (const char *c = GG_VERSION; *c; c++) {
        hash = gg_rng_mix(hash ^ (uint64_t)*c);
    }
    return hash;
}

static int default_threads(void) {
#ifdef _OPENMP
    return omp_get_num_procs();
#else
    return 1;
#endif
}

gg_status gg_world_set_thread_count(gg_world *w, int32_t thread_count) {
    EXPECT(w, thread_count >= 0 && thread_count <= 1024, "thread_count: expected 0 (all cores) to 1024, got %d",
           (int)thread_count);
    w->thread_count = thread_count ? thread_count : default_threads();
    return GG_OK;
}

static gg_status build(gg_world *w, const gg_world_def *d) {
    gg_status status;
    w->solver = d->solver;
    w->chunk = GG_CHUNK_FIRST;
    if ((status = check_counts(w, d)) != GG_OK || (status = check_space(w, d)) != GG_OK ||
        (status = gg_world_check_solver(w, &d->solver)) != GG_OK || (status = check_grains(w, d)) != GG_OK ||
        (status = gg_pairs_check(w, d->pair, d->density, d->material_count, smallest_radius(d))) != GG_OK ||
        (status = gg_air_check(w, &d->air)) != GG_OK || (status = check_tools(w, d)) != GG_OK ||
        (status = gg_planar_check(w, d)) != GG_OK ||
        (status = gg_world_set_thread_count(w, d->thread_count)) != GG_OK) {
        return status;
    }
    gg_dims dims = dims_of(d);
    w->kernel = gg_kernel_select(NULL);
    w->listed = malloc(sizeof(int64_t) * (size_t)d->env_count);
    w->targets = malloc(sizeof(float) * 7 * (size_t)(d->env_count * d->tool_count + 1));
    if (!w->listed || !w->targets) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: lists of envs and tools");
    }
    gg_params *p = &w->view.params;
    p->lower = d->lower;
    p->upper = d->upper;
    memcpy(p->boundary, d->boundary, sizeof p->boundary);
    p->planar = d->planar.outline_count > 0;
    if ((status = gg_scene_create(w, d, &dims)) != GG_OK || (status = gg_arena_resize(w, dims)) != GG_OK) {
        return status;
    }
    for (int64_t e = 0; e < d->env_count; e++) {
        place_env(w, d, e);
    }
    int64_t all = 0;
    w->view.access.listed = w->listed;
    if ((status = gg_world_list_envs(w, NULL, &all)) != GG_OK ||
        (status = gg_world_run(w, GG_PHASE_set_masses)) != GG_OK) {
        return status;
    }
    w->view.access.listed = NULL;
    gg_params_from_grains(w);
    gg_params_from_materials(w);
    gg_params_from_solver(w);
    dims.cells = GG_MAX(2 * dims.slots, 64) * p->size_class_count;
    dims.cell_cursors = d->gpu ? dims.cells : 0;
    dims.cell_points = d->gpu || p->broad_phase != GG_BROAD_CELLS ? 0 : dims.slots + GG_LANES;
    gg_dims_need(w, &dims, d->pair, (int64_t)d->material_count * d->material_count);
    int64_t candidates = 0;
    for (int64_t i = 0; i < d->grain_count; i++) {
        candidates += p->size_class_candidates[gg_size_class_of(p, d->radius[i])];
    }
    gg_dims_set_candidates(&dims, candidates);
    w->layout = layout_of(w);
    if ((status = gg_arena_resize(w, dims)) != GG_OK || d->gpu == 0) {
        return status;
    }
    gg_cuda *cuda = NULL;
    status = gg_cuda_open(d->gpu - 1, &cuda, w->message, sizeof w->message);
    return status == GG_OK ? gg_world_move_to_device(w, cuda) : status;
}

gg_status gg_world_create(const gg_world_def *def, gg_world **out, char *message, size_t message_size) {
    *out = NULL;
    gg_world *w = calloc(1, sizeof *w);
    gg_status status = w ? build(w, def) : GG_ERROR_MEMORY;
    if (status != GG_OK) {
        if (message && message_size) {
            snprintf(message, message_size, "%s", w ? w->message : "out of memory: world");
        }
        gg_world_destroy(w);
        return status;
    }
    *out = w;
    return GG_OK;
}

void gg_world_destroy(gg_world *w) {
    if (!w) {
        return;
    }
    gg_staging_free(w);
    gg_scene_free(w);
    gg_memory_free(w, w->arena);
    gg_pool_close(w->pool);
    gg_cuda_release(w->cuda);
    free(w->mirror_arena);
    free(w->listed);
    free(w->targets);
    free(w->seconds);
    free(w);
}
