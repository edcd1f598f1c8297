/* scene.c: the arrays of a scene that a world owns: copied from its definition, shown by its view, copied to a device.
 *
 * Each of them is listed once, in state/scene.h.
 */
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* tables are read in whole cache lines, up to one line past their end */
#define LINE 64

/* count elements of `each` bytes on the host, copied from `from` or zero; NULL where there are none */
static void *host_array(gg_world *w, const void *from, int64_t count, size_t each, size_t *size, gg_status *status) {
    *size = count > 0 ? (size_t)count * each : 0;
    if (*size == 0 || *status != GG_OK) {
        return NULL;
    }
    void *to = *size < SIZE_MAX / 2 ? aligned_alloc(LINE, (*size + 2 * LINE - 1) / LINE * LINE) : NULL;
    if (!to) {
        *status = gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes of the scene", *size);
    } else if (from) {
        memcpy(to, from, *size);
    } else {
        memset(to, 0, *size);
    }
    return to;
}

/* the plane that closes a face, looking inwards */
static void set_wall(gg_shape *s, const gg_world_def *def, int face) {
    int axis = face / 2, upper = face % 2;
    gg_vec3 corner = upper ? def->upper : def->lower;
    s->kind = GG_SHAPE_PLANE;
    s->tool = face;
    s->grid = -1;
    s->material = def->wall_material;
    s->position = gg_v3(axis == 0 ? corner.x : 0.0f, axis == 1 ? corner.y : 0.0f, axis == 2 ? corner.z : 0.0f);
    /* turns z onto the inward normal: half turns about (z + n) are exact but for a rounded 1/sqrt(2) */
    float h = 0.70710678f;
    float sign = upper ? -1.0f : 1.0f;
    s->rotation = axis == 0   ? gg_quat_make(h, 0.0f, sign * h, 0.0f)
                  : axis == 1 ? gg_quat_make(h, -sign * h, 0.0f, 0.0f)
                  : upper     ? gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f)
                              : gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    gg_shape_set_bounds(s, NULL);
}

static void set_surfaces(gg_scene *scene, const gg_world_def *def) {
    for (int32_t k = 0; k < def->grid_count; k++) {
        gg_sdf_grid_set_surface(&scene->grids[k], scene->samples);
    }
}

/* the parts of the walls, then the caller's, whose tools come after the walls */
static void set_parts(gg_scene *scene, const gg_world_def *def) {
    gg_shape *next = scene->parts;
    for (int face = 0; face < GG_WALL_COUNT; face++) {
        if (def->boundary[face / 2][face % 2] == GG_BOUNDARY_WALL) {
            set_wall(next++, def, face);
        }
    }
    for (int32_t k = 0; k < def->part_count; k++) {
        gg_shape *s = next++;
        *s = def->part[k];
        s->tool += GG_WALL_COUNT;
        s->rotation = gg_quat_unit(s->rotation);
        gg_shape_set_bounds(s, s->kind == GG_SHAPE_GRID ? &scene->grids[s->grid] : NULL);
    }
}

/* what makes tools dynamic; the walls are not */
static void set_masses(gg_scene *scene, const gg_world_def *def) {
    int32_t coupled = 0;
    for (int32_t k = 0; scene->tool_mass && k < def->tool_count; k++) {
        gg_tool_mass *m = &scene->tool_mass[GG_WALL_COUNT + k];
        *m = def->tool_mass[k];
        m->coupled = m->coupled > 0 ? ++coupled : 0;
    }
}

/* cameras on the caller's tools, and their pixels one after the other */
static void set_cameras(gg_scene *scene, int64_t camera_count) {
    int64_t pixel = 0;
    for (int64_t k = 0; k < camera_count; k++) {
        gg_camera *c = &scene->cameras[k];
        c->tool += c->tool >= 0 ? GG_WALL_COUNT : 0;
        c->pose.rotation = gg_quat_unit(c->pose.rotation);
        c->first_pixel = pixel;
        pixel += (int64_t)c->height * c->width;
    }
}

gg_status gg_scene_create(gg_world *w, const gg_world_def *def, const gg_dims *dims) {
    gg_scene *s = &w->scene;
    gg_status status = GG_OK;
#define SCENE_COPY(type, name, count, from)                                                                            \
    s->name = host_array(w, from, count, sizeof(type), &s->name##_size, &status);
    GG_SCENE_ARRAYS(SCENE_COPY)
#undef SCENE_COPY
    if (status == GG_OK) {
        set_surfaces(s, def);
        set_parts(s, def);
        set_masses(s, def);
        set_cameras(s, dims->camera_count);
        gg_clumps_list(s, def);
        gg_tables_measure(s, def);
        gg_scene_show(w, &w->view);
    }
    return status;
}

void gg_scene_show(const gg_world *w, gg_view *host_view) {
#define SCENE_SHOW(type, name, count, from) host_view->name = w->scene.name;
    GG_SCENE_ARRAYS(SCENE_SHOW)
#undef SCENE_SHOW
}

static void *device_copy(gg_world *w, const void *from, size_t size, gg_status *status) {
    void *to = *status == GG_OK && size ? gg_memory_new(w, size) : NULL;
    if (to) {
        *status = gg_memory_copy(w, to, size, from, size, size, 1, GG_TO_DEVICE);
    } else if (size && *status == GG_OK) {
        *status = gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes of the scene on the device", size);
    }
    return to;
}

gg_status gg_scene_move_to_device(gg_world *w) {
    gg_status status = GG_OK;
#define SCENE_MOVE(type, name, count, from) w->view.name = device_copy(w, w->scene.name, w->scene.name##_size, &status);
    GG_SCENE_ARRAYS(SCENE_MOVE)
#undef SCENE_MOVE
    return status;
}

void gg_scene_free(gg_world *w) {
#define SCENE_FREE(type, name, count, from)                                                                            \
    if (w->cuda && w->view.name != w->scene.name) {                                                                    \
        gg_memory_free(w, (void *)(uintptr_t)w->view.name);                                                            \
    }                                                                                                                  \
    free(w->scene.name);
    GG_SCENE_ARRAYS(SCENE_FREE)
#undef SCENE_FREE
}
