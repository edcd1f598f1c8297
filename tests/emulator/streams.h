/* streams.h: streams, events and graphs, and the work enqueued on them. */
#ifndef GG_EMULATOR_STREAMS_H
#define GG_EMULATOR_STREAMS_H

#include "address_range.h"
#include <functional>
#include <mutex>
#include <utility>

namespace emulator {

/* executes the deferred copies */
inline cudaError_t catch_up() {
    std::lock_guard<std::recursive_mutex> hold(machine().order);
    if (!machine().deferred.empty()) {
        memory_access access;
        for (const auto &work : std::exchange(machine().deferred, {})) {
            work();
        }
    }
    return alive();
}

inline bool capturing(cudaStream_t stream) { return stream > (cudaStream_t)2 && stream->capture; }

inline cudaError_t execute(cudaStream_t stream, std::function<void()> work) {
    if (capturing(stream)) {
        stream->capture->nodes.push_back(std::move(work));
    } else {
        catch_up();
        memory_access access;
        work();
    }
    return cudaSuccess;
}

} // namespace emulator

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    *stream = new emulator_stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return emulator::catch_up(); }
inline cudaError_t cudaDeviceSynchronize() { return emulator::catch_up(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return emulator::alive(); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    *event = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return emulator::alive(); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return emulator::catch_up(); }
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 1.0f;
    return cudaSuccess;
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (stream <= (cudaStream_t)2) {
        return cudaErrorStreamCaptureUnsupported;
    }
    stream->capture = new emulator_graph;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    *graph = std::exchange(stream->capture, nullptr);
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
    *exec = new emulator_graph(*graph);
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return cudaGraphDestroy(exec); }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
    emulator::catch_up();
    emulator::memory_access access;
    for (const auto &node : exec->nodes) {
        node();
    }
    return emulator::alive();
}

#endif
