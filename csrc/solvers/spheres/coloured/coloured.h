/* coloured.h: the law of spheres (spheres/ncp.h), solved by coloured Gauss-Seidel with late-start momentum.
 *
 * A contact is one record, owned by one of its two grains. Contacts of one colour share no grain: a sweep solves colour
 * after colour, the contacts of a colour in parallel, and each contact sees what those before it changed. Per contact,
 * with K = 1/m_i + 1/m_j and the relaxation factor w,
 *
 *     Q = P + beta (P - P_previous)
 *     P = project( Q - (w / K) (v_contact - bias) )            normal, then friction (2/7 w / K)
 *     v_i += (P - Q) / m_i,  v_j -= (P - Q) / m_j              and spins likewise
 *     T = bound( R - w I (omega_i - omega_j) )                 rolling, with the spins that friction has just changed
 *
 * Friction and rolling of a contact are solved in turn because together their 2 x 2 block has the eigenvalue 1.85 on a
 * floor: with momentum it would diverge.
 *
 * Momentum. At the start of sweep k velocities are extrapolated as impulses are, v += beta_k (v - v_previous), which
 * keeps them the velocities of the impulses Q. beta is 0 in the first two sweeps, then that of Nesterov's sequence at
 * k + GG_MOMENTUM_START: started anew in every substep, the sequence is most of its way to 1 only after ten sweeps, and
 * would be worth little in so few. From sweep GG_MOMENTUM_SWEEPS on beta stays as it is, at .90. A sweep in one order is
 * not symmetric: errors have complex growth factors, near 1 where they are slow, and those diverge as beta tends to 1.
 *
 * Position correction moves both sides of a contact by shares of one displacement in proportion to 1/m, so that the
 * centre of mass stays.
 */
#ifndef GG_COLOURED_H
#define GG_COLOURED_H

#include "../contacts.h"

/* relaxation factor w of up to GG_OVER_RELAXED sweeps with momentum in a scene without tools; elsewhere it is 1 */
#define GG_OVER_RELAXATION 1.2f
#define GG_OVER_RELAXED    20
/* Nor is it more than 1 where the heaviest grain of an env has this many times the mass of the lightest: what is too much
 * for a light grain between heavy ones throws it. */
#define GG_EVEN_MASSES 30.0f
/* index of Nesterov's sequence from which momentum starts, and the sweeps in which it grows */
#define GG_MOMENTUM_START  10
#define GG_MOMENTUM_SWEEPS 20

/* No contact starts from more than what stops its heavier grain where it moves this many of the smaller radii in a
 * substep, or what carries so many of such grains: a bed at rest stores less, in its strongest force chains, too. A grain
 * that kinematic tools squeeze stores what has no bound, and is shot off when they let go. */
#define GG_STORED_RADII   10.0f
#define GG_STORED_WEIGHTS 2000.0f

/* So many bodies stay in the near caches from one sweep to the next. With more, sweeps wait for memory, and those that
 * solve two vectors of contacts side by side wait longer. */
#define GG_NEAR_BODIES 16384

/* A listed contact is linked to its record: GG_COLOURS record + colour. GG_NO_RECORD: it has none yet. Records from
 * gg_kept_records on are kept contacts of grains that were asleep (asleep.h), which have no colour yet. */
#define GG_NO_RECORD (INT32_MAX / GG_COLOURS)
GG_FN int32_t gg_link(int32_t record, int32_t colour) { return record * GG_COLOURS + colour; }
GG_FN int32_t gg_link_record(int32_t link) { return (int32_t)((uint32_t)link / GG_COLOURS); }
GG_FN int32_t gg_link_colour(int32_t link) { return (int32_t)((uint32_t)link % GG_COLOURS); }

/* where records of kept contacts begin, and the first one of a grain in the arrays of all envs */
GG_FN int32_t gg_kept_records(const gg_view *v) { return (int32_t)(v->dims.coloured.rows * GG_LANES); }
GG_FN int64_t gg_kept_first(const gg_view *v, int64_t e, int64_t id) {
    return (e * v->dims.sleep.slots + id) * GG_KEPT;
}

/* whether a contact was solved in the last substep */
GG_FN int gg_link_lasts(const gg_view *v, int32_t link) { return gg_link_record(link) < gg_kept_records(v); }

/* the pass of a phase over the contacts of one colour */
GG_FN int32_t gg_colour_pass(int32_t sweep, int32_t colour) { return sweep * GG_COLOURS + colour; }

/* items in which the contacts of a colour are solved: as many as threads can share */
GG_FN int64_t gg_colour_shares(const gg_dims *d) { return GG_MAX(1, GG_MIN(d->slices / 64, 256)); }

/* the lists of a grain, and the links, that this substep writes or (stored) that the last one wrote */
GG_FN int32_t *gg_coloured_keys(const gg_view *v, int64_t e, int stored) {
    return (v->env[e].key_buffer ^ stored ? v->key_a : v->key_b) + e * v->dims.contact_rows * GG_LANES;
}
GG_FN int32_t *gg_coloured_links(const gg_view *v, int64_t e, int stored) {
    return (v->env[e].key_buffer ^ stored ? v->link_a : v->link_b) + e * v->dims.coloured.rows * GG_LANES;
}

/* Impulses by record after `done` sweeps, which write the two buffers in turns. Those of the last substep are where the
 * first sweep writes: done 1, before it. */
GG_FN float *gg_coloured_impulses(const gg_view *v, int64_t e, int32_t done) {
    int in_a = v->env[e].impulse_buffer ^ (done & 1);
    return (in_a ? v->impulse_a : v->impulse_b) + e * v->dims.contact_rows * GG_LANES * 3;
}
GG_FN float *gg_coloured_torques(const gg_view *v, int64_t e, int32_t done) {
    int in_a = v->env[e].impulse_buffer ^ (done & 1);
    return (in_a ? v->roll_a : v->roll_b) + e * v->dims.spheres.roll_rows * GG_LANES * 3;
}

/* where component x of a vector of a record lies; y and z follow GG_LANES and 2 GG_LANES later */
GG_FN int64_t gg_record3(int64_t record) { return record / GG_LANES * GG_LANES * 3 + record % GG_LANES; }

#endif
