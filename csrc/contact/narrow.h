/* narrow.h: from candidates to contacts: gap, normal and relative motion of one grain with another grain or a tool part.
 *
 * A contact exists where the gap is below a speculative margin: a share of the diameter, plus the way that the two sides
 * can make towards each other within the substep. Foreseen contacts only forbid closing faster than the gap allows, so
 * that grains neither tunnel nor jitter on and off. All values are exactly antisymmetric between the two sides.
 */
#ifndef GG_NARROW_H
#define GG_NARROW_H

#include "../geometry/sdf.h"
#include "separation.h"

typedef struct gg_touch {
    float gap; /* distance of the surfaces, negative: overlap [m]; meaningless where not active */
    int active;
} gg_touch;

GG_FN gg_vec3 gg_body_velocity(const float *rows, int64_t row) {
    float own[GG_BODY];
    gg_body_load(rows + row * GG_BODY, own);
    return gg_v3(own[0], own[1], own[2]);
}

/* direction of two grains whose centres coincide: opposite for the two, by id */
GG_FN gg_vec3 gg_coincident_normal(int32_t id, int32_t other_id) {
    return gg_v3(0.0f, 0.0f, id > other_id ? 1.0f : -1.0f);
}

/* how two materials meet in env e */
GG_FN const gg_pair *gg_pair_of(const gg_view *v, int64_t e, int32_t a, int32_t b) {
    int64_t m = v->dims.material_count;
    return &v->pair[(e * m + a) * m + b];
}

/* surfaces closer than this attract each other [m] */
GG_FN float gg_pair_attraction_range(const gg_pair *pair) {
    return pair->cohesion > 0.0f ? pair->cohesion_range : 0.0f;
}

/* whether slots i and j of env e are in contact, foreseen contacts and those that attract included */
GG_FN int gg_pair_active(const gg_view *v, int64_t e, int32_t i, int32_t j) {
    const gg_vec4 *x = v->position + e * v->dims.slots;
    float foreseen = x[i].w + x[j].w + v->params.margin * 2.0f * gg_minf(x[i].w, x[j].w);
    float distance2 = gg_norm2(gg_separation(&v->params, x[i], x[j]));
    if (distance2 < foreseen * foreseen) {
        return 1;
    }
    /* no two grains close faster than twice the fastest: most pairs that are apart need no look at their velocities */
    float most = foreseen + gg_maxf(2.0001f * v->env[e].speed_max * v->params.foresight, v->env[e].cohesion_range);
    if (distance2 >= most * most) {
        return 0;
    }
    const float *rows = v->body_a + e * v->dims.bodies * GG_BODY;
    gg_vec3 closing = gg_sub(gg_body_velocity(rows, i), gg_body_velocity(rows, j));
    foreseen += gg_norm(closing) * v->params.foresight;
    if (v->env[e].cohesion_range > 0.0f) {
        const int32_t *material = v->material + e * v->dims.slots;
        foreseen =
            gg_maxf(foreseen, x[i].w + x[j].w + gg_pair_attraction_range(gg_pair_of(v, e, material[i], material[j])));
    }
    return distance2 < foreseen * foreseen;
}

/* velocity of the material point of a part that passes world point x [m/s] */
GG_FN gg_vec3 gg_part_velocity(const gg_part_pose *pose, gg_vec3 x) {
    return gg_add(pose->velocity, gg_cross(pose->angular_velocity, gg_sub(x, pose->tool_position)));
}

/* the most that the fastest grain or tool of an env can add to a margin [m]; bounded, so that one grain in free fall
 * outside does not turn every wall into a contact of every grain */
GG_FN float gg_speed_margin(const gg_view *v, int64_t e) {
    return gg_minf(v->params.foresight * v->env[e].speed_max, 2.0f * v->params.radius_max);
}

/* a ball: parts that it does not reach touch no grain of a slice */
typedef struct gg_slice_ball {
    gg_vec3 middle;
    float reach;
} gg_slice_ball;

