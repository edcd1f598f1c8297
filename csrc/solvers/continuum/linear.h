/* linear.h: the linear system of a Newton step by preconditioned conjugate gradients, without a matrix. */
#ifndef GG_CONTINUUM_LINEAR_H
#define GG_CONTINUUM_LINEAR_H

#include "newton.h"

/* particles of a cell that pass through a stage of a product with the matrix together; the bits are those of 1 */
#ifdef __CUDACC__
#define GG_CONTINUUM_BATCH 1
#else
#define GG_CONTINUUM_BATCH 8
#endif

GG_FN gg_real4 gg_node_precondition(const gg_view *v, int64_t at, gg_real4 residual) {
    double r[3], z[3];
    gg_real4_three(residual, r);
    gg_sym_mul(v->continuum_inverse[at], r, z);
    return gg_real4_set(z[0], z[1], z[2], 0.0);
}

/* inverts a diagonal block; the first direction */
GG_FN void gg_continuum_start_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    double mass = gg_real4_at(v->continuum_free[node.at], 3);
    gg_sym inverse = GG_ZERO;
    if (mass > 0.0) {
        inverse = gg_sym_inverse(gg_sym_shift(gg_node_sum_sym(v, e, node.nodes, node.local), mass));
    }
    v->continuum_inverse[node.at] = inverse;
    gg_real4 residual = v->continuum_residual[node.at], way = gg_node_precondition(v, node.at, residual);
    v->continuum_way[node.at] = way;
    v->continuum_step[node.at] = gg_real4_zero();
    sum->of[0] += gg_real4_dot3(residual, way);
}
GG_NODES_PHASE(start, gg_continuum_inner_on(v, e))

/* sum: over the blocks of nodes */
GG_FN void gg_continuum_started(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->energy = own->first_energy = sum.of[0] + gg_twists_start(v, e);
    v->env[e].inner = own->energy > 0.0;
}
GG_NODES_JUDGED(started, gg_continuum_inner_on(v, e))

/* What stress, pressure and contacts of a particle make of the direction, of which its nodes say `value` and `along`. What
 * contacts push is left in contact->along. */
GG_FN gg_point_gift gg_point_apply(const gg_view *v, int64_t e, const gg_continuum_point *p, gg_real4 value,
                                   const gg_real4 along[3]) {
    double dt = v->params.dt;
    gg_sym change = gg_matter_strain_along(along, p->lever, dt);
    gg_point_gift gift = gg_point_stress(p, gg_matter_tangent(p->bulk, p->shear, p->soften, p->along, change), dt);
    if (gg_has_liquid(v)) {
        gg_liquid_push(p, along, dt, &gift);
    }
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        gg_tensor gradient = gg_tensor_of_columns(along);
        double u[3], moved[3];
        gg_real4_three(value, u);
        gg_continuum_at_surface(contact, u, &gradient, moved);
        gg_contact_less_tool(contact, gg_twist(v, e, GG_TWIST_ALONG), moved);
        gg_sym_mul(contact->tangent, moved, contact->along);
        gg_point_push(&gift, contact, contact->along);
    }
    return gift;
}

/* What stress and contacts make of the direction. Particles of a cell pass through three stages together: where a stage is
 * short a processor works on several at once. item: block of an env */
