/* newton.h: Newton's method: the objective, its gradient, and the diagonal blocks of its Hessian. */
#ifndef GG_CONTINUUM_NEWTON_H
#define GG_CONTINUUM_NEWTON_H

#include "cells.h"
#include "transfer.h"

/* How far yield stresses, and what dilatancy adds to volumes, follow the iterate. The minimum for given ones is unique; that
 * they agree with its pressures and strains is a fixed point beside it, to which whole steps may go round in circles. */
GG_FN double gg_continuum_follow(int32_t newton) { return newton < 5 ? 1.0 : newton < 11 ? 0.5 : 0.0; }

GG_FN const gg_continuum_tangent *gg_point_tangent(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    return &gg_continuum_tangents(v, e)[p - gg_continuum_points(v, e)];
}

/* energy of its strain and contacts at the iterate [J] */
GG_FN double *gg_point_energy(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    return &gg_continuum_energy(v, e)[p - gg_continuum_points(v, e)];
}

/* its Hessian, in single precision */
GG_FN void gg_point_keep_tangent(const gg_view *v, int64_t e, const gg_continuum_point *p, const gg_matter *m,
                                 gg_sym by) {
    gg_continuum_tangent *to = &gg_continuum_tangents(v, e)[p - gg_continuum_points(v, e)];
    double dt = v->params.dt, scale = p->volume * dt * dt;
    const double lever[6] = {by.xx, by.yy, by.zz, by.xy, by.xz, by.yz};
    const double flow[6] = {m->flow.xx, m->flow.yy, m->flow.zz, m->flow.xy, m->flow.xz, m->flow.yz};
    for (int k = 0; k < 3; k++) {
        double low = GG_MAX(p->place[k] - 0.5, 1e-30); /* never 0, whose sign would be lost */
        to->off[k] = (float)(low < 0.5 ? low : GG_MIN(p->place[k] - 1.5, -1e-30));
    }
    to->bulk = (float)((m->bulk - m->shear / 3.0) * scale);
    to->shear = (float)(m->shear * scale);
    to->soften = (float)(m->soften * scale);
    for (int k = 0; k < 6; k++) {
        to->lever[k] = (float)lever[k];
        to->flow[k] = (float)flow[k];
    }
    to->halo = (int16_t)p->halo;
    to->touches = p->contact_count > 0;
    to->pressed = gg_has_liquid(v) ? (float)(dt * p->volume) : 0.0f;
}

/* Strain, stress and contacts of a particle at the iterate, of which its nodes say `value` and `along`; what they add to
 * the gradient. */
GG_FN gg_point_gift gg_point_linearise(const gg_view *v, int64_t e, gg_continuum_point *p, gg_real4 value,
                                       const gg_real4 along[3]) {
    double dt = v->params.dt, follow = gg_continuum_follow(gg_continuum_env_of(v, e)->newton);
    const double *twists = gg_twist(v, e, GG_TWIST_VELOCITY);
    gg_sym lever = gg_point_lever(v, e, p), change = gg_matter_strain_along(along, lever, dt);
    p->strain = gg_sym_add(gg_point_before(v, e, p), change);
    const gg_continuum_material *material = gg_continuum_material_of(v, e, p->slot);
    if (material->dilatancy > 0.0) {
        double size = gg_sym_norm(gg_sym_deviator(p->strain)), allowed = 0.5 * p->strength / material->shear;
        double *swelling = gg_point_swelling(v, e, p), volumetric = gg_sym_trace(p->strain);
        double gain = gg_matter_dilates(material, size, allowed, volumetric, gg_point_history(v, e, p->id).dilation);
        *swelling += follow * (gain - *swelling);
        p->strain = gg_sym_shift(p->strain, -*swelling / 3.0);
    }
    p->strength += follow * (gg_matter_strength(material, gg_sym_trace(p->strain)) - p->strength);
    gg_matter m = gg_matter_of(material, p->strength, p->strain, change, dt);
    double *energy = gg_point_energy(v, e, p);
    *energy = p->volume * m.energy;
    gg_point_keep_tangent(v, e, p, &m, lever);
    gg_point_gift gift = gg_point_stress(p, m.stress, lever, dt);
    if (gg_has_liquid(v)) {
        gg_liquid_push(p, along, dt, &gift);
        p->pressed = gg_real4_at(value, 3) > 0.0;
    }
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        double against[3];
        gg_continuum_at_surface(contact, value, along, contact->velocity);
        for (int i = 0; i < 3; i++) {
            contact->velocity[i] -= contact->surface[i];
        }
        gg_contact_less_tool(contact, twists, contact->velocity);
        *energy += gg_continuum_contact_law(contact, contact->velocity);
        for (int i = 0; i < 3; i++) {
            against[i] = -contact->impulse[i];
        }
        gg_point_push(&gift, contact, against);
    }
    return gift;
}

