/* search_vector.h: what a vector of W lanes finds; see search.h.
 *
 * The grains of a run of cells are read side by side out of cell_point, and those that are near are noted. At the end
 * each goes to its rank: the number of ids below its own. Also needed here:
 *   lane_pick(to, from, bits)   copies from[k] for each bit k; up to W elements past the last may be written
 */

/* as many are sorted here; the few grains with more neighbours are searched by the scalar build */
#define GG_FOUND 256
#define gg_found GG_LANE_NAME(found)

typedef struct gg_found {
    int32_t slot[GG_FOUND + GG_LANE_WIDTH]; /* the grain itself among them */
    int32_t count;                          /* above GG_FOUND: not all were noted */
} gg_found;

GG_FN void GG_LANE_NAME(found_begin)(const gg_view *v, int64_t e, int32_t slot, gg_found *found) {
    (void)v, (void)e, (void)slot;
    found->count = 0;
}

GG_FN void GG_LANE_NAME(found_run)(const gg_view *v, int64_t e, int32_t slot, int32_t begin, int32_t end,
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
        gg_lane margin = lane_splat(p->margin * 2.0f) * lane_min(radius, other);
        margin = lane_max(margin, lane_splat(v->env[e].cohesion_range));
        gg_lane cutoff = (radius + other) + (lane_splat(v->env[e].skin) + margin);
        uint32_t valid = end - k >= 32 ? 0xFFFFFFFFu : (1u << (end - k)) - 1u;
        uint32_t near = lane_less_bits(GG_LANE_NAME(dot)(d, d), cutoff * cutoff) & valid;
        lane_pick(found->slot + found->count, item + k, near);
        found->count += (int32_t)gg_bit_count(near);
    }
}

/* drops the grains that stay where they are as the one does that found them */
GG_FN void GG_LANE_NAME(found_drop)(const gg_view *v, int64_t e, int stays, gg_found *found) {
    int32_t count = 0;
    for (int32_t k = 0; k < found->count; k++) {
        found->slot[count] = found->slot[k];
        count += !(stays & gg_slot_stays(v, e, found->slot[k]));
    }
    found->count = count;
}

/* the list of a slot: what was found but itself, in order of id */
GG_FN void GG_LANE_NAME(found_sort)(const gg_view *v, int64_t e, int32_t slot, gg_found *found) {
    int64_t base = e * v->dims.slots;
    int32_t id[GG_FOUND + GG_LANE_WIDTH], rank[GG_LANE_WIDTH], count = 0, own_id = v->grain_id[base + slot];
    for (int32_t k = 0; k < found->count; k++) {
        int32_t j = found->slot[k];
        found->slot[count] = j;
        id[count] = v->grain_id[base + j];
        count += j != slot && gg_pair_owned(&v->params, own_id, id[count]) && !gg_spheres_pass(v, own_id, id[count]);
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

GG_FN void GG_LANE_NAME(found_end)(const gg_view *v, int64_t e, int32_t slot, int in_cells, gg_found *found) {
    if (in_cells && found->count <= GG_FOUND) {
        int stays = gg_slot_stays(v, e, slot);
        if (stays) {
            GG_LANE_NAME(found_drop)(v, e, stays, found);
        }
        GG_LANE_NAME(found_sort)(v, e, slot, found);
    } else {
        lane_search_fallback(v, e, slot);
    }
}
