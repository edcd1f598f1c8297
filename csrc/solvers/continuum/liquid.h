/* liquid.h: the pressure of weakly compressible liquids.
 *
 * It is that of a density which is measured in each substep, not carried along, so that volumes do not drift however
 * long a run is. With V_p the volume of particle p at rest, cell c of the grid is filled to
 *   f_c = sum_p V_p W_c(x_p) / A_c,
 * where W_c is the mean of the splines of its eight nodes, and A_c the part of the integral of W_c that tools and walls
 * leave (room.h). Cells of which a node has no volume count for nothing: what such a cell would take of its other nodes
 * goes to the cells around these that count, so that every node gives away all that it has. The energy is
 * sum_c A_c K_c max(f_c - 1, 0)^2 / 2 at the end of the substep, f_c linear in the velocities:
 *   f_c(v) = f_c + dt / A_c (mean over the nodes i of c of) sum_p V_p grad w_i(x_p) . v(x_p).
 * Its gradient with respect to the velocity of a particle is dt V_p grad pi(x_p), pi_i the mean of the pressures of the
 * cells around node i. There is no tension: a cell that is not full has no pressure. K_c is the mean of the bulk moduli in
 * c weighted by volume, that of solid matter counted as 0. room.h says how tools close cells, and what pressures do to
 * tools; displaced.h how the twists of dynamic tools enter f. Contacts keep single particles out, and hold them back by their viscosity.
 *
 * A mean over eight nodes: with the splines alone as W_c liquids lose their energy to the disorder of particles. An
 * energy of positions relative to the grid keeps energy, but momentum only as far as the splines resolve the pressure: a
 * free surface is as if a tenth to a fifth of a spacing higher. What a cell does not see, how particles lie within it,
 * nothing holds even; they are moved away from crowded nodes at the end of a substep, their velocities unchanged.
 */
#ifndef GG_CONTINUUM_LIQUID_H
#define GG_CONTINUUM_LIQUID_H

#include "cells.h"
#include "room.h"

/* a cell with less room, as a share of its volume, has no pressure */
#define GG_LIQUID_ROOM 5e-4
/* share of the diagonal of the Hessian over that of a solid of the same bulk modulus, full everywhere */
#define GG_LIQUID_DIAGONAL 0.065
/* Particles leave nodes that are more than full: how far in a substep, in spacings, over how the excess of their fill falls
 * in a spacing; and at most. */
#define GG_LIQUID_SPREAD      0.2
#define GG_LIQUID_SPREAD_MOST 0.1
/* least reduction of the residual by a linear solve in place of GG_CONTINUUM_FORCING: of the cells hardly any fill or
 * part from one step of Newton's method to the next, so that its systems are worth solving */
#define GG_LIQUID_FORCING 0.01

GG_FN gg_liquid_cell *gg_liquid_cells(const gg_view *v, int64_t e, int64_t b) {
    return v->liquid_cell + (e * v->dims.continuum.blocks + b) * GG_CELLS;
}

GG_FN gg_room *gg_room_of(const gg_view *v, int64_t e, int64_t n) {
    return v->liquid_room + e * v->dims.continuum.nodes + n;
}

/* Whether a cell is a block's own. Those that begin in the next block along some axes are reached from several: they
 * belong to that block where it holds particles, else to the first one that reaches them. Others hold no liquid. */
GG_FN int gg_liquid_cell_owned(const gg_view *v, int64_t e, int64_t b, const int place[3]) {
    int within = 0, first = 0;
    for (int axis = 0; axis < 3; axis++) {
        within |= (place[axis] >> 2) << axis;
        first |= !(place[axis] & 3) << axis;
    }
    int32_t nodes = gg_continuum_block_of(v, e, b)->node[within];
    const gg_continuum_source *source = &v->continuum_source[e * v->dims.continuum.nodes + nodes];
    GG_ROLLED
    for (int s = 0; s < 8; s++) {
        if (!(s & ~first) && source->block[s] >= 0) {
            return source->block[s] == b;
        }
    }
    return 0;
}

/* ---- cells and nodes ---- */

/* first corner of cell k of a block in its halo */
GG_FN int gg_liquid_cell_corner(int k) { return k / 25 * 36 + k / 5 % 5 * 6 + k % 5; }

/* mean of a component over the corners of a cell */
GG_FN double gg_liquid_cell_mean(const gg_real4 *corner, int component) {
    double sum = 0.0;
    for (int s = 0; s < 8; s++) {
        sum += gg_real4_at(corner[(s >> 2) * 36 + (s >> 1 & 1) * 6 + (s & 1)], component);
    }
    return 0.125 * sum;
}

