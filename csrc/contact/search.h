/* search.h: the candidates of one slot through the sorted cells; included once per kind of lane (solvers/lanes.h).
 *
 * A walk over the cells around a grain, once, and two lists of what is found on it: search_scalar.h keeps a sorted list
 * (a single lane, which is what a GPU runs), search_vector.h tests W grains at once and sorts at the end. Each gives
 *   gg_found                                    the list while it grows
 *   found_begin(v, e, slot, found)              an empty list
 *   found_run(v, e, slot, begin, end, found)    adds the near grains of cell_item[begin .. end - 1]
 *   found_end(v, e, slot, in_cells, found)      writes candidate and candidate_count; in_cells 0: the cells were not
 *                                               searched (an empty slot, or the linked hash)
 * under GG_LANE_NAME. Both perform gg_candidate_of's test.
 */
#if GG_LANE_WIDTH == 1
#include "search_scalar.h"
#else
#include "search_vector.h"
#endif

/* adds the near grains of one size class */
GG_FN void GG_LANE_NAME(search_size_class)(const gg_view *v, int64_t e, int size_class, int32_t slot, gg_found *found) {
    const gg_env *env = &v->env[e];
    const gg_cell_grid *g = &env->cell_grid[size_class];
    const gg_vec4 *x = v->position + e * v->dims.slots;
    const int32_t *cell_first = v->cell_first + e * (v->dims.cells + 1);
    float touching = x[slot].w + v->params.size_class_radius[size_class];
    float reach = (touching * (1.0f + v->params.margin) + env->cohesion_range + env->skin) * 1.0001f;
    gg_vec3 center = gg_sub(gg_v3(x[slot].x, x[slot].y, x[slot].z), env->origin);
    gg_cell_range r[3];
    for (int k = 0; k < 3; k++) {
        float c = gg_axis_of(center, g->axis[k]);
        r[k] = gg_cell_range_of(g, g->axis[k], c - reach, c + reach);
    }
    int32_t n0 = g->count[g->axis[0]], n1 = g->count[g->axis[1]], n2 = g->count[g->axis[2]];
    for (int32_t a2 = 0; a2 < r[2].count; a2++) {
        int32_t c2 = r[2].first + a2 < n2 ? r[2].first + a2 : r[2].first + a2 - n2;
        for (int32_t a1 = 0; a1 < r[1].count; a1++) {
            int32_t c1 = r[1].first + a1 < n1 ? r[1].first + a1 : r[1].first + a1 - n1;
            int32_t line = g->first_cell + (c2 * n1 + c1) * n0;
            /* cells along the fastest axis are one run of cell_item, or two where the range wraps around */
            int32_t end = GG_MIN(r[0].first + r[0].count, n0);
            if (end > r[0].first) {
                GG_LANE_NAME(found_run)(v, e, slot, cell_first[line + r[0].first], cell_first[line + end], found);
            }
            int32_t wrapped = r[0].first + r[0].count - n0;
            if (wrapped > 0) {
                GG_LANE_NAME(found_run)(v, e, slot, cell_first[line], cell_first[line + wrapped], found);
            }
        }
    }
}

/* item: slot */
GG_FN void GG_LANE_NAME(search_slot)(const gg_view *v, int64_t e, int64_t i) {
    if (!v->env[e].rebuild) {
        return;
    }
    int in_cells = v->grain_id[e * v->dims.slots + i] >= 0 && v->params.broad_phase == GG_BROAD_CELLS;
    gg_found found;
    GG_LANE_NAME(found_begin)(v, e, (int32_t)i, &found);
    for (int k = 0; in_cells && k < v->params.size_class_count; k++) {
        GG_LANE_NAME(search_size_class)(v, e, k, (int32_t)i, &found);
    }
    GG_LANE_NAME(found_end)(v, e, (int32_t)i, in_cells, &found);
}

#undef gg_found
#undef GG_FOUND
