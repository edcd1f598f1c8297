/* touches.h: where the outline of a grain touches a part of a tool. See planar.h.
 *
 * An outline touches a part at its corners, and at its nearest points between corners. Of a straight edge that lies level
 * with the part, over a stretch that ends before the edge does, both ends touch, so that it rests there. Where the part is
 * narrower than the way from one point to the next, as the tip of a peg or the edge of a plate, places on that way touch,
 * which are nearer than both points: the ends of the stretch that is level, or its middle where it is short. The normal of
 * such a place is that of the way, along which the distance does not change. Distances from a convex part have no more than
 * one level stretch on a straight way.
 */
#ifndef GG_PLANAR_TOUCHES_H
#define GG_PLANAR_TOUCHES_H

#include "manifolds.h"

/* slope of the distance along a way below which it counts as level, what it must be less in the middle than at the ends on
 * average, over the way, where a place on it may be nearer than both, halvings that find where that is, and the length of
 * a short stretch over that of the way */
#define GG_PLANAR_LEVEL    0.05f
#define GG_PLANAR_BENT     0.01f
#define GG_PLANAR_HALVINGS 8
#define GG_PLANAR_SHORT    0.1f
/* places of a point: itself, and the ends of a level stretch on the way to the one after it */
#define GG_PLANAR_PLACES 3

/* a place of an outline that touches a part */
typedef struct gg_planar_touch {
    int32_t which;  /* GG_PLANAR_PLACES point + place */
    gg_vec3 at;     /* from the centre of the grain, world [m] */
    gg_vec3 normal; /* out of the part, in the plane */
    float gap;      /* [m] */
} gg_planar_touch;

/* keys of the places of all outlines on one part */
GG_FN int64_t gg_planar_keys_of_part(const gg_view *v) { return GG_PLANAR_PLACES * v->dims.planar.outline_points; }

GG_FN int32_t gg_planar_tool_key(const gg_view *v, int64_t part, int32_t which) {
    return (int32_t)(-1 - (part * gg_planar_keys_of_part(v) + which));
}

GG_FN int64_t gg_planar_part_of_key(const gg_view *v, int32_t key) {
    return (-1 - (int64_t)key) / gg_planar_keys_of_part(v);
}

/* the outline of a grain on its way past a part */
typedef struct gg_planar_look {
    const gg_shape *shape;
    const gg_part_pose *pose;
    const gg_outline *outline;
    gg_vec3 center;
    float sine, cosine;
    float reach;            /* a place with a larger gap does not touch [m] */
    int32_t next;           /* the first place not yet seen, see gg_planar_touch */
    float end;              /* of a level stretch on the way from its point, over the way; 0: there is none */
    int32_t known_point[3]; /* points whose gaps were asked for last, -1: none */
    float known_gap[3];
} gg_planar_look;

GG_FN gg_outline_point gg_planar_outline_point(const gg_view *v, const gg_planar_look *look, int32_t point) {
    return v->outline_point[look->outline->first_point + point];
}

GG_FN gg_vec3 gg_planar_point(const gg_view *v, const gg_planar_look *look, int32_t point) {
    gg_outline_point p = gg_planar_outline_point(v, look, point);
    return gg_v3(look->cosine * p.x - look->sine * p.y, look->sine * p.x + look->cosine * p.y, 0.0f);
}

GG_FN gg_vec3 gg_planar_local(const gg_planar_look *look, gg_vec3 at) {
    return gg_mat_tmul(look->pose->rotation, gg_sub(gg_add(look->center, at), look->pose->position));
}

GG_FN float gg_planar_gap_at(const gg_view *v, const gg_planar_look *look, gg_vec3 at) {
    return gg_sdf_distance(look->shape, v->grids, v->samples, gg_planar_local(look, at));
}

GG_FN_LARGE float gg_planar_gap(const gg_view *v, gg_planar_look *look, int32_t point) {
    float gap = 0.0f;
    int known = 0;
    for (int k = 0; k < 3; k++) {
        known |= look->known_point[k] == point;
        gap = look->known_point[k] == point ? look->known_gap[k] : gap;
    }
    if (known) {
        return gap;
    }
    for (int k = 0; k < 2; k++) {
        look->known_point[k] = look->known_point[k + 1];
        look->known_gap[k] = look->known_gap[k + 1];
    }
    look->known_point[2] = point;
    look->known_gap[2] = gg_planar_gap_at(v, look, gg_planar_point(v, look, point));
    return look->known_gap[2];
}

