/* contacts.h: finds the contacts of one substep and lists them for prepare.h and iterate.h.
 *
 * Two passes over the candidates: count (count.h), then list. Between them one prefix sum gives every slice its rows,
 * so that lists are contiguous. A grain's list holds its grain contacts in order of id, then its tool contacts in order
 * of part; as the order never changes, stored impulses are found by merging the old and the new list.
 */
#ifndef GG_SPHERE_CONTACTS_H
#define GG_SPHERE_CONTACTS_H

#include "../../contact/narrow.h"
#include "../contacts.h"
#include "../dynamic_tools.h"
#include "ncp.h"

/* where the next contact of a grain is listed */
typedef struct gg_contact_writer {
    int64_t contact, contact3, roll, roll3, cohesive;
    int32_t *key;
    float *impulse, *torque;
    gg_stored_contacts memory;
} gg_contact_writer;

/* Lists one contact: its key, its stored impulses, and what prepare.h cannot derive. pair NULL: no contact. */
GG_FN void gg_sphere_list(const gg_view *v, gg_contact_writer *w, int32_t key, int64_t other_body, const gg_pair *pair,
                          gg_vec3 normal, float gap) {
    gg_vec3 impulse = gg_v3(0.0f, 0.0f, 0.0f), torque = impulse;
    if (pair) {
        w->key[w->contact] = key;
        if (gg_stored_contacts_seek(&w->memory, key)) {
            impulse = gg_load_lane3(w->memory.impulse, w->memory.at3);
            if (v->params.rolling) {
                torque = gg_load_lane3(w->memory.roll, w->memory.at_roll3);
            }
        }
    }
    v->other_body[w->contact] = (int32_t)other_body;
    v->friction[w->contact] = pair ? pair->friction : 0.0f;
    v->restitution[w->contact] = pair ? pair->restitution : -1.0f;
    v->gap[w->contact] = gap;
    gg_store_lane3(v->normal, w->contact3, normal);
    gg_store_lane3(w->impulse, w->contact3, impulse);
    w->contact += GG_LANES;
    w->contact3 += 3 * GG_LANES;
    if (v->params.rolling) {
        v->rolling_friction[w->roll] = pair ? pair->rolling_friction : 0.0f;
        gg_store_lane3(w->torque, w->roll3, torque);
        w->roll += GG_LANES;
        w->roll3 += 3 * GG_LANES;
    }
    if (v->params.cohesive) {
        v->cohesion[w->cohesive] = pair ? pair->cohesion : 0.0f;
        v->attraction_range[w->cohesive] = pair ? pair->cohesion_range : 0.0f;
        v->twisting_friction[w->cohesive] = pair ? pair->twisting_friction : 0.0f;
        w->cohesive += GG_LANES;
    }
}

/* Lists the contacts of a grain with grains. The first 64 candidates are compacted without branches: whether a
 * candidate touches is what a processor cannot predict. */
GG_FN void gg_sphere_list_grains(const gg_view *v, int64_t e, int32_t i, gg_contact_writer *w) {
    int64_t base = e * v->dims.slots;
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
    int32_t id = v->grain_id[base + i];
    uint64_t bits = v->active[base + i];
    int32_t near[64], count = 0;
    for (int32_t k = 0; bits; k++, bits >>= 1) {
        near[count] = list[k];
        count += (int32_t)(bits & 1);
    }
    for (int32_t k = 0; k < count; k++) {
        int32_t j = near[k], key = v->grain_id[base + j];
        gg_sphere_list(v, w, key, j, gg_pair_of(v, e, v->material[base + i], v->material[base + j]),
                       gg_coincident_normal(id, key), 0.0f);
    }
    for (int32_t k = 64; k < v->candidate_count[base + i]; k++) {
        int32_t j = list[k];
        if (gg_pair_active(v, e, i, j)) {
            int32_t key = v->grain_id[base + j];
            gg_sphere_list(v, w, key, j, gg_pair_of(v, e, v->material[base + i], v->material[base + j]),
                           gg_coincident_normal(id, key), 0.0f);
        }
    }
}

