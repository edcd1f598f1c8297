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

/* Depth in [from, to) at which a ray of the part's frame enters the part; GG_UNBOUNDED: nowhere. A step is the distance
 * to the surface, which cannot overshoot; the interpolant of a grid may be slightly steeper than a distance, so its
 * steps are shorter, and a crossing that was overstepped is found by bisection. */
GG_FN float gg_depth_trace(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 origin,
                           gg_vec3 direction, float from, float to) {
    float length = gg_norm(direction), inverse = 1.0f / length;
    float safety = shape->kind == GG_SHAPE_GRID ? 0.9f : 1.0f;
    float push = (to - from) * (1.0f / (float)GG_DEPTH_PUSH);
    float t = from, last_t = from;
    int outside = 0;
    for (int step = 0; step <= GG_DEPTH_STEPS && t < to; step++) {
        gg_vec3 p = gg_madd(origin, direction, t);
        float distance = gg_sdf_distance(shape, grids, samples, p);
        float tolerance = GG_DEPTH_TOLERANCE * gg_absf(t) + 1e-7f;
        if (outside && distance < 0.0f) {
            return gg_depth_bisect(shape, grids, samples, origin, direction, last_t, t);
        }
        if (distance >= 0.0f && distance < tolerance) {
            /* within the tolerance: the remaining distance is linear, unless the ray is leaving */
            float facing = -gg_dot(gg_sdf_eval(shape, grids, samples, p).gradient, direction) * inverse;
            if (facing > 0.0f) {
                return t + distance / gg_maxf(facing, 0.1f) * inverse;
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
