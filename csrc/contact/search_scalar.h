/* search_scalar.h: what one lane finds: the candidate list itself, kept sorted by grain id as it grows; see
 * search.h. */

#define gg_found gg_candidate_list

GG_FN void GG_LANE_NAME(found_begin)(const gg_view *v, int64_t e, int32_t slot, gg_found *found) {
    int64_t base = e * v->dims.slots;
    found->grain_id = v->grain_id + base;
    found->slots = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + slot];
    found->count = 0;
    found->cap = gg_candidate_capacity(v, e, slot);
}

GG_FN void GG_LANE_NAME(found_run)(const gg_view *v, int64_t e, int32_t slot, int32_t begin, int32_t end,
                                   gg_found *found) {
    int stays = gg_slot_stays(v, e, slot);
    const int32_t *item = v->cell_item + e * v->dims.slots;
    for (int32_t k = begin; k < end; k++) {
        int32_t j = item[k];
        if (gg_candidate_of(v, e, slot, stays, j)) {
            gg_candidate_add(found, j);
        }
    }
}

GG_FN void GG_LANE_NAME(found_end)(const gg_view *v, int64_t e, int32_t slot, int in_cells, gg_found *found) {
    if (!in_cells && found->grain_id[slot] >= 0) {
        gg_candidates_from_hash(v, e, slot, found);
    }
    v->candidate_count[e * v->dims.slots + slot] = found->count;
}
