/* candidates.h: Verlet lists: the grains near enough to touch before the lists are rebuilt.
 *
 * Each grain has a list of its own (every pair stands in two), sorted by grain id. The order of a list, and with it the
 * order in which impulses are summed, depends on who is near alone: not on cells, slots, threads or history. Two
 * searches give the same lists: sorted cells (search.h), and the linked spatial hash of GranularGym (2023), section
 * II.B.
 */
#ifndef GG_CANDIDATES_H
#define GG_CANDIDATES_H

#include "cells.h"

typedef struct gg_candidate_list {
    const int32_t *grain_id; /* of the env's slots */
    int32_t *slots;
    int32_t count, cap;
} gg_candidate_list;

/* keeps the list sorted by grain id; counts on past the capacity, so that the caller learns what it needs */
GG_FN void gg_candidate_add(gg_candidate_list *list, int32_t slot) {
    if (list->count < list->cap) {
        int32_t id = list->grain_id[slot];
        int32_t k = list->count;
        while (k > 0 && list->grain_id[list->slots[k - 1]] > id) {
            list->slots[k] = list->slots[k - 1];
            k--;
        }
        list->slots[k] = slot;
    }
    list->count++;
}

/* capacity of the list of a slot, by size class */
GG_FN int32_t gg_candidate_capacity(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    return v->grain_id[at] < 0 ? 0 : v->params.size_class_candidates[gg_size_class_of(&v->params, v->position[at].w)];
}

/* whether a pair is listed: the gap is below the skin plus the speculative margin, or plus the range of cohesion */
GG_FN int gg_candidate_near(const gg_view *v, const gg_env *env, gg_vec4 a, gg_vec4 b) {
    gg_vec3 d = gg_separation(&v->params, a, b);
    float margin = gg_maxf(v->params.margin * 2.0f * gg_minf(a.w, b.w), env->cohesion_range);
    float cutoff = (a.w + b.w) + (env->skin + margin);
    return gg_norm2(d) < cutoff * cutoff;
}

/* whether nothing moves the grain in a slot */
GG_FN int gg_slot_fixed(const gg_view *v, int64_t e, int64_t slot) {
    return gg_slot_body_at(v, e, slot)[GG_BODY_INVERSE_MASS] == 0.0f;
}

/* why a grain need not be listed by one that has a bit in common: bit 0: it is fixed, bit 1: it sleeps */
GG_FN int gg_slot_stays(const gg_view *v, int64_t e, int64_t slot) {
    return gg_slot_fixed(v, e, slot) | gg_slot_asleep(v, e, slot) << 1;
}

/* whether slot j is a candidate of slot i: near, not at rest like i (stays: that of i), they meet as spheres, and i
 * lists it */
GG_FN int gg_candidate_of(const gg_view *v, int64_t e, int32_t i, int stays, int32_t j) {
    const gg_vec4 *x = v->position + e * v->dims.slots;
    const int32_t *id = v->grain_id + e * v->dims.slots;
    return j != i && gg_candidate_near(v, &v->env[e], x[i], x[j]) && !(stays && stays & gg_slot_stays(v, e, j)) &&
           gg_pair_owned(&v->params, id[i], id[j]) && !gg_spheres_pass(v, id[i], id[j]);
}

/* cells of one axis that a search range overlaps: the first (folded), and how many */
typedef struct gg_cell_range {
    int32_t first, count;
} gg_cell_range;

GG_FN gg_cell_range gg_cell_range_of(const gg_cell_grid *g, int axis, float low, float high) {
    int32_t a = gg_floor_int(low / g->cell_size[axis]), b = gg_floor_int(high / g->cell_size[axis]);
    gg_cell_range r;
    if (g->folds[axis]) {
        r.count = GG_MIN(b - a + 1, g->count[axis]);
        r.first = gg_cell_fold(g, axis, a);
    } else {
        a = GG_MAX(a, 0);
        b = GG_MIN(b, g->count[axis] - 1);
        r.first = a;
        r.count = b - a + 1;
    }
    return r;
}

/* GranularGym (2023), equation 6: bucket of a cell. Rounding is to the nearest cell, as printed. */
GG_FN int32_t gg_hash_bucket(const int32_t c[3], int64_t hash_size) {
    uint32_t h = 73856093u * (uint32_t)(c[0] - 100);
    h ^= 19349663u * (uint32_t)(c[1] - 100);
    h ^= 83492791u * (uint32_t)(c[2] - 100);
    return (int32_t)(h % (uint32_t)hash_size);
}

/* width of a hash cell: the paper's 2r, plus the skin of our lists */
GG_FN float gg_hash_cell_size(const gg_view *v, const gg_env *env) {
    return (2.0f * v->params.radius_max * (1.0f + v->params.margin) + env->cohesion_range + env->skin) * 1.001f;
}

GG_FN void gg_hash_cell(const gg_view *v, const gg_env *env, gg_vec4 x, int32_t c[3]) {
    float size = gg_hash_cell_size(v, env);
    c[0] = gg_floor_int(x.x / size + 0.5f);
    c[1] = gg_floor_int(x.y / size + 0.5f);
    c[2] = gg_floor_int(x.z / size + 0.5f);
}

/* bucket of the grain in slot i of env e */
GG_FN int32_t gg_hash_bucket_of(const gg_view *v, int64_t e, int64_t i) {
    int32_t c[3];
    gg_hash_cell(v, &v->env[e], v->position[e * v->dims.slots + i], c);
    return gg_hash_bucket(c, v->dims.hash_size);
}

/* GranularGym (2023), Algorithm 2 for one env: links every grain into the chain of its bucket. Sequential, so without
 * atomics; the order of a chain does not matter, as lists are sorted by grain id. */
GG_FN void gg_hash_build(const gg_view *v, int64_t e) {
    int32_t *head = v->hash_head + e * v->dims.hash_size, *next = v->hash_next + e * v->dims.hash_next;
    for (int64_t b = 0; b < v->dims.hash_size; b++) {
        head[b] = -1;
    }
    for (int64_t i = 0; i < v->dims.grain_count; i++) {
        int32_t bucket = gg_hash_bucket_of(v, e, i);
        next[i] = head[bucket];
        head[bucket] = (int32_t)i;
    }
}

/* all candidates of a grain through the hash: 27 cells; a chain is walked once even where cells share a bucket */
GG_FN void gg_candidates_from_hash(const gg_view *v, int64_t e, int32_t slot, gg_candidate_list *list) {
    const gg_env *env = &v->env[e];
    const gg_vec4 *x = v->position + e * v->dims.slots;
    const int32_t *head = v->hash_head + e * v->dims.hash_size, *next = v->hash_next + e * v->dims.hash_next;
    int32_t c[3], visited[27];
    int visited_count = 0, stays = gg_slot_stays(v, e, slot);
    gg_hash_cell(v, env, x[slot], c);
    for (int n = 0; n < 27; n++) {
        int32_t cell[3];
        cell[0] = c[0] + n % 3 - 1;
        cell[1] = c[1] + n / 3 % 3 - 1;
        cell[2] = c[2] + n / 9 - 1;
        int32_t bucket = gg_hash_bucket(cell, v->dims.hash_size);
        int repeated = 0;
        for (int k = 0; k < visited_count; k++) {
            repeated |= visited[k] == bucket;
        }
        if (repeated) {
            continue;
        }
        visited[visited_count++] = bucket;
        for (int32_t j = head[bucket]; j >= 0; j = next[j]) {
            if (gg_candidate_of(v, e, slot, stays, j)) {
                gg_candidate_add(list, j);
            }
        }
    }
}

#endif
