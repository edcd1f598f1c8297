/* color.h: linear RGB colours and sRGB bytes. */
#ifndef GG_COLOR_H
#define GG_COLOR_H

#include "../base/vec.h"

GG_FN gg_vec3 gg_color_mix(gg_vec3 a, gg_vec3 b, float share) {
    return gg_add(gg_scale(a, 1.0f - share), gg_scale(b, share));
}
GG_FN gg_vec3 gg_color_product(gg_vec3 a, gg_vec3 b) { return gg_v3(a.x * b.x, a.y * b.y, a.z * b.z); }

/* linear value of an sRGB one of 0 .. 255; a cubic within 0.002 of the standard's curve */
GG_FN float gg_color_decode(float value) {
    float s = value * (1.0f / 255.0f);
    return s * (0.01575407f + s * (0.66899946f + s * 0.31524647f));
}
GG_FN gg_vec3 gg_color_of(const uint8_t *rgb) {
    return gg_v3(gg_color_decode((float)rgb[0]), gg_color_decode((float)rgb[1]), gg_color_decode((float)rgb[2]));
}

/* tone mapping with a soft shoulder: 0 stays 0, 2.2 becomes 1 */
GG_FN float gg_color_tone(float x) {
    x = gg_clampf(x, 0.0f, 2.2f);
    return x * (1.0f + x * (1.0f / (2.2f * 2.2f)) * 0.35f) / (1.0f + x * 0.35f) * 1.113f;
}

GG_FN gg_vec3 gg_color_tone3(gg_vec3 c) { return gg_v3(gg_color_tone(c.x), gg_color_tone(c.y), gg_color_tone(c.z)); }

/* 8-bit sRGB of a linear value in [0, 1]; square roots fitted to the standard's curve within a quarter of a step */
GG_FN uint8_t gg_color_encode(float x) {
    x = gg_clampf(x, 0.0f, 1.0f);
    float root = sqrtf(x);
    float s =
        x <= 0.0031308f ? 12.92f * x : 0.82285811f * root + 0.30759049f * sqrtf(root) - 0.05172558f * x - 0.07911535f;
    return (uint8_t)(gg_clampf(s, 0.0f, 1.0f) * 255.0f + 0.5f);
}

#endif