/* the distance at a place, and its gradient in world axes */
GG_FN_LARGE gg_sdf_hit gg_planar_hit(const gg_view *v, const gg_planar_look *look, gg_vec3 at) {
    gg_sdf_hit hit = gg_sdf_eval(look->shape, v->grids, v->samples, gg_planar_local(look, at));
    hit.gradient = gg_mat_mul(look->pose->rotation, hit.gradient);
    return hit;
}

/* Looks at slot i, whose angle is known, beside a part; 0: it is further away than `reach`. */
GG_FN int gg_planar_look_at(const gg_view *v, int64_t e, int64_t i, int64_t part, const gg_part_pose *pose, float reach,
                            gg_planar_look *look) {
    gg_vec4 x = v->position[e * v->dims.slots + i];
    look->shape = &v->parts[part];
    look->pose = pose;
    look->outline = gg_outline_of(v, e, i);
    look->center = gg_v3(x.x, x.y, x.z);
    look->reach = reach;
    look->next = 0;
    look->end = 0.0f;
    for (int k = 0; k < 3; k++) {
        look->known_point[k] = -1;
        look->known_gap[k] = 0.0f;
    }
    gg_vec3 middle = gg_planar_local(look, gg_v3(0.0f, 0.0f, 0.0f));
    if (gg_sdf_bound(look->shape, middle) > x.w + reach ||
        gg_sdf_distance(look->shape, v->grids, v->samples, middle) > x.w + reach) {
        return 0;
    }
    gg_sincos(gg_planar_angle(v, e, i), &look->sine, &look->cosine);
    return 1;
}

/* slope of the distance at a place, on the way to another; gradient: there */
GG_FN float gg_planar_slope_by(gg_vec3 gradient, gg_vec3 at, gg_vec3 to) {
    gg_vec3 way = gg_sub(to, at);
    return gg_dot(gradient, way) / gg_maxf(gg_norm(way), 1e-30f);
}
GG_FN float gg_planar_slope(const gg_view *v, const gg_planar_look *look, gg_vec3 at, gg_vec3 to) {
    return gg_planar_slope_by(gg_planar_hit(v, look, at).gradient, at, to);
}

/* whether a point that is near enough touches */
GG_FN_LARGE int gg_planar_point_touches(const gg_view *v, gg_planar_look *look, int32_t point, float gap,
                                        gg_planar_touch *touch) {
    gg_outline_point p = gg_planar_outline_point(v, look, point);
    gg_vec3 at = gg_planar_point(v, look, point), before = at, after = at;
    int between = p.kind != GG_OUTLINE_CORNER, nearest = 1;
    if (between) {
        before = gg_planar_point(v, look, p.before);
        after = gg_planar_point(v, look, p.after);
        float back = gg_planar_gap(v, look, p.before) - gap, ahead = gg_planar_gap(v, look, p.after) - gap;
        /* of equally near ones the last; else one at which a level stretch of a straight edge ends */
        nearest = back >= 0.0f && ahead > 0.0f;
        if (!nearest &&
            (p.kind != GG_OUTLINE_STRAIGHT || back + ahead <= 2.0f * GG_PLANAR_BENT * gg_norm(gg_sub(after, at)))) {
            return 0;
        }
    }
    gg_sdf_hit hit = gg_planar_hit(v, look, at);
    if (between) {
        float back = gg_planar_slope_by(hit.gradient, at, before), ahead = gg_planar_slope_by(hit.gradient, at, after);
        /* nor does it count where a place on the way to a neighbour is nearer */
        if (back < -GG_PLANAR_LEVEL || ahead < -GG_PLANAR_LEVEL || (!nearest && gg_absf(ahead) > GG_PLANAR_LEVEL)) {
            return 0;
        }
    }
    float length = sqrtf(hit.gradient.x * hit.gradient.x + hit.gradient.y * hit.gradient.y);
    touch->at = at;
    touch->normal =
        length > 1e-6f ? gg_v3(hit.gradient.x / length, hit.gradient.y / length, 0.0f) : gg_v3(0.0f, 1.0f, 0.0f);
    touch->gap = hit.distance;
    return 1;
}

