/* motion.h: the phases around the solve: tools move, velocities are predicted, positions are integrated, sums are taken.
 *
 * Symplectic Euler (GranularGym (2023), equations 4-5, with x += dt v): the new velocity moves the grain.
 */
#ifndef GG_MOTION_H
#define GG_MOTION_H

#include "../contact/candidates.h"
#include "../geometry/pose.h"
#include "../solvers/drag.h"
#include "../solvers/ncp_contacts.h"

/* Opens a step of one env: the counters of the last step are forgotten, `diverged` stays. item: env */
GG_FN void gg_motion_open_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    int32_t diverged = env->stats.diverged;
    gg_env_stats none = GG_ZERO;
    env->stats = none;
    env->stats.diverged = diverged;
    env->substeps_done = 0;
    env->predicted = 0;
}

/* Closes a step of one env: the tools are where they were sent. item: tool of an env */
GG_FN void gg_motion_arrive_tool(const gg_view *v, int64_t e, int64_t tool) {
    int64_t at = e * v->dims.tool_count + tool;
    if (v->env[e].substeps_done == v->params.substeps) {
        v->tool_pose[at] = v->tool_motion[at].target;
    } else {
        v->tool_pose[at] = gg_tool_motion_at(&v->tool_motion[at], (double)v->params.dt * v->env[e].substeps_done);
    }
}

/* how a tool moves over this step. item: tool of an env */
GG_FN void gg_motion_plan_tool(const gg_view *v, int64_t e, int64_t tool) {
    int64_t at = e * v->dims.tool_count + tool;
    gg_pose start = v->tool_pose[at];
    gg_pose target = start;
    /* the first tools are the walls of the bounds; they stay */
    if (v->tool_targets && tool >= GG_WALL_COUNT) {
        int64_t own_count = v->dims.tool_count - GG_WALL_COUNT;
        const float *t = v->tool_targets + (e * own_count + tool - GG_WALL_COUNT) * 7;
        target.position = gg_v3(t[0], t[1], t[2]);
        target.rotation = gg_quat_unit(gg_quat_make(t[3], t[4], t[5], t[6]));
    }
    double duration = (double)v->params.dt * v->params.substeps;
    v->tool_motion[at] = gg_tool_motion_between(start, target, duration);
    double *wrench = v->wrench + at * 6;
    for (int k = 0; k < 6; k++) {
        wrench[k] = 0.0;
    }
}

/* pose and velocity of a part at the start of this substep. item: part of an env */
GG_FN void gg_motion_pose_part(const gg_view *v, int64_t e, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    int64_t at = e * v->dims.tool_count + shape->tool;
    const gg_tool_motion *motion = &v->tool_motion[at];
    gg_pose tool = gg_tool_motion_at(motion, (double)v->params.dt * v->env[e].substeps_done);
    gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    pose->rotation = gg_quat_mat(gg_quat_unit(gg_quat_mul(tool.rotation, shape->rotation)));
    pose->position = gg_add(tool.position, gg_quat_rotate(tool.rotation, shape->position));
    pose->tool_position = tool.position;
    pose->velocity = motion->velocity;
    pose->angular_velocity = gg_scale(motion->axis, motion->speed);
}

/* what prediction is about to change, by grain id, in an array that is idle until the solve */
GG_FN void gg_motion_note(const gg_view *v, int64_t e, int64_t id, gg_vec3 velocity, const float *error) {
    float *note = v->velocity + (e * v->dims.slots + id) * 6;
    note[0] = velocity.x;
    note[1] = velocity.y;
    note[2] = velocity.z;
    for (int k = 0; k < 3; k++) {
        note[3 + k] = error[k];
    }
}

/* Takes the prediction of a substep back that cannot be finished: the env stands at the end of the one before, to the bit.
 * item: slot */
GG_FN void gg_predict_roll_back_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    if (!v->env[e].predicted || id < 0) {
        return;
    }
    const float *note = v->velocity + (e * v->dims.slots + id) * 6;
    for (int k = 0; k < 3; k++) {
        v->body_a[(e * v->dims.bodies + i) * GG_BODY + k] = note[k];
        v->velocity_error[(e * v->dims.slots + id) * 3 + k] = note[3 + k];
    }
}

/* ends what gg_predict_roll_back_slot began. item: env */
GG_FN void gg_predict_rolled_back_env(const gg_view *v, int64_t e) { v->env[e].predicted = 0; }

/* what predicting one grain tells about its slice */
typedef struct gg_prediction {
    float displacement2, speed2;
    int32_t bad;
} gg_prediction;

