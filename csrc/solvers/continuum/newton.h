/* newton.h: Newton's method: the objective, its gradient, and the diagonal blocks of its Hessian. */
#ifndef GG_CONTINUUM_NEWTON_H
#define GG_CONTINUUM_NEWTON_H

#include "cells.h"
#include "transfer.h"

/* How far the yield stresses follow the pressures of the iterate. The minimum for given yield stresses is unique; that
 * yield stresses and pressures agree is a fixed point beside it, to which whole steps may go round in circles. */
GG_FN double gg_continuum_follow(int32_t newton) { return newton < 5 ? 1.0 : newton < 11 ? 0.5 : 0.0; }

/* Strain, stress and contacts at the iterate; what they add to the gradient and the objective. item: block of an env */
GG_FN void gg_continuum_linearise_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *halo = gg_halo_read(v, e, b, v->continuum_velocity);
    gg_real4 *given = gg_given_clear(v, e, b, 1);
    gg_continuum_tool_sum *tools = block->dynamic ? gg_block_tools_clear(v, e, b) : NULL;
    const double *twists = gg_twist(v, e, GG_TWIST_VELOCITY);
    gg_continuum_sum sum = GG_ZERO;
    sum.of[0] = gg_has_liquid(v) ? gg_liquid_energy(v, e, b) : 0.0;
    double dt = v->params.dt, follow = gg_continuum_follow(gg_continuum_env_of(v, e)->newton);
    gg_cell cell;
    gg_cell_begin(&cell, v->params.spacing);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_real4 value, along[3];
        gg_cell_enter(&cell, p->halo, halo, given);
        gg_cell_gather(&cell, p->place, &value, along);
        gg_tensor gradient = gg_tensor_of_columns(along);
        gg_sym change = gg_matter_strain_along(along, p->stretch, dt);
        p->strain = gg_sym_add(gg_sym_shift(p->stretch, -1.0), change);
        const gg_continuum_material *material = gg_continuum_material_of(v, e, p->slot);
        p->strength += follow * (gg_matter_strength(material, gg_sym_trace(p->strain)) - p->strength);
        gg_matter m = gg_matter_of(material, p->strength, p->strain, change, dt);
        p->bulk = m.bulk;
        p->shear = m.shear;
        p->soften = m.soften;
        p->along = m.flow;
        sum.of[0] += p->volume * m.energy;
        gg_point_gift gift = gg_point_stress(p, m.stress, dt);
        if (gg_has_liquid(v)) {
            gg_liquid_push(p, along, dt, &gift);
            p->pressed = gg_real4_at(value, 3) > 0.0 ? GG_LIQUID_DIAGONAL * material->liquid : 0.0;
        }
        GG_ROLLED
        for (int32_t c = 0; c < p->contact_count; c++) {
            gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
            double u[3], against[3];
            gg_real4_three(value, u);
            gg_continuum_at_surface(contact, u, &gradient, contact->velocity);
            for (int i = 0; i < 3; i++) {
                contact->velocity[i] -= contact->surface[i];
            }
            gg_contact_less_tool(contact, twists, contact->velocity);
            sum.of[0] += gg_continuum_contact_law(contact, contact->velocity);
            for (int i = 0; i < 3; i++) {
                against[i] = -contact->impulse[i];
            }
            gg_point_push(&gift, contact, against);
            if (contact->tool >= 0) {
                gg_block_tools_push(tools, contact, contact->impulse);
                gg_block_tools_stiffen(tools, contact);
            }
        }
        gg_cell_scatter(&cell, p->place, gift.impulse, gift.along);
    }
    gg_cell_end(&cell, given);
    gg_block_sums(v, e)[b] = sum;
}

/* the gradient at the nodes; sums of the objective, the gradient and the momenta that change. item: block of nodes of an
 * env */
GG_FN void gg_continuum_gradient_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes || !gg_continuum_newton_on(v, e)) {
        return;
    }
    int64_t first = gg_node_first(v, e, n);
    gg_continuum_sum sum = GG_ZERO;
    GG_ROLLED
    for (int k = 0; k < GG_NODES; k++) {
        gg_real4 u = v->continuum_velocity[first + k], free = v->continuum_free[first + k];
        double mass = gg_real4_at(free, 3);
        if (!(mass > 0.0)) {
            v->continuum_residual[first + k] = gg_real4_zero();
            continue;
        }
        gg_real4 change = gg_real4_sub(u, free), given = gg_node_sum(v, e, n, k);
        gg_real4 residual = gg_real4_scale(gg_real4_madd(given, mass, change), -1.0);
        residual = gg_real4_set(gg_real4_at(residual, 0), gg_real4_at(residual, 1), gg_real4_at(residual, 2), 0.0);
        v->continuum_residual[first + k] = residual;
        sum.of[0] += 0.5 * mass * gg_real4_dot3(change, change);
        sum.of[1] += gg_real4_dot3(residual, residual) / mass;
        sum.of[2] += mass * gg_real4_dot3(free, free);
        sum.of[3] += mass;
    }
    gg_node_sums(v, e)[n] = sum;
}

