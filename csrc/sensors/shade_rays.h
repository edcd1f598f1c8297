/* shade_rays.h: GG_LANES rays at once: where they enter a part of a tool.
 *
 * Each loop runs over the rays without branches, so that compilers make vectors of it. The operations of a ray do not
 * depend on its neighbours. A sphere, box, capsule, cylinder and cavity are met exactly; a grid is marched to a share
 * of a pixel.
 */
#ifndef GG_SHADE_RAYS_H
#define GG_SHADE_RAYS_H

#include "rays.h"
#include "strip.h"

#define GG_SHADE_NEWTON_STEPS 24

/* In pixels: the distance within which a surface counts as met if the ray meets it soon, as the rest of the way is then
 * straight; how soon; and the way for which a march may trust that it is straight. */
#define GG_SHADE_NEAR 0.7f
#define GG_SHADE_SOON 1.0f
#define GG_SHADE_LEAP 4.0f

/* a direction's component that can be divided by */
GG_FN float gg_shade_divisor(float d) { return gg_choose(gg_absf(d) < 1e-12f, 1e-12f, d); }

GG_FN void gg_shade_meet_box(gg_rays *rays, gg_vec3 half) {
    for (int k = 0; k < GG_LANES; k++) {
        float ix = 1.0f / gg_shade_divisor(rays->dx[k]), mx = -rays->x[k] * ix, sx = half.x * gg_absf(ix);
        float iy = 1.0f / gg_shade_divisor(rays->dy[k]), my = -rays->y[k] * iy, sy = half.y * gg_absf(iy);
        float iz = 1.0f / gg_shade_divisor(rays->dz[k]), mz = -rays->z[k] * iz, sz = half.z * gg_absf(iz);
        float enter = gg_maxf(gg_maxf(mx - sx, my - sy), mz - sz);
        float leave = gg_minf(gg_minf(mx + sx, my + sy), mz + sz);
        rays->met[k] = gg_choose(enter < leave, enter, GG_UNBOUNDED);
    }
}

/* Depth at which a ray enters a sphere. The discriminant comes from the distance of centre and ray, as in
 * gg_lens_sphere. */
GG_FN float gg_shade_enter_sphere(float x, float y, float z, float dx, float dy, float dz, float radius) {
    float cx = y * dz - z * dy, cy = z * dx - x * dz, cz = x * dy - y * dx;
    float d2 = dx * dx + dy * dy + dz * dz;
    float s = d2 * (radius * radius) - (cx * cx + cy * cy + cz * cz);
    float enter = (-(x * dx + y * dy + z * dz) - sqrtf(gg_choose(s > 0.0f, s, 0.0f))) / d2;
    return gg_choose(s > 0.0f, enter, GG_UNBOUNDED);
}

GG_FN void gg_shade_meet_sphere(gg_rays *rays, float radius) {
    for (int k = 0; k < GG_LANES; k++) {
        rays->met[k] =
            gg_shade_enter_sphere(rays->x[k], rays->y[k], rays->z[k], rays->dx[k], rays->dy[k], rays->dz[k], radius);
    }
}

/* a ray and an endless cylinder round z: it is within it between middle - half and middle + half where s > 0 */
typedef struct gg_shade_tube {
    float middle, half, s;
} gg_shade_tube;

GG_FN gg_shade_tube gg_shade_tube_of(const gg_rays *rays, int k, float radius) {
    float dx = rays->dx[k], dy = rays->dy[k], x = rays->x[k], y = rays->y[k];
    float a = dx * dx + dy * dy, cross = x * dy - y * dx, radius2 = radius * radius;
    /* a ray along z is in the tube from end to end, or never */
    int32_t across = a > 1e-18f;
    float inverse = 1.0f / gg_choose(across, a, 1e-18f);
    float s = gg_choose(across, a * radius2 - cross * cross, radius2 - (x * x + y * y));
    float half = sqrtf(gg_choose(s > 0.0f, s, 0.0f)) * inverse;
    return GG_LIT(gg_shade_tube){-(x * dx + y * dy) * inverse, gg_choose(across, half, GG_UNBOUNDED), s};
}

/* a ray that enters the tube beyond an end of the segment can only meet the sphere there */
GG_FN void gg_shade_meet_capsule(gg_rays *rays, float radius, float half) {
    for (int k = 0; k < GG_LANES; k++) {
        gg_shade_tube tube = gg_shade_tube_of(rays, k, radius);
        float enter = tube.middle - tube.half, height = rays->z[k] + enter * rays->dz[k];
        float end = gg_shade_enter_sphere(rays->x[k], rays->y[k], rays->z[k] - gg_choose(height < 0.0f, -half, half),
                                          rays->dx[k], rays->dy[k], rays->dz[k], radius);
        enter = gg_choose(gg_absf(height) > half, end, enter);
        rays->met[k] = gg_choose(tube.s > 0.0f, enter, GG_UNBOUNDED);
    }
}

