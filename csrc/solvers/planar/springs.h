/* springs.h: contact of planar grains as springs: the explicit law of "The Configurational Element Method for Nonconvex
 * Granular Media", Algorithm 1.
 *
 * A pair of grains has one contact (planar.h), from its field at the present pose; a tool has one for each point of the
 * outline that lies in it. With depth -gap, and the velocities v_n of separation and v_t of sliding:
 *
 *     f_n = max(k_n depth - c_n v_n, 0)
 *     s  += v_t dt                                 the tangential spring, kept from substep to substep, by key
 *     f_t = -k_t s - c_t v_t                       within |f_t| <= mu f_n; where it is not,
 *         c_t |v_t| > mu f_n: s = 0, f_t = -sign(v_t) mu f_n
 *         else the spring is cut to PROJECTFACTOR s, the part of it for which |f_t| = mu f_n
 *
 * and, with the arms of planar.h, v changes by dt (f_n n + f_t t) / m and u = R omega by
 * dt (R^2 / I) (cn f_n + ct f_t). Then positions move with the new velocities (semi-implicit Euler).
 *
 * Damping is given as a ratio of the critical one: c_n = 2 zeta sqrt(k_n m), where 1 / m = a_i + a_j of planar.h is the
 * inverse effective mass along the normal; the paper's gamma_n is 2 c_n, the same for all contacts, which is unstable
 * in explicit steps for contacts with long arms. c_t is likewise a ratio of the critical one, with the tangential arms.
 *
 * Where the printed algorithm is not followed:
 *   - J_A and J_B, the derivatives of the relative pose, act there as their transposes would. What is right follows
 *     from d alone: dd/dtheta_B is the field's own dd/dtheta, and dd/dtheta_A = -dd/dtheta - (t x n), for the relative
 *     translation t turns back with A (tests hold both to differences of the energy).
 *   - |f_n| in the bound of friction is max(f_n, 0), and f_n itself never pulls: a damped contact that opens would else
 *     be held back, and rub while it is.
 *   - An opened contact is not listed, so its spring is forgotten.
 *
 * An undamped contact has the energy k_n depth^2 / 2 as far as the field's gradient is of unit length. A step is stable
 * for one contact while omega dt < 2 (sqrt(1 + zeta^2) - zeta), omega = sqrt(k_n / m): gg_penalty_step_bound. Steps are
 * so short that displacements are below single precision: positions use compensated summation (`position_error`).
 *
 * Storage: an impulse is (normal, tangential, spring): f_n dt, f_t dt, s [m].
 */
#ifndef GG_SPRINGS_H
#define GG_SPRINGS_H

#include "contacts.h"

/* the tangential force of a contact; *spring: as stored, and as it is left [m] */
GG_FN float gg_springs_friction(float stiffness, float damping, float bound, float sliding, float dt, float *spring) {
    float s = *spring + sliding * dt, viscous = damping * sliding, force = -stiffness * s - viscous;
    if (gg_absf(viscous) > bound) {
        s = 0.0f;
        force = sliding > 0.0f ? -bound : bound;
    } else if (gg_absf(force) > bound) {
        /* PROJECTFACTOR: -k_t s - c_t v_t = force is on the cone; here k_t > 0, else the force is the viscous one */
        force = force > 0.0f ? bound : -bound;
        s = -(force + viscous) / stiffness;
    }
    *spring = s;
    return force;
}

/* 2 zeta sqrt(k_n m), with the effective mass of both sides along an arm c; the same bits on either side */
GG_FN float gg_springs_damping(const gg_params *p, const float *own, float c, const float *other, float other_c) {
    float inverse_mass = (own[GG_BODY_INVERSE_MASS] + own[GG_BODY_INVERSE_INERTIA] * (c * c)) +
                         (other[GG_BODY_INVERSE_MASS] + other[GG_BODY_INVERSE_INERTIA] * (other_c * other_c));
    return inverse_mass > 0.0f ? p->damping * sqrtf(p->stiffness / inverse_mass) : 0.0f;
}

