/* explicit.h: a substep of continuous matter in explicit steps, GG_MODE_EXPLICIT: the baseline beside the implicit one.
 *
 * MLS-MPM (Hu et al. 2018) by symplectic Euler, over the same particles, materials, nodes and contacts. The stress that a
 * particle has at the start of the substep gives momentum to nodes together with its own (equation 16 there: gradients of
 * weights are 4 / h^2 times their moments), the gradient of velocities is APIC's matrix, and yield is the return mapping
 * at the end.
 *
 * Contacts are resolved once, all from the same velocities. Each stops the motion of its matter into the tool, or what of
 * it would close the gap, and of its sliding what Coulomb's cone allows. What it meets is the mass of the nodes that it
 * reaches, shared with the other contacts there: the inverse mass is the sum of its row of the Delassus matrix,
 *
 *     W_c = sum_d sum_i w_ci w_di / m_i,
 *
 * which stops matter that comes as a whole, and bounds the eigenvalues. A tool with a mass is met at the velocity with
 * which it came, as if it were held, and takes the impulses after: weak coupling, unstable where the matter at its contacts
 * is heavier than the tool. Nothing is iterated.
 *
 * Steps must be short: gg_explicit_bound.
 */
#ifndef GG_CONTINUUM_EXPLICIT_H
#define GG_CONTINUUM_EXPLICIT_H

#include "contacts.h"
#include "matter.h"
#include "nodes.h"

/* Longest step over the time that sound takes from node to node. A particle alone on its nodes is stable up to
 * sqrt((K + 4/3 G) / 3 K), .577 and more, a body up to .8 and more; matter that is stretched bears less. */
#define GG_EXPLICIT_COURANT 0.5

/* The step that a material bears [s]: (dt / a)^2 + dt / b = 1, as of a damped oscillator, where a is that of its elasticity
 * and b that of its viscosity, half of what a particle alone on its nodes bears. spacing: of the nodes [m] */
GG_FN double gg_explicit_bound(const gg_continuum_material *m, double density, double spacing) {
    double sound = sqrt((m->bulk + 4.0 / 3.0 * m->shear) / density);
    double elastic = GG_EXPLICIT_COURANT * spacing / sound;
    double rate = 8.0 * m->viscosity / (density * spacing * spacing), ratio = 0.5 * elastic * rate;
    return elastic * (sqrt(1.0 + ratio * ratio) - ratio);
}

/* Adds the momentum that stress gives in a substep to what a particle scatters by moments. affine: its gradient of
 * velocities, row by row */
GG_FN_LARGE void gg_explicit_stress(const gg_view *v, int64_t e, const gg_continuum_point *p, const float *affine,
                                    gg_real4 along[3]) {
    double dt = v->params.dt, h = v->params.spacing, scale = -4.0 / (h * h);
    gg_tensor gradient;
    for (int n = 0; n < 9; n++) {
        gradient.m[n / 3][n % 3] = affine[n];
    }
    gg_sym lever = gg_point_lever(v, e, p), change = gg_matter_strain_change(gradient, lever, dt);
    gg_matter m = gg_matter_of(gg_continuum_material_of(v, e, p->slot), p->strength, p->strain, change, dt);
    gg_point_gift gift = gg_point_stress(p, m.stress, lever, dt);
    for (int j = 0; j < 3; j++) {
        along[j] = gg_real4_madd(along[j], scale, gift.along[j]);
    }
}

/* the yield stress under the pressure at the end of a substep, before it yields */
GG_FN double gg_explicit_strength(const gg_continuum_material *m, gg_tensor gradient, gg_sym before, double dt) {
    gg_sym change = gg_matter_strain_change(gradient, gg_matter_lever(m, before), dt);
    return gg_matter_strength(m, gg_sym_trace(before) + gg_sym_trace(change));
}

/* Adds up the weights of contacts at nodes. item: block of an env */
GG_FN void gg_explicit_weigh_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    const double one[3] = {1.0, 0.0, 0.0};
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        if (p->contact_count) {
            gg_point_gift gift = gg_point_nothing();
            gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
            GG_ROLLED
            for (int32_t c = 0; c < p->contact_count; c++) {
                gg_point_push(&gift, &gg_continuum_contacts(v, e)[p->contact + c], one);
            }
            gg_spline_scatter(&s, gift.impulse, gift.along, given + p->halo);
        }
    }
}

