/* move.h: new positions of spheres, for one lane or a vector of lanes: see lane_phases.h. */

/* gg_wrap_axis in lanes */
GG_FN gg_lane GG_LANE_NAME(wrap_axis)(const gg_params *p, int axis, gg_lane x, float lower, float upper) {
    if (p->boundary[axis][0] == GG_BOUNDARY_PERIODIC || p->boundary[axis][0] == GG_BOUNDARY_CYCLIC) {
        gg_lane length = lane_splat(upper - lower);
        x = lane_less(x, lane_splat(upper), lane_less(x, lane_splat(lower), x + length, x), x - length);
    }
    return x;
}

/* gg_outside in lanes, along one axis, as bits */
GG_FN uint32_t GG_LANE_NAME(outside_bits)(gg_lane x, gg_lane radius, float lower, float upper) {
    return lane_less_bits(x, lane_splat(lower) - radius) | lane_less_bits(lane_splat(upper) + radius, x);
}

/* Share of the squares of speeds at rest (gg_rest) that holds for W grains: with drag a free one has less than g dt after
 * a substep; a fixed one has no speed at rest. */
GG_FN gg_lane GG_LANE_NAME(rest_share)(const gg_air *air, gg_lane radius, gg_lane mass, float dt) {
    gg_lane one = lane_splat(1.0f), zero = lane_splat(0.0f), share = one;
    if (air->viscosity > 0.0f) {
        share = lane_div(one, one + lane_splat(gg_drag_rate(air, 1.0f, 1.0f, 0.0f) * dt) * radius * mass);
    }
    return lane_less(zero, mass, share * share, zero);
}

/* Moves the W grains from `slot` on by their velocities and position corrections; body: theirs, x: where they are. */
GG_FN void GG_LANE_NAME(move)(const gg_view *v, int64_t e, int64_t slot, const gg_lane *body, const gg_lane *x,
                              GG_LANE_NAME(vec) correction, gg_motion *each) {
    const gg_params *p = &v->params;
    const int32_t *id = v->grain_id + e * v->dims.slots + slot;
    float *errors = v->position_error + e * v->dims.slots * 3, energies[GG_LANE_WIDTH];
    gg_lane zero = lane_splat(0.0f), dt = lane_splat(p->dt), error[3], arrived[4];
    GG_LANE_NAME(vec) velocity = GG_LANE_NAME(columns)(body, 0), spin = GG_LANE_NAME(columns)(body, GG_BODY_SPIN);
    /* displacements in a bed at rest are below rounding error, the more so the farther it is from the origin: without
     * compensated summation the lost motion returns as velocity noise and the bed creeps */
    GG_LANE_NAME(vec) displacement = correction;
    displacement.x = displacement.x + velocity.x * dt;
    displacement.y = displacement.y + velocity.y * dt;
    displacement.z = displacement.z + velocity.z * dt;
    if (slot + 2 * GG_LANE_WIDTH <= v->dims.grain_count) {
        lane_prefetch(errors, 3, id + GG_LANE_WIDTH);
    }
    lane_triples(errors, 3, id, error);
    GG_LANE_NAME(vec) sum = GG_LANE_NAME(add_compensated)(x, displacement, error);
    lane_triples_scatter(errors, 3, id, error);
    arrived[0] = GG_LANE_NAME(wrap_axis)(p, 0, sum.x, p->lower.x, p->upper.x);
    arrived[1] = GG_LANE_NAME(wrap_axis)(p, 1, sum.y, p->lower.y, p->upper.y);
    arrived[2] = GG_LANE_NAME(wrap_axis)(p, 2, sum.z, p->lower.z, p->upper.z);
    arrived[3] = x[3];
    lane_points_store(v->position + e * v->dims.slots + slot, arrived);
    gg_lane speed2 = GG_LANE_NAME(dot)(velocity, velocity), spin2 = GG_LANE_NAME(dot)(spin, spin);
    gg_lane mass = body[GG_BODY_INVERSE_MASS];
    gg_lane energy = lane_div(lane_splat(0.5f), mass) * (speed2 + lane_splat(0.4f) * spin2);
    lane_store(energies, lane_less(zero, mass, energy, zero));
    uint32_t restless = 0, moving = 0;
    if (p->sleep) {
        gg_rest rest = gg_rest_of(v, e), quiet = gg_quiet_of(v, e);
        gg_lane fastest = lane_max(speed2, spin2), moved2 = GG_LANE_NAME(dot)(displacement, displacement);
        gg_lane slow = GG_LANE_NAME(rest_share)(&v->env[e].air, x[3], mass, p->dt);
        gg_lane still = lane_less(zero, mass, lane_splat(1.0f), zero); /* a fixed grain that moves never rests */
        restless = lane_less_bits(slow * lane_splat(rest.speed2), fastest) |
                   lane_less_bits(still * lane_splat(rest.displacement2), moved2);
        moving = lane_less_bits(slow * lane_splat(quiet.speed2), fastest) |
                 lane_less_bits(still * lane_splat(quiet.displacement2), moved2);
    }
    uint32_t fast = lane_less_bits(lane_splat(0.25f) * x[3] * x[3], speed2 * dt * dt);
    uint32_t escaped = GG_LANE_NAME(outside_bits)(arrived[0], x[3], p->lower.x, p->upper.x) |
                       GG_LANE_NAME(outside_bits)(arrived[1], x[3], p->lower.y, p->upper.y) |
                       GG_LANE_NAME(outside_bits)(arrived[2], x[3], p->lower.z, p->upper.z);
    uint32_t bad = GG_LANE_NAME(unfinite_bits)((speed2 + spin2) + (arrived[0] + arrived[1] + arrived[2]));
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        each[k].energy = energies[k];
        each[k].restless = restless >> k & 1;
        each[k].moving = moving >> k & 1;
        each[k].fast = fast >> k & 1;
        each[k].escaped = escaped >> k & 1;
        each[k].bad = bad >> k & 1;
    }
    if (bad) {
        gg_vec4 before[GG_LANE_WIDTH];
        lane_points_store(before, x);
        for (; bad; bad &= bad - 1) {
            int k = gg_bit_lowest(bad);
            gg_motion_refuse(v, e, slot + k, before[k]);
        }
    }
}

