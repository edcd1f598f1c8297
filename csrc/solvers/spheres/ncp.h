/* ncp.h: the contact law of spheres: rigid frictional contact as a nonlinear complementarity problem; and how Jacobi
 * solves it. Gauss-Seidel: coloured/coloured.h.
 *
 * Source: the paper GranularGym (RSS 2023), section II.A, equations 1-3, made convergent. Per contact one impulse P
 * [N s], normal part >= 0, tangential part inside the circular Coulomb cone. One iteration of projected Jacobi reads
 *
 *     P' = project( Y - w (v_contact(Y) - bias) ),     Y = P + beta (P - P_previous)
 *
 * Three changes to the printed Algorithm 1 make it converge: the impulse is accumulated and the total is projected, so
 * that an overshoot can be taken back; it is kept from one substep to the next (warm start), re-projected on the new
 * normal; Nesterov's sequence beta accelerates it. GG_MODE_PAPER keeps the algorithm as printed.
 *
 * Relaxation. All contacts are solved at once, so the impulses on a grain with n contacts would be n times too large.
 * With K = 1/m_i + 1/m_j (inverse effective mass) the effective mass of a contact is relaxed to
 *
 *     w = min( omega0 / K, c / (n_i/m_i + n_j/m_j) )
 *
 * which equals omega0 m_eff where contacts are few and splits the mass where there are many; it is symmetric in i and
 * j, as momentum needs; n/m is `count_over_mass`. The second bound is tighter where one side is much heavier or a tool,
 * see gg_params.mass_ratio_factor; a contact that is the only one of both sides is not relaxed (impact.h). The inverse
 * effective mass of a sphere's tangential motion with spin is 7/2 K, for pairs and walls alike, so the tangential
 * effective mass is 2/7 w.
 *
 * State of spin. Bodies hold u = r omega [m/s], which makes the contact law free of radii: the relative velocity at the
 * contact is v_i - v_j - (u_i + u_j) x n, an impulse P changes v_i by P/m and u_i by -(5/2)/m n x P (solid sphere,
 * I = 2/5 m r^2).
 *
 * Rolling and twisting resistance is a torque impulse T per contact [N m s], |T| <= mu_r R_eff P_n with
 * R_eff = r_i r_j / (r_i + r_j) (r_i at a wall), opposing omega_i - omega_j: accumulated, warm-started and solved in
 * the same iteration, equal and opposite on both sides, so angular momentum of a pair is kept. Twisting (about the
 * normal) may have a coefficient of its own: it then bounds that part of T, mu_r the other, the larger one the whole.
 *
 * Cohesion lowers the bound of the normal part from 0 to -F dt, with F = cohesion R_eff (1 - gap / range) while
 * surfaces are less than the range apart; cones are those of P_n + F dt. With P_n + F dt for the unknown it is the same
 * complementarity problem as without, so it is as stable: attraction closes a gap within a substep at the fastest,
 * never overshoots, and only ever takes energy from what it stops. Source of the shifted cone: Radjai, Topin, Richefeu,
 * Voivret, Delenne, Azema, El Youssoufi, Force transmission in cohesive granular media (AIP Conf. Proc. 1227, 2010).
 */
#ifndef GG_NCP_H
#define GG_NCP_H

#include "../../state/view.h"

/* tangential over normal effective mass of a sphere that can turn; without spin it is 1 */
#define GG_TANGENT_SHARE (2.0f / 7.0f)
/* change of u = r omega per tangential impulse over mass: r^2 m / I */
#define GG_SPIN_FACTOR 2.5f
/* bound on the summed relaxation of a grain's contacts in position correction */
#define GG_SHIFT_SUM 4.0f

#endif