/* adds gravity and drag to one grain and measures how far it went since the lists were built */
GG_FN gg_prediction gg_motion_predict_lane(const gg_view *v, int64_t e, int64_t i) {
    gg_prediction out = GG_ZERO;
    const gg_params *p = &v->params;
    int64_t at = e * v->dims.slots + i;
    if (v->grain_id[at] < 0) {
        return out;
    }
    float row[GG_BODY], *home = v->body_a + (e * v->dims.bodies + i) * GG_BODY;
    gg_body_load(home, row);
    /* small kicks on a fast grain would all be rounded the same way */
    float *error = v->velocity_error + (e * v->dims.slots + v->grain_id[at]) * 3;
    const gg_air *air = &v->env[e].air;
    /* what is fixed (planar grains only) keeps the velocity it was given */
    gg_vec3 kick = gg_scale(v->env[e].gravity, row[3] > 0.0f ? p->dt : 0.0f);
    gg_vec3 before = gg_v3(row[0], row[1], row[2]);
    gg_motion_note(v, e, v->grain_id[at], before, error);
    if (gg_air_drags(air)) {
        kick = gg_drag_kick(air, kick, before, v->position[at].w, row[3], p->dt);
    }
    gg_vec3 velocity = gg_add_compensated(before, kick, error);
    row[0] = velocity.x;
    row[1] = velocity.y;
    row[2] = velocity.z;
    gg_body_store(home, row);
    gg_vec4 x = v->position[at], built = v->built_position[at];
    /* where the grain will be at the end of the substep if nothing stops it, seen from where the lists know it */
    gg_vec3 moved = gg_madd(gg_v3(x.x - built.x, x.y - built.y, x.z - built.z), velocity, p->dt);
    out.displacement2 = gg_norm2(moved);
    out.speed2 = gg_norm2(velocity);
    out.bad = !gg_finite(gg_norm2(velocity)) || !gg_finite(gg_norm2(moved)) ||
              !gg_finite(gg_norm2(gg_v3(row[4], row[5], row[6])));
    return out;
}

/* notes what the grains of a slice, in order of lanes, were predicted to do */
GG_FN void gg_motion_predicted(const gg_view *v, int64_t e, int64_t slice, const gg_prediction each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    float displacement2 = 0.0f, speed2 = 0.0f;
    int32_t bad = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        displacement2 = gg_maxf(displacement2, each[lane].displacement2);
        speed2 = gg_maxf(speed2, each[lane].speed2);
        bad += each[lane].bad;
    }
    stats->displacement2 = displacement2;
    stats->speed2 = speed2;
    stats->bad = bad;
}

/* item: slice of an env */
GG_FN void gg_motion_predict_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_prediction each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        each[lane] = gg_motion_predict_lane(v, e, slice * GG_LANES + lane);
    }
    gg_motion_predicted(v, e, slice, each);
}

/* what was predicted for the slices begin, begin + stride, ... of an env */
GG_FN gg_prediction gg_motion_predictions(const gg_view *v, int64_t e, int64_t begin, int64_t stride) {
    gg_prediction all = GG_ZERO;
    for (int64_t s = begin; s < v->dims.slices; s += stride) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.displacement2 = gg_maxf(all.displacement2, stats->displacement2);
        all.speed2 = gg_maxf(all.speed2, stats->speed2);
        all.bad += stats->bad;
    }
    return all;
}

GG_FN gg_prediction gg_motion_predictions_join(gg_prediction a, gg_prediction b) {
    a.displacement2 = gg_maxf(a.displacement2, b.displacement2);
    a.speed2 = gg_maxf(a.speed2, b.speed2);
    a.bad += b.bad;
    return a;
}

/* decides whether the env's lists must be built again, and freezes an env that is no longer finite */
GG_FN void gg_motion_decide(const gg_view *v, int64_t e, gg_prediction all) {
    gg_env *env = &v->env[e];
    env->predicted = 1;
    env->iteration = 0;
    env->converged = 1;
    if (env->stats.diverged) {
        return;
    }
    float tool_speed = 0.0f;
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        const gg_shape *shape = &v->parts[part];
        const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + shape->tool];
        float arm = shape->bound_radius < GG_UNBOUNDED
                        ? gg_norm(shape->position) + gg_norm(shape->bound_center) + shape->bound_radius
                        : 0.0f;
        tool_speed = gg_maxf(tool_speed, gg_norm(motion->velocity) + gg_absf(motion->speed) * arm);
    }
    env->speed_max = sqrtf(all.speed2) + tool_speed;
    env->stats.speed_max = gg_maxf(env->stats.speed_max, sqrtf(all.speed2));
    env->fast_tool = tool_speed * v->params.dt > 0.5f * v->params.radius_min;
    if (all.bad) {
        env->stats.diverged = 1;
    }
    if (all.displacement2 > 0.25f * env->skin * env->skin) {
        env->rebuild = 1;
    }
    env->bounce_speed = gg_maxf(v->params.bounce_speed, 3.0f * gg_norm(env->gravity) * v->params.dt);
    env->converged = env->stats.diverged;
}

