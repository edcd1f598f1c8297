/* state_check.c: whether the saved fields of an env are what an env can go on from.
 *
 * Phases trust what they read: an index out of range in a state would be an access out of bounds in the next substep.
 * Every field marked STATE therefore has a rule here, its name in GG_STATE_RULES; without one nothing compiles. Rules
 * run in the order of the fields on the host, before anything is loaded. What an env would rebuild or overwrite before
 * it reads it has no rule of content. An env that has diverged is frozen: its grains may be anything but out of range.
 */
#include <stdlib.h>
#include <string.h>

#include "../contact/narrow.h"
#include "../solvers/contacts.h"
#include "../phases/sleep.h"
#include "../solvers/continuum/matter.h"
#include "world.h"

/* the saved env: a view of one env, whose fields marked STATE can be read */
typedef struct saved_env {
    const gg_world *world; /* that it shall be loaded into */
    const gg_view *view;
    const gg_env *env;
    gg_message out;
} saved_env;

typedef gg_status (*state_rule)(const saved_env *s, gg_field_id field);

/* leaves the rule unless the condition holds for element k of its field */
#define EXPECT_AT(s, field, k, condition, expected)                                                                    \
    GG_EXPECT((s)->out, condition, "%s[%lld]: expected %s", gg_field_name((int)(field)), (long long)(k), expected)

/* ---- flags, counters and parameters of the env ---- */

static int is_flag(int32_t value) { return value == 0 || value == 1; }

static int in_range(int64_t value, int64_t most) { return value >= 0 && value <= most; }

static int usable_float(float value, float low) { return gg_finite(value) && value >= low; }

