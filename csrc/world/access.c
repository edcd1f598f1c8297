/* access.c: reading and setting what a world holds, in order of grain ids and in the caller's units. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../sensors/picture.h"
#include "world.h"

void gg_world_get_info(const gg_world *w, gg_world_info *info) {
    memset(info, 0, sizeof *info);
    info->env_count = w->view.dims.env_count;
    info->grain_count = w->view.dims.grain_count;
    info->tool_count = gg_own_tool_count(w);
    info->camera_count = w->view.dims.camera_count;
    info->material_count = w->view.dims.material_count;
    info->memory = (int64_t)w->arena_size;
    info->thread_count = w->thread_count;
    info->kernel = w->cuda ? gg_cuda_kernel(w->cuda) : w->kernel.name;
    info->gpu = w->cuda ? gg_cuda_device(w->cuda) + 1 : 0;
    info->waits = w->cuda ? gg_cuda_waits(w->cuda) : 0;
    info->solver = w->solver;
    info->solver.relaxation = w->view.params.relaxation;
    info->solver.relaxation_sum = w->view.params.relaxation_sum;
}

gg_status gg_world_set_solver(gg_world *w, const gg_solver *solver) {
    gg_status status = gg_world_check_solver(w, solver);
    if (status != GG_OK) {
        return status;
    }
    if (solver->spin != w->solver.spin || solver->mode != w->solver.mode ||
        solver->broad_phase != w->solver.broad_phase) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT,
                             "solver: spin, mode and broad_phase are fixed when a world is built; build another");
    }
    if (solver->broad_phase == GG_BROAD_LINKED_HASH && solver->hash_ratio != w->solver.hash_ratio) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT,
                             "solver.hash_ratio: expected %g, with which the world was built, got %g",
                             w->solver.hash_ratio, solver->hash_ratio);
    }
    gg_view *host;
    if ((status = gg_world_pull(w, GG_BIT(env), -1, &host)) != GG_OK) {
        return status;
    }
    w->solver = *solver;
    gg_params_from_solver(w);
    for (int64_t e = 0; e < host->dims.env_count; e++) {
        host->env[e].rebuild = 1;
    }
    if (w->cuda) {
        status = gg_memory_copy(w, (void *)(uintptr_t)w->view.beta, w->scene.beta_size, w->scene.beta,
                                w->scene.beta_size, w->scene.beta_size, 1, GG_TO_DEVICE);
    }
    return status == GG_OK ? gg_world_push(w, GG_BIT(env), -1) : status;
}

gg_status gg_world_set_kernel(gg_world *w, const char *name) {
    if (w->cuda) {
        gg_status status = gg_cuda_set_kernel(w->cuda, name);
        return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
    }
    gg_kernel kernel = gg_kernel_select(name);
    if (!kernel.iterate) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "kernel: \"%s\" is not in this build or not for this processor",
                             name);
    }
    w->kernel = kernel;
    return GG_OK;
}

gg_status gg_world_set_stream(gg_world *w, uintptr_t stream) {
    if (!w->cuda) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "stream: this world runs on the CPU");
    }
    gg_status status = gg_cuda_set_stream(w->cuda, stream);
    return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
}

uintptr_t gg_world_get_stream(const gg_world *w) { return w->cuda ? gg_cuda_stream(w->cuda) : 0; }

/* index of the k-th listed env, -1 where it is out of range */
static int64_t listed_env(const gg_world *w, const int32_t *envs, int64_t k) {
    int64_t e = envs ? envs[k] : k;
    return e >= 0 && e < w->view.dims.env_count ? e : -1;
}

static gg_status check_envs(gg_world *w, const int32_t *envs, int64_t *listed) {
    if (!envs) {
        *listed = w->view.dims.env_count;
    }
    for (int64_t k = 0; k < *listed; k++) {
        if (listed_env(w, envs, k) < 0) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT, "envs: expected indices in [0, %d), got %d",
                                 (int)w->view.dims.env_count, (int)envs[k]);
        }
    }
    return GG_OK;
}

gg_status gg_world_list_envs(gg_world *w, const int32_t *envs, int64_t *listed) {
    gg_status status = check_envs(w, envs, listed);
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        w->listed[e] = -1;
    }
    for (int64_t k = 0; status == GG_OK && k < *listed; k++) {
        w->listed[listed_env(w, envs, k)] = k;
    }
    return status;
}

