/* sdf.h: signed distance and outward normal of one part of a tool at a point of the part's frame.
 *
 * Primitives are exact: inside a convex shape the distance is the largest of the distances to its faces, outside it is
 * the distance to the nearest point of the surface. Solids of revolution are reduced to two dimensions (distance from
 * the z axis, height). A grid is interpolated trilinearly and its direction is the analytic gradient of the
 * interpolant; outside its box it is extrapolated from the nearest point of the box, see gg_sdf_grid_eval.
 *
 * Valid for |p| up to 1e18 m and sizes >= 0. Directions are unit vectors everywhere; where the surface is equally near
 * on several sides (centre, axis, medial plane) one fixed side is chosen. Ties never give NaN.
 */
#ifndef GG_SDF_H
#define GG_SDF_H

#include "shape.h"

typedef struct gg_sdf_hit {
    float distance;   /* [m], negative inside */
    gg_vec3 gradient; /* unit, out of the solid, part frame */
} gg_sdf_hit;

/* a distance in the half plane (distance from the z axis, z) with its direction there */
typedef struct gg_sdf_profile {
    float distance;
    float radial, axial;
} gg_sdf_profile;

/* a vector shorter than this has no direction; its square is still a normal number [m] */
#define GG_SDF_TINY 1e-12f

GG_FN gg_sdf_hit gg_sdf_hit_make(float distance, gg_vec3 gradient) { return GG_LIT(gg_sdf_hit){distance, gradient}; }

GG_FN gg_sdf_profile gg_sdf_profile_make(float distance, float radial, float axial) {
    return GG_LIT(gg_sdf_profile){distance, radial, axial};
}

/* a with the sign of b; b = 0 counts as positive */
GG_FN float gg_sdf_signed(float a, float b) { return b < 0.0f ? -a : a; }

/* a hit in the half plane of p, back in space; on the axis that of +x is taken */
GG_FN gg_sdf_hit gg_sdf_revolve(gg_sdf_profile profile, gg_vec3 p, float rho) {
    float share = rho > GG_SDF_TINY ? profile.radial / rho : 0.0f;
    float x = rho > GG_SDF_TINY ? p.x * share : profile.radial;
    return gg_sdf_hit_make(profile.distance, gg_v3(x, p.y * share, profile.axial));
}

GG_FN gg_sdf_hit gg_sdf_sphere(gg_vec3 p, float radius) {
    float n = gg_norm(p);
    gg_vec3 gradient = n > GG_SDF_TINY ? gg_scale(p, 1.0f / n) : gg_v3(0.0f, 0.0f, 1.0f);
    return gg_sdf_hit_make(n - radius, gradient);
}

GG_FN gg_sdf_hit gg_sdf_capsule(gg_vec3 p, float radius, float half_length) {
    gg_vec3 q = gg_v3(p.x, p.y, p.z - gg_clampf(p.z, -half_length, half_length));
    float n = gg_norm(q);
    gg_vec3 gradient = n > GG_SDF_TINY ? gg_scale(q, 1.0f / n) : gg_v3(1.0f, 0.0f, 0.0f);
    return gg_sdf_hit_make(n - radius, gradient);
}

GG_FN gg_sdf_hit gg_sdf_box(gg_vec3 p, gg_vec3 half) {
    /* distance beyond each pair of faces; negative: between them */
    gg_vec3 q = gg_v3(gg_absf(p.x) - half.x, gg_absf(p.y) - half.y, gg_absf(p.z) - half.z);
    float largest = gg_maxf(q.x, gg_maxf(q.y, q.z));
    if (largest > GG_SDF_TINY) {
        gg_vec3 out = gg_v3(gg_maxf(q.x, 0.0f), gg_maxf(q.y, 0.0f), gg_maxf(q.z, 0.0f));
        float n = gg_norm(out);
        float s = 1.0f / n;
        return gg_sdf_hit_make(
            n, gg_v3(gg_sdf_signed(out.x * s, p.x), gg_sdf_signed(out.y * s, p.y), gg_sdf_signed(out.z * s, p.z)));
    }
    if (q.z >= largest) {
        return gg_sdf_hit_make(largest, gg_v3(0.0f, 0.0f, gg_sdf_signed(1.0f, p.z)));
    }
    if (q.x >= largest) {
        return gg_sdf_hit_make(largest, gg_v3(gg_sdf_signed(1.0f, p.x), 0.0f, 0.0f));
    }
    return gg_sdf_hit_make(largest, gg_v3(0.0f, gg_sdf_signed(1.0f, p.y), 0.0f));
}

