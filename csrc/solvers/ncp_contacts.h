/* ncp_contacts.h: finds the contacts of one substep and lays them out for the solve.
 *
 * Two passes over the candidates: count (how long is each list), then write. Between them one prefix sum gives every slice
 * its rows, so that the lists lie without gaps. A grain's list holds its grain contacts in order of id, then its tool
 * contacts in order of part; as the order never changes, stored impulses are found by walking old and new list together.
 */
#ifndef GG_NCP_CONTACTS_H
#define GG_NCP_CONTACTS_H

#include "ncp.h"

/* counts the contacts of all grains of one slice. item: slice of an env */
GG_FN void gg_ncp_count_slice(const gg_view *v, int64_t e, int64_t slice) {
    int64_t base = e * v->dims.slots;
    int32_t longest = 0, tool_rows = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int32_t i = (int32_t)(slice * GG_LANES + lane);
        int32_t count = 0, tools = 0;
        if (v->grain_id[base + i] >= 0) {
            const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
            for (int32_t k = 0; k < v->candidate_count[base + i]; k++) {
                count += gg_touch_pair(v, e, i, list[k]).active;
            }
            for (int64_t part = 0; part < v->dims.part_count; part++) {
                tools += gg_touch_part(v, e, i, part).active;
            }
        }
        v->next_count[base + i] = count + tools;
        v->next_tool_count[base + i] = tools;
        longest = GG_MAX(longest, count + tools);
        tool_rows += tools;
    }
    v->slice_rows[e * v->dims.slices + slice] = longest;
    v->slice_tool_rows[e * v->dims.slices + slice] = tool_rows;
}

/* gives every slice its rows; notes what would not fit. item: env */
GG_FN void gg_ncp_place_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    int64_t row = 0, tool_row = v->dims.slots, base = e * v->dims.slices;
    for (int64_t s = 0; s < v->dims.slices; s++) {
        v->slice_first_row[base + s] = (int32_t)row;
        v->slice_first_tool_row[base + s] = (int32_t)tool_row;
        row += v->slice_rows[base + s];
        tool_row += v->slice_tool_rows[base + s];
    }
    env->overflow_rows = row > v->dims.contact_rows ? (int32_t)row : 0;
    env->overflow_tool_rows = tool_row > v->dims.rows ? (int32_t)(tool_row - v->dims.slots) : 0;
}

/* the stored contacts of one grain, walked in step with its new list */
typedef struct gg_memory {
    const int32_t *key;
    const float *impulse, *roll;
    int64_t at, at3, at_roll3;
    int32_t left;
    float scale; /* of stored impulses: this dt over the last */
} gg_memory;

/* order of keys in a list: grain ids rising, then parts rising (keys -1, -2, ...) */
GG_FN int gg_key_before(int32_t a, int32_t b) {
    if (a >= 0) {
        return b < 0 || a < b;
    }
    return b < 0 && a > b;
}

/* moves to `key`; true where it is stored */
GG_FN int gg_memory_seek(gg_memory *m, int32_t key) {
    while (m->left > 0 && gg_key_before(m->key[m->at], key)) {
        m->at += GG_LANES;
        m->at3 += 3 * GG_LANES;
        m->at_roll3 += 3 * GG_LANES;
        m->left--;
    }
    return m->left > 0 && m->key[m->at] == key;
}

/* where the next contact of a grain is written, and what its contacts do to it so far */
typedef struct gg_contact_writer {
    int64_t e, contact, contact3, roll, roll3;
    gg_side self;
    gg_vec3 dv, du; /* sums of warm-start impulses */
    gg_vec3 shift;  /* sum of position corrections */
    float overlap_max, overlap_sum;
    int32_t overlap_count;
} gg_contact_writer;

GG_FN void gg_store_lane3(float *array, int64_t at, gg_vec3 a) {
    array[at] = a.x;
    array[at + GG_LANES] = a.y;
    array[at + 2 * GG_LANES] = a.z;
}

