/* iterate.h: one iteration of the solve of planar grains, for one lane or a vector of lanes. See planar.h and
 * lane_phases.h. An impulse is (normal, tangential, spare). */

/* what is constant over one iteration of one env */
typedef struct GG_LANE_NAME(planar_solve) {
    const float *bodies_in, *impulse;
    float *next; /* holds the previous iterate */
    int first;   /* no previous iterate: beta is 0 */
    gg_lane beta, beta_next;
} GG_LANE_NAME(planar_solve);

/* solves one contact of W grains and adds its impulse to sum */
GG_FN void GG_LANE_NAME(planar_solve_contact)(const gg_view *v, const GG_LANE_NAME(planar_solve) * s,
                                              const GG_LANE_NAME(planar_at) * at, GG_LANE_NAME(planar_contact) * c,
                                              GG_LANE_NAME(vec) * sum) {
    const float *now = s->impulse + at->contact3;
    float *next = s->next + at->contact3;
    GG_LANE_NAME(planar_load)(v, at, s->bodies_in, c);
    gg_lane p_n = lane_load(now), p_t = lane_load(now + GG_LANES), spare = lane_load(now + 2 * GG_LANES);
    if (!s->first) {
        p_n = p_n + s->beta * (p_n - lane_load(next));
        p_t = p_t + s->beta * (p_t - lane_load(next + GG_LANES));
    }
    gg_lane zero = lane_splat(0.0f), tangent_mass = lane_load(v->planar_geometry + at->geometry + 4 * GG_LANES);
    gg_lane residual = GG_LANE_NAME(planar_normal_velocity)(c) - lane_load(v->bias + at->contact);
    p_n = lane_max(p_n - lane_load(v->effective_mass + at->contact) * residual, zero);
    p_t = p_t - tangent_mass * GG_LANE_NAME(planar_tangent_velocity)(c);
    gg_lane limit = lane_load(v->friction + at->contact) * p_n;
    p_t = lane_max(lane_min(p_t, limit), zero - limit);
    lane_store(next, p_n);
    lane_store(next + GG_LANES, p_t);
    lane_store(next + 2 * GG_LANES, spare);
    GG_LANE_NAME(planar_apply)(c, p_n, p_t, sum);
}

/* iteration `pass` (from 0) of the W grains from slot `slot` on; returns the largest change of a velocity of each */
GG_FN gg_lane GG_LANE_NAME(planar_iterate_lanes)(const gg_view *v, int64_t e, int64_t slot, int32_t pass) {
    int now_in_b = v->env[e].impulse_buffer ^ 1 ^ (pass & 1);
    int64_t lane = slot % GG_LANES, slice = e * v->dims.slices + slot / GG_LANES;
    int64_t state = (e * v->dims.slots + slot - lane) * 6 + lane, first = e * v->dims.bodies * GG_BODY;
    GG_LANE_NAME(planar_solve) s;
    s.bodies_in = (pass & 1 ? v->body_a : v->body_b) + first;
    s.impulse = now_in_b ? v->impulse_b : v->impulse_a;
    s.next = now_in_b ? v->impulse_a : v->impulse_b;
    s.first = pass == 0;
    s.beta = lane_splat(v->beta[pass]);
    s.beta_next = lane_splat(pass + 1 < v->params.iterations ? v->beta[pass + 1] : 0.0f);
    int32_t own[GG_LANE_WIDTH], row_count = v->slice_rows[slice];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    GG_LANE_NAME(planar_contact) c;
    lane_bodies(s.bodies_in, own, c.own);
    GG_LANE_NAME(vec) sum = GG_LANE_NAME(zero)();
    GG_LANE_NAME(planar_at) at = GG_LANE_NAME(planar_contacts_of)(v, e, v->slice_first_row[slice], lane);
    for (int32_t k = 0; k < row_count; k++) {
        GG_LANE_NAME(planar_solve_contact)(v, &s, &at, &c, &sum);
        GG_LANE_NAME(planar_next_contact)(&at);
    }
    gg_lane zero = lane_splat(0.0f), change = zero;
    gg_lane force[3] = {c.own[GG_BODY_INVERSE_MASS] * sum.x, c.own[GG_BODY_INVERSE_MASS] * sum.y,
                        c.own[GG_BODY_INVERSE_INERTIA] * sum.z};
    for (int k = 0; k < 3; k++) {
        gg_lane before = lane_load(v->velocity + state + k * GG_LANES);
        gg_lane now = lane_load(v->start_velocity + state + k * GG_LANES) + force[k];
        gg_lane step = now - before;
        change = lane_max(change, lane_max(step, zero - step));
        c.own[k < 2 ? k : GG_BODY_PLANAR_SPIN] = now + s.beta_next * step;
        lane_store(v->velocity + state + k * GG_LANES, now);
    }
    lane_bodies_store((pass & 1 ? v->body_b : v->body_a) + first, slot, c.own);
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
    GG_LANE_NAME(note_residual)(v, e, slice, change);
}
