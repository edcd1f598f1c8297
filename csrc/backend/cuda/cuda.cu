/* cuda.cu: the CUDA backend's host side: devices, memory, streams and steps. See cuda.h. */

/* the state of the emulator, where kernels run on a CPU (toolkit.cuh), is here */
#define GG_EMULATOR_IMPLEMENTATION

#include <stdlib.h>
#include <string.h>

#include "../../phases/names.h"
#include "devices.cuh"
#include "launch.cuh"

/* size of the stage: pinned memory through which copies pass, so that the host need not wait for them [bytes] */
#define GG_STAGE ((size_t)1 << 20)
/* the most grains of an env that one block steps, with their bodies in its shared memory */
#define GG_NEAR_SLOTS 2048
/* the most that is near (gg_near): less than GG_NEAR_BOTH for comparisons */
#ifndef GG_NEAR_MOST
#define GG_NEAR_MOST GG_NEAR_BOTH
#endif

/* ---- opening and closing a context ---- */

static void close_device(gg_cuda *c) {
    if (c->process == getpid() && cudaSetDevice(c->device) == cudaSuccess) {
        if (c->graph) {
            (void)cudaGraphExecDestroy(c->graph);
        }
        if (c->event) {
            (void)cudaEventDestroy(c->event);
        }
        if (c->own_stream) {
            (void)cudaStreamDestroy(c->own_stream);
        }
        (void)cudaFree(c->control);
        (void)cudaFree(c->meetings);
        (void)cudaFree(c->partials);
        (void)cudaFree(c->cycles);
        (void)cudaFreeHost(c->control_host);
        (void)cudaFreeHost(c->stage);
        (void)cudaFreeHost(c->stats);
        (void)cudaGetLastError();
    }
    free(c);
}

static gg_status open_device(gg_cuda *c) {
    int value = 0, per_multiprocessor = 0, per_meeting = 0, cooperative = 0;
    TRY(c, cudaSetDevice(c->device), "choosing the device");
    TRY(c, cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, c->device), "asking for its size");
    TRY(c, cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, c->device), "asking for its abilities");
    if (!cooperative) {
        return fail(c, GG_ERROR_BACKEND, "cuda:%d: this GPU cannot keep a grid of blocks resident", (int)c->device);
    }
    c->multiprocessors = value;
    for (int law = 0; law < GG_LAW_COUNT; law++) {
        int blocks = 0;
        TRY(c, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step_kernel_of((gg_law)law), GG_THREADS, 0),
            "loading kernels");
        per_multiprocessor = GG_MAX(per_multiprocessor, blocks);
    }
    /* of phases residency is limited by the kernel that needs most, of those whose blocks meet */
    per_meeting = INT32_MAX;
    for (int phase = 0; phase < GG_PHASE_COUNT; phase++) {
        if (gg_phase_sync((gg_phase)phase) == GG_SYNC_MEETS) {
            int blocks = 0;
            TRY(c, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of((gg_phase)phase), GG_THREADS, 0),
                "loading kernels");
            per_meeting = GG_MIN(per_meeting, blocks);
        }
    }
    cudaFuncAttributes step;
    int most_shared = 0;
    TRY(c, cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, c->device),
        "asking for its abilities");
    TRY(c, cudaFuncGetAttributes(&step, step_kernel_of(GG_LAW_coloured)), "loading kernels");
    c->shared_most = (size_t)most_shared - step.sharedSizeBytes;
    for (int law = 0; law < GG_LAW_COUNT; law++) {
        TRY(c,
            cudaFuncSetAttribute(step_kernel_of((gg_law)law), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)c->shared_most),
            "choosing shared memory");
    }
    c->phase_resident = per_meeting * value;
    int32_t most = GG_MAX(per_multiprocessor * value, c->phase_resident);
    gg_status status = load_kernels(c);
    if (status != GG_OK) {
        return status;
    }
    TRY(c, cudaStreamCreateWithFlags(&c->own_stream, cudaStreamNonBlocking), "making a stream");
    c->stream = c->own_stream;
    TRY(c, cudaEventCreateWithFlags(&c->event, cudaEventDisableTiming), "making an event");
    TRY(c, cudaMalloc((void **)&c->control, sizeof(gg_control)), "taking memory");
    TRY(c, cudaMalloc((void **)&c->meetings, sizeof(gg_meeting) * (size_t)most), "taking memory");
    TRY(c, cudaMalloc((void **)&c->partials, GG_PARTIAL * (size_t)most), "taking memory");
    TRY(c, cudaHostAlloc((void **)&c->control_host, sizeof(gg_control), cudaHostAllocDefault), "taking pinned memory");
    TRY(c, cudaHostAlloc((void **)&c->stage, GG_STAGE, cudaHostAllocDefault), "taking pinned memory");
    memset(c->control_host, 0, sizeof(gg_control));
    TRY(c, cudaMemsetAsync(c->control, 0, sizeof(gg_control), c->stream), "clearing memory");
    TRY(c, cudaMemsetAsync(c->meetings, 0, sizeof(gg_meeting) * (size_t)most, c->stream), "clearing memory");
    TRY(c, await_stream(c), "clearing memory");
    return GG_OK;
}

