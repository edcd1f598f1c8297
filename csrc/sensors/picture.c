/* picture.c: runs the passes of shade.h over their bands on the host's threads.
 *
 * Each item writes its own rows, so that the picture has the same bytes for any number of threads.
 */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base/threads.h"
#include "shade.h"

/* limit of rays: 8 bytes each, so that a small machine has the memory */
#define GG_PICTURE_RAYS ((int64_t)1 << 28)
#define GG_PICTURE_SIDE 16384

gg_status gg_picture_check(const gg_view *view, int64_t env, const gg_picture *picture, char *message,
                           size_t message_size) {
    char unused[1];
    if (!message || !message_size) {
        message = unused;
        message_size = sizeof unused;
    }
    message[0] = 0;
    const gg_camera *camera = &picture->camera;
#define GG_REFUSE(...)                                                                                                 \
    do {                                                                                                               \
        snprintf(message, message_size, __VA_ARGS__);                                                                  \
        return GG_ERROR_ARGUMENT;                                                                                      \
    } while (0)
    if (env < 0 || env >= view->dims.env_count) {
        GG_REFUSE("env: expected 0 .. %lld, got %lld", (long long)view->dims.env_count - 1, (long long)env);
    }
    if (camera->kind != GG_CAMERA_PERSPECTIVE && camera->kind != GG_CAMERA_ORTHOGRAPHIC) {
        GG_REFUSE("camera.kind: expected perspective (%d) or orthographic (%d), got %d", (int)GG_CAMERA_PERSPECTIVE,
                  (int)GG_CAMERA_ORTHOGRAPHIC, (int)camera->kind);
    }
    if (camera->height < 1 || camera->height > GG_PICTURE_SIDE || camera->width < 1 ||
        camera->width > GG_PICTURE_SIDE) {
        GG_REFUSE("camera.height, camera.width: expected 1 .. %d pixels, got %d x %d", GG_PICTURE_SIDE,
                  (int)camera->height, (int)camera->width);
    }
    if (picture->samples < 1 || picture->samples > 4) {
        GG_REFUSE("samples: expected 1 .. 4, got %d", (int)picture->samples);
    }
    if (gg_shade_ray_count(picture) > GG_PICTURE_RAYS) {
        GG_REFUSE("samples: expected at most %lld rays in the picture, got %lld", (long long)GG_PICTURE_RAYS,
                  (long long)gg_shade_ray_count(picture));
    }
    if (!(camera->extent > 0.0f) || !gg_finite(camera->extent)) {
        GG_REFUSE("camera.extent: expected a finite number above 0, got %g", (double)camera->extent);
    }
    if (!gg_finite(camera->near_depth) || !gg_finite(camera->far_depth) || !(camera->near_depth < camera->far_depth) ||
        !(camera->far_depth > 0.0f)) {
        GG_REFUSE("camera.near_depth, camera.far_depth: expected finite near < far and far > 0, got %g and %g",
                  (double)camera->near_depth, (double)camera->far_depth);
    }
    if (camera->tool < -1 || camera->tool >= view->dims.tool_count) {
        GG_REFUSE("camera.tool: expected -1 or a tool below %lld, got %d", (long long)view->dims.tool_count,
                  (int)camera->tool);
    }
    if (!gg_pose_finite(camera->pose)) {
        GG_REFUSE("camera.pose: expected finite numbers, got NaN or infinity");
    }
    if (!gg_finite3(picture->light)) {
        GG_REFUSE("light: expected finite numbers, got NaN or infinity");
    }
#undef GG_REFUSE
    return GG_OK;
}

/* larger buffers, of pictures that are rare, are not kept */
#define GG_PICTURE_KEPT ((size_t)64 << 20)

void gg_picture_memory_free(gg_picture_memory *memory) {
    free(memory->data);
    memory->data = NULL;
    memory->size = 0;
}

/* makes memory at least so large; its content is lost */
static int reserve(gg_picture_memory *memory, size_t size) {
    if (memory->size < size) {
        gg_picture_memory_free(memory);
        memory->data = malloc(size);
        memory->size = memory->data ? size : 0;
    }
    return memory->size >= size;
}

/* Sets the buffers of a picture, one behind the other, each at a multiple of 64 bytes; returns how much they need. data
 * NULL: only that. */
static size_t lay_out(gg_shade *shade, char *data) {
    size_t size = 0, rays = (size_t)gg_shade_ray_count(shade->picture);
#define PLACE(name, count)                                                                                             \
    do {                                                                                                               \
        if (data) {                                                                                                    \
            shade->name = (void *)(data + size);                                                                       \
        }                                                                                                              \
        size += ((size_t)(count) * sizeof *shade->name + 63) & ~(size_t)63;                                            \
    } while (0)
    PLACE(depth, rays);
    PLACE(id, rays);
    PLACE(normal, shade->view->dims.continuum.envs ? rays : 0);
    PLACE(map, GG_SHADE_MAP_TEXELS);
    PLACE(range, GG_SHADE_MAP_BLOCKS);
    PLACE(part, shade->view->dims.part_count + 1);
    PLACE(busy, gg_shade_block_count(shade->picture));
#undef PLACE
    return size;
}

typedef struct bands {
    const gg_shade *shade;
    const gg_picture_passes *passes;
    uint8_t *rgb;
    int64_t map_items;
} bands;

static void run_first_bands(void *context, int64_t begin, int64_t end, int caller) {
    const bands *b = context;
    (void)caller;
    for (int64_t i = begin; i < end; i++) {
        if (i < b->map_items) {
            b->passes->map(b->shade, i);
        } else {
            b->passes->depth(b->shade, i - b->map_items);
        }
    }
}

static void run_color_bands(void *context, int64_t begin, int64_t end, int caller) {
    const bands *b = context;
    (void)caller;
    for (int64_t i = begin; i < end; i++) {
        b->passes->color(b->shade, i, b->rgb);
    }
}

gg_status gg_picture_render(const gg_view *view, int64_t env, const gg_picture *picture,
                            const gg_picture_passes *passes, gg_picture_memory *memory, int thread_count,
                            uint8_t *rgb) {
    gg_status status = gg_picture_check(view, env, picture, NULL, 0);
    if (status != GG_OK) {
        return status;
    }
    gg_shade shade = gg_shade_make(view, env, picture);
    if (!reserve(memory, lay_out(&shade, NULL))) {
        return GG_ERROR_MEMORY;
    }
    lay_out(&shade, memory->data);
    gg_shade_parts(&shade);
    bands b = {&shade, passes, rgb, gg_shade_map_items(&shade)};
    gg_threads *threads = gg_threads_open(thread_count);
    /* the first two passes are independent of each other; the colours need both */
    gg_threads_run(threads, b.map_items + gg_shade_depth_items(&shade), GG_CHUNK_LIMIT, run_first_bands, &b);
    gg_threads_run(threads, gg_shade_color_items(&shade), GG_CHUNK_LIMIT, run_color_bands, &b);
    gg_threads_close(threads);
    if (memory->size > GG_PICTURE_KEPT) {
        gg_picture_memory_free(memory);
    }
    return GG_OK;
}