GG_FN gg_vec3 gg_load_lane3(const float *array, int64_t at) {
    return gg_v3(array[at], array[at + GG_LANES], array[at + 2 * GG_LANES]);
}

/* writes one contact: geometry, weights, bias and warm start */
GG_FN void gg_ncp_write(const gg_view *v, gg_contact_writer *w, gg_memory *memory, int32_t key, int64_t other_row,
                        gg_touch touch, gg_side other, const gg_pair *pair, gg_vec3 other_velocity,
                        gg_vec3 own_velocity, float reduced_radius, float diameter) {
    const gg_params *p = &v->params;
    const gg_env *env = &v->env[w->e];
    float *impulse = env->impulse_buffer ? v->impulse_a : v->impulse_b;
    float *roll = env->impulse_buffer ? v->roll_a : v->roll_b;
    int32_t *keys = env->key_buffer ? v->key_a : v->key_b;
    float approach = gg_dot(gg_sub(own_velocity, other_velocity), touch.normal);
    keys[w->contact] = key;
    v->other_row[w->contact] = (int32_t)other_row;
    gg_store_lane3(v->normal, w->contact3, touch.normal);
    v->bias[w->contact] = gg_ncp_bias(p, env->bounce_speed, touch.gap, approach, pair->restitution);
    float weight = gg_ncp_weight(p, w->self, other);
    v->weight[w->contact] = weight;
    w->shift = gg_madd(w->shift, touch.normal, gg_ncp_shift(p, key < 0, touch.gap, weight, w->self.inverse_mass));
    v->friction[w->contact] = pair->friction;
    gg_vec3 start = gg_v3(0.0f, 0.0f, 0.0f);
    int known = gg_memory_seek(memory, key);
    if (known) {
        gg_vec3 stored = gg_scale(gg_load_lane3(memory->impulse, memory->at3), memory->scale);
        start = gg_ncp_reproject(stored, touch.normal, pair->friction);
    }
    gg_store_lane3(impulse, w->contact3, start);
    w->dv = gg_add(w->dv, start);
    w->du = gg_sub(w->du, gg_cross(touch.normal, start));
    if (p->rolling) {
        gg_vec3 torque = gg_v3(0.0f, 0.0f, 0.0f);
        float limit = pair->rolling_friction * reduced_radius;
        if (known) {
            torque = gg_scale(gg_load_lane3(memory->roll, memory->at_roll3), memory->scale);
            torque = gg_clip_length(torque, limit * gg_maxf(gg_dot(start, touch.normal), 0.0f));
        }
        gg_store_lane3(roll, w->roll3, torque);
        v->roll_limit[w->roll] = limit;
        v->roll_weight[w->roll] = gg_ncp_roll_weight(p, w->self, other);
        w->du = gg_madd(w->du, torque, w->self.inverse_radius);
        w->roll += GG_LANES;
        w->roll3 += 3 * GG_LANES;
    }
    if (touch.gap < 0.0f) {
        float overlap = -touch.gap / diameter;
        w->overlap_max = gg_maxf(w->overlap_max, overlap);
        w->overlap_sum += overlap;
        w->overlap_count++;
    }
    w->contact += GG_LANES;
    w->contact3 += 3 * GG_LANES;
}

GG_FN const gg_pair *gg_pair_of(const gg_view *v, int64_t e, int32_t a, int32_t b) {
    int64_t m = v->dims.material_count;
    return &v->pair[(e * m + a) * m + b];
}

GG_FN gg_side gg_side_of(const gg_view *v, int64_t base, int64_t rows, int32_t i) {
    gg_side s;
    s.inverse_mass = v->inverse_mass[base + i];
    s.inverse_radius = v->row_a[(rows + i) * GG_ROW + 7];
    s.contact_count = (float)v->next_count[base + i];
    return s;
}

