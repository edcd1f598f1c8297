/* room.h: what tools and walls leave of the splines of nodes, and what pressures at nodes do to tools.
 *
 * Space is cut into cubes of half a spacing. A cube whose centre is at the signed distance d from a tool of normal n is
 * open by the share o(d / (s |n|_1)), s its side: the integral of a hat function, so that a wall along the grid leaves the
 * volume that it should wherever it lies. Where two tools meet in a cube, the shares that they leave multiply if they
 * stand across each other. The room of a node is the sum over cubes of o times their share of its spline, corrected in the
 * second order for the widths of hat and cube.
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

/* its transpose */
GG_FN void gg_room_scatter(float *to, int local, int axis, double value) {
    float *first = to + gg_room_first(local);
    GG_ROLLED
    for (int k = 0; k < 6; k++) {
        GG_ROLLED
        for (int j = 0; j < 6; j++) {
            float *row = first + (k * GG_ROOM_SIDE + j) * GG_ROOM_SIDE;
            double across = value * gg_room_along(2, axis, k) * gg_room_along(1, axis, j);
            for (int i = 0; i < 6; i++) {
                row[i] += (float)(across * gg_room_along(0, axis, i));
            }
        }
    }
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

/* of these, those near the eight cubes around node n of 6 x 6 x 6 */
GG_FN uint64_t gg_room_near_node(const gg_view *v, int64_t e, gg_vec3 first, int n, uint64_t near) {
    double reach = 1.5 * GG_ROOM_DIAGONAL * 0.5 * v->params.spacing;
    gg_vec3 place = gg_room_place(v, first, n % 6 * 2 + 0.5, n / 6 % 6 * 2 + 0.5, n / 36 * 2 + 0.5);
    return gg_room_near(v, e, place, reach, near);
}

/* cube c, 0 .. 7, around node n: its place, and its index among all */
GG_FN int gg_room_cube_of(const gg_view *v, gg_vec3 first, int n, int c, gg_vec3 *place) {
    int x = n % 6 * 2 + (c & 1), y = n / 6 % 6 * 2 + (c >> 1 & 1), z = n / 36 * 2 + (c >> 2);
    *place = gg_room_place(v, first, x, y, z);
    return (z * GG_ROOM_SIDE + y) * GG_ROOM_SIDE + x;
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

/* the first and the last of the four nodes of a block along an axis whose splines reach cube k of 12 */
GG_FN int gg_room_from(int k) { return GG_MAX((k - 4) / 2, 0); }
GG_FN int gg_room_to(int k) { return GG_MIN(k / 2, 3); }

/* Adds to how a dynamic tool displaces liquid at a block of nodes what cube x y z does, of which a part of the tool takes
 * `taken`: displaced.h. */
GG_FN_LARGE void gg_room_displace(const gg_view *v, int64_t e, const int cube[3], gg_vec3 place, int32_t part,
                                  gg_vec3 normal, double taken, gg_displaced *to) {
    double scale = taken * v->params.spacing * v->params.spacing;
    gg_vec3 arm = gg_sub(place, v->part_pose[e * v->dims.part_count + part].tool_position);
    for (int k = 0; k < GG_NODES * 6 && !to->met; k++) {
        to->by[k / 6][k % 6] = 0.0;
    }
    to->met = 1;
    GG_ROLLED
    for (int z = gg_room_from(cube[2]); z <= gg_room_to(cube[2]); z++) {
        GG_ROLLED
        for (int y = gg_room_from(cube[1]); y <= gg_room_to(cube[1]); y++) {
            GG_ROLLED
            for (int x = gg_room_from(cube[0]); x <= gg_room_to(cube[0]); x++) {
                float rise[3];
                for (int axis = 0; axis < 3; axis++) {
                    rise[axis] =
                        (float)(scale * gg_room_along(0, axis, cube[0] - 2 * x) *
                                gg_room_along(1, axis, cube[1] - 2 * y) * gg_room_along(2, axis, cube[2] - 2 * z));
                }
                gg_vec3 along = gg_room_part(&v->parts[part], normal, gg_v3(rise[0], rise[1], rise[2]));
                gg_vec3 turn = gg_cross(arm, along);
                for (int axis = 0; axis < 3; axis++) {
                    to->by[z << 4 | y << 2 | x][axis] += (double)gg_axis_of(along, axis);
                    to->by[z << 4 | y << 2 | x][3 + axis] += (double)gg_axis_of(turn, axis);
                }
            }
        }
    }
}

/* The cubes around a block of nodes; returns 0, and writes nothing, where all are open; 1 where tools that follow their
 * targets rest there; 2 where some move. */
GG_FN_LARGE int gg_room_measure(const gg_view *v, int64_t e, int64_t n, gg_room *room) {
    gg_vec3 first = gg_node_place(v, e, n);
    double s = 0.5 * v->params.spacing;
    uint64_t near = gg_room_near_all(v, e, first);
    int moves = 0;
    GG_ROLLED
    for (int k = 0; near && k < GG_ROOM_CUBES / 8; k++) {
        uint64_t close = gg_room_near_node(v, e, first, k, near);
        GG_ROLLED
        for (int c = 0; c < 8; c++) {
            gg_vec3 place;
            int at = gg_room_cube_of(v, first, k, c, &place);
            room->left[at] = 1.0f;
            room->along[0][at] = room->along[1][at] = room->along[2][at] = 0.0f;
            if (!close) {
                continue;
            }
            gg_room_cube cube;
            gg_room_cube_at(v, e, place, s, close, &cube);
            room->left[at] = (float)cube.left;
            for (int p = 0; p < 2; p++) {
                int32_t tool = cube.taken[p] > 0.0 ? gg_continuum_tool(v, v->parts[cube.part[p]].tool) : -1;
                if (tool >= 0) {
                    const int xyz[3] = {at % GG_ROOM_SIDE, at / GG_ROOM_SIDE % GG_ROOM_SIDE,
                                        at / (GG_ROOM_SIDE * GG_ROOM_SIDE)};
                    gg_room_displace(v, e, xyz, place, cube.part[p], cube.normal[p], cube.taken[p],
                                     &gg_displaced_at(v, e, n)[tool]);
                } else if (cube.taken[p] > 0.0) {
                    gg_vec3 velocity = gg_room_part(&v->parts[cube.part[p]], cube.normal[p],
                                                    gg_part_velocity(v, e, cube.part[p], place));
                    moves |= velocity.x != 0.0f || velocity.y != 0.0f || velocity.z != 0.0f;
                    for (int axis = 0; axis < 3; axis++) {
                        room->along[axis][at] += (float)(cube.taken[p] * (double)gg_axis_of(velocity, axis));
                    }
                }
            }
        }
    }
    return near == 0 ? 0 : 1 + moves;
}

/* Adds to the wrenches what the pressures of a block of nodes do to tools in a substep. slope: how they rise in the cubes
 * over a cube's side [Pa] */
GG_FN_LARGE void gg_room_load(const gg_view *v, int64_t e, gg_vec3 first, const float slope[3][GG_ROOM_CUBES]) {
    double h = v->params.spacing, s = 0.5 * h, area = h * h * (double)v->params.dt;
    uint64_t near = gg_room_near_all(v, e, first);
    GG_ROLLED
    for (int n = 0; near && n < GG_ROOM_CUBES / 8; n++) {
        uint64_t close = gg_room_near_node(v, e, first, n, near);
        GG_ROLLED
        for (int c = 0; close && c < 8; c++) {
            gg_vec3 place;
            int at = gg_room_cube_of(v, first, n, c, &place);
            gg_vec3 pull = gg_v3(slope[0][at], slope[1][at], slope[2][at]);
            gg_room_cube cube;
            if (pull.x == 0.0f && pull.y == 0.0f && pull.z == 0.0f) {
                continue;
            }
            gg_room_cube_at(v, e, place, s, close, &cube);
            for (int p = 0; p < 2; p++) {
                if (cube.taken[p] > 0.0) {
                    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + cube.part[p]];
                    gg_vec3 push = gg_room_part(&v->parts[cube.part[p]], cube.normal[p], pull);
                    gg_vec3 turn = gg_cross(gg_sub(place, pose->tool_position), push);
                    double *wrench = v->wrench + (e * v->dims.tool_count + v->parts[cube.part[p]].tool) * 6;
                    for (int axis = 0; axis < 3; axis++) {
                        wrench[axis] -= area * cube.taken[p] * (double)gg_axis_of(push, axis);
                        wrench[3 + axis] -= area * cube.taken[p] * (double)gg_axis_of(turn, axis);
                    }
                }
            }
        }
    }
}

#endif
