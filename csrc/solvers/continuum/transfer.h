/* transfer.h: from particles to nodes at the start of a substep, and back at its end: APIC (Jiang et al. 2015). */
#ifndef GG_CONTINUUM_TRANSFER_H
#define GG_CONTINUUM_TRANSFER_H

#include "../motion.h"
#include "explicit.h"
#include "liquid.h"

/* a particle as the solve sees it */
GG_FN void gg_point_open(const gg_view *v, int64_t e, int64_t slot, uint64_t key, gg_continuum_point *p, double x[3],
                         double velocity[3]) {
    int64_t at = e * v->dims.slots + slot;
    double radius = v->position[at].w;
    gg_continuum_motion(v, e, slot, x, velocity);
    for (int axis = 0; axis < 3; axis++) {
        gg_continuum_cell(v, axis, x[axis], &p->place[axis]);
    }
    p->slot = (int32_t)slot;
    p->id = v->grain_id[at];
    p->halo = (int32_t)((key >> 4 & 3) * 36 + (key >> 2 & 3) * 6 + (key & 3));
    p->volume = 4.0 / 3.0 * GG_PI * radius * radius * radius;
    p->strain = gg_point_before(v, e, p);
    p->strength = gg_matter_strength(gg_continuum_material_of(v, e, slot), gg_sym_trace(p->strain));
    p->pressed = 0;
    if (v->dims.continuum.dilatant) {
        *gg_point_swelling(v, e, p) = 0.0;
    }
    p->contact = v->next_first[at];
    p->contact_count = v->next_tool_count[at];
}

/* opens particle k of an env; returns what it gives to its nodes: mass and momentum */
GG_FN gg_point_gift gg_continuum_open_point(const gg_view *v, int64_t e, int64_t k) {
    gg_continuum_point *p = &gg_continuum_points(v, e)[k];
    double x[3], u[3];
    gg_point_open(v, e, gg_continuum_sorted(v, e)[k], gg_continuum_keys(v, e)[k], p, x, u);
    double mass = 1.0 / (double)gg_slot_body_at(v, e, p->slot)[GG_BODY_INVERSE_MASS];
    const float *affine = v->continuum_affine + 9 * (e * v->dims.continuum.slots + p->id);
    gg_point_gift gift;
    gift.impulse = gg_real4_set(mass * u[0], mass * u[1], mass * u[2], mass);
    for (int j = 0; j < 3; j++) {
        gift.along[j] = gg_real4_set(mass * affine[j], mass * affine[3 + j], mass * affine[6 + j], 0.0);
    }
    if (gg_continuum_explicit(v)) {
        gg_explicit_stress(v, e, p, affine, gift.along);
    }
    return gift;
}

/* of a particle in a world with liquids: its volume, and that times its bulk modulus */
GG_FN gg_point_gift gg_point_volume(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    gg_point_gift gift = gg_point_nothing();
    double liquid = gg_continuum_material_of(v, e, p->slot)->liquid;
    gift.impulse = gg_real4_set(p->volume, p->volume * liquid, 0.0, 0.0);
    return gift;
}

/* whether a particle touches a dynamic tool */
GG_FN int gg_point_dynamic(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    int dynamic = 0;
    for (int32_t c = 0; c < p->contact_count; c++) {
        dynamic |= gg_continuum_contacts(v, e)[p->contact + c].tool >= 0;
    }
    return dynamic;
}

/* Opens the particles of a block, and gives their masses and momenta to its nodes. item: block of an env */
GG_FN void gg_continuum_open_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_real4 *given = gg_given_clear(v, e, b, gg_has_liquid(v) ? 2 * GG_HALO : GG_HALO);
    block->dynamic = 0;
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_point_gift gift = gg_continuum_open_point(v, e, k);
        gg_spline s = gg_spline_moments(p->place, v->params.spacing);
        block->dynamic |= gg_point_dynamic(v, e, p);
        gg_spline_scatter(&s, gift.impulse, gift.along, given + p->halo);
        if (gg_has_liquid(v)) {
            gift = gg_point_volume(v, e, p);
            gg_spline_scatter(&s, gift.impulse, gift.along, given + GG_HALO + p->halo);
        }
    }
}