/* Linearises the particles of a block; sums of the objective and the gradient. item: block of an env */
GG_FN void gg_continuum_linearise_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_real4 halo[GG_HALO];
    gg_halo_read(v, e, b, v->continuum_velocity, halo);
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    gg_continuum_sum sum = GG_ZERO;
    sum.of[0] = gg_has_liquid(v) ? gg_liquid_energy(v, e, b) : 0.0;
    gg_cell cell;
    gg_cell_begin(&cell, v->params.spacing);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_real4 value, along[3];
        gg_cell_enter(&cell, p->halo, halo, given);
        gg_cell_gather(&cell, p->place, &value, along);
        gg_point_gift gift = gg_point_linearise(v, e, p, value, along);
        sum.of[0] += *gg_point_energy(v, e, p);
        gg_cell_scatter(&cell, p->place, gift.impulse, gift.along);
    }
    gg_cell_end(&cell, given);
    gg_block_sums(v, e)[b] = sum;
    gg_block_sum_tools(v, e, b, 0);
}

/* the gradient at a node; sums of the objective, the gradient and the momenta that change, and the mass */
GG_FN void gg_continuum_gradient_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    gg_real4 u = v->continuum_velocity[node.at], free = v->continuum_free[node.at];
    double mass = gg_real4_at(free, 3);
    if (!(mass > 0.0)) {
        v->continuum_residual[node.at] = gg_real4_zero();
        return;
    }
    gg_real4 change = gg_real4_sub(u, free), given = gg_node_given(v, e, node);
    gg_real4 residual = gg_real4_scale(gg_real4_madd(given, mass, change), -1.0);
    residual = gg_real4_set(gg_real4_at(residual, 0), gg_real4_at(residual, 1), gg_real4_at(residual, 2), 0.0);
    v->continuum_residual[node.at] = residual;
    sum->of[0] += 0.5 * mass * gg_real4_dot3(change, change);
    sum->of[1] += gg_real4_dot3(residual, residual) / mass;
    sum->of[2] += mass * gg_real4_dot3(free, free);
    sum->of[3] += mass;
}
GG_GIVEN_NODES_PHASE(gradient, gg_continuum_newton_on(v, e))

/* How far a linear solve reduces its residual: to the bound of the solve where the objective is quadratic; else as far as
 * Newton's method gains by it: Eisenstat, Walker (1996), their second choice. */
GG_FN double gg_continuum_forcing(const gg_view *v, const gg_continuum_env *own) {
    double least = 0.2 * own->bound / own->gradient, gained = own->gradient / own->last_gradient;
    double most = gg_has_liquid(v) ? GG_LIQUID_FORCING : GG_CONTINUUM_FORCING;
    double forcing = own->newton > 1 ? 0.9 * gained * gained : most;
    return own->smooth ? least : GG_MAX(least, GG_MIN(forcing, most));
}

/* Judges the iterate, and opens the next linear solve. The bound is a share of the momenta at hand: those of free motion,
 * of what changes, and of gravity; or the tolerance of the solver, a mean velocity. nodes, blocks: sums over these */
GG_FN void gg_continuum_judge(const gg_view *v, int64_t e, gg_continuum_sum nodes, gg_continuum_sum blocks) {
    gg_env *env = &v->env[e];
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    double kick = (double)gg_norm(env->gravity) * (double)v->params.dt, stops = 0.0;
    gg_twists_judge(v, e, &nodes, &stops);
    own->momenta = sqrt(GG_MAX(nodes.of[2], GG_MAX(2.0 * nodes.of[0], nodes.of[3] * kick * kick)));
    own->cost = stops + nodes.of[0] + blocks.of[0];
    own->last_gradient = own->gradient;
    own->gradient = sqrt(nodes.of[1]);
    own->mass = nodes.of[3];
    own->bound = GG_MAX(GG_CONTINUUM_TOLERANCE * own->momenta, (double)v->params.tolerance * sqrt(own->mass));
    int close = own->gradient <= own->bound, finite = own->gradient < 1e300;
    env->converged = close || own->newton >= GG_CONTINUUM_NEWTON || !finite;
    own->unsolved = !close;
    env->inner = !env->converged;
    own->linear = 0;
    own->newton += !env->converged;
    own->single = gg_continuum_forcing(v, own) > GG_CONTINUUM_SINGLE;
}
GG_FN void gg_continuum_judge_env(const gg_view *v, int64_t e) {
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (gg_continuum_newton_on(v, e)) {
        gg_continuum_judge(v, e, gg_continuum_total(gg_node_sums(v, e), own->nodes),
                           gg_continuum_total(gg_block_sums(v, e), own->blocks));
    }
}

/* (first + second) g g^T + second |g|^2 - soften f f^T, with f = flow g, of three nodes side by side: each a lane of g.
 * pressed: stiffness of a liquid under pressure [J] */