static gg_status check_stats(const saved_env *s, gg_field_id field) {
    const gg_env_stats *stats = &s->env->stats;
    EXPECT_AT(s, field, 0, is_flag(stats->diverged), "diverged 0 or 1");
/* what a step counted: none below 0, and none that is not a number unless the env has diverged */
#define CHECK_STAT(type, name)                                                                                         \
    EXPECT_AT(s, field, 0, stats->name >= (type)0 || (stats->diverged && stats->name != stats->name),                  \
              "a counter " #name " >= 0");
    GG_ENV_STATS(CHECK_STAT)
#undef CHECK_STAT
    return GG_OK;
}

static gg_status check_env(const saved_env *s, gg_field_id field) {
    const gg_env *env = s->env;
    const gg_params *p = &s->world->view.params;
    EXPECT_AT(s, field, 0, gg_finite3(env->gravity), "a finite gravity");
    gg_status status = gg_air_check(&env->air, s->out);
    if (status != GG_OK) {
        return status;
    }
    EXPECT_AT(s, field, 0, is_flag(env->uneven), "a flag of uneven masses");
    EXPECT_AT(s, field, 0, gg_within(env->cohesion_range, 0.0f, gg_maxf(p->radius_min, p->cohesion_range)),
              "cohesion_range within a radius or that of the law");
    EXPECT_AT(s, field, 0, gg_within(env->dt_last, 0.0f, 1.0f), "dt_last in [0, 1] s");
    EXPECT_AT(s, field, 0,
              is_flag(env->rebuild) && is_flag(env->key_buffer) && is_flag(env->impulse_buffer) &&
                  is_flag(env->converged) && is_flag(env->predicted) && is_flag(env->fast_tool) &&
                  is_flag(env->restless) && is_flag(env->asleep) && is_flag(env->some_asleep) && is_flag(env->roused) &&
                  is_flag(env->watched) && is_flag(env->reclassed) && is_flag(env->kept_changed) &&
                  is_flag(env->unsettled),
              "flags 0 or 1");
    EXPECT_AT(s, field, 0, env->substeps_done >= 0, "substeps_done >= 0");
    EXPECT_AT(s, field, 0, env->rested >= 0 && env->rested <= GG_REST_STEPS, "steps at rest in range");
    int64_t slices = s->view->dims.slices, grains = s->view->dims.grain_count;
    EXPECT_AT(s, field, 0, in_range(env->live_slices, slices) && in_range(env->live_before, slices), "slices in range");
    EXPECT_AT(s, field, 0, !(env->some_asleep || env->reclassed || env->kept_changed) || s->view->dims.sleep.slots,
              "no grain asleep where none may be");
    EXPECT_AT(s, field, 0, env->some_asleep || env->live_slices == s->view->dims.slices, "all slices in use");
    EXPECT_AT(s, field, 0, in_range(env->awake, grains) && env->some_asleep == (env->awake < grains),
              "as many grains awake as there may be");
    EXPECT_AT(s, field, 0,
              in_range(env->drowsy, grains) && in_range(env->drowsy_kept, grains) && in_range(env->moving, grains) &&
                  in_range(env->calm, GG_CALM_STEPS),
              "as many drowsy grains as there may be");
    EXPECT_AT(s, field, 0,
              usable_float(env->kept.overlap_max, 0.0f) && env->kept.overlap_sum >= 0.0 &&
                  env->kept.overlap_sum - env->kept.overlap_sum == 0.0,
              "finite sums of kept contacts");
    /* both sides of every contact that grains may keep */
    int64_t sides = 2 * GG_KEPT * s->view->dims.sleep.slots;
    EXPECT_AT(s, field, 0,
              in_range(env->kept.contacts, sides) && in_range(env->kept.overlap_count, sides) &&
                  in_range(env->kept.tool_contacts, sides),
              "as many kept contacts as there may be");
    EXPECT_AT(s, field, 0, env->wrench_substeps >= (env->rested > 0), "wrenches of the steps at rest");
    EXPECT_AT(s, field, 0, gg_within(env->wrench_dt, 0.0f, 1.0f), "wrench_dt in [0, 1] s");
    EXPECT_AT(s, field, 0, env->iteration >= 0 && env->iteration <= GG_MAX_ITERATIONS, "iterations in range");
    EXPECT_AT(s, field, 0, env->colours >= 0 && env->colours < GG_COLOURS && env->rest >= 0, "colours in range");
    EXPECT_AT(s, field, 0,
              !env->overflow_rows && !env->overflow_tool_contacts && !env->overflow_candidates &&
                  !env->overflow_blocks && !env->overflow_nodes,
              "no overflow");
    EXPECT_AT(s, field, 0, env->overflow_size_class >= 0 && env->overflow_size_class < p->size_class_count,
              "a size class of the world");
    EXPECT_AT(s, field, 0,
              env->stats.diverged || (usable_float(env->bounce_speed, 0.0f) && usable_float(env->speed_max, 0.0f)),
              "finite speeds >= 0");
    EXPECT_AT(s, field, 0, env->stats.diverged || usable_float(env->crowd_margin, 0.0f), "a finite margin >= 0");
    EXPECT_AT(s, field, 0, env->stats.diverged || gg_within(env->skin, 0.0f, GG_SKIN_MAX * 2.0f * p->radius_min),
              "a skin in range");
    /* cell grids are fitted before they are read */
    return check_stats(s, field);
}

static gg_status check_pair(const saved_env *s, gg_field_id field) {
    (void)field;
    return gg_materials_check(s->view->pair, NULL, s->view->dims.material_count, s->world->solver.mode,
                              gg_is_planar(&s->world->view.params), s->world->view.params.radius_min, s->out);
}

static gg_status check_density(const saved_env *s, gg_field_id field) {
    (void)field;
    return gg_materials_check(NULL, s->view->density, s->view->dims.material_count, 0, 0, 0.0f, s->out);
}

/* ---- grains ---- */

static gg_status check_grain_id(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    int64_t n = v->dims.grain_count;
    for (int64_t i = 0; i < v->dims.slots; i++) {
        int32_t id = v->grain_id[i];
        /* each id names a slot that names it: the ids of the slots are then a permutation */
        EXPECT_AT(s, field, i, i < n ? id >= 0 && id < n && v->slot_of[id] == i : id == -1,
                  "each grain in one of the first slots");
    }
    return GG_OK;
}

static gg_status check_slot_of(const saved_env *s, gg_field_id field) {
    for (int64_t id = s->view->dims.grain_count; id < s->view->dims.slots; id++) {
        EXPECT_AT(s, field, id, s->view->slot_of[id] == -1, "-1, there is no such grain");
    }
    return GG_OK;
}

/* radius and material of a grain, which nothing changes; an empty slot has none */
static gg_grain_kind kind_of(const saved_env *s, int64_t slot) {
    gg_grain_kind none = {0.0f, 0};
    return s->view->grain_id[slot] >= 0 ? s->world->kinds[s->view->grain_id[slot]] : none;
}

static gg_status check_material(const saved_env *s, gg_field_id field) {
    for (int64_t i = 0; i < s->view->dims.slots; i++) {
        EXPECT_AT(s, field, i, s->view->material[i] == kind_of(s, i).material, "the material of the grain");
    }
    return GG_OK;
}

static gg_status check_position(const saved_env *s, gg_field_id field) {
    for (int64_t i = 0; i < s->view->dims.slots; i++) {
        gg_vec4 x = s->view->position[i];
        EXPECT_AT(s, field, i, x.w == kind_of(s, i).radius, "the radius of the grain");
        EXPECT_AT(s, field, i, s->env->stats.diverged || gg_finite3(gg_v3(x.x, x.y, x.z)), "a finite position");
    }
    return GG_OK;
}

static gg_status check_built_position(const saved_env *s, gg_field_id field) {
    for (int64_t i = 0; i < s->view->dims.slots; i++) {
        gg_vec4 x = s->view->built_position[i];
        EXPECT_AT(s, field, i, s->env->stats.diverged || gg_finite3(gg_v3(x.x, x.y, x.z)), "a finite position");
    }
    return GG_OK;
}

/* bodies of grains; those of contacts with tools are written before they are read */
static gg_status check_bodies(const saved_env *s, gg_field_id field) {
    for (int64_t i = 0; i < s->view->dims.free_bodies; i++) {
        const float *body = s->view->body_a + i * GG_BODY;
        float inverse_radius = kind_of(s, i).radius > 0.0f ? 1.0f / kind_of(s, i).radius : 0.0f;
        EXPECT_AT(s, field, i, body[GG_BODY_INVERSE_RADIUS] == inverse_radius, "the inverse radius of the grain");
        EXPECT_AT(s, field, i, usable_float(body[GG_BODY_INVERSE_MASS], 0.0f), "a finite inverse mass >= 0");
        int fixed = s->world->scene.material_fixed[kind_of(s, i).material];
        EXPECT_AT(s, field, i, !fixed || body[GG_BODY_INVERSE_MASS] == 0.0f, "no inverse mass, the grain is fixed");
        EXPECT_AT(s, field, i,
                  !gg_is_planar(&s->world->view.params) || usable_float(body[GG_BODY_INVERSE_INERTIA], 0.0f),
                  "a finite inverse inertia >= 0");
        for (int k = 0; k < GG_BODY; k++) {
            EXPECT_AT(s, field, i, s->env->stats.diverged || gg_finite(body[k]), "finite velocities");
        }
    }
    return GG_OK;
}

/* all floats of a field, whatever they stand for */
static gg_status check_finite(const saved_env *s, gg_field_id field) {
    const float *values = gg_field_data(s->view, field);
    int64_t count = (int64_t)(gg_field_size(&s->view->dims, field, NULL) / sizeof(float));
    for (int64_t k = 0; k < count; k++) {
        EXPECT_AT(s, field, k, s->env->stats.diverged || gg_finite(values[k]), "a finite value");
    }
    return GG_OK;
}

/* ---- candidates, where the lists will not be built again before they are read ---- */

static gg_status check_candidate_range(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    for (int64_t i = 0; v->dims.listed && !s->env->rebuild && i < gg_live_slots(v, 0); i++) {
        int64_t first = v->candidate_first[i], count = v->candidate_count[i];
        EXPECT_AT(s, field, i,
                  first >= 0 && count >= 0 && first + count <= v->dims.candidate_cap && (v->grain_id[i] >= 0 || !count),
                  "a list within the candidates");
    }
    return GG_OK;
}

/* whether slot j lists slot i; lists are in order of ids */
static int lists_slot(const gg_view *v, int64_t j, int32_t id) {
    int64_t low = v->candidate_first[j], high = low + v->candidate_count[j];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        int32_t there = v->grain_id[v->candidate[middle]];
        if (there == id) {
            return 1;
        }
        low = there < id ? middle + 1 : low;
        high = there < id ? high : middle;
    }
    return 0;
}

