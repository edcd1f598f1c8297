/* continuum.cuh: continuous matter (solvers/continuum) on a GPU: what a CPU does block by block, threads do cell by cell,
 * particle by particle, node by node. Sums keep their order: of a node the cells of a block, of a block its particles or
 * nodes, of an env its blocks. */
#ifndef GG_CONTINUUM_CUH
#define GG_CONTINUUM_CUH

#include "continuum_order.cuh"

/* a block of threads takes as many cells at a time, with a thread for each component of a vector */
#define GG_CELLS_AT_ONCE (GG_THREADS / 4)
/* values of a cell in shared memory: what it gives to 27 nodes; before, four particles at a time */
#define GG_CELL_VALUES (27 * 4)
#define GG_CELL_MEMORY (sizeof(double) * GG_CELLS_AT_ONCE * GG_CELL_VALUES)
static_assert(GG_THREADS % GG_NODES == 0, "whole blocks of nodes");
static_assert(GG_CELL_MEMORY >= sizeof(gg_point_gift) * GG_THREADS, "a gift a thread");
static_assert(GG_THREADS > 256 || GG_CELL_MEMORY + sizeof(gg_block_memory) <= 64 * 1024,
              "what a block has on compute capability 7.5; blocks of more threads are for newer GPUs");

/* cell_values.h for one component of a vector, in double and in single precision */
namespace gg_double {
#define GG_CELL(name)  gg_cell_##name
#define GG_CELL_TYPE   gg_cell
#define GG_CELL_VALUE  double
#define GG_CELL_SCALAR double
#define GG_CELL_PLACE  double
#define GG_CELL_ZERO   0.0
#include "../../solvers/continuum/cell_operators.h"
} // namespace gg_double
namespace gg_single {
#define GG_CELL_FROM_EDGE
#define GG_CELL(name)  gg_cell_##name
#define GG_CELL_TYPE   gg_cell
#define GG_CELL_VALUE  float
#define GG_CELL_SCALAR float
#define GG_CELL_PLACE  float
#define GG_CELL_ZERO   0.0f
#include "../../solvers/continuum/cell_operators.h"
#define GG_TANGENT(name) gg_tangent_##name
#define GG_TANGENT_VALUE float
#define GG_TANGENT_HALF  0.5f
#include "../../solvers/continuum/tangent_values.h"
} // namespace gg_single

/* ---- nodes ---- */

/* Calls each(node, sums) for the team's share of nodes, a thread each; then adds up `sums` of these over blocks of nodes,
 * -1: leaves what is there */
template <int sums, class Each>
__device__ __forceinline__ void gg_each_node(const gg_gpu_team *team, const gg_view *v, int64_t e, Each each) {
    const int32_t at_once = GG_THREADS / GG_NODES, local = (int32_t)threadIdx.x % GG_NODES;
    int64_t nodes = gg_continuum_env_of(v, e)->nodes;
    double(*parts)[GG_THREADS] = team->memory->parts_of_sums;
    for (int64_t first = team->block * (int64_t)at_once; first < nodes; first += team->blocks * (int64_t)at_once) {
        int64_t n = first + threadIdx.x / GG_NODES;
        gg_continuum_sum own = GG_ZERO;
        if (n < nodes) {
            each(gg_node_of(v, e, n, local), &own);
        }
        double total = 0.0;
        if (sums > 0) {
            for (int c = 0; c < sums; c++) {
                parts[c][threadIdx.x] = own.of[c];
            }
            __syncthreads();
            for (int k = 0; local < sums && k < GG_NODES; k++) {
                total += parts[local][threadIdx.x / GG_NODES * GG_NODES + k];
            }
            __syncthreads();
        }
        if (sums >= 0 && n < nodes && local < 4) {
            gg_node_sums(v, e)[n].of[local] = total;
        }
    }
}

#define GG_GPU_NODES(phase, name, on, sums)                                                                            \
    __device__ __forceinline__ void gg_gpu_continuum_##phase(const gg_gpu_team *team, const gg_view *v, int64_t e,     \
                                                             int32_t) {                                                \
        if (on) {                                                                                                      \
            gg_each_node<sums>(team, v, e, [=](gg_node node, gg_continuum_sum *sum) {                                  \
                gg_continuum_##name##_node(v, e, node, sum);                                                           \
            });                                                                                                        \
        }                                                                                                              \
    }
