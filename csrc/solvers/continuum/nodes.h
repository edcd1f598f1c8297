/* nodes.h: what passes between nodes and the blocks of particles that reach them. */
#ifndef GG_CONTINUUM_NODES_H
#define GG_CONTINUUM_NODES_H

#include "blocks.h"
#include "matter.h"
#include "spline.h"

/* a sum and what was lost to its rounding, from a double */
GG_FN void gg_split(double from, float *value, float *error) {
    /* volatile: GCC 12 leaves out the rounding where it makes a vector of two such values */
#ifdef __CUDA_ARCH__
    float rounded = (float)from;
#else
    volatile float rounded = (float)from;
#endif
    *value = rounded;
    *error = (float)(from - (double)rounded);
}

/* what a block adds to its nodes: a vector a node, or the six components of a matrix; beside liquids two vectors, or what
 * it reads of them in place of the second */
GG_FN gg_real4 *gg_given_of(const gg_view *v, int64_t e, int64_t block) {
    return v->continuum_given + (e * v->dims.continuum.blocks + block) * v->dims.continuum.given;
}

/* the same memory, by components: number c of a node is c * GG_HALO behind its first */
GG_FN double *gg_given_components(const gg_view *v, int64_t e, int64_t block) {
    return (double *)gg_given_of(v, e, block);
}

/* index of node x y z of a halo (0 .. 5 each) among the nodes of an env */
GG_FN int64_t gg_halo_node(const gg_continuum_block *block, int x, int y, int z) {
    int which = x >> 2 | y >> 2 << 1 | z >> 2 << 2;
    return (int64_t)block->node[which] * GG_NODES + ((z & 3) << 4 | (y & 3) << 2 | (x & 3));
}

