/* ncp_avx2.c: the contact solve on 8 grains at once. */
#include "kernels.h"

#ifdef GG_VECTOR_KERNELS
#ifdef __x86_64__
#define GG_LANE_WIDTH   8
#define GG_LANE_NAME(x) gg_avx2_##x
#include "ncp_vector.h"

void gg_kernel_avx2_count(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    (void)pass;
    gg_avx2_count_slice(v, e, slice);
}

void gg_kernel_avx2_iterate(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    gg_avx2_iterate_slice(v, e, slice, pass);
}

void gg_kernel_avx2_prepare(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    (void)pass;
    gg_avx2_prepare_slice(v, e, slice);
}
#endif
#else
typedef int gg_no_vector_kernel;
#endif
