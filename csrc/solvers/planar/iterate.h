/* planar_iterate.h: one iteration of the solve of planar grains, for one lane or a register of lanes. See planar.h and
 * ncp_iterate.h, whose buffers it shares: an impulse is (normal, tangential, spare) here.
 */

/* iteration `pass` (from 0) of the W grains from slot `slot` on; returns the largest change of a velocity of each */
GG_FN gg_lane GG_LANE_NAME(planar_iterate_lanes)(const gg_view *v, int64_t e, int64_t slot, int32_t pass) {
    const gg_params *p = &v->params;
    int now_in_b = v->env[e].impulse_buffer ^ 1 ^ (pass & 1);
    int64_t lane = slot % GG_LANES, slice = slot / GG_LANES, state = (e * v->dims.slots + slot - lane) * 6 + lane;
    int64_t row = v->slice_first_row[e * v->dims.slices + slice];
    int32_t row_count = v->slice_rows[e * v->dims.slices + slice];
    int64_t contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    int64_t contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    int64_t geometry = (e * v->dims.planar_rows + row) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
    const float *rows_in = (pass & 1 ? v->body_a : v->body_b) + e * v->dims.bodies * GG_BODY;
    float *rows_out = (pass & 1 ? v->body_b : v->body_a) + e * v->dims.bodies * GG_BODY;
    const float *impulse = now_in_b ? v->impulse_b : v->impulse_a;
    float *next = now_in_b ? v->impulse_a : v->impulse_b; /* holds the iterate before */
    gg_lane zero = lane_splat(0.0f), beta = lane_splat(v->beta[pass]);
    gg_lane beta_next = lane_splat(pass + 1 < p->iterations ? v->beta[pass + 1] : 0.0f);
    int32_t own[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    GG_LANE_NAME(planar_row) r;
    lane_bodies(rows_in, own, r.own);
    GG_LANE_NAME(vec) sum;
    sum.x = sum.y = sum.z = zero;
    for (int32_t k = 0; k < row_count; k++) {
        GG_LANE_NAME(planar_load)(v, contact3, geometry, rows_in, v->other_body + contact, &r);
        gg_lane normal = lane_load(impulse + contact3), tangent = lane_load(impulse + contact3 + GG_LANES);
        gg_lane spare = lane_load(impulse + contact3 + 2 * GG_LANES);
        if (pass > 0) {
            normal = normal + beta * (normal - lane_load(next + contact3));
            tangent = tangent + beta * (tangent - lane_load(next + contact3 + GG_LANES));
        }
        gg_lane lack = GG_LANE_NAME(planar_parting)(&r) - lane_load(v->bias + contact);
        normal = lane_max(normal - lane_load(v->effective_mass + contact) * lack, zero);
        tangent = tangent - lane_load(v->planar_geometry + geometry + 4 * GG_LANES) * GG_LANE_NAME(planar_sliding)(&r);
        gg_lane limit = lane_load(v->friction + contact) * normal;
        tangent = lane_max(lane_min(tangent, limit), zero - limit);
        lane_store(next + contact3, normal);
        lane_store(next + contact3 + GG_LANES, tangent);
        lane_store(next + contact3 + 2 * GG_LANES, spare);
        sum.x = sum.x + (r.nx * normal - r.ny * tangent);
        sum.y = sum.y + (r.ny * normal + r.nx * tangent);
        sum.z = sum.z + (r.cn * normal + r.ct * tangent);
        contact += GG_LANES;
        contact3 += 3 * GG_LANES;
        geometry += GG_PLANAR_GEOMETRY * GG_LANES;
    }
    gg_lane change = zero, force[3] = {r.own[GG_BODY_INVERSE_MASS] * sum.x, r.own[GG_BODY_INVERSE_MASS] * sum.y,
                                       r.own[GG_BODY_INVERSE_INERTIA] * sum.z};
    for (int k = 0; k < 3; k++) {
        gg_lane before = lane_load(v->velocity + state + k * GG_LANES);
        gg_lane now = lane_load(v->start_velocity + state + k * GG_LANES) + force[k];
        gg_lane step = now - before;
        change = lane_max(change, lane_max(step, zero - step));
        r.own[k < 2 ? k : 6] = now + beta_next * step;
        lane_store(v->velocity + state + k * GG_LANES, now);
    }
    lane_bodies_store(rows_out, slot, r.own);
    return change;
}

/* iteration `pass` of one slice of env e */
GG_FN void GG_LANE_NAME(planar_iterate_slice)(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    if (v->env[e].converged) {
        return;
    }
    gg_lane change = lane_splat(0.0f);
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        change = lane_max(change, GG_LANE_NAME(planar_iterate_lanes)(v, e, slice * GG_LANES + lane, pass));
    }
    float each[GG_LANE_WIDTH], most = 0.0f;
    lane_store(each, change);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        most = gg_maxf(most, each[k]);
    }
    v->slice_stats[e * v->dims.slices + slice].residual = most;
}
