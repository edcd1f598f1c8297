/* pose.h: poses, and the motion of a tool from one to the next: constant velocity, constant angular velocity.
 *
 * The rotation between two orientations is the unit quaternion target * conj(start); of its two signs the one with w >=
 * 0 is the shorter arc. Computed in double from single-precision poses, so that slow rotations keep their rate and a
 * motion ends at its target to the last few bits. A pose that does not move keeps its bits.
 */
#ifndef GG_POSE_H
#define GG_POSE_H

#include "../base/scalar.h"
#include "shape.h"

GG_FN gg_pose gg_pose_identity(void) {
    gg_pose pose;
    pose.position = gg_v3(0.0f, 0.0f, 0.0f);
    pose.rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    return pose;
}

/* world pose of a frame given in the frame of `outer` */
GG_FN gg_pose gg_pose_within(gg_pose outer, gg_vec3 position, gg_quat rotation) {
    gg_quat q = gg_quat_unit(outer.rotation);
    gg_pose pose;
    pose.position = gg_add(outer.position, gg_quat_rotate(q, position));
    pose.rotation = gg_quat_mul(q, gg_quat_unit(rotation));
    return pose;
}

GG_FN int gg_pose_finite(gg_pose pose) {
    return gg_finite3(pose.position) && gg_finite(pose.rotation.w) && gg_finite(pose.rotation.x) &&
           gg_finite(pose.rotation.y) && gg_finite(pose.rotation.z);
}

/* normalises a rotation; one of unit length to single precision keeps its bits, so that poses at rest never drift */
GG_FN gg_quat gg_quat_settle(gg_quat q) {
    float n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return gg_absf(n2 - 1.0f) <= 1e-6f ? q : gg_quat_unit(q);
}

/* motion that takes `duration` [s] from start to target along the shorter arc; none where duration <= 0 or NaN */
GG_FN gg_tool_motion gg_tool_motion_between(gg_pose start, gg_pose target, double duration) {
    start.rotation = gg_quat_settle(start.rotation);
    target.rotation = gg_quat_settle(target.rotation);
    gg_tool_motion motion;
    motion.start = start;
    motion.target = target;
    motion.velocity = gg_v3(0.0f, 0.0f, 0.0f);
    motion.axis = gg_v3(0.0f, 0.0f, 1.0f);
    motion.speed = 0.0f;
    if (!(duration > 0.0)) {
        return motion;
    }
    motion.velocity = gg_v3((float)(((double)target.position.x - (double)start.position.x) / duration),
                            (float)(((double)target.position.y - (double)start.position.y) / duration),
                            (float)(((double)target.position.z - (double)start.position.z) / duration));

    /* target * conj(start) */
    double aw = target.rotation.w, ax = target.rotation.x, ay = target.rotation.y, az = target.rotation.z;
    double bw = start.rotation.w, bx = start.rotation.x, by = start.rotation.y, bz = start.rotation.z;
    double w = aw * bw + ax * bx + ay * by + az * bz;
    double x = ax * bw - aw * bx - ay * bz + az * by;
    double y = ay * bw - aw * by - az * bx + ax * bz;
    double z = az * bw - aw * bz - ax * by + ay * bx;
    double sign = w < 0.0 ? -1.0 : 1.0;
    double n = sqrt(x * x + y * y + z * z);
    /* less is rounding of the poses, not a rotation */
    if (n > 1e-12) {
        double share = sign / n;
        motion.axis = gg_v3((float)(x * share), (float)(y * share), (float)(z * share));
        motion.speed = (float)(2.0 * gg_angle_double(n, w * sign) / duration);
    }
    return motion;
}

/* Pose t [s] after the start: the start itself, bit for bit, at t = 0 and for what does not move; at t = duration the
 * target within 1e-6 (its quaternion up to sign); motion->target has its own bits. */
GG_FN gg_pose gg_tool_motion_at(const gg_tool_motion *motion, double t) {
    gg_pose pose = motion->start;
    pose.position.x = (float)((double)pose.position.x + (double)motion->velocity.x * t);
    pose.position.y = (float)((double)pose.position.y + (double)motion->velocity.y * t);
    pose.position.z = (float)((double)pose.position.z + (double)motion->velocity.z * t);
    if (motion->speed == 0.0f || t == 0.0) {
        return pose;
    }
    float s, c;
    gg_sincos(0.5 * (double)motion->speed * t, &s, &c);
    gg_quat turn = gg_quat_make(c, motion->axis.x * s, motion->axis.y * s, motion->axis.z * s);
    pose.rotation = gg_quat_unit(gg_quat_mul(turn, pose.rotation));
    return pose;
}

#endif
