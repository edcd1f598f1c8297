/* prepare.h: prepares the listed contacts of a slice for the solve, for one lane or a vector of lanes: see
 * lane_phases.h.
 *
 * Input from contacts.h, per contact: other_body, the pair's coefficients (restitution -1: no contact) and the stored
 * impulses of the last substep; for tools also normal and gap; for grains normal.z, the side to take where both centres
 * coincide. Output: normal, bias, effective mass, impulses inside the cone of the new normal, and the grain's velocity
 * after the warm start.
 */

/* the W grains themselves: each is one slot and one body */
typedef struct GG_LANE_NAME(self) {
    gg_lane point[4], body[GG_BODY], count_over_mass;
    gg_lane bounce_speed, warm_scale;
} GG_LANE_NAME(self);

/* the other side of one contact of each */
typedef struct GG_LANE_NAME(other) {
    gg_lane point[4], body[GG_BODY], count_over_mass;
    gg_lane tool;         /* 1: a point on a tool, which has a body only. 0: a grain */
    gg_lane bounce_speed; /* of a dynamic tool, see gg_tool_solve */
    gg_lane split;        /* of a dynamic tool: contact count over mass along the normal [1/kg] */
    gg_lane radius;       /* effective radius of the contact [m], where something rolls or attracts */
} GG_LANE_NAME(other);

GG_FN void GG_LANE_NAME(load_other)(const gg_view *v, int64_t e, int64_t contact, int64_t slot,
                                    GG_LANE_NAME(other) * other) {
    int64_t base = e * v->dims.slots;
    int32_t index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        int32_t body = v->other_body[contact + k];
        index[k] = gg_is_tool(v, body) ? (int32_t)(slot + k) : body;
    }
    gg_lane zero = lane_splat(0.0f);
    other->tool = lane_at_least(v->other_body + contact, (int32_t)v->dims.free_bodies);
    lane_points(v->position + base, index, other->point);
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, v->other_body + contact, other->body);
    other->count_over_mass = lane_less(zero, other->tool, zero, lane_gather(v->count_over_mass + base, index));
    other->radius = other->bounce_speed = other->split = zero;
}

/* What dynamic tools add to the other side of W contacts; 0 of other tools. Returns a bit for each dynamic tool. */
GG_FN uint32_t GG_LANE_NAME(load_dynamic)(const gg_view *v, int64_t e, int64_t contact, GG_LANE_NAME(other) * other) {
    float count[GG_LANE_WIDTH] = {0.0f}, count_over_mass[GG_LANE_WIDTH] = {0.0f}, bounce_speed[GG_LANE_WIDTH] = {0.0f};
    uint32_t dynamic = 0;
    for (uint32_t bits = lane_less_bits(lane_splat(0.0f), other->tool); bits; bits &= bits - 1) {
        int k = gg_bit_lowest(bits);
        int32_t body = v->other_body[contact + k];
        const gg_tool_solve *s = gg_tool_solve_of(v, e, body);
        if (s && s->count > 0.0f) {
            dynamic |= 1u << k;
            /* a coupled tool takes no part of the position correction */
            count[k] = s->count_over_mass > 0.0f ? s->count : 0.0f;
            count_over_mass[k] = gg_tool_split(v, e, body, s);
            bounce_speed[k] = s->bounce_speed;
        }
    }
    other->count_over_mass = other->count_over_mass + lane_load(count_over_mass);
    other->bounce_speed = lane_load(bounce_speed);
    other->split = lane_load(count) * other->body[GG_BODY_INVERSE_MASS];
    return dynamic;
}

/* notes the position corrections of those of W contacts that are with dynamic tools, as mass times displacement */
GG_FN void GG_LANE_NAME(note_shift)(const gg_view *v, int64_t e, int64_t contact, uint32_t dynamic,
                                    GG_LANE_NAME(vec) shift) {
    float x[GG_LANE_WIDTH], y[GG_LANE_WIDTH], z[GG_LANE_WIDTH];
    lane_store(x, shift.x);
    lane_store(y, shift.y);
    lane_store(z, shift.z);
    for (; dynamic; dynamic &= dynamic - 1) {
        int k = gg_bit_lowest(dynamic);
        int64_t body = v->other_body[contact + k];
        v->tool_contact_shift[e * v->dims.tools.contacts + body - v->dims.free_bodies] = gg_v3(x[k], y[k], z[k]);
    }
}