gg_status gg_cuda_open(int32_t device, gg_cuda **out, char *message, size_t message_size) {
    *out = NULL;
    gg_device_info info;
    gg_status status = gg_device_get_info(device, &info, message, message_size);
    if (status != GG_OK) {
        return status;
    }
    gg_cuda *c = (gg_cuda *)calloc(1, sizeof *c);
    if (!c) {
        if (message) {
            snprintf(message, message_size, "out of memory: device");
        }
        return GG_ERROR_MEMORY;
    }
    c->device = device;
    c->holders = 1;
    c->process = getpid();
    status = open_device(c);
    if (status != GG_OK) {
        if (message) {
            snprintf(message, message_size, "%s", c->message);
        }
        close_device(c);
        return status;
    }
    *out = c;
    return GG_OK;
}

void gg_cuda_retain(gg_cuda *c) { __atomic_add_fetch(&c->holders, 1, __ATOMIC_RELAXED); }

void gg_cuda_release(gg_cuda *c) {
    if (c && __atomic_sub_fetch(&c->holders, 1, __ATOMIC_ACQ_REL) == 0) {
        close_device(c);
    }
}

const char *gg_cuda_message(const gg_cuda *c) { return c->message; }
int32_t gg_cuda_device(const gg_cuda *c) { return c->device; }

/* ---- memory ---- */

gg_status gg_cuda_alloc(gg_cuda *c, size_t size, void **memory) {
    *memory = NULL;
    gg_status status = enter(c);
    if (status != GG_OK) {
        return status;
    }
    void *got = NULL;
    cudaError_t error = cudaMalloc(&got, size ? size : 1);
    if (error != cudaSuccess) {
        size_t left = 0, total = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&left, &total);
        return fail(c, error == cudaErrorMemoryAllocation ? GG_ERROR_MEMORY : GG_ERROR_BACKEND,
                    "cuda:%d: taking %zu bytes: %s; %zu of %zu are free", (int)c->device, size,
                    cudaGetErrorString(error), left, total);
    }
    error = cudaMemsetAsync(got, 0, size ? size : 1, c->stream);
    if (error != cudaSuccess) {
        (void)cudaFree(got);
        return failed(c, error, "clearing memory");
    }
    *memory = got;
    return GG_OK;
}

void gg_cuda_free(gg_cuda *c, void *memory) {
    if (memory && enter(c) == GG_OK) {
        /* cudaFree waits for the whole device: no queued work can still use it */
        (void)cudaFree(memory);
        (void)cudaGetLastError();
    }
}

/* aligned size of a region of the stage */
static size_t padded(size_t size) { return (size + 15) & ~(size_t)15; }

/* reserves `size` bytes of the stage that no pending copy uses; waits only where the stage is full */
static gg_status stage_reserve(gg_cuda *c, size_t size, char **staged) {
    if (size > GG_STAGE - c->staged) {
        TRY(c, await_stream(c), "waiting for copies");
        c->staged = 0;
    }
    *staged = c->stage + c->staged;
    c->staged += padded(size);
    return GG_OK;
}

