/* kernels.h: the builds of the contact solve, one per instruction set. */
#ifndef GG_KERNELS_H
#define GG_KERNELS_H

#include "../phases/view.h"

/* vector builds need shuffles written in the compiler's own vector types */
#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define GG_VECTOR_KERNELS 1
#endif
#endif

void gg_scalar_iterate_slice_entry(const gg_view *v, int64_t e, int64_t slice, int32_t pass);
void gg_vector128_iterate_slice_entry(const gg_view *v, int64_t e, int64_t slice, int32_t pass);
void gg_avx2_iterate_slice_entry(const gg_view *v, int64_t e, int64_t slice, int32_t pass);
void gg_avx512_iterate_slice_entry(const gg_view *v, int64_t e, int64_t slice, int32_t pass);

#endif
