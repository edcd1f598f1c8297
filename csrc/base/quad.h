/* quad.h: sixteen floats, four of each of four things side by side: one register, two or four. Every operation works on each
 * float alone. Not for nvcc: a GPU has a thread for each. */
#ifndef GG_QUAD_H
#define GG_QUAD_H

#include "four.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define GG_SHUFFLES 1
#endif
#endif

/* float k of a four in all of it; the same four floats by columns of four fours */
#ifdef GG_SHUFFLES
#define GG_FOUR_SPLAT(a, k) __builtin_shufflevector(a, a, k, k, k, k)
GG_FN void gg_four_transpose(gg_four a[4]) {
    gg_four low = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5),
            high = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
    gg_four low2 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
    gg_four high2 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
    a[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
    a[1] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
    a[2] = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
    a[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}
#else
#define GG_FOUR_SPLAT(a, k) gg_four_set((a)[k], (a)[k], (a)[k], (a)[k])
GG_FN void gg_four_transpose(gg_four a[4]) {
    gg_four b[4] = {a[0], a[1], a[2], a[3]};
    for (int k = 0; k < 4; k++) {
        a[k] = gg_four_set(b[0][k], b[1][k], b[2][k], b[3][k]);
    }
}
#endif

/* of all three kinds: gg_quad_of: the same four floats four times; gg_quad_join: four floats each; GG_QUAD_AT: the four of
 * thing k, a constant; GG_QUAD_SPLAT: float k of each thing in all of its four; gg_quad_wrapped: a + 1 where a < 0 */
#ifdef __AVX512F__

#include <immintrin.h>

typedef __m512 gg_quad;

GG_FN gg_quad gg_quad_of(gg_four a) { return _mm512_broadcast_f32x4((__m128)a); }
GG_FN gg_quad gg_quad_join(gg_four a, gg_four b, gg_four c, gg_four d) {
    __m256 low = _mm256_insertf128_ps(_mm256_castps128_ps256((__m128)a), (__m128)b, 1);
    __m256 high = _mm256_insertf128_ps(_mm256_castps128_ps256((__m128)c), (__m128)d, 1);
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
#define GG_QUAD_AT(a, k)    ((gg_four)_mm512_extractf32x4_ps(a, k))
#define GG_QUAD_SPLAT(a, k) _mm512_permute_ps(a, (k)*0x55)
GG_FN gg_quad gg_quad_transpose(gg_quad a) {
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), a);
}
GG_FN gg_quad gg_quad_add(gg_quad a, gg_quad b) { return _mm512_add_ps(a, b); }
GG_FN gg_quad gg_quad_sub(gg_quad a, gg_quad b) { return _mm512_sub_ps(a, b); }
GG_FN gg_quad gg_quad_mul(gg_quad a, gg_quad b) { return _mm512_mul_ps(a, b); }
GG_FN gg_quad gg_quad_wrapped(gg_quad a) {
    __mmask16 below = _mm512_cmp_ps_mask(a, _mm512_setzero_ps(), _CMP_LT_OQ);
    return _mm512_mask_add_ps(a, below, a, _mm512_set1_ps(1.0f));
}

#elif defined(__AVX__)

#include <immintrin.h>

typedef struct gg_quad {
    __m256 of[2];
} gg_quad;

GG_FN __m256 gg_two_fours(gg_four a, gg_four b) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256((__m128)a), (__m128)b, 1);
}
GG_FN gg_quad gg_quad_join(gg_four a, gg_four b, gg_four c, gg_four d) {
    gg_quad out = {{gg_two_fours(a, b), gg_two_fours(c, d)}};
    return out;
}
GG_FN gg_quad gg_quad_of(gg_four a) { return gg_quad_join(a, a, a, a); }
#define GG_QUAD_AT(a, k) ((gg_four)_mm256_extractf128_ps((a).of[(k) / 2], (k) % 2))
#define GG_QUAD_SPLAT(a, k)                                                                                            \
    ((gg_quad){{_mm256_permute_ps((a).of[0], (k)*0x55), _mm256_permute_ps((a).of[1], (k)*0x55)}})
