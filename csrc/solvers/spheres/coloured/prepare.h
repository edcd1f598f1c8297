/* prepare.h: prepares the contacts of one colour for the solve and starts them from their stored impulses, for one lane
 * or a vector of lanes: see lane_phases.h. Contacts see the velocities before any contact (body_b); the warm start and
 * the position correction of each are added to its two bodies. */

/* W contacts of one colour: indices of their records, and how many of them there are */
typedef struct GG_LANE_NAME(records) {
    int64_t contact, contact3, roll, roll3, cohesive; /* in the arrays of all envs */
    const int32_t *own, *other;                       /* bodies */
    int count;
} GG_LANE_NAME(records);

/* the records from `record` on; last: one past the colour's last contact */
GG_FN GG_LANE_NAME(records) GG_LANE_NAME(records_at)(const gg_view *v, int64_t e, int64_t record, int64_t last) {
    int64_t row = record / GG_LANES, lane = record % GG_LANES;
    GG_LANE_NAME(records) at;
    at.contact = e * v->dims.contact_rows * GG_LANES + record;
    at.contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    at.roll = (e * v->dims.spheres.roll_rows + row) * GG_LANES + lane;
    at.roll3 = (e * v->dims.spheres.roll_rows + row) * GG_LANES * 3 + lane;
    at.cohesive = (e * v->dims.spheres.cohesive_rows + row) * GG_LANES + lane;
    at.count = (int)GG_MAX(GG_MIN(last - record, GG_LANE_WIDTH), 0);
    at.own = v->first_body + at.contact;
    at.other = v->other_body + at.contact;
    return at;
}

/* the records of a share of a colour, whole rows; last: one past the colour's last contact */
typedef struct GG_LANE_NAME(row_share) {
    int64_t begin, end, last;
} GG_LANE_NAME(row_share);

GG_FN GG_LANE_NAME(row_share) GG_LANE_NAME(rows_of)(const gg_view *v, int64_t e, int64_t share, int32_t colour) {
    const gg_colouring *all = &v->colouring[e];
    int64_t shares = gg_colour_shares(&v->dims), first = all->first_row[colour];
    int64_t rows = all->first_row[colour + 1] - first;
    GG_LANE_NAME(row_share) out;
    out.last = first * GG_LANES + all->contacts[colour];
    out.begin = (first + rows * share / shares) * GG_LANES;
    out.end = (first + rows * (share + 1) / shares) * GG_LANES;
    return out;
}

/* whether W stored records lie side by side in one row, as those of contacts that last do */
GG_FN int GG_LANE_NAME(side_by_side)(const int32_t *from) {
    int same = from[0] >= 0 && from[0] % GG_LANES + GG_LANE_WIDTH <= GG_LANES;
    for (int k = 1; k < GG_LANE_WIDTH; k++) {
        same &= from[k] == from[0] + k;
    }
    return same;
}

/* replaces those of W vectors whose records are kept contacts; kept: theirs, of an env */
GG_FN_LARGE void GG_LANE_NAME(kept3)(const gg_view *v, const gg_vec3 *kept, const int32_t *from,
                                     GG_LANE_NAME(vec) * to) {
    float each[3][GG_LANE_WIDTH];
    lane_store(each[0], to->x);
    lane_store(each[1], to->y);
    lane_store(each[2], to->z);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        if (from[k] >= gg_kept_records(v)) {
            gg_vec3 one = kept[from[k] - gg_kept_records(v)];
            each[0][k] = one.x;
            each[1][k] = one.y;
            each[2][k] = one.z;
        }
    }
    to->x = lane_load(each[0]);
    to->y = lane_load(each[1]);
    to->z = lane_load(each[2]);
}

