/* snapshot.c: one env as bytes, and back; hashes of an env.
 *
 * A state holds every field marked STATE, stored impulses and candidate lists included: a world that loads it continues
 * with the bits of the one that saved it. It fits any world of the same scene layout, whatever its buffers grew to.
 */
#include <string.h>

#include "../base/rng.h"
#include "world.h"

#define STATE_MAGIC 0x6767737461746532ull /* "ggstate2" */

typedef struct state_header {
    uint64_t magic, layout, size, check;
    gg_dims dims; /* of the world that saved it */
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
                             (int64_t)sizeof(gg_pair),
                             w->solver.broad_phase,
                             (int64_t)GG_LANES,
                             w->view.params.size_class_count,
                             d->planar.outline_count,
                             d->planar.outline_points};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        hash = gg_rng_mix(hash ^ (uint64_t)words[k]);
    }
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
    state_header header;
    memset(&header, 0, sizeof header);
    header.magic = STATE_MAGIC;
    header.layout = w->layout;
    header.size = state_size(&w->view.dims);
    header.dims = w->view.dims;
    header.check = gg_hash_bytes(0, (char *)state + sizeof header, (size_t)header.size - sizeof header);
    memcpy(state, &header, sizeof header);
    return status;
}

/* reads and verifies everything before anything is touched */
static gg_status check_state(gg_world *w, const void *state, size_t size, state_header *header) {
    if (size < sizeof *header) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: expected at least %zu bytes, got %zu: truncated or not a state",
                             sizeof *header, size);
    }
    memcpy(header, state, sizeof *header);
    if (header->magic != STATE_MAGIC) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: not a state of this engine, or of another byte order");
    }
    if (header->layout != w->layout) {
        return gg_world_fail(w, GG_ERROR_STATE,
                             "state: saved by another version or scene (layout %016llx, this world has %016llx)",
                             (unsigned long long)header->layout, (unsigned long long)w->layout);
    }
    if (header->size != size) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: expected %llu bytes, got %zu: truncated",
                             (unsigned long long)header->size, size);
    }
    if (header->check != gg_hash_bytes(0, (const char *)state + sizeof *header, size - sizeof *header) ||
        state_size(&header->dims) != size) {
        return gg_world_fail(w, GG_ERROR_STATE, "state: damaged: its checksum does not fit its content");
    }
    return GG_OK;
}

/* capacities no smaller than those of the world that saved the state */
static gg_status fit_capacities(gg_world *w, const gg_dims *saved) {
    gg_dims dims = w->view.dims;
    gg_dims_set_tool_contacts(&dims, GG_MAX(dims.tool_contacts, saved->tool_contacts));
    dims.contact_rows = GG_MAX(dims.contact_rows, saved->contact_rows);
    dims.spheres.roll_rows = dims.spheres.roll_rows || saved->spheres.roll_rows ? dims.contact_rows : 0;
    dims.spheres.cohesive_rows = dims.spheres.cohesive_rows || saved->spheres.cohesive_rows ? dims.contact_rows : 0;
    dims.planar.rows = dims.planar.outline_count ? dims.contact_rows : 0;
    gg_dims_set_candidates(&dims, GG_MAX(dims.candidate_cap, saved->candidate_cap));
    return memcmp(&dims, &w->view.dims, sizeof dims) ? gg_arena_resize(w, dims) : GG_OK;
}

gg_status gg_world_load_state(gg_world *w, const int32_t *envs, int64_t listed, const void *state, size_t size) {
    state_header header;
    gg_status status = check_state(w, state, size, &header);
    if (status != GG_OK || (status = gg_envs_check(w, envs, &listed)) != GG_OK ||
        (status = fit_capacities(w, &header.dims)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        size_t env = (size_t)gg_env_at(envs, k);
        const char *at = (const char *)state + sizeof header;
        for (int f = 0; f < GG_FIELD_COUNT; f++) {
            int keep = 0;
            size_t saved = gg_field_size(&header.dims, (gg_field_id)f, &keep);
            size_t here = gg_field_size(&w->view.dims, (gg_field_id)f, NULL);
            if (keep && saved && status == GG_OK) {
                char *to = (char *)gg_field_data(&w->view, (gg_field_id)f) + env * here;
                status = gg_memory_copy(w, to, saved, at, saved, saved, 1, GG_TO_DEVICE);
                at += saved;
            }
        }
    }
    gg_world_invalidate(w);
    return status == GG_OK ? gg_params_from_materials(w) : status;
}

gg_status gg_world_state_hash(gg_world *w, int64_t env, uint64_t *hash) {
    *hash = 0;
    gg_view *v;
    gg_status status = gg_env_check(w, env);
    gg_fields fields = GG_BIT(slot_of) | GG_BIT(position) | GG_BIT(body_a) | GG_BIT(tool_pose) | GG_BIT(angle);
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
        *hash = gg_hash_bytes(*hash, &v->tool_pose[env * v->dims.tool_count + t], sizeof(gg_pose));
    }
    return GG_OK;
}