/* item: env */
GG_FN void gg_motion_check_env(const gg_view *v, int64_t e) {
    gg_motion_decide(v, e, gg_motion_predictions(v, e, 0, 1));
}

/* Last word on tools: two sequential passes over a grain's tool contacts alone, so that no pile, however heavy and however
 * unconverged the solve, presses a grain into a wall. item: slot */
GG_FN void gg_motion_project_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    int32_t tools = v->next_tool_count[at], count = v->next_count[at];
    if (v->params.mode == GG_MODE_PAPER || tools == 0) {
        return;
    }
    int64_t row = v->next_first[at] / GG_LANES + count - tools;
    int64_t state = (e * v->dims.slots + i - lane) * 6 + lane;
    float *impulse = (v->env[e].impulse_buffer ^ 1 ^ (v->env[e].iteration & 1)) ? v->impulse_b : v->impulse_a;
    const float *rows = v->body_a + e * v->dims.bodies * GG_BODY;
    gg_vec3 velocity = gg_load_lane3(v->velocity, state);
    float inverse_mass = rows[i * GG_BODY + 3];
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < tools; k++) {
            int64_t contact = (e * v->dims.contact_rows + row + k) * GG_LANES + lane;
            int64_t contact3 = (e * v->dims.contact_rows + row + k) * GG_LANES * 3 + lane;
            gg_vec3 normal = gg_load_lane3(v->normal, contact3);
            gg_vec3 surface = gg_body_velocity(rows, v->other_body[contact]);
            float lack = v->bias[contact] - gg_dot(gg_sub(velocity, surface), normal);
            if (lack > 0.0f) {
                velocity = gg_madd(velocity, normal, lack);
                gg_vec3 total = gg_load_lane3(impulse, contact3);
                gg_store_lane3(impulse, contact3, gg_madd(total, normal, lack / inverse_mass));
            }
        }
    }
    gg_store_lane3(v->velocity, state, velocity);
}

/* what each contact of a grain did to its tool within the substep, in the order of the tool contacts. item: slot */
GG_FN void gg_motion_load_tools(const gg_view *v, int64_t e, int64_t i) {
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
            int64_t roll3 = (e * v->dims.roll_rows + row) * GG_LANES * 3 + lane;
            load.torque = gg_sub(load.torque, gg_load_lane3(roll, roll3));
        }
        load.tool = v->parts[part].tool;
        v->tool_load[e * v->dims.tool_contacts + v->other_body[contact] - v->dims.slots] = load;
    }
}

/* tool contacts of this substep */
GG_FN int64_t gg_tool_loads(const gg_view *v, int64_t e) {
    int64_t last = e * v->dims.slices + v->dims.slices - 1;
    return v->slice_first_tool_body[last] + v->slice_tool_contacts[last] - v->dims.slots;
}

/* component k (force, then torque) of the loads of one block on one tool, added up in order */
GG_FN float gg_motion_wrench_part(const gg_view *v, int64_t e, int64_t block, int64_t tool, int k) {
    const gg_tool_load *loads = v->tool_load + e * v->dims.tool_contacts;
    int64_t end = GG_MIN((block + 1) * GG_LOAD_BLOCK, gg_tool_loads(v, e));
    float sum = 0.0f;
    for (int64_t c = block * GG_LOAD_BLOCK; c < end; c++) {
        if (loads[c].tool == tool) {
            sum += gg_axis_of(k < 3 ? loads[c].force : loads[c].torque, k % 3);
        }
    }
    return sum;
}

