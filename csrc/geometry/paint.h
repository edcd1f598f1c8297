/* paint.h: what cameras tell of the surfaces that they see: codes of whose they are, and the colours of an image. */
#ifndef GG_PAINT_H
#define GG_PAINT_H

#include "../base/vec.h"

/* whose surface a pixel sees, where it is not a grain's, whose code is its id; tool k of the caller: GG_SEEN_TOOL - k */
enum { GG_SEEN_NOTHING = -1, GG_SEEN_BOUNDS = -2, GG_SEEN_TOOL = -3 };
/* the same in a byte, all grains alike; tool k of the caller: GG_CLASS_TOOL + k */
enum { GG_CLASS_NOTHING = 0, GG_CLASS_BOUNDS, GG_CLASS_GRAIN, GG_CLASS_TOOL };
/* tools of the caller that a byte has room for */
#define GG_CLASS_TOOLS (256 - GG_CLASS_TOOL)

/* colours of an image: 8-bit sRGB */
typedef struct gg_paint {
    const uint8_t *grain_color; /* (grain_count, 3) of each env, or of all; or NULL: sand */
    int64_t grain_stride;       /* bytes from the grain colours of an env to those of the next; 0: all have the same */
    const uint8_t *tool_color;  /* (GG_WALL_COUNT + tool_count, 3) */
    uint8_t background[3];      /* of pixels that see nothing */
    float ambient;              /* share of the light that comes from everywhere, 0 .. 1 */
    gg_vec3 light;              /* direction towards the rest of it, world; of any length but 0 */
} gg_paint;

#endif
