/* outline.h: shapes of planar grains: mass properties, and the boundary points that touch tools.
 *
 * Contacts of two grains come from their pair field (pair_field.h); the outline serves everything else.
 */
#ifndef GG_OUTLINE_H
#define GG_OUTLINE_H

#include "../base/base.h"

/* capacity of one outline */
#define GG_OUTLINE_POINTS 512

/* a convex corner may touch a tool beside its neighbours; other vertices only where they are nearest; points within a straight
 * edge also where a level stretch of it ends */
typedef enum gg_outline_kind { GG_OUTLINE_SMOOTH = 0, GG_OUTLINE_CORNER, GG_OUTLINE_STRAIGHT } gg_outline_kind;

/* one point on the boundary, in the frame of the grain: origin at the centre of mass */
typedef struct gg_outline_point {
    float x, y;            /* [m] */
    int32_t before, after; /* neighbours along the boundary, as indices into the points of the outline */
    int32_t kind;          /* gg_outline_kind */
} gg_outline_point;

typedef struct gg_outline {
    float radius;    /* circumradius about the centre of mass [m] */
    float area;      /* [m2] */
    float gyration2; /* squared radius of gyration: inertia over mass [m2] */
    float thickness; /* of the thinnest part [m]; what moves further per substep may tunnel through */
    int32_t first_point, point_count;
} gg_outline;

#endif