GG_FN void gg_shade_meet_cylinder(gg_rays *rays, float radius, float half) {
    for (int k = 0; k < GG_LANES; k++) {
        gg_shade_tube tube = gg_shade_tube_of(rays, k, radius);
        float iz = 1.0f / gg_shade_divisor(rays->dz[k]), mz = -rays->z[k] * iz, sz = half * gg_absf(iz);
        float enter = gg_maxf(tube.middle - tube.half, mz - sz), leave = gg_minf(tube.middle + tube.half, mz + sz);
        rays->met[k] = gg_choose((tube.s > 0.0f) & (enter < leave), enter, GG_UNBOUNDED);
    }
}

/* where a ray leaves the tube it enters its wall */
GG_FN void gg_shade_meet_cavity(gg_rays *rays, float radius) {
    for (int k = 0; k < GG_LANES; k++) {
        gg_shade_tube tube = gg_shade_tube_of(rays, k, radius);
        rays->met[k] = gg_choose(tube.s > 0.0f, tube.middle + tube.half, GG_UNBOUNDED);
    }
}

/* Any convex part, a ray after the other. Along a ray the distance to it is convex, so Newton's steps never overshoot,
 * and a ray that does not approach the part has missed it. */
GG_FN float gg_shade_enter_convex(const gg_lens *lens, const gg_view *v, const gg_shape *shape, gg_vec3 origin,
                                  gg_vec3 direction, float from, float to) {
    float t = from;
    for (int step = 0; step < GG_SHADE_NEWTON_STEPS && t < to; step++) {
        gg_sdf_hit hit = gg_sdf_eval(shape, v->grids, v->samples, gg_madd(origin, direction, t));
        float approach = -gg_dot(hit.gradient, direction);
        if (!(approach > 0.0f) || (step == 0 && hit.distance < 0.0f)) {
            return GG_UNBOUNDED;
        }
        t += hit.distance / approach;
        /* the error left is of the second order in the distance */
        float pixel = lens->pixel * (lens->perspective ? gg_absf(t) : 1.0f);
        if (hit.distance < GG_DEPTH_TOLERANCE * gg_absf(t) || hit.distance < GG_SHADE_NEAR * pixel * approach) {
            return t;
        }
    }
    return GG_UNBOUNDED;
}

GG_FN void gg_shade_meet_convex(gg_rays *rays, const gg_lens *lens, const gg_view *v, const gg_shape *shape,
                                float from) {
    for (int k = 0; k < GG_LANES; k++) {
        rays->met[k] = gg_shade_enter_convex(lens, v, shape, gg_v3(rays->x[k], rays->y[k], rays->z[k]),
                                             gg_v3(rays->dx[k], rays->dy[k], rays->dz[k]), from, rays->to[k]);
    }
}

/* ---- grids ---- */

/* depth at which a ray leaves a box */
GG_FN float gg_shade_leave(const gg_rays *rays, int k, gg_vec3 center, gg_vec3 half) {
    float ix = 1.0f / gg_shade_divisor(rays->dx[k]), iy = 1.0f / gg_shade_divisor(rays->dy[k]);
    float iz = 1.0f / gg_shade_divisor(rays->dz[k]);
    float x = (center.x - rays->x[k]) * ix + half.x * gg_absf(ix),
          y = (center.y - rays->y[k]) * iy + half.y * gg_absf(iy);
    return gg_minf(gg_minf(x, y), (center.z - rays->z[k]) * iz + half.z * gg_absf(iz));
}

/* rays on their march through a grid */
typedef struct gg_shade_march_state {
    float t[GG_LANES], distance[GG_LANES];           /* where a ray is, and how far from the surface */
    float last_t[GG_LANES], last_distance[GG_LANES]; /* the same a step before */
    float inverse[GG_LANES];                         /* 1 over the length of the direction */
    float to[GG_LANES], push[GG_LANES];              /* end of the march; least step once it is forced */
    int32_t open[GG_LANES], crossed[GG_LANES];       /* 1: marches on; stepped through the surface */
} gg_shade_march_state;

GG_FN void gg_shade_march_begin(gg_shade_march_state *m, gg_rays *rays, gg_vec3 center, gg_vec3 half, float from) {
    for (int k = 0; k < GG_LANES; k++) {
        float dx = rays->dx[k], dy = rays->dy[k], dz = rays->dz[k];
        m->inverse[k] = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz);
        m->push[k] = (rays->to[k] - from) * (1.0f / (float)GG_DEPTH_PUSH);
        m->to[k] = gg_minf(rays->to[k], gg_shade_leave(rays, k, center, half));
        m->t[k] = from;
        /* as if inside before: the first point meets nothing */
        m->last_t[k] = from - 1.0f;
        m->last_distance[k] = -1.0f;
        m->open[k] = m->to[k] > from;
        m->crossed[k] = 0;
        rays->met[k] = GG_UNBOUNDED;
    }
}