/* Takes over masses and momenta; the first iterate is the velocity before gravity. */
GG_FN void gg_continuum_open_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    (void)sum;
    gg_vec3 g = v->env[e].gravity;
    double dt = v->params.dt;
    gg_real4 kick = gg_real4_set(g.x * dt, g.y * dt, g.z * dt, 0.0);
    gg_real4 given = gg_node_given(v, e, node), zero = gg_real4_zero();
    float per_mass = gg_slot_body_at(v, e, gg_continuum_points(v, e)->slot)[GG_BODY_INVERSE_MASS];
    double mass = gg_real4_at(given, 3);
    mass = mass * (double)per_mass > GG_CONTINUUM_LEAST ? mass : 0.0;
    gg_real4 u = mass > 0.0 ? gg_real4_scale(given, 1.0 / mass) : zero;
    v->continuum_free[node.at] = gg_real4_set(gg_real4_at(u, 0), gg_real4_at(u, 1), gg_real4_at(u, 2), mass);
    u = mass > 0.0 ? gg_real4_sub(u, kick) : zero;
    double fourth = gg_has_liquid(v) ? 0.0 : mass;
    v->continuum_velocity[node.at] = gg_real4_set(gg_real4_at(u, 0), gg_real4_at(u, 1), gg_real4_at(u, 2), fourth);
}
GG_GIVEN_NODES_PHASE(open, 1)

/* S = dt^2 (K + 10/3 G) / (rho h^2) of the matter of a particle: stiffness of a node along an axis over its mass. 0 where
 * the yield stress follows the pressure: what flows where it is pressed is as heavy as its mass. */
GG_FN double gg_continuum_stiffness(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    const gg_continuum_material *m = gg_continuum_material_of(v, e, p->slot);
    double inverse_mass = gg_slot_body_at(v, e, p->slot)[GG_BODY_INVERSE_MASS], over = v->params.dt / v->params.spacing;
    return m->slope > 0.0 ? 0.0 : over * over * (m->bulk + 10.0 / 3.0 * m->shear) * p->volume * inverse_mass;
}

/* gives each contact of a particle its regularisation: w_i^2 / m_i summed over the stencil */
GG_FN void gg_continuum_regularise_point(const gg_view *v, int64_t e, const gg_continuum_block *block,
                                         const gg_continuum_point *p) {
    const gg_real4 *nodes = v->continuum_free + e * v->dims.continuum.nodes * GG_NODES;
    gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
    double stiffer = 1.0 + GG_CONTINUUM_STIFFEN * gg_continuum_stiffness(v, e, p);
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        double delassus = 0.0;
        GG_ROLLED
        for (int n = 0; n < 27; n++) {
            int i = n % 3, j = n / 3 % 3, l = n / 9;
            double slope[3], weight = gg_spline_node(&s, i, j, l, slope);
            weight = gg_continuum_weight(contact, weight, slope);
            int64_t at = gg_halo_node(block, p->halo % 6 + i, p->halo / 6 % 6 + j, p->halo / 36 + l);
            double mass = gg_real4_at(nodes[at], 3);
            delassus += mass > 0.0 ? weight * weight / mass : 0.0;
        }
        gg_continuum_regularise(contact, delassus / stiffer + gg_contact_yield(v, e, contact));
    }
}

/* item: block of an env */
GG_FN void gg_continuum_regularise_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        gg_continuum_regularise_point(v, e, block, &gg_continuum_points(v, e)[k]);
    }
}

/* moves the particle of a slot at a velocity; returns 0, and changes nothing, where it would not be finite */
GG_FN int gg_point_move(const gg_view *v, int64_t e, int64_t slot, const double velocity[3]) {
    int64_t at = e * v->dims.slots + slot, id = e * v->dims.slots + v->grain_id[at];
    double x[3], before[3];
    float value[3], error[3], speed[3], speed_error[3], finite = 0.0f;
    gg_continuum_motion(v, e, slot, x, before);
    for (int k = 0; k < 3; k++) {
        gg_split(x[k] + (double)v->params.dt * velocity[k], &value[k], &error[k]);
        gg_split(velocity[k], &speed[k], &speed_error[k]);
        finite += value[k] + speed[k];
    }
    if (!gg_finite(finite)) {
        return 0;
    }
    v->position[at].x = value[0];
    v->position[at].y = value[1];
    v->position[at].z = value[2];
    for (int k = 0; k < 3; k++) {
        v->position_error[id * 3 + k] = error[k];
        v->velocity_error[id * 3 + k] = speed_error[k];
        gg_slot_body_at(v, e, slot)[k] = speed[k];
    }
    return 1;
}

