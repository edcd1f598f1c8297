/* kernels.h: the hot loops, built per instruction set: the phases marked LANES, samples of pair
 * fields, pictures. */
#ifndef GG_KERNELS_H
#define GG_KERNELS_H

#include "backend.h"

/* vector builds need shuffles written in the compiler's own vector types */
#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define GG_VECTOR_KERNELS 1
#endif
#endif

/* each defined by a file that includes kernel.h */
extern const gg_kernel gg_kernel_scalar, gg_kernel_vector128, gg_kernel_avx2, gg_kernel_avx512;

#endif
