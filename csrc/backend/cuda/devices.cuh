/* devices.cuh: which GPUs this process can use, and why not. */
#ifndef GG_DEVICES_CUH
#define GG_DEVICES_CUH

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../device.h"
#include "toolkit.cuh"

static pid_t started_in; /* the process that first used CUDA */

int gg_device_built(void) { return 1; }

gg_status gg_device_count(int32_t *count, char *message, size_t message_size) {
    int n = 0;
    cudaError_t error;
    *count = 0;
    if (started_in && started_in != getpid()) {
        if (message) {
            snprintf(
                message, message_size,
                "this process was forked after CUDA was started, which CUDA does not survive; start processes with "
                "the method \"spawn\" or \"forkserver\"");
        }
        return GG_ERROR_BACKEND;
    }
    error = cudaGetDeviceCount(&n);
    if (error != cudaSuccess || n == 0) {
        (void)cudaGetLastError();
        if (message) {
            int driver = 0, runtime = 0;
            (void)cudaDriverGetVersion(&driver);
            (void)cudaRuntimeGetVersion(&runtime);
            const char *hidden = getenv("CUDA_VISIBLE_DEVICES");
            if (error == cudaErrorInitializationError) {
                /* where another library started CUDA before a fork, this error is the only sign of it */
                snprintf(message, message_size,
                         "CUDA cannot be started in this process (%s); where it was forked after a library, as torch, "
                         "had started CUDA, start processes with the method \"spawn\" or \"forkserver\"",
                         cudaGetErrorString(error));
            } else if (driver == 0) {
                snprintf(message, message_size, "no CUDA driver was found (%s)", cudaGetErrorString(error));
            } else if (error == cudaErrorInsufficientDriver) {
                snprintf(message, message_size,
                         "the CUDA driver is too old: it knows CUDA %d.%d, this build needs %d.%d or newer",
                         driver / 1000, driver / 10 % 100, runtime / 1000, runtime / 10 % 100);
            } else if (hidden) {
                snprintf(message, message_size, "no GPU is visible: CUDA_VISIBLE_DEVICES=\"%s\" (%s)", hidden,
                         cudaGetErrorString(error));
            } else {
                snprintf(message, message_size, "no GPU was found (%s)", cudaGetErrorString(error));
            }
        }
        return GG_ERROR_BACKEND;
    }
    started_in = getpid();
    *count = n;
    return GG_OK;
}

gg_status gg_device_get_info(int32_t device, gg_device_info *info, char *message, size_t message_size) {
    int32_t count = 0;
    memset(info, 0, sizeof *info);
    gg_status status = gg_device_count(&count, message, message_size);
    if (status != GG_OK) {
        return status;
    }
    if (device < 0 || device >= count) {
        if (message) {
            snprintf(message, message_size, "device: expected cuda:0 to cuda:%d, got cuda:%d", (int)count - 1,
                     (int)device);
        }
        return GG_ERROR_ARGUMENT;
    }
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    size_t left = 0, total = 0;
    if (error == cudaSuccess && (error = cudaSetDevice(device)) == cudaSuccess) {
        error = cudaMemGetInfo(&left, &total);
    }
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        if (message) {
            snprintf(message, message_size, "cuda:%d: %s", (int)device, cudaGetErrorString(error));
        }
        return GG_ERROR_BACKEND;
    }
    int driver = 0, runtime = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    info->memory = (int64_t)total;
    info->memory_free = (int64_t)left;
    info->multiprocessors = properties.multiProcessorCount;
    info->capability = properties.major * 10 + properties.minor;
    info->driver_version = driver;
    info->runtime_version = runtime;
    return GG_OK;
}

#endif
