/* rigid.h: rotations and inertia of rigid bodies in double precision: IEEE operations in a fixed order. */
#ifndef GG_RIGID_H
#define GG_RIGID_H

#include <math.h>

#include "scalar.h"
#include "tensor.h"

/* rows of a rotation matrix, from the axes of a body to those of the world */
typedef struct gg_turn {
    double m[3][3];
} gg_turn;

/* a symmetric matrix: xx yy zz xy xz yz */
typedef struct gg_spread {
    double of[6];
} gg_spread;

/* q: unit quaternion w x y z */
GG_FN gg_turn gg_turn_of(const double q[4]) {
    double x2 = q[1] + q[1], y2 = q[2] + q[2], z2 = q[3] + q[3];
    double xx = q[1] * x2, yy = q[2] * y2, zz = q[3] * z2, xy = q[1] * y2, xz = q[1] * z2, yz = q[2] * z2;
    double wx = q[0] * x2, wy = q[0] * y2, wz = q[0] * z2;
    gg_turn t = {{{1.0 - (yy + zz), xy - wz, xz + wy},
                  {xy + wz, 1.0 - (xx + zz), yz - wx},
                  {xz - wy, yz + wx, 1.0 - (xx + yy)}}};
    return t;
}

/* a symmetric matrix of the body in the axes of the world */
GG_FN gg_sym gg_turn_sym(const gg_turn *t, gg_sym a) {
    double of[3][3], half[3];
    for (int i = 0; i < 3; i++) {
        gg_sym_mul(a, t->m[i], half);
        for (int j = 0; j < 3; j++) {
            of[i][j] = gg_dot3(half, t->m[j]);
        }
    }
    return gg_sym_make(of[0][0], of[1][1], of[2][2], of[0][1], of[0][2], of[1][2]);
}

/* component of a vector of the world along axis k of the body */
GG_FN double gg_turn_along(const gg_turn *t, int k, const double a[3]) {
    return t->m[0][k] * a[0] + t->m[1][k] * a[1] + t->m[2][k] * a[2];
}

/* a point of the body in the axes of the world */
GG_FN gg_vec3 gg_turn_point(const gg_turn *t, gg_vec3 a) {
    return gg_v3((float)(t->m[0][0] * a.x + t->m[0][1] * a.y + t->m[0][2] * a.z),
                 (float)(t->m[1][0] * a.x + t->m[1][1] * a.y + t->m[1][2] * a.z),
                 (float)(t->m[2][0] * a.x + t->m[2][1] * a.y + t->m[2][2] * a.z));
}

/* inverse inertia in the axes of the world; moments over density. Density 0: the mass is infinite. */
GG_FN gg_spread gg_turn_inverse(const gg_turn *t, const double moment[3], double density) {
    gg_spread s = GG_ZERO;
    for (int k = 0; k < 3 && density > 0.0; k++) {
        double x = t->m[0][k], y = t->m[1][k], z = t->m[2][k], inverse = 1.0 / (moment[k] * density);
        s.of[0] += x * x * inverse;
        s.of[1] += y * y * inverse;
        s.of[2] += z * z * inverse;
        s.of[3] += x * y * inverse;
        s.of[4] += x * z * inverse;
        s.of[5] += y * z * inverse;
    }
    return s;
}

/* component k of a symmetric matrix times a vector */
GG_FN double gg_spread_along(const gg_spread *s, int k, const double a[3]) {
    const double *m = s->of;
    return k == 0   ? m[0] * a[0] + m[3] * a[1] + m[4] * a[2]
           : k == 1 ? m[3] * a[0] + m[1] * a[1] + m[5] * a[2]
                    : m[4] * a[0] + m[5] * a[1] + m[2] * a[2];
}

/* angular momentum over density in the axes of the world, of a spin in them */
GG_FN void gg_turn_momentum(const gg_turn *t, const double moment[3], const double spin[3], double momentum[3]) {
    double own[3];
    for (int k = 0; k < 3; k++) {
        own[k] = moment[k] * gg_turn_along(t, k, spin);
    }
    for (int c = 0; c < 3; c++) {
        momentum[c] = t->m[c][0] * own[0] + t->m[c][1] * own[1] + t->m[c][2] * own[2];
    }
}

/* the inverse of gg_turn_momentum */
GG_FN void gg_turn_spin(const gg_turn *t, const double moment[3], const double momentum[3], double spin[3]) {
    double own[3];
    for (int k = 0; k < 3; k++) {
        own[k] = gg_turn_along(t, k, momentum) / moment[k];
    }
    for (int c = 0; c < 3; c++) {
        spin[c] = t->m[c][0] * own[0] + t->m[c][1] * own[1] + t->m[c][2] * own[2];
    }
}

GG_FN void gg_turn_settle(double q[4]) {
    double scale = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) {
        q[k] *= scale;
    }
}

/* rate of a quaternion with an angular momentum over density: half of its spin times q */
GG_FN void gg_turn_rate(const double q[4], const double momentum[3], const double moment[3], double rate[4]) {
    double unit[4] = {q[0], q[1], q[2], q[3]}, s[3];
    gg_turn_settle(unit);
    gg_turn t = gg_turn_of(unit);
    gg_turn_spin(&t, moment, momentum, s);
    rate[0] = 0.5 * (-s[0] * q[1] - s[1] * q[2] - s[2] * q[3]);
    rate[1] = 0.5 * (s[0] * q[0] + s[1] * q[3] - s[2] * q[2]);
    rate[2] = 0.5 * (s[1] * q[0] + s[2] * q[1] - s[0] * q[3]);
    rate[3] = 0.5 * (s[2] * q[0] + s[0] * q[2] - s[1] * q[1]);
}

/* a Runge-Kutta step of fourth order of a rotation with constant angular momentum */
GG_FN void gg_turn_advance(double q[4], const double momentum[3], const double moment[3], double dt) {
    double rate[4] = {0.0, 0.0, 0.0, 0.0}, sum[4] = {0.0, 0.0, 0.0, 0.0}, at[4];
    GG_ROLLED
    for (int stage = 0; stage < 4; stage++) {
        double share = stage == 0 ? 0.0 : stage == 3 ? dt : 0.5 * dt, weight = stage == 0 || stage == 3 ? 1.0 : 2.0;
        for (int k = 0; k < 4; k++) {
            at[k] = q[k] + share * rate[k];
        }
        gg_turn_rate(at, momentum, moment, rate);
        for (int k = 0; k < 4; k++) {
            sum[k] += weight * rate[k];
        }
    }
    for (int k = 0; k < 4; k++) {
        q[k] += dt / 6.0 * sum[k];
    }
    gg_turn_settle(q);
}

/* turns a rotation about an axis of the world; turn: axis times angle [rad] */
GG_FN void gg_turn_by(double q[4], const double turn[3]) {
    double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]), sine, c;
    if (!(angle > 0.0)) {
        return;
    }
    gg_sincos_double(0.5 * angle, &sine, &c);
    double s = sine / angle, x = s * turn[0], y = s * turn[1], z = s * turn[2];
    double turned[4] = {c * q[0] - x * q[1] - y * q[2] - z * q[3], c * q[1] + x * q[0] + y * q[3] - z * q[2],
                        c * q[2] + y * q[0] + z * q[1] - x * q[3], c * q[3] + z * q[0] + x * q[2] - y * q[1]};
    for (int k = 0; k < 4; k++) {
        q[k] = turned[k];
    }
    gg_turn_settle(q);
}

#endif
