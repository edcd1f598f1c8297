/* four.h: vectors of four floats: SIMD registers of the host where the compiler has vector types, plain loops
 * elsewhere. Same bits: every operation works on each float alone, and sums run in order. */
#ifndef GG_FOUR_H
#define GG_FOUR_H

#include <string.h>

#include "scalar.h"

#if defined(__GNUC__) && !defined(__CUDACC__)

typedef float gg_four __attribute__((vector_size(16)));
typedef uint32_t gg_four_bits __attribute__((vector_size(16)));

GG_FN gg_four gg_four_zero(void) { return (gg_four){0.0f, 0.0f, 0.0f, 0.0f}; }
GG_FN gg_four gg_four_set(float a, float b, float c, float d) { return (gg_four){a, b, c, d}; }
GG_FN gg_four_bits gg_four_load(const uint32_t *from) {
    gg_four_bits out;
    memcpy(&out, from, sizeof out);
    return out;
}
/* sum + scale * value */
GG_FN gg_four gg_four_add(gg_four sum, float scale, gg_four value) { return sum + scale * value; }
GG_FN float gg_four_dot(gg_four a, gg_four b) {
    gg_four p = a * b;
    return p[0] + p[1] + p[2] + p[3];
}
GG_FN gg_four gg_four_load_floats(const float *from) {
    gg_four out;
    memcpy(&out, from, sizeof out);
    return out;
}
GG_FN float gg_four_at(gg_four a, int k) { return a[k]; }
/* from a (share 0) to b (share 1) */
GG_FN gg_four gg_four_between(gg_four a, gg_four b, float share) { return a + share * (b - a); }
/* half precision to single, of the lower or upper 16 bits; no infinity, NaN or subnormal: shifting the bits and scaling
 * by a power of two is then exact */
GG_FN gg_four gg_four_halves(gg_four_bits pairs, int upper) {
    gg_four_bits half = upper ? pairs >> 16 : pairs;
    gg_four_bits bits = (half & 0x7FFFu) << 13 | (half & 0x8000u) << 16;
    return (gg_four)bits * 5.192296858534828e33f; /* 2^112: the difference of the exponents' biases */
}

#else

typedef struct gg_four {
    float v[4];
} gg_four;
typedef struct gg_four_bits {
    uint32_t v[4];
} gg_four_bits;

GG_FN gg_four gg_four_set(float a, float b, float c, float d) {
    gg_four out;
    out.v[0] = a, out.v[1] = b, out.v[2] = c, out.v[3] = d;
    return out;
}
GG_FN gg_four gg_four_zero(void) { return gg_four_set(0.0f, 0.0f, 0.0f, 0.0f); }
GG_FN gg_four_bits gg_four_load(const uint32_t *from) {
    gg_four_bits out;
    for (int k = 0; k < 4; k++) {
        out.v[k] = from[k];
    }
    return out;
}
GG_FN gg_four gg_four_add(gg_four sum, float scale, gg_four value) {
    for (int k = 0; k < 4; k++) {
        sum.v[k] += scale * value.v[k];
    }
    return sum;
}
GG_FN float gg_four_dot(gg_four a, gg_four b) {
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2] + a.v[3] * b.v[3];
}
GG_FN gg_four gg_four_load_floats(const float *from) { return gg_four_set(from[0], from[1], from[2], from[3]); }
GG_FN float gg_four_at(gg_four a, int k) { return a.v[k]; }
GG_FN gg_four gg_four_between(gg_four a, gg_four b, float share) {
    for (int k = 0; k < 4; k++) {
        a.v[k] += share * (b.v[k] - a.v[k]);
    }
    return a;
}
GG_FN gg_four gg_four_halves(gg_four_bits pairs, int upper) {
    gg_four out;
    for (int k = 0; k < 4; k++) {
        union {
            uint32_t bits;
            float value;
        } as;
        uint32_t half = upper ? pairs.v[k] >> 16 : pairs.v[k];
        as.bits = (half & 0x7FFFu) << 13 | (half & 0x8000u) << 16;
        out.v[k] = as.value * 5.192296858534828e33f;
    }
    return out;
}

#endif

#endif