gg_status gg_cuda_copy(gg_cuda *c, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t rows, gg_direction direction) {
    gg_status status = enter(c);
    if (status != GG_OK || width == 0 || rows == 0) {
        return status;
    }
    cudaMemcpyKind kind = direction == GG_TO_DEVICE ? cudaMemcpyHostToDevice
                          : direction == GG_TO_HOST ? cudaMemcpyDeviceToHost
                                                    : cudaMemcpyDeviceToDevice;
    if (rows == 1 || (to_pitch == width && from_pitch == width)) {
        size_t size = width * rows;
        if (direction == GG_TO_DEVICE && size <= GG_STAGE) {
            char *staged = NULL;
            if ((status = stage_reserve(c, size, &staged)) == GG_OK) {
                memcpy(staged, from, size);
                TRY(c, cudaMemcpyAsync(to, staged, size, kind, c->stream), "copying");
            }
            return status;
        }
        TRY(c, cudaMemcpyAsync(to, from, size, kind, c->stream), "copying");
    } else {
        TRY(c, cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, c->stream), "copying");
    }
    if (direction != GG_ON_DEVICE) {
        TRY(c, await_stream(c), "copying");
    }
    return GG_OK;
}

static size_t runs_size(const gg_copy_run *runs, int count) {
    size_t sum = 0;
    for (int k = 0; k < count; k++) {
        sum += padded(runs[k].size);
    }
    return sum;
}

/* enqueues copies to the host: into *staged, a region of the stage; NULL: too large for it, directly to where they go */
static gg_status fetch_begin(gg_cuda *c, const gg_copy_run *runs, int count, char **staged) {
    size_t sum = runs_size(runs, count);
    *staged = NULL;
    if (sum && sum <= GG_STAGE) {
        gg_status status = stage_reserve(c, sum, staged);
        if (status != GG_OK) {
            return status;
        }
    }
    char *at = *staged;
    for (int k = 0; k < count; k++) {
        void *to = at ? at : runs[k].to;
        TRY(c, cudaMemcpyAsync(to, runs[k].from, runs[k].size, cudaMemcpyDeviceToHost, c->stream), "copying");
        at += at ? padded(runs[k].size) : 0;
    }
    return GG_OK;
}

/* after the stream was waited for */
static void fetch_end(gg_cuda *c, const gg_copy_run *runs, int count, const char *staged) {
    c->staged = 0;
    for (int k = 0; staged && k < count; k++) {
        memcpy(runs[k].to, staged, runs[k].size);
        staged += padded(runs[k].size);
    }
}

gg_status gg_cuda_fetch(gg_cuda *c, const gg_copy_run *runs, int count) {
    gg_status status = enter(c);
    char *staged = NULL;
    if (status != GG_OK || !runs_size(runs, count) || (status = fetch_begin(c, runs, count, &staged)) != GG_OK) {
        return status;
    }
    TRY(c, await_stream(c), "copying");
    fetch_end(c, runs, count, staged);
    return GG_OK;
}

/* ---- streams ---- */

gg_status gg_cuda_order(gg_cuda *c, uintptr_t stream) {
    gg_status status = enter(c);
    if (status != GG_OK || (cudaStream_t)stream == c->stream) {
        return status;
    }
    TRY(c, cudaEventRecord(c->event, c->stream), "recording an event");
    TRY(c, cudaStreamWaitEvent((cudaStream_t)stream, c->event, 0), "ordering streams");
    return GG_OK;
}

gg_status gg_cuda_set_stream(gg_cuda *c, uintptr_t stream) {
    gg_status status = gg_cuda_order(c, stream);
    if (status == GG_OK) {
        c->stream = (cudaStream_t)stream;
    }
    return status;
}

gg_status gg_cuda_settle(gg_cuda *c) {
    gg_status status = enter(c);
    if (status == GG_OK) {
        __atomic_add_fetch(&c->waits, 1, __ATOMIC_RELAXED);
        TRY(c, cudaDeviceSynchronize(), "waiting for the device");
    }
    return status;
}

uintptr_t gg_cuda_stream(const gg_cuda *c) { return (uintptr_t)c->stream; }

/* ---- kernels ---- */

/* by gg_cuda_schedule */
static const char *const schedules[] = {"auto", "block", "team", "graph"};

