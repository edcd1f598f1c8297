/* trace.h: sphere tracing (Hart 1996): where a ray enters a part of a tool. */
#ifndef GG_TRACE_H
#define GG_TRACE_H

#include "../geometry/sdf.h"

/* share of the depth within which a surface counts as met; a ray that misses a surface by less may meet it */
#define GG_DEPTH_TOLERANCE 2e-5f
/* Steps at most. After the first GG_DEPTH_FREE_STEPS a grazing ray is pushed on, so that it ends on the surface or past
 * the part and never in between; such a ray may miss what is thinner than a GG_DEPTH_PUSH-th of its length inside the
 * bounding sphere of the part. */
#define GG_DEPTH_FREE_STEPS 96
#define GG_DEPTH_PUSH       160
#define GG_DEPTH_STEPS      (GG_DEPTH_FREE_STEPS + GG_DEPTH_PUSH)
/* bisections of a step that crossed the surface */
#define GG_DEPTH_HALVINGS 20

/* bisection: where a ray that is outside at depth `a` and inside at `b` enters the part, to within the tolerance */
GG_FN float gg_depth_bisect(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 origin,
                            gg_vec3 direction, float a, float b) {
    for (int i = 0; i < GG_DEPTH_HALVINGS && b - a > 0.25f * GG_DEPTH_TOLERANCE * gg_absf(b); i++) {
        float t = 0.5f * (a + b);
        if (gg_sdf_distance(shape, grids, samples, gg_madd(origin, direction, t)) < 0.0f) {
            b = t;
        } else {
            a = t;
        }
    }
    return b;
}

/* share of a distance that a march may take as a step: the interpolant of a grid may be slightly steeper than a
 * distance */
GG_FN float gg_depth_safety(const gg_shape *shape) { return shape->kind == GG_SHAPE_GRID ? 0.9f : 1.0f; }

/* distance within which a surface counts as met at depth t [m] */
GG_FN float gg_depth_tolerance(float t) { return GG_DEPTH_TOLERANCE * gg_absf(t) + 1e-7f; }

/* Depth at which a ray meets a part from whose surface it is less than the tolerance away at depth t: the remaining
 * distance is linear; GG_UNBOUNDED: the ray is leaving. inverse: 1 over the length of the direction */
GG_FN float gg_depth_arrive(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 origin,
                            gg_vec3 direction, float inverse, float t, float distance) {
    gg_vec3 p = gg_madd(origin, direction, t);
    float facing = -gg_dot(gg_sdf_eval(shape, grids, samples, p).gradient, direction) * inverse;
    return facing > 0.0f ? t + distance / gg_maxf(facing, 0.1f) * inverse : GG_UNBOUNDED;
}

/* Depth in [from, to) at which a ray of the part's frame enters the part; GG_UNBOUNDED: nowhere. A step is the distance
 * to the surface, which cannot overshoot, or a safe share of it; a crossing that was overstepped is found by bisection.
 * march.h takes these steps for many rays at once. */
GG_FN float gg_depth_trace(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 origin,
                           gg_vec3 direction, float from, float to) {
    float inverse = 1.0f / gg_norm(direction), safety = gg_depth_safety(shape);
    float push = (to - from) * (1.0f / (float)GG_DEPTH_PUSH);
    float t = from, last_t = from;
    int outside = 0;
    for (int step = 0; step <= GG_DEPTH_STEPS && t < to; step++) {
        float distance = gg_sdf_distance(shape, grids, samples, gg_madd(origin, direction, t));
        float tolerance = gg_depth_tolerance(t);
        if (outside && distance < 0.0f) {
            return gg_depth_bisect(shape, grids, samples, origin, direction, last_t, t);
        }
        if (distance >= 0.0f && distance < tolerance) {
            float met = gg_depth_arrive(shape, grids, samples, origin, direction, inverse, t, distance);
            if (met < GG_UNBOUNDED) {
                return met;
            }
        }
        outside = distance >= 0.0f;
        last_t = t;
        float advance = gg_maxf(gg_absf(distance) * safety, tolerance) * inverse;
        t += step < GG_DEPTH_FREE_STEPS ? advance : gg_maxf(advance, push);
    }
    return GG_UNBOUNDED;
}

#endif
