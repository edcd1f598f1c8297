/* ncp_prepare.h: turns the listed contacts of a slice into what the solve reads, once for one lane or for a register of lanes.
 *
 * Listing (ncp_contacts.h) has left, per contact: other_body; the stored impulses of the last substep, as they were; in
 * `friction`, `weight` and `roll_limit` the pair's friction, restitution and rolling friction (weight -1: an empty place);
 * in `pull`, `attraction_range` and `twist_limit`, where there are any, its cohesion, range and twisting friction;
 * for tools the normal and, in `bias`, the gap; for grains in normal.z the side to take should both centres coincide.
 * Here all of it becomes normal, bias, weights and re-projected impulses, and the grain's velocity after the warm start.
 * See ncp_iterate.h for the GG_LANE_* and lane_* operations; also needed here:
 *   lane_less(a, b, x, y)                       a < b ? x : y, lane by lane
 *   lane_points(const gg_vec4 *, const int32_t *index, gg_lane out[4])   gathers W points
 *   lane_gather(const float *, const int32_t *index)
 */

/* what the contacts of W grains do to them before the first iteration */
typedef struct GG_LANE_NAME(sums) {
    GG_LANE_NAME(vec) dv, du, correction;
    gg_lane overlap_max, overlap_sum, overlap_count;
} GG_LANE_NAME(sums);

/* the W grains themselves */
typedef struct GG_LANE_NAME(self) {
    gg_lane point[4], row[GG_BODY], count_over_mass;
    gg_lane bounce_speed, warm_scale;
} GG_LANE_NAME(self);

/* gap and normal of W contacts: of grains from their places, of tools as listed */
GG_FN gg_lane GG_LANE_NAME(geometry)(const gg_view *v, const GG_LANE_NAME(self) * self, const gg_lane *other,
                                     gg_lane tool_gap, gg_lane other_mass, GG_LANE_NAME(vec) * normal) {
    const gg_params *p = &v->params;
    gg_lane zero = lane_splat(0.0f);
    GG_LANE_NAME(vec) d;
    d.x = GG_LANE_NAME(nearest_image)(p, 0, self->point[0] - other[0], p->lower.x, p->upper.x);
    d.y = GG_LANE_NAME(nearest_image)(p, 1, self->point[1] - other[1], p->lower.y, p->upper.y);
    d.z = GG_LANE_NAME(nearest_image)(p, 2, self->point[2] - other[2], p->lower.z, p->upper.z);
    gg_lane distance = lane_sqrt(GG_LANE_NAME(dot)(d, d)), tiny = lane_splat(1e-12f);
    gg_lane inverse = lane_div(lane_splat(1.0f), lane_max(distance, tiny));
    gg_lane gap = distance - (self->point[3] + other[3]);
    /* listed normals stand for tools and for coincident centres */
    d.x = lane_less(tiny, distance, inverse * d.x, zero);
    d.y = lane_less(tiny, distance, inverse * d.y, zero);
    d.z = lane_less(tiny, distance, inverse * d.z, normal->z);
    normal->x = lane_less(zero, other_mass, d.x, normal->x);
    normal->y = lane_less(zero, other_mass, d.y, normal->y);
    normal->z = lane_less(zero, other_mass, d.z, normal->z);
    return lane_less(zero, other_mass, gap, tool_gap);
}

/* Normal velocity that W contacts ask for: no faster approach than the gap allows, and a bounce. Overlap is not pushed out
 * by velocity (see shift below), but for the printed algorithm, which does (Baumgarte). */
GG_FN gg_lane GG_LANE_NAME(bias)(const gg_params *p, gg_lane bounce_speed, gg_lane gap, gg_lane approach,
                                 gg_lane restitution) {
    gg_lane zero = lane_splat(0.0f), dt = lane_splat(p->dt), out = zero;
    if (p->mode == GG_MODE_PAPER) {
        out = lane_min(lane_div(lane_splat(p->alpha) * (zero - gap), dt), lane_splat(p->correction_max / p->dt));
    }
    /* gaps that are but rounded positions are no gaps: grains at rest would close them at ulp / dt, again and again */
    gg_lane slack = lane_splat(p->slack);
    gg_lane bias = lane_less(gap, slack, out, lane_div(slack - gap, dt));
    /* bounce only what is fast enough to be an impact and reaches the other side within this substep */
    gg_lane bounce = lane_max(bias, zero - restitution * approach);
    bounce = lane_less(gap + dt * approach, zero, bounce, bias);
    return lane_less(approach, zero - bounce_speed, bounce, bias);
}

