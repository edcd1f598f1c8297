/* room.h: what tools and walls leave of the splines of nodes, and what pressures at nodes do to tools.
 *
 * Space is cut into cubes of half a spacing. A cube whose centre is at the signed distance d from a tool of normal n is
 * open by the share o(d / (s |n|_1)), s its side: the integral of a hat function, so that a wall along the grid leaves the
 * volume that it should wherever it lies. Where two tools meet in a cube, the shares that they leave multiply if they
 * stand across each other. The room of a node is the sum over cubes of o times their share of its spline, corrected in the
 * second order for the widths of hat and cube.
 *
 * Cubes are gone through by octets: the eight around a node of the 6 x 6 x 6 that a block of nodes reaches.
 *
 * What is not open is full of tool, which displaces liquid as it moves just as a particle does: with c the share of a cube
 * that a part of a tool takes, v its velocity there and V the volume of the cube, node i gains sum c V grad w_i . v, and
 * pressures push the part by -sum c V grad pi. So the same pressure all round pushes nothing, and what is under water is
 * lifted by the weight of what it displaces. The motion of dynamic tools is an unknown: displaced.h.
 */
#ifndef GG_CONTINUUM_ROOM_H
#define GG_CONTINUUM_ROOM_H

#include "contacts.h"
#include "nodes.h"

/* diagonal of a cube of side 1 */
#define GG_ROOM_DIAGONAL 1.7320508075688772

/* a cube: what tools leave of it, and what the two that are nearest take */
typedef struct gg_room_cube {
    double left, taken[2];
    gg_vec3 normal[2];
    int32_t part[2]; /* of tools; -1: none */
} gg_room_cube;

/* ---- splines and cubes ---- */

/* along an axis, for the k-th of the six cubes that a node's spline reaches: the share of the spline in it, and the mean
 * slope of the spline there times the side of a cube */
GG_FN double gg_room_share(int k) {
    k = k < 3 ? k : 5 - k;
    return (k == 0 ? 1.0 : k == 1 ? 25.0 : 70.0) / 192.0;
}
GG_FN double gg_room_slope(int k) {
    int from = k < 3 ? k : 5 - k;
    double rise = from == 0 ? 0.125 : from == 1 ? 0.375 : 0.25;
    return k < 3 ? rise : -rise;
}
/* the share or, along `axis`, the slope */
GG_FN double gg_room_along(int own, int axis, int k) { return own == axis ? gg_room_slope(k) : gg_room_share(k); }

/* first cube of a node of a block, local: 0 .. 63 */
GG_FN int gg_room_first(int local) {
    return ((local >> 4) * GG_ROOM_SIDE + (local >> 2 & 3)) * 2 * GG_ROOM_SIDE + 2 * (local & 3);
}

/* sum over the cubes of a node: by its spline, axis -1, or by the slope of that */
GG_FN double gg_room_gather(const float *of, int local, int axis) {
    const float *from = of + gg_room_first(local);
    double sum = 0.0;
    GG_ROLLED
    for (int k = 0; k < 6; k++) {
        GG_ROLLED
        for (int j = 0; j < 6; j++) {
            const float *row = from + (k * GG_ROOM_SIDE + j) * GG_ROOM_SIDE;
            double along = 0.0;
            for (int i = 0; i < 6; i++) {
                along += gg_room_along(0, axis, i) * (double)row[i];
            }
            sum += gg_room_along(2, axis, k) * gg_room_along(1, axis, j) * along;
        }
    }
    return sum;
}

/* the first and the last of the four nodes of a block along an axis whose splines reach cube k of 12 */
GG_FN int gg_room_from(int k) { return GG_MAX((k - 4) / 2, 0); }
GG_FN int gg_room_to(int k) { return GG_MIN(k / 2, 3); }

/* How pressures of the nodes of a block rise in cube x y z over its side, the transpose of gg_room_gather by slopes [Pa].
 * nodes: pressures in the fourth component */
