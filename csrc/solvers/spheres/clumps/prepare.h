/* prepare.h: prepares the contacts of clumps of one colour for the solve (clumps.h) and starts them from their stored
 * impulses, for one lane or a vector of lanes: see lane_phases.h. */

/* one side of W contacts: body of the clump, its inverse inertia times radius^2, arm of the contact over the radius */
typedef struct GG_LANE_NAME(turning) {
    gg_lane body[GG_BODY], spread[GG_BODY];
    GG_LANE_NAME(vec) arm;
} GG_LANE_NAME(turning);

/* a symmetric 3 x 3 matrix of each of W contacts */
typedef struct GG_LANE_NAME(matrix) {
    gg_lane xx, yy, zz, xy, xz, yz;
} GG_LANE_NAME(matrix);

/* leads of W slots and of contacts on surfaces of clumps; those on other tools have themselves */
GG_FN void GG_LANE_NAME(leads)(const gg_view *v, int64_t e, const int32_t *body, int32_t *lead) {
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        int32_t moved = gg_contact_lead(v, e, body[k]);
        lead[k] = moved < 0 ? body[k] : moved;
    }
}

/* the spheres' centres from those of their clumps; of tools 0 */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(sphere_arms)(const gg_view *v, int64_t e, const int32_t *slot, gg_lane tool) {
    int32_t id[GG_LANE_WIDTH];
    gg_lane arm[4], zero = lane_splat(0.0f);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        id[k] = v->grain_id[e * v->dims.slots + slot[k]];
    }
    lane_points(v->clump_arm + e * v->dims.slots, id, arm);
    GG_LANE_NAME(vec) out = GG_LANE_NAME(columns)(arm, 0);
    return GG_LANE_NAME(choose)(zero, tool, GG_LANE_NAME(zero)(), out);
}

/* points of tools do not turn */
GG_FN void GG_LANE_NAME(still_tools)(const gg_view *v, int64_t e, const int32_t *body, int count) {
    for (int k = 0; k < count; k++) {
        if (gg_is_tool(v, body[k])) {
            float none[GG_BODY] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
            gg_body_store(v->clump_inertia + (e * v->dims.clumps.bodies + body[k]) * GG_BODY, none);
        }
    }
}

/* J a of W sides: inverse inertia times a vector. isotropic: a constant, 1 where J is a number; bits are the same, as
 * zeros lose their sign. */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(spread_times)(const gg_lane *j, GG_LANE_NAME(vec) a, int isotropic) {
    gg_lane zero = lane_splat(0.0f);
    GG_LANE_NAME(vec) out;
    if (isotropic) {
        out.x = j[0] * a.x + zero;
        out.y = j[0] * a.y + zero;
        out.z = j[0] * a.z + zero;
        return out;
    }
    out.x = (j[0] * a.x + j[3] * a.y + j[4] * a.z) + zero;
    out.y = (j[3] * a.x + j[1] * a.y + j[5] * a.z) + zero;
    out.z = (j[4] * a.x + j[5] * a.y + j[2] * a.z) + zero;
    return out;
}

/* inverse effective mass of W sides as a matrix: 1/m - [a] J [a] */
GG_FN GG_LANE_NAME(matrix) GG_LANE_NAME(yielding)(const GG_LANE_NAME(turning) * s, gg_lane inverse_mass) {
    gg_lane zero = lane_splat(0.0f), ax = s->arm.x, ay = s->arm.y, az = s->arm.z;
    GG_LANE_NAME(vec) x, y, z; /* a x e_k */
    x.x = zero;
    x.y = az;
    x.z = zero - ay;
    y.x = zero - az;
    y.y = zero;
    y.z = ax;
    z.x = ay;
    z.y = zero - ax;
    z.z = zero;
    GG_LANE_NAME(vec) jx = GG_LANE_NAME(spread_times)(s->spread, x, 0);
    GG_LANE_NAME(vec) jy = GG_LANE_NAME(spread_times)(s->spread, y, 0);
    GG_LANE_NAME(vec) jz = GG_LANE_NAME(spread_times)(s->spread, z, 0);
    GG_LANE_NAME(matrix) k;
    k.xx = inverse_mass + GG_LANE_NAME(dot)(x, jx);
    k.yy = inverse_mass + GG_LANE_NAME(dot)(y, jy);
    k.zz = inverse_mass + GG_LANE_NAME(dot)(z, jz);
    k.xy = GG_LANE_NAME(dot)(x, jy);
    k.xz = GG_LANE_NAME(dot)(x, jz);
    k.yz = GG_LANE_NAME(dot)(y, jz);
    return k;
}

GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(matrix_times)(const GG_LANE_NAME(matrix) * m, GG_LANE_NAME(vec) a) {
    GG_LANE_NAME(vec) out;
    out.x = m->xx * a.x + m->xy * a.y + m->xz * a.z;
    out.y = m->xy * a.x + m->yy * a.y + m->yz * a.z;
    out.z = m->xz * a.x + m->yz * a.y + m->zz * a.z;
    return out;
}

/* The larger eigenvalue of W matrices in the planes of their normals. With P = 1 - n n^T the sum of both is the trace of
 * P K P, the sum of their squares that of (P K P)^2. */
GG_FN gg_lane GG_LANE_NAME(plane_eigenvalue)(const GG_LANE_NAME(matrix) * k, GG_LANE_NAME(vec) n) {
    GG_LANE_NAME(vec) kn = GG_LANE_NAME(matrix_times)(k, n);
    gg_lane along = GG_LANE_NAME(dot)(n, kn), two = lane_splat(2.0f), zero = lane_splat(0.0f);
    gg_lane sum = (k->xx + k->yy + k->zz) - along;
    gg_lane all =
        (k->xx * k->xx + k->yy * k->yy + k->zz * k->zz) + two * (k->xy * k->xy + k->xz * k->xz + k->yz * k->yz);
    gg_lane squares = (all - two * GG_LANE_NAME(dot)(kn, kn)) + along * along;
    return lane_splat(0.5f) * (sum + lane_sqrt(lane_max(two * squares - sum * sum, zero)));
}

/* velocity of W sides where they touch */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(point_velocity)(const GG_LANE_NAME(turning) * s) {
    GG_LANE_NAME(vec) u = GG_LANE_NAME(columns)(s->body, GG_BODY_SPIN), out = GG_LANE_NAME(cross)(u, s->arm);
    out.x = s->body[0] + out.x;
    out.y = s->body[1] + out.y;
    out.z = s->body[2] + out.z;
    return out;
}

/* adds to W sides what an impulse changes where they touch; side: 1 or -1 */
GG_FN void GG_LANE_NAME(push_at)(GG_LANE_NAME(turning) * s, GG_LANE_NAME(vec) p, gg_lane side, int isotropic) {
    gg_lane factor = side * s->body[GG_BODY_INVERSE_MASS];
    GG_LANE_NAME(vec) u = GG_LANE_NAME(spread_times)(s->spread, GG_LANE_NAME(cross)(s->arm, p), isotropic);
    s->body[0] = s->body[0] + factor * p.x;
    s->body[1] = s->body[1] + factor * p.y;
    s->body[2] = s->body[2] + factor * p.z;
    s->body[GG_BODY_SPIN] = s->body[GG_BODY_SPIN] + side * u.x;
    s->body[GG_BODY_SPIN + 1] = s->body[GG_BODY_SPIN + 1] + side * u.y;
    s->body[GG_BODY_SPIN + 2] = s->body[GG_BODY_SPIN + 2] + side * u.z;
}

/* adds to W sides what a torque impulse changes */
GG_FN void GG_LANE_NAME(twist_at)(GG_LANE_NAME(turning) * s, GG_LANE_NAME(vec) t, gg_lane side, int isotropic) {
    GG_LANE_NAME(vec)
    u = GG_LANE_NAME(spread_times)(s->spread, GG_LANE_NAME(scale)(t, s->body[GG_BODY_INVERSE_RADIUS]), isotropic);
    s->body[GG_BODY_SPIN] = s->body[GG_BODY_SPIN] + side * u.x;
    s->body[GG_BODY_SPIN + 1] = s->body[GG_BODY_SPIN + 1] + side * u.y;
    s->body[GG_BODY_SPIN + 2] = s->body[GG_BODY_SPIN + 2] + side * u.z;
}