/* gap and normal of W contacts: of grains from their positions, of tools as listed */
GG_FN gg_lane GG_LANE_NAME(geometry)(const gg_params *p, const GG_LANE_NAME(self) * self,
                                     const GG_LANE_NAME(other) * other, gg_lane tool_gap, GG_LANE_NAME(vec) * normal) {
    const gg_lane *x = self->point, *y = other->point;
    gg_lane zero = lane_splat(0.0f), tiny = lane_splat(1e-12f);
    GG_LANE_NAME(vec) d;
    d.x = GG_LANE_NAME(nearest_image)(p, 0, x[0] - y[0], p->lower.x, p->upper.x);
    d.y = GG_LANE_NAME(nearest_image)(p, 1, x[1] - y[1], p->lower.y, p->upper.y);
    d.z = GG_LANE_NAME(nearest_image)(p, 2, x[2] - y[2], p->lower.z, p->upper.z);
    gg_lane distance = lane_sqrt(GG_LANE_NAME(dot)(d, d));
    gg_lane inverse = lane_div(lane_splat(1.0f), lane_max(distance, tiny));
    /* where centres coincide the listed normal says which side is which */
    d.x = lane_less(tiny, distance, inverse * d.x, zero);
    d.y = lane_less(tiny, distance, inverse * d.y, zero);
    d.z = lane_less(tiny, distance, inverse * d.z, normal->z);
    *normal = GG_LANE_NAME(choose)(zero, other->tool, *normal, d);
    return lane_less(zero, other->tool, tool_gap, distance - (x[3] + y[3]));
}

#include "impact.h"

/* Position correction of this side along the normal [m]: a fraction alpha of the overlap, split between the sides by
 * mass and between the contacts of a grain like impulses, but always at a sum of GG_SHIFT_SUM: positions are corrected
 * in one sweep per substep, whatever the solve of velocities does. It is separate from velocities because the warm
 * start would keep a bias velocity and make deep beds bounce for ever: it is an integrator, whose gain must stay below
 * the fraction of the slowest mode that one substep's iterations solve. */
GG_FN gg_lane GG_LANE_NAME(position_correction)(const gg_params *p, const GG_LANE_NAME(contact) * c, gg_lane live,
                                                gg_lane inverse_mass, const GG_LANE_NAME(other) * other) {
    gg_lane zero = lane_splat(0.0f), of_tool = lane_splat(p->tool_alpha);
    if (p->mode == GG_MODE_PAPER) {
        return zero;
    }
    gg_lane mass = lane_min(c->mass, lane_div(lane_splat(GG_SHIFT_SUM), c->split));
    if (p->dynamic) {
        /* the tool, which sums over its contacts, takes the rest */
        of_tool = of_tool * lane_div(inverse_mass, inverse_mass + other->split);
    }
    gg_lane share = lane_less(zero, other->tool, of_tool, lane_splat(p->alpha) * mass * inverse_mass);
    share = lane_less(live, zero, zero, share);
    return lane_max(lane_min(share * (lane_splat(-p->slack) - c->gap), lane_splat(p->correction_max)), zero);
}

/* effective radius of W contacts [m]: r r' / (r + r'), r at a tool. It is 0/0 for the unused contacts of empty slots,
 * which must not spread. */
GG_FN gg_lane GG_LANE_NAME(effective_radius)(const GG_LANE_NAME(self) * self, const GG_LANE_NAME(other) * other,
                                             gg_lane live) {
    gg_lane zero = lane_splat(0.0f), r = self->point[3], other_r = other->point[3];
    gg_lane radius = lane_less(zero, other->tool, r, lane_div(r * other_r, r + other_r));
    return lane_less(live, zero, zero, radius);
}

/* Largest attraction of W contacts over this substep [N s]: full where surfaces touch, falling to 0 at the range; and
 * the twisting friction of each, times the radius [m]. */
GG_FN gg_lane GG_LANE_NAME(prepare_attraction)(const gg_view *v, int64_t at, gg_lane radius, gg_lane gap) {
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), range = lane_load(v->attraction_range + at);
    gg_lane far = lane_div(lane_max(gap, zero), lane_max(range, lane_splat(1e-30f)));
    gg_lane force = lane_load(v->cohesion + at) * radius * (one - lane_min(far, one));
    gg_lane attraction = force * lane_splat(v->params.dt);
    lane_store(v->attraction + at, attraction);
    lane_store(v->twist_limit + at, lane_load(v->twisting_friction + at) * radius);
    return attraction;
}

/* Restitution of W contacts that attract each other. Grains that would leave the range within a few substeps are never
 * held back on their way out, so the work of cohesion, c R_eff range / 2, is subtracted from the energy of the rebound:
 * bounces of moist grains gain no energy however coarse the substep. */