GG_GPU_NODES(open_nodes, open, 1, 0)
GG_GPU_NODES(gradient, gradient, gg_continuum_newton_on(v, e), 4)
GG_GPU_NODES(start, start, gg_continuum_inner_on(v, e), 1)
GG_GPU_NODES(image, image, gg_continuum_inner_on(v, e), 1)
GG_GPU_NODES(step, step, gg_continuum_inner_on(v, e), 1)
GG_GPU_NODES(turn, turn, gg_continuum_inner_on(v, e), 0)
GG_GPU_NODES(ray_nodes, ray, gg_continuum_newton_on(v, e), 2)
GG_GPU_NODES(advance, advance, gg_continuum_newton_on(v, e), 0)
GG_GPU_NODES(left, left, 1, 4)
#undef GG_GPU_NODES

/* gg_continuum_total, by a block of threads; in all of them */
__device__ __forceinline__ gg_continuum_sum gg_gpu_total(gg_block_memory *memory, const gg_continuum_sum *sums,
                                                         int64_t count) {
    const int32_t thread = (int32_t)threadIdx.x, groups = GG_THREADS / GG_SUM_GROUP;
    double(*parts)[GG_THREADS] = memory->parts_of_sums, total = 0.0;
    for (int64_t first = 0; first < count; first += GG_THREADS) {
        if (first + thread < count) {
            for (int c = 0; c < 4; c++) {
                parts[c][thread] = sums[first + thread].of[c];
            }
        }
        __syncthreads();
        int32_t left = (int32_t)GG_MIN(count - first, (int64_t)GG_THREADS);
        double *group = parts[thread % 4] + thread / 4 % groups * GG_SUM_GROUP, sum = 0.0;
        if (thread < 4 * groups) {
            int32_t size = GG_MIN(left - thread / 4 * GG_SUM_GROUP, GG_SUM_GROUP);
            GG_UNROLL(8)
            for (int32_t k = 0; k < size; k++) {
                sum += group[k];
            }
            *group = sum;
        }
        __syncthreads();
        for (int32_t k = 0; thread < 4 && k < left; k += GG_SUM_GROUP) {
            total += parts[thread][k];
        }
        __syncthreads();
    }
    if (thread < 4) {
        parts[thread][0] = total;
    }
    __syncthreads();
    gg_continuum_sum all = {{parts[0][0], parts[1][0], parts[2][0], parts[3][0]}};
    __syncthreads();
    return all;
}