#include "impact.h"

/* How far overlap moves this side along the normal within the substep [m]: a share alpha of it, split between the sides by
 * mass and between the contacts of a grain like impulses, but always at a sum of GG_SHIFT_SUM: positions are moved in one
 * plain sweep per substep, whatever the solve of velocities does. They are moved apart from velocities because a bias
 * velocity would be remembered by the warm start and make deep beds bounce for ever, since it acts as an integrator with
 * a gain that must stay below the share of the slowest mode that one substep's iterations solve. */
GG_FN gg_lane GG_LANE_NAME(shift)(const gg_params *p, const GG_LANE_NAME(contact) * c, gg_lane live, gg_lane effective,
                                  gg_lane mass, gg_lane other_mass) {
    gg_lane zero = lane_splat(0.0f);
    if (p->mode == GG_MODE_PAPER) {
        return zero;
    }
    gg_lane weight = lane_min(effective, lane_div(lane_splat(GG_SHIFT_SUM), c->split));
    gg_lane share = lane_less(zero, other_mass, lane_splat(p->alpha) * weight * mass, lane_splat(p->tool_alpha));
    share = lane_less(live, zero, zero, share);
    return lane_max(lane_min(share * (lane_splat(-p->slack) - c->gap), lane_splat(p->correction_max)), zero);
}

/* effective radius of W contacts [m]: r r' / (r + r'), r at a tool. An empty place of an empty slot has none, and 0/0 must
 * not get further than here */
GG_FN gg_lane GG_LANE_NAME(effective_radius)(const GG_LANE_NAME(self) * self, gg_lane live, gg_lane other_radius,
                                             gg_lane other_mass) {
    gg_lane zero = lane_splat(0.0f);
    gg_lane reduced = lane_div(self->point[3] * other_radius, self->point[3] + other_radius);
    reduced = lane_less(zero, other_mass, reduced, self->point[3]);
    return lane_less(live, zero, zero, reduced);
}

/* Largest attraction of W contacts over this substep [N s]: full where surfaces touch, falling to none at the range; and
 * how far they resist twisting [m]. */
GG_FN gg_lane GG_LANE_NAME(pull)(const gg_view *v, int64_t cohesive_at, gg_lane reduced, gg_lane gap) {
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), range = lane_load(v->attraction_range + cohesive_at);
    gg_lane far = lane_div(lane_max(gap, zero), lane_max(range, lane_splat(1e-30f)));
    gg_lane force = lane_load(v->cohesion + cohesive_at) * reduced * (one - lane_min(far, one));
    gg_lane pull = force * lane_splat(v->params.dt);
    lane_store(v->attraction + cohesive_at, pull);
    lane_store(v->twist_limit + cohesive_at, lane_load(v->twisting_friction + cohesive_at) * reduced);
    return pull;
}

/* Restitution of W contacts that attract each other. Grains that would leave the range within a substep or few are never held
 * back on their way out: they pay at once for the attraction they came in by, c R_eff range / 2, so that bounces of moist
 * grains gain no energy however coarse the substep. */
GG_FN gg_lane GG_LANE_NAME(moist_restitution)(const gg_view *v, int64_t cohesive_at, gg_lane reduced, gg_lane single,
                                              gg_lane approach, gg_lane restitution) {
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), range = lane_load(v->attraction_range + cohesive_at);
    gg_lane away = zero - restitution * approach, way = lane_splat(4.0f * v->params.dt) * away;
    gg_lane due = lane_load(v->cohesion + cohesive_at) * reduced * range * single;
    gg_lane left = lane_max(one - lane_div(due, lane_max(away * away, lane_splat(1e-30f))), zero);
    gg_lane bound = lane_less(range, way, restitution * lane_sqrt(left), restitution);
    return lane_less(zero, due, bound, restitution);
}

