/* picture.h: description of a picture for people; sensors/shade.h renders it. */
#ifndef GG_PICTURE_DEF_H
#define GG_PICTURE_DEF_H

#include "camera.h"

/* members of floor_mark: corners and width of the edge [m], which is tinted more; colour, 0 .. 255 */
enum {
    GG_MARK_LOWER_X,
    GG_MARK_LOWER_Y,
    GG_MARK_UPPER_X,
    GG_MARK_UPPER_Y,
    GG_MARK_EDGE,
    GG_MARK_COLOR,
    GG_MARK_SIZE = 8
};

/* picture for people: one env seen by any camera, (height, width, 3) 8-bit sRGB */
typedef struct gg_picture {
    gg_camera camera;
    gg_vec3 light;              /* direction towards the sun, world */
    const uint8_t *grain_color; /* (grain_count, 3) or NULL: sand */
    const uint8_t *tool_color;  /* (GG_WALL_COUNT + tool_count, 3) or NULL */
    const float *floor_mark;    /* (8,) tinted rectangle of the floor, or NULL: GG_MARK_... */
    int32_t show_walls;         /* 0: only the floor (a lower z wall) is drawn */
    int32_t samples;            /* rays per pixel along each axis, 1..4 */
} gg_picture;

#endif
