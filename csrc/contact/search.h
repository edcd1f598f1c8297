/* search.h: the candidates of one slot through the sorted cells; included once per kind of lane (solvers/lanes.h).
 *
 * The test of a pair is gg_candidate_near's. Vectors read the grains of a row of cells side by side out of cell_point, note
 * those that are near, and put them in order at the end: the rank of each is the number of ids below its own. A single
 * lane, which is what a GPU runs, follows cell_item to the grains and keeps its list in order as it grows. Also needed here:
 *   lane_pick(to, from, bits)   copies from[k] for each bit k; up to W places behind the last may be written
 */

#if GG_LANE_WIDTH == 1
#define gg_found gg_candidate_list

GG_FN void GG_LANE_NAME(search_run)(const gg_view *v, int64_t e, int32_t slot, int32_t begin, int32_t end,
                                    gg_found *list) {
    const gg_env *env = &v->env[e];
    const gg_vec4 *x = v->position + e * v->dims.slots;
    const int32_t *item = v->cell_item + e * v->dims.slots;
    for (int32_t k = begin; k < end; k++) {
        int32_t j = item[k];
        if (j != slot && gg_candidate_near(v, env, x[slot], x[j])) {
            gg_candidate_add(list, j);
        }
    }
}
#else
/* as many can be put in order here; the few grains with more are searched one by one */
#define GG_FOUND 256
#define gg_found GG_LANE_NAME(found)

typedef struct gg_found {
    int32_t slot[GG_FOUND + GG_LANE_WIDTH]; /* the grain itself among them */
    int32_t count;                          /* above GG_FOUND: not all were noted */
} gg_found;

GG_FN void GG_LANE_NAME(search_run)(const gg_view *v, int64_t e, int32_t slot, int32_t begin, int32_t end,
                                    gg_found *found) {
    const gg_params *p = &v->params;
    gg_vec4 x = v->position[e * v->dims.slots + slot];
    const float *point = v->cell_point + e * v->dims.cell_points * 4;
    const int32_t *item = v->cell_item + e * v->dims.slots;
    gg_lane radius = lane_splat(x.w);
    for (int32_t k = begin; k < end && found->count <= GG_FOUND; k += GG_LANE_WIDTH) {
        GG_LANE_NAME(vec) d;
        d.x = lane_splat(x.x) - lane_load(point + k);
        d.y = lane_splat(x.y) - lane_load(point + v->dims.cell_points + k);
        d.z = lane_splat(x.z) - lane_load(point + 2 * v->dims.cell_points + k);
        d.x = GG_LANE_NAME(nearest_image)(p, 0, d.x, p->lower.x, p->upper.x);
        d.y = GG_LANE_NAME(nearest_image)(p, 1, d.y, p->lower.y, p->upper.y);
        d.z = GG_LANE_NAME(nearest_image)(p, 2, d.z, p->lower.z, p->upper.z);
        gg_lane other = lane_load(point + 3 * v->dims.cell_points + k);
        gg_lane ahead = lane_splat(p->margin * 2.0f) * lane_min(radius, other);
        ahead = lane_max(ahead, lane_splat(p->cohesion_range));
        gg_lane cut = (radius + other) + (lane_splat(v->env[e].skin) + ahead);
        uint32_t valid = end - k >= 32 ? 0xFFFFFFFFu : (1u << (end - k)) - 1u;
        uint32_t near = lane_less_bits(GG_LANE_NAME(dot)(d, d), cut * cut) & valid;
        lane_pick(found->slot + found->count, item + k, near);
        found->count += (int32_t)gg_bit_count(near);
    }
}

/* the list of a slot: those found but itself, in order of id */
GG_FN void GG_LANE_NAME(search_order)(const gg_view *v, int64_t e, int32_t slot, gg_found *found) {
    int64_t base = e * v->dims.slots;
    int32_t id[GG_FOUND + GG_LANE_WIDTH], rank[GG_LANE_WIDTH], count = 0;
    for (int32_t k = 0; k < found->count; k++) {
        int32_t j = found->slot[k];
        found->slot[count] = j;
        id[count] = v->grain_id[base + j];
        count += j != slot;
    }
    v->candidate_count[base + slot] = count;
    if (count > gg_candidate_capacity(v, e, slot)) {
        return; /* the lists are built again, with more capacity */
    }
    for (int32_t k = count; k < count + GG_LANE_WIDTH; k++) {
        id[k] = INT32_MAX;
    }
    int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + slot];
    for (int32_t begin = 0; begin < count; begin += GG_LANE_WIDTH) {
        lane_mask own, below = {0};
        memcpy(&own, id + begin, sizeof own);
        for (int32_t k = 0; k < count; k++) {
            below += own > id[k]; /* true is -1 */
        }
        memcpy(rank, &below, sizeof rank);
        for (int32_t k = 0; k < GG_LANE_WIDTH && begin + k < count; k++) {
            list[-rank[k]] = found->slot[begin + k];
        }
    }
}
#endif

