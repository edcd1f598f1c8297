/* narrow.h: the narrow phase: which candidates are contacts; gap and normal of a grain and a part of a tool.
 *
 * A contact exists where the gap is below a speculative margin: a share of the diameter plus the distance by which the
 * two sides can approach each other within the substep; grains also by the distance that the faster one moves, for the
 * other, which falls as fast, may be stopped; and where many grains are fast by how far these move (GG_HURRY), for one
 * that hardly moves may be hit from behind. A speculative contact only forbids closing faster than the gap
 * allows, so that grains neither tunnel nor jitter on and off. Everything is exactly antisymmetric between the two
 * sides.
 */
#ifndef GG_NARROW_H
#define GG_NARROW_H

#include "../geometry/sdf.h"
#include "separation.h"

/* Where more than one of GG_HURRIED grains moves by over GG_HURRY diameters in a substep, as in a bed that falls with long
 * steps, any grain may be thrown at its neighbours in the substep in which it is hit: all contacts are foreseen as far as
 * the fastest grain moves beyond that, up to GG_CROWD diameters. Else grains that were apart end deep in each other. */
#define GG_HURRY   0.1f
#define GG_HURRIED 8
#define GG_CROWD   0.25f

typedef struct gg_touch {
    float gap; /* [m]; meaningless where not active */
    int active;
} gg_touch;

GG_FN gg_vec3 gg_body_velocity(const float *bodies, int64_t index) {
    float body[GG_BODY];
    gg_body_load(bodies + index * GG_BODY, body);
    return gg_v3(body[0], body[1], body[2]);
}

/* normal of two grains whose centres coincide: opposite for the two, by id */
GG_FN gg_vec3 gg_coincident_normal(int32_t id, int32_t other_id) {
    return gg_v3(0.0f, 0.0f, id > other_id ? 1.0f : -1.0f);
}

/* contact parameters of two materials in env e */
GG_FN const gg_pair *gg_pair_of(const gg_view *v, int64_t e, int32_t a, int32_t b) {
    int64_t m = v->dims.material_count;
    return &v->pair[(e * m + a) * m + b];
}

/* gap below which the surfaces attract each other [m] */
GG_FN float gg_pair_attraction_range(const gg_pair *pair) {
    return pair->cohesion > 0.0f ? pair->cohesion_range : 0.0f;
}

/* The speed with which two grains may come nearer in a substep: that of their approach, or of the faster one. */
GG_FN float gg_approach(gg_vec3 a, gg_vec3 b) {
    return sqrtf(gg_maxf(gg_norm2(gg_sub(a, b)), gg_maxf(gg_norm2(a), gg_norm2(b))));
}

/* The margin of every contact of grains beyond gg_params.margin [m], from the speed of the fastest grain and how many
 * hurry. None where contacts share the mass of a grain: the more are listed, the less each of them may do. */
GG_FN float gg_crowd_margin_of(const gg_view *v, float speed, int32_t hurried) {
    const gg_params *p = &v->params;
    float diameter = 2.0f * p->radius_min;
    int crowd = gg_has_owners(p) && (int64_t)hurried * GG_HURRIED > v->dims.grain_count;
    return crowd ? gg_clampf(p->foresight * speed - GG_HURRY * diameter, 0.0f, GG_CROWD * diameter) : 0.0f;
}

/* gap below which two grains are in contact whatever their speeds [m]; r, s: their radii */
GG_FN float gg_pair_margin(const gg_view *v, int64_t e, float r, float s) {
    return v->params.margin * 2.0f * gg_minf(r, s) + v->env[e].crowd_margin;
}

/* whether slots i and j of env e are in contact; speculative and attracting contacts count */
GG_FN int gg_pair_active(const gg_view *v, int64_t e, int32_t i, int32_t j) {
    const gg_vec4 *x = v->position + e * v->dims.slots;
    float reach = x[i].w + x[j].w + gg_pair_margin(v, e, x[i].w, x[j].w);
    float distance2 = gg_norm2(gg_separation(&v->params, x[i], x[j]));
    if (distance2 < reach * reach) {
        return 1;
    }
    /* no pair closes faster than twice the fastest grain: for most pairs that are apart no velocity is read */
    float reach_max = reach + gg_maxf(2.0001f * v->env[e].speed_max * v->params.foresight, v->env[e].cohesion_range);
    if (distance2 >= reach_max * reach_max) {
        return 0;
    }
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    reach += gg_approach(gg_body_velocity(bodies, i), gg_body_velocity(bodies, j)) * v->params.foresight;
    if (v->env[e].cohesion_range > 0.0f) {
        const int32_t *material = v->material + e * v->dims.slots;
        const gg_pair *pair = gg_pair_of(v, e, material[i], material[j]);
        reach = gg_maxf(reach, x[i].w + x[j].w + gg_pair_attraction_range(pair));
    }
    return distance2 < reach * reach;
}

