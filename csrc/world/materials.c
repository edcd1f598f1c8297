/* materials.c: contact parameters and densities of an env: checks, what follows from them, setting and reading. */
#include <math.h>
#include <string.h>

#include "../contact/narrow.h"
#include "../solvers/spheres/coloured/coloured.h"
#include "../solvers/spheres/table/table.h"
#include "world.h"

static gg_status check_pair(const gg_pair *p, int a, int b, int32_t mode, int planar, float radius_min,
                            gg_message out) {
    GG_EXPECT(out, gg_within(p->friction, 0.0f, 1e3f), "friction: expected [0, 1000], got %g for materials %d, %d",
              p->friction, a, b);
    GG_EXPECT(out, gg_within(p->restitution, 0.0f, 1.0f), "restitution: expected [0, 1], got %g for materials %d, %d",
              p->restitution, a, b);
    GG_EXPECT(out, gg_within(p->rolling_friction, 0.0f, 1e3f),
              "rolling_friction: expected [0, 1000], got %g for materials %d, %d", p->rolling_friction, a, b);
    GG_EXPECT(out, gg_within(p->twisting_friction, 0.0f, 1e3f),
              "twisting_friction: expected [0, 1000], got %g for materials %d, %d", p->twisting_friction, a, b);
    GG_EXPECT(out, gg_within(p->cohesion, 0.0f, 1e6f), "cohesion: expected [0, 1e6] N/m, got %g for materials %d, %d",
              p->cohesion, a, b);
    GG_EXPECT(out, p->cohesion == 0.0f || gg_mode_converges(mode),
              "cohesion: modes paper and bell know none, expected 0, got %g for materials %d, %d", p->cohesion, a, b);
    GG_EXPECT(out, !planar || (p->rolling_friction == 0.0f && p->twisting_friction == 0.0f && p->cohesion == 0.0f),
              "rolling_friction, twisting_friction, cohesion: planar grains have none, got %g, %g, %g for materials "
              "%d, %d",
              p->rolling_friction, p->twisting_friction, p->cohesion, a, b);
    GG_EXPECT(out, mode != GG_MODE_BELL || p->twisting_friction == p->rolling_friction,
              "twisting_friction: mode bell knows none, expected that of rolling, got %g for materials %d, %d",
              p->twisting_friction, a, b);
    GG_EXPECT(out, gg_within(p->cohesion_range, 0.0f, 1e3f),
              "cohesion_range: expected a length >= 0, got %g for materials %d, %d", p->cohesion_range, a, b);
    GG_EXPECT(out, p->cohesion == 0.0f || gg_within(p->cohesion_range, 1e-3f * radius_min, radius_min),
              "cohesion_range: expected 0.001 to 1 radii of the smallest grain (%g m), got %g for materials %d, %d",
              radius_min, p->cohesion_range, a, b);
    return GG_OK;
}

gg_status gg_materials_check(const gg_pair *pair, const float *density, int64_t m, int32_t mode, int planar,
                             float radius_min, gg_message out) {
    for (int64_t k = 0; density && k < m; k++) {
        GG_EXPECT(out, density[k] > 0.0f && gg_finite(density[k]),
                  "density: expected a value > 0, got %g for material %d", density[k], (int)k);
    }
    for (int64_t k = 0; pair && k < m * m; k++) {
        const gg_pair *p = &pair[k], *q = &pair[k % m * m + k / m];
        int a = (int)(k / m), b = (int)(k % m);
        gg_status status = check_pair(p, a, b, mode, planar, radius_min, out);
        if (status != GG_OK) {
            return status;
        }
        GG_EXPECT(out,
                  p->friction == q->friction && p->restitution == q->restitution &&
                      p->rolling_friction == q->rolling_friction && p->twisting_friction == q->twisting_friction &&
                      p->cohesion == q->cohesion && p->cohesion_range == q->cohesion_range,
                  "pair: expected a symmetric table, materials %d, %d differ from %d, %d", a, b, b, a);
    }
    return GG_OK;
}

/* whether any of these pairs resists rolling or twisting */
static int pairs_roll(const gg_world *w, const gg_pair *pair, int64_t count) {
    int rolling = 0;
    for (int64_t k = 0; k < count; k++) {
        rolling |= pair[k].rolling_friction > 0.0f || pair[k].twisting_friction > 0.0f;
    }
    return rolling && !w->view.dims.planar.outline_count && w->solver.spin && gg_mode_converges(w->solver.mode);
}

/* whether any of these pairs attracts, or has a coefficient of twisting other than that of rolling */
static int pairs_cohesive(const gg_world *w, const gg_pair *pair, int64_t count) {
    int cohesive = 0;
    for (int64_t k = 0; k < count; k++) {
        cohesive |=
            pair[k].cohesion > 0.0f || (pair[k].twisting_friction != pair[k].rolling_friction && w->solver.spin);
    }
    return cohesive && !w->view.dims.planar.outline_count && gg_mode_converges(w->solver.mode);
}

int gg_dims_fit_pairs(const gg_world *w, gg_dims *dims, const gg_pair *pair, int64_t count) {
    gg_dims before = *dims;
    dims->spheres.roll_rows = dims->spheres.roll_rows || pairs_roll(w, pair, count) ? dims->contact_rows : 0;
    dims->spheres.cohesive_rows =
        dims->spheres.cohesive_rows || pairs_cohesive(w, pair, count) ? dims->contact_rows : 0;
    return before.spheres.roll_rows != dims->spheres.roll_rows ||
           before.spheres.cohesive_rows != dims->spheres.cohesive_rows;
}

