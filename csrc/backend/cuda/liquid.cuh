/* liquid.cuh: what liquids add to continuous matter on a GPU (solvers/continuum/liquid.h, flow.h): flows cell by cell,
 * pressures by a block of threads for a block of cells, what nodes are given node by node, what tools leave of space cube by
 * cube. */
#ifndef GG_LIQUID_CUH
#define GG_LIQUID_CUH

#include "continuum.cuh"

namespace gg_single {
#define GG_FLOW(name)     gg_flow_##name
#define GG_FLOW_VALUE     float
#define GG_FLOW_ADD(a, b) ((a) + (b))
#define GG_FLOW_MUL(a, b) ((a) * (b))
#include "../../solvers/continuum/flow_values.h"
} // namespace gg_single

/* ---- tools: a thread for a cube (solvers/continuum/room.h); nodes and tools add up cubes in their order ---- */

/* octets that a block of threads works on at a time, and what it finds of their cubes, in shared memory */
#define GG_OCTETS_AT_ONCE (GG_THREADS / 8)
struct gg_gpu_cube {
    gg_room_cube of;
    gg_vec3 rise; /* of pressure [Pa] */
};
static_assert(GG_CELL_MEMORY >= sizeof(gg_gpu_cube) * GG_THREADS, "a cube a thread");
static_assert(GG_CELL_MEMORY >= sizeof(double) * GG_NODES * 4, "what the cubes around a node say");
__device__ __forceinline__ gg_gpu_cube *gg_gpu_cubes() { return reinterpret_cast<gg_gpu_cube *>(gg_near_memory()); }

/* whether this holds for any thread of a block */
__device__ __forceinline__ int gg_gpu_any(const gg_gpu_team *team, int own) {
    return gg_block_reduce(team->memory->ints, own, [](int32_t a, int32_t b) { return a | b; });
}

/* Adds what a dynamic tool takes of the cubes of octets from number `first` on to what it displaces at a block of nodes, a
 * thread a node. taken: whether it takes of the thread's own cube */