gg_status gg_cuda_set_kernel(gg_cuda *c, const char *name) {
    for (int k = 0; k < (int)(sizeof schedules / sizeof schedules[0]); k++) {
        if (!strcmp(name, schedules[k])) {
            c->schedule = k;
            return GG_OK;
        }
    }
    return fail(c, GG_ERROR_BACKEND, "kernel: expected auto, block, team or graph on a GPU, got \"%s\"", name);
}

const char *gg_cuda_kernel(const gg_cuda *c) { return schedules[c->schedule]; }

gg_status gg_cuda_run(gg_cuda *c, const gg_view *view, gg_phase phase, int32_t pass) {
    gg_status status = enter(c);
    if (status != GG_OK) {
        return status;
    }
    if (phase == GG_PHASE_open_step) {
        c->substeps_done = 0;
    }
    if (phase == GG_PHASE_open_step || phase == GG_PHASE_roll_back) {
        c->resumed = 0;
    }
    gg_graph::gg_team team = {c, c->stream, view, cudaSuccess};
    gg_graph::gg_team_run(&team, phase, pass);
    if (team.error == cudaSuccess) {
        /* a caller that runs single phases checks for overflow itself */
        team.error = cudaMemsetAsync(&c->control->halt, 0, sizeof c->control->halt, c->stream);
    }
    return team.error == cudaSuccess ? GG_OK : failed(c, team.error, gg_phase_name(phase));
}

/* ---- steps ---- */

/* blocks that the grains of an env keep busy */
static int64_t useful_of(const gg_view *v) { return (v->dims.slots + GG_THREADS - 1) / GG_THREADS; }

/* Shared memory for the bodies of an env; 0: they stay in memory, and its blocks may be many. Those solve an env of more
 * grains faster, and few envs, which leave half of the GPU idle otherwise. */
static size_t near_of(const gg_cuda *c, const gg_view *v) {
    size_t size = sizeof(float) * GG_BODY * (size_t)v->dims.bodies;
    int64_t blocks = c->multiprocessors * (GG_THREADS_RESIDENT / GG_THREADS);
    int pays = v->dims.slots <= GG_NEAR_SLOTS && 2 * v->dims.env_count * useful_of(v) > blocks;
    int wanted = c->schedule == GG_SCHEDULE_AUTO ? pays : c->schedule == GG_SCHEDULE_BLOCK;
    return wanted && v->params.law == GG_LAW_coloured && size <= c->shared_most ? size : 0;
}

/* What is near, how much shared memory a step asks for, and how many of its blocks are resident at once. Iterates are near
 * where that leaves as many resident. */
static gg_status size_step(gg_cuda *c, const gg_view *v) {
    gg_law law = (gg_law)v->params.law;
    size_t bodies = near_of(c, v), iterates = bodies ? sizeof(float) * GG_BODY * (size_t)v->dims.slots : 0;
    if (c->resident && law == c->law && bodies == c->bodies && iterates == c->iterates) {
        return GG_OK;
    }
    int blocks = 0, with_iterates = 0;
    size_t shared = law == GG_LAW_continuum ? GG_CELL_MEMORY : bodies;
    TRY(c, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step_kernel_of(law), GG_THREADS, shared),
        "sizing a step");
    if (GG_NEAR_MOST >= GG_NEAR_BOTH && bodies && bodies + iterates <= c->shared_most) {
        TRY(c,
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_iterates, step_kernel_of(law), GG_THREADS,
                                                          bodies + iterates),
            "sizing a step");
    }
    int both = with_iterates > 0 && with_iterates >= blocks;
    c->law = law;
    c->bodies = bodies;
    c->iterates = iterates;
    c->near = both ? GG_NEAR_BOTH : bodies ? GG_NEAR_NOW : GG_NEAR_NOTHING;
    c->shared = both ? bodies + iterates : shared;
    c->resident = blocks * c->multiprocessors;
    return GG_OK;
}

