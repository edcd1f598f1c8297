/* context.cuh: the host's side of a CUDA context; every error of the runtime becomes a status with a message. */
#ifndef GG_CONTEXT_CUH
#define GG_CONTEXT_CUH

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "../cuda.h"
#include "team.cuh"

/* how a step runs, see step_kernel.cuh; of teams those of one block, with the bodies of an env near, have a name of their own */
enum gg_cuda_schedule { GG_SCHEDULE_AUTO, GG_SCHEDULE_BLOCK, GG_SCHEDULE_TEAM, GG_SCHEDULE_GRAPH };

struct gg_cuda {
    int32_t device, holders;
    int32_t multiprocessors;
    int32_t phase_resident; /* the same for phases whose blocks meet */
    size_t shared_most;     /* shared memory that a block of a step kernel may ask for, see gg_near_memory [bytes] */
    /* the law of the last step, what of its bodies could be near [bytes], and what that led to: what is near (gg_near),
     * shared memory [bytes], and how many blocks are resident at once */
    gg_law law;
    size_t bodies, iterates;
    int32_t near;
    size_t shared;
    int32_t resident;
    pid_t process; /* a forked child cannot use CUDA */
    cudaStream_t stream, own_stream;
    cudaEvent_t event;
    gg_control *control;      /* on the device */
    gg_control *control_host; /* pinned; the copy read last */
    gg_meeting *meetings;     /* (the most resident blocks) */
    unsigned char *partials;  /* (the most resident blocks) GG_PARTIAL bytes */
    char *stage;              /* pinned; see gg_cuda_copy and gg_cuda_fetch */
    size_t staged;            /* bytes of it that pending copies may still read */
    gg_env_stats *stats;      /* pinned, (stats_capacity): of the envs, after the last step */
    int64_t stats_capacity;
    int64_t waits; /* times the host waited for the device */
    int32_t schedule;
    double *seconds; /* of the caller, per phase; NULL: not measured */
    int64_t *cycles; /* on the device, see gg_gpu_team; NULL until they are measured */
    /* the graph of one substep, and the view it was captured for */
    cudaGraphExec_t graph;
    gg_view graph_view;
    int32_t substeps_done; /* of the current step, with one kernel per phase */
    int32_t resumed;       /* a buffer grew: the next substep resumes where it stopped */
    char message[512];
};

static gg_status fail(gg_cuda *c, gg_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message, sizeof c->message, format, arguments);
    va_end(arguments);
    return status;
}

static gg_status failed(gg_cuda *c, cudaError_t error, const char *doing) {
    (void)cudaGetLastError();
    gg_status status = error == cudaErrorMemoryAllocation ? GG_ERROR_MEMORY : GG_ERROR_BACKEND;
    return fail(c, status, "cuda:%d: %s: %s (%s)", (int)c->device, doing, cudaGetErrorString(error),
                cudaGetErrorName(error));
}

#define TRY(c, call, doing)                                                                                            \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            return failed(c, error_, doing);                                                                           \
        }                                                                                                              \
    } while (0)

/* begins every call: refuses a forked process and selects the device */
static gg_status enter(gg_cuda *c) {
    if (c->process != getpid()) {
        return fail(c, GG_ERROR_BACKEND,
                    "cuda:%d: this process was forked after CUDA was started, which CUDA does not survive; start "
                    "processes with the method \"spawn\" or \"forkserver\"",
                    (int)c->device);
    }
    TRY(c, cudaSetDevice(c->device), "choosing the device");
    return GG_OK;
}

/* waits for all work on the stream */
static cudaError_t await_stream(gg_cuda *c) {
    __atomic_add_fetch(&c->waits, 1, __ATOMIC_RELAXED);
    return cudaStreamSynchronize(c->stream);
}

#endif
