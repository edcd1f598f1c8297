/* cholesky.h: how the points of a chain of bodies yield: A = J H^-1 J^T by the Cholesky factor of H.
 *
 * All loops that matter run along rows, so that compilers take several numbers at once without another order of sums:
 * the bits are those of any machine and instruction set.
 */
#ifndef GG_CHOLESKY_H
#define GG_CHOLESKY_H

#include <math.h>
#include <stdint.h>

/* Factors the symmetric positive definite matrix a (n, n) as U^T U: U is left in its upper triangle. Returns 0, or -1
 * where it is not positive definite. */
static inline int gg_cholesky_factor(double *a, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        double *row = a + k * n, pivot = row[k];
        if (!(pivot > 0.0) || !(pivot < 1e300)) {
            return -1;
        }
        double scale = 1.0 / sqrt(pivot);
        for (int64_t c = k; c < n; c++) {
            row[c] *= scale;
        }
        for (int64_t r = k + 1; r < n; r++) {
            double *below = a + r * n, factor = row[r];
            for (int64_t c = r; c < n; c++) {
                below[c] -= factor * row[c];
            }
        }
    }
    return 0;
}

/* Solves U^T Y = B in place: b (n, width) row by row, u as gg_cholesky_factor left it. */
static inline void gg_cholesky_forward(const double *u, int64_t n, double *b, int64_t width) {
    for (int64_t k = 0; k < n; k++) {
        double *row = b + k * width, scale = 1.0 / u[k * n + k];
        for (int64_t c = 0; c < width; c++) {
            row[c] *= scale;
        }
        for (int64_t r = k + 1; r < n; r++) {
            double *below = b + r * width, factor = u[k * n + r];
            for (int64_t c = 0; c < width; c++) {
                below[c] -= factor * row[c];
            }
        }
    }
}

/* out (width, width) = Y^T Y of y (n, width): symmetric to the bit */
static inline void gg_gram(const double *y, int64_t n, double *out, int64_t width) {
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
