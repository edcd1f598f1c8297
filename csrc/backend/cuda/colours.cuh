/* colours.cuh: contacts listed, coloured and laid out by colour (solvers/spheres/coloured), by the threads of a team
 * together. */
#ifndef GG_COLOURS_CUH
#define GG_COLOURS_CUH

#include "slices.cuh"

__device__ __forceinline__ void gg_gpu_coloured_list(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        int64_t slice = slot / GG_LANES;
        int32_t first = v->slice_first_row[e * v->dims.slices + slice];
        for (int64_t k = slice * GG_LANES; k < slot; k++) {
            first += v->next_count[e * v->dims.slots + k];
        }
        gg_coloured_list_lane(v, e, slice, (int)(slot % GG_LANES), first, gg_gpu_tool_body(v, e, slot));
    });
}

/* calls body(listed contact) for the contacts that a slot owns */
template <class Body> __device__ __forceinline__ void gg_each_owned(const gg_view *v, int64_t at, Body body) {
    int32_t end = v->next_first[at] + v->next_count[at];
    for (int32_t c = v->next_first[at]; c < end; c++) {
        body(c);
    }
}

__device__ __forceinline__ void gg_gpu_or(uint64_t *at, uint64_t bits) {
    atomicOr(reinterpret_cast<unsigned long long *>(at), (unsigned long long)bits);
}
__device__ __forceinline__ void gg_gpu_min(uint64_t *at, uint64_t value) {
    atomicMin(reinterpret_cast<unsigned long long *>(at), (unsigned long long)value);
}

/* the first order of both grains of an uncoloured contact is open: any is before it */
__device__ __forceinline__ void gg_gpu_open_first(uint64_t *first, gg_uncoloured c) {
    first[c.own] = UINT64_MAX;
    if (c.other >= 0) {
        first[c.other] = UINT64_MAX;
    }
}

/* Notes the colours of stored contacts and collects the others, in any order; returns their number. No grain has a colour
 * before, see gg_gpu_count_contacts. */
__device__ __forceinline__ int32_t gg_gpu_colours_keep(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    int64_t slots = e * v->dims.slots, base = e * v->dims.coloured.rows * GG_LANES;
    const int32_t *link = gg_coloured_links(v, e, 0);
    uint64_t *first = gg_uncoloured_firsts(v, e, 0);
    int32_t *collected = &v->colour_tally[e].collected;
    gg_each_slot(team, [&](int64_t i) {
        gg_each_owned(v, slots + i, [&](int32_t c) {
            if (!gg_link_lasts(v, link[c])) {
                int32_t k = atomicAdd(collected, 1);
                v->uncoloured[base + k] = c;
                v->uncoloured_slot[base + k] = (int32_t)i;
                gg_gpu_open_first(first, gg_uncoloured_of(v, e, k));
                return;
            }
            uint64_t bit = (uint64_t)1 << gg_link_colour(link[c]);
            gg_gpu_or(&v->colours[slots + gg_clump_lead(v, e, (int32_t)i)], bit);
            int32_t against = gg_contact_lead(v, e, v->list_body[base + c]);
            if (against >= 0) {
                gg_gpu_or(&v->colours[slots + against], bit);
            }
        });
    });
    gg_gpu_wait(team);
    return *collected;
}

/* colours the collected contacts, round by round: see gg_colours_add */
__device__ __forceinline__ void gg_gpu_colours_add(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                   int32_t count) {
    int32_t *slot_of = v->uncoloured_slot + e * v->dims.coloured.rows * GG_LANES;
    int32_t *lefts = v->colour_tally[e].left;
    auto each = [&](auto body) {
        for (int32_t k = gg_team_rank(team); k < count; k += gg_team_size(team)) {
            if (slot_of[k] >= 0) {
                body(k, gg_uncoloured_of(v, e, k));
            }
        }
        gg_gpu_wait(team);
    };
    int turn = 0;
    for (int32_t still = count; still > 0; turn ^= 1) {
        uint64_t *first = gg_uncoloured_firsts(v, e, turn), *next = gg_uncoloured_firsts(v, e, turn ^ 1);
        int32_t *left = &lefts[turn];
        if (gg_team_rank(team) == 0) {
            *left = 0;
        }
        each([&](int32_t, gg_uncoloured c) {
            gg_gpu_min(&first[c.own], c.order);
            if (c.other >= 0) {
                gg_gpu_min(&first[c.other], c.order);
            }
        });
        each([&](int32_t k, gg_uncoloured c) {
            if (first[c.own] == c.order && (c.other < 0 || first[c.other] == c.order)) {
                gg_colour_choose(v, e, c);
                slot_of[k] = -1;
            } else {
                atomicAdd(left, 1);
                gg_gpu_open_first(next, c);
            }
        });
        still = *left;
    }
}

