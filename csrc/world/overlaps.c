/* overlaps.c: what of one env lies inside something else as it stands, found on the host: grains in grains, grains in
 * tools and walls, grains beyond faces that join. Nothing is stepped and nothing changes.
 *
 * The grains are sorted into cell grids by size class like those of the broad phase (contact/cells.h), but by their
 * present positions and without margins. A pair of two classes is found from its smaller grain.
 */
#include <stdlib.h>
#include <string.h>

#include "../contact/candidates.h"
#include "../phases/tools.h"
#include "../solvers/planar/contacts.h"
#include "world.h"

typedef struct finder {
    gg_view v;      /* on the host, of the one env */
    char *memory;   /* its fields, and the arrays below */
    gg_vec3 origin; /* of the cell grids */
    gg_cell_grid grid[GG_SIZE_CLASSES];
    int32_t *cell, *cell_first, *cell_item; /* cell_item: slots */
    gg_part_pose *part_pose;
    float tolerance;
    int64_t capacity, count;
    int32_t *pairs;
    float *depths;
} finder;

/* ---- the env on the host ---- */

/* bytes of an array, padded so that the next one is aligned */
static size_t padded(int64_t count, size_t each) { return ((size_t)count * each + 63) / 64 * 64; }

/* the next array in the memory of the finder */
static void *carve(char **at, int64_t count, size_t each) {
    void *array = *at;
    *at += padded(count, each);
    return array;
}

static int64_t cells_of(const gg_dims *d) { return GG_MAX(d->grain_count, 1) * GG_SIZE_CLASSES; }

/* what the search reads: the named fields of one env, copied from where the world runs */
#define FINDER_FIELDS(X)                                                                                               \
    X(int32_t, grain_id, d->slots)                                                                                     \
    X(int32_t, slot_of, d->slots)                                                                                      \
    X(int32_t, material, d->slots)                                                                                     \
    X(gg_vec4, position, d->slots)                                                                                     \
    X(float, angle, d->planar.slots)                                                                                   \
    X(gg_pose, tool_pose, d->tool_count)                                                                               \
    X(int32_t, tool_active, d->tool_count)
#define FINDER_ARRAYS(X)                                                                                               \
    X(int32_t, cell, d->slots)                                                                                         \
    X(int32_t, cell_item, d->slots)                                                                                    \
    X(int32_t, cell_first, cells_of(d) + 1)                                                                            \
    X(gg_part_pose, part_pose, d->part_count)

static gg_status open_finder(gg_world *w, int64_t env, finder *f) {
    const gg_dims *d = &w->view.dims;
    size_t size = 64;
#define FINDER_SIZE(type, name, count) size += padded(count, sizeof(type));
    FINDER_FIELDS(FINDER_SIZE)
    FINDER_ARRAYS(FINDER_SIZE)
#undef FINDER_SIZE
    f->memory = calloc(1, size);
    if (!f->memory) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: %zu bytes to look for overlaps", size);
    }
    char *at = (char *)padded((int64_t)(uintptr_t)f->memory, 1);
    gg_status status = GG_OK;
    f->v.dims = *d;
    f->v.params = w->view.params;
    gg_scene_show(w, &f->v);
#define FINDER_COPY(type, name, count)                                                                                 \
    f->v.name = carve(&at, count, sizeof(type));                                                                       \
    if (status == GG_OK) {                                                                                             \
        size_t bytes = sizeof(type) * (size_t)(count);                                                                 \
        status = gg_memory_copy(w, f->v.name, bytes, w->view.name + env * (count), bytes, bytes, 1, GG_TO_HOST);       \
    }
    FINDER_FIELDS(FINDER_COPY)
#undef FINDER_COPY
#define FINDER_CARVE(type, name, count) f->name = carve(&at, count, sizeof(type));
    FINDER_ARRAYS(FINDER_CARVE)
#undef FINDER_CARVE
    for (int64_t part = 0; status == GG_OK && part < d->part_count; part++) {
        f->part_pose[part] = gg_part_pose_of(&f->v.parts[part], f->v.tool_pose[f->v.parts[part].tool]);
    }
    return status;
}

/* ---- what is found ---- */

static int full(const finder *f) { return f->count >= GG_OVERLAP_LIMIT; }

static void note(finder *f, int32_t first, int32_t second, float depth) {
    if (f->count < f->capacity) {
        f->pairs[2 * f->count] = first;
        f->pairs[2 * f->count + 1] = second;
        f->depths[f->count] = depth;
    }
    f->count++;
}

/* whether the grain in a slot never moves by itself */
static int is_fixed(const finder *f, int64_t slot) { return f->v.material_fixed[f->v.material[slot]]; }

/* ---- grains in grains ---- */