/* gathers a vector of the stored records `from`, also of kept ones; 0 where there is none */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(stored3)(const gg_view *v, const float *stored, const gg_vec3 *kept, const int32_t *from) {
    if (GG_LANE_NAME(side_by_side)(from) && from[0] < gg_kept_records(v)) {
        return GG_LANE_NAME(load3)(stored + gg_record3(from[0]));
    }
    int32_t index[GG_LANE_WIDTH], any_kept = 0;
    float known[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        int lasts = from[k] >= 0 && from[k] < gg_kept_records(v);
        index[k] = lasts ? (int32_t)gg_record3(from[k]) : 0;
        known[k] = lasts ? 1.0f : 0.0f;
        any_kept |= from[k] >= gg_kept_records(v);
    }
    gg_lane zero = lane_splat(0.0f), is_known = lane_load(known);
    GG_LANE_NAME(vec) a;
    a.x = lane_less(zero, is_known, lane_gather(stored, index), zero);
    a.y = lane_less(zero, is_known, lane_gather(stored + GG_LANES, index), zero);
    a.z = lane_less(zero, is_known, lane_gather(stored + 2 * GG_LANES, index), zero);
    if (any_kept) {
        GG_LANE_NAME(kept3)(v, kept, from, &a);
    }
    return a;
}

/* whether W contacts are of one pair of materials */
GG_FN int GG_LANE_NAME(one_pair)(const int32_t *pair) {
    int32_t differ = 0;
    for (int k = 1; k < GG_LANE_WIDTH; k++) {
        differ |= pair[k] ^ pair[0];
    }
    return !differ;
}

/* one coefficient of the pairs of W contacts; same: all are of one pair */
GG_FN gg_lane GG_LANE_NAME(pair_value)(const float *of_first, const int32_t *pair, int same) {
    const int32_t stride = (int32_t)(sizeof(gg_pair) / sizeof(float));
    if (same) {
        return lane_splat(of_first[pair[0] * stride]);
    }
    int32_t index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        index[k] = pair[k] * stride;
    }
    return lane_gather(of_first, index);
}

/* indices of the slots of W other sides: those of the owners where they are tools */
GG_FN void GG_LANE_NAME(other_slots)(const gg_view *v, const GG_LANE_NAME(records) * at, int32_t *slot) {
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        slot[k] = gg_is_tool(v, at->other[k]) ? at->own[k] : at->other[k];
    }
}

/* both sides of W contacts before contact, and what is listed of contacts with tools: normal and gap */
GG_FN void GG_LANE_NAME(load_sides)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at,
                                    const int32_t *other_slot, GG_LANE_NAME(self) * self, GG_LANE_NAME(other) * other,
                                    GG_LANE_NAME(contact) * c) {
    int64_t slots = e * v->dims.slots;
    const float *bodies = v->body_b + e * v->dims.bodies * GG_BODY;
    gg_lane zero = lane_splat(0.0f), geometry[4] = {zero, zero, lane_splat(1.0f), zero};
    other->tool = lane_at_least(at->other, (int32_t)v->dims.free_bodies);
    other->radius = other->count_over_mass = other->bounce_speed = other->split = zero;
    lane_points(v->position + slots, at->own, self->point);
    lane_points(v->position + slots, other_slot, other->point);
    lane_bodies(bodies, at->own, self->body);
    lane_bodies(bodies, at->other, other->body);
    if (lane_less_bits(zero, other->tool)) {
        int32_t touch[GG_LANE_WIDTH];
        for (int k = 0; k < GG_LANE_WIDTH; k++) {
            touch[k] = GG_MAX(at->other[k] - (int32_t)v->dims.free_bodies, 0);
        }
        lane_points(v->touch + e * v->dims.coloured.touches, touch, geometry);
    }
    /* where two centres coincide the owner is up */
    c->normal.x = geometry[0];
    c->normal.y = geometry[1];
    c->normal.z = lane_less(zero, other->tool, geometry[2], lane_splat(1.0f));
    c->gap = geometry[3];
}

