/* colours.cuh: contacts coloured and solved by colour (solvers/spheres/coloured), by the threads of a team together. */
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

/* notes the colours of stored contacts and collects the others, in any order; returns their number */
__device__ __forceinline__ int32_t gg_gpu_colours_keep(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    int64_t slots = e * v->dims.slots, base = e * v->dims.coloured.rows * GG_LANES;
    const int32_t *link = gg_coloured_links(v, e, 0);
    int32_t *collected = &v->colour_tally[e].collected;
    for (int64_t i = gg_team_rank(team); i < gg_live_slots(v, e); i += gg_team_size(team)) {
        v->colours[slots + i] = 0;
    }
    if (gg_team_rank(team) == 0) {
        *collected = 0;
        v->colour_tally[e].rest = 0;
    }
    gg_gpu_wait(team);
    for (int64_t i = gg_team_rank(team); i < gg_live_slots(v, e); i += gg_team_size(team)) {
        gg_each_owned(v, slots + i, [&](int32_t c) {
            int32_t body = v->list_body[base + c];
            if (!gg_link_lasts(v, link[c])) {
                int32_t k = atomicAdd(collected, 1);
                v->uncoloured[base + k] = c;
                v->uncoloured_slot[base + k] = (int32_t)i;
                return;
            }
            uint64_t bit = (uint64_t)1 << gg_link_colour(link[c]);
            gg_gpu_or(&v->colours[slots + gg_clump_lead(v, e, (int32_t)i)], bit);
            int32_t against = gg_contact_lead(v, e, body);
            if (against >= 0) {
                gg_gpu_or(&v->colours[slots + against], bit);
            }
        });
    }
    gg_gpu_wait(team);
    return *collected;
}

/* colours the collected contacts, round by round: see gg_colours_add */
__device__ __forceinline__ void gg_gpu_colours_add(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                   int32_t count) {
    uint64_t *first = v->uncoloured_first + e * v->dims.slots;
    int32_t *slot_of = v->uncoloured_slot + e * v->dims.coloured.rows * GG_LANES;
    int32_t *left = &v->colour_tally[e].collected;
    for (int32_t still = count; still > 0;) {
        auto each = [&](auto body) {
            for (int32_t k = gg_team_rank(team); k < count; k += gg_team_size(team)) {
                if (slot_of[k] >= 0) {
                    body(k, gg_uncoloured_of(v, e, k));
                }
            }
            gg_gpu_wait(team);
        };
        each([&](int32_t, gg_uncoloured c) {
            first[c.own] = UINT64_MAX;
            if (c.other >= 0) {
                first[c.other] = UINT64_MAX;
            }
        });
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
            }
        });
        still = *left;
        gg_gpu_wait(team);
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
        v->uncoloured_first[slots + i] = bits;
    }
    if (rest) {
        atomicAdd(&v->colour_tally[e].rest, rest);
    }
    __syncthreads();
}

__device__ __forceinline__ void gg_gpu_colour_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    int64_t slots = e * v->dims.slots, live = gg_live_slots(v, e), share = (live + team->blocks - 1) / team->blocks;
    int64_t begin = GG_MIN(team->block * share, live), end = GG_MIN(begin + share, live);
    const int32_t thread = (int32_t)threadIdx.x;
    gg_colour_memory *m = &team->memory->colours;
    gg_gpu_colours_add(team, v, e, gg_gpu_colours_keep(team, v, e));
    gg_gpu_colours_owned(v, e, begin, end);
    const uint64_t *bits = v->uncoloured_first + slots;
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
                }
            });
        },
        [&](int32_t colour, int32_t count) { m->first[colour] += count; });
    gg_gpu_wait(team);
    if (gg_team_rank(team) == GG_COLOURS - 1) {
        gg_colours_place_rest(v, e);
    }
    if (gg_team_rank(team) < GG_COLOURS) {
        gg_colour_pad(v, e, gg_team_rank(team));
    }
}

/* calls body(record) for the team's share of the contacts of a colour, in whole rows */
template <class Body>
__device__ __forceinline__ void gg_each_record(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t colour,
                                               Body body) {
    const gg_colouring *all = &v->colouring[e];
    int64_t first = (int64_t)all->first_row[colour] * GG_LANES, end = (int64_t)all->first_row[colour + 1] * GG_LANES;
    for (int64_t k = first + gg_team_spread_rank(team); k < end; k += gg_team_size(team)) {
        gg_scalar_records at = gg_scalar_records_at(v, e, k, first + all->contacts[colour]);
        body(at);
    }
}

