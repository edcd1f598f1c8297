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
        v->colour_tally[e].used = 0;
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

__device__ __forceinline__ void gg_gpu_colour_contacts(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    int64_t slots = e * v->dims.slots;
    gg_colouring *all = &v->colouring[e];
    const int32_t *link = gg_coloured_links(v, e, 0);
    gg_gpu_colours_add(team, v, e, gg_gpu_colours_keep(team, v, e));
    uint64_t *owned = v->uncoloured_first + slots, own = 0;
    int32_t rest = 0;
    for (int64_t i = gg_team_rank(team); i < gg_live_slots(v, e); i += gg_team_size(team)) {
        uint64_t bits = 0;
        gg_each_owned(v, slots + i, [&](int32_t c) {
            bits |= (uint64_t)1 << gg_link_colour(link[c]);
            rest += gg_link_colour(link[c]) == GG_COLOURS - 1;
        });
        owned[i] = bits;
        own |= bits;
    }
    gg_gpu_or(&v->colour_tally[e].used, own);
    if (gg_team_rank(team) == 0) {
        all->contacts[GG_COLOURS - 1] = 0;
    }
    gg_gpu_wait(team);
    if (rest) {
        atomicAdd(&all->contacts[GG_COLOURS - 1], rest);
    }
    uint64_t used = v->colour_tally[e].used & ~((uint64_t)1 << (GG_COLOURS - 1));
    int32_t row = 0, colours = 0;
    for (int32_t k = 0; k < GG_COLOURS - 1; k++) {
        int32_t first = row * GG_LANES, count = 0;
        if (used >> k & 1) {
            colours = k + 1;
            count = gg_team_scan(
                team, colours & 1, gg_live_slots(v, e), [&](int64_t i) { return (int32_t)(owned[i] >> k & 1); },
                [&](int64_t i, int32_t sum) {
                    if (owned[i] >> k & 1) {
                        gg_each_owned(v, slots + i, [&](int32_t c) {
                            if (gg_link_colour(link[c]) == k) {
                                gg_coloured_place(v, e, (int32_t)i, c, first + sum);
                            }
                        });
                    }
                });
        }
        if (gg_team_rank(team) == 0) {
            all->first_row[k] = row;
            all->contacts[k] = count;
        }
        row += (count + GG_LANES - 1) / GG_LANES;
    }
    gg_gpu_wait(team);
    if (gg_team_rank(team) == 0) {
        gg_colours_close(v, e, row, colours);
    }
}

/* calls body(record) for the team's share of the contacts of a colour, in whole rows */
template <class Body>
__device__ __forceinline__ void gg_each_record(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t colour,
                                               Body body) {
    const gg_colouring *all = &v->colouring[e];
    int64_t first = (int64_t)all->first_row[colour] * GG_LANES, end = (int64_t)all->first_row[colour + 1] * GG_LANES;
    for (int64_t k = first + gg_team_rank(team); k < end; k += gg_team_size(team)) {
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

__device__ __forceinline__ void gg_gpu_advance_bodies(const gg_gpu_team *team, const gg_view *v, int64_t e,
                                                      int32_t sweep) {
    if (sweep == 0 || v->env[e].converged) {
        return;
    }
    for (int64_t k = gg_team_rank(team); k < gg_live_slots(v, e) * GG_BODY; k += gg_team_size(team)) {
        gg_scalar_advance(v, e, k, sweep);
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
    gg_each_slot(team, [&](int64_t slot) {
        float own = 0.0f;
        for (int64_t k = slot * GG_BODY; k < (slot + 1) * GG_BODY; k++) {
            own = gg_maxf(own, gg_scalar_change(v, e, k));
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
