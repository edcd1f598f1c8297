/* continuum_order.cuh: particles of continuous matter in order, blocks that hold some, blocks of nodes that these reach
 * (solvers/continuum/blocks.h), by all threads of an env. */
#ifndef GG_CONTINUUM_ORDER_CUH
#define GG_CONTINUUM_ORDER_CUH

#include "colours.cuh"

/* One pass of a stable sort by 6 bits: each block of threads counts the digits of its share, and moves the share behind
 * what blocks before it hold of the same digit. */
__device__ __forceinline__ void gg_gpu_sort_digit(const gg_gpu_team *team, int64_t n, const uint64_t *keys,
                                                  const int32_t *order, uint64_t *next_keys, int32_t *next_order,
                                                  int shift) {
    int64_t share = (n + team->blocks - 1) / team->blocks;
    int64_t begin = GG_MIN(team->block * share, n), end = GG_MIN(begin + share, n);
    gg_colour_memory *m = &team->memory->colours;
    auto digit = [=](int64_t k) { return (int32_t)(keys[k] >> shift & (GG_COLOURS - 1)); };
    auto bit = [=](int64_t k) { return (uint64_t)1 << digit(k); };
    int32_t own = 0;
    gg_gpu_by_colour(
        team->memory, begin, end, bit, [](int64_t) {}, [&](int32_t, int32_t count) { own += count; });
    gg_gpu_colour_sums(team, own);
    if (threadIdx.x == 0) {
        int32_t first = 0;
        for (int32_t k = 0; k < GG_COLOURS; k++) {
            m->first[k] = first + m->before[0][k];
            first += m->all[0][k];
        }
    }
    __syncthreads();
    gg_gpu_by_colour(
        team->memory, begin, end, bit,
        [&](int64_t k) {
            int32_t to = m->first[digit(k)] + gg_gpu_owners_before(team->memory, digit(k));
            next_keys[to] = keys[k];
            next_order[to] = order[k];
        },
        [&](int32_t k, int32_t count) { m->first[k] += count; });
    gg_gpu_wait(team);
}

/* gg_continuum_sort */
__device__ __forceinline__ void gg_gpu_sort_particles(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    int64_t n = v->dims.continuum.slots, rank = gg_team_rank(team), size = gg_team_size(team);
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    uint64_t *keys = gg_continuum_keys(v, e), *next_keys = keys + n;
    int32_t *order = gg_continuum_sorted(v, e), *next_order = order + n, swapped = 0;
    if (rank == 0) {
        own->some = own->other = 0;
    }
    gg_gpu_wait(team);
    uint64_t some = 0, other = 0;
    for (int64_t k = rank; k < n; k += size) {
        order[k] = (int32_t)k;
        gg_continuum_key_bits(keys[k], &some, &other);
    }
    auto either = [](uint64_t a, uint64_t b) { return a | b; };
    some = gg_block_reduce(team->memory->words, some, either);
    other = gg_block_reduce(team->memory->words, other, either);
    if (threadIdx.x == 0) {
        gg_gpu_or(&own->some, some);
        gg_gpu_or(&own->other, other);
    }
    gg_gpu_wait(team);
    uint64_t differ = own->some & own->other;
    GG_ROLLED
    for (int shift = 0; shift < 64; shift += 6) {
        if (!(differ >> shift & (GG_COLOURS - 1))) {
            continue;
        }
        const uint64_t *from = swapped ? next_keys : keys;
        const int32_t *from_order = swapped ? next_order : order;
        gg_gpu_sort_digit(team, n, from, from_order, swapped ? keys : next_keys, swapped ? order : next_order, shift);
        swapped = !swapped;
    }
    for (int64_t k = rank; swapped && k < n; k += size) {
        keys[k] = next_keys[k];
        order[k] = next_order[k];
    }
    gg_gpu_wait(team);
}