/* whether the masses of an env's grains differ by more than GG_EVEN_MASSES; densities: of its materials */
static int masses_uneven(const gg_world *w, const float *density) {
    float low = INFINITY, high = 0.0f;
    for (int64_t m = 0; m < w->view.dims.material_count; m++) {
        const gg_material_radii *r = &w->material_radii[m];
        if (r->high > 0.0f && !w->scene.material_fixed[m]) {
            low = gg_minf(low, density[m] * r->low * r->low * r->low);
            high = gg_maxf(high, density[m] * r->high * r->high * r->high);
        }
    }
    return high > GG_EVEN_MASSES * low;
}

gg_status gg_params_from_materials(gg_world *w) {
    const gg_dims *d = &w->view.dims;
    int64_t pairs = d->material_count * d->material_count;
    gg_params *p = &w->view.params;
    gg_view *host;
    gg_fields changed = 0;
    int springs = w->solver.mode == GG_MODE_PENALTY, explicit_steps = w->solver.mode == GG_MODE_EXPLICIT;
    gg_fields masses = springs || explicit_steps ? GG_BIT(material) | GG_BIT(grain_id) : 0;
    gg_status status = gg_world_pull(w, GG_BIT(pair) | GG_BIT(density) | GG_BIT(env) | masses, -1, &host);
    if (status != GG_OK) {
        return status;
    }
    p->mass_min = springs ? gg_planar_mass_min(host) : 0.0f;
    if (explicit_steps) {
        gg_continuum_step_bound(host, p);
    }
    if (p->law == GG_LAW_table) {
        gg_tables_find_bound(w, host->density);
    }
    p->cohesion_range = 0.0f;
    for (int64_t e = 0; e < d->env_count; e++) {
        gg_env *env = &host->env[e];
        float range = p->law == GG_LAW_table ? gg_maxf(p->table.reach, 0.0f) + GG_TABLE_PAD * p->radius_min : 0.0f;
        for (int64_t k = 0; k < pairs; k++) {
            range = gg_maxf(range, gg_pair_attraction_range(&host->pair[e * pairs + k]));
        }
        /* lists that were built for shorter ranges would miss pairs */
        env->rebuild |= range > env->cohesion_range;
        int uneven = masses_uneven(w, host->density + e * d->material_count);
        changed |= range != env->cohesion_range || uneven != env->uneven ? GG_BIT(env) : 0;
        env->cohesion_range = range;
        env->uneven = uneven;
        p->cohesion_range = gg_maxf(p->cohesion_range, range);
    }
    p->rolling = pairs_roll(w, host->pair, d->env_count * pairs);
    p->cohesive = pairs_cohesive(w, host->pair, d->env_count * pairs);
    return gg_world_push(w, changed, -1);
}

gg_status gg_world_update_masses(gg_world *w, gg_status status) {
    gg_access a = gg_access_of_envs(w, &status);
    const gg_phase phase = GG_PHASE_set_masses;
    return gg_access_run(w, &a, &phase, 1, status);
}

gg_status gg_world_set_materials(gg_world *w, const int32_t *envs, int64_t listed, const gg_pair *pair,
                                 const float *density) {
    gg_status status = gg_envs_list(w, envs, &listed);
    int64_t m = w->view.dims.material_count;
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = gg_materials_check(pair ? pair + k * m * m : NULL, density ? density + k * m : NULL, m, w->solver.mode,
                                    gg_is_planar(&w->view.params), w->view.params.radius_min, gg_message_of(w));
    }
    gg_view *host;
    gg_fields fields = GG_BIT(pair) | GG_BIT(density) | GG_BIT(env);
    gg_dims dims = w->view.dims;
    /* memory first: nothing changes where it cannot be had */
    if (status == GG_OK && pair && gg_dims_fit_pairs(w, &dims, pair, listed * m * m)) {
        status = gg_arena_resize(w, dims);
    }
    if (status != GG_OK || (status = gg_world_pull(w, fields, -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        int64_t e = gg_env_at(envs, k);
        if (pair) {
            memcpy(host->pair + e * m * m, pair + k * m * m, sizeof(gg_pair) * (size_t)(m * m));
        }
        if (density) {
            memcpy(host->density + e * m, density + k * m, sizeof(float) * (size_t)m);
        }
    }
    gg_envs_wake(host, envs, listed);
    status = gg_world_push(w, fields, -1);
    if (density) {
        status = gg_world_update_masses(w, status);
    }
    return status == GG_OK ? gg_params_from_materials(w) : status;
}

gg_status gg_world_get_materials(gg_world *w, gg_pair *pair, float *density) {
    const gg_dims *d = &w->view.dims;
    size_t m = (size_t)d->material_count, envs = (size_t)d->env_count;
    gg_view *host;
    gg_status status = gg_world_pull(w, GG_BIT(pair) | GG_BIT(density), -1, &host);
    if (status == GG_OK && pair) {
        memcpy(pair, host->pair, sizeof(gg_pair) * m * m * envs);
    }
    if (status == GG_OK && density) {
        memcpy(density, host->density, sizeof(float) * m * envs);
    }
    return status;
}
