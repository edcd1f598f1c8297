/* base.h: what every other file may rely on.
 *
 * The shared headers of this engine live in the overlap of C17 and C++17, so that gcc, clang and nvcc compile the same
 * physics. GG_FN marks a function that runs on every backend. No shared code calls a libm transcendental, prints,
 * allocates or exits: same source, same bits, on every compiler and optimisation level.
 */
#ifndef GG_BASE_H
#define GG_BASE_H

#include <stdint.h>

#if defined(__CUDACC__)
#define GG_FN static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define GG_FN static inline __attribute__((always_inline, unused))
#else
#define GG_FN static inline
#endif

/* compound literal in C, brace initialiser in C++ */
#ifdef __cplusplus
#define GG_LIT(type) type
#define GG_RESTRICT __restrict__
#else
#define GG_LIT(type) (type)
#define GG_RESTRICT restrict
#endif

/* grains per slice: contacts of a slice are stored lane by lane (sliced ELL), so that one vector register, or half a warp,
 * works on one slice. Changing it changes no result, only the layout. */
#define GG_LANES 16

/* floats of one velocity row: v.xyz [m/s], spare, r*omega.xyz [m/s], 1/r [1/m] */
#define GG_ROW 8

/* grains that one item of a fixed-tree reduction sums in order before partial sums are added in order */
#define GG_BLOCK 1024

#define GG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GG_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
