/* shade.h: a picture for people: one env in sunlight, with shadows, on a floor under a sky.
 *
 * Three passes over bands, each of which may run in parallel: the depth of the scene seen from the sun (shadow map,
 * Williams 1978), depth and id of what each ray of the camera meets, then the colours. The first two are the depth
 * images of depth.h, so that a picture shows what learners' cameras see. Shadows get softer with the distance to what
 * casts them (percentage closer soft shadows, Fernando 2005); creases get darker by comparing a pixel with its
 * neighbours' depths. A picture never depends on the number of threads or the slots of grains. Colours are linear until
 * gg_shade_encode.
 */
#ifndef GG_SHADE_H
#define GG_SHADE_H

#include "../base/rng.h"
#include "../geometry/picture.h"
#include "depth.h"

#define GG_SHADE_MAP        1280 /* side of the shadow map [texels] */
#define GG_SHADE_MAP_BAND   32   /* rows of an item of the shadow pass */
#define GG_SHADE_DEPTH_BAND 16   /* rays along y of an item of the depth pass */
#define GG_SHADE_COLOR_BAND 4    /* rows of the picture of an item of the colour pass */

#define GG_SHADE_SUN_SIZE    0.07f /* width of a soft edge over the distance to what casts it; the real sun: 0.009 */
#define GG_SHADE_SUN_REACH   9.0f  /* half width of the widest soft edge [texels] */
#define GG_SHADE_SEARCH_TAPS 8
#define GG_SHADE_SUN_TAPS    12
#define GG_SHADE_CREASE_TAPS 8

typedef struct gg_shade {
    const gg_view *view;
    const gg_picture *picture;
    int64_t env;
    int32_t samples;
    gg_lens lens, sun;  /* the camera at samples x samples rays per pixel; the shadow map */
    gg_vec3 light;      /* unit, towards the sun */
    float crease;       /* distance within which neighbours darken a crease [m] */
    float line_spacing; /* of the floor's lines [m] */
    float *depth;       /* (samples * height, samples * width) */
    int32_t *id;        /* the same */
    float *map;         /* (GG_SHADE_MAP, GG_SHADE_MAP) */
} gg_shade;

/* what a ray met */
typedef struct gg_shade_hit {
    gg_vec3 point, normal; /* world */
    gg_vec3 color;         /* share of the light given back */
    float gloss;
} gg_shade_hit;

/* ---- preparation ---- */

/* elements of gg_shade.depth and gg_shade.id each; the map has GG_SHADE_MAP * GG_SHADE_MAP */
GG_FN int64_t gg_shade_ray_count(const gg_picture *picture) {
    return (int64_t)picture->camera.height * picture->camera.width * picture->samples * picture->samples;
}

/* widens a box by a sphere */
GG_FN void gg_shade_widen(gg_vec3 p, float radius, gg_vec3 *lower, gg_vec3 *upper) {
    *lower = gg_v3(gg_minf(lower->x, p.x - radius), gg_minf(lower->y, p.y - radius), gg_minf(lower->z, p.z - radius));
    *upper = gg_v3(gg_maxf(upper->x, p.x + radius), gg_maxf(upper->y, p.y + radius), gg_maxf(upper->z, p.z + radius));
}

/* Shadow map around everything that casts a shadow, as the sun's lens sees it. What is far out of the bounds casts
 * none: one escaped grain must not coarsen the map. */
