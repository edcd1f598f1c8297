/* team.cuh: GPU threads as a team, which works on one env at a time: one block, or several with a barrier of their own.
 *
 * Many envs: a team is one block, with the block's barrier. Few envs: a team is many blocks, and its barrier is a
 * counter in memory; all blocks of the grid are resident at once (cooperative launch), so waiting in a loop is safe.
 */
#ifndef GG_TEAM_CUH
#define GG_TEAM_CUH

#include "../../phases/phases.h"
#include "toolkit.cuh"

/* threads per block; a power of two */
#ifndef GG_THREADS
#define GG_THREADS 256
#endif
/* threads of persistent kernels that must be resident on a multiprocessor: bounds their registers */
#ifndef GG_THREADS_RESIDENT
#define GG_THREADS_RESIDENT 512
#endif
/* the same of continuous matter, whose threads each keep the polynomials of a cell */
#ifndef GG_CONTINUUM_RESIDENT
#define GG_CONTINUUM_RESIDENT 256
#endif
/* values per thread in one round of a scan */
#define GG_SCAN_ITEMS 4
/* threads that reduce `count` values, GG_SCAN_ITEMS values each */
#define GG_GPU_SHARE(count) (((count) + GG_SCAN_ITEMS - 1) / GG_SCAN_ITEMS)
/* pixels of an image in the shared memory that the launch of render_depth asks for */
#define GG_TILE 8192

/* where the blocks of a team meet. Each word has a line of the cache to itself: many blocks poll the first */
struct gg_meeting {
    alignas(128) uint32_t turn;   /* the highest bit flips when all have arrived; the others count, and return to 0 */
    alignas(128) int32_t joined;  /* blocks that have stored their partial result, see gg_team_reduce */
    alignas(128) uint32_t handed; /* the team has done its part of an env that the one before it goes on with: 1; 2:
                                     a buffer must grow first */
};

/* size of the partial result that a block stores for its team [bytes] */
#define GG_PARTIAL 256

/* counters shared by all blocks on the device */
struct gg_control {
    int32_t unfinished;    /* envs with substeps left */
    int32_t overflow;      /* a buffer must grow */
    int32_t halt;          /* one kernel per phase: the remainder of the substep is skipped */
    int32_t substeps_done; /* the same for all envs, with one kernel per phase */
};

/* contacts of a block's slots by colour, see gg_gpu_colour_contacts */
struct gg_colour_memory {
    uint32_t owners[GG_COLOURS][GG_THREADS / 32]; /* a bit for each slot of a chunk that owns a contact of the colour */
    int32_t before[GG_THREADS / GG_COLOURS][GG_COLOURS], all[GG_THREADS / GG_COLOURS][GG_COLOURS];
    int32_t first[GG_COLOURS]; /* the next record */
    int32_t last[GG_COLOURS];  /* the last one of all blocks */
};

/* the records of a colour of an env, whole rows; those from `live` on only fill up the last one. See gg_colouring */
struct alignas(16) gg_colour_span {
    int32_t begin, live, end;
};
/* of all colours but the last one */
struct gg_colour_spans {
    gg_colour_span of[GG_COLOURS - 1];
    int32_t colours; /* 0 in an env that stands still */
};
static_assert(GG_THREADS % GG_COLOURS == 0 && GG_PARTIAL == GG_COLOURS * 4, "a thread for each colour");

/* rows, and contacts with tools, of slices */
struct gg_slice_contacts {
    int32_t rows, tools;
};

/* shared memory of a block; each phase uses one member */
union gg_block_memory {
    struct {
        union {
            gg_colour_memory colours;
            gg_prediction prediction[GG_THREADS];
            gg_motion motion[GG_THREADS];
            gg_overlaps overlaps[GG_THREADS];
            gg_aabb span[GG_THREADS];
            gg_substep_stats substep[GG_THREADS];
            gg_box_stats box[GG_THREADS];
            float change[GG_THREADS];
            uint64_t parts[GG_THREADS];
            uint64_t words[GG_THREADS];
            double parts_of_sums[4][GG_THREADS];
            int32_t ints[GG_THREADS];
            gg_slice_contacts contacts[GG_THREADS];
            gg_tool_load loads[GG_LOAD_BLOCK];
            int32_t lengths[GG_SORT_WINDOW];
#ifndef GG_CUDA_EMULATED
            typename cub::BlockScan<int32_t, GG_THREADS>::TempStorage scan;
#endif
        };
        gg_colour_spans spans; /* these are kept from the preparation of contacts to the last sweep */
    };
    gg_step_stats step[GG_THREADS];
};

/* what of the bodies of an env is in the shared memory of its block while their contacts are solved */
enum gg_near { GG_NEAR_NOTHING, GG_NEAR_NOW, GG_NEAR_BOTH /* those before the last sweep, too, behind them */ };

