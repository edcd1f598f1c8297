/* contacts.h: contact lists, for every law: allocation of contact rows, and lookup of stored impulses.
 *
 * A law counts the contacts of each grain, then lists them. Between the two one prefix sum gives every slice its rows,
 * so that lists are contiguous. A grain's list is in order of keys, contacts with tools last; as the order never
 * changes, stored impulses are found by merging the old and the new list.
 */
#ifndef GG_CONTACTS_H
#define GG_CONTACTS_H

#include "../state/view.h"

GG_FN void gg_store_lane3(float *array, int64_t at, gg_vec3 a) {
    array[at] = a.x;
    array[at + GG_LANES] = a.y;
    array[at + 2 * GG_LANES] = a.z;
}

GG_FN gg_vec3 gg_load_lane3(const float *array, int64_t at) {
    return gg_v3(array[at], array[at + GG_LANES], array[at + 2 * GG_LANES]);
}

/* rows that the records of so many contacts take: those of no colour but the last are full */
GG_FN int64_t gg_contact_rows_of(const gg_view *v, int64_t contacts) {
    return (contacts + GG_LANES - 1) / GG_LANES + gg_colour_limit(&v->params) + 1;
}

/* Stores the rows of a slice whose contacts were counted, its longest list, and the number of its tool contacts. Lists
 * of contacts that only their owner has are compact instead: their number takes the place of that of rows. */
GG_FN void gg_contacts_counted(const gg_view *v, int64_t e, int64_t slice) {
    int64_t first = e * v->dims.slots + slice * GG_LANES;
    int32_t longest = 0, all = 0, tool_contacts = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        longest = GG_MAX(longest, v->next_count[first + lane]);
        all += v->next_count[first + lane];
        tool_contacts += v->next_tool_count[first + lane];
    }
    v->slice_rows[e * v->dims.slices + slice] = gg_has_owners(&v->params) ? all : longest;
    v->slice_tool_contacts[e * v->dims.slices + slice] = tool_contacts;
}

/* records the required capacity where contacts do not fit; `row` and `tool_body`: one past those of the last slice */
GG_FN void gg_contacts_allocated(const gg_view *v, int64_t e, int64_t row, int64_t tool_body) {
    gg_env *env = &v->env[e];
    row = gg_has_owners(&v->params) ? gg_contact_rows_of(v, row) : row;
    env->overflow_rows = row > v->dims.contact_rows ? (int32_t)row : 0;
    env->overflow_tool_contacts = tool_body > v->dims.bodies ? (int32_t)(tool_body - v->dims.free_bodies) : 0;
}

/* allocates the contact rows of every slice. item: env */
GG_FN void gg_contacts_allocate_env(const gg_view *v, int64_t e) {
    int64_t row = 0, tool_body = v->dims.free_bodies, base = e * v->dims.slices;
    for (int64_t s = 0; s < v->env[e].live_slices; s++) {
        v->slice_first_row[base + s] = (int32_t)row;
        v->slice_first_tool_body[base + s] = (int32_t)tool_body;
        row += v->slice_rows[base + s];
        tool_body += v->slice_tool_contacts[base + s];
    }
    gg_contacts_allocated(v, e, row, tool_body);
}

/* overlaps of one grain: the deepest and the sum, over the smaller diameter, and their number */
typedef struct gg_overlaps {
    float most, sum, count;
} gg_overlaps;

/* records the overlaps of the grains of a slice, in order of lanes */
GG_FN void gg_contacts_prepared(const gg_view *v, int64_t e, int64_t slice, const gg_overlaps each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    gg_overlaps all = GG_ZERO;
    for (int lane = 0; lane < GG_LANES; lane++) {
        all.most = gg_maxf(all.most, each[lane].most);
        all.sum += each[lane].sum;
        all.count += each[lane].count;
    }
    stats->overlap_max = all.most;
    stats->overlap_sum = all.sum;
    stats->overlap_count = (int32_t)all.count;
}

/* Of laws of forces, which need no solve and store nothing of a contact. Records the overlaps of the grains of a slice;
 * overlap: by slot the deepest, their sum and their number. item: slice of an env */
