/* png.c: 8-bit PNG files by stb_image_write (public domain or MIT).
 *
 * The image is made in memory and written by ourselves, so that a full disk is seen and nothing is left half written
 * without a word.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../gg.h"

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

/* larger images would overflow the int arithmetic of the library */
#define GG_PNG_BYTES ((int64_t)1 << 30)

/* collects what the library writes */
typedef struct gg_png_file {
    FILE *file;
    int failed;
} gg_png_file;

static void gg_png_put(void *context, void *data, int size) {
    gg_png_file *out = context;
    if (fwrite(data, 1, (size_t)size, out->file) != (size_t)size) {
        out->failed = 1;
    }
}

gg_status gg_write_png(const char *path, int32_t height, int32_t width, int32_t channels, const uint8_t *pixels) {
    if (!path || !path[0] || !pixels || height < 1 || width < 1 || (channels != 1 && channels != 3) ||
        (int64_t)height * width > GG_PNG_BYTES / channels) {
        return GG_ERROR_ARGUMENT;
    }
    gg_png_file out = {fopen(path, "wb"), 0};
    if (!out.file) {
        return GG_ERROR_ARGUMENT;
    }
    int made = stbi_write_png_to_func(gg_png_put, &out, width, height, channels, pixels, width * channels);
    /* a full disk may show only when the last bytes leave */
    if (fclose(out.file)) {
        out.failed = 1;
    }
    if (!made || out.failed) {
        remove(path);
        return made ? GG_ERROR_ARGUMENT : GG_ERROR_MEMORY;
    }
    return GG_OK;
}