__device__ __forceinline__ void gg_gpu_displace(const gg_gpu_team *team, const gg_view *v, int64_t e, gg_vec3 corner,
                                                int32_t first, int32_t tool, int taken, gg_displaced *to) {
    if (!gg_gpu_any(team, taken)) {
        return;
    }
    for (int32_t k = (int32_t)threadIdx.x; k < GG_NODES; k += GG_THREADS) {
        const int node[3] = {k & 3, k >> 2 & 3, k >> 4};
        double by[6];
        for (int i = 0; i < 6; i++) {
            by[i] = to->met ? to->by[k][i] : 0.0;
        }
        GG_ROLLED
        for (int32_t c = 0; c < GG_THREADS; c++) {
            const gg_room_cube *cube = &gg_gpu_cubes()[c].of;
            int at[3];
            gg_room_cube_of(first + c / 8, c % 8, at);
            GG_ROLLED
            for (int p = 0; p < 2 && gg_room_reached(node, at); p++) {
                if (gg_room_dynamic(v, cube, p) == tool) {
                    gg_room_displace(v, e, at, gg_room_cube_place(v, corner, at), cube, p, node, by);
                }
            }
        }
        for (int i = 0; i < 6; i++) {
            to->by[k][i] = by[i];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        to->met = 1;
    }
}

/* gg_room_measure */
__device__ __forceinline__ gg_room_state gg_gpu_room_measure(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                             int64_t n, gg_room *room) {
    const int32_t thread = (int32_t)threadIdx.x;
    gg_vec3 corner = gg_node_place(v, e, n);
    uint64_t near = gg_room_near_all(v, e, corner);
    int moves = 0;
    GG_ROLLED
    for (int32_t first = 0; near && first < GG_ROOM_OCTETS; first += GG_OCTETS_AT_ONCE) {
        gg_room_cube cube = gg_room_open();
        if (first + thread / 8 < GG_ROOM_OCTETS) {
            int at[3];
            gg_room_cube_of(first + thread / 8, thread % 8, at);
            gg_vec3 place = gg_room_cube_place(v, corner, at);
            uint64_t close = gg_room_near_octet(v, e, corner, first + thread / 8, near);
            if (close) {
                gg_room_cube_at(v, e, place, 0.5 * v->params.spacing, close, &cube);
            }
            moves |= gg_room_keep(v, e, at, place, &cube, room);
        }
        gg_gpu_cubes()[thread].of = cube;
        int32_t own[2] = {gg_room_dynamic(v, &cube, 0), gg_room_dynamic(v, &cube, 1)};
        GG_ROLLED
        for (int32_t tool = 0; tool < v->dims.continuum.tools; tool++) {
            gg_gpu_displace(team, v, e, corner, first, tool, own[0] == tool || own[1] == tool,
                            &gg_displaced_at(v, e, n)[tool]);
        }
    }
    return near == 0 ? GG_ROOM_OPEN : gg_gpu_any(team, moves) ? GG_ROOM_MOVES : GG_ROOM_RESTS;
}

static inline __device__ __noinline__ void gg_gpu_open_room(gg_gpu_team team, const gg_view *v, int64_t e, int64_t n) {
    const int32_t thread = (int32_t)threadIdx.x;
    gg_room *room = gg_room_of(v, e, n);
    for (int32_t tool = thread; tool < v->dims.continuum.tools; tool += GG_THREADS) {
        gg_displaced_at(v, e, n)[tool].met = 0;
    }
    gg_room_state state = gg_gpu_room_measure(&team, v, e, n, room);
    double *says = gg_gpu_cell_memory();
    for (int32_t k = thread; k < 4 * GG_NODES; k += GG_THREADS) {
        says[k] = gg_liquid_room(room, state, k % GG_NODES, k / GG_NODES - 1);
    }
    __syncthreads();
    for (int32_t k = thread; k < GG_NODES; k += GG_THREADS) {
        const double swept[3] = {says[GG_NODES + k], says[2 * GG_NODES + k], says[3 * GG_NODES + k]};
        gg_liquid_open_node(v, e, n, k, says[k], swept);
    }
    __syncthreads();
}
__device__ __forceinline__ void gg_gpu_liquid_open(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    for (int64_t n = team->block; n < gg_continuum_env_of(v, e)->nodes; n += team->blocks) {
        gg_gpu_open_room(*team, v, e, n);
    }
}

/* gg_liquid_react_nodes: a thread for a component of the impulse on a tool */
static inline __device__ __noinline__ void gg_gpu_react_room(gg_gpu_team team, const gg_view *v, int64_t e, int64_t n) {
    const gg_real4 *nodes = v->continuum_velocity + gg_node_first(v, e, n);
    const int32_t thread = (int32_t)threadIdx.x, components = (int32_t)v->dims.tool_count * 6;
    double *pushes = gg_room_pushes(v, e, n, 0);
    for (int32_t i = thread; i < components; i += GG_THREADS) {
        pushes[i] = 0.0;
    }
    int pressed = 0;
    for (int32_t k = thread; k < GG_NODES; k += GG_THREADS) {
        pressed |= gg_real4_at(nodes[k], 3) > 0.0;
    }
    gg_vec3 corner = gg_node_place(v, e, n);
    uint64_t near = gg_gpu_any(&team, pressed) ? gg_room_near_all(v, e, corner) : 0;
    GG_ROLLED
    for (int32_t first = 0; near && first < GG_ROOM_OCTETS; first += GG_OCTETS_AT_ONCE) {
        gg_gpu_cube own;
        own.of = gg_room_open();
        own.rise = gg_v3(0.0f, 0.0f, 0.0f);
        int at[3];
        gg_room_cube_of(first + thread / 8, thread % 8, at);
        uint64_t close =
            first + thread / 8 < GG_ROOM_OCTETS ? gg_room_near_octet(v, e, corner, first + thread / 8, near) : 0;
        if (close) {
            own.rise = gg_room_rise(nodes, at);
            if (own.rise.x != 0.0f || own.rise.y != 0.0f || own.rise.z != 0.0f) {
                gg_room_cube_at(v, e, gg_room_cube_place(v, corner, at), 0.5 * v->params.spacing, close, &own.of);
            }
        }
        gg_gpu_cubes()[thread] = own;
        if (!gg_gpu_any(&team, own.of.taken[0] > 0.0 || own.of.taken[1] > 0.0)) {
            continue;
        }
        for (int32_t i = thread; i < components; i += GG_THREADS) {
            double sum = pushes[i];
            GG_ROLLED
            for (int32_t c = 0; c < GG_THREADS; c++) {
                const gg_gpu_cube *cube = &gg_gpu_cubes()[c];
                gg_room_cube_of(first + c / 8, c % 8, at);
                GG_ROLLED
                for (int p = 0; p < 2; p++) {
                    if (cube->of.taken[p] > 0.0 && v->parts[cube->of.part[p]].tool == i / 6) {
                        sum += gg_room_push(v, e, gg_room_cube_place(v, corner, at), &cube->of, p, cube->rise, i % 6);
                    }
                }
            }
            pushes[i] = sum;
        }
        __syncthreads();
    }
}
__device__ __forceinline__ void gg_gpu_liquid_react(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    for (int64_t n = team->block; n < gg_continuum_env_of(v, e)->nodes; n += team->blocks) {
        gg_gpu_react_room(*team, v, e, n);
    }
}

/* ---- flows ---- */

/* What velocities carry to nodes (solvers/continuum/flow.h). In single precision a thread needs no more than its own
 * component. */
static inline __device__ __noinline__ void gg_gpu_flow_single(const gg_view *v, int64_t e, gg_gpu_run run,
                                                              const gg_real4 *nodes) {
    const int32_t component = (int32_t)threadIdx.x % 4;
    const gg_continuum_tangent *tangents = gg_continuum_tangents(v, e);
    gg_single::gg_flow_axis axes[3];
    for (int axis = 0; axis < 3; axis++) {
        axes[axis].own = component == axis ? 1.0f : 0.0f;
        axes[axis].other = component < 3 && component != axis ? 1.0f : 0.0f;
    }
    gg_gpu_cells_single(
        v, e, run, nodes,
        [=](const gg_single::gg_cell *own, gg_single::gg_cell *lane, int32_t four, int32_t count, const float *side) {
            float scale = component == 0   ? gg_flow_scale(v, side[0])
                          : component == 1 ? gg_flow_scale(v, side[1])
                          : component == 2 ? gg_flow_scale(v, side[2])
                                           : 0.0f;
            GG_UNROLL(4)
            for (int32_t j = 0; j < 4; j++) {
                if (j < count) {
                    float place[3];
                    gg_gpu_wrapped(tangents[four + j].off, side, place);
                    float carried = gg_single::gg_flow_value(own->says, place) * tangents[four + j].pressed;
                    gg_single::gg_flow_give(axes, place, carried * scale, lane[j].gets);
                }
            }
        });
}

static inline __device__ __noinline__ void gg_gpu_flow_double(const gg_view *v, int64_t e, gg_gpu_run run,
                                                              const gg_real4 *nodes) {
    gg_gpu_cells<1>(v, e, run, nodes, [=](const gg_continuum_point *p, gg_real4 value, const gg_real4 *) {
        gg_point_gift gift = gg_point_nothing();
        gg_liquid_flow_of(p, value, gift.along);
        return gift;
    });
}
__device__ __forceinline__ void gg_gpu_flow(const gg_gpu_team *team, const gg_view *v, int64_t e, int single,
                                            const gg_real4 *nodes) {
    gg_each_run(team, v, e, GG_CELLS_AT_ONCE, [&](gg_gpu_run run) {
        if (single) {
            gg_gpu_flow_single(v, e, run, nodes);
        } else {
            gg_gpu_flow_double(v, e, run, nodes);
        }
    });
}
__device__ __forceinline__ void gg_gpu_liquid_flow_iterate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    if (gg_continuum_newton_on(v, e)) {
        gg_gpu_flow(team, v, e, 0, v->continuum_velocity);
    }
}
__device__ __forceinline__ void gg_gpu_liquid_flow_way(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (gg_continuum_inner_on(v, e)) {
        gg_gpu_flow(team, v, e, gg_continuum_env_of(v, e)->single, v->continuum_way);
    }
}
__device__ __forceinline__ void gg_gpu_liquid_flow_step(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (gg_continuum_newton_on(v, e)) {
        gg_gpu_flow(team, v, e, 0, v->continuum_step);
    }
}