/* applies the forces on one grain: its new velocity is left in `velocity`, the impulses of its contacts in theirs */
GG_FN gg_overlaps gg_springs_lane(const gg_view *v, int64_t e, int64_t i) {
    gg_overlaps out = GG_ZERO;
    const gg_params *p = &v->params;
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES, first = v->next_first[at] / GG_LANES;
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    float own[GG_BODY], other[GG_BODY];
    gg_body_load(bodies + i * GG_BODY, own);
    float *impulses = v->env[e].impulse_buffer ? v->impulse_a : v->impulse_b;
    float x = 0.0f, y = 0.0f, turn = 0.0f;
    for (int32_t k = 0; k < v->next_count[at]; k++) {
        int64_t contact = (e * v->dims.contact_rows + first + k) * GG_LANES + lane;
        int64_t contact3 = (e * v->dims.contact_rows + first + k) * GG_LANES * 3 + lane;
        int64_t geometry = (e * v->dims.planar.rows + first + k) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
        int32_t j = v->other_body[contact];
        gg_body_load(bodies + (int64_t)j * GG_BODY, other);
        float nx = v->normal[contact3], ny = v->normal[contact3 + GG_LANES];
        float cn = v->planar_geometry[geometry], ct = v->planar_geometry[geometry + GG_LANES];
        float other_cn = v->planar_geometry[geometry + 2 * GG_LANES];
        float other_ct = v->planar_geometry[geometry + 3 * GG_LANES];
        /* the sums have the same bits on both sides: each term does, up to its sign */
        float parting = (nx * (own[0] - other[0]) + ny * (own[1] - other[1])) +
                        (cn * own[GG_BODY_PLANAR_SPIN] - other_cn * other[GG_BODY_PLANAR_SPIN]);
        float sliding = (nx * (own[1] - other[1]) - ny * (own[0] - other[0])) +
                        (ct * own[GG_BODY_PLANAR_SPIN] - other_ct * other[GG_BODY_PLANAR_SPIN]);
        float depth = gg_maxf(-v->gap[contact], 0.0f);
        float damping = gg_springs_damping(p, own, cn, other, other_cn);
        float rubbing = p->tangential_damping * gg_springs_damping(p, own, ct, other, other_ct);
        float push = depth > 0.0f ? gg_maxf(p->stiffness * depth - damping * parting, 0.0f) : 0.0f;
        float spring = depth > 0.0f ? impulses[contact3 + 2 * GG_LANES] : 0.0f;
        float rub = gg_springs_friction(p->tangential_stiffness, rubbing, v->friction[contact] * push,
                                        depth > 0.0f ? sliding : 0.0f, p->dt, &spring);
        float normal = p->dt * push, tangent = p->dt * rub;
        impulses[contact3] = normal;
        impulses[contact3 + GG_LANES] = tangent;
        impulses[contact3 + 2 * GG_LANES] = spring;
        x += nx * normal - ny * tangent;
        y += ny * normal + nx * tangent;
        turn += cn * normal + ct * tangent;
        /* overlap over the smaller diameter, as in the implicit law */
        float radius = v->position[at].w;
        if (other[GG_BODY_INVERSE_MASS] > 0.0f) {
            radius = gg_minf(radius, v->position[e * v->dims.slots + j].w);
        }
        out.most = gg_maxf(out.most, depth / (2.0f * radius));
        out.sum += depth / (2.0f * radius);
        out.count += depth > 0.0f ? 1.0f : 0.0f;
    }
    int64_t state = (at - lane) * 6 + lane;
    v->start_velocity[state] = own[0];
    v->start_velocity[state + GG_LANES] = own[1];
    v->start_velocity[state + 2 * GG_LANES] = own[GG_BODY_PLANAR_SPIN];
    v->velocity[state] = own[0] + own[GG_BODY_INVERSE_MASS] * x;
    v->velocity[state + GG_LANES] = own[1] + own[GG_BODY_INVERSE_MASS] * y;
    v->velocity[state + 2 * GG_LANES] = own[GG_BODY_PLANAR_SPIN] + own[GG_BODY_INVERSE_INERTIA] * turn;
    gg_store_lane3(v->correction, (at - lane) * 3 + lane, gg_v3(0.0f, 0.0f, 0.0f));
    return out;
}

/* records the overlaps of the grains of a slice; springs need no solve */
GG_FN void gg_springs_noted(const gg_view *v, int64_t e, int64_t slice, const gg_overlaps each[GG_LANES]) {
    gg_contacts_prepared(v, e, slice, each);
    v->slice_stats[e * v->dims.slices + slice].residual = 0.0f;
}

/* item: slice of an env */
GG_FN void gg_springs_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_overlaps each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        each[lane] = gg_springs_lane(v, e, slice * GG_LANES + lane);
    }
    gg_springs_noted(v, e, slice, each);
}

#endif
