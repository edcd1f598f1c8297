/* contacts.h: counts and lists the contacts of planar grains. See planar.h, and solvers/contacts.h for the lists.
 *
 * Keys in a list: 4 id + contact point for another grain, rising; then -1 - (part * points + point) for the points of
 * the outline that touch a tool, falling. A flat face on a plane touches it at its two corners.
 */
#ifndef GG_PLANAR_CONTACTS_H
#define GG_PLANAR_CONTACTS_H

#include "../contacts.h"
#include "manifolds.h"

/* a point of an outline that touches a part */
typedef struct gg_planar_touch {
    gg_vec3 at;     /* from the centre of the grain, world [m] */
    gg_vec3 normal; /* out of the part, in the plane */
    float gap;      /* [m] */
} gg_planar_touch;

GG_FN int32_t gg_planar_tool_key(const gg_view *v, int64_t part, int32_t point) {
    return (int32_t)(-1 - (part * v->dims.planar.outline_points + point));
}

GG_FN int64_t gg_planar_part_of_key(const gg_view *v, int32_t key) {
    return (-1 - (int64_t)key) / v->dims.planar.outline_points;
}

/* the pose of one grain's outline, and a part */
typedef struct gg_planar_look {
    const gg_shape *shape;
    const gg_part_pose *pose;
    const gg_outline *outline;
    gg_vec3 center;
    float sine, cosine;
} gg_planar_look;

GG_FN gg_vec3 gg_planar_point(const gg_view *v, const gg_planar_look *look, int32_t point) {
    gg_outline_point p = v->outline_point[look->outline->first_point + point];
    return gg_v3(look->cosine * p.x - look->sine * p.y, look->sine * p.x + look->cosine * p.y, 0.0f);
}

GG_FN gg_vec3 gg_planar_local(const gg_planar_look *look, gg_vec3 at) {
    return gg_mat_tmul(look->pose->rotation, gg_sub(gg_add(look->center, at), look->pose->position));
}

GG_FN float gg_planar_gap(const gg_view *v, const gg_planar_look *look, int32_t point) {
    gg_vec3 local = gg_planar_local(look, gg_planar_point(v, look, point));
    return gg_sdf_distance(look->shape, v->grids, v->samples, local);
}

/* Finds the outline points of slot i that touch a part, in order. Returns their number, and stores the first `capacity`
 * of them in points (NULL: none). */
GG_FN_LARGE int32_t gg_planar_touches(const gg_view *v, int64_t e, int32_t i, int64_t part, int32_t *points,
                                      int32_t capacity) {
    const gg_vec4 x = v->position[e * v->dims.slots + i];
    const float *body = gg_slot_body_at(v, e, i);
    gg_planar_look look;
    look.shape = &v->parts[part];
    look.pose = &v->part_pose[e * v->dims.part_count + part];
    look.outline = gg_outline_of(v, e, i);
    look.center = gg_v3(x.x, x.y, x.z);
    if (body[GG_BODY_INVERSE_MASS] == 0.0f || !look.pose->active) {
        return 0;
    }
    float reach = v->params.margin * 2.0f * x.w + gg_speed_margin(v, e) +
                  v->params.foresight * (v->env[e].speed_max + gg_absf(body[GG_BODY_PLANAR_SPIN]));
    gg_vec3 middle = gg_planar_local(&look, gg_v3(0.0f, 0.0f, 0.0f));
    if (gg_sdf_bound(look.shape, middle) > x.w + reach ||
        gg_sdf_distance(look.shape, v->grids, v->samples, middle) > x.w + reach) {
        return 0;
    }
    gg_sincos(gg_planar_angle(v, e, i), &look.sine, &look.cosine);
    int32_t count = 0;
    for (int32_t p = 0; p < look.outline->point_count; p++) {
        float gap = gg_planar_gap(v, &look, p);
        if (gap >= reach) {
            continue;
        }
        gg_outline_point point = v->outline_point[look.outline->first_point + p];
        /* between corners only the nearest point counts; of equally near ones the last */
        if (!point.corner &&
            (gg_planar_gap(v, &look, point.before) < gap || gg_planar_gap(v, &look, point.after) <= gap)) {
            continue;
        }
        if (points && count < capacity) {
            points[count] = p;
        }
        count++;
    }
    return count;
}

/* the contact of a point of slot i with a part */
GG_FN_LARGE gg_planar_touch gg_planar_touch_at(const gg_view *v, int64_t e, int32_t i, int64_t part, int32_t point) {
    const gg_vec4 x = v->position[e * v->dims.slots + i];
    gg_planar_look look;
    gg_planar_touch touch;
    look.shape = &v->parts[part];
    look.pose = &v->part_pose[e * v->dims.part_count + part];
    look.outline = gg_outline_of(v, e, i);
    look.center = gg_v3(x.x, x.y, x.z);
    gg_sincos(gg_planar_angle(v, e, i), &look.sine, &look.cosine);
    touch.at = gg_planar_point(v, &look, point);
    gg_sdf_hit hit = gg_sdf_eval(look.shape, v->grids, v->samples, gg_planar_local(&look, touch.at));
    gg_vec3 out = gg_mat_mul(look.pose->rotation, hit.gradient);
    float length = sqrtf(out.x * out.x + out.y * out.y);
    touch.normal = length > 1e-6f ? gg_v3(out.x / length, out.y / length, 0.0f) : gg_v3(0.0f, 1.0f, 0.0f);
    touch.gap = hit.distance;
    return touch;
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
            tools += gg_planar_touches(v, e, i, part, NULL, 0);
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
        int32_t points[GG_OUTLINE_POINTS];
        int32_t count = gg_planar_touches(v, e, i, part, points, GG_MIN(left, GG_OUTLINE_POINTS));
        for (int32_t k = 0; k < count && left > 0; k++, left--) {
            gg_planar_touch touch = gg_planar_touch_at(v, e, i, part, points[k]);
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
            gg_planar_list(v, w, gg_planar_tool_key(v, part, points[k]), tool_body,
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
