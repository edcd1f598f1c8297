/* notes.h: what a slice reports of the sweeps and of its contacts, for one lane or a vector of lanes: see
 * lane_phases.h. */

/* change of W floats of bodies in the last sweep */
GG_FN gg_lane GG_LANE_NAME(change)(const float *now, const float *before) {
    gg_lane step = lane_load(now) - lane_load(before);
    return lane_max(step, lane_splat(0.0f) - step);
}

/* Residual of a slice: the largest change of a velocity of its bodies in the last sweep. item: slice of an env */
GG_FN void GG_LANE_NAME(note_change)(const gg_view *v, int64_t e, int64_t slice) {
    int64_t first = (e * v->dims.bodies + slice * GG_LANES) * GG_BODY;
    gg_lane most = lane_splat(0.0f);
    for (int64_t k = first; k < first + GG_LANES * GG_BODY; k += GG_LANE_WIDTH) {
        most = lane_max(most, GG_LANE_NAME(change)(v->body_a + k, v->body_b + k));
    }
    GG_LANE_NAME(note_residual)(v, e, slice, most);
}

/* Overlaps of the contacts in W lanes of rows slice, slice + live slices, .. of the records. One of two grains counts for
 * both of its sides. */
GG_FN void GG_LANE_NAME(overlaps_of)(const gg_view *v, int64_t e, int64_t slice, int lane, gg_overlaps *each) {
    int64_t rows = v->colouring[e].first_row[GG_COLOURS];
    gg_lane zero = lane_splat(0.0f);
    GG_LANE_NAME(sums) sums = GG_LANE_NAME(no_sums)();
    for (int64_t row = slice; row < rows; row += v->env[e].live_slices) {
        int64_t at = row * GG_LANES + lane;
        gg_lane own = lane_load(v->overlap + e * v->dims.coloured.rows * GG_LANES + at);
        gg_lane tool =
            lane_at_least(v->other_body + e * v->dims.contact_rows * GG_LANES + at, (int32_t)v->dims.free_bodies);
        gg_lane sides = lane_less(zero, own, lane_splat(2.0f) - tool, zero);
        sums.overlap_max = lane_max(sums.overlap_max, own);
        sums.overlap_sum = sums.overlap_sum + lane_less(zero, own, own * sides, zero);
        sums.overlap_count = sums.overlap_count + sides;
    }
    GG_LANE_NAME(store_overlaps)(&sums, each);
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(note_overlaps)(const gg_view *v, int64_t e, int64_t slice) {
    gg_overlaps each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(overlaps_of)(v, e, slice, lane, each + lane);
    }
    gg_contacts_prepared(v, e, slice, each);
}
