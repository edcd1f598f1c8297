/* buffer.c: memory on a GPU that lives as long as somebody holds it, also after the world that filled it is gone. */
#include <stdlib.h>

#include "world.h"

gg_status gg_device_check(int32_t device, char *message, size_t message_size) {
    gg_cuda *cuda;
    gg_status status = gg_cuda_open(device, &cuda, message, message_size);
    gg_cuda_release(cuda);
    return status;
}

struct gg_buffer {
    gg_cuda *cuda;
    void *data;
    int32_t holders;
};

gg_status gg_buffer_create(gg_world *w, size_t size, gg_buffer **out) {
    *out = NULL;
    if (!w->cuda) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "output: this world runs on the CPU and has no device arrays");
    }
    gg_buffer *b = calloc(1, sizeof *b);
    if (!b) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: device array");
    }
    gg_status status = gg_cuda_alloc(w->cuda, size, &b->data);
    if (status != GG_OK) {
        free(b);
        return gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
    }
    gg_cuda_retain(w->cuda);
    b->cuda = w->cuda;
    b->holders = 1;
    *out = b;
    return GG_OK;
}

void gg_buffer_retain(gg_buffer *b) { __atomic_add_fetch(&b->holders, 1, __ATOMIC_RELAXED); }

void gg_buffer_release(gg_buffer *b) {
    if (b && __atomic_sub_fetch(&b->holders, 1, __ATOMIC_ACQ_REL) == 0) {
        gg_cuda_free(b->cuda, b->data);
        gg_cuda_release(b->cuda);
        free(b);
    }
}

void *gg_buffer_data(const gg_buffer *b) { return b->data; }
int32_t gg_buffer_device(const gg_buffer *b) { return gg_cuda_device(b->cuda); }
uintptr_t gg_buffer_stream(const gg_buffer *b) { return gg_cuda_stream(b->cuda); }
gg_status gg_buffer_order(gg_buffer *b, uintptr_t stream) { return gg_cuda_order(b->cuda, stream); }
const char *gg_buffer_message(const gg_buffer *b) { return gg_cuda_message(b->cuda); }

gg_status gg_buffer_read(gg_buffer *b, size_t offset, void *to, size_t size) {
    return gg_cuda_copy(b->cuda, to, size, (const char *)b->data + offset, size, size, size > 0, GG_TO_HOST);
}

gg_status gg_buffer_write(gg_buffer *b, size_t offset, const void *from, size_t size) {
    return gg_cuda_copy(b->cuda, (char *)b->data + offset, size, from, size, size, size > 0, GG_TO_DEVICE);
}
