/* toolkit.cuh: what the backend needs of CUDA's language.
 *
 * With GG_CUDA_EMULATED headers of the tests (tests/emulator) stand in for the toolkit and run the same kernels on a
 * CPU, thread by thread: slow, but every barrier, reduction and scan is executed where there is no GPU.
 */
#ifndef GG_TOOLKIT_CUH
#define GG_TOOLKIT_CUH

#include <cuda_runtime.h>

#ifndef GG_CUDA_EMULATED

#include <cub/block/block_scan.cuh>

/* memory that the threads of a block share; NAME is a reference to it */
#define GG_BLOCK_MEMORY(type, name)                                                                                    \
    __shared__ __align__(16) unsigned char name##_bytes[sizeof(type)];                                                 \
    type &name = *reinterpret_cast<type *>(name##_bytes)
/* in a loop that waits for other threads: lets them run */
#define GG_SPIN() __nanosleep(20)

/* parameters of kernels that are read in place, without a copy per thread */
#define GG_KERNEL_PARAMETER const __grid_constant__

template <class... Parameters, class... Arguments>
static cudaError_t gg_launch(void (*kernel)(Parameters...), int blocks, int threads, int cooperative,
                             cudaStream_t stream, Arguments... arguments) {
    void *list[] = {const_cast<void *>(static_cast<const void *>(&arguments))...};
    return cooperative
               ? cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(blocks), dim3(threads), list,
                                             0, stream)
               : cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(blocks), dim3(threads), list, 0, stream);
}

#endif

#endif
