/* prepare.h: prepares the listed contacts of planar grains for the solve, for one lane or a vector of lanes: see
 * lane_phases.h.
 *
 * Input from contacts.h, per contact: other_body, friction, restitution (-1: no contact), gap, normal, arms, and the
 * stored impulses (normal, tangential). See planar.h for the law.
 */

/* indices of one contact of W grains in the arrays */
typedef struct GG_LANE_NAME(planar_at) {
    int64_t contact, contact3, geometry;
} GG_LANE_NAME(planar_at);

GG_FN GG_LANE_NAME(planar_at) GG_LANE_NAME(planar_contacts_of)(const gg_view *v, int64_t e, int64_t row, int64_t lane) {
    GG_LANE_NAME(planar_at) at;
    at.contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    at.contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    at.geometry = (e * v->dims.planar.rows + row) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
    return at;
}

GG_FN void GG_LANE_NAME(planar_next_contact)(GG_LANE_NAME(planar_at) * at) {
    at->contact += GG_LANES;
    at->contact3 += 3 * GG_LANES;
    at->geometry += GG_PLANAR_GEOMETRY * GG_LANES;
}

/* the geometry of W contacts and the motion of both sides */
typedef struct GG_LANE_NAME(planar_contact) {
    gg_lane nx, ny, cn, ct, other_cn, other_ct;
    gg_lane own[GG_BODY], other[GG_BODY];
} GG_LANE_NAME(planar_contact);

/* velocity at which W pairs of surfaces part along the normal; the sum has the same bits on both sides */
GG_FN gg_lane GG_LANE_NAME(planar_normal_velocity)(const GG_LANE_NAME(planar_contact) * r) {
    gg_lane along = r->nx * (r->own[0] - r->other[0]) + r->ny * (r->own[1] - r->other[1]);
    return along + (r->cn * r->own[GG_BODY_PLANAR_SPIN] - r->other_cn * r->other[GG_BODY_PLANAR_SPIN]);
}

/* and slide along the tangent (-ny, nx) */
GG_FN gg_lane GG_LANE_NAME(planar_tangent_velocity)(const GG_LANE_NAME(planar_contact) * r) {
    gg_lane along = r->nx * (r->own[1] - r->other[1]) - r->ny * (r->own[0] - r->other[0]);
    return along + (r->ct * r->own[GG_BODY_PLANAR_SPIN] - r->other_ct * r->other[GG_BODY_PLANAR_SPIN]);
}

GG_FN void GG_LANE_NAME(planar_load)(const gg_view *v, const GG_LANE_NAME(planar_at) * at, const float *bodies,
                                     GG_LANE_NAME(planar_contact) * r) {
    lane_bodies(bodies, v->other_body + at->contact, r->other);
    r->nx = lane_load(v->normal + at->contact3);
    r->ny = lane_load(v->normal + at->contact3 + GG_LANES);
    r->cn = lane_load(v->planar_geometry + at->geometry);
    r->ct = lane_load(v->planar_geometry + at->geometry + GG_LANES);
    r->other_cn = lane_load(v->planar_geometry + at->geometry + 2 * GG_LANES);
    r->other_ct = lane_load(v->planar_geometry + at->geometry + 3 * GG_LANES);
}

/* relaxed effective mass along one direction with arms c and c' */
GG_FN gg_lane GG_LANE_NAME(planar_mass)(const GG_LANE_NAME(planar_contact) * r, gg_lane c, gg_lane other_c,
                                        gg_lane count, gg_lane other_count, gg_lane relaxation, gg_lane sum) {
    gg_lane own = r->own[GG_BODY_INVERSE_MASS] + r->own[GG_BODY_INVERSE_INERTIA] * (c * c),
            other = r->other[GG_BODY_INVERSE_MASS] + r->other[GG_BODY_INVERSE_INERTIA] * (other_c * other_c);
    return lane_min(lane_div(relaxation, own + other), lane_div(sum, count * own + other_count * other));
}