GG_FN gg_lens gg_shade_sun(const gg_view *v, int64_t env, gg_vec3 light) {
    gg_lens sun;
    gg_vec3 z = gg_scale(light, -1.0f);
    gg_vec3 x = gg_unit(gg_cross(gg_absf(z.x) < 0.8f ? gg_v3(1.0f, 0.0f, 0.0f) : gg_v3(0.0f, 1.0f, 0.0f), z), z);
    gg_vec3 y = gg_cross(z, x);
    sun.rotation.r0 = gg_v3(x.x, y.x, z.x);
    sun.rotation.r1 = gg_v3(x.y, y.y, z.y);
    sun.rotation.r2 = gg_v3(x.z, y.z, z.z);
    gg_vec3 middle = gg_scale(gg_add(v->params.lower, v->params.upper), 0.5f);
    float size = gg_norm(gg_sub(v->params.upper, v->params.lower));
    gg_vec3 lower = gg_v3(GG_UNBOUNDED, GG_UNBOUNDED, GG_UNBOUNDED), upper = gg_scale(lower, -1.0f);
    for (int64_t slot = env * v->dims.slots; slot < (env + 1) * v->dims.slots; slot++) {
        gg_vec3 p = gg_sub(gg_v3(v->position[slot].x, v->position[slot].y, v->position[slot].z), middle);
        if (v->grain_id[slot] >= 0 && gg_norm(p) <= size) {
            gg_shade_widen(gg_mat_tmul(sun.rotation, p), v->position[slot].w, &lower, &upper);
        }
    }
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        const gg_shape *shape = &v->parts[k];
        gg_pose pose = gg_depth_part_pose(v, env, k);
        gg_vec3 p = gg_sub(gg_add(pose.position, gg_quat_rotate(pose.rotation, shape->bound_center)), middle);
        if (shape->tool >= GG_DEPTH_WALLS && shape->kind != GG_SHAPE_NONE &&
            gg_norm(p) + shape->bound_radius <= 2.0f * size) {
            gg_shade_widen(gg_mat_tmul(sun.rotation, p), shape->bound_radius, &lower, &upper);
        }
    }
    gg_vec3 half = gg_scale(gg_sub(upper, lower), 0.5f);
    gg_vec3 c = gg_scale(gg_add(upper, lower), 0.5f);
    sun.usable = upper.x > lower.x;
    sun.position = gg_add(middle, gg_mat_mul(sun.rotation, gg_v3(c.x, c.y, lower.z)));
    sun.perspective = 0;
    sun.height = sun.width = GG_SHADE_MAP;
    sun.half_height = sun.half_width = 0.5f * (float)GG_SHADE_MAP;
    sun.pixel = gg_maxf(gg_maxf(half.x, half.y), 1e-6f) * (2.0f / (float)(GG_SHADE_MAP - 4));
    sun.inverse_pixel = 1.0f / sun.pixel;
    sun.near_depth = -0.01f * size;
    sun.far_depth = 2.0f * half.z + 0.01f * size;
    return sun;
}

/* lines of the floor: 1, 2 or 5 times a power of ten, about sixteen along the longer side of the bounds */
GG_FN float gg_shade_line_spacing(const gg_params *params) {
    float wanted = gg_maxf(params->upper.x - params->lower.x, params->upper.y - params->lower.y) * 0.0625f;
    float decade = 1e-4f;
    for (int i = 0; i < 9 && decade * 10.0f <= wanted; i++) {
        decade *= 10.0f;
    }
    return decade * (wanted >= 5.0f * decade ? 5.0f : wanted >= 2.0f * decade ? 2.0f : 1.0f);
}

/* The passes of a picture of env; the three buffers are the caller's, see gg_shade_ray_count. In picture->camera a tool
 * counts the walls: it is an index into view->tool_pose. */
GG_FN gg_shade gg_shade_make(const gg_view *view, int64_t env, const gg_picture *picture, float *depth, int32_t *id,
                             float *map) {
    gg_shade shade;
    shade.view = view;
    shade.picture = picture;
    shade.env = env;
    shade.samples = picture->samples;
    gg_camera camera = picture->camera;
    camera.height *= picture->samples;
    camera.width *= picture->samples;
    shade.lens = gg_lens_make(&camera, gg_camera_pose(view, env, &picture->camera));
    shade.light = gg_unit(picture->light, gg_unit(gg_v3(-0.45f, -0.35f, 0.8f), picture->light));
    shade.sun = gg_shade_sun(view, env, shade.light);
    shade.crease = 3.0f * view->params.radius_max;
    shade.line_spacing = gg_shade_line_spacing(&view->params);
    shade.depth = depth;
    shade.id = id;
    shade.map = map;
    return shade;
}

GG_FN int64_t gg_shade_map_items(const gg_shade *shade) {
    return shade->sun.usable ? (GG_SHADE_MAP + GG_SHADE_MAP_BAND - 1) / GG_SHADE_MAP_BAND : 0;
}
GG_FN int64_t gg_shade_depth_items(const gg_shade *shade) {
    return (shade->lens.height + GG_SHADE_DEPTH_BAND - 1) / GG_SHADE_DEPTH_BAND;
}
GG_FN int64_t gg_shade_color_items(const gg_shade *shade) {
    return (shade->picture->camera.height + GG_SHADE_COLOR_BAND - 1) / GG_SHADE_COLOR_BAND;
}

