/* snapshot.c: one env as bytes, and back; hashes of an env.
 *
 * A state holds every field marked STATE, stored impulses and candidate lists included: a world that loads it continues
 * with the bits of the one that saved it. It fits any world of the same scene layout, whatever its buffers grew to.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/rng.h"
#include "../solvers/dynamic_tools.h"
#include "world.h"

#define STATE_MAGIC 0x6767737461746534ull /* "ggstate4" */

/* what a world has grown to, and so the sizes of the fields of a state; all else follows from the layout */
typedef struct state_capacity {
    int64_t tool_contacts, contact_rows, candidates;
    int32_t rolling, cohesive;       /* 1: contacts carry what rolling and cohesion need */
    int32_t sleep, unused;           /* 1: grains may sleep while others move */
    int32_t listed[GG_SIZE_CLASSES]; /* candidates a grain of each size class may have */
} state_capacity;

typedef struct state_header {
    uint64_t magic, layout, size;
    uint64_t check; /* hash of all bytes, where these are 0 */
    state_capacity capacity;
} state_header;

uint64_t gg_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *at = data;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = gg_rng_mix(hash ^ word);
    }
    uint64_t tail = size;
    for (size_t k = 0; k < size; k++) {
        tail = tail << 8 | at[k];
    }
    return gg_rng_mix(hash ^ tail);
}

uint64_t gg_state_layout(const gg_world *w) {
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
                             w->solver.integrator,
                             (int64_t)sizeof(gg_pair),
                             w->solver.broad_phase,
                             (int64_t)GG_LANES,
                             w->view.params.size_class_count,
                             d->clumps.count,
                             d->planar.outline_count,
                             d->planar.outline_points,
                             d->continuum.dilatant,
                             d->tools.dynamic,
                             d->tools.coupled,
                             d->tools.compliant,
                             d->tools.turning};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        hash = gg_rng_mix(hash ^ (uint64_t)words[k]);
    }
    hash = gg_hash_bytes(hash, w->kinds, sizeof *w->kinds * (size_t)d->grain_count);
    for (const char *c = GG_VERSION; *c; c++) {
        hash = gg_rng_mix(hash ^ (uint64_t)*c);
    }
    return hash;
}

static size_t state_size(const gg_dims *dims) {
    size_t size = sizeof(state_header);
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        int keep = 0;
        size_t field = gg_field_size(dims, (gg_field_id)f, &keep);
        size += keep ? field : 0;
    }
    return size;
}

/* of a state whose header and content these are */
static uint64_t checksum(state_header header, const char *content) {
    header.check = 0;
    return gg_hash_bytes(gg_hash_bytes(0, &header, sizeof header), content, (size_t)header.size - sizeof header);
}

gg_status gg_world_state_size(gg_world *w, int64_t env, size_t *size) {
    *size = state_size(&w->view.dims);
    return gg_env_check(w, env);
}

gg_status gg_world_save_state(gg_world *w, int64_t env, void *state, size_t size) {
    gg_status status = gg_env_check(w, env);
    if (status != GG_OK) {
        return status;
    }
    if (size < state_size(&w->view.dims)) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "state: expected a buffer of %zu bytes, got %zu",
                             state_size(&w->view.dims), size);
    }
    char *at = (char *)state + sizeof(state_header);
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        int keep = 0;
        size_t field = gg_field_size(&w->view.dims, (gg_field_id)f, &keep);
        if (keep && field && status == GG_OK) {
            const char *from = (const char *)gg_field_data(&w->view, (gg_field_id)f) + (size_t)env * field;
            status = gg_memory_copy(w, at, field, from, field, field, 1, GG_TO_HOST);
            at += field;
        }
    }
    const gg_dims *d = &w->view.dims;
    state_header header;
    memset(&header, 0, sizeof header);
    header.magic = STATE_MAGIC;
    header.layout = w->layout;
    header.size = state_size(d);
    header.capacity.tool_contacts = d->tool_contacts;
    header.capacity.contact_rows = d->contact_rows;
    header.capacity.candidates = d->candidate_cap;
    header.capacity.rolling = d->spheres.roll_rows > 0;
    header.capacity.cohesive = d->spheres.cohesive_rows > 0;
    header.capacity.sleep = d->sleep.slots > 0;
    memcpy(header.capacity.listed, w->view.params.size_class_candidates, sizeof header.capacity.listed);
    header.check = checksum(header, (char *)state + sizeof header);
    memcpy(state, &header, sizeof header);
    return status;
}

