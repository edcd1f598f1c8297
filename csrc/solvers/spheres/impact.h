/* impact.h: impacts of grains that touch nothing else, at their exact time within the substep.
 *
 * Taken at the start of the substep, an impact comes up to v dt early: a ball then bounces from above the floor and
 * gains height with every bounce, and two balls meet along the wrong line. Where the contact is the only one of both
 * sides, its motion is known in advance: positions follow the velocities of the middle of the substep, so that
 *
 *     |d + rel tau| = r_i + r_j                    between grains
 *     gap = V tau + a (tau^2 - tau dt) / 2         at a tool that gravity pulls towards
 *
 * give the time tau of the impact and its normal; a is 0 between grains unless one of them is fixed. The target velocity is that in the middle of the substep after a
 * bounce at tau, e V + (1 + e) a (tau - dt/2); and as that velocity moves the grain for the whole substep, the
 * displacement due to the impulse before tau is taken back. Momentum, angular momentum and (e = 1) energy are kept.
 * Included by prepare.h, once per kind of lane; symmetric in both sides.
 */

/* one contact of W grains, listed but not yet prepared */
typedef struct GG_LANE_NAME(contact) {
    GG_LANE_NAME(vec) normal, rel; /* rel: velocity of the centre relative to the other side */
    gg_lane gap, approach, restitution, friction, bias;
    gg_lane single, split, mass; /* 1/m + 1/m', n/m + n'/m' [1/kg], effective mass [kg] */
} GG_LANE_NAME(contact);

/* lanes (1 or 0) whose contact is an impact, and the only contact of both sides; dynamic tools, which accelerate on
 * their own, are left to the bias */
GG_FN gg_lane GG_LANE_NAME(lone_impacts)(const gg_params *p, const GG_LANE_NAME(contact) * c,
                                         const GG_LANE_NAME(other) * other, gg_lane bounce_speed) {
    gg_lane zero = lane_splat(0.0f), hit = lane_less(zero, c->restitution, lane_splat(1.0f), zero);
    hit = lane_less(c->approach, zero - bounce_speed, hit, zero);
    hit = lane_less(c->gap + lane_splat(p->dt) * c->approach, lane_splat(p->slack), hit, zero);
    if (p->dynamic) {
        hit = lane_less(zero, other->tool * other->count_over_mass, zero, hit);
    }
    return lane_less(c->single, c->split, zero, hit);
}

/* Time of the impact with a tool; towards: gravity along its inward normal. */
GG_FN gg_lane GG_LANE_NAME(tool_time)(const GG_LANE_NAME(contact) * c, gg_lane dt, gg_lane gap, gg_lane towards) {
    gg_lane zero = lane_splat(0.0f), half = lane_splat(0.5f), inverse = lane_div(lane_splat(-1.0f), c->approach);
    gg_lane tau = lane_min(gap * inverse, dt);
    for (int pass = 0; pass < 2; pass++) {
        tau = lane_max(lane_min((gap + half * towards * (tau * dt - tau * tau)) * inverse, dt), zero);
    }
    return tau;
}

/* what an impact took back: the impulse that the solve will find, and the part of the substep before it [s]; 0 where
 * there was none */
typedef struct GG_LANE_NAME(setback) {
    GG_LANE_NAME(vec) impulse;
    gg_lane tau, keep;
} GG_LANE_NAME(setback);

/* Resolves the lanes in `hit` as exact impacts: normal, approach and bias change. Each side is to be set back by the
 * displacement that the impulse would give it in the time tau. Grains that miss each other after all are left alone for
 * this substep. */
GG_FN GG_LANE_NAME(setback)
    GG_LANE_NAME(impact)(const gg_params *p, gg_vec3 gravity, gg_lane hit, const gg_lane *own,
                         const GG_LANE_NAME(other) * other, gg_lane radius, GG_LANE_NAME(contact) * c) {
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), dt = lane_splat(p->dt), gap = lane_max(c->gap, zero);
    gg_lane reach = radius + other->point[3];
    gg_lane towards = lane_splat(-gravity.x) * c->normal.x + lane_splat(-gravity.y) * c->normal.y +
                      lane_splat(-gravity.z) * c->normal.z;
    /* two grains: the smaller root of |d + rel tau|^2 = reach^2 */
    gg_lane distance = gap + reach, along = distance * c->approach, apart = gap * (distance + reach);
    gg_lane inside = along * along - GG_LANE_NAME(dot)(c->rel, c->rel) * apart;
    gg_lane pair_time = lane_div(apart, lane_sqrt(lane_max(inside, zero)) - along);
    gg_lane missed = lane_less(inside, zero, one, lane_less(dt, pair_time, one, zero));
    gg_lane pair = lane_less(zero, other->tool, zero, one);
    gg_lane falls = towards, own_mass = own[GG_BODY_INVERSE_MASS], other_mass = other->body[GG_BODY_INVERSE_MASS];
    falls = lane_less(zero, own_mass, falls, zero - falls);
    falls = lane_less(zero, own_mass, lane_less(zero, other_mass, zero, falls), falls);
    towards = lane_less(zero, pair, falls, towards);
    gg_lane tau = lane_less(zero, pair, pair_time, GG_LANE_NAME(tool_time)(c, dt, gap, towards));
    missed = lane_less(zero, pair, missed, zero);
    gg_lane turned = lane_less(zero, pair, lane_div(one, reach), zero);
    GG_LANE_NAME(vec) n;
    n.x = lane_less(zero, pair, turned * (distance * c->normal.x + tau * c->rel.x), c->normal.x);
    n.y = lane_less(zero, pair, turned * (distance * c->normal.y + tau * c->rel.y), c->normal.y);
    n.z = lane_less(zero, pair, turned * (distance * c->normal.z + tau * c->rel.z), c->normal.z);
    gg_lane approach = GG_LANE_NAME(dot)(c->rel, n);
    gg_lane late = (one + c->restitution) * towards * (tau - lane_splat(0.5f) * dt);
    gg_lane bias = lane_max(late - c->restitution * approach, zero);
    /* the impulse that the solve will find */
    gg_lane pressing = lane_div(bias - approach, c->single);
    GG_LANE_NAME(vec) u = GG_LANE_NAME(columns)(own, GG_BODY_SPIN);
    GG_LANE_NAME(add_scaled)(&u, GG_LANE_NAME(columns)(other->body, GG_BODY_SPIN), one);
    GG_LANE_NAME(vec) t = GG_LANE_NAME(sub)(c->rel, GG_LANE_NAME(cross)(u, n));
    GG_LANE_NAME(add_scaled)(&t, n, zero - GG_LANE_NAME(dot)(t, n));
    gg_lane weight = lane_div(lane_splat(p->spin ? -GG_TANGENT_SHARE : -1.0f), c->single);
    t = GG_LANE_NAME(scale)(t, weight);
    gg_lane scale = GG_LANE_NAME(cone_scale)(t, c->friction * pressing);
    gg_lane keep = lane_less(zero, missed, zero, hit);
    GG_LANE_NAME(setback) back;
    back.impulse = GG_LANE_NAME(zero)();
    GG_LANE_NAME(add_scaled)(&back.impulse, n, pressing);
    GG_LANE_NAME(add_scaled)(&back.impulse, t, scale);
    back.tau = tau;
    back.keep = keep;
    c->normal = GG_LANE_NAME(choose)(zero, keep, n, c->normal);
    /* the target velocity of those that miss is the one they have */
    c->bias = lane_less(zero, keep, bias, lane_less(zero, hit, lane_min(c->bias, c->approach), c->bias));
    return back;
}
