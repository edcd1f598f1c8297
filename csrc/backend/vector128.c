/* vector128.c: the contact law on 4 grains at once. */
#include "kernels.h"

#if defined(GG_VECTOR_KERNELS)
#define GG_LANE_WIDTH   4
#define GG_LANE_NAME(x) gg_vector128_##x
#include "vector.h"

GG_KERNEL_DEFINE(vector128)
#else
typedef int gg_vector128_is_not_in_this_build;
#endif
