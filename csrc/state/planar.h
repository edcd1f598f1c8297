/* planar.h: the fields of the laws of planar grains. */
#ifndef GG_STATE_PLANAR_H
#define GG_STATE_PLANAR_H

#include "../base/base.h"

/* one contact point of two planar grains, see solvers/planar: a is the first of their field, b the second */
typedef struct gg_manifold_point {
    float gap;                    /* [m] */
    float nx, ny;                 /* normal from a to b, world */
    float cn_a, cn_b, ct_a, ct_b; /* arms over circumradius */
    int32_t which;                /* the same point from substep to substep */
} gg_manifold_point;

typedef struct gg_manifold {
    int32_t count;
    int32_t swapped; /* 1: the grain beside whose candidates this stands is b */
    gg_manifold_point point[3];
} gg_manifold;

/* clang-format off */
#define GG_PLANAR_FIELDS(X)                                                                                            \
    X(float, angle, d->planar_slots, STATE)                             /* by grain id, of planar grains [rad] */      \
    X(gg_manifold, manifold, d->manifolds, SCRATCH)                     /* beside the candidates of lower ids */       \
    X(float, planar_geometry, d->planar_rows * GG_LANES * 5, SCRATCH)   /* GG_PLANAR_GEOMETRY floats a row, SoA */
/* clang-format on */

#endif
