/* clumps.h: the law of clumps: grains that are rigid unions of spheres, solved by coloured Gauss-Seidel.
 *
 * Spheres collide, clumps move. A sphere is a slot and a grain id as everywhere, and mirrors how its clump moves there:
 * prediction, search, contacts, cameras and readings know spheres alone. In the solve a clump is one body, in the place
 * of its first sphere (its lead), and each contact has an arm to the centre of mass on either side. With a = arm,
 * J = a^-1 the inverse inertia and K = sum over both sides of 1/m - [a] J [a] (3 x 3),
 *
 *     P_n = max( Q_n - w / (n K n) (v_contact n - bias), 0 )
 *     P_t = bound( Q_t - w / lambda v_contact,t )              with v_contact after P_n; lambda: the larger eigenvalue
 *                                                              of K in the plane of the contact
 *     v += (P - Q) / m,  omega += J (a x (P - Q))              and opposite on the other side
 *
 * with the momentum, warm start, cohesion and rolling resistance of coloured/coloured.h. No two contacts of a colour
 * share a clump. Friction takes the velocity that the normal impulse has just changed, as an arm couples the two.
 *
 * Position correction moves and turns both clumps by an impulse along the normal, apart from velocities.
 *
 * Free rotation: angular momentum is kept, the rotation follows it, exactly where all moments of inertia are equal, else
 * by Runge-Kutta steps of fourth order (Irazabal et al., Computational Particle Mechanics 6, 2019, compare the
 * methods). Mass and inertia are those of the union of the spheres, or of the mesh that they cover. Source of clumps:
 * Bell, Yu, Mucha, Particle-based simulation of granular materials (SCA 2005).
 *
 * A lone sphere is a clump of one. Contacts of lone spheres with each other and with tools are those of coloured.h: they
 * have the even colours (gg_lone_colour), contacts of clumps the odd ones.
 */
#ifndef GG_CLUMPS_H
#define GG_CLUMPS_H

#include "../../clump_surface.h"
#include "../../drag.h"
#include "../../motion.h"
#include "../coloured/coloured.h"
#include "../coloured/motion.h"
#include "../../../base/rigid.h"

/* a rotation by more than this within one Runge-Kutta step would lose energy [rad] */
#define GG_CLUMP_TURN  0.05
#define GG_CLUMP_TURNS 64

/* place in clump_inertia of what is the same about any axis, else -1 */
#define GG_CLUMP_ANY_AXIS 6

/* where the first of `each` floats of the own side of a contact lies; the next GG_LANES later, then the other side's */
GG_FN int64_t gg_clump_sides(int64_t contact, int64_t each) {
    return contact / GG_LANES * GG_LANES * 2 * each + contact % GG_LANES;
}

/* whether any axis is a principal one, as of spheres, tetrahedra and cubes: spin is constant while nothing acts */
GG_FN int gg_clump_isotropic(const gg_clump_shape *shape) {
    const double *m = shape->moment;
    double slack = 1e-12 * m[0];
    return m[1] - m[0] <= slack && m[0] - m[1] <= slack && m[2] - m[0] <= slack && m[0] - m[2] <= slack;
}

/* inverse inertia in the axes of the world; density 0: the mass is infinite */
GG_FN gg_spread gg_clump_inverse(const gg_clump_shape *shape, const gg_turn *turn, double density) {
    if (!gg_clump_isotropic(shape) || !(density > 0.0)) {
        return gg_turn_inverse(turn, shape->moment, density);
    }
    double inverse = 1.0 / (shape->moment[0] * density);
    gg_spread s = {{inverse, inverse, inverse, 0.0, 0.0, 0.0}};
    return s;
}

/* mass over volume [kg/m3]; 0: no force moves it */
GG_FN double gg_clump_density(const gg_view *v, int64_t e, const gg_clump_shape *shape) {
    int fixed = v->material_fixed[shape->material];
    return fixed ? 0.0 : (double)v->density[e * v->dims.material_count + shape->material];
}

/* how a clump moves on by drag, over that of gravity alone [m/s]: the mean over its spheres, each with a share of the
 * mass */
