/* mesh_sdf.c: the signed distance field of a triangle mesh, sampled on a regular grid. Host only.
 *
 * Distance: exact (mesh_distance.c), the search at a sample starts from its left neighbour's distance plus one spacing,
 * which is an upper bound. Sign: winding number (mesh_winding.c), |w| >= 0.5 is inside; so small holes, doubled faces
 * and self-intersections do no harm, and an inverted mesh gives the same field. In a closed mesh a sample further from
 * the surface than one spacing shares the sign of its right neighbour. Each line of samples is computed on its own in
 * one fixed order: same bits for any number of threads.
 */
#include <stdarg.h>
#include <stdio.h>

#include "../base/threads.h"
#include "mesh_sdf.h"
#include "mesh_tree.h"

/* a coordinate beyond this is a broken file, not a tool [m] */
#define VERTEX_MAX 1e9

/* the samples of one line along x: number `line` in the order of (z, y) */
static void sample_line(const gg_mesh_tree *t, const gg_sdf_grid *grid, int64_t line, float *out) {
    int64_t iy = line % grid->count[1], iz = line / grid->count[1];
    double spacing = grid->spacing;
    gg_vec3d p = {0.0, grid->origin.y + spacing * (double)iy, grid->origin.z + spacing * (double)iz};
    double previous = -1.0;
    int inside = 0;
    for (int32_t ix = 0; ix < grid->count[0]; ix++) {
        p.x = grid->origin.x + spacing * (double)ix;
        double reach = (previous + spacing) * (1.0 + 1e-6);
        double distance = sqrt(gg_mesh_distance2(t, p, previous < 0.0 ? INFINITY : reach * reach));
        /* no surface lies between this sample and the previous one where that is further than a spacing from it */
        if (!t->closed || previous <= spacing * (1.0 + 1e-6)) {
            double w = gg_mesh_winding(t, p);
            inside = w >= 0.5 || w <= -0.5;
        }
        out[ix] = (float)(inside ? -distance : distance);
        previous = distance;
    }
}

__attribute__((format(printf, 4, 5))) static gg_status fail(gg_status status, char *message, size_t message_size,
                                                            const char *format, ...) {
    if (message && message_size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message, message_size, format, arguments);
        va_end(arguments);
    }
    return status;
}

static gg_status check_grid(const gg_sdf_grid *grid, char *message, size_t message_size) {
    int64_t samples = 1;
    for (int k = 0; k < 3; k++) {
        if (grid->count[k] < 2) {
            return fail(GG_ERROR_ARGUMENT, message, message_size,
                        "grid: at least 2 samples along each axis expected, got %d x %d x %d", (int)grid->count[0],
                        (int)grid->count[1], (int)grid->count[2]);
        }
        samples = samples > INT32_MAX ? samples : samples * grid->count[k];
    }
    if (samples > INT32_MAX) {
        return fail(GG_ERROR_ARGUMENT, message, message_size,
                    "grid: at most %d samples expected, got %d x %d x %d; use a larger spacing", (int)INT32_MAX,
                    (int)grid->count[0], (int)grid->count[1], (int)grid->count[2]);
    }
    if (!(grid->spacing > 0.0f) || !gg_finite(grid->spacing)) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "grid: spacing above 0 m expected, got %g",
                    (double)grid->spacing);
    }
    if (!gg_finite3(grid->origin)) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "grid: a finite origin expected, got (%g, %g, %g)",
                    (double)grid->origin.x, (double)grid->origin.y, (double)grid->origin.z);
    }
    return GG_OK;
}

static gg_status check_mesh(const double *vertices, int64_t vertex_count, const int32_t *faces, int64_t face_count,
                            char *message, size_t message_size) {
    if (vertex_count < 3 || face_count < 1) {
        return fail(GG_ERROR_ARGUMENT, message, message_size,
                    "mesh: at least 3 vertices and 1 face expected, got %lld vertices and %lld faces",
                    (long long)vertex_count, (long long)face_count);
    }
    if (face_count > INT32_MAX) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "mesh: at most %d faces expected, got %lld",
                    (int)INT32_MAX, (long long)face_count);
    }
    for (int64_t i = 0; i < 3 * vertex_count; i++) {
        if (!(vertices[i] >= -VERTEX_MAX && vertices[i] <= VERTEX_MAX)) {
            return fail(GG_ERROR_ARGUMENT, message, message_size,
                        "mesh: vertices between -%g and %g m expected, vertex %lld has %g", VERTEX_MAX, VERTEX_MAX,
                        (long long)(i / 3), vertices[i]);
        }
    }
    for (int64_t i = 0; i < 3 * face_count; i++) {
        if (faces[i] < 0 || faces[i] >= vertex_count) {
            return fail(GG_ERROR_ARGUMENT, message, message_size,
                        "mesh: face %lld names vertex %d, but there are %lld vertices", (long long)(i / 3),
                        (int)faces[i], (long long)vertex_count);
        }
    }
    return GG_OK;
}

typedef struct sampling {
    const gg_mesh_tree *tree;
    const gg_sdf_grid *grid;
    float *samples;
} sampling;

static void sample_lines(void *context, int64_t begin, int64_t end, int caller) {
    const sampling *s = context;
    (void)caller;
    for (int64_t line = begin; line < end; line++) {
        sample_line(s->tree, s->grid, line, s->samples + line * s->grid->count[0]);
    }
}

gg_status gg_mesh_to_grid(const double *vertices, int64_t vertex_count, const int32_t *faces, int64_t face_count,
                          const gg_sdf_grid *grid, float *samples, int32_t thread_count, char *message,
                          size_t message_size) {
    if (message && message_size) {
        message[0] = '\0';
    }
    if (!vertices || !faces || !grid || !samples) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "%s: an array expected, got NULL",
                    !vertices ? "vertices"
                    : !faces  ? "faces"
                    : !grid   ? "grid"
                              : "samples");
    }
    if (thread_count < 0) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "thread_count: 0 or more expected, got %d",
                    (int)thread_count);
    }
    gg_status status = check_grid(grid, message, message_size);
    if (status == GG_OK) {
        status = check_mesh(vertices, vertex_count, faces, face_count, message, message_size);
    }
    if (status != GG_OK) {
        return status;
    }
    gg_mesh_tree t;
    if (gg_mesh_tree_build(&t, vertices, faces, face_count) != GG_OK) {
        return fail(GG_ERROR_MEMORY, message, message_size, "mesh: no memory for a tree of %lld faces",
                    (long long)face_count);
    }
    sampling s = {&t, grid, samples};
    gg_threads_loop(thread_count, (int64_t)grid->count[1] * grid->count[2], sample_lines, &s);
    gg_mesh_tree_free(&t);
    return GG_OK;
}