GG_FN gg_lane GG_LANE_NAME(cohesive_restitution)(const gg_view *v, int64_t at, gg_lane radius,
                                                 const GG_LANE_NAME(contact) * c) {
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), range = lane_load(v->attraction_range + at);
    gg_lane rebound = zero - c->restitution * c->approach, travel = lane_splat(4.0f * v->params.dt) * rebound;
    gg_lane work = lane_load(v->cohesion + at) * radius * range * c->single;
    gg_lane left = lane_max(one - lane_div(work, lane_max(rebound * rebound, lane_splat(1e-30f))), zero);
    gg_lane bound = lane_less(range, travel, c->restitution * lane_sqrt(left), c->restitution);
    return lane_less(zero, work, bound, c->restitution);
}

/* Rolling of W contacts: limit and relaxed effective inertia of each; returns the torque impulse they start from. */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(prepare_rolling)(const gg_view *v, const GG_LANE_NAME(at) * at, const GG_LANE_NAME(self) * self,
                                  const GG_LANE_NAME(other) * other, gg_lane live, gg_lane load,
                                  GG_LANE_NAME(vec) normal, float *torques) {
    const gg_params *p = &v->params;
    gg_lane per_radius = self->body[GG_BODY_INVERSE_RADIUS], other_per_radius = other->body[GG_BODY_INVERSE_RADIUS];
    gg_lane limit = lane_load(v->rolling_friction + at->roll) * other->radius;
    gg_lane factor = lane_splat(GG_SPIN_FACTOR) * (per_radius * per_radius);
    gg_lane other_factor = lane_splat(GG_SPIN_FACTOR) * (other_per_radius * other_per_radius);
    gg_lane single = factor * self->body[GG_BODY_INVERSE_MASS] + other_factor * other->body[GG_BODY_INVERSE_MASS];
    gg_lane own_split = factor * self->count_over_mass, other_split = other_factor * other->count_over_mass;
    gg_lane split = lane_max(own_split + other_split, lane_splat(2.0f) * lane_max(own_split, other_split));
    gg_lane weight =
        lane_min(lane_div(lane_splat(p->roll_relaxation), single), lane_div(lane_splat(p->roll_relaxation_sum), split));
    GG_LANE_NAME(vec) t = GG_LANE_NAME(scale)(GG_LANE_NAME(load3)(torques + at->roll3), self->warm_scale);
    if (p->cohesive) {
        gg_lane twist = lane_load(v->twist_limit + at->cohesive);
        t = GG_LANE_NAME(torque_bounds)(t, normal, limit * load, twist * load);
    } else {
        t = GG_LANE_NAME(scale)(t, GG_LANE_NAME(cone_scale)(t, limit * load));
    }
    lane_store(v->roll_limit + at->roll, limit);
    lane_store(v->roll_weight + at->roll, lane_less(live, lane_splat(0.0f), lane_splat(0.0f), weight));
    GG_LANE_NAME(store3)(torques + at->roll3, t);
    return t;
}

/* Warm start: the stored impulse along the new normal, its tangential part inside the cone. *load: the normal impulse
 * beyond the attraction. */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(warm_start)(GG_LANE_NAME(vec) stored, GG_LANE_NAME(vec) normal, gg_lane friction,
                                                 gg_lane attraction, gg_lane *load) {
    gg_lane zero = lane_splat(0.0f), along = GG_LANE_NAME(dot)(stored, normal);
    gg_lane p_n = lane_max(along, zero - attraction);
    *load = p_n + attraction;
    GG_LANE_NAME(add_scaled)(&stored, normal, zero - along);
    GG_LANE_NAME(vec) start = GG_LANE_NAME(scale)(stored, GG_LANE_NAME(cone_scale)(stored, friction * *load));
    GG_LANE_NAME(add_scaled)(&start, normal, p_n);
    return start;
}

/* the geometry and the motion of W contacts */
GG_FN void GG_LANE_NAME(open_contact)(const gg_view *v, int64_t contact, int64_t contact3,
                                      const GG_LANE_NAME(self) * self, const GG_LANE_NAME(other) * other,
                                      GG_LANE_NAME(contact) * c) {
    gg_lane zero = lane_splat(0.0f), live = lane_load(v->restitution + contact);
    c->normal = GG_LANE_NAME(load3)(v->normal + contact3);
    c->gap = GG_LANE_NAME(geometry)(&v->params, self, other, lane_load(v->gap + contact), &c->normal);
    c->normal = GG_LANE_NAME(choose)(live, zero, GG_LANE_NAME(zero)(), c->normal);
    c->gap = lane_less(live, zero, zero, c->gap);
    c->rel = GG_LANE_NAME(sub)(GG_LANE_NAME(columns)(self->body, 0), GG_LANE_NAME(columns)(other->body, 0));
    c->approach = GG_LANE_NAME(dot)(c->rel, c->normal);
    c->restitution = live;
    c->friction = lane_load(v->friction + contact);
    c->single = self->body[GG_BODY_INVERSE_MASS] + other->body[GG_BODY_INVERSE_MASS];
    c->split = self->count_over_mass + other->count_over_mass;
    c->mass = lane_div(lane_splat(1.0f), c->single);
}

