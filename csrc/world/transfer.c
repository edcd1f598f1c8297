/* transfer.c: memory where a world runs, and copies between it, the host and the caller.
 *
 * On the CPU all of that is host memory, and nothing is staged or mirrored. On a GPU the fields lie in its memory; what
 * only the host does (files, hashes, pictures for people, rare settings) works on a mirror: fields are pulled, perhaps
 * changed, and pushed back.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "world.h"

/* Asks for large pages where memory spans many: bodies, which are read in no order, then miss the TLB less (figures:
 * docs/performance.md). */
static void use_large_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped = (page - (uintptr_t)memory % page) % page;
    if (memory && size >= (size_t)16 << 20) {
        /* where it is refused pages stay small */
        (void)madvise((char *)memory + skipped, (size - skipped) / page * page, MADV_HUGEPAGE);
    }
#else
    (void)memory, (void)size;
#endif
}

void *gg_memory_new(gg_world *w, size_t size) {
    if (!w->cuda) {
        void *memory = calloc(1, size ? size : 1);
        use_large_pages(memory, size);
        return memory;
    }
    void *memory = NULL;
    gg_status status = gg_cuda_alloc(w->cuda, size, &memory);
    if (status == GG_ERROR_MEMORY && gg_pool_trim(w->pool)) {
        status = gg_cuda_alloc(w->cuda, size, &memory);
    }
    return status == GG_OK ? memory : NULL;
}

void gg_memory_free(gg_world *w, void *memory) {
    if (w->cuda) {
        gg_cuda_free(w->cuda, memory);
    } else {
        free(memory);
    }
}

gg_status gg_memory_copy(gg_world *w, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t rows, gg_direction direction) {
    if (width == 0 || rows == 0) {
        return GG_OK;
    }
    if (w->cuda) {
        gg_status status = gg_cuda_copy(w->cuda, to, to_pitch, from, from_pitch, width, rows, direction);
        return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
    }
    for (size_t r = 0; r < rows; r++) {
        memcpy((char *)to + r * to_pitch, (const char *)from + r * from_pitch, width);
    }
    return GG_OK;
}

/* ---- the mirror ---- */

/* a mirror of the sizes that the world has now; where they changed, its content is lost */
static gg_status mirror_fit(gg_world *w) {
    gg_view *m = &w->mirror;
    if (!w->mirror_arena || memcmp(&m->dims, &w->view.dims, sizeof m->dims)) {
        free(w->mirror_arena);
        w->mirror_arena = calloc(1, gg_arena_total(&w->view.dims));
        if (!w->mirror_arena) {
            return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes to read from the device",
                                 gg_arena_total(&w->view.dims));
        }
        gg_arena_carve(m, &w->view.dims, w->mirror_arena);
    }
    m->dims = w->view.dims;
    m->params = w->view.params;
    gg_scene_show(w, m);
    return GG_OK;
}

static gg_status mirror_copy(gg_world *w, gg_fields fields, int64_t env, gg_direction direction) {
    const gg_dims *d = &w->view.dims;
    gg_status status = GG_OK;
    size_t envs = env < 0 ? (size_t)d->env_count : 1, first = env < 0 ? 0 : (size_t)env;
    for (int f = 0; status == GG_OK && f < GG_FIELD_COUNT; f++) {
        if (fields == GG_ALL_FIELDS || (f < GG_FIELD_BITS && (fields >> f & 1))) {
            size_t size = gg_field_size(d, (gg_field_id)f, NULL);
            char *here = (char *)gg_field_data(&w->mirror, (gg_field_id)f) + first * size;
            char *there = (char *)gg_field_data(&w->view, (gg_field_id)f) + first * size;
            int reading = direction == GG_TO_HOST;
            status = gg_memory_copy(w, reading ? here : there, size * envs, reading ? there : here, size * envs,
                                    size * envs, 1, direction);
        }
    }
    return status;
}

