/* real4.h: vectors of four doubles: one register where there are such, two of two doubles with other processors, plain
 * loops on a GPU, and where one is emulated, so that its loads are those of a GPU. Same bits: every operation works on
 * each double alone. */
#ifndef GG_REAL4_H
#define GG_REAL4_H

#include <string.h>

#include "base.h"

#if defined(__AVX__) && !defined(__CUDACC__)

typedef double gg_real4 __attribute__((vector_size(32)));

GG_FN gg_real4 gg_real4_set(double a, double b, double c, double d) { return (gg_real4){a, b, c, d}; }
GG_FN double gg_real4_at(gg_real4 a, int k) { return a[k]; }
GG_FN gg_real4 gg_real4_add(gg_real4 a, gg_real4 b) { return a + b; }
GG_FN gg_real4 gg_real4_sub(gg_real4 a, gg_real4 b) { return a - b; }
GG_FN gg_real4 gg_real4_times(gg_real4 a, gg_real4 b) { return a * b; }
GG_FN gg_real4 gg_real4_scale(gg_real4 a, double scale) { return a * scale; }

#elif defined(__GNUC__) && !defined(__CUDACC__) && !defined(GG_CUDA_EMULATED)

typedef double gg_real2 __attribute__((vector_size(16)));
typedef struct gg_real4 {
    gg_real2 low, high;
} gg_real4;

GG_FN gg_real4 gg_real4_set(double a, double b, double c, double d) {
    gg_real4 out = {{a, b}, {c, d}};
    return out;
}
GG_FN double gg_real4_at(gg_real4 a, int k) { return k < 2 ? a.low[k] : a.high[k - 2]; }
GG_FN gg_real4 gg_real4_add(gg_real4 a, gg_real4 b) {
    a.low += b.low, a.high += b.high;
    return a;
}
GG_FN gg_real4 gg_real4_sub(gg_real4 a, gg_real4 b) {
    a.low -= b.low, a.high -= b.high;
    return a;
}
GG_FN gg_real4 gg_real4_times(gg_real4 a, gg_real4 b) {
    a.low *= b.low, a.high *= b.high;
    return a;
}
GG_FN gg_real4 gg_real4_scale(gg_real4 a, double scale) {
    a.low *= scale, a.high *= scale;
    return a;
}

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
GG_FN gg_real4 gg_real4_times(gg_real4 a, gg_real4 b) {
    for (int k = 0; k < 4; k++) {
        a.v[k] *= b.v[k];
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
GG_FN gg_real4 gg_real4_load(const double *from) {
    gg_real4 out;
    memcpy(&out, from, sizeof out);
    return out;
}
GG_FN void gg_real4_store(double *to, gg_real4 a) { memcpy(to, &a, sizeof a); }
GG_FN gg_real4 gg_real4_zero(void) { return gg_real4_set(0.0, 0.0, 0.0, 0.0); }
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
