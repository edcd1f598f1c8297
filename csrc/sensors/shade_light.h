/* shade_light.h: the light at a surface: sky, soft shadows of the sun, ambient occlusion. */
#ifndef GG_SHADE_LIGHT_H
#define GG_SHADE_LIGHT_H

#include "color.h"
#include "shade_setup.h"

#define GG_SHADE_SUN_SIZE     0.07f /* width of a penumbra over the distance to the occluder; the real sun: 0.009 */
#define GG_SHADE_SUN_REACH    9.0f  /* half width of the widest penumbra [texels] */
#define GG_SHADE_CREASE_REACH 40    /* at most [rays] */

/* a number in [0, 1) by which the sampling pattern of a pixel is rotated: spread evenly over neighbours, so that what
 * is left of it is a fine grain (interleaved gradient noise, Jimenez 2014) */
GG_FN float gg_shade_noise(int32_t row, int32_t column) {
    float a = 0.06711056f * (float)column + 0.00583715f * (float)row;
    a = 52.9829189f * (a - (float)(int32_t)a);
    return a - (float)(int32_t)a;
}

/* the turn of a sampling pattern by noise: within a quarter */
typedef struct gg_shade_turn {
    float c, s;
} gg_shade_turn;

GG_FN gg_shade_turn gg_shade_turn_of(float noise) {
    float n = 1.0f / (1.0f + noise * noise);
    return GG_LIT(gg_shade_turn){(1.0f - noise * noise) * n, 2.0f * noise * n};
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

/* Depths of the shadow map at the points of a disc of this radius [texels]; GG_UNBOUNDED where nothing casts a shadow.
 * The loops are without branches, so that compilers make vectors of them. */
GG_FN void gg_shade_map_read(const gg_shade *shade, const gg_shade_disc *disc, int count, gg_shade_turn turn,
                             float column, float row, float radius, float *depth) {
    int32_t at[GG_SHADE_POINTS], inside[GG_SHADE_POINTS];
    float far_depth = shade->sun.far_depth, side = (float)GG_SHADE_MAP;
    for (int i = 0; i < count; i++) {
        float x = column + radius * (disc->x[i] * turn.c - disc->y[i] * turn.s);
        float y = row + radius * (disc->x[i] * turn.s + disc->y[i] * turn.c);
        inside[i] = (x >= 0.0f) & (y >= 0.0f) & (x < side) & (y < side);
        at[i] = ((int32_t)y * GG_SHADE_MAP + (int32_t)x) & -inside[i];
    }
    for (int i = 0; i < count; i++) {
        depth[i] = shade->map[at[i]];
    }
    for (int i = 0; i < count; i++) {
        depth[i] = gg_choose(inside[i] & (depth[i] < far_depth), depth[i], GG_UNBOUNDED);
    }
}

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
    gg_shade_turn turn = gg_shade_turn_of(noise);
    float depth[GG_SHADE_POINTS];
    /* mean distance to what occludes the sun */
    gg_shade_map_read(shade, &shade->search, GG_SHADE_SEARCH_POINTS, turn, column, row, GG_SHADE_SUN_REACH, depth);
    float distance[GG_SHADE_SEARCH_POINTS], sum = 0.0f;
    int32_t found = 0;
    for (int i = 0; i < GG_SHADE_SEARCH_POINTS; i++) {
        int32_t hides = depth[i] < q.z - sun->pixel - bias * (GG_SHADE_SUN_REACH * shade->search.radius[i]);
        distance[i] = gg_choose(hides, q.z - depth[i], 0.0f);
        found += hides;
    }
    for (int i = 0; i < GG_SHADE_SEARCH_POINTS; i++) {
        sum += distance[i];
    }
    float width = found ? sum / (float)found * GG_SHADE_SUN_SIZE * sun->inverse_pixel : 0.0f;
    width = gg_clampf(width, 1.2f, GG_SHADE_SUN_REACH);
    int32_t lit = 0;
    gg_shade_map_read(shade, &shade->disc, GG_SHADE_POINTS, turn, column, row, width, depth);
    for (int i = 0; i < GG_SHADE_POINTS; i++) {
        lit += depth[i] >= q.z - 0.5f * sun->pixel - bias * (width * shade->disc.radius[i]);
    }
    return (float)lit * (1.0f / (float)GG_SHADE_POINTS);
}

/* screen-space ambient occlusion: visible share of the sky */
GG_FN float gg_shade_sky_visibility(const gg_shade *shade, const gg_shade_hit *hit, int32_t row, int32_t column,
                                    float depth, float noise) {
    const gg_lens *lens = &shade->lens;
    float reach = shade->crease * lens->inverse_pixel;
    reach = gg_clampf(lens->perspective ? reach / depth : reach, 3.0f, (float)GG_SHADE_CREASE_REACH);
    gg_vec3 p = gg_lens_local(lens, hit->point);
    gg_vec3 n = gg_mat_tmul(lens->rotation, hit->normal);
    float range2 = gg_maxf(shade->crease * shade->crease, 1e-12f), inverse_range2 = 1.0f / range2;
    float slant = lens->perspective ? 1.0f : 0.0f, flat = 1.0f - slant;
    gg_shade_turn turn = gg_shade_turn_of(noise);
    const gg_shade_disc *disc = &shade->ring;
    int32_t x[GG_SHADE_CREASE_POINTS], y[GG_SHADE_CREASE_POINTS], at[GG_SHADE_CREASE_POINTS];
    int32_t inside[GG_SHADE_CREASE_POINTS], height = lens->height, width = lens->width;
    float t[GG_SHADE_CREASE_POINTS], hidden[GG_SHADE_CREASE_POINTS];
    for (int i = 0; i < GG_SHADE_CREASE_POINTS; i++) {
        x[i] = column + (int32_t)(reach * (disc->x[i] * turn.c - disc->y[i] * turn.s));
        y[i] = row + (int32_t)(reach * (disc->x[i] * turn.s + disc->y[i] * turn.c));
        inside[i] = (y[i] >= 0) & (y[i] < height) & (x[i] >= 0) & (x[i] < width);
        at[i] = (y[i] * width + x[i]) & -inside[i];
    }
    for (int i = 0; i < GG_SHADE_CREASE_POINTS; i++) {
        t[i] = shade->depth[at[i]];
    }
    for (int i = 0; i < GG_SHADE_CREASE_POINTS; i++) {
        float scale = slant * t[i] + flat;
        float dx = (((float)x[i] + 0.5f) - lens->half_width) * lens->pixel * scale - p.x;
        float dy = (((float)y[i] + 0.5f) - lens->half_height) * lens->pixel * scale - p.y, dz = t[i] - p.z;
        float d2 = dx * dx + dy * dy + dz * dz, above = dx * n.x + dy * n.y + dz * n.z;
        float hides = (above / sqrtf(gg_choose(d2 > 1e-24f, d2, 1e-24f)) - 0.1f) * (1.0f - d2 * inverse_range2);
        int32_t counts = inside[i] & (d2 < range2) & (above > 1e-6f) & (above * above > 0.01f * d2);
        hidden[i] = gg_choose(counts, hides, 0.0f);
    }
    float sum = 0.0f;
    for (int i = 0; i < GG_SHADE_CREASE_POINTS; i++) {
        sum += hidden[i];
    }
    return gg_maxf(1.0f - sum * (2.2f / (float)GG_SHADE_CREASE_POINTS), 0.15f);
}

#endif