gg_status gg_world_pull(gg_world *w, gg_fields fields, int64_t env, gg_view **view) {
    *view = &w->view;
    if (!w->cuda) {
        return GG_OK;
    }
    *view = &w->mirror;
    gg_status status = mirror_fit(w);
    return status == GG_OK ? mirror_copy(w, fields, env, GG_TO_HOST) : status;
}

gg_status gg_world_push(gg_world *w, gg_fields fields, int64_t env) {
    return w->cuda ? mirror_copy(w, fields, env, GG_TO_DEVICE) : GG_OK;
}

/* ---- the caller's arrays ---- */

/* a staging buffer of at least `size` bytes */
static void *staging(gg_world *w, gg_staging_id id, size_t size, gg_status *status) {
    gg_staging *l = &w->staging[id];
    if (l->size < size) {
        gg_memory_free(w, l->memory);
        l->size = 0;
        l->memory = gg_memory_new(w, size);
        if (!l->memory) {
            *status = gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes on the device", size);
            return NULL;
        }
        l->size = size;
    }
    return l->memory;
}

const void *gg_stage_input(gg_world *w, gg_staging_id id, const void *data, size_t size, gg_status *status) {
    if (!w->cuda || !data || *status != GG_OK) {
        return data;
    }
    void *copy = staging(w, id, size, status);
    if (*status == GG_OK) {
        *status = gg_memory_copy(w, copy, size, data, size, size, 1, GG_TO_DEVICE);
    }
    return *status == GG_OK ? copy : NULL;
}

void *gg_stage_output(gg_world *w, gg_staging_id id, void *out, size_t size, gg_memory_space space, gg_status *status) {
    if (!w->cuda || !out || space == GG_DEVICE || *status != GG_OK) {
        return out;
    }
    if (w->collecting) {
        /* what an earlier reader left in a buffer is still to be fetched */
        id = (gg_staging_id)(GG_STAGING_COLLECTED + w->collected_staging++);
    }
    return staging(w, id, size, status);
}

static gg_status fetch(gg_world *w, const gg_copy_run *runs, int count) {
    gg_status status = count ? gg_cuda_fetch(w->cuda, runs, count) : GG_OK;
    return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
}

gg_status gg_fetch_outputs(gg_world *w, const gg_copy_run *outputs, int count) {
    gg_copy_run runs[GG_STAGING_COUNT];
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (outputs[k].to && outputs[k].from != outputs[k].to) {
            runs[kept++] = outputs[k];
        }
    }
    if (w->collecting) {
        memcpy(w->collected + w->collected_count, runs, sizeof *runs * (size_t)kept);
        w->collected_count += kept;
        return GG_OK;
    }
    return fetch(w, runs, kept);
}

void gg_collect_outputs(gg_world *w) {
    w->collecting = 1;
    w->collected_count = w->collected_staging = 0;
}

gg_status gg_fetch_collected(gg_world *w) {
    w->collecting = 0;
    return fetch(w, w->collected, w->collected_count);
}

void gg_staging_free(gg_world *w) {
    for (int k = 0; k < GG_STAGING_COUNT; k++) {
        gg_memory_free(w, w->staging[k].memory);
        w->staging[k].memory = NULL;
        w->staging[k].size = 0;
    }
}

gg_status gg_world_move_to_device(gg_world *w, gg_cuda *cuda) {
    gg_view host = w->view;
    const gg_dims *d = &host.dims;
    gg_view *v = &w->view;
    w->cuda = cuda;
    gg_status status = gg_scene_move_to_device(w);
    /* the fields as they were filled become the mirror's, and are copied to the device */
    void *arena = w->arena;
    w->mirror = host;
    w->mirror_arena = arena;
    w->arena = status == GG_OK ? gg_memory_new(w, w->arena_size) : NULL;
    if (status == GG_OK && !w->arena) {
        status =
            gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes on the device for %lld envs of %lld grains",
                          w->arena_size, (long long)d->env_count, (long long)d->grain_count);
    }
    if (status != GG_OK) {
        return status;
    }
    gg_arena_carve(v, d, w->arena);
    return mirror_copy(w, GG_ALL_FIELDS, -1, GG_TO_DEVICE);
}
