/* access.c: what all calls share that read or set: lists of envs, and phases run with the caller's arrays. */
#include <string.h>

#include "world.h"

void gg_world_invalidate(gg_world *w, const int32_t *envs, int64_t listed) {
    const gg_dims *d = &w->view.dims;
    for (int64_t c = 0; c < d->camera_count; c++) {
        for (int64_t k = 0; k < listed; k++) {
            w->drawn[c * d->env_count + gg_env_at(envs, k)] = 0;
        }
    }
    w->stats_valid = w->unfinished = 0;
}

void gg_envs_wake(const gg_view *host, const int32_t *envs, int64_t listed) {
    for (int64_t k = 0; k < listed; k++) {
        gg_env *env = &host->env[gg_env_at(envs, k)];
        env->rested = 0;
        env->roused = env->some_asleep;
        env->drowsy = 0;
    }
}

gg_status gg_env_check(gg_world *w, int64_t env) {
    GG_EXPECT(gg_message_of(w), env >= 0 && env < w->view.dims.env_count, "env: expected an index in [0, %d), got %lld",
              (int)w->view.dims.env_count, (long long)env);
    return GG_OK;
}

gg_status gg_envs_check(gg_world *w, const int32_t *envs, int64_t *listed) {
    int64_t env_count = w->view.dims.env_count;
    if (!envs) {
        *listed = env_count;
    }
    for (int64_t k = 0; envs && k < *listed; k++) {
        GG_EXPECT(gg_message_of(w), envs[k] >= 0 && envs[k] < env_count, "envs: expected indices in [0, %d), got %d",
                  (int)env_count, (int)envs[k]);
    }
    return GG_OK;
}

gg_status gg_envs_list(gg_world *w, const int32_t *envs, int64_t *listed) {
    gg_status status = gg_envs_check(w, envs, listed);
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        w->listed[e] = -1;
    }
    for (int64_t k = 0; status == GG_OK && k < *listed; k++) {
        w->listed[gg_env_at(envs, k)] = k;
    }
    return status;
}

gg_status gg_finite_check(gg_world *w, const char *name, const float *values, int64_t count) {
    for (int64_t k = 0; values && k < count; k++) {
        GG_EXPECT(gg_message_of(w), gg_finite(values[k]), "%s: expected finite values, got %g at index %lld", name,
                  values[k], (long long)k);
    }
    return GG_OK;
}

gg_access gg_access_of_envs(gg_world *w, gg_status *status) {
    gg_access access;
    memset(&access, 0, sizeof access);
    access.listed =
        gg_stage_input(w, GG_STAGING_LISTED, w->listed, sizeof(int64_t) * (size_t)w->view.dims.env_count, status);
    return access;
}

gg_status gg_access_run(gg_world *w, const gg_access *access, const gg_phase *phases, int count, gg_status status) {
    w->view.access = *access;
    for (int k = 0; status == GG_OK && k < count; k++) {
        status = gg_world_run(w, phases[k]);
    }
    memset(&w->view.access, 0, sizeof w->view.access);
    return status;
}
