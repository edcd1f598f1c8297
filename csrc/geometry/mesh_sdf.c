/* mesh_sdf.c: the signed distance field of a triangle mesh, sampled on a regular grid. Host only.
 *
 * Distance: exact (mesh_distance.c), the search at two samples starts from the triangle that was nearest to those on
 * their left, or below. Sign: winding number (mesh_winding.c), |w| >= 0.5 is inside; so small holes, doubled faces and
 * self-intersections do no harm, and an inverted mesh gives the same field. In a closed mesh a sample shares the sign of
 * a neighbour where the surface is too far from both to lie between them. Each plane of samples is computed on its own
 * in one fixed order: same bits for any number of threads.
 */
#include <stdarg.h>
#include <stdio.h>

#include "../base/threads.h"
#include "mesh_sdf.h"
#include "mesh_tree.h"

/* a coordinate beyond this is a broken file, not a tool [m] */
#define VERTEX_MAX 1e9

/* whether the surface may pass between two samples of these distances */
static int may_part(double a, double b, double spacing) { return a + b <= spacing * (1.0 + 1e-6); }

static int is_inside(const gg_mesh_tree *t, gg_vec3d p) {
    double w = gg_mesh_winding(t, p);
    return w >= 0.5 || w <= -0.5;
}

/* the samples of one plane, number iz along z */
static void sample_plane(const gg_mesh_tree *t, const gg_sdf_grid *grid, int64_t iz, float *out) {
    double spacing = grid->spacing;
    gg_vec3d p = {0.0, 0.0, grid->origin.z + spacing * (double)iz};
    int64_t first = 0;
    for (int32_t iy = 0; iy < grid->count[1]; iy++) {
        p.y = grid->origin.y + spacing * (double)iy;
        gg_mesh_pair distances = {0.0, 0.0};
        double previous = 0.0;
        int inside = 0;
        int64_t nearest = first;
        for (int32_t ix = 0; ix < grid->count[0]; ix++) {
            p.x = grid->origin.x + spacing * (double)ix;
            if (ix % 2 == 0) {
                distances = gg_mesh_distances2(t, p, spacing, &nearest);
                first = ix ? first : nearest;
            }
            double distance = sqrt(distances[ix % 2]);
            float below = iy ? out[ix - grid->count[0]] : 0.0f;
            int as_left = t->closed && ix && !may_part(previous, distance, spacing);
            int as_below = t->closed && iy && !may_part(GG_MAX(below, -below), distance, spacing);
            if (!as_left) {
                inside = as_below ? below < 0.0f : is_inside(t, p);
            }
            out[ix] = (float)(inside ? -distance : distance);
            previous = distance;
        }
        out += grid->count[0];
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

static void sample_planes(void *context, int64_t begin, int64_t end, int caller) {
    const sampling *s = context;
    (void)caller;
    for (int64_t iz = begin; iz < end; iz++) {
        sample_plane(s->tree, s->grid, iz, s->samples + iz * s->grid->count[0] * s->grid->count[1]);
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
    gg_threads_loop(thread_count, grid->count[2], sample_planes, &s);
    gg_mesh_tree_free(&t);
    return GG_OK;
}