/* rows of an image, as depth.h draws them */
GG_FN void gg_shade_draw(const gg_shade *shade, const gg_lens *lens, int64_t item, int32_t band, float *depth,
                         int32_t *id, gg_strip_walls walls) {
    const gg_view *v = shade->view;
    gg_strip strip;
    strip.row_begin = (int32_t)item * band;
    strip.row_end = GG_MIN(strip.row_begin + band, lens->height);
    strip.column_begin = 0;
    strip.column_end = lens->width;
    int64_t first = (int64_t)strip.row_begin * lens->width;
    strip.depth = depth + first;
    strip.id = id ? id + first : 0;
    gg_strip_clear(&strip, lens);
    if (lens->usable) {
        gg_strip_grains(&strip, lens, v, shade->env);
        gg_strip_parts(&strip, lens, v, shade->env, walls);
    }
}

/* pass 1 */
GG_FN void gg_shade_map_band(const gg_shade *shade, int64_t item) {
    gg_shade_draw(shade, &shade->sun, item, GG_SHADE_MAP_BAND, shade->map, 0, GG_STRIP_WALLS_NONE);
}

/* pass 2 */
GG_FN void gg_shade_depth_band(const gg_shade *shade, int64_t item) {
    gg_shade_draw(shade, &shade->lens, item, GG_SHADE_DEPTH_BAND, shade->depth, shade->id,
                  shade->picture->show_walls ? GG_STRIP_WALLS_ALL : GG_STRIP_WALLS_FLOOR);
}

/* ---- light ---- */

GG_FN gg_vec3 gg_shade_mix(gg_vec3 a, gg_vec3 b, float share) {
    return gg_add(gg_scale(a, 1.0f - share), gg_scale(b, share));
}
GG_FN gg_vec3 gg_shade_times(gg_vec3 a, gg_vec3 b) { return gg_v3(a.x * b.x, a.y * b.y, a.z * b.z); }

/* 0 below a, 1 above b, smooth between */
GG_FN float gg_shade_step(float a, float b, float x) {
    float s = gg_clampf((x - a) / (b - a), 0.0f, 1.0f);
    return s * s * (3.0f - 2.0f * s);
}

/* a number in [0, 1) by which the taps of a pixel are turned */
GG_FN float gg_shade_noise(int32_t row, int32_t column) {
    uint32_t h = (uint32_t)row * 0x9E3779B1u ^ (uint32_t)column * 0x85EBCA77u;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return (float)((h ^ (h >> 15)) >> 8) * (1.0f / 16777216.0f);
}

/* First of a spiral of taps, turned by noise within a quarter turn; the next is gg_shade_turn of it. The golden angle
 * spreads any number of taps evenly. */
GG_FN void gg_shade_first(float noise, float *c, float *s) {
    float n = 1.0f / (1.0f + noise * noise);
    *c = (1.0f - noise * noise) * n;
    *s = 2.0f * noise * n;
}
GG_FN void gg_shade_turn(float *c, float *s) {
    float x = *c * -0.7373688f - *s * 0.6754903f, y = *c * 0.6754903f + *s * -0.7373688f;
    *c = x;
    *s = y;
}

/* light from the sky in a direction (unit) */
GG_FN gg_vec3 gg_shade_sky(const gg_shade *shade, gg_vec3 direction) {
    gg_vec3 horizon = gg_v3(0.74f, 0.82f, 0.90f), zenith = gg_v3(0.20f, 0.39f, 0.72f);
    float height = gg_clampf(direction.z, 0.0f, 1.0f);
    gg_vec3 sky = gg_shade_mix(horizon, zenith, 1.0f - (1.0f - height) * (1.0f - height));
    float glow = gg_maxf(gg_dot(direction, shade->light), 0.0f);
    glow *= glow;
    glow *= glow;
    glow *= glow;
    return gg_madd(sky, gg_v3(1.0f, 0.85f, 0.6f), 0.25f * glow);
}