/* a cylinder is a rectangle in the half plane */
GG_FN gg_sdf_profile gg_sdf_cylinder_profile(float rho, float z, float radius, float half_height) {
    float side = rho - radius, cap = gg_absf(z) - half_height;
    if (side > GG_SDF_TINY && cap > GG_SDF_TINY) {
        float n = sqrtf(side * side + cap * cap);
        return gg_sdf_profile_make(n, side / n, gg_sdf_signed(cap / n, z));
    }
    if (cap >= side) {
        return gg_sdf_profile_make(cap, 0.0f, gg_sdf_signed(1.0f, z));
    }
    return gg_sdf_profile_make(side, 1.0f, 0.0f);
}

/* a conical frustum is a trapezium in the half plane: two caps and the slanted side from (lower, -h) to (upper, h) */
GG_FN gg_sdf_profile gg_sdf_cone_profile(float rho, float z, float lower, float upper, float half_height) {
    float cap = gg_absf(z) - half_height;
    float cap_radius = z < 0.0f ? lower : upper;
    gg_sdf_profile on_cap = gg_sdf_profile_make(cap, 0.0f, gg_sdf_signed(1.0f, z));
    if (cap > 0.0f && rho <= cap_radius) {
        return on_cap;
    }
    /* along the side (u) and out of it (v), from its lower end */
    float du = upper - lower, dv = 2.0f * half_height;
    float length = sqrtf(du * du + dv * dv);
    if (!(length > GG_SDF_TINY)) {
        du = 0.0f;
        dv = 1.0f;
        length = 1.0f;
    }
    float ux = du / length, uz = dv / length;
    float x = rho - lower, y = z + half_height;
    float out = x * uz - y * ux;
    if (cap <= 0.0f && out <= 0.0f) {
        return cap >= out ? on_cap : gg_sdf_profile_make(out, uz, -ux);
    }
    /* outside and not above a cap: the nearest point lies on the side or on one of its two rims */
    float along = x * ux + y * uz;
    float past_rim = along < 0.0f ? along : along > length ? along - length : 0.0f;
    float n = sqrtf(out * out + past_rim * past_rim);
    if (past_rim == 0.0f || !(n > GG_SDF_TINY)) {
        return gg_sdf_profile_make(past_rim == 0.0f ? out : n, uz, -ux);
    }
    float a = out / n, b = past_rim / n;
    return gg_sdf_profile_make(n, a * uz + b * ux, b * uz - a * ux);
}

/* cell of a coordinate that is already clamped to 0 .. count - 1 */
GG_FN int32_t gg_sdf_cell(float u, int32_t count) {
    int32_t cell = (int32_t)u;
    return cell > count - 2 ? count - 2 : cell;
}

/* Grid of at least 2 samples along each axis. Inside its box: the trilinear interpolant v and its gradient g. Outside,
 * with c the nearest point of the box and b = |p - c|: the surface lies in the box, and the angle at c between p and
 * any point of the box is obtuse, so the distance is at least sqrt(b^2 + v(c)^2); its direction is that of (p - c) + v
 * g. That is a bound and no distance: contacts need a box whose samples on its faces are at least the diameter of the
 * largest grain (docs/tools.md). Where the box cuts the solid (v(c) < 0) the distance is v + b. Both are continuous at
 * the box. */
