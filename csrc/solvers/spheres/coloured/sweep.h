/* sweep.h: one sweep over the contacts of a colour (coloured.h), for one lane or a vector of lanes: see
 * lane_phases.h. */

/* what is constant over one sweep of one env */
typedef struct GG_LANE_NAME(sweep) {
    const gg_view *v;
    float *bodies;
    const float *impulse, *roll;
    float *impulse_next, *roll_next; /* the next iterate takes the place of the previous one */
    gg_lane beta;
    int32_t sweep; /* the first has no previous iterate, the second starts from it as it is */
} GG_LANE_NAME(sweep);

/* the iterate with its momentum; there is one before the last from the second sweep on */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(advanced)(GG_LANE_NAME(vec) now, GG_LANE_NAME(vec) before, int32_t sweep, gg_lane beta) {
    if (sweep > 1) {
        GG_LANE_NAME(add_scaled)(&now, GG_LANE_NAME(sub)(now, before), beta);
    }
    return now;
}
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(advance3)(const float *now, const float *before, int32_t sweep, gg_lane beta) {
    GG_LANE_NAME(vec) a = GG_LANE_NAME(load3)(now);
    return sweep > 1 ? GG_LANE_NAME(advanced)(a, GG_LANE_NAME(load3)(before), sweep, beta) : a;
}

/* floats of bodies, extrapolated by the momentum of a sweep; what is no velocity does not change */
GG_FN gg_lane GG_LANE_NAME(extrapolated)(gg_lane now, gg_lane before, float beta) {
    return now + lane_splat(beta) * (now - before);
}

/* item: slice of an env */
GG_FN void GG_LANE_NAME(advance_slice)(const gg_view *v, int64_t e, int64_t slice, int32_t sweep) {
    if (sweep == 0 || v->env[e].converged) {
        return;
    }
    int64_t first = (e * v->dims.bodies + slice * GG_LANES) * GG_BODY;
    for (int64_t k = first; k < first + GG_LANES * GG_BODY; k += GG_LANE_WIDTH) {
        gg_lane now = lane_load(v->body_a + k);
        if (sweep > 1) {
            lane_store(v->body_a + k, GG_LANE_NAME(extrapolated)(now, lane_load(v->body_b + k), v->beta[sweep]));
        }
        lane_store(v->body_b + k, now);
    }
}

/* W contacts of one colour on their way through a sweep */
typedef struct GG_LANE_NAME(swept) {
    GG_LANE_NAME(records) at;
    gg_lane mass, bias, attraction, friction, roll_weight, roll_limit, twist_limit;
    gg_lane own[GG_BODY], other[GG_BODY];
    GG_LANE_NAME(vec) normal, start, torque; /* the impulse and the torque impulse to start from */
    GG_LANE_NAME(vec) tangential;            /* friction before it is bounded */
    gg_lane pressing, load;                  /* the normal impulse; with what cohesion adds to the load */
} GG_LANE_NAME(swept);

/* What the steps of W contacts read of memory, bodies aside: no contact but their own changes it in a sweep. spin,
 * rolling, cohesive: compile-time constants wherever they are called */
GG_FN void GG_LANE_NAME(load_press)(const GG_LANE_NAME(sweep) * s, GG_LANE_NAME(swept) * c, int cohesive) {
    const gg_view *v = s->v;
    c->normal = GG_LANE_NAME(load3)(v->normal + c->at.contact3);
    c->mass = lane_load(v->effective_mass + c->at.contact);
    c->bias = lane_load(v->bias + c->at.contact);
    c->start = GG_LANE_NAME(advance3)(s->impulse + c->at.contact3, s->impulse_next + c->at.contact3, s->sweep, s->beta);
    c->attraction = cohesive ? lane_load(v->attraction + c->at.cohesive) : lane_splat(0.0f);
}
GG_FN void GG_LANE_NAME(load_rub)(const GG_LANE_NAME(sweep) * s, GG_LANE_NAME(swept) * c) {
    c->friction = lane_load(s->v->friction + c->at.contact);
}
GG_FN void GG_LANE_NAME(load_roll)(const GG_LANE_NAME(sweep) * s, GG_LANE_NAME(swept) * c, int cohesive) {
    const gg_view *v = s->v;
    c->torque = GG_LANE_NAME(advance3)(s->roll + c->at.roll3, s->roll_next + c->at.roll3, s->sweep, s->beta);
    c->roll_weight = lane_load(v->roll_weight + c->at.roll);
    c->roll_limit = lane_load(v->roll_limit + c->at.roll);
    if (cohesive) {
        c->twist_limit = lane_load(v->twist_limit + c->at.cohesive);
    }
}
GG_FN void GG_LANE_NAME(load_bodies)(const GG_LANE_NAME(sweep) * s, GG_LANE_NAME(swept) * c) {
    lane_bodies(s->bodies, c->at.own, c->own);
    lane_bodies(s->bodies, c->at.other, c->other);
}