static gg_status check_candidate(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    for (int64_t i = 0; v->dims.listed && !s->env->rebuild && i < gg_live_slots(v, 0); i++) {
        const int32_t *list = v->candidate + v->candidate_first[i];
        for (int32_t k = 0, last = -1; k < v->candidate_count[i]; k++) {
            int64_t at = v->candidate_first[i] + k;
            EXPECT_AT(s, field, at, list[k] >= 0 && list[k] < v->dims.grain_count && list[k] != i,
                      "the slot of another grain");
            EXPECT_AT(s, field, at, v->grain_id[list[k]] > last, "rising grain ids");
            last = v->grain_id[list[k]];
        }
    }
    /* a pair of planar grains keeps its contact points in one of its two lists, where the other looks them up */
    int both = v->dims.listed && !gg_has_owners(&s->world->view.params);
    for (int64_t i = 0; both && !s->env->rebuild && i < gg_live_slots(v, 0); i++) {
        for (int32_t k = 0; k < v->candidate_count[i]; k++) {
            int64_t at = v->candidate_first[i] + k;
            EXPECT_AT(s, field, at, lists_slot(v, v->candidate[at], v->grain_id[i]), "a pair in both of its lists");
        }
    }
    return GG_OK;
}

/* ---- stored contacts: their numbers, and the rest where impulses are stored ---- */

