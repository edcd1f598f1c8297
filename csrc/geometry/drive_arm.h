/* drive_arm.h: the links of an arm, moved at joint speeds within its limits (arm_guard.h), and tools that stand still.
 *
 * index: rows, joints, capsules, pairs, blocks; the frame of each capsule; pairs of capsules that must not touch; per
 *        block whether it stands at the anchor; per tool its frame (-1: it stands still, -2: it stands at the anchor).
 * value: rows of the chain (4 each), pose of its base (7); lower, upper limit, speed and acceleration of the joints; the
 *        reach of each frame (rows + 1); Cartesian speed limit, margin, control period; capsules (7 each), blocks (10
 *        each), poses of the tools that stand still (7 each).
 * state: joints [rad], their velocities [rad/s], the events of the guard, x and y of the anchor [m].
 *
 * The anchor is a point on the ground that differs from env to env: x and y of what stands there are relative to it.
 */
#ifndef GG_DRIVE_ARM_H
#define GG_DRIVE_ARM_H

#include "arm_guard.h"
#include "drive.h"

/* what an arm must not touch, at most */
#define GG_ARM_BLOCKS 16

enum { GG_ARM_AT_ROWS, GG_ARM_AT_JOINTS, GG_ARM_AT_CAPSULES, GG_ARM_AT_PAIRS, GG_ARM_AT_BLOCKS, GG_ARM_COUNTS };
enum { GG_ARM_STILL = -1, GG_ARM_ANCHORED = -2 };

/* an arm and what stands around it, in the order of the drive's arrays */
typedef struct gg_arm_scene {
    gg_arm arm;
    gg_frame base;
    double period;
    int block_count;
    const int32_t *block_anchored, *tool_frame;
    const double *block, *tool_pose;
} gg_arm_scene;

GG_FN gg_arm_scene gg_arm_scene_of(const gg_drive *d) {
    gg_arm_scene s;
    const int32_t *index = d->index + GG_ARM_COUNTS;
    const double *value = d->value;
    gg_arm *arm = &s.arm;
    arm->row_count = d->index[GG_ARM_AT_ROWS];
    arm->joint_count = d->index[GG_ARM_AT_JOINTS];
    arm->capsule_count = d->index[GG_ARM_AT_CAPSULES];
    arm->pair_count = d->index[GG_ARM_AT_PAIRS];
    s.block_count = d->index[GG_ARM_AT_BLOCKS];
    arm->capsule_frame = index;
    arm->pair = index + arm->capsule_count;
    s.block_anchored = arm->pair + 2 * arm->pair_count;
    s.tool_frame = s.block_anchored + s.block_count;
    arm->row = (const gg_arm_row *)(const void *)value;
    value += 4 * arm->row_count;
    s.base = *(const gg_frame *)(const void *)value;
    arm->lower = value + 7;
    arm->upper = arm->lower + arm->joint_count;
    arm->speed = arm->upper + arm->joint_count;
    arm->acceleration = arm->speed + arm->joint_count;
    arm->reach = arm->acceleration + arm->joint_count;
    value = arm->reach + arm->row_count + 1;
    arm->tip_speed = value[0];
    arm->margin = value[1];
    s.period = value[2];
    arm->capsule = value + 3;
    s.block = arm->capsule + 7 * arm->capsule_count;
    s.tool_pose = s.block + 10 * s.block_count;
    return s;
}

GG_FN int gg_arm_fits(const gg_drive *d) {
    const int32_t *n = d->index;
    if (d->index_count < GG_ARM_COUNTS || n[GG_ARM_AT_ROWS] < 1 || n[GG_ARM_AT_ROWS] > GG_ARM_ROWS ||
        n[GG_ARM_AT_JOINTS] < 1 || n[GG_ARM_AT_JOINTS] > n[GG_ARM_AT_ROWS] || n[GG_ARM_AT_CAPSULES] < 0 ||
        n[GG_ARM_AT_CAPSULES] > GG_ARM_CAPSULES || n[GG_ARM_AT_PAIRS] < 0 ||
        n[GG_ARM_AT_PAIRS] > GG_ARM_CAPSULES * GG_ARM_CAPSULES || n[GG_ARM_AT_BLOCKS] < 0 ||
        n[GG_ARM_AT_BLOCKS] > GG_ARM_BLOCKS) {
        return 0;
    }
    int64_t rows = n[GG_ARM_AT_ROWS], joints = n[GG_ARM_AT_JOINTS], capsules = n[GG_ARM_AT_CAPSULES],
            pairs = n[GG_ARM_AT_PAIRS], blocks = n[GG_ARM_AT_BLOCKS], tools = d->tool_count;
    if (d->action_count != joints || d->state_count != 2 * joints + 3 ||
        d->index_count != GG_ARM_COUNTS + capsules + 2 * pairs + blocks + tools ||
        d->value_count != 4 * rows + 7 + 4 * joints + rows + 1 + 3 + 7 * capsules + 10 * blocks + 7 * tools) {
        return 0;
    }
    gg_arm_scene s = gg_arm_scene_of(d);
    int fits = s.period > 0.0;
    for (int k = 0; k < capsules; k++) {
        fits = fits && s.arm.capsule_frame[k] >= 0 && s.arm.capsule_frame[k] <= rows;
    }
    for (int k = 0; k < 2 * pairs; k++) {
        fits = fits && s.arm.pair[k] >= 0 && s.arm.pair[k] < capsules;
    }
    for (int k = 0; k < tools; k++) {
        fits = fits && s.tool_frame[k] >= GG_ARM_ANCHORED && s.tool_frame[k] <= rows;
    }
    return fits;
}

GG_FN void gg_arm_drive(const gg_drive *d, const double *action, double *state) {
    gg_arm_scene s = gg_arm_scene_of(d);
    int joints = s.arm.joint_count;
    const double *anchor = state + 2 * joints + 1;
    gg_block blocks[GG_ARM_BLOCKS];
    double wanted[GG_ARM_ROWS];
    for (int k = 0; k < s.block_count; k++) {
        blocks[k] = ((const gg_block *)(const void *)s.block)[k];
        for (int i = 0; i < 2 && s.block_anchored[k]; i++) {
            blocks[k].frame.p[i] += anchor[i];
        }
    }
    for (int j = 0; j < joints; j++) {
        wanted[j] = action[j] * s.arm.speed[j];
    }
    state[2 * joints] = gg_arm_guard(&s.arm, &s.base, blocks, s.block_count, s.period, wanted, state, state + joints);
}

GG_FN void gg_arm_poses(const gg_drive *d, const double *state, float *poses) {
    gg_arm_scene s = gg_arm_scene_of(d);
    const double *anchor = state + 2 * s.arm.joint_count + 1;
    gg_frame frames[GG_ARM_ROWS + 1];
    gg_arm_frames(s.arm.row, s.arm.row_count, s.arm.joint_count, &s.base, state, frames);
    for (int t = 0; t < d->tool_count; t++) {
        gg_frame frame = ((const gg_frame *)(const void *)s.tool_pose)[t];
        if (s.tool_frame[t] >= 0) {
            frame = frames[s.tool_frame[t]];
        }
        for (int i = 0; i < 2 && s.tool_frame[t] == GG_ARM_ANCHORED; i++) {
            frame.p[i] += anchor[i];
        }
        gg_drive_put_pose(frame.p, frame.q, poses + 7 * t);
    }
}

#endif
