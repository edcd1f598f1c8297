/* shade.h: a picture for people: one env in sunlight, with shadows, on a floor under a sky.
 *
 * Three passes over bands, each of which may run in parallel: the depth of the scene seen from the sun (shadow map,
 * Williams 1978), depth and id of what each ray of the camera meets, then the colours. The first two are drawn by
 * strip.h, as learners' depth images are. A picture depends neither on the number of threads nor on the slots of
 * grains. Colours are linear until they are encoded.
 */
#ifndef GG_SHADE_H
#define GG_SHADE_H

#include "shade_light.h"
#include "shade_surface.h"

#define GG_SHADE_MAP_BAND   32 /* rows of an item of the shadow pass */
#define GG_SHADE_DEPTH_BAND 16 /* rows of rays of an item of the depth pass */
#define GG_SHADE_COLOR_BAND 4  /* rows of pixels of an item of the colour pass */

GG_FN int64_t gg_shade_map_items(const gg_shade *shade) {
    return shade->sun.usable ? (GG_SHADE_MAP + GG_SHADE_MAP_BAND - 1) / GG_SHADE_MAP_BAND : 0;
}
GG_FN int64_t gg_shade_depth_items(const gg_shade *shade) {
    return (shade->lens.height + GG_SHADE_DEPTH_BAND - 1) / GG_SHADE_DEPTH_BAND;
}
GG_FN int64_t gg_shade_color_items(const gg_shade *shade) {
    return (shade->picture->camera.height + GG_SHADE_COLOR_BAND - 1) / GG_SHADE_COLOR_BAND;
}

/* draws a band of `band` rows: depth and, unless NULL, ids */
GG_FN void gg_shade_draw(const gg_shade *shade, const gg_lens *lens, int64_t item, int32_t band, float *depth,
                         int32_t *id, gg_strip_walls walls) {
    int32_t row_begin = (int32_t)item * band, row_end = GG_MIN(row_begin + band, lens->height);
    int64_t first = (int64_t)row_begin * lens->width;
    gg_strip_draw(lens, shade->view, shade->env, row_begin, row_end, depth + first, id ? id + first : 0, walls);
}

/* pass 1: the shadow map */
GG_FN void gg_shade_map_band(const gg_shade *shade, int64_t item) {
    gg_shade_draw(shade, &shade->sun, item, GG_SHADE_MAP_BAND, shade->map, 0, GG_STRIP_WALLS_NONE);
}

/* pass 2: depths and ids of the camera's rays */
GG_FN void gg_shade_depth_band(const gg_shade *shade, int64_t item) {
    gg_shade_draw(shade, &shade->lens, item, GG_SHADE_DEPTH_BAND, shade->depth, shade->id,
                  shade->picture->show_walls ? GG_STRIP_WALLS_ALL : GG_STRIP_WALLS_FLOOR);
}

/* 0 below a, 1 above b, smooth between */
GG_FN float gg_shade_step(float a, float b, float x) {
    float s = gg_clampf((x - a) / (b - a), 0.0f, 1.0f);
    return s * s * (3.0f - 2.0f * s);
}

/* paint: a highlight of the sun and a faint mirror image of the sky, stronger at grazing angles */
GG_FN gg_vec3 gg_shade_paint(const gg_shade *shade, const gg_shade_hit *hit, gg_vec3 color, gg_vec3 along, float lit,
                             float open) {
    gg_vec3 half = gg_unit(gg_sub(shade->light, along), hit->normal);
    float highlight = gg_maxf(gg_dot(half, hit->normal), 0.0f);
    for (int i = 0; i < 5; i++) {
        highlight *= highlight;
    }
    float graze = 1.0f - gg_clampf(-gg_dot(along, hit->normal), 0.0f, 1.0f);
    float mirror = 0.04f + 0.4f * (graze * graze) * (graze * graze);
    gg_vec3 bounce = gg_madd(along, hit->normal, -2.0f * gg_dot(along, hit->normal));
    color = gg_madd(color, gg_v3(1.0f, 0.95f, 0.85f), 0.6f * highlight * lit);
    return gg_madd(color, gg_shade_sky(shade, bounce), mirror * open * gg_maxf(bounce.z, 0.0f));
}

/* light that a ray receives */
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
    gg_shade_hit hit = gg_shade_hit_of(shade, origin, direction, t, id);
    float noise = gg_shade_noise(row, column);
    float facing = gg_dot(hit.normal, shade->light);
    float lit = 0.0f;
    if (facing > 0.0f) {
        float slope = sqrtf(gg_maxf(1.0f - facing * facing, 0.0f)) / gg_maxf(facing, 0.05f);
        lit = gg_shade_sunlight(shade, &hit, slope, noise);
    }
    float open = gg_shade_sky_visibility(shade, &hit, row, column, t, noise);
    /* the sun; the sky from above and the ground from below */
    gg_vec3 sun = gg_scale(gg_v3(1.42f, 1.27f, 1.04f), lit * gg_maxf(facing, 0.0f));
    gg_vec3 ambient = gg_color_mix(gg_v3(0.13f, 0.11f, 0.09f), gg_v3(0.30f, 0.37f, 0.50f), 0.5f + 0.5f * hit.normal.z);
    gg_vec3 light = gg_madd(sun, ambient, open);
    gg_vec3 color = gg_color_product(hit.color, light);
    if (hit.gloss > 0.0f) {
        color = gg_shade_paint(shade, &hit, color, along, lit, open);
    }
    /* haze: the far distance fades into the sky, the floor first */
    int floor = id <= GG_STRIP_PART && shade->view->parts[GG_STRIP_PART - id].tool == GG_STRIP_FLOOR;
    float clear = lens->perspective ? (floor ? 0.12f : 0.5f) : 1.0f;
    return gg_color_mix(color, sky, gg_shade_step(clear, 1.001f, t / lens->far_depth));
}

/* pass 3: colours; rgb (height, width, 3) */
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
                sum = gg_add(sum, gg_v3(gg_color_tone(c.x), gg_color_tone(c.y), gg_color_tone(c.z)));
            }
            uint8_t *out = rgb + 3 * ((int64_t)row * width + column);
            out[0] = gg_color_encode(sum.x * share);
            out[1] = gg_color_encode(sum.y * share);
            out[2] = gg_color_encode(sum.z * share);
        }
    }
}

#endif
