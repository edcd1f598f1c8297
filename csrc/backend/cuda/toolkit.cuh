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
/* memory that the threads of a block share beside that, as much as the launch asks for */
__device__ __forceinline__ float *gg_near_memory() {
    extern __shared__ __align__(16) float gg_near[];
    return gg_near;
}
/* a clock of this multiprocessor [cycles] */
__device__ __forceinline__ int64_t gg_cycles() { return clock64(); }
/* in a loop that waits for other threads: lets them run. On a GPU they do, and sleep would only delay the end */
#define GG_SPIN() ((void)0)

/* a thread enters a phase: the emulator's instrument asks for it */
#define GG_NOTE_PHASE(phase) ((void)0)

/* adds to a word; what this thread, and those it has met at a barrier, wrote before is visible to who acquires it */
__device__ __forceinline__ uint32_t gg_add_release(uint32_t *at, uint32_t value) {
    uint32_t before;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
}
/* reads a word; what was written before it was released is visible after */
__device__ __forceinline__ uint32_t gg_load_acquire(const uint32_t *at) {
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

/* before a loop: as many rounds at once */
#define GG_UNROLL(count)     _Pragma(GG_UNROLL_TEXT(unroll count))
#define GG_UNROLL_TEXT(text) #text

/* parameters of kernels that are read in place, without a copy per thread */
#define GG_KERNEL_PARAMETER(type) const __grid_constant__ type

template <class... Parameters, class... Arguments>
static cudaError_t gg_launch(void (*kernel)(Parameters...), int blocks, int threads, size_t shared, int cooperative,
                             cudaStream_t stream, Arguments... arguments) {
    void *list[] = {const_cast<void *>(static_cast<const void *>(&arguments))...};
    return cooperative ? cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), dim3(blocks),
                                                     dim3(threads), list, shared, stream)
                       : cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(blocks), dim3(threads), list,
                                          shared, stream);
}

#endif

#endif