GG_FN_LARGE gg_vec3 gg_room_rise(const gg_real4 *nodes, const int cube[3]) {
    float rise[3] = {0.0f, 0.0f, 0.0f};
    GG_ROLLED
    for (int z = gg_room_from(cube[2]); z <= gg_room_to(cube[2]); z++) {
        double share_z = gg_room_share(cube[2] - 2 * z), slope_z = gg_room_slope(cube[2] - 2 * z);
        GG_ROLLED
        for (int y = gg_room_from(cube[1]); y <= gg_room_to(cube[1]); y++) {
            double share_y = gg_room_share(cube[1] - 2 * y), slope_y = gg_room_slope(cube[1] - 2 * y);
            GG_ROLLED
            for (int x = gg_room_from(cube[0]); x <= gg_room_to(cube[0]); x++) {
                double share_x = gg_room_share(cube[0] - 2 * x), pressure = gg_real4_at(nodes[z << 4 | y << 2 | x], 3);
                if (pressure > 0.0) {
                    rise[0] += (float)(pressure * share_z * share_y * gg_room_slope(cube[0] - 2 * x));
                    rise[1] += (float)(pressure * share_z * slope_y * share_x);
                    rise[2] += (float)(pressure * slope_z * share_y * share_x);
                }
            }
        }
    }
    return gg_v3(rise[0], rise[1], rise[2]);
}

/* place of the first node of a block of nodes [m] */
GG_FN gg_vec3 gg_node_place(const gg_view *v, int64_t e, int64_t n) {
    const gg_continuum_source *source = &v->continuum_source[e * v->dims.continuum.nodes + n];
    int64_t key = 0;
    float place[3];
    for (int s = 0; s < 8; s++) {
        if (source->block[s] >= 0) {
            key = gg_continuum_block_of(v, e, source->block[s])->key + gg_block_shift(s);
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        int64_t at = key >> (GG_BLOCK_BITS * axis) & ((1 << GG_BLOCK_BITS) - 1);
        double node = (double)(4 * (at - GG_BLOCK_HALF));
        place[axis] = (float)((double)gg_axis_of(v->params.lower, axis) + node * v->params.spacing);
    }
    return gg_v3(place[0], place[1], place[2]);
}

/* place of cube i j k, 0 .. 11, of a block of nodes whose first node is there */
GG_FN gg_vec3 gg_room_place(const gg_view *v, gg_vec3 first, double i, double j, double k) {
    double s = 0.5 * v->params.spacing;
    return gg_v3((float)((double)first.x + s * (i - 2.5)), (float)((double)first.y + s * (j - 2.5)),
                 (float)((double)first.z + s * (k - 2.5)));
}

/* ---- what tools take ---- */

/* share that two tools leave of a cube, a and b that of each, cosine that of their normals: exact where these are along,
 * across or against each other */
GG_FN double gg_room_joint(double a, double b, double cosine) {
    double size = GG_MIN(cosine >= 0.0 ? cosine : -cosine, 1.0);
    return (1.0 - size) * a * b + size * (cosine >= 0.0 ? GG_MIN(a, b) : GG_MAX(a + b - 1.0, 0.0));
}

/* Says what the parts at a cube take of it; share: what each leaves. Planes, which have no ends, take what others leave;
 * bodies share the rest, so that the parts of a vessel carry together what is in it. */
GG_FN void gg_room_take(const gg_view *v, const double share[2], gg_room_cube *cube) {
    double closed = 1.0 - cube->left, both = 2.0 - share[0] - share[1];
    cube->taken[0] = closed;
    cube->taken[1] = 0.0;
    if (cube->part[1] < 0) {
        return;
    }
    int first = v->parts[cube->part[0]].kind == GG_SHAPE_PLANE, second = v->parts[cube->part[1]].kind == GG_SHAPE_PLANE;
    cube->taken[0] = first ? (1.0 - share[0]) * share[1] : both > 0.0 ? closed * (1.0 - share[0]) / both : 0.0;
    cube->taken[1] = second ? (1.0 - share[1]) * share[0] : closed - cube->taken[0];
    if (second && !first) {
        cube->taken[0] = closed - cube->taken[1];
    }
}

/* the component of a vector that a part of a tool moves liquid by, or is pushed by: of planes, which have no ends, that
 * along the normal */
GG_FN gg_vec3 gg_room_part(const gg_shape *shape, gg_vec3 normal, gg_vec3 vector) {
    return shape->kind == GG_SHAPE_PLANE ? gg_scale(normal, gg_dot(normal, vector)) : vector;
}

/* Which of the parts in `near` are nearer to a place than reach, a bit each; those from the 64th on share the last. */
GG_FN_LARGE uint64_t gg_room_near(const gg_view *v, int64_t e, gg_vec3 place, double reach, uint64_t near) {
    uint64_t out = 0;
    GG_ROLLED
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        const gg_shape *shape = &v->parts[part];
        const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
        gg_vec3 local = gg_mat_tmul(pose->rotation, gg_sub(place, pose->position));
        uint64_t bit = (uint64_t)1 << GG_MIN(part, 63);
        if ((near & bit) && pose->active && (double)gg_sdf_bound(shape, local) < reach) {
            out |= (double)gg_sdf_eval(shape, v->grids, v->samples, local).distance < reach ? bit : 0;
        }
    }
    return out;
}