/* the rolling part of W contacts; returns the torque impulse that is kept */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(roll)(const gg_view *v, const GG_LANE_NAME(self) * self, int64_t roll, int64_t roll3,
                       int64_t cohesive_at, float *torques, gg_lane live, gg_lane bearing, gg_lane reduced,
                       GG_LANE_NAME(vec) normal, const gg_lane *row, gg_lane crowd) {
    const gg_params *p = &v->params;
    gg_lane zero = lane_splat(0.0f);
    gg_lane limit = lane_load(v->rolling_friction + roll) * reduced;
    gg_lane factor =
        lane_splat(GG_SPIN_FACTOR) * (self->row[GG_BODY_INVERSE_RADIUS] * self->row[GG_BODY_INVERSE_RADIUS]);
    gg_lane other_factor = lane_splat(GG_SPIN_FACTOR) * (row[GG_BODY_INVERSE_RADIUS] * row[GG_BODY_INVERSE_RADIUS]);
    gg_lane single = factor * self->row[GG_BODY_INVERSE_MASS] + other_factor * row[GG_BODY_INVERSE_MASS];
    gg_lane own_split = factor * self->count_over_mass, other_split = other_factor * crowd;
    gg_lane split = lane_max(own_split + other_split, lane_splat(2.0f) * lane_max(own_split, other_split));
    gg_lane weight =
        lane_min(lane_div(lane_splat(p->roll_relaxation), single), lane_div(lane_splat(p->roll_relaxation_sum), split));
    GG_LANE_NAME(vec) t = GG_LANE_NAME(load3)(torques + roll3);
    t.x = self->warm_scale * t.x;
    t.y = self->warm_scale * t.y;
    t.z = self->warm_scale * t.z;
    if (p->cohesive) {
        t = GG_LANE_NAME(torque_bounds)(t, normal, limit * bearing, lane_load(v->twist_limit + cohesive_at) * bearing);
    } else {
        gg_lane scale = GG_LANE_NAME(cone_scale)(t, limit * bearing);
        t.x = scale * t.x;
        t.y = scale * t.y;
        t.z = scale * t.z;
    }
    lane_store(v->roll_limit + roll, limit);
    lane_store(v->roll_weight + roll, lane_less(live, zero, zero, weight));
    GG_LANE_NAME(store3)(torques + roll3, t);
    return t;
}