static gg_status check_contact_range(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    for (int64_t i = 0; i < v->dims.listed; i++) {
        int64_t first = v->contact_first[i], count = v->contact_count[i], tools = v->tool_contact_count[i];
        int64_t end = gg_has_owners(&s->world->view.params) ? (first + count + GG_LANES - 1) / GG_LANES
                                                            : first / GG_LANES + count;
        EXPECT_AT(s, field, i, first >= 0 && count >= 0 && end <= v->dims.contact_rows,
                  "a list within the contact rows");
        EXPECT_AT(s, field, i, tools >= 0 && tools <= count, "as many contacts with tools as contacts at most");
    }
    return GG_OK;
}

/* keys as the laws write them: spheres/contacts.h, planar/contacts.h */
static gg_status check_keys(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    const gg_params *p = &s->world->view.params;
    const int32_t *keys = gg_field_data(v, field);
    int64_t per_grain = 1, per_part = 1;
    if (v->dims.planar.outline_count) {
        per_grain = 4;
        per_part = gg_planar_keys_of_part(v);
    }
    int current = (s->env->key_buffer ? GG_FIELD_key_b : GG_FIELD_key_a) == (int)field;
    for (int64_t i = 0; current && s->env->dt_last > 0.0f && i < v->dims.listed; i++) {
        int32_t grains = v->contact_count[i] - v->tool_contact_count[i];
        for (int32_t k = 0, last = 0; k < v->contact_count[i]; k++) {
            int64_t at = v->contact_first[i] + (int64_t)k * (gg_has_owners(p) ? 1 : GG_LANES);
            int64_t low = k < grains ? 0 : -per_part * v->dims.part_count;
            int64_t high = k < grains ? per_grain * v->dims.grain_count : 0;
            EXPECT_AT(s, field, at, keys[at] >= low && keys[at] < high, "the key of a grain, then of parts");
            EXPECT_AT(s, field, at, k >= grains || keys[at] / per_grain != v->grain_id[i], "another grain");
            EXPECT_AT(s, field, at, k == 0 || gg_key_before(last, keys[at]), "keys in order");
            EXPECT_AT(s, field, at, k >= grains || gg_pair_owned(p, v->grain_id[i], keys[at]),
                      "a contact that the grain owns");
            last = keys[at];
        }
    }
    return GG_OK;
}

/* impulses and rolling impulses of the listed contacts */
static gg_status check_impulses(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    const float *values = gg_field_data(v, field);
    int in_b = field == GG_FIELD_impulse_b || field == GG_FIELD_roll_b;
    int current = in_b == s->env->impulse_buffer && gg_field_size(&v->dims, field, NULL) > 0;
    if (!current || s->env->stats.diverged || !(s->env->dt_last > 0.0f)) {
        return GG_OK;
    }
    for (int64_t i = 0; i < v->dims.listed; i++) {
        for (int32_t k = 0; k < v->contact_count[i]; k++) {
            int64_t at = gg_stored_contact_at(v, 0, i, k).impulse3;
            EXPECT_AT(s, field, i, at >= 0 && at / (3 * GG_LANES) < v->dims.contact_rows, "a contact with a record");
            EXPECT_AT(s, field, at, gg_finite3(gg_load_lane3(values, at)), "a finite impulse");
        }
    }
    return GG_OK;
}

/* the grain that stands for all of its clump */
static int64_t lead_of(const saved_env *s, int64_t id) {
    const gg_scene *scene = &s->world->scene;
    return s->view->dims.clumps.count ? scene->clump_first[scene->clump_of[id]] : id;
}

