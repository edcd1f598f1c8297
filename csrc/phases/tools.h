/* tools.h: the motion of tools over a step, and the sums of the loads on them. Those with a mass: dynamic_tools.h.
 *
 * A tool that follows its targets starts from its pose; a compliant one, which lags, from where its last target was. */
#ifndef GG_TOOLS_H
#define GG_TOOLS_H

#include "../contact/cells.h"
#include "../geometry/pose.h"
#include "../solvers/clump_surface.h"

/* Closes a step: tools are at their target, or where the completed substeps took them. item: tool of an env */
GG_FN void gg_tool_arrive(const gg_view *v, int64_t e, int64_t tool) {
    int64_t at = e * v->dims.tool_count + tool;
    if (!gg_tool_aimed(v, tool)) {
        return; /* its pose is that of the last substep */
    }
    gg_pose there = gg_tool_way(v, e, tool, v->env[e].substeps_done);
    if (!gg_tool_compliant(v, tool)) {
        v->tool_pose[at] = there;
        return;
    }
    for (int k = 0; k < 3; k++) {
        v->tool_anchor[3 * at + k] = gg_axis_of(there.position, k);
    }
}

/* The motion of a tool over this step; the surface of a clump goes with the clump. item: tool of an env */
GG_FN void gg_tool_plan(const gg_view *v, int64_t e, int64_t tool) {
    int64_t at = e * v->dims.tool_count + tool;
    gg_pose start = v->tool_pose[at];
    if (gg_tool_compliant(v, tool)) {
        const double *anchor = v->tool_anchor + 3 * at;
        start.position = gg_v3((float)anchor[0], (float)anchor[1], (float)anchor[2]);
    }
    gg_pose target = start;
    /* the first tools are the walls of the bounds, which do not move */
    if (v->tool_targets && tool >= GG_WALL_COUNT && gg_tool_aimed(v, tool)) {
        int64_t own_count = v->dims.tool_count - GG_WALL_COUNT;
        const float *t = v->tool_targets + (e * own_count + tool - GG_WALL_COUNT) * 7;
        target.position = gg_v3(t[0], t[1], t[2]);
        target.rotation = gg_quat_unit(gg_quat_make(t[3], t[4], t[5], t[6]));
    }
    double duration = (double)v->params.dt * v->params.substeps;
    v->tool_motion[at] = gg_tool_motion_between(start, target, duration);
}

/* a part of a tool that stands still at a pose */
GG_FN gg_part_pose gg_part_pose_of(const gg_shape *shape, gg_pose tool) {
    gg_part_pose pose = GG_ZERO;
    pose.rotation = gg_quat_mat(gg_quat_unit(gg_quat_mul(tool.rotation, shape->rotation)));
    pose.position = gg_add(tool.position, gg_quat_rotate(tool.rotation, shape->position));
    pose.tool_position = tool.position;
    return pose;
}

/* how far the bounding sphere of a part reaches from the origin of its tool [m]; 0 where it has none */
GG_FN float gg_part_arm(const gg_shape *shape) {
    return shape->bound_radius < GG_UNBOUNDED
               ? gg_norm(shape->position) + gg_norm(shape->bound_center) + shape->bound_radius
               : 0.0f;
}

/* the largest speed of a part of an active tool that follows its targets [m/s] */
GG_FN float gg_tool_speed_max(const gg_view *v, int64_t e) {
    float speed = 0.0f;
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        const gg_shape *shape = &v->parts[part];
        const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + shape->tool];
        if (v->tool_active[e * v->dims.tool_count + shape->tool] && !gg_tool_free(v, shape->tool)) {
            speed = gg_maxf(speed, gg_norm(motion->velocity) + gg_absf(motion->speed) * gg_part_arm(shape));
        }
    }
    return speed;
}

/* the largest predicted speed of an active dynamic tool that has parts [m/s] */
GG_FN float gg_tool_predicted_max(const gg_view *v, int64_t e) {
    float speed = 0.0f;
    for (int64_t part = 0; v->params.dynamic && part < v->dims.part_count; part++) {
        int32_t tool = v->parts[part].tool;
        if (v->tool_active[e * v->dims.tool_count + tool] && gg_tool_dynamic(v, tool)) {
            float turning = gg_norm(gg_tool_predicted_spin(v, e, tool)) * gg_part_arm(&v->parts[part]);
            speed = gg_maxf(speed, gg_norm(gg_tool_predicted(v, e, tool)) + turning);
        }
    }
    return speed;
}