/* One step of all rays from where their distances are known; 0: none marches on. A step is the distance, or the way to
 * the surface if it goes on straight, as seen from the last two points; where that is an overstep it is a short one, and
 * its two ends tell where the surface is. */
GG_FN int32_t gg_shade_march_step(gg_shade_march_state *m, gg_rays *rays, const gg_lens *lens, int forced) {
    float slant = lens->perspective ? 1.0f : 0.0f, flat = 1.0f - slant, least = forced ? 1.0f : 0.0f;
    int32_t any = 0;
    for (int k = 0; k < GG_LANES; k++) {
        float d = m->distance[k], last = m->last_distance[k], t = m->t[k], inverse = m->inverse[k];
        float tolerance = GG_DEPTH_TOLERANCE * gg_absf(t) + 1e-7f, taken = t - m->last_t[k];
        float pixel = lens->pixel * (slant * gg_absf(t) + flat);
        float slope = (last - d) / taken, facing = slope * inverse;
        int32_t open = m->open[k], through = open & (last >= 0.0f) & (d < 0.0f);
        int32_t near = open & (d >= 0.0f) & (d < gg_maxf(tolerance, GG_SHADE_NEAR * pixel)) & (facing > 0.0f) &
                       ((d < tolerance) | (d < GG_SHADE_SOON * pixel * facing));
        int32_t met = near | (through & (taken < GG_SHADE_LEAP * pixel * inverse));
        rays->met[k] = gg_choose(met, t + d / gg_maxf(slope, 0.1f / inverse), rays->met[k]);
        m->crossed[k] |= through & (met ^ 1);
        float ahead = gg_choose(facing > 0.05f, gg_maxf(d / facing, tolerance), 0.5f * pixel);
        float advance = gg_maxf(gg_absf(d) * 0.9f, gg_minf(ahead, GG_SHADE_LEAP * pixel)) * inverse;
        int32_t goes_on = open & (through ^ 1) & (near ^ 1);
        m->last_distance[k] = gg_choose(goes_on, d, last);
        m->last_t[k] = gg_choose(goes_on, t, m->last_t[k]);
        m->t[k] = gg_choose(goes_on, t + gg_maxf(advance, least * m->push[k]), t);
        m->open[k] = goes_on & (m->t[k] < m->to[k]);
        any |= m->open[k];
    }
    return any;
}

/* as gg_depth_trace, to a share of a pixel */
GG_FN_LARGE void gg_shade_meet_grid(gg_rays *rays, const gg_lens *lens, const gg_view *v, const gg_shape *shape,
                                    float from) {
    gg_shade_march_state m;
    /* the surface lies in the box of the grid */
    gg_shade_march_begin(&m, rays, shape->bound_center, gg_scale(gg_strip_half(shape, v->grids), 1.001f), from);
    int32_t any = 1;
    for (int step = 0; step <= GG_DEPTH_STEPS && any; step++) {
        gg_rays_grid_distance(rays, &v->grids[shape->grid], v->samples, m.t, m.distance);
        any = gg_shade_march_step(&m, rays, lens, step >= GG_DEPTH_FREE_STEPS);
    }
    for (int k = 0; k < GG_LANES; k++) {
        if (m.crossed[k]) {
            rays->met[k] = gg_depth_bisect(shape, v->grids, v->samples, gg_v3(rays->x[k], rays->y[k], rays->z[k]),
                                           gg_v3(rays->dx[k], rays->dy[k], rays->dz[k]), m.last_t[k], m.t[k]);
        }
    }
}

/* Sets met of all rays: from depth `from` on, before `to`. */
GG_FN void gg_shade_meet(gg_rays *rays, const gg_lens *lens, const gg_view *v, const gg_shape *shape, float from) {
    const float *size = shape->size;
    switch (shape->kind) {
    case GG_SHAPE_BOX:
        gg_shade_meet_box(rays, gg_v3(size[0], size[1], size[2]));
        break;
    case GG_SHAPE_SPHERE:
        gg_shade_meet_sphere(rays, size[0]);
        break;
    case GG_SHAPE_CAPSULE:
        gg_shade_meet_capsule(rays, size[0], size[1]);
        break;
    case GG_SHAPE_CYLINDER:
        gg_shade_meet_cylinder(rays, size[0], size[1]);
        break;
    case GG_SHAPE_CAVITY:
        gg_shade_meet_cavity(rays, size[0]);
        break;
    case GG_SHAPE_GRID:
        gg_shade_meet_grid(rays, lens, v, shape, from);
        break;
    default:
        gg_shade_meet_convex(rays, lens, v, shape, from);
        break;
    }
    for (int k = 0; k < GG_LANES; k++) {
        rays->met[k] = gg_choose((rays->met[k] >= from) & (rays->met[k] < rays->to[k]), rays->met[k], GG_UNBOUNDED);
    }
}

#endif
