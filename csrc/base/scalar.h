/* scalar.h: sine, cosine and the angle of a direction with the same bits on every machine and compiler.
 *
 * libm may round differently from one version to the next; these polynomials use only IEEE add, multiply, divide and
 * square root, in double. Error bounds: 1e-7 absolute for sine and cosine at |x| <= 1e4 rad (2e-7 at 1e9), 1e-6
 * absolute and relative for angles; 1e-15 absolute for sine and cosine in double at |x| <= 1e6 rad (2e-14 at 1e9).
 */
#ifndef GG_SCALAR_H
#define GG_SCALAR_H

#include "vec.h"

#define GG_PI 3.14159265358979323846
/* 1.5 * 2^52: a double that is added to it and taken off again is rounded to an integer, without libm */
#define GG_TO_INTEGER 6755399441055744.0

/* Sine and cosine of x [rad]; those of 0 for |x| > 1e9 and NaN. Range reduction in double to [-pi/4, pi/4], then Taylor
 * series with a truncation error below 2e-9. */
GG_FN void gg_sincos(double x, float *sine, float *cosine) {
    if (!(x >= -1e9 && x <= 1e9)) {
        x = 0.0;
    }
    /* nearest multiple of pi/2 */
    double turns = x * (2.0 / GG_PI);
    double shifted = turns + GG_TO_INTEGER;
    double k = shifted - GG_TO_INTEGER;
    double r = x - k * (GG_PI / 2.0);
    double r2 = r * r;
    double s = r * (1.0 + r2 * (-1.0 / 6.0 + r2 * (1.0 / 120.0 + r2 * (-1.0 / 5040.0 + r2 * (1.0 / 362880.0)))));
    double c =
        1.0 + r2 * (-0.5 + r2 * (1.0 / 24.0 + r2 * (-1.0 / 720.0 + r2 * (1.0 / 40320.0 - r2 * (1.0 / 3628800.0)))));
    int64_t quarter = (int64_t)k & 3;
    double out_s = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    double out_c = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *sine = (float)out_s;
    *cosine = (float)out_c;
}

/* Sine and cosine of x less the nearest multiple k of pi/2, for |x| <= 1e9; returns k + GG_TO_INTEGER. pi/2 is
 * subtracted in two parts (Cody, Waite): the first has 23 bits, so that its product with k, of up to 30 bits, is exact.
 * The truncation error of the series is below 1e-17. */
GG_FN double gg_sincos_series(double x, double *sine, double *cosine) {
    double shifted = x * (2.0 / GG_PI) + GG_TO_INTEGER;
    double k = shifted - GG_TO_INTEGER;
    /* pi/2 = 6588397 / 2^22 and the remainder */
    double r = (x - k * 1.5707962512969970703125) - k * 7.5497899548918821691639e-8;
    double r2 = r * r;
    double s = 1.0 / 355687428096000.0, c = 1.0 / 20922789888000.0;
    s = -1.0 / 1307674368000.0 + r2 * s;
    s = 1.0 / 6227020800.0 + r2 * s;
    s = -1.0 / 39916800.0 + r2 * s;
    s = 1.0 / 362880.0 + r2 * s;
    s = -1.0 / 5040.0 + r2 * s;
    s = 1.0 / 120.0 + r2 * s;
    s = -1.0 / 6.0 + r2 * s;
    *sine = r + r * (r2 * s);
    c = -1.0 / 87178291200.0 + r2 * c;
    c = 1.0 / 479001600.0 + r2 * c;
    c = -1.0 / 3628800.0 + r2 * c;
    c = 1.0 / 40320.0 + r2 * c;
    c = -1.0 / 720.0 + r2 * c;
    c = 1.0 / 24.0 + r2 * c;
    c = -0.5 + r2 * c;
    *cosine = 1.0 + r2 * c;
    return shifted;
}

/* what gg_sincos_double takes x for [rad] */
GG_FN double gg_sincos_angle(double x) { return x >= -1e9 && x <= 1e9 ? x : 0.0; }

/* gg_sincos in double, for kinematics */
GG_FN void gg_sincos_double(double x, double *sine, double *cosine) {
    double s, c, shifted = gg_sincos_series(gg_sincos_angle(x), &s, &c);
    int64_t quarter = (int64_t)(shifted - GG_TO_INTEGER) & 3;
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

/* The same of what gg_sincos_angle gave, with choices made on bits: compilers make vectors of a loop of such angles.
 * The last bits of the shifted number are those of k. */
GG_FN void gg_sincos_lane(double angle, double *sine, double *cosine) {
    double s, c, shifted = gg_sincos_series(angle, &s, &c);
    uint64_t quarter, s_bits, c_bits;
    memcpy(&quarter, &shifted, sizeof quarter);
    memcpy(&s_bits, &s, sizeof s_bits);
    memcpy(&c_bits, &c, sizeof c_bits);
    uint64_t swap = (s_bits ^ c_bits) & (0 - (quarter & 1));
    s_bits ^= swap ^ ((quarter & 2) << 62);
    c_bits ^= swap ^ (((quarter + 1) & 2) << 62);
    memcpy(sine, &s_bits, sizeof s_bits);
    memcpy(cosine, &c_bits, sizeof c_bits);
}

/* Angle [rad] in [0, pi] of the direction (cosine, sine >= 0) of any length; 0 for the zero vector. Halved four times
 * into [0, pi/16], where the truncation error of the series is below 6e-11. */
GG_FN double gg_angle_double(double sine, double cosine) {
    double s = sine, c = cosine;
    if (s == 0.0 && c == 0.0) {
        return 0.0;
    }
    double scale = 1.0;
    for (int i = 0; i < 4; i++) {
        /* tan(a/2) = s / (n + c) = (n - c) / s: the form without cancellation */
        double n = sqrt(s * s + c * c);
        if (c >= 0.0) {
            c = n + c;
        } else {
            double half = n - c;
            c = s;
            s = half;
        }
        scale *= 2.0;
    }
    double t = s / c;
    double t2 = t * t;
    double a =
        t * (1.0 + t2 * (-1.0 / 3.0 + t2 * (1.0 / 5.0 + t2 * (-1.0 / 7.0 + t2 * (1.0 / 9.0 - t2 * (1.0 / 11.0))))));
    return a * scale;
}

/* the same in single precision */
GG_FN float gg_angle(float sine, float cosine) { return (float)gg_angle_double(sine, cosine); }

#endif
