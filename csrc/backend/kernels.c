/* kernels.c: picks the widest build of what costs most that this processor runs. All of them give the same bits. */
#include <string.h>

#include "backend.h"
#include "kernels.h"

static int supported(const char *name) {
#if defined(__x86_64__) && defined(GG_VECTOR_KERNELS)
    if (!strcmp(name, "avx512")) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    }
    if (!strcmp(name, "avx2")) {
        return __builtin_cpu_supports("avx2");
    }
#endif
    return !strcmp(name, "vector128") || !strcmp(name, "scalar");
}

#define KERNEL(name)                                                                                                   \
    {                                                                                                                  \
#name, gg_kernel_##name##_search, gg_kernel_##name##_count, gg_kernel_##name##_prepare,                        \
            gg_kernel_##name##_iterate, gg_kernel_##name##_planar_prepare, gg_kernel_##name##_planar_iterate,          \
            gg_kernel_##name##_find_manifolds, gg_kernel_##name##_query                                                \
    }

gg_kernel gg_kernel_select(const char *name) {
    static const gg_kernel kernels[] = {
#ifdef GG_VECTOR_KERNELS
#if defined(__x86_64__) && !defined(GG_NO_WIDE_KERNELS)
        KERNEL(avx512),
        KERNEL(avx2),
#endif
        KERNEL(vector128),
#endif
        KERNEL(scalar),
    };
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (supported(kernels[k].name) && (!name || !strcmp(name, kernels[k].name))) {
            return kernels[k];
        }
    }
    gg_kernel none = {0};
    return none;
}

GG_KERNEL_DEFINE(scalar)