static gg_status step_by_team(gg_cuda *c, const gg_view *v, int32_t most) {
    gg_law law = (gg_law)v->params.law;
    if (law == GG_LAW_coloured && !gg_short_indices(v->dims.env_count, v->dims.contact_rows)) {
        return fail(c, GG_ERROR_BACKEND,
                    "cuda:%d: room for %lld contacts in all envs: expected at most %lld where kernels are persistent; "
                    "the kernel \"graph\" steps more",
                    (int)c->device, (long long)(v->dims.env_count * v->dims.contact_rows * GG_LANES),
                    (long long)(UINT32_MAX / 3));
    }
    gg_status status = size_step(c, v);
    if (status != GG_OK) {
        return status;
    }
    /* a block of continuous matter keeps a block of threads busy */
    int64_t useful = GG_MAX(useful_of(v), v->dims.continuum.blocks);
    double meeting = law == GG_LAW_continuum ? GG_SHAPE_MEETING_MATTER : GG_SHAPE_MEETING;
    gg_team_shape shape = gg_team_shape_of(v->dims.env_count, c->near ? 1 : useful, c->resident, meeting);
    TRY(c,
        gg_launch(step_kernel_of(law), (int)(shape.teams * shape.blocks), GG_THREADS, c->shared, 1, c->stream, *v,
                  c->control, c->meetings, c->partials, (int32_t)shape.blocks, c->near, c->seconds ? c->cycles : NULL,
                  most),
        "starting a step");
    return GG_OK;
}

/* the same with its time shared out to phases, as env 0 spends its own */
static gg_status step_by_team_timed(gg_cuda *c, const gg_view *v, int32_t most) {
    const size_t size = sizeof(int64_t) * (GG_PHASE_COUNT + 1);
    if (!c->cycles) {
        TRY(c, cudaMalloc((void **)&c->cycles, size), "taking memory");
    }
    TRY(c, cudaMemsetAsync(c->cycles, 0, size, c->stream), "clearing counters");
    gg_stopwatch watch = {};
    gg_stopwatch_start(&watch, c->stream);
    gg_status status = step_by_team(c, v, most);
    double seconds = gg_stopwatch_stop(&watch, c->stream);
    if (status != GG_OK) {
        return status;
    }
    int64_t cycles[GG_PHASE_COUNT + 1], all = 0;
    TRY(c, cudaMemcpyAsync(cycles, c->cycles, size, cudaMemcpyDeviceToHost, c->stream), "reading counters");
    TRY(c, await_stream(c), "running a step");
    for (int phase = 0; phase < GG_PHASE_COUNT; phase++) {
        all += cycles[phase];
    }
    for (int phase = 0; phase < GG_PHASE_COUNT && all > 0; phase++) {
        c->seconds[phase] += seconds * (double)cycles[phase] / (double)all;
    }
    return GG_OK;
}

/* captures one substep as a graph, reused as long as the view is unchanged */
static gg_status capture(gg_cuda *c, const gg_view *v) {
    if (c->graph && !memcmp(&c->graph_view, v, sizeof *v)) {
        return GG_OK;
    }
    if (c->graph) {
        (void)cudaGraphExecDestroy(c->graph);
        c->graph = NULL;
    }
    cudaGraph_t graph = NULL;
    /* on a separate stream: default streams cannot be captured, and the world's may receive other work meanwhile */
    cudaStream_t stream = NULL;
    TRY(c, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    gg_graph::gg_team team = {c, stream, v, cudaSuccess};
    cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        (void)gg_graph::gg_step_substep(&team, 0);
        error = cudaStreamEndCapture(stream, &graph);
    }
    (void)cudaStreamDestroy(stream);
    error = team.error != cudaSuccess ? team.error : error;
    if (error == cudaSuccess) {
        error = cudaGraphInstantiate(&c->graph, graph, 0);
    }
    if (graph) {
        (void)cudaGraphDestroy(graph);
    }
    if (error != cudaSuccess) {
        c->graph = NULL;
        return failed(c, error, "capturing a substep");
    }
    c->graph_view = *v;
    return GG_OK;
}

