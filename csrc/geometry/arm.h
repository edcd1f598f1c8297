/* arm.h: forward kinematics and Jacobian of a serial arm.
 *
 * A chain in modified Denavit-Hartenberg form (Craig, Introduction to Robotics, section 3.6), a row of parameters for
 * each frame: frame k follows from frame k - 1 by a rotation alpha about x, a translation a along x, a rotation theta
 * about z, a translation d along z. The first rows are revolute joints, whose angle is added to theta; further ones are
 * fixed (flange, tool). In double: errors are below 1e-14 m and 1e-14 rad for an arm of metres and joint angles up to
 * 10 rad.
 */
#ifndef GG_ARM_H
#define GG_ARM_H

#include "../base/scalar.h"

#define GG_ARM_ROWS 16 /* capacity of a chain */

/* a rigid frame: position [m] and unit quaternion w x y z; seven doubles in this order */
typedef struct gg_frame {
    double p[3];
    double q[4];
} gg_frame;

/* one row of a chain: a [m], alpha [rad], d [m], theta [rad] */
typedef struct gg_arm_row {
    double a, alpha, d, theta;
} gg_arm_row;

/* v rotated by a unit quaternion */
GG_FN void gg_frame_rotate(const double q[4], const double v[3], double out[3]) {
    /* v + 2 w (u x v) + 2 u x (u x v) */
    double tx = 2.0 * (q[2] * v[2] - q[3] * v[1]);
    double ty = 2.0 * (q[3] * v[0] - q[1] * v[2]);
    double tz = 2.0 * (q[1] * v[1] - q[2] * v[0]);
    double x = v[0] + q[0] * tx + (q[2] * tz - q[3] * ty);
    double y = v[1] + q[0] * ty + (q[3] * tx - q[1] * tz);
    double z = v[2] + q[0] * tz + (q[1] * ty - q[2] * tx);
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* a point of a frame, in its parent frame */
GG_FN void gg_frame_point(const gg_frame *frame, const double local[3], double out[3]) {
    gg_frame_rotate(frame->q, local, out);
    for (int k = 0; k < 3; k++) {
        out[k] += frame->p[k];
    }
}

/* the rotation b first, then a */
GG_FN void gg_frame_multiply(const double a[4], const double b[4], double out[4]) {
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    out[0] = w;
    out[1] = x;
    out[2] = y;
    out[3] = z;
}

/* sine and cosine of half the angles alpha and theta of a row */
typedef struct gg_arm_turn {
    double sa, ca, st, ct;
} gg_arm_turn;

/* frame k from frame k - 1 */
GG_FN gg_frame gg_arm_turned(const gg_frame *previous, const gg_arm_row *row, const gg_arm_turn *turn) {
    gg_frame next;
    double about_x[4] = {turn->ca, turn->sa, 0.0, 0.0}, about_z[4] = {turn->ct, 0.0, 0.0, turn->st}, twisted[4];
    gg_frame_multiply(previous->q, about_x, twisted);
    double offset[3] = {row->a, 0.0, row->d};
    gg_frame_rotate(twisted, offset, offset);
    for (int k = 0; k < 3; k++) {
        next.p[k] = previous->p[k] + offset[k];
    }
    gg_frame_multiply(twisted, about_z, next.q);
    /* against the drift of its length by rounding */
    double n =
        1.0 / sqrt(next.q[0] * next.q[0] + next.q[1] * next.q[1] + next.q[2] * next.q[2] + next.q[3] * next.q[3]);
    for (int k = 0; k < 4; k++) {
        next.q[k] *= n;
    }
    return next;
}

/* angle: of the joint; 0 for a fixed row */
GG_FN gg_arm_turn gg_arm_turn_of(const gg_arm_row *row, double angle) {
    gg_arm_turn turn;
    gg_sincos_double(0.5 * row->alpha, &turn.sa, &turn.ca);
    gg_sincos_double(0.5 * (row->theta + angle), &turn.st, &turn.ct);
    return turn;
}

/* All frames of a chain: frames[0] is the base, frames[k] that of row k - 1. frames (row_count + 1). */
GG_FN void gg_arm_frames(const gg_arm_row *rows, int row_count, int joint_count, const gg_frame *base,
                         const double *joints, gg_frame *frames) {
    frames[0] = *base;
    for (int k = 0; k < row_count; k++) {
        gg_arm_turn turn = gg_arm_turn_of(&rows[k], k < joint_count ? joints[k] : 0.0);
        frames[k + 1] = gg_arm_turned(&frames[k], &rows[k], &turn);
    }
}

/* the column of a Jacobian that belongs to the joint of a frame, for a point `tip` in the axes of the base's parent */
GG_FN void gg_arm_column(const gg_frame *frame, const double tip[3], double out[6]) {
    const double z[3] = {0.0, 0.0, 1.0};
    double axis[3];
    gg_frame_rotate(frame->q, z, axis);
    double r[3] = {tip[0] - frame->p[0], tip[1] - frame->p[1], tip[2] - frame->p[2]};
    out[0] = axis[1] * r[2] - axis[2] * r[1];
    out[1] = axis[2] * r[0] - axis[0] * r[2];
    out[2] = axis[0] * r[1] - axis[1] * r[0];
    out[3] = axis[0];
    out[4] = axis[1];
    out[5] = axis[2];
}

/* Geometric Jacobian of a point [m] fixed to the last frame: out (6, joint_count), rows vx vy vz wx wy wz in the axes
 * of the base's parent frame, columns per rad/s of a joint. */
GG_FN void gg_arm_jacobian(const gg_frame *frames, int row_count, int joint_count, const double point[3], double *out) {
    double tip[3];
    gg_frame_point(&frames[row_count], point, tip);
    for (int j = 0; j < joint_count; j++) {
        double column[6];
        gg_arm_column(&frames[j + 1], tip, column);
        for (int axis = 0; axis < 6; axis++) {
            out[axis * joint_count + j] = column[axis];
        }
    }
}

#endif
