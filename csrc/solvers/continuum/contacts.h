/* contacts.h: contacts of particles with tools: found, and as a convex potential.
 *
 * SAP (Castro, Permenter, Han 2022): with u the velocity of the particle relative to the tool, u^ = (0, 0, target) and
 * R = diag(across, across, along the normal) the impulse is the projection of y = R^-1 (u^ - u) on the friction cone in
 * the norm of R, and the potential half its square in that norm. R follows from the Delassus operator of the contact
 * alone, W = sum_i w_i^2 / m_i; along the normal it is that of "near-rigid" contact with beta = 1 there. Stress makes
 * matter stiffer than its mass in a substep: W is divided by 1 + GG_CONTINUUM_STIFFEN S, with S as in
 * gg_continuum_stiffness. Contacts also exist before surfaces meet: the gap may close within the substep.
 */
#ifndef GG_CONTINUUM_CONTACTS_H
#define GG_CONTINUUM_CONTACTS_H

#include "../tool_contacts.h"
#include "tools.h"

/* R over W along the normal, 1 / (4 pi^2), and across it; the share of an overlap that a substep removes, 1 / (1 + 1/pi)
 */
#define GG_CONTINUUM_GIVE    0.025330295910584444
#define GG_CONTINUUM_SLIP    1e-2
#define GG_CONTINUUM_RECOVER 0.75854694
/* Liquids stick to tools by the viscosity of a layer as thick as this share of half the particles' distance. */
#define GG_CONTINUUM_SLIP_LENGTH 0.1
/* How much of the stiffness of the matter its contacts take: of all of it linear systems are ill-conditioned, of none
 * stiff and light matter slips out of a grip. */
#define GG_CONTINUUM_STIFFEN 2e-2
/* that share in explicit steps, where what it gives to matter stays as kinetic energy */
#define GG_CONTINUUM_RECOVER_EXPLICIT 0.1

/* How far from a particle's centre it meets tools [m]: at the surface of its matter; of a liquid, which pressure keeps off
 * tools, half as far. */
GG_FN double gg_continuum_reach(const gg_continuum_material *m, double radius) {
    return (m->liquid > 0.0 ? 0.5 : 1.0) * GG_CONTINUUM_REACH * radius;
}

/* a contact of the particle in slot i, but for R */
GG_FN void gg_continuum_meet(const gg_view *v, int64_t e, int32_t i, int64_t part, double gap,
                             gg_continuum_contact *out) {
    int64_t at = e * v->dims.slots + i;
    gg_vec3 normal = gg_part_normal(v, e, i, part);
    double size = 0.0;
    for (int k = 0; k < 3; k++) {
        out->normal[k] = gg_axis_of(normal, k);
        out->impulse[k] = out->along[k] = out->velocity[k] = 0.0;
        size += out->normal[k] * out->normal[k];
    }
    for (int k = 0; k < 3; k++) {
        out->normal[k] = size > 0.0 ? out->normal[k] / sqrt(size) : (double)(k == 2);
    }
    double recover = gg_continuum_explicit(v) ? GG_CONTINUUM_RECOVER_EXPLICIT : GG_CONTINUUM_RECOVER;
    out->target = -(gap < 0.0 ? recover * gap : gap) / (double)v->params.dt;
    out->friction = gg_pair_of(v, e, v->material[at], v->parts[part].material)->friction;
    gg_vec4 x = v->position[at];
    const gg_continuum_material *m = gg_continuum_material_of(v, e, i);
    double half = GG_CONTINUUM_REACH * (double)x.w, reach = gg_continuum_reach(m, x.w);
    int clings = m->liquid > 0.0 && gap < 2.0 * half - reach;
    out->cling = clings ? m->viscosity * (double)v->params.dt * 4.0 * half / GG_CONTINUUM_SLIP_LENGTH : 0.0;
    /* where it acts: at the surface of the particle's matter; in explicit steps at the particle, whose way there closes
     * the gap: what pushed at one place by gaps at another would gain energy */
    out->reach = gg_continuum_explicit(v) ? 0.0 : reach;
    gg_vec3 place = gg_v3((float)(x.x - out->reach * out->normal[0]), (float)(x.y - out->reach * out->normal[1]),
                          (float)(x.z - out->reach * out->normal[2]));
    gg_vec3 surface = gg_part_velocity(v, e, part, place);
    gg_vec3 arm = gg_sub(place, v->part_pose[e * v->dims.part_count + part].tool_position);
    out->part = (int32_t)part;
    out->tool = gg_continuum_tool(v, v->parts[part].tool);
    for (int k = 0; k < 3; k++) {
        out->surface[k] = out->tool < 0 ? (double)gg_axis_of(surface, k) : 0.0;
        out->arm[k] = gg_axis_of(arm, k);
    }
    out->give[0] = out->give[1] = 0.0;
}