/* the list where phases can read it */
static gg_access access_of(gg_world *w, gg_status *status) {
    gg_access access;
    memset(&access, 0, sizeof access);
    access.listed =
        gg_stage_input(w, GG_STAGING_LISTED, w->listed, sizeof(int64_t) * (size_t)w->view.dims.env_count, status);
    return access;
}

/* runs phases with the caller's arrays in space; what they were is forgotten afterwards */
static gg_status run_with(gg_world *w, const gg_access *access, const gg_phase *phases, int count, gg_status status) {
    w->view.access = *access;
    for (int k = 0; status == GG_OK && k < count; k++) {
        status = gg_world_run(w, phases[k]);
    }
    memset(&w->view.access, 0, sizeof w->view.access);
    return status;
}

static gg_status check_angles(gg_world *w, const float *angle) {
    return !angle || w->view.params.planar
               ? GG_OK
               : gg_world_fail(w, GG_ERROR_ARGUMENT, "angle: expected a world of planar grains; spheres have none");
}

gg_status gg_world_get_grains(gg_world *w, const gg_grains *out, gg_memory_space space) {
    size_t grains = (size_t)(w->view.dims.env_count * w->view.dims.grain_count), floats = grains * sizeof(float);
    gg_status status = check_angles(w, out->angle);
    gg_access a;
    memset(&a, 0, sizeof a);
    a.position = gg_stage_output(w, GG_STAGING_A, out->position, 3 * floats, space, &status);
    a.velocity = gg_stage_output(w, GG_STAGING_B, out->velocity, 3 * floats, space, &status);
    a.angular_velocity = gg_stage_output(w, GG_STAGING_C, out->angular_velocity, 3 * floats, space, &status);
    a.radius = gg_stage_output(w, GG_STAGING_D, out->radius, floats, space, &status);
    a.angle = gg_stage_output(w, GG_STAGING_F, out->angle, floats, space, &status);
    a.material = gg_stage_output(w, GG_STAGING_E, out->material, grains * sizeof(int32_t), space, &status);
    const gg_phase phase = GG_PHASE_read_grains;
    status = run_with(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{out->position, a.position, 3 * floats},
                                   {out->velocity, a.velocity, 3 * floats},
                                   {out->angular_velocity, a.angular_velocity, 3 * floats},
                                   {out->radius, a.radius, floats},
                                   {out->angle, a.angle, floats},
                                   {out->material, a.material, grains * sizeof(int32_t)}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 6) : status;
}

static gg_status check_finite(gg_world *w, const char *name, const float *values, int64_t count) {
    for (int64_t k = 0; values && k < count; k++) {
        if (!gg_finite(values[k])) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT, "%s: expected finite values, got %g at index %lld", name,
                                 values[k], (long long)k);
        }
    }
    return GG_OK;
}

/* planar grains stay in their plane */
static gg_status check_planar(gg_world *w, const gg_grains *in, int64_t count) {
    const char *names[] = {"positions", "velocities"};
    const float *arrays[] = {in->position, in->velocity};
    for (int a = 0; w->view.params.planar && a < 2; a++) {
        for (int64_t k = 0; arrays[a] && k < count; k++) {
            if (arrays[a][3 * k + 2] != 0.0f) {
                return gg_world_fail(w, GG_ERROR_ARGUMENT, "%s: expected z = 0 for planar grains, got %g at grain %lld",
                                     names[a], arrays[a][3 * k + 2], (long long)k);
            }
        }
    }
    return GG_OK;
}

