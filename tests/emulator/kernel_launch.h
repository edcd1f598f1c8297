/* kernel_launch.h: how kernels are loaded and started. */
#ifndef GG_EMULATOR_KERNEL_LAUNCH_H
#define GG_EMULATOR_KERNEL_LAUNCH_H

#include "language.h"
#include "streams.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace emulator {

template <class... Parameters> inline void load(void (*kernel)(Parameters...)) {
    std::lock_guard<std::mutex> hold(machine().lock);
    machine().loaded.insert(reinterpret_cast<const void *>(kernel));
}
template <class... Parameters> inline bool is_loaded(void (*kernel)(Parameters...)) {
    std::lock_guard<std::mutex> hold(machine().lock);
    return machine().loaded.count(reinterpret_cast<const void *>(kernel));
}

/* whether there is memory at an address: two numbers side by side may look like one */
inline bool is_mapped(uintptr_t address) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return msync((void *)(address / page * page), 1, MS_ASYNC) == 0;
}

/* aborts where a kernel is given a host address */
template <class Argument> inline void look_for_host_addresses(const Argument &argument) {
#ifdef __x86_64__
    for (size_t at = 0; at + sizeof(uintptr_t) <= sizeof argument; at += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (const char *)&argument + at, sizeof word);
        if (word >= 0x500000000000u && word < 0x800000000000u && !is_on_device((const void *)word) && is_mapped(word)) {
            fprintf(stderr, "CUDA emulator: a kernel is given %p, which is memory of the host (byte %zu of %zu)\n",
                    (void *)word, at, sizeof argument);
            abort();
        }
    }
#else
    (void)argument;
#endif
}

/* tells an instrument of a launch and its first argument */
template <class First, class... Others>
inline void announce(int blocks, int threads, const First &first, const Others &...) {
    gg_meter_launch(&first, sizeof first, (unsigned)blocks, (unsigned)threads);
}

} // namespace emulator

template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel kernel, int, size_t shared) {
    emulator::load(kernel);
    *blocks = shared * emulator::BLOCKS_PER_MULTIPROCESSOR <= emulator::SHARED_OF_MULTIPROCESSOR
                  ? emulator::BLOCKS_PER_MULTIPROCESSOR
                  : 1;
    return emulator::alive();
}
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
};
template <class Kernel> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel kernel) {
    emulator::load(kernel);
    attributes->sharedSizeBytes = 0;
    return emulator::alive();
}
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
template <class Kernel> inline cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
    return emulator::alive();
}

template <class... Parameters, class... Arguments>
inline cudaError_t gg_launch(void (*kernel)(Parameters...), int blocks, int threads, size_t shared, int cooperative,
                             cudaStream_t stream, Arguments... arguments) {
    emulator::runtime &r = emulator::machine();
    long fail = emulator::setting("GG_EMULATOR_FAIL", 0);
    if (fail > 0 && ++r.launches >= fail) {
        r.lost = true;
    }
    if (r.lost) {
        return cudaErrorLaunchFailure;
    }
    if (blocks < 1 || threads < 1 || shared > emulator::MOST_SHARED) {
        return cudaErrorInvalidValue;
    }
    if (cooperative && blocks > emulator::MULTIPROCESSORS * emulator::BLOCKS_PER_MULTIPROCESSOR) {
        return cudaErrorCooperativeLaunchTooLarge;
    }
    if (emulator::capturing(stream) && !emulator::is_loaded(kernel)) {
        return cudaErrorStreamCaptureUnsupported;
    }
    emulator::load(kernel);
    (emulator::look_for_host_addresses(arguments), ...);
    return emulator::execute(stream, [=] {
        std::function<void()> call = [=] { kernel(arguments...); };
        emulator::announce(blocks, threads, arguments...);
        unsigned grid = (unsigned)blocks, step = cooperative ? grid : 1;
        for (unsigned b = 0; b < grid; b += step) {
            emulator::run_blocks(b, b + step, grid, (unsigned)threads, emulator::BLOCK_MEMORY + shared, call);
        }
    });
}

#endif
