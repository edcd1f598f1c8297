/* colours.h: colours the contacts of an env and lays out their records by colour.
 *
 * A contact keeps its colour for as long as it lasts. New contacts take, one after another in a fixed random order, the
 * lowest colour that is free at both grains. A contact can be coloured as soon as it is the first of the uncoloured
 * ones at both of its grains (Jones and Plassmann, A parallel graph coloring heuristic, SIAM J. Sci. Comput. 14, 1993),
 * so any number of threads come to the same colours, in a few rounds. The order depends on grain ids alone.
 *
 * Contacts for which no colour is left, at grains that touch dozens of others, share the last colour, GG_COLOURS - 1,
 * whose contacts are solved one after another, in order of grain ids.
 */
#ifndef GG_COLOURED_COLOURS_H
#define GG_COLOURED_COLOURS_H

#include "coloured.h"

/* place of a contact in the order of colouring: its two ids, mixed one to one (after the finalizer of SplitMix64) */
GG_FN uint64_t gg_colour_order(int32_t id, int32_t key) {
    uint64_t x = (uint64_t)(uint32_t)id << 32 | (uint32_t)key;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* the lowest colour that neither grain uses; lone: gg_lone_contact */
GG_FN int32_t gg_colour_free(const gg_view *v, uint64_t used, int lone) {
    uint64_t open = ~used & (((uint64_t)1 << gg_colour_limit(&v->params)) - 1), even = 0x5555555555555555u;
    if (v->dims.clumps.lone) {
        open &= lone ? even : ~even;
    }
    return open ? gg_bit_lowest(open) : GG_COLOURS - 1;
}

/* an uncoloured contact: its place in the list, the slot of its owner, the bodies of its grains (other -1: a tool), its
 * place in the order */
typedef struct gg_uncoloured {
    int32_t listed, slot, own, other;
    uint64_t order;
} gg_uncoloured;

GG_FN gg_uncoloured gg_uncoloured_of(const gg_view *v, int64_t e, int64_t k) {
    int64_t base = e * v->dims.coloured.rows * GG_LANES;
    gg_uncoloured c;
    c.listed = v->uncoloured[base + k];
    c.slot = v->uncoloured_slot[base + k];
    int32_t body = v->list_body[base + c.listed];
    c.order = gg_colour_order(v->grain_id[e * v->dims.slots + c.slot], gg_coloured_keys(v, e, 0)[c.listed]);
    c.own = gg_clump_lead(v, e, c.slot);
    c.other = gg_contact_lead(v, e, body);
    return c;
}

/* contacts that the grains of an env list */
GG_FN int32_t gg_coloured_listed(const gg_view *v, int64_t e) {
    int64_t live = gg_live_slots(v, e), last = e * v->dims.slots + live - 1;
    return live ? v->next_first[last] + v->next_count[last] : 0;
}

/* notes and counts the colours of stored contacts, and collects the others; returns their number */
GG_FN int32_t gg_colours_keep(const gg_view *v, int64_t e) {
    int64_t slots = e * v->dims.slots, base = e * v->dims.coloured.rows * GG_LANES;
    const int32_t *link = gg_coloured_links(v, e, 0), *owner = v->list_owner + base, *other = v->list_body + base;
    uint64_t *used = v->colours + slots;
    int32_t *contacts = v->colouring[e].contacts, listed = gg_coloured_listed(v, e), count = 0;
    for (int k = 0; k < GG_COLOURS; k++) {
        contacts[k] = 0;
    }
    for (int32_t c = 0; c < listed; c++) {
        if (!gg_link_lasts(v, link[c])) {
            v->uncoloured[base + count] = c;
            v->uncoloured_slot[base + count++] = owner[c];
            continue;
        }
        uint64_t bit = (uint64_t)1 << gg_link_colour(link[c]);
        int32_t own = gg_clump_lead(v, e, owner[c]), against = gg_contact_lead(v, e, other[c]);
        used[own] |= bit;
        used[against < 0 ? own : against] |= bit;
        contacts[gg_link_colour(link[c])]++;
    }
    return count;
}

/* colours a contact that is the first at both of its grains */
GG_FN void gg_colour_choose(const gg_view *v, int64_t e, gg_uncoloured c) {
    uint64_t *used = v->colours + e * v->dims.slots;
    int lone = gg_lone_contact(v, e, c.slot, v->list_body[e * v->dims.coloured.rows * GG_LANES + c.listed]);
    int32_t colour = gg_colour_free(v, used[c.own] | (c.other < 0 ? 0 : used[c.other]), lone);
    used[c.own] |= (uint64_t)1 << colour;
    if (c.other >= 0) {
        used[c.other] |= (uint64_t)1 << colour;
    }
    int32_t *link = &gg_coloured_links(v, e, 0)[c.listed];
    *link = gg_link(gg_link_record(*link), colour);
}

/* by slot the order of the first uncoloured contact of a grain. A GPU, which prepares the next round in this one, has
 * two in turn; a CPU has number 0. */
GG_FN uint64_t *gg_uncoloured_firsts(const gg_view *v, int64_t e, int turn) {
    return v->uncoloured_first + e * v->dims.coloured.firsts + turn * v->dims.slots;
}

/* colours the collected contacts, round by round */
GG_FN void gg_colours_add(const gg_view *v, int64_t e, int32_t count) {
    int64_t base = e * v->dims.coloured.rows * GG_LANES;
    uint64_t *first = gg_uncoloured_firsts(v, e, 0);
    while (count > 0) {
        for (int32_t k = 0; k < count; k++) {
            gg_uncoloured c = gg_uncoloured_of(v, e, k);
            first[c.own] = UINT64_MAX;
            if (c.other >= 0) {
                first[c.other] = UINT64_MAX;
            }
        }
        for (int32_t k = 0; k < count; k++) {
            gg_uncoloured c = gg_uncoloured_of(v, e, k);
            first[c.own] = GG_MIN(first[c.own], c.order);
            if (c.other >= 0) {
                first[c.other] = GG_MIN(first[c.other], c.order);
            }
        }
        int32_t left = 0;
        for (int32_t k = 0; k < count; k++) {
            gg_uncoloured c = gg_uncoloured_of(v, e, k);
            if (first[c.own] == c.order && (c.other < 0 || first[c.other] == c.order)) {
                gg_colour_choose(v, e, c);
                v->colouring[e].contacts[gg_link_colour(gg_coloured_links(v, e, 0)[c.listed])]++;
            } else {
                v->uncoloured[base + left] = c.listed;
                v->uncoloured_slot[base + left++] = c.slot;
            }
        }
        count = left;
    }
}

/* lays out a listed contact of slot i as the given record */
GG_FN void gg_coloured_place(const gg_view *v, int64_t e, int32_t i, int32_t listed, int32_t record) {
    int64_t slots = e * v->dims.slots, base = e * v->dims.coloured.rows * GG_LANES, at = base + record;
    int32_t body = v->list_body[base + listed], key = gg_coloured_keys(v, e, 0)[listed];
    int32_t *link = gg_coloured_links(v, e, 0) + listed, from = gg_link_record(*link);
    int32_t material = key < 0 ? v->parts[-1 - key].material : v->material[slots + body];
    v->first_body[at] = i;
    v->other_body[at] = body;
    v->contact_pair[at] = v->material[slots + i] * (int32_t)v->dims.material_count + material;
    v->contact_from[at] = from == GG_NO_RECORD ? -1 : from;
    *link = gg_link(record, gg_link_colour(*link));
}

/* Fills the last row of a colour with its last record again, so that whole rows can be read: one that no other thread
 * solves. Nothing of these lanes is stored in a body. */
GG_FN void gg_colour_pad(const gg_view *v, int64_t e, int32_t last_record) {
    int64_t last = e * v->dims.coloured.rows * GG_LANES + last_record;
    for (int64_t at = last + 1; at % GG_LANES; at++) {
        v->first_body[at] = v->first_body[last];
        v->other_body[at] = v->other_body[last];
        v->contact_pair[at] = v->contact_pair[last];
        v->contact_from[at] = v->contact_from[last];
        v->overlap[at] = 0.0f;
    }
}

/* Notes where the layout ends, after `row` rows of `colours` colours; contacts of the last colour are counted. */
GG_FN void gg_colours_bound(const gg_view *v, int64_t e, int32_t row, int32_t colours) {
    gg_colouring *all = &v->colouring[e];
    int32_t rest = all->contacts[GG_COLOURS - 1];
    all->first_row[GG_COLOURS - 1] = row;
    all->first_row[GG_COLOURS] = row + (rest + GG_LANES - 1) / GG_LANES;
    v->env[e].colours = colours;
    v->env[e].rest = rest;
}

/* pads a colour that has contacts */
GG_FN void gg_colour_close(const gg_view *v, int64_t e, int32_t colour) {
    const gg_colouring *all = &v->colouring[e];
    if (all->contacts[colour]) {
        gg_colour_pad(v, e, all->first_row[colour] * GG_LANES + all->contacts[colour] - 1);
    }
}

/* lays out the contacts of the last colour, in order of ids, as they are solved one after another */
GG_FN void gg_colours_place_rest(const gg_view *v, int64_t e) {
    int64_t slots = e * v->dims.slots;
    const int32_t *link = gg_coloured_links(v, e, 0);
    int32_t record = v->colouring[e].first_row[GG_COLOURS - 1] * GG_LANES;
    for (int64_t id = 0; v->env[e].rest && id < v->dims.grain_count; id++) {
        int32_t i = v->slot_of[slots + id], deep = i >= gg_live_slots(v, e);
        int32_t end = deep ? 0 : v->next_first[slots + i] + v->next_count[slots + i];
        for (int32_t c = deep ? 0 : v->next_first[slots + i]; c < end; c++) {
            if (gg_link_colour(link[c]) == GG_COLOURS - 1) {
                gg_coloured_place(v, e, i, c, record++);
            }
        }
    }
}

/* item: env */
GG_FN void gg_coloured_colour_env(const gg_view *v, int64_t e) {
    gg_colours_add(v, e, gg_colours_keep(v, e));
    const int32_t *link = gg_coloured_links(v, e, 0), *owner = v->list_owner + e * v->dims.coloured.rows * GG_LANES;
    int32_t listed = gg_coloured_listed(v, e), next[GG_COLOURS], row = 0, colours = 0;
    for (int k = 0; k < GG_COLOURS - 1; k++) {
        colours = v->colouring[e].contacts[k] ? k + 1 : colours;
        v->colouring[e].first_row[k] = row;
        next[k] = row * GG_LANES;
        row += (v->colouring[e].contacts[k] + GG_LANES - 1) / GG_LANES;
    }
    for (int32_t c = 0; c < listed; c++) {
        int32_t colour = gg_link_colour(link[c]);
        if (colour < GG_COLOURS - 1) {
            gg_coloured_place(v, e, owner[c], c, next[colour]++);
        }
    }
    gg_colours_bound(v, e, row, colours);
    gg_colours_place_rest(v, e);
    for (int k = 0; k < GG_COLOURS; k++) {
        gg_colour_close(v, e, k);
    }
}

#endif
