/* motion.h: statistics of the motion of a slice's grains, for every law. */
#ifndef GG_MOTION_H
#define GG_MOTION_H

#include "../contact/separation.h"

GG_FN int gg_outside(const gg_params *p, gg_vec3 x, float radius) {
    return x.x < p->lower.x - radius || x.x > p->upper.x + radius || x.y < p->lower.y - radius ||
           x.y > p->upper.y + radius || x.z < p->lower.z - radius || x.z > p->upper.z + radius;
}

/* contribution of one grain to the statistics of its slice */
typedef struct gg_motion {
    float energy;
    int32_t fast, escaped;
} gg_motion;

/* records the motion of the grains of a slice, in order of lanes */
GG_FN void gg_motion_integrated(const gg_view *v, int64_t e, int64_t slice, const gg_motion each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    stats->energy = 0.0f;
    stats->fast = stats->escaped = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        stats->energy += each[lane].energy;
        stats->fast += each[lane].fast;
        stats->escaped += each[lane].escaped;
    }
}

#endif