/* Goes through slots begin to `end`, GG_THREADS at a time, and notes the colours of what each owns: the bits of
 * owned(slot). Then each(slot) by a thread per slot that owns some, which may ask gg_gpu_owners_before; then
 * done(colour, owners) by a thread per colour. */
template <class Owned, class Each, class Done>
__device__ __forceinline__ void gg_gpu_by_colour(gg_block_memory *memory, int64_t begin, int64_t end, Owned owned,
                                                 Each each, Done done) {
    const int32_t words = GG_THREADS / 32, thread = (int32_t)threadIdx.x;
    for (int64_t first = begin; first < end; first += GG_THREADS) {
        uint32_t(*owners)[GG_THREADS / 32] = memory->colours.owners;
        for (int32_t k = thread; k < GG_COLOURS * words; k += GG_THREADS) {
            owners[k / words][k % words] = 0;
        }
        __syncthreads();
        int64_t slot = first + thread;
        uint64_t own = slot < end ? owned(slot) : 0;
        for (uint64_t bits = own; bits; bits &= bits - 1) {
            atomicOr(&owners[gg_bit_lowest(bits)][thread / 32], 1u << thread % 32);
        }
        __syncthreads();
        if (own) {
            each(slot);
        }
        __syncthreads();
        if (thread < GG_COLOURS) {
            uint32_t sum = 0;
            for (int32_t word = 0; word < words; word++) {
                sum += gg_bit_count(owners[thread][word]);
            }
            done(thread, (int32_t)sum);
        }
        __syncthreads();
    }
}

/* how many slots of the chunk, before that of this thread, own a contact of a colour */
__device__ __forceinline__ int32_t gg_gpu_owners_before(const gg_block_memory *memory, int32_t colour) {
    const uint32_t *owners = memory->colours.owners[colour];
    const int32_t thread = (int32_t)threadIdx.x;
    uint32_t before = gg_bit_count(owners[thread / 32] & ((1u << thread % 32) - 1u));
    for (int32_t word = 0; word < thread / 32; word++) {
        before += gg_bit_count(owners[word]);
    }
    return (int32_t)before;
}

/* Contacts of each colour at the slots of the blocks before this one, and at all: into shared memory. own: those of this
 * block, for thread `colour` */
__device__ __forceinline__ void gg_gpu_colour_sums(const gg_gpu_team *team, int32_t own) {
    gg_colour_memory *m = &team->memory->colours;
    const int32_t thread = (int32_t)threadIdx.x, colour = thread % GG_COLOURS, shares = GG_THREADS / GG_COLOURS;
    if (team->blocks == 1) {
        if (thread < GG_COLOURS) {
            m->before[0][thread] = 0;
            m->all[0][thread] = own;
        }
        __syncthreads();
        return;
    }
    const int32_t *partial = reinterpret_cast<const int32_t *>(team->partial);
    if (thread < GG_COLOURS) {
        reinterpret_cast<int32_t *>(team->partial)[team->block * GG_COLOURS + thread] = own;
    }
    gg_gpu_wait(team);
    int32_t before = 0, all = 0;
    for (int32_t b = thread / GG_COLOURS; b < team->blocks; b += shares) {
        int32_t count = partial[b * GG_COLOURS + colour];
        before += b < team->block ? count : 0;
        all += count;
    }
    m->before[thread / GG_COLOURS][colour] = before;
    m->all[thread / GG_COLOURS][colour] = all;
    __syncthreads();
    for (int32_t k = 1; thread < GG_COLOURS && k < shares; k++) {
        m->before[0][thread] += m->before[k][thread];
        m->all[0][thread] += m->all[k][thread];
    }
    __syncthreads();
}

/* collects the colours of what slots own, and counts the contacts of the last colour; a block's slots are `begin` to
 * `end` */
