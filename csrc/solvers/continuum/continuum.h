/* continuum.h: the law of continuous matter: the material point method with implicit stress and convex contact.
 *
 * START HERE. A substep finds the velocities v of the nodes of a background grid that minimise
 *
 *   sum_i m_i |v_i - v*_i|^2 / 2  +  sum_p V_p psi(E_p(v))  +  sum_c l(u_c(v)),
 *
 * inertia about the free motion v*, energy of the particles' strain at the end of the substep (matter.h), and potential
 * of the contacts with tools (contacts.h; SAP, Castro et al. 2022). All three are convex, so the minimum is unique and a
 * large time step is stable: Zong, Jiang, Han (2024), equations 7 and 16, here in one minimisation instead of two stages.
 * Newton's method (newton.h) with exact line search (search.h) finds it; its linear systems are solved by conjugate
 * gradients that never form the matrix (linear.h), with the inverse of the diagonal 3 x 3 blocks as preconditioner.
 *
 * Particles and nodes exchange mass and momentum by APIC with quadratic B-splines (spline.h, transfer.h). Particles are
 * sorted by block of 4^3 nodes, cell and id (blocks.h); within the solve those of a cell share its polynomial (cells.h).
 * A block adds up what its cells give to the 6^3 nodes they reach, in that order; a node then adds up the at most eight
 * blocks, in their order; sums over an env go by groups of blocks. So they depend on no thread.
 *
 * GG_MODE_EXPLICIT takes explicit steps over the same particles, nodes and contacts instead: explicit.h.
 */
#ifndef GG_CONTINUUM_H
#define GG_CONTINUUM_H

#include "../../contact/narrow.h"

/* the env stops where its gradient is below this share of the momenta that change in a substep */
#define GG_CONTINUUM_TOLERANCE 1e-6
/* A node with less than this share of the mass of the env's first particle has none: where particles lie at the edges of
 * cells, those across have 1e-15 and less, and are as fast as that allows, so that what others say drowns in rounding. */
#define GG_CONTINUUM_LEAST 1e-13
/* most iterations of Newton's method, and of a linear solve */
#define GG_CONTINUUM_NEWTON 200
#define GG_CONTINUUM_LINEAR 4000
/* most lengths that a line search tries */
#define GG_CONTINUUM_TRIES 12
/* least reduction of the residual by a linear solve; reduction of the slope of the objective by a line search */
#define GG_CONTINUUM_FORCING 0.5
/* a linear solve that reduces its residual by less takes its products in single precision */
#define GG_CONTINUUM_SINGLE 1e-4
#define GG_CONTINUUM_SEARCH 0.01
/* where the gradient stays above this share of the momenta the env has diverged */
#define GG_CONTINUUM_DIVERGED 1e-2

GG_FN gg_continuum_env *gg_continuum_env_of(const gg_view *v, int64_t e) { return &v->continuum_env[e]; }
GG_FN gg_continuum_point *gg_continuum_points(const gg_view *v, int64_t e) {
    return v->continuum_point + e * v->dims.continuum.slots;
}
GG_FN gg_continuum_tangent *gg_continuum_tangents(const gg_view *v, int64_t e) {
    return v->continuum_tangent + e * v->dims.continuum.slots;
}
GG_FN gg_continuum_contact *gg_continuum_contacts(const gg_view *v, int64_t e) {
    return v->continuum_contact + e * v->dims.continuum.contacts;
}
GG_FN gg_continuum_block *gg_continuum_block_of(const gg_view *v, int64_t e, int64_t block) {
    return &v->continuum_block[e * v->dims.continuum.blocks + block];
}
GG_FN const gg_continuum_material *gg_continuum_material_of(const gg_view *v, int64_t e, int64_t slot) {
    return &v->continuum_material[v->material[e * v->dims.slots + slot]];
}

/* Memory that is idle in a part of a substep holds other things meanwhile, env by env, as envs are not at the same part.
 * Tangents: until the solve, keys, two a slot; in a line search, how strains change along the step. matter_first, else of
 * images: until the solve, slots by block, cell and id, two a slot; within it, energies of particles; at the end, by grain
 * id, whether a particle could be moved. Points: until they are opened, what prediction notes (gg_before_prediction); in
 * images, centres of particles (sensors/matter_surface.h). */
GG_FN uint64_t *gg_continuum_keys(const gg_view *v, int64_t e) {
    return (uint64_t *)(void *)gg_continuum_tangents(v, e);
}
GG_FN gg_sym *gg_continuum_along(const gg_view *v, int64_t e) { return (gg_sym *)(void *)gg_continuum_tangents(v, e); }
GG_FN int32_t *gg_continuum_sorted(const gg_view *v, int64_t e) {
    return v->matter_first + e * (v->dims.continuum.cells + 2);
}
GG_FN double *gg_continuum_energy(const gg_view *v, int64_t e) { return (double *)(void *)gg_continuum_sorted(v, e); }
GG_FN int32_t *gg_continuum_moved(const gg_view *v, int64_t e) { return gg_continuum_sorted(v, e); }

/* how dilatancy swells a particle in this substep */
GG_FN double *gg_point_swelling(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    return &v->continuum_swelling[e * v->dims.continuum.slots + (p - gg_continuum_points(v, e))];
}

/* whether substeps are explicit: explicit.h */
GG_FN int gg_continuum_explicit(const gg_view *v) { return v->params.mode == GG_MODE_EXPLICIT; }
/* the particle of a slot, in double precision: position [m] and predicted velocity [m/s] */
GG_FN void gg_continuum_motion(const gg_view *v, int64_t e, int64_t slot, double position[3], double velocity[3]) {
    int64_t at = e * v->dims.slots + slot, id = e * v->dims.slots + v->grain_id[at];
    const float *body = gg_slot_body_at(v, e, slot);
    gg_vec3 x = gg_v3(v->position[at].x, v->position[at].y, v->position[at].z);
    for (int k = 0; k < 3; k++) {
        position[k] = (double)gg_axis_of(x, k) + (double)v->position_error[id * 3 + k];
        velocity[k] = (double)body[k] + (double)v->velocity_error[id * 3 + k];
    }
}

/* whether an env has work in a loop of its solve */
GG_FN int gg_continuum_newton_on(const gg_view *v, int64_t e) { return !v->env[e].converged; }
GG_FN int gg_continuum_inner_on(const gg_view *v, int64_t e) { return !v->env[e].converged && v->env[e].inner; }

#endif
