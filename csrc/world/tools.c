/* tools.c: poses of tools, and the wrenches on them. */
#include <string.h>

#include "../geometry/pose.h"
#include "world.h"

gg_status gg_world_get_tool_poses(gg_world *w, float *poses, gg_memory_space space) {
    const gg_dims *d = &w->view.dims;
    size_t width = sizeof(gg_pose) * (size_t)gg_own_tool_count(w);
    return gg_memory_copy(w, poses, width, w->view.tool_pose + GG_WALL_COUNT, sizeof(gg_pose) * (size_t)d->tool_count,
                          width, (size_t)d->env_count, space == GG_DEVICE ? GG_ON_DEVICE : GG_TO_HOST);
}

gg_status gg_world_set_tool_poses(gg_world *w, const int32_t *envs, int64_t listed, const float *poses) {
    const gg_dims *d = &w->view.dims;
    int64_t own = gg_own_tool_count(w);
    gg_view *host;
    gg_status status = gg_envs_check(w, envs, &listed);
    if (status != GG_OK || (status = gg_finite_check(w, "poses", poses, listed * own * 7)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed * own; k++) {
        gg_quat q;
        memcpy(&q, poses + k * 7 + 3, sizeof q);
        if (!(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 1e-12f)) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT,
                                 "poses: expected quaternions of length > 0, got (%g, %g, %g, %g)", q.w, q.x, q.y, q.z);
        }
    }
    if ((status = gg_world_pull(w, GG_BIT(tool_pose), -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed * own; k++) {
        gg_pose pose;
        memcpy(&pose, poses + k * 7, sizeof pose);
        pose.rotation = gg_quat_settle(pose.rotation);
        host->tool_pose[gg_env_at(envs, k / own) * d->tool_count + GG_WALL_COUNT + k % own] = pose;
    }
    gg_world_invalidate(w);
    return gg_world_push(w, GG_BIT(tool_pose), -1);
}

gg_status gg_world_get_wrenches(gg_world *w, float *tools, float *walls, gg_memory_space space) {
    size_t each = sizeof(float) * 6 * (size_t)w->view.dims.env_count;
    size_t tool_size = each * (size_t)gg_own_tool_count(w), wall_size = each * GG_WALL_COUNT;
    gg_status status = GG_OK;
    gg_access a;
    memset(&a, 0, sizeof a);
    a.duration = w->duration;
    a.wrench = gg_stage_output(w, GG_STAGING_A, tools, tool_size, space, &status);
    a.wall_wrench = gg_stage_output(w, GG_STAGING_B, walls, wall_size, space, &status);
    const gg_phase phase = GG_PHASE_read_wrenches;
    status = gg_access_run(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{tools, a.wrench, tool_size}, {walls, a.wall_wrench, wall_size}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}
