/* depth.h: the depth image of a camera, in bands of rows: an item is a band of the image of a listed env. */
#ifndef GG_DEPTH_H
#define GG_DEPTH_H

#include "draw.h"

/* rows of a band */
#define GG_DEPTH_BAND 8

GG_FN int64_t gg_depth_camera_bands(const gg_camera *camera) {
    return (camera->height + GG_DEPTH_BAND - 1) / GG_DEPTH_BAND;
}

/* where the pixels of v->access.camera begin in v->depth and v->seen */
GG_FN int64_t gg_depth_first(const gg_view *v, int64_t env) {
    return env * v->dims.pixels + v->cameras[v->access.camera].first_pixel;
}

/* One band, or all, of the image of v->access.camera, into v->depth, where the env is listed; whose surfaces they are
 * into v->seen, where access asks for it. */
GG_FN void gg_depth_band(const gg_view *v, int64_t env, int64_t band) {
    if (v->access.listed[env] < 0) {
        return;
    }
    const gg_camera *camera = &v->cameras[v->access.camera];
    gg_lens lens = gg_lens_make(camera, gg_camera_pose(v, env, camera));
    int32_t rows = v->access.camera_whole ? camera->height : GG_DEPTH_BAND, row_begin = (int32_t)band * rows;
    int32_t row_end = GG_MIN(row_begin + rows, camera->height);
    int64_t first = gg_depth_first(v, env) + (int64_t)row_begin * camera->width;
    gg_draw_strip(&lens, v, env, row_begin, row_end, v->depth + first, v->access.camera_seen ? v->seen + first : 0,
                  GG_STRIP_WALLS_FLOOR);
}

#endif