/* ---- loading: all is verified before anything is touched ---- */

/* the sizes of the fields of a state: those of the world but for its capacities; 0: no world can have these */
static int saved_dims(const gg_world *w, const state_capacity *c, gg_dims *dims) {
    *dims = w->view.dims;
    dims->env_count = 1;
    if (c->tool_contacts < 0 || c->tool_contacts > INT32_MAX - dims->free_bodies || c->contact_rows < 0 ||
        c->contact_rows > INT32_MAX / GG_LANES || c->candidates < 0 || c->candidates > INT32_MAX || c->rolling < 0 ||
        c->rolling > 1 || c->cohesive < 0 || c->cohesive > 1 || c->sleep < 0 || c->sleep > 1 ||
        (c->sleep && w->view.params.law != GG_LAW_coloured)) {
        return 0;
    }
    for (int k = 0; k < GG_SIZE_CLASSES; k++) {
        if (c->listed[k] < 0) {
            return 0;
        }
    }
    if (gg_law_has_lists((gg_law)w->view.params.law) && gg_candidates_of_env(w, c->listed) > c->candidates) {
        return 0;
    }
    dims->spheres.roll_rows = c->rolling;
    dims->spheres.cohesive_rows = c->cohesive;
    dims->sleep.slots = c->sleep ? dims->slots : 0;
    dims->sleep.tools = c->sleep ? dims->tool_count : 0;
    gg_dims_set_tool_contacts(dims, c->tool_contacts);
    gg_dims_set_contact_rows(dims, c->contact_rows);
    gg_dims_set_candidates(dims, c->candidates);
    return 1;
}

static gg_status check_header(gg_world *w, const gg_state *state, gg_dims *dims) {
    state_header header;
    if (state->size < sizeof header) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: expected at least %zu bytes, got %zu: truncated or not a state",
                             sizeof header, state->size);
    }
    memcpy(&header, state->data, sizeof header);
    if (header.magic != STATE_MAGIC) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: not a state of this engine, or of another byte order");
    }
    if (header.layout != w->layout) {
        return gg_world_fail(w, GG_ERROR_STATE,
                             "state: saved by another version or scene (layout %016llx, this world has %016llx)",
                             (unsigned long long)header.layout, (unsigned long long)w->layout);
    }
    if (header.size != state->size) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: expected %llu bytes, got %zu: truncated",
                             (unsigned long long)header.size, state->size);
    }
    if (!state->checked && header.check != checksum(header, (const char *)state->data + sizeof header)) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: damaged: its checksum does not fit its content");
    }
    if (!saved_dims(w, &header.capacity, dims) || state_size(dims) != state->size) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: damaged: its size does not fit the numbers of its contacts");
    }
    return GG_OK;
}

/* Checks the values of a state. They are copied, as the bytes need not be aligned. */
static gg_status check_content(gg_world *w, const gg_state *state, const gg_dims *dims) {
    gg_view saved;
    size_t total = gg_arena_total(dims);
    void *memory = total < SIZE_MAX ? malloc(total) : NULL;
    if (!memory) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes to check a state", total);
    }
    memset(&saved, 0, sizeof saved);
    saved.params = w->view.params;
    gg_arena_carve(&saved, dims, memory);
    const char *at = (const char *)state->data + sizeof(state_header);
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        int keep = 0;
        size_t size = gg_field_size(dims, (gg_field_id)f, &keep);
        if (keep && size) {
            memcpy(gg_field_data(&saved, (gg_field_id)f), at, size);
            at += size;
        }
    }
    gg_status status = gg_state_check(w, &saved);
    gg_dims needed = *dims;
    if (status == GG_OK && gg_dims_fit_pairs(w, &needed, saved.pair, dims->material_count * dims->material_count)) {
        status = gg_world_fail(w, GG_ERROR_STATE, "state: damaged: its materials roll or attract, its contacts do not");
    }
    free(memory);
    return status;
}