gg_status gg_world_set_grains(gg_world *w, const int32_t *envs, int64_t listed, const gg_grains *in) {
    int64_t n = w->view.dims.grain_count;
    gg_status status = gg_world_list_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "positions", in->position, listed * n * 3)) != GG_OK ||
        (status = check_finite(w, "velocities", in->velocity, listed * n * 3)) != GG_OK ||
        (status = check_finite(w, "angular_velocities", in->angular_velocity, listed * n * 3)) != GG_OK ||
        (status = check_angles(w, in->angle)) != GG_OK ||
        (status = check_finite(w, "angles", in->angle, listed * n)) != GG_OK ||
        (status = check_planar(w, in, listed * n)) != GG_OK) {
        return status;
    }
    size_t size = sizeof(float) * 3 * (size_t)(listed * n);
    gg_access a = access_of(w, &status);
    /* phases only read them: gg_access_write_grain */
    a.position = (float *)(uintptr_t)gg_stage_input(w, GG_STAGING_A, in->position, size, &status);
    a.velocity = (float *)(uintptr_t)gg_stage_input(w, GG_STAGING_B, in->velocity, size, &status);
    a.angular_velocity = (float *)(uintptr_t)gg_stage_input(w, GG_STAGING_C, in->angular_velocity, size, &status);
    a.angle = (float *)(uintptr_t)gg_stage_input(w, GG_STAGING_D, in->angle, size / 3, &status);
    const gg_phase phases[] = {GG_PHASE_write_grains, GG_PHASE_invalidate};
    gg_world_invalidate(w);
    return run_with(w, &a, phases, 2, status);
}

gg_status gg_world_transform_grains(gg_world *w, const int32_t *envs, int64_t listed, const float *translation,
                                    const float *yaw) {
    gg_status status = gg_world_list_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "translation", translation, listed * 3)) != GG_OK ||
        (status = check_finite(w, "yaw", yaw, listed)) != GG_OK) {
        return status;
    }
    size_t size = sizeof(float) * 4 * (size_t)(listed + 1);
    float *move = malloc(size);
    if (!move) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: transform_grains");
    }
    for (int64_t k = 0; k < listed; k++) {
        memcpy(move + 4 * k, translation + 3 * k, 3 * sizeof(float));
        move[4 * k + 3] = yaw[k];
    }
    gg_access a = access_of(w, &status);
    a.move = gg_stage_input(w, GG_STAGING_A, move, size, &status);
    const gg_phase phases[] = {GG_PHASE_transform_grains, GG_PHASE_invalidate};
    gg_world_invalidate(w);
    status = run_with(w, &a, phases, 2, status);
    free(move);
    return status;
}

gg_status gg_world_set_gravity(gg_world *w, const int32_t *envs, int64_t listed, const float *gravity) {
    gg_view *host;
    gg_status status = check_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "gravity", gravity, listed * 3)) != GG_OK ||
        (status = gg_world_pull(w, GG_BIT(env), -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        host->env[listed_env(w, envs, k)].gravity = gg_v3(gravity[3 * k], gravity[3 * k + 1], gravity[3 * k + 2]);
    }
    return gg_world_push(w, GG_BIT(env), -1);
}

gg_status gg_world_get_gravity(gg_world *w, float *gravity) {
    gg_view *host;
    gg_status status = gg_world_pull(w, GG_BIT(env), -1, &host);
    for (int64_t e = 0; status == GG_OK && e < w->view.dims.env_count; e++) {
        memcpy(gravity + 3 * e, &host->env[e].gravity, 3 * sizeof(float));
    }
    return status;
}

