/* shade_light.h: the light at a surface: sky, soft shadows of the sun, ambient occlusion. */
#ifndef GG_SHADE_LIGHT_H
#define GG_SHADE_LIGHT_H

#include "color.h"
#include "shade_setup.h"

#define GG_SHADE_SUN_SIZE       0.07f /* width of a penumbra over the distance to the occluder; the real sun: 0.009 */
#define GG_SHADE_SUN_REACH      9.0f  /* half width of the widest penumbra [texels] */
#define GG_SHADE_SEARCH_SAMPLES 8
#define GG_SHADE_SUN_SAMPLES    14
#define GG_SHADE_NARROW_SAMPLES 5 /* of the narrowest penumbra */
#define GG_SHADE_CREASE_SAMPLES 10
#define GG_SHADE_CREASE_REACH   40 /* at most [rays] */

/* a number in [0, 1) by which the sampling pattern of a pixel is rotated: spread evenly over neighbours, so that what
 * is left of it is a fine grain (interleaved gradient noise, Jimenez 2014) */
GG_FN float gg_shade_noise(int32_t row, int32_t column) {
    float a = 0.06711056f * (float)column + 0.00583715f * (float)row;
    a = 52.9829189f * (a - (float)(int32_t)a);
    return a - (float)(int32_t)a;
}

/* Direction of the first sample of a spiral, rotated by noise within a quarter turn; gg_shade_turn gives the next. The
 * golden angle spreads any number of samples evenly. */
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

/* light of the sky from a direction (unit) */
GG_FN gg_vec3 gg_shade_sky(const gg_shade *shade, gg_vec3 direction) {
    gg_vec3 horizon = gg_v3(0.74f, 0.82f, 0.90f), zenith = gg_v3(0.20f, 0.39f, 0.72f);
    float height = gg_clampf(direction.z, 0.0f, 1.0f);
    gg_vec3 sky = gg_color_mix(horizon, zenith, 1.0f - (1.0f - height) * (1.0f - height));
    float glow = gg_maxf(gg_dot(direction, shade->light), 0.0f);
    glow *= glow;
    glow *= glow;
    glow *= glow;
    return gg_madd(sky, gg_v3(1.0f, 0.85f, 0.6f), 0.25f * glow);
}

/* depth of the shadow map at a point [texels]; GG_UNBOUNDED where nothing casts a shadow */
GG_FN float gg_shade_map_at(const gg_shade *shade, float column, float row) {
    if (!(column >= 0.0f && row >= 0.0f && column < (float)GG_SHADE_MAP && row < (float)GG_SHADE_MAP)) {
        return GG_UNBOUNDED;
    }
    float depth = shade->map[(int64_t)(int32_t)row * GG_SHADE_MAP + (int32_t)column];
    return depth < shade->sun.far_depth ? depth : GG_UNBOUNDED;
}

/* radii of the samples of a spiral over that of the disc: equal areas */
GG_FN float gg_shade_radius(int32_t i, int32_t count) { return sqrtf(((float)i + 0.5f) / (float)count); }

/* nearest and farthest depth of all blocks of the map that samples round a texel may lie in; beyond the map: none */
GG_FN gg_shade_range gg_shade_range_at(const gg_shade *shade, float column, float row) {
    int32_t side = GG_SHADE_MAP / GG_SHADE_MAP_BLOCK;
    float inverse = 1.0f / (float)GG_SHADE_MAP_BLOCK, reach = GG_SHADE_SUN_REACH + 1.0f;
    int32_t c0 = (int32_t)((column - reach + GG_SHADE_MAP_BLOCK) * inverse) - 1;
    int32_t r0 = (int32_t)((row - reach + GG_SHADE_MAP_BLOCK) * inverse) - 1;
    int32_t c1 = (int32_t)((column + reach) * inverse), r1 = (int32_t)((row + reach) * inverse);
    gg_shade_range range = {GG_UNBOUNDED, 0.0f};
    if (c0 < 0 || r0 < 0 || c1 >= side || r1 >= side) {
        range.farthest = GG_UNBOUNDED;
    }
    for (int32_t r = GG_MAX(r0, 0); r <= GG_MIN(r1, side - 1); r++) {
        for (int32_t c = GG_MAX(c0, 0); c <= GG_MIN(c1, side - 1); c++) {
            const gg_shade_range *block = &shade->range[r * side + c];
            range.nearest = gg_minf(range.nearest, block->nearest);
            range.farthest = gg_maxf(range.farthest, block->farthest);
        }
    }
    return range;
}

