/* tensor.h: vectors and 3 x 3 matrices in double precision: symmetric ones as xx, yy, zz, xy, xz, yz; others by rows. */
#ifndef GG_TENSOR_H
#define GG_TENSOR_H

#include <math.h>

#include "base.h"

typedef struct gg_sym {
    double xx, yy, zz, xy, xz, yz;
} gg_sym;

typedef struct gg_tensor {
    double m[3][3];
} gg_tensor;

GG_FN double gg_dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

GG_FN gg_sym gg_sym_make(double xx, double yy, double zz, double xy, double xz, double yz) {
    gg_sym a = {xx, yy, zz, xy, xz, yz};
    return a;
}
GG_FN gg_sym gg_sym_add(gg_sym a, gg_sym b) {
    return gg_sym_make(a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz);
}
GG_FN gg_sym gg_sym_scale(gg_sym a, double s) {
    return gg_sym_make(a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s);
}
/* a + s * b */
GG_FN gg_sym gg_sym_madd(gg_sym a, double s, gg_sym b) { return gg_sym_add(a, gg_sym_scale(b, s)); }
GG_FN gg_sym gg_sym_sub(gg_sym a, gg_sym b) { return gg_sym_madd(a, -1.0, b); }
/* a + s * I */
GG_FN gg_sym gg_sym_shift(gg_sym a, double s) { return gg_sym_make(a.xx + s, a.yy + s, a.zz + s, a.xy, a.xz, a.yz); }
/* xx, yy, zz, xy, xz, yz in single precision */
GG_FN gg_sym gg_sym_widened(const float of[6]) {
    return gg_sym_make((double)of[0], (double)of[1], (double)of[2], (double)of[3], (double)of[4], (double)of[5]);
}
GG_FN double gg_sym_trace(gg_sym a) { return a.xx + a.yy + a.zz; }
GG_FN gg_sym gg_sym_deviator(gg_sym a) { return gg_sym_shift(a, -gg_sym_trace(a) / 3.0); }
/* a : b */
GG_FN double gg_sym_dot(gg_sym a, gg_sym b) {
    return a.xx * b.xx + a.yy * b.yy + a.zz * b.zz + 2.0 * (a.xy * b.xy + a.xz * b.xz + a.yz * b.yz);
}
GG_FN double gg_sym_norm(gg_sym a) { return sqrt(gg_sym_dot(a, a)); }
GG_FN double gg_sym_det(gg_sym a) {
    return a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) + a.xz * (a.xy * a.yz - a.yy * a.xz);
}
/* x x^T */
GG_FN gg_sym gg_sym_outer(const double x[3]) {
    return gg_sym_make(x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]);
}
GG_FN void gg_sym_mul(gg_sym a, const double x[3], double out[3]) {
    out[0] = a.xx * x[0] + a.xy * x[1] + a.xz * x[2];
    out[1] = a.xy * x[0] + a.yy * x[1] + a.yz * x[2];
    out[2] = a.xz * x[0] + a.yz * x[1] + a.zz * x[2];
}
/* inverse of a positive definite matrix */
/* a lower triangular matrix in single precision: row by row */
typedef struct gg_lower {
    float of[6];
} gg_lower;

/* The inverse of the Cholesky factor of a positive definite matrix: a^-1 = l^T l. Where that is beyond single precision, or a
 * is not positive definite to rounding, it is held at 1e18. */
