/* lens.h: projection of a camera at its world pose: the ray of a pixel, and the pixels that a sphere can cover.
 *
 * Shared by depth images for learners, pictures for people and shadow maps. Ray: origin + t * direction, with the
 * direction scaled so that t is the depth along the camera's +z. In the camera frame a perspective pixel is a pair of
 * slopes (x, y, 1), an orthographic one a pair of offsets (x, y, 0); both are linear in column and row, so that one
 * `pixel` size serves both.
 */
#ifndef GG_LENS_H
#define GG_LENS_H

#include "../geometry/pose.h"
#include "../state/view.h"

typedef struct gg_lens {
    gg_vec3 position;              /* of the camera, world [m] */
    gg_mat3 rotation;              /* camera frame -> world */
    int32_t perspective;           /* 1: perspective, 0: orthographic */
    int32_t height, width;         /* pixels */
    float pixel, inverse_pixel;    /* size of a pixel: slope, or [m] */
    float half_height, half_width; /* of the image [pixels] */
    float near_depth, far_depth;   /* [m] */
    int32_t usable;                /* 0: of no kind, or its pose is not finite; the image is then empty */
} gg_lens;

/* pixels [row_begin, row_end) x [column_begin, column_end) */
typedef struct gg_lens_area {
    int32_t row_begin, row_end, column_begin, column_end;
} gg_lens_area;

/* current world pose of a camera of one env; one that is mounted on a tool moves with it */
GG_FN gg_pose gg_camera_pose(const gg_view *v, int64_t env, const gg_camera *camera) {
    gg_pose outer = gg_pose_identity();
    if (camera->tool >= 0 && camera->tool < v->dims.tool_count) {
        outer = v->tool_pose[env * v->dims.tool_count + camera->tool];
    }
    return gg_pose_within(outer, camera->pose.position, camera->pose.rotation);
}

/* pose: of the camera in the world, see gg_camera_pose */
GG_FN gg_lens gg_lens_make(const gg_camera *camera, gg_pose pose) {
    gg_lens lens;
    lens.position = pose.position;
    lens.rotation = gg_quat_mat(gg_quat_unit(pose.rotation));
    lens.perspective = camera->kind == GG_CAMERA_PERSPECTIVE;
    lens.height = camera->height;
    lens.width = camera->width;
    lens.pixel = 2.0f * camera->extent / (float)camera->height;
    lens.inverse_pixel = 1.0f / lens.pixel;
    lens.half_height = 0.5f * (float)camera->height;
    lens.half_width = 0.5f * (float)camera->width;
    /* a pinhole camera sees nothing behind it */
    lens.near_depth = lens.perspective ? gg_maxf(camera->near_depth, 0.0f) : camera->near_depth;
    lens.far_depth = camera->far_depth;
    lens.usable = (lens.perspective || camera->kind == GG_CAMERA_ORTHOGRAPHIC) && gg_pose_finite(pose) &&
                  lens.pixel > 0.0f && gg_finite(lens.inverse_pixel);
    return lens;
}

/* slope or offset of the centre of a row, of a column */
GG_FN float gg_lens_row(const gg_lens *lens, int32_t row) {
    return (((float)row + 0.5f) - lens->half_height) * lens->pixel;
}
GG_FN float gg_lens_column(const gg_lens *lens, int32_t column) {
    return (((float)column + 0.5f) - lens->half_width) * lens->pixel;
}

/* a point of the world in the camera frame */
GG_FN gg_vec3 gg_lens_local(const gg_lens *lens, gg_vec3 p) {
    return gg_mat_tmul(lens->rotation, gg_sub(p, lens->position));
}

/* ray of slopes or offsets (x, y), world; origin + t * direction has depth t */
GG_FN void gg_lens_ray(const gg_lens *lens, float x, float y, gg_vec3 *origin, gg_vec3 *direction) {
    if (lens->perspective) {
        *origin = lens->position;
        *direction = gg_mat_mul(lens->rotation, gg_v3(x, y, 1.0f));
    } else {
        *origin = gg_add(lens->position, gg_mat_mul(lens->rotation, gg_v3(x, y, 0.0f)));
        *direction = gg_mat_mul(lens->rotation, gg_v3(0.0f, 0.0f, 1.0f));
    }
}

/* ray through the centre of a pixel of a camera whose world pose is `pose` */
GG_FN void gg_camera_ray(const gg_camera *camera, gg_pose pose, int32_t row, int32_t column, gg_vec3 *origin,
                         gg_vec3 *direction) {
    gg_lens lens = gg_lens_make(camera, pose);
    gg_lens_ray(&lens, gg_lens_column(&lens, column), gg_lens_row(&lens, row), origin, direction);
}

/* Depths at which the ray (x, y) enters and leaves a sphere with centre c in the camera frame; 0: it misses. The
 * discriminant comes from the distance of centre and ray, (c x d)^2 / d^2, not from c^2 - r^2, where cancellation would
 * lose a small distant sphere. */
