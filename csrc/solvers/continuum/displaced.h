/* displaced.h: how dynamic tools displace liquid, and how its pressures push them.
 *
 * A node gains volume by the motion of a tool as room.h says. Of a dynamic tool that motion is an unknown, its twist V,
 * and what node i gains is J_i V: six numbers a node and tool, measured where the tool is at the start of a substep. With
 * the pressures pi_i of the nodes the gradient of the energy of liquid.h with respect to V is dt sum_i pi_i J_i, the exact
 * transpose, and its Hessian dt^2 sum_c K_c / A_c J_c^T J_c over the cells under pressure, J_c the mean over the nodes of
 * a cell. The last is summed by block for the preconditioner alone: products with it pass through nodes and cells.
 */
#ifndef GG_CONTINUUM_DISPLACED_H
#define GG_CONTINUUM_DISPLACED_H

#include "nodes.h"

GG_FN int gg_has_liquid(const gg_view *v) { return v->dims.continuum.liquid > 0; }

/* what a node gives to each cell around it that counts, over an eighth, once that is measured (liquid.h); node: what
 * liquid_flow holds of it */
GG_FN double gg_liquid_share(gg_real4 node) { return gg_real4_at(node, 2); }

/* of the dynamic tools at a block of nodes; at a block of particles */
GG_FN gg_displaced *gg_displaced_at(const gg_view *v, int64_t e, int64_t n) {
    return v->displaced + (e * v->dims.continuum.nodes + n) * v->dims.continuum.tools;
}
GG_FN gg_displaced_sum *gg_displaced_sums(const gg_view *v, int64_t e, int64_t b) {
    return v->displaced_sum + (e * v->dims.continuum.tool_blocks + b) * v->dims.continuum.tools;
}

/* no tool is at a block of nodes */
GG_FN void gg_displaced_clear(const gg_view *v, int64_t e, int64_t n) {
    GG_ROLLED
    for (int64_t tool = 0; tool < v->dims.continuum.tools; tool++) {
        gg_displaced_at(v, e, n)[tool].met = 0;
    }
}

/* volume that node k of a block of nodes gains by these twists of tools [m3/s] */
GG_FN double gg_displaced_flow(const gg_view *v, int64_t e, int64_t n, int k, const double *twists) {
    double sum = 0.0;
    GG_ROLLED
    for (int64_t tool = 0; tool < v->dims.continuum.tools; tool++) {
        const gg_displaced *own = &gg_displaced_at(v, e, n)[tool];
        for (int i = 0; own->met && i < 6; i++) {
            sum += own->by[k][i] * twists[6 * tool + i];
        }
    }
    return sum;
}

/* Its transpose over a substep: what the pressures of a block of nodes, in the fourth component of `nodes`, do to
 * a tool. */
GG_FN void gg_displaced_push_tool(const gg_view *v, int64_t e, int64_t n, int64_t tool, const gg_real4 *nodes) {
    double dt = v->params.dt, sum[6] = {0.0};
    gg_displaced *own = &gg_displaced_at(v, e, n)[tool];
    GG_ROLLED
    for (int k = 0; own->met && k < GG_NODES; k++) {
        double pressure = gg_real4_at(nodes[gg_node_first(v, e, n) + k], 3);
        for (int i = 0; i < 6; i++) {
            sum[i] += pressure * own->by[k][i];
        }
    }
    for (int i = 0; i < 6; i++) {
        own->impulse[i] = dt * sum[i];
    }
}

/* component r of that over the twists of all tools, summed over the blocks of nodes; 0 without liquids */
GG_FN double gg_displaced_impulse(const gg_view *v, int64_t e, int64_t r) {
    double sum = 0.0;
    GG_ROLLED
    for (int64_t n = 0; gg_has_liquid(v) && n < gg_continuum_env_of(v, e)->nodes; n++) {
        const gg_displaced *own = &gg_displaced_at(v, e, n)[r / 6];
        sum += own->met ? own->impulse[r % 6] : 0.0;
    }
    return sum;
}

/* Opens the sum of a tool at a block of particles; returns whether the tool is there. */
GG_FN int gg_displaced_open(const gg_view *v, int64_t e, int64_t b, int64_t tool) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_displaced_sum *sum = &gg_displaced_sums(v, e, b)[tool];
    sum->met = 0;
    for (int s = 0; s < 8; s++) {
        sum->met |= gg_displaced_at(v, e, block->node[s])[tool].met;
    }
    for (int i = 0; i < 21; i++) {
        sum->tangent[i] = 0.0;
    }
    return sum->met;
}

/* Adds K dt^2 / A J_c^T J_c of a cell to it. corner: of the cell x y z in its halo */
GG_FN void gg_displaced_stiffen(const gg_view *v, int64_t e, int64_t b, int64_t tool, const int corner[3],
                                double stiffness) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_displaced_sum *sum = &gg_displaced_sums(v, e, b)[tool];
    double mean[6] = {0.0};
    for (int s = 0; s < 8; s++) {
        int64_t at = gg_halo_node(block, corner[0] + (s & 1), corner[1] + (s >> 1 & 1), corner[2] + (s >> 2));
        const gg_displaced *own = &gg_displaced_at(v, e, at / GG_NODES)[tool];
        double share = gg_liquid_share(v->liquid_flow[e * v->dims.continuum.nodes * GG_NODES + at]);
        for (int i = 0; own->met && i < 6; i++) {
            mean[i] += 0.125 * share * own->by[at % GG_NODES][i];
        }
    }
    GG_ROLLED
    for (int row = 0; row < 6; row++) {
        for (int column = row; column < 6; column++) {
            sum->tangent[row * (11 - row) / 2 + column] += stiffness * mean[row] * mean[column];
        }
    }
}

/* element i of the upper triangle of the Hessian of a tool's twist, over the blocks of an env; 0 without liquids */
GG_FN double gg_displaced_tangent(const gg_view *v, int64_t e, int64_t tool, int i) {
    double sum = 0.0;
    GG_ROLLED
    for (int64_t b = 0; gg_has_liquid(v) && b < gg_continuum_env_of(v, e)->blocks; b++) {
        const gg_displaced_sum *own = &gg_displaced_sums(v, e, b)[tool];
        sum += own->met ? own->tangent[i] : 0.0;
    }
    return sum;
}

#endif