/* the clump on whose surface a contact with a part is; -1: on no clump's */
static int64_t surface_of(const saved_env *s, int32_t key) {
    const gg_scene *scene = &s->world->scene;
    return scene->tool_clump ? scene->tool_clump[scene->parts[-1 - key].tool] : -1;
}

/* the grain that stands for the other side of a contact; -1: a tool that no clump carries */
static int64_t other_lead_of(const saved_env *s, int32_t key) {
    int64_t clump = key < 0 ? surface_of(s, key) : 0;
    return key >= 0 ? lead_of(s, key) : clump < 0 ? -1 : s->world->scene.clump_first[clump];
}

/* whether a contact may have a colour: gg_lone_colour */
static int colour_suits(const saved_env *s, int32_t id, int32_t key, int32_t colour) {
    const gg_scene *scene = &s->world->scene;
    if (!s->view->dims.clumps.lone || colour == GG_COLOURS - 1) {
        return 1;
    }
    int lone = scene->clump_shape[scene->clump_of[id]].lone;
    lone = lone && (key < 0 ? surface_of(s, key) < 0 : scene->clump_shape[scene->clump_of[key]].lone);
    return lone == gg_lone_colour(s->view, colour);
}

/* links of listed contacts: records in range, and no two contacts of one colour at a grain */
static gg_status check_links(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    const int32_t *links = gg_field_data(v, field), *keys = s->env->key_buffer ? v->key_b : v->key_a;
    int current = (s->env->key_buffer ? GG_FIELD_link_b : GG_FIELD_link_a) == (int)field;
    if (!current || !(s->env->dt_last > 0.0f) || !gg_has_owners(&s->world->view.params)) {
        return GG_OK;
    }
    uint64_t *used = calloc((size_t)v->dims.slots, sizeof *used);
    GG_EXPECT(s->out, used, "out of memory: colours of %lld grains", (long long)v->dims.slots);
    int64_t wrong = -1;
    for (int64_t i = 0; wrong < 0 && i < v->dims.listed; i++) {
        for (int64_t at = v->contact_first[i]; wrong < 0 && at < v->contact_first[i] + v->contact_count[i]; at++) {
            int64_t own = lead_of(s, v->grain_id[i]), other = other_lead_of(s, keys[at]);
            other = other < 0 ? own : other;
            uint64_t bit = links[at] < 0 ? 0 : (uint64_t)1 << links[at] % GG_COLOURS, last = (uint64_t)1 << 63;
            int fits = links[at] >= 0 && links[at] / GG_COLOURS < v->dims.coloured.rows * GG_LANES;
            fits = fits && colour_suits(s, v->grain_id[i], keys[at], links[at] % GG_COLOURS);
            wrong = fits && (bit == last || !((used[own] | used[other]) & bit)) ? -1 : at;
            used[own] |= bit;
            used[other] |= bit;
        }
    }
    free(used);
    EXPECT_AT(s, field, wrong, wrong < 0, "a record, and a colour that no other contact of the grain has");
    return GG_OK;
}

static gg_status check_clump_motion(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < s->view->dims.clumps.count; k++) {
        const gg_clump_motion *m = &s->view->clump_motion[k];
        const double *q = m->rotation;
        double sum = 0.0, length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        for (int c = 0; c < 3; c++) {
            sum += m->position[c] + m->velocity[c] + m->spin[c] + m->force[c] + m->torque[c];
        }
        EXPECT_AT(s, field, k, sum - sum == 0.0, "finite values");
        EXPECT_AT(s, field, k, length2 > 0.999 && length2 < 1.001, "a unit quaternion");
    }
    return GG_OK;
}

static gg_status check_bell_env(const saved_env *s, gg_field_id field) {
    const gg_bell_env *own = s->view->bell_env;
    EXPECT_AT(s, field, 0,
              !s->view->dims.bell.envs || (is_flag(own->known) && is_flag(own->accepted) && is_flag(own->lost) &&
                                           own->step >= 0.0 && own->step <= 1e3),
              "flags 0 or 1, and a step from 0 on");
    return GG_OK;
}

static gg_status check_bell_force(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < s->view->dims.bell.count; k++) {
        const gg_bell_push *p = &s->view->bell_force[k];
        double sum = 0.0;
        for (int c = 0; c < 3; c++) {
            sum += p->force[c] + p->torque[c];
        }
        EXPECT_AT(s, field, k, sum - sum == 0.0, "a finite force and torque");
    }
    return GG_OK;
}

