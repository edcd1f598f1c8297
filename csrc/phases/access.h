/* access.h: the phases that copy state between the arrays of the engine and the caller's.
 *
 * They run on the world's device, so that observations on a GPU never pass through the host. The caller's arrays are in
 * order of grain ids and in SI units; gg_access (state/access.h) says which are given.
 */
#ifndef GG_ACCESS_H
#define GG_ACCESS_H

#include "../base/scalar.h"
#include "../solvers/spheres/clumps/clumps.h"
#include "../solvers/spheres/coloured/coloured.h"

GG_FN void gg_store3(float *array, int64_t at, gg_vec3 a) {
    array[3 * at] = a.x;
    array[3 * at + 1] = a.y;
    array[3 * at + 2] = a.z;
}

/* the same angle within -pi .. pi [rad], |angle| <= 1e9 */
GG_FN float gg_turn_within(float angle) {
    double turns = (double)angle * (0.5 / GG_PI), magic = 6755399441055744.0, shifted = turns + magic;
    return (float)((double)angle - (shifted - magic) * (2.0 * GG_PI));
}

/* item: grain id of an env */
GG_FN void gg_access_read_grain(const gg_view *v, int64_t e, int64_t id) {
    const gg_access *out = &v->access;
    int64_t slot = v->slot_of[e * v->dims.slots + id], at = e * v->dims.slots + slot;
    int64_t to = e * v->dims.grain_count + id;
    const float *body = gg_slot_body_at(v, e, slot);
    gg_vec4 x = v->position[at];
    if (out->position) {
        gg_store3(out->position, to, gg_v3(x.x, x.y, x.z));
    }
    if (out->velocity) {
        gg_store3(out->velocity, to, gg_v3(body[0], body[1], body[2]));
    }
    if (out->angular_velocity) {
        gg_vec3 u =
            gg_is_planar(&v->params) ? gg_v3(0.0f, 0.0f, body[GG_BODY_PLANAR_SPIN]) : gg_v3(body[4], body[5], body[6]);
        gg_store3(out->angular_velocity, to, gg_v3(u.x / x.w, u.y / x.w, u.z / x.w));
    }
    if (out->angle) {
        out->angle[to] = v->angle[e * v->dims.planar.slots + id];
    }
    if (out->radius) {
        out->radius[to] = x.w;
    }
    if (out->material) {
        out->material[to] = v->material[at];
    }
}

/* sets the given arrays in the listed envs. item: grain id of an env */
GG_FN void gg_access_write_grain(const gg_view *v, int64_t e, int64_t id) {
    const gg_access *in = &v->access;
    if (in->listed[e] < 0) {
        return;
    }
    int64_t slot = v->slot_of[e * v->dims.slots + id], at = e * v->dims.slots + slot;
    int64_t from = (in->listed[e] * v->dims.grain_count + id) * 3;
    float *body = gg_slot_body_at(v, e, slot);
    for (int c = 0; c < 3; c++) {
        if (c == 2 && gg_is_planar(&v->params) ? in->angle : in->position) {
            v->position_error[(e * v->dims.slots + id) * 3 + c] = 0.0f;
        }
    }
    if (in->angle) {
        v->angle[e * v->dims.planar.slots + id] = gg_turn_within(in->angle[in->listed[e] * v->dims.grain_count + id]);
    }
    if (in->position) {
        v->position[at].x = in->position[from];
        v->position[at].y = in->position[from + 1];
        v->position[at].z = in->position[from + 2];
        v->built_position[at] = v->position[at];
    }
    for (int c = 0; c < 3; c++) {
        if (in->velocity) {
            body[c] = in->velocity[from + c];
            v->velocity_error[(e * v->dims.slots + id) * 3 + c] = 0.0f;
        }
        if (in->angular_velocity && (c == 2 || !gg_is_planar(&v->params))) {
            body[4 + c] = in->angular_velocity[from + c] * v->position[at].w;
        }
    }
}