#define GG_GPU_JUDGED(phase, on)                                                                                       \
    __device__ __forceinline__ void gg_gpu_continuum_##phase(const gg_gpu_team *team, const gg_view *v, int64_t e,     \
                                                             int32_t) {                                                \
        if (team->block == 0 && (on)) {                                                                                \
            gg_continuum_sum sum = gg_gpu_total(team->memory, gg_node_sums(v, e), gg_continuum_env_of(v, e)->nodes);   \
            if (threadIdx.x == 0) {                                                                                    \
                gg_continuum_##phase(v, e, sum);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
GG_GPU_JUDGED(started, gg_continuum_inner_on(v, e))
GG_GPU_JUDGED(length, gg_continuum_inner_on(v, e))
GG_GPU_JUDGED(blend, gg_continuum_inner_on(v, e))
GG_GPU_JUDGED(ray, gg_continuum_newton_on(v, e))
GG_GPU_JUDGED(balance, 1)
#undef GG_GPU_JUDGED

__device__ __forceinline__ void gg_gpu_continuum_judge(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (team->block == 0 && gg_continuum_newton_on(v, e)) {
        const gg_continuum_env *own = gg_continuum_env_of(v, e);
        gg_continuum_sum nodes = gg_gpu_total(team->memory, gg_node_sums(v, e), own->nodes);
        gg_continuum_sum blocks = gg_gpu_total(team->memory, gg_block_sums(v, e), own->blocks);
        if (threadIdx.x == 0) {
            gg_continuum_judge(v, e, nodes, blocks);
        }
    }
}

__device__ __forceinline__ void gg_gpu_continuum_try(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (team->block == 0 && gg_continuum_inner_on(v, e)) {
        gg_continuum_sum sum = gg_gpu_total(team->memory, gg_block_sums(v, e), gg_continuum_env_of(v, e)->blocks);
        if (threadIdx.x == 0) {
            gg_continuum_try(v, e, sum);
        }
    }
}

/* ---- particles ---- */

/* calls body(block) for the team's share of blocks, a block of threads each */
template <class Body>
__device__ __forceinline__ void gg_each_block(const gg_gpu_team *team, const gg_view *v, int64_t e, Body body) {
    int64_t blocks = gg_continuum_env_of(v, e)->blocks;
    for (int64_t b = team->block; b < blocks; b += team->blocks) {
        body(b);
        __syncthreads();
    }
}

/* some blocks, one after another, and their cells */
struct gg_gpu_run {
    int32_t block, blocks, cell, cells;
};

/* Calls body(run) for the team's share of blocks. Where there are more blocks than blocks of threads, and few cells in each,
 * a run is as many as have `at_once` cells on average. */
template <class Body>
__device__ __forceinline__ void gg_each_run(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t at_once,
                                            Body body) {
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    int32_t fit = own->cells ? (int32_t)((int64_t)at_once * own->blocks / own->cells) : 1;
    int32_t share = (own->blocks + team->blocks - 1) / team->blocks, length = GG_MAX(1, GG_MIN(fit, share));
    for (int32_t b = team->block * length; b < own->blocks; b += team->blocks * length) {
        gg_gpu_run run;
        int32_t end = GG_MIN(b + length, own->blocks);
        run.block = b;
        run.blocks = end - b;
        run.cell = gg_continuum_block_of(v, e, b)->first_cell;
        run.cells = (end < own->blocks ? gg_continuum_block_of(v, e, end)->first_cell : own->cells) - run.cell;
        body(run);
        __syncthreads();
    }
}

/* the first particle of a cell of an env, or the end of the last one */
__device__ __forceinline__ int32_t gg_gpu_cell_start(const gg_view *v, int64_t e, int32_t cell) {
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    return cell < own->cells ? gg_continuum_cells(v, e)[cell] : own->particles;
}

/* the block of a cell of a run */
__device__ __forceinline__ const gg_continuum_block *gg_gpu_block_of_cell(const gg_view *v, int64_t e, gg_gpu_run run,
                                                                          int32_t cell) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, run.block);
    const gg_continuum_block *last = block + run.blocks - 1;
    while (block < last && block[1].first_cell <= cell) {
        block++;
    }
    return block;
}

/* calls body(particle) for those of a block of an env, a thread each */
template <class Body> __device__ __forceinline__ void gg_each_point(const gg_view *v, int64_t e, int64_t b, Body body) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    for (int32_t k = (int32_t)threadIdx.x; k < block->count; k += GG_THREADS) {
        body(&gg_continuum_points(v, e)[block->first + k]);
    }
}

/* Adds to `sum` what values(particle, of) says of the particles of a block, in their order; in thread 0 */
template <int sums, class Values>
__device__ __forceinline__ void gg_gpu_add_points(gg_block_memory *memory, const gg_view *v, int64_t e, int64_t b,
                                                  gg_continuum_sum *sum, Values values) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const int32_t thread = (int32_t)threadIdx.x;
    double(*parts)[GG_THREADS] = memory->parts_of_sums;
    for (int32_t first = 0; first < block->count; first += GG_THREADS) {
        double of[sums] = {};
        if (first + thread < block->count) {
            values(&gg_continuum_points(v, e)[block->first + first + thread], of);
        }
        for (int c = 0; c < sums; c++) {
            parts[c][thread] = of[c];
        }
        __syncthreads();
        if (thread == 0) {
            int32_t count = GG_MIN(block->count - first, GG_THREADS);
            for (int32_t k = 0; k < count; k++) {
                for (int c = 0; c < sums; c++) {
                    sum->of[c] += parts[c][k];
                }
            }
        }
        __syncthreads();
    }
}

/* sums over the contacts of a block with dynamic tools, a thread a tool */
__device__ __forceinline__ void gg_gpu_sum_tools(const gg_view *v, int64_t e, int64_t b, int along) {
    if (gg_continuum_block_of(v, e, b)->dynamic) {
        for (int32_t tool = (int32_t)threadIdx.x; tool < v->dims.continuum.tools; tool += GG_THREADS) {
            gg_block_sum_tool(v, e, b, tool, along);
        }
    }
}

