/* contacts.h: the contacts of the law of tables: those with tools are listed per substep, those with grains are found among
 * the candidates and the bonds. */
#ifndef GG_TABLE_CONTACTS_H
#define GG_TABLE_CONTACTS_H

#include "table.h"

/* centre and distance of a part, as the sphere in a slot sees it */
typedef struct gg_table_touch {
    gg_vec3 local;         /* the centre in the axes of the part */
    float gap;             /* [m] */
    const gg_table *table; /* NULL: out of its reach */
} gg_table_touch;

GG_FN gg_table_touch gg_table_touch_of(const gg_view *v, int64_t e, int64_t i, int64_t part) {
    int64_t at = e * v->dims.slots + i;
    gg_vec4 x = v->position[at];
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_table_touch t;
    t.table = gg_table_at(v, v->material[at], v->dims.material_count, 0);
    t.local = gg_mat_tmul(pose->rotation, gg_sub(gg_v3(x.x, x.y, x.z), pose->position));
    t.gap = 0.0f;
    if (!pose->active || !t.table || gg_sdf_bound(shape, t.local) >= x.w + t.table->end) {
        t.table = NULL;
        return t;
    }
    t.gap = gg_sdf_distance(shape, v->grids, v->samples, t.local) - x.w;
    t.table = t.gap < t.table->end ? t.table : NULL;
    return t;
}

/* the parts that act on a slot, one after another: the first from `part` on; part_count: none */
GG_FN int64_t gg_table_next_touch(const gg_view *v, int64_t e, int64_t i, uint64_t near, int64_t part,
                                  gg_table_touch *touch) {
    part = gg_next_part(v, near, part);
    while (part < v->dims.part_count) {
        *touch = gg_table_touch_of(v, e, i, part);
        if (touch->table) {
            return part;
        }
        part = gg_next_part(v, near, part + 1);
    }
    return part;
}

/* whether tools act on the grain in a slot */
GG_FN int gg_table_meets_tools(const gg_view *v, int64_t e, int64_t i) {
    return v->grain_id[e * v->dims.slots + i] >= 0 && !gg_slot_fixed(v, e, i);
}

/* counts the contacts with tools. item: slice of an env */
GG_FN void gg_table_count_slice(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t near = gg_slice_parts(v, e, slice);
    v->slice_parts[e * v->dims.slices + slice] = near;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t i = slice * GG_LANES + lane, part = v->dims.part_count;
        int32_t count = 0;
        gg_table_touch touch = GG_ZERO;
        if (gg_table_meets_tools(v, e, i)) {
            part = gg_table_next_touch(v, e, i, near, 0, &touch);
        }
        for (; part < v->dims.part_count; part = gg_table_next_touch(v, e, i, near, part + 1, &touch)) {
            count++;
        }
        v->next_count[e * v->dims.slots + i] = 0;
        v->next_tool_count[e * v->dims.slots + i] = count;
    }
    gg_contacts_counted(v, e, slice);
}

/* says where those of each slot begin. item: slice of an env */
GG_FN void gg_table_list_slice(const gg_view *v, int64_t e, int64_t slice) {
    int64_t touch = v->slice_first_tool_body[e * v->dims.slices + slice] - v->dims.free_bodies;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t at = e * v->dims.slots + slice * GG_LANES + lane;
        v->next_first[at] = (int32_t)touch;
        touch += v->next_tool_count[at];
    }
}

/* Velocities as forces see them: those before gravity and drag, and spins. item: slot of an env */
GG_FN void gg_table_open_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    if (v->grain_id[at] < 0) {
        return;
    }
    const float *before = gg_before_prediction(v, e) + (int64_t)v->grain_id[at] * 6;
    const float *body = gg_slot_body_at(v, e, i);
    gg_vec4 velocity = {before[0], before[1], before[2], 0.0f};
    gg_vec4 spin = {body[GG_BODY_SPIN], body[GG_BODY_SPIN + 1], body[GG_BODY_SPIN + 2], 0.0f};
    v->table_motion[2 * at] = velocity;
    v->table_motion[2 * at + 1] = spin;
    for (int k = 0; k < 3; k++) {
        v->start_velocity[(at - lane) * 6 + lane + k * GG_LANES] = before[k];
        v->start_velocity[(at - lane) * 6 + lane + (k + 3) * GG_LANES] = body[GG_BODY_SPIN + k];
    }
}

