/* grains.c: reading, setting and moving grains, in order of grain ids. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

static gg_status check_angles(gg_world *w, const float *angle) {
    GG_EXPECT(gg_message_of(w), !angle || gg_is_planar(&w->view.params),
              "angles: expected a world of planar grains; spheres have none");
    return GG_OK;
}

/* planar grains stay in their plane, and turn in it */
static gg_status check_planar_spins(gg_world *w, const float *values, int64_t grains) {
    for (int64_t k = 0; gg_is_planar(&w->view.params) && values && k < grains; k++) {
        GG_EXPECT(gg_message_of(w), values[3 * k] == 0.0f && values[3 * k + 1] == 0.0f,
                  "angular_velocities: expected x = y = 0 for planar grains, got %g, %g at grain %lld", values[3 * k],
                  values[3 * k + 1], (long long)k);
    }
    return GG_OK;
}
static gg_status check_planar(gg_world *w, const char *name, const float *values, int64_t grains) {
    for (int64_t k = 0; gg_is_planar(&w->view.params) && values && k < grains; k++) {
        GG_EXPECT(gg_message_of(w), values[3 * k + 2] == 0.0f,
                  "%s: expected z = 0 for planar grains, got %g at grain %lld", name, values[3 * k + 2], (long long)k);
    }
    return GG_OK;
}

static gg_status check_grains(gg_world *w, const gg_grains *in, int64_t grains) {
    gg_status status;
    GG_EXPECT(gg_message_of(w), !w->view.dims.clumps.count,
              "positions, velocities: the grains of this world are spheres of clumps, which set_clumps sets");
    if ((status = gg_finite_check(w, "positions", in->position, grains * 3)) != GG_OK ||
        (status = gg_finite_check(w, "velocities", in->velocity, grains * 3)) != GG_OK ||
        (status = gg_finite_check(w, "angular_velocities", in->angular_velocity, grains * 3)) != GG_OK ||
        (status = check_angles(w, in->angle)) != GG_OK ||
        (status = gg_finite_check(w, "angles", in->angle, grains)) != GG_OK ||
        (status = check_planar_spins(w, in->angular_velocity, grains)) != GG_OK ||
        (status = check_planar(w, "positions", in->position, grains)) != GG_OK) {
        return status;
    }
    return check_planar(w, "velocities", in->velocity, grains);
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
    status = gg_access_run(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{out->position, a.position, 3 * floats},
                                   {out->velocity, a.velocity, 3 * floats},
                                   {out->angular_velocity, a.angular_velocity, 3 * floats},
                                   {out->radius, a.radius, floats},
                                   {out->angle, a.angle, floats},
                                   {out->material, a.material, grains * sizeof(int32_t)}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 6) : status;
}

/* what phases only read, where gg_access has one member for reading and setting */
static float *stage_grains(gg_world *w, gg_staging_id id, const float *values, size_t size, gg_status *status) {
    return (float *)(uintptr_t)gg_stage_input(w, id, values, size, status);
}

gg_status gg_world_set_grains(gg_world *w, const int32_t *envs, int64_t listed, const gg_grains *in) {
    gg_status status = gg_envs_list(w, envs, &listed);
    int64_t grains = listed * w->view.dims.grain_count;
    if (status != GG_OK || (status = check_grains(w, in, grains)) != GG_OK) {
        return status;
    }
    size_t floats = sizeof(float) * (size_t)grains;
    gg_access a = gg_access_of_envs(w, &status);
    a.position = stage_grains(w, GG_STAGING_A, in->position, 3 * floats, &status);
    a.velocity = stage_grains(w, GG_STAGING_B, in->velocity, 3 * floats, &status);
    a.angular_velocity = stage_grains(w, GG_STAGING_C, in->angular_velocity, 3 * floats, &status);
    a.angle = stage_grains(w, GG_STAGING_D, in->angle, floats, &status);
    a.keep_impulses = in->keep_impulses;
    const gg_phase phases[] = {GG_PHASE_write_grains, GG_PHASE_restore_continuum, GG_PHASE_invalidate};
    gg_world_invalidate(w, envs, listed);
    return gg_access_run(w, &a, phases, 3, status);
}

gg_status gg_world_transform_grains(gg_world *w, const int32_t *envs, int64_t listed, const float *translation,
                                    const float *yaw) {
    gg_status status = gg_envs_list(w, envs, &listed);
    if (status != GG_OK || (status = gg_finite_check(w, "translation", translation, listed * 3)) != GG_OK ||
        (status = gg_finite_check(w, "yaw", yaw, listed)) != GG_OK) {
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
    gg_access a = gg_access_of_envs(w, &status);
    a.move = gg_stage_input(w, GG_STAGING_A, move, size, &status);
    const gg_phase phases[] = {GG_PHASE_transform_grains, GG_PHASE_transform_clumps, GG_PHASE_forget_bell,
                               GG_PHASE_transform_continuum, GG_PHASE_invalidate};
    gg_world_invalidate(w, envs, listed);
    status = gg_access_run(w, &a, phases, 5, status);
    free(move);
    return status;
}