__device__ __forceinline__ void gg_gpu_liquid_flow(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                   int32_t which) {
    if (gg_continuum_newton_on(v, e)) {
        gg_each_node<-1>(team, v, e, [=](gg_node node, gg_continuum_sum *) { gg_liquid_flow_node(v, e, node, which); });
    }
}

/* ---- pressures (solvers/continuum/liquid.h) ---- */

/* Calls each(k, halo) for the cells of a block, a thread each, with what nodes say to them. */
template <class Each>
__device__ __forceinline__ void gg_each_liquid_cell(const gg_view *v, int64_t e, int64_t b, Each each) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *nodes = v->liquid_flow + e * v->dims.continuum.nodes * GG_NODES;
    gg_real4 *halo = gg_given_of(v, e, b) + GG_HALO;
    for (int32_t n = (int32_t)threadIdx.x; n < GG_HALO; n += GG_THREADS) {
        halo[n] = nodes[gg_halo_node(block, n % 6, n / 6 % 6, n / 36)];
    }
    __syncthreads();
    for (int32_t k = (int32_t)threadIdx.x; k < GG_CELLS; k += GG_THREADS) {
        each(k, halo);
    }
}

/* Gives to the nodes of a block what cell(k, halo) says of its cells; a node adds them up in their order. */
template <class Cell> __device__ __forceinline__ void gg_gpu_press(const gg_view *v, int64_t e, int64_t b, Cell cell) {
    double *pressure = gg_gpu_cell_memory();
    gg_real4 *given = gg_given_of(v, e, b);
    gg_each_liquid_cell(v, e, b, [=](int32_t k, const gg_real4 *halo) { pressure[k] = cell(k, halo); });
    __syncthreads();
    for (int32_t n = (int32_t)threadIdx.x; n < GG_HALO; n += GG_THREADS) {
        const int32_t x = n % 6, y = n / 6 % 6, z = n / 36;
        double sum = 0.0;
        for (int32_t l = GG_MAX(z - 1, 0); l <= GG_MIN(z, 4); l++) {
            for (int32_t j = GG_MAX(y - 1, 0); j <= GG_MIN(y, 4); j++) {
                for (int32_t i = GG_MAX(x - 1, 0); i <= GG_MIN(x, 4); i++) {
                    sum += 0.125 * pressure[(l * 5 + j) * 5 + i];
                }
            }
        }
        given[n] = gg_real4_set(sum, 0.0, 0.0, 0.0);
    }
}
__device__ __forceinline__ void gg_gpu_liquid_press_iterate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                            int32_t) {
    if (!gg_continuum_newton_on(v, e)) {
        return;
    }
    gg_each_block(team, v, e, [&](int64_t b) {
        gg_gpu_press(v, e, b,
                     [=](int32_t k, const gg_real4 *halo) { return gg_liquid_press_iterate_cell(v, e, b, k, halo); });
        for (int32_t tool = (int32_t)threadIdx.x; tool < v->dims.continuum.tools; tool += GG_THREADS) {
            gg_liquid_stiffen(v, e, b, tool);
        }
    });
}
__device__ __forceinline__ void gg_gpu_liquid_press_way(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (gg_continuum_inner_on(v, e)) {
        gg_each_block(team, v, e, [&](int64_t b) {
            gg_gpu_press(v, e, b,
                         [=](int32_t k, const gg_real4 *halo) { return gg_liquid_press_way_cell(v, e, b, k, halo); });
        });
    }
}
__device__ __forceinline__ void gg_gpu_liquid_press_step(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                         int32_t) {
    if (gg_continuum_newton_on(v, e)) {
        gg_each_block(team, v, e, [&](int64_t b) {
            gg_each_liquid_cell(v, e, b,
                                [=](int32_t k, const gg_real4 *halo) { gg_liquid_press_step_cell(v, e, b, k, halo); });
        });
    }
}

