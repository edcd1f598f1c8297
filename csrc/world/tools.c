/* tools.c: poses of tools, and the wrenches on them. */
#include <string.h>

#include "../geometry/pose.h"
#include "../solvers/clump_surface.h"
#include "world.h"

int gg_pose_usable(const float pose[7]) {
    float size2 = pose[0] * pose[0] + pose[1] * pose[1] + pose[2] * pose[2];
    double length2 = 0.0;
    for (int k = 3; k < 7; k++) {
        length2 += (double)pose[k] * pose[k];
    }
    return gg_finite(size2) && length2 > 1e-8 && length2 < 1e8;
}

gg_status gg_tool_poses_check(gg_world *w, const char *name, const float *poses, const int32_t *envs, int64_t listed,
                              int dynamic) {
    int64_t own = gg_own_tool_count(w);
    for (int64_t k = 0; poses && k < listed * own; k++) {
        const float *p = poses + k * 7;
        int64_t tool = GG_WALL_COUNT + k % own;
        int skipped = dynamic ? gg_tool_carried(w, tool) : gg_tool_goes_by_itself(w, tool);
        GG_EXPECT(gg_message_of(w), skipped || gg_pose_usable(p),
                  "%s: expected finite positions and unit quaternions (qw, qx, qy, qz), got (%g, %g, %g, %g, %g, %g, "
                  "%g) for tool %d of env %d",
                  name, p[0], p[1], p[2], p[3], p[4], p[5], p[6], (int)(k % own), (int)gg_env_at(envs, k / own));
    }
    return GG_OK;
}

gg_status gg_world_get_tool_poses(gg_world *w, float *poses, gg_memory_space space) {
    const gg_dims *d = &w->view.dims;
    size_t width = sizeof(gg_pose) * (size_t)gg_own_tool_count(w);
    return gg_memory_copy(w, poses, width, w->view.tool_pose + GG_WALL_COUNT, sizeof(gg_pose) * (size_t)d->tool_count,
                          width, (size_t)d->env_count, space == GG_DEVICE ? GG_ON_DEVICE : GG_TO_HOST);
}

/* what envs_changed changes, and what a pose that is set does */
#define WOKEN (GG_BIT(env) | GG_BIT(bell_env))
static const gg_fields placed =
    GG_BIT(tool_pose) | GG_BIT(tool_body) | GG_BIT(tool_turn) | GG_BIT(tool_anchor) | GG_BIT(coupled_motion) | WOKEN;

/* Wakes the listed envs. Forces that Bell's law kept are those of the tools before: they are found anew. */
static void envs_changed(const gg_view *host, const int32_t *envs, int64_t listed) {
    gg_envs_wake(host, envs, listed);
    for (int64_t k = 0; host->dims.bell.envs && k < listed; k++) {
        host->bell_env[gg_env_at(envs, k)].known = 0;
    }
}

gg_status gg_world_set_tool_poses(gg_world *w, const int32_t *envs, int64_t listed, const float *poses) {
    const gg_dims *d = &w->view.dims;
    int64_t own = gg_own_tool_count(w);
    gg_view *host;
    gg_status status = gg_envs_check(w, envs, &listed);
    if (status != GG_OK || (status = gg_tool_poses_check(w, "poses", poses, envs, listed, 1)) != GG_OK ||
        (status = gg_world_pull(w, placed, -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed * own; k++) {
        int64_t e = gg_env_at(envs, k / own), tool = GG_WALL_COUNT + k % own;
        int carried = gg_tool_carried(w, tool);
        GG_EXPECT(
            gg_message_of(w), !carried || gg_tool_row_stays(poses + k * 7, &host->tool_pose[e * d->tool_count + tool]),
            "poses: expected NaN, or the pose that it has, for tool %d, which goes with a body: set_clumps places it",
            (int)(k % own));
    }
    for (int64_t k = 0; k < listed * own; k++) {
        gg_pose pose;
        memcpy(&pose, poses + k * 7, sizeof pose);
        pose.rotation = gg_quat_settle(pose.rotation);
        int64_t e = gg_env_at(envs, k / own), tool = GG_WALL_COUNT + k % own;
        if (gg_tool_carried(w, tool)) {
            continue; /* it goes with its clump */
        }
        host->tool_pose[e * d->tool_count + tool] = pose;
        gg_tool_place(host, e, tool);
    }
    envs_changed(host, envs, listed);
    gg_world_invalidate(w, envs, listed);
    return gg_world_push(w, placed, -1);
}

gg_status gg_world_get_tools_active(gg_world *w, int32_t *active) {
    const gg_dims *d = &w->view.dims;
    size_t width = sizeof(int32_t) * (size_t)gg_own_tool_count(w);
    return gg_memory_copy(w, active, width, w->view.tool_active + GG_WALL_COUNT,
                          sizeof(int32_t) * (size_t)d->tool_count, width, (size_t)d->env_count, GG_TO_HOST);
}

gg_status gg_world_set_tools_active(gg_world *w, const int32_t *envs, int64_t listed, const int32_t *active) {
    const gg_dims *d = &w->view.dims;
    int64_t own = gg_own_tool_count(w);
    gg_view *host;
    gg_status status = gg_envs_check(w, envs, &listed);
    if (status != GG_OK || (status = gg_world_pull(w, GG_BIT(tool_active) | WOKEN, -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed * own; k++) {
        host->tool_active[gg_env_at(envs, k / own) * d->tool_count + GG_WALL_COUNT + k % own] = active[k] != 0;
    }
    envs_changed(host, envs, listed);
    gg_world_invalidate(w, envs, listed);
    return gg_world_push(w, GG_BIT(tool_active) | WOKEN, -1);
}

gg_status gg_world_get_wrenches(gg_world *w, float *tools, float *walls, gg_memory_space space) {
    size_t each = sizeof(float) * 6 * (size_t)w->view.dims.env_count;
    size_t tool_size = each * (size_t)gg_own_tool_count(w), wall_size = each * GG_WALL_COUNT;
    gg_status status = GG_OK;
    gg_access a;
    memset(&a, 0, sizeof a);
    a.wrench = gg_stage_output(w, GG_STAGING_A, tools, tool_size, space, &status);
    a.wall_wrench = gg_stage_output(w, GG_STAGING_B, walls, wall_size, space, &status);
    const gg_phase phase = GG_PHASE_read_wrenches;
    status = gg_access_run(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{tools, a.wrench, tool_size}, {walls, a.wall_wrench, wall_size}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}
