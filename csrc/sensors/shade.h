/* shade.h: a picture for people: one env in sunlight, with shadows, on a floor under a sky.
 *
 * Three passes over bands, each of which may run in parallel: the depth of the scene seen from the sun (shadow map,
 * Williams 1978), depth and id of what each ray of the camera meets, then the colours. The first two are drawn by
 * shade_trace.h, grains as in learners' depth images. A picture depends neither on the number of threads nor on the
 * slots of grains. Colours are linear until they are encoded.
 */
#ifndef GG_SHADE_H
#define GG_SHADE_H

#include "shade_light.h"
#include "shade_surface.h"
#include "shade_trace.h"

#define GG_SHADE_MAP_BAND   32 /* rows of an item of the shadow pass */
#define GG_SHADE_DEPTH_BAND 16 /* rows of rays of an item of the depth pass */
#define GG_SHADE_COLOR_BAND 4  /* rows of pixels of an item of the colour pass */
#define GG_SHADE_CHUNK      16 /* pixels that are encoded together */

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
                         int32_t *id, uint32_t *normal, gg_strip_walls walls) {
    int32_t row_begin = (int32_t)item * band, row_end = GG_MIN(row_begin + band, lens->height);
    int64_t first = (int64_t)row_begin * lens->width;
    gg_shade_strip(lens, shade->view, shade->env, row_begin, row_end, depth + first, id ? id + first : 0,
                   normal ? normal + first : 0, walls);
}

/* pass 1: the shadow map, and the ranges of its blocks */
GG_FN void gg_shade_map_band(const gg_shade *shade, int64_t item) {
    gg_shade_draw(shade, &shade->sun, item, GG_SHADE_MAP_BAND, shade->map, 0, 0, GG_STRIP_WALLS_NONE);
    int32_t side = GG_SHADE_MAP / GG_SHADE_MAP_BLOCK, blocks = GG_SHADE_MAP_BAND / GG_SHADE_MAP_BLOCK;
    for (int32_t block = 0; block < blocks * side; block++) {
        int64_t at = item * blocks * side + block;
        const float *first = shade->map + (at / side * GG_SHADE_MAP + at % side) * GG_SHADE_MAP_BLOCK;
        float nearest = shade->sun.far_depth, farthest = 0.0f;
        for (int32_t row = 0; row < GG_SHADE_MAP_BLOCK; row++) {
            for (int32_t column = 0; column < GG_SHADE_MAP_BLOCK; column++) {
                float depth = first[row * GG_SHADE_MAP + column];
                nearest = gg_minf(nearest, depth);
                farthest = gg_maxf(farthest, depth);
            }
        }
        /* what is at far_depth casts no shadow */
        shade->range[at].nearest = nearest < shade->sun.far_depth ? nearest : GG_UNBOUNDED;
        shade->range[at].farthest = farthest < shade->sun.far_depth ? farthest : GG_UNBOUNDED;
    }
}

