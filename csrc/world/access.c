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
    info->kernel = w->kernel.name;
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
    w->solver = *solver;
    gg_params_from_solver(w);
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        w->view.env[e].rebuild = 1;
    }
    return GG_OK;
}

gg_status gg_world_set_kernel(gg_world *w, const char *name) {
    gg_kernel kernel = gg_kernel_select(name);
    if (!kernel.iterate) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "kernel: \"%s\" is not in this build or not for this processor",
                             name);
    }
    w->kernel = kernel;
    return GG_OK;
}

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

gg_status gg_world_get_grains(gg_world *w, const gg_grains *out) {
    const gg_view *v = &w->view;
    int64_t n = v->dims.grain_count;
    for (int64_t e = 0; e < v->dims.env_count; e++) {
        for (int64_t id = 0; id < n; id++) {
            int64_t slot = v->slot_of[e * v->dims.slots + id], at = e * v->dims.slots + slot, to = e * n + id;
            const float *row = v->row_a + (e * v->dims.rows + slot) * GG_ROW;
            gg_vec4 x = v->position[at];
            if (out->position) {
                out->position[3 * to] = x.x;
                out->position[3 * to + 1] = x.y;
                out->position[3 * to + 2] = x.z;
            }
            for (int k = 0; k < 3; k++) {
                if (out->velocity) {
                    out->velocity[3 * to + k] = row[k];
                }
                if (out->angular_velocity) {
                    out->angular_velocity[3 * to + k] = row[4 + k] / x.w;
                }
            }
            if (out->radius) {
                out->radius[to] = x.w;
            }
            if (out->material) {
                out->material[to] = v->material[at];
            }
        }
    }
    return GG_OK;
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

gg_status gg_world_set_grains(gg_world *w, const int32_t *envs, int64_t listed, const gg_grains *in) {
    const gg_view *v = &w->view;
    int64_t n = v->dims.grain_count;
    gg_status status = check_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "positions", in->position, listed * n * 3)) != GG_OK ||
        (status = check_finite(w, "velocities", in->velocity, listed * n * 3)) != GG_OK ||
        (status = check_finite(w, "angular_velocities", in->angular_velocity, listed * n * 3)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        int64_t e = listed_env(w, envs, k);
        for (int64_t id = 0; id < n; id++) {
            int64_t slot = v->slot_of[e * v->dims.slots + id], at = e * v->dims.slots + slot;
            int64_t from = (k * n + id) * 3;
            float *row = v->row_a + (e * v->dims.rows + slot) * GG_ROW;
            if (in->position) {
                v->position[at].x = in->position[from];
                v->position[at].y = in->position[from + 1];
                v->position[at].z = in->position[from + 2];
                v->built_position[at] = v->position[at];
            }
            for (int c = 0; c < 3; c++) {
                if (in->velocity) {
                    row[c] = in->velocity[from + c];
                    v->kick_rest[(e * v->dims.slots + id) * 3 + c] = 0.0f;
                }
                if (in->angular_velocity) {
                    row[4 + c] = in->angular_velocity[from + c] * v->position[at].w;
                }
            }
        }
        v->env[e].rebuild = 1;
        v->env[e].dt_last = 0.0f;
        v->env[e].stats.diverged = 0;
        v->env[e].predicted = 0;
    }
    gg_world_moved(w);
    return GG_OK;
}

static void turn3(float *array, int64_t at, int64_t stride, float sine, float cosine) {
    float x = array[at], y = array[at + stride];
    array[at] = cosine * x - sine * y;
    array[at + stride] = sine * x + cosine * y;
}

static void place_env(const gg_view *v, int64_t e, const float *shift, float yaw) {
    float sine, cosine;
    gg_sincos(yaw, &sine, &cosine);
    for (int64_t i = 0; i < v->dims.grain_count; i++) {
        int64_t at = e * v->dims.slots + i;
        gg_vec4 *x = &v->position[at];
        float *row = v->row_a + (e * v->dims.rows + i) * GG_ROW;
        float px = cosine * x->x - sine * x->y, py = sine * x->x + cosine * x->y;
        x->x = px + shift[0];
        x->y = py + shift[1];
        x->z += shift[2];
        v->built_position[at] = *x;
        turn3(row, 0, 1, sine, cosine);
        turn3(row, 4, 1, sine, cosine);
        turn3(v->kick_rest, (e * v->dims.slots + v->grain_id[at]) * 3, 1, sine, cosine);
        int64_t lane = v->contact_first[at] % GG_LANES, first = v->contact_first[at] / GG_LANES;
        float *impulse = v->env[e].impulse_buffer ? v->impulse_b : v->impulse_a;
        float *roll = v->env[e].impulse_buffer ? v->roll_b : v->roll_a;
        for (int64_t k = 0; v->env[e].dt_last > 0.0f && k < v->contact_count[at]; k++) {
            turn3(impulse, (e * v->dims.contact_rows + first + k) * GG_LANES * 3 + lane, GG_LANES, sine, cosine);
            if (v->dims.roll_rows) {
                turn3(roll, (e * v->dims.roll_rows + first + k) * GG_LANES * 3 + lane, GG_LANES, sine, cosine);
            }
        }
    }
    v->env[e].rebuild = 1;
}

gg_status gg_world_place_grains(gg_world *w, const int32_t *envs, int64_t listed, const float *translation,
                                const float *yaw) {
    gg_status status = check_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "translation", translation, listed * 3)) != GG_OK ||
        (status = check_finite(w, "yaw", yaw, listed)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        place_env(&w->view, listed_env(w, envs, k), translation + 3 * k, yaw[k]);
    }
    gg_world_moved(w);
    return GG_OK;
}