/* the largest row sum of the inverse inertia of W sides, no less than its largest eigenvalue [1/(kg m2)] */
GG_FN gg_lane GG_LANE_NAME(turn_yielding)(const GG_LANE_NAME(turning) * s) {
    const gg_lane *j = s->spread;
    gg_lane zero = lane_splat(0.0f), xy = lane_max(j[3], zero - j[3]), xz = lane_max(j[4], zero - j[4]);
    gg_lane yz = lane_max(j[5], zero - j[5]), per_radius = s->body[GG_BODY_INVERSE_RADIUS];
    gg_lane most = lane_max(lane_max((j[0] + xy) + xz, (j[1] + xy) + yz), (j[2] + xz) + yz);
    return (per_radius * per_radius) * most;
}

/* moves and turns one side of W contacts by `push`, mass times displacement; bodies beyond `last` stay */
GG_FN void GG_LANE_NAME(shift_clumps)(const gg_view *v, int64_t e, const int32_t *lead, int count, int32_t last,
                                      const GG_LANE_NAME(turning) * s, gg_lane side, GG_LANE_NAME(vec) push) {
    int32_t index[GG_LANE_WIDTH];
    gg_lane moved[4], turned[4];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        index[k] = GG_MIN(lead[k], (int32_t)v->dims.free_bodies - 1);
    }
    lane_points(v->shift + e * v->dims.slots, index, moved);
    lane_points(v->clump_turn + e * v->dims.slots, index, turned);
    gg_lane factor = side * s->body[GG_BODY_INVERSE_MASS];
    GG_LANE_NAME(vec) u = GG_LANE_NAME(spread_times)(s->spread, GG_LANE_NAME(cross)(s->arm, push), 0);
    moved[0] = moved[0] + factor * push.x;
    moved[1] = moved[1] + factor * push.y;
    moved[2] = moved[2] + factor * push.z;
    turned[0] = turned[0] + side * u.x;
    turned[1] = turned[1] + side * u.y;
    turned[2] = turned[2] + side * u.z;
    lane_points_scatter(v->shift + e * v->dims.slots, lead, count, last, moved);
    lane_points_scatter(v->clump_turn + e * v->dims.slots, lead, count, last, turned);
}

/* number of contacts of W clumps; of tools 0 */
GG_FN gg_lane GG_LANE_NAME(clump_contacts)(const gg_view *v, int64_t e, const int32_t *lead) {
    int32_t index[GG_LANE_WIDTH];
    gg_lane turned[4], zero = lane_splat(0.0f);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        index[k] = GG_MIN(lead[k], (int32_t)v->dims.free_bodies - 1);
    }
    lane_points(v->clump_turn + e * v->dims.slots, index, turned);
    return lane_less(zero, lane_at_least(lead, (int32_t)v->dims.free_bodies), zero, turned[3]);
}

/* Arms of W contacts from the centres of the clumps on whose surfaces they are, to the points of the own spheres that
 * are the nearest; lanes that are on none are not to be used. */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(surface_arms)(const gg_view *v, int64_t e, const int32_t *body,
                                                   const GG_LANE_NAME(self) * self, GG_LANE_NAME(vec) normal) {
    const gg_params *p = &v->params;
    float center[3][GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        int32_t clump = gg_surface_clump(v, e, body[k]);
        const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + GG_MAX(clump, 0)];
        for (int axis = 0; axis < 3; axis++) {
            center[axis][k] = (float)motion->position[axis];
        }
    }
    GG_LANE_NAME(vec) arm;
    arm.x = GG_LANE_NAME(nearest_image)(p, 0, self->point[0] - lane_load(center[0]), p->lower.x, p->upper.x);
    arm.y = GG_LANE_NAME(nearest_image)(p, 1, self->point[1] - lane_load(center[1]), p->lower.y, p->upper.y);
    arm.z = GG_LANE_NAME(nearest_image)(p, 2, self->point[2] - lane_load(center[2]), p->lower.z, p->upper.z);
    GG_LANE_NAME(add_scaled)(&arm, normal, lane_splat(0.0f) - self->point[3]);
    return arm;
}

/* what W contacts of clumps are, before they are solved; held: 1 on tools that no clump carries */
typedef struct GG_LANE_NAME(clump_contact) {
    GG_LANE_NAME(turning) own, other;
    GG_LANE_NAME(matrix) k; /* of both sides */
    gg_lane own_along, other_along, own_count, other_count, held;
} GG_LANE_NAME(clump_contact);