/* pass 2: depths and ids of the camera's rays, and which blocks of them are busy */
GG_FN void gg_shade_depth_band(const gg_shade *shade, int64_t item) {
    gg_shade_draw(shade, &shade->lens, item, GG_SHADE_DEPTH_BAND, shade->depth, shade->id, shade->normal,
                  shade->picture->show_walls ? GG_STRIP_WALLS_ALL : GG_STRIP_WALLS_FLOOR);
    int64_t blocks = gg_shade_blocks(shade->lens.width);
    int32_t row_begin = (int32_t)item * GG_SHADE_DEPTH_BAND;
    int32_t row_end = GG_MIN(row_begin + GG_SHADE_DEPTH_BAND, shade->lens.height);
    for (int64_t block = 0; block < blocks; block++) {
        int32_t begin = (int32_t)block * GG_SHADE_BLOCK, end = GG_MIN(begin + GG_SHADE_BLOCK, shade->lens.width);
        int busy = 0;
        for (int32_t row = row_begin; row < row_end && !busy; row++) {
            const int32_t *id = shade->id + (int64_t)row * shade->lens.width;
            for (int32_t column = begin; column < end; column++) {
                busy |= id[column] != GG_STRIP_NONE && id[column] != shade->floor_id;
            }
        }
        shade->busy[item * blocks + block] = (uint8_t)busy;
    }
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

/* a ray that meets a surface */
typedef struct gg_shade_ray {
    int32_t row, column;
    float depth;
    gg_shade_hit hit;
} gg_shade_ray;

/* shares of sun and sky that a surface sees */
typedef struct gg_shade_view {
    float lit, open;
} gg_shade_view;

/* facing: cosine between normal and light; clear: nothing is near enough to hide the sky */
GG_FN gg_shade_view gg_shade_view_of(const gg_shade *shade, const gg_shade_ray *ray, float facing, float noise,
                                     int clear) {
    gg_shade_view seen = {0.0f, 1.0f};
    if (facing > 0.0f) {
        float slope = sqrtf(gg_maxf(1.0f - facing * facing, 0.0f)) / gg_maxf(facing, 0.05f);
        seen.lit = gg_shade_sunlight(shade, &ray->hit, slope, noise);
    }
    if (!clear) {
        seen.open = gg_shade_sky_visibility(shade, &ray->hit, ray->row, ray->column, ray->depth, noise);
    }
    return seen;
}

/* light that comes from a surface; along: unit, from the eye to the pixel; sky: behind the surface */
GG_FN gg_vec3 gg_shade_color(const gg_shade *shade, const gg_shade_surface *surface, const gg_shade_ray *ray,
                             gg_shade_view seen, gg_vec3 along, gg_vec3 sky) {
    const gg_shade_hit *hit = &ray->hit;
    /* the sun; the sky from above and the ground from below */
    gg_vec3 sun = gg_scale(gg_v3(1.42f, 1.27f, 1.04f), seen.lit * gg_maxf(gg_dot(hit->normal, shade->light), 0.0f));
    gg_vec3 ambient = gg_color_mix(gg_v3(0.13f, 0.11f, 0.09f), gg_v3(0.30f, 0.37f, 0.50f), 0.5f + 0.5f * hit->normal.z);
    gg_vec3 color = gg_color_product(hit->color, gg_madd(sun, ambient, seen.open));
    if (surface->gloss > 0.0f) {
        color = gg_shade_paint(shade, hit, color, along, seen.lit, seen.open);
    }
    /* haze: the far distance fades into the sky, the floor first */
    float clear = shade->lens.perspective ? (surface->floor ? 0.12f : 0.5f) : 1.0f;
    return gg_color_mix(color, sky, gg_shade_step(clear, 1.001f, ray->depth / shade->lens.far_depth));
}

/* The mean ray of a group, for one look at sun and sky; 0: its rays meet surfaces too different for that. Its normal is
 * a unit vector; *length: that of the mean of the normals. */
GG_FN int gg_shade_mean(const gg_shade *shade, const gg_shade_surface *surface, const gg_shade_ray *rays, int32_t count,
                        gg_shade_ray *mean, float *length) {
    *mean = rays[0];
    float nearest = rays[0].depth, farthest = nearest;
    for (int32_t k = 1; k < count; k++) {
        mean->hit.point = gg_add(mean->hit.point, rays[k].hit.point);
        mean->hit.normal = gg_add(mean->hit.normal, rays[k].hit.normal);
        mean->row += rays[k].row;
        mean->column += rays[k].column;
        mean->depth += rays[k].depth;
        nearest = gg_minf(nearest, rays[k].depth);
        farthest = gg_maxf(farthest, rays[k].depth);
    }
    float share = 1.0f / (float)count, length2 = gg_norm2(mean->hit.normal) * (share * share);
    *length = sqrtf(gg_maxf(length2, 1e-12f));
    mean->hit.point = gg_scale(mean->hit.point, share);
    mean->hit.normal = gg_scale(mean->hit.normal, share / *length);
    mean->row /= count;
    mean->column /= count;
    mean->depth *= share;
    float size = shade->lens.pixel * (shade->lens.perspective ? nearest : 1.0f);
    return surface->floor || rays[0].hit.normal.z == mean->hit.normal.z ||
           (length2 > 0.8f && farthest - nearest < 8.0f * (float)shade->samples * size);
}

/* what the rays of a group see of sun and sky through their mean */
GG_FN gg_shade_view gg_shade_view_of_mean(const gg_shade *shade, const gg_shade_ray *rays, int32_t count,
                                          const gg_shade_ray *mean, float noise, int clear) {
    float facing = gg_dot(mean->hit.normal, shade->light);
    for (int32_t k = 0; k < count && facing <= 0.0f; k++) {
        facing = gg_dot(rays[k].hit.normal, shade->light);
    }
    return gg_shade_view_of(shade, mean, facing, noise, clear);
}

/* Sum of the toned colours of rays of one pixel that meet the same grain or part. What they see of sun and sky is found
 * once, as in multisampling, unless they meet it in different places. The light of a matt surface is linear in colour
 * and normal, so that their means give it; highlights are summed ray by ray. */
GG_FN gg_vec3 gg_shade_group(const gg_shade *shade, const gg_shade_surface *surface, const gg_shade_ray *rays,
                             int32_t count, gg_vec3 along, gg_vec3 sky, float noise, int clear) {
    gg_shade_ray mean;
    float length, share = 1.0f / (float)count;
    gg_vec3 sum = gg_v3(0.0f, 0.0f, 0.0f);
    if (!gg_shade_mean(shade, surface, rays, count, &mean, &length)) {
        for (int32_t k = 0; k < count; k++) {
            gg_shade_view seen = gg_shade_view_of(shade, &rays[k], gg_dot(rays[k].hit.normal, shade->light),
                                                  gg_shade_noise(rays[k].row, rays[k].column), clear);
            sum = gg_add(sum, gg_color_tone3(gg_shade_color(shade, surface, &rays[k], seen, along, sky)));
        }
        return sum;
    }
    gg_shade_view seen = gg_shade_view_of_mean(shade, rays, count, &mean, noise, clear);
    if (surface->floor) {
        mean.hit.color = gg_shade_floor_color(shade, &mean.hit, mean.depth, along);
    }
    if (surface->gloss > 0.0f) {
        for (int32_t k = 0; k < count; k++) {
            sum = gg_madd(sum, gg_shade_color(shade, surface, &rays[k], seen, along, sky), share);
        }
    } else {
        mean.hit.normal = gg_scale(mean.hit.normal, length);
        sum = gg_shade_color(shade, surface, &mean, seen, along, sky);
    }
    return gg_scale(gg_color_tone3(sum), (float)count);
}

/* sum of the toned colours of the rays of a pixel */
GG_FN gg_vec3 gg_shade_pixel(const gg_shade *shade, int32_t row, int32_t column, int clear) {
    const gg_lens *lens = &shade->lens;
    int32_t n = shade->samples, count = n * n;
    float middle = 0.5f * (float)(n - 1) * lens->pixel;
    gg_vec3 origin, direction;
    gg_lens_ray(lens, gg_lens_column(lens, column * n) + middle, gg_lens_row(lens, row * n) + middle, &origin,
                &direction);
    gg_vec3 along = gg_unit(direction, gg_v3(0.0f, 0.0f, -1.0f));
    gg_vec3 sky = gg_shade_sky(shade, along), sum = gg_v3(0.0f, 0.0f, 0.0f);
    float noise = gg_shade_noise(row, column);
    uint32_t left = (1u << count) - 1u;
    while (left) {
        gg_shade_ray rays[16];
        gg_shade_surface surface;
        int32_t found = 0, id = GG_STRIP_NONE;
        for (int32_t k = 0; k < count; k++) {
            int32_t r = row * n + k / n, c = column * n + k % n;
            int64_t pixel = (int64_t)r * lens->width + c;
            if (!(left >> k & 1u) || (found && shade->id[pixel] != id)) {
                continue;
            }
            left &= ~(1u << k);
            if (!found) {
                id = shade->id[pixel];
                if (id != GG_STRIP_NONE) {
                    surface = gg_shade_surface_of(shade, id);
                }
            }
            gg_shade_ray *ray = &rays[found++];
            if (id == GG_STRIP_NONE) {
                continue;
            }
            ray->row = r;
            ray->column = c;
            ray->depth = shade->depth[pixel];
            gg_lens_ray(lens, gg_lens_column(lens, c), gg_lens_row(lens, r), &origin, &direction);
            ray->hit = gg_shade_hit_of(shade, &surface, origin, direction, ray->depth, pixel);
        }
        sum = id == GG_STRIP_NONE ? gg_madd(sum, gg_color_tone3(sky), (float)found)
                                  : gg_add(sum, gg_shade_group(shade, &surface, rays, found, along, sky, noise, clear));
    }
    return sum;
}

/* whether all rays near enough to a pixel to hide the sky from it meet floor or sky */
GG_FN int gg_shade_clear(const gg_shade *shade, int32_t row, int32_t column) {
    int64_t rows = gg_shade_blocks(shade->lens.height), columns = gg_shade_blocks(shade->lens.width);
    int64_t r = (int64_t)row * shade->samples, c = (int64_t)column * shade->samples, reach = GG_SHADE_CREASE_REACH + 4;
    for (int64_t y = GG_MAX(r - reach, 0) / GG_SHADE_BLOCK; y <= GG_MIN((r + reach) / GG_SHADE_BLOCK, rows - 1); y++) {
        for (int64_t x = GG_MAX(c - reach, 0) / GG_SHADE_BLOCK; x <= GG_MIN((c + reach) / GG_SHADE_BLOCK, columns - 1);
             x++) {
            if (shade->busy[y * columns + x]) {
                return 0;
            }
        }
    }
    return 1;
}

/* pass 3: colours; rgb (height, width, 3) */
GG_FN void gg_shade_color_band(const gg_shade *shade, int64_t item, uint8_t *rgb) {
    int32_t n = shade->samples, width = shade->picture->camera.width;
    int32_t row_begin = (int32_t)item * GG_SHADE_COLOR_BAND;
    int32_t row_end = GG_MIN(row_begin + GG_SHADE_COLOR_BAND, shade->picture->camera.height);
    float share = 1.0f / (float)(n * n), linear[3 * GG_SHADE_CHUNK];
    for (int32_t row = row_begin; row < row_end; row++) {
        for (int32_t begin = 0; begin < width; begin += GG_SHADE_CHUNK) {
            int32_t count = GG_MIN(GG_SHADE_CHUNK, width - begin);
            int clear = 0;
            for (int32_t k = 0; k < count; k++) {
                if (k % 4 == 0) {
                    clear = gg_shade_clear(shade, row, begin + k) && gg_shade_clear(shade, row, begin + k + 3);
                }
                gg_vec3 sum = gg_shade_pixel(shade, row, begin + k, clear);
                linear[3 * k] = sum.x * share;
                linear[3 * k + 1] = sum.y * share;
                linear[3 * k + 2] = sum.z * share;
            }
            uint8_t *out = rgb + 3 * ((int64_t)row * width + begin);
            for (int32_t k = 0; k < 3 * count; k++) {
                out[k] = gg_color_encode(linear[k]);
            }
        }
    }
}

#endif