__device__ __forceinline__ double *gg_gpu_cell_memory() { return reinterpret_cast<double *>(gg_near_memory()); }

/* Adds to the nodes of halos what cells of a run hold in shared memory, `count` of them from number `first` on: of each 27
 * times `components` values. The first component of nodes of a block is at `stride` from the next, and nodes are `step`
 * apart. */
template <int components>
__device__ __forceinline__ void gg_gpu_cells_give(const gg_view *v, int64_t e, gg_gpu_run run, int32_t first,
                                                  int32_t count, int stride, int step) {
    const int32_t values = GG_HALO * components;
    for (int32_t k = (int32_t)threadIdx.x; k < run.blocks * values; k += GG_THREADS) {
        const gg_continuum_block *block = gg_continuum_block_of(v, e, run.block + k / values);
        int32_t node = k % values / components, component = k % components;
        int32_t x = node % 6, y = node / 6 % 6, z = node / 36, skipped = block->first_cell - run.cell - first;
        double *to = gg_given_components(v, e, run.block + k / values) + component * stride + node * step;
        double sum = skipped < 0 ? *to : 0.0;
        if (skipped >= count || skipped + gg_cell_rank(block->cells, 64) <= 0) {
            continue; /* none of its cells is here */
        }
        for (int32_t j = GG_MAX(z - 2, 0); j <= GG_MIN(z, 3); j++) {
            for (int32_t i = GG_MAX(y - 2, 0); i <= GG_MIN(y, 3); i++) {
                for (int32_t h = GG_MAX(x - 2, 0); h <= GG_MIN(x, 3); h++) {
                    int32_t cell = 16 * j + 4 * i + h, at = skipped + gg_cell_rank(block->cells, cell);
                    if (block->cells >> cell & 1 && at >= 0 && at < count) {
                        int32_t of = 9 * (z - j) + 3 * (y - i) + x - h;
                        sum += gg_gpu_cell_memory()[(at * 27 + of) * components + component];
                    }
                }
            }
        }
        *to = sum;
    }
}

/* the most particles in one of the cells that a warp works on, eight from number `first` of a run on */
__device__ __forceinline__ int32_t gg_gpu_most_points(const gg_view *v, int64_t e, gg_gpu_run run, int32_t first,
                                                      int32_t count) {
    int32_t most = 0, begin = (int32_t)threadIdx.x / 32 * 8;
    for (int32_t k = begin; k < begin + 8; k++) {
        if (k < count) {
            int32_t cell = run.cell + first + k;
            most = GG_MAX(most, gg_gpu_cell_start(v, e, cell + 1) - gg_gpu_cell_start(v, e, cell));
        }
    }
    return most;
}

/* Goes through the particles of a run cell by cell: point(particle, value, along) is told what `nodes` say; where `gives`
 * what it returns goes to the nodes. Four threads share a cell, each with a component of its values; four particles of it
 * are at work at a time, each in one of the threads. */