/* the parts near all cubes of a block of nodes from the place of its first: half their diagonal, and the width of the hat */
GG_FN uint64_t gg_room_near_all(const gg_view *v, int64_t e, gg_vec3 first) {
    double reach = 7.0 * GG_ROOM_DIAGONAL * 0.5 * v->params.spacing;
    return gg_room_near(v, e, gg_room_place(v, first, 5.5, 5.5, 5.5), reach, ~(uint64_t)0);
}

/* of these, those near octet n */
GG_FN uint64_t gg_room_near_octet(const gg_view *v, int64_t e, gg_vec3 first, int n, uint64_t near) {
    double reach = 1.5 * GG_ROOM_DIAGONAL * 0.5 * v->params.spacing;
    gg_vec3 place = gg_room_place(v, first, n % 6 * 2 + 0.5, n / 6 % 6 * 2 + 0.5, n / 36 * 2 + 0.5);
    return gg_room_near(v, e, place, reach, near);
}

/* cube c, 0 .. 7, of octet n: where it is along each axis, 0 .. 11; and its index among all */
GG_FN void gg_room_cube_of(int n, int c, int cube[3]) {
    cube[0] = n % 6 * 2 + (c & 1);
    cube[1] = n / 6 % 6 * 2 + (c >> 1 & 1);
    cube[2] = n / 36 * 2 + (c >> 2);
}
GG_FN int gg_room_index(const int cube[3]) { return (cube[2] * GG_ROOM_SIDE + cube[1]) * GG_ROOM_SIDE + cube[0]; }
GG_FN gg_vec3 gg_room_cube_place(const gg_view *v, gg_vec3 first, const int cube[3]) {
    return gg_room_place(v, first, cube[0], cube[1], cube[2]);
}

/* A cube of side s around a place. near: parts to look at */
GG_FN_LARGE void gg_room_cube_at(const gg_view *v, int64_t e, gg_vec3 place, double s, uint64_t near,
                                 gg_room_cube *out) {
    double at[2] = {1.0, 1.0}, share[2] = {1.0, 1.0};
    out->part[0] = out->part[1] = -1;
    GG_ROLLED
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        const gg_shape *shape = &v->parts[part];
        const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
        gg_vec3 local = gg_mat_tmul(pose->rotation, gg_sub(place, pose->position));
        if (!(near >> GG_MIN(part, 63) & 1) || !pose->active ||
            (double)gg_sdf_bound(shape, local) > GG_ROOM_DIAGONAL * s) {
            continue;
        }
        gg_sdf_hit hit = gg_sdf_eval(shape, v->grids, v->samples, local);
        gg_vec3 n = gg_mat_mul(pose->rotation, hit.gradient);
        double width = s * (double)(gg_absf(n.x) + gg_absf(n.y) + gg_absf(n.z)), own = (double)hit.distance / width;
        if (!(own < at[1])) {
            continue;
        }
        double less = own < 0.0 ? 1.0 + own : 1.0 - own;
        double leaves = own < -1.0 ? 0.0 : own < 0.0 ? 0.5 * less * less : 1.0 - 0.5 * less * less;
        if (own < at[0]) {
            at[1] = at[0], share[1] = share[0];
            out->normal[1] = out->normal[0], out->part[1] = out->part[0];
            at[0] = own, share[0] = leaves;
            out->normal[0] = n, out->part[0] = (int32_t)part;
        } else {
            at[1] = own, share[1] = leaves;
            out->normal[1] = n, out->part[1] = (int32_t)part;
        }
    }
    out->left = out->part[1] < 0 ? share[0] : gg_room_joint(share[0], share[1], gg_dot(out->normal[0], out->normal[1]));
    gg_room_take(v, share, out);
}

