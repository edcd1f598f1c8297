/* real4.h: vectors of four doubles: registers where instructions for such are enabled, plain loops elsewhere. Same bits: every operation works on each double alone. */
#ifndef GG_REAL4_H
#define GG_REAL4_H

#include "base.h"

#if defined(__AVX__) && !defined(__CUDACC__)

typedef double gg_real4 __attribute__((vector_size(32)));

GG_FN gg_real4 gg_real4_set(double a, double b, double c, double d) { return (gg_real4){a, b, c, d}; }
GG_FN double gg_real4_at(gg_real4 a, int k) { return a[k]; }
GG_FN gg_real4 gg_real4_add(gg_real4 a, gg_real4 b) { return a + b; }
GG_FN gg_real4 gg_real4_sub(gg_real4 a, gg_real4 b) { return a - b; }
GG_FN gg_real4 gg_real4_scale(gg_real4 a, double scale) { return a * scale; }

#else

typedef struct gg_real4 {
    GG_ALIGNED(16) double v[4];
} gg_real4;

GG_FN gg_real4 gg_real4_set(double a, double b, double c, double d) {
    gg_real4 out;
    out.v[0] = a, out.v[1] = b, out.v[2] = c, out.v[3] = d;
    return out;
}
GG_FN double gg_real4_at(gg_real4 a, int k) { return a.v[k]; }
GG_FN gg_real4 gg_real4_add(gg_real4 a, gg_real4 b) {
    for (int k = 0; k < 4; k++) {
        a.v[k] += b.v[k];
    }
    return a;
}
GG_FN gg_real4 gg_real4_sub(gg_real4 a, gg_real4 b) {
    for (int k = 0; k < 4; k++) {
        a.v[k] -= b.v[k];
    }
    return a;
}
GG_FN gg_real4 gg_real4_scale(gg_real4 a, double scale) {
    for (int k = 0; k < 4; k++) {
        a.v[k] *= scale;
    }
    return a;
}

#endif

/* of four doubles that need not be aligned */
GG_FN gg_real4 gg_real4_load(const double *from) { return gg_real4_set(from[0], from[1], from[2], from[3]); }
GG_FN void gg_real4_store(double *to, gg_real4 a) {
    for (int k = 0; k < 4; k++) {
        to[k] = gg_real4_at(a, k);
    }
}
GG_FN gg_real4 gg_real4_zero(void) { return gg_real4_set(0.0, 0.0, 0.0, 0.0); }
GG_FN gg_real4 gg_real4_times(gg_real4 a, gg_real4 b) {
    return gg_real4_set(gg_real4_at(a, 0) * gg_real4_at(b, 0), gg_real4_at(a, 1) * gg_real4_at(b, 1),
                        gg_real4_at(a, 2) * gg_real4_at(b, 2), gg_real4_at(a, 3) * gg_real4_at(b, 3));
}
/* sum + scale * a */
GG_FN gg_real4 gg_real4_madd(gg_real4 sum, double scale, gg_real4 a) {
    return gg_real4_add(sum, gg_real4_scale(a, scale));
}
/* the first three */
GG_FN void gg_real4_three(gg_real4 a, double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = gg_real4_at(a, k);
    }
}
/* of the first three */
GG_FN double gg_real4_dot3(gg_real4 a, gg_real4 b) {
    return gg_real4_at(a, 0) * gg_real4_at(b, 0) + gg_real4_at(a, 1) * gg_real4_at(b, 1) +
           gg_real4_at(a, 2) * gg_real4_at(b, 2);
}

#endif