template <int gives, class Point>
__device__ __forceinline__ void gg_gpu_cells(const gg_view *v, int64_t e, gg_gpu_run run, const gg_real4 *nodes,
                                             Point point) {
    const int32_t thread = (int32_t)threadIdx.x, component = thread % 4;
    const double *from = reinterpret_cast<const double *>(nodes + e * v->dims.continuum.nodes * GG_NODES) + component;
    gg_continuum_point *points = gg_continuum_points(v, e);
    double *memory = gg_gpu_cell_memory() + thread / 4 * GG_CELL_VALUES;
    for (int32_t first = 0; first < run.cells; first += GG_CELLS_AT_ONCE) {
        int32_t count_of_cells = GG_MIN(run.cells - first, GG_CELLS_AT_ONCE);
        int32_t most = gg_gpu_most_points(v, e, run, first, count_of_cells);
        int32_t begin = 0, end = 0;
        double node[27];
        gg_double::gg_cell own = GG_ZERO;
        gg_double::gg_cell_begin(&own, v->params.spacing);
        if (thread / 4 < count_of_cells) {
            int32_t cell = run.cell + first + thread / 4;
            begin = gg_gpu_cell_start(v, e, cell);
            end = gg_gpu_cell_start(v, e, cell + 1);
            const gg_continuum_block *block = gg_gpu_block_of_cell(v, e, run, cell);
            int32_t at = points[begin].halo;
            for (int k = 0; k < 27; k++) {
                node[k] = from[4 * gg_halo_node(block, at % 6 + k % 3, at / 6 % 6 + k / 3 % 3, at / 36 + k / 9)];
            }
            gg_double::gg_cell_say(&own, node);
        }
        GG_ROLLED
        for (int32_t done = 0; done < most; done += 4) {
            int32_t four = begin + done, count = GG_MIN(end - four, 4);
            GG_ROLLED
            for (int32_t j = 0; j < count; j++) {
                double value, along[3];
                gg_double::gg_cell_gather(&own, points[four + j].place, &value, along);
                double *to = memory + 16 * j + component;
                to[0] = value, to[4] = along[0], to[8] = along[1], to[12] = along[2];
            }
            __syncwarp();
            if (component < count) {
                gg_real4 *at = reinterpret_cast<gg_real4 *>(memory + 16 * component);
                gg_real4 along[3] = {at[1], at[2], at[3]};
                gg_point_gift gift = point(&points[four + component], at[0], along);
                if (gives) {
                    at[0] = gift.impulse, at[1] = gift.along[0], at[2] = gift.along[1], at[3] = gift.along[2];
                }
            }
            __syncwarp();
            if (gives) {
                GG_ROLLED
                for (int32_t j = 0; j < count; j++) {
                    const double *at = memory + 16 * j + component, along[3] = {at[4], at[8], at[12]};
                    gg_double::gg_cell_scatter(&own, points[four + j].place, at[0], along);
                }
                __syncwarp();
            }
        }
        if (gives) {
            gg_double::gg_cell_give(&own, node);
            for (int k = 0; k < 27; k++) {
                memory[4 * k + component] = node[k];
            }
            __syncthreads();
            gg_gpu_cells_give<4>(v, e, run, first, count_of_cells, 1, 4);
        }
        __syncthreads();
    }
}

/* node k of a cell, where axes of side -1 go back to front; a place there, see gg_quad_wrapped */
__device__ __forceinline__ int gg_gpu_mirrored(int k, const float side[3]) {
    int x = k % 3, y = k / 3 % 3, z = k / 9;
    return (side[0] < 0.0f ? 2 - x : x) + 3 * (side[1] < 0.0f ? 2 - y : y) + 9 * (side[2] < 0.0f ? 2 - z : z);
}
__device__ __forceinline__ void gg_gpu_wrapped(const float off[3], const float side[3], float place[3]) {
    for (int axis = 0; axis < 3; axis++) {
        float t = off[axis] * side[axis];
        place[axis] = t < 0.0f ? t + 1.0f : t;
    }
}

/* The same in single precision (solvers/continuum/quad_cells.h): work(own, lane, first, count, side) takes from cell `own`
 * and gives to `lane`, one cell for each of the four particles at work, of which the first is `first`. */
