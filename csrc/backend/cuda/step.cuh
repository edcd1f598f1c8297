/* step.cuh: the schedules of a step on a GPU; all follow phases/step.h.
 *
 * - team: one persistent kernel runs many substeps. Its blocks form teams, each of which works on one env at a time and
 *   synchronizes where phases ask for it.
 * - block: the same where a team is one block, with the bodies of spheres in its shared memory (sweeps.cuh).
 * - graph: every phase is a kernel of its own over all envs; the kernels of a substep are captured once as a CUDA
 *   graph.
 */
#ifndef GG_STEP_CUH
#define GG_STEP_CUH

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

/* `phase` must be a compile-time constant, or every call would contain the code of all phases: so a kernel per law. */
#define GG_TEAM_FN static __device__ __forceinline__
namespace gg_coloured_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_coloured; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_coloured_step
namespace gg_clumps_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_clumps; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_clumps_step
namespace gg_bell_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_bell; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_bell_step
namespace gg_table_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_table; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_table_step
namespace gg_continuum_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_continuum; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_continuum_step
namespace gg_spheres_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_spheres; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_spheres_step
namespace gg_planar_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_planar; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_planar_step
namespace gg_springs_step {
using gg_team = gg_gpu_team;
__device__ __forceinline__ constexpr gg_law gg_team_law(const gg_team *) { return GG_LAW_springs; }
#include "../../phases/step.h"
#undef GG_STEP_H
} // namespace gg_springs_step
#undef GG_TEAM_FN

/* the team that this block belongs to, of grid / blocks_per_team teams */
__device__ __forceinline__ gg_gpu_team gg_gpu_team_of(const gg_view *view, gg_block_memory *memory,
                                                      gg_meeting *meetings, unsigned char *partials,
                                                      int32_t blocks_per_team, int32_t near, int64_t *cycles) {
    int32_t number = (int32_t)blockIdx.x / blocks_per_team;
    gg_gpu_team team;
    team.view = view;
    team.memory = memory;
    team.meeting = meetings + number;
    team.partial = partials + (int64_t)number * blocks_per_team * GG_PARTIAL;
    team.env = number;
    team.block = (int32_t)blockIdx.x % blocks_per_team;
    team.blocks = blocks_per_team;
    team.near = near;
    team.cycles = cycles;
    return team;
}

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
template <class Substep>
__device__ __forceinline__ void gg_gpu_steps(const gg_view *view, gg_step_memory *memory, gg_control *control,
                                             gg_meeting *meetings, unsigned char *partials, int32_t blocks_per_team,
                                             int32_t near, int64_t *cycles, int32_t most, Substep substep) {
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
            fits = substep(&team, env->predicted);
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

/* a functor whose call is forced inline: left as a call, it would read the view and shared memory through generic
 * addresses */
#define GG_STEP_KERNEL(law)                                                                                            \
    struct gg_##law##_substep {                                                                                        \
        __device__ __forceinline__ int operator()(const gg_gpu_team *team, int resumed) const {                        \
            return gg_##law##_step::gg_step_substep(team, resumed);                                                    \
        }                                                                                                              \
    };                                                                                                                 \
    __global__ void __launch_bounds__(GG_THREADS, gg_threads_resident(GG_LAW_##law) / GG_THREADS)                      \
        gg_##law##_step_kernel(GG_KERNEL_PARAMETER(gg_view) view, gg_control *control, gg_meeting *meetings,           \
                               unsigned char *partials, int32_t blocks_per_team, int32_t near, int64_t *cycles,        \
                               int32_t most) {                                                                         \
        GG_BLOCK_MEMORY(gg_step_memory, memory);                                                                       \
        gg_gpu_steps(&view, &memory, control, meetings, partials, blocks_per_team, near, cycles, most,                 \
                     gg_##law##_substep());                                                                            \
    }
GG_LAWS(GG_STEP_KERNEL)
#undef GG_STEP_KERNEL

/* ---- one kernel per phase ---- */

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
