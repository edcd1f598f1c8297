/* blocks.h: particles in order of blocks, cells and ids; blocks that hold some; blocks of nodes that these reach. */
#ifndef GG_CONTINUUM_BLOCKS_H
#define GG_CONTINUUM_BLOCKS_H

#include "continuum.h"

/* A key: 18 bits of the block along z, y, x, then 2 of the cell within it along each. */
#define GG_BLOCK_BITS 18
#define GG_BLOCK_HALF (1 << (GG_BLOCK_BITS - 1))
#define GG_KEY_LOST   (~(uint64_t)0)

/* cell of the first node of a particle's stencil along an axis, and its place from there in units of the spacing */
GG_FN double gg_continuum_cell(const gg_view *v, int axis, double position, double *place) {
    double at = (position - (double)gg_axis_of(v->params.lower, axis)) / v->params.spacing;
    double cell = floor(at - 0.5);
    *place = at - cell;
    return cell;
}

/* item: slot of an env */
GG_FN void gg_continuum_key_slot(const gg_view *v, int64_t e, int64_t i) {
    uint64_t *key = &gg_continuum_keys(v, e)[i];
    uint64_t block = 0, within = 0;
    int64_t id = v->grain_id[e * v->dims.slots + i];
    *key = GG_KEY_LOST;
    if (id < 0) {
        return;
    }
    v->continuum_lost[e * v->dims.continuum.slots + id] = 1;
    double position[3], velocity[3], place;
    gg_continuum_motion(v, e, i, position, velocity);
    for (int axis = 2; axis >= 0; axis--) {
        double cell = gg_continuum_cell(v, axis, position[axis], &place), most = 4.0 * (GG_BLOCK_HALF - 2);
        if (!(cell > -most && cell < most)) {
            return;
        }
        uint64_t from_zero = (uint64_t)((int64_t)cell + 4 * (int64_t)GG_BLOCK_HALF);
        block = block << GG_BLOCK_BITS | from_zero >> 2;
        within = within << 2 | (from_zero & 3);
    }
    v->continuum_lost[e * v->dims.continuum.slots + id] = 0;
    *key = block << 6 | within;
}

/* notes which bits of keys are 1, and which are 0; the highest is 1 in the key of a lost particle alone */
GG_FN void gg_continuum_key_bits(uint64_t key, uint64_t *some, uint64_t *other) {
    const uint64_t highest = (uint64_t)1 << 63;
    *some |= key == GG_KEY_LOST ? highest : key;
    *other |= key == GG_KEY_LOST ? 0 : ~key;
}

/* how many of the cells that hold particles are before cell `cell` of their block */
GG_FN int32_t gg_cell_rank(uint64_t cells, int32_t cell) {
    uint64_t before = cell < 64 ? cells & (((uint64_t)1 << cell) - 1) : cells;
    return (int32_t)(gg_bit_count((uint32_t)before) + gg_bit_count((uint32_t)(before >> 32)));
}

/* Sorts the slots of an env by key, in order of slots where keys are equal: passes over 8 bits, those only in which keys
 * differ. Keys and order end up in the first half of their arrays. */
GG_FN void gg_continuum_sort(const gg_view *v, int64_t e) {
    int64_t n = v->dims.continuum.slots;
    uint64_t *keys = gg_continuum_keys(v, e), *next_keys = keys + n;
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->some = own->other = 0;
    int32_t *order = gg_continuum_sorted(v, e), *next_order = order + n, swapped = 0;
    GG_ROLLED
    for (int64_t k = 0; k < n; k++) {
        order[k] = (int32_t)k;
        gg_continuum_key_bits(keys[k], &own->some, &own->other);
    }
    GG_ROLLED
    for (int shift = 0; shift < 64; shift += 8) {
        int32_t first[256] = {0}, sum = 0;
        if (!((own->some & own->other) >> shift & 255)) {
            continue;
        }
        GG_ROLLED
        for (int64_t k = 0; k < n; k++) {
            first[keys[k] >> shift & 255]++;
        }
        GG_ROLLED
        for (int digit = 0; digit < 256; digit++) {
            int32_t count = first[digit];
            first[digit] = sum;
            sum += count;
        }
        GG_ROLLED
        for (int64_t k = 0; k < n; k++) {
            int32_t to = first[keys[k] >> shift & 255]++;
            next_keys[to] = keys[k];
            next_order[to] = order[k];
        }
        uint64_t *other_keys = keys;
        int32_t *other_order = order;
        keys = next_keys, next_keys = other_keys;
        order = next_order, next_order = other_order;
        swapped ^= 1;
    }
    for (int64_t k = 0; swapped && k < n; k++) {
        next_keys[k] = keys[k];
        next_order[k] = order[k];
    }
}

