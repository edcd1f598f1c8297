/* matter_face.h: whose the surface of continuous matter is at a point of it, and its normal there. */
#ifndef GG_MATTER_FACE_H
#define GG_MATTER_FACE_H

#include "matter_surface.h"

/* whose the surface is, and its normal */
typedef struct gg_matter_face {
    float best;    /* squared distance of the nearest particle, in units of its own */
    int32_t id;    /* of the nearest particle; of two that are equally near the first */
    float x, y, z; /* the gradient of the weights' sum, of the power below that of the surface: it is smoother than the
                      lean, which shows the lattice */
} gg_matter_face;

GG_FN void gg_matter_face_add(gg_matter_face *face, gg_vec3 p, float x, float y, float z, float scale, int32_t id) {
    float dx = (x - p.x) * scale, dy = (y - p.y) * scale, dz = (z - p.z) * scale;
    float off2 = dx * dx + dy * dy + dz * dz;
    float w = gg_choose_max(1.0f - off2 * (1.0f / (GG_MATTER_REACH * GG_MATTER_REACH)), 0.0f);
    int32_t nearer = off2 < face->best;
    w *= w * w;
    face->best = gg_choose(nearer, off2, face->best);
    face->id = (id & -nearer) | (face->id & (nearer - 1));
    face->x -= w * dx;
    face->y -= w * dy;
    face->z -= w * dz;
}

GG_FN gg_matter_face gg_matter_face_none(void) { return GG_LIT(gg_matter_face){GG_UNBOUNDED, 0, 0.0f, 0.0f, 0.0f}; }

/* the face at a point */
GG_FN gg_matter_face gg_matter_face_at(const gg_view *v, int64_t e, gg_vec3 p) {
    gg_matter_face face = gg_matter_face_none();
    gg_matter_points near = gg_matter_points_of(v, e);
    gg_matter_walk walk;
    gg_matter_walk_open(&walk, v, e, p, p);
    while (gg_matter_walk_on(&walk)) {
        for (int32_t k = walk.begin; k < walk.end; k++) {
            gg_matter_face_add(&face, p, near.x[k], near.y[k], near.z[k], near.scale[k], near.id[k]);
        }
    }
    return face;
}

#endif