/* copies values of nodes to the halo of a block; returns it */
GG_FN const gg_real4 *gg_halo_read(const gg_view *v, int64_t e, int64_t block, const gg_real4 *nodes, gg_real4 *halo) {
    const gg_continuum_block *own = gg_continuum_block_of(v, e, block);
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

/* what a block gives starts from 0; count: of vectors */
GG_FN gg_real4 *gg_given_clear(const gg_view *v, int64_t e, int64_t block, int64_t count) {
    gg_real4 *given = gg_given_of(v, e, block);
    GG_ROLLED
    for (int64_t k = 0; k < count; k++) {
        given[k] = gg_real4_zero();
    }
    return given;
}

/* where a node of a block of nodes is in the halo of source s; -1: that does not reach it. local: 0 .. 63 */
GG_FN int gg_node_in_halo(int local, int s) {
    int x = local & 3, y = local >> 2 & 3, z = local >> 4, beyond_x = s & 1, beyond_y = s >> 1 & 1, beyond_z = s >> 2;
    int reached = !(beyond_x && x > 1) && !(beyond_y && y > 1) && !(beyond_z && z > 1);
    return reached ? (z + 4 * beyond_z) * 36 + (y + 4 * beyond_y) * 6 + x + 4 * beyond_x : -1;
}

/* what a node of a block of nodes is given in a plane, added up in the order of blocks */
GG_FN gg_real4 gg_node_sum_plane(const gg_view *v, int64_t e, int64_t nodes, int local, int plane) {
    const gg_continuum_source *source = &v->continuum_source[e * v->dims.continuum.nodes + nodes];
    gg_real4 sum = gg_real4_zero();
    for (int s = 0; s < 8; s++) {
        int at = gg_node_in_halo(local, s);
        if (source->block[s] >= 0 && at >= 0) {
            sum = gg_real4_add(sum, gg_given_of(v, e, source->block[s])[plane * GG_HALO + at]);
        }
    }
    return sum;
}

GG_FN gg_real4 gg_node_sum(const gg_view *v, int64_t e, int64_t nodes, int local) {
    return gg_node_sum_plane(v, e, nodes, local, 0);
}

/* The same of all nodes of a block of nodes. Sources are gone through one by one, each node adds them in their order. */
GG_FN_LARGE void gg_node_sums_read(const gg_view *v, int64_t e, int64_t nodes, gg_real4 sums[GG_NODES]) {
    const gg_continuum_source *source = &v->continuum_source[e * v->dims.continuum.nodes + nodes];
    for (int k = 0; k < GG_NODES; k++) {
        sums[k] = gg_real4_zero();
    }
    GG_ROLLED
    for (int s = 0; s < 8; s++) {
        if (source->block[s] < 0) {
            continue;
        }
        const gg_real4 *given = gg_given_of(v, e, source->block[s]) + gg_node_in_halo(0, s);
        int wide = s & 1 ? 2 : 4, deep = s & 2 ? 2 : 4, high = s & 4 ? 2 : 4;
        GG_ROLLED
        for (int z = 0; z < high; z++) {
            GG_ROLLED
            for (int y = 0; y < deep; y++) {
                gg_real4 *to = sums + 16 * z + 4 * y;
                const gg_real4 *from = given + 36 * z + 6 * y;
                to[0] = gg_real4_add(to[0], from[0]);
                to[1] = gg_real4_add(to[1], from[1]);
                if (wide == 4) {
                    to[2] = gg_real4_add(to[2], from[2]);
                    to[3] = gg_real4_add(to[3], from[3]);
                }
            }
        }
    }
}

/* the same of a symmetric matrix, of which blocks give the components one behind the other */
GG_FN gg_sym gg_node_sum_sym(const gg_view *v, int64_t e, int64_t nodes, int local) {
    const gg_continuum_source *source = &v->continuum_source[e * v->dims.continuum.nodes + nodes];
    gg_sym sum = GG_ZERO;
    for (int s = 0; s < 8; s++) {
        int at = gg_node_in_halo(local, s);
        if (source->block[s] >= 0 && at >= 0) {
            const double *given = gg_given_components(v, e, source->block[s]) + at;
            sum = gg_sym_add(sum, gg_sym_make(given[0], given[GG_HALO], given[2 * GG_HALO], given[3 * GG_HALO],
                                              given[4 * GG_HALO], given[5 * GG_HALO]));
        }
    }
    return sum;
}

GG_FN int64_t gg_node_first(const gg_view *v, int64_t e, int64_t nodes) {
    return (e * v->dims.continuum.nodes + nodes) * GG_NODES;
}

/* what a particle gives to its nodes: an impulse, by the weights, and by their derivatives along each axis */
typedef struct gg_point_gift {
    gg_real4 impulse, along[3];
} gg_point_gift;

GG_FN gg_point_gift gg_point_nothing(void) {
    gg_point_gift gift;
    gift.impulse = gift.along[0] = gift.along[1] = gift.along[2] = gg_real4_zero();
    return gift;
}

/* what stress does over a substep; lever: gg_point_lever */
GG_FN gg_point_gift gg_point_stress(const gg_continuum_point *p, gg_sym stress, gg_sym lever, double dt) {
    gg_sym s = gg_sym_scale(stress, p->volume * dt);
    gg_real4 columns[3] = {gg_real4_set(s.xx, s.xy, s.xz, 0.0), gg_real4_set(s.xy, s.yy, s.yz, 0.0),
                           gg_real4_set(s.xz, s.yz, s.zz, 0.0)};
    gg_point_gift gift;
    gift.impulse = gg_real4_zero();
    gg_columns_times(columns, lever, gift.along);
    return gift;
}

/* adds an impulse at the surface where a contact is */
GG_FN void gg_point_push(gg_point_gift *gift, const gg_continuum_contact *c, const double impulse[3]) {
    gg_real4 given = gg_real4_set(impulse[0], impulse[1], impulse[2], 0.0);
    gift->impulse = gg_real4_add(gift->impulse, given);
    for (int j = 0; j < 3; j++) {
        gift->along[j] = gg_real4_madd(gift->along[j], -c->reach * c->normal[j], given);
    }
}

/* adds `count` sums, in their order */
GG_FN void gg_continuum_sum_add(gg_continuum_sum *total, const gg_continuum_sum *sums, int64_t count) {
    GG_ROLLED
    for (int64_t k = 0; k < count; k++) {
        for (int c = 0; c < 4; c++) {
            total->of[c] += sums[k].of[c];
        }
    }
}

/* sums over the blocks, or blocks of nodes, of an env: of groups, in their order */
GG_FN gg_continuum_sum gg_continuum_total(const gg_continuum_sum *sums, int64_t count) {
    gg_continuum_sum total = GG_ZERO;
    GG_ROLLED
    for (int64_t first = 0; first < count; first += GG_SUM_GROUP) {
        gg_continuum_sum group = GG_ZERO;
        gg_continuum_sum_add(&group, sums + first, GG_MIN(count - first, GG_SUM_GROUP));
        gg_continuum_sum_add(&total, &group, 1);
    }
    return total;
}
GG_FN gg_continuum_sum *gg_block_sums(const gg_view *v, int64_t e) {
    return v->continuum_block_sum + e * v->dims.continuum.blocks;
}
GG_FN gg_continuum_sum *gg_node_sums(const gg_view *v, int64_t e) {
    return v->continuum_node_sum + e * v->dims.continuum.nodes;
}

/* a node: its block of nodes, which it is of these, its index among all, and what blocks give to it where that is known
 * (NULL: gg_node_given adds it up) */
typedef struct gg_node {
    int64_t nodes, at;
    int local;
    const gg_real4 *given;
} gg_node;
GG_FN gg_node gg_node_of(const gg_view *v, int64_t e, int64_t nodes, int local) {
    gg_node node = {nodes, gg_node_first(v, e, nodes) + local, local, 0};
    return node;
}
GG_FN gg_real4 gg_node_given(const gg_view *v, int64_t e, gg_node node) {
    return node.given ? *node.given : gg_node_sum(v, e, node.nodes, node.local);
}

/* Runs `each` for the nodes of block of nodes n, `node` being one; GIVEN: and what is given to them is added up before */
#define GG_EACH_NODE(v, e, n, each)                                                                                    \
    GG_ROLLED                                                                                                          \
    for (int k = 0; k < GG_NODES; k++) {                                                                               \
        gg_node node = gg_node_of(v, e, n, k);                                                                         \
        each;                                                                                                          \
    }
#define GG_EACH_NODE_GIVEN(v, e, n, each)                                                                              \
    gg_real4 given[GG_NODES];                                                                                          \
    gg_node_sums_read(v, e, n, given);                                                                                 \
    GG_EACH_NODE(v, e, n, (node.given = &given[k], each))

/* Defines gg_continuum_<name>_nodes, a phase over the blocks of nodes of an env that does work where `on` holds, of what it
 * does to a node: gg_continuum_<name>_node(v, e, node, sums). A node adds once to each sum. The second kind reads what
 * nodes are given. */
#define GG_NODES_PHASE_BY(loop, name, on)                                                                              \
    GG_FN void gg_continuum_##name##_nodes(const gg_view *v, int64_t e, int64_t n) {                                   \
        if (n >= gg_continuum_env_of(v, e)->nodes || !(on)) {                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        gg_continuum_sum sum = GG_ZERO;                                                                                \
        loop(v, e, n, gg_continuum_##name##_node(v, e, node, &sum));                                                   \
        gg_node_sums(v, e)[n] = sum;                                                                                   \
    }
#define GG_NODES_PHASE(name, on)       GG_NODES_PHASE_BY(GG_EACH_NODE, name, on)
#define GG_GIVEN_NODES_PHASE(name, on) GG_NODES_PHASE_BY(GG_EACH_NODE_GIVEN, name, on)

/* Defines gg_continuum_<name>_env, a phase over envs where `on` holds, by gg_continuum_<name>(v, e, sums over the blocks of
 * nodes). */
#define GG_NODES_JUDGED(name, on)                                                                                      \
    GG_FN void gg_continuum_##name##_env(const gg_view *v, int64_t e) {                                                \
        if (on) {                                                                                                      \
            gg_continuum_##name(v, e, gg_continuum_total(gg_node_sums(v, e), gg_continuum_env_of(v, e)->nodes));       \
        }                                                                                                              \
    }

#endif