/* Position correction of W contacts as mass times displacement [kg m]: each side moves by it over its mass. */
GG_FN gg_lane GG_LANE_NAME(correction_of)(const gg_params *p, const GG_LANE_NAME(contact) * c, gg_lane inverse_mass,
                                          const GG_LANE_NAME(other) * other) {
    gg_lane zero = lane_splat(0.0f);
    gg_lane mass = lane_splat(p->alpha) * lane_min(c->mass, lane_div(lane_splat(GG_SHIFT_SUM), c->split));
    gg_lane of_tool = lane_div(lane_splat(p->tool_alpha), inverse_mass + other->split);
    mass = lane_less(zero, other->tool, of_tool, mass);
    gg_lane larger = lane_max(inverse_mass, other->body[GG_BODY_INVERSE_MASS]);
    gg_lane most = lane_div(lane_splat(p->correction_max), larger);
    return lane_max(lane_min(mass * (lane_splat(-p->slack) - c->gap), most), zero);
}

/* where the first sweep finds the impulses, and torque impulses, that contacts start from */
GG_FN float *GG_LANE_NAME(start_impulses)(const gg_view *v, int64_t e) {
    return v->env[e].impulse_buffer ? v->impulse_a : v->impulse_b;
}
GG_FN float *GG_LANE_NAME(start_torques)(const gg_view *v, int64_t e) {
    return v->env[e].impulse_buffer ? v->roll_a : v->roll_b;
}

/* the impulses and torque impulses that W contacts had in the last substep */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(last_impulse)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at) {
    const int32_t *from = v->contact_from + at->contact;
    return GG_LANE_NAME(stored3)(v, gg_coloured_impulses(v, e, 1), v->kept_impulse + gg_kept_first(v, e, 0), from);
}
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(last_torque)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at) {
    const int32_t *from = v->contact_from + at->contact;
    return GG_LANE_NAME(stored3)(v, gg_coloured_torques(v, e, 1), v->kept_torque + gg_kept_first(v, e, 0), from);
}

/* Rolling of W contacts: limit and relaxed effective inertia of each; t: their last torque impulse; returns the one they
 * start from. */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(start_rolling)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at, GG_LANE_NAME(vec) t,
                                const GG_LANE_NAME(self) * self, const GG_LANE_NAME(other) * other, gg_lane load,
                                gg_lane rolling_friction, GG_LANE_NAME(vec) normal) {
    const gg_params *p = &v->params;
    gg_lane per_radius = self->body[GG_BODY_INVERSE_RADIUS], other_per_radius = other->body[GG_BODY_INVERSE_RADIUS];
    gg_lane limit = rolling_friction * other->radius;
    gg_lane single = (per_radius * per_radius) * self->body[GG_BODY_INVERSE_MASS] +
                     (other_per_radius * other_per_radius) * other->body[GG_BODY_INVERSE_MASS];
    gg_lane weight = lane_div(lane_splat(p->relaxation), lane_splat(GG_SPIN_FACTOR) * single);
    gg_lane live = lane_first(at->count);
    t = GG_LANE_NAME(choose)(lane_splat(0.0f), live, GG_LANE_NAME(scale)(t, self->warm_scale), GG_LANE_NAME(zero)());
    if (p->cohesive) {
        t = GG_LANE_NAME(torque_bounds)(t, normal, limit * load, lane_load(v->twist_limit + at->cohesive) * load);
    } else {
        t = GG_LANE_NAME(scale)(t, GG_LANE_NAME(cone_scale)(t, limit * load));
    }
    lane_store(v->roll_limit + at->roll, limit);
    lane_store(v->roll_weight + at->roll, live * weight);
    GG_LANE_NAME(store3)(GG_LANE_NAME(start_torques)(v, e) + at->roll3, t);
    return t;
}

/* `a` scaled back to `limit` where it is longer. Most contacts stick: where all of a vector do, there is no root. */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(bounded)(GG_LANE_NAME(vec) a, gg_lane limit) {
    gg_lane a2 = GG_LANE_NAME(dot)(a, a), most = limit * limit;
    if (!lane_less_bits(most, a2)) {
        return a;
    }
    gg_lane scale = lane_ratio(limit, lane_sqrt(lane_max(a2, lane_splat(1e-30f))));
    return GG_LANE_NAME(scale)(a, lane_less(most, a2, scale, lane_splat(1.0f)));
}

