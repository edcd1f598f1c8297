/* png.c: 8-bit PNG files by stb_image_write (public domain or MIT).
 *
 * The file is encoded in memory and written here, so that a full disk is noticed and no partial file remains. The
 * library does not survive a failed allocation: its allocator is ours, and where memory runs out we leave the library
 * by a long jump and free its blocks.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "png.h"

/* a block of the library's memory, in a circular list that starts at png_memory.first */
typedef union png_block {
    struct {
        union png_block *before, *after;
    } ring;
    max_align_t align;
} png_block;

/* of the current call on this thread */
static _Thread_local struct {
    png_block first;
    jmp_buf no_memory;
} png_memory;

static void *png_realloc(void *old, size_t size) {
    png_block *block = old ? (png_block *)old - 1 : NULL;
    png_block *fresh = realloc(block, sizeof *block + size);
    if (!fresh) {
        longjmp(png_memory.no_memory, 1);
    }
    if (!old) {
        fresh->ring.before = &png_memory.first;
        fresh->ring.after = png_memory.first.ring.after;
    }
    fresh->ring.before->ring.after = fresh->ring.after->ring.before = fresh;
    return fresh + 1;
}

static void png_free(void *data) {
    if (data) {
        png_block *block = (png_block *)data - 1;
        block->ring.before->ring.after = block->ring.after;
        block->ring.after->ring.before = block->ring.before;
        free(block);
    }
}

#define STBIW_MALLOC(size)        png_realloc(NULL, size)
#define STBIW_REALLOC(data, size) png_realloc(data, size)
#define STBIW_FREE(data)          png_free(data)
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#if defined(__has_include) && __has_include(<stb/stb_image_write.h>)
#include <stb/stb_image_write.h>
#else
#include "stb_image_write.h"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* larger images would overflow the library's int arithmetic */
#define GG_PNG_BYTES ((int64_t)1 << 30)

/* the bytes of the file, to be freed by png_free; NULL: no memory */
static unsigned char *png_make(int32_t height, int32_t width, int32_t channels, const uint8_t *pixels, int *size) {
    png_memory.first.ring.before = png_memory.first.ring.after = &png_memory.first;
    if (setjmp(png_memory.no_memory)) {
        while (png_memory.first.ring.after != &png_memory.first) {
            png_free(png_memory.first.ring.after + 1);
        }
        return NULL;
    }
    return stbi_write_png_to_mem(pixels, width * channels, width, height, channels, size);
}

gg_status gg_write_png(const char *path, int32_t height, int32_t width, int32_t channels, const uint8_t *pixels) {
    if (!path || !path[0] || !pixels || height < 1 || width < 1 || (channels != 1 && channels != 3) ||
        (int64_t)height * width > GG_PNG_BYTES / channels) {
        return GG_ERROR_ARGUMENT;
    }
    int size = 0;
    unsigned char *bytes = png_make(height, width, channels, pixels, &size);
    if (!bytes) {
        return GG_ERROR_MEMORY;
    }
    FILE *file = fopen(path, "wb");
    int failed = !file || fwrite(bytes, 1, (size_t)size, file) != (size_t)size;
    /* a full disk may show only when the last bytes are flushed */
    failed |= file && fclose(file);
    png_free(bytes);
    if (file && failed) {
        remove(path);
    }
    return failed ? GG_ERROR_ARGUMENT : GG_OK;
}
