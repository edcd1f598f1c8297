/* nodes.h: what passes between nodes and the blocks of particles that reach them. */
#ifndef GG_CONTINUUM_NODES_H
#define GG_CONTINUUM_NODES_H

#include "blocks.h"
#include "spline.h"

/* what a block reads of its nodes, and what it adds to them: two vectors a node, in planes one behind the other */
GG_FN gg_real4 *gg_halo_of(const gg_view *v, int64_t e, int64_t block) {
    return v->continuum_halo + (e * v->dims.continuum.blocks + block) * GG_HALO;
}
GG_FN gg_real4 *gg_given_of(const gg_view *v, int64_t e, int64_t block) {
    return v->continuum_given + (e * v->dims.continuum.blocks + block) * GG_HALO * 2;
}

/* index of node x y z of a halo (0 .. 5 each) among the nodes of an env */
GG_FN int64_t gg_halo_node(const gg_continuum_block *block, int x, int y, int z) {
    int which = x >> 2 | y >> 2 << 1 | z >> 2 << 2;
    return (int64_t)block->node[which] * GG_NODES + ((z & 3) << 4 | (y & 3) << 2 | (x & 3));
}

/* copies values of nodes to the halo of a block */
GG_FN const gg_real4 *gg_halo_read(const gg_view *v, int64_t e, int64_t block, const gg_real4 *nodes) {
    const gg_continuum_block *own = gg_continuum_block_of(v, e, block);
    gg_real4 *halo = gg_halo_of(v, e, block);
    const gg_real4 *from = nodes + e * v->dims.continuum.nodes * GG_NODES;
    GG_ROLLED
    for (int z = 0; z < 6; z++) {
        GG_ROLLED
        for (int y = 0; y < 6; y++) {
            GG_ROLLED
            for (int x = 0; x < 6; x++) {
                halo[z * 36 + y * 6 + x] = from[gg_halo_node(own, x, y, z)];
            }
        }
    }
    return halo;
}

/* what a block gives starts from 0; planes: 1 or 2 */
GG_FN gg_real4 *gg_given_clear(const gg_view *v, int64_t e, int64_t block, int planes) {
    gg_real4 *given = gg_given_of(v, e, block);
    GG_ROLLED
    for (int k = 0; k < planes * GG_HALO; k++) {
        given[k] = gg_real4_zero();
    }
    return given;
}

/* what a node of a block of nodes is given in a plane, added up in the order of blocks; local: 0 .. 63 */
GG_FN gg_real4 gg_node_sum(const gg_view *v, int64_t e, int64_t nodes, int local, int plane) {
    const gg_continuum_source *source = &v->continuum_source[e * v->dims.continuum.nodes + nodes];
    int x = local & 3, y = local >> 2 & 3, z = local >> 4;
    gg_real4 sum = gg_real4_zero();
    GG_ROLLED
    for (int s = 0; s < 8; s++) {
        int beyond_x = s & 1, beyond_y = s >> 1 & 1, beyond_z = s >> 2;
        int reached = !(beyond_x && x > 1) && !(beyond_y && y > 1) && !(beyond_z && z > 1);
        if (source->block[s] >= 0 && reached) {
            int at = (z + 4 * beyond_z) * 36 + (y + 4 * beyond_y) * 6 + x + 4 * beyond_x;
            sum = gg_real4_add(sum, gg_given_of(v, e, source->block[s])[plane * GG_HALO + at]);
        }
    }
    return sum;
}

GG_FN int64_t gg_node_first(const gg_view *v, int64_t e, int64_t nodes) {
    return (e * v->dims.continuum.nodes + nodes) * GG_NODES;
}

/* the gradient of a velocity from what gg_spline_gather gives: row i is that of component i */
GG_FN gg_tensor gg_gradient_of(const gg_real4 along[3]) {
    gg_tensor out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.m[i][j] = gg_real4_at(along[j], i);
        }
    }
    return out;
}

/* what a particle gives to its nodes: an impulse, by the weights, and a matrix times their gradients */
typedef struct gg_point_gift {
    double impulse[3];
    gg_tensor pushed;
} gg_point_gift;

/* what stress does over a substep */
GG_FN gg_point_gift gg_point_stress(const gg_continuum_point *p, gg_sym stress, double dt) {
    gg_point_gift gift = GG_ZERO;
    gift.pushed = gg_sym_product(gg_sym_scale(stress, p->volume * dt), p->stretch);
    return gift;
}

/* adds an impulse at the surface where a contact is */
GG_FN void gg_point_push(gg_point_gift *gift, const gg_continuum_contact *c, const double impulse[3]) {
    for (int i = 0; i < 3; i++) {
        gift->impulse[i] += impulse[i];
        for (int j = 0; j < 3; j++) {
            gift->pushed.m[i][j] -= c->reach * impulse[i] * c->normal[j];
        }
    }
}

GG_FN void gg_point_give(const gg_continuum_point *p, const gg_spline *s, const gg_point_gift *gift, gg_real4 *given) {
    const gg_tensor *pushed = &gift->pushed;
    gg_real4 along[3], impulse = gg_real4_set(gift->impulse[0], gift->impulse[1], gift->impulse[2], 0.0);
    for (int j = 0; j < 3; j++) {
        along[j] = gg_real4_set(pushed->m[0][j], pushed->m[1][j], pushed->m[2][j], 0.0);
    }
    gg_spline_scatter(s, impulse, along, given + p->halo);
}

/* sums over the blocks, or blocks of nodes, of an env, in their order */
GG_FN gg_continuum_sum gg_continuum_total(const gg_continuum_sum *sums, int64_t count) {
    gg_continuum_sum total = GG_ZERO;
    GG_ROLLED
    for (int64_t k = 0; k < count; k++) {
        for (int c = 0; c < 4; c++) {
            total.of[c] += sums[k].of[c];
        }
    }
    return total;
}
GG_FN gg_continuum_sum *gg_block_sums(const gg_view *v, int64_t e) {
    return v->continuum_block_sum + e * v->dims.continuum.blocks;
}
GG_FN gg_continuum_sum *gg_node_sums(const gg_view *v, int64_t e) {
    return v->continuum_node_sum + e * v->dims.continuum.nodes;
}

#endif
