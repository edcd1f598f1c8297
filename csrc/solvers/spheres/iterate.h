/* ncp_iterate.h: one iteration of the contact solve, written once for one lane or for a whole vector register of lanes.
 *
 * Include it after defining what a lane is (the GG_LANE_* operations below). With a float for a lane it is the reference
 * phase that every backend shares; with a vector of W floats it works on W grains of a slice at once. Both perform the same
 * IEEE operations in the same order per grain, so both give the same bits.
 *
 * needs: GG_LANE_WIDTH, gg_lane (supports + - *), GG_LANE_NAME(x) (unique function names),
 *   lane_load(const float *)             W consecutive floats
 *   lane_store(float *, gg_lane)
 *   lane_splat(float)
 *   lane_min / lane_max(gg_lane, gg_lane)  a < b ? a : b,  a > b ? a : b
 *   lane_sqrt(gg_lane), lane_div(gg_lane, gg_lane)
 *   lane_bodies(const float *rows, const int32_t *index, gg_lane out[GG_BODY])   gathers W velocity rows
 *   lane_bodies_store(float *rows, int64_t first, const gg_lane in[GG_BODY])     writes W consecutive rows
 */

/* what is constant over one iteration of one env */
typedef struct GG_LANE_NAME(solve) {
    const gg_view *v;
    int64_t e;
    const float *rows_in;
    float *rows_out;
    const float *impulse, *impulse_before; /* iterate k and k-1 */
    float *impulse_next;
    const float *roll, *roll_before;
    float *roll_next;
    float beta;      /* weight of the last change in this iteration's start */
    float beta_next; /* of the change made here in the rows written */
    int first;       /* there is no iterate before: beta is 0 and impulse_before is not read */
} GG_LANE_NAME(solve);

/* iterate k (+ beta times its last change) of a stored impulse */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(start)(const float *now, const float *before, int first, gg_lane beta) {
    GG_LANE_NAME(vec) a = GG_LANE_NAME(load3)(now);
    if (!first) {
        GG_LANE_NAME(vec) b = GG_LANE_NAME(load3)(before);
        a.x = a.x + beta * (a.x - b.x);
        a.y = a.y + beta * (a.y - b.y);
        a.z = a.z + beta * (a.z - b.z);
    }
    return a;
}

/* GG_LANE_WIDTH grains from slot `slot` on (a multiple of the width); spin, rolling, accumulate and extra (cohesion, and
 * twisting that is not bounded like rolling) are compile-time.
 * Returns the largest change of a velocity component among them. */
