/* arm_guard.h: limits the motion of an arm within one control period: joints, Cartesian speed, collisions.
 *
 * A kinematic arm would pass through its own elbow and through the table. From the commanded joint velocities the guard
 * makes a motion that the limits allow, in this order:
 *   1. joint speeds and accelerations stay within the limits of the joints, and each joint can still brake before its
 *      end stop;
 *   2. the whole motion is scaled down until no frame exceeds the arm's Cartesian limit: |displacement of the origin| +
 *      |rotation angle| * reach, the measure by which the engine counts fast tools;
 *   3. where capsules of the arm would come nearer to each other or to a block than `margin`, the component of the
 *      motion that closes the gap is removed (the velocity is projected onto the plane where the gap equals the margin,
 *      one plane after the other), so that the arm slides along the obstacle. The planes hold to first order: the
 *      resulting motion is checked in eight parts and ends before the first that would still come nearer than 98 % of
 *      the margin. A motion that opens a gap is always allowed.
 * Steps 2 and 3 may stop joints at once, whatever their limits of acceleration: they are the arm's emergency stop.
 */
#ifndef GG_ARM_GUARD_H
#define GG_ARM_GUARD_H

#include "clearance.h"

#define GG_ARM_CAPSULES 64 /* capacity of an arm */
#define GG_ARM_PARTS    8  /* of a motion, each checked for collisions */
#define GG_ARM_PLANES   8  /* projections of a motion at most */

/* interventions of the guard, as bits */
typedef enum gg_arm_event {
    GG_ARM_JOINT = 1, /* a joint was slowed before its end stop */
    GG_ARM_SPEED = 2, /* the motion was scaled to the Cartesian limit */
    GG_ARM_TOUCH = 4  /* the motion was deflected or stopped before a collision */
} gg_arm_event;

/* model of an arm for the guard; the arrays are the caller's */
typedef struct gg_arm {
    int row_count, joint_count;
    const gg_arm_row *row;
    const double *lower, *upper; /* (joint_count) [rad] */
    const double *speed;         /* (joint_count) [rad/s] */
    const double *acceleration;  /* (joint_count) [rad/s2] */
    const double *reach;         /* (row_count + 1): radius of the geometry of each frame about its origin [m] */
    double tip_speed;            /* Cartesian limit [m/s] */
    double margin;               /* kept between capsules, and from blocks [m] */
    int capsule_count;
    const int32_t *capsule_frame; /* (capsule_count), 0: fixed */
    const double *capsule;        /* (capsule_count, 7): a, b, radius in the frame [m] */
    int pair_count;
    const int32_t *pair; /* (pair_count, 2) capsules that must not touch */
} gg_arm;

/* the capsules of an arm at given joint angles; consecutive ones of the same frame form a group */
typedef struct gg_arm_shape {
    gg_capsule capsule[GG_ARM_CAPSULES];
    int group[GG_ARM_CAPSULES];     /* of a capsule */
    gg_ball ball[GG_ARM_CAPSULES];  /* bounding sphere of a group */
    int first[GG_ARM_CAPSULES + 1]; /* capsule of a group */
    int group_count;
} gg_arm_shape;

GG_FN_LARGE void gg_arm_pose(const gg_arm *arm, const gg_frame *base, const double *joints, gg_arm_shape *out) {
    gg_frame frames[GG_ARM_ROWS + 1];
    gg_arm_frames(arm->row, arm->row_count, arm->joint_count, base, joints, frames);
    out->group_count = 0;
    for (int c = 0; c < arm->capsule_count; c++) {
        const double *local = arm->capsule + 7 * c;
        const gg_frame *frame = &frames[arm->capsule_frame[c]];
        gg_frame_point(frame, local, out->capsule[c].a);
        gg_frame_point(frame, local + 3, out->capsule[c].b);
        out->capsule[c].radius = local[6];
        gg_clearance_bound(&out->capsule[c]);
        if (c == 0 || arm->capsule_frame[c] != arm->capsule_frame[c - 1]) {
            out->first[out->group_count++] = c;
        }
        out->group[c] = out->group_count - 1;
    }
    out->first[out->group_count] = arm->capsule_count;
    for (int g = 0; g < out->group_count; g++) {
        out->ball[g] = gg_clearance_ball(out->capsule + out->first[g], out->first[g + 1] - out->first[g]);
    }
}

