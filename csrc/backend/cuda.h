/* cuda.h: the CUDA backend: memory of a GPU, and phases run on it. Plain C: the rest of the engine needs no toolkit.
 *
 * In a package built without nvcc every call returns GG_ERROR_BACKEND with a message. A gg_cuda is a context: one GPU
 * and a stream. It is reference-counted: held by a world, and by every array on the device that outlives the world.
 */
#ifndef GG_CUDA_H
#define GG_CUDA_H

#include "device.h"
#include "../phases/phases.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gg_cuda gg_cuda;

/* Opens the device of index `device` among those that CUDA_VISIBLE_DEVICES makes visible. On failure *out is NULL and
 * message says why. */
gg_status gg_cuda_open(int32_t device, gg_cuda **out, char *message, size_t message_size);
void gg_cuda_retain(gg_cuda *cuda);
/* the last release closes it; NULL is fine */
void gg_cuda_release(gg_cuda *cuda);
/* message of the last call that failed */
const char *gg_cuda_message(const gg_cuda *cuda);
int32_t gg_cuda_device(const gg_cuda *cuda);

/* memory on the device; new memory is zero */
gg_status gg_cuda_alloc(gg_cuda *cuda, size_t size, void **memory);
void gg_cuda_free(gg_cuda *cuda, void *memory);

typedef enum gg_direction { GG_TO_DEVICE, GG_TO_HOST, GG_ON_DEVICE } gg_direction;
/* Copies `rows` runs of `width` bytes, in stream order. When it returns, `from` may be changed and a copy to the host
 * is complete; a copy to the device, or within it, may still be pending. Copies to the device: from one thread at a
 * time. */
gg_status gg_cuda_copy(gg_cuda *cuda, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t rows, gg_direction direction);

typedef struct gg_copy_run {
    void *to;
    const void *from;
    size_t size;
} gg_copy_run;
/* copies runs to the host, with one wait for all; from one thread at a time */
gg_status gg_cuda_fetch(gg_cuda *cuda, const gg_copy_run *runs, int count);

/* The stream that all work runs on (a cudaStream_t; 0 the legacy default, 1 its explicit name, 2 per thread). Work
 * enqueued before the change is ordered before work after it. */
gg_status gg_cuda_set_stream(gg_cuda *cuda, uintptr_t stream);
uintptr_t gg_cuda_stream(const gg_cuda *cuda);
/* makes `stream` wait for all work enqueued on the stream of `cuda` so far */
gg_status gg_cuda_order(gg_cuda *cuda, uintptr_t stream);

/* waits until nothing runs on the device, on any stream */
gg_status gg_cuda_settle(gg_cuda *cuda);

/* how a step is run: "team" (one kernel lives through the step), "graph" (a captured graph of one kernel per phase),
 * "auto" */
gg_status gg_cuda_set_kernel(gg_cuda *cuda, const char *name);
const char *gg_cuda_kernel(const gg_cuda *cuda);

/* runs one phase over all its items; pass: number of the iteration */
gg_status gg_cuda_run(gg_cuda *cuda, const gg_view *view, gg_phase phase, int32_t pass);
/* Runs up to `most` substeps of every env. *done: 1 where all substeps of the step are done or a buffer must grow. The
 * host waits once, for a few counters and for `count` runs that are copied to it. */
gg_status gg_cuda_step(gg_cuda *cuda, const gg_view *view, int32_t most, const gg_copy_run *runs, int count,
                       int32_t *done);
/* counters of the envs over the last step, (env_count) */
const gg_env_stats *gg_cuda_stats(const gg_cuda *cuda);
/* times the host has waited for the device so far */
int64_t gg_cuda_waits(const gg_cuda *cuda);
/* whether the last step stopped because a buffer must grow */
int gg_cuda_overflowed(const gg_cuda *cuda);
/* seconds per phase of the steps since switched on: of kernels, where each phase is one; else the time of the step, shared
 * out as env 0 spends its own; NULL: off */
void gg_cuda_profile(gg_cuda *cuda, double *seconds);

#ifdef __cplusplus
}
#endif

#endif