GG_FN gg_lower gg_sym_inverse_factor(gg_sym a) {
    const double most = 1e18;
    double x = a.xx > 0.0 ? 1.0 / sqrt(a.xx) : most, yx = a.xy * x, zx = a.xz * x;
    double y2 = a.yy - yx * yx, y = y2 > 0.0 ? 1.0 / sqrt(y2) : most, zy = (a.yz - zx * yx) * y;
    double z2 = a.zz - zx * zx - zy * zy, z = z2 > 0.0 ? 1.0 / sqrt(z2) : most;
    const double of[6] = {x, -yx * x * y, y, (zy * yx * y - zx) * x * z, -zy * y * z, z};
    gg_lower out;
    for (int k = 0; k < 6; k++) {
        double held = of[k] < most ? of[k] : most;
        out.of[k] = (float)(held > -most ? held : -most);
    }
    return out;
}
/* l^T l x */
GG_FN void gg_lower_square(const gg_lower *l, const double x[3], double out[3]) {
    const double one = (double)l->of[0] * x[0];
    const double two = (double)l->of[1] * x[0] + (double)l->of[2] * x[1];
    const double three = (double)l->of[3] * x[0] + (double)l->of[4] * x[1] + (double)l->of[5] * x[2];
    out[0] = (double)l->of[0] * one + (double)l->of[1] * two + (double)l->of[3] * three;
    out[1] = (double)l->of[2] * two + (double)l->of[4] * three;
    out[2] = (double)l->of[5] * three;
}
GG_FN gg_sym gg_sym_inverse(gg_sym a) {
    double xx = a.yy * a.zz - a.yz * a.yz, xy = a.yz * a.xz - a.xy * a.zz, xz = a.xy * a.yz - a.yy * a.xz;
    double det = a.xx * xx + a.xy * xy + a.xz * xz;
    gg_sym out = {xx, a.xx * a.zz - a.xz * a.xz, a.xx * a.yy - a.xy * a.xy, xy, xz, a.xy * a.xz - a.xx * a.yz};
    return gg_sym_scale(out, 1.0 / det);
}

/* row k of a symmetric matrix */
GG_FN void gg_sym_row(gg_sym a, int k, double row[3]) {
    row[0] = k == 0 ? a.xx : k == 1 ? a.xy : a.xz;
    row[1] = k == 0 ? a.xy : k == 1 ? a.yy : a.yz;
    row[2] = k == 0 ? a.xz : k == 1 ? a.yz : a.zz;
}
/* a b of a matrix and a symmetric one */
GG_FN gg_tensor gg_tensor_mul_sym(gg_tensor a, gg_sym b) {
    gg_tensor out;
    for (int i = 0; i < 3; i++) {
        gg_sym_mul(b, a.m[i], out.m[i]);
    }
    return out;
}
/* a b of two symmetric matrices */
GG_FN gg_tensor gg_sym_product(gg_sym a, gg_sym b) {
    gg_tensor rows;
    for (int i = 0; i < 3; i++) {
        gg_sym_row(a, i, rows.m[i]);
    }
    return gg_tensor_mul_sym(rows, b);
}
GG_FN gg_sym gg_tensor_symmetric(gg_tensor a) {
    return gg_sym_make(a.m[0][0], a.m[1][1], a.m[2][2], 0.5 * (a.m[0][1] + a.m[1][0]), 0.5 * (a.m[0][2] + a.m[2][0]),
                       0.5 * (a.m[1][2] + a.m[2][1]));
}

/* the inverse transposed, times the determinant; returns the determinant */
GG_FN double gg_tensor_cofactors(const gg_tensor *a, gg_tensor *out) {
    const double(*m)[3] = a->m;
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            out->m[i][j] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
        }
    }
    return m[0][0] * out->m[0][0] + m[0][1] * out->m[0][1] + m[0][2] * out->m[0][2];
}
GG_FN double gg_tensor_norm2(const gg_tensor *a) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum += a->m[i][j] * a->m[i][j];
        }
    }
    return sum;
}

/* The stretch V of the polar decomposition a = V R, by Newton's iteration for R with scaling by Frobenius norms (Higham,
 * Functions of Matrices, 2008, section 8.6). Returns 0, and leaves *stretch, where a is singular or not finite. */
GG_FN_LARGE int gg_tensor_stretch(gg_tensor a, gg_sym *stretch) {
    gg_tensor r = a, cofactors;
    GG_ROLLED
    for (int pass = 0; pass < 20; pass++) {
        double det = gg_tensor_cofactors(&r, &cofactors), size2 = gg_tensor_norm2(&r);
        double ratio2 = gg_tensor_norm2(&cofactors) / (size2 * det * det);
        if (!(ratio2 > 1e-24 && ratio2 < 1e24)) {
            return 0;
        }
        double scale = sqrt(sqrt(ratio2)), change = 0.0;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double next = 0.5 * (scale * r.m[i][j] + cofactors.m[i][j] / (scale * det));
                change += (next - r.m[i][j]) * (next - r.m[i][j]);
                r.m[i][j] = next;
            }
        }
        if (change < 1e-26) {
            break;
        }
    }
    gg_tensor out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.m[i][j] = a.m[i][0] * r.m[j][0] + a.m[i][1] * r.m[j][1] + a.m[i][2] * r.m[j][2];
        }
    }
    *stretch = gg_tensor_symmetric(out);
    return 1;
}

#endif