/* the dynamic tool whose part takes share p of a cube, -1: none */
GG_FN int32_t gg_room_dynamic(const gg_view *v, const gg_room_cube *cube, int p) {
    return cube->taken[p] > 0.0 ? gg_continuum_tool(v, v->parts[cube->part[p]].tool) : -1;
}

/* whether the spline of node x y z of a block reaches a cube */
GG_FN int gg_room_reached(const int node[3], const int cube[3]) {
    int reached = 1;
    for (int axis = 0; axis < 3; axis++) {
        reached &= node[axis] >= gg_room_from(cube[axis]) && node[axis] <= gg_room_to(cube[axis]);
    }
    return reached;
}

/* Adds to the volume that node x y z of a block gains by the twist of a dynamic tool what the tool takes of a cube by
 * share p: displaced.h. */
GG_FN void gg_room_displace(const gg_view *v, int64_t e, const int at[3], gg_vec3 place, const gg_room_cube *cube,
                            int p, const int node[3], double by[6]) {
    int32_t part = cube->part[p];
    double scale = cube->taken[p] * v->params.spacing * v->params.spacing;
    float rise[3];
    for (int axis = 0; axis < 3; axis++) {
        rise[axis] = (float)(scale * gg_room_along(0, axis, at[0] - 2 * node[0]) *
                             gg_room_along(1, axis, at[1] - 2 * node[1]) * gg_room_along(2, axis, at[2] - 2 * node[2]));
    }
    gg_vec3 along = gg_room_part(&v->parts[part], cube->normal[p], gg_v3(rise[0], rise[1], rise[2]));
    gg_vec3 turn = gg_cross(gg_sub(place, v->part_pose[e * v->dims.part_count + part].tool_position), along);
    for (int axis = 0; axis < 3; axis++) {
        by[axis] += (double)gg_axis_of(along, axis);
        by[3 + axis] += (double)gg_axis_of(turn, axis);
    }
}

/* the same of all nodes, beside what the tool does at their block */
GG_FN_LARGE void gg_room_displace_all(const gg_view *v, int64_t e, const int at[3], gg_vec3 place,
                                      const gg_room_cube *cube, int p, gg_displaced *to) {
    for (int k = 0; k < GG_NODES * 6 && !to->met; k++) {
        to->by[k / 6][k % 6] = 0.0;
    }
    to->met = 1;
    GG_ROLLED
    for (int z = gg_room_from(at[2]); z <= gg_room_to(at[2]); z++) {
        GG_ROLLED
        for (int y = gg_room_from(at[1]); y <= gg_room_to(at[1]); y++) {
            GG_ROLLED
            for (int x = gg_room_from(at[0]); x <= gg_room_to(at[0]); x++) {
                const int node[3] = {x, y, z};
                gg_room_displace(v, e, at, place, cube, p, node, to->by[z << 4 | y << 2 | x]);
            }
        }
    }
}

/* A cube that no tool is near to */
GG_FN gg_room_cube gg_room_open(void) {
    gg_room_cube cube = GG_ZERO;
    cube.left = 1.0;
    cube.part[0] = cube.part[1] = -1;
    return cube;
}

/* Keeps what tools leave of a cube, and how those that follow their targets move what they take of it; returns whether any
 * of these moves. */
GG_FN_LARGE int gg_room_keep(const gg_view *v, int64_t e, const int at[3], gg_vec3 place, const gg_room_cube *cube,
                             gg_room *room) {
    const int index = gg_room_index(at);
    int moves = 0;
    room->left[index] = (float)cube->left;
    room->along[0][index] = room->along[1][index] = room->along[2][index] = 0.0f;
    for (int p = 0; p < 2; p++) {
        if (cube->taken[p] > 0.0 && gg_room_dynamic(v, cube, p) < 0) {
            gg_vec3 velocity =
                gg_room_part(&v->parts[cube->part[p]], cube->normal[p], gg_part_velocity(v, e, cube->part[p], place));
            moves |= velocity.x != 0.0f || velocity.y != 0.0f || velocity.z != 0.0f;
            for (int axis = 0; axis < 3; axis++) {
                room->along[axis][index] += (float)(cube->taken[p] * (double)gg_axis_of(velocity, axis));
            }
        }
    }
    return moves;
}

