/* env_params.c: gravity and air of an env. Its materials: materials.c. */
#include <string.h>

#include "../solvers/drag.h"
#include "world.h"

gg_status gg_air_check(const gg_air *air, gg_message out) {
    GG_EXPECT(out, gg_within(air->density, 0.0f, 1e5f), "air: expected a density in [0, 1e5] kg/m3, got %g",
              air->density);
    GG_EXPECT(out, gg_within(air->viscosity, 0.0f, 1e5f), "air: expected a viscosity in [0, 1e5] Pa s, got %g",
              air->viscosity);
    GG_EXPECT(out, gg_finite3(air->wind) && gg_norm2(air->wind) <= 1e12f,
              "air: expected a wind of up to 1e6 m/s, got (%g, %g, %g)", air->wind.x, air->wind.y, air->wind.z);
    return GG_OK;
}

gg_status gg_world_set_gravity(gg_world *w, const int32_t *envs, int64_t listed, const float *gravity) {
    gg_view *host;
    gg_status status = gg_envs_check(w, envs, &listed);
    if (status != GG_OK || (status = gg_finite_check(w, "gravity", gravity, listed * 3)) != GG_OK ||
        (status = gg_world_pull(w, GG_BIT(env), -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        const float *g = gravity + 3 * k;
        GG_EXPECT(gg_message_of(w), gg_absf(g[0]) <= 1e6f && gg_absf(g[1]) <= 1e6f && gg_absf(g[2]) <= 1e6f,
                  "gravity: expected at most 1e6 m/s2, got (%g, %g, %g)", g[0], g[1], g[2]);
        GG_EXPECT(gg_message_of(w), g[2] == 0.0f || !gg_is_planar(&w->view.params),
                  "gravity: expected z = 0 for planar grains, got %g", g[2]);
    }
    for (int64_t k = 0; k < listed; k++) {
        host->env[gg_env_at(envs, k)].gravity = gg_v3(gravity[3 * k], gravity[3 * k + 1], gravity[3 * k + 2]);
    }
    gg_envs_wake(host, envs, listed);
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
    gg_status status = gg_envs_check(w, envs, &listed);
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        status = gg_air_check(&air[k], gg_message_of(w));
        GG_EXPECT(gg_message_of(w), status != GG_OK || !w->view.dims.continuum.envs || !gg_air_drags(&air[k]),
                  "air: expected none around continuous matter, as it drags on single grains");
        GG_EXPECT(gg_message_of(w), status != GG_OK || !gg_is_planar(&w->view.params) || !gg_air_drags(&air[k]),
                  "air: planar grains fly without drag, expected density and viscosity 0, got %g and %g",
                  air[k].density, air[k].viscosity);
    }
    if (status != GG_OK || (status = gg_world_pull(w, GG_BIT(env), -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        host->env[gg_env_at(envs, k)].air = air[k];
    }
    gg_envs_wake(host, envs, listed);
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