/* contact k of W grains */
GG_FN void GG_LANE_NAME(prepare_row)(const gg_view *v, int64_t e, int64_t row_at, int64_t slot, const int32_t *own,
                                     const GG_LANE_NAME(self) * self, GG_LANE_NAME(sums) * sums) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    int64_t lane = slot % GG_LANES, base = e * v->dims.slots;
    int64_t contact = (e * v->dims.contact_rows + row_at) * GG_LANES + lane;
    int64_t contact3 = (e * v->dims.contact_rows + row_at) * GG_LANES * 3 + lane;
    float *impulses = env->impulse_buffer ? v->impulse_a : v->impulse_b;
    float *torques = env->impulse_buffer ? v->roll_a : v->roll_b;
    /* rows of tools lie behind those of grains and have no place of their own */
    int32_t index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        int32_t other = v->other_body[contact + k];
        index[k] = other < v->dims.slots ? other : own[k];
    }
    gg_lane zero = lane_splat(0.0f), point[4], row[GG_BODY];
    lane_points(v->position + base, index, point);
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, v->other_body + contact, row);
    gg_lane crowd = lane_less(zero, row[GG_BODY_INVERSE_MASS], lane_gather(v->count_over_mass + base, index), zero);
    gg_lane restitution = lane_load(v->restitution + contact), live = restitution;
    GG_LANE_NAME(vec) normal = GG_LANE_NAME(load3)(v->normal + contact3);
    gg_lane gap =
        GG_LANE_NAME(geometry)(v, self, point, lane_load(v->gap + contact), row[GG_BODY_INVERSE_MASS], &normal);
    normal.x = lane_less(live, zero, zero, normal.x);
    normal.y = lane_less(live, zero, zero, normal.y);
    normal.z = lane_less(live, zero, zero, normal.z);
    gap = lane_less(live, zero, zero, gap);
    GG_LANE_NAME(vec) rel;
    rel.x = self->row[0] - row[0];
    rel.y = self->row[1] - row[1];
    rel.z = self->row[2] - row[2];
    GG_LANE_NAME(contact) c;
    c.normal = normal;
    c.rel = rel;
    c.gap = gap;
    c.approach = GG_LANE_NAME(dot)(rel, normal);
    c.restitution = restitution;
    c.friction = lane_load(v->friction + contact);
    /* the relaxed effective mass, see ncp.h */
    c.single = self->row[GG_BODY_INVERSE_MASS] + row[GG_BODY_INVERSE_MASS];
    c.split = self->count_over_mass + crowd;
    gg_lane effective = lane_div(lane_splat(1.0f), c.single);
    gg_lane bound = lane_max(c.split, lane_splat(p->mass_ratio_factor) * lane_max(self->count_over_mass, crowd));
    gg_lane weight = lane_min(lane_splat(p->relaxation) * effective, lane_div(lane_splat(p->relaxation_sum), bound));
    weight = lane_less(live, zero, zero, weight);
    GG_LANE_NAME(add_scaled)
    (&sums->correction, normal,
     GG_LANE_NAME(shift)(p, &c, live, effective, self->row[GG_BODY_INVERSE_MASS], row[GG_BODY_INVERSE_MASS]));
    int64_t cohesive_at = (e * v->dims.cohesive_rows + row_at) * GG_LANES + lane;
    gg_lane reduced = p->rolling || p->cohesive
                          ? GG_LANE_NAME(effective_radius)(self, live, point[3], row[GG_BODY_INVERSE_MASS])
                          : zero;
    if (p->cohesive) {
        c.restitution = GG_LANE_NAME(moist_restitution)(v, cohesive_at, reduced, c.single, c.approach, restitution);
    }
    c.bias = GG_LANE_NAME(bias)(p, self->bounce_speed, gap, c.approach, c.restitution);
    if (p->mode == GG_MODE_CONVERGENT) {
        /* nothing disturbs a contact that is the only one of both sides: it is solved at once */
        weight = lane_less(c.single, c.split, weight, lane_less(live, zero, zero, effective));
        gg_lane hit = GG_LANE_NAME(lone_impacts)(p, &c, self->bounce_speed);
        if (lane_less_bits(zero, hit)) {
            GG_LANE_NAME(impact)
            (p, env->gravity, hit, self->row, row, self->point[3] + point[3], &c, &sums->correction);
            normal = c.normal;
        }
    }
    GG_LANE_NAME(store3)(v->normal + contact3, normal);
    lane_store(v->effective_mass + contact, weight);
    lane_store(v->bias + contact, c.bias);
    /* warm start: the stored impulse on the new normal, its tangential part back inside the cone */
    GG_LANE_NAME(vec) start = GG_LANE_NAME(load3)(impulses + contact3);
    start.x = self->warm_scale * start.x;
    start.y = self->warm_scale * start.y;
    start.z = self->warm_scale * start.z;
    gg_lane pull = p->cohesive ? GG_LANE_NAME(pull)(v, cohesive_at, reduced, gap) : zero;
    gg_lane along = GG_LANE_NAME(dot)(start, normal), pressing = lane_max(along, zero - pull);
    gg_lane bearing = pressing + pull;
    GG_LANE_NAME(add_scaled)(&start, normal, zero - along);
    gg_lane scale = GG_LANE_NAME(cone_scale)(start, lane_load(v->friction + contact) * bearing);
    start.x = scale * start.x + pressing * normal.x;
    start.y = scale * start.y + pressing * normal.y;
    start.z = scale * start.z + pressing * normal.z;
    GG_LANE_NAME(store3)(impulses + contact3, start);
    GG_LANE_NAME(add_scaled)(&sums->dv, start, lane_splat(1.0f));
    GG_LANE_NAME(add_scaled)(&sums->du, GG_LANE_NAME(cross)(normal, start), lane_splat(-1.0f));
    if (p->rolling) {
        int64_t roll = (e * v->dims.roll_rows + row_at) * GG_LANES + lane;
        int64_t roll3 = (e * v->dims.roll_rows + row_at) * GG_LANES * 3 + lane;
        GG_LANE_NAME(vec)
        t = GG_LANE_NAME(roll)(v, self, roll, roll3, cohesive_at, torques, live, bearing, reduced, normal, row, crowd);
        GG_LANE_NAME(add_scaled)(&sums->du, t, self->row[GG_BODY_INVERSE_RADIUS]);
    }
    /* overlap against the smaller diameter */
    gg_lane radius = lane_less(zero, row[GG_BODY_INVERSE_MASS], lane_min(self->point[3], point[3]), self->point[3]);
    gg_lane deep = lane_div(zero - gap, lane_max(radius + radius, lane_splat(1e-30f)));
    sums->overlap_max = lane_max(sums->overlap_max, lane_max(deep, zero));
    sums->overlap_sum = sums->overlap_sum + lane_less(gap, zero, deep, zero);
    sums->overlap_count = sums->overlap_count + lane_less(gap, zero, lane_splat(1.0f), zero);
}