template <class Work>
__device__ __forceinline__ void gg_gpu_cells_single(const gg_view *v, int64_t e, gg_gpu_run run, const gg_real4 *nodes,
                                                    Work work) {
    const int32_t thread = (int32_t)threadIdx.x, component = thread % 4;
    const double *from = reinterpret_cast<const double *>(nodes + e * v->dims.continuum.nodes * GG_NODES) + component;
    const gg_continuum_point *points = gg_continuum_points(v, e);
    const gg_continuum_tangent *tangents = gg_continuum_tangents(v, e);
    double *memory = gg_gpu_cell_memory() + thread / 4 * GG_CELL_VALUES;
    for (int32_t first = 0; first < run.cells; first += GG_CELLS_AT_ONCE) {
        int32_t count_of_cells = GG_MIN(run.cells - first, GG_CELLS_AT_ONCE);
        int32_t most = gg_gpu_most_points(v, e, run, first, count_of_cells), begin = 0, end = 0;
        float node[27], side[3] = {1.0f, 1.0f, 1.0f};
        gg_single::gg_cell own = GG_ZERO, lane[4] = GG_ZERO;
        gg_single::gg_cell_begin(&own, v->params.spacing);
        for (int j = 0; j < 4; j++) {
            gg_single::gg_cell_begin(&lane[j], v->params.spacing);
        }
        if (thread / 4 < count_of_cells) {
            int32_t cell = run.cell + first + thread / 4;
            begin = gg_gpu_cell_start(v, e, cell);
            end = gg_gpu_cell_start(v, e, cell + 1);
            const gg_continuum_block *block = gg_gpu_block_of_cell(v, e, run, cell);
            int32_t at = points[begin].halo;
            for (int axis = 0; axis < 3; axis++) {
                side[axis] = tangents[begin].off[axis] < 0.0f ? -1.0f : 1.0f;
                own.per_metre[axis] = side[axis] * (float)(0.125 / v->params.spacing);
                for (int j = 0; j < 4; j++) {
                    lane[j].per_metre[axis] = own.per_metre[axis];
                }
            }
            for (int k = 0; k < 27; k++) {
                int m = gg_gpu_mirrored(k, side);
                node[k] = (float)from[4 * gg_halo_node(block, at % 6 + m % 3, at / 6 % 6 + m / 3 % 3, at / 36 + m / 9)];
            }
            gg_single::gg_cell_say(&own, node);
        }
        GG_ROLLED
        for (int32_t done = 0; done < most; done += 4) {
            work(&own, lane, begin + done, GG_MIN(end - begin - done, 4), side);
        }
        for (int k = 0; k < 27; k++) {
            own.gets[k] = (lane[0].gets[k] + lane[1].gets[k]) + (lane[2].gets[k] + lane[3].gets[k]);
        }
        gg_single::gg_cell_give(&own, node);
        for (int k = 0; k < 27; k++) {
            memory[4 * gg_gpu_mirrored(k, side) + component] = (double)node[k];
        }
        __syncthreads();
        gg_gpu_cells_give<4>(v, e, run, first, count_of_cells, 1, 4);
        __syncthreads();
    }
}

/* The product with the Hessian (solvers/continuum/product.h). A call, so that its sums are not kept beside what the kernel
 * keeps. */
static inline __device__ __noinline__ void gg_gpu_apply_single(const gg_view *v, int64_t e, gg_gpu_run run) {
    const int32_t component = (int32_t)threadIdx.x % 4;
    const gg_continuum_point *points = gg_continuum_points(v, e);
    const gg_continuum_tangent *tangents = gg_continuum_tangents(v, e);
    float *passed = reinterpret_cast<float *>(gg_gpu_cell_memory() + threadIdx.x / 4 * GG_CELL_VALUES);
    gg_gpu_cells_single(
        v, e, run, v->continuum_way,
        [=](const gg_single::gg_cell *own, gg_single::gg_cell *lane, int32_t four, int32_t count, const float *side) {
            float place[3];
            GG_ROLLED
            for (int32_t j = 0; j < count; j++) {
                float value, along[3], *to = passed + 16 * j + component;
                gg_gpu_wrapped(tangents[four + j].off, side, place);
                gg_single::gg_cell_gather(own, place, &value, along);
                to[0] = value, to[4] = along[0], to[8] = along[1], to[12] = along[2];
            }
            __syncwarp();
            if (component < count) {
                const gg_continuum_tangent t = tangents[four + component];
                float *at = passed + 16 * component, g[3][3];
                gg_point_gift gift = gg_point_nothing();
                if (t.touches) {
                    gg_real4 says[4];
                    for (int n = 0; n < 4; n++) {
                        says[n] = gg_real4_set(at[4 * n], at[4 * n + 1], at[4 * n + 2], at[4 * n + 3]);
                    }
                    gg_point_apply_contacts(v, e, &points[four + component], says[0], says + 1, &gift);
                }
                float push[4] = {0.0f, 0.0f, 0.0f, 0.0f};
                for (int n = 0; n < 3 && gg_has_liquid(v); n++) {
                    push[n] = t.pressed * at[4 + 4 * n + 3];
                }
                for (int n = 0; n < 9; n++) {
                    g[n / 3][n % 3] = at[4 + 4 * (n % 3) + n / 3];
                }
                gg_single::gg_tangent_apply(t.bulk, t.shear, t.soften, t.lever, t.flow, g);
                for (int n = 0; n < 4; n++) {
                    at[n] = t.touches ? push[n] + (float)gg_real4_at(gift.impulse, n) : push[n];
                }
                for (int n = 0; n < 12; n++) {
                    float given = n % 4 < 3 ? g[n % 4][n / 4] : 0.0f;
                    at[4 + n] = t.touches ? given + (float)gg_real4_at(gift.along[n / 4], n % 4) : given;
                }
            }
            __syncwarp();
            GG_UNROLL(4)
            for (int32_t j = 0; j < 4; j++) {
                if (j < count) {
                    const float *at = passed + 16 * j + component, along[3] = {at[4], at[8], at[12]};
                    gg_gpu_wrapped(tangents[four + j].off, side, place);
                    gg_single::gg_cell_scatter(&lane[j], place, at[0], along);
                }
            }
            __syncwarp();
        });
}

