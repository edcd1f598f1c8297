/* motion.h: projection out of tools after the sweeps, and loads on tools. */
#ifndef GG_COLOURED_MOTION_H
#define GG_COLOURED_MOTION_H

#include "../motion.h"
#include "coloured.h"

/* the record of contact k of those that slot i has with tools */
GG_FN int32_t gg_coloured_tool_record(const gg_view *v, int64_t e, int64_t i, int32_t k) {
    int64_t at = e * v->dims.slots + i;
    int32_t first = v->next_first[at] + v->next_count[at] - v->next_tool_count[at];
    return gg_link_record(gg_coloured_links(v, e, 0)[first + k]);
}

/* Final projection out of tools, but those that give way, see gg_sphere_project_tools. */
GG_FN void gg_coloured_project_tools(const gg_view *v, int64_t e, int64_t i) {
    int32_t tools = v->next_tool_count[e * v->dims.slots + i];
    float *body = gg_slot_body_at(v, e, i), *impulse = gg_coloured_impulses(v, e, v->env[e].iteration);
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    const float *normals = v->normal + e * v->dims.contact_rows * GG_LANES * 3;
    int64_t contacts = e * v->dims.contact_rows * GG_LANES;
    gg_vec3 velocity = gg_v3(body[0], body[1], body[2]);
    for (int32_t k = 0; k < 2 * tools; k++) {
        int32_t record = gg_coloured_tool_record(v, e, i, k < tools ? k : k - tools);
        int32_t other = v->other_body[contacts + record];
        if ((v->params.dynamic && bodies[other * GG_BODY + GG_BODY_INVERSE_MASS] > 0.0f) ||
            gg_surface_lead(v, e, other) >= 0) {
            continue;
        }
        gg_vec3 normal = gg_load_lane3(normals, gg_record3(record));
        gg_vec3 surface = gg_body_velocity(bodies, other);
        float deficit = v->bias[contacts + record] - gg_dot(gg_sub(velocity, surface), normal);
        if (deficit > 0.0f) {
            velocity = gg_madd(velocity, normal, deficit);
            gg_vec3 total = gg_load_lane3(impulse, gg_record3(record));
            gg_store_lane3(impulse, gg_record3(record), gg_madd(total, normal, deficit / body[GG_BODY_INVERSE_MASS]));
        }
    }
    if (tools) {
        body[0] = velocity.x;
        body[1] = velocity.y;
        body[2] = velocity.z;
    }
}

/* the load of each contact of a grain on its tool over the substep, in order of the tool contacts. */
GG_FN void gg_coloured_load_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, contacts = e * v->dims.contact_rows * GG_LANES;
    int32_t tools = v->next_tool_count[at], first = v->next_first[at] + v->next_count[at] - tools;
    const int32_t *keys = gg_coloured_keys(v, e, 0);
    const float *normals = v->normal + e * v->dims.contact_rows * GG_LANES * 3;
    for (int32_t k = 0; k < tools; k++) {
        int32_t record = gg_coloured_tool_record(v, e, i, k);
        int64_t part = -1 - (int64_t)keys[first + k];
        gg_tool_load load;
        load.force =
            gg_scale(gg_load_lane3(gg_coloured_impulses(v, e, v->env[e].iteration), gg_record3(record)), -1.0f);
        gg_vec4 x = v->position[at];
        gg_vec3 point = gg_madd(gg_v3(x.x, x.y, x.z), gg_load_lane3(normals, gg_record3(record)), -x.w);
        gg_vec3 arm = gg_part_offset(v, part, point, v->part_pose[e * v->dims.part_count + part].tool_position);
        load.torque = gg_cross(arm, load.force);
        if (v->params.rolling) {
            load.torque =
                gg_sub(load.torque, gg_load_lane3(gg_coloured_torques(v, e, v->env[e].iteration), gg_record3(record)));
        }
        load.tool = v->parts[part].tool;
        v->tool_load[e * v->dims.tool_contacts + v->other_body[contacts + record] - v->dims.free_bodies] = load;
    }
}

/* Projection and loads of the tool contacts of one slot. */
GG_FN void gg_coloured_close_tools(const gg_view *v, int64_t e, int64_t i) {
    if (v->next_tool_count[e * v->dims.slots + i] > 0) {
        gg_coloured_project_tools(v, e, i);
        gg_coloured_load_tools(v, e, i);
    }
}

/* item: slice of an env */
GG_FN void gg_coloured_close_tools_slice(const gg_view *v, int64_t e, int64_t slice) {
    if (v->slice_tool_contacts[e * v->dims.slices + slice] > 0) {
        for (int lane = 0; lane < GG_LANES; lane++) {
            gg_coloured_close_tools(v, e, slice * GG_LANES + lane);
        }
    }
}

#endif
