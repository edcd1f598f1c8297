/* kernels.c: picks the widest build of the contact solve that this processor runs. All of them give the same bits. */
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

gg_kernel gg_kernel_select(const char *name) {
    static const gg_kernel kernels[] = {
#ifdef GG_VECTOR_KERNELS
#if defined(__x86_64__) && !defined(GG_NO_WIDE_KERNELS)
        {"avx512", gg_kernel_avx512_count, gg_kernel_avx512_prepare, gg_kernel_avx512_iterate},
        {"avx2", gg_kernel_avx2_count, gg_kernel_avx2_prepare, gg_kernel_avx2_iterate},
#endif
        {"vector128", gg_kernel_vector128_count, gg_kernel_vector128_prepare, gg_kernel_vector128_iterate},
#endif
        {"scalar", gg_kernel_scalar_count, gg_kernel_scalar_prepare, gg_kernel_scalar_iterate},
    };
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (supported(kernels[k].name) && (!name || !strcmp(name, kernels[k].name))) {
            return kernels[k];
        }
    }
    gg_kernel none = {NULL, NULL, NULL, NULL};
    return none;
}

GG_KERNEL_DEFINE(scalar)