GG_FN gg_vec3 gg_clump_drag(const gg_view *v, int64_t e, int64_t clump, gg_vec3 kick, float inverse_mass) {
    gg_vec3 sum = gg_v3(0.0f, 0.0f, 0.0f);
    int32_t first = v->clump_first[clump], end = v->clump_first[clump + 1];
    float count = (float)(end - first);
    for (int32_t id = first; id < end; id++) {
        int64_t slot = v->slot_of[e * v->dims.slots + id];
        /* the velocity of the sphere before its prediction */
        const float *before = gg_before_prediction(v, e) + id * 6;
        gg_vec3 velocity = gg_v3(before[0], before[1], before[2]);
        float radius = v->position[e * v->dims.slots + slot].w;
        gg_vec3 own = gg_drag_kick(&v->env[e].air, kick, velocity, radius, count * inverse_mass, v->params.dt);
        sum = gg_add(sum, gg_sub(own, kick));
    }
    return gg_scale(sum, 1.0f / count);
}

/* Change of a spin of a clump by drag over dt [rad/s]: every sphere is held back where it is, and by its own turning.
 * Implicit, as drag is elsewhere: with H what holds the clump back per spin,
 *
 *     change = dt (I + dt H)^-1 (torque of the air that flows past it - H spin)
 */
GG_FN void gg_clump_drag_spin(const gg_view *v, int64_t e, int64_t clump, double density, const double spin[3],
                              double change[3]) {
    const gg_air *air = &v->env[e].air;
    const gg_clump_shape *shape = &v->clump_shape[clump];
    const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    const double *m = motion->velocity, dt = v->params.dt;
    gg_turn turn = gg_turn_of(motion->rotation);
    gg_vec3 turning = gg_v3((float)spin[0], (float)spin[1], (float)spin[2]);
    gg_vec3 flow = gg_sub(air->wind, gg_v3((float)m[0], (float)m[1], (float)m[2]));
    gg_sym holds = GG_ZERO;
    double torque[3] = {0.0, 0.0, 0.0}, held[3];
    for (int32_t id = v->clump_first[clump]; id < v->clump_first[clump + 1]; id++) {
        float radius = v->position[e * v->dims.slots + v->slot_of[e * v->dims.slots + id]].w;
        gg_vec3 arm = gg_turn_point(&turn, v->clump_offset[id]), push = gg_cross(arm, flow);
        double rate = gg_drag_rate(air, radius, 1.0f, gg_norm(gg_sub(flow, gg_cross(turning, arm)))), r = radius;
        double a[3] = {arm.x, arm.y, arm.z}, own = 8.0 * GG_PI * (double)air->viscosity * r * r * r;
        holds = gg_sym_madd(gg_sym_shift(holds, own + rate * gg_dot3(a, a)), -rate, gg_sym_outer(a));
        for (int k = 0; k < 3; k++) {
            torque[k] += rate * (double)gg_axis_of(push, k);
        }
    }
    gg_sym inertia = gg_sym_make(shape->moment[0], shape->moment[1], shape->moment[2], 0.0, 0.0, 0.0);
    inertia = gg_turn_sym(&turn, gg_sym_scale(inertia, density));
    gg_sym_mul(holds, spin, held);
    for (int k = 0; k < 3; k++) {
        torque[k] = dt * (torque[k] - held[k]);
    }
    gg_sym_mul(gg_sym_inverse(gg_sym_madd(inertia, dt, holds)), torque, change);
}

/* Opens the solve of a clump: its body with the velocity before contact, its inverse inertia, the arms of its spheres.
 * item: clump of an env */