/* the effective mass of W contacts: relaxed as in ncp.h, in full where a contact is the only one of both sides */
GG_FN gg_lane GG_LANE_NAME(relaxed_mass)(const gg_params *p, const GG_LANE_NAME(contact) * c, gg_lane live,
                                         gg_lane count_over_mass, gg_lane other_count_over_mass) {
    gg_lane zero = lane_splat(0.0f), larger = lane_max(count_over_mass, other_count_over_mass);
    gg_lane bound = lane_max(c->split, lane_splat(p->mass_ratio_factor) * larger);
    gg_lane mass = lane_min(lane_splat(p->relaxation) * c->mass, lane_div(lane_splat(p->relaxation_sum), bound));
    if (p->mode == GG_MODE_JACOBI) {
        mass = lane_less(c->single, c->split, mass, c->mass);
    }
    return lane_less(live, zero, zero, mass);
}

/* prepares one contact of W grains, and adds its effects to their sums */
GG_FN void GG_LANE_NAME(prepare_contact)(const gg_view *v, int64_t e, int64_t slot, const GG_LANE_NAME(at) * at,
                                         GG_LANE_NAME(self) * self, GG_LANE_NAME(sums) * sums) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[e];
    gg_lane zero = lane_splat(0.0f), live = lane_load(v->restitution + at->contact), load;
    uint32_t dynamic = 0;
    GG_LANE_NAME(other) other;
    GG_LANE_NAME(contact) c;
    GG_LANE_NAME(load_other)(v, e, at->contact, slot, &other);
    if (p->dynamic) {
        dynamic = GG_LANE_NAME(load_dynamic)(v, e, at->contact, &other);
    }
    GG_LANE_NAME(open_contact)(v, at->contact, at->contact3, self, &other, &c);
    gg_lane own_inverse_mass = self->body[GG_BODY_INVERSE_MASS];
    gg_lane correction = GG_LANE_NAME(position_correction)(p, &c, live, own_inverse_mass, &other);
    gg_lane bounce_speed = self->bounce_speed;
    GG_LANE_NAME(add_scaled)(&sums->correction, c.normal, correction);
    if (dynamic) {
        bounce_speed = lane_max(bounce_speed, other.bounce_speed);
        GG_LANE_NAME(vec) shift = GG_LANE_NAME(scale)(c.normal, lane_div(correction, own_inverse_mass));
        GG_LANE_NAME(note_shift)(v, e, at->contact, dynamic, shift);
    }
    if (p->rolling || p->cohesive) {
        other.radius = GG_LANE_NAME(effective_radius)(self, &other, live);
    }
    if (p->cohesive) {
        c.restitution = GG_LANE_NAME(cohesive_restitution)(v, at->cohesive, other.radius, &c);
    }
    c.bias = GG_LANE_NAME(bias)(p, bounce_speed, c.gap, c.approach, c.restitution);
    if (p->mode == GG_MODE_JACOBI) {
        gg_lane hit = GG_LANE_NAME(lone_impacts)(p, &c, &other, bounce_speed);
        if (lane_less_bits(zero, hit)) {
            GG_LANE_NAME(setback)
            back = GG_LANE_NAME(impact)(p, env->gravity, hit, self->body, &other, self->point[3], &c);
            GG_LANE_NAME(vec) set_back = sums->correction;
            gg_lane share = lane_less(zero, back.keep, zero - back.tau * own_inverse_mass, zero);
            GG_LANE_NAME(add_scaled)(&set_back, back.impulse, share);
            sums->correction = GG_LANE_NAME(choose)(zero, back.keep, set_back, sums->correction);
        }
    }
    GG_LANE_NAME(store3)(v->normal + at->contact3, c.normal);
    lane_store(v->effective_mass + at->contact,
               GG_LANE_NAME(relaxed_mass)(p, &c, live, self->count_over_mass, other.count_over_mass));
    lane_store(v->bias + at->contact, c.bias);
    float *impulses = env->impulse_buffer ? v->impulse_a : v->impulse_b;
    GG_LANE_NAME(vec) stored = GG_LANE_NAME(scale)(GG_LANE_NAME(load3)(impulses + at->contact3), self->warm_scale);
    gg_lane attraction = p->cohesive ? GG_LANE_NAME(prepare_attraction)(v, at->cohesive, other.radius, c.gap) : zero;
    GG_LANE_NAME(vec) start = GG_LANE_NAME(warm_start)(stored, c.normal, c.friction, attraction, &load);
    GG_LANE_NAME(store3)(impulses + at->contact3, start);
    GG_LANE_NAME(add_scaled)(&sums->dv, start, lane_splat(1.0f));
    GG_LANE_NAME(add_scaled)(&sums->du, GG_LANE_NAME(cross)(c.normal, start), lane_splat(-1.0f));
    if (p->rolling) {
        float *torques = env->impulse_buffer ? v->roll_a : v->roll_b;
        GG_LANE_NAME(vec) t = GG_LANE_NAME(prepare_rolling)(v, at, self, &other, live, load, c.normal, torques);
        GG_LANE_NAME(add_scaled)(&sums->du, t, self->body[GG_BODY_INVERSE_RADIUS]);
    }
    gg_lane own_radius = self->point[3];
    gg_lane smaller = lane_less(zero, other.tool, own_radius, lane_min(own_radius, other.point[3]));
    GG_LANE_NAME(note_overlap)(smaller, c.gap, sums);
}

