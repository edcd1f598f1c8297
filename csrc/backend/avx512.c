/* avx512.c: the contact laws on 16 grains at once. */
#include "kernels.h"

#if defined(GG_VECTOR_KERNELS) && defined(__x86_64__)
#define GG_LANE_WIDTH   16
#define GG_LANE_NAME(x) gg_avx512_##x
#include "vector.h"

#define GG_KERNEL      gg_kernel_avx512
#define GG_KERNEL_NAME "avx512"
#include "kernel.h"
#else
typedef int gg_avx512_is_not_in_this_build;
#endif
