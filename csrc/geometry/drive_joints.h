/* drive_joints.h: tools on slides and hinges, each moved by an action at a speed or to a position.
 *
 * index: joint count, axis count; per joint its action (-1: none, it stays), whether the action sets the speed (0) or
 *        the position (1), whether it is an angle that wraps into -pi .. pi; per axis its tool, its joint and its kind
 *        (0 1 2: slides along x y z of the world; 3 4 5: hinges about x y z of the tool).
 * value: per joint the speed or position at full action [m/s or m, rad/s or rad], the control period [s], lower and upper
 *        limit; per axis its factor of the joint's position; per tool its pose where all joints are 0.
 * state: the positions of the joints [m or rad].
 *
 * A joint that turns moves by at most pi in a period.
 */
#ifndef GG_DRIVE_JOINTS_H
#define GG_DRIVE_JOINTS_H

#include "arm.h"
#include "drive.h"

enum { GG_JOINT_ACTION, GG_JOINT_IS_POSITION, GG_JOINT_WRAPS, GG_JOINT_INDICES };
enum { GG_JOINT_RATE, GG_JOINT_PERIOD, GG_JOINT_LOWER, GG_JOINT_UPPER, GG_JOINT_VALUES };
enum { GG_AXIS_TOOL, GG_AXIS_JOINT, GG_AXIS_KIND, GG_AXIS_INDICES };
#define GG_AXIS_KINDS 6

typedef struct gg_joints {
    int joint_count, axis_count;
    const int32_t *joint, *axis;         /* (joint_count, GG_JOINT_INDICES), (axis_count, GG_AXIS_INDICES) */
    const double *setting, *factor, *at; /* (joint_count, GG_JOINT_VALUES), (axis_count), (tool_count, 7) */
} gg_joints;

GG_FN gg_joints gg_joints_of(const gg_drive *d) {
    gg_joints j;
    j.joint_count = d->index[0];
    j.axis_count = d->index[1];
    j.joint = d->index + 2;
    j.axis = j.joint + GG_JOINT_INDICES * j.joint_count;
    j.setting = d->value;
    j.factor = j.setting + GG_JOINT_VALUES * j.joint_count;
    j.at = j.factor + j.axis_count;
    return j;
}

/* whether sizes and indices are in range */
GG_FN int gg_joints_fits(const gg_drive *d) {
    if (d->index_count < 2 || d->index[0] != d->state_count || d->index[1] < 0 || d->index[1] > 1024 ||
        d->index_count != 2 + GG_JOINT_INDICES * (int64_t)d->index[0] + GG_AXIS_INDICES * (int64_t)d->index[1] ||
        d->value_count != GG_JOINT_VALUES * (int64_t)d->index[0] + d->index[1] + 7 * (int64_t)d->tool_count) {
        return 0;
    }
    gg_joints j = gg_joints_of(d);
    int fits = 1;
    for (int k = 0; k < j.joint_count; k++) {
        int32_t action = j.joint[GG_JOINT_INDICES * k + GG_JOINT_ACTION];
        fits = fits && action >= -1 && action < d->action_count;
    }
    for (int k = 0; k < j.axis_count; k++) {
        const int32_t *axis = j.axis + GG_AXIS_INDICES * k;
        fits = fits && axis[GG_AXIS_TOOL] >= 0 && axis[GG_AXIS_TOOL] < d->tool_count && axis[GG_AXIS_JOINT] >= 0 &&
               axis[GG_AXIS_JOINT] < j.joint_count && axis[GG_AXIS_KIND] >= 0 && axis[GG_AXIS_KIND] < GG_AXIS_KINDS;
    }
    return fits;
}

/* an angle less than a turn outside -pi .. pi, within them; the same bits as by fmod */
GG_FN double gg_joint_wrapped(double angle) {
    const double half = GG_PI, whole = 2.0 * half;
    double shifted = angle + half;
    shifted = shifted >= whole ? shifted - whole : shifted < 0.0 ? shifted + whole : shifted;
    return shifted - half;
}

GG_FN void gg_joints_move(const gg_drive *d, const double *action, double *state) {
    gg_joints all = gg_joints_of(d);
    for (int k = 0; k < all.joint_count; k++) {
        const int32_t *joint = all.joint + GG_JOINT_INDICES * k;
        const double *s = all.setting + GG_JOINT_VALUES * k;
        if (joint[GG_JOINT_ACTION] < 0) {
            continue;
        }
        double wanted = action[joint[GG_JOINT_ACTION]] * s[GG_JOINT_RATE];
        double to = joint[GG_JOINT_IS_POSITION] ? wanted : state[k] + wanted * s[GG_JOINT_PERIOD];
        state[k] =
            joint[GG_JOINT_WRAPS] ? gg_joint_wrapped(to) : gg_drive_clamp(to, s[GG_JOINT_LOWER], s[GG_JOINT_UPPER]);
    }
}

/* what joint k moves by between two of its positions: the short way where it wraps */
GG_FN double gg_joints_way(const gg_drive *d, int32_t k, double from, double to) {
    gg_joints all = gg_joints_of(d);
    double way = to - from, whole = 2.0 * GG_PI;
    if (!all.joint[GG_JOINT_INDICES * k + GG_JOINT_WRAPS]) {
        return way;
    }
    return way > GG_PI ? way - whole : way < -GG_PI ? way + whole : way;
}

GG_FN void gg_joints_poses(const gg_drive *d, const double *reached, const double *state, double scale, float *poses) {
    gg_joints all = gg_joints_of(d);
    for (int t = 0; t < d->tool_count; t++) {
        gg_frame frame;
        for (int k = 0; k < 3; k++) {
            frame.p[k] = all.at[7 * t + k];
        }
        for (int k = 0; k < 4; k++) {
            frame.q[k] = all.at[7 * t + 3 + k];
        }
        for (int k = 0; k < all.axis_count; k++) {
            const int32_t *axis = all.axis + GG_AXIS_INDICES * k;
            if (axis[GG_AXIS_TOOL] != t) {
                continue;
            }
            int at = axis[GG_AXIS_JOINT], is_position = all.joint[GG_JOINT_INDICES * at + GG_JOINT_IS_POSITION];
            double moved = all.factor[k] * (is_position ? state[at] * scale : reached[at]);
            if (axis[GG_AXIS_KIND] < 3) {
                frame.p[axis[GG_AXIS_KIND]] += moved;
            } else {
                double turn[4] = {1.0, 0.0, 0.0, 0.0}, whole[4];
                gg_sincos_double(0.5 * moved, &turn[axis[GG_AXIS_KIND] - 2], &turn[0]);
                gg_frame_multiply(frame.q, turn, whole);
                for (int i = 0; i < 4; i++) {
                    frame.q[i] = whole[i];
                }
            }
        }
        gg_drive_put_pose(frame.p, frame.q, poses + 7 * t);
    }
}

#endif
