/* avx2.c: the contact laws on 8 grains at once. */
#include "kernels.h"

#if defined(GG_VECTOR_KERNELS) && defined(__x86_64__)
#define GG_LANE_WIDTH   8
#define GG_LANE_NAME(x) gg_avx2_##x
#include "vector.h"

#define GG_KERNEL      gg_kernel_avx2
#define GG_KERNEL_NAME "avx2"
#include "kernel.h"
#else
typedef int gg_avx2_is_not_in_this_build;
#endif
