/* scalar.h: our own sine, cosine and arc cosine, so that a pose has the same bits on every machine and compiler.
 *
 * libm is free to round differently from one version to the next; these polynomials use only IEEE add, multiply, divide
 * and square root, in double. Error bounds: 1e-7 absolute for sine and cosine at |x| <= 1e4 rad (2e-7 at 1e9), 1e-6
 * absolute and relative for angles.
 */
#ifndef GG_SCALAR_H
#define GG_SCALAR_H

#include "vec.h"

#define GG_PI 3.14159265358979323846

/* Sine and cosine of x [rad], |x| <= 1e9; the angle 0 is taken for anything beyond, and for NaN. Reduced in double to
 * [-pi/4, pi/4], then Taylor: the first term left out is below 2e-9. */
GG_FN void gg_sincos(double x, float *sine, float *cosine) {
    if (!(x >= -1e9 && x <= 1e9)) {
        x = 0.0;
    }
    /* nearest multiple of pi/2, without libm: the sum with 1.5*2^52 rounds to an integer */
    double turns = x * (2.0 / GG_PI);
    double magic = 6755399441055744.0;
    double shifted = turns + magic;
    double k = shifted - magic;
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

/* Angle [rad] in [0, pi] of the direction (cosine, sine >= 0) of any length; 0 for the zero vector. Halved four times
 * into [0, pi/16], where the series leaves out less than 6e-11. */
GG_FN double gg_angle_wide(double sine, double cosine) {
    double s = sine, c = cosine;
    if (s == 0.0 && c == 0.0) {
        return 0.0;
    }
    double scale = 1.0;
    for (int i = 0; i < 4; i++) {
        /* tan(a/2) = s / (n + c) = (n - c) / s: the form that does not cancel */
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
GG_FN float gg_angle(float sine, float cosine) { return (float)gg_angle_wide(sine, cosine); }

#endif
