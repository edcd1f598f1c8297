/* depth.h: depth images of grains and tools, by bands of rows.
 *
 * One item is a band of GG_DEPTH_BAND rows of one camera in one env. Grains are spheres met exactly (the nearest point
 * where the ray through the pixel's centre goes in, not the depth of the centre), planes exactly, every other part by
 * sphere tracing (Hart 1996) of its signed distance to within GG_DEPTH_TOLERANCE of the depth.
 *
 * Rules:
 * - depth is measured along the camera's +z; what is nearer than near_depth is cut away and what lies behind it is
 *   seen; a ray that meets nothing before far_depth reads exactly far_depth. Every pixel is finite.
 * - only surfaces that are entered count: a camera inside a grain or a tool looks out of it.
 * - a pixel is the smallest depth of all things it sees. The smallest of a set does not depend on the order, and
 *   nothing else is shared between grains, so that the image does not depend on which slot a grain lies in.
 * - of the walls of the bounds (the first GG_DEPTH_WALLS tools) only the floor is drawn: a sky camera needs it, the
 *   others would hide the scene from a camera outside.
 *
 * Key idea for speed: each slice of grains is brought into the camera frame and tested against the sides of the band in
 * one loop without branches; only what touches the band is projected to a rectangle of pixels.
 */
#ifndef GG_DEPTH_H
#define GG_DEPTH_H

#include "../geometry/sdf.h"
#include "lens.h"
#include "prism.h"

#define GG_DEPTH_BAND 8

/* the first tools of a world are the walls of its bounds, GG_WALL_COUNT of gg.h; this one is the lower z wall */
#define GG_DEPTH_WALLS 6
#define GG_DEPTH_FLOOR 4

/* sphere tracing: share of the depth within which a surface counts as met. A ray that passes a surface by less than
 * this may meet it. */
#define GG_DEPTH_TOLERANCE 2e-5f
/* Steps of sphere tracing. After the first GG_DEPTH_FREE_STEPS a ray that creeps along a surface is pushed on, so that
 * it ends on the surface or past the part and never in between; such a ray may pass what is thinner than a
 * GG_DEPTH_PUSH-th of its way through the sphere around the part. */
#define GG_DEPTH_FREE_STEPS 96
#define GG_DEPTH_PUSH       160
#define GG_DEPTH_STEPS      (GG_DEPTH_FREE_STEPS + GG_DEPTH_PUSH)
/* halvings of a step that crossed the surface */
#define GG_DEPTH_HALVINGS 20

/* A window of an image under way; depth and id hold whole rows from row_begin on, (rows, width). id: grain id, GG_STRIP_PART - part, or GG_STRIP_NONE; NULL where nobody asks */
typedef struct gg_strip {
    int32_t row_begin, row_end, column_begin, column_end;
    float *depth;
    int32_t *id;
} gg_strip;
#define GG_STRIP_NONE (-1)
#define GG_STRIP_PART (-2)

/* which walls of the bounds are drawn */
typedef enum gg_strip_walls {
    GG_STRIP_WALLS_NONE = 0,
    GG_STRIP_WALLS_FLOOR, /* endless, so that it reaches the horizon */
    GG_STRIP_WALLS_ALL    /* all but the floor end at the edges of the bounds */
} gg_strip_walls;

/* keeps the nearer of a hit and what the pixel holds; of two at the same depth the smaller id, whatever came first */
GG_FN void gg_strip_put(const gg_strip *strip, int64_t pixel, float t, int32_t id) {
#ifdef __CUDA_ARCH__
    /* many threads at one pixel: depths are not negative, so their bits are ordered as they are; + 0 turns -0 around */
    (void)id;
    atomicMin((int *)&strip->depth[pixel], __float_as_int(t + 0.0f));
    return;
#endif
    if (t < strip->depth[pixel] || (strip->id && t == strip->depth[pixel] && id < strip->id[pixel])) {
        strip->depth[pixel] = t;
        if (strip->id) {
            strip->id[pixel] = id;
        }
    }
}