/* gg_continuum_list_blocks */
__device__ __forceinline__ int32_t gg_gpu_list_blocks(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    int64_t n = v->dims.continuum.slots, most = v->dims.continuum.blocks, rank = gg_team_rank(team);
    const uint64_t *keys = gg_continuum_keys(v, e);
    int32_t *block_at = gg_continuum_sorted(v, e) + n, *cells = gg_continuum_cells(v, e);
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (rank == 0) {
        own->particles = (int32_t)n;
    }
    gg_gpu_wait(team);
    for (int64_t k = rank; k < n; k += gg_team_size(team)) {
        if (keys[k] == GG_KEY_LOST && (k == 0 || keys[k - 1] != GG_KEY_LOST)) {
            own->particles = (int32_t)k;
        }
    }
    int32_t count = gg_team_scan(
        team, 0, n, [=](int64_t k) { return (int32_t)gg_key_first(keys, k, 6); },
        [=](int64_t k, int32_t b) {
            if (gg_key_first(keys, k, 6)) {
                block_at[k] = b;
                if (b < most) {
                    gg_continuum_block_of(v, e, b)->key = (int64_t)(keys[k] >> 6);
                    gg_continuum_block_of(v, e, b)->first = (int32_t)k;
                }
            }
        });
    gg_gpu_wait(team);
    int32_t cell_count = gg_team_scan(
        team, 1, n, [=](int64_t k) { return (int32_t)gg_key_first(keys, k, 0); },
        [=](int64_t k, int32_t c) {
            if (gg_key_first(keys, k, 0)) {
                cells[c] = (int32_t)k;
                if (gg_key_first(keys, k, 6) && block_at[k] < most) {
                    gg_continuum_block_of(v, e, block_at[k])->first_cell = c;
                }
            }
        });
    if (rank == 0) {
        own->cells = cell_count;
    }
    gg_gpu_wait(team);
    for (int64_t b = rank; count <= most && b < count; b += gg_team_size(team)) {
        gg_continuum_block *block = gg_continuum_block_of(v, e, b);
        int32_t end = b + 1 < count ? block[1].first : own->particles;
        int32_t end_cell = b + 1 < count ? block[1].first_cell : cell_count;
        block->count = end - block->first;
        block->cells = 0;
        for (int32_t c = block->first_cell; c < end_cell; c++) {
            block->cells |= (uint64_t)1 << (keys[cells[c]] & 63);
        }
    }
    gg_gpu_wait(team);
    return count;
}

/* how many blocks have a shifted key below `key`; s: the shift */
__device__ __forceinline__ int32_t gg_gpu_blocks_below(const gg_view *v, int64_t e, int32_t blocks, int s,
                                                       int64_t key) {
    int32_t low = 0, high = blocks;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (gg_continuum_block_of(v, e, middle)->key + gg_block_shift(s) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* gg_continuum_list_nodes: of the keys of the eight shifted lists, as many as there are different ones below a key is its
 * index */
__device__ __forceinline__ int32_t gg_gpu_list_nodes(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                     int32_t blocks) {
    int64_t rank = gg_team_rank(team), size = gg_team_size(team), keys = 8 * (int64_t)blocks;
    /* memory that is idle now: whether a key is the first of its like, and how many different ones are below it, by the
     * number of keys below it */
    int32_t *first = reinterpret_cast<int32_t *>(gg_given_of(v, e, 0)), *below = first + keys;
    for (int64_t k = rank; k < keys; k += size) {
        first[k] = 0;
    }
    gg_gpu_wait(team);
    for (int64_t k = rank; k < keys; k += size) {
        gg_continuum_block *block = gg_continuum_block_of(v, e, k / 8);
        int own = (int)(k % 8), leads = 1;
        int64_t key = block->key + gg_block_shift(own);
        int32_t at = 0;
        for (int s = 0; s < 8; s++) {
            int32_t b = gg_gpu_blocks_below(v, e, blocks, s, key);
            int same = b < blocks && gg_continuum_block_of(v, e, b)->key + gg_block_shift(s) == key;
            leads = leads && !(s < own && same);
            at += b;
        }
        block->node[own] = at;
        if (leads) {
            first[at] = 1;
        }
    }
    gg_gpu_wait(team);
    int32_t count = gg_team_scan(
        team, 0, keys, [=](int64_t k) { return first[k]; }, [=](int64_t k, int32_t sum) { below[k] = sum; });
    int64_t listed = GG_MIN((int64_t)count, v->dims.continuum.nodes);
    gg_continuum_source *source = v->continuum_source + e * v->dims.continuum.nodes;
    for (int64_t k = rank; k < 8 * listed; k += size) {
        source[k / 8].block[k % 8] = -1;
    }
    gg_gpu_wait(team);
    for (int64_t k = rank; k < keys; k += size) {
        int32_t *node = &gg_continuum_block_of(v, e, k / 8)->node[k % 8];
        *node = below[*node];
        if (*node < listed) {
            source[*node].block[k % 8] = (int32_t)(k / 8);
        }
    }
    return count;
}

__device__ __forceinline__ void gg_gpu_continuum_order(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_gpu_sort_particles(team, v, e);
    int32_t blocks = gg_gpu_list_blocks(team, v, e);
    int32_t nodes = blocks <= v->dims.continuum.blocks ? gg_gpu_list_nodes(team, v, e, blocks) : 0;
    if (gg_team_rank(team) == 0) {
        gg_continuum_listed(v, e, blocks, nodes);
    }
}

#endif
