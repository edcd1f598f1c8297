/* coupled_tools.c: how another engine says where its links are and how they yield, and what it reads of the grains. */
#include <string.h>

#include "../solvers/dynamic_tools.h"
#include "world.h"

static gg_status check_coupled(gg_world *w) {
    GG_EXPECT(gg_message_of(w), w->view.dims.tools.coupled, "coupled: expected a world with a coupled tool");
    return GG_OK;
}

static gg_status check_values(gg_world *w, const char *name, const double *values, int64_t count) {
    for (int64_t k = 0; values && k < count; k++) {
        GG_EXPECT(gg_message_of(w), gg_finite((float)values[k]), "%s: expected finite numbers, got %g at index %lld",
                  name, values[k], (long long)k);
    }
    return GG_OK;
}

/* symmetric to rounding, and no impulse at an origin gains energy against itself */
static gg_status check_response(gg_world *w, const double *response, int64_t listed) {
    int64_t width = 6 * w->view.dims.tools.coupled;
    for (int64_t k = 0; response && k < listed; k++) {
        const double *a = response + k * width * width;
        for (int64_t r = 0; r < width; r++) {
            double own = a[r * width + r];
            GG_EXPECT(gg_message_of(w), own >= 0.0, "responses: expected no negative diagonal, got %g in row %lld", own,
                      (long long)r);
            for (int64_t c = 0; c < r; c++) {
                double one = a[r * width + c], other = a[c * width + r], most = own * a[c * width + c];
                GG_EXPECT(gg_message_of(w), (one - other) * (one - other) <= 1e-10 * most + 1e-30,
                          "responses: expected a symmetric matrix, got %g and %g at (%lld, %lld)", one, other,
                          (long long)r, (long long)c);
                GG_EXPECT(
                    gg_message_of(w), one * one <= (1.0 + 1e-6) * most + 1e-30,
                    "responses: expected a positive semi-definite matrix, got %g at (%lld, %lld) between %g and %g",
                    one, (long long)r, (long long)c, own, a[c * width + c]);
            }
        }
    }
    return GG_OK;
}

static void set_motion(gg_view *host, int64_t e, int64_t tool, const double *pose, const double *twist,
                       const double *acceleration) {
    gg_coupled_motion *m = gg_coupled_motion_of(host, e, tool);
    if (pose) {
        double length = 0.0;
        for (int c = 3; c < 7; c++) {
            length += pose[c] * pose[c];
        }
        length = sqrt(length);
        for (int c = 0; c < 3; c++) {
            m->position[c] = pose[c];
        }
        for (int c = 0; c < 4; c++) {
            m->rotation[c] = pose[3 + c] / length;
        }
        host->tool_pose[e * host->dims.tool_count + tool] = gg_coupled_pose(m);
    }
    for (int c = 0; c < 6; c++) {
        m->twist[c] = twist ? twist[c] : m->twist[c];
        m->acceleration[c] = acceleration ? acceleration[c] : m->acceleration[c];
    }
}

gg_status gg_world_set_coupled(gg_world *w, const int32_t *envs, int64_t listed, const gg_coupled *in) {
    gg_status status = gg_envs_check(w, envs, &listed);
    int64_t coupled = w->view.dims.tools.coupled, each = listed * coupled, width = 6 * coupled;
    if (status != GG_OK || (status = check_coupled(w)) != GG_OK ||
        (status = check_values(w, "poses", in->pose, each * 7)) != GG_OK ||
        (status = check_values(w, "twists", in->twist, each * 6)) != GG_OK ||
        (status = check_values(w, "accelerations", in->acceleration, each * 6)) != GG_OK ||
        (status = check_values(w, "responses", in->response, listed * width * width)) != GG_OK ||
        (status = check_response(w, in->response, listed)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; in->pose && k < each; k++) {
        const double *q = in->pose + 7 * k + 3;
        double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        GG_EXPECT(gg_message_of(w), length2 > 0.99 && length2 < 1.01,
                  "poses: expected unit quaternions, got one of length^2 %g", length2);
    }
    gg_view *host;
    gg_fields fields = GG_BIT(coupled_motion) | GG_BIT(coupled_response) | GG_BIT(tool_pose) | GG_BIT(env);
    if ((status = gg_world_pull(w, fields, -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed; k++) {
        int64_t e = gg_env_at(envs, k);
        for (int64_t tool = GG_WALL_COUNT; tool < host->dims.tool_count; tool++) {
            if (gg_tool_coupled(host, tool)) {
                int64_t at = k * coupled + gg_coupled_index(host, tool);
                set_motion(host, e, tool, in->pose ? in->pose + 7 * at : NULL, in->twist ? in->twist + 6 * at : NULL,
                           in->acceleration ? in->acceleration + 6 * at : NULL);
            }
        }
        if (in->response) {
            memcpy(host->coupled_response + e * width * width, in->response + k * width * width,
                   sizeof(double) * (size_t)(width * width));
        }
    }
    gg_envs_wake(host, envs, listed);
    gg_world_invalidate(w, envs, listed);
    return gg_world_push(w, fields, -1);
}

gg_status gg_world_get_coupled(gg_world *w, double *pose, double *twist, double *impulse) {
    gg_view *host;
    gg_status status = check_coupled(w);
    gg_fields fields = GG_BIT(coupled_motion) | GG_BIT(wrench);
    if (status != GG_OK || (status = gg_world_pull(w, fields, -1, &host)) != GG_OK) {
        return status;
    }
    int64_t coupled = host->dims.tools.coupled;
    for (int64_t e = 0; e < host->dims.env_count; e++) {
        for (int64_t tool = GG_WALL_COUNT; tool < host->dims.tool_count; tool++) {
            if (!gg_tool_coupled(host, tool)) {
                continue;
            }
            const gg_coupled_motion *m = gg_coupled_motion_of(host, e, tool);
            int64_t at = e * coupled + gg_coupled_index(host, tool);
            for (int c = 0; pose && c < 3; c++) {
                pose[7 * at + c] = m->position[c];
            }
            for (int c = 0; pose && c < 4; c++) {
                pose[7 * at + 3 + c] = m->rotation[c];
            }
            for (int c = 0; c < 6; c++) {
                if (twist) {
                    twist[6 * at + c] = m->twist[c];
                }
                if (impulse) {
                    impulse[6 * at + c] = host->wrench[(e * host->dims.tool_count + tool) * 6 + c];
                }
            }
        }
    }
    return GG_OK;
}