/* both sides of W contacts: bodies before contact, arms, and how they yield */
GG_FN void GG_LANE_NAME(load_clumps)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at,
                                     const int32_t *other_slot, const GG_LANE_NAME(self) * self,
                                     GG_LANE_NAME(other) * other, const GG_LANE_NAME(contact) * c,
                                     GG_LANE_NAME(clump_contact) * both) {
    const float *bodies = v->body_b + e * v->dims.bodies * GG_BODY;
    const float *spreads = v->clump_inertia + e * v->dims.clumps.bodies * GG_BODY;
    int32_t *first = v->first_lead + at->contact, *second = v->other_lead + at->contact;
    gg_lane zero = lane_splat(0.0f), half = lane_splat(0.5f);
    GG_LANE_NAME(leads)(v, e, at->own, first);
    GG_LANE_NAME(leads)(v, e, at->other, second);
    GG_LANE_NAME(still_tools)(v, e, second, at->count);
    both->held = lane_at_least(second, (int32_t)v->dims.free_bodies);
    lane_bodies(bodies, first, both->own.body);
    lane_bodies(bodies, second, both->other.body);
    lane_bodies(spreads, first, both->own.spread);
    lane_bodies(spreads, second, both->other.spread);
    /* both arms end in the middle of the gap, at tools on the sphere */
    gg_lane middle = lane_less(zero, other->tool, zero, half * c->gap);
    both->own.arm = GG_LANE_NAME(sphere_arms)(v, e, at->own, zero);
    both->other.arm = GG_LANE_NAME(sphere_arms)(v, e, other_slot, other->tool);
    GG_LANE_NAME(add_scaled)(&both->own.arm, c->normal, zero - (self->point[3] + middle));
    GG_LANE_NAME(add_scaled)(&both->other.arm, c->normal, lane_less(zero, other->tool, zero, other->point[3] + middle));
    gg_lane surface = other->tool - both->held;
    if (lane_less_bits(zero, surface)) {
        GG_LANE_NAME(vec) arm = GG_LANE_NAME(surface_arms)(v, e, at->other, self, c->normal);
        both->other.arm = GG_LANE_NAME(choose)(zero, surface, arm, both->other.arm);
    }
    both->own.arm = GG_LANE_NAME(scale)(both->own.arm, both->own.body[GG_BODY_INVERSE_RADIUS]);
    both->other.arm = GG_LANE_NAME(scale)(both->other.arm, both->other.body[GG_BODY_INVERSE_RADIUS]);
    both->own_count = GG_LANE_NAME(clump_contacts)(v, e, first);
    both->other_count = GG_LANE_NAME(clump_contacts)(v, e, second);
}

/* how W contacts yield: along the normal, on either side and in all, and in their planes */
GG_FN void GG_LANE_NAME(yield_clumps)(GG_LANE_NAME(clump_contact) * both, gg_lane other_mass,
                                      GG_LANE_NAME(contact) * c) {
    GG_LANE_NAME(matrix) own = GG_LANE_NAME(yielding)(&both->own, both->own.body[GG_BODY_INVERSE_MASS]);
    GG_LANE_NAME(matrix) other = GG_LANE_NAME(yielding)(&both->other, other_mass);
    GG_LANE_NAME(vec) own_n = GG_LANE_NAME(matrix_times)(&own, c->normal);
    GG_LANE_NAME(vec) other_n = GG_LANE_NAME(matrix_times)(&other, c->normal);
    both->own_along = GG_LANE_NAME(dot)(own_n, c->normal);
    both->other_along = GG_LANE_NAME(dot)(other_n, c->normal);
    both->k.xx = own.xx + other.xx;
    both->k.yy = own.yy + other.yy;
    both->k.zz = own.zz + other.zz;
    both->k.xy = own.xy + other.xy;
    both->k.xz = own.xz + other.xz;
    both->k.yz = own.yz + other.yz;
    c->single = both->own_along + both->other_along;
    c->split = both->own_count * both->own_along + both->other_count * both->other_along;
    c->mass = lane_div(lane_splat(1.0f), c->single);
}

/* Position correction of W contacts as an impulse of displacements [kg m]: relaxed as that of spheres, at tools by the
 * number of contacts. */
