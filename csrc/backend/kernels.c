/* kernels.c: selects the kernel of the widest vectors that this processor runs; all kernels give the same bits. */
#include <string.h>

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
    static const gg_kernel *const kernels[] = {
#ifdef GG_VECTOR_KERNELS
#if defined(__x86_64__) && !defined(GG_NO_WIDE_KERNELS)
        &gg_kernel_avx512,
        &gg_kernel_avx2,
#endif
        &gg_kernel_vector128,
#endif
        &gg_kernel_scalar,
    };
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (supported(kernels[k]->name) && (!name || !strcmp(name, kernels[k]->name))) {
            return *kernels[k];
        }
    }
    gg_kernel none = {0};
    return none;
}
