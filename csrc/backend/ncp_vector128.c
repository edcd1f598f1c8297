/* ncp_vector128.c: the contact solve on 4 grains at once. */
#include "kernels.h"

#ifdef GG_VECTOR_KERNELS

#define GG_LANE_WIDTH   4
#define GG_LANE_NAME(x) gg_vector128_##x
#include "ncp_vector.h"

void gg_kernel_vector128_count(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    (void)pass;
    gg_vector128_count_slice(v, e, slice);
}

void gg_kernel_vector128_iterate(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    gg_vector128_iterate_slice(v, e, slice, pass);
}

void gg_kernel_vector128_prepare(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    (void)pass;
    gg_vector128_prepare_slice(v, e, slice);
}

#else
typedef int gg_no_vector_kernel;
#endif
