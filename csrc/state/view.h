/* view.h: what a phase sees: the sizes of a world, its parameters and pointers to all of its arrays.
 *
 * A view is plain data. It is the only argument of every phase, on every backend.
 */
#ifndef GG_VIEW_H
#define GG_VIEW_H

#include "access.h"
#include "body.h"
#include "fields.h"
#include "params.h"
#include "scene.h"

typedef struct gg_view {
    gg_dims dims;
    gg_params params;
#define GG_SCENE_POINTER(type, name, count, from) const type *name;
    GG_SCENE_ARRAYS(GG_SCENE_POINTER)
#undef GG_SCENE_POINTER
    const float *tool_targets; /* (env_count, tool_count, 7) x y z qw qx qy qz, or NULL: stay */
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
