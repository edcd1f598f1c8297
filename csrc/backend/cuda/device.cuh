/* device.cuh: the phases on a GPU.
 *
 * Most are the shared bodies, item by item. Where the shared body walks a slice lane by lane, here every lane is a thread;
 * where it walks a whole env (one item: env), here the team does it together. Each of these gives the bits of the shared
 * body: what is added in floating point is added in the same order, and everything else does not depend on order.
 */
#ifndef GG_DEVICE_CUH
#define GG_DEVICE_CUH

#include "team.cuh"

/* threads of a slice are half a warp */
static_assert(GG_LANES == 16 && GG_THREADS % 32 == 0, "slices are half warps");

__device__ __forceinline__ void gg_slice_wait() { __syncwarp(0xFFFFu << (threadIdx.x & 16u)); }

/* calls body(slot) for the team's share of slots; the threads of a slice come together */
template <class Body> __device__ __forceinline__ void gg_each_slot(const gg_gpu_team *team, Body body) {
    int64_t slots = team->view->dims.slots;
    for (int64_t slot = gg_team_rank(team); slot < slots; slot += gg_team_size(team)) {
        body(slot);
    }
}

/* Every lane leaves what it knows; the first one calls note(slice, what the 16 lanes left). */
template <class T, class Note>
__device__ __forceinline__ void gg_slice_note(T *shared, T own, int64_t slot, Note note) {
    gg_slice_wait();
    shared[threadIdx.x] = own;
    gg_slice_wait();
    if (threadIdx.x % GG_LANES == 0) {
        note(slot / GG_LANES, shared + threadIdx.x);
    }
}

/* ---- phases over slices ---- */

__device__ __forceinline__ void gg_gpu_predict(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_slice_note(team->memory->prediction, gg_predict_lane(v, e, slot), slot,
                      [&](int64_t slice, const gg_prediction *each) { gg_predicted(v, e, slice, each); });
    });
}

/* the parts that the slice of a slot may touch, found by its 16 threads together and noted */
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

/* the first row of tools of a slot */
__device__ __forceinline__ int32_t gg_gpu_tool_body(const gg_view *v, int64_t e, int64_t slot) {
    int64_t slice = slot / GG_LANES;
    int32_t tool_body = v->slice_first_tool_body[e * v->dims.slices + slice];
    for (int64_t k = slice * GG_LANES; k < slot; k++) {
        tool_body += v->next_tool_count[e * v->dims.slots + k];
    }
    return tool_body;
}

__device__ __forceinline__ void gg_gpu_count_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        uint64_t parts = gg_gpu_slice_parts(team, v, e, slot);
        gg_scalar_count_lane(v, e, (int32_t)slot, parts);
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

