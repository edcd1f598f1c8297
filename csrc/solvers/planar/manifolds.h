/* manifolds.h: samples the pair fields of candidates for their contact points. See planar.h.
 *
 * A pair is in two candidate lists; the grain with the lower id finds the manifold and stores it parallel to its own
 * list, where the other one reads it. The first shape of a field is the one with the lower index; of two equal shapes
 * it is the one with the lower id.
 */
#ifndef GG_PLANAR_PAIRS_H
#define GG_PLANAR_PAIRS_H

#include "../../contact/narrow.h"
#include "planar.h"

/* outline of the grain in a slot */
GG_FN const gg_outline *gg_outline_of(const gg_view *v, int64_t e, int64_t i) {
    return &v->outlines[v->material_outline[v->material[e * v->dims.slots + i]]];
}

/* the field of two outlines, a <= b */
GG_FN const gg_pair_field *gg_pair_field_of(const gg_view *v, int32_t a, int32_t b) {
    return &v->pair_fields[(int64_t)a * v->dims.planar.outline_count + b];
}

/* spacing of the nodes of a field along its angle [rad] */
GG_FN float gg_pair_field_step(const gg_pair_field *field) {
    return (float)(2.0 * GG_PI) / (float)(field->theta_count * field->fold_b);
}

/* a bound on the velocity of any point of a planar grain [m/s] */
GG_FN float gg_planar_speed(const float *body) {
    return sqrtf(body[0] * body[0] + body[1] * body[1]) + gg_absf(body[GG_BODY_PLANAR_SPIN]);
}

GG_FN float gg_planar_angle(const gg_view *v, int64_t e, int64_t i) {
    return v->angle[e * v->dims.planar.slots + v->grain_id[e * v->dims.slots + i]];
}

/* A contact point from a sample at a pose rotated by `turn` from the present one. `t`: from A to B in A's frame. */
GG_FN gg_manifold_point gg_manifold_point_of(gg_pair_sample s, float turn, float tx, float ty, float radius_a,
                                             float radius_b) {
    gg_manifold_point point;
    point.gap = s.d - turn * s.dtheta;
    point.nx = s.nx;
    point.ny = s.ny;
    point.cn_b = s.dtheta / radius_b;
    point.cn_a = (s.dtheta + tx * s.ny - ty * s.nx) / radius_a;
    point.ct_a = s.arm_a / radius_a;
    point.ct_b = (s.d - (tx * s.nx + ty * s.ny) + s.arm_a) / radius_b;
    return point;
}

/* The contact points of slots a and b, a's shape being the first of their field. reach: points with a larger gap are
 * left out [m]; sides: whether the field is also sampled at angles to both sides. */
GG_FN void gg_manifold_find(const gg_view *v, int64_t e, int32_t a, int32_t b, float reach, int sides,
                            gg_manifold *out) {
    int64_t base = e * v->dims.slots;
    const gg_vec4 *x = v->position + base;
    int32_t shape_a = v->material_outline[v->material[base + a]], shape_b = v->material_outline[v->material[base + b]];
    const gg_pair_field *field = gg_pair_field_of(v, shape_a, shape_b);
    float radius_a = v->outlines[shape_a].radius, radius_b = v->outlines[shape_b].radius;
    float angle = gg_planar_angle(v, e, a), theta = gg_planar_angle(v, e, b) - angle, sine, cosine;
    gg_sincos(angle, &sine, &cosine);
    gg_vec3 apart = gg_separation(&v->params, x[b], x[a]);
    float tx = cosine * apart.x + sine * apart.y, ty = cosine * apart.y - sine * apart.x;
    gg_pair_probe probe;
    gg_pair_open(&probe, field, v->pair_data, tx, ty);
    gg_pair_sample here = gg_pair_at(&probe, theta);
    float turn = sides ? GG_PLANAR_TURN * gg_pair_field_step(field) : 0.0f;
    /* rotation by `turn` changes a gap by at most `turn` times the smaller circumradius */
    if (here.d >= reach + turn * gg_minf(radius_a, radius_b)) {
        return;
    }
    gg_manifold_point points[GG_PLANAR_ROWS];
    int32_t count = 0;
    points[count++] = gg_manifold_point_of(here, 0.0f, tx, ty, radius_a, radius_b);
    float slack = 0.002f * gg_minf(radius_a, radius_b), scale = gg_minf(radius_a, radius_b);
    for (int side = -1; sides && side <= 1; side += 2) {
        float by = turn * (float)side;
        gg_pair_sample s = gg_pair_at(&probe, theta + by);
        float gap = s.d - by * s.dtheta;
        float dx = s.nx - here.nx, dy = s.ny - here.ny, dc = (s.dtheta - here.dtheta) / scale;
        /* a further contact must differ in its normal or arm, and be no deeper than the pair as a whole */
        if (gap >= reach || gap < here.d - slack || dx * dx + dy * dy + dc * dc < 0.15f * 0.15f) {
            continue;
        }
        /* a normal that rotated along with B is that of the same face: at the present angle it is the pair's */
        if (dx * dx + dy * dy < 1.6f * 1.6f * by * by) {
            s.nx = here.nx;
            s.ny = here.ny;
        }
        points[count++] = gg_manifold_point_of(s, by, tx, ty, radius_a, radius_b);
    }
    for (int32_t k = 0; k < count; k++) {
        if (points[k].gap >= reach) {
            continue;
        }
        float nx = cosine * points[k].nx - sine * points[k].ny, ny = sine * points[k].nx + cosine * points[k].ny;
        points[k].nx = nx;
        points[k].ny = ny;
        points[k].which = k;
        out->point[out->count++] = points[k];
    }
}