GG_FN gg_sdf_hit gg_sdf_grid_eval(const gg_sdf_grid *grid, const float *samples, gg_vec3 p) {
    int32_t nx = grid->count[0], ny = grid->count[1], nz = grid->count[2];
    float inverse = 1.0f / grid->spacing;
    gg_vec3 u = gg_scale(gg_sub(p, grid->origin), inverse);
    /* in this order NaN becomes 0: no address outside the grid is ever formed */
    gg_vec3 c = gg_v3(gg_clampf(u.x, 0.0f, (float)(nx - 1)), gg_clampf(u.y, 0.0f, (float)(ny - 1)),
                      gg_clampf(u.z, 0.0f, (float)(nz - 1)));
    int32_t ix = gg_sdf_cell(c.x, nx), iy = gg_sdf_cell(c.y, ny), iz = gg_sdf_cell(c.z, nz);
    float fx = c.x - (float)ix, fy = c.y - (float)iy, fz = c.z - (float)iz;

    /* the eight corners, as differences along x first */
    int64_t sy = nx, sz = (int64_t)nx * ny;
    const float *s = samples + grid->first_sample + ix + sy * iy + sz * iz;
    float d00 = s[1] - s[0], d10 = s[sy + 1] - s[sy];
    float d01 = s[sz + 1] - s[sz], d11 = s[sz + sy + 1] - s[sz + sy];
    float v00 = s[0] + fx * d00, v10 = s[sy] + fx * d10;
    float v01 = s[sz] + fx * d01, v11 = s[sz + sy] + fx * d11;
    float v0 = v00 + fy * (v10 - v00), v1 = v01 + fy * (v11 - v01);
    float v = v0 + fz * (v1 - v0);

    /* gradient of the interpolant */
    float dx0 = d00 + fy * (d10 - d00), dx1 = d01 + fy * (d11 - d01);
    float dy0 = v10 - v00, dy1 = v11 - v01;
    gg_vec3 g = gg_scale(gg_v3(dx0 + fz * (dx1 - dx0), dy0 + fz * (dy1 - dy0), v1 - v0), inverse);
    g = gg_unit(g, gg_v3(0.0f, 0.0f, 1.0f));

    gg_vec3 off = gg_scale(gg_sub(u, c), grid->spacing);
    float b2 = gg_norm2(off);
    if (!(b2 > GG_SDF_TINY * GG_SDF_TINY)) {
        return gg_sdf_hit_make(v, g);
    }
    float distance = v >= 0.0f ? sqrtf(b2 + v * v) : v + sqrtf(b2);
    return gg_sdf_hit_make(distance, gg_unit(gg_madd(off, g, gg_absf(v)), g));
}

/* Distance and direction of a part at p [m], in the part's frame. grids and samples are the world's; unused by
 * primitives. */
GG_FN gg_sdf_hit gg_sdf_eval(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 p) {
    const float *size = shape->size;
    switch (shape->kind) {
    case GG_SHAPE_PLANE:
        return gg_sdf_hit_make(p.z, gg_v3(0.0f, 0.0f, 1.0f));
    case GG_SHAPE_BOX:
        return gg_sdf_box(p, gg_v3(size[0], size[1], size[2]));
    case GG_SHAPE_SPHERE:
        return gg_sdf_sphere(p, size[0]);
    case GG_SHAPE_CAPSULE:
        return gg_sdf_capsule(p, size[0], size[1]);
    case GG_SHAPE_GRID:
        return gg_sdf_grid_eval(&grids[shape->grid], samples, p);
    default:
        break;
    }
    float rho = sqrtf(p.x * p.x + p.y * p.y);
    switch (shape->kind) {
    case GG_SHAPE_CYLINDER:
        return gg_sdf_revolve(gg_sdf_cylinder_profile(rho, p.z, size[0], size[1]), p, rho);
    case GG_SHAPE_CONE:
        return gg_sdf_revolve(gg_sdf_cone_profile(rho, p.z, size[0], size[1], size[2]), p, rho);
    case GG_SHAPE_CAVITY:
        return gg_sdf_revolve(gg_sdf_profile_make(size[0] - rho, -1.0f, 0.0f), p, rho);
    default:
        return gg_sdf_hit_make(GG_UNBOUNDED, gg_v3(0.0f, 0.0f, 1.0f));
    }
}

/* The distance alone, with the bits of gg_sdf_eval: all of it is inlined, and the compiler drops what only the
 * direction needs. */
