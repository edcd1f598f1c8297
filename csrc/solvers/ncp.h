/* ncp.h: the first contact law: rigid, dry frictional contact of spheres as a nonlinear complementarity problem.
 *
 * Source: seed paper GranularGym (RSS 2023), section II.A, equations 1-3, made convergent. Per contact one impulse P [N s],
 * normal part >= 0, tangential part inside the circular Coulomb cone. One iteration of projected Jacobi reads
 *
 *     P' = project( Y - w (v_contact(Y) - bias) ),     Y = P + beta (P - P_previous)
 *
 * Three changes to the printed Algorithm 1 make it converge: the impulse is accumulated and the total is projected, so that
 * an overshoot can be taken back; it is kept from one substep to the next (warm start), re-projected on the new normal;
 * Nesterov's sequence beta accelerates it. GG_MODE_PAPER keeps the algorithm as printed.
 *
 * Relaxation. All contacts are solved at once, so a grain with n contacts would be pushed n times too hard. With
 * K = 1/m_i + 1/m_j (inverse effective mass) the weight of a contact is
 *
 *     w = min( omega0 / K, c / (n_i/m_i + n_j/m_j) )
 *
 * which equals omega0 m_eff for lone contacts and splits the mass where there are many; it is symmetric in i and j, as
 * momentum needs. The inverse effective mass of a sphere's tangential motion with spin is 7/2 K, for pairs and walls alike,
 * so the tangential weight is 2/7 w.
 *
 * State of spin. Rows hold u = r omega [m/s], which makes the contact law free of radii: the relative velocity at the
 * contact is v_i - v_j - (u_i + u_j) x n, an impulse P changes v_i by P/m and u_i by -(5/2)/m n x P (solid sphere,
 * I = 2/5 m r^2).
 *
 * Rolling and twisting resistance is a torque impulse T per contact [N m s], |T| <= mu_r R_eff P_n with
 * R_eff = r_i r_j / (r_i + r_j) (r_i at a wall), opposing omega_i - omega_j: accumulated, warm-started and solved in the
 * same iteration, equal and opposite on both sides, so angular momentum of a pair is kept.
 */
#ifndef GG_NCP_H
#define GG_NCP_H

#include "../contact/narrow.h"

/* tangential over normal weight of a sphere that can turn; without spin it is 1 */
#define GG_TANGENT_SHARE (2.0f / 7.0f)
/* change of u = r omega per tangential impulse over mass: r^2 m / I */
#define GG_SPIN_FACTOR 2.5f

/* one side of a contact, as the weights need it */
typedef struct gg_side {
    float inverse_mass; /* 0: a tool */
    float inverse_radius;
    float contact_count; /* of this grain */
} gg_side;

GG_FN float gg_ncp_weight(const gg_params *p, gg_side a, gg_side b) {
    float single = p->relaxation / (a.inverse_mass + b.inverse_mass);
    float split = p->relaxation_sum / (a.contact_count * a.inverse_mass + b.contact_count * b.inverse_mass);
    return gg_minf(single, split);
}

GG_FN float gg_inverse_inertia(gg_side a) {
    return GG_SPIN_FACTOR * a.inverse_mass * (a.inverse_radius * a.inverse_radius);
}

GG_FN float gg_ncp_roll_weight(const gg_params *p, gg_side a, gg_side b) {
    float ia = gg_inverse_inertia(a), ib = gg_inverse_inertia(b);
    return gg_minf(p->roll_relaxation / (ia + ib),
                   p->roll_relaxation_sum / (a.contact_count * ia + b.contact_count * ib));
}

/* Normal velocity that the contact asks for: no faster approach than the gap allows, and a bounce. Overlap is not pushed
 * out by velocity (see gg_ncp_shift), but for the printed algorithm, which does (Baumgarte). */
GG_FN float gg_ncp_bias(const gg_params *p, float bounce_speed, float gap, float approach, float restitution) {
    float bias = 0.0f;
    if (gap >= 0.0f) {
        bias = -gap / p->dt;
    } else if (p->mode == GG_MODE_PAPER) {
        bias = gg_minf(p->alpha * (-gap) / p->dt, p->correction / p->dt);
    }
    /* bounce only what is fast enough to be an impact and reaches the other side within this substep */
    if (approach < -bounce_speed && gap + p->dt * approach < 0.0f) {
        bias = gg_maxf(bias, -restitution * approach);
    }
    return bias;
}

/* How far overlap moves this side along the normal within the substep [m]: a share alpha of it, split between the sides by
 * mass and between the contacts of a grain by the same rule as impulses. Positions are moved apart from velocities: a bias
 * velocity would be remembered by the warm start and make deep beds bounce for ever, since it acts as an integrator with
 * a gain that must stay below the share of the slowest mode that one substep's iterations solve. */
GG_FN float gg_ncp_shift(const gg_params *p, int tool, float gap, float weight, float inverse_mass) {
    if (gap >= 0.0f || p->mode == GG_MODE_PAPER) {
        return 0.0f;
    }
    float share = tool ? p->tool_alpha : p->alpha * (weight / p->relaxation) * inverse_mass;
    return gg_minf(share * -gap, p->correction);
}

/* an impulse of the last substep on the contact's new normal: pressing part kept, tangential part back into the cone */
GG_FN gg_vec3 gg_ncp_reproject(gg_vec3 impulse, gg_vec3 normal, float friction) {
    float along = gg_dot(impulse, normal);
    float pressing = gg_maxf(along, 0.0f);
    gg_vec3 tangent = gg_madd(impulse, normal, -along);
    float limit = friction * pressing;
    float t2 = gg_norm2(tangent);
    float scale = t2 > limit * limit ? limit / sqrtf(gg_maxf(t2, 1e-30f)) : 1.0f;
    return gg_madd(gg_scale(tangent, scale), normal, pressing);
}

GG_FN gg_vec3 gg_clip_length(gg_vec3 a, float limit) {
    float a2 = gg_norm2(a);
    float scale = a2 > limit * limit ? limit / sqrtf(gg_maxf(a2, 1e-30f)) : 1.0f;
    return gg_scale(a, scale);
}

#endif