__device__ __forceinline__ void gg_gpu_open_bodies(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) { gg_scalar_open_lanes(v, e, slot); });
}

__device__ __forceinline__ void gg_gpu_prepare_colour(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t colour) {
    gg_each_record(team, v, e, colour, [&](const gg_scalar_records &at) { gg_scalar_prepare_records(v, e, &at); });
}

/* ---- passes over all colours ----
 *
 * What a contact reads besides its bodies is loaded before the contacts of the colour before are solved, and its bodies
 * before the last contact of its own colour: none of these changes them, and memory answers meanwhile. To know its bodies
 * then, a thread loads their indices one contact earlier still. */

/* tells a block where the contacts of each colour lie, until the next substep */
__device__ __forceinline__ void gg_gpu_open_rows(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    gg_colour_rows *rows = &team->memory->rows;
    for (int32_t k = (int32_t)threadIdx.x; k <= GG_COLOURS; k += GG_THREADS) {
        rows->first_row[k] = v->colouring[e].first_row[k];
        if (k < GG_COLOURS) {
            rows->contacts[k] = v->colouring[e].contacts[k];
        } else {
            rows->colours = gg_step_colours(&v->env[e]);
        }
    }
    __syncthreads();
}

/* Indices of a contact in the arrays of all envs: of a float each, and of x of a vector. In 32 bits, which
 * gg_short_indices sees to, an address is one instruction. */
__device__ __forceinline__ uint32_t gg_gpu_contact_first(const gg_view *v, int64_t e) {
    return (uint32_t)(e * v->dims.contact_rows * GG_LANES);
}
__device__ __forceinline__ uint32_t gg_gpu_contact3(uint32_t contact) {
    return contact + 2 * (contact & ~(uint32_t)(GG_LANES - 1));
}

/* the bodies of a contact */
struct gg_gpu_pair {
    int32_t own, other;
};
__device__ __forceinline__ gg_gpu_pair gg_gpu_pair_of(const gg_view *v, uint32_t contact) {
    gg_gpu_pair pair = {v->first_body[contact], v->other_body[contact]};
    return pair;
}

/* All colours but the last, one after another. job: a struct with a type `contact`, which begins with the members `of`
 * (gg_gpu_pair), `at` (the index of the contact) and `live` (0: it only fills up the last row of its colour), and with the
 * functions load(contact *), load_bodies(contact *) and solve(contact).
 *
 * The last colours have few contacts. The first block solves them and meets the others after the last one: a barrier of
 * its own is faster. */
template <class Job>
__device__ __forceinline__ void gg_gpu_each_colour(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                   const Job &job) {
    const gg_colour_rows *rows = &team->memory->rows;
    const int32_t colours = rows->colours, size = gg_team_size(team);
    const int32_t spread = gg_team_spread_rank(team), alone = team->block ? INT32_MAX / 2 : (int32_t)threadIdx.x;
    const uint32_t base = gg_gpu_contact_first(v, e);
    int32_t tail = colours;
    while (team->blocks > 1 && tail > 0 && rows->contacts[tail - 1] <= GG_THREADS) {
        tail--;
    }
    typename Job::contact next = GG_ZERO, now;
    gg_gpu_pair after = GG_ZERO; /* the bodies of the contact after the next one of this thread, of the same colour */
    auto load = [&](int32_t colour, int32_t k, gg_gpu_pair of) {
        int32_t first = rows->first_row[colour] * GG_LANES;
        next.of = of;
        next.at = base + (uint32_t)k;
        next.live = k - first < rows->contacts[colour];
        job.load(&next);
        if (k + size < rows->first_row[colour + 1] * GG_LANES) {
            after = gg_gpu_pair_of(v, next.at + (uint32_t)size);
        }
    };
    auto load_first = [&](int32_t colour) {
        if (colour >= colours) {
            return; /* where there is none, no barrier follows that would keep the rows until they are read */
        }
        int32_t k = rows->first_row[colour] * GG_LANES + (colour < tail ? spread : alone);
        if (k < rows->first_row[colour + 1] * GG_LANES) {
            load(colour, k, gg_gpu_pair_of(v, base + (uint32_t)k));
        }
    };
    load_first(0);
    for (int32_t colour = 0; colour < colours; colour++) {
        int32_t end = rows->first_row[colour + 1] * GG_LANES;
        int32_t k = rows->first_row[colour] * GG_LANES + (colour < tail ? spread : alone);
        if (k >= end) {
            load_first(colour + 1);
        } else {
            job.load_bodies(&next);
        }
        while (k < end) {
            now = next;
            k += size;
            if (k < end) {
                load(colour, k, after);
                job.load_bodies(&next);
            } else {
                load_first(colour + 1);
            }
            job.solve(now);
        }
        if (colour < tail || colour + 1 == colours) {
            gg_gpu_wait(team);
        } else {
            __syncthreads();
        }
    }
}

