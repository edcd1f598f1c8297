/* paint.h: what cameras tell of the surfaces that they see: codes of whose they are, and the colours of an image. */
#ifndef GG_PAINT_H
#define GG_PAINT_H

#include "../base/vec.h"

/* whose surface a pixel sees, where it is not a grain's, whose code is its id; tool k of the caller: GG_SEEN_TOOL - k */
enum { GG_SEEN_NOTHING = -1, GG_SEEN_BOUNDS = -2, GG_SEEN_TOOL = -3 };

/* colours of an image: 8-bit sRGB */
typedef struct gg_paint {
    const uint8_t *grain_color; /* (grain_count, 3) or NULL: sand */
    const uint8_t *tool_color;  /* (GG_WALL_COUNT + tool_count, 3) */
    uint8_t background[3];      /* of pixels that see nothing */
    float ambient;              /* share of the light that comes from everywhere, 0 .. 1 */
    gg_vec3 light;              /* direction towards the rest of it, world; of any length but 0 */
} gg_paint;

#endif
