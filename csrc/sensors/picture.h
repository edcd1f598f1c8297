/* picture.h: a shaded picture of one env, on the host. */
#ifndef GG_PICTURE_H
#define GG_PICTURE_H

#include <stddef.h>

#include "../base/status.h"
#include "../geometry/picture.h"
#include "../state/view.h"

/* Checks a picture against a world. GG_OK, or GG_ERROR_ARGUMENT with a message (may be NULL) that names the member,
 * what was expected and what it is. picture->camera.tool counts the walls: an index into view->tool_pose. */
gg_status gg_picture_check(const gg_view *view, int64_t env, const gg_picture *picture, char *message,
                           size_t message_size);

struct gg_shade;

/* the passes of shade.h, each over one of its bands, as built for one instruction set */
typedef struct gg_picture_passes {
    void (*map)(const struct gg_shade *shade, int64_t item);
    void (*depth)(const struct gg_shade *shade, int64_t item);
    void (*color)(const struct gg_shade *shade, int64_t item, uint8_t *rgb);
} gg_picture_passes;

/* Buffers kept from one picture to the next: fresh ones cost a tenth of its time in page faults. Zeros at first. */
typedef struct gg_picture_memory {
    void *data;
    size_t size;
} gg_picture_memory;
void gg_picture_memory_free(gg_picture_memory *memory);

/* Renders env into rgb (camera.height, camera.width, 3), 8-bit sRGB. The view must be in host memory; it is only read.
 * All passes give
 * the same bytes. thread_count below 1: one. GG_ERROR_ARGUMENT as gg_picture_check, GG_ERROR_MEMORY; rgb is then not written. */
gg_status gg_picture_render(const gg_view *view, int64_t env, const gg_picture *picture,
                            const gg_picture_passes *passes, gg_picture_memory *memory, int thread_count, uint8_t *rgb);

#endif
