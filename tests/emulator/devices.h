/* devices.h: errors, versions and devices. */
#ifndef GG_EMULATOR_DEVICES_H
#define GG_EMULATOR_DEVICES_H

#include "machine.h"
#include <cstdio>
#include <unistd.h>

inline const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInitializationError:
        return "initialization error";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    default:
        return "invalid argument";
    }
}
inline const char *cudaGetErrorName(cudaError_t e) {
    return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : e == cudaErrorLaunchFailure  ? "cudaErrorLaunchFailure"
                                          : "cudaError";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

inline cudaError_t cudaDriverGetVersion(int *version) {
    *version = (int)emulator::setting("GG_EMULATOR_DRIVER", 13000);
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int *count) {
    int driver = 0;
    *count = 0;
    cudaDriverGetVersion(&driver);
    if (driver < 12000) {
        return cudaErrorInsufficientDriver;
    }
    long owner = emulator::setting("GG_EMULATOR_OWNER", 0);
    if (owner && owner != (long)getpid()) {
        return cudaErrorInitializationError;
    }
    *count = (int)emulator::setting("GG_EMULATOR_DEVICES", 1);
    return *count ? cudaSuccess : cudaErrorNoDevice;
}
inline cudaError_t cudaSetDevice(int device) {
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    return e != cudaSuccess ? e : device < count ? emulator::alive() : cudaErrorInvalidDevice;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount            ? emulator::MULTIPROCESSORS
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? (int)emulator::MOST_SHARED
                                                                    : 1;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
    snprintf(p->name, sizeof p->name, "CPU emulating CUDA");
    p->multiProcessorCount = emulator::MULTIPROCESSORS;
    p->major = 7;
    p->minor = 5;
    return cudaSuccess;
}

#endif