GG_FN void gg_point_diagonal(const gg_continuum_tangent *p, double pressed, const gg_real4 g[3], gg_real4 out[6]) {
    double second = 0.5 * (double)p->shear, both = (double)p->bulk + pressed + second;
    gg_real4 size = gg_real4_scale(
        gg_real4_add(gg_real4_add(gg_real4_times(g[0], g[0]), gg_real4_times(g[1], g[1])), gg_real4_times(g[2], g[2])),
        second);
    gg_real4 of[3] = {gg_real4_scale(g[0], both), gg_real4_scale(g[1], both), gg_real4_scale(g[2], both)};
    for (int k = 0; k < 3; k++) {
        out[k] = gg_real4_add(size, gg_real4_times(of[k], g[k]));
        out[3 + k] = gg_real4_times(of[k == 2], g[1 + (k > 0)]);
    }
    if (p->soften > 0.0f) {
        gg_real4 f[3];
        gg_columns_times(g, gg_sym_widened(p->flow), f);
        for (int k = 0; k < 3; k++) {
            of[k] = gg_real4_scale(f[k], -(double)p->soften);
        }
        for (int k = 0; k < 3; k++) {
            out[k] = gg_real4_add(out[k], gg_real4_times(of[k], f[k]));
            out[3 + k] = gg_real4_add(out[3 + k], gg_real4_times(of[k == 2], f[1 + (k > 0)]));
        }
    }
}

/* what a particle and its contacts add to the diagonal blocks of three nodes along x, the row (j, l) of its stencil */
GG_FN void gg_continuum_diagonal_row(const gg_view *v, int64_t e, const gg_continuum_point *p, const gg_spline *s,
                                     int j, int l, gg_real4 own[6]) {
    const gg_continuum_tangent *tangent = gg_point_tangent(v, e, p);
    double dt = v->params.dt, y = s->weight[1][j], z = s->weight[2][l], pressed = 0.0;
    if (p->pressed) {
        pressed = GG_LIQUID_DIAGONAL * gg_continuum_material_of(v, e, p->slot)->liquid * p->volume * dt * dt;
    }
    gg_real4 weight = gg_real4_set(s->weight[0][0], s->weight[0][1], s->weight[0][2], 0.0);
    gg_real4 other = gg_real4_set(s->other[0][0], s->other[0][1], s->other[0][2], 0.0), pulled[3];
    gg_real4 slope[3] = {gg_real4_scale(other, y * z), gg_real4_scale(weight, s->other[1][j] * z),
                         gg_real4_scale(weight, y * s->other[2][l])};
    gg_columns_times(slope, gg_sym_widened(tangent->lever), pulled);
    gg_point_diagonal(tangent, pressed, pulled, own);
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        const gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        gg_real4 at_surface = gg_real4_scale(weight, y * z);
        for (int axis = 0; axis < 3; axis++) {
            at_surface = gg_real4_madd(at_surface, -contact->reach * contact->normal[axis], slope[axis]);
        }
        gg_real4 square = gg_real4_times(at_surface, at_surface);
        const double pushed[6] = {contact->tangent.xx, contact->tangent.yy, contact->tangent.zz,
                                  contact->tangent.xy, contact->tangent.xz, contact->tangent.yz};
        for (int i = 0; i < 6; i++) {
            own[i] = gg_real4_madd(own[i], pushed[i], square);
        }
    }
}

/* Diagonal 3 x 3 blocks of the Hessian, but for inertia; rows of three nodes along x, of a cell first. item: block of an
 * env */
GG_FN void gg_continuum_diagonal_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_given_clear(v, e, b, GG_HALO_MATRICES);
    double *given = gg_given_components(v, e, b);
    int32_t k = block->first, end = block->first + block->count;
    GG_ROLLED
    while (k < end) {
        int32_t halo = gg_continuum_points(v, e)[k].halo;
        gg_real4 sum[9][6];
        for (int n = 0; n < 54; n++) {
            sum[n / 6][n % 6] = gg_real4_zero();
        }
        GG_ROLLED
        for (; k < end && gg_continuum_points(v, e)[k].halo == halo; k++) {
            const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
            gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
            GG_ROLLED
            for (int n = 0; n < 9; n++) {
                gg_real4 own[6];
                gg_continuum_diagonal_row(v, e, p, &s, n % 3, n / 3, own);
                for (int i = 0; i < 6; i++) {
                    sum[n][i] = gg_real4_add(sum[n][i], own[i]);
                }
            }
        }
        GG_ROLLED
        for (int n = 0; n < 54; n++) {
            double *to = given + halo + n / 18 * 36 + n / 6 % 3 * 6 + n % 6 * GG_HALO;
            gg_real4_store(to, gg_real4_add(gg_real4_load(to), sum[n / 6][n % 6]));
        }
    }
}

#endif