struct gg_gpu_team {
    const gg_view *view;
    gg_block_memory *memory;
    gg_meeting *meeting;
    unsigned char *partial; /* (blocks) GG_PARTIAL bytes */
    int64_t env;
    int32_t block, blocks;
    int32_t near; /* a gg_near; other than GG_NEAR_NOTHING only where a team is one block */
    /* (GG_PHASE_COUNT + 1): cycles of env 0 by phase, and when the last one ended; NULL: not measured */
    int64_t *cycles;
};

/* what the step kernels of all laws are given (step_kernel.cuh); most: substeps of every env */
#define GG_STEP_PARAMETERS                                                                                             \
    GG_KERNEL_PARAMETER(gg_view)                                                                                       \
    view, gg_control *control, gg_meeting *meetings, unsigned char *partials, int32_t blocks_per_team, int32_t near,   \
        int64_t *cycles, int32_t most

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

__device__ __forceinline__ int32_t gg_team_rank(const gg_gpu_team *team) {
    return team->block * GG_THREADS + (int32_t)threadIdx.x;
}
__device__ __forceinline__ int32_t gg_team_size(const gg_gpu_team *team) { return team->blocks * GG_THREADS; }

/* The slices that a block of a team takes in every phase over slices (slices.cuh): from one such phase to the next, what a
 * slice keeps of its own needs no barrier between blocks. */
struct gg_block_slices {
    int32_t begin, end;
};
__device__ __forceinline__ gg_block_slices gg_gpu_slices(const gg_gpu_team *team) {
    int32_t live = team->view->env[team->env].live_slices;
    gg_block_slices own = {0, live};
    if (team->blocks > 1) {
        int32_t share = (int32_t)(((uint32_t)live + (uint32_t)team->blocks - 1) / (uint32_t)team->blocks);
        own.begin = GG_MIN(team->block * share, live);
        own.end = GG_MIN(own.begin + share, live);
    }
    return own;
}

/* a rank that deals warps out to the blocks in turn: work for a few of the threads keeps all multiprocessors busy */
__device__ __forceinline__ int32_t gg_team_spread_rank(const gg_gpu_team *team) {
    const int32_t thread = (int32_t)threadIdx.x;
    return (thread / 32 * team->blocks + team->block) * 32 + thread % 32;
}

/* Barrier of all threads of the team; writes before it are visible after it. Between blocks a sense-reversing barrier in
 * one word: what all add together is the highest bit. */
__device__ __forceinline__ void gg_gpu_wait(const gg_gpu_team *team) {
    __syncthreads();
    if (team->blocks > 1) {
        if (threadIdx.x == 0) {
            const uint32_t sense = 0x80000000u;
            uint32_t *turn = &team->meeting->turn;
            uint32_t before = gg_add_release(turn, team->block ? 1u : sense - (uint32_t)(team->blocks - 1));
            while (!((gg_load_acquire(turn) ^ before) & sense)) {
                GG_SPIN();
            }
        }
        __syncthreads();
    }
}

/* counts the time since the last call as spent in a phase */
__device__ __forceinline__ void gg_gpu_clock(const gg_gpu_team *team, gg_phase phase) {
    if (team->cycles && team->env == 0 && gg_team_rank(team) == 0) {
        int64_t now = gg_cycles();
        team->cycles[phase] += now - team->cycles[GG_PHASE_COUNT];
        team->cycles[GG_PHASE_COUNT] = now;
    }
}

/* Reduces the values of a block's threads, in any order, and returns the result in all; shared: one value per thread.
 * Each warp reduces its own, then the first one what they found. */
template <class T, class Join> __device__ __forceinline__ T gg_block_reduce(T *shared, T value, Join join) {
    const int32_t thread = (int32_t)threadIdx.x, lane = thread % 32;
    shared[thread] = value;
    for (int32_t half = 16; half > 0; half /= 2) {
        __syncwarp();
        if (lane < half) {
            shared[thread] = join(shared[thread], shared[thread + half]);
        }
    }
    __syncthreads();
    for (int32_t half = GG_THREADS / 64; half > 0 && thread < 32; half /= 2) {
        if (thread < half) {
            shared[thread * 32] = join(shared[thread * 32], shared[(thread + half) * 32]);
        }
        __syncwarp();
    }
    __syncthreads();
    T all = shared[0];
    __syncthreads();
    return all;
}

/* Reduces the values of all threads of the team, in any order. Returns 1 in the threads of the block that arrives last,
 * with the result in *all: no other block still reads what it changes then. Returns 0 in the others, which need not
 * wait: the blocks of a team need not be resident at once. nothing: neutral element; shared: one value per thread. */
