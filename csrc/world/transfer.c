/* transfer.c: between the caller, this machine and the machine that a world runs on.
 *
 * On the CPU all three are one and nothing here copies. On a GPU the arrays of the engine live there; what only this
 * machine can do (files, hashes, pictures for people, rare settings) works on a mirror: fields are pulled, perhaps changed,
 * and pushed back.
 */
#include <stdlib.h>
#include <string.h>

#include "world.h"

void *gg_memory_new(gg_world *w, size_t size) {
    if (!w->cuda) {
        return calloc(1, size ? size : 1);
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

/* the mirror as large as the world is now; what it held is forgotten */
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
    m->parts = w->parts;
    m->grids = w->grids;
    m->samples = w->samples;
    m->cameras = w->cameras;
    m->outlines = w->outlines;
    m->outline_point = w->outline_point;
    m->pair_fields = w->pair_fields;
    m->pair_data = w->pair_data;
    m->material_outline = w->material_outline;
    m->material_fixed = w->material_fixed;
    m->beta = w->beta;
    return GG_OK;
}

static gg_status mirror_copy(gg_world *w, gg_fields fields, int64_t env, gg_direction direction) {
    const gg_dims *d = &w->view.dims;
    gg_status status = GG_OK;
    size_t envs = env < 0 ? (size_t)d->env_count : 1, first = env < 0 ? 0 : (size_t)env;
    for (int f = 0; status == GG_OK && f < GG_FIELD_COUNT; f++) {
        if (fields == GG_ALL_FIELDS || (fields >> f & 1)) {
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

/* room for `size` bytes on the device */
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
    void *room = staging(w, id, size, status);
    if (*status == GG_OK) {
        *status = gg_memory_copy(w, room, size, data, size, size, 1, GG_TO_DEVICE);
    }
    return *status == GG_OK ? room : NULL;
}

void *gg_stage_output(gg_world *w, gg_staging_id id, void *out, size_t size, gg_memory_space space, gg_status *status) {
    if (!w->cuda || !out || space == GG_DEVICE || *status != GG_OK) {
        return out;
    }
    return staging(w, id, size, status);
}

gg_status gg_fetch_outputs(gg_world *w, const gg_copy_run *outputs, int count) {
    gg_copy_run runs[GG_STAGING_COUNT];
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (outputs[k].to && outputs[k].from != outputs[k].to) {
            runs[kept++] = outputs[k];
        }
    }
    gg_status status = kept ? gg_cuda_fetch(w->cuda, runs, kept) : GG_OK;
    return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
}

void gg_staging_free(gg_world *w) {
    for (int k = 0; k < GG_STAGING_COUNT; k++) {
        gg_memory_free(w, w->staging[k].memory);
        w->staging[k].memory = NULL;
        w->staging[k].size = 0;
    }
}

/* ---- the scene ---- */

static const void *scene_copy(gg_world *w, const void *from, size_t size, gg_status *status) {
    void *to = *status == GG_OK ? gg_memory_new(w, size) : NULL;
    if (*status == GG_OK && !to) {
        *status = gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes for tools and cameras", size);
    }
    if (to) {
        *status = gg_memory_copy(w, to, size, from, size, size, 1, GG_TO_DEVICE);
    }
    return to;
}

gg_status gg_world_move_to_device(gg_world *w, gg_cuda *cuda) {
    gg_view host = w->view;
    const gg_dims *d = &host.dims;
    gg_status status = GG_OK;
    w->cuda = cuda;
    gg_view *v = &w->view;
    v->parts = scene_copy(w, host.parts, sizeof(gg_shape) * (size_t)d->part_count, &status);
    v->grids = scene_copy(w, host.grids, sizeof(gg_sdf_grid) * (size_t)w->grid_count, &status);
    v->samples = scene_copy(w, host.samples, sizeof(float) * (size_t)w->sample_count, &status);
    v->cameras = scene_copy(w, host.cameras, sizeof(gg_camera) * (size_t)d->camera_count, &status);
    v->beta = scene_copy(w, host.beta, sizeof w->beta, &status);
    if (d->outline_count) {
        size_t materials = sizeof(int32_t) * (size_t)d->material_count;
        v->outlines = scene_copy(w, host.outlines, sizeof(gg_outline) * (size_t)d->outline_count, &status);
        v->outline_point =
            scene_copy(w, host.outline_point, sizeof(gg_outline_point) * (size_t)d->outline_points, &status);
        v->pair_fields = scene_copy(w, host.pair_fields,
                                    sizeof(gg_pair_field) * (size_t)(d->outline_count * d->outline_count), &status);
        v->pair_data = scene_copy(w, host.pair_data, (size_t)w->pair_data_size, &status);
        v->material_outline = scene_copy(w, host.material_outline, materials, &status);
        v->material_fixed = scene_copy(w, host.material_fixed, materials, &status);
    }
    /* what stands in the arena so far becomes the mirror's, and goes over in one piece */
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

void gg_world_free_scene(gg_world *w) {
    if (w->cuda) {
        const gg_view *v = &w->view;
        const void *copies[] = {v->parts == w->parts ? NULL : v->parts,
                                v->grids == w->grids ? NULL : v->grids,
                                v->samples == w->samples ? NULL : v->samples,
                                v->cameras == w->cameras ? NULL : v->cameras,
                                v->beta == w->beta ? NULL : v->beta,
                                v->outlines == w->outlines ? NULL : v->outlines,
                                v->outline_point == w->outline_point ? NULL : v->outline_point,
                                v->pair_fields == w->pair_fields ? NULL : v->pair_fields,
                                v->pair_data == w->pair_data ? NULL : v->pair_data,
                                v->material_outline == w->material_outline ? NULL : v->material_outline,
                                v->material_fixed == w->material_fixed ? NULL : v->material_fixed};
        for (size_t k = 0; k < sizeof copies / sizeof copies[0]; k++) {
            gg_memory_free(w, (void *)(uintptr_t)copies[k]);
        }
    }
}