GG_FN void gg_strip_clear(const gg_strip *strip, const gg_lens *lens) {
    int64_t count = (int64_t)(strip->row_end - strip->row_begin) * lens->width;
    for (int64_t i = 0; i < count; i++) {
        strip->depth[i] = lens->far_depth;
    }
    for (int64_t i = 0; strip->id && i < count; i++) {
        strip->id[i] = GG_STRIP_NONE;
    }
}

/* ---- grains ---- */

/* the four sides of a band in the camera frame: a point is inside where along * n + z * nz + w >= 0 */
typedef struct gg_strip_side {
    float n, nz, w;
} gg_strip_side;

/* side through slope or offset a; sign +1: inside is above it, -1: below */
GG_FN gg_strip_side gg_strip_side_make(int perspective, float a, float sign) {
    if (perspective) {
        float s = sign / sqrtf(1.0f + a * a);
        return GG_LIT(gg_strip_side){s, -a * s, 0.0f};
    }
    return GG_LIT(gg_strip_side){sign, 0.0f, -a * sign};
}

/* one grain with centre c in the camera frame */
GG_FN void gg_strip_grain(const gg_strip *strip, const gg_lens *lens, int perspective, gg_vec3 c, float radius,
                          int32_t id) {
    gg_lens_area area = gg_lens_cover(lens, c, radius, strip->row_begin, strip->row_end);
    for (int32_t row = area.row_begin; row < area.row_end; row++) {
        float y = gg_lens_row(lens, row);
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = area.column_begin; column < area.column_end; column++) {
            float enter, leave;
            if (gg_lens_sphere(perspective, c, radius, gg_lens_column(lens, column), y, &enter, &leave) &&
                enter >= lens->near_depth) {
                gg_strip_put(strip, first + column, enter, id);
            }
        }
    }
}

/* one planar grain, whose ball has centre c in the camera frame */
GG_FN void gg_strip_prism(const gg_strip *strip, const gg_lens *lens, gg_vec3 c, const gg_prism *prism, int32_t id) {
    float reach = gg_prism_reach(prism);
    gg_lens_area area = gg_lens_cover(lens, c, reach, strip->row_begin, strip->row_end);
    for (int32_t row = area.row_begin; row < area.row_end; row++) {
        float y = gg_lens_row(lens, row);
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = area.column_begin; column < area.column_end; column++) {
            float x = gg_lens_column(lens, column), enter, leave;
            if (!gg_lens_sphere(lens->perspective, c, reach, x, y, &enter, &leave)) {
                continue;
            }
            gg_vec3 origin, direction, normal;
            gg_lens_ray(lens, x, y, &origin, &direction);
            float t = gg_prism_enter(prism, origin, direction, lens->near_depth, &normal);
            if (t < lens->far_depth) {
                gg_strip_put(strip, first + column, t, id);
            }
        }
    }
}

/* all grains of one env; slots are whole slices. `perspective` is passed apart so that each kind gets a loop of its own
 */
