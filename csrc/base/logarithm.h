/* logarithm.h: logarithms and exponentials of symmetric matrices. From + - * / and sqrt alone, so that all machines agree. */
#ifndef GG_LOGARITHM_H
#define GG_LOGARITHM_H

#include "tensor.h"

/* ln x of x > 0, to a few units in the last place of 1: roots until x is near 1, then the series of artanh */
GG_FN double gg_log(double x) {
    double scale = 2.0;
    GG_ROLLED
    for (int k = 0; k < 16 && !(x > 0.9 && x < 1.1); k++) {
        x = sqrt(x);
        scale *= 2.0;
    }
    double z = (x - 1.0) / (x + 1.0), z2 = z * z, sum = 0.0;
    for (int k = 11; k > 0; k -= 2) {
        sum = sum * z2 + 1.0 / k;
    }
    return scale * z * sum;
}

/* e^x: halves until x is small, then the series, then squares */
GG_FN double gg_exp(double x) {
    int halved = 0;
    GG_ROLLED
    for (; halved < 16 && !(x > -0.1 && x < 0.1); halved++) {
        x *= 0.5;
    }
    double sum = 1.0;
    for (int k = 10; k > 0; k--) {
        sum = 1.0 + x / k * sum;
    }
    GG_ROLLED
    for (; halved > 0; halved--) {
        sum *= sum;
    }
    return sum;
}

/* Jacobi's method: turns a until it is diagonal; axes: its eigenvectors, in rows. */
GG_FN_LARGE void gg_sym_spectrum(gg_sym a, double value[3], double axes[3][3]) {
    double m[3][3] = {{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}};
    for (int k = 0; k < 9; k++) {
        axes[k / 3][k % 3] = k % 4 == 0;
    }
    GG_ROLLED
    for (int pass = 0; pass < 24; pass++) {
        int i = pass % 3 == 2, j = pass % 3 == 0 ? 1 : 2;
        double off = m[i][j], apart = 0.5 * (m[j][j] - m[i][i]);
        if (off * off <= 1e-36 * (m[i][i] * m[i][i] + m[j][j] * m[j][j])) {
            continue;
        }
        double size = sqrt(apart * apart + off * off), t = off / (apart < 0.0 ? apart - size : apart + size);
        double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
        for (int k = 0; k < 3; k++) { /* columns */
            double one = m[k][i], other = m[k][j];
            m[k][i] = c * one - s * other;
            m[k][j] = s * one + c * other;
        }
        for (int k = 0; k < 3; k++) { /* rows */
            double one = m[i][k], other = m[j][k], first = axes[i][k], second = axes[j][k];
            m[i][k] = c * one - s * other;
            m[j][k] = s * one + c * other;
            axes[i][k] = c * first - s * second;
            axes[j][k] = s * first + c * second;
        }
    }
    for (int k = 0; k < 3; k++) {
        value[k] = m[k][k];
    }
}

/* of a positive definite matrix */
GG_FN_LARGE gg_sym gg_sym_log(gg_sym a) {
    double value[3], axes[3][3];
    gg_sym out = GG_ZERO;
    gg_sym_spectrum(a, value, axes);
    for (int k = 0; k < 3; k++) {
        out = gg_sym_madd(out, gg_log(value[k]), gg_sym_outer(axes[k]));
    }
    return out;
}
GG_FN_LARGE gg_sym gg_sym_exp(gg_sym a) {
    double value[3], axes[3][3];
    gg_sym out = GG_ZERO;
    gg_sym_spectrum(a, value, axes);
    for (int k = 0; k < 3; k++) {
        out = gg_sym_madd(out, gg_exp(value[k]), gg_sym_outer(axes[k]));
    }
    return out;
}

#endif
