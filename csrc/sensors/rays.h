/* rays.h: GG_LANES rays side by side, in the frame of a part of a tool, and their distances from it.
 *
 * Each loop runs over the rays without branches, so that compilers make vectors of it. The operations of a ray do not
 * depend on its neighbours, and distances have the bits of gg_sdf_distance.
 */
#ifndef GG_RAYS_H
#define GG_RAYS_H

#include "../geometry/sdf.h"

/* rays in the frame of a part; (x, y, z) + depth * (dx, dy, dz) */
typedef struct gg_rays {
    float x[GG_LANES], y[GG_LANES], z[GG_LANES];
    float dx[GG_LANES], dy[GG_LANES], dz[GG_LANES];
    float to[GG_LANES];  /* a ray ends there; before it begins: it is none */
    float met[GG_LANES]; /* depth at which it enters the part; GG_UNBOUNDED: nowhere */
} gg_rays;

/* the point of ray k at depth t */
GG_FN gg_vec3 gg_rays_point(const gg_rays *rays, int k, float t) {
    return gg_madd(gg_v3(rays->x[k], rays->y[k], rays->z[k]), gg_v3(rays->dx[k], rays->dy[k], rays->dz[k]), t);
}

/* ---- distances without branches, and without directions; see sdf.h ---- */

GG_FN float gg_rays_from_box(gg_vec3 p, gg_vec3 half) {
    gg_vec3 q = gg_v3(gg_absf(p.x) - half.x, gg_absf(p.y) - half.y, gg_absf(p.z) - half.z);
    float largest = gg_choose_max(q.x, gg_choose_max(q.y, q.z));
    float outside = gg_norm(gg_v3(gg_choose_max(q.x, 0.0f), gg_choose_max(q.y, 0.0f), gg_choose_max(q.z, 0.0f)));
    return gg_choose(largest > GG_SDF_TINY, outside, largest);
}

GG_FN float gg_rays_from_capsule(gg_vec3 p, float radius, float half_length) {
    return gg_norm(gg_v3(p.x, p.y, p.z - gg_clampf(p.z, -half_length, half_length))) - radius;
}

GG_FN float gg_rays_from_cylinder(gg_vec3 p, float radius, float half_height) {
    float side = sqrtf(p.x * p.x + p.y * p.y) - radius, cap = gg_absf(p.z) - half_height;
    float rim = sqrtf(side * side + cap * cap);
    return gg_choose((side > GG_SDF_TINY) & (cap > GG_SDF_TINY), rim, gg_choose(cap >= side, cap, side));
}

/* a coordinate in units of the spacing: cell and place in it, as in gg_sdf_grid_eval; *off2: squared distance outside */
GG_FN float gg_rays_place(float u, int32_t count, float spacing, int32_t *cell, float *off2) {
    float c = gg_clampf(u, 0.0f, (float)(count - 1)), off = (u - c) * spacing;
    int32_t i = (int32_t)c;
    *cell = i > count - 2 ? count - 2 : i;
    *off2 = off * off;
    return c - (float)*cell;
}

/* distance of a grid at depth t of each ray */
GG_FN void gg_rays_grid_distance(const gg_rays *rays, const gg_sdf_grid *grid, const float *samples, const float *t,
                                 float *distance) {
    float fx[GG_LANES], fy[GG_LANES], fz[GG_LANES], outside[GG_LANES];
    int32_t cell[GG_LANES];
    float s[8][GG_LANES];
    int32_t nx = grid->count[0], ny = grid->count[1], nz = grid->count[2], sz = nx * ny;
    float inverse = 1.0f / grid->spacing, spacing = grid->spacing;
    gg_vec3 o = grid->origin;
    for (int k = 0; k < GG_LANES; k++) {
        int32_t ix, iy, iz;
        float ax, ay, az;
        fx[k] = gg_rays_place((rays->x[k] + rays->dx[k] * t[k] - o.x) * inverse, nx, spacing, &ix, &ax);
        fy[k] = gg_rays_place((rays->y[k] + rays->dy[k] * t[k] - o.y) * inverse, ny, spacing, &iy, &ay);
        fz[k] = gg_rays_place((rays->z[k] + rays->dz[k] * t[k] - o.z) * inverse, nz, spacing, &iz, &az);
        outside[k] = ax + ay + az;
        cell[k] = ix + nx * iy + sz * iz;
    }
    const float *first = samples + grid->first_sample;
    for (int k = 0; k < GG_LANES; k++) {
        const float *a = first + cell[k];
        s[0][k] = a[0];
        s[1][k] = a[1];
        s[2][k] = a[nx];
        s[3][k] = a[nx + 1];
        s[4][k] = a[sz];
        s[5][k] = a[sz + 1];
        s[6][k] = a[sz + nx];
        s[7][k] = a[sz + nx + 1];
    }
    for (int k = 0; k < GG_LANES; k++) {
        float v00 = s[0][k] + fx[k] * (s[1][k] - s[0][k]), v10 = s[2][k] + fx[k] * (s[3][k] - s[2][k]);
        float v01 = s[4][k] + fx[k] * (s[5][k] - s[4][k]), v11 = s[6][k] + fx[k] * (s[7][k] - s[6][k]);
        float v0 = v00 + fy[k] * (v10 - v00), v1 = v01 + fy[k] * (v11 - v01);
        float v = v0 + fz[k] * (v1 - v0), b2 = outside[k];
        float bound = sqrtf(gg_choose(v >= 0.0f, b2 + v * v, b2));
        distance[k] = gg_choose(b2 > GG_SDF_TINY * GG_SDF_TINY, gg_choose(v >= 0.0f, bound, v + bound), v);
    }
}

/* distance of any part at depth t of each ray */
GG_FN void gg_rays_distance(const gg_rays *rays, const gg_shape *shape, const gg_sdf_grid *grids, const float *samples,
                            const float *t, float *distance) {
    const float *size = shape->size;
    switch (shape->kind) {
    case GG_SHAPE_GRID:
        gg_rays_grid_distance(rays, &grids[shape->grid], samples, t, distance);
        break;
    case GG_SHAPE_BOX:
        for (int k = 0; k < GG_LANES; k++) {
            distance[k] = gg_rays_from_box(gg_rays_point(rays, k, t[k]), gg_v3(size[0], size[1], size[2]));
        }
        break;
    case GG_SHAPE_SPHERE:
        for (int k = 0; k < GG_LANES; k++) {
            distance[k] = gg_norm(gg_rays_point(rays, k, t[k])) - size[0];
        }
        break;
    case GG_SHAPE_CAPSULE:
        for (int k = 0; k < GG_LANES; k++) {
            distance[k] = gg_rays_from_capsule(gg_rays_point(rays, k, t[k]), size[0], size[1]);
        }
        break;
    case GG_SHAPE_CYLINDER:
        for (int k = 0; k < GG_LANES; k++) {
            distance[k] = gg_rays_from_cylinder(gg_rays_point(rays, k, t[k]), size[0], size[1]);
        }
        break;
    case GG_SHAPE_CAVITY:
        for (int k = 0; k < GG_LANES; k++) {
            gg_vec3 p = gg_rays_point(rays, k, t[k]);
            distance[k] = size[0] - sqrtf(p.x * p.x + p.y * p.y);
        }
        break;
    default:
        /* with branches */
        for (int k = 0; k < GG_LANES; k++) {
            distance[k] = gg_sdf_distance(shape, grids, samples, gg_rays_point(rays, k, t[k]));
        }
        break;
    }
}

#endif
