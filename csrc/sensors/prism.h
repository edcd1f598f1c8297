/* prism.h: planar grains as cameras see them: their outlines, extruded to both sides of the plane.
 *
 * All prisms of a world are equally deep, so that what touches in the plane touches in the picture.
 */
#ifndef GG_PRISM_H
#define GG_PRISM_H

#include "lens.h"

/* half depth of all prisms over the radius of the smallest grain */
#define GG_PRISM_DEPTH 0.4f

typedef struct gg_prism {
    const gg_outline *outline;
    const gg_outline_point *point;
    gg_vec3 center; /* world [m] */
    float sine, cosine, half;
} gg_prism;

/* the prism of the grain in a slot */
GG_FN gg_prism gg_prism_of(const gg_view *v, int64_t e, int64_t slot) {
    int64_t at = e * v->dims.slots + slot;
    gg_prism prism;
    prism.outline = &v->outlines[v->material_outline[v->material[at]]];
    prism.point = v->outline_point + prism.outline->first_point;
    prism.center = gg_v3(v->position[at].x, v->position[at].y, v->position[at].z);
    prism.half = GG_PRISM_DEPTH * v->params.radius_min;
    gg_sincos(v->angle[e * v->dims.planar.slots + v->grain_id[at]], &prism.sine, &prism.cosine);
    return prism;
}

/* radius of the bounding sphere [m] */
GG_FN float gg_prism_reach(const gg_prism *prism) {
    return 1.0001f * sqrtf(prism->outline->radius * prism->outline->radius + prism->half * prism->half);
}

/* a world vector in the frame of the grain */
GG_FN gg_vec3 gg_prism_local(const gg_prism *prism, gg_vec3 a) {
    return gg_v3(prism->cosine * a.x + prism->sine * a.y, prism->cosine * a.y - prism->sine * a.x, a.z);
}

/* whether a point of the grain's frame lies in the outline: even-odd rule, holes included */
GG_FN int gg_prism_inside(const gg_prism *prism, float x, float y) {
    int inside = 0;
    for (int32_t k = 0; k < prism->outline->point_count; k++) {
        gg_outline_point a = prism->point[k], b = prism->point[a.after];
        if ((a.y > y) != (b.y > y) && x < a.x + (b.x - a.x) * ((y - a.y) / (b.y - a.y))) {
            inside = !inside;
        }
    }
    return inside;
}

/* Depth, from near_depth on, at which a world ray enters a prism; GG_UNBOUNDED: nowhere. *normal: that of the face,
 * world */
GG_FN float gg_prism_enter(const gg_prism *prism, gg_vec3 origin, gg_vec3 direction, float near_depth,
                           gg_vec3 *normal) {
    gg_vec3 o = gg_prism_local(prism, gg_sub(origin, prism->center)), d = gg_prism_local(prism, direction);
    float best = GG_UNBOUNDED;
    /* the end face towards the camera */
    if (d.z != 0.0f) {
        float face = d.z < 0.0f ? prism->half : -prism->half, t = (face - o.z) / d.z;
        if (t >= near_depth && gg_prism_inside(prism, o.x + t * d.x, o.y + t * d.y)) {
            best = t;
            *normal = gg_v3(0.0f, 0.0f, d.z < 0.0f ? 1.0f : -1.0f);
        }
    }
    if (d.x * d.x + d.y * d.y <= 1e-12f * (d.z * d.z)) {
        return best;
    }
    for (int32_t k = 0; k < prism->outline->point_count; k++) {
        gg_outline_point a = prism->point[k], b = prism->point[a.after];
        float ex = b.x - a.x, ey = b.y - a.y;
        /* (ey, -ex) is the outward normal; only faces towards the camera are entered */
        float facing = d.x * ey - d.y * ex;
        if (facing >= 0.0f) {
            continue;
        }
        float t = ((a.x - o.x) * ey - (a.y - o.y) * ex) / facing;
        float z = o.z + t * d.z, along = (o.x + t * d.x - a.x) * ex + (o.y + t * d.y - a.y) * ey;
        if (t >= near_depth && t < best && gg_absf(z) <= prism->half && along >= 0.0f && along <= ex * ex + ey * ey) {
            float length = sqrtf(ex * ex + ey * ey);
            gg_vec3 n = gg_v3(ey / length, -ex / length, 0.0f);
            best = t;
            *normal = gg_v3(prism->cosine * n.x - prism->sine * n.y, prism->sine * n.x + prism->cosine * n.y, 0.0f);
        }
    }
    return best;
}

#endif