/* depth of the shadow map at a place [texels]; endless where nothing casts a shadow */
GG_FN float gg_shade_map_at(const gg_shade *shade, float column, float row) {
    if (!(column >= 0.0f && row >= 0.0f && column < (float)GG_SHADE_MAP && row < (float)GG_SHADE_MAP)) {
        return GG_UNBOUNDED;
    }
    float depth = shade->map[(int64_t)(int32_t)row * GG_SHADE_MAP + (int32_t)column];
    return depth < shade->sun.far_depth ? depth : GG_UNBOUNDED;
}

/* share of the sun seen from a point of a surface; slope: tangent of the angle between its normal and the light */
GG_FN float gg_shade_sunlight(const gg_shade *shade, const gg_shade_hit *hit, float slope, float noise) {
    const gg_lens *sun = &shade->sun;
    if (!sun->usable) {
        return 1.0f;
    }
    gg_vec3 q = gg_lens_local(sun, gg_madd(hit->point, hit->normal, 1.5f * sun->pixel));
    float column = q.x * sun->inverse_pixel + sun->half_width, row = q.y * sun->inverse_pixel + sun->half_height;
    if (!(column > -GG_SHADE_SUN_REACH && row > -GG_SHADE_SUN_REACH && column < GG_SHADE_MAP + GG_SHADE_SUN_REACH &&
          row < GG_SHADE_MAP + GG_SHADE_SUN_REACH)) {
        return 1.0f;
    }
    float lean = gg_minf(slope, 2.0f) * sun->pixel;
    float c, s;
    /* how far away is what stands before the sun? */
    float gap = 0.0f;
    int found = 0;
    gg_shade_first(noise, &c, &s);
    for (int i = 0; i < GG_SHADE_SEARCH_TAPS; i++) {
        float r = GG_SHADE_SUN_REACH * sqrtf(((float)i + 0.5f) * (1.0f / (float)GG_SHADE_SEARCH_TAPS));
        float depth = gg_shade_map_at(shade, column + r * c, row + r * s);
        if (depth < q.z - sun->pixel - lean * r) {
            gap += q.z - depth;
            found++;
        }
        gg_shade_turn(&c, &s);
    }
    float width = found ? gap / (float)found * GG_SHADE_SUN_SIZE * sun->inverse_pixel : 0.0f;
    width = gg_clampf(width, 1.2f, GG_SHADE_SUN_REACH);
    int lit = 0;
    for (int i = 0; i < GG_SHADE_SUN_TAPS; i++) {
        float r = width * sqrtf(((float)i + 0.5f) * (1.0f / (float)GG_SHADE_SUN_TAPS));
        lit += gg_shade_map_at(shade, column + r * c, row + r * s) >= q.z - 0.5f * sun->pixel - lean * r;
        gg_shade_turn(&c, &s);
    }
    return (float)lit * (1.0f / (float)GG_SHADE_SUN_TAPS);
}

/* share of the sky that the neighbourhood in the image leaves free */
GG_FN float gg_shade_open(const gg_shade *shade, const gg_shade_hit *hit, int32_t row, int32_t column, float depth,
                          float noise) {
    const gg_lens *lens = &shade->lens;
    float reach = shade->crease * lens->inverse_pixel;
    reach = gg_clampf(lens->perspective ? reach / depth : reach, 3.0f, 40.0f);
    gg_vec3 p = gg_lens_local(lens, hit->point);
    gg_vec3 n = gg_mat_tmul(lens->rotation, hit->normal);
    float range2 = gg_maxf(shade->crease * shade->crease, 1e-12f);
    float c, s, hidden = 0.0f;
    gg_shade_first(noise, &c, &s);
    for (int i = 0; i < GG_SHADE_CREASE_TAPS; i++) {
        float r = reach * sqrtf(((float)i + 0.5f) * (1.0f / (float)GG_SHADE_CREASE_TAPS));
        int32_t at_row = row + (int32_t)(r * s), at_column = column + (int32_t)(r * c);
        if (at_row >= 0 && at_row < lens->height && at_column >= 0 && at_column < lens->width) {
            float t = shade->depth[(int64_t)at_row * lens->width + at_column];
            float x = gg_lens_column(lens, at_column), y = gg_lens_row(lens, at_row);
            gg_vec3 q = lens->perspective ? gg_v3(x * t, y * t, t) : gg_v3(x, y, t);
            gg_vec3 way = gg_sub(q, p);
            float way2 = gg_norm2(way);
            if (way2 < range2 && way2 > 1e-12f) {
                float rise = gg_dot(way, n) / sqrtf(way2);
                hidden += gg_maxf(rise - 0.1f, 0.0f) * (1.0f - way2 / range2);
            }
        }
        gg_shade_turn(&c, &s);
    }
    return gg_maxf(1.0f - hidden * (2.2f / (float)GG_SHADE_CREASE_TAPS), 0.15f);
}

