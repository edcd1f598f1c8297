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

/* index of the body of a slot among the env's bodies; each grain is one slot and one body of the same index */
GG_FN int64_t gg_slot_body(const gg_view *v, int64_t slot) {
    (void)v;
    return slot;
}

/* what prediction changes in an env, by grain id, for a rollback: velocity [m/s] and its rounding error */
GG_FN float *gg_before_prediction(const gg_view *v, int64_t e) { return v->before_prediction + e * v->dims.noted; }
/* the record of a body of env e, and of the body of a slot */
GG_FN float *gg_body_at(const gg_view *v, int64_t e, int64_t body) {
    return v->body_a + (e * v->dims.bodies + body) * GG_BODY;
}
GG_FN float *gg_slot_body_at(const gg_view *v, int64_t e, int64_t slot) {
    return gg_body_at(v, e, gg_slot_body(v, slot));
}

/* The body that the solve moves for the grain of a slot: that of its clump, in the place of the clump's first sphere;
 * under other laws its own. */
GG_FN int32_t gg_clump_lead(const gg_view *v, int64_t e, int32_t slot) {
    if (!v->dims.clumps.count) {
        return slot;
    }
    int64_t slots = e * v->dims.slots;
    return v->slot_of[slots + v->clump_first[v->clump_of[v->grain_id[slots + slot]]]];
}

/* whether two grains are spheres of one clump */
GG_FN int gg_one_clump(const gg_view *v, int32_t id, int32_t other) {
    return v->dims.clumps.count && v->clump_of[id] == v->clump_of[other];
}

/* whether a grain is a sphere of a clump that grains meet by its surface */
GG_FN int gg_under_surface(const gg_view *v, int32_t id) {
    return v->dims.clumps.surfaces && v->clump_shape[v->clump_of[id]].surface >= 0;
}

/* whether two grains never touch as spheres: they are of one clump, or the clump of one has a surface */
GG_FN int gg_spheres_pass(const gg_view *v, int32_t id, int32_t other) {
    return gg_one_clump(v, id, other) || gg_under_surface(v, id) || gg_under_surface(v, other);
}

/* the clump that a tool is the surface of; -1: none, as of any tool that a clump does not carry */
GG_FN int32_t gg_clump_of_tool(const gg_view *v, int64_t tool) {
    return v->dims.clumps.surfaces ? v->tool_clump[tool] : -1;
}

/* whether a tool is the surface of the clump of the grain in a slot */
GG_FN int gg_own_surface(const gg_view *v, int64_t e, int64_t slot, int64_t tool) {
    int32_t clump = gg_clump_of_tool(v, tool);
    return clump >= 0 && v->clump_of[v->grain_id[e * v->dims.slots + slot]] == clump;
}

/* the class of the grain in a slot: GG_AWAKE, GG_EDGE, GG_DEEP */
GG_FN int32_t gg_slot_class(const gg_view *v, int64_t e, int64_t slot) {
    int64_t id = v->grain_id[e * v->dims.slots + slot];
    return v->env[e].some_asleep ? v->sleep_class[e * v->dims.sleep.slots + id] : GG_AWAKE;
}
GG_FN int gg_slot_asleep(const gg_view *v, int64_t e, int64_t slot) { return gg_slot_class(v, e, slot) != GG_AWAKE; }

GG_FN int gg_last_substep(const gg_view *v, int64_t e) { return v->env[e].substeps_done + 1 >= v->params.substeps; }

/* slots of an env before those of grains deep asleep */
GG_FN int64_t gg_live_slots(const gg_view *v, int64_t e) { return (int64_t)v->env[e].live_slices * GG_LANES; }

/* whether a body is a point of contact on a tool */
GG_FN int gg_is_tool(const gg_view *v, int64_t body) { return body >= v->dims.free_bodies; }

/* the clump on whose surface a contact is; -1: on no clump's */
GG_FN int32_t gg_surface_clump(const gg_view *v, int64_t e, int64_t body) {
    if (!v->dims.clumps.surfaces || !gg_is_tool(v, body)) {
        return -1;
    }
    return v->tool_clump[v->tool_load[e * v->dims.tool_contacts + body - v->dims.free_bodies].tool];
}

/* the body that the solve moves for a contact on a tool: that of the clump whose surface the tool is; -1: no clump's */
GG_FN int32_t gg_surface_lead(const gg_view *v, int64_t e, int64_t body) {
    int32_t clump = gg_surface_clump(v, e, body);
    return clump < 0 ? -1 : v->slot_of[e * v->dims.slots + v->clump_first[clump]];
}

/* the body that the solve moves for either side of a contact; -1: a tool that no clump carries */
GG_FN int32_t gg_contact_lead(const gg_view *v, int64_t e, int32_t body) {
    return gg_is_tool(v, body) ? gg_surface_lead(v, e, body) : gg_clump_lead(v, e, body);
}

/* whether the grain of a slot is a lone sphere; in a world of clumps */
GG_FN int gg_lone_slot(const gg_view *v, int64_t e, int64_t slot) {
    return v->clump_shape[v->clump_of[v->grain_id[e * v->dims.slots + slot]]].lone;
}

/* Whether a contact is of lone spheres among clumps, or of one with a tool. It has an even colour then, others there have
 * odd ones. */
GG_FN int gg_lone_contact(const gg_view *v, int64_t e, int32_t slot, int32_t body) {
    return v->dims.clumps.lone && gg_lone_slot(v, e, slot) &&
           (gg_is_tool(v, body) ? gg_surface_lead(v, e, body) < 0 : gg_lone_slot(v, e, body));
}
GG_FN int gg_lone_colour(const gg_view *v, int32_t colour) { return v->dims.clumps.lone && colour % 2 == 0; }

#endif
