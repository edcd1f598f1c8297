/* search.h: the exact line search of Newton's method. Strains and relative velocities are linear in the length of the
 * step, so that a length is tried on particles and contacts alone. */
#ifndef GG_CONTINUUM_SEARCH_H
#define GG_CONTINUUM_SEARCH_H

#include "linear.h"

/* how the strain of a particle changes along the step */
GG_FN gg_sym *gg_point_along(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    return &gg_continuum_along(v, e)[p - gg_continuum_points(v, e)];
}

/* how strain and relative velocities of a particle change along the step, of which its nodes say `value` and `along` */
GG_FN void gg_point_ray(const gg_view *v, int64_t e, gg_continuum_point *p, gg_real4 value, const gg_real4 along[3]) {
    *gg_point_along(v, e, p) = gg_matter_strain_along(along, gg_point_lever(v, e, p), v->params.dt);
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        gg_continuum_at_surface(contact, value, along, contact->along);
        gg_contact_less_tool(contact, gg_twist(v, e, GG_TWIST_ALONG), contact->along);
    }
}

/* the same of all particles of a block. item: block of an env */
GG_FN void gg_continuum_ray_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *halo = gg_halo_read(v, e, b, v->continuum_step, gg_given_of(v, e, b));
    gg_cell cell;
    gg_cell_begin(&cell, v->params.spacing);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_real4 value, along[3];
        gg_cell_enter(&cell, p->halo, halo, NULL);
        gg_cell_gather(&cell, p->place, &value, along);
        gg_point_ray(v, e, p, value, along);
    }
}

/* the inertial part of the slope and of its rise */
GG_FN void gg_continuum_ray_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    (void)e;
    gg_real4 u = v->continuum_velocity[node.at], step = v->continuum_step[node.at], free = v->continuum_free[node.at];
    double mass = gg_real4_at(free, 3);
    sum->of[0] += mass * gg_real4_dot3(gg_real4_sub(u, free), step);
    sum->of[1] += mass * gg_real4_dot3(step, step);
}
GG_NODES_PHASE(ray, gg_continuum_newton_on(v, e))

/* sum: over the blocks of nodes */
GG_FN void gg_continuum_ray(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->slope = sum.of[0] + gg_twist_dot(v, e, GG_TWIST_ITERATE, GG_TWIST_STEP);
    own->curvature = sum.of[1] + gg_twist_dot(v, e, GG_TWIST_STEP, GG_TWIST_STEP);
    own->length = gg_root_begin();
    own->tries = 0;
    v->env[e].inner = 1;
}
GG_NODES_JUDGED(ray, gg_continuum_newton_on(v, e))

/* what a particle adds to the slope of the objective at a length of the step, and to its rise */
GG_FN void gg_point_try(const gg_view *v, int64_t e, const gg_continuum_point *p, double length, double *slope,
                        double *rise) {
    const gg_continuum_material *material = gg_continuum_material_of(v, e, p->slot);
    gg_sym along = *gg_point_along(v, e, p), strain = gg_sym_madd(p->strain, length, along), change = GG_ZERO;
    if (material->viscosity > 0.0) {
        change = gg_sym_sub(strain, gg_point_before(v, e, p));
    }
    gg_matter m = gg_matter_of(material, p->strength, strain, change, v->params.dt);
    *slope = p->volume * gg_sym_dot(m.stress, along);
    *rise = p->volume * gg_sym_dot(gg_matter_tangent(&m, along), along);
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact contact = gg_continuum_contacts(v, e)[p->contact + c];
        double u[3], turned[3];
        for (int i = 0; i < 3; i++) {
            u[i] = contact.velocity[i] + length * contact.along[i];
        }
        gg_continuum_contact_law(&contact, u);
        gg_sym_mul(contact.tangent, contact.along, turned);
        *slope -= gg_dot3(contact.impulse, contact.along);
        *rise += gg_dot3(turned, contact.along);
    }
}

/* slope of the objective at the length that is tried, and its rise. item: block of an env */
GG_FN void gg_continuum_try_block(const gg_view *v, int64_t e, int64_t b) {
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (b >= own->blocks || !gg_continuum_inner_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_continuum_sum sum = GG_ZERO;
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        double slope, rise;
        gg_point_try(v, e, &gg_continuum_points(v, e)[k], own->length.at, &slope, &rise);
        sum.of[0] += slope;
        sum.of[1] += rise;
    }
    if (gg_has_liquid(v)) {
        gg_liquid_try(v, e, b, own->length.at, &sum);
    }
    gg_block_sums(v, e)[b] = sum;
}

/* Judges the length that was tried: a root of the slope. sum: over the blocks */
GG_FN void gg_continuum_try(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    double length = own->length.at, slope = own->slope + length * own->curvature + sum.of[0];
    double rise = own->curvature + sum.of[1];
    gg_twists_try(v, e, length, &slope, &rise);
    own->tries++;
    own->tries_all++;
    double most = slope < 0.0 ? -slope : slope;
    if (most <= GG_CONTINUUM_SEARCH * own->first_energy || own->tries >= GG_CONTINUUM_TRIES) {
        v->env[e].inner = 0;
        gg_twists_advance(v, e, length);
    } else {
        gg_root_next(&own->length, slope, rise);
    }
}

/* item: env */
GG_FN void gg_continuum_try_env(const gg_view *v, int64_t e) {
    if (gg_continuum_inner_on(v, e)) {
        gg_continuum_try(v, e, gg_continuum_total(gg_block_sums(v, e), gg_continuum_env_of(v, e)->blocks));
    }
}

GG_FN void gg_continuum_advance_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    (void)sum;
    v->continuum_velocity[node.at] =
        gg_real4_madd(v->continuum_velocity[node.at], gg_continuum_env_of(v, e)->length.at, v->continuum_step[node.at]);
}
GG_NODES_PHASE(advance, gg_continuum_newton_on(v, e))

#endif
