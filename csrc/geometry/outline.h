/* outline.h: shapes of planar grains as a world knows them: mass properties and the points that feel tools.
 *
 * What two grains do to each other is in their pair field (contact/pair_field.h); the outline serves everything else.
 */
#ifndef GG_OUTLINE_H
#define GG_OUTLINE_H

#include "../base/base.h"

/* the most points of one outline */
#define GG_OUTLINE_POINTS 512

/* one point on the boundary, in the frame of the grain: origin at the centre of mass */
typedef struct gg_outline_point {
    float x, y;            /* [m] */
    int32_t before, after; /* neighbours along the boundary, as indices into the points of the outline */
    int32_t corner;        /* 1: a convex corner; it feels tools beside its neighbours. 0: only where it is nearest */
} gg_outline_point;

typedef struct gg_outline {
    float radius;    /* of the smallest circle about the centre of mass [m] */
    float area;      /* [m2] */
    float gyration2; /* squared radius of gyration: inertia over mass [m2] */
    float thickness; /* of the thinnest part [m]: what moves further per substep may pass through */
    int32_t first_point, point_count;
} gg_outline;

#endif