/* ---- the start ----
 *
 * Preparing a contact changes no other: all are prepared at once. What they start with is added to their bodies colour by
 * colour. Until the first sweep writes there, the buffers of the last impulses keep the position corrections. */

/* position corrections of contacts, once their last impulses have been gathered */
__device__ __forceinline__ float *gg_gpu_pushes(const gg_view *v, int64_t e) {
    return v->env[e].impulse_buffer ? v->impulse_b : v->impulse_a;
}

/* calls body(records) for the team's share of the contacts of all colours but the last, in whole rows */
template <class Body>
__device__ __forceinline__ void gg_each_coloured(const gg_gpu_team *team, const gg_view *v, int64_t e, Body body) {
    const gg_colour_rows *rows = &team->memory->rows;
    int32_t colour = 0, end = rows->first_row[rows->colours] * GG_LANES;
    for (int32_t k = gg_team_spread_rank(team); k < end; k += gg_team_size(team)) {
        while (k >= rows->first_row[colour + 1] * GG_LANES) {
            colour++;
        }
        body(gg_scalar_records_at(v, e, k, rows->first_row[colour] * GG_LANES + rows->contacts[colour]));
    }
}

/* adds what contacts start with to their bodies */
struct gg_gpu_starter {
    struct contact {
        gg_gpu_pair of;
        uint32_t at;
        int32_t live;
        gg_scalar_vec normal, impulse, torque, push;
        float own[GG_BODY], other[GG_BODY];
        gg_vec4 shift, other_shift;
    };
    const gg_view *v;
    float *bodies;
    gg_vec4 *shifts;
    const float *impulse, *torque, *push;

    __device__ __forceinline__ void load(contact *c) const {
        uint32_t at3 = gg_gpu_contact3(c->at);
        c->normal = gg_scalar_load3(v->normal + at3);
        c->impulse = gg_scalar_load3(impulse + at3);
        c->push = gg_scalar_load3(push + at3);
        if (v->params.rolling) {
            c->torque = gg_scalar_load3(torque + at3);
        }
    }
    __device__ __forceinline__ void load_bodies(contact *c) const {
        if (!c->live) {
            return;
        }
        gg_body_load(bodies + (uint32_t)c->of.own * GG_BODY, c->own);
        gg_body_load(bodies + (uint32_t)c->of.other * GG_BODY, c->other);
        c->shift = shifts[c->of.own];
        if (!gg_is_tool(v, c->of.other)) {
            c->other_shift = shifts[c->of.other];
        }
    }
    /* as gg_scalar_prepare_records does; tools stay */
    __device__ __forceinline__ void solve(const contact &of) const {
        if (!of.live) {
            return;
        }
        contact c = of;
        gg_scalar_vec twist = gg_scalar_cross(c.normal, c.impulse);
        float mass = c.own[GG_BODY_INVERSE_MASS], other_mass = 0.0f - c.other[GG_BODY_INVERSE_MASS];
        gg_scalar_push(c.own, c.impulse, twist, 1.0f, v->params.spin);
        gg_scalar_push(c.other, c.impulse, twist, -1.0f, v->params.spin);
        if (v->params.rolling) {
            gg_scalar_turn(c.own, c.torque, 1.0f);
            gg_scalar_turn(c.other, c.torque, -1.0f);
        }
        gg_body_store(bodies + (uint32_t)c.of.own * GG_BODY, c.own);
        gg_body_store(bodies + (uint32_t)c.of.other * GG_BODY, c.other);
        gg_vec4 moved = {c.shift.x + mass * c.push.x, c.shift.y + mass * c.push.y, c.shift.z + mass * c.push.z,
                         c.shift.w};
        GG_STORE_VEC4(&shifts[c.of.own], moved);
        if (!gg_is_tool(v, c.of.other)) {
            gg_vec4 other = {c.other_shift.x + other_mass * c.push.x, c.other_shift.y + other_mass * c.push.y,
                             c.other_shift.z + other_mass * c.push.z, c.other_shift.w};
            GG_STORE_VEC4(&shifts[c.of.other], other);
        }
    }
};