template <class T, class Join>
__device__ __forceinline__ int gg_team_reduce(const gg_gpu_team *team, T *shared, T own, T nothing, Join join, T *all) {
    static_assert(sizeof(T) <= GG_PARTIAL && GG_PARTIAL % alignof(T) == 0, "a block's part fits");
    *all = gg_block_reduce(shared, own, join);
    if (team->blocks == 1) {
        return 1;
    }
    int32_t *is_last = team->memory->ints;
    if (threadIdx.x == 0) {
        *reinterpret_cast<T *>(team->partial + (int64_t)team->block * GG_PARTIAL) = *all;
        __threadfence();
        *is_last = atomicAdd(&team->meeting->joined, 1) == team->blocks - 1;
        __threadfence();
    }
    __syncthreads();
    int last = *is_last;
    __syncthreads();
    if (!last) {
        return 0;
    }
    if (threadIdx.x == 0) {
        team->meeting->joined = 0;
    }
    T mine = nothing;
    for (int32_t b = threadIdx.x; b < team->blocks; b += GG_THREADS) {
        mine = join(mine, *reinterpret_cast<const T *>(team->partial + (int64_t)b * GG_PARTIAL));
    }
    *all = gg_block_reduce(shared, mine, join);
    return 1;
}

/* exclusive prefix sums of GG_SCAN_ITEMS values per thread, in order of threads; returns the sum of the block */
__device__ __forceinline__ int32_t gg_block_scan(gg_block_memory *memory, int32_t (&values)[GG_SCAN_ITEMS]) {
    int32_t sum;
#ifdef GG_CUDA_EMULATED
    int32_t own = 0;
    for (int k = 0; k < GG_SCAN_ITEMS; k++) {
        own += values[k];
    }
    memory->ints[threadIdx.x] = own;
    __syncthreads();
    int32_t before = 0;
    sum = 0;
    for (int32_t t = 0; t < GG_THREADS; t++) {
        before += t < (int32_t)threadIdx.x ? memory->ints[t] : 0;
        sum += memory->ints[t];
    }
    for (int k = 0; k < GG_SCAN_ITEMS; k++) {
        int32_t value = values[k];
        values[k] = before;
        before += value;
    }
#else
    cub::BlockScan<int32_t, GG_THREADS>(memory->scan).ExclusiveSum(values, values, sum);
#endif
    __syncthreads();
    return sum;
}

/* Exclusive prefix sums by a block, from `base` on: put(i, base + sum of get(k) for begin <= k < i) for i < end; returns
 * the sum of all. */
template <class Get, class Put>
__device__ __forceinline__ int32_t gg_block_prefix(gg_block_memory *memory, int64_t begin, int64_t end, int32_t base,
                                                   Get get, Put put) {
    for (int64_t first = begin; first < end; first += GG_THREADS * GG_SCAN_ITEMS) {
        int32_t values[GG_SCAN_ITEMS];
        int64_t at = first + (int64_t)threadIdx.x * GG_SCAN_ITEMS;
        for (int k = 0; k < GG_SCAN_ITEMS; k++) {
            values[k] = at + k < end ? get(at + k) : 0;
        }
        int32_t sum = gg_block_scan(memory, values);
        for (int k = 0; k < GG_SCAN_ITEMS; k++) {
            if (at + k < end) {
                put(at + k, base + values[k]);
            }
        }
        base += sum;
    }
    return base;
}

/* Exclusive prefix sums over the team: put(i, sum of get(k) for k < i) for i < count; returns the total. Called by all
 * threads of the team; gg_gpu_wait before values put by others are read. use: 0 or 1, in turn. */
template <class Get, class Put>
__device__ __forceinline__ int32_t gg_team_scan(const gg_gpu_team *team, int use, int64_t count, Get get, Put put) {
    int64_t share = (count + team->blocks - 1) / team->blocks;
    int64_t begin = team->block * share, end = begin + share < count ? begin + share : count;
    int32_t base = 0, total = 0;
    if (team->blocks > 1) {
        int32_t own = 0, *partial = reinterpret_cast<int32_t *>(team->partial) + use * team->blocks;
        for (int64_t i = begin + threadIdx.x; i < end; i += GG_THREADS) {
            own += get(i);
        }
        own = gg_block_reduce(team->memory->ints, own, [](int32_t a, int32_t b) { return a + b; });
        if (threadIdx.x == 0) {
            partial[team->block] = own;
        }
        gg_gpu_wait(team);
        int32_t before = 0, all = 0;
        for (int32_t b = threadIdx.x; b < team->blocks; b += GG_THREADS) {
            before += b < team->block ? partial[b] : 0;
            all += partial[b];
        }
        base = gg_block_reduce(team->memory->ints, before, [](int32_t a, int32_t b) { return a + b; });
        total = gg_block_reduce(team->memory->ints, all, [](int32_t a, int32_t b) { return a + b; });
    }
    base = gg_block_prefix(team->memory, begin, end, base, get, put);
    return team->blocks > 1 ? total : base;
}

#endif
