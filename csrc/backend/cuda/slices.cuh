/* slices.cuh: phases over slices, with a thread per lane where the shared body loops over lanes. */
#ifndef GG_SLICES_CUH
#define GG_SLICES_CUH

#include "team.cuh"

/* threads of a slice are half a warp */
static_assert(GG_LANES == 16 && GG_THREADS % 32 == 0, "slices are half warps");

__device__ __forceinline__ void gg_slice_wait() { __syncwarp(0xFFFFu << (threadIdx.x & 16u)); }

/* calls body(slot) for the slots of a block's slices; the 16 threads of a slice call it in the same iteration */
template <class Body> __device__ __forceinline__ void gg_each_slot(const gg_gpu_team *team, Body body) {
    gg_block_slices own = gg_gpu_slices(team);
    for (int32_t slot = own.begin * GG_LANES + (int32_t)threadIdx.x; slot < own.end * GG_LANES; slot += GG_THREADS) {
        body((int64_t)slot);
    }
}

/* Every lane stores its value; the first lane calls note(slice, the 16 values). */
template <class T, class Note>
__device__ __forceinline__ void gg_slice_note(T *shared, T own, int64_t slot, Note note) {
    gg_slice_wait();
    shared[threadIdx.x] = own;
    gg_slice_wait();
    if (threadIdx.x % GG_LANES == 0) {
        note(slot / GG_LANES, shared + threadIdx.x);
    }
}

__device__ __forceinline__ void gg_gpu_predict(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_prediction own = GG_ZERO;
        if (slot < v->dims.grain_count) {
            gg_scalar_predict_lanes(v, e, slot, &own);
        }
        gg_slice_note(team->memory->prediction, own, slot,
                      [&](int64_t slice, const gg_prediction *each) { gg_predicted(v, e, slice, each); });
    });
}

/* the parts that the slice of a slot may touch, found by its 16 threads together and stored */
__device__ __forceinline__ uint64_t gg_gpu_slice_parts(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                       int64_t slot) {
    int64_t slice = slot / GG_LANES;
    int lane = (int)(slot % GG_LANES);
    gg_slice_ball ball = gg_slice_ball_of(v, e, slice);
    uint64_t near = 0, parts = 0;
    for (int64_t part = lane; part < v->dims.part_count && part < 64; part += GG_LANES) {
        near |= gg_slice_near(v, e, ball, part) ? (uint64_t)1 << part : 0;
    }
    uint64_t *shared = team->memory->parts;
    gg_slice_wait();
    shared[threadIdx.x] = near;
    gg_slice_wait();
    for (int k = 0; k < GG_LANES; k++) {
        parts |= shared[threadIdx.x - lane + k];
    }
    if (lane == 0) {
        v->slice_parts[e * v->dims.slices + slice] = parts;
    }
    return parts;
}

/* index of the first tool-contact body of a slot */
__device__ __forceinline__ int32_t gg_gpu_tool_body(const gg_view *v, int64_t e, int64_t slot) {
    int64_t slice = slot / GG_LANES;
    int32_t tool_body = v->slice_first_tool_body[e * v->dims.slices + slice];
    for (int64_t k = slice * GG_LANES; k < slot; k++) {
        tool_body += v->next_tool_count[e * v->dims.slots + k];
    }
    return tool_body;
}

__device__ __forceinline__ void gg_gpu_count_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (v->dims.coloured.envs && gg_team_rank(team) == 0) {
        gg_colour_tally none = GG_ZERO;
        v->colour_tally[e] = none;
    }
    gg_each_slot(team, [&](int64_t slot) {
        uint64_t parts = gg_gpu_slice_parts(team, v, e, slot);
        gg_scalar_count_lanes(v, e, (int32_t)slot, parts);
        gg_slice_wait();
        if (slot % GG_LANES == 0) {
            gg_contacts_counted(v, e, slot / GG_LANES);
        }
    });
}