__device__ __forceinline__ void gg_gpu_continuum_linearise(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    if (!gg_continuum_newton_on(v, e)) {
        return;
    }
    gg_each_run(team, v, e, GG_CELLS_AT_ONCE, [&](gg_gpu_run run) {
        gg_gpu_cells<1>(v, e, run, v->continuum_velocity,
                        [=](gg_continuum_point *p, gg_real4 value, const gg_real4 *along) {
                            return gg_point_linearise(v, e, p, value, along);
                        });
        for (int32_t b = run.block; b < run.block + run.blocks; b++) {
            gg_continuum_sum sum = GG_ZERO;
            if (threadIdx.x == 0 && gg_has_liquid(v)) {
                sum.of[0] = gg_liquid_energy(v, e, b);
            }
            gg_gpu_add_points<1>(team->memory, v, e, b, &sum,
                                 [=](const gg_continuum_point *p, double *of) { of[0] = *gg_point_energy(v, e, p); });
            if (threadIdx.x == 0) {
                gg_block_sums(v, e)[b] = sum;
            }
            gg_gpu_sum_tools(v, e, b, 0);
        }
    });
}

__device__ __forceinline__ void gg_gpu_continuum_apply(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (!gg_continuum_inner_on(v, e)) {
        return;
    }
    gg_each_run(team, v, e, GG_CELLS_AT_ONCE, [&](gg_gpu_run run) {
        if (gg_continuum_env_of(v, e)->single) {
            gg_gpu_apply_single(v, e, run);
        } else {
            gg_gpu_cells<1>(v, e, run, v->continuum_way,
                            [=](const gg_continuum_point *p, gg_real4 value, const gg_real4 *along) {
                                return gg_point_apply(v, e, p, value, along);
                            });
        }
        for (int32_t b = run.block; b < run.block + run.blocks; b++) {
            gg_gpu_sum_tools(v, e, b, 1);
        }
    });
}

__device__ __forceinline__ void gg_gpu_continuum_ray_blocks(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                            int32_t) {
    if (!gg_continuum_newton_on(v, e)) {
        return;
    }
    gg_each_run(team, v, e, GG_CELLS_AT_ONCE, [&](gg_gpu_run run) {
        gg_gpu_cells<0>(v, e, run, v->continuum_step,
                        [=](gg_continuum_point *p, gg_real4 value, const gg_real4 *along) {
                            gg_point_ray(v, e, p, value, along);
                            return gg_point_nothing();
                        });
    });
}

__device__ __forceinline__ void gg_gpu_continuum_try_blocks(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                            int32_t) {
    if (!gg_continuum_inner_on(v, e)) {
        return;
    }
    double length = gg_continuum_env_of(v, e)->length.at;
    gg_each_block(team, v, e, [&](int64_t b) {
        gg_continuum_sum sum = GG_ZERO;
        gg_gpu_add_points<2>(team->memory, v, e, b, &sum, [=](const gg_continuum_point *p, double *of) {
            gg_point_try(v, e, p, length, &of[0], &of[1]);
        });
        if (threadIdx.x == 0) {
            if (gg_has_liquid(v)) {
                gg_liquid_try(v, e, b, length, &sum);
            }
            gg_block_sums(v, e)[b] = sum;
        }
    });
}

