/* launch.cuh: launches phases as kernels of their own; a substep is run by the whole device as one team. */
#ifndef GG_LAUNCH_CUH
#define GG_LAUNCH_CUH

#include "context.cuh"
#include "phase_kernels.cuh"
#include "team_shape.h"

typedef decltype(&gg_phase_kernel<GG_PHASE_predict>) phase_kernel;

/* a phase as a kernel of its own */
static phase_kernel kernel_of(gg_phase phase) {
    static const phase_kernel kernels[] = {
#define ENTRY(name, ...) gg_phase_kernel<GG_PHASE_##name>,
        GG_PHASES(ENTRY)
#undef ENTRY
    };
    return kernels[phase];
}

/* the persistent step kernels, of laws/; see step_kernel.cuh */
#define DECLARATION(law) __global__ void gg_##law##_step_kernel(GG_STEP_PARAMETERS);
GG_LAWS(DECLARATION)
#undef DECLARATION
typedef decltype(&gg_coloured_step_kernel) step_kernel;

/* the persistent step kernel of a law */
static step_kernel step_kernel_of(gg_law law) {
    static const step_kernel kernels[] = {
#define ENTRY(law) gg_##law##_step_kernel,
        GG_LAWS(ENTRY)
#undef ENTRY
    };
    return kernels[law];
}

/* shared memory that the kernel of a phase asks for beside its own [bytes] */
static size_t shared_of(gg_phase phase) {
    switch (phase) {
    case GG_PHASE_render_depth:
        return sizeof(float) * GG_TILE;
    case GG_PHASE_continuum_open_blocks:
    case GG_PHASE_continuum_linearise:
    case GG_PHASE_continuum_apply:
    case GG_PHASE_continuum_diagonal:
    case GG_PHASE_continuum_ray_blocks:
    case GG_PHASE_liquid_open:
    case GG_PHASE_liquid_react:
    case GG_PHASE_liquid_flow_iterate:
    case GG_PHASE_liquid_flow_way:
    case GG_PHASE_liquid_flow_step:
    case GG_PHASE_liquid_press_iterate:
    case GG_PHASE_liquid_press_way:
        return GG_CELL_MEMORY;
    default:
        return 0;
    }
}

/* Loads all kernels before the first launch: lazy loading may wait for all work on the device, and is not allowed on a
 * stream that is being captured. */
static gg_status load_kernels(gg_cuda *c) {
    cudaFuncAttributes attributes;
    for (int phase = 0; phase < GG_PHASE_COUNT; phase++) {
        TRY(c, cudaFuncGetAttributes(&attributes, kernel_of((gg_phase)phase)), "loading kernels");
        TRY(c,
            cudaFuncSetAttribute(kernel_of((gg_phase)phase), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)shared_of((gg_phase)phase)),
            "choosing shared memory");
    }
    TRY(c, cudaFuncGetAttributes(&attributes, gg_halt_kernel), "loading kernels");
    TRY(c, cudaFuncGetAttributes(&attributes, gg_account_kernel), "loading kernels");
    return GG_OK;
}

/* threads that a phase can keep busy in one env */
static int64_t threads_of(const gg_view *v, gg_phase phase) {
    switch (phase) {
#define THREADS(name, items, still, build, gpu, threads, sync, body)                                                   \
    case GG_PHASE_##name:                                                                                              \
        return threads;
        GG_PHASES(THREADS)
#undef THREADS
    default:
        return 0;
    }
}

static cudaError_t launch_phase(gg_cuda *c, cudaStream_t stream, const gg_view *v, gg_phase phase, int32_t pass) {
    int64_t threads = threads_of(v, phase), envs = v->dims.env_count;
    if (threads <= 0 || envs <= 0) {
        return cudaSuccess;
    }
    int64_t blocks = (threads + GG_THREADS - 1) / GG_THREADS;
    int sync = gg_phase_sync(phase), meets = sync == GG_SYNC_MEETS;
    /* the size of a grid is bounded only where its blocks must all be resident or store partial sums */
    int64_t most = sync != GG_SYNC_ALONE ? c->phase_resident : c->multiprocessors * (int64_t)64;
    int64_t teams = envs < most ? envs : most;
    blocks = blocks < most / teams ? blocks : most / teams;
    return gg_launch(kernel_of(phase), (int)(teams * blocks), GG_THREADS, shared_of(phase), meets && blocks > 1, stream,
                     *v, c->control, c->meetings, c->partials, (int32_t)blocks, pass);
}