/* ---- surfaces ---- */

/* share of light given back by an 8-bit sRGB colour; a cubic within 0.002 of the standard's curve */
GG_FN float gg_shade_decode(uint8_t value) {
    float s = (float)value * (1.0f / 255.0f);
    return s * (0.01575407f + s * (0.66899946f + s * 0.31524647f));
}
GG_FN gg_vec3 gg_shade_color(const uint8_t *rgb) {
    return gg_v3(gg_shade_decode(rgb[0]), gg_shade_decode(rgb[1]), gg_shade_decode(rgb[2]));
}

/* a grain: its colour, or sand; every grain a little lighter or darker than the next, so that they can be told apart */
GG_FN gg_vec3 gg_shade_grain_color(const gg_shade *shade, int32_t id) {
    uint64_t bits = gg_rng_mix((uint64_t)id + 77u);
    float a = (float)(bits & 1023u) * (1.0f / 1023.0f), b = (float)((bits >> 10) & 1023u) * (1.0f / 1023.0f);
    if (shade->picture->grain_color) {
        return gg_scale(gg_shade_color(shade->picture->grain_color + 3 * (int64_t)id), 0.82f + 0.3f * a);
    }
    /* quartz, ochre and a few brown grains */
    gg_vec3 color = gg_shade_mix(gg_v3(0.64f, 0.44f, 0.22f), gg_v3(0.72f, 0.58f, 0.38f), b);
    color = (bits >> 20) % 11u == 0 ? gg_v3(0.36f, 0.21f, 0.11f) : color;
    return gg_scale(color, 0.72f + 0.4f * a);
}

/* how much of a pixel a line at 0 covers; x, width and footprint of the pixel share one unit */
GG_FN float gg_shade_line(float x, float width, float footprint) {
    float covered = gg_clampf((width + footprint - gg_absf(x)) / (2.0f * footprint), 0.0f, 1.0f);
    return covered * gg_minf(1.0f, width / footprint);
}

/* distance to the nearest multiple of spacing, signed */
GG_FN float gg_shade_offset(float x, float spacing) {
    float turns = gg_clampf(x / spacing, -1e6f, 1e6f);
    float whole = (float)(int32_t)(turns + (turns < 0.0f ? -0.5f : 0.5f));
    return (turns - whole) * spacing;
}

/* the floor: lines every line_spacing, a frame at the edge of the bounds, a shade darker beyond it */
GG_FN gg_vec3 gg_shade_floor_color(const gg_shade *shade, gg_vec3 base, gg_vec3 p, float footprint) {
    const gg_params *b = &shade->view->params;
    float spacing = shade->line_spacing, width = 0.012f * spacing;
    float beyond = gg_maxf(gg_maxf(b->lower.x - p.x, p.x - b->upper.x), gg_maxf(b->lower.y - p.y, p.y - b->upper.y));
    float line = gg_maxf(gg_shade_line(gg_shade_offset(p.x, spacing), width, footprint),
                         gg_shade_line(gg_shade_offset(p.y, spacing), width, footprint));
    gg_vec3 color = gg_scale(base, beyond > 0.0f ? 0.86f : 1.0f);
    color = gg_scale(color, 1.0f - 0.22f * line);
    return gg_scale(color, 1.0f - 0.45f * gg_shade_line(beyond, 2.5f * width, footprint));
}

/* a part of a tool: the tool's colour; floor and walls grey, the first tool machine yellow, the others steel and
 * accents */
