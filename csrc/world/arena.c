/* arena.c: one allocation for all fields of a world, laid out by the list of fields; it grows between substeps only. */
#include <stdlib.h>
#include <string.h>

#include "../contact/cells.h"
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

/* bytes, in a type that cannot overflow */
static double arena_wanted(const gg_dims *dims) {
    double wanted = 0.0;
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        wanted += (double)gg_field_size(dims, (gg_field_id)f, NULL) * (double)dims->env_count;
    }
    return wanted;
}

size_t gg_arena_total(const gg_dims *dims) {
    size_t total = ALIGNMENT;
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        total += aligned(gg_field_size(dims, (gg_field_id)f, NULL) * (size_t)dims->env_count);
    }
    /* a sum past what size_t holds would have wrapped to something small */
    return arena_wanted(dims) < (double)(SIZE_MAX / 2) ? total : SIZE_MAX;
}

void gg_arena_carve(gg_view *view, const gg_dims *dims, void *memory) {
    char *at = (char *)aligned((size_t)(uintptr_t)memory);
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        set_field(view, (gg_field_id)f, at);
        at += aligned(gg_field_size(dims, (gg_field_id)f, NULL) * (size_t)dims->env_count);
    }
#define FIELD_ALIAS(type, alias, field) view->alias = view->field;
    GG_FIELD_ALIASES(FIELD_ALIAS)
#undef FIELD_ALIAS
    if (dims->continuum.envs) { /* no velocities of iterates; points are idle until the solve */
        view->before_prediction = (float *)(void *)view->continuum_point;
    }
    view->dims = *dims;
}

/* the old arrays stay until the new ones exist */
gg_status gg_arena_resize(gg_world *w, gg_dims dims) {
    size_t total = gg_arena_total(&dims);
    void *memory = total < SIZE_MAX ? gg_memory_new(w, total) : NULL;
    if (!memory) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %.0f bytes for %lld envs of %lld grains",
                             arena_wanted(&dims), (long long)dims.env_count, (long long)dims.grain_count);
    }
    gg_view old = w->view;
    gg_arena_carve(&w->view, &dims, memory);
    gg_status status = GG_OK;
    for (int f = 0; w->arena && status == GG_OK && f < GG_FIELD_COUNT; f++) {
        size_t size = gg_field_size(&dims, (gg_field_id)f, NULL);
        size_t old_size = gg_field_size(&old.dims, (gg_field_id)f, NULL);
        status = gg_memory_copy(w, gg_field_data(&w->view, (gg_field_id)f), size, gg_field_data(&old, (gg_field_id)f),
                                old_size, GG_MIN(size, old_size), (size_t)dims.env_count, GG_ON_DEVICE);
    }
    gg_memory_free(w, w->arena);
    w->arena = memory;
    w->arena_size = total;
    return status;
}

/* the most neighbours that a grain of the size class can list, unless grains lie inside each other */
static int32_t candidate_limit(const gg_params *p, int size_class) {
    float ratio = 1.0f + p->size_class_radius[size_class] / p->radius_min;
    /* where one grain of a pair alone lists it, half of them */
    float limit = (gg_has_owners(p) ? 32.0f : 64.0f) * ratio * ratio;
    return limit < 1.0e6f ? (int32_t)limit : 1000000;
}

static int noted(const gg_env *env) {
    return env->overflow_candidates || env->overflow_rows || env->overflow_tool_contacts || env->overflow_blocks ||
           env->overflow_nodes;
}

/* what the envs noted, as sizes and as candidates per size class; an env that needs more than the limit is frozen */
static gg_status collect(gg_world *w, const gg_env *envs, gg_dims *dims, int32_t *candidates) {
    const gg_params *p = &w->view.params;
    gg_status status = GG_OK;
    int64_t rows = 0, tool_contacts = 0, blocks = 0, nodes = 0;
    for (int64_t e = 0; e < dims->env_count; e++) {
        const gg_env *env = &envs[e];
        int32_t wanted = env->overflow_candidates;
        if (wanted > candidate_limit(p, env->overflow_size_class)) {
            status =
                gg_world_fail(w, GG_ERROR_CAPACITY,
                              "env %d: a grain lists %d neighbours, expected at most %d: the grains lie inside each "
                              "other; the env is frozen until its grains are set again",
                              (int)e, (int)wanted, (int)candidate_limit(p, env->overflow_size_class));
            wanted = 0;
        }
        int32_t *per_grain = &candidates[env->overflow_size_class];
        if (wanted > *per_grain) {
            *per_grain = wanted + wanted / 8 + 1;
        }
        rows = GG_MAX(rows, env->overflow_rows);
        tool_contacts = GG_MAX(tool_contacts, env->overflow_tool_contacts);
        blocks = GG_MAX(blocks, env->overflow_blocks);
        nodes = GG_MAX(nodes, env->overflow_nodes);
    }
    if (rows) {
        gg_dims_set_contact_rows(dims, rows + rows / 16 + 4);
    }
    if (blocks || nodes) {
        gg_dims_set_blocks(dims, blocks ? blocks + blocks / 16 + 4 : dims->continuum.blocks,
                           nodes ? nodes + nodes / 16 + 4 : dims->continuum.nodes);
    }
    if (tool_contacts) {
        gg_dims_set_tool_contacts(dims, tool_contacts + tool_contacts / 8 + 16);
    }
    return status;
}

