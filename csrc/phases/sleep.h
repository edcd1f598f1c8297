/* sleep.h: an env at rest that nothing disturbs is left as it is for a whole step.
 *
 * Rest. A step is at rest where, in each of its substeps, all grains are quiet, and all but one in GG_RESTLESS_PART at
 * rest (gg_quiet_of and gg_rest_of, solvers/motion.h). What sets anything of an env from outside ends its rest.
 *
 * Sleep. After GG_REST_STEPS steps at rest an env sleeps through each step of the same dt in which no moving tool comes
 * near a grain. Its grains, lists and stored impulses stay as they are, as do the wrenches; tools move. A tool that came
 * near ends the rest, so the last step before sleep is one of grains alone, and its wrenches hold for those that follow.
 */
#ifndef GG_SLEEP_H
#define GG_SLEEP_H

#include "../contact/narrow.h"
#include "grain_sleep.h"
#include "tools.h"

/* steps at rest before an env sleeps */
#define GG_REST_STEPS 2

/* Whether a part may touch what lies within `reach` of a point [m] in this step. A signed distance is 1-Lipschitz: it
 * shrinks by no more than the part travels. The samples of a grid are, to a spacing. */
GG_FN int gg_part_comes_near(const gg_view *v, int64_t e, int64_t part, gg_vec3 point, float reach) {
    const gg_shape *shape = &v->parts[part];
    int64_t tool = e * v->dims.tool_count + shape->tool;
    const gg_tool_motion *motion = &v->tool_motion[tool];
    float speed = gg_norm(motion->velocity), turn = gg_absf(motion->speed);
    if (!v->tool_active[tool] || (speed == 0.0f && turn == 0.0f)) {
        return 0;
    }
    if (turn > 0.0f && shape->bound_radius >= GG_UNBOUNDED) {
        return 1;
    }
    float duration = v->params.dt * (float)v->params.substeps;
    reach += 1.0001f * duration * (speed + turn * gg_part_arm(shape));
    reach += shape->kind == GG_SHAPE_GRID ? v->grids[shape->grid].spacing : 0.0f;
    gg_part_pose pose = gg_part_pose_of(shape, motion->start);
    gg_vec3 local = gg_mat_tmul(pose.rotation, gg_sub(point, pose.position));
    return gg_sdf_bound(shape, local) <= reach && gg_sdf_distance(shape, v->grids, v->samples, local) <= reach;
}

/* Notes whether a tool that moves in this step may come near a grain of a slice: its ball first, then grain by grain.
 * Such grains wake, or stay awake. item: slice of an env */
GG_FN void gg_sleep_watch_slice(const gg_view *v, int64_t e, int64_t slice) {
    const gg_env *env = &v->env[e];
    if (!gg_sleep_watches(v, e)) {
        return;
    }
    gg_slice_ball ball = gg_slice_ball_of(v, e, slice);
    int32_t disturbed = 0;
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        int lanes = gg_part_comes_near(v, e, part, ball.center, ball.radius) ? GG_LANES : 0;
        for (int lane = 0; lane < lanes; lane++) {
            int64_t slot = slice * GG_LANES + lane, at = e * v->dims.slots + slot;
            gg_vec4 x = v->position[at];
            float reach = x.w * (1.001f + 2.0f * v->params.margin) + env->cohesion_range;
            if (v->grain_id[at] < 0 || !gg_part_comes_near(v, e, part, gg_v3(x.x, x.y, x.z), reach)) {
                continue;
            }
            disturbed |= 1;
            if (v->params.grain_sleep) {
                v->quiet[e * v->dims.sleep.slots + v->grain_id[at]] = GG_NEAR_TOOL;
                disturbed |= gg_slot_asleep(v, e, slot) << 1;
            }
        }
    }
    v->slice_stats[e * v->dims.slices + slice].disturbed = disturbed;
}

/* what gg_sleep_watch_slice noted for an env, and whether a compliant tool must move */
GG_FN int gg_sleep_disturbed(const gg_view *v, int64_t e) {
    int32_t disturbed = 0;
    for (int64_t s = 0; gg_sleep_watches(v, e) && s < v->dims.slices; s++) {
        disturbed |= v->slice_stats[e * v->dims.slices + s].disturbed;
    }
    for (int64_t tool = 0; tool < v->dims.tools.compliant; tool++) {
        const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + tool];
        disturbed |= gg_tool_compliant(v, tool) && (gg_norm(motion->velocity) > 0.0f || motion->speed != 0.0f);
    }
    return disturbed;
}

/* whether an env sleeps in the step that begins; a tool that comes near ends its rest */
GG_FN int gg_sleep_decide(const gg_view *v, int64_t e, int disturbed) {
    gg_env *env = &v->env[e];
    env->rested = disturbed ? 0 : env->rested;
    return v->params.sleep && env->rested >= GG_REST_STEPS && env->dt_last == v->params.dt && !env->stats.diverged;
}

GG_FN void gg_wrenches_scale(const gg_view *v, int64_t e, double factor) {
    double *wrench = v->wrench + e * v->dims.tool_count * 6;
    for (int64_t k = 0; k < v->dims.tool_count * 6; k++) {
        wrench[k] *= factor;
    }
}

/* Opens a step in which an env sleeps: what was counted in the last substep holds, work is 0, and the wrenches become
 * sums over as many substeps as the step has. */
GG_FN void gg_sleep_open(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    gg_env_stats *stats = &env->stats;
    if (env->wrench_substeps != v->params.substeps) {
        gg_wrenches_scale(v, e, (double)v->params.substeps / env->wrench_substeps);
        env->wrench_substeps = v->params.substeps;
    }
    env->unsettled = 0;
    stats->asleep_share = 1.0f;
    stats->overlap_max = stats->overlap_max_last;
    stats->fast_count = stats->rebuild_count = stats->iteration_count = stats->growth_count = 0;
    stats->fast_tool_count = gg_tool_is_fast(&v->params, gg_tool_speed_max(v, e)) ? v->params.substeps : 0;
}

/* a few grains may still rattle where all others are at rest: one in so many */
#define GG_RESTLESS_PART 64

/* Notes how many grains were not at rest in a substep, and how many not quiet; last: it ends the step. */
GG_FN void gg_sleep_note(const gg_view *v, int64_t e, int32_t restless, int32_t moving, int last) {
    gg_env *env = &v->env[e];
    int rests = moving == 0 && (int64_t)restless * GG_RESTLESS_PART <= v->dims.grain_count;
    env->restless |= !v->params.sleep || !rests || (env->some_asleep && env->unsettled);
    env->rested = env->restless ? 0 : GG_MIN(env->rested + last, GG_REST_STEPS);
}

#endif