/* Capacities no smaller than those of the world that saved the state; listed: candidates by size class. Lists that are
 * not built again keep their length wherever they are moved. */
static void fit_capacities(gg_dims *dims, int32_t *listed, const gg_dims *saved, const gg_state *state) {
    state_header header;
    memcpy(&header, state->data, sizeof header);
    for (int k = 0; k < GG_SIZE_CLASSES; k++) {
        listed[k] = GG_MAX(listed[k], header.capacity.listed[k]);
    }
    gg_dims_set_tool_contacts(dims, GG_MAX(dims->tool_contacts, saved->tool_contacts));
    dims->spheres.roll_rows |= saved->spheres.roll_rows;
    dims->spheres.cohesive_rows |= saved->spheres.cohesive_rows;
    dims->sleep.slots = GG_MAX(dims->sleep.slots, saved->sleep.slots);
    dims->sleep.tools = GG_MAX(dims->sleep.tools, saved->sleep.tools);
    gg_dims_set_contact_rows(dims, GG_MAX(dims->contact_rows, saved->contact_rows));
    gg_dims_set_candidates(dims, GG_MAX(dims->candidate_cap, saved->candidate_cap));
}

/* zeros for the fields of rolling and of sleep, in a world that has them, of a state that has none; NULL: none are
 * needed */
static gg_status make_zeros(gg_world *w, void **zeros) {
    size_t size = gg_field_size(&w->view.dims, GG_FIELD_roll_a, NULL);
    for (int f = GG_FIELD_sleep_class; f <= GG_FIELD_kept_wrench; f++) {
        size_t field = gg_field_size(&w->view.dims, (gg_field_id)f, NULL);
        size = GG_MAX(size, field);
    }
    *zeros = size ? calloc(1, size) : NULL;
    return size && !*zeros ? gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes to load a state", size)
                           : GG_OK;
}

/* copies a checked state into an env */
static gg_status put_state(gg_world *w, int64_t env, const gg_state *state, const void *zeros) {
    state_header header;
    gg_dims dims;
    memcpy(&header, state->data, sizeof header);
    saved_dims(w, &header.capacity, &dims);
    const char *at = (const char *)state->data + sizeof header;
    gg_status status = GG_OK;
    for (int f = 0; f < GG_FIELD_COUNT && status == GG_OK; f++) {
        int keep = 0;
        size_t saved = gg_field_size(&dims, (gg_field_id)f, &keep);
        size_t here = gg_field_size(&w->view.dims, (gg_field_id)f, NULL);
        char *to = (char *)gg_field_data(&w->view, (gg_field_id)f) + (size_t)env * here;
        if (keep && saved) {
            status = gg_memory_copy(w, to, saved, at, saved, saved, 1, GG_TO_DEVICE);
            at += saved;
        } else if (keep && here) {
            status = gg_memory_copy(w, to, here, zeros, here, here, 1, GG_TO_DEVICE);
        }
    }
    return status;
}

