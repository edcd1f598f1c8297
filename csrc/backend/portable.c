/* portable.c: the contact laws on one grain and on 4 grains at once, for every processor.
 *
 * Both in one file: what has no lanes of its own (continuous matter, pictures) is the same in both, and the compiler
 * keeps one of it.
 */
#define GG_KERNEL      gg_kernel_scalar
#define GG_KERNEL_NAME "scalar"
#include "kernel.h"

#if defined(GG_VECTOR_KERNELS)
#define GG_LANE_WIDTH   4
#define GG_LANE_NAME(x) gg_vector128_##x
#include "vector.h"

#undef GG_KERNEL
#undef GG_KERNEL_NAME
#define GG_KERNEL      gg_kernel_vector128
#define GG_KERNEL_NAME "vector128"
#include "kernel.h"
#endif
