/* sweep.h: one sweep over the contacts of clumps of a colour (clumps.h), for one lane or a vector of lanes: see
 * lane_phases.h. */

/* loads one side of W contacts as it is now */
GG_FN void GG_LANE_NAME(load_turning)(const gg_view *v, int64_t e, const float *bodies, const int32_t *lead,
                                      const float *lever, const float *spread, int isotropic,
                                      GG_LANE_NAME(turning) * s) {
    lane_bodies(bodies, lead, s->body);
    if (isotropic) {
        s->spread[0] = lane_load(spread);
    } else {
        lane_bodies(v->clump_inertia + e * v->dims.clumps.bodies * GG_BODY, lead, s->spread);
    }
    s->arm = GG_LANE_NAME(load3)(lever);
}

/* rolling of W contacts, with the spins that friction has just changed */
GG_FN void GG_LANE_NAME(sweep_clump_roll)(const GG_LANE_NAME(sweep) * s, const GG_LANE_NAME(records) * at,
                                          GG_LANE_NAME(turning) * own, GG_LANE_NAME(turning) * other,
                                          GG_LANE_NAME(vec) normal, gg_lane load, int cohesive, int isotropic) {
    const gg_view *v = s->v;
    GG_LANE_NAME(vec)
    start = GG_LANE_NAME(advance3)(s->roll + at->roll3, s->roll_next + at->roll3, s->sweep, s->beta), q = start;
    gg_lane limit = lane_load(v->roll_limit + at->roll) * load, weight = lane_load(v->roll_weight + at->roll);
    GG_LANE_NAME(vec)
    spin = GG_LANE_NAME(scale)(GG_LANE_NAME(columns)(own->body, GG_BODY_SPIN), own->body[GG_BODY_INVERSE_RADIUS]);
    GG_LANE_NAME(vec)
    against =
        GG_LANE_NAME(scale)(GG_LANE_NAME(columns)(other->body, GG_BODY_SPIN), other->body[GG_BODY_INVERSE_RADIUS]);
    q = GG_LANE_NAME(sub_scaled)(q, GG_LANE_NAME(sub)(spin, against), weight);
    gg_lane twist = cohesive ? lane_load(v->twist_limit + at->cohesive) * load : limit;
    q = GG_LANE_NAME(bounded)(q, lane_max(limit, twist));
    if (cohesive) {
        q = GG_LANE_NAME(torque_parts)(q, normal, limit, twist);
    }
    GG_LANE_NAME(store3)(s->roll_next + at->roll3, q);
    GG_LANE_NAME(vec) change = GG_LANE_NAME(sub)(q, start);
    GG_LANE_NAME(twist_at)(own, change, lane_splat(1.0f), isotropic);
    GG_LANE_NAME(twist_at)(other, change, lane_splat(-1.0f), isotropic);
}