GG_FN gg_vec3 gg_shade_tool_color(const gg_shade *shade, int32_t tool) {
    if (shade->picture->tool_color) {
        return gg_shade_color(shade->picture->tool_color + 3 * (int64_t)tool);
    }
    if (tool < GG_DEPTH_WALLS) {
        return tool == GG_DEPTH_FLOOR ? gg_v3(0.34f, 0.34f, 0.33f) : gg_v3(0.50f, 0.52f, 0.54f);
    }
    switch ((tool - GG_DEPTH_WALLS) % 5) {
    case 0:
        return gg_v3(0.78f, 0.36f, 0.02f);
    case 1:
        return gg_v3(0.20f, 0.23f, 0.27f);
    case 2:
        return gg_v3(0.62f, 0.64f, 0.66f);
    case 3:
        return gg_v3(0.07f, 0.30f, 0.42f);
    default:
        return gg_v3(0.50f, 0.10f, 0.06f);
    }
}

/* what the ray of a pixel met at depth t; id is not GG_STRIP_NONE */
GG_FN gg_shade_hit gg_shade_meet(const gg_shade *shade, gg_vec3 origin, gg_vec3 direction, float t, int32_t id) {
    const gg_view *v = shade->view;
    gg_shade_hit hit;
    hit.point = gg_madd(origin, direction, t);
    hit.gloss = 0.0f;
    if (id >= 0) {
        int64_t slot = v->slot_of[shade->env * v->dims.slots + id];
        gg_vec4 p = v->position[shade->env * v->dims.slots + slot];
        hit.normal = gg_unit(gg_sub(hit.point, gg_v3(p.x, p.y, p.z)), gg_v3(0.0f, 0.0f, 1.0f));
        if (gg_is_planar(&v->params)) {
            gg_prism prism = gg_prism_of(v, shade->env, slot);
            gg_prism_enter(&prism, origin, direction, shade->lens.near_depth, &hit.normal);
        }
        hit.color = gg_shade_grain_color(shade, id);
        return hit;
    }
    int64_t part = GG_STRIP_PART - id;
    const gg_shape *shape = &v->parts[part];
    gg_pose pose = gg_depth_part_pose(v, shade->env, part);
    gg_mat3 rotation = gg_quat_mat(pose.rotation);
    gg_vec3 local = gg_mat_tmul(rotation, gg_sub(hit.point, pose.position));
    hit.normal = gg_mat_mul(rotation, gg_sdf_eval(shape, v->grids, v->samples, local).gradient);
    hit.color = gg_shade_tool_color(shade, shape->tool);
    if (shape->tool == GG_DEPTH_FLOOR) {
        float footprint = shade->lens.perspective ? shade->lens.pixel * t : shade->lens.pixel;
        float facing = -gg_dot(hit.normal, gg_unit(direction, hit.normal));
        hit.color = gg_shade_floor_color(shade, hit.color, hit.point, footprint / gg_maxf(facing, 0.08f));
    } else if (shape->tool >= GG_DEPTH_WALLS) {
        hit.gloss = 1.0f;
    }
    return hit;
}

