/* vector.h: the lanes of solvers/lane_phases.h as vectors of GG_LANE_WIDTH floats: 4, 8 or 16.
 *
 * The bodies of neighbours are loaded whole (32 bytes each) and transposed in registers, which is several times faster
 * than gathering single floats. Compiled once per instruction set with its flags; written in the vector types of gcc
 * and clang. IEEE add, multiply, divide and square root only: same bits as one lane.
 */
#include <string.h>

#include "../contact/candidates.h"
#include "../solvers/spheres/coloured/coloured.h"
#include "../solvers/motion.h"
#include "../solvers/prediction.h"
#include "../solvers/planar/planar.h"
#include "../solvers/spheres/contacts.h"

typedef float lanes __attribute__((vector_size(4 * GG_LANE_WIDTH)));
typedef int32_t lane_mask __attribute__((vector_size(4 * GG_LANE_WIDTH)));

#define gg_lane lanes

GG_FN lanes lane_load(const float *p) {
    lanes a;
    memcpy(&a, p, sizeof a);
    return a;
}
GG_FN void lane_store(float *p, lanes a) { memcpy(p, &a, sizeof a); }
GG_FN lanes lane_splat(float a) { return (lanes){0} + a; }
GG_FN lanes lane_choose(lane_mask m, lanes a, lanes b) { return (lanes)((m & (lane_mask)a) | (~m & (lane_mask)b)); }
GG_FN lanes lane_div(lanes a, lanes b) { return a / b; }
GG_FN lanes lane_ratio(lanes a, lanes b) { return a / b; }
GG_FN lanes lane_at_least(const int32_t *p, int32_t a) {
    lane_mask values;
    memcpy(&values, p, sizeof values);
    return lane_choose(values >= a, lane_splat(1.0f), lane_splat(0.0f));
}

GG_FN void lane_mark(int32_t *p, uint32_t bits, uint32_t mark) {
    lane_mask lane, values;
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        lane[k] = 1 << k;
    }
    memcpy(&values, p, sizeof values);
    values |= (((int32_t)bits & lane) != 0) & (int32_t)mark;
    memcpy(p, &values, sizeof values);
}
GG_FN lanes lane_first(int32_t count) {
    lane_mask lane;
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        lane[k] = k;
    }
    return lane_choose(lane < count, lane_splat(1.0f), lane_splat(0.0f));
}

#if GG_LANE_WIDTH == 16 && defined(__AVX512F__)
#include <immintrin.h>
GG_FN lanes lane_sqrt(lanes a) { return (lanes)_mm512_sqrt_ps((__m512)a); }
GG_FN lanes lane_min(lanes a, lanes b) { return (lanes)_mm512_min_ps((__m512)a, (__m512)b); }
GG_FN lanes lane_max(lanes a, lanes b) { return (lanes)_mm512_max_ps((__m512)a, (__m512)b); }
GG_FN lanes lane_less(lanes a, lanes b, lanes x, lanes y) {
    return (lanes)_mm512_mask_blend_ps(_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ), (__m512)y, (__m512)x);
}
GG_FN uint32_t lane_less_bits(lanes a, lanes b) {
    return (uint32_t)_mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
}
GG_FN lanes lane_gather(const float *p, const int32_t *index) {
    return (lanes)_mm512_i32gather_ps(_mm512_loadu_si512(index), p, 4);
}
GG_FN void lane_pick(int32_t *to, const int32_t *from, uint32_t bits) {
    _mm512_storeu_si512(to,
                        _mm512_maskz_compress_epi32((__mmask16)bits, _mm512_maskz_loadu_epi32((__mmask16)bits, from)));
}
#elif GG_LANE_WIDTH == 8 && defined(__AVX2__)
#include <immintrin.h>
GG_FN lanes lane_sqrt(lanes a) { return (lanes)_mm256_sqrt_ps((__m256)a); }
GG_FN lanes lane_min(lanes a, lanes b) { return (lanes)_mm256_min_ps((__m256)a, (__m256)b); }
GG_FN lanes lane_max(lanes a, lanes b) { return (lanes)_mm256_max_ps((__m256)a, (__m256)b); }
GG_FN lanes lane_less(lanes a, lanes b, lanes x, lanes y) {
    return (lanes)_mm256_blendv_ps((__m256)y, (__m256)x, _mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LT_OQ));
}
GG_FN uint32_t lane_less_bits(lanes a, lanes b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LT_OQ));
}
GG_FN lanes lane_gather(const float *p, const int32_t *index) {
    return (lanes)_mm256_i32gather_ps(p, _mm256_loadu_si256((const __m256i *)index), 4);
}
#else
GG_FN lanes lane_sqrt(lanes a) {
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        a[k] = sqrtf(a[k]);
    }
    return a;
}
GG_FN lanes lane_min(lanes a, lanes b) { return lane_choose(a < b, a, b); }
GG_FN lanes lane_max(lanes a, lanes b) { return lane_choose(a > b, a, b); }
GG_FN lanes lane_less(lanes a, lanes b, lanes x, lanes y) { return lane_choose(a < b, x, y); }
GG_FN uint32_t lane_less_bits(lanes a, lanes b) {
    lane_mask m = a < b;
    uint32_t bits = 0;
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        bits |= (uint32_t)(m[k] & 1) << k;
    }
    return bits;
}
GG_FN lanes lane_gather(const float *p, const int32_t *index) {
    lanes a = {0};
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        a[k] = p[index[k]];
    }
    return a;
}
#endif