gg_status gg_world_load_states(gg_world *w, const int32_t *envs, int64_t listed, const gg_state *states,
                               int64_t count) {
    gg_status status = gg_envs_check(w, envs, &listed);
    if (status != GG_OK) {
        return status;
    }
    GG_EXPECT(gg_message_of(w), count == 1 || count == listed, "states: expected 1 or %lld, got %lld",
              (long long)listed, (long long)count);
    gg_params *p = &w->view.params;
    gg_dims dims = w->view.dims, saved;
    int32_t listed_each[GG_SIZE_CLASSES];
    memcpy(listed_each, p->size_class_candidates, sizeof listed_each);
    for (int64_t k = 0; status == GG_OK && k < count; k++) {
        status = check_header(w, &states[k], &saved);
        if (status == GG_OK && !states[k].checked) {
            status = check_content(w, &states[k], &saved);
        }
        if (status == GG_OK) {
            fit_capacities(&dims, listed_each, &saved, &states[k]);
        }
    }
    if (gg_law_has_lists((gg_law)p->law)) {
        gg_dims_set_candidates(&dims, GG_MAX(dims.candidate_cap, gg_candidates_of_env(w, listed_each)));
    }
    if (status == GG_OK && memcmp(&dims, &w->view.dims, sizeof dims)) {
        status = gg_arena_resize(w, dims);
    }
    void *zeros = NULL;
    if (status != GG_OK || (status = make_zeros(w, &zeros)) != GG_OK) {
        return status;
    }
    memcpy(p->size_class_candidates, listed_each, sizeof listed_each);
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = put_state(w, gg_env_at(envs, k), &states[count == 1 ? 0 : k], zeros);
    }
    free(zeros);
    gg_world_invalidate(w, envs, listed);
    return status == GG_OK ? gg_params_from_materials(w) : status;
}

gg_status gg_world_load_state(gg_world *w, const int32_t *envs, int64_t listed, const void *state, size_t size) {
    const gg_state one = {state, size, 0};
    return gg_world_load_states(w, envs, listed, &one, 1);
}

gg_status gg_world_state_hash(gg_world *w, int64_t env, uint64_t *hash) {
    *hash = 0;
    gg_view *v;
    gg_status status = gg_env_check(w, env);
    gg_fields fields = GG_BIT(slot_of) | GG_BIT(position) | GG_BIT(body_a) | GG_BIT(tool_pose) | GG_BIT(tool_active) |
                       GG_BIT(angle) | GG_BIT(tool_body) | GG_BIT(tool_turn) | GG_BIT(tool_anchor);
    if (status != GG_OK || (status = gg_world_pull(w, fields, env, &v)) != GG_OK) {
        return status;
    }
    for (int64_t id = 0; id < v->dims.grain_count; id++) {
        int64_t slot = v->slot_of[env * v->dims.slots + id];
        const float *row = v->body_a + (env * v->dims.bodies + slot) * GG_BODY;
        float words[10];
        memcpy(words, &v->position[env * v->dims.slots + slot], 4 * sizeof(float));
        memcpy(words + 4, row, 3 * sizeof(float));
        memcpy(words + 7, row + 4, 3 * sizeof(float));
        *hash = gg_hash_bytes(*hash, words, sizeof words);
        if (v->dims.planar.slots) {
            *hash = gg_hash_bytes(*hash, &v->angle[env * v->dims.planar.slots + id], sizeof(float));
        }
    }
    for (int64_t t = GG_WALL_COUNT; t < v->dims.tool_count; t++) {
        const int32_t *active = &v->tool_active[env * v->dims.tool_count + t];
        *hash = gg_hash_bytes(*hash, &v->tool_pose[env * v->dims.tool_count + t], sizeof(gg_pose));
        if (gg_tool_dynamic(v, t)) {
            *hash = gg_hash_bytes(*hash, &v->tool_body[env * v->dims.tool_count + t], sizeof(gg_tool_body));
        }
        if (gg_tool_turns(v, t)) {
            *hash = gg_hash_bytes(*hash, &v->tool_turn[env * v->dims.tool_count + t], sizeof(gg_tool_turn));
        }
        if (gg_tool_compliant(v, t)) {
            *hash =
                gg_hash_bytes(*hash, &v->tool_anchor[3 * (env * v->dims.tool_count + t)], 3 * sizeof *v->tool_anchor);
        }
        if (!*active) {
            *hash = gg_hash_bytes(*hash, active, sizeof *active);
        }
    }
    return GG_OK;
}