/* adds to W bodies what a torque impulse changes; side: 1 or -1 */
GG_FN void GG_LANE_NAME(turn)(gg_lane *body, GG_LANE_NAME(vec) torque, gg_lane side) {
    gg_lane per_radius = side * body[GG_BODY_INVERSE_RADIUS];
    gg_lane factor = lane_splat(GG_SPIN_FACTOR) * (body[GG_BODY_INVERSE_MASS] * per_radius);
    body[GG_BODY_SPIN] = body[GG_BODY_SPIN] + factor * torque.x;
    body[GG_BODY_SPIN + 1] = body[GG_BODY_SPIN + 1] + factor * torque.y;
    body[GG_BODY_SPIN + 2] = body[GG_BODY_SPIN + 2] + factor * torque.z;
}

/* adds to W bodies what an impulse changes; side: 1 or -1; twist: n x P, by which friction turns both sides the same
 * way */
GG_FN void GG_LANE_NAME(push)(gg_lane *body, GG_LANE_NAME(vec) p, GG_LANE_NAME(vec) twist, gg_lane side, int spin) {
    gg_lane mass = body[GG_BODY_INVERSE_MASS], factor = side * mass;
    body[0] = body[0] + factor * p.x;
    body[1] = body[1] + factor * p.y;
    body[2] = body[2] + factor * p.z;
    if (spin) {
        factor = lane_splat(-GG_SPIN_FACTOR) * mass;
        body[GG_BODY_SPIN] = body[GG_BODY_SPIN] + factor * twist.x;
        body[GG_BODY_SPIN + 1] = body[GG_BODY_SPIN + 1] + factor * twist.y;
        body[GG_BODY_SPIN + 2] = body[GG_BODY_SPIN + 2] + factor * twist.z;
    }
}

/* adds to W bodies what their contacts start with; side: 1 the owners, -1 the others */
GG_FN void GG_LANE_NAME(start_side)(const gg_params *p, gg_lane *body, float side, GG_LANE_NAME(vec) impulse,
                                    GG_LANE_NAME(vec) twist, GG_LANE_NAME(vec) torque) {
    GG_LANE_NAME(push)(body, impulse, twist, lane_splat(side), p->spin);
    if (p->rolling) {
        GG_LANE_NAME(turn)(body, torque, lane_splat(side));
    }
}

/* the same where they lie */
GG_FN void GG_LANE_NAME(start_bodies)(const gg_view *v, int64_t e, const int32_t *index, int count, float side,
                                      GG_LANE_NAME(vec) impulse, GG_LANE_NAME(vec) twist, GG_LANE_NAME(vec) torque) {
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    gg_lane body[GG_BODY];
    lane_bodies(bodies, index, body);
    GG_LANE_NAME(start_side)(&v->params, body, side, impulse, twist, torque);
    lane_bodies_scatter(bodies, index, count, body);
}

/* moves one side of W contacts by `push` times its inverse mass */
GG_FN void GG_LANE_NAME(shift_side)(gg_lane shift[4], gg_lane inverse_mass, GG_LANE_NAME(vec) push) {
    shift[0] = shift[0] + inverse_mass * push.x;
    shift[1] = shift[1] + inverse_mass * push.y;
    shift[2] = shift[2] + inverse_mass * push.z;
}

/* the same where they lie; bodies beyond `last` stay */
GG_FN void GG_LANE_NAME(shift_slots)(const gg_view *v, int64_t e, const int32_t *index, int count, int32_t last,
                                     const gg_lane *shift, gg_lane inverse_mass, GG_LANE_NAME(vec) push) {
    gg_lane moved[4] = {shift[0], shift[1], shift[2], shift[3]};
    GG_LANE_NAME(shift_side)(moved, inverse_mass, push);
    lane_points_scatter(v->shift + e * v->dims.slots, index, count, last, moved);
}