/* inverse masses of the listed envs, from radius and density; 0 of fixed grains. item: slot */
GG_FN void gg_access_set_mass_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    if (v->access.listed[e] < 0 || v->grain_id[at] < 0) {
        return;
    }
    float *body = gg_slot_body_at(v, e, i);
    int32_t material = v->material[at];
    int fixed = v->material_fixed[material];
    if (gg_is_planar(&v->params)) {
        const gg_outline *outline = &v->outlines[v->material_outline[material]];
        double mass = (double)v->density[e * v->dims.material_count + material] * outline->area;
        body[GG_BODY_INVERSE_MASS] = fixed ? 0.0f : (float)(1.0 / mass);
        body[GG_BODY_INVERSE_INERTIA] =
            fixed ? 0.0f : (float)((double)outline->radius * outline->radius / (mass * outline->gyration2));
        return;
    }
    if (v->dims.clumps.count) {
        const gg_clump_shape *shape = &v->clump_shape[v->clump_of[v->grain_id[at]]];
        double of_clump = gg_clump_density(v, e, shape) * shape->volume;
        body[GG_BODY_INVERSE_MASS] = fixed ? 0.0f : (float)(1.0 / of_clump);
        return;
    }
    double r = v->position[at].w;
    double density = v->density[e * v->dims.material_count + material];
    body[GG_BODY_INVERSE_MASS] = fixed ? 0.0f : (float)(1.0 / (density * (4.0 / 3.0) * GG_PI * r * r * r));
}

/* After grains were set: lists are built again; where new values were set and impulses are not kept, stored impulses are
 * dropped and `diverged` is cleared. item: env */
GG_FN void gg_access_invalidate_env(const gg_view *v, int64_t e) {
    if (v->access.listed[e] < 0) {
        return;
    }
    v->env[e].rebuild = 1;
    v->env[e].rested = 0;
    v->env[e].roused = v->env[e].some_asleep;
    v->env[e].drowsy = 0;
    if (!v->access.move && !v->access.keep_impulses) {
        v->env[e].dt_last = 0.0f;
        v->env[e].stats.diverged = 0;
        v->env[e].predicted = 0;
    }
}

GG_FN void gg_turn3(float *array, int64_t at, int64_t stride, float sine, float cosine) {
    float x = array[at], y = array[at + stride];
    array[at] = cosine * x - sine * y;
    array[at + stride] = sine * x + cosine * y;
}

/* Rotates a grain of a listed env about the world's z axis and translates it; velocities and stored impulses rotate
 * with it, so that a settled bed stays settled. item: occupied slot of an env */
GG_FN void gg_access_transform_grain(const gg_view *v, int64_t e, int64_t i) {
    if (v->access.listed[e] < 0) {
        return;
    }
    const float *move = v->access.move + v->access.listed[e] * 4;
    int64_t at = e * v->dims.slots + i;
    gg_vec4 *x = &v->position[at];
    float *body = gg_slot_body_at(v, e, i);
    float sine, cosine;
    gg_sincos(move[3], &sine, &cosine);
    float px = cosine * x->x - sine * x->y, py = sine * x->x + cosine * x->y;
    x->x = px + move[0];
    x->y = py + move[1];
    x->z += move[2];
    v->built_position[at] = *x;
    gg_turn3(body, 0, 1, sine, cosine);
    int64_t rests = (e * v->dims.slots + v->grain_id[at]) * 3;
    gg_turn3(v->velocity_error, rests, 1, sine, cosine);
    gg_turn3(v->position_error, rests, 1, sine, cosine);
    if (gg_is_planar(&v->params)) {
        /* spin is about the axis of rotation, and stored impulses are relative to the normals */
        float *angle = &v->angle[e * v->dims.planar.slots + v->grain_id[at]];
        *angle = gg_turn_within(*angle + move[3]);
        return;
    }
    gg_turn3(body, 4, 1, sine, cosine);
    float *impulse = gg_stored_impulses(v, e), *roll = gg_stored_torques(v, e);
    for (int32_t k = 0; v->dims.listed && v->env[e].dt_last > 0.0f && k < v->contact_count[at]; k++) {
        int64_t element = gg_stored_contact_at(v, e, at, k).impulse3;
        gg_turn3(impulse, element, GG_LANES, sine, cosine);
        if (v->dims.spheres.roll_rows) {
            gg_turn3(roll, element, GG_LANES, sine, cosine);
        }
    }
    int64_t id = v->grain_id[at], kept = (e * v->dims.sleep.slots + id) * GG_KEPT;
    for (int32_t k = 0; v->env[e].some_asleep && k < v->kept_count[e * v->dims.sleep.slots + id]; k++) {
        gg_turn3(&v->kept_impulse[kept + k].x, 0, 1, sine, cosine);
        gg_turn3(&v->kept_torque[kept + k].x, 0, 1, sine, cosine);
    }
}