GG_FN void gg_clump_open(const gg_view *v, int64_t e, int64_t clump) {
    const gg_clump_shape *shape = &v->clump_shape[clump];
    const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    int64_t slots = e * v->dims.slots;
    int32_t first = v->clump_first[clump];
    int32_t lead = v->slot_of[slots + first];
    double density = gg_clump_density(v, e, shape), radius = shape->radius;
    gg_turn turn = gg_turn_of(motion->rotation);
    gg_spread inverse = gg_clump_inverse(shape, &turn, density);
    float inverse_mass = density > 0.0 ? (float)(1.0 / (density * shape->volume)) : 0.0f;
    gg_vec3 kick = gg_v3(0.0f, 0.0f, 0.0f);
    if (density > 0.0) {
        kick = gg_scale(v->env[e].gravity, v->params.dt);
        if (gg_air_drags(&v->env[e].air)) {
            kick = gg_add(kick, gg_clump_drag(v, e, clump, kick, inverse_mass));
        }
        float pushed = (float)(v->params.dt / (density * shape->volume));
        kick = gg_madd(kick, gg_v3((float)motion->force[0], (float)motion->force[1], (float)motion->force[2]), pushed);
    }
    float body[GG_BODY], spread[GG_BODY];
    for (int k = 0; k < 3; k++) {
        double twist = (double)v->params.dt * gg_spread_along(&inverse, k, motion->torque);
        body[k] = (float)motion->velocity[k] + gg_axis_of(kick, k);
        body[GG_BODY_SPIN + k] = (float)((motion->spin[k] + twist) * radius);
    }
    body[GG_BODY_INVERSE_MASS] = inverse_mass;
    body[GG_BODY_INVERSE_RADIUS] = 1.0f / shape->radius;
    for (int k = 0; k < 6; k++) {
        spread[k] = (float)(inverse.of[k] * radius * radius);
    }
    spread[GG_CLUMP_ANY_AXIS] = gg_clump_isotropic(shape) ? spread[0] : -1.0f;
    spread[7] = 0.0f;
    int64_t home = (e * v->dims.bodies + lead) * GG_BODY;
    gg_body_store(v->body_a + home, body);
    gg_body_store(v->body_b + home, body);
    gg_body_store(v->clump_inertia + (e * v->dims.clumps.bodies + lead) * GG_BODY, spread);
    int64_t start = (slots + lead - lead % GG_LANES) * 6 + lead % GG_LANES;
    for (int k = 0; k < 6; k++) {
        v->start_velocity[start + k * GG_LANES] = body[k + k / 3];
    }
    uint64_t used = v->colours[slots + lead];
    float count = (float)(gg_bit_count((uint32_t)used) + gg_bit_count((uint32_t)(used >> 32)));
    gg_vec4 still = {0.0f, 0.0f, 0.0f, count * inverse_mass}, unturned = {0.0f, 0.0f, 0.0f, count};
    v->shift[slots + lead] = still;
    v->clump_turn[slots + lead] = unturned;
    gg_vec4 kicked = {kick.x, kick.y, kick.z, 0.0f};
    v->clump_note[slots + lead] = kicked;
    for (int32_t id = first; id < v->clump_first[clump + 1]; id++) {
        gg_vec3 arm = gg_turn_point(&turn, v->clump_offset[id]);
        gg_vec4 to = {arm.x, arm.y, arm.z, 0.0f};
        v->clump_arm[slots + id] = to;
    }
}

/* Places the spheres of a clump, and gives each the velocity that the clump has there; returns the square of the largest
 * displacement [m2]. */
GG_FN float gg_clump_place(const gg_view *v, int64_t e, int64_t clump) {
    const gg_clump_shape *shape = &v->clump_shape[clump];
    const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    const gg_params *p = &v->params;
    gg_turn turn = gg_turn_of(motion->rotation);
    gg_vec3 spin = gg_v3((float)motion->spin[0], (float)motion->spin[1], (float)motion->spin[2]);
    double density = gg_clump_density(v, e, shape);
    float inverse_mass = density > 0.0 ? (float)(1.0 / (density * shape->volume)) : 0.0f, most = 0.0f;
    gg_clump_carry(v, e, clump);
    for (int32_t id = v->clump_first[clump]; id < v->clump_first[clump + 1]; id++) {
        int64_t by_id = e * v->dims.slots + id, slot = v->slot_of[by_id], at = e * v->dims.slots + slot;
        gg_vec3 arm = gg_turn_point(&turn, v->clump_offset[id]), push = gg_cross(spin, arm);
        gg_vec4 *x = &v->position[at];
        gg_vec3 to = gg_v3((float)(motion->position[0] + (double)arm.x), (float)(motion->position[1] + (double)arm.y),
                           (float)(motion->position[2] + (double)arm.z));
        to = gg_wrap(p, to);
        gg_vec4 there = {to.x, to.y, to.z, x->w};
        gg_vec3 moved = gg_separation(p, there, *x);
        *x = there;
        float *body = gg_slot_body_at(v, e, slot);
        for (int k = 0; k < 3; k++) {
            body[k] = (float)(motion->velocity[k] + (double)gg_axis_of(push, k));
            body[GG_BODY_SPIN + k] = gg_axis_of(spin, k) * x->w;
            v->velocity_error[by_id * 3 + k] = v->position_error[by_id * 3 + k] = 0.0f;
        }
        body[GG_BODY_INVERSE_MASS] = inverse_mass;
        body[GG_BODY_INVERSE_RADIUS] = 1.0f / x->w;
        most = gg_maxf(most, gg_norm2(moved));
    }
    return most;
}

