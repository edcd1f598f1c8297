/* ncp_vector128.c: the contact solve on 4 grains at once. */
#include "kernels.h"

#ifdef GG_VECTOR_KERNELS

#define GG_LANE_WIDTH 4
#define GG_LANE_NAME(x) gg_vector128_##x
#include "ncp_vector.h"

void gg_vector128_iterate_slice_entry(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {
    gg_vector128_iterate_slice(v, e, slice, pass);
}

#else
typedef int gg_no_vector_kernel;
#endif
