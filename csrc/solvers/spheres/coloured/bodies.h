/* bodies.h: bodies before and after the sweeps: counts of contacts, new positions; for one lane or a vector of lanes: see
 * lane_phases.h. */

/* Before contact: keeps the velocities of the W grains from `slot` on in body_b, counts their contacts. */
GG_FN void GG_LANE_NAME(open_lanes)(const gg_view *v, int64_t e, int64_t slot) {
    int64_t slots = e * v->dims.slots, lane = slot % GG_LANES, first = slots + slot - lane;
    const float *bodies = v->body_a + (e * v->dims.bodies + slot) * GG_BODY;
    float *kept = v->body_b + (e * v->dims.bodies + slot) * GG_BODY, counts[GG_LANE_WIDTH];
    int32_t own[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        uint64_t used = v->colours[slots + slot + k];
        counts[k] = (float)(gg_bit_count((uint32_t)used) + gg_bit_count((uint32_t)(used >> 32)));
        own[k] = k;
    }
    gg_lane zero = lane_splat(0.0f), body[GG_BODY];
    lane_bodies(bodies, own, body);
    lane_bodies_copy(kept, bodies);
    for (int k = 0; k < 6; k++) {
        lane_store(v->start_velocity + first * 6 + lane + k * GG_LANES, body[k + k / 3]);
    }
    gg_lane shift[4] = {zero, zero, zero, lane_load(counts) * body[GG_BODY_INVERSE_MASS]};
    lane_points_store(v->shift + slots + slot, shift);
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(open_slice)(const gg_view *v, int64_t e, int64_t slice) {
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(open_lanes)(v, e, slice * GG_LANES + lane);
    }
}

/* moves the W grains from `slot` on */
GG_FN void GG_LANE_NAME(coloured_integrate_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_motion *each) {
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    int32_t own[GG_LANE_WIDTH];
    gg_lane body[GG_BODY], x[4], shift[4];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    lane_bodies(bodies, own, body);
    lane_points(v->position + e * v->dims.slots, own, x);
    lane_points(v->shift + e * v->dims.slots, own, shift);
    if (gg_air_drags(&v->env[e].air)) {
        GG_LANE_NAME(drag_spin)(v, e, x[3], body);
        lane_bodies_store(bodies, slot, body);
    }
    GG_LANE_NAME(move)(v, e, slot, body, x, GG_LANE_NAME(columns)(shift, 0), each);
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(coloured_integrate_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES] = GG_ZERO;
    int64_t first = slice * GG_LANES, live = GG_MIN(v->dims.grain_count - first, GG_LANES), lane = 0;
    for (; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(keep_lists)(v, e, first + lane);
    }
    for (lane = 0; lane + GG_LANE_WIDTH <= live; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(coloured_integrate_lanes)(v, e, first + lane, each + lane);
    }
    for (; lane < live; lane++) {
        gg_scalar_coloured_integrate_lanes(v, e, first + lane, each + lane);
    }
    gg_motion_integrated(v, e, slice, each);
}