/* restitution, attraction and twisting friction of W contacts that may attract */
GG_FN void GG_LANE_NAME(load_cohesion)(const gg_view *v, const gg_pair *pairs, const int32_t *pair, int same,
                                       int64_t at, gg_lane radius, GG_LANE_NAME(contact) * c) {
    lane_store(v->cohesion + at, GG_LANE_NAME(pair_value)(&pairs->cohesion, pair, same));
    lane_store(v->attraction_range + at, GG_LANE_NAME(pair_value)(&pairs->cohesion_range, pair, same));
    lane_store(v->twisting_friction + at, GG_LANE_NAME(pair_value)(&pairs->twisting_friction, pair, same));
    c->restitution = GG_LANE_NAME(cohesive_restitution)(v, at, radius, c);
}

/* What dynamic tools change of W contacts: each meets a share of its tool's mass, in any direction, and is relaxed
 * unless it is the only one of both sides. Notes where impulses are kept. Returns a bit for each dynamic tool. */
GG_FN uint32_t GG_LANE_NAME(meet_dynamic)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at,
                                          gg_lane own_mass, GG_LANE_NAME(other) * other, GG_LANE_NAME(contact) * c) {
    uint32_t dynamic = GG_LANE_NAME(load_dynamic)(v, e, at->contact, other) & ((1u << at->count) - 1u);
    c->split = c->split + other->count_over_mass;
    gg_lane larger = lane_max(other->body[GG_BODY_INVERSE_MASS], other->count_over_mass);
    c->mass = lane_div(lane_splat(1.0f), own_mass + larger);
    for (uint32_t bits = dynamic; bits; bits &= bits - 1) {
        int k = gg_bit_lowest(bits);
        int64_t record = at->contact + k - e * v->dims.contact_rows * GG_LANES;
        gg_tool_contact_placed(v, e, at->other[k] - v->dims.free_bodies, record);
    }
    return dynamic;
}

/* The stored impulses that W contacts start from: all of them but where grains are squeezed without end, between tools
 * say, and their impulses grow from substep to substep. See GG_STORED_RADII. smaller: radius */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(bearable)(const gg_params *p, const gg_env *env, GG_LANE_NAME(vec) stored,
                                               gg_lane own_mass, gg_lane other_mass, gg_lane tool, gg_lane smaller) {
    gg_lane inverse = lane_less(lane_splat(0.0f), tool, own_mass, lane_min(own_mass, other_mass));
    gg_lane weights = lane_splat(GG_STORED_WEIGHTS * p->dt * gg_norm(env->gravity));
    gg_lane speed = lane_max(lane_splat(GG_STORED_RADII / p->dt) * smaller, weights);
    /* none is near its bound, as a rule: no need to divide */
    gg_lane stored2 = lane_max(GG_LANE_NAME(dot)(stored, stored), lane_splat(1e-30f));
    gg_lane near = lane_less(lane_splat(4.0f) * ((stored2 * inverse) * inverse), speed * speed, lane_splat(0.0f),
                             lane_splat(1.0f));
    if (!lane_less_bits(lane_splat(0.0f), near)) {
        return stored;
    }
    return GG_LANE_NAME(scale)(stored, GG_LANE_NAME(cone_scale)(stored, lane_div(speed, inverse)));
}