GG_FN void gg_forces_note_slice(const gg_view *v, int64_t e, int64_t slice, const gg_vec4 *overlap) {
    gg_overlaps each[GG_LANES] = GG_ZERO;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t at = e * v->dims.slots + slice * GG_LANES + lane;
        if (v->grain_id[at] >= 0) {
            each[lane].most = overlap[at].x;
            each[lane].sum = overlap[at].y;
            each[lane].count = overlap[at].z;
        }
    }
    gg_contacts_prepared(v, e, slice, each);
    v->slice_stats[e * v->dims.slices + slice].residual = 0.0f;
}

/* The lists of the last substep are empty. item: slot of an env */
GG_FN void gg_forces_forget_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    v->contact_first[at] = v->contact_count[at] = v->tool_contact_count[at] = 0;
}

/* impulses and torque impulses stored of env e */
GG_FN float *gg_stored_impulses(const gg_view *v, int64_t e) {
    return (v->env[e].impulse_buffer ? v->impulse_b : v->impulse_a) + e * v->dims.contact_rows * GG_LANES * 3;
}
GG_FN float *gg_stored_torques(const gg_view *v, int64_t e) {
    return (v->env[e].impulse_buffer ? v->roll_b : v->roll_a) + e * v->dims.spheres.roll_rows * GG_LANES * 3;
}

/* A stored contact: its key, and where its impulse is in the arrays of the env; y and z follow GG_LANES and 2 GG_LANES
 * later. */
typedef struct gg_stored_contact {
    int32_t key;
    int64_t impulse3;
} gg_stored_contact;

/* contact k of those stored for the slot with the index `at` in the arrays over the slots of all envs */
GG_FN gg_stored_contact gg_stored_contact_at(const gg_view *v, int64_t e, int64_t at, int32_t k) {
    const int32_t *keys = (v->env[e].key_buffer ? v->key_b : v->key_a) + e * v->dims.contact_rows * GG_LANES;
    int64_t element = v->contact_first[at] + (gg_has_owners(&v->params) ? k : k * (int64_t)GG_LANES);
    gg_stored_contact c;
    c.key = keys[element];
    if (gg_has_owners(&v->params)) {
        const int32_t *links = (v->env[e].key_buffer ? v->link_b : v->link_a) + e * v->dims.coloured.rows * GG_LANES;
        element = links[element] / GG_COLOURS;
    }
    c.impulse3 = element / GG_LANES * GG_LANES * 3 + element % GG_LANES;
    return c;
}

/* a cursor over the stored contacts of one grain, which advances along with its new list */
typedef struct gg_stored_contacts {
    const int32_t *key;
    const float *impulse, *roll;
    int64_t at, at3, at_roll3;
    int32_t left;
} gg_stored_contacts;

/* order of keys in a list: grain ids rising, then parts rising (keys -1, -2, ...) */
GG_FN int gg_key_before(int32_t a, int32_t b) { return a >= 0 ? b < 0 || a < b : b < 0 && a > b; }

/* advances to `key`; true where it is stored */
GG_FN int gg_stored_contacts_seek(gg_stored_contacts *m, int32_t key) {
    while (m->left > 0 && gg_key_before(m->key[m->at], key)) {
        m->at += GG_LANES;
        m->at3 += 3 * GG_LANES;
        m->at_roll3 += 3 * GG_LANES;
        m->left--;
    }
    return m->left > 0 && m->key[m->at] == key;
}

/* the stored contacts of slot i */
GG_FN gg_stored_contacts gg_stored_contacts_of(const gg_view *v, int64_t e, int32_t i) {
    const gg_env *env = &v->env[e];
    int64_t base = e * v->dims.slots, first = v->contact_first[base + i];
    int64_t lane = first % GG_LANES, row = first / GG_LANES;
    gg_stored_contacts m;
    m.key = env->key_buffer ? v->key_b : v->key_a;
    m.impulse = env->impulse_buffer ? v->impulse_b : v->impulse_a;
    m.roll = env->impulse_buffer ? v->roll_b : v->roll_a;
    m.at = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    m.at3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    m.at_roll3 = (e * v->dims.spheres.roll_rows + row) * GG_LANES * 3 + lane;
    m.left = env->dt_last > 0.0f && v->params.mode != GG_MODE_PAPER ? v->contact_count[base + i] : 0;
    return m;
}

#endif
