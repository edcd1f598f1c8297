/* avx2.c: the contact law on 8 grains at once. */
#include "kernels.h"

#if defined(GG_VECTOR_KERNELS) && defined(__x86_64__)
#define GG_LANE_WIDTH   8
#define GG_LANE_NAME(x) gg_avx2_##x
#include "vector.h"

GG_KERNEL_DEFINE(avx2)
#else
typedef int gg_avx2_is_not_in_this_build;
#endif
