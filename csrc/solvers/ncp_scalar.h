/* ncp_scalar.h: the contact solve with one grain per lane: the reference that every backend can run. */
#ifndef GG_NCP_SCALAR_H
#define GG_NCP_SCALAR_H

#include "ncp.h"

#define GG_LANE_WIDTH 1
#define GG_LANE_NAME(x) gg_scalar_##x
typedef float gg_scalar_lane;
#define gg_lane gg_scalar_lane
#define lane_load(p) (*(p))
#define lane_store(p, a) (*(p) = (a))
#define lane_splat(a) (a)
#define lane_min(a, b) gg_minf(a, b)
#define lane_max(a, b) gg_maxf(a, b)
#define lane_sqrt(a) sqrtf(a)
#define lane_div(a, b) ((a) / (b))

GG_FN void gg_scalar_rows(const float *rows, const int32_t *index, float *out) {
    for (int k = 0; k < GG_ROW; k++) {
        out[k] = rows[(int64_t)index[0] * GG_ROW + k];
    }
}
GG_FN void gg_scalar_rows_store(float *rows, int64_t first, const float *in) {
    for (int k = 0; k < GG_ROW; k++) {
        rows[first * GG_ROW + k] = in[k];
    }
}
#define lane_rows gg_scalar_rows
#define lane_rows_store gg_scalar_rows_store

#include "ncp_iterate.h"

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
#undef lane_rows
#undef lane_rows_store

#endif