__device__ __forceinline__ void gg_gpu_list_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_sphere_list_lane(v, e, slot / GG_LANES, (int)(slot % GG_LANES), gg_gpu_tool_body(v, e, slot));
    });
}

__device__ __forceinline__ void gg_gpu_prepare_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_overlaps own;
        gg_scalar_prepare_lanes(v, e, slot, &own);
        gg_slice_note(team->memory->overlaps, own, slot,
                      [&](int64_t slice, const gg_overlaps *each) { gg_contacts_prepared(v, e, slice, each); });
    });
}

/* one iteration; lanes(slot) iterates one slot and returns its largest change of velocity */
template <class Lanes>
__device__ __forceinline__ void gg_gpu_iterate_with(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t pass,
                                                    Lanes lanes) {
    if (v->env[e].converged) {
        return;
    }
    int asked = pass + 1 == v->params.iterations || v->params.tolerance > 0.0f;
    gg_each_slot(team, [&](int64_t slot) {
        float own = lanes(slot);
        if (asked) {
            gg_slice_note(team->memory->change, own, slot, [&](int64_t slice, const float *each) {
                float most = 0.0f;
                for (int k = 0; k < GG_LANES; k++) {
                    most = gg_maxf(most, each[k]);
                }
                v->slice_stats[e * v->dims.slices + slice].residual = most;
            });
        }
    });
}

__device__ __forceinline__ void gg_gpu_planar_count(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        int64_t slice = slot / GG_LANES;
        uint64_t parts = gg_gpu_slice_parts(team, v, e, slot);
        gg_planar_count_lane(v, e, (int32_t)slot, parts);
        gg_slice_wait();
        if (slot % GG_LANES == 0) {
            gg_contacts_counted(v, e, slice);
        }
    });
}

__device__ __forceinline__ void gg_gpu_planar_list(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_planar_list_lane(v, e, slot / GG_LANES, (int)(slot % GG_LANES), gg_gpu_tool_body(v, e, slot));
    });
}

__device__ __forceinline__ void gg_gpu_planar_prepare(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_overlaps own;
        gg_scalar_planar_prepare_lanes(v, e, slot, &own);
        gg_slice_note(team->memory->overlaps, own, slot,
                      [&](int64_t slice, const gg_overlaps *each) { gg_contacts_prepared(v, e, slice, each); });
    });
}

__device__ __forceinline__ void gg_gpu_apply_springs(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_slice_note(team->memory->overlaps, gg_springs_lane(v, e, slot), slot,
                      [&](int64_t slice, const gg_overlaps *each) { gg_springs_noted(v, e, slice, each); });
    });
}

__device__ __forceinline__ void gg_gpu_planar_integrate(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_slice_note(team->memory->motion, gg_planar_integrate_lane(v, e, slot), slot,
                      [&](int64_t slice, const gg_motion *each) { gg_motion_integrated(v, e, slice, each); });
    });
}

__device__ __forceinline__ void gg_gpu_integrate(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_motion own = GG_ZERO;
        gg_scalar_keep_lists(v, e, slot);
        if (slot < v->dims.grain_count) {
            gg_scalar_integrate_lanes(v, e, slot, &own);
        }
        gg_slice_note(team->memory->motion, own, slot,
                      [&](int64_t slice, const gg_motion *each) { gg_motion_integrated(v, e, slice, each); });
    });
}

__device__ __forceinline__ void gg_gpu_iterate(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t pass) {
    gg_gpu_iterate_with(team, v, e, pass, [=](int64_t slot) { return gg_scalar_iterate_lanes(v, e, slot, pass); });
}

__device__ __forceinline__ void gg_gpu_planar_iterate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t pass) {
    gg_gpu_iterate_with(team, v, e, pass,
                        [=](int64_t slot) { return gg_scalar_planar_iterate_lanes(v, e, slot, pass); });
}

#endif
