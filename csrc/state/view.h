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
#define GG_ALIAS_POINTER(type, alias, field) type *alias;
    GG_FIELD_ALIASES(GG_ALIAS_POINTER)
#undef GG_ALIAS_POINTER
} gg_view;

/* element counts per env, by field */
typedef enum gg_field_id {
#define GG_FIELD_ENUM(type, name, count, keep) GG_FIELD_##name,
    GG_FIELDS(GG_FIELD_ENUM)
#undef GG_FIELD_ENUM
        GG_FIELD_COUNT
} gg_field_id;

/* body of a slot of env e, as an index among the env's bodies. Every grain is one slot and one body so far, so the solve of
 * lone grains walks both together. */
GG_FN int64_t gg_slot_body(const gg_view *v, int64_t slot) {
    (void)v;
    return slot;
}

/* the record of a body of env e, and of the body of a slot */
GG_FN float *gg_body_at(const gg_view *v, int64_t e, int64_t body) {
    return v->body_a + (e * v->dims.bodies + body) * GG_BODY;
}
GG_FN float *gg_slot_body_at(const gg_view *v, int64_t e, int64_t slot) {
    return gg_body_at(v, e, gg_slot_body(v, slot));
}

/* whether a body is a point of contact on a tool */
GG_FN int gg_is_tool(const gg_view *v, int64_t body) { return body >= v->dims.free_bodies; }

#endif
