/* png.h: 8-bit PNG files. */
#ifndef GG_PNG_H
#define GG_PNG_H

#include <stdint.h>

#include "../base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes an 8-bit PNG of pixels (height, width, channels), channels 1 or 3. GG_ERROR_ARGUMENT: bad sizes, or the file
 * cannot be written; GG_ERROR_MEMORY. No partial file remains. */
gg_status gg_write_png(const char *path, int32_t height, int32_t width, int32_t channels, const uint8_t *pixels);

#ifdef __cplusplus
}
#endif

#endif
