/* device.cuh: the phases on a GPU.
 *
 * Most are the shared bodies, item by item; those marked TEAM in the table of phases have a cooperative form
 * (slices.cuh, envs.cuh, cameras.cuh). Each gives the same bits as the shared body: floating-point sums keep their
 * order, and nothing else depends on order.
 */
#ifndef GG_DEVICE_CUH
#define GG_DEVICE_CUH

#include "cameras.cuh"
#include "colours.cuh"
#include "envs.cuh"
#include "slices.cuh"

/* column `gpu` of the table of phases */
#define GG_GPU_EACH(name, items, still, body)                                                                          \
    for (int64_t i = gg_team_rank(team), end = gg_items_left(&v->env[e], GG_STILL_##still, items); i < end;            \
         i += gg_team_size(team)) {                                                                                    \
        body;                                                                                                          \
    }
#define GG_GPU_TEAM(name, items, still, body) gg_gpu_##name(team, v, e, pass);
#define GG_GPU_CASE(name, items, still, build, gpu, threads, sync, body)                                               \
    case GG_PHASE_##name:                                                                                              \
        if (GG_STILL_##still == GG_STILL_COVERS || !gg_env_still(&v->env[e])) {                                        \
            GG_GPU_##gpu(name, items, still, body)                                                                     \
        }                                                                                                              \
        return;

/* runs the team's share of a phase of its env; `phase` is a compile-time constant at every call */
__device__ __forceinline__ void gg_gpu_start(const gg_gpu_team *team, gg_phase phase, int32_t pass) {
    const gg_view *v = team->view;
    int64_t e = team->env;
    (void)pass;
    switch (phase) {
        GG_PHASES(GG_GPU_CASE)
    default:
        return;
    }
}
#undef GG_GPU_CASE
#undef GG_GPU_TEAM
#undef GG_GPU_EACH

#endif