/* velocities before contact and after the warm start, and the position correction */
GG_FN void GG_LANE_NAME(prepare_end)(const gg_view *v, int64_t e, int64_t slot, GG_LANE_NAME(self) * self,
                                     const GG_LANE_NAME(sums) * sums) {
    int64_t lane = slot % GG_LANES, first = e * v->dims.slots + slot - lane;
    int64_t state = first * 6 + lane;
    gg_lane mass = self->body[GG_BODY_INVERSE_MASS],
            spin_mass = lane_splat(v->params.spin ? GG_SPIN_FACTOR : 0.0f) * mass;
    gg_lane change[6] = {mass * sums->dv.x,      mass * sums->dv.y,      mass * sums->dv.z,
                         spin_mass * sums->du.x, spin_mass * sums->du.y, spin_mass * sums->du.z};
    GG_LANE_NAME(store3)(v->correction + first * 3 + lane, sums->correction);
    for (int k = 0; k < 6; k++) {
        lane_store(v->start_velocity + state + k * GG_LANES, self->body[k + k / 3]);
        self->body[k + k / 3] = self->body[k + k / 3] + change[k];
        lane_store(v->velocity + state + k * GG_LANES, self->body[k + k / 3]);
    }
    lane_bodies_store(v->body_b + e * v->dims.bodies * GG_BODY, slot, self->body);
}

/* Contacts of the W grains from slot `slot` on. Returns, by grain, the deepest overlap, the sum and the number of
 * overlaps. */
GG_FN void GG_LANE_NAME(prepare_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_overlaps *each) {
    const gg_env *env = &v->env[e];
    int64_t slice = slot / GG_LANES;
    GG_LANE_NAME(at)
    at = GG_LANE_NAME(contacts_of)(v, e, v->slice_first_row[e * v->dims.slices + slice], slot % GG_LANES);
    int32_t row_count = v->slice_rows[e * v->dims.slices + slice];
    GG_LANE_NAME(self) self;
    GG_LANE_NAME(sums) sums = GG_LANE_NAME(no_sums)();
    int32_t own[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    lane_points(v->position + e * v->dims.slots, own, self.point);
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, own, self.body);
    self.count_over_mass = lane_load(v->count_over_mass + e * v->dims.slots + slot);
    self.bounce_speed = lane_splat(env->bounce_speed);
    self.warm_scale = lane_splat(env->dt_last > 0.0f ? v->params.dt / env->dt_last : 0.0f);
    for (int32_t k = 0; k < row_count; k++) {
        GG_LANE_NAME(prepare_contact)(v, e, slot, &at, &self, &sums);
        GG_LANE_NAME(next_contact)(&at);
    }
    GG_LANE_NAME(prepare_end)(v, e, slot, &self, &sums);
    GG_LANE_NAME(store_overlaps)(&sums, each);
}

/* all contacts of one slice of env e */
GG_FN void GG_LANE_NAME(prepare_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_overlaps each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(prepare_lanes)(v, e, slice * GG_LANES + lane, each + lane);
    }
    gg_contacts_prepared(v, e, slice, each);
}