/* What contacts see of a node: its velocity, and in w their weights there over its mass. item: block of nodes of an env */
GG_FN void gg_explicit_weigh_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes) {
        return;
    }
    int64_t first = gg_node_first(v, e, n);
    GG_ROLLED
    for (int k = 0; k < GG_NODES; k++) {
        gg_real4 u = v->continuum_free[first + k];
        double mass = gg_real4_at(v->continuum_free[first + k], 3);
        double load = mass > 0.0 ? gg_real4_at(gg_node_sum(v, e, n, k), 0) / mass : 0.0;
        v->continuum_way[first + k] = gg_real4_set(gg_real4_at(u, 0), gg_real4_at(u, 1), gg_real4_at(u, 2), load);
    }
}

/* Impulse of a contact at the relative velocity u, where it meets an inverse mass [1/kg]. */
GG_FN void gg_explicit_contact(gg_continuum_contact *c, const double u[3], double inverse_mass) {
    double un = gg_dot3(c->normal, u), across[3], pn = (c->target - un) / inverse_mass;
    int closes = pn > 0.0 && inverse_mass > 0.0;
    for (int k = 0; k < 3; k++) {
        across[k] = -(u[k] - un * c->normal[k]) / inverse_mass;
    }
    double size = sqrt(gg_dot3(across, across)), most = c->friction * pn, share = size > most ? most / size : 1.0;
    for (int k = 0; k < 3; k++) {
        c->impulse[k] = closes ? pn * c->normal[k] + share * across[k] : 0.0;
    }
}

/* The impulses of contacts. item: block of an env */
GG_FN void gg_explicit_push_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *nodes = v->continuum_way + e * v->dims.continuum.nodes * GG_NODES;
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        if (!p->contact_count) {
            continue;
        }
        gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
        gg_spline_sum sum = gg_spline_sum_begin();
        int x = p->halo % 6, y = p->halo / 6 % 6, z = p->halo / 36;
        GG_ROLLED
        for (int n = 0; n < 9; n++) {
            int j = n % 3, l = n / 3;
            gg_spline_add_row(&s, j, nodes[gg_halo_node(block, x, y + j, z + l)],
                              nodes[gg_halo_node(block, x + 1, y + j, z + l)],
                              nodes[gg_halo_node(block, x + 2, y + j, z + l)], &sum);
            if (j == 2) {
                gg_spline_add_plane(&s, l, &sum);
            }
        }
        const gg_real4 value = sum.value, *along = sum.along;
        gg_point_gift gift = gg_point_nothing();
        double rise[3] = {gg_real4_at(along[0], 3), gg_real4_at(along[1], 3), gg_real4_at(along[2], 3)};
        GG_ROLLED
        for (int32_t c = 0; c < p->contact_count; c++) {
            gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
            double u[3];
            gg_continuum_at_surface(contact, value, along, u);
            for (int i = 0; i < 3; i++) {
                u[i] -= contact->surface[i];
            }
            gg_contact_less_tool(contact, gg_twist(v, e, GG_TWIST_VELOCITY), u);
            gg_explicit_contact(contact, u, gg_continuum_weight(contact, gg_real4_at(value, 3), rise));
            gg_point_push(&gift, contact, contact->impulse);
        }
        gg_spline_scatter(&s, gift.impulse, gift.along, given + p->halo);
    }
    gg_block_sum_tools(v, e, b, 0);
}

/* Velocities after contact. item: block of nodes of an env */
GG_FN void gg_explicit_push_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes) {
        return;
    }
    int64_t first = gg_node_first(v, e, n);
    GG_ROLLED
    for (int k = 0; k < GG_NODES; k++) {
        double mass = gg_real4_at(v->continuum_free[first + k], 3);
        gg_real4 u = v->continuum_free[first + k];
        u = mass > 0.0 ? gg_real4_madd(u, 1.0 / mass, gg_node_sum(v, e, n, k)) : u;
        v->continuum_velocity[first + k] = gg_real4_set(gg_real4_at(u, 0), gg_real4_at(u, 1), gg_real4_at(u, 2), mass);
    }
}

#endif