/* A particle that is put elsewhere is undeformed; it does not turn, nor does one that is given a velocity. item: slot of an
 * env */
GG_FN void gg_continuum_restore_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    const gg_access *given = &v->access;
    if (given->listed[e] < 0 || id < 0 || !(given->position || given->velocity) || given->keep_impulses) {
        return;
    }
    int64_t at = e * v->dims.continuum.slots + id;
    for (int k = 0; k < 9; k++) {
        v->continuum_affine[at * 9 + k] = 0.0f;
    }
    if (given->position) {
        gg_sym undeformed = GG_ZERO;
        gg_matter_history none = GG_ZERO;
        v->continuum_strain[at] = undeformed;
        gg_point_keep_history(v, e, id, none);
    }
}

/* turns a matrix about the z axis: q a q^T */
GG_FN gg_tensor gg_tensor_turn(gg_tensor a, double sine, double cosine) {
    gg_tensor half = a, out;
    for (int j = 0; j < 3; j++) {
        half.m[0][j] = cosine * a.m[0][j] - sine * a.m[1][j];
        half.m[1][j] = sine * a.m[0][j] + cosine * a.m[1][j];
    }
    out = half;
    for (int i = 0; i < 3; i++) {
        out.m[i][0] = cosine * half.m[i][0] - sine * half.m[i][1];
        out.m[i][1] = sine * half.m[i][0] + cosine * half.m[i][1];
    }
    return out;
}

/* turns the deformation of particles of a listed env about the world's z axis. item: slot of an env */
GG_FN void gg_continuum_transform_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    if (v->access.listed[e] < 0 || id < 0) {
        return;
    }
    int64_t at = e * v->dims.continuum.slots + id;
    double sine, cosine;
    gg_tensor strain, affine;
    gg_sincos_double((double)v->access.move[v->access.listed[e] * 4 + 3], &sine, &cosine);
    for (int row = 0; row < 3; row++) {
        gg_sym_row(v->continuum_strain[at], row, strain.m[row]);
        for (int column = 0; column < 3; column++) {
            affine.m[row][column] = v->continuum_affine[at * 9 + 3 * row + column];
        }
    }
    v->continuum_strain[at] = gg_tensor_symmetric(gg_tensor_turn(strain, sine, cosine));
    affine = gg_tensor_turn(affine, sine, cosine);
    for (int n = 0; n < 9; n++) {
        v->continuum_affine[at * 9 + n] = (float)affine.m[n / 3][n % 3];
    }
}

/* The room of a particle at the start of a substep. value and moment: what nodes give to it, their masses in w; beside
 * liquids pressures are there, and none is measured; nor in explicit steps */
GG_FN gg_matter_room gg_point_room(const gg_view *v, int64_t e, const gg_continuum_point *p, gg_real4 value,
                                   const gg_real4 moment[3]) {
    if (gg_has_liquid(v) || gg_continuum_explicit(v)) {
        gg_matter_room none = {0.0, 0.0, 1};
        return none;
    }
    double mass = gg_real4_at(value, 3), h = v->params.spacing, aside[3];
    double per_mass = gg_slot_body_at(v, e, p->slot)[GG_BODY_INVERSE_MASS];
    for (int k = 0; k < 3; k++) {
        aside[k] = gg_real4_at(moment[k], 3) / (mass * h);
    }
    double density = mass * p->volume * per_mass / (h * h * h) * (1.0 + gg_point_history(v, e, p->id).dilation);
    return gg_matter_room_of(density, sqrt(gg_dot3(aside, aside)), p->contact_count > 0);
}