/* Prepares the contacts of all colours but the last, and returns 1; or 0, and has done nothing, where there is a last one,
 * whose contacts ask for their last impulses later. */
__device__ __forceinline__ int gg_gpu_prepare(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    gg_gpu_open_rows(team, v, e);
    if (gg_step_condition(&v->env[e], GG_HAS_REST)) {
        return 0;
    }
    float *impulse = gg_scalar_start_impulses(v, e), *torque = gg_scalar_start_torques(v, e);
    gg_each_coloured(team, v, e, [&](const gg_scalar_records &at) {
        gg_scalar_store3(impulse + at.contact3, gg_scalar_last_impulse(v, e, &at));
        if (v->params.rolling) {
            gg_scalar_store3(torque + at.roll3, gg_scalar_last_torque(v, e, &at));
        }
    });
    gg_gpu_wait(team);
    float *push = gg_gpu_pushes(v, e);
    gg_each_coloured(team, v, e, [&](const gg_scalar_records &at) {
        gg_scalar_vec last = gg_scalar_zero();
        if (v->params.rolling) {
            last = gg_scalar_load3(torque + at.roll3);
        }
        gg_scalar_start start = gg_scalar_prepare_contacts(v, e, &at, gg_scalar_load3(impulse + at.contact3), last);
        gg_scalar_store3(push + at.contact3, start.push);
    });
    gg_gpu_wait(team);
    gg_gpu_starter starter = {
        v, v->body_a + e * v->dims.bodies * GG_BODY, v->shift + e * v->dims.slots, impulse, torque, push};
    gg_gpu_each_colour(team, v, e, starter);
    return 1;
}

/* ---- sweeps ----
 *
 * Where the bodies of an env fit into the shared memory of its block, its sweeps work on them there: advance_bodies brings
 * them, note_change, which follows the last sweep, takes them back. */

/* the bodies that the sweeps of an env work on, in shared memory; NULL: those in memory. Contacts of the last colour are
 * solved by the shared body, which knows only these. */
__device__ __forceinline__ float *gg_gpu_near(const gg_gpu_team *team, const gg_view *v, int64_t e) {
    return team->near && !v->env[e].rest ? gg_near_memory() : NULL;
}

/* Extrapolates bodies by the momentum of a sweep. Four vectors are on their way at a time. */
__device__ __forceinline__ void gg_gpu_advance(float *now, float *before, int64_t count, int64_t rank, int64_t size,
                                               int32_t sweep, float beta) {
    for (int64_t first = 4 * rank; first < count; first += 16 * size) {
        gg_vec4 a[4] = GG_ZERO, b[4] = GG_ZERO;
        GG_UNROLL(4)
        for (int j = 0; j < 4; j++) {
            int64_t k = first + 4 * j * size;
            if (k < count) {
                a[j] = *(const gg_vec4 *)(now + k);
                if (sweep > 1) {
                    b[j] = *(const gg_vec4 *)(before + k);
                }
            }
        }
        GG_UNROLL(4)
        for (int j = 0; j < 4; j++) {
            int64_t k = first + 4 * j * size;
            if (k < count && sweep > 1) {
                gg_vec4 next = {
                    gg_scalar_extrapolated(a[j].x, b[j].x, beta), gg_scalar_extrapolated(a[j].y, b[j].y, beta),
                    gg_scalar_extrapolated(a[j].z, b[j].z, beta), gg_scalar_extrapolated(a[j].w, b[j].w, beta)};
                GG_STORE_VEC4((gg_vec4 *)(now + k), next);
            }
            if (k < count) {
                GG_STORE_VEC4((gg_vec4 *)(before + k), a[j]);
            }
        }
    }
}

__device__ __forceinline__ void gg_gpu_advance_bodies(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t sweep) {
    if (v->env[e].converged) {
        return;
    }
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY, *before = v->body_b + e * v->dims.bodies * GG_BODY;
    int64_t rank = gg_team_rank(team), size = gg_team_size(team), floats = gg_live_slots(v, e) * GG_BODY;
    if (gg_gpu_near(team, v, e)) {
        /* all bodies at first; later those of contacts with dynamic tools, whose velocities have changed */
        float *near = gg_near_memory();
        int64_t begin = sweep ? v->dims.free_bodies * GG_BODY : 0;
        int64_t end = (v->dims.free_bodies + gg_tool_loads(v, e)) * GG_BODY;
        for (int64_t k = begin + 4 * rank; k < (sweep && !v->params.dynamic ? 0 : end); k += 4 * size) {
            *(gg_vec4 *)(near + k) = *(const gg_vec4 *)(bodies + k);
        }
        if (sweep) {
            gg_gpu_advance(near, before, floats, rank, size, sweep, v->beta[sweep]);
        }
    } else if (sweep) {
        gg_gpu_advance(bodies, before, floats, rank, size, sweep, v->beta[sweep]);
    }
}