/* velocity and spin (radius * omega) of a slot at the start of the substep */
typedef struct gg_table_motion {
    gg_vec3 velocity, spin;
} gg_table_motion;

GG_FN gg_table_motion gg_table_motion_of(const gg_view *v, int64_t e, int64_t i) {
    const gg_vec4 *at = v->table_motion + 2 * (e * v->dims.slots + i);
    gg_table_motion m = {gg_v3(at[0].x, at[0].y, at[0].z), gg_v3(at[1].x, at[1].y, at[1].z)};
    return m;
}

/* The contact of slots i and j, bonded or not; length: of the bond, or the sum of radii [m]. What is out of reach of
 * all tables is passed over before it is asked which one is meant. */
GG_FN void gg_table_meet_grain(const gg_view *v, int64_t e, int32_t i, int32_t j, int bonded, float length,
                               const gg_table_motion *own, gg_table_total *total) {
    int64_t base = e * v->dims.slots;
    gg_vec4 x = v->position[base + i], y = v->position[base + j];
    gg_vec3 apart = gg_separation(&v->params, x, y);
    float distance2 = gg_norm2(apart), farthest = length + v->params.table.reach;
    if (!bonded && !(distance2 < farthest * farthest)) {
        return;
    }
    const gg_table *t = gg_table_at(v, v->material[base + i], v->material[base + j], bonded);
    float reach = t ? length + t->end : 0.0f;
    if (!(distance2 < reach * reach && reach > 0.0f)) {
        return;
    }
    float distance = sqrtf(distance2), gap = distance - length;
    gg_vec3 normal = distance > 0.0f ? gg_scale(apart, 1.0f / distance)
                                     : gg_coincident_normal(v->grain_id[base + i], v->grain_id[base + j]);
    gg_table_motion other = gg_table_motion_of(v, e, j);
    gg_vec3 velocity = gg_sub(own->velocity, other.velocity);
    if (v->params.table.at_contact) {
        velocity = gg_sub(velocity, gg_add(gg_cross(own->spin, normal), gg_cross(other.spin, normal)));
    }
    gg_table_push(v, t, gap, normal, velocity, total);
    if (!bonded) {
        gg_table_note_overlap(total, -gap / (2.0f * gg_minf(x.w, y.w)));
    }
}

/* all grains that act on slot i: first those that are free of it, then those bonded to it, each in order of ids */
GG_FN void gg_table_meet_grains(const gg_view *v, int64_t e, int32_t i, const gg_table_motion *own,
                                gg_table_total *total) {
    int64_t base = e * v->dims.slots;
    int32_t id = v->grain_id[base + i];
    int32_t bond = v->dims.table.bonds ? v->bond_first[id] : 0;
    const int32_t end = v->dims.table.bonds ? v->bond_first[id + 1] : 0, first = bond;
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
    for (int32_t k = 0; k < v->candidate_count[base + i]; k++) {
        int32_t j = list[k];
        if (bond < end) {
            int32_t other = v->grain_id[base + j];
            while (bond < end && v->bond_other[bond] < other) {
                bond++;
            }
            if (bond < end && v->bond_other[bond] == other) {
                continue;
            }
        }
        gg_table_meet_grain(v, e, i, j, 0, v->position[base + i].w + v->position[base + j].w, own, total);
    }
    for (bond = first; bond < end; bond++) {
        gg_table_meet_grain(v, e, i, v->slot_of[base + v->bond_other[bond]], 1, v->bond_length[bond], own, total);
    }
}

