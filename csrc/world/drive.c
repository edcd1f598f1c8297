/* drive.c: steps in which the actions of an agent move the tools, by the drive of the world (geometry/drives.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

void gg_drive_free(gg_world *w) {
    if (w->device_drive.index != w->drive.index) {
        gg_memory_free(w, (void *)w->device_drive.index);
        gg_memory_free(w, (void *)w->device_drive.value);
    }
    free((void *)w->drive.index);
    free((void *)w->drive.value);
    free(w->drive_poses);
    free(w->drive_fault);
    memset(&w->drive, 0, sizeof w->drive);
    memset(&w->device_drive, 0, sizeof w->device_drive);
    w->drive.kind = GG_DRIVE_KINDS;
    w->drive_poses = NULL;
    w->drive_fault = NULL;
}

static gg_status check_drive(gg_world *w, const gg_drive *d) {
    gg_message out = gg_message_of(w);
    GG_EXPECT(out, d->action_count >= 1 && d->action_count <= GG_DRIVE_ACTIONS,
              "drive: expected 1 .. %d actions, got %d", GG_DRIVE_ACTIONS, (int)d->action_count);
    GG_EXPECT(out, d->state_count >= 1 && d->state_count <= GG_DRIVE_STATES,
              "drive: expected a state of 1 .. %d numbers, got %d", GG_DRIVE_STATES, (int)d->state_count);
    GG_EXPECT(out, d->tool_count == gg_own_tool_count(w), "drive: expected one that moves all %d tools, got %d",
              (int)gg_own_tool_count(w), (int)d->tool_count);
    for (int64_t k = 0; k < gg_own_tool_count(w); k++) {
        GG_EXPECT(
            out, !gg_tool_goes_by_itself(w, GG_WALL_COUNT + k),
            "drive: expected a world whose tools follow targets, as a drive sets the poses of all of them; forces, "
            "a body or another engine move tool %d",
            (int)k);
    }
    for (int64_t k = 0; k < d->value_count; k++) {
        GG_EXPECT(out, isfinite(d->value[k]), "drive: expected finite values, got %g at %lld", d->value[k],
                  (long long)k);
    }
    GG_EXPECT(out, gg_drive_fits(d),
              "drive: expected the indices and values of kind %d, got %lld and %lld that do not fit", (int)d->kind,
              (long long)d->index_count, (long long)d->value_count);
    return GG_OK;
}

/* a copy on the host, never NULL but where memory is out */
static void *copy_of(const void *data, size_t size) {
    void *copy = malloc(size ? size : 1);
    return copy && size ? memcpy(copy, data, size) : copy;
}

/* the arrays of the drive where phases can read them */
static gg_status move_to_device(gg_world *w, size_t index_size, size_t value_size) {
    w->device_drive = w->drive;
    if (!w->cuda) {
        return GG_OK;
    }
    void *index = gg_memory_new(w, index_size), *value = gg_memory_new(w, value_size);
    w->device_drive.index = index;
    w->device_drive.value = value;
    if (!index || !value) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes on the device", index_size + value_size);
    }
    gg_status status = gg_memory_copy(w, index, index_size, w->drive.index, index_size, index_size, 1, GG_TO_DEVICE);
    return status == GG_OK
               ? gg_memory_copy(w, value, value_size, w->drive.value, value_size, value_size, 1, GG_TO_DEVICE)
               : status;
}

gg_status gg_world_set_drive(gg_world *w, const gg_drive *drive) {
    gg_status status = drive ? check_drive(w, drive) : GG_OK;
    if (status != GG_OK) {
        return status;
    }
    gg_drive_free(w);
    if (!drive) {
        return GG_OK;
    }
    size_t index_size = sizeof *drive->index * (size_t)drive->index_count;
    size_t value_size = sizeof *drive->value * (size_t)drive->value_count;
    size_t envs = (size_t)w->view.dims.env_count;
    w->drive = *drive;
    w->drive.index = copy_of(drive->index, index_size);
    w->drive.value = copy_of(drive->value, value_size);
    w->drive_poses = malloc(sizeof(float) * 7 * envs * (size_t)drive->tool_count + 1);
    w->drive_fault = malloc(sizeof(int32_t) * envs);
    status = w->drive.index && w->drive.value && w->drive_poses && w->drive_fault
                 ? move_to_device(w, index_size, value_size)
                 : gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: drive");
    if (status != GG_OK) {
        gg_drive_free(w);
    }
    return status;
}

static gg_status check_state(gg_world *w, const double *state, int64_t count) {
    GG_EXPECT(gg_message_of(w), w->drive.kind != GG_DRIVE_KINDS, "drive: expected a drive, none was set");
    for (int64_t k = 0; k < count * w->drive.state_count; k++) {
        GG_EXPECT(gg_message_of(w), isfinite(state[k]), "state: expected finite numbers, got %g at [%lld, %d]",
                  state[k], (long long)(k / w->drive.state_count), (int)(k % w->drive.state_count));
    }
    return GG_OK;
}