/* Solves W contacts of one colour. rolling, cohesive, isotropic: compile-time constants wherever it is called */
GG_FN void GG_LANE_NAME(sweep_clumps)(const GG_LANE_NAME(sweep) * s, int64_t e, const GG_LANE_NAME(records) * at,
                                      int rolling, int cohesive, int isotropic) {
    const gg_view *v = s->v;
    const int32_t *first = v->first_lead + at->contact, *second = v->other_lead + at->contact;
    const float *lever = v->clump_lever + gg_clump_sides(at->contact, 3);
    const float *spread = v->clump_spread + gg_clump_sides(at->contact, 1);
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), minus = lane_splat(-1.0f);
    GG_LANE_NAME(turning) own, other;
    GG_LANE_NAME(load_turning)(v, e, s->bodies, first, lever, spread, isotropic, &own);
    GG_LANE_NAME(load_turning)(v, e, s->bodies, second, lever + 3 * GG_LANES, spread + GG_LANES, isotropic, &other);
    GG_LANE_NAME(vec) normal = GG_LANE_NAME(load3)(v->normal + at->contact3);
    GG_LANE_NAME(vec)
    start = GG_LANE_NAME(advance3)(s->impulse + at->contact3, s->impulse_next + at->contact3, s->sweep, s->beta);
    gg_lane attraction = cohesive ? lane_load(v->attraction + at->cohesive) : zero;
    /* the normal impulse */
    GG_LANE_NAME(vec)
    rel = GG_LANE_NAME(sub)(GG_LANE_NAME(point_velocity)(&own), GG_LANE_NAME(point_velocity)(&other));
    gg_lane rel_n = GG_LANE_NAME(dot)(rel, normal), start_n = GG_LANE_NAME(dot)(start, normal);
    gg_lane p_n = start_n - lane_load(v->effective_mass + at->contact) * (rel_n - lane_load(v->bias + at->contact));
    p_n = lane_max(p_n, zero - attraction);
    gg_lane load = cohesive ? p_n + attraction : p_n;
    GG_LANE_NAME(vec) change = GG_LANE_NAME(scale)(normal, p_n - start_n);
    GG_LANE_NAME(push_at)(&own, change, one, isotropic);
    GG_LANE_NAME(push_at)(&other, change, minus, isotropic);
    /* friction, with the velocity that it has changed */
    rel = GG_LANE_NAME(sub)(GG_LANE_NAME(point_velocity)(&own), GG_LANE_NAME(point_velocity)(&other));
    GG_LANE_NAME(vec) along = GG_LANE_NAME(sub_scaled)(start, normal, start_n), slip = rel;
    slip = GG_LANE_NAME(sub_scaled)(slip, normal, GG_LANE_NAME(dot)(rel, normal));
    GG_LANE_NAME(vec) next = GG_LANE_NAME(sub_scaled)(along, slip, lane_load(v->tangent_mass + at->contact));
    next = GG_LANE_NAME(bounded)(next, lane_load(v->friction + at->contact) * load);
    change = GG_LANE_NAME(sub)(next, along);
    GG_LANE_NAME(push_at)(&own, change, one, isotropic);
    GG_LANE_NAME(push_at)(&other, change, minus, isotropic);
    GG_LANE_NAME(add_scaled)(&next, normal, p_n);
    GG_LANE_NAME(store3)(s->impulse_next + at->contact3, next);
    if (rolling) {
        GG_LANE_NAME(sweep_clump_roll)(s, at, &own, &other, normal, load, cohesive, isotropic);
    }
    lane_bodies_scatter(s->bodies, first, at->count, own.body);
    lane_bodies_scatter(s->bodies, second, at->count, other.body);
}

/* the same in the build that the env's features ask for, if it has neither in one for inertias that are numbers: a
 * quarter less to load; single lanes do without it */
GG_FN void GG_LANE_NAME(sweep_clump_features)(const GG_LANE_NAME(sweep) * s, int64_t e,
                                              const GG_LANE_NAME(records) * at) {
    const gg_params *p = &s->v->params;
    if (p->cohesive) {
        p->rolling ? GG_LANE_NAME(sweep_clumps)(s, e, at, 1, 1, 0) : GG_LANE_NAME(sweep_clumps)(s, e, at, 0, 1, 0);
        return;
    }
    const float *spread = s->v->clump_spread + gg_clump_sides(at->contact, 1);
    gg_lane least = lane_min(lane_load(spread), lane_load(spread + GG_LANES));
    if (GG_LANE_WIDTH > 1 && !lane_less_bits(least, lane_splat(0.0f))) {
        p->rolling ? GG_LANE_NAME(sweep_clumps)(s, e, at, 1, 0, 1) : GG_LANE_NAME(sweep_clumps)(s, e, at, 0, 0, 1);
    } else {
        p->rolling ? GG_LANE_NAME(sweep_clumps)(s, e, at, 1, 0, 0) : GG_LANE_NAME(sweep_clumps)(s, e, at, 0, 0, 0);
    }
}

/* item: share of the contacts of a colour of an env; pass: gg_colour_pass */
GG_FN void GG_LANE_NAME(sweep_clump_share)(const gg_view *v, int64_t e, int64_t share, int32_t pass) {
    if (gg_lone_colour(v, pass % GG_COLOURS)) {
        GG_LANE_NAME(sweep_share)(v, e, share, pass);
        return;
    }
    if (v->env[e].converged) {
        return;
    }
    GG_LANE_NAME(sweep) s = GG_LANE_NAME(sweep_of)(v, e, pass / GG_COLOURS);
    GG_LANE_NAME(row_share) rows = GG_LANE_NAME(rows_of)(v, e, share, pass % GG_COLOURS);
    for (int64_t record = rows.begin; record < rows.end; record += GG_LANE_WIDTH) {
        GG_LANE_NAME(records) at = GG_LANE_NAME(records_at)(v, e, record, rows.last);
        GG_LANE_NAME(sweep_clump_features)(&s, e, &at);
    }
}