/* smallest clearance of the pairs of capsules, and of moving capsules and blocks [m]; at most `cap` */
GG_FN_LARGE double gg_arm_clearance(const gg_arm *arm, const gg_frame *base, const double *joints,
                                    const gg_block *blocks, int block_count, double cap) {
    gg_arm_shape shape;
    gg_arm_pose(arm, base, joints, &shape);
    double least = cap;
    /* pairs of the same two groups are consecutive */
    for (int k = 0, one = -1, other = -1, far = 0; k < arm->pair_count; k++) {
        int a = arm->pair[2 * k], b = arm->pair[2 * k + 1];
        if (shape.group[a] != one || shape.group[b] != other) {
            one = shape.group[a];
            other = shape.group[b];
            far = gg_clearance_far(&shape.ball[one], &shape.ball[other], least);
        }
        const gg_capsule *p = &shape.capsule[a], *q = &shape.capsule[b];
        if (!far && !gg_clearance_far(&p->ball, &q->ball, least)) {
            double gap = gg_clearance_segments(p->a, p->b, q->a, q->b) - p->radius - q->radius;
            least = gap < least ? gap : least;
        }
    }
    for (int g = 0; g < shape.group_count; g++) {
        for (int b = 0; b < block_count && arm->capsule_frame[shape.first[g]] > 0; b++) {
            if (!gg_clearance_block_far(&shape.ball[g], &blocks[b], least)) {
                for (int c = shape.first[g]; c < shape.first[g + 1]; c++) {
                    least = gg_clearance_block(&shape.capsule[c], &blocks[b], least);
                }
            }
        }
    }
    return least;
}

/* largest travel of a frame between two sets of frames, rotation at its reach included [m] */
GG_FN double gg_arm_travel(const gg_arm *arm, const gg_frame *from, const gg_frame *to) {
    double most = 0.0;
    for (int k = 1; k <= arm->row_count; k++) {
        double d2 = 0.0, w = 0.0, v2 = 0.0;
        for (int i = 0; i < 3; i++) {
            double d = to[k].p[i] - from[k].p[i];
            d2 += d * d;
        }
        for (int i = 0; i < 4; i++) {
            w += to[k].q[i] * from[k].q[i];
        }
        w = w < 0.0 ? -w : w;
        v2 = 1.0 - w * w;
        double angle = 2.0 * gg_angle_double(sqrt(v2 > 0.0 ? v2 : 0.0), w);
        double moved = sqrt(d2) + angle * arm->reach[k];
        most = moved > most ? moved : most;
    }
    return most;
}

/* clamps joint velocities to the limits of the joints: step 1; returns the event */
GG_FN int gg_arm_limit_joints(const gg_arm *arm, const double *joints, const double *previous, double duration,
                              double *velocity) {
    int event = 0;
    for (int j = 0; j < arm->joint_count; j++) {
        double a = arm->acceleration[j], change = a * duration;
        double v = gg_clearance_clamp(velocity[j], -arm->speed[j], arm->speed[j]);
        v = gg_clearance_clamp(v, previous[j] - change, previous[j] + change);
        /* stopping distance when v is held for T and then braked: v T + v^2 / (2 a) */
        double up = arm->upper[j] - joints[j], down = joints[j] - arm->lower[j];
        double most = up > 0.0 ? a * (sqrt(duration * duration + 2.0 * up / a) - duration) : 0.0;
        double least = down > 0.0 ? -a * (sqrt(duration * duration + 2.0 * down / a) - duration) : 0.0;
        if (v > most || v < least) {
            v = gg_clearance_clamp(v, least, most);
            event = GG_ARM_JOINT;
        }
        velocity[j] = v;
    }
    return event;
}

/* joint angles after `time` [s] of a motion, clamped to their limits */
GG_FN void gg_arm_move(const gg_arm *arm, const double *joints, const double *velocity, double time, double *out) {
    for (int j = 0; j < arm->joint_count; j++) {
        out[j] = gg_clearance_clamp(joints[j] + velocity[j] * time, arm->lower[j], arm->upper[j]);
    }
}

/* scales a motion to the Cartesian limit: step 2; returns the event, and the travel [m] */
GG_FN_LARGE int gg_arm_limit_travel(const gg_arm *arm, const gg_frame *base, const double *joints, double duration,
                                    double *velocity, double *travel) {
    gg_frame from[GG_ARM_ROWS + 1], to[GG_ARM_ROWS + 1];
    double moved[GG_ARM_ROWS], limit = arm->tip_speed * duration;
    int event = 0;
    gg_arm_frames(arm->row, arm->row_count, arm->joint_count, base, joints, from);
    /* travel is not quite linear in velocity: the second or third scaling is the last */
    for (int round = 0; round < 8; round++) {
        gg_arm_move(arm, joints, velocity, duration, moved);
        gg_arm_frames(arm->row, arm->row_count, arm->joint_count, base, moved, to);
        *travel = gg_arm_travel(arm, from, to);
        if (*travel <= limit) {
            break;
        }
        event = GG_ARM_SPEED;
        double share = limit / *travel * (1.0 - 1e-9);
        for (int j = 0; j < arm->joint_count; j++) {
            velocity[j] *= share;
        }
    }
    return event;
}

