/* contacts.h: lists the contacts of a substep by the grain that owns them, and links them to their stored records. */
#ifndef GG_COLOURED_CONTACTS_H
#define GG_COLOURED_CONTACTS_H

#include "asleep.h"

/* where the contacts of a grain are listed, and a cursor over its stored list */
typedef struct gg_coloured_writer {
    int32_t *key, *link, *body, *owner;
    int32_t slot;
    const int32_t *stored_key, *stored_link;
    int32_t at, stored, stored_end;
    int32_t woke; /* the grain may have kept contacts that are no longer asleep */
} gg_coloured_writer;

/* lists one contact; a stored one keeps its colour */
GG_FN void gg_coloured_list(const gg_view *v, int64_t e, int64_t i, gg_coloured_writer *w, int32_t key,
                            int64_t other_body) {
    while (w->stored < w->stored_end && gg_key_before(w->stored_key[w->stored], key)) {
        w->stored++;
    }
    int known = w->stored < w->stored_end && w->stored_key[w->stored] == key;
    w->key[w->at] = key;
    w->link[w->at] = known     ? w->stored_link[w->stored]
                     : w->woke ? gg_kept_link(v, e, v->grain_id[e * v->dims.slots + i], key)
                               : gg_link(GG_NO_RECORD, 0);
    w->body[w->at] = (int32_t)other_body;
    w->owner[w->at] = w->slot;
    w->at++;
}

/* contacts of slot i with grains, in order of their ids */
GG_FN void gg_coloured_list_grains(const gg_view *v, int64_t e, int32_t i, gg_coloured_writer *w) {
    int64_t base = e * v->dims.slots;
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
    uint64_t bits = v->active[base + i];
    for (; bits; bits &= bits - 1) {
        int32_t j = list[gg_bit_lowest(bits)];
        gg_coloured_list(v, e, i, w, v->grain_id[base + j], j);
    }
    for (int32_t k = 64; k < v->candidate_count[base + i]; k++) {
        if (gg_pair_active(v, e, i, list[k])) {
            gg_coloured_list(v, e, i, w, v->grain_id[base + list[k]], list[k]);
        }
    }
}

/* Contacts of slot i with parts of tools. Each has a body of its own, with the velocity of the tool's surface there and
 * inverse mass 0, or along the normal that of a dynamic tool: the solve treats grains and tools alike. On the surface of
 * a clump it stands for the clump's (gg_contact_lead). */
GG_FN void gg_coloured_list_parts(const gg_view *v, int64_t e, int32_t i, int64_t tool_body, gg_coloured_writer *w) {
    int64_t base = e * v->dims.slots;
    gg_vec4 x = v->position[base + i];
    uint64_t near = v->slice_parts[e * v->dims.slices + i / GG_LANES];
    int64_t part = gg_next_part(v, near, 0);
    for (; part < v->dims.part_count; part = gg_next_part(v, near, part + 1)) {
        gg_touch touch = gg_touch_part(v, e, i, part);
        if (!touch.active) {
            continue;
        }
        gg_vec3 normal = gg_part_normal(v, e, i, part);
        gg_vec3 at = gg_madd(gg_v3(x.x, x.y, x.z), normal, -(x.w + touch.gap));
        gg_vec3 velocity = gg_part_velocity(v, e, part, at);
        float body[GG_BODY] = {velocity.x, velocity.y, velocity.z, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        int64_t c = tool_body - v->dims.free_bodies;
        if (v->dims.clumps.surfaces) {
            v->tool_load[e * v->dims.tool_contacts + c].tool = v->parts[part].tool;
        }
        if (v->params.dynamic) {
            body[GG_BODY_INVERSE_MASS] = gg_tool_contact_listed(v, e, c, v->parts[part].tool, at, normal);
        }
        for (int half = 0; half < 2; half++) {
            gg_body_store((half ? v->body_b : v->body_a) + (e * v->dims.bodies + tool_body) * GG_BODY, body);
        }
        gg_vec4 geometry = {normal.x, normal.y, normal.z, touch.gap};
        v->touch[e * v->dims.coloured.touches + c] = geometry;
        gg_coloured_list(v, e, i, w, (int32_t)(-1 - part), tool_body);
        tool_body++;
    }
}

/* lists the contacts that the grain in a lane of a slice owns; first, tool_body: where its list and its contacts on
 * tools begin */
GG_FN void gg_coloured_list_lane(const gg_view *v, int64_t e, int64_t slice, int lane, int32_t first,
                                 int32_t tool_body) {
    int32_t i = (int32_t)(slice * GG_LANES + lane);
    int64_t at = e * v->dims.slots + i;
    gg_coloured_writer w;
    w.key = gg_coloured_keys(v, e, 0);
    w.link = gg_coloured_links(v, e, 0);
    w.body = v->list_body + e * v->dims.coloured.rows * GG_LANES;
    w.owner = v->list_owner + e * v->dims.coloured.rows * GG_LANES;
    w.slot = i;
    w.stored_key = gg_coloured_keys(v, e, 1);
    w.stored_link = gg_coloured_links(v, e, 1);
    w.at = first;
    w.stored = v->contact_first[at];
    w.stored_end = w.stored + (v->env[e].dt_last > 0.0f ? v->contact_count[at] : 0);
    w.woke = v->env[e].reclassed && v->env[e].dt_last > 0.0f;
    if (v->next_count[at] > 0) {
        gg_coloured_list_grains(v, e, i, &w);
        if (v->next_tool_count[at] > 0) {
            gg_coloured_list_parts(v, e, i, tool_body, &w);
        }
    }
    v->next_first[at] = first;
}

/* item: slice of an env */
GG_FN void gg_coloured_list_slice(const gg_view *v, int64_t e, int64_t slice) {
    int32_t first = v->slice_first_row[e * v->dims.slices + slice];
    int32_t tool_body = v->slice_first_tool_body[e * v->dims.slices + slice];
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t at = e * v->dims.slots + slice * GG_LANES + lane;
        gg_coloured_list_lane(v, e, slice, lane, first, tool_body);
        first += v->next_count[at];
        tool_body += v->next_tool_count[at];
    }
}

#endif