static void sort_grains(finder *f) {
    gg_view *v = &f->v;
    const gg_params *p = &v->params;
    int64_t n = v->dims.grain_count, cap = GG_MAX(n, 1);
    gg_aabb box = gg_cell_grids_box(p, gg_aabb_of(v, 0, 0, 1));
    f->origin = box.low;
    int32_t cells = 0;
    for (int k = 0; k < p->size_class_count; k++) {
        gg_cell_grid *g = &f->grid[k];
        gg_cell_grid_fit(p, g, 2.0f * p->size_class_radius[k] * 1.001f, gg_sub(box.high, box.low), cap);
        g->first_cell = cells;
        cells += g->count[0] * g->count[1] * g->count[2];
    }
    for (int64_t id = 0; id < n; id++) {
        gg_vec4 x = v->position[v->slot_of[id]];
        f->cell[id] = gg_cell_of(&f->grid[gg_size_class_of(p, x.w)], f->origin, x);
        f->cell_first[f->cell[id] + 1]++;
    }
    for (int32_t c = 0; c < cells; c++) {
        f->cell_first[c + 1] += f->cell_first[c];
    }
    for (int64_t id = n - 1; id >= 0; id--) {
        /* from the end of each cell downwards, so that its grains are in order of ids */
        f->cell_item[--f->cell_first[f->cell[id] + 1]] = v->slot_of[id];
    }
    /* each entry moved from the end of its cell to the beginning */
    for (int32_t c = 0; c < cells; c++) {
        f->cell_first[c] = f->cell_first[c + 1];
    }
    f->cell_first[cells] = (int32_t)n;
}

/* overlap of two grains [m]; at most 0: none */
static float depth_of_pair(const finder *f, int32_t i, int32_t j) {
    const gg_view *v = &f->v;
    gg_vec4 x = v->position[i], y = v->position[j];
    float touching = x.w + y.w, distance2 = gg_norm2(gg_separation(&v->params, x, y));
    if (!gg_law_has_lists((gg_law)v->params.law) || distance2 >= touching * touching ||
        (is_fixed(f, i) && is_fixed(f, j)) || gg_spheres_pass(v, v->grain_id[i], v->grain_id[j])) {
        return 0.0f;
    }
    if (!gg_is_planar(&v->params)) {
        return touching - sqrtf(distance2);
    }
    int32_t a = v->material_outline[v->material[i]], b = v->material_outline[v->material[j]];
    int swapped = a == b ? v->grain_id[i] > v->grain_id[j] : a > b;
    gg_manifold manifold = {0};
    gg_manifold_find(v, 0, swapped ? j : i, swapped ? i : j, 0.0f, 0, &manifold);
    return manifold.count ? -manifold.point[0].gap : 0.0f;
}

static void find_in_cell(finder *f, int32_t i, int32_t cell, int one_class) {
    const gg_view *v = &f->v;
    int32_t id = v->grain_id[i];
    for (int32_t k = f->cell_first[cell]; k < f->cell_first[cell + 1] && !full(f); k++) {
        int32_t j = f->cell_item[k], other = v->grain_id[j];
        if (one_class && other <= id) {
            continue;
        }
        float depth = depth_of_pair(f, i, j) / (2.0f * gg_minf(v->position[i].w, v->position[j].w));
        if (depth > f->tolerance) {
            note(f, GG_MIN(id, other), GG_MAX(id, other), depth);
        }
    }
}

/* the grains of one size class around the grain in slot i */
static void find_around(finder *f, int32_t i, int size_class, int one_class) {
    const gg_cell_grid *g = &f->grid[size_class];
    gg_vec4 x = f->v.position[i];
    gg_vec3 center = gg_sub(gg_v3(x.x, x.y, x.z), f->origin);
    float reach = (x.w + f->v.params.size_class_radius[size_class]) * 1.0001f;
    gg_cell_range r[3];
    for (int axis = 0; axis < 3; axis++) {
        float c = gg_axis_of(center, axis);
        r[axis] = gg_cell_range_of(g, axis, c - reach, c + reach);
    }
    for (int32_t a2 = 0; a2 < r[2].count; a2++) {
        for (int32_t a1 = 0; a1 < r[1].count; a1++) {
            for (int32_t a0 = 0; a0 < r[0].count; a0++) {
                int32_t cell[3] = {(r[0].first + a0) % g->count[0], (r[1].first + a1) % g->count[1],
                                   (r[2].first + a2) % g->count[2]};
                find_in_cell(f, i, gg_cell_index(g, cell), one_class);
            }
        }
    }
}

/* ---- grains in tools, in walls and beyond faces that join ---- */

