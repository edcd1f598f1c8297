/* seen.h: what a camera sees at a pixel beside its depth: whose surface, as a code, and in what colour.
 *
 * render_depth keeps whose surface each depth is, in the numbers of strip.h. Codes and colours follow from that when
 * they are read: colours by the normal where the pixel's ray ends, matt (Lambert), without shadows.
 */
#ifndef GG_SEEN_H
#define GG_SEEN_H

#include "../geometry/paint.h"
#include "depth.h"
#include "matter_face.h"
#include "sand.h"

/* the code of a surface of strip.h */
GG_FN int32_t gg_seen_code(const gg_view *v, int32_t id) {
    if (id >= 0) {
        return id;
    }
    int32_t tool = v->parts[GG_STRIP_PART - id].tool;
    return tool < GG_WALL_COUNT ? GG_SEEN_BOUNDS : GG_SEEN_TOOL - (tool - GG_WALL_COUNT);
}

/* the class of a code */
GG_FN uint8_t gg_seen_class(int32_t code) {
    if (code >= 0) {
        return GG_CLASS_GRAIN;
    }
    return (uint8_t)(code <= GG_SEEN_TOOL     ? GG_CLASS_TOOL + GG_SEEN_TOOL - code
                     : code == GG_SEEN_BOUNDS ? GG_CLASS_BOUNDS
                                              : GG_CLASS_NOTHING);
}

/* the code of a pixel of one camera, or its class in a byte. item: pixel of an env */
GG_FN void gg_seen_read_code(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = gg_depth_first(v, e) + i, to = e * v->access.pixel_count + i;
    int hit = v->depth[at] < v->cameras[v->access.camera].far_depth;
    int32_t code = hit ? gg_seen_code(v, v->seen[at]) : v->access.far_is_floor ? GG_SEEN_BOUNDS : GG_SEEN_NOTHING;
    if (v->access.codes) {
        v->access.codes[to] = code;
    } else {
        v->access.bytes[to] = gg_seen_class(code);
    }
}

/* the normal of a surface of strip.h, where a ray meets it at a point */
GG_FN gg_vec3 gg_seen_normal(const gg_view *v, int64_t e, const gg_lens *lens, int32_t id, gg_vec3 origin,
                             gg_vec3 direction, gg_vec3 point) {
    gg_vec3 normal = gg_scale(direction, -1.0f);
    if (id < 0) {
        const gg_shape *shape = &v->parts[GG_STRIP_PART - id];
        gg_pose pose = gg_depth_part_pose(v, e, GG_STRIP_PART - id);
        if (shape->kind == GG_SHAPE_PLANE) {
            return gg_quat_rotate(pose.rotation, gg_v3(0.0f, 0.0f, 1.0f));
        }
        gg_mat3 rotation = gg_quat_mat(pose.rotation);
        gg_vec3 local = gg_mat_tmul(rotation, gg_sub(point, pose.position));
        return gg_mat_mul(rotation, gg_sdf_eval(shape, v->grids, v->samples, local).gradient);
    }
    if (v->dims.continuum.envs) {
        gg_matter_face face = gg_matter_face_at(v, e, point);
        return gg_unit(gg_v3(face.x, face.y, face.z), normal);
    }
    int64_t slot = v->slot_of[e * v->dims.slots + id];
    if (gg_is_planar(&v->params)) {
        gg_prism prism = gg_prism_of(v, e, slot);
        gg_prism_enter(&prism, origin, direction, lens->near_depth, &normal);
        return normal;
    }
    gg_vec4 p = v->position[e * v->dims.slots + slot];
    return gg_unit(gg_sub(point, gg_v3(p.x, p.y, p.z)), normal);
}

/* the colour of a surface of strip.h, as its paint or, of grains without one, sand */
GG_FN gg_vec3 gg_seen_paint(const gg_view *v, int64_t e, int32_t id) {
    const gg_paint *paint = &v->access.paint;
    if (id < 0) {
        return gg_color_of(paint->tool_color + 3 * (int64_t)v->parts[GG_STRIP_PART - id].tool);
    }
    return paint->grain_color ? gg_color_of(paint->grain_color + e * paint->grain_stride + 3 * (int64_t)id)
                              : gg_sand_color(gg_sand_bits(id, v->dims.continuum.envs > 0));
}

/* a surface of this colour and normal in the light, as bytes that lie `step` apart */
GG_FN void gg_seen_shade(const gg_paint *paint, gg_vec3 color, gg_vec3 normal, uint8_t *rgb, int64_t step) {
    float facing = gg_maxf(gg_dot(normal, paint->light), 0.0f);
    color = gg_scale(color, paint->ambient + (1.0f - paint->ambient) * facing);
    rgb[0] = gg_color_encode(color.x);
    rgb[step] = gg_color_encode(color.y);
    rgb[2 * step] = gg_color_encode(color.z);
}

/* the colour of pixel i of the image of v->access.camera, whose lens this is */
GG_FN void gg_seen_color_pixel(const gg_view *v, int64_t e, const gg_lens *lens, int64_t i) {
    const gg_paint *paint = &v->access.paint;
    int64_t at = gg_depth_first(v, e) + i, pixels = v->access.pixel_count, step = v->access.channel_step;
    uint8_t *rgb = v->access.bytes + 3 * e * pixels + (step == 1 ? 3 * i : i);
    float t = v->depth[at];
    if (!(t < lens->far_depth) && v->access.far_is_floor) {
        gg_seen_shade(paint, gg_color_of(paint->tool_color + 3 * GG_STRIP_FLOOR), gg_v3(0.0f, 0.0f, 1.0f), rgb, step);
        return;
    }
    if (!(t < lens->far_depth)) {
        rgb[0] = paint->background[0];
        rgb[step] = paint->background[1];
        rgb[2 * step] = paint->background[2];
        return;
    }
    int32_t row = (int32_t)(i / lens->width), column = (int32_t)(i % lens->width);
    gg_vec3 origin, direction;
    gg_lens_ray(lens, gg_lens_column(lens, column), gg_lens_row(lens, row), &origin, &direction);
    gg_vec3 point = gg_madd(origin, direction, t);
    gg_vec3 normal = gg_seen_normal(v, e, lens, v->seen[at], origin, direction, point);
    gg_seen_shade(paint, gg_seen_paint(v, e, v->seen[at]), normal, rgb, step);
}

/* the colours of a band of the image of v->access.camera. item: band of an env */
GG_FN void gg_seen_color_band(const gg_view *v, int64_t e, int64_t band) {
    const gg_camera *camera = &v->cameras[v->access.camera];
    gg_lens lens = gg_lens_make(camera, gg_camera_pose(v, e, camera));
    int64_t pixels = GG_DEPTH_BAND * (int64_t)camera->width, begin = band * pixels;
    for (int64_t i = begin; i < GG_MIN(begin + pixels, v->access.pixel_count); i++) {
        gg_seen_color_pixel(v, e, &lens, i);
    }
}

#endif
