/* envs.cuh: phases over whole envs, run cooperatively where the shared body loops over an env. */
#ifndef GG_ENVS_CUH
#define GG_ENVS_CUH

#include "team.cuh"

/* ---- phases over whole envs: reductions, completed by the team's last block ---- */

__device__ __forceinline__ void gg_gpu_check(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_prediction all, none = GG_ZERO;
    gg_block_slices own = gg_gpu_slices(team);
    int last = gg_team_reduce(
        team, team->memory->prediction, gg_predictions_of(v, e, own.begin + threadIdx.x, own.end, GG_THREADS), none,
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
    /* the first of the longest lists that do not fit, encoded as the largest integer */
    uint64_t own = 0, worst;
    int64_t live = GG_MIN(gg_live_slots(v, e), v->dims.grain_count);
    for (int64_t i = gg_team_rank(team); i < live; i += gg_team_size(team)) {
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
    gg_block_slices own = gg_gpu_slices(team);
    int last = gg_team_reduce(
        team, team->memory->change, gg_step_residual(v, e, own.begin + threadIdx.x, own.end, GG_THREADS), 0.0f,
        [](float a, float b) { return gg_maxf(a, b); }, &residual);
    if (last && threadIdx.x == 0) {
        gg_step_check(v, e, pass, residual);
    }
}

__device__ __forceinline__ void gg_gpu_close_substep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_substep_stats all, none = GG_ZERO;
    if (v->env[e].asleep) {
        if (gg_team_rank(team) == 0) {
            gg_step_close(v, e, none, NULL);
        }
        return;
    }
    int is_last = gg_last_substep(v, e);
    gg_block_slices own = gg_gpu_slices(team);
    int last_block = gg_team_reduce(
        team, team->memory->substep, gg_substep_stats_of(v, e, own.begin + threadIdx.x, own.end, GG_THREADS), none,
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
    const int64_t base = e * v->dims.slices;
    const gg_block_slices own = gg_gpu_slices(team);
    gg_slice_contacts mine = GG_ZERO, none = GG_ZERO, all, before = GG_ZERO;
    auto add = [](gg_slice_contacts a, gg_slice_contacts b) {
        gg_slice_contacts sum = {a.rows + b.rows, a.tools + b.tools};
        return sum;
    };
    for (int64_t s = own.begin + threadIdx.x; s < own.end; s += GG_THREADS) {
        gg_slice_contacts one = {v->slice_rows[base + s], v->slice_tool_contacts[base + s]};
        mine = add(mine, one);
    }
    if (gg_team_reduce(team, team->memory->contacts, mine, none, add, &all) && threadIdx.x == 0) {
        gg_contacts_allocated(v, e, all.rows, v->dims.free_bodies + all.tools);
    }
    gg_gpu_wait(team);
    if (team->blocks > 1) {
        /* the parts that blocks stored for the reduction */
        for (int32_t b = threadIdx.x; b < team->block; b += GG_THREADS) {
            before = add(before, *reinterpret_cast<const gg_slice_contacts *>(team->partial + (int64_t)b * GG_PARTIAL));
        }
        before = gg_block_reduce(team->memory->contacts, before, add);
    }
    before.tools += (int32_t)v->dims.free_bodies;
    gg_block_prefix(
        team->memory, own.begin, own.end, before.rows, [&](int64_t s) { return v->slice_rows[base + s]; },
        [&](int64_t s, int32_t sum) { v->slice_first_row[base + s] = sum; });
    gg_block_prefix(
        team->memory, own.begin, own.end, before.tools, [&](int64_t s) { return v->slice_tool_contacts[base + s]; },
        [&](int64_t s, int32_t sum) { v->slice_first_tool_body[base + s] = sum; });
}

/* Decides who sleeps, see gg_sleep_choose_env. */
__device__ __forceinline__ void gg_gpu_choose_asleep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (!gg_sleep_chooses(v, e)) {
        return;
    }
    int32_t *marks = gg_cell_marks(v, e);
    auto each = [&](int64_t count, auto body) {
        for (int64_t k = gg_team_rank(team); k < count; k += gg_team_size(team)) {
            body(k);
        }
        gg_gpu_wait(team);
    };
    int64_t cells = gg_marked_cells(gg_marked_grid(v, e)), n = v->dims.grain_count;
    each(cells, [&](int64_t c) { marks[c] = 0; });
    each(n, [&](int64_t i) { gg_sleep_find(v, e, i); });
    each(cells, [&](int64_t c) { gg_mark_stirred(v, e, (int32_t)c); });
    each(n, [&](int64_t i) { gg_sleep_touch(v, e, i); });
    each(n, [&](int64_t i) { gg_sleep_part(v, e, i); });
    each(cells, [&](int64_t c) { gg_mark_near(v, e, (int32_t)c, GG_MARK_AWAKE, GG_MARK_NEAR_AWAKE, GG_NEAR); });
    each(n, [&](int64_t i) { gg_sleep_place(v, e, i); });
    const int32_t *next = v->next_class + e * v->dims.sleep.slots, *id = v->grain_id + e * v->dims.slots;
    auto count = [&](int turn, auto counts) {
        return gg_team_scan(
            team, turn, n, [&](int64_t i) { return (int32_t)counts(i); }, [](int64_t, int32_t) {});
    };
    int32_t awake = count(0, [&](int64_t i) { return next[id[i]] == GG_AWAKE; });
    int32_t live = count(1, [&](int64_t i) { return next[id[i]] != GG_DEEP; });
    int32_t drowsy = count(0, [&](int64_t i) { return gg_sleep_drowsy(v, e, i); });
    if (gg_team_rank(team) == 0) {
        gg_sleep_chosen(v, e, awake, live, drowsy);
    }
}

/* Counting sort by cell. Within a cell grains are in order of ids, whatever the order of threads. */
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
    /* arrays that are idle while lists are built: the grains of a cell in any order, then in order of ids */
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
    /* within a window, longer lists first: the rank of a grain is the number of those before it */
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
        team, 0, gg_live_slots(v, e), [&](int64_t i) { return gg_candidate_capacity(v, e, i); },
        [&](int64_t i, int32_t sum) { v->candidate_first[base + i] = sum; });
    if (v->params.broad_phase != GG_BROAD_LINKED_HASH) {
        return;
    }
    /* the order within a chain is arbitrary: candidate lists are sorted by id */
    int32_t *head = v->hash_head + e * v->dims.hash_size, *next = v->hash_next + e * v->dims.hash_next;
    for (int64_t b = rank; b < v->dims.hash_size; b += size) {
        head[b] = -1;
    }
    gg_gpu_wait(team);
    for (int64_t i = rank; i < v->dims.grain_count; i += size) {
        next[i] = atomicExch(&head[gg_hash_bucket_of(v, e, i)], (int32_t)i);
    }
}

/* A block of threads reads a block of tool contacts together; a thread per tool and component adds them up. */
__device__ __forceinline__ void gg_gpu_sum_wrench_blocks(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                         int32_t) {
    gg_tool_load *loads = team->memory->loads;
    const int64_t components = v->dims.tool_count * 6;
    for (int64_t block = team->block; block < gg_tool_blocks(v, e); block += team->blocks) {
        gg_tool_loads_share share = gg_tool_loads_of_block(v, e, block);
        for (int64_t k = threadIdx.x; k < share.count; k += GG_THREADS) {
            loads[k] = share.first[k];
        }
        __syncthreads();
        float *sum = v->wrench_partial + (e * v->dims.load_blocks + block) * components;
        for (int64_t k = threadIdx.x; k < components; k += GG_THREADS) {
            sum[k] = gg_tool_wrench_part(loads, share.count, k / 6, (int)(k % 6));
        }
        __syncthreads();
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

/* one thread per grain; bins are integers, so that the order of addition does not matter */
__device__ __forceinline__ void gg_gpu_tally(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    for (int64_t id = gg_team_rank(team); id < v->dims.grain_count; id += gg_team_size(team)) {
        gg_tally_grain(v, e, id);
    }
}

#endif