/* item: block of tool contacts of an env */
GG_FN void gg_motion_wrench_block(const gg_view *v, int64_t e, int64_t block) {
    if (block * GG_LOAD_BLOCK >= gg_tool_loads(v, e)) {
        return;
    }
    float *sum = v->wrench_partial + (e * v->dims.load_blocks + block) * v->dims.tool_count * 6;
    const gg_tool_load *loads = v->tool_load + e * v->dims.tool_contacts;
    int64_t end = GG_MIN((block + 1) * GG_LOAD_BLOCK, gg_tool_loads(v, e));
    for (int64_t k = 0; k < v->dims.tool_count * 6; k++) {
        sum[k] = 0.0f;
    }
    for (int64_t c = block * GG_LOAD_BLOCK; c < end; c++) {
        float *to = sum + (int64_t)loads[c].tool * 6;
        to[0] += loads[c].force.x;
        to[1] += loads[c].force.y;
        to[2] += loads[c].force.z;
        to[3] += loads[c].torque.x;
        to[4] += loads[c].torque.y;
        to[5] += loads[c].torque.z;
    }
}

/* adds the blocks in order. item: tool of an env */
GG_FN void gg_motion_wrench_tool(const gg_view *v, int64_t e, int64_t tool) {
    double *wrench = v->wrench + (e * v->dims.tool_count + tool) * 6;
    int64_t blocks = (gg_tool_loads(v, e) + GG_LOAD_BLOCK - 1) / GG_LOAD_BLOCK;
    for (int64_t block = 0; block < blocks; block++) {
        const float *sum = v->wrench_partial + ((e * v->dims.load_blocks + block) * v->dims.tool_count + tool) * 6;
        for (int k = 0; k < 6; k++) {
            wrench[k] += sum[k];
        }
    }
}

GG_FN int gg_outside(const gg_params *p, gg_vec3 x, float radius) {
    return x.x < p->lower.x - radius || x.x > p->upper.x + radius || x.y < p->lower.y - radius ||
           x.y > p->upper.y + radius || x.z < p->lower.z - radius || x.z > p->upper.z + radius;
}

/* what moving one grain tells about its slice */
typedef struct gg_motion {
    float energy;
    int32_t fast, escaped;
} gg_motion;

/* moves one grain and stores its contacts for the next substep */
GG_FN gg_motion gg_motion_integrate_lane(const gg_view *v, int64_t e, int64_t i) {
    gg_motion out = GG_ZERO;
    const gg_params *p = &v->params;
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES, first = at - lane;
    v->contact_first[at] = v->next_first[at];
    v->contact_count[at] = v->next_count[at];
    v->tool_contact_count[at] = v->next_tool_count[at];
    if (v->grain_id[at] < 0) {
        return out;
    }
    gg_vec3 velocity = gg_load_lane3(v->velocity, first * 6 + lane);
    gg_vec3 spin = gg_load_lane3(v->velocity, first * 6 + lane + 3 * GG_LANES);
    float row[GG_BODY], *home = v->body_a + (e * v->dims.bodies + i) * GG_BODY;
    gg_body_load(home, row);
    if (gg_air_drags(&v->env[e].air)) {
        spin = gg_scale(spin, gg_drag_spin_left(&v->env[e].air, v->position[at].w, row[3], p->dt));
    }
    row[0] = velocity.x;
    row[1] = velocity.y;
    row[2] = velocity.z;
    row[4] = spin.x;
    row[5] = spin.y;
    row[6] = spin.z;
    gg_body_store(home, row);
    gg_vec4 x = v->position[at];
    gg_vec3 correction = gg_load_lane3(v->correction, first * 3 + lane);
    /* ways within a bed at rest are below rounding, the more so the farther it lies from the origin: lost, they are made
     * up for by velocities that press contacts now less, now more, and the bed creeps */
    float *error = v->position_error + (e * v->dims.slots + v->grain_id[at]) * 3;
    gg_vec3 displacement = gg_madd(correction, velocity, p->dt);
    gg_vec3 moved = gg_wrap(p, gg_add_compensated(gg_v3(x.x, x.y, x.z), displacement, error));
    gg_vec4 arrived = {moved.x, moved.y, moved.z, x.w};
    v->position[at] = arrived;
    float speed2 = gg_norm2(velocity);
    out.energy = 0.5f / row[3] * (speed2 + 0.4f * gg_norm2(spin));
    out.fast = speed2 * p->dt * p->dt > 0.25f * x.w * x.w;
    out.escaped = gg_outside(p, moved, x.w);
    return out;
}

/* notes what the grains of a slice, in order of lanes, did */
GG_FN void gg_motion_integrated(const gg_view *v, int64_t e, int64_t slice, const gg_motion each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    stats->energy = 0.0f;
    stats->fast = stats->escaped = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        stats->energy += each[lane].energy;
        stats->fast += each[lane].fast;
        stats->escaped += each[lane].escaped;
    }
}