/* the time between two points of a stream */
struct gg_stopwatch {
    cudaEvent_t begin, end;
    int runs;
};

static void gg_stopwatch_start(gg_stopwatch *watch, cudaStream_t stream) {
    watch->runs = cudaEventCreate(&watch->begin) == cudaSuccess && cudaEventCreate(&watch->end) == cudaSuccess &&
                  cudaEventRecord(watch->begin, stream) == cudaSuccess;
}

/* waits for the work since the start; returns its seconds, 0 where they were not measured */
static double gg_stopwatch_stop(gg_stopwatch *watch, cudaStream_t stream) {
    float milliseconds = 0.0f;
    int known = watch->runs && cudaEventRecord(watch->end, stream) == cudaSuccess &&
                cudaEventSynchronize(watch->end) == cudaSuccess &&
                cudaEventElapsedTime(&milliseconds, watch->begin, watch->end) == cudaSuccess;
    if (watch->begin) {
        (void)cudaEventDestroy(watch->begin);
    }
    if (watch->end) {
        (void)cudaEventDestroy(watch->end);
    }
    return known ? 1e-3 * milliseconds : 0.0;
}

namespace gg_graph {

/* the whole device as a team: each phase is a kernel, and the end of a kernel is the barrier */
struct gg_team {
    gg_cuda *cuda;
    cudaStream_t stream;
    const gg_view *view;
    mutable cudaError_t error;
};

static const gg_view *gg_team_view(const gg_team *team) { return team->view; }
static gg_law gg_team_law(const gg_team *team) { return (gg_law)team->view->params.law; }
static void gg_team_run(const gg_team *team, gg_phase phase, int32_t pass) {
    gg_cuda *c = team->cuda;
    gg_stopwatch watch = {};
    if (c->seconds && team->error == cudaSuccess) {
        gg_stopwatch_start(&watch, team->stream);
    }
    if (team->error == cudaSuccess) {
        team->error = launch_phase(c, team->stream, team->view, phase, pass);
    }
    if (team->error == cudaSuccess && (phase == GG_PHASE_close_lists || phase == GG_PHASE_allocate_contacts)) {
        int blocks = (int)((team->view->dims.env_count + GG_THREADS - 1) / GG_THREADS);
        team->error = gg_launch(gg_halt_kernel, blocks, GG_THREADS, 0, 0, team->stream, *team->view, c->control);
    }
    if (c->seconds) {
        c->seconds[phase] += gg_stopwatch_stop(&watch, team->stream);
    }
}
static void gg_team_start(const gg_team *team, gg_phase phase, int32_t pass) { gg_team_run(team, phase, pass); }
static void gg_team_next(const gg_team *team, gg_phase phase, int32_t pass) { gg_team_run(team, phase, pass); }
static int gg_team_pass(const gg_team *, gg_phase, int32_t) { return 0; }
static int gg_team_extrapolates(const gg_team *, gg_phase) { return 0; }
/* nor how many colours there are: as many as there may be */
static int32_t gg_team_colours(const gg_team *team) { return gg_colour_limit(&team->view->params); }
/* the host does not know the condition: kernels skip envs in which they have nothing to do */
static int gg_team_any(const gg_team *team, gg_condition question) {
    (void)team;
    return question != GG_HAS_OVERFLOW;
}

#define GG_TEAM_FN static
#include "../../phases/step.h"
#undef GG_TEAM_FN
#undef GG_STEP_H

} // namespace gg_graph

#endif