GG_FN void gg_ncp_write_pairs(const gg_view *v, int64_t e, int32_t i, gg_contact_writer *w, gg_memory *memory) {
    int64_t base = e * v->dims.slots, rows = e * v->dims.rows;
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
    const float *row = v->row_a + rows * GG_ROW;
    float radius = v->position[base + i].w;
    for (int32_t k = 0; k < v->candidate_count[base + i]; k++) {
        int32_t j = list[k];
        gg_touch touch = gg_touch_pair(v, e, i, j);
        if (!touch.active) {
            continue;
        }
        float other_radius = v->position[base + j].w;
        gg_ncp_write(v, w, memory, v->grain_id[base + j], j, touch, gg_side_of(v, base, rows, j),
                     gg_pair_of(v, e, v->material[base + i], v->material[base + j]), gg_row_velocity(row, j),
                     gg_row_velocity(row, i), radius * other_radius / (radius + other_radius),
                     2.0f * gg_minf(radius, other_radius));
    }
}

/* A contact with a tool gets a velocity row of its own: the tool's surface velocity there, no spin. The solve then treats
 * grains and tools alike. */
GG_FN int32_t gg_ncp_write_parts(const gg_view *v, int64_t e, int32_t i, gg_contact_writer *w, gg_memory *memory,
                                 int64_t tool_row) {
    int64_t base = e * v->dims.slots, rows = e * v->dims.rows;
    gg_vec4 x = v->position[base + i];
    int32_t written = 0;
    gg_side tool;
    tool.inverse_mass = tool.inverse_radius = tool.contact_count = 0.0f;
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        gg_touch touch = gg_touch_part(v, e, i, part);
        if (!touch.active) {
            continue;
        }
        touch.normal = gg_part_normal(v, e, i, part);
        gg_vec3 at = gg_madd(gg_v3(x.x, x.y, x.z), touch.normal, -(x.w + touch.gap));
        gg_vec3 velocity = gg_part_velocity(&v->part_pose[e * v->dims.part_count + part], at);
        for (int half = 0; half < 2; half++) {
            float *row = (half ? v->row_b : v->row_a) + (rows + tool_row + written) * GG_ROW;
            row[0] = velocity.x;
            row[1] = velocity.y;
            row[2] = velocity.z;
            for (int c = 3; c < GG_ROW; c++) {
                row[c] = 0.0f;
            }
        }
        gg_ncp_write(v, w, memory, (int32_t)(-1 - part), tool_row + written, touch, tool,
                     gg_pair_of(v, e, v->material[base + i], v->parts[part].material), velocity,
                     gg_row_velocity(v->row_a + rows * GG_ROW, i), x.w, 2.0f * x.w);
        written++;
    }
    return written;
}

/* fills the rest of a lane with contacts that do nothing: no normal, no weight, the grain's own row */
GG_FN void gg_ncp_pad(const gg_view *v, gg_contact_writer *w, int32_t i, int32_t from, int32_t to) {
    gg_vec3 none = gg_v3(0.0f, 0.0f, 0.0f);
    float *impulse = v->env[w->e].impulse_buffer ? v->impulse_a : v->impulse_b;
    float *roll = v->env[w->e].impulse_buffer ? v->roll_a : v->roll_b;
    for (int32_t k = from; k < to; k++) {
        v->other_row[w->contact] = i;
        gg_store_lane3(v->normal, w->contact3, none);
        gg_store_lane3(impulse, w->contact3, none);
        v->bias[w->contact] = v->weight[w->contact] = v->friction[w->contact] = 0.0f;
        w->contact += GG_LANES;
        w->contact3 += 3 * GG_LANES;
        if (v->params.rolling) {
            gg_store_lane3(roll, w->roll3, none);
            v->roll_limit[w->roll] = v->roll_weight[w->roll] = 0.0f;
            w->roll += GG_LANES;
            w->roll3 += 3 * GG_LANES;
        }
    }
}