/* kinetic energy of a clump [J] */
GG_FN double gg_clump_energy(const gg_clump_shape *shape, const gg_clump_motion *motion, double density) {
    gg_turn turn = gg_turn_of(motion->rotation);
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double along = gg_turn_along(&turn, k, motion->spin);
        sum += shape->volume * motion->velocity[k] * motion->velocity[k] + shape->moment[k] * along * along;
    }
    return 0.5 * density * sum;
}

/* Rotates a clump for dt with the angular momentum of its spin; afterwards its spin is that of the new rotation. Without
 * mass, it keeps its spin. */
GG_FN void gg_clump_rotate(gg_clump_motion *motion, const gg_clump_shape *shape, double dt, int fixed) {
    double *spin = motion->spin;
    if (fixed || gg_clump_isotropic(shape)) {
        double turn[3] = {dt * spin[0], dt * spin[1], dt * spin[2]};
        gg_turn_by(motion->rotation, turn);
        return;
    }
    gg_turn turn = gg_turn_of(motion->rotation);
    double momentum[3], speed = sqrt(spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]);
    gg_turn_momentum(&turn, shape->moment, spin, momentum);
    double wanted = speed * dt / GG_CLUMP_TURN;
    int32_t pieces = wanted < GG_CLUMP_TURNS ? 1 + (int32_t)wanted : GG_CLUMP_TURNS;
    for (int32_t k = 0; speed > 0.0 && k < pieces; k++) {
        gg_turn_advance(motion->rotation, momentum, shape->moment, dt / pieces);
    }
    turn = gg_turn_of(motion->rotation);
    gg_turn_spin(&turn, shape->moment, momentum, spin);
}

/* Moves a clump by what the solve found, and its spheres with it; one that would not be finite stays. item: clump of an
 * env */
GG_FN void gg_clump_move(const gg_view *v, int64_t e, int64_t clump) {
    const gg_clump_shape *shape = &v->clump_shape[clump];
    gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump], moved = *motion;
    const gg_params *p = &v->params;
    int64_t slots = e * v->dims.slots;
    int32_t first = v->clump_first[clump], end = v->clump_first[clump + 1], lead = v->slot_of[slots + first];
    const float *body = gg_body_at(v, e, lead);
    const float *start = v->start_velocity + (slots + lead - lead % GG_LANES) * 6 + lead % GG_LANES;
    gg_vec4 shift = v->shift[slots + lead], turned = v->clump_turn[slots + lead];
    double density = gg_clump_density(v, e, shape), dt = p->dt, per_radius = 1.0 / shape->radius, turn[3];
    gg_vec4 kicked = v->clump_note[slots + lead];
    double push[3] = {shift.x, shift.y, shift.z}, kick[3] = {kicked.x, kicked.y, kicked.z};
    const float lower[3] = {p->lower.x, p->lower.y, p->lower.z}, upper[3] = {p->upper.x, p->upper.y, p->upper.z};
    for (int k = 0; k < 3; k++) {
        moved.velocity[k] += kick[k] + ((double)body[k] - (double)start[k * GG_LANES]);
        moved.spin[k] += ((double)body[GG_BODY_SPIN + k] - (double)start[(k + 3) * GG_LANES]) * per_radius;
        moved.position[k] += dt * moved.velocity[k] + push[k];
        if (p->boundary[k][0] == GG_BOUNDARY_PERIODIC || p->boundary[k][0] == GG_BOUNDARY_CYCLIC) {
            double length = (double)upper[k] - (double)lower[k];
            moved.position[k] -= moved.position[k] >= upper[k] ? length : moved.position[k] < lower[k] ? -length : 0.0;
        }
    }
    if (motion->torque[0] != 0.0 || motion->torque[1] != 0.0 || motion->torque[2] != 0.0) {
        gg_turn before = gg_turn_of(motion->rotation);
        gg_spread inverse = gg_clump_inverse(shape, &before, density);
        for (int k = 0; k < 3; k++) {
            moved.spin[k] += dt * gg_spread_along(&inverse, k, motion->torque);
        }
    }
    if (density > 0.0 && gg_air_drags(&v->env[e].air)) {
        double slowed[3];
        gg_clump_drag_spin(v, e, clump, density, moved.spin, slowed);
        for (int k = 0; k < 3; k++) {
            moved.spin[k] += slowed[k];
        }
    }
    gg_clump_rotate(&moved, shape, dt, !(density > 0.0));
    turn[0] = turned.x * per_radius;
    turn[1] = turned.y * per_radius;
    turn[2] = turned.z * per_radius;
    gg_turn_by(moved.rotation, turn);
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += moved.position[k] + moved.velocity[k] + moved.spin[k] * (double)shape->radius + moved.rotation[k + 1];
    }
    int bad = !gg_finite((float)sum);
    if (!bad) {
        *motion = moved;
    }
    float displacement2 = gg_clump_place(v, e, clump);
    gg_vec4 note = {(float)(gg_clump_energy(shape, motion, density) / (end - first)), displacement2, (float)bad, 0.0f};
    for (int32_t id = first; id < end; id++) {
        v->clump_note[slots + v->slot_of[slots + id]] = note;
    }
}