/* The four steps of W contacts */

/* 1: the normal impulse, and friction as if nothing bounded it */
GG_FN void GG_LANE_NAME(sweep_press)(GG_LANE_NAME(swept) * c, int spin, int cohesive) {
    GG_LANE_NAME(vec) normal = c->normal, rel = GG_LANE_NAME(relative_velocity)(c->own, c->other, normal, spin);
    GG_LANE_NAME(vec) start = c->start;
    gg_lane rel_n = GG_LANE_NAME(dot)(rel, normal), start_n = GG_LANE_NAME(dot)(start, normal);
    gg_lane p_n = lane_max(start_n - c->mass * (rel_n - c->bias), lane_splat(0.0f) - c->attraction);
    gg_lane tangent_mass = lane_splat(spin ? GG_TANGENT_SHARE : 1.0f) * c->mass;
    GG_LANE_NAME(vec) next = GG_LANE_NAME(sub_scaled)(start, rel, tangent_mass);
    c->tangential = GG_LANE_NAME(sub_scaled)(next, normal, GG_LANE_NAME(dot)(next, normal));
    c->pressing = p_n;
    c->load = cohesive ? p_n + c->attraction : p_n;
}

/* 2: friction within its cone, and what the impulse changes of both bodies */
GG_FN void GG_LANE_NAME(sweep_rub)(const GG_LANE_NAME(sweep) * s, GG_LANE_NAME(swept) * c, int spin) {
    GG_LANE_NAME(vec) next = GG_LANE_NAME(bounded)(c->tangential, c->friction * c->load);
    GG_LANE_NAME(add_scaled)(&next, c->normal, c->pressing);
    GG_LANE_NAME(store3)(s->impulse_next + c->at.contact3, next);
    GG_LANE_NAME(vec) change = GG_LANE_NAME(sub)(next, c->start), twist = GG_LANE_NAME(cross)(c->normal, change);
    GG_LANE_NAME(push)(c->own, change, twist, lane_splat(1.0f), spin);
    GG_LANE_NAME(push)(c->other, change, twist, lane_splat(-1.0f), spin);
}

/* 3: rolling, with the spins that friction has just changed */
GG_FN void GG_LANE_NAME(sweep_roll)(const GG_LANE_NAME(sweep) * s, GG_LANE_NAME(swept) * c, int cohesive) {
    const gg_lane *own = c->own, *other = c->other;
    GG_LANE_NAME(vec) start = c->torque, q = start;
    gg_lane weight = c->roll_weight, limit = c->roll_limit * c->load,
            twist = cohesive ? c->twist_limit * c->load : limit;
    gg_lane per_radius = own[GG_BODY_INVERSE_RADIUS], other_per_radius = other[GG_BODY_INVERSE_RADIUS];
    q.x = q.x - weight * (own[GG_BODY_SPIN] * per_radius - other[GG_BODY_SPIN] * other_per_radius);
    q.y = q.y - weight * (own[GG_BODY_SPIN + 1] * per_radius - other[GG_BODY_SPIN + 1] * other_per_radius);
    q.z = q.z - weight * (own[GG_BODY_SPIN + 2] * per_radius - other[GG_BODY_SPIN + 2] * other_per_radius);
    q = GG_LANE_NAME(bounded)(q, lane_max(limit, twist));
    if (cohesive) {
        q = GG_LANE_NAME(torque_parts)(q, c->normal, limit, twist);
    }
    GG_LANE_NAME(store3)(s->roll_next + c->at.roll3, q);
    GG_LANE_NAME(vec) change = GG_LANE_NAME(sub)(q, start);
    GG_LANE_NAME(turn)(c->own, change, lane_splat(1.0f));
    GG_LANE_NAME(turn)(c->other, change, lane_splat(-1.0f));
}

/* 4: the bodies */
GG_FN void GG_LANE_NAME(sweep_store)(const GG_LANE_NAME(sweep) * s, const GG_LANE_NAME(swept) * c) {
    lane_bodies_scatter(s->bodies, c->at.own, c->at.count, c->own);
    lane_bodies_scatter(s->bodies, c->at.other, c->at.count, c->other);
}