/* whether a tool moves by more than half of the smallest radius in a substep */
GG_FN int gg_tool_is_fast(const gg_params *p, float speed) { return speed * p->dt > 0.5f * p->radius_min; }

/* pose and velocity of a part `time` [s] after the start of this substep; of a dynamic tool at the start */
GG_FN void gg_tool_pose_part_at(const gg_view *v, int64_t e, int64_t part, double time) {
    const gg_shape *shape = &v->parts[part];
    int64_t at = e * v->dims.tool_count + shape->tool;
    const gg_tool_motion *motion = &v->tool_motion[at];
    gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    if (gg_tool_free(v, shape->tool)) {
        *pose = gg_part_pose_of(shape, v->tool_pose[at]);
    }
    if (gg_tool_dynamic(v, shape->tool)) {
        pose->velocity = gg_tool_predicted(v, e, shape->tool);
        pose->angular_velocity = gg_tool_predicted_spin(v, e, shape->tool);
    } else if (gg_clump_of_tool(v, shape->tool) >= 0) {
        gg_clump_surface_move(v, e, gg_clump_of_tool(v, shape->tool), pose);
    } else {
        *pose =
            gg_part_pose_of(shape, gg_tool_motion_at(motion, (double)v->params.dt * v->env[e].substeps_done + time));
        pose->velocity = motion->velocity;
        pose->angular_velocity = gg_scale(motion->axis, motion->speed);
    }
    pose->active = v->tool_active[at];
}

/* the same at the start. item: part of an env */
GG_FN void gg_tool_pose_part(const gg_view *v, int64_t e, int64_t part) { gg_tool_pose_part_at(v, e, part, 0.0); }

/* the loads of a block of tool contacts of an env */
typedef struct gg_tool_loads_share {
    const gg_tool_load *first;
    int64_t count;
} gg_tool_loads_share;

GG_FN gg_tool_loads_share gg_tool_loads_of_block(const gg_view *v, int64_t e, int64_t block) {
    int64_t begin = block * GG_LOAD_BLOCK;
    gg_tool_loads_share share = {v->tool_load + e * v->dims.tool_contacts + begin,
                                 GG_MIN(GG_LOAD_BLOCK, gg_tool_loads(v, e) - begin)};
    return share;
}

/* component k (force, then torque) of the loads of one block on one tool, added up in order */
GG_FN float gg_tool_wrench_part(const gg_tool_load *loads, int64_t count, int64_t tool, int k) {
    float sum = 0.0f;
    for (int64_t c = 0; c < count; c++) {
        float part = gg_axis_of(k < 3 ? loads[c].force : loads[c].torque, k % 3);
        sum = loads[c].tool == tool ? sum + part : sum;
    }
    return sum;
}

/* item: block of tool contacts of an env */
GG_FN void gg_tool_wrench_block(const gg_view *v, int64_t e, int64_t block) {
    gg_tool_loads_share share = gg_tool_loads_of_block(v, e, block);
    if (share.count <= 0) {
        return;
    }
    float *sum = v->wrench_partial + (e * v->dims.load_blocks + block) * v->dims.tool_count * 6;
    for (int64_t k = 0; k < v->dims.tool_count * 6; k++) {
        sum[k] = 0.0f;
    }
    for (const gg_tool_load *load = share.first; load < share.first + share.count; load++) {
        float *to = sum + (int64_t)load->tool * 6;
        to[0] += load->force.x;
        to[1] += load->force.y;
        to[2] += load->force.z;
        to[3] += load->torque.x;
        to[4] += load->torque.y;
        to[5] += load->torque.z;
    }
}

/* adds the blocks in order, and what grains asleep add. In place: GCC 12 (-O2 -march=native) copies an array of sums to
 * the stack as if that were aligned. item: tool of an env */
GG_FN void gg_tool_wrench(const gg_view *v, int64_t e, int64_t tool) {
    double *wrench = v->wrench + (e * v->dims.tool_count + tool) * 6;
    const float *sum = v->wrench_partial + (e * v->dims.load_blocks * v->dims.tool_count + tool) * 6;
    for (int64_t block = 0, count = gg_tool_blocks(v, e); block < count; block++) {
        for (int k = 0; k < 6; k++) {
            wrench[k] += sum[k];
        }
        sum += v->dims.tool_count * 6;
    }
    for (int k = 0; v->env[e].some_asleep && k < 6; k++) {
        wrench[k] += v->kept_wrench[(e * v->dims.sleep.tools + tool) * 6 + k];
    }
}

#endif