GG_FN void gg_strip_grains_kind(const gg_strip *strip, const gg_lens *lens, int perspective, const gg_view *v,
                                int64_t e) {
    int64_t slots = v->dims.slots;
    const gg_vec4 *position = v->position + e * slots;
    const int32_t *grain_id = v->grain_id + e * slots;
    /* a prism sticks out of the sphere of its outline by less than its depth */
    float more = gg_is_planar(&v->params) ? GG_PRISM_DEPTH * v->params.radius_min : 0.0f;
    gg_strip_side top = gg_strip_side_make(perspective, gg_lens_row(lens, strip->row_begin), 1.0f);
    gg_strip_side bottom = gg_strip_side_make(perspective, gg_lens_row(lens, strip->row_end - 1), -1.0f);
    gg_strip_side left = gg_strip_side_make(perspective, gg_lens_column(lens, 0), 1.0f);
    gg_strip_side right = gg_strip_side_make(perspective, gg_lens_column(lens, lens->width - 1), -1.0f);
    gg_mat3 m = lens->rotation;
    gg_vec3 o = lens->position;
    float near_depth = lens->near_depth, far_depth = lens->far_depth;
    for (int64_t slot = 0; slot < slots; slot += GG_LANES) {
        float cx[GG_LANES], cy[GG_LANES], cz[GG_LANES];
        int32_t keep[GG_LANES];
        for (int lane = 0; lane < GG_LANES; lane++) {
            gg_vec4 p = position[slot + lane];
            float ax = p.x - o.x, ay = p.y - o.y, az = p.z - o.z;
            float x = m.r0.x * ax + m.r1.x * ay + m.r2.x * az;
            float y = m.r0.y * ax + m.r1.y * ay + m.r2.y * az;
            float z = m.r0.z * ax + m.r1.z * ay + m.r2.z * az;
            /* widened by what the tests themselves may round */
            float reach = -(p.w + more + 4e-6f * (fabsf(x) + fabsf(y) + fabsf(z)));
            cx[lane] = x;
            cy[lane] = y;
            cz[lane] = z;
            keep[lane] =
                (y * top.n + z * top.nz + top.w >= reach) & (y * bottom.n + z * bottom.nz + bottom.w >= reach) &
                (x * left.n + z * left.nz + left.w >= reach) & (x * right.n + z * right.nz + right.w >= reach) &
                (z - near_depth >= reach) & (far_depth - z >= reach) & (grain_id[slot + lane] >= 0);
        }
        int32_t any = 0;
        for (int lane = 0; lane < GG_LANES; lane++) {
            any |= keep[lane];
        }
        for (int lane = 0; any && lane < GG_LANES; lane++) {
            if (keep[lane] && gg_is_planar(&v->params)) {
                gg_prism prism = gg_prism_of(v, e, slot + lane);
                gg_strip_prism(strip, lens, gg_v3(cx[lane], cy[lane], cz[lane]), &prism, grain_id[slot + lane]);
            } else if (keep[lane]) {
                gg_strip_grain(strip, lens, perspective, gg_v3(cx[lane], cy[lane], cz[lane]), position[slot + lane].w,
                               grain_id[slot + lane]);
            }
        }
    }
}

GG_FN void gg_strip_grains(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e) {
    if (lens->perspective) {
        gg_strip_grains_kind(strip, lens, 1, v, e);
    } else {
        gg_strip_grains_kind(strip, lens, 0, v, e);
    }
}

/* the grain in one slot of env e, if it lies between the near and far plane */
GG_FN void gg_strip_slot(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e, int64_t slot) {
    gg_vec4 p = v->position[e * v->dims.slots + slot];
    gg_vec3 c = gg_lens_local(lens, gg_v3(p.x, p.y, p.z));
    float more = gg_is_planar(&v->params) ? GG_PRISM_DEPTH * v->params.radius_min : 0.0f;
    float reach = p.w + more + 4e-6f * (gg_absf(c.x) + gg_absf(c.y) + gg_absf(c.z));
    if (v->grain_id[e * v->dims.slots + slot] < 0 || c.z - lens->near_depth < -reach ||
        lens->far_depth - c.z < -reach) {
        return;
    }
    if (gg_is_planar(&v->params)) {
        gg_prism prism = gg_prism_of(v, e, slot);
        gg_strip_prism(strip, lens, c, &prism, 0);
    } else {
        gg_strip_grain(strip, lens, lens->perspective, c, p.w, 0);
    }
}

/* ---- tools ---- */

/* The crossing of a ray that is outside at depth `a` and inside at `b`, to within the tolerance. */
GG_FN float gg_depth_between(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 origin,
                             gg_vec3 direction, float a, float b) {
    for (int i = 0; i < GG_DEPTH_HALVINGS && b - a > 0.25f * GG_DEPTH_TOLERANCE * gg_absf(b); i++) {
        float t = 0.5f * (a + b);
        if (gg_sdf_distance(shape, grids, samples, gg_madd(origin, direction, t)) < 0.0f) {
            b = t;
        } else {
            a = t;
        }
    }
    return b;
}

/* Depth in [from, to) at which a ray of the part's frame enters the part; GG_UNBOUNDED: nowhere. Steps are the distance
 * to the surface, which no ray can overshoot; a grid's interpolant may be a little steeper than a distance, so that its
 * steps are shorter and a crossing that was overstepped is found by halving. */