/* the spins of W bodies after drag */
GG_FN void GG_LANE_NAME(drag_spin)(const gg_view *v, int64_t e, gg_lane radius, gg_lane *body) {
    const gg_air *air = &v->env[e].air;
    if (gg_air_drags(air)) {
        float radii[GG_LANE_WIDTH], masses[GG_LANE_WIDTH], left[GG_LANE_WIDTH];
        lane_store(radii, radius);
        lane_store(masses, body[GG_BODY_INVERSE_MASS]);
        for (int k = 0; k < GG_LANE_WIDTH; k++) {
            left[k] = gg_drag_spin_left(air, radii[k], masses[k], v->params.dt);
        }
        for (int c = GG_BODY_SPIN; c < GG_BODY_SPIN + 3; c++) {
            body[c] = body[c] * lane_load(left);
        }
    }
}

/* the contacts of the W grains from `slot` on are those of the next substep to start from */
GG_FN void GG_LANE_NAME(keep_lists)(const gg_view *v, int64_t e, int64_t slot) {
    for (int64_t at = e * v->dims.slots + slot; at < e * v->dims.slots + slot + GG_LANE_WIDTH; at++) {
        v->contact_first[at] = v->next_first[at];
        v->contact_count[at] = v->next_count[at];
        v->tool_contact_count[at] = v->next_tool_count[at];
    }
}

/* moves the W grains from `slot` on, of the law `spheres` */
GG_FN void GG_LANE_NAME(integrate_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_motion *each) {
    int64_t slots = e * v->dims.slots, lane = slot % GG_LANES, first = slots + slot - lane;
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    int32_t own[GG_LANE_WIDTH];
    gg_lane body[GG_BODY], x[4];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    lane_bodies(bodies, own, body);
    lane_points(v->position + slots, own, x);
    for (int k = 0; k < 6; k++) {
        body[k + k / 3] = lane_load(v->velocity + first * 6 + lane + k * GG_LANES);
    }
    GG_LANE_NAME(drag_spin)(v, e, x[3], body);
    lane_bodies_store(bodies, slot, body);
    GG_LANE_NAME(move)(v, e, slot, body, x, GG_LANE_NAME(load3)(v->correction + first * 3 + lane), each);
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(integrate_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES] = GG_ZERO;
    int64_t first = slice * GG_LANES, live = GG_MIN(v->dims.grain_count - first, GG_LANES), lane = 0;
    for (; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(keep_lists)(v, e, first + lane);
    }
    for (lane = 0; lane + GG_LANE_WIDTH <= live; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(integrate_lanes)(v, e, first + lane, each + lane);
    }
    for (; lane < live; lane++) {
        gg_scalar_integrate_lanes(v, e, first + lane, each + lane);
    }
    gg_motion_integrated(v, e, slice, each);
}
