/* launch.cuh: how the host starts phases as kernels of their own, and the team that it makes of a whole device for a substep. */
#ifndef GG_LAUNCH_CUH
#define GG_LAUNCH_CUH

#include "context.cuh"
#include "step.cuh"

typedef void (*phase_kernel)(const gg_view, gg_control *, gg_meeting *, unsigned char *, int32_t, int32_t);

/* a phase as a kernel of its own */
static phase_kernel kernel_of(gg_phase phase) {
    static const phase_kernel kernels[] = {
#define ENTRY(name, count, skip, body) gg_phase_kernel<GG_PHASE_##name>,
        GG_PHASES(ENTRY)
#undef ENTRY
    };
    return kernels[phase];
}

/* All kernels, before any is started: the driver would load one at its first use, which may wait for everything under way on
 * the device, and which a stream that is being captured does not allow. */
static gg_status load_kernels(gg_cuda *c) {
    cudaFuncAttributes attributes;
    for (int phase = 0; phase < GG_PHASE_COUNT; phase++) {
        TRY(c, cudaFuncGetAttributes(&attributes, kernel_of((gg_phase)phase)), "loading kernels");
    }
    TRY(c, cudaFuncGetAttributes(&attributes, gg_halt_kernel), "loading kernels");
    TRY(c, cudaFuncGetAttributes(&attributes, gg_account_kernel), "loading kernels");
    return GG_OK;
}

/* items of a phase in one env: what a team has to do */
static int64_t items_of(const gg_view *v, gg_phase phase) {
    switch (phase) {
#define ITEMS(name, count, skip, body)                                                                                 \
    case GG_PHASE_##name:                                                                                              \
        return count;
        GG_PHASES(ITEMS)
#undef ITEMS
    default:
        return 0;
    }
}

/* threads that a phase can keep busy in one env */
static int64_t threads_of(const gg_view *v, gg_phase phase) {
    switch (phase) {
    case GG_PHASE_predict:
    case GG_PHASE_count_contacts:
    case GG_PHASE_list_contacts:
    case GG_PHASE_prepare_contacts:
    case GG_PHASE_iterate:
    case GG_PHASE_integrate:
    case GG_PHASE_planar_count:
    case GG_PHASE_planar_list:
    case GG_PHASE_planar_prepare:
    case GG_PHASE_planar_iterate:
    case GG_PHASE_planar_integrate:
    case GG_PHASE_penalty_forces:
    case GG_PHASE_order:
    case GG_PHASE_allocate_candidates:
        return v->dims.slots;
    case GG_PHASE_fit_cell_grids:
    case GG_PHASE_close_lists:
        /* each thread looks at some grains before it adds up with others */
        return (v->dims.slots + GG_SCAN_ITEMS - 1) / GG_SCAN_ITEMS;
    case GG_PHASE_allocate_contacts:
    case GG_PHASE_check:
    case GG_PHASE_check_convergence:
    case GG_PHASE_close_substep:
        return (v->dims.slices + GG_SCAN_ITEMS - 1) / GG_SCAN_ITEMS;
    case GG_PHASE_sum_wrench_blocks:
        return v->dims.load_blocks * v->dims.tool_count * 6;
    case GG_PHASE_sum_boxes:
        return v->dims.blocks * GG_THREADS;
    case GG_PHASE_tally:
        return v->dims.grain_count;
    case GG_PHASE_render_depth:
        return items_of(v, phase) * GG_THREADS;
    default:
        return items_of(v, phase);
    }
}

static cudaError_t launch_phase(gg_cuda *c, cudaStream_t stream, const gg_view *v, gg_phase phase, int32_t pass) {
    int64_t threads = threads_of(v, phase), envs = v->dims.env_count;
    if (threads <= 0 || envs <= 0) {
        return cudaSuccess;
    }
    int64_t blocks = (threads + GG_THREADS - 1) / GG_THREADS;
    int meets = gg_phase_meets(phase);
    /* a grid has no end, unless its blocks must all be there at once, or need room to put something down */
    int64_t most = meets || gg_phase_reduces(phase) ? c->phase_resident : c->multiprocessors * (int64_t)64;
    int64_t teams = envs < most ? envs : most;
    blocks = blocks < most / teams ? blocks : most / teams;
    return gg_launch(kernel_of(phase), (int)(teams * blocks), GG_THREADS, meets && blocks > 1, stream, *v, c->control,
                     c->meetings, c->partials, (int32_t)blocks, pass);
}

namespace gg_graph {

/* a team that is the whole device: each phase a kernel, and the end of a kernel is where everybody meets */
struct gg_team {
    gg_cuda *cuda;
    cudaStream_t stream;
    const gg_view *view;
    mutable cudaError_t error;
};

static const gg_view *gg_team_view(const gg_team *team) { return team->view; }
static int gg_team_planar(const gg_team *team) { return team->view->params.planar; }
static int gg_team_penalty(const gg_team *team) { return team->view->params.mode == GG_MODE_PENALTY; }
static void gg_team_run(const gg_team *team, gg_phase phase, int32_t pass) {
    gg_cuda *c = team->cuda;
    cudaEvent_t begin = NULL, end = NULL;
    int timed = c->seconds && team->error == cudaSuccess && cudaEventCreate(&begin) == cudaSuccess &&
                cudaEventCreate(&end) == cudaSuccess && cudaEventRecord(begin, team->stream) == cudaSuccess;
    if (team->error == cudaSuccess) {
        team->error = launch_phase(c, team->stream, team->view, phase, pass);
    }
    if (team->error == cudaSuccess && (phase == GG_PHASE_close_lists || phase == GG_PHASE_allocate_contacts)) {
        int blocks = (int)((team->view->dims.env_count + GG_THREADS - 1) / GG_THREADS);
        team->error = gg_launch(gg_halt_kernel, blocks, GG_THREADS, 0, team->stream, *team->view, c->control);
    }
    if (timed && team->error == cudaSuccess) {
        float milliseconds = 0.0f;
        if (cudaEventRecord(end, team->stream) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess &&
            cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess) {
            c->seconds[phase] += 1e-3 * milliseconds;
        }
    }
    if (begin) {
        (void)cudaEventDestroy(begin);
    }
    if (end) {
        (void)cudaEventDestroy(end);
    }
}
static void gg_team_start(const gg_team *team, gg_phase phase, int32_t pass) { gg_team_run(team, phase, pass); }
/* the host does not know: kernels that have nothing to do for an env leave it alone */
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
