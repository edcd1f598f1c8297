/* buffer.c: device memory that lives as long as it has a holder, also after the world that filled it has ended.
 *
 * Allocating and freeing synchronizes a GPU, so a world keeps a pool: a buffer that nobody holds any more is used again
 * for the next one of its size. When its last holder releases it, work on another stream may still read it. It is
 * therefore used again only after the device was seen idle, unless all such work was put on the world's own stream,
 * which keeps the order. Once the world has ended, the last holder frees.
 */
#include <pthread.h>
#include <stdlib.h>

#include "world.h"

gg_status gg_device_check(int32_t device, char *message, size_t message_size) {
    gg_cuda *cuda;
    gg_status status = gg_cuda_open(device, &cuda, message, message_size);
    gg_cuda_release(cuda);
    return status;
}

/* who may read a buffer, besides the world */
enum gg_readers { GG_READ_BY_NONE, GG_READ_ON_STREAM, GG_READ_ANYWHERE };

struct gg_buffer {
    gg_pool *pool;
    void *data;
    size_t size;
    int32_t holders;
    int32_t readers;
    uintptr_t stream;  /* GG_READ_ON_STREAM: which */
    uint64_t released; /* serial number of its release */
    gg_buffer *next;   /* in the pool */
};

/* at most so many are kept; the one released longest ago is freed first */
#define GG_POOL_LIMIT 64

struct gg_pool {
    pthread_mutex_t lock; /* of all below, and of the readers of a buffer: holders release on any thread */
    gg_cuda *cuda;
    gg_buffer *idle; /* the newest first */
    int32_t idle_count;
    int32_t open;      /* the world has not ended */
    int32_t holders;   /* the world and every buffer */
    uint64_t released; /* releases so far */
    uint64_t settled;  /* no work on the device uses a buffer of a release up to this one */
};

static gg_pool *pool_new(gg_cuda *cuda) {
    gg_pool *p = calloc(1, sizeof *p);
    if (p && pthread_mutex_init(&p->lock, NULL)) {
        free(p);
        return NULL;
    }
    if (p) {
        gg_cuda_retain(cuda);
        p->cuda = cuda;
        p->open = p->holders = 1;
    }
    return p;
}

static void pool_release(gg_pool *p) {
    if (__atomic_sub_fetch(&p->holders, 1, __ATOMIC_ACQ_REL) == 0) {
        gg_cuda_release(p->cuda);
        pthread_mutex_destroy(&p->lock);
        free(p);
    }
}

static void buffer_free(gg_buffer *b) {
    gg_pool *p = b->pool;
    gg_cuda_free(p->cuda, b->data);
    free(b);
    pool_release(p);
}

/* frees a list and returns its length */
static int32_t free_list(gg_buffer *b) {
    int32_t count = 0;
    for (gg_buffer *next; b; b = next, count++) {
        next = b->next;
        buffer_free(b);
    }
    return count;
}

int32_t gg_pool_trim(gg_pool *p) {
    if (!p) {
        return 0;
    }
    pthread_mutex_lock(&p->lock);
    gg_buffer *idle = p->idle;
    p->idle = NULL;
    p->idle_count = 0;
    pthread_mutex_unlock(&p->lock);
    return free_list(idle);
}

void gg_pool_close(gg_pool *p) {
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->open = 0;
    pthread_mutex_unlock(&p->lock);
    (void)gg_pool_trim(p);
    pool_release(p);
}

/* 1 is another name of the legacy default stream */
static uintptr_t stream_name(uintptr_t stream) { return stream == 1 ? 0 : stream; }

/* whether work that the world puts on its stream next runs after all reads of the buffer */
static int in_order(const gg_pool *p, const gg_buffer *b) {
    return b->readers == GG_READ_BY_NONE || b->released <= p->settled ||
           (b->readers == GG_READ_ON_STREAM && b->stream == stream_name(gg_cuda_stream(p->cuda)));
}

/* a buffer of this size that nobody holds, or NULL; one that needs no wait where there is one. *settle: the release up
 * to which the device must be idle before it is used, or 0 */
static gg_buffer *pop_idle(gg_pool *p, size_t size, uint64_t *settle) {
    gg_buffer **found = NULL;
    *settle = 0;
    for (gg_buffer **at = &p->idle; *at; at = &(*at)->next) {
        if ((*at)->size == size && (!found || in_order(p, *at))) {
            found = at;
            if (in_order(p, *at)) {
                break;
            }
        }
    }
    gg_buffer *b = found ? *found : NULL;
    if (b) {
        *settle = in_order(p, b) ? 0 : p->released;
        *found = b->next;
        p->idle_count--;
    }
    return b;
}

