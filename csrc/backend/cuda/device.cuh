/* device.cuh: the phases on a GPU.
 *
 * Most are the shared bodies, item by item; those marked TEAM in the table of phases have a cooperative form
 * (slices.cuh, colours.cuh, sweeps.cuh, envs.cuh, continuum.cuh, liquid.cuh, cameras.cuh). Each gives the same bits as the
 * shared body: floating-point sums keep their order, and nothing else depends on order.
 */
#ifndef GG_DEVICE_CUH
#define GG_DEVICE_CUH

#include "cameras.cuh"
#include "colours.cuh"
#include "continuum.cuh"
#include "envs.cuh"
#include "liquid.cuh"
#include "slices.cuh"
#include "sweeps.cuh"

/* the items of a phase that a thread has: `begin`, `begin` + `stride`, ... before `end`; end -1: that of all */
struct gg_gpu_items {
    int32_t begin, end, stride;
};

/* by the column `still` of the table of phases: of slices and slots each block has its own */
__device__ __forceinline__ gg_gpu_items gg_gpu_items_of(const gg_gpu_team *team, int still) {
    if (still == GG_STILL_SLICES || still == GG_STILL_SLOTS) {
        gg_block_slices own = gg_gpu_slices(team);
        int32_t each = still == GG_STILL_SLOTS ? GG_LANES : 1;
        gg_gpu_items some = {own.begin * each + (int32_t)threadIdx.x, own.end * each, GG_THREADS};
        return some;
    }
    gg_gpu_items some = {gg_team_rank(team), -1, gg_team_size(team)};
    return some;
}

/* Column `gpu` of the table of phases. A phase done item by item is a function that the kernels of a file call, and
 * so is one that runs rarely; others are part of the kernels themselves, where the view is read in place. */
#define GG_GPU_FUNCTION_TEAM(name, items, still, body)
#define GG_GPU_FUNCTION_APART(name, items, still, body)                                                                \
    static inline __device__ __noinline__ void gg_gpu_apart_##name(gg_gpu_team team, const gg_view *v, int64_t e,      \
                                                                   int32_t pass) {                                     \
        gg_gpu_##name(&team, v, e, pass);                                                                              \
    }
#define GG_GPU_FUNCTION_EACH(name, items, still, body)                                                                 \
    static inline __device__ __noinline__ void gg_gpu_##name(const gg_view *v, int64_t e, int32_t pass,                \
                                                             gg_gpu_items some) {                                      \
        (void)pass;                                                                                                    \
        for (int64_t i = some.begin, end = some.end < 0 ? (int64_t)(items) : some.end; i < end; i += some.stride) {    \
            body;                                                                                                      \
        }                                                                                                              \
    }
#define GG_GPU_FUNCTION(name, items, still, build, gpu, threads, sync, body)                                           \
    GG_GPU_FUNCTION_##gpu(name, items, still, body)
GG_PHASES(GG_GPU_FUNCTION)
#undef GG_GPU_FUNCTION
#undef GG_GPU_FUNCTION_EACH
#undef GG_GPU_FUNCTION_APART
#undef GG_GPU_FUNCTION_TEAM

#define GG_GPU_EACH(name, still)  gg_gpu_##name(v, e, pass, gg_gpu_items_of(team, GG_STILL_##still))
#define GG_GPU_APART(name, still) gg_gpu_apart_##name(*team, v, e, pass)
#define GG_GPU_TEAM(name, still)  gg_gpu_##name(team, v, e, pass)
#define GG_GPU_CASE(name, items, still, build, gpu, threads, sync, body)                                               \
    case GG_PHASE_##name:                                                                                              \
        if (GG_STILL_##still == GG_STILL_COVERS || !gg_env_still(&v->env[e])) {                                        \
            GG_GPU_##gpu(name, still);                                                                                 \
        }                                                                                                              \
        return;

/* runs the team's share of a phase of its env; `phase` is a compile-time constant at every call */
__device__ __forceinline__ void gg_gpu_start(const gg_gpu_team *team, gg_phase phase, int32_t pass) {
    const gg_view *v = team->view;
    int64_t e = team->env;
    (void)pass;
    GG_NOTE_PHASE(phase);
    switch (phase) {
        GG_PHASES(GG_GPU_CASE)
    default:
        return;
    }
}
#undef GG_GPU_CASE
#undef GG_GPU_TEAM
#undef GG_GPU_APART
#undef GG_GPU_EACH

#endif
