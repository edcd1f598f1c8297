/* planar.h: rigid frictional contact of nonconvex grains in the plane.
 *
 * Sources: "The Configurational Element Method for Nonconvex Granular Media" for the fields; ncp.h for the law.
 *
 * What two shapes A and B do to each other at a relative pose is one number and its gradient, the signed distance d, and one
 * more number, the arm r_A . n (geometry/pair_field.h). A contact holds the normal n towards a grain and, for each
 * side, two arms over its circumradius R:
 *
 *     cn = (r x n) / R,   ct = (r . n) / R,   tangent t = (-n_y, n_x)
 *
 * so that with u = R omega the surfaces part by n . (v_i - v_j) + cn_i u_i - cn_j u_j and slide by
 * t . (v_i - v_j) + ct_i u_i - ct_j u_j; an impulse (p_n, p_t) changes v_i by (p_n n + p_t t) / m and u_i by
 * (R^2 / I) (cn_i p_n + ct_i p_t). Everything is exactly antisymmetric between the sides.
 *
 * One contact per pair would rest a face on a point: the distance field has one gradient per pose. A pair is therefore asked
 * again at angles a little to both sides; what it touches there, seen from the present angle, gives up to two more contacts: together they are the pair's manifold.
 *
 * The unknowns are p_n >= 0 and |p_t| <= mu p_n, solved like those of spheres (projected Jacobi, accumulated, warm-started,
 * Nesterov's sequence; overlap is removed by position correction). With a_i = 1/m_i + (R_i^2 / I_i) c_i^2 the relaxed effective mass of a contact is
 *
 *     w = min( omega0 / (a_i + a_j), c / (n_i a_i + n_j a_j) )
 *
 * for which the iteration's matrix has no eigenvalue above c in the normal impulses alone.
 *
 * GG_MODE_PENALTY has springs in place of the solve: springs.h.
 *
 * The body of a planar grain holds v_x, v_y, 0, 1/m, 0, R^2/I, u, 1/R; both inverses of mass are 0 where it is fixed.
 */
#ifndef GG_PLANAR_H
#define GG_PLANAR_H

#include "../../state/view.h"

/* floats of geometry that a contact carries besides its normal: cn and ct of this side, cn and ct of the other, and
 * the effective mass of the tangential part */
#define GG_PLANAR_GEOMETRY 5
/* largest relaxation factor of a contact, and the bound on its sum with and without acceleration, where the solver leaves them open */
#define GG_PLANAR_RELAXATION 0.3f
#define GG_PLANAR_SUM        1.2f
/* bound on the summed relaxation when positions are moved apart */
#define GG_PLANAR_SHIFT_SUM 2.0f
/* contact points that a pair of grains can have: as it is, and seen from both sides of its angle */
#define GG_PLANAR_ROWS 3
/* how far to both sides, in steps of the field's angle */
#define GG_PLANAR_TURN 1.5f

#endif