/* adds an impulse (p_n, p_t) to the sum of this side: x, y, and angular impulse over the circumradius */
GG_FN void GG_LANE_NAME(planar_apply)(const GG_LANE_NAME(planar_contact) * c, gg_lane p_n, gg_lane p_t,
                                      GG_LANE_NAME(vec) * sum) {
    sum->x = sum->x + (c->nx * p_n - c->ny * p_t);
    sum->y = sum->y + (c->ny * p_n + c->nx * p_t);
    sum->z = sum->z + (c->cn * p_n + c->ct * p_t);
}

/* the W grains themselves: each is one slot and one body */
typedef struct GG_LANE_NAME(planar_self) {
    gg_lane point[4], count;
    gg_lane bounce_speed, warm_scale;
} GG_LANE_NAME(planar_self);

/* Position correction of this side: a pseudo-impulse along the normal that removes a fraction of the overlap. Against a
 * tool or a fixed grain this side takes all of it. */
GG_FN gg_lane GG_LANE_NAME(planar_correction)(const gg_params *p, const GG_LANE_NAME(planar_contact) * c, gg_lane count,
                                              gg_lane other_count, gg_lane live, gg_lane gap) {
    gg_lane zero = lane_splat(0.0f), own = c->own[GG_BODY_INVERSE_MASS], other = c->other[GG_BODY_INVERSE_MASS];
    gg_lane mass = GG_LANE_NAME(planar_mass)(c, c->cn, c->other_cn, count, other_count, lane_splat(1.0f),
                                             lane_splat(GG_PLANAR_SHIFT_SUM));
    gg_lane share = lane_less(zero, other, lane_splat(p->alpha), lane_splat(p->tool_alpha));
    gg_lane inverse = own + c->own[GG_BODY_INVERSE_INERTIA] * (c->cn * c->cn) + other +
                      c->other[GG_BODY_INVERSE_INERTIA] * (c->other_cn * c->other_cn);
    gg_lane depth = share * (lane_splat(-p->slack) - gap);
    depth = lane_max(lane_min(mass * depth, lane_div(lane_splat(p->correction_max), inverse)), zero);
    return lane_less(live, zero, zero, depth);
}

/* prepares one contact of W grains, and adds its effects to their sums */
GG_FN void GG_LANE_NAME(planar_prepare_contact)(const gg_view *v, int64_t e, int64_t slot,
                                                const GG_LANE_NAME(planar_at) * at,
                                                const GG_LANE_NAME(planar_self) * self,
                                                GG_LANE_NAME(planar_contact) * c, GG_LANE_NAME(sums) * sums) {
    const gg_params *p = &v->params;
    int32_t index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        int32_t body = v->other_body[at->contact + k];
        index[k] = gg_is_tool(v, body) ? (int32_t)(slot + k) : body;
    }
    gg_lane zero = lane_splat(0.0f), other_point[4];
    GG_LANE_NAME(planar_load)(v, at, v->body_a + e * v->dims.bodies * GG_BODY, c);
    lane_points(v->position + e * v->dims.slots, index, other_point);
    /* where the other side is a tool or fixed its count has no effect: its inverse mass is 0 */
    gg_lane count = self->count, other_count = lane_gather(v->count_over_mass + e * v->dims.slots, index);
    gg_lane live = lane_load(v->restitution + at->contact);
    gg_lane gap = lane_less(live, zero, zero, lane_load(v->gap + at->contact));
    gg_lane relaxation = lane_splat(p->relaxation), bound = lane_splat(p->relaxation_sum);
    gg_lane mass = GG_LANE_NAME(planar_mass)(c, c->cn, c->other_cn, count, other_count, relaxation, bound);
    gg_lane tangent_mass = GG_LANE_NAME(planar_mass)(c, c->ct, c->other_ct, count, other_count, relaxation, bound);
    lane_store(v->effective_mass + at->contact, lane_less(live, zero, zero, mass));
    lane_store(v->planar_geometry + at->geometry + 4 * GG_LANES, lane_less(live, zero, zero, tangent_mass));
    gg_lane approach = GG_LANE_NAME(planar_normal_velocity)(c);
    lane_store(v->bias + at->contact, GG_LANE_NAME(bias)(p, self->bounce_speed, gap, approach, live));
    gg_lane depth = GG_LANE_NAME(planar_correction)(p, c, count, other_count, live, gap);
    sums->correction.x = sums->correction.x + c->nx * depth;
    sums->correction.y = sums->correction.y + c->ny * depth;
    sums->correction.z = sums->correction.z + c->cn * depth;
    /* warm start: the stored impulse, its tangential part back inside the cone */
    float *impulses = (v->env[e].impulse_buffer ? v->impulse_a : v->impulse_b) + at->contact3;
    gg_lane p_n = lane_max(self->warm_scale * lane_load(impulses), zero);
    gg_lane limit = lane_load(v->friction + at->contact) * p_n;
    gg_lane p_t = self->warm_scale * lane_load(impulses + GG_LANES);
    p_t = lane_max(lane_min(p_t, limit), zero - limit);
    lane_store(impulses, p_n);
    lane_store(impulses + GG_LANES, p_t);
    GG_LANE_NAME(planar_apply)(c, p_n, p_t, &sums->dv);
    gg_lane own_radius = self->point[3], other_mass = c->other[GG_BODY_INVERSE_MASS];
    gg_lane smaller = lane_less(zero, other_mass, lane_min(own_radius, other_point[3]), own_radius);
    GG_LANE_NAME(note_overlap)(smaller, gap, sums);
}