/* removes from a motion what closes gaps below the margin: step 3; returns the event */
GG_FN_LARGE int gg_arm_avoid(const gg_arm *arm, const gg_frame *base, const double *joints, const gg_block *blocks,
                             int block_count, double duration, double travel, double *velocity) {
    double moved[GG_ARM_ROWS];
    /* no gap closes by more than twice the travel: most motions need no further test */
    double cap = arm->margin + 2.0 * travel + 1e-6;
    double gap = gg_arm_clearance(arm, base, joints, blocks, block_count, cap);
    if (gap >= cap) {
        return 0;
    }
    /* a deflected motion ends at the margin, to first order; one that starts deeper inside comes no nearer */
    double near = 0.98 * arm->margin, hold = gap > 0.96 * arm->margin ? arm->margin : gap;
    int blocked = 0;
    for (int plane = 0; plane <= GG_ARM_PLANES; plane++) {
        /* the part of the motion that is free; after the last projection it is all that is made */
        double last = gap;
        int part = 0;
        while (part < GG_ARM_PARTS) {
            gg_arm_move(arm, joints, velocity, duration * (part + 1) / GG_ARM_PARTS, moved);
            double next = gg_arm_clearance(arm, base, moved, blocks, block_count, cap);
            if (next < near && next < last) {
                break;
            }
            last = next;
            part++;
        }
        if (part == GG_ARM_PARTS) {
            return blocked;
        }
        blocked = GG_ARM_TOUCH;
        if (plane == GG_ARM_PLANES) {
            for (int j = 0; j < arm->joint_count; j++) {
                velocity[j] *= (double)part / GG_ARM_PARTS;
            }
            break;
        }
        /* the plane of constant clearance where the motion first comes too near */
        double at[GG_ARM_ROWS], slope[GG_ARM_ROWS], along = 0.0, steep = 0.0;
        const double h = 1e-5;
        gg_arm_move(arm, joints, velocity, duration, at);
        for (int j = 0; j < arm->joint_count; j++) {
            velocity[j] = (at[j] - joints[j]) / duration;
        }
        gg_arm_move(arm, joints, velocity, duration * (part + 1) / GG_ARM_PARTS, at);
        double there = gg_arm_clearance(arm, base, at, blocks, block_count, cap);
        for (int j = 0; j < arm->joint_count; j++) {
            double keep = at[j];
            at[j] = keep + h;
            slope[j] = (gg_arm_clearance(arm, base, at, blocks, block_count, cap) - there) / h;
            at[j] = keep;
            /* a joint at its end stop cannot open a gap by moving further */
            double end = joints[j] + velocity[j] * duration;
            if (slope[j] > 0.0 ? end >= arm->upper[j] - 1e-9 : end <= arm->lower[j] + 1e-9) {
                slope[j] = 0.0;
            }
            along += slope[j] * velocity[j];
            steep += slope[j] * slope[j];
        }
        double allowed = (hold - there) / duration + along * (part + 1) / GG_ARM_PARTS;
        if (along < allowed && steep > 1e-12) {
            for (int j = 0; j < arm->joint_count; j++) {
                velocity[j] += slope[j] * (allowed - along) / steep;
            }
        }
    }
    return blocked;
}

/* Moves the joints by one control period of `duration` [s].
 *
 * joints, velocity: (joint_count) before and, on return, after the period [rad], [rad/s]; wanted: the commanded
 * velocities [rad/s]. Returns the events as bits. */
GG_FN int gg_arm_guard(const gg_arm *arm, const gg_frame *base, const gg_block *blocks, int block_count,
                       double duration, const double *wanted, double *joints, double *velocity) {
    double going[GG_ARM_ROWS], moved[GG_ARM_ROWS], travel = 0.0;
    for (int j = 0; j < arm->joint_count; j++) {
        going[j] = wanted[j];
    }
    int event = gg_arm_limit_joints(arm, joints, velocity, duration, going);
    event |= gg_arm_limit_travel(arm, base, joints, duration, going, &travel);
    int touch = gg_arm_avoid(arm, base, joints, blocks, block_count, duration, travel, going);
    if (touch) {
        /* the deflected motion must keep the limits, too; only scaling it down keeps it free */
        double share = 1.0;
        for (int j = 0; j < arm->joint_count; j++) {
            double speed = going[j] < 0.0 ? -going[j] : going[j];
            share = speed * share > arm->speed[j] ? arm->speed[j] / speed : share;
        }
        for (int j = 0; j < arm->joint_count; j++) {
            going[j] *= share;
        }
        event |= touch | gg_arm_limit_travel(arm, base, joints, duration, going, &travel);
    }
    gg_arm_move(arm, joints, going, duration, moved);
    for (int j = 0; j < arm->joint_count; j++) {
        velocity[j] = (moved[j] - joints[j]) / duration;
        joints[j] = moved[j];
    }
    return event;
}

#endif
