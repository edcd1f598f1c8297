/* vec.h: three-vectors, unit quaternions (w x y z, Hamilton, active rotation) and 3x3 rotations in single precision.
 *
 * Every operation is written out in one fixed order of additions, so that results do not depend on the compiler.
 */
#ifndef GG_VEC_H
#define GG_VEC_H

#include <math.h>
#include <string.h>

#include "base.h"

typedef struct gg_vec3 {
    float x, y, z;
} gg_vec3;

typedef struct gg_quat {
    float w, x, y, z;
} gg_quat;

/* rows of a rotation matrix: world = rotate(local) */
typedef struct gg_mat3 {
    gg_vec3 r0, r1, r2;
} gg_mat3;

GG_FN gg_vec3 gg_v3(float x, float y, float z) { return GG_LIT(gg_vec3){x, y, z}; }
GG_FN gg_vec3 gg_add(gg_vec3 a, gg_vec3 b) { return gg_v3(a.x + b.x, a.y + b.y, a.z + b.z); }
GG_FN gg_vec3 gg_sub(gg_vec3 a, gg_vec3 b) { return gg_v3(a.x - b.x, a.y - b.y, a.z - b.z); }
GG_FN gg_vec3 gg_scale(gg_vec3 a, float s) { return gg_v3(a.x * s, a.y * s, a.z * s); }
/* a + b * s */
GG_FN gg_vec3 gg_madd(gg_vec3 a, gg_vec3 b, float s) { return gg_v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s); }
GG_FN float gg_dot(gg_vec3 a, gg_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
GG_FN gg_vec3 gg_cross(gg_vec3 a, gg_vec3 b) {
    return gg_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
GG_FN float gg_norm2(gg_vec3 a) { return gg_dot(a, a); }
GG_FN float gg_norm(gg_vec3 a) { return sqrtf(gg_dot(a, a)); }
GG_FN float gg_minf(float a, float b) { return a < b ? a : b; }
GG_FN float gg_maxf(float a, float b) { return a > b ? a : b; }
GG_FN float gg_absf(float a) { return a < 0.0f ? -a : a; }
GG_FN float gg_clampf(float a, float lower, float upper) { return gg_minf(gg_maxf(a, lower), upper); }
/* a where which is 1, b where it is 0. Both are computed: a loop of such choices has no branch, and compilers make
 * vectors of it. */
GG_FN float gg_choose(int32_t which, float a, float b) {
    int32_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (x & -which) | (y & (which - 1));
    memcpy(&a, &x, sizeof a);
    return a;
}
/* gg_maxf as a choice, where compilers would make a branch of it in such a loop */
GG_FN float gg_choose_max(float a, float b) { return gg_choose(a > b, a, b); }
/* true for every value that is neither infinite nor NaN */
GG_FN int gg_finite(float a) { return a - a == 0.0f; }
GG_FN float gg_axis_of(gg_vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }
GG_FN int gg_finite3(gg_vec3 a) { return gg_finite(a.x) && gg_finite(a.y) && gg_finite(a.z); }

/* Compensated summation: a + b + error; error[3] becomes the rounding error of the sum. Source: Kahan, Further remarks
 * on reducing truncation errors (Communications of the ACM 8, 1965) */
GG_FN gg_vec3 gg_add_compensated(gg_vec3 a, gg_vec3 b, float *error) {
    gg_vec3 term = gg_add(b, gg_v3(error[0], error[1], error[2]));
    gg_vec3 sum = gg_add(a, term), lost = gg_sub(term, gg_sub(sum, a));
    error[0] = lost.x;
    error[1] = lost.y;
    error[2] = lost.z;
    return sum;
}

/* unit vector along a; `fallback` where a is too short to have a direction */
GG_FN gg_vec3 gg_unit(gg_vec3 a, gg_vec3 fallback) {
    float n2 = gg_norm2(a);
    if (!(n2 > 1e-24f)) {
        return fallback;
    }
    return gg_scale(a, 1.0f / sqrtf(n2));
}

GG_FN gg_quat gg_quat_make(float w, float x, float y, float z) { return GG_LIT(gg_quat){w, x, y, z}; }
/* rotation b first, then a */
GG_FN gg_quat gg_quat_mul(gg_quat a, gg_quat b) {
    return gg_quat_make(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
GG_FN gg_quat gg_quat_unit(gg_quat q) {
    float n2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!(n2 > 1e-24f)) {
        return gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    }
    float s = 1.0f / sqrtf(n2);
    return gg_quat_make(q.w * s, q.x * s, q.y * s, q.z * s);
}
GG_FN gg_mat3 gg_quat_mat(gg_quat q) {
    float x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    float xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
    float xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    float wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    gg_mat3 m;
    m.r0 = gg_v3(1.0f - (yy + zz), xy - wz, xz + wy);
    m.r1 = gg_v3(xy + wz, 1.0f - (xx + zz), yz - wx);
    m.r2 = gg_v3(xz - wy, yz + wx, 1.0f - (xx + yy));
    return m;
}
/* local -> world */
GG_FN gg_vec3 gg_mat_mul(gg_mat3 m, gg_vec3 a) { return gg_v3(gg_dot(m.r0, a), gg_dot(m.r1, a), gg_dot(m.r2, a)); }
/* world -> local */
GG_FN gg_vec3 gg_mat_tmul(gg_mat3 m, gg_vec3 a) {
    return gg_v3(m.r0.x * a.x + m.r1.x * a.y + m.r2.x * a.z, m.r0.y * a.x + m.r1.y * a.y + m.r2.y * a.z,
                 m.r0.z * a.x + m.r1.z * a.y + m.r2.z * a.z);
}
GG_FN gg_vec3 gg_quat_rotate(gg_quat q, gg_vec3 a) { return gg_mat_mul(gg_quat_mat(q), a); }

#endif
