/* iterate.h: one iteration of the contact solve (ncp.h), written once for one lane or for a vector of lanes: see
 * lane_phases.h. Per contact first the normal impulse, then friction, which it bounds, then rolling. */

/* what is constant over one iteration of one env */
typedef struct GG_LANE_NAME(solve) {
    const gg_view *v;
    int64_t e;
    const float *bodies_in;
    float *bodies_out;
    const float *impulse, *impulse_before; /* iterate k and k-1 */
    float *impulse_next;
    const float *roll, *roll_before;
    float *roll_next;
    float beta;      /* Nesterov's momentum of this iteration */
    float beta_next; /* of the next one, whose starting point is written with it */
    int first;       /* no previous iterate: beta is 0 and impulse_before is not read */
} GG_LANE_NAME(solve);

/* features of the contacts of W grains: compile-time constants wherever `iterate` is called */
typedef struct GG_LANE_NAME(features) {
    int spin, rolling;
    int accumulate; /* 0: the printed algorithm, which never takes an impulse back */
    int cohesive;   /* attraction, and twisting friction other than rolling friction */
} GG_LANE_NAME(features);

/* iterate k, plus beta times its last change, of a stored impulse */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(extrapolate)(const float *now, const float *before, int first, gg_lane beta) {
    GG_LANE_NAME(vec) a = GG_LANE_NAME(load3)(now);
    if (!first) {
        GG_LANE_NAME(vec) b = GG_LANE_NAME(load3)(before);
        a.x = a.x + beta * (a.x - b.x);
        a.y = a.y + beta * (a.y - b.y);
        a.z = a.z + beta * (a.z - b.z);
    }
    return a;
}

/* relative velocity of the two surfaces: v - v' - (u + u') x n */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(relative_velocity)(const gg_lane *own, const gg_lane *other, GG_LANE_NAME(vec) normal, int spin) {
    GG_LANE_NAME(vec) rel = GG_LANE_NAME(sub)(GG_LANE_NAME(columns)(own, 0), GG_LANE_NAME(columns)(other, 0));
    if (spin) {
        GG_LANE_NAME(vec) u;
        u.x = own[GG_BODY_SPIN] + other[GG_BODY_SPIN];
        u.y = own[GG_BODY_SPIN + 1] + other[GG_BODY_SPIN + 1];
        u.z = own[GG_BODY_SPIN + 2] + other[GG_BODY_SPIN + 2];
        rel = GG_LANE_NAME(sub)(rel, GG_LANE_NAME(cross)(u, normal));
    }
    return rel;
}

/* Friction: the tangential impulse, inside the cone that the load on the contact allows. */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(friction)(GG_LANE_NAME(vec) start, GG_LANE_NAME(vec) rel, GG_LANE_NAME(vec) normal,
                                               gg_lane tangent_mass, gg_lane limit) {
    GG_LANE_NAME(vec) t = GG_LANE_NAME(sub_scaled)(start, rel, tangent_mass);
    t = GG_LANE_NAME(sub_scaled)(t, normal, GG_LANE_NAME(dot)(t, normal));
    return GG_LANE_NAME(scale)(t, GG_LANE_NAME(cone_scale)(t, limit));
}