gg_status gg_world_set_gravity(gg_world *w, const int32_t *envs, int64_t listed, const float *gravity) {
    gg_status status = check_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "gravity", gravity, listed * 3)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        w->view.env[listed_env(w, envs, k)].gravity = gg_v3(gravity[3 * k], gravity[3 * k + 1], gravity[3 * k + 2]);
    }
    return GG_OK;
}

gg_status gg_world_get_gravity(gg_world *w, float *gravity) {
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        memcpy(gravity + 3 * e, &w->view.env[e].gravity, 3 * sizeof(float));
    }
    return GG_OK;
}

gg_status gg_world_set_air(gg_world *w, const int32_t *envs, int64_t listed, const gg_air *air) {
    gg_status status = check_envs(w, envs, &listed);
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = gg_air_check(w, &air[k]);
    }
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        w->view.env[listed_env(w, envs, k)].air = air[k];
    }
    return status;
}

gg_status gg_world_get_air(gg_world *w, gg_air *air) {
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        air[e] = w->view.env[e].air;
    }
    return GG_OK;
}

gg_status gg_world_set_materials(gg_world *w, const int32_t *envs, int64_t listed, const gg_pair *pair,
                                 const float *density) {
    gg_status status = check_envs(w, envs, &listed);
    int64_t m = w->view.dims.material_count;
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = gg_pairs_check(w, pair ? pair + k * m * m : NULL, density ? density + k * m : NULL, m,
                                w->view.params.radius_min);
    }
    if (status != GG_OK) {
        return status;
    }
    int32_t rolling = 0, extra = 0;
    gg_dims dims = w->view.dims;
    gg_world_laws(w, pair, pair ? listed * m * m : 0, &rolling, &extra);
    dims.roll_rows = dims.roll_rows || rolling ? dims.contact_rows : 0;
    dims.extra_rows = dims.extra_rows || extra ? dims.contact_rows : 0;
    /* room first: nothing changes where there is none */
    if (memcmp(&dims, &w->view.dims, sizeof dims) && (status = gg_arena_resize(w, dims)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        int64_t e = listed_env(w, envs, k);
        if (pair) {
            memcpy(w->view.pair + e * m * m, pair + k * m * m, sizeof(gg_pair) * (size_t)(m * m));
        }
        if (density) {
            memcpy(w->view.density + e * m, density + k * m, sizeof(float) * (size_t)m);
            gg_world_weigh(w, e);
        }
    }
    gg_params_from_materials(w);
    return GG_OK;
}

gg_status gg_world_get_materials(gg_world *w, gg_pair *pair, float *density) {
    const gg_dims *d = &w->view.dims;
    size_t m = (size_t)d->material_count, envs = (size_t)d->env_count;
    if (pair) {
        memcpy(pair, w->view.pair, sizeof(gg_pair) * m * m * envs);
    }
    if (density) {
        memcpy(density, w->view.density, sizeof(float) * m * envs);
    }
    return GG_OK;
}

gg_status gg_world_get_tool_poses(gg_world *w, float *poses) {
    const gg_dims *d = &w->view.dims;
    int64_t own = gg_own_tool_count(w);
    for (int64_t e = 0; e < d->env_count; e++) {
        for (int64_t t = 0; t < own; t++) {
            const gg_pose *p = &w->view.tool_pose[e * d->tool_count + GG_WALL_COUNT + t];
            memcpy(poses + (e * own + t) * 7, p, 7 * sizeof(float));
        }
    }
    return GG_OK;
}

gg_status gg_world_set_tool_poses(gg_world *w, const int32_t *envs, int64_t listed, const float *poses) {
    const gg_dims *d = &w->view.dims;
    int64_t own = gg_own_tool_count(w);
    gg_status status = check_envs(w, envs, &listed);
    if (status != GG_OK || (status = check_finite(w, "poses", poses, listed * own * 7)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed * own; k++) {
        gg_pose pose;
        memcpy(&pose, poses + k * 7, sizeof pose);
        gg_quat q = pose.rotation;
        if (!(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 1e-12f)) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT,
                                 "poses: expected quaternions of length > 0, got (%g, %g, %g, %g)", q.w, q.x, q.y, q.z);
        }
        pose.rotation = gg_quat_settle(q);
        w->view.tool_pose[listed_env(w, envs, k / own) * d->tool_count + GG_WALL_COUNT + k % own] = pose;
    }
    gg_world_moved(w);
    return GG_OK;
}

gg_status gg_world_get_wrenches(gg_world *w, float *wrenches) {
    int64_t count = w->view.dims.env_count * w->view.dims.tool_count * 6;
    for (int64_t k = 0; k < count; k++) {
        wrenches[k] = w->duration > 0.0 ? (float)(w->view.wrench[k] / w->duration) : 0.0f;
    }
    return GG_OK;
}

gg_status gg_world_get_stats(gg_world *w, gg_env_stats *stats) {
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        stats[e] = w->view.env[e].stats;
    }
    return GG_OK;
}

gg_status gg_world_picture(gg_world *w, int64_t env, const gg_picture *picture, uint8_t *rgb) {
    if (env < 0 || env >= w->view.dims.env_count) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "env: expected an index in [0, %d), got %lld",
                             (int)w->view.dims.env_count, (long long)env);
    }
    gg_picture own = *picture;
    own.camera.tool += own.camera.tool >= 0 ? GG_WALL_COUNT : 0;
    gg_status status = gg_picture_check(&w->view, env, &own, w->message, sizeof w->message);
    if (status == GG_OK && gg_picture_render(&w->view, env, &own, w->thread_count, rgb) != GG_OK) {
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
    free(w->seconds);
    w->seconds = fresh;
    return GG_OK;
}
