/* lists.h: the phases that build the lists: grains are sorted by cell, then each searches its neighbours.
 *
 * Only envs with env.rebuild set take part; each env decides for itself: its results do not depend on others.
 */
#ifndef GG_LISTS_H
#define GG_LISTS_H

#include "../contact/candidates.h"

/* item: env */
GG_FN void gg_lists_fit_env(const gg_view *v, int64_t e) {
    if (v->env[e].rebuild) {
        gg_cell_grids_fit(v, e, gg_aabb_of(v, e, 0, 1));
    }
}

/* Grains deep asleep are sorted behind the others, into the last cell, which no grid has. item: slot */
GG_FN void gg_lists_cell_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    if (v->env[e].rebuild && v->grain_id[at] >= 0) {
        gg_vec4 x = v->position[at];
        const gg_cell_grid *g = &v->env[e].cell_grid[gg_size_class_of(&v->params, x.w)];
        v->cell[at] =
            gg_slot_class(v, e, i) == GG_DEEP ? (int32_t)v->dims.cells - 1 : gg_cell_of(g, v->env[e].origin, x);
    }
}

/* grains in a window, within which slots are permuted so that the lists of a slice are of similar length */
#define GG_SORT_WINDOW 256
/* lists longer than this count as equally long */
#define GG_SORT_LENGTHS 32

/* length of a grain's list, for sorting within windows */
GG_FN int32_t gg_sort_length(int32_t contact_count) { return GG_MIN(contact_count, GG_SORT_LENGTHS - 1); }

/* The cost of a slice is that of its longest list. Within a window of grains in cell order, longer lists (of the last
 * substep) therefore come first, ties in order; results never depend on the slot of a grain. */
GG_FN void gg_sort_window(const int32_t *contact_count, const int32_t *from, int32_t *to, int32_t *rank,
                          int64_t count) {
    int32_t first[GG_SORT_LENGTHS + 1];
    for (int k = 0; k <= GG_SORT_LENGTHS; k++) {
        first[k] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t shorter = GG_SORT_LENGTHS - 1 - gg_sort_length(contact_count[from[i]]);
        first[shorter + 1]++;
    }
    for (int k = 0; k < GG_SORT_LENGTHS; k++) {
        first[k + 1] += first[k];
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t shorter = GG_SORT_LENGTHS - 1 - gg_sort_length(contact_count[from[i]]);
        rank[i] = first[shorter]++;
        to[rank[i]] = from[i];
    }
}

/* Counting sort by cell, then by length of lists within windows: source_slot[new] = old, cell_item lists the new slots
 * by cell. With the linked hash grains are in order of id. item: env */
GG_FN void gg_lists_order_env(const gg_view *v, int64_t e) {
    if (!v->env[e].rebuild) {
        return;
    }
    int64_t base = e * v->dims.slots, n = v->dims.grain_count;
    int32_t *first = v->cell_first + e * (v->dims.cells + 1), *item = v->cell_item + base;
    const int32_t *slot_of = v->slot_of + base;
    for (int64_t i = n; i < v->dims.slots; i++) {
        v->source_slot[base + i] = (int32_t)i;
    }
    if (v->params.broad_phase == GG_BROAD_LINKED_HASH) {
        for (int64_t i = 0; i < n; i++) {
            v->source_slot[base + i] = slot_of[i];
        }
        return;
    }
    for (int64_t c = 0; c <= v->dims.cells; c++) {
        first[c] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        first[v->cell[base + i] + 1]++;
    }
    for (int64_t c = 0; c < v->dims.cells; c++) {
        first[c + 1] += first[c];
    }
    /* first[c] advances to the end of its cell, where the next one starts */
    int32_t *sorted = v->sort_slot + base;
    for (int64_t id = 0; id < n; id++) {
        int32_t old = slot_of[id];
        sorted[first[v->cell[base + old]]++] = old;
    }
    for (int64_t c = v->dims.cells; c > 0; c--) {
        first[c] = first[c - 1];
    }
    first[0] = 0;
    for (int64_t begin = 0; begin < n; begin += GG_SORT_WINDOW) {
        int64_t count = GG_MIN(n - begin, GG_SORT_WINDOW);
        gg_sort_window(v->contact_count + base, sorted + begin, v->source_slot + base + begin, item + begin, count);
        for (int64_t i = 0; i < count; i++) {
            item[begin + i] += (int32_t)begin;
        }
    }
}