gg_status gg_world_drive_poses(gg_world *w, const double *state, int64_t count, float *poses) {
    gg_status status = check_state(w, state, count);
    for (int64_t n = 0; status == GG_OK && n < count; n++) {
        const double *at = state + n * w->drive.state_count;
        gg_drive_poses(&w->drive, w->drive.kind, at, at, 1.0, poses + n * w->drive.tool_count * 7);
    }
    return status;
}

static gg_status check_driven(gg_world *w, const gg_driven_step *s) {
    gg_message out = gg_message_of(w);
    int64_t envs = w->view.dims.env_count, actions = w->drive.action_count;
    GG_EXPECT(out, s->stroke.share > 0.0 && s->stroke.share <= 1.0, "share: expected a number in (0, 1], got %g",
              s->stroke.share);
    GG_EXPECT(out, s->stroke.scale >= 0.0 && s->stroke.scale <= 1.0, "scale: expected a number in [0, 1], got %g",
              s->stroke.scale);
    for (int64_t k = 0; (s->space == GG_HOST || !w->cuda) && k < envs * actions; k++) {
        GG_EXPECT(out, isfinite(s->actions[k]) || (s->idle && s->idle[k / actions]),
                  "actions: expected finite numbers, got %g at [%lld, %lld]", s->actions[k], (long long)(k / actions),
                  (long long)(k % actions));
    }
    return GG_OK;
}

/* the phase, and the outputs that are still to be fetched */
static gg_status run_drive(gg_world *w, const gg_driven_step *s, float **poses, gg_copy_run outputs[3]) {
    size_t envs = (size_t)w->view.dims.env_count;
    size_t state_size = sizeof *s->state * envs * (size_t)w->drive.state_count, fault_size = sizeof *s->fault * envs;
    size_t pose_size = sizeof(float) * 7 * envs * (size_t)w->drive.tool_count;
    gg_status status = GG_OK;
    gg_access a;
    memset(&a, 0, sizeof a);
    a.drive = w->device_drive;
    a.stroke = s->stroke;
    a.action = s->space == GG_DEVICE
                   ? s->actions
                   : gg_stage_input(w, GG_STAGING_A, s->actions,
                                    sizeof *s->actions * envs * (size_t)w->drive.action_count, &status);
    a.idle = gg_stage_input(w, GG_STAGING_B, s->idle, envs, &status);
    a.drive_state = gg_stage_input(w, GG_STAGING_C, s->state, state_size, &status);
    a.drive_next = gg_stage_output(w, GG_STAGING_D, s->next, state_size, GG_HOST, &status);
    a.drive_fault = gg_stage_output(w, GG_STAGING_E, s->fault, fault_size, GG_HOST, &status);
    a.drive_poses = gg_stage_output(w, GG_STAGING_F, w->drive_poses, pose_size, GG_HOST, &status);
    *poses = a.drive_poses;
    outputs[0] = (gg_copy_run){s->next, a.drive_next, state_size};
    outputs[1] = (gg_copy_run){s->fault, a.drive_fault, fault_size};
    outputs[2] = (gg_copy_run){w->drive_poses, a.drive_poses, pose_size};
    static const gg_phase phases[] = {
#define DRIVE_PHASE(kind, ...) GG_PHASE_drive_##kind,
        GG_DRIVES(DRIVE_PHASE)
#undef DRIVE_PHASE
    };
    return gg_access_run(w, &a, &phases[w->drive.kind], 1, status);
}

gg_status gg_world_step_driven(gg_world *w, double dt, int32_t substeps, const gg_driven_step *step, gg_poll poll,
                               void *poll_context) {
    gg_driven_step s = *step;
    gg_copy_run outputs[3];
    gg_tool_targets targets = {NULL, NULL};
    float *poses = NULL;
    s.fault = s.fault ? s.fault : w->drive_fault;
    gg_status status = check_state(w, s.state, w->view.dims.env_count);
    status = status == GG_OK ? check_driven(w, &s) : status;
    status = status == GG_OK ? run_drive(w, &s, &poses, outputs) : status;
    if (status != GG_OK) {
        return status;
    }
    int known = !w->cuda;
    if (!known && w->unfinished) {
        /* whether this call repeats the one before is told by its targets */
        status = gg_fetch_outputs(w, outputs, 3);
        known = status == GG_OK;
    }
    targets.host = known ? w->drive_poses : NULL;
    targets.device = known ? NULL : poses;
    return status == GG_OK ? gg_world_step_to(w, dt, substeps, targets, outputs, known ? 0 : 2, poll, poll_context)
                           : status;
}
