/* device.h: the GPUs of this machine. */
#ifndef GG_DEVICE_H
#define GG_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "../base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of usable GPUs. On failure *count is 0 and message (message_size bytes, may be NULL) says why. */
gg_status gg_device_count(int32_t *count, char *message, size_t message_size);
typedef struct gg_device_info {
    char name[256];
    int64_t memory, memory_free;             /* bytes */
    int32_t multiprocessors, capability;     /* compute capability, 10 * major + minor */
    int32_t driver_version, runtime_version; /* 1000 * major + 10 * minor */
} gg_device_info;
gg_status gg_device_get_info(int32_t device, gg_device_info *info, char *message, size_t message_size);
/* opens and closes the device, to see whether it can be used */
gg_status gg_device_check(int32_t device, char *message, size_t message_size);
/* 1 where the CUDA backend was compiled in */
int gg_device_built(void);

#ifdef __cplusplus
}
#endif

#endif