GG_FN float gg_depth_trace(const gg_shape *shape, const gg_sdf_grid *grids, const float *samples, gg_vec3 origin,
                           gg_vec3 direction, float from, float to) {
    float length = gg_norm(direction), inverse = 1.0f / length;
    float safety = shape->kind == GG_SHAPE_GRID ? 0.9f : 1.0f;
    float push = (to - from) * (1.0f / (float)GG_DEPTH_PUSH);
    float t = from, last_t = from;
    int outside = 0;
    for (int step = 0; step <= GG_DEPTH_STEPS && t < to; step++) {
        gg_vec3 p = gg_madd(origin, direction, t);
        float distance = gg_sdf_distance(shape, grids, samples, p);
        float tolerance = GG_DEPTH_TOLERANCE * gg_absf(t) + 1e-7f;
        if (outside && distance < 0.0f) {
            return gg_depth_between(shape, grids, samples, origin, direction, last_t, t);
        }
        if (distance >= 0.0f && distance < tolerance) {
            /* near enough; the last bit of the way is straight, unless the ray is on its way out */
            float facing = -gg_dot(gg_sdf_eval(shape, grids, samples, p).gradient, direction) * inverse;
            if (facing > 0.0f) {
                return t + distance / gg_maxf(facing, 0.1f) * inverse;
            }
        }
        outside = distance >= 0.0f;
        last_t = t;
        float advance = gg_maxf(gg_absf(distance) * safety, tolerance) * inverse;
        t += step < GG_DEPTH_FREE_STEPS ? advance : gg_maxf(advance, push);
    }
    return GG_UNBOUNDED;
}

/* is a point of the ray within the bounds, roundings aside? */
GG_FN int gg_strip_bounded(const gg_params *bounds, const gg_lens *lens, float x, float y, float t) {
    gg_vec3 origin, direction;
    gg_lens_ray(lens, x, y, &origin, &direction);
    gg_vec3 p = gg_madd(origin, direction, t), a = bounds->lower, b = bounds->upper;
    float slack = 1e-4f * gg_norm(gg_sub(b, a));
    return p.x >= a.x - slack && p.x <= b.x + slack && p.y >= a.y - slack && p.y <= b.y + slack && p.z >= a.z - slack &&
           p.z <= b.z + slack;
}

/* a plane, at every pixel; `pose` of the part in the world. bounds: only within them, NULL: everywhere */
GG_FN void gg_strip_plane(const gg_strip *strip, const gg_lens *lens, gg_pose pose, const gg_params *bounds,
                          int32_t id) {
    gg_vec3 normal = gg_quat_rotate(pose.rotation, gg_v3(0.0f, 0.0f, 1.0f));
    gg_vec3 n = gg_mat_tmul(lens->rotation, normal);
    float offset = gg_dot(normal, gg_sub(pose.position, lens->position));
    for (int32_t row = strip->row_begin; row < strip->row_end; row++) {
        float y = gg_lens_row(lens, row);
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = strip->column_begin; column < strip->column_end; column++) {
            float x = gg_lens_column(lens, column);
            float side = n.y * y + n.x * x;
            float fall = lens->perspective ? n.z + side : n.z;
            float t = (lens->perspective ? offset : offset - side) / fall;
            if (fall < 0.0f && t >= lens->near_depth && (!bounds || gg_strip_bounded(bounds, lens, x, y, t))) {
                gg_strip_put(strip, first + column, t, id);
            }
        }
    }
}