/* a vector of the last two iterates; it is advanced where it is used, so that nobody waits for it before */
struct gg_gpu_iterates {
    gg_scalar_vec now, before;
};
__device__ __forceinline__ gg_gpu_iterates gg_gpu_iterates_of(const float *now, const float *before, int32_t sweep) {
    gg_gpu_iterates of;
    of.now = gg_scalar_load3(now);
    of.before = gg_scalar_zero();
    if (sweep > 1) {
        of.before = gg_scalar_load3(before);
    }
    return of;
}

/* solves contacts in the build that the env's features ask for */
template <int spin, int rolling, int cohesive> struct gg_gpu_sweeper {
    struct contact {
        gg_gpu_pair of;
        uint32_t at;
        int32_t live;
        gg_scalar_vec normal;
        gg_gpu_iterates impulse, torque;
        float mass, bias, attraction, friction, roll_weight, roll_limit, twist_limit;
        float own[GG_BODY], other[GG_BODY];
    };
    gg_scalar_sweep s;

    __device__ __forceinline__ void load(contact *c) const {
        const gg_view *v = s.v;
        uint32_t at = c->at, at3 = gg_gpu_contact3(at);
        c->normal = gg_scalar_load3(v->normal + at3);
        c->mass = v->effective_mass[at];
        c->bias = v->bias[at];
        c->friction = v->friction[at];
        c->impulse = gg_gpu_iterates_of(s.impulse + at3, s.impulse_next + at3, s.sweep);
        c->attraction = cohesive ? v->attraction[at] : 0.0f;
        if (rolling) {
            c->torque = gg_gpu_iterates_of(s.roll + at3, s.roll_next + at3, s.sweep);
            c->roll_weight = v->roll_weight[at];
            c->roll_limit = v->roll_limit[at];
            c->twist_limit = cohesive ? v->twist_limit[at] : 0.0f;
        }
    }
    /* none of a contact that is not live: others write them meanwhile. It has no mass, so that its impulse stays 0 beside
     * any bodies */
    __device__ __forceinline__ void load_bodies(contact *c) const {
        if (c->live) {
            gg_body_load(s.bodies + (uint32_t)c->of.own * GG_BODY, c->own);
            gg_body_load(s.bodies + (uint32_t)c->of.other * GG_BODY, c->other);
        }
    }
    __device__ __forceinline__ void solve(const contact &of) const {
        gg_scalar_swept c;
        c.at.contact3 = c.at.roll3 = gg_gpu_contact3(of.at);
        c.normal = of.normal;
        c.mass = of.mass;
        c.bias = of.bias;
        c.attraction = of.attraction;
        c.friction = of.friction;
        c.start = gg_scalar_advanced(of.impulse.now, of.impulse.before, s.sweep, s.beta);
        for (int k = 0; k < GG_BODY; k++) {
            c.own[k] = of.own[k];
            c.other[k] = of.other[k];
        }
        gg_scalar_sweep_press(&c, spin, cohesive);
        gg_scalar_sweep_rub(&s, &c, spin);
        if (rolling) {
            c.torque = gg_scalar_advanced(of.torque.now, of.torque.before, s.sweep, s.beta);
            c.roll_weight = of.roll_weight;
            c.roll_limit = of.roll_limit;
            c.twist_limit = of.twist_limit;
            gg_scalar_sweep_roll(&s, &c, cohesive);
        }
        if (of.live) {
            gg_body_store(s.bodies + (uint32_t)of.of.own * GG_BODY, c.own);
            gg_body_store(s.bodies + (uint32_t)of.of.other * GG_BODY, c.other);
        }
    }

    static __device__ __forceinline__ void sweep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t number) {
        gg_gpu_sweeper job = {gg_scalar_sweep_of(v, e, number)};
        if (gg_gpu_near(team, v, e)) {
            job.s.bodies = gg_near_memory();
            gg_gpu_each_colour(team, v, e, job);
        } else {
            gg_gpu_each_colour(team, v, e, job);
        }
    }
};

