/* sweep.h: one sweep over the contacts of a colour (coloured.h), for one lane or a vector of lanes: see
 * lane_phases.h. */

/* what is constant over one sweep of one env */
typedef struct GG_LANE_NAME(sweep) {
    const gg_view *v;
    float *bodies;
    float *impulse, *impulse_before; /* this iterate and the previous one */
    float *roll, *roll_before;
    gg_lane beta;
    int32_t sweep; /* the first has no previous iterate, the second starts from it as it is */
} GG_LANE_NAME(sweep);

/* the iterate with its momentum; notes it as the previous one */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(advance3)(float *now, float *before, int32_t sweep, gg_lane beta) {
    GG_LANE_NAME(vec) a = GG_LANE_NAME(load3)(now);
    if (sweep == 0) {
        return a;
    }
    GG_LANE_NAME(vec) out = a;
    if (sweep > 1) {
        GG_LANE_NAME(vec) b = GG_LANE_NAME(load3)(before);
        GG_LANE_NAME(add_scaled)(&out, GG_LANE_NAME(sub)(a, b), beta);
    }
    GG_LANE_NAME(store3)(before, a);
    return out;
}

/* Extrapolates W floats of bodies, from `at` on, by the momentum of a sweep; what is no velocity does not change. */
GG_FN void GG_LANE_NAME(advance)(const gg_view *v, int64_t e, int64_t at, int32_t sweep) {
    float *now = v->body_a + e * v->dims.bodies * GG_BODY + at, *before = v->body_b + e * v->dims.bodies * GG_BODY + at;
    gg_lane a = lane_load(now);
    if (sweep > 1) {
        lane_store(now, a + lane_splat(v->beta[sweep]) * (a - lane_load(before)));
    }
    lane_store(before, a);
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(advance_slice)(const gg_view *v, int64_t e, int64_t slice, int32_t sweep) {
    if (sweep == 0 || v->env[e].converged) {
        return;
    }
    int64_t first = slice * GG_LANES * GG_BODY;
    for (int64_t k = first; k < first + GG_LANES * GG_BODY; k += GG_LANE_WIDTH) {
        GG_LANE_NAME(advance)(v, e, k, sweep);
    }
}

/* solves W contacts of one colour; spin, rolling, cohesive: compile-time constants wherever it is called */
GG_FN void GG_LANE_NAME(sweep_records)(const GG_LANE_NAME(sweep) * s, const GG_LANE_NAME(records) * at, int spin,
                                       int rolling, int cohesive) {
    const gg_view *v = s->v;
    gg_lane zero = lane_splat(0.0f), own[GG_BODY], other[GG_BODY];
    lane_bodies(s->bodies, at->own, own);
    lane_bodies(s->bodies, at->other, other);
    GG_LANE_NAME(vec) normal = GG_LANE_NAME(load3)(v->normal + at->contact3);
    gg_lane mass = lane_load(v->effective_mass + at->contact);
    GG_LANE_NAME(vec) rel = GG_LANE_NAME(relative_velocity)(own, other, normal, spin);
    GG_LANE_NAME(vec)
    start = GG_LANE_NAME(advance3)(s->impulse + at->contact3, s->impulse_before + at->contact3, s->sweep, s->beta);
    gg_lane attraction = cohesive ? lane_load(v->attraction + at->cohesive) : zero;
    gg_lane rel_n = GG_LANE_NAME(dot)(rel, normal), start_n = GG_LANE_NAME(dot)(start, normal);
    gg_lane p_n = lane_max(start_n - mass * (rel_n - lane_load(v->bias + at->contact)), zero - attraction);
    gg_lane load = cohesive ? p_n + attraction : p_n;
    gg_lane tangent_mass = lane_splat(spin ? GG_TANGENT_SHARE : 1.0f) * mass;
    GG_LANE_NAME(vec)
    next = GG_LANE_NAME(sub_scaled)(start, rel, tangent_mass);
    next = GG_LANE_NAME(sub_scaled)(next, normal, GG_LANE_NAME(dot)(next, normal));
    next = GG_LANE_NAME(bounded)(next, lane_load(v->friction + at->contact) * load);
    GG_LANE_NAME(add_scaled)(&next, normal, p_n);
    GG_LANE_NAME(store3)(s->impulse + at->contact3, next);
    GG_LANE_NAME(vec) change = GG_LANE_NAME(sub)(next, start), twist = GG_LANE_NAME(cross)(normal, change);
    gg_lane one = lane_splat(1.0f), minus = lane_splat(-1.0f);
    GG_LANE_NAME(push)(own, change, twist, one, spin);
    GG_LANE_NAME(push)(other, change, twist, minus, spin);
    if (rolling) {
        GG_LANE_NAME(vec)
        q = GG_LANE_NAME(advance3)(s->roll + at->roll3, s->roll_before + at->roll3, s->sweep, s->beta), torque = q;
        gg_lane weight = lane_load(v->roll_weight + at->roll), limit = lane_load(v->roll_limit + at->roll) * load;
        gg_lane per_radius = own[GG_BODY_INVERSE_RADIUS], other_per_radius = other[GG_BODY_INVERSE_RADIUS];
        q.x = q.x - weight * (own[GG_BODY_SPIN] * per_radius - other[GG_BODY_SPIN] * other_per_radius);
        q.y = q.y - weight * (own[GG_BODY_SPIN + 1] * per_radius - other[GG_BODY_SPIN + 1] * other_per_radius);
        q.z = q.z - weight * (own[GG_BODY_SPIN + 2] * per_radius - other[GG_BODY_SPIN + 2] * other_per_radius);
        if (cohesive) {
            q = GG_LANE_NAME(torque_bounds)(q, normal, limit, lane_load(v->twist_limit + at->cohesive) * load);
        } else {
            q = GG_LANE_NAME(bounded)(q, limit);
        }
        GG_LANE_NAME(store3)(s->roll + at->roll3, q);
        torque = GG_LANE_NAME(sub)(q, torque);
        GG_LANE_NAME(turn)(own, torque, one);
        GG_LANE_NAME(turn)(other, torque, minus);
    }
    lane_bodies_scatter(s->bodies, at->own, at->count, own);
    lane_bodies_scatter(s->bodies, at->other, at->count, other);
}

/* W contacts in the build that the env's features ask for */
GG_FN void GG_LANE_NAME(sweep_features)(const GG_LANE_NAME(sweep) * s, const GG_LANE_NAME(records) * at) {
    const gg_params *p = &s->v->params;
    if (p->cohesive) {
        p->rolling ? GG_LANE_NAME(sweep_records)(s, at, 1, 1, 1)
        : p->spin  ? GG_LANE_NAME(sweep_records)(s, at, 1, 0, 1)
                   : GG_LANE_NAME(sweep_records)(s, at, 0, 0, 1);
    } else if (p->rolling) {
        GG_LANE_NAME(sweep_records)(s, at, 1, 1, 0);
    } else {
        p->spin ? GG_LANE_NAME(sweep_records)(s, at, 1, 0, 0) : GG_LANE_NAME(sweep_records)(s, at, 0, 0, 0);
    }
}

GG_FN GG_LANE_NAME(sweep) GG_LANE_NAME(sweep_of)(const gg_view *v, int64_t e, int32_t sweep) {
    GG_LANE_NAME(sweep) s;
    int to_a = v->env[e].impulse_buffer;
    s.v = v;
    s.bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    s.impulse = to_a ? v->impulse_a : v->impulse_b;
    s.impulse_before = to_a ? v->impulse_b : v->impulse_a;
    s.roll = to_a ? v->roll_a : v->roll_b;
    s.roll_before = to_a ? v->roll_b : v->roll_a;
    s.beta = lane_splat(v->beta[sweep]);
    s.sweep = sweep;
    return s;
}

/* item: share of the contacts of a colour of an env; pass: gg_colour_pass */
GG_FN void GG_LANE_NAME(sweep_share)(const gg_view *v, int64_t e, int64_t share, int32_t pass) {
    if (v->env[e].converged) {
        return;
    }
    GG_LANE_NAME(sweep) s = GG_LANE_NAME(sweep_of)(v, e, pass / GG_COLOURS);
    GG_LANE_NAME(row_share) rows = GG_LANE_NAME(rows_of)(v, e, share, pass % GG_COLOURS);
    for (int64_t record = rows.begin; record < rows.end; record += GG_LANE_WIDTH) {
        GG_LANE_NAME(records) at = GG_LANE_NAME(records_at)(v, e, record, rows.last);
        GG_LANE_NAME(sweep_features)(&s, &at);
    }
}