static gg_status check_bell_wrench(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < s->view->dims.bell.tools * 6; k++) {
        double value = s->view->bell_wrench[k];
        EXPECT_AT(s, field, k, value - value == 0.0, "a finite impulse");
    }
    return GG_OK;
}

/* ---- continuous matter ---- */

static gg_status check_strain(const saved_env *s, gg_field_id field) {
    for (int64_t id = 0; s->view->dims.continuum.slots && id < s->view->dims.grain_count; id++) {
        const gg_continuum_material *m = &s->world->scene.continuum_material[s->world->kinds[id].material];
        EXPECT_AT(s, field, id, gg_matter_usable(m, s->view->continuum_strain[id]),
                  "a strain of which the stretch is positive definite");
    }
    return GG_OK;
}

static gg_status check_dilation(const saved_env *s, gg_field_id field) {
    for (int64_t id = 0; s->view->dims.continuum.dilatant && id < s->view->dims.grain_count; id++) {
        EXPECT_AT(s, field, id, usable_float(s->view->continuum_dilation[id], 0.0f), "a finite strain >= 0");
    }
    return GG_OK;
}

static gg_status check_plastic(const saved_env *s, gg_field_id field) {
    for (int64_t id = 0; s->view->dims.continuum.slots && id < s->view->dims.grain_count; id++) {
        EXPECT_AT(s, field, id, usable_float(s->view->continuum_plastic[id], 0.0f), "a finite strain >= 0");
    }
    return GG_OK;
}

/* ---- grains asleep ---- */

static gg_status check_sleep_class(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    int32_t awake = 0;
    for (int64_t id = 0; id < v->dims.grain_count && v->dims.sleep.slots; id++) {
        int32_t own = v->sleep_class[id];
        EXPECT_AT(s, field, id, own == GG_AWAKE || own == GG_EDGE || own == GG_DEEP, "0, 1 or 2");
        EXPECT_AT(s, field, id, own == GG_AWAKE || s->env->some_asleep, "0, no grain of the env sleeps");
        EXPECT_AT(s, field, id, own == GG_DEEP || v->slot_of[id] < gg_live_slots(v, 0), "a slot among those in use");
        awake += own == GG_AWAKE;
    }
    EXPECT_AT(s, field, 0, !v->dims.sleep.slots || awake == s->env->awake, "as many grains awake as the env has");
    return GG_OK;
}

static gg_status check_quiet(const saved_env *s, gg_field_id field) {
    for (int64_t id = 0; id < s->view->dims.sleep.slots; id++) {
        int32_t quiet = s->view->quiet[id], kept = s->view->kept_count[id];
        int asleep = s->view->sleep_class[id] != GG_AWAKE;
        EXPECT_AT(s, field, id, quiet >= GG_NEAR_TOOL && quiet <= GG_QUIET_SUBSTEPS, "a number of substeps in range");
        EXPECT_AT(s, field, id, kept >= 0 && kept <= (asleep ? GG_KEPT : 0), "as many kept contacts as there may be");
    }
    return GG_OK;
}

static gg_status check_kept_key(const saved_env *s, gg_field_id field) {
    const gg_view *v = s->view;
    for (int64_t id = 0; id < v->dims.sleep.slots; id++) {
        for (int32_t k = 0; k < v->kept_count[id]; k++) {
            int64_t at = id * GG_KEPT + k;
            int32_t key = v->kept_key[at];
            EXPECT_AT(s, field, at, key >= -v->dims.part_count && key < v->dims.grain_count && key != id,
                      "the key of another grain or of a part");
            EXPECT_AT(s, field, at,
                      key < 0 ||
                          (v->sleep_class[key] != GG_AWAKE && gg_pair_owned(&s->world->view.params, (int32_t)id, key)),
                      "a contact with a grain asleep that the grain owns");
            EXPECT_AT(s, field, at, k == 0 || gg_key_before(v->kept_key[at - 1], key), "keys in order");
        }
    }
    return GG_OK;
}

static gg_status check_kept_wrench(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < s->view->dims.sleep.tools * 6; k++) {
        double value = s->view->kept_wrench[k];
        EXPECT_AT(s, field, k, value - value == 0.0, "a finite impulse");
    }
    return GG_OK;
}

/* ---- tools ---- */

