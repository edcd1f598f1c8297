/* predict.h: the start of a substep: velocities before contact, and how far grains move; for one lane or a vector of
 * lanes: see lane_phases.h.
 *
 * Symplectic Euler (GranularGym (2023), equations 4-5, with x += dt v): the new velocity moves the grain.
 */

/* the kick of gravity on W grains, less what drag takes of it; fixed grains keep the velocity they were given */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(kick)(const gg_view *v, int64_t e, const gg_lane *body, gg_lane radius) {
    const gg_env *env = &v->env[e];
    gg_lane zero = lane_splat(0.0f);
    gg_lane dt = lane_less(zero, body[GG_BODY_INVERSE_MASS], lane_splat(v->params.dt), zero);
    GG_LANE_NAME(vec) kick;
    kick.x = lane_splat(env->gravity.x) * dt;
    kick.y = lane_splat(env->gravity.y) * dt;
    kick.z = lane_splat(env->gravity.z) * dt;
    if (gg_air_drags(&env->air)) {
        float each[8][GG_LANE_WIDTH];
        gg_lane in[8] = {kick.x, kick.y, kick.z, body[0], body[1], body[2], radius, body[GG_BODY_INVERSE_MASS]};
        for (int c = 0; c < 8; c++) {
            lane_store(each[c], in[c]);
        }
        for (int k = 0; k < GG_LANE_WIDTH; k++) {
            gg_vec3 dragged =
                gg_drag_kick(&env->air, gg_v3(each[0][k], each[1][k], each[2][k]),
                             gg_v3(each[3][k], each[4][k], each[5][k]), each[6][k], each[7][k], v->params.dt);
            each[0][k] = dragged.x;
            each[1][k] = dragged.y;
            each[2][k] = dragged.z;
        }
        kick.x = lane_load(each[0]);
        kick.y = lane_load(each[1]);
        kick.z = lane_load(each[2]);
    }
    return kick;
}

/* gg_add_compensated in lanes */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(add_compensated)(const gg_lane *a, GG_LANE_NAME(vec) b, gg_lane error[3]) {
    GG_LANE_NAME(vec) term, sum;
    term.x = b.x + error[0];
    term.y = b.y + error[1];
    term.z = b.z + error[2];
    sum.x = a[0] + term.x;
    sum.y = a[1] + term.y;
    sum.z = a[2] + term.z;
    error[0] = term.x - (sum.x - a[0]);
    error[1] = term.y - (sum.y - a[1]);
    error[2] = term.z - (sum.z - a[2]);
    return sum;
}

/* which of W values are infinite or not a number, as bits */
GG_FN uint32_t GG_LANE_NAME(unfinite_bits)(gg_lane a) {
    return lane_less_bits(a - a, lane_splat(1.0f)) ^ ((1u << GG_LANE_WIDTH) - 1u);
}

/* Adds gravity and drag to the W grains from `slot` on, and finds their displacement since the lists were built. What
 * this changes is noted in an array that is idle until the solve. */
GG_FN void GG_LANE_NAME(predict_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_prediction *each) {
    int64_t slots = e * v->dims.slots;
    float *home = v->body_a + e * v->dims.bodies * GG_BODY, *errors = v->velocity_error + slots * 3;
    const int32_t *id = v->grain_id + slots + slot;
    int32_t own[GG_LANE_WIDTH];
    if (slot + 2 * GG_LANE_WIDTH <= v->dims.grain_count) {
        lane_prefetch(errors, 3, id + GG_LANE_WIDTH);
        lane_prefetch(gg_before_prediction(v, e), 6, id + GG_LANE_WIDTH);
    }
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    gg_lane body[GG_BODY], x[4], built[4], error[3], dt = lane_splat(v->params.dt);
    lane_bodies(home, own, body);
    lane_points(v->position + slots, own, x);
    lane_points(v->built_position + slots, own, built);
    /* compensated summation: else small changes of a large velocity would all be rounded the same way */
    lane_triples(errors, 3, id, error);
    lane_triples_scatter(gg_before_prediction(v, e), 6, id, body);
    lane_triples_scatter(gg_before_prediction(v, e) + 3, 6, id, error);
    GG_LANE_NAME(vec) kick = GG_LANE_NAME(kick)(v, e, body, x[3]);
    GG_LANE_NAME(vec) velocity = GG_LANE_NAME(add_compensated)(body, kick, error), moved;
    lane_triples_scatter(errors, 3, id, error);
    body[0] = velocity.x;
    body[1] = velocity.y;
    body[2] = velocity.z;
    lane_bodies_store(home, slot, body);
    /* displacement since the lists were built, at the end of the substep if the grain meets no contact */
    moved.x = x[0] - built[0] + velocity.x * dt;
    moved.y = x[1] - built[1] + velocity.y * dt;
    moved.z = x[2] - built[2] + velocity.z * dt;
    gg_lane displacement2 = GG_LANE_NAME(dot)(moved, moved), speed2 = GG_LANE_NAME(dot)(velocity, velocity);
    GG_LANE_NAME(vec) spin = GG_LANE_NAME(columns)(body, GG_BODY_SPIN);
    uint32_t bad = GG_LANE_NAME(unfinite_bits)(speed2 + displacement2 + GG_LANE_NAME(dot)(spin, spin));
    float each_displacement2[GG_LANE_WIDTH], each_speed2[GG_LANE_WIDTH], hurry = GG_HURRY * 2.0f * v->params.radius_min;
    uint32_t hurried = lane_less_bits(lane_splat(hurry * hurry), speed2 * dt * dt);
    lane_store(each_displacement2, displacement2);
    lane_store(each_speed2, speed2);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        each[k].displacement2 = each_displacement2[k];
        each[k].speed2 = each_speed2[k];
        each[k].bad = bad >> k & 1;
        each[k].hurried = hurried >> k & 1;
    }
    for (; bad; bad &= bad - 1) {
        gg_predict_undo(v, e, slot + gg_bit_lowest(bad));
    }
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(predict_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_prediction each[GG_LANES] = GG_ZERO;
    int64_t first = slice * GG_LANES, live = GG_MIN(v->dims.grain_count - first, GG_LANES), lane = 0;
    for (; lane + GG_LANE_WIDTH <= live; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(predict_lanes)(v, e, first + lane, each + lane);
    }
    for (; lane < live; lane++) {
        gg_scalar_predict_lanes(v, e, first + lane, each + lane);
    }
    gg_predicted(v, e, slice, each);
}