gg_status gg_world_set_air(gg_world *w, const int32_t *envs, int64_t listed, const gg_air *air) {
    gg_view *host;
    gg_status status = check_envs(w, envs, &listed);
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = gg_air_check(w, &air[k]);
    }
    if (status != GG_OK || (status = gg_world_pull(w, GG_BIT(env), -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        host->env[listed_env(w, envs, k)].air = air[k];
    }
    return gg_world_push(w, GG_BIT(env), -1);
}

gg_status gg_world_get_air(gg_world *w, gg_air *air) {
    gg_view *host;
    gg_status status = gg_world_pull(w, GG_BIT(env), -1, &host);
    for (int64_t e = 0; status == GG_OK && e < w->view.dims.env_count; e++) {
        air[e] = host->env[e].air;
    }
    return status;
}

gg_status gg_world_set_materials(gg_world *w, const int32_t *envs, int64_t listed, const gg_pair *pair,
                                 const float *density) {
    gg_status status = gg_world_list_envs(w, envs, &listed);
    int64_t m = w->view.dims.material_count;
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = gg_pairs_check(w, pair ? pair + k * m * m : NULL, density ? density + k * m : NULL, m,
                                w->view.params.radius_min);
    }
    gg_view *host;
    uint64_t fields = GG_BIT(pair) | GG_BIT(density);
    gg_dims dims = w->view.dims;
    if (status == GG_OK && pair && gg_dims_need(w, &dims, pair, listed * m * m)) {
        /* room first: nothing changes where there is none */
        status = gg_arena_resize(w, dims);
    }
    if (status != GG_OK || (status = gg_world_pull(w, fields, -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        int64_t e = listed_env(w, envs, k);
        if (pair) {
            memcpy(host->pair + e * m * m, pair + k * m * m, sizeof(gg_pair) * (size_t)(m * m));
        }
        if (density) {
            memcpy(host->density + e * m, density + k * m, sizeof(float) * (size_t)m);
        }
    }
    status = gg_world_push(w, fields, -1);
    if (density) {
        gg_access a = access_of(w, &status);
        const gg_phase phase = GG_PHASE_set_masses;
        status = run_with(w, &a, &phase, 1, status);
    }
    return status == GG_OK ? gg_params_from_materials(w) : status;
}

gg_status gg_world_get_materials(gg_world *w, gg_pair *pair, float *density) {
    const gg_dims *d = &w->view.dims;
    size_t m = (size_t)d->material_count, envs = (size_t)d->env_count;
    gg_view *host;
    gg_status status = gg_world_pull(w, GG_BIT(pair) | GG_BIT(density), -1, &host);
    if (status == GG_OK && pair) {
        memcpy(pair, host->pair, sizeof(gg_pair) * m * m * envs);
    }
    if (status == GG_OK && density) {
        memcpy(density, host->density, sizeof(float) * m * envs);
    }
    return status;
}

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
    gg_status status = check_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "poses", poses, listed * own * 7)) != GG_OK) {
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
        host->tool_pose[listed_env(w, envs, k / own) * d->tool_count + GG_WALL_COUNT + k % own] = pose;
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
    status = run_with(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{tools, a.wrench, tool_size}, {walls, a.wall_wrench, wall_size}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}

gg_status gg_world_box_stats(gg_world *w, const float *boxes, int64_t box_count, int64_t *counts, float *mean_distances,
                             gg_memory_space space) {
    int64_t all = w->view.dims.env_count * box_count;
    for (int64_t b = 0; b < all; b++) {
        const float *box = boxes + b * 6;
        for (int k = 0; k < 3; k++) {
            if (!(box[k] <= box[k + 3]) || !gg_finite(box[k]) || !gg_finite(box[k + 3])) {
                return gg_world_fail(w, GG_ERROR_ARGUMENT,
                                     "box: expected finite lower <= upper, got [%g, %g] on axis %d of box %lld of env "
                                     "%lld",
                                     box[k], box[k + 3], k, (long long)(b % box_count), (long long)(b / box_count));
            }
        }
    }
    size_t sums = (size_t)all;
    gg_status status = GG_OK;
    gg_access a;
    memset(&a, 0, sizeof a);
    a.box_count = box_count;
    a.boxes = gg_stage_input(w, GG_STAGING_BOXES, boxes, sizeof(float) * 6 * sums, &status);
    a.box_grains = gg_stage_output(w, GG_STAGING_A, counts, sizeof(int64_t) * sums, space, &status);
    a.box_distance = gg_stage_output(w, GG_STAGING_B, mean_distances, sizeof(float) * sums, space, &status);
    w->view.access = a;
    for (int32_t k = 0; status == GG_OK && k < box_count; k++) {
        status = gg_world_run_pass(w, GG_PHASE_sum_boxes, k);
        status = status == GG_OK ? gg_world_run_pass(w, GG_PHASE_read_boxes, k) : status;
    }
    memset(&w->view.access, 0, sizeof w->view.access);
    const gg_copy_run outputs[] = {{counts, a.box_grains, sizeof(int64_t) * sums},
                                   {mean_distances, a.box_distance, sizeof(float) * sums}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}

/* counts grains as `a` says into (env_count, tally_bins) */
static gg_status tally(gg_world *w, gg_access *a, int64_t *counts, gg_memory_space space, gg_status status) {
    size_t size = sizeof(int64_t) * (size_t)(w->view.dims.env_count * a->tally_bins);
    a->tally = gg_stage_output(w, GG_STAGING_A, counts, size, space, &status);
    const gg_phase phases[] = {GG_PHASE_clear_tally, GG_PHASE_tally};
    status = run_with(w, a, phases, 2, status);
    const gg_copy_run gift = {counts, a->tally, size};
    return status == GG_OK ? gg_fetch_outputs(w, &gift, 1) : status;
}

gg_status gg_world_count_boxes(gg_world *w, const float *boxes, int64_t box_count, int64_t *counts,
                               gg_memory_space space) {
    int64_t total = w->view.dims.env_count * box_count;
    gg_status status = check_finite(w, "boxes", boxes, total * GG_TALLY_BOX);
    for (int64_t k = 0; status == GG_OK && k < total; k++) {
        const float *box = boxes + k * GG_TALLY_BOX;
        float square = box[3] * box[3] + box[4] * box[4] + box[5] * box[5] + box[6] * box[6];
        if (!(gg_absf(square - 1.0f) < 1e-3f) || box[7] < 0.0f || box[8] < 0.0f || box[9] < 0.0f) {
            status = gg_world_fail(w, GG_ERROR_ARGUMENT,
                                   "boxes: expected unit quaternions and half sizes >= 0, got a quaternion of length^2 "
                                   "%g and half sizes %g %g %g",
                                   square, box[7], box[8], box[9]);
        }
    }
    gg_access a;
    memset(&a, 0, sizeof a);
    a.tally_kind = GG_TALLY_BOXES;
    a.tally_bins = a.tally_boxes = box_count;
    a.tally_box = gg_stage_input(w, GG_STAGING_BOXES, boxes, sizeof(float) * (size_t)(total * GG_TALLY_BOX), &status);
    return tally(w, &a, counts, space, status);
}

/* a grid of `axes` axes between its corners */
static gg_status grid_of(gg_world *w, const float *lower, const float *upper, const int32_t *shape, int axes,
                         gg_access *a) {
    memset(a, 0, sizeof *a);
    a->tally_bins = 1;
    for (int k = 0; k < axes; k++) {
        if (!gg_finite(lower[k]) || !gg_finite(upper[k]) || !(lower[k] < upper[k])) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT,
                                 "lower, upper: expected finite lower < upper, got %g, %g on axis %d", lower[k],
                                 upper[k], k);
        }
        if (shape[k] < 1 || shape[k] > GG_GRID_LIMIT / a->tally_bins) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT, "shape: expected 1 to %d cells in all, got %d on axis %d",
                                 GG_GRID_LIMIT, (int)shape[k], k);
        }
        a->tally_grid.lower[k] = lower[k];
        a->tally_grid.shape[k] = shape[k];
        a->tally_grid.per_length[k] = (float)shape[k] / (upper[k] - lower[k]);
        a->tally_bins *= shape[k];
    }
    return GG_OK;
}