/* A contact with a tool gets a body of its own: the velocity of the tool's surface there, no spin, inverse mass 0, or
 * along the normal that of a dynamic tool. The solve then treats grains and tools alike. */
GG_FN void gg_sphere_list_parts(const gg_view *v, int64_t e, int32_t i, gg_contact_writer *w, int64_t tool_body) {
    int64_t base = e * v->dims.slots, bodies = e * v->dims.bodies;
    gg_vec4 x = v->position[base + i];
    int32_t listed = 0;
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
        float inverse_mass = 0.0f;
        if (v->params.dynamic) {
            int64_t c = tool_body + listed - v->dims.free_bodies;
            inverse_mass = gg_tool_contact_listed(v, e, c, v->parts[part].tool, at, normal);
            gg_tool_contact_placed(v, e, c, w->contact - e * v->dims.contact_rows * GG_LANES);
        }
        for (int half = 0; half < 2; half++) {
            float *body = (half ? v->body_b : v->body_a) + (bodies + tool_body + listed) * GG_BODY;
            body[0] = velocity.x;
            body[1] = velocity.y;
            body[2] = velocity.z;
            body[GG_BODY_INVERSE_MASS] = inverse_mass;
            for (int c = GG_BODY_SPIN; c < GG_BODY; c++) {
                body[c] = 0.0f;
            }
        }
        gg_sphere_list(v, w, (int32_t)(-1 - part), tool_body + listed,
                       gg_pair_of(v, e, v->material[base + i], v->parts[part].material), normal, touch.gap);
        listed++;
    }
}

/* Lists the contacts of one lane of a slice; its bodies on tools begin at tool_body. A list shorter than the slice's
 * longest is padded with contacts of no effect. */
GG_FN void gg_sphere_list_lane(const gg_view *v, int64_t e, int64_t slice, int lane, int32_t tool_body) {
    const gg_env *env = &v->env[e];
    int64_t base = e * v->dims.slots;
    int64_t row = v->slice_first_row[e * v->dims.slices + slice];
    int32_t i = (int32_t)(slice * GG_LANES + lane);
    gg_contact_writer w;
    w.key = env->key_buffer ? v->key_a : v->key_b;
    w.impulse = env->impulse_buffer ? v->impulse_a : v->impulse_b;
    w.torque = env->impulse_buffer ? v->roll_a : v->roll_b;
    w.contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    w.contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    w.roll = (e * v->dims.spheres.roll_rows + row) * GG_LANES + lane;
    w.roll3 = (e * v->dims.spheres.roll_rows + row) * GG_LANES * 3 + lane;
    w.cohesive = (e * v->dims.spheres.cohesive_rows + row) * GG_LANES + lane;
    if (v->next_count[base + i] > 0) {
        w.memory = gg_stored_contacts_of(v, e, i);
        gg_sphere_list_grains(v, e, i, &w);
        if (v->next_tool_count[base + i] > 0) {
            gg_sphere_list_parts(v, e, i, &w, tool_body);
        }
    }
    gg_vec3 none = gg_v3(0.0f, 0.0f, 0.0f);
    for (int32_t k = v->next_count[base + i]; k < v->slice_rows[e * v->dims.slices + slice]; k++) {
        gg_sphere_list(v, &w, 0, i, NULL, none, 0.0f);
    }
    v->next_first[base + i] = (int32_t)(row * GG_LANES + lane);
}

/* item: slice of an env */
GG_FN void gg_sphere_list_slice(const gg_view *v, int64_t e, int64_t slice) {
    int32_t tool_body = v->slice_first_tool_body[e * v->dims.slices + slice];
    for (int lane = 0; lane < GG_LANES; lane++) {
        gg_sphere_list_lane(v, e, slice, lane, tool_body);
        tool_body += v->next_tool_count[e * v->dims.slots + slice * GG_LANES + lane];
    }
}

#endif