/* Where the slope along a way from a place passes `slope`, between two shares of it. */
GG_FN_LARGE float gg_planar_where(const gg_view *v, const gg_planar_look *look, gg_vec3 from, gg_vec3 way, float slope,
                                  float low, float high) {
    for (int k = 0; k < GG_PLANAR_HALVINGS; k++) {
        float middle = 0.5f * (low + high);
        gg_vec3 at = gg_madd(from, way, middle);
        int before = gg_planar_slope(v, look, at, gg_add(at, way)) < slope;
        low = before ? middle : low;
        high = before ? high : middle;
    }
    return 0.5f * (low + high);
}

/* Whether places on the way from a point to the one after it touch: the first one, and in look->end where the second
 * is. */
GG_FN_LARGE int gg_planar_way_touches(const gg_view *v, gg_planar_look *look, int32_t point, float gap, float *first) {
    int32_t after = gg_planar_outline_point(v, look, point).after;
    gg_vec3 from = gg_planar_point(v, look, point), to = gg_planar_point(v, look, after), way = gg_sub(to, from);
    float length = gg_norm(way);
    look->end = 0.0f;
    /* distances change by no more than what is travelled */
    if (gap - length >= look->reach) {
        return 0;
    }
    float mean = 0.5f * (gap + gg_planar_gap(v, look, after));
    if (mean - 0.5f * length >= look->reach ||
        mean - gg_planar_gap_at(v, look, gg_madd(from, way, 0.5f)) <= GG_PLANAR_BENT * length ||
        gg_planar_slope(v, look, from, to) >= -GG_PLANAR_LEVEL ||
        gg_planar_slope(v, look, to, from) >= -GG_PLANAR_LEVEL) {
        return 0;
    }
    *first = gg_planar_where(v, look, from, way, -GG_PLANAR_LEVEL, 0.0f, 1.0f);
    float last = gg_planar_where(v, look, from, way, GG_PLANAR_LEVEL, *first, 1.0f);
    if (last - *first > GG_PLANAR_SHORT) {
        look->end = last;
    } else {
        *first = 0.5f * (*first + last);
    }
    return 1;
}

/* the touch at a share of the way from a point to the one after it */
GG_FN_LARGE int gg_planar_touch_on_way(const gg_view *v, const gg_planar_look *look, int32_t point, float share,
                                       gg_planar_touch *touch) {
    gg_vec3 from = gg_planar_point(v, look, point);
    gg_vec3 way = gg_sub(gg_planar_point(v, look, gg_planar_outline_point(v, look, point).after), from);
    float inverse = 1.0f / gg_norm(way);
    touch->at = gg_madd(from, way, share);
    touch->gap = gg_planar_hit(v, look, touch->at).distance;
    /* matter lies to the left of an outline */
    touch->normal = gg_v3(-way.y * inverse, way.x * inverse, 0.0f);
    return touch->gap < look->reach;
}

/* The next place that touches; 0: there is none. Places come in order of `which`. */
GG_FN_LARGE int gg_planar_next_touch(const gg_view *v, gg_planar_look *look, gg_planar_touch *touch) {
    while (look->next < GG_PLANAR_PLACES * look->outline->point_count) {
        int32_t which = look->next++, point = which / GG_PLANAR_PLACES, place = which % GG_PLANAR_PLACES;
        float share = look->end;
        int touches = 0;
        if (place == 2) {
            touches = share > 0.0f && gg_planar_touch_on_way(v, look, point, share, touch);
        } else {
            float gap = gg_planar_gap(v, look, point);
            if (place == 0) {
                touches = gap < look->reach && gg_planar_point_touches(v, look, point, gap, touch);
            } else if (gg_planar_way_touches(v, look, point, gap, &share)) {
                touches = gg_planar_touch_on_way(v, look, point, share, touch);
            }
        }
        if (touches) {
            touch->which = which;
            return 1;
        }
    }
    return 0;
}

#endif