/* item: slice of an env */
GG_FN void gg_motion_integrate_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        each[lane] = gg_motion_integrate_lane(v, e, slice * GG_LANES + lane);
    }
    gg_motion_integrated(v, e, slice, each);
}

/* what holds for every substep: worst of the slices begin, begin + stride, ... of an env */
typedef struct gg_substep_stats {
    float overlap_max, residual;
    int32_t fast;
} gg_substep_stats;

GG_FN gg_substep_stats gg_substep_stats_of(const gg_view *v, int64_t e, int64_t begin, int64_t stride) {
    gg_substep_stats all = GG_ZERO;
    for (int64_t s = begin; s < v->dims.slices; s += stride) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.overlap_max = gg_maxf(all.overlap_max, stats->overlap_max);
        all.residual = gg_maxf(all.residual, stats->residual);
        all.fast += stats->fast;
    }
    return all;
}

GG_FN gg_substep_stats gg_substep_stats_join(gg_substep_stats a, gg_substep_stats b) {
    a.overlap_max = gg_maxf(a.overlap_max, b.overlap_max);
    a.residual = gg_maxf(a.residual, b.residual);
    a.fast += b.fast;
    return a;
}

/* what is told of the last substep alone; sums of a block of slices in order, then of the blocks in order */
typedef struct gg_step_stats {
    double overlap_sum, energy;
    int64_t overlap_count;
    int32_t escaped, contacts, tool_contacts;
} gg_step_stats;

GG_FN void gg_step_stats_add(gg_step_stats *all, gg_step_stats one) {
    all->overlap_sum += one.overlap_sum;
    all->energy += one.energy;
    all->overlap_count += one.overlap_count;
    all->escaped += one.escaped;
    all->contacts += one.contacts;
    all->tool_contacts += one.tool_contacts;
}

GG_FN gg_step_stats gg_step_stats_of_block(const gg_view *v, int64_t e, int64_t block) {
    gg_step_stats all = GG_ZERO;
    int64_t per_block = GG_BLOCK / GG_LANES, end = GG_MIN((block + 1) * per_block, v->dims.slices);
    for (int64_t s = block * per_block; s < end; s++) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.overlap_sum += stats->overlap_sum;
        all.energy += stats->energy;
        all.overlap_count += stats->overlap_count;
        all.escaped += stats->escaped;
        all.tool_contacts += v->slice_tool_contacts[e * v->dims.slices + s];
        for (int lane = 0; lane < GG_LANES; lane++) {
            all.contacts += v->next_count[e * v->dims.slots + s * GG_LANES + lane];
        }
    }
    return all;
}

GG_FN int gg_last_substep(const gg_view *v, int64_t e) { return v->env[e].substeps_done + 1 >= v->params.substeps; }

/* Closes the substep of one env: turns the ping-pong buffers, keeps what the slices noted. last: NULL, or of the last
 * substep of a step */
GG_FN void gg_motion_close(const gg_view *v, int64_t e, gg_substep_stats all, const gg_step_stats *last) {
    gg_env *env = &v->env[e];
    gg_env_stats *total = &env->stats;
    env->predicted = 0;
    env->substeps_done++;
    if (total->diverged) {
        return;
    }
    total->overlap_max_last = all.overlap_max;
    total->overlap_max = gg_maxf(total->overlap_max, all.overlap_max);
    total->residual = gg_maxf(total->residual, all.residual);
    total->fast_count += all.fast;
    total->fast_tool_count += env->fast_tool;
    total->iteration_count += env->iteration;
    if (last) {
        total->overlap_sum = last->overlap_sum;
        total->kinetic_energy = last->energy;
        total->overlap_count = last->overlap_count;
        total->escaped_count = last->escaped;
        total->contact_count = last->contacts;
        total->tool_contact_count = last->tool_contacts;
    }
    env->impulse_buffer ^= 1 ^ (env->iteration & 1);
    env->key_buffer ^= 1;
    env->dt_last = v->params.dt;
}

/* item: env */
GG_FN void gg_motion_close_env(const gg_view *v, int64_t e) {
    gg_step_stats last = GG_ZERO;
    for (int64_t block = 0; gg_last_substep(v, e) && block < v->dims.blocks; block++) {
        gg_step_stats_add(&last, gg_step_stats_of_block(v, e, block));
    }
    gg_motion_close(v, e, gg_substep_stats_of(v, e, 0, 1), gg_last_substep(v, e) ? &last : NULL);
}

#endif