static gg_status check_tool_pose(const saved_env *s, gg_field_id field) {
    for (int64_t t = 0; t < s->view->dims.tool_count; t++) {
        gg_pose pose = s->view->tool_pose[t];
        gg_quat q = pose.rotation;
        EXPECT_AT(s, field, t, gg_finite3(pose.position), "a finite position");
        EXPECT_AT(s, field, t, gg_within(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 0.999f, 1.001f),
                  "a unit quaternion");
        EXPECT_AT(s, field, t, t >= GG_WALL_COUNT || (gg_norm2(pose.position) == 0.0f && q.w == 1.0f),
                  "a wall where it was built");
    }
    return GG_OK;
}

static gg_status check_tool_active(const saved_env *s, gg_field_id field) {
    for (int64_t t = 0; t < s->view->dims.tool_count; t++) {
        int32_t active = s->view->tool_active[t];
        EXPECT_AT(s, field, t, active == 1 || (active == 0 && t >= GG_WALL_COUNT), "1, or 0 where it is no wall");
    }
    return GG_OK;
}

static gg_status check_tool_body(const saved_env *s, gg_field_id field) {
    for (int64_t t = 0; t < s->view->dims.tools.dynamic; t++) {
        const gg_tool_mass *m = &s->world->scene.tool_mass[t];
        const gg_tool_body *body = &s->view->tool_body[t];
        gg_vec3 x = gg_v3((float)body->position[0], (float)body->position[1], (float)body->position[2]);
        gg_vec3 pose = s->view->tool_pose[t].position;
        EXPECT_AT(s, field, t, m->mass == 0.0f || (x.x == pose.x && x.y == pose.y && x.z == pose.z),
                  "the position of its pose");
        for (int k = 0; k < 3; k++) {
            EXPECT_AT(s, field, t, gg_finite((float)body->velocity[k]), "a finite velocity");
            EXPECT_AT(s, field, t, gg_finite((float)body->force[k]), "a finite force");
            EXPECT_AT(s, field, t, (m->mass > 0.0f && m->free[k]) || body->velocity[k] == 0.0,
                      "no velocity, it is held");
        }
    }
    return GG_OK;
}

static gg_status check_tool_turn(const saved_env *s, gg_field_id field) {
    for (int64_t t = 0; t < s->view->dims.tools.turning; t++) {
        const gg_tool_turn *turn = &s->view->tool_turn[t];
        int turns = s->world->scene.tool_mass[t].inertia.xx > 0.0;
        double length2 = turns ? 0.0 : 1.0;
        for (int k = 0; turns && k < 4; k++) {
            length2 += turn->rotation[k] * turn->rotation[k];
        }
        EXPECT_AT(s, field, t, length2 > 0.998 && length2 < 1.002, "a unit quaternion");
        for (int k = 0; k < 3; k++) {
            EXPECT_AT(s, field, t, gg_finite((float)turn->spin[k]), "a finite angular velocity");
            EXPECT_AT(s, field, t, gg_finite((float)turn->torque[k]), "a finite torque");
        }
    }
    return GG_OK;
}

static gg_status check_tool_anchor(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < 3 * s->view->dims.tools.compliant; k++) {
        EXPECT_AT(s, field, k, gg_finite((float)s->view->tool_anchor[k]), "a finite position");
    }
    return GG_OK;
}

static gg_status check_coupled_motion(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < s->view->dims.tools.coupled; k++) {
        const gg_coupled_motion *m = &s->view->coupled_motion[k];
        const double *q = m->rotation;
        double sum = m->position[0] + m->position[1] + m->position[2];
        for (int c = 0; c < 6; c++) {
            sum += m->twist[c] + m->acceleration[c];
        }
        EXPECT_AT(s, field, k, sum - sum == 0.0, "finite values");
        double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        EXPECT_AT(s, field, k, length2 > 0.99 && length2 < 1.01, "a unit quaternion");
    }
    return GG_OK;
}

static gg_status check_coupled_response(const saved_env *s, gg_field_id field) {
    int64_t width = 6 * s->view->dims.tools.coupled;
    for (int64_t k = 0; k < width * width; k++) {
        double value = s->view->coupled_response[k];
        EXPECT_AT(s, field, k, value - value == 0.0, "a finite value");
        EXPECT_AT(s, field, k, k % (width + 1) || value >= 0.0, "no negative value on the diagonal");
    }
    return GG_OK;
}