/* its transpose: gives a share of the pressure of a cell to its corners */
GG_FN void gg_liquid_cell_give(gg_real4 *corner, double pressure) {
    gg_real4 share = gg_real4_set(0.125 * pressure, 0.0, 0.0, 0.0);
    for (int s = 0; s < 8; s++) {
        gg_real4 *node = &corner[(s >> 2) * 36 + (s >> 1 & 1) * 6 + (s & 1)];
        *node = gg_real4_add(*node, share);
    }
}

/* whether all nodes of a cell have volume */
GG_FN int gg_liquid_cell_counts(const gg_real4 *corner) {
    int all = 1;
    for (int s = 0; s < 8; s++) {
        all &= gg_real4_at(corner[(s >> 2) * 36 + (s >> 1 & 1) * 6 + (s & 1)], 0) > 0.0;
    }
    return all;
}

/* pressure of a cell as full as that, and by how much more it rises [Pa] */
GG_FN double gg_liquid_cell_pressure(const gg_liquid_cell *c, double fill) { return fill > 0.0 ? c->bulk * fill : 0.0; }
GG_FN double gg_liquid_cell_rise(const gg_liquid_cell *c, double fill) { return fill > 0.0 ? c->bulk : 0.0; }

/* how the cells of a block fill in a substep by what its nodes are told: dt / A times the mean of that */
GG_FN double gg_liquid_cell_change(const gg_view *v, const gg_liquid_cell *c, const gg_real4 *corner) {
    return (double)v->params.dt / c->room * gg_liquid_cell_mean(corner, 0);
}

/* Notes which cells of a block count, and tells their nodes. item: block of an env */
GG_FN void gg_liquid_count_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_real4 *halo = gg_halo_read(v, e, b, v->liquid_flow, gg_given_of(v, e, b) + GG_HALO);
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    GG_ROLLED
    for (int k = 0; k < GG_CELLS; k++) {
        int at = gg_liquid_cell_corner(k), place[3] = {k % 5, k / 5 % 5, k / 25};
        int counts = gg_liquid_cell_counts(halo + at) && gg_liquid_cell_owned(v, e, b, place);
        gg_liquid_cells(v, e, b)[k].room = counts;
        if (counts) {
            gg_liquid_cell_give(given + at, 8.0);
        }
    }
}

/* What a node gives to each of the cells around it that count, over an eighth: 8 over how many there are. */
GG_FN double gg_liquid_share_of(const gg_view *v, int64_t e, int64_t n, int k) {
    double cells = gg_real4_at(gg_node_sum(v, e, n, k), 0);
    return cells > 0.0 ? 8.0 / cells : 0.0;
}

/* Lets nodes tell cells by their shares. item: block of nodes of an env */
GG_FN void gg_liquid_share_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes) {
        return;
    }
    int64_t first = gg_node_first(v, e, n);
    GG_ROLLED
    for (int k = 0; k < GG_NODES; k++) {
        double share = gg_liquid_share_of(v, e, n, k);
        v->liquid_flow[first + k] = gg_real4_scale(v->liquid_flow[first + k], share);
    }
}

/* Measures how full the cells of a block are. item: block of an env */
GG_FN void gg_liquid_measure_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_real4 *halo = gg_halo_read(v, e, b, v->liquid_flow, gg_given_of(v, e, b) + GG_HALO);
    double h = v->params.spacing, dt = v->params.dt;
    GG_ROLLED
    for (int k = 0; k < GG_CELLS; k++) {
        gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
        const gg_real4 *corner = halo + gg_liquid_cell_corner(k);
        double volume = gg_liquid_cell_mean(corner, 0), stiff = gg_liquid_cell_mean(corner, 1),
               left = gg_liquid_cell_mean(corner, 2);
        int counts = c->room > 0.0;
        c->room = 0.0;
        if (counts && stiff > 0.0 && left > GG_LIQUID_ROOM) {
            c->room = left * h * h * h;
            c->bulk = stiff / volume;
            c->full = (volume + dt * gg_liquid_cell_mean(corner, 3)) / c->room - 1.0;
        }
    }
}

/* Keeps the pressure that the blocks gave to a node in the fourth component of the velocity that caused it. */
GG_FN void gg_liquid_keep_node(const gg_view *v, int64_t e, gg_node node, gg_real4 *nodes) {
    gg_real4 u = nodes[node.at];
    double pressure = gg_liquid_share(v->liquid_flow[node.at]) * gg_real4_at(gg_node_given(v, e, node), 0);
    nodes[node.at] = gg_real4_set(gg_real4_at(u, 0), gg_real4_at(u, 1), gg_real4_at(u, 2), pressure);
}