__device__ __forceinline__ void gg_gpu_colours_owned(const gg_view *v, int64_t e, int64_t begin, int64_t end) {
    int64_t slots = e * v->dims.slots;
    const int32_t *link = gg_coloured_links(v, e, 0);
    int32_t rest = 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += GG_THREADS) {
        uint64_t bits = 0;
        gg_each_owned(v, slots + i, [&](int32_t c) {
            bits |= (uint64_t)1 << gg_link_colour(link[c]);
            rest += gg_link_colour(link[c]) == GG_COLOURS - 1;
        });
        gg_uncoloured_firsts(v, e, 0)[i] = bits;
    }
    if (rest) {
        atomicAdd(&v->colour_tally[e].rest, rest);
    }
    __syncthreads();
}

/* notes where both grains of a contact find its record */
__device__ __forceinline__ void gg_gpu_find(const gg_view *v, int64_t e, int64_t slot, int32_t listed, int32_t colour,
                                            int32_t record) {
    if (v->dims.coloured.found && colour < GG_COLOURS_FOUND) {
        int32_t *at = v->colour_contact + e * v->dims.slots * GG_COLOURS_FOUND + colour;
        int32_t other = v->list_body[e * v->dims.coloured.rows * GG_LANES + listed];
        at[slot * GG_COLOURS_FOUND] = 2 * record;
        if (!gg_is_tool(v, other)) {
            at[(int64_t)other * GG_COLOURS_FOUND] = 2 * record + 1;
        }
    }
}

__device__ __forceinline__ void gg_gpu_colour_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    int64_t slots = e * v->dims.slots;
    gg_block_slices mine = gg_gpu_slices(team);
    int64_t begin = mine.begin * GG_LANES, end = mine.end * GG_LANES;
    const int32_t thread = (int32_t)threadIdx.x;
    gg_colour_memory *m = &team->memory->colours;
    gg_gpu_colours_add(team, v, e, gg_gpu_colours_keep(team, v, e));
    gg_gpu_colours_owned(v, e, begin, end);
    const uint64_t *bits = gg_uncoloured_firsts(v, e, 0);
    auto owned = [=](int64_t slot) { return bits[slot] & ~((uint64_t)1 << (GG_COLOURS - 1)); };
    int32_t own = 0;
    gg_gpu_by_colour(
        team->memory, begin, end, owned, [](int64_t) {}, [&](int32_t, int32_t count) { own += count; });
    gg_gpu_colour_sums(team, own);
    /* where the records of each colour begin; as many rows as they fill */
    if (thread == 0) {
        gg_colouring *all = &v->colouring[e];
        int32_t row = 0, colours = 0;
        for (int32_t k = 0; k < GG_COLOURS - 1; k++) {
            int32_t count = m->all[0][k];
            m->first[k] = row * GG_LANES + m->before[0][k];
            m->last[k] = row * GG_LANES + count - 1;
            if (team->block == 0) {
                all->first_row[k] = row;
                all->contacts[k] = count;
            }
            colours = count ? k + 1 : colours;
            row += (count + GG_LANES - 1) / GG_LANES;
        }
        if (team->block == 0) {
            all->contacts[GG_COLOURS - 1] = v->colour_tally[e].rest;
            gg_colours_bound(v, e, row, colours);
        }
    }
    __syncthreads();
    const int32_t *link = gg_coloured_links(v, e, 0);
    gg_gpu_by_colour(
        team->memory, begin, end, owned,
        [&](int64_t slot) {
            gg_each_owned(v, slots + slot, [&](int32_t c) {
                int32_t colour = gg_link_colour(link[c]);
                if (colour < GG_COLOURS - 1) {
                    int32_t record = m->first[colour] + gg_gpu_owners_before(team->memory, colour);
                    gg_coloured_place(v, e, (int32_t)slot, c, record);
                    gg_gpu_find(v, e, slot, c, colour, record);
                    if (record == m->last[colour]) {
                        gg_colour_pad(v, e, record);
                    }
                }
            });
        },
        [&](int32_t colour, int32_t count) { m->first[colour] += count; });
    if (v->colour_tally[e].rest) {
        gg_gpu_wait(team);
        if (gg_team_rank(team) == 0) {
            gg_colours_place_rest(v, e);
            gg_colour_close(v, e, GG_COLOURS - 1);
        }
    }
}

#endif