/* Moves the lists of an env that need not be built again to where they begin with these capacities. Those of a state lie
 * as the world that saved it laid them: some may move back. lists: room for those of an env. */
static void move_lists(const gg_params *p, gg_view *host, int64_t e, const int32_t *per_grain, int32_t *lists) {
    const gg_dims *d = &host->dims;
    int64_t live = gg_live_slots(host, e), to = 0;
    int32_t *own = host->candidate + e * d->candidate_cap;
    for (int64_t at = e * d->slots; at < e * d->slots + live; at++) {
        memcpy(lists + to, own + host->candidate_first[at], sizeof *lists * (size_t)host->candidate_count[at]);
        host->candidate_first[at] = (int32_t)to;
        to += host->grain_id[at] < 0 ? 0 : per_grain[gg_size_class_of(p, host->position[at].w)];
    }
    memcpy(own, lists, sizeof *lists * (size_t)to);
}

/* whether every list of an env fits these capacities: a state that was made up may claim smaller ones */
static int lists_fit(const gg_params *p, const gg_view *host, int64_t e, const int32_t *per_grain) {
    int64_t first = e * host->dims.slots, live = gg_live_slots(host, e);
    int fit = 1;
    for (int64_t at = first; at < first + live; at++) {
        int32_t most = host->grain_id[at] < 0 ? 0 : per_grain[gg_size_class_of(p, host->position[at].w)];
        fit &= host->candidate_count[at] <= most;
    }
    return fit;
}

gg_status gg_arena_grow(gg_world *w, int *grew) {
    gg_dims dims = w->view.dims;
    gg_params *p = &w->view.params;
    int32_t candidates[GG_SIZE_CLASSES];
    gg_view *host;
    memcpy(candidates, p->size_class_candidates, sizeof candidates);
    *grew = 0;
    gg_status status = gg_world_pull(w, GG_BIT(env), -1, &host);
    for (int64_t e = 0; status == GG_OK && e < dims.env_count; e++) {
        *grew |= noted(&host->env[e]);
    }
    if (!*grew) {
        return status;
    }
    status = collect(w, host->env, &dims, candidates);
    /* radii are the same in all envs */
    int64_t capacity = gg_law_has_lists((gg_law)p->law) ? gg_candidates_of_env(w, candidates) : 0;
    int lists_move = capacity > dims.candidate_cap;
    gg_dims_set_candidates(&dims, GG_MAX(dims.candidate_cap, capacity));
    gg_status resized = gg_arena_resize(w, dims);
    if (resized == GG_OK) {
        memcpy(p->size_class_candidates, candidates, sizeof candidates);
    }
    gg_fields lists = GG_BIT(candidate) | GG_BIT(candidate_first), seen = GG_BIT(candidate_count) | GG_BIT(position);
    /* Lists are laid out by their capacity. Those of planar grains carry contact points, and are built again. Others are
     * moved: when the lists of an env are built decides who sleeps, and must not depend on another env. */
    int32_t *room = NULL;
    if (lists_move && resized == GG_OK && !gg_is_planar(p)) {
        room = malloc(sizeof *room * (size_t)capacity);
    }
    int moves = room != NULL; /* where no memory is left they are built again, too */
    gg_fields fields = GG_BIT(env) | (moves ? lists | seen | GG_BIT(grain_id) : 0);
    gg_status pulled = gg_world_pull(w, fields, -1, &host);
    for (int64_t e = 0; pulled == GG_OK && e < dims.env_count; e++) {
        gg_env *env = &host->env[e];
        env->stats.growth_count += resized == GG_OK && noted(env);
        env->stats.diverged |= env->overflow_candidates > candidate_limit(p, env->overflow_size_class);
        env->overflow_candidates = env->overflow_rows = env->overflow_tool_contacts = 0;
        env->overflow_blocks = env->overflow_nodes = 0;
        env->rebuild |= lists_move && (!moves || !lists_fit(p, host, e, candidates));
        if (moves && !env->rebuild) {
            move_lists(p, host, e, candidates, room);
        }
    }
    free(room);
    if (pulled == GG_OK) {
        pulled = gg_world_push(w, GG_BIT(env) | (moves ? lists : 0), -1);
    }
    return resized != GG_OK ? resized : pulled != GG_OK ? pulled : status;
}