/* Judges the iterate, and opens the next linear solve. The bound is a share of the momenta at hand: those of free motion,
 * of what changes, and of gravity; or the tolerance of the solver, a mean velocity. item: env */
GG_FN void gg_continuum_judge_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (!gg_continuum_newton_on(v, e)) {
        return;
    }
    gg_continuum_sum nodes = gg_continuum_total(gg_node_sums(v, e), own->nodes);
    double kick = (double)gg_norm(env->gravity) * (double)v->params.dt, stops = 0.0;
    gg_twists_judge(v, e, &nodes, &stops);
    own->momenta = sqrt(GG_MAX(nodes.of[2], GG_MAX(2.0 * nodes.of[0], nodes.of[3] * kick * kick)));
    own->cost = stops + nodes.of[0] + gg_continuum_total(gg_block_sums(v, e), own->blocks).of[0];
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
}

/* (first + second) g g^T + second |g|^2 - soften f f^T, with f = along g, of three nodes side by side: each a lane of g */
GG_FN void gg_point_diagonal(const gg_continuum_point *p, double scale, const gg_real4 g[3], gg_real4 out[6]) {
    double second = 0.5 * p->shear * scale, both = (p->bulk + p->pressed + p->shear / 6.0) * scale;
    gg_real4 size = gg_real4_scale(
        gg_real4_add(gg_real4_add(gg_real4_times(g[0], g[0]), gg_real4_times(g[1], g[1])), gg_real4_times(g[2], g[2])),
        second);
    gg_real4 of[3] = {gg_real4_scale(g[0], both), gg_real4_scale(g[1], both), gg_real4_scale(g[2], both)};
    for (int k = 0; k < 3; k++) {
        out[k] = gg_real4_add(size, gg_real4_times(of[k], g[k]));
        out[3 + k] = gg_real4_times(of[k == 2], g[1 + (k > 0)]);
    }
    if (p->soften > 0.0) {
        gg_real4 f[3];
        gg_columns_times(g, p->along, f);
        for (int k = 0; k < 3; k++) {
            of[k] = gg_real4_scale(f[k], -p->soften * scale);
        }
        for (int k = 0; k < 3; k++) {
            out[k] = gg_real4_add(out[k], gg_real4_times(of[k], f[k]));
            out[3 + k] = gg_real4_add(out[3 + k], gg_real4_times(of[k == 2], f[1 + (k > 0)]));
        }
    }
}

/* Diagonal 3 x 3 blocks of the Hessian, but for inertia; rows of three nodes along x. item: block of an env */
GG_FN void gg_continuum_diagonal_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_given_clear(v, e, b, 2);
    double dt = v->params.dt, *given = gg_given_components(v, e, b);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
        gg_real4 weight = gg_real4_set(s.weight[0][0], s.weight[0][1], s.weight[0][2], 0.0);
        gg_real4 other = gg_real4_set(s.other[0][0], s.other[0][1], s.other[0][2], 0.0);
        GG_ROLLED
        for (int n = 0; n < 9; n++) {
            int j = n % 3, l = n / 3;
            double y = s.weight[1][j], z = s.weight[2][l];
            gg_real4 slope[3] = {gg_real4_scale(other, y * z), gg_real4_scale(weight, s.other[1][j] * z),
                                 gg_real4_scale(weight, y * s.other[2][l])};
            gg_real4 pulled[3], own[6];
            gg_columns_times(slope, p->stretch, pulled);
            gg_point_diagonal(p, p->volume * dt * dt, pulled, own);
            GG_ROLLED
            for (int32_t c = 0; c < p->contact_count; c++) {
                const gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
                gg_real4 at_surface = gg_real4_scale(weight, y * z);
                for (int axis = 0; axis < 3; axis++) {
                    at_surface = gg_real4_madd(at_surface, -contact->reach * contact->normal[axis], slope[axis]);
                }
                gg_real4 square = gg_real4_times(at_surface, at_surface);
                const double tangent[6] = {contact->tangent.xx, contact->tangent.yy, contact->tangent.zz,
                                           contact->tangent.xy, contact->tangent.xz, contact->tangent.yz};
                for (int i = 0; i < 6; i++) {
                    own[i] = gg_real4_madd(own[i], tangent[i], square);
                }
            }
            double *to = given + p->halo + l * 36 + j * 6;
            for (int i = 0; i < 6; i++) {
                gg_real4_store(to + i * GG_HALO, gg_real4_add(gg_real4_load(to + i * GG_HALO), own[i]));
            }
        }
    }
}

#endif
