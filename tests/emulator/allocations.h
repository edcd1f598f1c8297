/* allocations.h: memory of the device and pinned memory of the host. */
#ifndef GG_EMULATOR_ALLOCATIONS_H
#define GG_EMULATOR_ALLOCATIONS_H

#include "instrument.h"
#include "streams.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

inline size_t emulator_memory() { return (size_t)emulator::setting("GG_EMULATOR_MEMORY", 1l << 40); }
inline cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    *total = emulator_memory();
    *left = *total - std::min(*total, emulator::machine().used);
    return cudaSuccess;
}

inline cudaError_t cudaMalloc(void **memory, size_t size) {
    emulator::runtime &r = emulator::machine();
    std::lock_guard<std::mutex> hold(r.lock);
    *memory = nullptr;
    if (r.lost) {
        return cudaErrorLaunchFailure;
    }
    char *found = r.used + size > emulator_memory() ? nullptr : emulator::find_free(r, size);
    if (!found) {
        return cudaErrorMemoryAllocation;
    }
    emulator::memory_access access;
    memset(found, 0xA5, size);
    gg_meter_memory(found, size);
    r.memory[found] = size;
    r.used += size;
    *memory = found;
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *memory) {
    emulator::runtime &r = emulator::machine();
    emulator::catch_up();
    std::lock_guard<std::mutex> hold(r.lock);
    auto found = r.memory.find((char *)memory);
    if (found != r.memory.end()) {
        r.used -= found->second;
        r.memory.erase(found);
        gg_meter_memory(memory, 0);
        emulator::trim(r);
    }
    return cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned) {
    *memory = malloc(size);
    std::lock_guard<std::mutex> hold(emulator::machine().lock);
    if (*memory) {
        emulator::machine().pinned[(char *)*memory] = size;
    }
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void *memory) {
    emulator::catch_up();
    std::lock_guard<std::mutex> hold(emulator::machine().lock);
    emulator::machine().pinned.erase((char *)memory);
    free(memory);
    return cudaSuccess;
}

#endif
