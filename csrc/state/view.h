/* view.h: what a phase sees: the sizes of a world, its parameters and pointers to all of its arrays.
 *
 * A view is plain data. It is the only argument of every phase, on every backend.
 */
#ifndef GG_VIEW_H
#define GG_VIEW_H

#include "../geometry/camera.h"
#include "../geometry/outline.h"
#include "../geometry/pair_field.h"
#include "../geometry/shape.h"
#include "access.h"
#include "body.h"
#include "fields.h"
#include "params.h"

typedef struct gg_view {
    gg_dims dims;
    gg_params params;
    const gg_shape *parts;
    const gg_sdf_grid *grids;
    const float *samples;
    const gg_camera *cameras;
    const gg_outline *outlines;            /* (outline_count) */
    const gg_outline_point *outline_point; /* (outline_points) */
    const gg_pair_field *pair_fields;      /* (outline_count, outline_count), where the first is not the larger */
    const void *pair_data;                 /* what the fields point into */
    const int32_t *material_outline;       /* (material_count) shape of the grains of a material */
    const int32_t *material_fixed;         /* (material_count) 1: its grains move as they were told to */
    const float *beta;                     /* (GG_MAX_ITERATIONS) Nesterov's sequence */
    const float *tool_targets;             /* (env_count, tool_count, 7) x y z qw qx qy qz, or NULL: stay */
    gg_access access;
#define GG_FIELD_POINTER(type, name, count, keep) type *name;
    GG_FIELDS(GG_FIELD_POINTER)
#undef GG_FIELD_POINTER
} gg_view;

/* element counts per env, by field */
typedef enum gg_field_id {
#define GG_FIELD_ENUM(type, name, count, keep) GG_FIELD_##name,
    GG_FIELDS(GG_FIELD_ENUM)
#undef GG_FIELD_ENUM
        GG_FIELD_COUNT
} gg_field_id;

#endif
