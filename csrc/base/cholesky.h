/* cholesky.h: Cholesky factors of small dense matrices, row by row.
 *
 * All loops that matter run along rows, so that compilers take several numbers at once without another order of sums:
 * the bits are those of any machine and instruction set.
 */
#ifndef GG_CHOLESKY_H
#define GG_CHOLESKY_H

#include <math.h>

#include "base.h"

/* Factors the symmetric positive semi-definite matrix a (n, n) as U^T U: U is left in its upper triangle. A row whose
 * pivot is not above `least` times its diagonal element becomes 0. Returns how many are not: n of a definite matrix. */
GG_FN int64_t gg_cholesky_factor(double *a, int64_t n, double least) {
    int64_t rank = 0;
    GG_ROLLED
    for (int64_t k = 0; k < n; k++) {
        double *row = a + k * n, pivot = row[k], diagonal = pivot;
        GG_ROLLED
        for (int64_t r = 0; r < k; r++) {
            diagonal += a[r * n + k] * a[r * n + k];
        }
        int usable = pivot > least * diagonal && pivot < 1e300;
        double scale = usable ? 1.0 / sqrt(pivot) : 0.0;
        rank += usable;
        GG_ROLLED
        for (int64_t c = k; c < n; c++) {
            row[c] = usable ? row[c] * scale : 0.0;
        }
        GG_ROLLED
        for (int64_t r = k + 1; r < n; r++) {
            double *below = a + r * n, factor = row[r];
            GG_ROLLED
            for (int64_t c = r; c < n; c++) {
                below[c] -= factor * row[c];
            }
        }
    }
    return rank;
}

/* Solves U^T Y = B in place: b (n, width) row by row, u as gg_cholesky_factor left it, of full rank. */
GG_FN void gg_cholesky_forward(const double *u, int64_t n, double *b, int64_t width) {
    GG_ROLLED
    for (int64_t k = 0; k < n; k++) {
        double *row = b + k * width, scale = 1.0 / u[k * n + k];
        GG_ROLLED
        for (int64_t c = 0; c < width; c++) {
            row[c] *= scale;
        }
        GG_ROLLED
        for (int64_t r = k + 1; r < n; r++) {
            double *below = b + r * width, factor = u[k * n + r];
            GG_ROLLED
            for (int64_t c = 0; c < width; c++) {
                below[c] -= factor * row[c];
            }
        }
    }
}

/* Solves U x = b in place: b (n). */
GG_FN void gg_cholesky_backward(const double *u, int64_t n, double *b) {
    GG_ROLLED
    for (int64_t k = n - 1; k >= 0; k--) {
        double sum = b[k];
        GG_ROLLED
        for (int64_t c = k + 1; c < n; c++) {
            sum -= u[k * n + c] * b[c];
        }
        b[k] = sum / u[k * n + k];
    }
}

/* out (width, width) = Y^T Y of y (n, width): symmetric to the bit */
GG_FN void gg_gram(const double *y, int64_t n, double *out, int64_t width) {
    for (int64_t k = 0; k < width * width; k++) {
        out[k] = 0.0;
    }
    for (int64_t k = 0; k < n; k++) {
        const double *row = y + k * width;
        for (int64_t r = 0; r < width; r++) {
            for (int64_t c = 0; c < width; c++) {
                out[r * width + c] += row[r] * row[c];
            }
        }
    }
}

#endif