/* Projection of a lone sphere out of tools, and the loads of the tool contacts of a sphere. item: slot of an env */
GG_FN void gg_clump_close_tools(const gg_view *v, int64_t e, int64_t i) {
    if (v->next_tool_count[e * v->dims.slots + i] > 0) {
        if (v->dims.clumps.lone && gg_lone_slot(v, e, i)) {
            gg_coloured_project_tools(v, e, i);
        }
        gg_coloured_load_tools(v, e, i);
    }
}

/* Share of the speeds at rest (gg_rest) that holds for a sphere of a clump: with drag a free one has less than g dt after
 * a substep; a fixed one has no speed at rest. */
GG_FN float gg_clump_rest_share(const gg_view *v, int64_t e, int64_t id, float radius, float inverse_mass) {
    int32_t clump = v->clump_of[id];
    float count = (float)(v->clump_first[clump + 1] - v->clump_first[clump]);
    float rate = gg_drag_rate(&v->env[e].air, radius, count * inverse_mass, 0.0f);
    return inverse_mass > 0.0f ? 1.0f - gg_drag_share(rate, v->params.dt) : 0.0f;
}

/* What the spheres of a slice report of their motion, and their lists. item: slice of an env */
GG_FN void gg_clump_note_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES] = GG_ZERO;
    const gg_params *p = &v->params;
    gg_rest rest = gg_rest_of(v, e), quiet = gg_quiet_of(v, e);
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t slot = slice * GG_LANES + lane, at = e * v->dims.slots + slot;
        v->contact_first[at] = v->next_first[at];
        v->contact_count[at] = v->next_count[at];
        v->tool_contact_count[at] = v->next_tool_count[at];
        if (v->grain_id[at] < 0) {
            continue;
        }
        const float *body = gg_body_at(v, e, slot);
        gg_vec4 note = v->clump_note[at], x = v->position[at];
        gg_vec3 velocity = gg_v3(body[0], body[1], body[2]), u = gg_v3(body[4], body[5], body[6]);
        float speed2 = gg_norm2(velocity);
        each[lane].energy = note.x;
        if (p->sleep) {
            float share = gg_clump_rest_share(v, e, v->grain_id[at], x.w, body[GG_BODY_INVERSE_MASS]);
            float fastest2 = gg_maxf(speed2, gg_norm2(u)), still = share > 0.0f ? 1.0f : 0.0f;
            each[lane].restless = fastest2 > share * share * rest.speed2 || note.y > still * rest.displacement2;
            each[lane].moving = fastest2 > share * share * quiet.speed2 || note.y > still * quiet.displacement2;
        }
        each[lane].fast = speed2 * p->dt * p->dt > 0.25f * x.w * x.w;
        each[lane].escaped = gg_outside(p, gg_v3(x.x, x.y, x.z), x.w);
        each[lane].bad = note.z > 0.0f;
    }
    gg_motion_integrated(v, e, slice, each);
}

#endif
