/* kernel.h: defines the gg_kernel of one instruction set. Included once by each file compiled for one, which defines
 *   GG_KERNEL        the kernel
 *   GG_KERNEL_NAME   what users call it, a string
 *   GG_LANE_CALL(x)  function x of solvers/lane_phases.h with the lanes of this instruction set
 */
#include "../sensors/shade.h"
#include "kernels.h"

/* a function of this kernel: a file may define several kernels */
#ifndef KERNEL_OF
#define KERNEL_OF_(kernel, name) kernel##_##name
#define KERNEL_OF(kernel, name)  KERNEL_OF_(kernel, name)
#define KERNEL_FN(name)          KERNEL_OF(GG_KERNEL, name)
#endif

/* expands the phases marked LANES only */
#define KERNEL_PLAIN(name, body)
#define KERNEL_LANES(name, body)                                                                                       \
    static void KERNEL_FN(name)(const gg_view *v, int64_t e, int64_t i, int32_t pass) {                                \
        (void)pass;                                                                                                    \
        body;                                                                                                          \
    }
#define KERNEL_PHASE(name, items, still, build, gpu, threads, sync, body) KERNEL_##build(name, body)
GG_PHASES(KERNEL_PHASE)

static void KERNEL_FN(query)(const gg_pair_field *field, const void *blob, const float *pose, int64_t count,
                             gg_pair_sample *out) {
    for (int64_t k = 0; k < count; k++) {
        out[k] = gg_pair_field_query(field, blob, pose[3 * k], pose[3 * k + 1], pose[3 * k + 2]);
    }
}

static void KERNEL_FN(picture_map)(const gg_shade *shade, int64_t item) { gg_shade_map_band(shade, item); }
static void KERNEL_FN(picture_depth)(const gg_shade *shade, int64_t item) { gg_shade_depth_band(shade, item); }
static void KERNEL_FN(picture_color)(const gg_shade *shade, int64_t item, uint8_t *rgb) {
    gg_shade_color_band(shade, item, rgb);
}

#define KERNEL_ENTRY_PLAIN(name)                                          NULL
#define KERNEL_ENTRY_LANES(name)                                          KERNEL_FN(name)
#define KERNEL_ENTRY(name, items, still, build, gpu, threads, sync, body) KERNEL_ENTRY_##build(name),
const gg_kernel GG_KERNEL = {GG_KERNEL_NAME,
                             {GG_PHASES(KERNEL_ENTRY)},
                             KERNEL_FN(query),
                             {KERNEL_FN(picture_map), KERNEL_FN(picture_depth), KERNEL_FN(picture_color)}};
