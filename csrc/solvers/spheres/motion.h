/* motion.h: after the solve: projection of spheres out of tools, loads on tools, new positions. */
#ifndef GG_SPHERE_MOTION_H
#define GG_SPHERE_MOTION_H

#include "../drag.h"
#include "../motion.h"
#include "contacts.h"

/* Final projection out of tools: two sequential passes over a grain's tool contacts alone, so that no load, however
 * heavy and however unconverged the solve, presses a grain into a wall. Contacts along whose normal a dynamic tool
 * gives way are left out: its momentum would not be kept. item: slot */
GG_FN void gg_sphere_project_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    int32_t tools = v->next_tool_count[at], count = v->next_count[at];
    if (v->params.mode == GG_MODE_PAPER || tools == 0) {
        return;
    }
    int64_t row = v->next_first[at] / GG_LANES + count - tools;
    int64_t state = (e * v->dims.slots + i - lane) * 6 + lane;
    float *impulse = (v->env[e].impulse_buffer ^ 1 ^ (v->env[e].iteration & 1)) ? v->impulse_b : v->impulse_a;
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    gg_vec3 velocity = gg_load_lane3(v->velocity, state);
    float inverse_mass = bodies[i * GG_BODY + GG_BODY_INVERSE_MASS];
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < tools; k++) {
            int64_t contact = (e * v->dims.contact_rows + row + k) * GG_LANES + lane;
            int64_t contact3 = (e * v->dims.contact_rows + row + k) * GG_LANES * 3 + lane;
            gg_vec3 normal = gg_load_lane3(v->normal, contact3);
            if (v->params.dynamic && bodies[v->other_body[contact] * GG_BODY + GG_BODY_INVERSE_MASS] > 0.0f) {
                continue;
            }
            gg_vec3 surface = gg_body_velocity(bodies, v->other_body[contact]);
            float deficit = v->bias[contact] - gg_dot(gg_sub(velocity, surface), normal);
            if (deficit > 0.0f) {
                velocity = gg_madd(velocity, normal, deficit);
                gg_vec3 total = gg_load_lane3(impulse, contact3);
                gg_store_lane3(impulse, contact3, gg_madd(total, normal, deficit / inverse_mass));
            }
        }
    }
    gg_store_lane3(v->velocity, state, velocity);
}

/* the load of each contact of a grain on its tool over the substep, in order of the tool contacts. item: slot */
GG_FN void gg_sphere_load_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    int32_t tools = v->next_tool_count[at];
    int from_b = v->env[e].impulse_buffer ^ 1 ^ (v->env[e].iteration & 1);
    const float *impulse = from_b ? v->impulse_b : v->impulse_a, *roll = from_b ? v->roll_b : v->roll_a;
    const int32_t *keys = v->env[e].key_buffer ? v->key_a : v->key_b;
    int64_t row = v->next_first[at] / GG_LANES + v->next_count[at] - tools;
    for (int32_t k = 0; k < tools; k++, row++) {
        int64_t contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
        int64_t contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
        int64_t part = -1 - (int64_t)keys[contact];
        gg_tool_load load;
        load.force = gg_scale(gg_load_lane3(impulse, contact3), -1.0f);
        gg_vec4 x = v->position[at];
        gg_vec3 point = gg_madd(gg_v3(x.x, x.y, x.z), gg_load_lane3(v->normal, contact3), -x.w);
        gg_vec3 arm = gg_sub(point, v->part_pose[e * v->dims.part_count + part].tool_position);
        load.torque = gg_cross(arm, load.force);
        if (v->params.rolling) {
            int64_t roll3 = (e * v->dims.spheres.roll_rows + row) * GG_LANES * 3 + lane;
            load.torque = gg_sub(load.torque, gg_load_lane3(roll, roll3));
        }
        load.tool = v->parts[part].tool;
        v->tool_load[e * v->dims.tool_contacts + v->other_body[contact] - v->dims.free_bodies] = load;
    }
}

#endif