static gg_status check_wrench(const saved_env *s, gg_field_id field) {
    for (int64_t k = 0; k < s->view->dims.tool_count * 6; k++) {
        double value = s->view->wrench[k];
        EXPECT_AT(s, field, k, s->env->stats.diverged || value - value == 0.0, "a finite impulse");
    }
    return GG_OK;
}

/* ---- the table ---- */

/* clang-format off */
#define GG_STATE_RULES(X)                                                                                              \
    X(env, check_env)                                                                                                  \
    X(pair, check_pair)                                                                                                \
    X(density, check_density)                                                                                          \
    X(grain_id, check_grain_id)                                                                                        \
    X(slot_of, check_slot_of)                                                                                          \
    X(material, check_material)                                                                                        \
    X(position, check_position)                                                                                        \
    X(built_position, check_built_position)                                                                            \
    X(body_a, check_bodies)                                                                                            \
    X(velocity_error, check_finite)                                                                                    \
    X(position_error, check_finite)                                                                                    \
    X(candidate_first, check_candidate_range)                                                                          \
    X(candidate_count, check_candidate_range)                                                                          \
    X(candidate, check_candidate)                                                                                      \
    X(contact_first, check_contact_range)                                                                              \
    X(contact_count, check_contact_range)                                                                              \
    X(tool_contact_count, check_contact_range)                                                                         \
    X(key_a, check_keys)                                                                                               \
    X(key_b, check_keys)                                                                                               \
    X(impulse_a, check_impulses)                                                                                       \
    X(impulse_b, check_impulses)                                                                                       \
    X(tool_pose, check_tool_pose)                                                                                      \
    X(tool_active, check_tool_active)                                                                                  \
    X(wrench, check_wrench)                                                                                            \
    X(roll_a, check_impulses)                                                                                          \
    X(roll_b, check_impulses)                                                                                          \
    X(link_a, check_links)                                                                                             \
    X(link_b, check_links)                                                                                             \
    X(clump_motion, check_clump_motion)                                                                                \
    X(bell_env, check_bell_env)                                                                                        \
    X(bell_force, check_bell_force)                                                                                    \
    X(continuum_strain, check_strain)                                                                                  \
    X(continuum_affine, check_finite)                                                                                  \
    X(continuum_plastic, check_plastic)                                                                                \
    X(continuum_dilation, check_dilation)                                                                              \
    X(bell_wrench, check_bell_wrench)                                                                                  \
    X(angle, check_finite)                                                                                             \
    X(tool_body, check_tool_body)                                                                                      \
    X(tool_turn, check_tool_turn)                                                                                      \
    X(tool_anchor, check_tool_anchor)                                                                                  \
    X(coupled_motion, check_coupled_motion)                                                                            \
    X(coupled_response, check_coupled_response)                                                                        \
    X(sleep_class, check_sleep_class)                                                                                  \
    X(quiet, check_quiet)                                                                                              \
    X(held, check_finite)                                                                                              \
    X(kept_count, check_quiet)                                                                                         \
    X(kept_key, check_kept_key)                                                                                        \
    X(kept_impulse, check_finite)                                                                                      \
    X(kept_torque, check_finite)                                                                                       \
    X(kept_wrench, check_kept_wrench)
/* clang-format on */

/* by name, so that a field marked STATE which has no rule does not compile */
#define RULE_ENUM(name, rule) static const state_rule rule_##name = rule;
GG_STATE_RULES(RULE_ENUM)
#undef RULE_ENUM

gg_status gg_state_check(gg_world *w, const gg_view *saved) {
    static const char prefix[] = "state: ";
    const size_t length = sizeof prefix - 1;
    memcpy(w->message, prefix, sizeof prefix);
    const saved_env s = {w, saved, saved->env, {w->message + length, sizeof w->message - length}};
#define RULE_SCRATCH(name)                     NULL
#define RULE_STATE(name)                       rule_##name
#define RULE_OF_FIELD(type, name, count, keep) RULE_##keep(name),
    const state_rule rules[] = {GG_FIELDS(RULE_OF_FIELD)};
#undef RULE_OF_FIELD
    gg_status status = GG_OK;
    for (int f = 0; status == GG_OK && f < GG_FIELD_COUNT; f++) {
        status = rules[f] ? rules[f](&s, (gg_field_id)f) : GG_OK;
    }
    /* what a rule says is wrong with its field is wrong with the state */
    return status == GG_OK ? GG_OK : GG_ERROR_STATE;
}