GG_FN gg_lane GG_LANE_NAME(clump_correction)(const gg_params *p, const GG_LANE_NAME(contact) * c,
                                             const GG_LANE_NAME(clump_contact) * both,
                                             const GG_LANE_NAME(other) * other) {
    gg_lane zero = lane_splat(0.0f);
    gg_lane mass = lane_splat(p->alpha) * lane_min(c->mass, lane_div(lane_splat(GG_SHIFT_SUM), c->split));
    mass = lane_less(zero, both->held, lane_div(lane_splat(p->tool_alpha), c->split + other->split), mass);
    gg_lane most = lane_div(lane_splat(p->correction_max), lane_max(both->own_along, both->other_along));
    return lane_max(lane_min(mass * (lane_splat(-p->slack) - c->gap), most), zero);
}

/* Rolling of W contacts: limit and effective inertia of each; t: their last torque impulse; returns the one they start
 * from. */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(start_clump_rolling)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at,
                                      GG_LANE_NAME(vec) t, const GG_LANE_NAME(self) * self, gg_lane limit, gg_lane load,
                                      const GG_LANE_NAME(clump_contact) * both, GG_LANE_NAME(vec) normal) {
    gg_lane zero = lane_splat(0.0f), live = lane_first(at->count);
    gg_lane single = GG_LANE_NAME(turn_yielding)(&both->own) + GG_LANE_NAME(turn_yielding)(&both->other);
    t = GG_LANE_NAME(choose)(zero, live, GG_LANE_NAME(scale)(t, self->warm_scale), GG_LANE_NAME(zero)());
    if (v->params.cohesive) {
        t = GG_LANE_NAME(torque_bounds)(t, normal, limit * load, lane_load(v->twist_limit + at->cohesive) * load);
    } else {
        t = GG_LANE_NAME(scale)(t, GG_LANE_NAME(cone_scale)(t, limit * load));
    }
    lane_store(v->roll_limit + at->roll, limit);
    lane_store(v->roll_weight + at->roll, live * lane_div(lane_splat(1.0f), single));
    GG_LANE_NAME(store3)(GG_LANE_NAME(start_torques)(v, e) + at->roll3, t);
    return t;
}

/* adds the warm start of W contacts to one of their sides */
GG_FN void GG_LANE_NAME(start_clumps)(const gg_view *v, int64_t e, const int32_t *lead, int count,
                                      const GG_LANE_NAME(turning) * before, gg_lane side, GG_LANE_NAME(vec) p,
                                      GG_LANE_NAME(vec) torque) {
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    GG_LANE_NAME(turning) s = *before;
    lane_bodies(bodies, lead, s.body);
    GG_LANE_NAME(push_at)(&s, p, side, 0);
    if (v->params.rolling) {
        GG_LANE_NAME(twist_at)(&s, torque, side, 0);
    }
    lane_bodies_scatter(bodies, lead, count, s.body);
}

