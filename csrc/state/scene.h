/* scene.h: the arrays of a scene, each listed once: what all envs share and no phase writes.
 *
 * GG_SCENE_ARRAYS(X) expands X(type, name, count, from): `count` elements copied from `from`, both in terms of the
 * definition `def` of a world (gg.h) and the sizes `dims` that follow from it; from NULL: the world computes them. An array
 * of no elements is NULL. A view points to them where the world runs (view.h); the world owns them (world/scene.c).
 */
#ifndef GG_SCENE_H
#define GG_SCENE_H

#include "../geometry/camera.h"
#include "../geometry/outline.h"
#include "../geometry/pair_field.h"
#include "../geometry/shape.h"
#include "settings.h"

/* clang-format off */
#define GG_SCENE_ARRAYS(X)                                                                                             \
    X(gg_shape, parts, dims->part_count, NULL)              /* of tools, those of the walls first                   */ \
    X(gg_sdf_grid, grids, def->grid_count, def->grid)                                                                  \
    X(float, samples, def->sample_count, def->sample)       /* of all grids [m]                                     */ \
    X(gg_camera, cameras, dims->camera_count, def->camera)                                                             \
    X(float, beta, GG_MAX_ITERATIONS, NULL)                 /* weights of Nesterov's sequence, by iteration         */ \
    GG_PLANAR_SCENE_ARRAYS(X)

/* the law of planar grains: none where grains are spheres */
#define GG_PLANAR_SCENE_ARRAYS(X)                                                                                      \
    X(gg_outline, outlines, dims->outline_count, def->planar.outline)                                                  \
    X(gg_outline_point, outline_point, dims->outline_points, def->planar.outline_point)     /* of all outlines      */ \
    X(gg_pair_field, pair_fields, dims->outline_count * dims->outline_count,                /* used where row <= column */ \
      def->planar.pair_field)                                                                                          \
    X(uint8_t, pair_data, dims->outline_count ? def->planar.pair_data_size : 0,             /* of all pair fields   */ \
      def->planar.pair_data)                                                                                           \
    X(int32_t, material_outline, dims->outline_count ? dims->material_count : 0,            /* outline of a material */ \
      def->planar.material_outline)                                                                                    \
    X(int32_t, material_fixed, dims->outline_count ? dims->material_count : 0,              /* 1: no force moves it */ \
      def->planar.material_fixed)
/* clang-format on */

#endif