/* any other part, at the pixels of the sphere around it */
GG_FN void gg_strip_solid(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_shape *shape,
                          gg_pose pose, int32_t id) {
    gg_mat3 rotation = gg_quat_mat(pose.rotation);
    gg_lens_area area = {strip->row_begin, strip->row_end, strip->column_begin, strip->column_end};
    gg_vec3 c = gg_v3(0.0f, 0.0f, 0.0f);
    float reach = 0.0f;
    int bounded = shape->bound_radius < GG_UNBOUNDED;
    if (bounded) {
        c = gg_lens_local(lens, gg_add(pose.position, gg_mat_mul(rotation, shape->bound_center)));
        /* a little wider, so that a ray starts clearly outside of a part that touches its own bound */
        reach = shape->bound_radius * 1.001f + 8.0f * GG_DEPTH_TOLERANCE * gg_norm(c);
        if (!(c.z + reach >= lens->near_depth && c.z - reach < lens->far_depth)) {
            return;
        }
        area = gg_lens_cover(lens, c, reach, strip->row_begin, strip->row_end);
        area.column_begin = GG_MAX(area.column_begin, strip->column_begin);
        area.column_end = GG_MIN(area.column_end, strip->column_end);
    }
    for (int32_t row = area.row_begin; row < area.row_end; row++) {
        float y = gg_lens_row(lens, row);
        for (int32_t column = area.column_begin; column < area.column_end; column++) {
            float x = gg_lens_column(lens, column);
            float enter = lens->near_depth, leave = lens->far_depth;
            if (bounded && !gg_lens_sphere(lens->perspective, c, reach, x, y, &enter, &leave)) {
                continue;
            }
            int64_t pixel = (int64_t)(row - strip->row_begin) * lens->width + column;
            gg_vec3 origin, direction;
            gg_lens_ray(lens, x, y, &origin, &direction);
            float t = gg_depth_trace(shape, v->grids, v->samples, gg_mat_tmul(rotation, gg_sub(origin, pose.position)),
                                     gg_mat_tmul(rotation, direction), gg_maxf(enter, lens->near_depth),
                                     gg_minf(leave, strip->depth[pixel]));
            gg_strip_put(strip, pixel, t, id);
        }
    }
}

/* world pose of part k of an env now */
GG_FN gg_pose gg_depth_part_pose(const gg_view *v, int64_t env, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    return gg_pose_within(v->tool_pose[env * v->dims.tool_count + shape->tool], shape->position, shape->rotation);
}

GG_FN void gg_strip_parts(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t env,
                          gg_strip_walls walls) {
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        const gg_shape *shape = &v->parts[k];
        gg_pose pose = gg_depth_part_pose(v, env, k);
        int wall = shape->tool < GG_DEPTH_WALLS && shape->tool != GG_DEPTH_FLOOR;
        int hidden =
            (wall && walls != GG_STRIP_WALLS_ALL) || (shape->tool == GG_DEPTH_FLOOR && walls == GG_STRIP_WALLS_NONE);
        if (hidden || shape->kind == GG_SHAPE_NONE || !gg_pose_finite(pose)) {
            continue;
        }
        int32_t id = GG_STRIP_PART - (int32_t)k;
        if (shape->kind == GG_SHAPE_PLANE) {
            gg_strip_plane(strip, lens, pose, wall ? &v->params : 0, id);
        } else {
            gg_strip_solid(strip, lens, v, shape, pose, id);
        }
    }
}

/* ---- the phase ---- */

GG_FN int64_t gg_depth_camera_bands(const gg_camera *camera) {
    return (camera->height + GG_DEPTH_BAND - 1) / GG_DEPTH_BAND;
}

/* one band of one camera of an env, in the order of its cameras, into v->depth */
GG_FN void gg_depth_band(const gg_view *v, int64_t env, int64_t band) {
    int64_t c = 0;
    while (band >= gg_depth_camera_bands(&v->cameras[c])) {
        band -= gg_depth_camera_bands(&v->cameras[c]);
        c++;
    }
    const gg_camera *camera = &v->cameras[c];
    gg_lens lens = gg_lens_make(camera, gg_camera_pose(v, env, camera));
    gg_strip strip;
    strip.row_begin = (int32_t)band * GG_DEPTH_BAND;
    strip.row_end = GG_MIN(strip.row_begin + GG_DEPTH_BAND, camera->height);
    strip.column_begin = 0;
    strip.column_end = camera->width;
    strip.depth = v->depth + env * v->dims.pixels + camera->first_pixel + (int64_t)strip.row_begin * camera->width;
    strip.id = 0;
    gg_strip_clear(&strip, &lens);
    if (lens.usable) {
        gg_strip_grains(&strip, &lens, v, env);
        gg_strip_parts(&strip, &lens, v, env, GG_STRIP_WALLS_FLOOR);
    }
}

#endif