/* Rolling and twisting: the torque impulse against omega - omega', within the bounds given by the load. */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(rolling)(const GG_LANE_NAME(solve) * s, const GG_LANE_NAME(at) * at, const gg_lane *own,
                          const gg_lane *other, GG_LANE_NAME(vec) normal, gg_lane load, int cohesive) {
    const gg_view *v = s->v;
    GG_LANE_NAME(vec)
    q = GG_LANE_NAME(extrapolate)(s->roll + at->roll3, s->roll_before + at->roll3, s->first, lane_splat(s->beta));
    gg_lane weight = lane_load(v->roll_weight + at->roll), limit = lane_load(v->roll_limit + at->roll) * load;
    gg_lane per_radius = own[GG_BODY_INVERSE_RADIUS], other_per_radius = other[GG_BODY_INVERSE_RADIUS];
    q.x = q.x - weight * (own[GG_BODY_SPIN] * per_radius - other[GG_BODY_SPIN] * other_per_radius);
    q.y = q.y - weight * (own[GG_BODY_SPIN + 1] * per_radius - other[GG_BODY_SPIN + 1] * other_per_radius);
    q.z = q.z - weight * (own[GG_BODY_SPIN + 2] * per_radius - other[GG_BODY_SPIN + 2] * other_per_radius);
    if (cohesive) {
        return GG_LANE_NAME(torque_bounds)(q, normal, limit, lane_load(v->twist_limit + at->cohesive) * load);
    }
    return GG_LANE_NAME(scale)(q, GG_LANE_NAME(cone_scale)(q, limit));
}

/* Solves one contact of W grains and adds its impulse to dv, its angular impulse over the radius to du. */
GG_FN void GG_LANE_NAME(solve_contact)(const GG_LANE_NAME(solve) * s, const GG_LANE_NAME(at) * at, const gg_lane *own,
                                       GG_LANE_NAME(features) has, GG_LANE_NAME(vec) * dv, GG_LANE_NAME(vec) * du) {
    const gg_view *v = s->v;
    gg_lane zero = lane_splat(0.0f), other[GG_BODY];
    lane_bodies(s->bodies_in, v->other_body + at->contact, other);
    GG_LANE_NAME(vec) normal = GG_LANE_NAME(load3)(v->normal + at->contact3);
    gg_lane mass = lane_load(v->effective_mass + at->contact);
    GG_LANE_NAME(vec) rel = GG_LANE_NAME(relative_velocity)(own, other, normal, has.spin);
    GG_LANE_NAME(vec) start = GG_LANE_NAME(zero)();
    if (has.accumulate) {
        start = GG_LANE_NAME(extrapolate)(s->impulse + at->contact3, s->impulse_before + at->contact3, s->first,
                                          lane_splat(s->beta));
    }
    /* normal: the total attracts no more than cohesion can; friction is bounded by the load beyond the attraction */
    gg_lane attraction = has.cohesive ? lane_load(v->attraction + at->cohesive) : zero;
    gg_lane rel_n = GG_LANE_NAME(dot)(rel, normal), start_n = GG_LANE_NAME(dot)(start, normal);
    gg_lane p_n = lane_max(start_n - mass * (rel_n - lane_load(v->bias + at->contact)), zero - attraction);
    gg_lane load = has.cohesive ? p_n + attraction : p_n;
    gg_lane tangent_mass = lane_splat(has.spin ? GG_TANGENT_SHARE : 1.0f) * mass;
    GG_LANE_NAME(vec)
    p_t = GG_LANE_NAME(friction)(start, rel, normal, tangent_mass, lane_load(v->friction + at->contact) * load);
    GG_LANE_NAME(vec) next = p_t;
    GG_LANE_NAME(add_scaled)(&next, normal, p_n);
    dv->x = dv->x + next.x;
    dv->y = dv->y + next.y;
    dv->z = dv->z + next.z;
    if (has.spin) {
        *du = GG_LANE_NAME(sub)(*du, GG_LANE_NAME(cross)(normal, p_t));
    }
    if (!has.accumulate) {
        /* the sum is only kept for the wrench */
        GG_LANE_NAME(vec) total = GG_LANE_NAME(load3)(s->impulse + at->contact3);
        next.x = total.x + next.x;
        next.y = total.y + next.y;
        next.z = total.z + next.z;
    }
    GG_LANE_NAME(store3)(s->impulse_next + at->contact3, next);
    if (has.rolling) {
        GG_LANE_NAME(vec) q = GG_LANE_NAME(rolling)(s, at, own, other, normal, load, has.cohesive);
        GG_LANE_NAME(add_scaled)(du, q, own[GG_BODY_INVERSE_RADIUS]);
        GG_LANE_NAME(store3)(s->roll_next + at->roll3, q);
    }
}

