/* motion.h: bodies before, between and after the sweeps: counts, momentum, projection out of tools, loads on tools, new
 * positions. */
#ifndef GG_COLOURED_MOTION_H
#define GG_COLOURED_MOTION_H

#include "../motion.h"
#include "coloured.h"

/* Before contact: keeps the velocities in body_b, counts contacts. item: slot */
GG_FN void gg_coloured_open_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES, state = (at - lane) * 6 + lane;
    float body[GG_BODY];
    gg_body_load(gg_slot_body_at(v, e, i), body);
    gg_body_store(v->body_b + (e * v->dims.bodies + i) * GG_BODY, body);
    for (int k = 0; k < 6; k++) {
        v->start_velocity[state + k * GG_LANES] = body[k + k / 3];
    }
    uint64_t used = v->colours[at];
    float count = (float)(gg_bit_count((uint32_t)used) + gg_bit_count((uint32_t)(used >> 32)));
    gg_vec4 shift = {0.0f, 0.0f, 0.0f, count * body[GG_BODY_INVERSE_MASS]};
    v->shift[at] = shift;
}

/* the record of contact k of those that slot i has with tools */
GG_FN int32_t gg_coloured_tool_record(const gg_view *v, int64_t e, int64_t i, int32_t k) {
    int64_t at = e * v->dims.slots + i;
    int32_t first = v->next_first[at] + v->next_count[at] - v->next_tool_count[at];
    return gg_link_record(gg_coloured_links(v, e, 0)[first + k]);
}

/* Final projection out of tools, see gg_sphere_project_tools. item: slot */
GG_FN void gg_coloured_project_tools(const gg_view *v, int64_t e, int64_t i) {
    int32_t tools = v->next_tool_count[e * v->dims.slots + i];
    float *body = gg_slot_body_at(v, e, i), *impulse = gg_coloured_impulses(v, e, 0);
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    const float *normals = v->normal + e * v->dims.contact_rows * GG_LANES * 3;
    int64_t contacts = e * v->dims.contact_rows * GG_LANES;
    gg_vec3 velocity = gg_v3(body[0], body[1], body[2]);
    for (int32_t k = 0; k < 2 * tools; k++) {
        int32_t record = gg_coloured_tool_record(v, e, i, k < tools ? k : k - tools);
        gg_vec3 normal = gg_load_lane3(normals, gg_record3(record));
        gg_vec3 surface = gg_body_velocity(bodies, v->other_body[contacts + record]);
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

/* the load of each contact of a grain on its tool over the substep, in order of the tool contacts. item: slot */
GG_FN void gg_coloured_load_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, contacts = e * v->dims.contact_rows * GG_LANES;
    int32_t tools = v->next_tool_count[at], first = v->next_first[at] + v->next_count[at] - tools;
    const int32_t *keys = gg_coloured_keys(v, e, 0);
    const float *normals = v->normal + e * v->dims.contact_rows * GG_LANES * 3;
    for (int32_t k = 0; k < tools; k++) {
        int32_t record = gg_coloured_tool_record(v, e, i, k);
        int64_t part = -1 - (int64_t)keys[first + k];
        gg_tool_load load;
        load.force = gg_scale(gg_load_lane3(gg_coloured_impulses(v, e, 0), gg_record3(record)), -1.0f);
        gg_vec4 x = v->position[at];
        gg_vec3 point = gg_madd(gg_v3(x.x, x.y, x.z), gg_load_lane3(normals, gg_record3(record)), -x.w);
        gg_vec3 arm = gg_sub(point, v->part_pose[e * v->dims.part_count + part].tool_position);
        load.torque = gg_cross(arm, load.force);
        if (v->params.rolling) {
            load.torque = gg_sub(load.torque, gg_load_lane3(gg_coloured_torques(v, e, 0), gg_record3(record)));
        }
        load.tool = v->parts[part].tool;
        v->tool_load[e * v->dims.tool_contacts + v->other_body[contacts + record] - v->dims.free_bodies] = load;
    }
}

/* moves one grain, and keeps its list for the next substep */
GG_FN gg_motion gg_coloured_integrate_lane(const gg_view *v, int64_t e, int64_t i) {
    gg_motion out = GG_ZERO;
    const gg_params *p = &v->params;
    int64_t at = e * v->dims.slots + i;
    v->contact_first[at] = v->next_first[at];
    v->contact_count[at] = v->next_count[at];
    v->tool_contact_count[at] = v->next_tool_count[at];
    if (v->grain_id[at] < 0) {
        return out;
    }
    float *body = gg_slot_body_at(v, e, i);
    gg_vec3 velocity = gg_v3(body[0], body[1], body[2]), spin = gg_v3(body[4], body[5], body[6]);
    if (gg_air_drags(&v->env[e].air)) {
        spin = gg_scale(spin, gg_drag_spin_left(&v->env[e].air, v->position[at].w, body[GG_BODY_INVERSE_MASS], p->dt));
        body[4] = spin.x;
        body[5] = spin.y;
        body[6] = spin.z;
    }
    gg_vec4 shift = v->shift[at];
    return gg_sphere_move(v, e, i, velocity, spin, gg_v3(shift.x, shift.y, shift.z));
}

/* item: slice of an env */
GG_FN void gg_coloured_integrate_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        each[lane] = gg_coloured_integrate_lane(v, e, slice * GG_LANES + lane);
    }
    gg_motion_integrated(v, e, slice, each);
}

#endif