/* gathers the data of a grain into its new slot. item: slot */
GG_FN void gg_lists_gather_slot(const gg_view *v, int64_t e, int64_t i) {
    if (!v->env[e].rebuild) {
        return;
    }
    int64_t base = e * v->dims.slots, from = base + v->source_slot[base + i], to = base + i;
    gg_vec4 x = v->position[from];
    float *point = v->sort_point + to * 6;
    point[0] = x.x;
    point[1] = x.y;
    point[2] = x.z;
    point[3] = x.w;
    const float *body = v->body_a + (e * v->dims.bodies + v->source_slot[to]) * GG_BODY;
    float *to_row = v->sort_body + (e * v->dims.bodies + i) * GG_BODY;
    float moved[GG_BODY];
    gg_body_load(body, moved);
    gg_body_store(to_row, moved);
    v->sort_grain_id[to] = v->grain_id[from];
    v->sort_material[to] = v->material[from];
    v->sort_contact_first[to] = v->contact_first[from];
    v->sort_contact_count[to] = v->contact_count[from];
    v->sort_tool_contact_count[to] = v->tool_contact_count[from];
}

/* copies the gathered position of the i-th grain in cell order to cell_point, which the vectorized search reads */
GG_FN void gg_lists_cell_point(const gg_view *v, int64_t e, int64_t i) {
    const float *point = v->sort_point + (e * v->dims.slots + v->cell_item[e * v->dims.slots + i]) * 6;
    float *to = v->cell_point + e * v->dims.cell_points * 4 + i;
    for (int k = 0; k < 4; k++) {
        to[k * v->dims.cell_points] = point[k];
    }
}

/* item: slot */
GG_FN void gg_lists_scatter_slot(const gg_view *v, int64_t e, int64_t i) {
    if (!v->env[e].rebuild) {
        return;
    }
    if (v->dims.cell_points && i < v->dims.grain_count) {
        gg_lists_cell_point(v, e, i);
    }
    int64_t at = e * v->dims.slots + i;
    const float *point = v->sort_point + at * 6;
    gg_vec4 x = {point[0], point[1], point[2], point[3]};
    v->position[at] = v->built_position[at] = x;
    float *body = v->body_a + (e * v->dims.bodies + i) * GG_BODY;
    const float *from_row = v->sort_body + (e * v->dims.bodies + i) * GG_BODY;
    float moved[GG_BODY];
    gg_body_load(from_row, moved);
    gg_body_store(body, moved);
    v->grain_id[at] = v->sort_grain_id[at];
    v->material[at] = v->sort_material[at];
    v->contact_first[at] = v->sort_contact_first[at];
    v->contact_count[at] = v->sort_contact_count[at];
    v->tool_contact_count[at] = v->sort_tool_contact_count[at];
    if (v->grain_id[at] >= 0) {
        v->slot_of[e * v->dims.slots + v->grain_id[at]] = (int32_t)i;
    }
}

/* allocates the candidate list of every slot, and builds the linked hash where it is used. item: env */
GG_FN void gg_lists_allocate_env(const gg_view *v, int64_t e) {
    if (!v->env[e].rebuild) {
        return;
    }
    int32_t first = 0;
    for (int64_t i = 0; i < gg_live_slots(v, e); i++) {
        v->candidate_first[e * v->dims.slots + i] = first;
        first += gg_candidate_capacity(v, e, i);
    }
    if (v->params.broad_phase == GG_BROAD_LINKED_HASH) {
        gg_hash_build(v, e);
    }
}

/* records the longest list that does not fit and its size class; count 0: all fit, and the lists are valid */
GG_FN void gg_lists_close(const gg_view *v, int64_t e, int32_t count, int size_class) {
    gg_env *env = &v->env[e];
    env->overflow_candidates = count;
    if (count) {
        env->overflow_size_class = size_class;
    } else {
        env->rebuild = 0;
        env->stats.rebuild_count++;
    }
}

/* item: env */
GG_FN void gg_lists_close_env(const gg_view *v, int64_t e) {
    if (!v->env[e].rebuild) {
        return;
    }
    int64_t base = e * v->dims.slots;
    int32_t most = 0, worst_class = 0;
    for (int64_t i = 0; i < GG_MIN(v->dims.grain_count, gg_live_slots(v, e)); i++) {
        int size_class = gg_size_class_of(&v->params, v->position[base + i].w);
        int32_t count = v->candidate_count[base + i];
        if (count > v->params.size_class_candidates[size_class] && count > most) {
            most = count;
            worst_class = size_class;
        }
    }
    gg_lists_close(v, e, most, worst_class);
}

#endif
