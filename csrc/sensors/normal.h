/* normal.h: a unit vector in 32 bits.
 *
 * The octahedron |x| + |y| + |z| = 1 is unfolded onto a square, whose coordinates take 16 bits each (Cigolle et al.: A
 * survey of efficient representations for independent unit vectors, JCGT 3, 2014). Directions are off by less than 1e-4.
 */
#ifndef GG_NORMAL_H
#define GG_NORMAL_H

#include "../base/vec.h"

/* a number of -1 .. 1 in 16 bits, and back */
GG_FN uint32_t gg_normal_bits(float a) { return (uint32_t)(32767.5f + 32767.0f * gg_clampf(a, -1.0f, 1.0f)); }
GG_FN float gg_normal_value(uint32_t bits) { return ((float)bits - 32767.0f) * (1.0f / 32767.0f); }

/* a with the sign of b */
GG_FN float gg_normal_signed(float a, float b) { return b < 0.0f ? -a : a; }

GG_FN uint32_t gg_normal_pack(gg_vec3 n) {
    float scale = 1.0f / (gg_absf(n.x) + gg_absf(n.y) + gg_absf(n.z)), x = n.x * scale, y = n.y * scale;
    if (n.z < 0.0f) {
        float folded = gg_normal_signed(1.0f - gg_absf(y), x);
        y = gg_normal_signed(1.0f - gg_absf(x), y);
        x = folded;
    }
    return gg_normal_bits(x) << 16 | gg_normal_bits(y);
}

GG_FN gg_vec3 gg_normal_unpack(uint32_t bits) {
    float x = gg_normal_value(bits >> 16), y = gg_normal_value(bits & 0xFFFFu), z = 1.0f - gg_absf(x) - gg_absf(y);
    if (z < 0.0f) {
        float unfolded = gg_normal_signed(1.0f - gg_absf(y), x);
        y = gg_normal_signed(1.0f - gg_absf(x), y);
        x = unfolded;
    }
    return gg_unit(gg_v3(x, y, z), gg_v3(0.0f, 0.0f, 1.0f));
}

#endif