/* moves and deforms a particle by the velocities of its nodes */
GG_FN void gg_continuum_integrate_point(const gg_view *v, int64_t e, const gg_continuum_point *p,
                                        const gg_real4 *halo) {
    double h = v->params.spacing, dt = v->params.dt;
    int64_t id = e * v->dims.continuum.slots + p->id;
    gg_real4 value, along[3], moment[3];
    gg_spline slopes = gg_spline_slopes(p->place, h), moments = gg_spline_moments(p->place, h);
    gg_spline_gather(&moments, halo + p->halo, &value, moment);
    gg_tensor affine;
    for (int n = 0; n < 9; n++) {
        affine.m[n / 3][n % 3] = 4.0 / (h * h) * gg_real4_at(moment[n % 3], n / 3);
    }
    const gg_continuum_material *material = gg_continuum_material_of(v, e, p->slot);
    gg_tensor gradient = affine;
    gg_sym before = gg_point_before(v, e, p);
    gg_matter_history history = gg_point_history(v, e, p->id);
    double velocity[3], strength;
    if (gg_continuum_explicit(v)) {
        strength = gg_explicit_strength(material, gradient, before, dt);
    } else {
        gg_spline_gather(&slopes, halo + p->halo, &value, along);
        gradient = gg_tensor_of_columns(along);
        strength = p->strength;
    }
    gg_real4_three(value, velocity);
    for (int k = 0; k < 3; k++) {
        velocity[k] += gg_continuum_env_of(v, e)->drift[k];
    }
    gg_matter_room room = gg_point_room(v, e, p, value, moment);
    gg_sym next = gg_matter_return(material, strength, gradient, before, dt, &room, &history);
    if (material->liquid > 0.0) { /* its strain tells its pressure */
        next = gg_sym_shift(next, -GG_MIN(gg_real4_at(value, 3) / (3.0 * material->liquid), 0.5));
    }
    double size = gg_sym_norm(next);
    int moved = size < 1e30 && gg_point_move(v, e, p->slot, velocity);
    gg_continuum_moved(v, e)[p->id] = moved;
    if (moved) {
        v->continuum_strain[id] = next;
        gg_point_keep_history(v, e, p->id, history);
        for (int n = 0; n < 9; n++) {
            v->continuum_affine[id * 9 + n] = (float)affine.m[n / 3][n % 3];
        }
    }
}

/* Moves and deforms the particles of a block. item: block of an env */
GG_FN void gg_continuum_integrate_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *halo = gg_halo_read(v, e, b, v->continuum_velocity, gg_given_of(v, e, b));
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        gg_continuum_integrate_point(v, e, &gg_continuum_points(v, e)[k], halo);
    }
}

/* Moves the particles that are too far away for the grid as free bodies, and notes the motion of all. item: slice of an
 * env */
GG_FN void gg_continuum_note_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES] = GG_ZERO;
    gg_rest rest = gg_rest_of(v, e);
    double half = 0.5 * v->params.radius_min;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t slot = slice * GG_LANES + lane, at = e * v->dims.slots + slot;
        if (v->grain_id[at] < 0) {
            continue;
        }
        int64_t id = e * v->dims.continuum.slots + v->grain_id[at];
        double x[3], u[3];
        gg_continuum_motion(v, e, slot, x, u);
        int32_t *could_move = &gg_continuum_moved(v, e)[v->grain_id[at]];
        if (v->continuum_lost[id]) {
            *could_move = gg_point_move(v, e, slot, u);
        }
        double speed2 = gg_dot3(u, u), moved2 = speed2 * (double)v->params.dt * (double)v->params.dt;
        gg_motion *motion = &each[lane];
        gg_vec3 to = gg_v3(v->position[at].x, v->position[at].y, v->position[at].z);
        motion->bad = !*could_move;
        motion->energy = (float)(0.5 * speed2 / (double)gg_slot_body_at(v, e, slot)[GG_BODY_INVERSE_MASS]);
        motion->restless = speed2 > (double)rest.speed2 || moved2 > (double)rest.displacement2;
        motion->moving = motion->restless;
        motion->fast = moved2 > half * half;
        motion->escaped = gg_outside(&v->params, to, v->position[at].w);
    }
    gg_motion_integrated(v, e, slice, each);
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    stats->residual = own->mass > 0.0 ? (float)(own->gradient / sqrt(own->mass)) : 0.0f;
    stats->bad += own->unsolved && !(own->gradient <= GG_CONTINUUM_DIVERGED * own->momenta);
}

#endif
