/* runtime_types.h: types and constants of the CUDA runtime, as far as the backend uses them. */
#ifndef GG_EMULATOR_RUNTIME_TYPES_H
#define GG_EMULATOR_RUNTIME_TYPES_H

#include <functional>
#include <vector>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorStreamCaptureUnsupported = 900
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };

struct emulator_graph {
    std::vector<std::function<void()>> nodes;
};
struct emulator_stream {
    emulator_graph *capture = nullptr;
};
typedef emulator_stream *cudaStream_t;
typedef struct emulator_event *cudaEvent_t;
typedef emulator_graph *cudaGraph_t;
typedef emulator_graph *cudaGraphExec_t;
struct cudaDeviceProp {
    char name[256];
    int multiProcessorCount, major, minor;
};

#endif