/* one sweep over all colours but the last */
__device__ __forceinline__ void gg_gpu_sweep(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t number) {
    if (v->env[e].converged) {
        return;
    }
    const gg_params *p = &v->params;
    if (p->cohesive) {
        p->rolling ? gg_gpu_sweeper<1, 1, 1>::sweep(team, v, e, number)
        : p->spin  ? gg_gpu_sweeper<1, 0, 1>::sweep(team, v, e, number)
                   : gg_gpu_sweeper<0, 0, 1>::sweep(team, v, e, number);
    } else if (p->rolling) {
        gg_gpu_sweeper<1, 1, 0>::sweep(team, v, e, number);
    } else {
        p->spin ? gg_gpu_sweeper<1, 0, 0>::sweep(team, v, e, number)
                : gg_gpu_sweeper<0, 0, 0>::sweep(team, v, e, number);
    }
}

__device__ __forceinline__ void gg_gpu_sweep_colour(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                    int32_t pass) {
    if (v->env[e].converged) {
        return;
    }
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, pass / GG_COLOURS);
    gg_each_record(team, v, e, pass % GG_COLOURS,
                   [&](const gg_scalar_records &at) { gg_scalar_sweep_features(&s, &at, NULL); });
}

__device__ __forceinline__ void gg_gpu_prepare_clumps(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t colour) {
    if (gg_lone_colour(v, colour)) {
        gg_gpu_prepare_colour(team, v, e, colour);
        return;
    }
    gg_each_record(team, v, e, colour,
                   [&](const gg_scalar_records &at) { gg_scalar_prepare_clump_records(v, e, &at); });
}

__device__ __forceinline__ void gg_gpu_sweep_clumps(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                    int32_t pass) {
    if (gg_lone_colour(v, pass % GG_COLOURS)) {
        gg_gpu_sweep_colour(team, v, e, pass);
        return;
    }
    if (v->env[e].converged) {
        return;
    }
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, pass / GG_COLOURS);
    gg_each_record(team, v, e, pass % GG_COLOURS,
                   [&](const gg_scalar_records &at) { gg_scalar_sweep_clump_features(&s, e, &at); });
}

__device__ __forceinline__ void gg_gpu_note_change(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    const float *near = gg_gpu_near(team, v, e), *before = v->body_b + e * v->dims.bodies * GG_BODY;
    gg_each_slot(team, [&](int64_t slot) {
        float own = 0.0f, body[GG_BODY], old[GG_BODY];
        if (near) {
            gg_body_load(gg_near_memory() + slot * GG_BODY, body);
            gg_body_store(bodies + slot * GG_BODY, body);
        } else {
            gg_body_load(bodies + slot * GG_BODY, body);
        }
        gg_body_load(before + slot * GG_BODY, old);
        for (int k = 0; k < GG_BODY; k++) {
            own = gg_maxf(own, gg_scalar_change(body + k, old + k));
        }
        gg_slice_note(team->memory->change, own, slot, [&](int64_t slice, const float *each) {
            float most = 0.0f;
            for (int k = 0; k < GG_LANES; k++) {
                most = gg_maxf(most, each[k]);
            }
            v->slice_stats[e * v->dims.slices + slice].residual = most;
        });
    });
}

__device__ __forceinline__ void gg_gpu_note_overlaps(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_overlaps own;
        gg_scalar_overlaps_of(v, e, slot / GG_LANES, (int)(slot % GG_LANES), &own);
        gg_slice_note(team->memory->overlaps, own, slot,
                      [&](int64_t slice, const gg_overlaps *each) { gg_contacts_prepared(v, e, slice, each); });
    });
}

__device__ __forceinline__ void gg_gpu_coloured_load_tools(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                           int32_t) {
    gg_each_slot(team, [&](int64_t slot) { gg_coloured_close_tools(v, e, slot); });
}

__device__ __forceinline__ void gg_gpu_coloured_integrate(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                          int32_t) {
    gg_each_slot(team, [&](int64_t slot) {
        gg_motion own = GG_ZERO;
        gg_scalar_keep_lists(v, e, slot);
        if (slot < v->dims.grain_count) {
            gg_scalar_coloured_integrate_lanes(v, e, slot, &own);
        }
        gg_slice_note(team->memory->motion, own, slot,
                      [&](int64_t slice, const gg_motion *each) { gg_motion_integrated(v, e, slice, each); });
    });
}

#endif