/* the same of a block of nodes; what these pressures do to dynamic tools */
GG_FN void gg_liquid_keep(const gg_view *v, int64_t e, int64_t n, gg_real4 *nodes) {
    GG_EACH_NODE_GIVEN(v, e, n, gg_liquid_keep_node(v, e, node, nodes));
    GG_ROLLED
    for (int64_t tool = 0; tool < v->dims.continuum.tools; tool++) {
        gg_displaced_push_tool(v, e, n, tool, nodes);
    }
}

/* the impulse that pressure takes from a particle in a substep; along: slopes of what the nodes have */
GG_FN void gg_liquid_push(const gg_continuum_point *p, const gg_real4 along[3], double dt, gg_point_gift *gift) {
    gg_real4 slope = gg_real4_set(gg_real4_at(along[0], 3), gg_real4_at(along[1], 3), gg_real4_at(along[2], 3), 0.0);
    gift->impulse = gg_real4_madd(gift->impulse, dt * p->volume, slope);
}

/* ---- the phases, in their order: of an iterate, of a direction of the linear solve, of a step ---- */

/* What is at a node: x: volume, which the blocks gave, y: that times the bulk modulus of liquids, z: the share of the
 * spline that tools leave, w: the volume that tools which follow their targets sweep there [m3/s]. left, swept:
 * gg_liquid_room */
GG_FN void gg_liquid_open_node(const gg_view *v, int64_t e, int64_t n, int k, double left, const double swept[3]) {
    gg_real4 sum = gg_node_sum_plane(v, e, n, k, 1);
    double face = v->params.spacing * v->params.spacing, all = (swept[0] + swept[1] + swept[2]) * face;
    v->liquid_flow[gg_node_first(v, e, n) + k] = gg_real4_set(gg_real4_at(sum, 0), gg_real4_at(sum, 1), left, all);
}

/* what the cubes around node k of a block say: the share that tools leave, axis -1; what is swept along an axis, over the
 * area of a face of a cell [m/s] */
GG_FN double gg_liquid_room(const gg_room *room, gg_room_state state, int k, int axis) {
    if (axis < 0) {
        return state == GG_ROOM_OPEN ? 1.0 : gg_room_gather(room->left, k, -1);
    }
    return state == GG_ROOM_MOVES ? gg_room_gather(room->along[axis], k, axis) : 0.0;
}

/* item: block of nodes of an env */
GG_FN void gg_liquid_open_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes) {
        return;
    }
    gg_room *room = gg_room_of(v, e, n);
    gg_displaced_clear(v, e, n);
    gg_room_state state = gg_room_measure(v, e, n, room);
    GG_ROLLED
    for (int k = 0; k < GG_NODES; k++) {
        double swept[3];
        for (int axis = 0; axis < 3; axis++) {
            swept[axis] = gg_liquid_room(room, state, k, axis);
        }
        gg_liquid_open_node(v, e, n, k, gg_liquid_room(room, state, k, -1), swept);
    }
}

/* What was at the nodes is in cells now: keeps how crowded nodes are, in y, and their shares, in z. item: block of nodes
 * of an env */
GG_FN void gg_liquid_crowd_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes) {
        return;
    }
    int64_t first = gg_node_first(v, e, n);
    double h = v->params.spacing;
    GG_ROLLED
    for (int k = 0; k < GG_NODES; k++) {
        gg_real4 own = v->liquid_flow[first + k];
        double share = gg_liquid_share_of(v, e, n, k), room = GG_MAX(gg_real4_at(own, 2), 0.1 * share) * h * h * h;
        double crowd = gg_real4_at(own, 1) > 0.0 ? gg_real4_at(own, 0) / room - 1.0 : 0.0;
        v->liquid_flow[first + k] = gg_real4_set(0.0, GG_MAX(crowd, 0.0), share, 0.0);
    }
}