/* the contact of slot i with a part, contact `touch` of the tool contacts of the env */
GG_FN void gg_table_meet_part(const gg_view *v, int64_t e, int64_t i, int64_t part, const gg_table_touch *of,
                              int64_t touch, const gg_table_motion *own, gg_table_total *total) {
    gg_vec4 x = v->position[e * v->dims.slots + i];
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_vec3 outward = gg_mat_mul(pose->rotation, gg_sdf_eval(shape, v->grids, v->samples, of->local).gradient);
    float length = gg_norm(outward);
    gg_vec3 normal = length > 0.0f ? gg_scale(outward, 1.0f / length) : gg_v3(0.0f, 0.0f, 1.0f);
    gg_vec3 point = gg_madd(gg_v3(x.x, x.y, x.z), normal, -x.w);
    gg_vec3 velocity = gg_sub(own->velocity, gg_part_velocity(v, e, part, point));
    if (v->params.table.at_contact) {
        velocity = gg_sub(velocity, gg_cross(own->spin, normal));
    }
    gg_vec3 force = gg_table_push(v, of->table, of->gap, normal, velocity, total);
    gg_table_note_overlap(total, -of->gap / (2.0f * x.w));
    gg_tool_load load;
    load.force = gg_scale(force, -v->params.dt);
    load.torque = gg_cross(gg_sub(point, pose->tool_position), load.force);
    load.tool = shape->tool;
    v->tool_load[e * v->dims.tool_contacts + touch] = load;
}

/* Finds what acts on the sphere in a slot, and the velocities with which it ends the substep. item: slot of an env */
GG_FN void gg_table_push_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    if (v->grain_id[at] < 0) {
        return;
    }
    gg_table_total total = GG_ZERO;
    gg_table_motion own = gg_table_motion_of(v, e, i);
    gg_table_meet_grains(v, e, (int32_t)i, &own, &total);
    uint64_t near = v->slice_parts[e * v->dims.slices + i / GG_LANES];
    gg_table_touch of = GG_ZERO;
    int64_t touch = v->next_first[at], end = touch + v->next_tool_count[at];
    for (int64_t part = -1; touch < end; touch++) {
        part = gg_table_next_touch(v, e, i, near, part + 1, &of);
        gg_table_meet_part(v, e, i, part, &of, touch, &own, &total);
    }
    v->next_count[at] = total.count;
    gg_vec4 overlap = {total.overlaps.most, total.overlaps.sum, total.overlaps.count, (float)total.unsampled};
    v->table_overlap[at] = overlap;
    const float *body = gg_slot_body_at(v, e, i);
    float each = v->params.dt * body[GG_BODY_INVERSE_MASS];
    gg_vec3 velocity = gg_madd(gg_v3(body[0], body[1], body[2]), total.force, each);
    /* r I^-1 (r torque) of a sphere */
    gg_vec3 spin = gg_madd(own.spin, total.torque, 2.5f * each);
    gg_store_lane3(v->velocity, (at - lane) * 6 + lane, velocity);
    gg_store_lane3(v->velocity, (at - lane) * 6 + lane + 3 * GG_LANES, spin);
    gg_store_lane3(v->correction, (at - lane) * 3 + lane, gg_v3(0.0f, 0.0f, 0.0f));
}

/* records the overlaps of the grains of a slice, and how many contacts left the samples. item: slice of an env */
GG_FN void gg_table_note_slice(const gg_view *v, int64_t e, int64_t slice) {
    int32_t unsampled = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t at = e * v->dims.slots + slice * GG_LANES + lane;
        unsampled += v->grain_id[at] >= 0 ? (int32_t)v->table_overlap[at].w : 0;
    }
    gg_forces_note_slice(v, e, slice, v->table_overlap);
    v->slice_stats[e * v->dims.slices + slice].unsampled = unsampled;
}

/* Whether lists hold in the next substep is asked of where grains would be at its end without contacts. A grain is now
 * between where it was and there, but for what gravity does in a substep (x_now is the mean of the two less g dt^2 / 2),
 * which the pad of the lists covers; where it is too little, or the wind pushes, they are built anew. item: env */
GG_FN void gg_table_close_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    float fall = gg_norm(env->gravity) * v->params.dt * v->params.dt;
    if (2.0f * fall > GG_TABLE_PAD * v->params.radius_min || gg_air_drags(&env->air)) {
        env->rebuild = 1;
    }
}

#endif