/* Notes the overlaps of W contacts, and finds the impulses that they start from; stored: the last ones; held: 1 on tools
 * that no clump carries; *load: their normal part, with what cohesion adds. */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(start_impulse)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at,
                                                    const GG_LANE_NAME(self) * self, const GG_LANE_NAME(other) * other,
                                                    const GG_LANE_NAME(contact) * c, GG_LANE_NAME(vec) stored,
                                                    gg_lane own_mass, gg_lane other_mass, gg_lane held, gg_lane *load) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    gg_lane zero = lane_splat(0.0f), live = lane_first(at->count);
    gg_lane smaller = lane_less(zero, other->tool, self->point[3], lane_min(self->point[3], other->point[3]));
    lane_store(v->overlap + at->contact, lane_div(zero - c->gap, smaller + smaller));
    for (int k = at->count; k < GG_LANE_WIDTH; k++) {
        v->overlap[at->contact + k] = 0.0f;
    }
    gg_lane attraction = p->cohesive ? GG_LANE_NAME(prepare_attraction)(v, at->cohesive, other->radius, c->gap) : zero;
    stored = GG_LANE_NAME(choose)(zero, live, GG_LANE_NAME(scale)(stored, self->warm_scale), GG_LANE_NAME(zero)());
    stored = GG_LANE_NAME(bearable)(p, env, stored, own_mass, other_mass, held, smaller);
    GG_LANE_NAME(vec) start = GG_LANE_NAME(warm_start)(stored, c->normal, c->friction, attraction, load);
    GG_LANE_NAME(store3)(GG_LANE_NAME(start_impulses)(v, e) + at->contact3, start);
    return start;
}

/* what W contacts start with: their impulses, and by how much times their inverse masses both sides move */
typedef struct GG_LANE_NAME(start) {
    GG_LANE_NAME(vec) normal, impulse, torque, push;
    gg_lane shift[4], other_shift[4]; /* of both sides, before */
    gg_lane own_mass, other_mass;     /* inverse masses */
    int32_t other_slot[GG_LANE_WIDTH];
} GG_LANE_NAME(start);

/* Prepares W contacts. No body and no other contact changes. stored, torque: their last impulses, and torque impulses
 * where they roll */
GG_FN GG_LANE_NAME(start) GG_LANE_NAME(prepare_contacts)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at,
                                                         GG_LANE_NAME(vec) stored, GG_LANE_NAME(vec) torque) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    const gg_pair *pairs = v->pair + e * v->dims.material_count * v->dims.material_count;
    const int32_t *pair = v->contact_pair + at->contact;
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), load;
    /* lanes beyond the last contact repeat it and must not act, so that what is kept of them does not depend on W either
     */
    gg_lane live = lane_first(at->count);
    int same = GG_LANE_NAME(one_pair)(pair);
    GG_LANE_NAME(self) self;
    GG_LANE_NAME(other) other;
    GG_LANE_NAME(contact) c;
    GG_LANE_NAME(start) start;
    GG_LANE_NAME(other_slots)(v, at, start.other_slot);
    GG_LANE_NAME(load_sides)(v, e, at, start.other_slot, &self, &other, &c);
    lane_points(v->shift + e * v->dims.slots, at->own, start.shift);
    lane_points(v->shift + e * v->dims.slots, start.other_slot, start.other_shift);
    gg_lane own_mass = self.body[GG_BODY_INVERSE_MASS], other_mass = other.body[GG_BODY_INVERSE_MASS];
    self.bounce_speed = lane_splat(env->bounce_speed);
    self.warm_scale = lane_splat(env->dt_last > 0.0f ? p->dt / env->dt_last : 0.0f);
    c.gap = GG_LANE_NAME(geometry)(p, &self, &other, c.gap, &c.normal);
    c.rel = GG_LANE_NAME(sub)(GG_LANE_NAME(columns)(self.body, 0), GG_LANE_NAME(columns)(other.body, 0));
    c.approach = GG_LANE_NAME(dot)(c.rel, c.normal);
    c.restitution = GG_LANE_NAME(pair_value)(&pairs->restitution, pair, same);
    c.friction = GG_LANE_NAME(pair_value)(&pairs->friction, pair, same);
    c.single = own_mass + other_mass;
    c.split = start.shift[3] + lane_less(zero, other.tool, zero, start.other_shift[3]);
    c.mass = lane_div(one, c.single);
    uint32_t dynamic = 0;
    if (p->dynamic && lane_less_bits(zero, other.tool)) {
        dynamic = GG_LANE_NAME(meet_dynamic)(v, e, at, own_mass, &other, &c);
        self.bounce_speed = lane_max(self.bounce_speed, other.bounce_speed);
    }
    gg_lane correction = GG_LANE_NAME(correction_of)(p, &c, own_mass, &other);
    GG_LANE_NAME(vec) push = GG_LANE_NAME(scale)(c.normal, correction);
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
    gg_lane hit = GG_LANE_NAME(lone_impacts)(p, &c, &other, self.bounce_speed);
    if (lane_less_bits(zero, hit)) {
        GG_LANE_NAME(setback) back = GG_LANE_NAME(impact)(p, env->gravity, hit, self.body, &other, self.point[3], &c);
        GG_LANE_NAME(vec) set_back = push;
        GG_LANE_NAME(add_scaled)(&set_back, back.impulse, zero - back.tau);
        push = GG_LANE_NAME(choose)(zero, back.keep, set_back, push);
    }
    GG_LANE_NAME(store3)(v->normal + at->contact3, c.normal);
    /* a contact that is the only one of both sides is solved at once */
    float relaxation = env->uneven ? gg_minf(p->relaxation, 1.0f) : p->relaxation;
    gg_lane mass = lane_less(c.single, c.split, lane_splat(relaxation) * c.mass, c.mass);
    lane_store(v->effective_mass + at->contact, live * mass);
    lane_store(v->bias + at->contact, c.bias);
    lane_store(v->friction + at->contact, c.friction);
    start.impulse =
        GG_LANE_NAME(start_impulse)(v, e, at, &self, &other, &c, stored, own_mass, other_mass, other.tool, &load);
    start.torque = GG_LANE_NAME(zero)();
    if (p->rolling) {
        gg_lane friction = GG_LANE_NAME(pair_value)(&pairs->rolling_friction, pair, same);
        start.torque = GG_LANE_NAME(start_rolling)(v, e, at, torque, &self, &other, load, friction, c.normal);
    }
    start.normal = c.normal;
    start.push = push;
    start.own_mass = own_mass;
    start.other_mass = other_mass;
    return start;
}

