/* contacts.h: counts and lists the contacts of planar grains. See planar.h, and solvers/contacts.h for the lists.
 *
 * Keys in a list: 4 id + contact point for another grain, rising; then those of places of the outline that touch a tool,
 * falling (touches.h). A flat face on a plane touches it at its two corners.
 */
#ifndef GG_PLANAR_CONTACTS_H
#define GG_PLANAR_CONTACTS_H

#include "../contacts.h"
#include "touches.h"

/* Looks at slot i beside a part as the solve does; 0: nothing of it can touch. */
GG_FN_LARGE int gg_planar_meets(const gg_view *v, int64_t e, int64_t i, int64_t part, gg_planar_look *look) {
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    const float *body = gg_slot_body_at(v, e, i);
    if (body[GG_BODY_INVERSE_MASS] == 0.0f || !pose->active) {
        return 0;
    }
    float radius = v->position[e * v->dims.slots + i].w;
    float reach = v->params.margin * 2.0f * radius + gg_speed_margin(v, e) +
                  v->params.foresight * (v->env[e].speed_max + gg_absf(body[GG_BODY_PLANAR_SPIN]));
    return gg_planar_look_at(v, e, i, part, pose, reach, look);
}

/* counts the contacts of slot i, with the parts in `parts` (see gg_slice_parts) */
GG_FN void gg_planar_count_lane(const gg_view *v, int64_t e, int32_t i, uint64_t parts) {
    int64_t base = e * v->dims.slots;
    int32_t count = 0, tools = 0;
    if (v->grain_id[base + i] >= 0) {
        for (int32_t k = 0; k < v->candidate_count[base + i]; k++) {
            int second;
            count += gg_manifold_at(v, e, i, k, &second)->count;
        }
        int64_t part = gg_next_part(v, parts, 0);
        for (; part < v->dims.part_count; part = gg_next_part(v, parts, part + 1)) {
            gg_planar_look look;
            gg_planar_touch touch;
            int meets = gg_planar_meets(v, e, i, part, &look);
            while (meets && gg_planar_next_touch(v, &look, &touch)) {
                tools++;
            }
        }
    }
    v->next_count[base + i] = count + tools;
    v->next_tool_count[base + i] = tools;
    v->count_over_mass[base + i] = (float)(count + tools);
}

/* item: slice of an env */
GG_FN void gg_planar_count_slice(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t parts = gg_slice_parts(v, e, slice);
    v->slice_parts[e * v->dims.slices + slice] = parts;
    for (int lane = 0; lane < GG_LANES; lane++) {
        gg_planar_count_lane(v, e, (int32_t)(slice * GG_LANES + lane), parts);
    }
    gg_contacts_counted(v, e, slice);
}

/* where the next contact of a grain is listed */
typedef struct gg_planar_writer {
    int64_t contact, contact3, geometry;
    int32_t *key;
    float *impulse;
    gg_stored_contacts memory;
} gg_planar_writer;

/* Lists one contact: gap, normal towards this grain, arms and stored impulses. pair NULL: no contact. */
GG_FN void gg_planar_list(const gg_view *v, gg_planar_writer *w, int32_t key, int64_t other_body, const gg_pair *pair,
                          float gap, float nx, float ny, const float arms[4]) {
    gg_vec3 impulse = gg_v3(0.0f, 0.0f, 0.0f);
    if (pair) {
        w->key[w->contact] = key;
        if (gg_stored_contacts_seek(&w->memory, key)) {
            impulse = gg_load_lane3(w->memory.impulse, w->memory.at3);
        }
    }
    v->other_body[w->contact] = (int32_t)other_body;
    v->friction[w->contact] = pair ? pair->friction : 0.0f;
    v->restitution[w->contact] = pair ? pair->restitution : -1.0f;
    v->gap[w->contact] = gap;
    gg_store_lane3(v->normal, w->contact3, gg_v3(nx, ny, 0.0f));
    gg_store_lane3(w->impulse, w->contact3, impulse);
    for (int k = 0; k < 4; k++) {
        v->planar_geometry[w->geometry + k * GG_LANES] = arms[k];
    }
    w->contact += GG_LANES;
    w->contact3 += 3 * GG_LANES;
    w->geometry += GG_PLANAR_GEOMETRY * GG_LANES;
}