/* light that a pixel receives */
GG_FN gg_vec3 gg_shade_ray(const gg_shade *shade, int32_t row, int32_t column) {
    const gg_lens *lens = &shade->lens;
    int64_t pixel = (int64_t)row * lens->width + column;
    gg_vec3 origin, direction;
    gg_lens_ray(lens, gg_lens_column(lens, column), gg_lens_row(lens, row), &origin, &direction);
    gg_vec3 along = gg_unit(direction, gg_v3(0.0f, 0.0f, -1.0f));
    gg_vec3 sky = gg_shade_sky(shade, along);
    float t = shade->depth[pixel];
    int32_t id = shade->id[pixel];
    if (id == GG_STRIP_NONE) {
        return sky;
    }
    gg_shade_hit hit = gg_shade_meet(shade, origin, direction, t, id);
    float noise = gg_shade_noise(row, column);
    float facing = gg_dot(hit.normal, shade->light);
    float lit = 0.0f;
    if (facing > 0.0f) {
        float slope = sqrtf(gg_maxf(1.0f - facing * facing, 0.0f)) / gg_maxf(facing, 0.05f);
        lit = gg_shade_sunlight(shade, &hit, slope, noise);
    }
    float open = gg_shade_open(shade, &hit, row, column, t, noise);
    /* sun, sky from above, light from the ground from below */
    gg_vec3 sun = gg_scale(gg_v3(1.42f, 1.27f, 1.04f), lit * gg_maxf(facing, 0.0f));
    gg_vec3 ambient = gg_shade_mix(gg_v3(0.13f, 0.11f, 0.09f), gg_v3(0.30f, 0.37f, 0.50f), 0.5f + 0.5f * hit.normal.z);
    gg_vec3 light = gg_madd(sun, ambient, open);
    gg_vec3 color = gg_shade_times(hit.color, light);
    if (hit.gloss > 0.0f) {
        /* paint: a highlight of the sun and a faint mirror of the sky, stronger at grazing angles */
        gg_vec3 half = gg_unit(gg_sub(shade->light, along), hit.normal);
        float spark = gg_maxf(gg_dot(half, hit.normal), 0.0f);
        for (int i = 0; i < 5; i++) {
            spark *= spark;
        }
        float graze = 1.0f - gg_clampf(-gg_dot(along, hit.normal), 0.0f, 1.0f);
        float mirror = 0.04f + 0.4f * (graze * graze) * (graze * graze);
        gg_vec3 bounce = gg_madd(along, hit.normal, -2.0f * gg_dot(along, hit.normal));
        color = gg_madd(color, gg_v3(1.0f, 0.95f, 0.85f), 0.6f * spark * lit);
        color = gg_madd(color, gg_shade_sky(shade, bounce), mirror * open * gg_maxf(bounce.z, 0.0f));
    }
    /* far away all fades into the haze of the horizon, the floor first */
    int floor = id <= GG_STRIP_PART && shade->view->parts[GG_STRIP_PART - id].tool == GG_DEPTH_FLOOR;
    float clear = lens->perspective ? (floor ? 0.12f : 0.5f) : 1.0f;
    return gg_shade_mix(color, sky, gg_shade_step(clear, 1.001f, t / lens->far_depth));
}

/* ---- colours ---- */

/* brightness with a soft shoulder: 0 stays 0, 2.2 becomes 1 */
GG_FN float gg_shade_tone(float x) {
    x = gg_clampf(x, 0.0f, 2.2f);
    return x * (1.0f + x * (1.0f / (2.2f * 2.2f)) * 0.35f) / (1.0f + x * 0.35f) * 1.113f;
}

/* sRGB of a linear value in [0, 1]; square roots fitted to the standard's curve within a quarter of a step */
GG_FN uint8_t gg_shade_encode(float x) {
    x = gg_clampf(x, 0.0f, 1.0f);
    float root = sqrtf(x);
    float s =
        x <= 0.0031308f ? 12.92f * x : 0.82285811f * root + 0.30759049f * sqrtf(root) - 0.05172558f * x - 0.07911535f;
    return (uint8_t)(gg_clampf(s, 0.0f, 1.0f) * 255.0f + 0.5f);
}

/* pass 3: rows of the picture, rgb (height, width, 3) */
GG_FN void gg_shade_color_band(const gg_shade *shade, int64_t item, uint8_t *rgb) {
    int32_t n = shade->samples, width = shade->picture->camera.width;
    int32_t row_begin = (int32_t)item * GG_SHADE_COLOR_BAND;
    int32_t row_end = GG_MIN(row_begin + GG_SHADE_COLOR_BAND, shade->picture->camera.height);
    float share = 1.0f / (float)(n * n);
    for (int32_t row = row_begin; row < row_end; row++) {
        for (int32_t column = 0; column < width; column++) {
            gg_vec3 sum = gg_v3(0.0f, 0.0f, 0.0f);
            for (int32_t k = 0; k < n * n; k++) {
                gg_vec3 c = gg_shade_ray(shade, row * n + k / n, column * n + k % n);
                sum = gg_add(sum, gg_v3(gg_shade_tone(c.x), gg_shade_tone(c.y), gg_shade_tone(c.z)));
            }
            uint8_t *out = rgb + 3 * ((int64_t)row * width + column);
            out[0] = gg_shade_encode(sum.x * share);
            out[1] = gg_shade_encode(sum.y * share);
            out[2] = gg_shade_encode(sum.z * share);
        }
    }
}

#endif