gg_status gg_world_count_cells(gg_world *w, const float *lower, const float *upper, const int32_t *shape,
                               const uint8_t *labels, int64_t *counts, gg_memory_space space) {
    gg_access a;
    gg_status status = grid_of(w, lower, upper, shape, 3, &a);
    a.tally_kind = GG_TALLY_CELLS;
    a.tally_bins *= labels ? 2 : 1;
    size_t grains = (size_t)(w->view.dims.env_count * w->view.dims.grain_count);
    a.tally_label = gg_stage_input(w, GG_STAGING_B, labels, grains, &status);
    return tally(w, &a, counts, space, status);
}

gg_status gg_world_count_columns(gg_world *w, const float *lower, const float *upper, const int32_t *shape,
                                 int64_t *counts, gg_memory_space space) {
    gg_access a;
    gg_status status = grid_of(w, lower, upper, shape, 2, &a);
    a.tally_kind = GG_TALLY_COLUMNS;
    return tally(w, &a, counts, space, status);
}

/* the camera, with its image up to date */
static gg_status see(gg_world *w, int32_t camera) {
    if (camera < 0 || camera >= w->view.dims.camera_count) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "camera: expected an index in [0, %d), got %d",
                             (int)w->view.dims.camera_count, (int)camera);
    }
    gg_status status = w->depth_valid ? GG_OK : gg_world_run(w, GG_PHASE_render_depth);
    w->depth_valid = status == GG_OK;
    return status;
}