/* the stored contacts of slot i */
GG_FN gg_memory gg_memory_of(const gg_view *v, int64_t e, int32_t i) {
    const gg_env *env = &v->env[e];
    int64_t base = e * v->dims.slots, first = v->contact_first[base + i];
    int64_t lane = first % GG_LANES, row = first / GG_LANES;
    gg_memory m;
    m.key = env->key_buffer ? v->key_b : v->key_a;
    m.impulse = env->impulse_buffer ? v->impulse_b : v->impulse_a;
    m.roll = env->impulse_buffer ? v->roll_b : v->roll_a;
    m.at = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    m.at3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    m.at_roll3 = (e * v->dims.roll_rows + row) * GG_LANES * 3 + lane;
    m.left = env->dt_last > 0.0f && v->params.mode == GG_MODE_CONVERGENT ? v->contact_count[base + i] : 0;
    m.scale = env->dt_last > 0.0f ? v->params.dt / env->dt_last : 0.0f;
    return m;
}

/* Writes the contacts of one slice and the velocities after the warm start. item: slice of an env */
GG_FN void gg_ncp_write_slice(const gg_view *v, int64_t e, int64_t slice) {
    int64_t base = e * v->dims.slots, rows = e * v->dims.rows;
    int64_t row = v->slice_first_row[e * v->dims.slices + slice];
    int32_t tool_row = v->slice_first_tool_row[e * v->dims.slices + slice];
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    stats->overlap_max = stats->overlap_sum = 0.0f;
    stats->overlap_count = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int32_t i = (int32_t)(slice * GG_LANES + lane);
        gg_contact_writer w;
        w.e = e;
        w.contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
        w.contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
        w.roll = (e * v->dims.roll_rows + row) * GG_LANES + lane;
        w.roll3 = (e * v->dims.roll_rows + row) * GG_LANES * 3 + lane;
        w.self = gg_side_of(v, base, rows, i);
        w.dv = w.du = w.shift = gg_v3(0.0f, 0.0f, 0.0f);
        w.overlap_max = w.overlap_sum = 0.0f;
        w.overlap_count = 0;
        if (v->next_count[base + i] > 0) {
            gg_memory memory = gg_memory_of(v, e, i);
            gg_ncp_write_pairs(v, e, i, &w, &memory);
            tool_row += gg_ncp_write_parts(v, e, i, &w, &memory, tool_row);
        }
        gg_ncp_pad(v, &w, i, v->next_count[base + i], v->slice_rows[e * v->dims.slices + slice]);
        v->next_first[base + i] = (int32_t)(row * GG_LANES + lane);
        /* velocity without contact, and after the warm start */
        const float *before = v->row_a + (rows + i) * GG_ROW;
        float *after = v->row_b + (rows + i) * GG_ROW;
        int64_t state = (base + slice * GG_LANES) * 6 + lane;
        float factor = v->inverse_mass[base + i], spin_factor = GG_SPIN_FACTOR * factor;
        float change[6] = {factor * w.dv.x, factor * w.dv.y, factor * w.dv.z,
                           spin_factor * w.du.x, spin_factor * w.du.y, spin_factor * w.du.z};
        for (int k = 0; k < 6; k++) {
            int at = k + k / 3;
            float now = before[at] + (k < 3 || v->params.spin ? change[k] : 0.0f);
            v->start_velocity[state + k * GG_LANES] = before[at];
            v->velocity[state + k * GG_LANES] = now;
            after[at] = now;
        }
        gg_store_lane3(v->shift, (base + slice * GG_LANES) * 3 + lane, w.shift);
        after[3] = before[3];
        after[7] = before[7];
        stats->overlap_max = gg_maxf(stats->overlap_max, w.overlap_max);
        stats->overlap_sum += w.overlap_sum;
        stats->overlap_count += w.overlap_count;
    }
}

#endif