/* Finds the manifolds of a slot with grains of higher ids. Springs have one contact point, and only where shapes
 * overlap. item: slot */
GG_FN void gg_manifold_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t base = e * v->dims.slots;
    int32_t id = v->grain_id[base + i];
    if (id < 0) {
        return;
    }
    int springs = v->params.mode == GG_MODE_PENALTY;
    const gg_vec4 *x = v->position + base;
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    int64_t first = v->candidate_first[base + i];
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + first;
    gg_manifold *pairs = v->manifold + e * v->dims.planar.manifolds + first;
    for (int32_t k = 0; k < v->candidate_count[base + i]; k++) {
        int32_t j = list[k];
        pairs[k].count = 0;
        if (v->grain_id[base + j] < id || (bodies[i * GG_BODY + GG_BODY_INVERSE_MASS] == 0.0f &&
                                           bodies[(int64_t)j * GG_BODY + GG_BODY_INVERSE_MASS] == 0.0f)) {
            continue;
        }
        float reach = 0.0f;
        if (!springs) {
            float closing = gg_planar_speed(bodies + i * GG_BODY) + gg_planar_speed(bodies + (int64_t)j * GG_BODY);
            reach = v->params.margin * 2.0f * gg_minf(x[i].w, x[j].w) + closing * v->params.foresight;
        }
        float apart = x[i].w + x[j].w + reach;
        if (gg_norm2(gg_separation(&v->params, x[i], x[j])) >= apart * apart) {
            continue;
        }
        /* of two equal shapes this grain, which has the lower id, is the first */
        int swapped = v->material_outline[v->material[base + i]] > v->material_outline[v->material[base + j]];
        gg_manifold_find(v, e, swapped ? j : (int32_t)i, swapped ? (int32_t)i : j, reach, !springs, &pairs[k]);
        pairs[k].swapped = swapped;
    }
}

/* the manifold of slot i and its candidate k, wherever it is stored; *second: slot i is the second of its field */
GG_FN const gg_manifold *gg_manifold_at(const gg_view *v, int64_t e, int32_t i, int32_t k, int *second) {
    int64_t base = e * v->dims.slots, first = v->candidate_first[base + i];
    const gg_manifold *pairs = v->manifold + e * v->dims.planar.manifolds;
    const int32_t *candidate = v->candidate + e * v->dims.candidate_cap;
    int32_t j = candidate[first + k], id = v->grain_id[base + i];
    if (id < v->grain_id[base + j]) {
        *second = pairs[first + k].swapped;
        return &pairs[first + k];
    }
    /* lists are in order of ids */
    int64_t low = v->candidate_first[base + j], high = low + v->candidate_count[base + j] - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (v->grain_id[base + candidate[middle]] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *second = !pairs[low].swapped;
    return &pairs[low];
}

#endif