GG_FN int gg_lens_sphere(int perspective, gg_vec3 c, float radius, float x, float y, float *enter, float *leave) {
    if (perspective) {
        float d2 = 1.0f + y * y + x * x;
        float cx = c.y - c.z * y, cy = c.z * x - c.x, cz = c.x * y - c.y * x;
        float s = d2 * (radius * radius) - (cx * cx + cy * cy + cz * cz);
        if (!(s > 0.0f)) {
            return 0;
        }
        float middle = c.z + y * c.y + x * c.x, half = sqrtf(s);
        *enter = (middle - half) / d2;
        *leave = (middle + half) / d2;
        return 1;
    }
    float ox = c.x - x, oy = c.y - y;
    float s = radius * radius - (oy * oy + ox * ox);
    if (!(s > 0.0f)) {
        return 0;
    }
    float half = sqrtf(s);
    *enter = c.z - half;
    *leave = c.z + half;
    return 1;
}

/* gg_lens_sphere without branches, for loops over pixels on a CPU; depths have a meaning only where it hits */
GG_FN int32_t gg_lens_cross(int perspective, gg_vec3 c, float radius, float x, float y, float *enter, float *leave) {
    float d2 = 1.0f, middle = c.z, s;
    if (perspective) {
        float cx = c.y - c.z * y, cy = c.z * x - c.x, cz = c.x * y - c.y * x;
        d2 = 1.0f + y * y + x * x;
        middle = c.z + y * c.y + x * c.x;
        s = d2 * (radius * radius) - (cx * cx + cy * cy + cz * cz);
    } else {
        float ox = c.x - x, oy = c.y - y;
        s = radius * radius - (oy * oy + ox * ox);
    }
    float half = sqrtf(gg_choose(s > 0.0f, s, 0.0f));
    *enter = (middle - half) / d2;
    *leave = (middle + half) / d2;
    return s > 0.0f;
}

/* the depth at which gg_lens_sphere enters, from near_depth on; GG_UNBOUNDED: nowhere */
GG_FN float gg_lens_enter(int perspective, gg_vec3 c, float radius, float x, float y, float near_depth) {
    float enter, leave;
    int32_t hits = gg_lens_cross(perspective, c, radius, x, y, &enter, &leave);
    return gg_choose(hits & (enter >= near_depth), enter, GG_UNBOUNDED);
}

/* first pixel and one past the last of `count` whose centres lie between two slopes or offsets, with a small margin */
GG_FN void gg_lens_span(const gg_lens *lens, float lower, float upper, float half, int32_t count, int32_t *begin,
                        int32_t *end) {
    float a = lower * lens->inverse_pixel + half - 0.5f, b = upper * lens->inverse_pixel + half - 0.5f;
    float limit = (float)count;
    /* in this order NaN gives the whole range; +1 and truncation make the ceiling of the first, one past the last */
    a = (a - 0.02f) - 1e-5f * gg_absf(a);
    b = (b + 0.02f) + 1e-5f * gg_absf(b);
    *begin = (int32_t)gg_clampf(a + 1.0f, 0.0f, limit);
    *end = (int32_t)gg_choose(b < limit, gg_clampf(b + 1.0f, 0.0f, limit), limit);
}

/* slopes of the two tangents from the pinhole to a circle at (c, z) in the plane of one image axis; z > radius */
GG_FN void gg_lens_tangents(float c, float z, float radius, float inverse, float *lower, float *upper) {
    float middle = c * z, half = radius * sqrtf(gg_maxf(c * c + (z * z - radius * radius), 0.0f));
    *lower = (middle - half) * inverse;
    *upper = (middle + half) * inverse;
}

/* Pixels of rows row_begin .. row_end - 1 that a sphere with centre c in the camera frame may cover: conservative by
 * about one row and column. A sphere that reaches the plane of the pinhole may cover all. Without branches, for loops
 * over spheres; `perspective` is that of the lens. */
GG_FN gg_lens_area gg_lens_cover_kind(const gg_lens *lens, int perspective, gg_vec3 c, float radius, int32_t row_begin,
                                      int32_t row_end) {
    float x0 = c.x - radius, x1 = c.x + radius, y0 = c.y - radius, y1 = c.y + radius;
    if (perspective) {
        float inverse = 1.0f / (c.z * c.z - radius * radius);
        gg_lens_tangents(c.x, c.z, radius, inverse, &x0, &x1);
        gg_lens_tangents(c.y, c.z, radius, inverse, &y0, &y1);
        /* NaN: all */
        int32_t apart = c.z > 1.01f * radius;
        x0 = gg_choose(apart, x0, NAN);
        x1 = gg_choose(apart, x1, NAN);
        y0 = gg_choose(apart, y0, NAN);
        y1 = gg_choose(apart, y1, NAN);
    }
    gg_lens_area area;
    int32_t begin, end;
    gg_lens_span(lens, x0, x1, lens->half_width, lens->width, &area.column_begin, &area.column_end);
    gg_lens_span(lens, y0, y1, lens->half_height, lens->height, &begin, &end);
    area.row_begin = GG_MAX(row_begin, begin);
    area.row_end = GG_MIN(row_end, end);
    return area;
}

GG_FN gg_lens_area gg_lens_cover(const gg_lens *lens, gg_vec3 c, float radius, int32_t row_begin, int32_t row_end) {
    return gg_lens_cover_kind(lens, lens->perspective, c, radius, row_begin, row_end);
}

#endif
