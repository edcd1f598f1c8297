/* copies.h: copies between host and device. */
#ifndef GG_EMULATOR_COPIES_H
#define GG_EMULATOR_COPIES_H

#include "streams.h"
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>

namespace emulator {

inline bool is_pinned(const void *at) {
    std::lock_guard<std::mutex> hold(machine().lock);
    auto next = machine().pinned.upper_bound((char *)const_cast<void *>(at));
    return next != machine().pinned.begin() && (const char *)at < std::prev(next)->first + std::prev(next)->second;
}

/* A copy. With pinned memory it is executed as late as CUDA allows, which exposes a host that changes its input, or
 * reads its output, too early; other host memory is read and written before the call returns. */
inline cudaError_t copy(cudaStream_t stream, const void *to, const void *from, cudaMemcpyKind kind,
                        std::function<void()> work) {
    if (machine().lost) {
        return cudaErrorLaunchFailure;
    }
    if (is_on_device(to) != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) ||
        is_on_device(from) != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)) {
        return cudaErrorInvalidValue;
    }
    if (capturing(stream) || !(is_pinned(to) || is_pinned(from))) {
        return execute(stream, std::move(work));
    }
    std::lock_guard<std::recursive_mutex> hold(machine().order);
    machine().deferred.push_back(std::move(work));
    return cudaSuccess;
}

} // namespace emulator

inline cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream) {
    return emulator::machine().lost          ? cudaErrorLaunchFailure
           : !emulator::is_on_device(memory) ? cudaErrorInvalidValue
                                             : emulator::execute(stream, [=] { memset(memory, value, size); });
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
    return emulator::copy(stream, to, from, kind, [=] { memcpy(to, from, size); });
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
    if (width > to_pitch || width > from_pitch) {
        return cudaErrorInvalidValue;
    }
    return emulator::copy(stream, to, from, kind, [=] {
        for (size_t r = 0; r < rows; r++) {
            memcpy((char *)to + r * to_pitch, (const char *)from + r * from_pitch, width);
        }
    });
}

#endif