GG_FN void gg_continuum_apply_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_inner_on(v, e)) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *halo = gg_halo_read(v, e, b, v->continuum_way);
    gg_real4 *given = gg_given_clear(v, e, b, 1);
    const gg_continuum_point *p = gg_continuum_points(v, e) + block->first, *end = p + block->count;
    gg_cell cell;
    gg_cell_begin(&cell, v->params.spacing);
    GG_ROLLED
    while (p < end) {
        gg_real4 value[GG_CONTINUUM_BATCH], along[GG_CONTINUUM_BATCH][3];
        gg_point_gift gift[GG_CONTINUUM_BATCH];
        int count = 0;
        gg_cell_enter(&cell, p->halo, halo, given);
        GG_ROLLED
        for (; count < GG_CONTINUUM_BATCH && p + count < end && p[count].halo == cell.at; count++) {
            gg_cell_gather(&cell, p[count].place, &value[count], along[count]);
        }
        GG_ROLLED
        for (int k = 0; k < count; k++) {
            gift[k] = gg_point_apply(v, e, &p[k], value[k], along[k]);
        }
        GG_ROLLED
        for (int k = 0; k < count; k++) {
            gg_cell_scatter(&cell, p[k].place, gift[k].impulse, gift[k].along);
        }
        p += count;
    }
    gg_cell_end(&cell, given);
    gg_block_sum_tools(v, e, b, 1);
}

/* the image of the direction, and their product */
GG_FN void gg_continuum_image_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    double mass = gg_real4_at(v->continuum_free[node.at], 3);
    gg_real4 way = v->continuum_way[node.at], image = gg_real4_zero();
    if (mass > 0.0) {
        image = gg_real4_madd(gg_node_sum(v, e, node.nodes, node.local), mass, way);
    }
    v->continuum_image[node.at] = image;
    sum->of[0] += gg_real4_dot3(way, image);
}
GG_NODES_PHASE(image, gg_continuum_inner_on(v, e))

/* Length of the step along the direction. sum: over the blocks of nodes */
GG_FN void gg_continuum_length(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->step = own->energy / (sum.of[0] + gg_twists_image(v, e));
}
GG_NODES_JUDGED(length, gg_continuum_inner_on(v, e))

/* goes along the direction */
GG_FN void gg_continuum_step_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    double step = gg_continuum_env_of(v, e)->step;
    gg_real4 residual = gg_real4_madd(v->continuum_residual[node.at], -step, v->continuum_image[node.at]);
    v->continuum_residual[node.at] = residual;
    v->continuum_step[node.at] = gg_real4_madd(v->continuum_step[node.at], step, v->continuum_way[node.at]);
    sum->of[0] += gg_real4_dot3(residual, gg_node_precondition(v, node.at, residual));
}
GG_NODES_PHASE(step, gg_continuum_inner_on(v, e))

/* How far a linear solve reduces its residual: to the bound of the solve where the objective is quadratic; else as far as
 * Newton's method gains by it: Eisenstat, Walker (1996), their second choice. */
GG_FN double gg_continuum_forcing(const gg_view *v, const gg_continuum_env *own) {
    double least = 0.2 * own->bound / own->gradient, gained = own->gradient / own->last_gradient;
    double most = gg_has_liquid(v) ? GG_LIQUID_FORCING : GG_CONTINUUM_FORCING;
    double forcing = own->newton > 1 ? 0.9 * gained * gained : most;
    return own->smooth ? least : GG_MAX(least, GG_MIN(forcing, most));
}

/* Judges the linear solve. sum: over the blocks of nodes */
GG_FN void gg_continuum_blend(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    double energy = sum.of[0] + gg_twists_step(v, e, own->step);
    own->blend = energy / own->energy;
    own->energy = energy;
    own->linear++;
    own->linear_all++;
    double share = gg_continuum_forcing(v, own);
    v->env[e].inner = energy > share * share * own->first_energy && own->linear < GG_CONTINUUM_LINEAR;
    gg_twists_turn(v, e, own->blend, v->env[e].inner);
}
GG_NODES_JUDGED(blend, gg_continuum_inner_on(v, e))

/* the next direction */
GG_FN void gg_continuum_turn_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    (void)sum;
    gg_real4 z = gg_node_precondition(v, node.at, v->continuum_residual[node.at]);
    v->continuum_way[node.at] = gg_real4_madd(z, gg_continuum_env_of(v, e)->blend, v->continuum_way[node.at]);
}
GG_NODES_PHASE(turn, gg_continuum_inner_on(v, e))

#endif