/* New velocities of W grains from the impulses of their contacts, starting from the velocities before contact
 * (accumulated) or of the last iteration (printed algorithm). Returns the largest change of a component of each. */
GG_FN gg_lane GG_LANE_NAME(new_velocity)(const GG_LANE_NAME(solve) * s, int64_t slot, gg_lane *own,
                                         GG_LANE_NAME(features) has, GG_LANE_NAME(vec) dv, GG_LANE_NAME(vec) du) {
    const gg_view *v = s->v;
    int64_t lane = slot % GG_LANES, state = (s->e * v->dims.slots + slot - lane) * 6 + lane;
    const float *origin = has.accumulate ? v->start_velocity + state : v->velocity + state;
    gg_lane zero = lane_splat(0.0f), beta_next = lane_splat(s->beta_next), change = zero, factor[2];
    gg_lane sum[6] = {dv.x, dv.y, dv.z, du.x, du.y, du.z};
    factor[0] = own[GG_BODY_INVERSE_MASS];
    factor[1] = lane_splat(GG_SPIN_FACTOR) * own[GG_BODY_INVERSE_MASS];
    for (int k = 0; k < (has.spin ? 6 : 3); k++) {
        gg_lane before = lane_load(v->velocity + state + k * GG_LANES);
        gg_lane now = lane_load(origin + k * GG_LANES) + factor[k / 3] * sum[k];
        gg_lane step = now - before;
        change = lane_max(change, lane_max(step, zero - step));
        own[k + k / 3] = now + beta_next * step;
        lane_store(v->velocity + state + k * GG_LANES, now);
    }
    lane_bodies_store(s->bodies_out, slot, own);
    return change;
}

/* The W grains from slot `slot` on, a multiple of the width; lone grains, so that slots are bodies. Returns the largest
 * change of a velocity component of each. */
GG_FN gg_lane GG_LANE_NAME(iterate)(const GG_LANE_NAME(solve) * s, int64_t slot, int spin, int rolling, int accumulate,
                                    int cohesive) {
    const gg_view *v = s->v;
    GG_LANE_NAME(features) has = {spin, rolling, accumulate, cohesive};
    int64_t slice = s->e * v->dims.slices + slot / GG_LANES;
    int32_t index[GG_LANE_WIDTH], row_count = v->slice_rows[slice];
    gg_lane own[GG_BODY];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        index[k] = (int32_t)(slot + k);
    }
    lane_bodies(s->bodies_in, index, own);
    GG_LANE_NAME(vec) dv = GG_LANE_NAME(zero)(), du = dv;
    GG_LANE_NAME(at) at = GG_LANE_NAME(contacts_of)(v, s->e, v->slice_first_row[slice], slot % GG_LANES);
    for (int32_t k = 0; k < row_count; k++) {
        GG_LANE_NAME(solve_contact)(s, &at, own, has, &dv, &du);
        GG_LANE_NAME(next_contact)(&at);
    }
    return GG_LANE_NAME(new_velocity)(s, slot, own, has, dv, du);
}

/* iteration `pass` (from 0) of the GG_LANE_WIDTH grains from slot `slot` on; returns the largest change of a velocity
 * component of each */
GG_FN gg_lane GG_LANE_NAME(iterate_lanes)(const gg_view *v, int64_t e, int64_t slot, int32_t pass) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    /* iterate k is in one half of the double buffer, k-1 in the other, where k+1 overwrites it */
    int now_in_b = env->impulse_buffer ^ 1 ^ (pass & 1);
    int64_t first = e * v->dims.bodies * GG_BODY;
    GG_LANE_NAME(solve) s;
    s.v = v;
    s.e = e;
    s.bodies_in = (pass & 1 ? v->body_a : v->body_b) + first;
    s.bodies_out = (pass & 1 ? v->body_b : v->body_a) + first;
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
    GG_LANE_NAME(note_residual)(v, e, slice, change);
}