/* prepares W contacts of clumps of one colour */
GG_FN void GG_LANE_NAME(prepare_clump_records)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    const gg_pair *pairs = v->pair + e * v->dims.material_count * v->dims.material_count;
    const int32_t *pair = v->contact_pair + at->contact;
    const int32_t *first = v->first_lead + at->contact, *second = v->other_lead + at->contact;
    int32_t other_slot[GG_LANE_WIDTH], last_grain = (int32_t)v->dims.free_bodies - 1;
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), minus = lane_splat(-1.0f), load;
    gg_lane live = lane_first(at->count);
    int same = GG_LANE_NAME(one_pair)(pair);
    GG_LANE_NAME(self) self;
    GG_LANE_NAME(other) other;
    GG_LANE_NAME(contact) c;
    GG_LANE_NAME(clump_contact) both;
    GG_LANE_NAME(other_slots)(v, at, other_slot);
    GG_LANE_NAME(load_sides)(v, e, at, other_slot, &self, &other, &c);
    self.bounce_speed = lane_splat(env->bounce_speed);
    self.warm_scale = lane_splat(env->dt_last > 0.0f ? p->dt / env->dt_last : 0.0f);
    c.gap = GG_LANE_NAME(geometry)(p, &self, &other, c.gap, &c.normal);
    GG_LANE_NAME(load_clumps)(v, e, at, other_slot, &self, &other, &c, &both);
    gg_lane own_mass = both.own.body[GG_BODY_INVERSE_MASS], other_mass = both.other.body[GG_BODY_INVERSE_MASS];
    c.rel = GG_LANE_NAME(sub)(GG_LANE_NAME(point_velocity)(&both.own), GG_LANE_NAME(point_velocity)(&both.other));
    c.approach = GG_LANE_NAME(dot)(c.rel, c.normal);
    c.restitution = GG_LANE_NAME(pair_value)(&pairs->restitution, pair, same);
    c.friction = GG_LANE_NAME(pair_value)(&pairs->friction, pair, same);
    gg_lane meets = other_mass;
    uint32_t dynamic = 0;
    if (p->dynamic && lane_less_bits(zero, both.held)) {
        c.single = c.split = own_mass;
        dynamic = GG_LANE_NAME(meet_dynamic)(v, e, at, own_mass, &other, &c);
        meets = lane_max(other_mass, other.count_over_mass);
        self.bounce_speed = lane_max(self.bounce_speed, other.bounce_speed);
    }
    GG_LANE_NAME(yield_clumps)(&both, meets, &c);
    GG_LANE_NAME(vec)
    push = GG_LANE_NAME(scale)(c.normal, GG_LANE_NAME(clump_correction)(p, &c, &both, &other));
    if (dynamic) {
        GG_LANE_NAME(note_shift)(v, e, at->contact, dynamic, push);
    }
    if (p->rolling || p->cohesive) {
        other.radius = GG_LANE_NAME(effective_radius)(&self, &other, one);
    }
    if (p->cohesive) {
        GG_LANE_NAME(load_cohesion)(v, pairs, pair, same, at->cohesive, other.radius, &c);
    }
    c.bias = GG_LANE_NAME(bias)(p, self.bounce_speed, c.gap, c.approach, c.restitution);
    GG_LANE_NAME(store3)(v->normal + at->contact3, c.normal);
    float *lever = v->clump_lever + gg_clump_sides(at->contact, 3);
    GG_LANE_NAME(store3)(lever, both.own.arm);
    GG_LANE_NAME(store3)(lever + 3 * GG_LANES, both.other.arm);
    float *spread = v->clump_spread + gg_clump_sides(at->contact, 1);
    lane_store(spread, both.own.spread[GG_CLUMP_ANY_AXIS]);
    lane_store(spread + GG_LANES, both.other.spread[GG_CLUMP_ANY_AXIS]);
    gg_lane relaxation = lane_splat(p->relaxation);
    gg_lane tangent = lane_div(relaxation, GG_LANE_NAME(plane_eigenvalue)(&both.k, c.normal));
    lane_store(v->effective_mass + at->contact, live * (relaxation * c.mass));
    lane_store(v->tangent_mass + at->contact, live * tangent);
    lane_store(v->bias + at->contact, c.bias);
    lane_store(v->friction + at->contact, c.friction);
    GG_LANE_NAME(vec)
    start = GG_LANE_NAME(start_impulse)(v, e, at, &self, &other, &c, GG_LANE_NAME(last_impulse)(v, e, at), own_mass,
                                        other_mass, both.held, &load);
    GG_LANE_NAME(vec) torque = GG_LANE_NAME(zero)();
    if (p->rolling) {
        gg_lane limit = GG_LANE_NAME(pair_value)(&pairs->rolling_friction, pair, same) * other.radius;
        torque = GG_LANE_NAME(start_clump_rolling)(v, e, at, GG_LANE_NAME(last_torque)(v, e, at), &self, limit, load,
                                                   &both, c.normal);
    }
    GG_LANE_NAME(start_clumps)(v, e, first, at->count, &both.own, one, start, torque);
    GG_LANE_NAME(start_clumps)(v, e, second, at->count, &both.other, minus, start, torque);
    GG_LANE_NAME(shift_clumps)(v, e, first, at->count, last_grain, &both.own, one, push);
    GG_LANE_NAME(shift_clumps)(v, e, second, at->count, last_grain, &both.other, minus, push);
}

/* item: share of the contacts of a colour of an env */
GG_FN void GG_LANE_NAME(prepare_clump_share)(const gg_view *v, int64_t e, int64_t share, int32_t colour) {
    if (gg_lone_colour(v, colour)) {
        GG_LANE_NAME(prepare_share)(v, e, share, colour);
        return;
    }
    GG_LANE_NAME(row_share) rows = GG_LANE_NAME(rows_of)(v, e, share, colour);
    for (int64_t record = rows.begin; record < rows.end; record += GG_LANE_WIDTH) {
        GG_LANE_NAME(records) at = GG_LANE_NAME(records_at)(v, e, record, rows.last);
        GG_LANE_NAME(prepare_clump_records)(v, e, &at);
    }
}