GG_FN gg_lane GG_LANE_NAME(iterate)(const GG_LANE_NAME(solve) * s, int64_t slot, int spin, int rolling, int accumulate,
                                    int cohesive) {
    const gg_view *v = s->v;
    int64_t n = v->dims.slots, base = s->e * n;
    int64_t slice = slot / GG_LANES, lane = slot % GG_LANES;
    int64_t state = (base + slice * GG_LANES) * 6 + lane;
    int64_t row = v->slice_first_row[s->e * v->dims.slices + slice];
    int32_t row_count = v->slice_rows[s->e * v->dims.slices + slice];
    int64_t contact = (s->e * v->dims.contact_rows + row) * GG_LANES + lane;
    int64_t contact3 = (s->e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    int64_t roll = (s->e * v->dims.roll_rows + row) * GG_LANES + lane;
    int64_t roll3 = (s->e * v->dims.roll_rows + row) * GG_LANES * 3 + lane;
    int64_t cohesive_at = (s->e * v->dims.cohesive_rows + row) * GG_LANES + lane;
    gg_lane zero = lane_splat(0.0f), beta = lane_splat(s->beta), share = lane_splat(spin ? GG_TANGENT_SHARE : 1.0f);
    gg_lane own[GG_BODY], other[GG_BODY];
    for (int k = 0; k < GG_BODY; k++) {
        own[k] = zero;
    }
    {
        int32_t index[GG_LANE_WIDTH];
        for (int k = 0; k < GG_LANE_WIDTH; k++) {
            index[k] = (int32_t)(slot + k);
        }
        lane_bodies(s->rows_in, index, own);
    }
    GG_LANE_NAME(vec) dv, du;
    dv.x = dv.y = dv.z = zero;
    du.x = du.y = du.z = zero;
    for (int32_t k = 0; k < row_count; k++) {
        lane_bodies(s->rows_in, v->other_body + contact, other);
        GG_LANE_NAME(vec) nrm = GG_LANE_NAME(load3)(v->normal + contact3);
        gg_lane weight = lane_load(v->effective_mass + contact);
        /* relative velocity of the two surfaces */
        GG_LANE_NAME(vec) rel;
        rel.x = own[0] - other[0];
        rel.y = own[1] - other[1];
        rel.z = own[2] - other[2];
        if (spin) {
            gg_lane ux = own[4] + other[4], uy = own[5] + other[5], uz = own[6] + other[6];
            rel.x = rel.x - (uy * nrm.z - uz * nrm.y);
            rel.y = rel.y - (uz * nrm.x - ux * nrm.z);
            rel.z = rel.z - (ux * nrm.y - uy * nrm.x);
        }
        GG_LANE_NAME(vec) start;
        if (accumulate) {
            start = GG_LANE_NAME(start)(s->impulse + contact3, s->impulse_before + contact3, s->first, beta);
        } else {
            start.x = start.y = start.z = zero;
        }
        /* normal: the total never pulls more than cohesion can; friction feels what presses beyond that pull */
        gg_lane pull = cohesive ? lane_load(v->attraction + cohesive_at) : zero;
        gg_lane rel_n = GG_LANE_NAME(dot)(rel, nrm), start_n = GG_LANE_NAME(dot)(start, nrm);
        gg_lane pressing = lane_max(start_n - weight * (rel_n - lane_load(v->bias + contact)), zero - pull);
        gg_lane bearing = cohesive ? pressing + pull : pressing;
        /* tangential: the total stays inside the cone */
        gg_lane weight_t = share * weight;
        GG_LANE_NAME(vec) t;
        t.x = start.x - weight_t * rel.x;
        t.y = start.y - weight_t * rel.y;
        t.z = start.z - weight_t * rel.z;
        gg_lane t_n = GG_LANE_NAME(dot)(t, nrm);
        t.x = t.x - t_n * nrm.x;
        t.y = t.y - t_n * nrm.y;
        t.z = t.z - t_n * nrm.z;
        gg_lane scale = GG_LANE_NAME(cone_scale)(t, lane_load(v->friction + contact) * bearing);
        t.x = scale * t.x;
        t.y = scale * t.y;
        t.z = scale * t.z;
        GG_LANE_NAME(vec) next;
        next.x = t.x + pressing * nrm.x;
        next.y = t.y + pressing * nrm.y;
        next.z = t.z + pressing * nrm.z;
        dv.x = dv.x + next.x;
        dv.y = dv.y + next.y;
        dv.z = dv.z + next.z;
        if (spin) {
            du.x = du.x - (nrm.y * t.z - nrm.z * t.y);
            du.y = du.y - (nrm.z * t.x - nrm.x * t.z);
            du.z = du.z - (nrm.x * t.y - nrm.y * t.x);
        }
        if (!accumulate) {
            /* the printed algorithm never takes back; the sum is kept for the wrench alone */
            GG_LANE_NAME(vec) total = GG_LANE_NAME(load3)(s->impulse + contact3);
            next.x = total.x + next.x;
            next.y = total.y + next.y;
            next.z = total.z + next.z;
        }
        GG_LANE_NAME(store3)(s->impulse_next + contact3, next);
        if (rolling) {
            GG_LANE_NAME(vec) q = GG_LANE_NAME(start)(s->roll + roll3, s->roll_before + roll3, s->first, beta);
            gg_lane roll_weight = lane_load(v->roll_weight + roll);
            q.x = q.x - roll_weight * (own[4] * own[GG_BODY_INVERSE_RADIUS] - other[4] * other[GG_BODY_INVERSE_RADIUS]);
            q.y = q.y - roll_weight * (own[5] * own[GG_BODY_INVERSE_RADIUS] - other[5] * other[GG_BODY_INVERSE_RADIUS]);
            q.z = q.z - roll_weight * (own[6] * own[GG_BODY_INVERSE_RADIUS] - other[6] * other[GG_BODY_INVERSE_RADIUS]);
            gg_lane limit = lane_load(v->roll_limit + roll) * bearing;
            if (cohesive) {
                q = GG_LANE_NAME(torque_bounds)(q, nrm, limit, lane_load(v->twist_limit + cohesive_at) * bearing);
            } else {
                gg_lane q_scale = GG_LANE_NAME(cone_scale)(q, limit);
                q.x = q_scale * q.x;
                q.y = q_scale * q.y;
                q.z = q_scale * q.z;
            }
            du.x = du.x + own[GG_BODY_INVERSE_RADIUS] * q.x;
            du.y = du.y + own[GG_BODY_INVERSE_RADIUS] * q.y;
            du.z = du.z + own[GG_BODY_INVERSE_RADIUS] * q.z;
            GG_LANE_NAME(store3)(s->roll_next + roll3, q);
            roll += GG_LANES;
            roll3 += 3 * GG_LANES;
        }
        contact += GG_LANES;
        contact3 += 3 * GG_LANES;
        cohesive_at += GG_LANES;
    }
    /* the new velocity, from what it was without contact (accumulated) or from the last one (printed algorithm) */
    const float *origin = accumulate ? v->start_velocity + state : v->velocity + state;
    gg_lane factor[2], beta_next = lane_splat(s->beta_next), change = zero;
    gg_lane sum[6] = {dv.x, dv.y, dv.z, du.x, du.y, du.z};
    factor[0] = own[GG_BODY_INVERSE_MASS];
    factor[1] = lane_splat(GG_SPIN_FACTOR) * own[GG_BODY_INVERSE_MASS];
    for (int k = 0; k < (spin ? 6 : 3); k++) {
        gg_lane before = lane_load(v->velocity + state + k * GG_LANES);
        gg_lane now = lane_load(origin + k * GG_LANES) + factor[k / 3] * sum[k];
        gg_lane step = now - before;
        change = lane_max(change, lane_max(step, zero - step));
        own[k + k / 3] = now + beta_next * step;
        lane_store(v->velocity + state + k * GG_LANES, now);
    }
    lane_bodies_store(s->rows_out, slot, own);
    return change;
}

/* iteration `pass` (from 0) of the GG_LANE_WIDTH grains from slot `slot` on; returns the largest change of a velocity
 * component of each */
GG_FN gg_lane GG_LANE_NAME(iterate_lanes)(const gg_view *v, int64_t e, int64_t slot, int32_t pass) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    /* iterate k lies in one half of the ping-pong, k-1 in the other, where k+1 is written over it */
    int now_in_b = env->impulse_buffer ^ 1 ^ (pass & 1);
    int64_t rows = e * v->dims.bodies * GG_BODY;
    GG_LANE_NAME(solve) s;
    s.v = v;
    s.e = e;
    s.rows_in = (pass & 1 ? v->body_a : v->body_b) + rows;
    s.rows_out = (pass & 1 ? v->body_b : v->body_a) + rows;
    s.impulse = now_in_b ? v->impulse_b : v->impulse_a;
    s.impulse_before = s.impulse_next = now_in_b ? v->impulse_a : v->impulse_b;
    s.roll = now_in_b ? v->roll_b : v->roll_a;
    s.roll_before = s.roll_next = now_in_b ? v->roll_a : v->roll_b;
    s.first = pass == 0;
    s.beta = v->beta[pass];
    s.beta_next = pass + 1 < p->iterations ? v->beta[pass + 1] : 0.0f;
    if (p->mode == GG_MODE_PAPER) {
        return p->spin ? GG_LANE_NAME(iterate)(&s, slot, 1, 0, 0, 0) : GG_LANE_NAME(iterate)(&s, slot, 0, 0, 0, 0);
    }
    if (p->cohesive) {
        return p->rolling ? GG_LANE_NAME(iterate)(&s, slot, 1, 1, 1, 1)
               : p->spin  ? GG_LANE_NAME(iterate)(&s, slot, 1, 0, 1, 1)
                          : GG_LANE_NAME(iterate)(&s, slot, 0, 0, 1, 1);
    }
    if (p->rolling) {
        return GG_LANE_NAME(iterate)(&s, slot, 1, 1, 1, 0);
    }
    return p->spin ? GG_LANE_NAME(iterate)(&s, slot, 1, 0, 1, 0) : GG_LANE_NAME(iterate)(&s, slot, 0, 0, 1, 0);
}

/* iteration `pass` of one slice of env e */
GG_FN void GG_LANE_NAME(iterate_slice)(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    if (v->env[e].converged) {
        return;
    }
    gg_lane change = lane_splat(0.0f);
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        change = lane_max(change, GG_LANE_NAME(iterate_lanes)(v, e, slice * GG_LANES + lane, pass));
    }
    float each[GG_LANE_WIDTH], most = 0.0f;
    lane_store(each, change);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        most = gg_maxf(most, each[k]);
    }
    v->slice_stats[e * v->dims.slices + slice].residual = most;
}