/* visible share of the sun at a hit (percentage closer soft shadows, Fernando 2005); slope: tangent of the angle
 * between normal and light */
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
    float bias = gg_minf(slope, 2.0f) * sun->pixel;
    /* all samples agree where all depths near by do */
    gg_shade_range range = gg_shade_range_at(shade, column, row);
    if (range.nearest >= q.z - 0.5f * sun->pixel) {
        return 1.0f;
    }
    if (range.farthest < q.z - sun->pixel - bias * GG_SHADE_SUN_REACH) {
        return 0.0f;
    }
    float c, s;
    /* mean distance to what occludes the sun */
    float distance = 0.0f;
    int found = 0;
    gg_shade_first(noise, &c, &s);
    for (int i = 0; i < GG_SHADE_SEARCH_SAMPLES; i++) {
        float r = GG_SHADE_SUN_REACH * gg_shade_radius(i, GG_SHADE_SEARCH_SAMPLES);
        float depth = gg_shade_map_at(shade, column + r * c, row + r * s);
        if (depth < q.z - sun->pixel - bias * r) {
            distance += q.z - depth;
            found++;
        }
        gg_shade_turn(&c, &s);
    }
    float width = found ? distance / (float)found * GG_SHADE_SUN_SIZE * sun->inverse_pixel : 0.0f;
    width = gg_clampf(width, 1.2f, GG_SHADE_SUN_REACH);
    int lit = 0, count = found ? GG_SHADE_SUN_SAMPLES : GG_SHADE_NARROW_SAMPLES;
    float inverse = 1.0f / (float)count;
    for (int i = 0; i < count; i++) {
        float r = width * sqrtf(((float)i + 0.5f) * inverse);
        lit += gg_shade_map_at(shade, column + r * c, row + r * s) >= q.z - 0.5f * sun->pixel - bias * r;
        gg_shade_turn(&c, &s);
    }
    return (float)lit * inverse;
}

/* screen-space ambient occlusion: visible share of the sky */
GG_FN float gg_shade_sky_visibility(const gg_shade *shade, const gg_shade_hit *hit, int32_t row, int32_t column,
                                    float depth, float noise) {
    const gg_lens *lens = &shade->lens;
    float reach = shade->crease * lens->inverse_pixel;
    reach = gg_clampf(lens->perspective ? reach / depth : reach, 3.0f, (float)GG_SHADE_CREASE_REACH);
    gg_vec3 p = gg_lens_local(lens, hit->point);
    gg_vec3 n = gg_mat_tmul(lens->rotation, hit->normal);
    float range2 = gg_maxf(shade->crease * shade->crease, 1e-12f);
    float c, s, hidden = 0.0f, inverse_range2 = 1.0f / range2;
    gg_shade_first(noise, &c, &s);
    for (int i = 0; i < GG_SHADE_CREASE_SAMPLES; i++) {
        float r = reach * gg_shade_radius(i, GG_SHADE_CREASE_SAMPLES);
        int32_t y = row + (int32_t)(r * s), x = column + (int32_t)(r * c);
        if (y >= 0 && y < lens->height && x >= 0 && x < lens->width) {
            float t = shade->depth[(int64_t)y * lens->width + x];
            float u = gg_lens_column(lens, x), v = gg_lens_row(lens, y);
            gg_vec3 q = lens->perspective ? gg_v3(u * t, v * t, t) : gg_v3(u, v, t);
            gg_vec3 d = gg_sub(q, p);
            float d2 = gg_norm2(d), height = gg_dot(d, n);
            if (d2 < range2 && height > 1e-6f && height * height > 0.01f * d2) {
                hidden += (height / sqrtf(d2) - 0.1f) * (1.0f - d2 * inverse_range2);
            }
        }
        gg_shade_turn(&c, &s);
    }
    return gg_maxf(1.0f - hidden * (2.2f / (float)GG_SHADE_CREASE_SAMPLES), 0.15f);
}

#endif