/* Moves particles away from crowded nodes, their velocities unchanged. item: block of an env */
GG_FN void gg_liquid_spread_block(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks) {
        return;
    }
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *halo = gg_halo_read(v, e, b, v->liquid_flow, gg_given_of(v, e, b) + GG_HALO);
    double h = v->params.spacing;
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        int64_t at = e * v->dims.slots + p->slot, id = e * v->dims.slots + v->grain_id[at];
        if (!(gg_continuum_material_of(v, e, p->slot)->liquid > 0.0) || !gg_continuum_moved(v, e)[p->id]) {
            continue;
        }
        gg_real4 value, along[3];
        gg_spline s = gg_spline_slopes(p->place, h);
        gg_spline_gather(&s, halo + p->halo, &value, along);
        double way[3], x[3], u[3];
        for (int j = 0; j < 3; j++) {
            way[j] = -GG_LIQUID_SPREAD * h * h * gg_real4_at(along[j], 1);
        }
        double size = sqrt(gg_dot3(way, way)), most = GG_LIQUID_SPREAD_MOST * h,
               share = size > most ? most / size : 1.0;
        gg_continuum_motion(v, e, p->slot, x, u);
        if (size > 0.0) {
            float value[3], error[3];
            for (int j = 0; j < 3; j++) {
                gg_split(x[j] + share * way[j], &value[j], &error[j]);
                v->position_error[id * 3 + j] = error[j];
            }
            v->position[at].x = value[0];
            v->position[at].y = value[1];
            v->position[at].z = value[2];
        }
    }
}

/* What velocities carry to a node, and what dynamic tools do. which: their twists */
GG_FN void gg_liquid_flow_node(const gg_view *v, int64_t e, gg_node node, int32_t which) {
    const double *twists = gg_twist(v, e, (gg_twist_vector)which);
    gg_real4 own = v->liquid_flow[node.at], given = gg_node_given(v, e, node);
    double flow = gg_real4_at(given, 0) + gg_real4_at(given, 1) + gg_real4_at(given, 2) +
                  gg_displaced_flow(v, e, node.nodes, node.local, twists);
    v->liquid_flow[node.at] = gg_real4_set(gg_liquid_share(own) * flow, gg_real4_at(own, 1), gg_real4_at(own, 2), 0.0);
}

/* item: block of nodes of an env */
GG_FN void gg_liquid_flow_nodes(const gg_view *v, int64_t e, int64_t n, int32_t which) {
    if (n < gg_continuum_env_of(v, e)->nodes && gg_continuum_newton_on(v, e)) {
        GG_EACH_NODE_GIVEN(v, e, n, gg_liquid_flow_node(v, e, node, which));
    }
}
GG_FN void gg_liquid_keep_iterate(const gg_view *v, int64_t e, int64_t n) {
    if (n < gg_continuum_env_of(v, e)->nodes && gg_continuum_newton_on(v, e)) {
        gg_liquid_keep(v, e, n, v->continuum_velocity);
    }
}
GG_FN void gg_liquid_keep_way(const gg_view *v, int64_t e, int64_t n) {
    if (n < gg_continuum_env_of(v, e)->nodes && gg_continuum_inner_on(v, e)) {
        gg_liquid_keep(v, e, n, v->continuum_way);
    }
}

/* pressure of cell k of a block at the iterate; how it rises along the direction; how the cell fills along the step. halo:
 * what nodes say */
GG_FN double gg_liquid_press_iterate_cell(const gg_view *v, int64_t e, int64_t b, int k, const gg_real4 *halo) {
    gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
    if (!(c->room > 0.0)) {
        return 0.0;
    }
    c->fill = c->full + gg_liquid_cell_change(v, c, halo + gg_liquid_cell_corner(k));
    return gg_liquid_cell_pressure(c, c->fill);
}
GG_FN double gg_liquid_press_way_cell(const gg_view *v, int64_t e, int64_t b, int k, const gg_real4 *halo) {
    const gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
    if (!(c->room > 0.0 && c->fill > 0.0)) {
        return 0.0;
    }
    return gg_liquid_cell_rise(c, c->fill) * gg_liquid_cell_change(v, c, halo + gg_liquid_cell_corner(k));
}
GG_FN void gg_liquid_press_step_cell(const gg_view *v, int64_t e, int64_t b, int k, const gg_real4 *halo) {
    gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
    c->along = c->room > 0.0 ? gg_liquid_cell_change(v, c, halo + gg_liquid_cell_corner(k)) : 0.0;
}

/* what the cells of a block under pressure at the iterate add to the Hessian of the twist of a tool */
GG_FN void gg_liquid_stiffen(const gg_view *v, int64_t e, int64_t b, int64_t tool) {
    double dt = v->params.dt;
    if (!gg_displaced_open(v, e, b, tool)) {
        return;
    }
    GG_ROLLED
    for (int k = 0; k < GG_CELLS; k++) {
        const gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
        int place[3] = {k % 5, k / 5 % 5, k / 25};
        if (c->room > 0.0 && c->fill > 0.0) {
            gg_displaced_stiffen(v, e, b, tool, place, gg_liquid_cell_rise(c, c->fill) * dt * dt / c->room);
        }
    }
}

