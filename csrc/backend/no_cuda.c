/* no_cuda.c: stands in for the CUDA backend where the package was built without nvcc. */
#include <stdio.h>

#include "cuda.h"

static const char reason[] = "this build has no CUDA backend: it was built without nvcc";

static gg_status refuse(char *message, size_t message_size) {
    if (message && message_size) {
        snprintf(message, message_size, "%s", reason);
    }
    return GG_ERROR_BACKEND;
}

int gg_device_built(void) { return 0; }

gg_status gg_device_count(int32_t *count, char *message, size_t message_size) {
    *count = 0;
    return refuse(message, message_size);
}

gg_status gg_device_get_info(int32_t device, gg_device_info *info, char *message, size_t message_size) {
    (void)device;
    (void)info;
    return refuse(message, message_size);
}

gg_status gg_cuda_open(int32_t device, gg_cuda **out, char *message, size_t message_size) {
    (void)device;
    *out = NULL;
    return refuse(message, message_size);
}

/* no gg_cuda can exist, so nothing below is ever called with one */
void gg_cuda_retain(gg_cuda *cuda) { (void)cuda; }
void gg_cuda_release(gg_cuda *cuda) { (void)cuda; }
const char *gg_cuda_message(const gg_cuda *cuda) {
    (void)cuda;
    return reason;
}
int32_t gg_cuda_device(const gg_cuda *cuda) {
    (void)cuda;
    return -1;
}
gg_status gg_cuda_alloc(gg_cuda *cuda, size_t size, void **memory) {
    (void)cuda;
    (void)size;
    *memory = NULL;
    return GG_ERROR_BACKEND;
}
void gg_cuda_free(gg_cuda *cuda, void *memory) {
    (void)cuda;
    (void)memory;
}
gg_status gg_cuda_copy(gg_cuda *cuda, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t rows, gg_direction direction) {
    (void)cuda;
    (void)to;
    (void)to_pitch;
    (void)from;
    (void)from_pitch;
    (void)width;
    (void)rows;
    (void)direction;
    return GG_ERROR_BACKEND;
}
gg_status gg_cuda_fetch(gg_cuda *cuda, const gg_copy_run *runs, int count) {
    (void)cuda;
    (void)runs;
    (void)count;
    return GG_ERROR_BACKEND;
}
gg_status gg_cuda_set_stream(gg_cuda *cuda, uintptr_t stream) {
    (void)cuda;
    (void)stream;
    return GG_ERROR_BACKEND;
}
uintptr_t gg_cuda_stream(const gg_cuda *cuda) {
    (void)cuda;
    return 0;
}
gg_status gg_cuda_order(gg_cuda *cuda, uintptr_t stream) {
    (void)cuda;
    (void)stream;
    return GG_ERROR_BACKEND;
}
gg_status gg_cuda_settle(gg_cuda *cuda) {
    (void)cuda;
    return GG_ERROR_BACKEND;
}
gg_status gg_cuda_set_kernel(gg_cuda *cuda, const char *name) {
    (void)cuda;
    (void)name;
    return GG_ERROR_BACKEND;
}
const char *gg_cuda_kernel(const gg_cuda *cuda) {
    (void)cuda;
    return "";
}
gg_status gg_cuda_run(gg_cuda *cuda, const gg_view *view, gg_phase phase, int32_t pass) {
    (void)cuda;
    (void)view;
    (void)phase;
    (void)pass;
    return GG_ERROR_BACKEND;
}
gg_status gg_cuda_step(gg_cuda *cuda, const gg_view *view, int32_t most, const gg_copy_run *runs, int count,
                       int32_t *done) {
    (void)cuda;
    (void)view;
    (void)most;
    (void)runs;
    (void)count;
    *done = 1;
    return GG_ERROR_BACKEND;
}
int gg_cuda_overflowed(const gg_cuda *cuda) {
    (void)cuda;
    return 0;
}
const gg_env_stats *gg_cuda_stats(const gg_cuda *cuda) {
    (void)cuda;
    return NULL;
}
int64_t gg_cuda_waits(const gg_cuda *cuda) {
    (void)cuda;
    return 0;
}
void gg_cuda_profile(gg_cuda *cuda, double *seconds) {
    (void)cuda;
    (void)seconds;
}