#if GG_LANE_WIDTH < 16
GG_FN void lane_pick(int32_t *to, const int32_t *from, uint32_t bits) {
    for (; bits; bits &= bits - 1u) {
        *to++ = from[__builtin_ctz(bits)];
    }
}
#endif

#if GG_LANE_WIDTH > 4
typedef float vec8 __attribute__((vector_size(32)));

GG_FN vec8 load_body(const float *bodies, int64_t at) {
    vec8 a;
    memcpy(&a, bodies + at * GG_BODY, sizeof a);
    return a;
}

/* two points side by side */
#define PAIR_POINTS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#endif

#if GG_LANE_WIDTH == 16
/* two bodies side by side */
#define PAIR_ROWS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
/* transposes the 4x4 blocks of four vectors, each 128-bit part apart */
#define TRANSPOSE4(r0, r1, r2, r3, c0, c1, c2, c3)                                                                     \
    do {                                                                                                               \
        lanes t0 = __builtin_shufflevector(r0, r1, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);          \
        lanes t1 = __builtin_shufflevector(r0, r1, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);        \
        lanes t2 = __builtin_shufflevector(r2, r3, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);          \
        lanes t3 = __builtin_shufflevector(r2, r3, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);        \
        c0 = __builtin_shufflevector(t0, t2, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);                \
        c1 = __builtin_shufflevector(t0, t2, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);              \
        c2 = __builtin_shufflevector(t1, t3, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);                \
        c3 = __builtin_shufflevector(t1, t3, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);              \
    } while (0)
/* 128-bit parts 0 and 2, or 1 and 3, of two vectors */
#define EVEN_PARTS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
#define ODD_PARTS(a, b)  __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)

GG_FN void lane_bodies(const float *bodies, const int32_t *index, lanes out[GG_BODY]) {
    lanes a[4], b[4], ca[4], cb[4];
    for (int k = 0; k < 4; k++) {
        vec8 r0 = load_body(bodies, index[k]), r1 = load_body(bodies, index[k + 4]);
        vec8 r2 = load_body(bodies, index[k + 8]), r3 = load_body(bodies, index[k + 12]);
        a[k] = PAIR_ROWS(r0, r1);
        b[k] = PAIR_ROWS(r2, r3);
    }
    TRANSPOSE4(a[0], a[1], a[2], a[3], ca[0], ca[1], ca[2], ca[3]);
    TRANSPOSE4(b[0], b[1], b[2], b[3], cb[0], cb[1], cb[2], cb[3]);
    for (int k = 0; k < 4; k++) {
        out[k] = EVEN_PARTS(ca[k], cb[k]);
        out[k + 4] = ODD_PARTS(ca[k], cb[k]);
    }
}
#elif GG_LANE_WIDTH == 8
#define TRANSPOSE4(r0, r1, r2, r3, c0, c1, c2, c3)                                                                     \
    do {                                                                                                               \
        lanes t0 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);                                          \
        lanes t1 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);                                        \
        lanes t2 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);                                          \
        lanes t3 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);                                        \
        c0 = __builtin_shufflevector(t0, t2, 0, 1, 8, 9, 4, 5, 12, 13);                                                \
        c1 = __builtin_shufflevector(t0, t2, 2, 3, 10, 11, 6, 7, 14, 15);                                              \
        c2 = __builtin_shufflevector(t1, t3, 0, 1, 8, 9, 4, 5, 12, 13);                                                \
        c3 = __builtin_shufflevector(t1, t3, 2, 3, 10, 11, 6, 7, 14, 15);                                              \
    } while (0)