/* Gives to the nodes of a block what pressure(v, e, b, k, halo) says of its cells. */
#define GG_LIQUID_PRESS(v, e, b, pressure)                                                                             \
    const gg_real4 *halo = gg_halo_read(v, e, b, v->liquid_flow, gg_given_of(v, e, b) + GG_HALO);                      \
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);                                                                \
    GG_ROLLED                                                                                                          \
    for (int k = 0; k < GG_CELLS; k++) {                                                                               \
        double of_cell = pressure(v, e, b, k, halo);                                                                   \
        if (of_cell != 0.0) {                                                                                          \
            gg_liquid_cell_give(given + gg_liquid_cell_corner(k), of_cell);                                            \
        }                                                                                                              \
    }

/* Pressures at the iterate. item: block of an env */
GG_FN void gg_liquid_press_iterate(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    GG_LIQUID_PRESS(v, e, b, gg_liquid_press_iterate_cell);
    GG_ROLLED
    for (int64_t tool = 0; tool < v->dims.continuum.tools; tool++) {
        gg_liquid_stiffen(v, e, b, tool);
    }
}

/* How they change along the direction. item: block of an env */
GG_FN void gg_liquid_press_way(const gg_view *v, int64_t e, int64_t b) {
    if (b < gg_continuum_env_of(v, e)->blocks && gg_continuum_inner_on(v, e)) {
        GG_LIQUID_PRESS(v, e, b, gg_liquid_press_way_cell);
    }
}

/* How the cells fill along the step. item: block of an env */
GG_FN void gg_liquid_press_step(const gg_view *v, int64_t e, int64_t b) {
    if (b >= gg_continuum_env_of(v, e)->blocks || !gg_continuum_newton_on(v, e)) {
        return;
    }
    const gg_real4 *halo = gg_halo_read(v, e, b, v->liquid_flow, gg_given_of(v, e, b) + GG_HALO);
    GG_ROLLED
    for (int k = 0; k < GG_CELLS; k++) {
        gg_liquid_press_step_cell(v, e, b, k, halo);
    }
}

/* Sums up what the pressures of a block of nodes do to tools in a substep. item: block of nodes of an env */
GG_FN void gg_liquid_react_nodes(const gg_view *v, int64_t e, int64_t n) {
    if (n >= gg_continuum_env_of(v, e)->nodes) {
        return;
    }
    const gg_real4 *nodes = v->continuum_velocity + gg_node_first(v, e, n);
    int pressed = 0;
    for (int64_t i = 0; i < v->dims.tool_count * 6; i++) {
        gg_room_pushes(v, e, n, 0)[i] = 0.0;
    }
    for (int k = 0; k < GG_NODES; k++) {
        pressed |= gg_real4_at(nodes[k], 3) > 0.0;
    }
    if (pressed) {
        gg_room_load(v, e, n, nodes);
    }
}

/* Adds that to a component of the wrench of a tool. i: six times the tool, and the component */
GG_FN void gg_liquid_reacted(const gg_view *v, int64_t e, int64_t i) {
    double *wrench = v->wrench + e * v->dims.tool_count * 6 + i, sum = *wrench;
    for (int64_t n = 0; n < gg_continuum_env_of(v, e)->nodes; n++) {
        sum += gg_room_pushes(v, e, n, 0)[i];
    }
    *wrench = sum;
}

/* ---- what a block adds to the objective ---- */

/* energy of its cells at the iterate [J] */
GG_FN double gg_liquid_energy(const gg_view *v, int64_t e, int64_t b) {
    double sum = 0.0;
    GG_ROLLED
    for (int k = 0; k < GG_CELLS; k++) {
        const gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
        sum += c->room > 0.0 ? 0.5 * c->room * gg_liquid_cell_pressure(c, c->fill) * c->fill : 0.0;
    }
    return sum;
}

/* adds to the slope of the objective at a length of the step, and to its rise */
GG_FN void gg_liquid_try(const gg_view *v, int64_t e, int64_t b, double length, gg_continuum_sum *sum) {
    GG_ROLLED
    for (int k = 0; k < GG_CELLS; k++) {
        const gg_liquid_cell *c = &gg_liquid_cells(v, e, b)[k];
        if (c->room > 0.0) {
            double fill = c->fill + length * c->along;
            sum->of[0] += c->room * gg_liquid_cell_pressure(c, fill) * c->along;
            sum->of[1] += c->room * gg_liquid_cell_rise(c, fill) * c->along * c->along;
        }
    }
}

#endif
