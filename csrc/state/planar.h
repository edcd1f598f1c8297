/* planar.h: sizes, fields and scene arrays of the laws of planar grains. */
#ifndef GG_STATE_PLANAR_H
#define GG_STATE_PLANAR_H

#include "../geometry/outline.h"
#include "../geometry/pair_field.h"

/* one contact point of two planar grains, see solvers/planar: a is the first of their field, b the second */
typedef struct gg_manifold_point {
    float gap;                    /* [m] */
    float nx, ny;                 /* normal from a to b, world */
    float cn_a, cn_b, ct_a, ct_b; /* arms over circumradius */
    int32_t which;                /* identifies the point from substep to substep */
} gg_manifold_point;

typedef struct gg_manifold {
    int32_t count;
    int32_t swapped; /* 1: the grain whose list holds the candidate is b */
    gg_manifold_point point[3];
} gg_manifold;

/* nothing in a world of spheres */
typedef struct gg_planar_dims {
    int64_t outline_count, outline_points; /* outlines, and points of all of them */
    int64_t slots, manifolds, rows;        /* slots, candidate_cap, contact_rows */
} gg_planar_dims;

/* clang-format off */
#define GG_PLANAR_FIELDS(X)                                                                                            \
    X(float, angle, d->planar.slots, STATE) /* by grain id, of planar grains [rad] */                                  \
    X(gg_manifold, manifold, d->planar.manifolds, SCRATCH) /* parallel to the candidates of the lower id */            \
    X(float, planar_geometry, d->planar.rows * GG_LANES * 5, SCRATCH)   /* GG_PLANAR_GEOMETRY floats a row, SoA */

/* the law of planar grains: none where grains are spheres */
#define GG_PLANAR_SCENE_ARRAYS(X)                                                                                      \
    X(gg_outline, outlines, dims->planar.outline_count, def->planar.outline)                                           \
    X(gg_outline_point, outline_point, dims->planar.outline_points, def->planar.outline_point) /* of all outlines */   \
    X(gg_pair_field, pair_fields, dims->planar.outline_count * dims->planar.outline_count,                             \
      def->planar.pair_field) /* used where first <= second outline */                                                 \
    X(uint8_t, pair_data, dims->planar.outline_count ? def->planar.pair_data_size : 0,                                 \
      def->planar.pair_data) /* of all pair fields */                                                                  \
    X(int32_t, material_outline, dims->planar.outline_count ? dims->material_count : 0,                                \
      def->planar.material_outline) /* outline of a material */
/* clang-format on */

#endif