/* prepares W contacts of one colour, and adds to their bodies what they start with */
GG_FN void GG_LANE_NAME(prepare_records)(const gg_view *v, int64_t e, const GG_LANE_NAME(records) * at) {
    GG_LANE_NAME(vec) torque = v->params.rolling ? GG_LANE_NAME(last_torque)(v, e, at) : GG_LANE_NAME(zero)();
    GG_LANE_NAME(start)
    s = GG_LANE_NAME(prepare_contacts)(v, e, at, GG_LANE_NAME(last_impulse)(v, e, at), torque);
    GG_LANE_NAME(vec) twist = GG_LANE_NAME(cross)(s.normal, s.impulse);
    GG_LANE_NAME(start_bodies)(v, e, at->own, at->count, 1.0f, s.impulse, twist, s.torque);
    GG_LANE_NAME(start_bodies)(v, e, at->other, at->count, -1.0f, s.impulse, twist, s.torque);
    GG_LANE_NAME(shift_slots)(v, e, at->own, at->count, INT32_MAX, s.shift, s.own_mass, s.push);
    int32_t last_grain = (int32_t)v->dims.free_bodies - 1; /* tools stay */
    GG_LANE_NAME(shift_slots)
    (v, e, at->other, at->count, last_grain, s.other_shift, lane_splat(0.0f) - s.other_mass, s.push);
}

/* item: share of the contacts of a colour of an env */
GG_FN void GG_LANE_NAME(prepare_share)(const gg_view *v, int64_t e, int64_t share, int32_t colour) {
    GG_LANE_NAME(row_share) rows = GG_LANE_NAME(rows_of)(v, e, share, colour);
    for (int64_t record = rows.begin; record < rows.end; record += GG_LANE_WIDTH) {
        GG_LANE_NAME(records) at = GG_LANE_NAME(records_at)(v, e, record, rows.last);
        GG_LANE_NAME(prepare_records)(v, e, &at);
    }
}