GG_FN gg_quad gg_quad_add(gg_quad a, gg_quad b) {
    gg_quad out = {{_mm256_add_ps(a.of[0], b.of[0]), _mm256_add_ps(a.of[1], b.of[1])}};
    return out;
}
GG_FN gg_quad gg_quad_sub(gg_quad a, gg_quad b) {
    gg_quad out = {{_mm256_sub_ps(a.of[0], b.of[0]), _mm256_sub_ps(a.of[1], b.of[1])}};
    return out;
}
GG_FN gg_quad gg_quad_mul(gg_quad a, gg_quad b) {
    gg_quad out = {{_mm256_mul_ps(a.of[0], b.of[0]), _mm256_mul_ps(a.of[1], b.of[1])}};
    return out;
}
GG_FN gg_quad gg_quad_wrapped(gg_quad a) {
    for (int k = 0; k < 2; k++) {
        __m256 below = _mm256_cmp_ps(a.of[k], _mm256_setzero_ps(), _CMP_LT_OQ);
        a.of[k] = _mm256_blendv_ps(a.of[k], _mm256_add_ps(a.of[k], _mm256_set1_ps(1.0f)), below);
    }
    return a;
}

#else

typedef struct gg_quad {
    gg_four of[4];
} gg_quad;

GG_FN gg_quad gg_quad_join(gg_four a, gg_four b, gg_four c, gg_four d) {
    gg_quad out = {{a, b, c, d}};
    return out;
}
GG_FN gg_quad gg_quad_of(gg_four a) { return gg_quad_join(a, a, a, a); }
#define GG_QUAD_AT(a, k) ((a).of[k])
#define GG_QUAD_SPLAT(a, k)                                                                                            \
    gg_quad_join(GG_FOUR_SPLAT((a).of[0], k), GG_FOUR_SPLAT((a).of[1], k), GG_FOUR_SPLAT((a).of[2], k),                \
                 GG_FOUR_SPLAT((a).of[3], k))
GG_FN gg_quad gg_quad_add(gg_quad a, gg_quad b) {
    for (int k = 0; k < 4; k++) {
        a.of[k] = a.of[k] + b.of[k];
    }
    return a;
}
GG_FN gg_quad gg_quad_sub(gg_quad a, gg_quad b) {
    for (int k = 0; k < 4; k++) {
        a.of[k] = a.of[k] - b.of[k];
    }
    return a;
}
GG_FN gg_quad gg_quad_mul(gg_quad a, gg_quad b) {
    for (int k = 0; k < 4; k++) {
        a.of[k] = a.of[k] * b.of[k];
    }
    return a;
}
GG_FN gg_quad gg_quad_wrapped(gg_quad a) {
    for (int j = 0; j < 16; j++) {
        a.of[j / 4][j % 4] += a.of[j / 4][j % 4] < 0.0f ? 1.0f : 0.0f;
    }
    return a;
}

#endif

#ifndef __AVX512F__
/* float k of thing j becomes float j of thing k */
GG_FN gg_quad gg_quad_transpose(gg_quad a) {
    gg_four of[4] = {GG_QUAD_AT(a, 0), GG_QUAD_AT(a, 1), GG_QUAD_AT(a, 2), GG_QUAD_AT(a, 3)};
    gg_four_transpose(of);
    return gg_quad_join(of[0], of[1], of[2], of[3]);
}
#endif

GG_FN gg_quad gg_quad_scale(gg_quad a, float factor) {
    return gg_quad_mul(a, gg_quad_of(gg_four_set(factor, factor, factor, factor)));
}
/* sum + a * b */
GG_FN gg_quad gg_quad_madd(gg_quad sum, gg_quad b, gg_quad a) { return gg_quad_add(sum, gg_quad_mul(a, b)); }
/* the sum of the things: of the first two and of the others, then of both */
GG_FN gg_four gg_quad_sum(gg_quad a) {
    return (GG_QUAD_AT(a, 0) + GG_QUAD_AT(a, 1)) + (GG_QUAD_AT(a, 2) + GG_QUAD_AT(a, 3));
}

#endif
