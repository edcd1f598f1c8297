/* arena.c: one allocation for all arrays of a world, carved from the field list; it grows between substeps only. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define ALIGNMENT 64

static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* bytes of one field per env; keep: 1 where a snapshot saves it */
size_t gg_field_size(const gg_dims *d, gg_field_id field, int *keep) {
    enum { SCRATCH = 0, STATE = 1 };
    switch (field) {
#define FIELD_SIZE(type, name, count, kept)                                                                            \
    case GG_FIELD_##name:                                                                                              \
        if (keep) {                                                                                                    \
            *keep = kept;                                                                                              \
        }                                                                                                              \
        return sizeof(type) * (size_t)(count);
        GG_FIELDS(FIELD_SIZE)
#undef FIELD_SIZE
    default:
        return 0;
    }
}

void *gg_field_data(const gg_view *v, gg_field_id field) {
    switch (field) {
#define FIELD_DATA(type, name, count, keep)                                                                            \
    case GG_FIELD_##name:                                                                                              \
        return v->name;
        GG_FIELDS(FIELD_DATA)
#undef FIELD_DATA
    default:
        return NULL;
    }
}

static void set_field(gg_view *v, gg_field_id field, char *data) {
    switch (field) {
#define FIELD_SET(type, name, count, keep)                                                                             \
    case GG_FIELD_##name:                                                                                              \
        v->name = (type *)(void *)data;                                                                                \
        break;
        GG_FIELDS(FIELD_SET)
#undef FIELD_SET
    default:
        break;
    }
}

/* Moves the world to arrays of new sizes: each env keeps what fits, new places are zero. The old arrays stay until the new
 * ones exist. */
gg_status gg_arena_resize(gg_world *w, gg_dims dims) {
    size_t total = ALIGNMENT;
    double wanted = 0.0;
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        size_t size = gg_field_size(&dims, (gg_field_id)f, NULL);
        total += aligned(size * (size_t)dims.env_count);
        wanted += (double)size * (double)dims.env_count;
    }
    /* a sum past what size_t holds would have wrapped to something small */
    void *memory = wanted < (double)(SIZE_MAX / 2) ? calloc(1, total) : NULL;
    if (!memory) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %.0f bytes for %lld envs of %lld grains", wanted,
                             (long long)dims.env_count, (long long)dims.grain_count);
    }
    char *at = (char *)aligned((size_t)(uintptr_t)memory);
    gg_view old = w->view;
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        size_t size = gg_field_size(&dims, (gg_field_id)f, NULL);
        size_t old_size = w->arena ? gg_field_size(&old.dims, (gg_field_id)f, NULL) : 0;
        const char *from = w->arena ? gg_field_data(&old, (gg_field_id)f) : NULL;
        for (int64_t e = 0; from && e < dims.env_count; e++) {
            memcpy(at + (size_t)e * size, from + (size_t)e * old_size, GG_MIN(size, old_size));
        }
        set_field(&w->view, (gg_field_id)f, at);
        at += aligned(size * (size_t)dims.env_count);
    }
    free(w->arena);
    w->arena = memory;
    w->arena_size = total;
    w->view.dims = dims;
    return GG_OK;
}

/* more neighbours than this no grain of the size class can have, unless grains lie inside each other */
static int32_t candidate_limit(const gg_params *p, int level) {
    float ratio = 1.0f + p->level_radius[level] / p->radius_min;
    float limit = 64.0f * ratio * ratio;
    return limit < 1.0e6f ? (int32_t)limit : 1000000;
}

static int noted(const gg_env *env) {
    return env->overflow_candidates || env->overflow_rows || env->overflow_tool_rows;
}

/* what the envs asked for, as sizes and as candidates per size class; an env that asks for the impossible is frozen */
static gg_status collect(gg_world *w, gg_dims *dims, int32_t *candidates) {
    const gg_params *p = &w->view.params;
    gg_status status = GG_OK;
    int64_t rows = 0, tool_rows = 0;
    for (int64_t e = 0; e < dims->env_count; e++) {
        gg_env *env = &w->view.env[e];
        int32_t wanted = env->overflow_candidates;
        if (wanted > candidate_limit(p, env->overflow_level)) {
            status = gg_world_fail(w, GG_ERROR_CAPACITY,
                                   "env %d: a grain has %d neighbours, expected at most %d: the grains lie inside each "
                                   "other; the env is frozen until its grains are set again",
                                   (int)e, (int)wanted, (int)candidate_limit(p, env->overflow_level));
            env->stats.diverged = 1;
            wanted = 0;
        }
        int32_t *room = &candidates[env->overflow_level];
        if (wanted > *room) {
            *room = wanted + wanted / 8 + 1;
        }
        rows = GG_MAX(rows, env->overflow_rows);
        tool_rows = GG_MAX(tool_rows, env->overflow_tool_rows);
    }
    if (rows) {
        dims->contact_rows = rows + rows / 16 + 4;
        gg_dims_from_materials(w, dims);
    }
    if (tool_rows) {
        dims->tool_rows = tool_rows + tool_rows / 8 + 16;
        dims->rows = dims->slots + dims->tool_rows;
    }
    return status;
}

/* room for the candidates of all grains of one env, by what each size class may have; radii are the same in all envs */
static int64_t candidate_room(const gg_world *w, const int32_t *candidates) {
    int64_t sum = 0;
    for (int64_t i = 0; i < w->view.dims.grain_count; i++) {
        sum += candidates[gg_level_of(&w->view.params, w->view.position[i].w)];
    }
    return sum;
}

gg_status gg_arena_grow(gg_world *w, int *grew) {
    gg_dims dims = w->view.dims;
    gg_params *p = &w->view.params;
    int32_t candidates[GG_LEVELS];
    memcpy(candidates, p->level_candidates, sizeof candidates);
    *grew = 0;
    for (int64_t e = 0; e < dims.env_count; e++) {
        *grew |= noted(&w->view.env[e]);
    }
    if (!*grew) {
        return GG_OK;
    }
    gg_status status = collect(w, &dims, candidates);
    int64_t room = candidate_room(w, candidates);
    int lists_move = room > dims.candidate_cap;
    dims.candidate_cap = GG_MAX(dims.candidate_cap, room);
    gg_status resized = gg_arena_resize(w, dims);
    if (resized == GG_OK) {
        memcpy(p->level_candidates, candidates, sizeof candidates);
    }
    for (int64_t e = 0; e < dims.env_count; e++) {
        gg_env *env = &w->view.env[e];
        env->stats.growth_count += resized == GG_OK && noted(env);
        env->overflow_candidates = env->overflow_rows = env->overflow_tool_rows = 0;
        /* lists are laid out by room: all are built again */
        env->rebuild |= lists_move;
    }
    return resized != GG_OK ? resized : status;
}
