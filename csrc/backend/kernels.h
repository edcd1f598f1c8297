/* kernels.h: the builds of what costs most, search, contact solve and questions to pair fields, one per instruction set. */
#ifndef GG_KERNELS_H
#define GG_KERNELS_H

#include "../solvers/planar/manifolds.h"

/* vector builds need shuffles written in the compiler's own vector types */
#if defined(__GNUC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define GG_VECTOR_KERNELS 1
#endif
#endif

/* the search, the phases of the contact laws, on one slice or slot, and a batch of questions to a field */
#define GG_KERNEL_DECLARE(name)                                                                                        \
    void gg_kernel_##name##_search(const gg_view *v, int64_t e, int64_t slot, int32_t pass);                           \
    void gg_kernel_##name##_count(const gg_view *v, int64_t e, int64_t slice, int32_t pass);                           \
    void gg_kernel_##name##_prepare(const gg_view *v, int64_t e, int64_t slice, int32_t pass);                         \
    void gg_kernel_##name##_iterate(const gg_view *v, int64_t e, int64_t slice, int32_t pass);                         \
    void gg_kernel_##name##_planar_prepare(const gg_view *v, int64_t e, int64_t slice, int32_t pass);                  \
    void gg_kernel_##name##_planar_iterate(const gg_view *v, int64_t e, int64_t slice, int32_t pass);                  \
    void gg_kernel_##name##_find_manifolds(const gg_view *v, int64_t e, int64_t slot, int32_t pass);                   \
    void gg_kernel_##name##_query(const gg_pair_field *field, const void *blob, const float *pose, int64_t count,      \
                                  gg_pair_sample *out);
GG_KERNEL_DECLARE(scalar)
GG_KERNEL_DECLARE(vector128)
GG_KERNEL_DECLARE(avx2)
GG_KERNEL_DECLARE(avx512)
#undef GG_KERNEL_DECLARE

/* their bodies, where the lanes called `name` are defined */
#define GG_KERNEL_DEFINE(name)                                                                                         \
    void gg_kernel_##name##_search(const gg_view *v, int64_t e, int64_t slot, int32_t pass) {                          \
        (void)pass;                                                                                                    \
        gg_##name##_search_slot(v, e, slot);                                                                           \
    }                                                                                                                  \
    void gg_kernel_##name##_count(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {                          \
        (void)pass;                                                                                                    \
        gg_##name##_count_slice(v, e, slice);                                                                          \
    }                                                                                                                  \
    void gg_kernel_##name##_prepare(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {                        \
        (void)pass;                                                                                                    \
        gg_##name##_prepare_slice(v, e, slice);                                                                        \
    }                                                                                                                  \
    void gg_kernel_##name##_iterate(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {                        \
        gg_##name##_iterate_slice(v, e, slice, pass);                                                                  \
    }                                                                                                                  \
    void gg_kernel_##name##_planar_prepare(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {                 \
        (void)pass;                                                                                                    \
        gg_##name##_planar_prepare_slice(v, e, slice);                                                                 \
    }                                                                                                                  \
    void gg_kernel_##name##_planar_iterate(const gg_view *v, int64_t e, int64_t slice, int32_t pass) {                 \
        gg_##name##_planar_iterate_slice(v, e, slice, pass);                                                           \
    }                                                                                                                  \
    void gg_kernel_##name##_find_manifolds(const gg_view *v, int64_t e, int64_t slot, int32_t pass) {                  \
        (void)pass;                                                                                                    \
        gg_manifold_slot(v, e, slot);                                                                                  \
    }                                                                                                                  \
    void gg_kernel_##name##_query(const gg_pair_field *field, const void *blob, const float *pose, int64_t count,      \
                                  gg_pair_sample *out) {                                                               \
        for (int64_t k = 0; k < count; k++) {                                                                          \
            out[k] = gg_pair_field_query(field, blob, pose[3 * k], pose[3 * k + 1], pose[3 * k + 2]);                  \
        }                                                                                                              \
    }

#endif