GG_FN float gg_sdf_distance(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 p) {
    return gg_sdf_eval(shape, grids, samples, p).distance;
}

/* A cheap lower bound of gg_sdf_distance from the bounding sphere of the part; -GG_UNBOUNDED where there is none. */
GG_FN float gg_sdf_bound(const gg_shape *shape, gg_vec3 p) {
    if (shape->bound_radius >= GG_UNBOUNDED) {
        return -GG_UNBOUNDED;
    }
    return gg_norm(gg_sub(p, shape->bound_center)) - shape->bound_radius;
}

/* Sets the box of the surface of a grid, which may be far smaller than the box of the grid. */
GG_FN void gg_sdf_grid_set_surface(gg_sdf_grid *grid, const float *samples) {
    const float *sample = samples + grid->first_sample;
    int32_t lower[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, upper[3] = {-1, -1, -1}, at[3];
    float margin = 0.25f * grid->spacing;
    for (at[2] = 0; at[2] < grid->count[2]; at[2]++) {
        for (at[1] = 0; at[1] < grid->count[1]; at[1]++) {
            for (at[0] = 0; at[0] < grid->count[0]; at[0]++) {
                int low = *sample++ < margin;
                for (int axis = 0; low && axis < 3; axis++) {
                    lower[axis] = GG_MIN(lower[axis], at[axis]);
                    upper[axis] = GG_MAX(upper[axis], at[axis]);
                }
            }
        }
    }
    grid->surface_lower = grid->surface_upper = grid->origin;
    for (int axis = 0; axis < 3; axis++) {
        if (lower[axis] < 1 || upper[axis] > grid->count[axis] - 2) {
            margin = 0.0f;
        }
    }
    grid->surface_margin = margin;
    if (margin > 0.0f && upper[0] >= 0) {
        /* the cells on both sides of a sample */
        gg_vec3 from = gg_v3((float)(lower[0] - 1), (float)(lower[1] - 1), (float)(lower[2] - 1));
        gg_vec3 to = gg_v3((float)(upper[0] + 1), (float)(upper[1] + 1), (float)(upper[2] + 1));
        grid->surface_lower = gg_madd(grid->origin, from, grid->spacing);
        grid->surface_upper = gg_madd(grid->origin, to, grid->spacing);
    }
}

/* Sets bound_center and bound_radius of a part; `grid` is the part's own grid, NULL for primitives. The sphere is a few
 * roundings larger, so that gg_sdf_bound stays a bound in single precision. */
GG_FN void gg_shape_set_bounds(gg_shape *shape, const gg_sdf_grid *grid) {
    const float *size = shape->size;
    gg_vec3 center = gg_v3(0.0f, 0.0f, 0.0f);
    float radius = GG_UNBOUNDED;
    switch (shape->kind) {
    case GG_SHAPE_NONE:
        radius = 0.0f;
        break;
    case GG_SHAPE_BOX:
        radius = gg_norm(gg_v3(size[0], size[1], size[2]));
        break;
    case GG_SHAPE_SPHERE:
        radius = size[0];
        break;
    case GG_SHAPE_CAPSULE:
        radius = size[0] + size[1];
        break;
    case GG_SHAPE_CYLINDER:
        radius = sqrtf(size[0] * size[0] + size[1] * size[1]);
        break;
    case GG_SHAPE_CONE: {
        float widest = gg_maxf(size[0], size[1]);
        radius = sqrtf(widest * widest + size[2] * size[2]);
        break;
    }
    case GG_SHAPE_GRID:
        if (grid) {
            gg_vec3 half =
                gg_scale(gg_v3((float)(grid->count[0] - 1), (float)(grid->count[1] - 1), (float)(grid->count[2] - 1)),
                         0.5f * grid->spacing);
            center = gg_add(grid->origin, half);
            radius = gg_norm(half);
        }
        break;
    default:
        break;
    }
    shape->bound_center = center;
    shape->bound_radius = radius < GG_UNBOUNDED ? radius * 1.000002f + 1e-6f * gg_norm(center) : radius;
}

#endif