/* gg_liquid_keep: nodes, and then a thread for each block of nodes and tool */
static inline __device__ __noinline__ void gg_gpu_liquid_keep(gg_gpu_team team, const gg_view *v, int64_t e,
                                                              gg_real4 *nodes) {
    const int32_t at_once = GG_THREADS / GG_NODES, tools = (int32_t)v->dims.continuum.tools;
    gg_each_node<-1>(&team, v, e, [=](gg_node node, gg_continuum_sum *) { gg_liquid_keep_node(v, e, node, nodes); });
    __syncthreads();
    int64_t count = gg_continuum_env_of(v, e)->nodes;
    for (int64_t first = team.block * (int64_t)at_once; first < count; first += team.blocks * (int64_t)at_once) {
        for (int32_t k = (int32_t)threadIdx.x; k < at_once * tools; k += GG_THREADS) {
            if (first + k / tools < count) {
                gg_displaced_push_tool(v, e, first + k / tools, k % tools, nodes);
            }
        }
    }
}
__device__ __forceinline__ void gg_gpu_liquid_keep_iterate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    if (gg_continuum_newton_on(v, e)) {
        gg_gpu_liquid_keep(*team, v, e, v->continuum_velocity);
    }
}
__device__ __forceinline__ void gg_gpu_liquid_keep_way(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (gg_continuum_inner_on(v, e)) {
        gg_gpu_liquid_keep(*team, v, e, v->continuum_way);
    }
}

#endif
