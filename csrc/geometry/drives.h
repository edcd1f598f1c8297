/* drives.h: the kinds of drives: X(kind, fits, move, poses).
 *
 *   fits   whether its arrays have the sizes and indices that they must have
 *   move   (drive, actions, state): the state after a control period
 *   poses  (drive, state at the end of the step, state after the period, scale, poses): of all tools, (tool_count, 7)
 */
#ifndef GG_DRIVES_H
#define GG_DRIVES_H

#include "drive_arm.h"
#include "drive_joints.h"
#include "drive_vehicle.h"

/* clang-format off */
#define GG_DRIVES(X)                                                                                                   \
    X(joints, gg_joints_fits(d), gg_joints_move(d, action, state),                                                     \
      gg_joints_poses(d, reached, state, scale, poses))                                                                \
    X(vehicle, gg_vehicle_fits(d), gg_vehicle_drive(d, action, state), gg_vehicle_poses(d, reached, poses))            \
    X(arm, gg_arm_fits(d), gg_arm_drive(d, action, state), gg_arm_poses(d, reached, poses))
/* clang-format on */

typedef enum gg_drive_kind {
#define GG_DRIVE_ENUM(kind, fits, move, poses) GG_DRIVE_##kind,
    GG_DRIVES(GG_DRIVE_ENUM)
#undef GG_DRIVE_ENUM
        GG_DRIVE_KINDS
} gg_drive_kind;

GG_FN int gg_drive_fits(const gg_drive *d) {
    switch (d->kind) {
#define GG_DRIVE_CASE(kind, fits, move, poses)                                                                         \
    case GG_DRIVE_##kind:                                                                                              \
        return fits;
        GG_DRIVES(GG_DRIVE_CASE)
#undef GG_DRIVE_CASE
    default:
        return 0;
    }
}

/* kind: that of the drive; a constant leaves the others out of the code */
GG_FN void gg_drive_move(const gg_drive *d, int32_t kind, const double *action, double *state) {
    switch (kind) {
#define GG_DRIVE_CASE(kind, fits, move, poses)                                                                         \
    case GG_DRIVE_##kind:                                                                                              \
        move;                                                                                                          \
        return;
        GG_DRIVES(GG_DRIVE_CASE)
#undef GG_DRIVE_CASE
    }
}

GG_FN void gg_drive_poses(const gg_drive *d, int32_t kind, const double *reached, const double *state, double scale,
                          float *poses) {
    switch (kind) {
#define GG_DRIVE_CASE(kind, fits, move, poses_)                                                                        \
    case GG_DRIVE_##kind:                                                                                              \
        poses_;                                                                                                        \
        return;
        GG_DRIVES(GG_DRIVE_CASE)
#undef GG_DRIVE_CASE
    }
}

#endif