/* x - y, where y is of a part: to its nearest image if a clump carries it, for that goes round through faces */
GG_FN gg_vec3 gg_part_offset(const gg_view *v, int64_t part, gg_vec3 x, gg_vec3 y) {
    if (gg_clump_of_tool(v, v->parts[part].tool) < 0) {
        return gg_sub(x, y);
    }
    gg_vec4 a = {x.x, x.y, x.z, 0.0f}, b = {y.x, y.y, y.z, 0.0f};
    return gg_separation(&v->params, a, b);
}

/* velocity of a part at world point x [m/s] */
GG_FN gg_vec3 gg_part_velocity(const gg_view *v, int64_t e, int64_t part, gg_vec3 x) {
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    return gg_add(pose->velocity, gg_cross(pose->angular_velocity, gg_part_offset(v, part, x, pose->tool_position)));
}

/* what the fastest grain or tool of an env adds to a margin [m]; bounded, so that one grain in free fall far outside
 * does not turn every wall into a contact of every grain */
GG_FN float gg_speed_margin(const gg_view *v, int64_t e) {
    return gg_minf(v->params.foresight * v->env[e].speed_max, 2.0f * v->params.radius_max);
}

/* bounding sphere of the grains of a slice and their margins: a part outside of it touches none of them */
typedef struct gg_slice_ball {
    gg_vec3 center;
    float radius; /* [m] */
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
    gg_vec3 center = gg_scale(gg_add(low, high), 0.5f);
    float reach = gg_norm(gg_sub(high, center)) + radius * (1.0f + 2.0f * v->params.margin) + gg_speed_margin(v, e) +
                  v->params.foresight * v->env[e].speed_max + v->env[e].cohesion_range;
    ball.center = center;
    ball.radius = reach * 1.0001f + 1e-5f * (gg_absf(center.x) + gg_absf(center.y) + gg_absf(center.z));
    return ball;
}

/* Whether some grain of a slice may touch a part. A signed distance is 1-Lipschitz, so its value at the centre of the
 * slice bounds it for all its grains. */
GG_FN int gg_slice_near(const gg_view *v, int64_t e, gg_slice_ball ball, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    if (!pose->active) {
        return 0;
    }
    if (gg_clump_of_tool(v, shape->tool) >= 0 && gg_goes_round(&v->params)) {
        return 1; /* the nearest image of a part is not the same for all grains of a slice */
    }
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_sub(ball.center, pose->position));
    float distance = gg_sdf_bound(shape, local);
    if (distance <= ball.radius && shape->kind != GG_SHAPE_GRID) {
        distance = gg_sdf_distance(shape, v->grids, v->samples, local);
    }
    return distance <= ball.radius;
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

/* the first part from `part` on that is among `near`, the bits of gg_slice_parts; part_count: none */
GG_FN int64_t gg_next_part(const gg_view *v, uint64_t near, int64_t part) {
    if (part < 64) {
        uint64_t from_part = near >> part;
        part = from_part ? part + gg_bit_lowest(from_part) : 64;
    }
    return GG_MIN(part, v->dims.part_count);
}

/* Contact of slot i with a part; gg_part_normal gives the normal. The margin covers the speed of the fastest grain of
 * the env too, as a neighbour may throw this grain at the tool within the substep. */
GG_FN gg_touch gg_touch_part(const gg_view *v, int64_t e, int32_t i, int64_t part) {
    const gg_vec4 *x4 = v->position + e * v->dims.slots + i;
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_vec3 x = gg_v3(x4->x, x4->y, x4->z);
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_part_offset(v, part, x, pose->position));
    float margin = v->params.margin * 2.0f * x4->w + gg_speed_margin(v, e);
    /* most parts are far: bounds on the margin and on the distance reject them before field and velocity are read */
    float margin_max = gg_maxf(margin + v->params.foresight * v->env[e].speed_max, v->env[e].cohesion_range);
    gg_touch t;
    t.active = 0;
    t.gap = 0.0f;
    if (!pose->active || gg_own_surface(v, e, i, shape->tool) || gg_sdf_bound(shape, local) > x4->w + margin_max) {
        return t;
    }
    t.gap = gg_sdf_distance(shape, v->grids, v->samples, local) - x4->w;
    if (t.gap >= margin_max) {
        return t;
    }
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    gg_vec3 relative = gg_sub(gg_body_velocity(bodies, i), gg_part_velocity(v, e, part, x));
    t.active = t.gap < margin + v->params.foresight * gg_norm(relative);
    if (!t.active && v->env[e].cohesion_range > 0.0f) {
        const gg_pair *pair = gg_pair_of(v, e, v->material[e * v->dims.slots + i], shape->material);
        t.active = t.gap < gg_pair_attraction_range(pair);
    }
    return t;
}

/* outward normal of a part at the centre of slot i, in world axes */
GG_FN gg_vec3 gg_part_normal(const gg_view *v, int64_t e, int32_t i, int64_t part) {
    const gg_vec4 *x4 = v->position + e * v->dims.slots + i;
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_part_offset(v, part, gg_v3(x4->x, x4->y, x4->z), pose->position));
    gg_sdf_hit hit = gg_sdf_eval(&v->parts[part], v->grids, v->samples, local);
    return gg_mat_mul(pose->rotation, hit.gradient);
}

#endif