GG_FN gg_slice_ball gg_slice_ball_of(const gg_view *v, int64_t e, int64_t slice) {
    const gg_vec4 *x = v->position + e * v->dims.slots + slice * GG_LANES;
    const int32_t *id = v->grain_id + e * v->dims.slots + slice * GG_LANES;
    gg_vec3 low = gg_v3(1e30f, 1e30f, 1e30f), high = gg_v3(-1e30f, -1e30f, -1e30f);
    float radius = 0.0f;
    for (int lane = 0; lane < GG_LANES; lane++) {
        if (id[lane] >= 0) {
            low = gg_v3(gg_minf(low.x, x[lane].x), gg_minf(low.y, x[lane].y), gg_minf(low.z, x[lane].z));
            high = gg_v3(gg_maxf(high.x, x[lane].x), gg_maxf(high.y, x[lane].y), gg_maxf(high.z, x[lane].z));
            radius = gg_maxf(radius, x[lane].w);
        }
    }
    gg_slice_ball ball;
    gg_vec3 middle = gg_scale(gg_add(low, high), 0.5f);
    float reach = gg_norm(gg_sub(high, middle)) + radius * (1.0f + 2.0f * v->params.margin) + gg_speed_margin(v, e) +
                  v->params.foresight * v->env[e].speed_max + v->env[e].cohesion_range;
    ball.middle = middle;
    ball.reach = reach * 1.0001f + 1e-5f * (gg_absf(middle.x) + gg_absf(middle.y) + gg_absf(middle.z));
    return ball;
}

/* Whether some grain of a slice may touch a part. A signed distance changes by no more than the way one goes, so the
 * distance at the middle of the slice bounds it for all its grains. */
GG_FN int gg_slice_near(const gg_view *v, int64_t e, gg_slice_ball ball, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_sub(ball.middle, pose->position));
    float distance = gg_sdf_bound(shape, local);
    if (distance <= ball.reach && shape->kind != GG_SHAPE_GRID) {
        distance = gg_sdf_distance(shape, v->grids, v->samples, local);
    }
    return distance <= ball.reach;
}

/* parts that some grain of a slice may touch, as bits; parts from 64 on count as near */
GG_FN uint64_t gg_slice_parts(const gg_view *v, int64_t e, int64_t slice) {
    gg_slice_ball ball = gg_slice_ball_of(v, e, slice);
    uint64_t bits = 0;
    for (int64_t part = 0; part < v->dims.part_count && part < 64; part++) {
        bits |= gg_slice_near(v, e, ball, part) ? (uint64_t)1 << part : 0;
    }
    return bits;
}

/* The first part from `part` on that some grain of a slice may touch, where gg_slice_parts gave `near`; part_count: none. */
GG_FN int64_t gg_next_part(const gg_view *v, uint64_t near, int64_t part) {
    if (part < 64) {
        uint64_t left = near >> part;
        part = left ? part + gg_bit_lowest(left) : 64;
    }
    return GG_MIN(part, v->dims.part_count);
}

/* Contact of slot i with a part; the normal is left to gg_part_normal. Beyond its own motion the margin covers the fastest
 * grain of the env, as a neighbour may throw this one at the tool within the substep. */
GG_FN gg_touch gg_touch_part(const gg_view *v, int64_t e, int32_t i, int64_t part) {
    const gg_vec4 *x4 = v->position + e * v->dims.slots + i;
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_vec3 x = gg_v3(x4->x, x4->y, x4->z);
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_sub(x, pose->position));
    float thrown = v->params.margin * 2.0f * x4->w + gg_speed_margin(v, e);
    /* most parts are far: a bound on the margin spares their motion, a bound on the distance spares the field */
    float most = gg_maxf(thrown + v->params.foresight * v->env[e].speed_max, v->env[e].cohesion_range);
    gg_touch t;
    t.active = 0;
    t.gap = 0.0f;
    if (gg_sdf_bound(shape, local) > x4->w + most) {
        return t;
    }
    t.gap = gg_sdf_distance(shape, v->grids, v->samples, local) - x4->w;
    if (t.gap >= most) {
        return t;
    }
    gg_vec3 own = gg_sub(gg_body_velocity(v->body_a + e * v->dims.bodies * GG_BODY, i), gg_part_velocity(pose, x));
    t.active = t.gap < thrown + v->params.foresight * gg_norm(own);
    if (!t.active && v->env[e].cohesion_range > 0.0f) {
        t.active =
            t.gap < gg_pair_attraction_range(gg_pair_of(v, e, v->material[e * v->dims.slots + i], shape->material));
    }
    return t;
}

/* outward normal of a part at the centre of slot i, world */
GG_FN gg_vec3 gg_part_normal(const gg_view *v, int64_t e, int32_t i, int64_t part) {
    const gg_vec4 *x4 = v->position + e * v->dims.slots + i;
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_sub(gg_v3(x4->x, x4->y, x4->z), pose->position));
    gg_sdf_hit hit = gg_sdf_eval(&v->parts[part], v->grids, v->samples, local);
    return gg_mat_mul(pose->rotation, hit.gradient);
}

#endif