/* what a block of nodes finds of the tools around it */
typedef enum gg_room_state {
    GG_ROOM_OPEN,  /* no tool is near, and nothing is kept of its cubes */
    GG_ROOM_RESTS, /* tools that follow their targets rest there */
    GG_ROOM_MOVES  /* some move */
} gg_room_state;

/* Measures the cubes around a block of nodes. */
GG_FN_LARGE gg_room_state gg_room_measure(const gg_view *v, int64_t e, int64_t n, gg_room *room) {
    gg_vec3 first = gg_node_place(v, e, n);
    uint64_t near = gg_room_near_all(v, e, first);
    int moves = 0;
    GG_ROLLED
    for (int k = 0; near && k < GG_ROOM_OCTETS; k++) {
        uint64_t close = gg_room_near_octet(v, e, first, k, near);
        GG_ROLLED
        for (int c = 0; c < 8; c++) {
            int at[3];
            gg_room_cube_of(k, c, at);
            gg_vec3 place = gg_room_cube_place(v, first, at);
            gg_room_cube cube = gg_room_open();
            if (close) {
                gg_room_cube_at(v, e, place, 0.5 * v->params.spacing, close, &cube);
            }
            moves |= gg_room_keep(v, e, at, place, &cube, room);
            for (int p = 0; p < 2; p++) {
                int32_t tool = gg_room_dynamic(v, &cube, p);
                if (tool >= 0) {
                    gg_room_displace_all(v, e, at, place, &cube, p, &gg_displaced_at(v, e, n)[tool]);
                }
            }
        }
    }
    return near == 0 ? GG_ROOM_OPEN : moves ? GG_ROOM_MOVES : GG_ROOM_RESTS;
}

/* ---- what pressures do to tools ---- */

/* Component i of the impulse and its moment that tools take in a substep from pressure at a cube, by share p [N s], [N m s].
 * rise: gg_room_rise */
GG_FN double gg_room_push(const gg_view *v, int64_t e, gg_vec3 place, const gg_room_cube *cube, int p, gg_vec3 rise,
                          int i) {
    double h = v->params.spacing, area = h * h * (double)v->params.dt;
    int32_t part = cube->part[p];
    gg_vec3 push = gg_room_part(&v->parts[part], cube->normal[p], rise);
    gg_vec3 turn = gg_cross(gg_sub(place, v->part_pose[e * v->dims.part_count + part].tool_position), push);
    return -area * cube->taken[p] * (double)gg_axis_of(i < 3 ? push : turn, i % 3);
}

/* what the pressures of a block of nodes do to a tool in a substep [N s], [N m s] */
GG_FN double *gg_room_pushes(const gg_view *v, int64_t e, int64_t n, int64_t tool) {
    return v->liquid_push + ((e * v->dims.continuum.nodes + n) * v->dims.tool_count + tool) * 6;
}

/* Sums that up over the cubes of a block of nodes, for all tools. nodes: pressures in the fourth component */
GG_FN_LARGE void gg_room_load(const gg_view *v, int64_t e, int64_t n, const gg_real4 *nodes) {
    gg_vec3 first = gg_node_place(v, e, n);
    uint64_t near = gg_room_near_all(v, e, first);
    GG_ROLLED
    for (int k = 0; near && k < GG_ROOM_OCTETS; k++) {
        uint64_t close = gg_room_near_octet(v, e, first, k, near);
        GG_ROLLED
        for (int c = 0; close && c < 8; c++) {
            int at[3];
            gg_room_cube_of(k, c, at);
            gg_vec3 place = gg_room_cube_place(v, first, at), rise = gg_room_rise(nodes, at);
            gg_room_cube cube;
            if (rise.x == 0.0f && rise.y == 0.0f && rise.z == 0.0f) {
                continue;
            }
            gg_room_cube_at(v, e, place, 0.5 * v->params.spacing, close, &cube);
            for (int p = 0; p < 2; p++) {
                for (int i = 0; cube.taken[p] > 0.0 && i < 6; i++) {
                    gg_room_pushes(v, e, n, v->parts[cube.part[p]].tool)[i] +=
                        gg_room_push(v, e, place, &cube, p, rise, i);
                }
            }
        }
    }
}

#endif