static gg_status pool_acquire(gg_pool *p, size_t size, gg_buffer **out) {
    uint64_t settle;
    pthread_mutex_lock(&p->lock);
    gg_buffer *b = pop_idle(p, size, &settle);
    pthread_mutex_unlock(&p->lock);
    if (b && settle) {
        gg_status status = gg_cuda_settle(p->cuda);
        if (status != GG_OK) {
            buffer_free(b);
            return status;
        }
        pthread_mutex_lock(&p->lock);
        p->settled = GG_MAX(p->settled, settle);
        pthread_mutex_unlock(&p->lock);
    }
    if (!b) {
        b = calloc(1, sizeof *b);
        if (!b) {
            return GG_ERROR_MEMORY;
        }
        gg_status status = gg_cuda_alloc(p->cuda, size, &b->data);
        if (status == GG_ERROR_MEMORY && gg_pool_trim(p)) {
            status = gg_cuda_alloc(p->cuda, size, &b->data);
        }
        if (status != GG_OK) {
            free(b);
            return status;
        }
        __atomic_add_fetch(&p->holders, 1, __ATOMIC_RELAXED);
        b->pool = p;
        b->size = size;
    }
    b->next = NULL;
    b->readers = GG_READ_BY_NONE;
    b->holders = 1;
    *out = b;
    return GG_OK;
}

gg_status gg_buffer_create(gg_world *w, size_t size, gg_buffer **out) {
    *out = NULL;
    if (!w->cuda) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "output: this world runs on the CPU and has no device arrays");
    }
    if (!w->pool && !(w->pool = pool_new(w->cuda))) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: device array");
    }
    gg_status status = pool_acquire(w->pool, size, out);
    return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
}

gg_status gg_buffer_clone(gg_buffer *b, gg_buffer **out) {
    *out = NULL;
    gg_status status = pool_acquire(b->pool, b->size, out);
    if (status == GG_OK) {
        status =
            gg_cuda_copy(b->pool->cuda, (*out)->data, b->size, b->data, b->size, b->size, b->size > 0, GG_ON_DEVICE);
        if (status != GG_OK) {
            gg_buffer_release(*out);
            *out = NULL;
        }
    }
    return status;
}

void gg_buffer_retain(gg_buffer *b) { __atomic_add_fetch(&b->holders, 1, __ATOMIC_RELAXED); }

void gg_buffer_release(gg_buffer *b) {
    if (!b || __atomic_sub_fetch(&b->holders, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    gg_pool *p = b->pool;
    gg_buffer *freed = b;
    pthread_mutex_lock(&p->lock);
    if (p->open) {
        b->released = ++p->released;
        b->next = p->idle;
        p->idle = b;
        freed = NULL;
        if (++p->idle_count > GG_POOL_LIMIT) {
            gg_buffer **last = &p->idle;
            while ((*last)->next) {
                last = &(*last)->next;
            }
            freed = *last;
            *last = NULL;
            p->idle_count--;
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (freed) {
        buffer_free(freed);
    }
}

void *gg_buffer_data(const gg_buffer *b) { return b->data; }
int32_t gg_buffer_device(const gg_buffer *b) { return gg_cuda_device(b->pool->cuda); }
uintptr_t gg_buffer_stream(const gg_buffer *b) { return gg_cuda_stream(b->pool->cuda); }
const char *gg_buffer_message(const gg_buffer *b) { return gg_cuda_message(b->pool->cuda); }

void gg_buffer_lend(gg_buffer *b) {
    pthread_mutex_lock(&b->pool->lock);
    b->readers = GG_READ_ANYWHERE;
    pthread_mutex_unlock(&b->pool->lock);
}

gg_status gg_buffer_order(gg_buffer *b, uintptr_t stream) {
    uintptr_t name = stream_name(stream);
    pthread_mutex_lock(&b->pool->lock);
    int same = b->readers == GG_READ_BY_NONE || (b->readers == GG_READ_ON_STREAM && b->stream == name);
    /* 2 names another stream on every thread */
    b->readers = same && name != 2 ? GG_READ_ON_STREAM : GG_READ_ANYWHERE;
    b->stream = name;
    pthread_mutex_unlock(&b->pool->lock);
    return gg_cuda_order(b->pool->cuda, stream);
}

gg_status gg_buffer_read(gg_buffer *b, size_t offset, void *to, size_t size) {
    return gg_cuda_copy(b->pool->cuda, to, size, (const char *)b->data + offset, size, size, size > 0, GG_TO_HOST);
}

gg_status gg_buffer_write(gg_buffer *b, size_t offset, const void *from, size_t size) {
    return gg_cuda_copy(b->pool->cuda, (char *)b->data + offset, size, from, size, size, size > 0, GG_TO_DEVICE);
}
