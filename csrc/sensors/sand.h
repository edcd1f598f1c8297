/* sand.h: the colours of grains that are given none: quartz, ochre and a few brown ones. */
#ifndef GG_SAND_H
#define GG_SAND_H

#include "../base/rng.h"
#include "color.h"

/* bits of a grain of medium colour and brightness */
#define GG_SAND_EVEN ((uint64_t)1 << 20 | 512u << 10 | 600u)

/* what the look of a grain is drawn from; even: particles of continuous matter, which are not to be told apart */
GG_FN uint64_t gg_sand_bits(int32_t id, int even) { return even ? GG_SAND_EVEN : gg_rng_mix((uint64_t)id + 77u); }

/* brightness, 0 .. 1 */
GG_FN float gg_sand_brightness(uint64_t bits) { return (float)(bits & 1023u) * (1.0f / 1023.0f); }

GG_FN gg_vec3 gg_sand_color(uint64_t bits) {
    float b = (float)((bits >> 10) & 1023u) * (1.0f / 1023.0f);
    gg_vec3 color = gg_color_mix(gg_v3(0.64f, 0.44f, 0.22f), gg_v3(0.72f, 0.58f, 0.38f), b);
    color = (bits >> 20) % 11u == 0 ? gg_v3(0.36f, 0.21f, 0.11f) : color;
    return gg_scale(color, 0.72f + 0.4f * gg_sand_brightness(bits));
}

#endif