gg_status gg_world_depth(gg_world *w, int32_t camera, float *depth, gg_memory_space space) {
    const gg_dims *d = &w->view.dims;
    gg_status status = see(w, camera);
    if (status != GG_OK) {
        return status;
    }
    const gg_camera *c = &w->scene.cameras[camera];
    size_t width = sizeof(float) * (size_t)c->height * (size_t)c->width;
    return gg_memory_copy(w, depth, width, w->view.depth + c->first_pixel, sizeof(float) * (size_t)d->pixels, width,
                          (size_t)d->env_count, space == GG_DEVICE ? GG_ON_DEVICE : GG_TO_HOST);
}

gg_status gg_world_depth_image(gg_world *w, int32_t camera, double near_depth, double far_depth, float *metres,
                               uint8_t *bytes, gg_memory_space space) {
    gg_access a;
    memset(&a, 0, sizeof a);
    a.depth_near = (float)near_depth;
    a.depth_far = (float)far_depth;
    a.depth_span = (float)(far_depth - near_depth);
    if (!gg_finite(a.depth_near) || !gg_finite(a.depth_far) || !gg_finite(a.depth_span) || !(a.depth_span > 0.0f)) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "limits: expected finite near < far [m], got %g and %g", near_depth,
                             far_depth);
    }
    gg_status status = see(w, camera);
    if (status != GG_OK) {
        return status;
    }
    const gg_camera *c = &w->scene.cameras[camera];
    a.pixel_first = c->first_pixel;
    a.pixel_count = (int64_t)c->height * c->width;
    size_t pixels = (size_t)(a.pixel_count * w->view.dims.env_count);
    a.metres = gg_stage_output(w, GG_STAGING_A, metres, pixels * sizeof(float), space, &status);
    a.bytes = gg_stage_output(w, GG_STAGING_B, bytes, pixels, space, &status);
    const gg_phase phase = GG_PHASE_read_depth;
    status = run_with(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{metres, a.metres, pixels * sizeof(float)}, {bytes, a.bytes, pixels}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}

gg_status gg_world_get_stats(gg_world *w, gg_env_stats *stats) {
    if (w->stats_valid) {
        memcpy(stats, gg_cuda_stats(w->cuda), sizeof *stats * (size_t)w->view.dims.env_count);
        return GG_OK;
    }
    return gg_memory_copy(w, stats, sizeof *stats, &w->view.env->stats, sizeof(gg_env), sizeof *stats,
                          (size_t)w->view.dims.env_count, GG_TO_HOST);
}

gg_status gg_world_picture(gg_world *w, int64_t env, const gg_picture *picture, uint8_t *rgb) {
    if (env < 0 || env >= w->view.dims.env_count) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "env: expected an index in [0, %d), got %lld",
                             (int)w->view.dims.env_count, (long long)env);
    }
    gg_picture own = *picture;
    own.camera.tool += own.camera.tool >= 0 ? GG_WALL_COUNT : 0;
    gg_view *host;
    gg_status status = gg_world_pull(
        w, GG_BIT(position) | GG_BIT(grain_id) | GG_BIT(slot_of) | GG_BIT(tool_pose) | GG_BIT(angle) | GG_BIT(material),
        env, &host);
    if (status == GG_OK) {
        status = gg_picture_check(host, env, &own, w->message, sizeof w->message);
    }
    if (status == GG_OK && gg_picture_render(host, env, &own, w->thread_count, rgb) != GG_OK) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: picture");
    }
    return status;
}

gg_status gg_world_profile(gg_world *w, int32_t enable, double *seconds) {
    if (seconds) {
        for (int k = 0; k < GG_PHASE_COUNT; k++) {
            seconds[k] = w->seconds ? w->seconds[k] : 0.0;
        }
    }
    double *fresh = enable ? calloc(GG_PHASE_COUNT, sizeof(double)) : NULL;
    if (enable && !fresh) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: profile");
    }
    if (w->cuda) {
        gg_cuda_profile(w->cuda, fresh);
    }
    free(w->seconds);
    w->seconds = fresh;
    return GG_OK;
}