/* velocities before contact and after the warm start, and the position correction */
GG_FN void GG_LANE_NAME(planar_prepare_end)(const gg_view *v, int64_t e, int64_t slot, gg_lane *own,
                                            const GG_LANE_NAME(sums) * sums) {
    int64_t lane = slot % GG_LANES, first = e * v->dims.slots + slot - lane;
    gg_lane change[3] = {own[GG_BODY_INVERSE_MASS] * sums->dv.x, own[GG_BODY_INVERSE_MASS] * sums->dv.y,
                         own[GG_BODY_INVERSE_INERTIA] * sums->dv.z};
    GG_LANE_NAME(store3)(v->correction + first * 3 + lane, sums->correction);
    for (int k = 0; k < 3; k++) {
        int column = k < 2 ? k : GG_BODY_PLANAR_SPIN;
        lane_store(v->start_velocity + first * 6 + lane + k * GG_LANES, own[column]);
        own[column] = own[column] + change[k];
        lane_store(v->velocity + first * 6 + lane + k * GG_LANES, own[column]);
    }
    lane_bodies_store(v->body_b + e * v->dims.bodies * GG_BODY, slot, own);
}

/* the contacts of the W grains from slot `slot` on; returns, by grain, the deepest overlap, the sum and the number */
GG_FN void GG_LANE_NAME(planar_prepare_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_overlaps *each) {
    const gg_env *env = &v->env[e];
    int64_t base = e * v->dims.slots, slice = e * v->dims.slices + slot / GG_LANES;
    int32_t own[GG_LANE_WIDTH], row_count = v->slice_rows[slice];
    GG_LANE_NAME(planar_self) self;
    GG_LANE_NAME(planar_contact) c;
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    lane_points(v->position + base, own, self.point);
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, own, c.own);
    self.count = lane_load(v->count_over_mass + base + slot);
    self.bounce_speed = lane_splat(env->bounce_speed);
    self.warm_scale = lane_splat(env->dt_last > 0.0f ? v->params.dt / env->dt_last : 0.0f);
    GG_LANE_NAME(sums) sums = GG_LANE_NAME(no_sums)();
    GG_LANE_NAME(planar_at) at = GG_LANE_NAME(planar_contacts_of)(v, e, v->slice_first_row[slice], slot % GG_LANES);
    for (int32_t k = 0; k < row_count; k++) {
        GG_LANE_NAME(planar_prepare_contact)(v, e, slot, &at, &self, &c, &sums);
        GG_LANE_NAME(planar_next_contact)(&at);
    }
    GG_LANE_NAME(planar_prepare_end)(v, e, slot, c.own, &sums);
    GG_LANE_NAME(store_overlaps)(&sums, each);
}

/* all contacts of one slice of env e */
GG_FN void GG_LANE_NAME(planar_prepare_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_overlaps each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(planar_prepare_lanes)(v, e, slice * GG_LANES + lane, each + lane);
    }
    gg_contacts_prepared(v, e, slice, each);
}
