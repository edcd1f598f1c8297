/* separation.h: the vector between two points of a world, to the nearest periodic image (minimum image convention).
 *
 * Exactly antisymmetric in floats: swapping the points flips signs and changes no other bit. Each side of a contact is
 * solved on its own, and this keeps the two impulses equal and opposite.
 */
#ifndef GG_SEPARATION_H
#define GG_SEPARATION_H

#include "../state/view.h"

GG_FN float gg_separation_axis(const gg_params *p, int axis, float d, float lower, float upper) {
    if (p->boundary[axis][0] == GG_BOUNDARY_PERIODIC) {
        float length = upper - lower;
        if (d > 0.5f * length) {
            d -= length;
        } else if (d < -0.5f * length) {
            d += length;
        }
    }
    return d;
}

/* whether some axis has periodic images */
GG_FN int gg_goes_round(const gg_params *p) {
    return p->boundary[0][0] == GG_BOUNDARY_PERIODIC || p->boundary[1][0] == GG_BOUNDARY_PERIODIC ||
           p->boundary[2][0] == GG_BOUNDARY_PERIODIC;
}

/* a - b */
GG_FN gg_vec3 gg_separation(const gg_params *p, gg_vec4 a, gg_vec4 b) {
    return gg_v3(gg_separation_axis(p, 0, a.x - b.x, p->lower.x, p->upper.x),
                 gg_separation_axis(p, 1, a.y - b.y, p->lower.y, p->upper.y),
                 gg_separation_axis(p, 2, a.z - b.z, p->lower.z, p->upper.z));
}

GG_FN float gg_wrap_axis(const gg_params *p, int axis, float x, float lower, float upper) {
    if (p->boundary[axis][0] == GG_BOUNDARY_PERIODIC || p->boundary[axis][0] == GG_BOUNDARY_CYCLIC) {
        float length = upper - lower;
        if (x >= upper) {
            x -= length;
        } else if (x < lower) {
            x += length;
        }
    }
    return x;
}

/* position carried around through periodic and cyclic faces */
GG_FN gg_vec3 gg_wrap(const gg_params *p, gg_vec3 x) {
    return gg_v3(gg_wrap_axis(p, 0, x.x, p->lower.x, p->upper.x), gg_wrap_axis(p, 1, x.y, p->lower.y, p->upper.y),
                 gg_wrap_axis(p, 2, x.z, p->lower.z, p->upper.z));
}

#endif