/* those of one size class */
GG_FN void GG_LANE_NAME(search_level)(const gg_view *v, int64_t e, int l, int32_t slot, gg_found *found) {
    const gg_env *env = &v->env[e];
    const gg_cell_grid *g = &env->cell_grid[l];
    const gg_vec4 *x = v->position + e * v->dims.slots;
    const int32_t *cell_first = v->cell_first + e * (v->dims.cells + 1);
    float apart = (x[slot].w + v->params.size_class_radius[l]) * (1.0f + v->params.margin) + v->params.cohesion_range;
    float reach = (apart + env->skin) * 1.0001f;
    gg_vec3 at = gg_sub(gg_v3(x[slot].x, x[slot].y, x[slot].z), env->origin);
    gg_cell_range r[3];
    for (int k = 0; k < 3; k++) {
        float c = gg_axis_of(at, g->axis[k]);
        r[k] = gg_cell_range_of(g, g->axis[k], c - reach, c + reach);
    }
    int32_t n0 = g->count[g->axis[0]], n1 = g->count[g->axis[1]], n2 = g->count[g->axis[2]];
    for (int32_t a2 = 0; a2 < r[2].count; a2++) {
        int32_t c2 = r[2].first + a2 < n2 ? r[2].first + a2 : r[2].first + a2 - n2;
        for (int32_t a1 = 0; a1 < r[1].count; a1++) {
            int32_t c1 = r[1].first + a1 < n1 ? r[1].first + a1 : r[1].first + a1 - n1;
            int32_t row = g->first_cell + (c2 * n1 + c1) * n0;
            /* a row of cells is one run of cell_item, or two where it folds around */
            int32_t end = GG_MIN(r[0].first + r[0].count, n0);
            if (end > r[0].first) {
                GG_LANE_NAME(search_run)(v, e, slot, cell_first[row + r[0].first], cell_first[row + end], found);
            }
            int32_t wrapped = r[0].first + r[0].count - n0;
            if (wrapped > 0) {
                GG_LANE_NAME(search_run)(v, e, slot, cell_first[row], cell_first[row + wrapped], found);
            }
        }
    }
}

/* item: slot */
GG_FN void GG_LANE_NAME(search_slot)(const gg_view *v, int64_t e, int64_t i) {
    if (!v->env[e].rebuild) {
        return;
    }
    int64_t base = e * v->dims.slots;
#if GG_LANE_WIDTH > 1
    if (v->grain_id[base + i] >= 0 && v->params.broad_phase == GG_BROAD_CELLS) {
        gg_found found;
        found.count = 0;
        for (int l = 0; l < v->params.size_class_count; l++) {
            GG_LANE_NAME(search_level)(v, e, l, (int32_t)i, &found);
        }
        if (found.count <= GG_FOUND) {
            GG_LANE_NAME(search_order)(v, e, (int32_t)i, &found);
            return;
        }
    }
    lane_search_fallback(v, e, i);
#else
    gg_candidate_list list;
    list.grain_id = v->grain_id + base;
    list.slots = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
    list.count = 0;
    list.cap = gg_candidate_capacity(v, e, i);
    if (v->grain_id[base + i] >= 0) {
        if (v->params.broad_phase == GG_BROAD_LINKED_HASH) {
            gg_candidates_from_hash(v, e, (int32_t)i, &list);
        } else {
            for (int l = 0; l < v->params.size_class_count; l++) {
                GG_LANE_NAME(search_level)(v, e, l, (int32_t)i, &list);
            }
        }
    }
    v->candidate_count[base + i] = list.count;
#endif
}
#undef gg_found
#undef GG_FOUND