/* overlap of a sphere with a part [m]; at most 0: none */
static float sphere_depth_in_part(const finder *f, int32_t i, int64_t part) {
    const gg_view *v = &f->v;
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &f->part_pose[part];
    gg_vec4 x = v->position[i];
    gg_vec3 local = gg_mat_tmul(pose->rotation, gg_part_offset(v, part, gg_v3(x.x, x.y, x.z), pose->position));
    if (gg_own_surface(v, 0, i, shape->tool) || gg_sdf_bound(shape, local) > x.w) {
        return 0.0f;
    }
    /* of continuous matter what counts is where a particle's centre is: bodies of any shape are cut into a lattice */
    return (v->dims.continuum.envs ? 0.0f : x.w) - gg_sdf_distance(shape, v->grids, v->samples, local);
}

/* overlap of a planar grain with a part: that of the deepest place of its outline [m] */
static float outline_depth_in_part(const finder *f, int32_t i, int64_t part) {
    gg_planar_look look;
    gg_planar_touch touch;
    float depth = 0.0f;
    int meets = gg_planar_look_at(&f->v, 0, i, part, &f->part_pose[part], 0.0f, &look);
    while (meets && gg_planar_next_touch(&f->v, &look, &touch)) {
        depth = gg_maxf(depth, -touch.gap);
    }
    return depth;
}

/* tools and walls as gg_world_get_contacts numbers them */
static int32_t number_of_tool(const finder *f, int32_t tool) {
    int32_t own = (int32_t)(f->v.dims.tool_count - GG_WALL_COUNT);
    return -1 - (tool < GG_WALL_COUNT ? own + tool : tool - GG_WALL_COUNT);
}

/* The deepest overlap of a grain with any part of each tool; the parts of a tool follow each other. Fixed grains pass
 * through tools that no clump carries, and all grains through one that is taken out. */
static void find_in_tools(finder *f, int32_t i) {
    const gg_view *v = &f->v;
    float diameter = 2.0f * v->position[i].w;
    int64_t parts = is_fixed(f, i) && !v->dims.clumps.surfaces ? 0 : v->dims.part_count;
    for (int64_t part = 0; part < parts && !full(f);) {
        int32_t tool = v->parts[part].tool;
        float depth = 0.0f;
        for (; part < v->dims.part_count && v->parts[part].tool == tool; part++) {
            depth = gg_maxf(depth, gg_is_planar(&v->params) ? outline_depth_in_part(f, i, part)
                                                            : sphere_depth_in_part(f, i, part));
        }
        int meets = v->tool_active[tool] && (!is_fixed(f, i) || gg_clump_of_tool(v, tool) >= 0);
        if (meets && depth / diameter > f->tolerance) {
            note(f, v->grain_id[i], number_of_tool(f, tool), depth / diameter);
        }
    }
}

/* a grain that lies wholly beyond a face is not among those that it should touch through it */
static void find_beyond_faces(finder *f, int32_t i) {
    const gg_params *p = &f->v.params;
    gg_vec4 x4 = f->v.position[i];
    gg_vec3 x = gg_v3(x4.x, x4.y, x4.z);
    for (int face = 0; face < GG_WALL_COUNT; face++) {
        int axis = face / 2;
        float beyond = face % 2 ? gg_axis_of(x, axis) - gg_axis_of(p->upper, axis)
                                : gg_axis_of(p->lower, axis) - gg_axis_of(x, axis);
        if (p->boundary[axis][0] >= GG_BOUNDARY_CYCLIC && beyond > x4.w && !full(f)) {
            note(f, f->v.grain_id[i], number_of_tool(f, face), (beyond + x4.w) / (2.0f * x4.w));
        }
    }
}

gg_status gg_world_find_overlaps(gg_world *w, int64_t env, float tolerance, int64_t capacity, int32_t *pairs,
                                 float *depths, int64_t *count) {
    *count = 0;
    gg_status status = gg_env_check(w, env);
    if (status != GG_OK) {
        return status;
    }
    GG_EXPECT(gg_message_of(w), gg_within(tolerance, 0.0f, 1e6f), "tolerance: expected a number from 0 to 1e6, got %g",
              tolerance);
    finder *f = calloc(1, sizeof *f);
    if (!f) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: overlaps");
    }
    f->tolerance = tolerance;
    f->capacity = capacity;
    f->pairs = pairs;
    f->depths = depths;
    status = open_finder(w, env, f);
    if (status == GG_OK) {
        sort_grains(f);
        for (int64_t id = 0; id < f->v.dims.grain_count && !full(f); id++) {
            int32_t i = f->v.slot_of[id];
            int own_class = gg_size_class_of(&f->v.params, f->v.position[i].w);
            for (int k = own_class; k < f->v.params.size_class_count; k++) {
                find_around(f, i, k, k == own_class);
            }
            find_in_tools(f, i);
            find_beyond_faces(f, i);
        }
    }
    *count = f->count;
    free(f->memory);
    free(f);
    return status;
}
