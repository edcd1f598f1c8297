/* base.h: what every other file may rely on.
 *
 * The shared headers of this engine are in the overlap of C17 and C++17, so that gcc, clang and nvcc compile the same
 * physics. GG_FN marks a function that runs on every backend. No shared code calls a libm transcendental, prints,
 * allocates or exits: same source, same bits, with every compiler and optimisation level.
 */
#ifndef GG_BASE_H
#define GG_BASE_H

#include <stddef.h>
#include <stdint.h>

/* GG_NO_INLINE: functions are inlined where the compiler sees fit, so that builds for checks are small and soon made */
#if defined(GG_NO_INLINE) && defined(__CUDACC__)
#define GG_FN static inline __host__ __device__
#elif defined(GG_NO_INLINE)
#define GG_FN static inline __attribute__((unused))
#elif defined(__CUDACC__)
#define GG_FN static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define GG_FN static inline __attribute__((always_inline, unused))
#else
#define GG_FN static inline
#endif
/* a function too large to be inlined */
#if defined(__GNUC__) && !defined(__CUDACC__)
#define GG_FN_LARGE static __attribute__((noinline, unused))
#else
#define GG_FN_LARGE GG_FN
#endif

/* before a loop that a GPU need not unroll: it runs rarely, and compiling it unrolled takes minutes */
#ifdef __CUDA_ARCH__
#define GG_ROLLED _Pragma("unroll 1")
#else
#define GG_ROLLED
#endif

/* alignment of a struct, before its first member */
#ifdef __cplusplus
#define GG_ALIGNED(bytes) alignas(bytes)
#else
#define GG_ALIGNED(bytes) _Alignas(bytes)
#endif

/* compound literal in C, brace initialiser in C++; all zero in both */
#ifdef __cplusplus
#define GG_LIT(type) type
#define GG_ZERO                                                                                                        \
    {}
#else
#define GG_LIT(type) (type)
#define GG_ZERO                                                                                                        \
    { 0 }
#endif

/* slots per slice: the contacts of a slice are stored lane by lane (sliced ELL), so that a vector register, or half a
 * warp, works on one slice. Changing it changes the layout and no result. */
#define GG_LANES 16

/* floats of a body: v.xyz [m/s], 1/m [1/kg], r*omega.xyz [m/s], 1/r [1/m]; see state/body.h */
#define GG_BODY 8

/* tool contacts whose loads one item sums in order, before these partial sums are summed in order */
#define GG_LOAD_BLOCK 256

/* grains that one item of a fixed-tree reduction sums in order, before these partial sums are summed in order */
#define GG_BLOCK 1024

GG_FN uint32_t gg_bit_count(uint32_t bits) {
    bits = bits - ((bits >> 1) & 0x55555555u);
    bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
    return (((bits + (bits >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
}

/* index of the lowest set bit; bits != 0 */
GG_FN int gg_bit_lowest(uint64_t bits) {
#if defined(__CUDA_ARCH__)
    return __ffsll((long long)bits) - 1;
#elif defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int k = 0;
    while (!(bits >> k & 1)) {
        k++;
    }
    return k;
#endif
}

#define GG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GG_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
