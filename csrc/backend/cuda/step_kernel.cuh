/* step_kernel.cuh: the kernel that steps envs of one law, GG_STEP_LAW: the schedules `team` and `block` of a step.
 *
 * A persistent kernel runs many substeps. Its blocks form teams, each of which works on one env at a time and synchronizes
 * where phases ask for it. In the schedule `block` a team is one block, with the bodies of spheres in its shared memory
 * (sweeps.cuh). Each law has a file in laws/, so that kernels are compiled side by side.
 */
#ifndef GG_STEP_KERNEL_CUH
#define GG_STEP_KERNEL_CUH

/* first, as shared headers use what it declares */
#include "toolkit.cuh"

#include "device.cuh"
#include "team_shape.h"

/* ---- team ---- */

/* the team interface that step.h requires, but for the law */
__device__ __forceinline__ const gg_view *gg_team_view(const gg_gpu_team *team) { return team->view; }
__device__ __forceinline__ void gg_team_start(const gg_gpu_team *team, gg_phase phase, int32_t pass) {
    gg_gpu_start(team, phase, pass);
    gg_gpu_clock(team, phase);
}
__device__ __forceinline__ void gg_team_run(const gg_gpu_team *team, gg_phase phase, int32_t pass) {
    gg_gpu_start(team, phase, pass);
    gg_gpu_wait(team);
    gg_gpu_clock(team, phase);
}
__device__ __forceinline__ void gg_team_next(const gg_gpu_team *team, gg_phase phase, int32_t pass) {
    gg_gpu_start(team, phase, pass);
    __syncthreads();
    gg_gpu_clock(team, phase);
}
__device__ __forceinline__ int gg_team_pass(const gg_gpu_team *team, gg_phase phase, int32_t sweep) {
    if (phase != GG_PHASE_prepare_colour && phase != GG_PHASE_sweep_colour) {
        return 0;
    }
    int done = 1;
    GG_NOTE_PHASE(phase);
    if (phase == GG_PHASE_prepare_colour) {
        done = gg_gpu_prepare(team, team->view, team->env);
    } else {
        gg_gpu_sweep(team, team->view, team->env, sweep);
    }
    gg_gpu_clock(team, phase);
    return done;
}
__device__ __forceinline__ int gg_team_extrapolates(const gg_gpu_team *team, gg_phase phase) {
    return phase == GG_PHASE_sweep_colour && gg_gpu_sweeps_extrapolate(team, team->view, team->env);
}
__device__ __forceinline__ int32_t gg_team_colours(const gg_gpu_team *team) {
    return gg_step_colours(&team->view->env[team->env]);
}
__device__ __forceinline__ int gg_team_any(const gg_gpu_team *team, gg_condition question) {
    return gg_step_condition(&team->view->env[team->env], question);
}

/* GG_STEP_LAW in names */
#define GG_STEP_PASTE(before, law, after)  GG_STEP_PASTED(before, law, after)
#define GG_STEP_PASTED(before, law, after) before##law##after

/* What differs from law to law is static. `phase` must be a compile-time constant, or every call would contain the code of
 * all phases: so a kernel per law. */
#define GG_TEAM_FN static __device__ __forceinline__
using gg_team = gg_gpu_team;
GG_TEAM_FN constexpr gg_law gg_team_law(const gg_team *) { return GG_STEP_PASTE(GG_LAW_, GG_STEP_LAW, ); }
#include "../../phases/step.h"

/* ---- shares of envs, see team_shape.h ---- */

/* Tells the team before this one that its last env has been begun; after a barrier. fits: 0: a buffer must grow first,
 * and blocks may still note where contacts would lie, which nobody reads. */
__device__ __forceinline__ void gg_gpu_hand_over(const gg_gpu_team *team, int fits) {
    if (gg_team_rank(team) == 0) {
        (void)gg_add_release(&team->meeting->handed, fits ? 1u : 2u);
    }
}

/* waits for the next team to have begun an env; returns what that found to fit */
__device__ __forceinline__ int gg_gpu_take_over(const gg_gpu_team *team) {
    uint32_t *handed = &(team->meeting + 1)->handed;
    int32_t *fits = team->memory->ints;
    if (threadIdx.x == 0) {
        uint32_t found = 0;
        while (!(found = gg_load_acquire(handed))) {
            GG_SPIN();
        }
        *fits = found == 1;
    }
    __syncthreads();
    int all = *fits;
    gg_gpu_wait(team);
    if (gg_team_rank(team) == 0) {
        *handed = 0;
    }
    return all;
}

/* shared memory of a block that steps. What its team does next is there too: registers are short within a substep */
struct gg_step_memory {
    gg_block_memory phase;
    gg_env_share share;
};

/* runs up to `most` substeps of every env */
GG_TEAM_FN void gg_gpu_steps(const gg_view *view, gg_step_memory *memory, gg_control *control, gg_meeting *meetings,
                             unsigned char *partials, int32_t blocks_per_team, int32_t near, int64_t *cycles,
                             int32_t most) {
    gg_gpu_team team = gg_gpu_team_of(view, &memory->phase, meetings, partials, blocks_per_team, near, cycles);
    gg_env_share *share = &memory->share;
    if (cycles && team.env == 0 && gg_team_rank(&team) == 0) {
        cycles[GG_PHASE_COUNT] = gg_cycles();
    }
    for (int32_t visit = 0;; visit++) {
        if (threadIdx.x == 0) {
            *share = gg_env_share_of(view->dims.env_count, most, (int32_t)gridDim.x / blocks_per_team,
                                     (int32_t)blockIdx.x / blocks_per_team, visit);
        }
        __syncthreads();
        if (!share->substeps) {
            return;
        }
        team.env = share->env;
        const gg_env *env = &view->env[team.env];
        int fits = !share->begun_by_next || gg_gpu_take_over(&team);
        for (int32_t k = 0; fits && k < share->substeps && env->substeps_done < view->params.substeps; k++) {
            fits = gg_step_substep(&team, env->predicted);
        }
        if (share->goes_on_before) {
            gg_gpu_hand_over(&team, fits);
        } else {
            gg_team_run(&team, GG_PHASE_arrive_tools, 0);
            if (gg_team_rank(&team) == 0) {
                if (!fits) {
                    atomicExch(&control->overflow, 1);
                }
                if (env->substeps_done < view->params.substeps) {
                    atomicExch(&control->unfinished, 1);
                }
            }
        }
        gg_gpu_wait(&team);
    }
}

constexpr int gg_threads_resident(gg_law law) {
    return law == GG_LAW_continuum ? GG_CONTINUUM_RESIDENT : GG_THREADS_RESIDENT;
}

__global__ void __launch_bounds__(GG_THREADS, gg_threads_resident(gg_team_law(nullptr)) / GG_THREADS)
    GG_STEP_PASTE(gg_, GG_STEP_LAW, _step_kernel)(GG_STEP_PARAMETERS) {
    GG_BLOCK_MEMORY(gg_step_memory, memory);
    gg_gpu_steps(&view, &memory, control, meetings, partials, blocks_per_team, near, cycles, most);
}

#undef GG_TEAM_FN

#endif