/* the first particles of cells that hold some */
GG_FN int32_t *gg_continuum_cells(const gg_view *v, int64_t e) {
    return v->continuum_cell + e * v->dims.continuum.slots;
}

/* whether particle k is the first of its block, or of its cell: with `shift` bits of the key left out */
GG_FN int gg_key_first(const uint64_t *keys, int64_t k, int shift) {
    return keys[k] != GG_KEY_LOST && (k == 0 || keys[k - 1] >> shift != keys[k] >> shift);
}

/* Lists the blocks of particles and their cells; returns how many blocks there are, of which as many are written as there
 * is room for. */
GG_FN int32_t gg_continuum_list_blocks(const gg_view *v, int64_t e) {
    const uint64_t *keys = gg_continuum_keys(v, e);
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    int32_t count = 0, n = (int32_t)v->dims.continuum.slots;
    own->particles = own->cells = 0;
    for (int32_t k = 0; k < n && keys[k] != GG_KEY_LOST; k++) {
        int first = gg_key_first(keys, k, 6), first_of_cell = gg_key_first(keys, k, 0);
        count += first;
        if (count <= v->dims.continuum.blocks) {
            gg_continuum_block *block = gg_continuum_block_of(v, e, count - 1);
            if (first) {
                block->key = (int64_t)(keys[k] >> 6);
                block->first = k;
                block->count = 0;
                block->first_cell = own->cells;
                block->cells = 0;
            }
            block->count++;
            block->cells |= (uint64_t)1 << (keys[k] & 63);
        }
        if (first_of_cell) {
            gg_continuum_cells(v, e)[own->cells++] = k;
        }
        own->particles++;
    }
    return count;
}

/* what the key of a block and of the next along the axes k of which bit k of s is set differ by */
GG_FN int64_t gg_block_shift(int s) {
    return (int64_t)(s & 1) | (int64_t)(s >> 1 & 1) << GG_BLOCK_BITS | (int64_t)(s >> 2) << 2 * GG_BLOCK_BITS;
}

/* Lists the blocks of nodes that blocks of particles reach: the eight shifted lists of these, each in order of keys,
 * merged. Returns how many there are; as many are written as there is room for. */
GG_FN int32_t gg_continuum_list_nodes(const gg_view *v, int64_t e, int32_t blocks) {
    int32_t at[8] = {0}, count = 0;
    GG_ROLLED
    for (;;) {
        int64_t least = INT64_MAX;
        GG_ROLLED
        for (int s = 0; s < 8; s++) {
            if (at[s] < blocks) {
                least = GG_MIN(least, gg_continuum_block_of(v, e, at[s])->key + gg_block_shift(s));
            }
        }
        if (least == INT64_MAX) {
            return count;
        }
        GG_ROLLED
        for (int s = 0; s < 8; s++) {
            int reaches = at[s] < blocks && gg_continuum_block_of(v, e, at[s])->key + gg_block_shift(s) == least;
            if (count < v->dims.continuum.nodes) {
                v->continuum_source[e * v->dims.continuum.nodes + count].block[s] = reaches ? at[s] : -1;
            }
            if (reaches) {
                gg_continuum_block_of(v, e, at[s]++)->node[s] = count;
            }
        }
        count++;
    }
}

/* Takes over how many there are; notes where there is no room for them. nodes: 0 where there is none for blocks */
GG_FN void gg_continuum_listed(const gg_view *v, int64_t e, int32_t blocks, int32_t nodes) {
    gg_env *env = &v->env[e];
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->blocks = blocks;
    own->nodes = nodes;
    env->overflow_blocks = blocks > v->dims.continuum.blocks ? blocks : 0;
    env->overflow_nodes = nodes > v->dims.continuum.nodes ? nodes : 0;
}

/* Sorts the particles and lists blocks. item: env */
GG_FN void gg_continuum_order_env(const gg_view *v, int64_t e) {
    gg_continuum_sort(v, e);
    int32_t blocks = gg_continuum_list_blocks(v, e);
    gg_continuum_listed(v, e, blocks, blocks <= v->dims.continuum.blocks ? gg_continuum_list_nodes(v, e, blocks) : 0);
}

#endif