GG_FN void gg_planar_list_grains(const gg_view *v, int64_t e, int32_t i, gg_planar_writer *w) {
    int64_t base = e * v->dims.slots;
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
    for (int32_t k = 0; k < v->candidate_count[base + i]; k++) {
        int second;
        const gg_manifold *pair = gg_manifold_at(v, e, i, k, &second);
        int32_t j = list[k], id = v->grain_id[base + j];
        for (int32_t r = 0; r < pair->count; r++) {
            const gg_manifold_point *point = &pair->point[r];
            /* the normal of a field points from the first to the second */
            float arms[4] = {second ? point->cn_b : -point->cn_a, second ? point->ct_b : -point->ct_a,
                             second ? point->cn_a : -point->cn_b, second ? point->ct_a : -point->ct_b};
            gg_planar_list(v, w, 4 * id + point->which, j,
                           gg_pair_of(v, e, v->material[base + i], v->material[base + j]), point->gap,
                           second ? point->nx : -point->nx, second ? point->ny : -point->ny, arms);
        }
    }
}

/* A contact with a tool gets a body of its own, as in spheres/contacts.h. */
GG_FN void gg_planar_list_parts(const gg_view *v, int64_t e, int32_t i, gg_planar_writer *w, int64_t tool_body) {
    int64_t base = e * v->dims.slots, bodies = e * v->dims.bodies;
    gg_vec4 x = v->position[base + i];
    uint64_t near_parts = v->slice_parts[e * v->dims.slices + i / GG_LANES];
    int32_t left = v->next_tool_count[base + i];
    for (int64_t part = 0; part < v->dims.part_count && left > 0; part++) {
        if (part < 64 && !(near_parts >> part & 1)) {
            continue;
        }
        gg_planar_look look;
        gg_planar_touch touch;
        int meets = gg_planar_meets(v, e, i, part, &look);
        for (; meets && left > 0 && gg_planar_next_touch(v, &look, &touch); left--) {
            gg_vec3 at = gg_madd(gg_add(gg_v3(x.x, x.y, x.z), touch.at), touch.normal, -touch.gap);
            gg_vec3 velocity = gg_part_velocity(v, e, part, at);
            for (int half = 0; half < 2; half++) {
                float *body = (half ? v->body_b : v->body_a) + (bodies + tool_body) * GG_BODY;
                body[0] = velocity.x;
                body[1] = velocity.y;
                for (int c = 2; c < GG_BODY; c++) {
                    body[c] = 0.0f;
                }
            }
            float cross = touch.at.x * touch.normal.y - touch.at.y * touch.normal.x;
            float arms[4] = {cross / x.w, gg_dot(touch.at, touch.normal) / x.w, 0.0f, 0.0f};
            gg_planar_list(v, w, gg_planar_tool_key(v, part, touch.which), tool_body,
                           gg_pair_of(v, e, v->material[base + i], v->parts[part].material), touch.gap, touch.normal.x,
                           touch.normal.y, arms);
            tool_body++;
        }
    }
}

/* lists the contacts of one lane of a slice; its bodies on tools begin at tool_body */
GG_FN void gg_planar_list_lane(const gg_view *v, int64_t e, int64_t slice, int lane, int32_t tool_body) {
    const gg_env *env = &v->env[e];
    int64_t base = e * v->dims.slots;
    int64_t row = v->slice_first_row[e * v->dims.slices + slice];
    int32_t i = (int32_t)(slice * GG_LANES + lane);
    gg_planar_writer w;
    w.key = env->key_buffer ? v->key_a : v->key_b;
    w.impulse = env->impulse_buffer ? v->impulse_a : v->impulse_b;
    w.contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    w.contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    w.geometry = (e * v->dims.planar.rows + row) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
    if (v->next_count[base + i] > 0) {
        w.memory = gg_stored_contacts_of(v, e, i);
        gg_planar_list_grains(v, e, i, &w);
        gg_planar_list_parts(v, e, i, &w, tool_body);
    }
    const float none[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int32_t k = v->next_count[base + i]; k < v->slice_rows[e * v->dims.slices + slice]; k++) {
        gg_planar_list(v, &w, 0, i, NULL, 0.0f, 0.0f, 0.0f, none);
    }
    v->next_first[base + i] = (int32_t)(row * GG_LANES + lane);
}

/* item: slice of an env */
GG_FN void gg_planar_list_slice(const gg_view *v, int64_t e, int64_t slice) {
    int32_t tool_body = v->slice_first_tool_body[e * v->dims.slices + slice];
    for (int lane = 0; lane < GG_LANES; lane++) {
        gg_planar_list_lane(v, e, slice, lane, tool_body);
        tool_body += v->next_tool_count[e * v->dims.slots + slice * GG_LANES + lane];
    }
}

#endif
