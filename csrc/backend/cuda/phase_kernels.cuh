/* phase_kernels.cuh: the schedule `graph` of a step on a GPU: every phase is a kernel of its own over all envs; the kernels
 * of a substep are captured once as a CUDA graph (launch.cuh). */
#ifndef GG_PHASE_KERNELS_CUH
#define GG_PHASE_KERNELS_CUH

#include "device.cuh"

/* column `sync` of the table of phases; blocks that meet must all be resident */
__host__ __device__ constexpr int gg_phase_sync(gg_phase phase) {
    switch (phase) {
#define GG_SYNC_CASE(name, items, still, build, gpu, threads, sync, body)                                              \
    case GG_PHASE_##name:                                                                                              \
        return GG_SYNC_##sync;
        GG_PHASES(GG_SYNC_CASE)
#undef GG_SYNC_CASE
    default:
        return GG_SYNC_ALONE;
    }
}

template <int phase>
__global__ void __launch_bounds__(GG_THREADS)
    gg_phase_kernel(GG_KERNEL_PARAMETER(gg_view) view, gg_control *control, gg_meeting *meetings,
                    unsigned char *partials, int32_t blocks_per_team, int32_t pass) {
    GG_BLOCK_MEMORY(gg_block_memory, memory);
    gg_gpu_team team = gg_gpu_team_of(&view, &memory, meetings, partials, blocks_per_team, 0, nullptr);
    int64_t teams = (int64_t)gridDim.x / blocks_per_team;
    if (control->halt) {
        return;
    }
    for (; team.env < view.dims.env_count; team.env += teams) {
        gg_gpu_start(&team, (gg_phase)phase, pass);
        /* shared memory of the block, or the barrier and partial results of the team, are reused for the next env */
        if (gg_phase_sync((gg_phase)phase) == GG_SYNC_MEETS) {
            gg_gpu_wait(&team);
        } else {
            __syncthreads();
        }
    }
}

/* after phases that may find a buffer too small: skips the remainder of the substep */
static __global__ void gg_halt_kernel(GG_KERNEL_PARAMETER(gg_view) view, gg_control *control) {
    int64_t e = (int64_t)blockIdx.x * GG_THREADS + threadIdx.x;
    if (e < view.dims.env_count && gg_step_condition(&view.env[e], GG_HAS_OVERFLOW)) {
        atomicExch(&control->halt, 1);
    }
}

/* the counters that the host reads after some substeps */
static __global__ void gg_account_kernel(GG_KERNEL_PARAMETER(gg_view) view, gg_control *control) {
    int64_t e = (int64_t)blockIdx.x * GG_THREADS + threadIdx.x;
    if (e < view.dims.env_count) {
        if (gg_step_condition(&view.env[e], GG_HAS_OVERFLOW)) {
            atomicExch(&control->overflow, 1);
        }
        if (view.env[e].substeps_done < view.params.substeps) {
            atomicExch(&control->unfinished, 1);
        }
        if (e == 0) {
            control->substeps_done = view.env[e].substeps_done;
        }
    }
}

#endif