/* one iteration; `lanes` is that of one slot */
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
        gg_slice_note(team->memory->motion, gg_sphere_integrate_lane(v, e, slot), slot,
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

/* ---- phases over whole envs: the team adds up, its last block decides ---- */

__device__ __forceinline__ void gg_gpu_check(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_prediction all, none = GG_ZERO;
    int last = gg_team_reduce(
        team, team->memory->prediction, gg_predictions_of(v, e, gg_team_rank(team), gg_team_size(team)), none,
        [](gg_prediction a, gg_prediction b) { return gg_predictions_join(a, b); }, &all);
    if (last && threadIdx.x == 0) {
        gg_predict_decide(v, e, all);
    }
}

__device__ __forceinline__ void gg_gpu_fit_cell_grids(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (!v->env[e].rebuild) {
        return;
    }
    gg_aabb span;
    int last = gg_team_reduce(
        team, team->memory->span, gg_aabb_of(v, e, gg_team_rank(team), gg_team_size(team)), gg_aabb_empty(),
        [](gg_aabb a, gg_aabb b) { return gg_aabb_join(a, b); }, &span);
    if (last && threadIdx.x == 0) {
        gg_cell_grids_fit(v, e, span);
    }
}

__device__ __forceinline__ void gg_gpu_close_lists(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (!v->env[e].rebuild) {
        return;
    }
    /* the longest list that does not fit, of those the first: as an integer that is larger the longer and the earlier */
    uint64_t own = 0, worst;
    for (int64_t i = gg_team_rank(team); i < v->dims.grain_count; i += gg_team_size(team)) {
        int size_class = gg_size_class_of(&v->params, v->position[e * v->dims.slots + i].w);
        int32_t count = v->candidate_count[e * v->dims.slots + i];
        if (count > v->params.size_class_candidates[size_class]) {
            uint64_t key = (uint64_t)count << 32 | (uint32_t)(INT32_MAX - (int32_t)i);
            own = key > own ? key : own;
        }
    }
    int last = gg_team_reduce(
        team, team->memory->words, own, (uint64_t)0, [](uint64_t a, uint64_t b) { return a > b ? a : b; }, &worst);
    if (last && threadIdx.x == 0) {
        int64_t first = INT32_MAX - (int64_t)(worst & 0xFFFFFFFFu);
        int size_class = worst ? gg_size_class_of(&v->params, v->position[e * v->dims.slots + first].w) : 0;
        gg_lists_close(v, e, (int32_t)(worst >> 32), size_class);
    }
}

__device__ __forceinline__ void gg_gpu_check_convergence(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                         int32_t pass) {
    if (v->params.tolerance <= 0.0f) {
        if (gg_team_rank(team) == 0) {
            gg_step_check_env(v, e, pass);
        }
        return;
    }
    if (v->env[e].converged) {
        return;
    }
    float residual;
    int last = gg_team_reduce(
        team, team->memory->change, gg_step_residual(v, e, gg_team_rank(team), gg_team_size(team)), 0.0f,
        [](float a, float b) { return gg_maxf(a, b); }, &residual);
    if (last && threadIdx.x == 0) {
        gg_step_check(v, e, pass, residual);
    }
}

__device__ __forceinline__ void gg_gpu_close_substep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    int is_last = gg_last_substep(v, e);
    gg_substep_stats all, none = GG_ZERO;
    int last_block = gg_team_reduce(
        team, team->memory->substep, gg_substep_stats_of(v, e, gg_team_rank(team), gg_team_size(team)), none,
        [](gg_substep_stats a, gg_substep_stats b) { return gg_substep_stats_join(a, b); }, &all);
    if (!last_block) {
        return;
    }
    gg_step_stats last = GG_ZERO;
    for (int64_t first = 0; is_last && first < v->dims.blocks; first += GG_THREADS) {
        if (first + (int64_t)threadIdx.x < v->dims.blocks) {
            team->memory->step[threadIdx.x] = gg_step_stats_of_block(v, e, first + threadIdx.x);
        }
        __syncthreads();
        for (int64_t k = 0; threadIdx.x == 0 && k < GG_THREADS && first + k < v->dims.blocks; k++) {
            gg_step_stats_add(&last, team->memory->step[k]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        gg_step_close(v, e, all, is_last ? &last : NULL);
    }
}

/* ---- phases over whole envs: the team together ---- */

__device__ __forceinline__ void gg_gpu_allocate_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                         int32_t) {
    int64_t base = e * v->dims.slices;
    int32_t rows = gg_team_scan(
        team, 0, v->dims.slices, [&](int64_t s) { return v->slice_rows[base + s]; },
        [&](int64_t s, int32_t sum) { v->slice_first_row[base + s] = sum; });
    int32_t tool_contacts = gg_team_scan(
        team, 1, v->dims.slices, [&](int64_t s) { return v->slice_tool_contacts[base + s]; },
        [&](int64_t s, int32_t sum) { v->slice_first_tool_body[base + s] = (int32_t)v->dims.free_bodies + sum; });
    if (gg_team_rank(team) == 0) {
        gg_contacts_allocated(v, e, rows, v->dims.free_bodies + tool_contacts);
    }
}

/* Counting sort by cell. Within a cell grains come in the order of ids, so that nothing depends on which thread was
 * first. */
__device__ __forceinline__ void gg_gpu_order(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (!v->env[e].rebuild) {
        return;
    }
    int64_t base = e * v->dims.slots, n = v->dims.grain_count, rank = gg_team_rank(team), size = gg_team_size(team);
    int32_t *source = v->source_slot + base;
    for (int64_t i = n + rank; i < v->dims.slots; i += size) {
        source[i] = (int32_t)i;
    }
    if (v->params.broad_phase == GG_BROAD_LINKED_HASH) {
        for (int64_t i = rank; i < n; i += size) {
            source[i] = v->slot_of[base + i];
        }
        return;
    }
    int32_t *first = v->cell_first + e * (v->dims.cells + 1), *cursor = v->cell_cursor + e * v->dims.cell_cursors;
    /* idle while lists are built: the grains of a cell in any order, then in the order of ids */
    int32_t *loose = v->sort_unordered + base, *sorted = v->sort_slot + base, *item = v->cell_item + base;
    for (int64_t c = rank; c < v->dims.cells; c += size) {
        cursor[c] = 0;
    }
    gg_gpu_wait(team);
    for (int64_t i = rank; i < n; i += size) {
        atomicAdd(&cursor[v->cell[base + i]], 1);
    }
    gg_gpu_wait(team);
    gg_team_scan(
        team, 0, v->dims.cells, [&](int64_t c) { return cursor[c]; },
        [&](int64_t c, int32_t sum) {
            first[c] = sum;
            cursor[c] = sum;
        });
    if (rank == 0) {
        first[v->dims.cells] = (int32_t)n;
    }
    gg_gpu_wait(team);
    for (int64_t i = rank; i < n; i += size) {
        loose[atomicAdd(&cursor[v->cell[base + i]], 1)] = (int32_t)i;
    }
    gg_gpu_wait(team);
    for (int64_t p = rank; p < n; p += size) {
        int32_t slot = loose[p], id = v->grain_id[base + slot], cell = v->cell[base + slot];
        int32_t position = first[cell];
        for (int32_t q = first[cell]; q < first[cell + 1]; q++) {
            position += v->grain_id[base + loose[q]] < id;
        }
        sorted[position] = slot;
    }
    gg_gpu_wait(team);
    /* within a window longer lists first: the place of a grain is the number of those that come before it */
    for (int64_t begin = (int64_t)team->block * GG_SORT_WINDOW; begin < n; begin += team->blocks * GG_SORT_WINDOW) {
        int32_t count = (int32_t)(n - begin < GG_SORT_WINDOW ? n - begin : GG_SORT_WINDOW);
        int32_t *lengths = team->memory->lengths;
        for (int32_t own = (int32_t)threadIdx.x; own < count; own += GG_THREADS) {
            lengths[own] = gg_sort_length(v->contact_count[base + sorted[begin + own]]);
        }
        __syncthreads();
        for (int32_t own = (int32_t)threadIdx.x; own < count; own += GG_THREADS) {
            int32_t length = lengths[own], rank = 0;
            for (int32_t k = 0; k < count; k++) {
                rank += lengths[k] > length || (lengths[k] == length && k < own);
            }
            source[begin + rank] = sorted[begin + own];
            item[begin + own] = (int32_t)begin + rank;
        }
        __syncthreads();
    }
}

__device__ __forceinline__ void gg_gpu_allocate_candidates(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    if (!v->env[e].rebuild) {
        return;
    }
    int64_t base = e * v->dims.slots, rank = gg_team_rank(team), size = gg_team_size(team);
    gg_team_scan(
        team, 0, v->dims.slots, [&](int64_t i) { return gg_candidate_capacity(v, e, i); },
        [&](int64_t i, int32_t sum) { v->candidate_first[base + i] = sum; });
    if (v->params.broad_phase != GG_BROAD_LINKED_HASH) {
        return;
    }
    /* the order within a chain is left to chance: lists are sorted by id */
    int32_t *head = v->hash_head + e * v->dims.hash_size, *next = v->hash_next + e * v->dims.hash_next;
    for (int64_t b = rank; b < v->dims.hash_size; b += size) {
        head[b] = -1;
    }
    gg_gpu_wait(team);
    for (int64_t i = rank; i < v->dims.grain_count; i += size) {
        next[i] = atomicExch(&head[gg_hash_bucket_of(v, e, i)], (int32_t)i);
    }
}

/* one thread per block of tool contacts, tool and component */
__device__ __forceinline__ void gg_gpu_sum_wrench_blocks(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                         int32_t) {
    int64_t per_block = v->dims.tool_count * 6;
    int64_t blocks = (gg_tool_loads(v, e) + GG_LOAD_BLOCK - 1) / GG_LOAD_BLOCK;
    for (int64_t k = gg_team_rank(team); k < blocks * per_block; k += gg_team_size(team)) {
        int64_t block = k / per_block, component = k % per_block;
        v->wrench_partial[(e * v->dims.load_blocks + block) * per_block + component] =
            gg_tool_wrench_part(v, e, block, component / 6, (int)(component % 6));
    }
}

__device__ __forceinline__ void gg_gpu_sum_boxes(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t pass) {
    const int32_t runs = GG_BLOCK / GG_BOX_RUN;
    for (int64_t block = team->block; block < v->dims.blocks; block += team->blocks) {
        if ((int32_t)threadIdx.x < runs) {
            team->memory->box[threadIdx.x] = gg_access_box_run(v, e, block, threadIdx.x, pass);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            gg_box_stats sum = GG_ZERO;
            for (int32_t run = 0; run < runs; run++) {
                gg_box_stats_add(&sum, team->memory->box[run]);
            }
            v->box_partial[e * v->dims.blocks + block] = sum;
        }
        __syncthreads();
    }
}

/* a thread per grain; what they add to the same bins are integers */
__device__ __forceinline__ void gg_gpu_tally(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    for (int64_t id = gg_team_rank(team); id < v->dims.grain_count; id += gg_team_size(team)) {
        gg_tally_grain(v, e, id);
    }
}

/* ---- cameras ---- */

/* A block takes a band of rows, as many as its own memory holds: a thread per grain, then a thread per pixel for tools. */
__device__ __forceinline__ void gg_gpu_render_depth(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    int64_t band = team->block;
    for (int64_t c = 0; c < v->dims.camera_count; c++) {
        const gg_camera *camera = &v->cameras[c];
        int32_t rows = GG_MIN(GG_MAX(GG_TILE / camera->width, 1), camera->height);
        int64_t bands = (camera->height + rows - 1) / rows;
        /* bands of all cameras in a row are dealt to the blocks of the team */
        for (; band < bands; band += team->blocks) {
            gg_lens lens = gg_lens_make(camera, gg_camera_pose(v, e, camera));
            gg_strip strip;
            strip.row_begin = (int32_t)band * rows;
            strip.row_end = GG_MIN(strip.row_begin + rows, camera->height);
            strip.column_begin = 0;
            strip.column_end = camera->width;
            strip.id = NULL;
            int32_t pixels = (strip.row_end - strip.row_begin) * camera->width;
            float *image =
                v->depth + e * v->dims.pixels + camera->first_pixel + (int64_t)strip.row_begin * camera->width;
            strip.depth = pixels <= GG_TILE ? team->memory->tile : image;
            for (int32_t k = threadIdx.x; k < pixels; k += GG_THREADS) {
                strip.depth[k] = lens.far_depth;
            }
            __syncthreads();
            for (int64_t slot = threadIdx.x; lens.usable && slot < v->dims.slots; slot += GG_THREADS) {
                gg_strip_slot(&strip, &lens, v, e, slot);
            }
            __syncthreads();
            for (int32_t k = threadIdx.x; lens.usable && k < pixels; k += GG_THREADS) {
                gg_strip one = strip;
                one.row_begin += k / camera->width;
                one.row_end = one.row_begin + 1;
                one.column_begin = k % camera->width;
                one.column_end = one.column_begin + 1;
                one.depth += k - one.column_begin;
                gg_strip_parts(&one, &lens, v, e, GG_STRIP_WALLS_FLOOR);
            }
            __syncthreads();
            for (int32_t k = threadIdx.x; strip.depth != image && k < pixels; k += GG_THREADS) {
                image[k] = strip.depth[k];
            }
            __syncthreads();
        }
        band -= bands;
    }
}

/* ---- all of them ---- */

/* column `gpu` of the table of phases */
#define GG_GPU_EACH(name, items, body)                                                                                 \
    for (int64_t i = gg_team_rank(team), end = items; i < end; i += gg_team_size(team)) {                              \
        body;                                                                                                          \
    }
#define GG_GPU_TEAM(name, items, body) gg_gpu_##name(team, v, e, pass);
#define GG_GPU_CASE(name, items, diverged_envs, build, gpu, threads, sync, body)                                       \
    case GG_PHASE_##name:                                                                                              \
        if (GG_DIVERGED_##diverged_envs == GG_DIVERGED_COVERS || !v->env[e].stats.diverged) {                          \
            GG_GPU_##gpu(name, items, body)                                                                            \
        }                                                                                                              \
        return;

/* the team's share of a phase of its env; `phase` is a constant wherever this is called */
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
