/* linear.h: the linear system of a Newton step by preconditioned conjugate gradients, without a matrix. */
#ifndef GG_CONTINUUM_LINEAR_H
#define GG_CONTINUUM_LINEAR_H

#include "product.h"

GG_FN gg_real4 gg_node_precondition(const gg_view *v, int64_t at, gg_real4 residual) {
    double r[3], z[3];
    gg_real4_three(residual, r);
    gg_lower_square(&v->continuum_inverse[at], r, z);
    return gg_real4_set(z[0], z[1], z[2], 0.0);
}

/* inverts a diagonal block; the first direction */
GG_FN void gg_continuum_start_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    double mass = gg_real4_at(v->continuum_free[node.at], 3);
    gg_lower inverse = GG_ZERO;
    if (mass > 0.0) {
        inverse = gg_sym_inverse_factor(gg_sym_shift(gg_node_sum_sym(v, e, node.nodes, node.local), mass));
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

#ifndef __CUDACC__
/* what stress and contacts make of the direction. item: block of an env */
GG_FN void gg_continuum_apply_block(const gg_view *v, int64_t e, int64_t b) {
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (b >= own->blocks || !gg_continuum_inner_on(v, e)) {
        return;
    }
    if (own->single) {
        gg_continuum_apply_single(v, e, b);
    } else {
        gg_continuum_apply_double(v, e, b);
    }
}
#endif

/* the image of the direction, and their product */
GG_FN void gg_continuum_image_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    double mass = gg_real4_at(v->continuum_free[node.at], 3);
    gg_real4 way = v->continuum_way[node.at], image = gg_real4_zero();
    if (mass > 0.0) {
        image = gg_real4_madd(gg_node_given(v, e, node), mass, way);
    }
    v->continuum_image[node.at] = image;
    sum->of[0] += gg_real4_dot3(way, image);
}
GG_GIVEN_NODES_PHASE(image, gg_continuum_inner_on(v, e))

/* Length of the step along the direction. sum: over the blocks of nodes */
GG_FN void gg_continuum_length(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->step = own->energy / (sum.of[0] + gg_twists_image(v, e));
}
GG_NODES_JUDGED(length, gg_continuum_inner_on(v, e))

/* Goes along the direction. The image, which nothing reads any more, gives its place to the preconditioned residual. */
GG_FN void gg_continuum_step_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    double step = gg_continuum_env_of(v, e)->step;
    gg_real4 residual = gg_real4_madd(v->continuum_residual[node.at], -step, v->continuum_image[node.at]);
    gg_real4 conditioned = gg_node_precondition(v, node.at, residual);
    v->continuum_residual[node.at] = residual;
    v->continuum_image[node.at] = conditioned;
    v->continuum_step[node.at] = gg_real4_madd(v->continuum_step[node.at], step, v->continuum_way[node.at]);
    sum->of[0] += gg_real4_dot3(residual, conditioned);
}
GG_NODES_PHASE(step, gg_continuum_inner_on(v, e))

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
    v->continuum_way[node.at] =
        gg_real4_madd(v->continuum_image[node.at], gg_continuum_env_of(v, e)->blend, v->continuum_way[node.at]);
}
GG_NODES_PHASE(turn, gg_continuum_inner_on(v, e))

#endif
