/* newton.h: Newton's method: the objective, its gradient, and the diagonal blocks of its Hessian. */
#ifndef GG_CONTINUUM_NEWTON_H
#define GG_CONTINUUM_NEWTON_H

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
    double dt = v->params.dt, follow = gg_continuum_follow(gg_continuum_env_of(v, e)->newton);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_real4 value, along[3];
        gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
        gg_spline_gather(&s, halo + p->halo, &value, along);
        gg_tensor gradient = gg_gradient_of(along);
        gg_sym change = gg_matter_strain_change(gradient, p->stretch, dt);
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
        gg_point_give(p, &s, &gift, given);
    }
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
        double mass = gg_real4_at(u, 3);
        if (!(mass > 0.0)) {
            v->continuum_residual[first + k] = gg_real4_zero();
            continue;
        }
        gg_real4 change = gg_real4_sub(u, free), given = gg_node_sum(v, e, n, k, 0);
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

/* Diagonal 3 x 3 blocks of the Hessian, but for inertia. item: block of an env */
GG_FN void gg_continuum_diagonal_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_real4 *given = gg_given_clear(v, e, b, 2);
    double dt = v->params.dt;
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
        double scale = p->volume * dt * dt, first = p->bulk - p->shear / 3.0, second = 0.5 * p->shear;
        GG_ROLLED
        for (int n = 0; n < 27; n++) {
            int i = n % 3, j = n / 3 % 3, l = n / 9, at = p->halo + l * 36 + j * 6 + i;
            double slope[3], pulled[3], flowing[3], weight = gg_spline_node(&s, i, j, l, slope);
            gg_sym_mul(p->stretch, slope, pulled);
            gg_sym_mul(p->along, pulled, flowing);
            gg_sym own = gg_sym_scale(gg_sym_outer(pulled), first + second);
            own = gg_sym_shift(own, second * gg_dot3(pulled, pulled));
            own = gg_sym_scale(gg_sym_madd(own, -p->soften, gg_sym_outer(flowing)), scale);
            GG_ROLLED
            for (int32_t c = 0; c < p->contact_count; c++) {
                const gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
                double at_surface = gg_continuum_weight(contact, weight, slope);
                own = gg_sym_madd(own, at_surface * at_surface, contact->tangent);
            }
            given[at] = gg_real4_add(given[at], gg_real4_set(own.xx, own.yy, own.zz, own.xy));
            given[GG_HALO + at] = gg_real4_add(given[GG_HALO + at], gg_real4_set(own.xz, own.yz, 0.0, 0.0));
        }
    }
}

#endif