/* velocities before contact and after the warm start, and the position correction */
GG_FN void GG_LANE_NAME(prepare_end)(const gg_view *v, int64_t e, int64_t slot, GG_LANE_NAME(self) * self,
                                     const GG_LANE_NAME(sums) * sums) {
    int64_t lane = slot % GG_LANES, first = e * v->dims.slots + slot - lane;
    int64_t state = first * 6 + lane;
    gg_lane mass = self->row[GG_BODY_INVERSE_MASS],
            spin_mass = lane_splat(v->params.spin ? GG_SPIN_FACTOR : 0.0f) * mass;
    gg_lane change[6] = {mass * sums->dv.x,      mass * sums->dv.y,      mass * sums->dv.z,
                         spin_mass * sums->du.x, spin_mass * sums->du.y, spin_mass * sums->du.z};
    GG_LANE_NAME(store3)(v->correction + first * 3 + lane, sums->correction);
    for (int k = 0; k < 6; k++) {
        lane_store(v->start_velocity + state + k * GG_LANES, self->row[k + k / 3]);
        self->row[k + k / 3] = self->row[k + k / 3] + change[k];
        lane_store(v->velocity + state + k * GG_LANES, self->row[k + k / 3]);
    }
    lane_bodies_store(v->body_b + e * v->dims.bodies * GG_BODY, slot, self->row);
}

/* Contacts of the W grains from slot `slot` on. Returns, by grain, the deepest overlap, the sum and the number of
 * overlaps. */
GG_FN void GG_LANE_NAME(prepare_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_overlaps *each) {
    const gg_env *env = &v->env[e];
    int64_t slice = slot / GG_LANES;
    int64_t first_row = v->slice_first_row[e * v->dims.slices + slice];
    int32_t row_count = v->slice_rows[e * v->dims.slices + slice];
    GG_LANE_NAME(self) self;
    GG_LANE_NAME(sums) sums;
    int32_t own[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    gg_lane zero = lane_splat(0.0f);
    sums.dv.x = sums.dv.y = sums.dv.z = sums.du.x = sums.du.y = sums.du.z = zero;
    sums.correction.x = sums.correction.y = sums.correction.z = zero;
    sums.overlap_max = sums.overlap_sum = sums.overlap_count = zero;
    lane_points(v->position + e * v->dims.slots, own, self.point);
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, own, self.row);
    self.count_over_mass = lane_load(v->count_over_mass + e * v->dims.slots + slot);
    self.bounce_speed = lane_splat(env->bounce_speed);
    self.warm_scale = lane_splat(env->dt_last > 0.0f ? v->params.dt / env->dt_last : 0.0f);
    for (int32_t k = 0; k < row_count; k++) {
        GG_LANE_NAME(prepare_row)(v, e, first_row + k, slot, own, &self, &sums);
    }
    GG_LANE_NAME(prepare_end)(v, e, slot, &self, &sums);
    float most[GG_LANE_WIDTH], sum[GG_LANE_WIDTH], count[GG_LANE_WIDTH];
    lane_store(most, sums.overlap_max);
    lane_store(sum, sums.overlap_sum);
    lane_store(count, sums.overlap_count);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        each[k].most = most[k];
        each[k].sum = sum[k];
        each[k].count = count[k];
    }
}

/* all contacts of one slice of env e */
GG_FN void GG_LANE_NAME(prepare_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_overlaps each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(prepare_lanes)(v, e, slice * GG_LANES + lane, each + lane);
    }
    gg_contacts_prepared(v, e, slice, each);
}