#define LOW_PARTS(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH_PARTS(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

GG_FN void lane_bodies(const float *bodies, const int32_t *index, lanes out[GG_BODY]) {
    lanes r[8], ca[4], cb[4];
    for (int k = 0; k < 8; k++) {
        r[k] = load_body(bodies, index[k]);
    }
    TRANSPOSE4(r[0], r[1], r[2], r[3], ca[0], ca[1], ca[2], ca[3]);
    TRANSPOSE4(r[4], r[5], r[6], r[7], cb[0], cb[1], cb[2], cb[3]);
    for (int k = 0; k < 4; k++) {
        out[k] = LOW_PARTS(ca[k], cb[k]);
        out[k + 4] = HIGH_PARTS(ca[k], cb[k]);
    }
}
#else
#define TRANSPOSE4(r0, r1, r2, r3, c0, c1, c2, c3)                                                                     \
    do {                                                                                                               \
        lanes t0 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), t1 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);      \
        lanes t2 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5), t3 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);      \
        c0 = __builtin_shufflevector(t0, t2, 0, 1, 4, 5);                                                              \
        c1 = __builtin_shufflevector(t0, t2, 2, 3, 6, 7);                                                              \
        c2 = __builtin_shufflevector(t1, t3, 0, 1, 4, 5);                                                              \
        c3 = __builtin_shufflevector(t1, t3, 2, 3, 6, 7);                                                              \
    } while (0)

GG_FN void lane_bodies(const float *bodies, const int32_t *index, lanes out[GG_BODY]) {
    for (int half = 0; half < 2; half++) {
        lanes r[4];
        for (int k = 0; k < 4; k++) {
            r[k] = lane_load(bodies + (int64_t)index[k] * GG_BODY + 4 * half);
        }
        lanes *c = out + 4 * half;
        TRANSPOSE4(r[0], r[1], r[2], r[3], c[0], c[1], c[2], c[3]);
    }
}
#endif

typedef float vec4 __attribute__((vector_size(16)));

GG_FN vec4 load_point(const gg_vec4 *points, int32_t index) {
    vec4 a;
    memcpy(&a, &points[index], sizeof a);
    return a;
}

/* points are half as wide as bodies: two or four side by side, then one transpose */
GG_FN void lane_points(const gg_vec4 *points, const int32_t *index, lanes out[4]) {
    lanes r[4];
    for (int k = 0; k < 4; k++) {
#if GG_LANE_WIDTH == 4
        r[k] = load_point(points, index[k]);
#else
        vec8 low = PAIR_POINTS(load_point(points, index[k]), load_point(points, index[k + 4]));
#if GG_LANE_WIDTH == 8
        r[k] = low;
#else
        r[k] = PAIR_ROWS(low, PAIR_POINTS(load_point(points, index[k + 8]), load_point(points, index[k + 12])));
#endif
#endif
    }
    TRANSPOSE4(r[0], r[1], r[2], r[3], out[0], out[1], out[2], out[3]);
}

