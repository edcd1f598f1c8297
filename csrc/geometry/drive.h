/* drive.h: a drive: how the actions of an agent move the tools of an env, as data. drives.h lists the kinds.
 *
 * A drive is kinematic: from actions, each in [-1, 1], and the state of the env (joint positions, the pose of a
 * vehicle, ...) follow the state and the poses of all tools at the end of a control period. It is stateless itself: the
 * caller keeps the state.
 */
#ifndef GG_DRIVE_H
#define GG_DRIVE_H

#include "../base/base.h"

/* numbers of an env at most */
#define GG_DRIVE_ACTIONS 64
#define GG_DRIVE_STATES  128

typedef struct gg_drive {
    int32_t kind;         /* gg_drive_kind */
    int32_t action_count; /* actions of an env, 1 .. GG_DRIVE_ACTIONS */
    int32_t state_count;  /* numbers of its state, 1 .. GG_DRIVE_STATES */
    int32_t tool_count;   /* tools that it moves: all of an env */
    /* what the kind is made of; the file of each kind says in which order */
    const int32_t *index;
    const double *value;
    int64_t index_count, value_count;
} gg_drive;

/* a control period may be made in several steps */
typedef struct gg_drive_stroke {
    double share; /* of the period's motion that is done at the end of this step, above 0, at most 1 */
    double scale; /* of the positions that actions set in this step */
} gg_drive_stroke;

/* a pose as the engine takes it, x y z qw qx qy qz in single precision */
GG_FN void gg_drive_put_pose(const double position[3], const double rotation[4], float out[7]) {
    for (int k = 0; k < 3; k++) {
        out[k] = (float)position[k];
    }
    for (int k = 0; k < 4; k++) {
        out[3 + k] = (float)rotation[k];
    }
}

GG_FN double gg_drive_clamp(double x, double low, double high) {
    double raised = x > low ? x : low;
    return raised < high ? raised : high;
}

#endif
