/* scalar.h: lanes of one float: the reference that every backend can run. */
#ifndef GG_SCALAR_LANES_H
#define GG_SCALAR_LANES_H

#include "../contact/candidates.h"
#include "planar/planar.h"
#include "spheres/clumps/clumps.h"
#include "spheres/coloured/coloured.h"
#include "motion.h"
#include "prediction.h"
#include "spheres/contacts.h"

#define GG_LANE_WIDTH   1
#define GG_LANE_NAME(x) gg_scalar_##x
typedef float gg_scalar_lane;
#define gg_lane          gg_scalar_lane
#define lane_load(p)     (*(p))
#define lane_store(p, a) (*(p) = (a))
#define lane_splat(a)    (a)
#define lane_min(a, b)   gg_minf(a, b)
#define lane_max(a, b)   gg_maxf(a, b)
#define lane_sqrt(a)     sqrtf(a)
#define lane_div(a, b)   ((a) / (b))

/* A GPU divides 0 by the same long way as numbers out of range: a call, for which a warp waits for all it has loaded. */
GG_FN float gg_scalar_ratio(float a, float b) {
#ifdef __CUDA_ARCH__
    float dividend = a != 0.0f ? a : 1.0f;
    asm("" : "+f"(dividend)); /* or a compiler that sees where 1 is not used divides a */
    float quotient = dividend / b;
    return a != 0.0f ? quotient : a;
#else
    return a / b;
#endif
}
#define lane_ratio(a, b) gg_scalar_ratio(a, b)

GG_FN void gg_scalar_bodies(const float *bodies, const int32_t *index, float *out) {
    gg_body_load(bodies + (int64_t)index[0] * GG_BODY, out);
}
GG_FN void gg_scalar_bodies_store(float *bodies, int64_t first, const float *in) {
    gg_body_store(bodies + first * GG_BODY, in);
}
#define lane_less(a, b, x, y)    ((a) < (b) ? (x) : (y))
#define lane_less_bits(a, b)     ((uint32_t)((a) < (b)))
#define lane_at_least(p, a)      ((p)[0] >= (a) ? 1.0f : 0.0f)
#define lane_first(count)        ((count) > 0 ? 1.0f : 0.0f)
#define lane_gather(p, index)    ((p)[(index)[0]])
#define lane_mark(p, bits, mark) ((p)[0] |= (int32_t)((bits)&1 ? (mark) : 0))

GG_FN void gg_scalar_points(const gg_vec4 *points, const int32_t *index, float *out) {
    gg_vec4 p = points[index[0]];
    out[0] = p.x;
    out[1] = p.y;
    out[2] = p.z;
    out[3] = p.w;
}
GG_FN void gg_scalar_bodies_scatter(float *bodies, const int32_t *index, int count, const float *in) {
    if (count > 0) {
        gg_body_store(bodies + (int64_t)index[0] * GG_BODY, in);
    }
}
GG_FN void gg_scalar_points_scatter(gg_vec4 *points, const int32_t *index, int count, int32_t last, const float *in) {
    if (count > 0 && index[0] <= last) {
        gg_vec4 point = {in[0], in[1], in[2], in[3]};
        GG_STORE_VEC4(&points[index[0]], point);
    }
}
GG_FN void gg_scalar_points_store(gg_vec4 *points, const float *in) {
    gg_vec4 point = {in[0], in[1], in[2], in[3]};
    GG_STORE_VEC4(points, point);
}
GG_FN void gg_scalar_bodies_copy(float *to, const float *from) {
    float body[GG_BODY];
    gg_body_load(from, body);
    gg_body_store(to, body);
}
GG_FN void gg_scalar_triples(const float *p, int64_t stride, const int32_t *index, float *out) {
    for (int k = 0; k < 3; k++) {
        out[k] = p[index[0] * stride + k];
    }
}
GG_FN void gg_scalar_triples_scatter(float *p, int64_t stride, const int32_t *index, const float *in) {
    for (int k = 0; k < 3; k++) {
        p[index[0] * stride + k] = in[k];
    }
}
#define lane_bodies_scatter             gg_scalar_bodies_scatter
#define lane_points_scatter             gg_scalar_points_scatter
#define lane_points                     gg_scalar_points
#define lane_points_store               gg_scalar_points_store
#define lane_bodies                     gg_scalar_bodies
#define lane_bodies_store               gg_scalar_bodies_store
#define lane_bodies_copy                gg_scalar_bodies_copy
#define lane_triples                    gg_scalar_triples
#define lane_prefetch(p, stride, index) (void)0
#define lane_triples_scatter            gg_scalar_triples_scatter

#include "lane_phases.h"

#undef GG_LANE_WIDTH
#undef GG_LANE_NAME
#undef gg_lane
#undef lane_load
#undef lane_store
#undef lane_splat
#undef lane_min
#undef lane_max
#undef lane_sqrt
#undef lane_div
#undef lane_ratio
#undef lane_less
#undef lane_less_bits
#undef lane_at_least
#undef lane_first
#undef lane_gather
#undef lane_mark
#undef lane_points
#undef lane_bodies
#undef lane_bodies_store
#undef lane_bodies_scatter
#undef lane_points_scatter
#undef lane_points_store
#undef lane_bodies_copy
#undef lane_triples
#undef lane_prefetch
#undef lane_triples_scatter

/* a lane function in phase tables: here with one grain per lane; kernel files define it anew */
#define GG_LANE_CALL(x) gg_scalar_##x

#endif