/* a thread for each row of three nodes of a cell, with the six components of their matrices */
__device__ __forceinline__ void gg_gpu_continuum_diagonal(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                          int32_t) {
    const int32_t at_once = GG_CELLS_AT_ONCE * 4 / 6;
    if (!gg_continuum_newton_on(v, e)) {
        return;
    }
    gg_each_run(team, v, e, at_once, [&](gg_gpu_run run) {
        for (int32_t first = 0; first < run.cells; first += at_once) {
            int32_t count = GG_MIN(run.cells - first, at_once);
            for (int32_t k = (int32_t)threadIdx.x; k < count * 9; k += GG_THREADS) {
                int32_t cell = run.cell + first + k / 9, row = k % 9;
                double *to = gg_gpu_cell_memory() + (k / 9 * 27 + row * 3) * 6;
                gg_real4 sum[6] = GG_ZERO;
                GG_ROLLED
                for (int32_t i = gg_gpu_cell_start(v, e, cell); i < gg_gpu_cell_start(v, e, cell + 1); i++) {
                    const gg_continuum_point *p = &gg_continuum_points(v, e)[i];
                    gg_spline s = gg_spline_slopes(p->place, v->params.spacing);
                    gg_real4 own[6];
                    gg_continuum_diagonal_row(v, e, p, &s, row % 3, row / 3, own);
                    for (int n = 0; n < 6; n++) {
                        sum[n] = gg_real4_add(sum[n], own[n]);
                    }
                }
                for (int n = 0; n < 18; n++) {
                    to[n / 6 * 6 + n % 6] = gg_real4_at(sum[n % 6], n / 6);
                }
            }
            __syncthreads();
            gg_gpu_cells_give<6>(v, e, run, first, count, GG_HALO, 1);
            __syncthreads();
        }
    });
}

__device__ __forceinline__ void gg_gpu_continuum_open_blocks(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                             int32_t) {
    gg_point_gift *gifts = reinterpret_cast<gg_point_gift *>(gg_near_memory());
    const int32_t thread = (int32_t)threadIdx.x, planes = gg_has_liquid(v) ? 2 : 1;
    gg_each_block(team, v, e, [&](int64_t b) {
        gg_continuum_block *block = gg_continuum_block_of(v, e, b);
        gg_real4 *given = gg_given_of(v, e, b);
        if (thread == 0) {
            block->dynamic = 0;
        }
        for (int32_t k = thread; k < planes * GG_HALO; k += GG_THREADS) {
            given[k] = gg_real4_zero();
        }
        for (int32_t first = 0; first < block->count; first += GG_THREADS) {
            int32_t begin = block->first + first, count = GG_MIN(block->count - first, GG_THREADS);
            __syncthreads();
            if (thread < count) {
                gifts[thread] = gg_continuum_open_point(v, e, begin + thread);
                if (gg_point_dynamic(v, e, &gg_continuum_points(v, e)[begin + thread])) {
                    block->dynamic = 1;
                }
            }
            __syncthreads();
            for (int32_t row = thread; row < 36 * planes; row += GG_THREADS) {
                int32_t y = row % 6, z = row / 6 % 6;
                GG_ROLLED
                for (int32_t k = 0; k < count; k++) {
                    const gg_continuum_point *p = &gg_continuum_points(v, e)[begin + k];
                    int j = y - p->halo / 6 % 6, l = z - p->halo / 36;
                    if (j >= 0 && j < 3 && l >= 0 && l < 3) {
                        gg_point_gift gift = row < 36 ? gifts[k] : gg_point_volume(v, e, p);
                        gg_spline s = gg_spline_moments(p->place, v->params.spacing);
                        gg_spline_scatter_row(&s, gift.impulse, gift.along, j, l, given + row * 6 + p->halo % 6);
                    }
                }
            }
        }
    });
}

__device__ __forceinline__ void gg_gpu_continuum_regularise(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                            int32_t) {
    gg_each_block(team, v, e, [&](int64_t b) {
        gg_each_point(v, e, b, [=](const gg_continuum_point *p) {
            gg_continuum_regularise_point(v, e, gg_continuum_block_of(v, e, b), p);
        });
    });
}

__device__ __forceinline__ void gg_gpu_continuum_integrate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    const gg_real4 *nodes = v->continuum_velocity + e * v->dims.continuum.nodes * GG_NODES;
    gg_each_block(team, v, e, [&](int64_t b) {
        gg_real4 *halo = gg_given_of(v, e, b);
        for (int32_t k = (int32_t)threadIdx.x; k < GG_HALO; k += GG_THREADS) {
            halo[k] = nodes[gg_halo_node(gg_continuum_block_of(v, e, b), k % 6, k / 6 % 6, k / 36)];
        }
        __syncthreads();
        gg_each_point(v, e, b, [=](const gg_continuum_point *p) { gg_continuum_integrate_point(v, e, p, halo); });
    });
}

#endif