static gg_status step_by_graph(gg_cuda *c, const gg_view *v, int32_t most) {
    gg_graph::gg_team team = {c, c->stream, v, cudaSuccess};
    int32_t k = 0;
    if (c->resumed || c->seconds) {
        (void)gg_graph::gg_step_substep(&team, c->resumed);
        k = 1;
    }
    for (; c->seconds && k < most && team.error == cudaSuccess; k++) {
        (void)gg_graph::gg_step_substep(&team, 0);
    }
    if (team.error != cudaSuccess) {
        return failed(c, team.error, "starting a phase");
    }
    if (k < most) {
        gg_status status = capture(c, v);
        if (status != GG_OK) {
            return status;
        }
    }
    for (; k < most; k++) {
        TRY(c, cudaGraphLaunch(c->graph, c->stream), "starting a substep");
    }
    /* tools are moved and envs counted even where a substep was interrupted */
    TRY(c, cudaMemsetAsync(&c->control->halt, 0, sizeof c->control->halt, c->stream), "clearing a counter");
    gg_graph::gg_team_run(&team, GG_PHASE_arrive_tools, 0);
    if (team.error == cudaSuccess) {
        int blocks = (int)((v->dims.env_count + GG_THREADS - 1) / GG_THREADS);
        team.error = gg_launch(gg_account_kernel, blocks, GG_THREADS, 0, 0, c->stream, *v, c->control);
    }
    return team.error == cudaSuccess ? GG_OK : failed(c, team.error, "starting a phase");
}

/* pinned memory for the counters of `envs` envs */
static gg_status stats_fit(gg_cuda *c, int64_t envs) {
    if (c->stats_capacity < envs) {
        (void)cudaFreeHost(c->stats);
        c->stats = NULL;
        c->stats_capacity = 0;
        TRY(c, cudaHostAlloc((void **)&c->stats, sizeof *c->stats * (size_t)envs, cudaHostAllocDefault),
            "taking pinned memory");
        c->stats_capacity = envs;
    }
    return GG_OK;
}

/* enqueues the copies that gg_cuda_step waits for: counters of the step and of the envs */
static gg_status ask(gg_cuda *c, const gg_view *v) {
    TRY(c, cudaMemcpyAsync(c->control_host, c->control, sizeof(gg_control), cudaMemcpyDeviceToHost, c->stream),
        "reading a counter");
    TRY(c,
        cudaMemcpy2DAsync(c->stats, sizeof *c->stats, &v->env->stats, sizeof(gg_env), sizeof *c->stats,
                          (size_t)v->dims.env_count, cudaMemcpyDeviceToHost, c->stream),
        "reading a counter");
    return GG_OK;
}

gg_status gg_cuda_step(gg_cuda *c, const gg_view *v, int32_t most, const gg_copy_run *runs, int count, int32_t *done) {
    char *staged = NULL;
    *done = 1;
    gg_status status = enter(c);
    if (status != GG_OK || (status = stats_fit(c, v->dims.env_count)) != GG_OK) {
        return status;
    }
    /* a graph holds as many phases as the host knows of */
    int by_graph = c->schedule == GG_SCHEDULE_GRAPH && !gg_is_adaptive(&v->params);
    int32_t left = v->params.substeps - c->substeps_done;
    most = most < left ? most : left;
    TRY(c, cudaMemsetAsync(c->control, 0, sizeof(gg_control), c->stream), "clearing counters");
    status = by_graph     ? step_by_graph(c, v, most)
             : c->seconds ? step_by_team_timed(c, v, most)
                          : step_by_team(c, v, most);
    if (status != GG_OK || (status = ask(c, v)) != GG_OK || (status = fetch_begin(c, runs, count, &staged)) != GG_OK) {
        return status;
    }
    TRY(c, await_stream(c), "running a step");
    fetch_end(c, runs, count, staged);
    c->resumed = c->control_host->overflow;
    c->substeps_done = c->control_host->substeps_done;
    *done = c->control_host->overflow || !c->control_host->unfinished;
    return GG_OK;
}

int gg_cuda_overflowed(const gg_cuda *c) { return c->control_host->overflow; }
const gg_env_stats *gg_cuda_stats(const gg_cuda *c) { return c->stats; }
int64_t gg_cuda_waits(const gg_cuda *c) { return __atomic_load_n(&c->waits, __ATOMIC_RELAXED); }

void gg_cuda_profile(gg_cuda *c, double *seconds) { c->seconds = seconds; }