/* Lists them, and notes the overlaps. item: slice of an env */
GG_FN void gg_continuum_list_slice(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t near = v->slice_parts[e * v->dims.slices + slice];
    int64_t touch = v->slice_first_tool_body[e * v->dims.slices + slice] - v->dims.free_bodies;
    gg_overlaps each[GG_LANES] = GG_ZERO;
    GG_ROLLED
    for (int lane = 0; lane < GG_LANES; lane++) {
        int32_t i = (int32_t)(slice * GG_LANES + lane);
        int64_t at = e * v->dims.slots + i, part = v->dims.part_count;
        v->next_first[at] = (int32_t)touch;
        if (v->next_tool_count[at] > 0) {
            part = gg_next_part(v, near, 0);
        }
        for (; part < v->dims.part_count; part = gg_next_part(v, near, part + 1)) {
            gg_touch t = gg_touch_part(v, e, i, part);
            if (t.active) {
                double radius = v->position[at].w,
                       gap = (double)t.gap + radius - gg_continuum_reach(gg_continuum_material_of(v, e, i), radius);
                gg_continuum_meet(v, e, i, part, gap, &gg_continuum_contacts(v, e)[touch++]);
                float overlap = (float)(gap < 0.0 ? -0.5 * gap / radius : 0.0);
                each[lane].most = gg_maxf(each[lane].most, overlap);
                each[lane].sum += overlap;
                each[lane].count += overlap > 0.0f ? 1.0f : 0.0f;
            }
        }
    }
    gg_contacts_prepared(v, e, slice, each);
}

/* Velocity of the matter at a contact: that of the particle, and its derivatives along the axes from there to the
 * surface. */
GG_FN void gg_continuum_at_surface(const gg_continuum_contact *c, gg_real4 velocity, const gg_real4 along[3],
                                   double out[3]) {
    gg_real4 rise = gg_real4_scale(along[0], c->normal[0]);
    rise = gg_real4_madd(gg_real4_madd(rise, c->normal[1], along[1]), c->normal[2], along[2]);
    gg_real4_three(gg_real4_madd(velocity, -c->reach, rise), out);
}

/* the weight of a node at a contact, from that at the particle and its gradient */
GG_FN double gg_continuum_weight(const gg_continuum_contact *c, double weight, const double slope[3]) {
    return weight - c->reach * gg_dot3(c->normal, slope);
}

/* gives a contact its R */
GG_FN void gg_continuum_regularise(gg_continuum_contact *c, double delassus) {
    c->give[0] = GG_CONTINUUM_GIVE * delassus;
    c->give[1] = GG_CONTINUUM_SLIP * delassus;
}

/* that of friction */
GG_FN_LARGE double gg_continuum_friction_law(gg_continuum_contact *c, const double u[3]) {
    gg_sym zero = GG_ZERO, normal = gg_sym_outer(c->normal);
    double un = gg_dot3(c->normal, u), across[3], a[3], yn = (c->target - un) / c->give[0];
    for (int k = 0; k < 3; k++) {
        across[k] = -(u[k] - un * c->normal[k]) / c->give[1];
        c->impulse[k] = 0.0;
    }
    c->tangent = zero;
    double yr = sqrt(gg_dot3(across, across)), ratio = c->friction * c->give[1] / c->give[0];
    if (yn > 0.0 && yr <= c->friction * yn) {
        for (int k = 0; k < 3; k++) {
            c->impulse[k] = yn * c->normal[k] + across[k];
        }
        c->tangent = gg_sym_shift(gg_sym_scale(normal, 1.0 / c->give[0] - 1.0 / c->give[1]), 1.0 / c->give[1]);
        return 0.5 * (c->give[0] * yn * yn + c->give[1] * yr * yr);
    }
    if (yn <= -ratio * yr) {
        return 0.0;
    }
    double soft = 1.0 / (1.0 + c->friction * ratio), gn = (yn + ratio * yr) * soft;
    for (int k = 0; k < 3; k++) {
        across[k] = yr > 0.0 ? across[k] / yr : 0.0;
        a[k] = c->normal[k] + c->friction * across[k];
        c->impulse[k] = gn * a[k];
    }
    c->tangent = gg_sym_scale(gg_sym_outer(a), soft / c->give[0]);
    if (yr > 0.0) {
        double turn = c->friction * gn / (yr * c->give[1]);
        gg_sym rest = gg_sym_shift(gg_sym_scale(gg_sym_add(normal, gg_sym_outer(across)), -turn), turn);
        c->tangent = gg_sym_add(c->tangent, rest);
    }
    return 0.5 * gn * gn * (c->give[0] + c->friction * c->friction * c->give[1]);
}

/* Impulse and tangent of a contact at the relative velocity u; returns the potential [J]. */
GG_FN double gg_continuum_contact_law(gg_continuum_contact *c, const double u[3]) {
    double potential = gg_continuum_friction_law(c, u), un = gg_dot3(c->normal, u), across[3];
    if (!(c->cling > 0.0)) {
        return potential;
    }
    for (int k = 0; k < 3; k++) {
        across[k] = u[k] - un * c->normal[k];
        c->impulse[k] -= c->cling * across[k];
    }
    c->tangent = gg_sym_shift(gg_sym_madd(c->tangent, -c->cling, gg_sym_outer(c->normal)), c->cling);
    return potential + 0.5 * c->cling * gg_dot3(across, across);
}

/* what the contacts of the particle in a slot do to tools. item: slot of an env */
GG_FN void gg_continuum_load_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, touch = v->next_first[at];
    for (int32_t k = 0; k < v->next_tool_count[at]; k++, touch++) {
        const gg_continuum_contact *c = &gg_continuum_contacts(v, e)[touch];
        gg_tool_load *load = &v->tool_load[e * v->dims.tool_contacts + touch];
        load->tool = v->parts[c->part].tool;
        load->force = gg_v3((float)-c->impulse[0], (float)-c->impulse[1], (float)-c->impulse[2]);
        load->torque = gg_cross(gg_v3((float)c->arm[0], (float)c->arm[1], (float)c->arm[2]), load->force);
    }
}

#endif
