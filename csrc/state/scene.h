/* scene.h: the arrays of a scene, each listed once: what all envs share and no phase writes.
 *
 * GG_SCENE_ARRAYS(X) expands X(type, name, count, from): `count` elements copied from `from`, both in terms of the
 * definition `def` of a world (gg.h) and the sizes `dims` that follow from it; from NULL: the world computes them. An
 * array of no elements is NULL. A view points to them (view.h); the world owns them (world/scene.c).
 */
#ifndef GG_SCENE_H
#define GG_SCENE_H

#include "../geometry/camera.h"
#include "../geometry/shape.h"
#include "clumps.h"
#include "continuum.h"
#include "planar.h"
#include "settings.h"
#include "table.h"
#include "tools.h"

/* clang-format off */
#define GG_SCENE_ARRAYS(X)                                                                                             \
    X(gg_shape, parts, dims->part_count, NULL)              /* of tools, those of the walls first                   */ \
    X(gg_sdf_grid, grids, def->grid_count, def->grid)                                                                  \
    X(float, samples, def->sample_count, def->sample)       /* of all grids [m]                                     */ \
    X(gg_camera, cameras, dims->camera_count, def->camera)                                                             \
    X(int32_t, material_fixed, dims->material_count, def->material_fixed) /* 1: no force moves its grains           */ \
    X(float, beta, GG_MAX_ITERATIONS, NULL)                 /* weights of Nesterov's sequence, by iteration         */ \
    GG_TOOL_SCENE_ARRAYS(X)                                                                                            \
    GG_CONTINUUM_SCENE_ARRAYS(X)                                                                                           \
    GG_PLANAR_SCENE_ARRAYS(X)                                                                                              \
    GG_CLUMP_SCENE_ARRAYS(X)                                                                                               \
    GG_TABLE_SCENE_ARRAYS(X)
/* clang-format on */

#endif