/* Solves W contacts of one colour, or with `second` (else NULL) twice as many. A step of a contact waits long for the one
 * before: two vectors side by side keep the core busy meanwhile. */
GG_FN void GG_LANE_NAME(sweep_vectors)(const GG_LANE_NAME(sweep) * s, const GG_LANE_NAME(records) * first,
                                       const GG_LANE_NAME(records) * second, int spin, int rolling, int cohesive) {
    GG_LANE_NAME(swept) c, d;
    c.at = *first;
    GG_LANE_NAME(load_bodies)(s, &c);
    GG_LANE_NAME(load_press)(s, &c, cohesive);
    GG_LANE_NAME(sweep_press)(&c, spin, cohesive);
    if (second) {
        d.at = *second;
        GG_LANE_NAME(load_bodies)(s, &d);
        GG_LANE_NAME(load_press)(s, &d, cohesive);
        GG_LANE_NAME(sweep_press)(&d, spin, cohesive);
    }
    GG_LANE_NAME(load_rub)(s, &c);
    GG_LANE_NAME(sweep_rub)(s, &c, spin);
    if (second) {
        GG_LANE_NAME(load_rub)(s, &d);
        GG_LANE_NAME(sweep_rub)(s, &d, spin);
    }
    if (rolling) {
        GG_LANE_NAME(load_roll)(s, &c, cohesive);
        GG_LANE_NAME(sweep_roll)(s, &c, cohesive);
    }
    if (rolling && second) {
        GG_LANE_NAME(load_roll)(s, &d, cohesive);
        GG_LANE_NAME(sweep_roll)(s, &d, cohesive);
    }
    GG_LANE_NAME(sweep_store)(s, &c);
    if (second) {
        GG_LANE_NAME(sweep_store)(s, &d);
    }
}

/* the same in the build that the env's features ask for */
GG_FN void GG_LANE_NAME(sweep_features)(const GG_LANE_NAME(sweep) * s, const GG_LANE_NAME(records) * first,
                                        const GG_LANE_NAME(records) * second) {
    const gg_params *p = &s->v->params;
    if (p->cohesive) {
        p->rolling ? GG_LANE_NAME(sweep_vectors)(s, first, second, 1, 1, 1)
        : p->spin  ? GG_LANE_NAME(sweep_vectors)(s, first, second, 1, 0, 1)
                   : GG_LANE_NAME(sweep_vectors)(s, first, second, 0, 0, 1);
    } else if (p->rolling) {
        GG_LANE_NAME(sweep_vectors)(s, first, second, 1, 1, 0);
    } else {
        p->spin ? GG_LANE_NAME(sweep_vectors)(s, first, second, 1, 0, 0)
                : GG_LANE_NAME(sweep_vectors)(s, first, second, 0, 0, 0);
    }
}

GG_FN GG_LANE_NAME(sweep) GG_LANE_NAME(sweep_of)(const gg_view *v, int64_t e, int32_t sweep) {
    GG_LANE_NAME(sweep) s;
    int in_a = v->env[e].impulse_buffer ^ (sweep & 1);
    s.v = v;
    s.bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    s.impulse = in_a ? v->impulse_a : v->impulse_b;
    s.impulse_next = in_a ? v->impulse_b : v->impulse_a;
    s.roll = in_a ? v->roll_a : v->roll_b;
    s.roll_next = in_a ? v->roll_b : v->roll_a;
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
    int64_t record = rows.begin, full = v->dims.bodies > GG_NEAR_BODIES ? 0 : GG_MIN(rows.end, rows.last);
    for (; record + 2 * GG_LANE_WIDTH <= full; record += 2 * GG_LANE_WIDTH) {
        GG_LANE_NAME(records) first = GG_LANE_NAME(records_at)(v, e, record, rows.last);
        GG_LANE_NAME(records) second = GG_LANE_NAME(records_at)(v, e, record + GG_LANE_WIDTH, rows.last);
        first.count = second.count = GG_LANE_WIDTH; /* known to the compiler */
        GG_LANE_NAME(sweep_features)(&s, &first, &second);
    }
    for (; record < rows.end; record += GG_LANE_WIDTH) {
        GG_LANE_NAME(records) at = GG_LANE_NAME(records_at)(v, e, record, rows.last);
        GG_LANE_NAME(sweep_features)(&s, &at, NULL);
    }
}
