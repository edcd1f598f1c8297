/* march.h: sphere tracing of GG_LANES rays at once, with the bits of gg_depth_trace.
 *
 * Rays take very different numbers of steps. A lane whose ray has ended takes the next ray at once, so that lanes stay
 * busy until the last rays of a part. A step of all lanes is a loop without branches; what happens once in the life of
 * a ray, where it arrives, is done for it alone.
 */
#ifndef GG_MARCH_H
#define GG_MARCH_H

#include "rays.h"
#include "trace.h"

#define GG_MARCH_ALL ((1u << GG_LANES) - 1u)

typedef struct gg_march {
    gg_rays rays;
    float t[GG_LANES], last_t[GG_LANES]; /* depth where a ray is, and was a step before */
    float distance[GG_LANES];            /* from the part at t [m] */
    float inverse[GG_LANES];             /* 1 over the length of the direction */
    float push[GG_LANES];                /* least step once it is forced */
    int32_t step[GG_LANES];              /* steps taken */
    int32_t outside[GG_LANES];           /* the ray was outside the part a step before */
    int64_t pixel[GG_LANES];             /* for the caller */
    uint32_t open;                       /* bit k: lane k has a ray */
} gg_march;

/* no rays; lanes without one compute with zeros */
GG_FN void gg_march_clear(gg_march *m) { memset(m, 0, sizeof *m); }

/* gives a free lane ray k of `rays`, which begins at depth `from` before it ends */
GG_FN int gg_march_add(gg_march *m, const gg_rays *rays, int k, float from, int64_t pixel) {
    int lane = gg_bit_lowest(~m->open);
    m->rays.x[lane] = rays->x[k];
    m->rays.y[lane] = rays->y[k];
    m->rays.z[lane] = rays->z[k];
    m->rays.dx[lane] = rays->dx[k];
    m->rays.dy[lane] = rays->dy[k];
    m->rays.dz[lane] = rays->dz[k];
    m->rays.to[lane] = rays->to[k];
    m->rays.met[lane] = GG_UNBOUNDED;
    m->inverse[lane] = 1.0f / gg_norm(gg_v3(rays->dx[k], rays->dy[k], rays->dz[k]));
    m->push[lane] = (rays->to[k] - from) * (1.0f / (float)GG_DEPTH_PUSH);
    m->t[lane] = m->last_t[lane] = from;
    m->step[lane] = m->outside[lane] = 0;
    m->pixel[lane] = pixel;
    m->open |= 1u << lane;
    return lane;
}

/* depth after a step from t with this distance ahead */
GG_FN float gg_march_next(float t, float distance, float safety, float inverse, int32_t step, float push) {
    float advance = gg_maxf(gg_absf(distance) * safety, gg_depth_tolerance(t)) * inverse;
    return t + gg_choose(step < GG_DEPTH_FREE_STEPS, advance, gg_maxf(advance, push));
}

/* One step of all rays whose distances are known; the rays that end with it or have arrived. One that has arrived stays
 * where it is. */
GG_FN uint32_t gg_march_step(gg_march *m, float safety) {
    uint32_t stopped = 0;
    for (int k = 0; k < GG_LANES; k++) {
        float d = m->distance[k], t = m->t[k];
        int32_t arrived = (d < gg_depth_tolerance(t)) & ((d >= 0.0f) | (m->outside[k] & (d < 0.0f)));
        float next = gg_march_next(t, d, safety, m->inverse[k], m->step[k], m->push[k]);
        m->last_t[k] = gg_choose(arrived, m->last_t[k], t);
        m->t[k] = gg_choose(arrived, t, next);
        m->outside[k] = arrived ? m->outside[k] : d >= 0.0f;
        m->step[k] += 1 - arrived;
        int32_t ends = !(next < m->rays.to[k]) | (m->step[k] > GG_DEPTH_STEPS);
        stopped |= (uint32_t)(arrived | ends) << k;
    }
    return stopped & m->open;
}

/* Ends a ray that gg_march_step stopped, with rays.met set; 0: it has arrived near the surface but is leaving, and
 * marches on. */
GG_FN int gg_march_end(gg_march *m, int k, const gg_shape *shape, const gg_sdf_grid *grids, const float *samples) {
    float d = m->distance[k], t = m->t[k];
    gg_vec3 origin = gg_v3(m->rays.x[k], m->rays.y[k], m->rays.z[k]);
    gg_vec3 direction = gg_v3(m->rays.dx[k], m->rays.dy[k], m->rays.dz[k]);
    if (!(t < m->rays.to[k]) || m->step[k] > GG_DEPTH_STEPS) {
        return 1;
    }
    if (d < 0.0f) {
        m->rays.met[k] = gg_depth_bisect(shape, grids, samples, origin, direction, m->last_t[k], t);
        return 1;
    }
    m->rays.met[k] = gg_depth_arrive(shape, grids, samples, origin, direction, m->inverse[k], t, d);
    if (m->rays.met[k] < GG_UNBOUNDED) {
        return 1;
    }
    m->outside[k] = 1;
    m->last_t[k] = t;
    m->t[k] = gg_march_next(t, d, gg_depth_safety(shape), m->inverse[k], m->step[k]++, m->push[k]);
    return !(m->t[k] < m->rays.to[k]) || m->step[k] > GG_DEPTH_STEPS;
}

/* one step of all rays; the lanes whose rays have ended, with rays.met set: they are free then */
GG_FN uint32_t gg_march_on(gg_march *m, const gg_shape *shape, const gg_sdf_grid *grids, const float *samples) {
    uint32_t ended = 0;
    gg_rays_distance(&m->rays, shape, grids, samples, m->t, m->distance);
    for (uint32_t stopped = gg_march_step(m, gg_depth_safety(shape)); stopped; stopped &= stopped - 1u) {
        int k = gg_bit_lowest(stopped);
        ended |= (uint32_t)gg_march_end(m, k, shape, grids, samples) << k;
    }
    m->open &= ~ended;
    return ended;
}

#endif