/* the inverse of lane_bodies */
GG_FN void lane_bodies_scatter(float *bodies, const int32_t *index, int count, const lanes in[GG_BODY]) {
    lanes low[4], high[4], row[8];
    for (int k = 0; k < 4; k++) {
#if GG_LANE_WIDTH == 16
        low[k] = __builtin_shufflevector(in[k], in[k + 4], 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
        high[k] =
            __builtin_shufflevector(in[k], in[k + 4], 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
#elif GG_LANE_WIDTH == 8
        low[k] = LOW_PARTS(in[k], in[k + 4]);
        high[k] = HIGH_PARTS(in[k], in[k + 4]);
#else
        low[k] = in[k];
        high[k] = in[k + 4];
#endif
    }
    TRANSPOSE4(low[0], low[1], low[2], low[3], row[0], row[1], row[2], row[3]);
    TRANSPOSE4(high[0], high[1], high[2], high[3], row[4], row[5], row[6], row[7]);
#if GG_LANE_WIDTH == 16
    for (int k = 0; k < 8; k++) {
        /* bodies k and k + 4 of the first eight, of the last eight */
        int first = k < 4 ? k : k + 4;
        vec8 one = __builtin_shufflevector(row[k], row[k], 0, 1, 2, 3, 4, 5, 6, 7);
        vec8 two = __builtin_shufflevector(row[k], row[k], 8, 9, 10, 11, 12, 13, 14, 15);
        if (first < count) {
            memcpy(bodies + (int64_t)index[first] * GG_BODY, &one, sizeof one);
        }
        if (first + 4 < count) {
            memcpy(bodies + (int64_t)index[first + 4] * GG_BODY, &two, sizeof two);
        }
    }
#elif GG_LANE_WIDTH == 8
    for (int k = 0; k < 8; k++) {
        if (k < count) {
            memcpy(bodies + (int64_t)index[k] * GG_BODY, &row[k], sizeof row[k]);
        }
    }
#else
    for (int k = 0; k < 4; k++) {
        if (k < count) {
            memcpy(bodies + (int64_t)index[k] * GG_BODY, &row[k], sizeof row[k]);
            memcpy(bodies + (int64_t)index[k] * GG_BODY + 4, &row[k + 4], sizeof row[k]);
        }
    }
#endif
}

/* the inverse of lane_points */
GG_FN void lane_points_scatter(gg_vec4 *points, const int32_t *index, int count, int32_t last, const lanes in[4]) {
    lanes row[4];
    TRANSPOSE4(in[0], in[1], in[2], in[3], row[0], row[1], row[2], row[3]);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        if (k < count && index[k] <= last) {
            memcpy(&points[index[k]], (const char *)&row[k % 4] + k / 4 * 16, 16);
        }
    }
}

GG_FN void lane_points_store(gg_vec4 *points, const lanes in[4]) {
    lanes row[4];
    TRANSPOSE4(in[0], in[1], in[2], in[3], row[0], row[1], row[2], row[3]);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        memcpy(&points[k], (const char *)&row[k % 4] + k / 4 * 16, 16);
    }
}

GG_FN void lane_bodies_store(float *bodies, int64_t first, const lanes in[GG_BODY]) {
    int32_t index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        index[k] = k;
    }
    lane_bodies_scatter(bodies + first * GG_BODY, index, GG_LANE_WIDTH, in);
}

GG_FN void lane_bodies_copy(float *to, const float *from) { memcpy(to, from, GG_LANE_WIDTH * GG_BODY * sizeof *to); }

GG_FN vec4 load_triple(const float *p) { return (vec4){p[0], p[1], p[2], 0.0f}; }

GG_FN void lane_triples(const float *p, int64_t stride, const int32_t *index, lanes out[3]) {
    lanes r[4], unused;
    for (int k = 0; k < 4; k++) {
#if GG_LANE_WIDTH == 4
        r[k] = load_triple(p + index[k] * stride);
#else
        vec8 low = PAIR_POINTS(load_triple(p + index[k] * stride), load_triple(p + index[k + 4] * stride));
#if GG_LANE_WIDTH == 8
        r[k] = low;
#else
        r[k] = PAIR_ROWS(low,
                         PAIR_POINTS(load_triple(p + index[k + 8] * stride), load_triple(p + index[k + 12] * stride)));
#endif
#endif
    }
    TRANSPOSE4(r[0], r[1], r[2], r[3], out[0], out[1], out[2], unused);
    (void)unused;
}

GG_FN void lane_triples_scatter(float *p, int64_t stride, const int32_t *index, const lanes in[3]) {
    lanes row[4];
    TRANSPOSE4(in[0], in[1], in[2], in[2], row[0], row[1], row[2], row[3]);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        vec4 triple;
        memcpy(&triple, (const char *)&row[k % 4] + k / 4 * 16, sizeof triple);
        memcpy(p + index[k] * stride, &triple, 2 * sizeof *p);
        p[index[k] * stride + 2] = triple[2];
    }
}

GG_FN void lane_prefetch(const float *p, int64_t stride, const int32_t *index) {
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        __builtin_prefetch(p + index[k] * stride);
    }
}

#define lane_search_fallback(v, e, slot) gg_kernel_scalar.body[GG_PHASE_search](v, e, slot, 0)
#undef GG_LANE_CALL
#define GG_LANE_CALL(x) GG_LANE_NAME(x)

#include "../solvers/lane_phases.h"
