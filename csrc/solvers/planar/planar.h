/* planar.h: rigid frictional contact of nonconvex grains in the plane.
 *
 * Sources: "The Configurational Element Method for Nonconvex Granular Media" for the fields; spheres/ncp.h for the law.
 *
 * The contact of two shapes A and B at a relative pose follows from their signed distance d, its gradient, and the arm
 * r_A . n (geometry/pair_field.h). A contact holds the normal n towards a grain and, for each side, two arms over its
 * circumradius R:
 *
 *     cn = (r x n) / R,   ct = (r . n) / R,   tangent t = (-n_y, n_x)
 *
 * so that with u = R omega the surfaces part by n . (v_i - v_j) + cn_i u_i - cn_j u_j and slide by
 * t . (v_i - v_j) + ct_i u_i - ct_j u_j; an impulse (p_n, p_t) changes v_i by (p_n n + p_t t) / m and u_i by
 * (R^2 / I) (cn_i p_n + ct_i p_t). Everything is exactly antisymmetric between the sides.
 *
 * With one contact per pair a face would rest on a point, as the distance field has one gradient per pose. The field is
 * therefore also sampled at angles a little to both sides; the points found there, rotated back to the present angle,
 * are up to two more contacts of the pair's manifold.
 *
 * The unknowns are p_n >= 0 and |p_t| <= mu p_n, solved like those of spheres (projected Jacobi, accumulated,
 * warm-started, Nesterov's sequence; overlap is removed by position correction). With a_i = 1/m_i + (R_i^2 / I_i) c_i^2
 * the relaxed effective mass of a contact is
 *
 *     w = min( omega0 / (a_i + a_j), c / (n_i a_i + n_j a_j) )
 *
 * for which the iteration's matrix has no eigenvalue above c in the normal impulses alone.
 *
 * GG_MODE_PENALTY replaces the solve by springs: springs.h.
 *
 * The body of a planar grain holds v_x, v_y, 0, 1/m, 0, R^2/I, u, 1/R; inverse mass and inverse inertia are 0 where it
 * is fixed.
 */
#ifndef GG_PLANAR_H
#define GG_PLANAR_H

#include "../../state/view.h"

/* floats of geometry of a contact besides its normal: cn and ct of this side, cn and ct of the other, and the effective
 * mass in the tangential direction */
#define GG_PLANAR_GEOMETRY 5
/* defaults: the largest relaxation factor of a contact, and the bound on their sum with acceleration */
#define GG_PLANAR_RELAXATION 0.3f
#define GG_PLANAR_SUM        1.2f
/* bound on the summed relaxation in position correction */
#define GG_PLANAR_SHIFT_SUM 2.0f
/* contact points of a pair of grains: one at its angle, and one on each side of it */
#define GG_PLANAR_ROWS 3
/* angle to each side, in node spacings of the field */
#define GG_PLANAR_TURN 1.5f

#endif
