/* vector128.c: the contact laws on 4 grains at once. */
#include "kernels.h"

#if defined(GG_VECTOR_KERNELS)
#define GG_LANE_WIDTH   4
#define GG_LANE_NAME(x) gg_vector128_##x
#include "vector.h"

#define GG_KERNEL      gg_kernel_vector128
#define GG_KERNEL_NAME "vector128"
#include "kernel.h"
#else
typedef int gg_vector128_is_not_in_this_build;
#endif