/* mean force and torque over the last step of the env. item: component of a tool of an env */
GG_FN void gg_access_read_wrench(const gg_view *v, int64_t e, int64_t i) {
    int64_t all = v->dims.tool_count * 6, walls = GG_WALL_COUNT * 6;
    int wall = i < walls;
    float *out = wall ? v->access.wall_wrench : v->access.wrench;
    if (out) {
        double duration = (double)v->env[e].wrench_dt * v->env[e].wrench_substeps;
        out[wall ? e * walls + i : e * (all - walls) + i - walls] =
            duration > 0.0 ? (float)(v->wrench[e * all + i] / duration) : 0.0f;
    }
}

/* a pixel of one camera, clipped. item: pixel of an env */
GG_FN void gg_access_read_pixel(const gg_view *v, int64_t e, int64_t i) {
    const gg_access *a = &v->access;
    float depth = v->depth[e * v->dims.pixels + a->pixel_first + i];
    int64_t to = e * a->pixel_count + i;
    if (a->metres) {
        a->metres[to] = gg_minf(gg_maxf(depth, a->depth_near), a->depth_far);
    }
    if (a->bytes) {
        float share = gg_minf(gg_maxf((depth - a->depth_near) / a->depth_span, 0.0f), 1.0f);
        /* adding 1.5 * 2^23 rounds to an integer */
        float shifted = share * 255.0f + 12582912.0f;
        a->bytes[to] = (uint8_t)(shifted - 12582912.0f);
    }
}

/* distance of a grain to a box of its env [m] */
GG_FN float gg_access_box_distance(const gg_view *v, int64_t e, int64_t id, int64_t number) {
    const float *box = v->access.boxes + (e * v->access.box_count + number) * 6;
    gg_vec4 x = v->position[e * v->dims.slots + v->slot_of[e * v->dims.slots + id]];
    return gg_norm(gg_v3(gg_maxf(gg_maxf(box[0] - x.x, x.x - box[3]), 0.0f),
                         gg_maxf(gg_maxf(box[1] - x.y, x.y - box[4]), 0.0f),
                         gg_maxf(gg_maxf(box[2] - x.z, x.z - box[5]), 0.0f)));
}

/* grains that are summed sequentially; these partial sums are then added */
#define GG_BOX_RUN 32

/* sums over the run-th GG_BOX_RUN grains of a block, in order of ids */
GG_FN gg_box_stats gg_access_box_run(const gg_view *v, int64_t e, int64_t block, int64_t run, int64_t number) {
    gg_box_stats sum = GG_ZERO;
    int64_t begin = block * GG_BLOCK + run * GG_BOX_RUN, end = GG_MIN(begin + GG_BOX_RUN, v->dims.grain_count);
    for (int64_t id = begin; id < end; id++) {
        float distance = gg_access_box_distance(v, e, id, number);
        sum.distance_sum += distance;
        sum.count += distance == 0.0f;
    }
    return sum;
}

GG_FN void gg_box_stats_add(gg_box_stats *all, gg_box_stats one) {
    all->distance_sum += one.distance_sum;
    all->count += one.count;
}

/* grains of one block in one of the boxes of their env. item: block; pass: number of the box */
GG_FN void gg_access_box_block(const gg_view *v, int64_t e, int64_t block, int32_t pass) {
    gg_box_stats sum = GG_ZERO;
    for (int64_t run = 0; run < GG_BLOCK / GG_BOX_RUN; run++) {
        gg_box_stats_add(&sum, gg_access_box_run(v, e, block, run, pass));
    }
    v->box_partial[e * v->dims.blocks + block] = sum;
}

/* item: env; pass: number of the box */
GG_FN void gg_access_box_env(const gg_view *v, int64_t e, int32_t pass) {
    gg_box_stats sum = GG_ZERO;
    for (int64_t block = 0; block < v->dims.blocks; block++) {
        gg_box_stats_add(&sum, v->box_partial[e * v->dims.blocks + block]);
    }
    int64_t at = e * v->access.box_count + pass;
    v->access.box_grains[at] = (int64_t)sum.count;
    v->access.box_distance[at] = v->dims.grain_count ? (float)(sum.distance_sum / (double)v->dims.grain_count) : 0.0f;
}

#endif
