/* checks.c: whether a world can be built from a definition. Nothing is built before all of it was checked. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

gg_status gg_refuse(gg_message out, const char *format, ...) {
    if (out.text && out.size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(out.text, out.size, format, arguments);
        va_end(arguments);
    }
    return GG_ERROR_ARGUMENT;
}

static gg_status check_counts(const gg_world_def *d, gg_message out) {
    GG_EXPECT(out, d->env_count >= 1 && d->env_count <= 1000000, "env_count: expected 1 to 1000000, got %lld",
              (long long)d->env_count);
    GG_EXPECT(out, d->grain_count >= 0 && d->grain_count <= 50000000, "grain_count: expected 0 to 50000000, got %lld",
              (long long)d->grain_count);
    GG_EXPECT(out, d->material_count >= 1 && d->material_count <= 256, "material_count: expected 1 to 256, got %d",
              (int)d->material_count);
    GG_EXPECT(out, d->tool_count >= 0 && d->part_count >= 0 && d->grid_count >= 0 && d->camera_count >= 0,
              "tool_count, part_count, grid_count, camera_count: expected values >= 0");
    GG_EXPECT(out, d->wall_material >= 0 && d->wall_material < d->material_count,
              "wall_material: expected an index in [0, %d), got %d", (int)d->material_count, (int)d->wall_material);
    return GG_OK;
}

static gg_status check_axis(const gg_world_def *d, int axis, gg_message out) {
    char name = "xyz"[axis];
    float low = gg_axis_of(d->lower, axis), high = gg_axis_of(d->upper, axis);
    GG_EXPECT(out, gg_finite(low) && gg_finite(high) && low < high,
              "bounds: expected finite lower < upper on %c, got [%g, %g]", name, low, high);
    int a = d->boundary[axis][0], b = d->boundary[axis][1];
    GG_EXPECT(out, a >= 0 && a <= GG_BOUNDARY_PERIODIC && b >= 0 && b <= GG_BOUNDARY_PERIODIC,
              "boundary: expected kinds 0 to 3 on %c, got (%d, %d)", name, a, b);
    GG_EXPECT(out, (a < GG_BOUNDARY_CYCLIC && b < GG_BOUNDARY_CYCLIC) || a == b,
              "boundary: cyclic and periodic hold for both faces of an axis, got (%d, %d) on %c", a, b, name);
    GG_EXPECT(out, !(a == GG_BOUNDARY_PERIODIC && d->solver.broad_phase == GG_BROAD_LINKED_HASH),
              "solver.broad_phase: the linked hash finds no contacts across a periodic face; use cells");
    for (int64_t i = 0; a == GG_BOUNDARY_PERIODIC && i < d->grain_count; i++) {
        GG_EXPECT(out, high - low > 8.0f * d->radius[i],
                  "bounds: a periodic axis must be longer than 8 radii of the largest grain (%g m), got %g on %c",
                  8.0f * d->radius[i], high - low, name);
    }
    return GG_OK;
}

static gg_status check_space(const gg_world_def *d, gg_message out) {
    gg_status status = GG_OK;
    for (int axis = 0; status == GG_OK && axis < 3; axis++) {
        status = check_axis(d, axis, out);
    }
    if (status != GG_OK) {
        return status;
    }
    GG_EXPECT(out, gg_finite3(d->gravity), "gravity: expected finite values, got (%g, %g, %g)", d->gravity.x,
              d->gravity.y, d->gravity.z);
    return GG_OK;
}

static gg_status check_grains(const gg_world_def *d, gg_message out) {
    for (int64_t i = 0; i < d->grain_count; i++) {
        const float *x = d->position + 3 * i;
        GG_EXPECT(out, gg_finite3(gg_v3(x[0], x[1], x[2])),
                  "position: expected finite values, got (%g, %g, %g) for grain %lld", x[0], x[1], x[2], (long long)i);
        GG_EXPECT(out, gg_within(d->radius[i], 1e-6f, 1e3f),
                  "radius: expected a value in [1e-6, 1000] m, got %g for grain %lld", d->radius[i], (long long)i);
        GG_EXPECT(out, d->grain_material[i] >= 0 && d->grain_material[i] < d->material_count,
                  "grain_material: expected an index in [0, %d), got %d for grain %lld", (int)d->material_count,
                  (int)d->grain_material[i], (long long)i);
        const float *u = d->velocity ? d->velocity + 3 * i : x;
        GG_EXPECT(out, gg_finite3(gg_v3(u[0], u[1], u[2])),
                  "velocity: expected finite values, got (%g, %g, %g) for grain %lld", u[0], u[1], u[2], (long long)i);
    }
    return GG_OK;
}

static gg_status check_materials(const gg_world_def *d, gg_message out) {
    float radius_min = 1e30f;
    for (int64_t i = 0; i < d->grain_count; i++) {
        radius_min = gg_minf(radius_min, d->radius[i]);
    }
    return gg_materials_check(d->pair, d->density, d->material_count, d->solver.mode, d->planar.outline_count > 0,
                              d->grain_count ? radius_min : 1.0f, out);
}

static int pose_usable(gg_vec3 x, gg_quat q) {
    const float pose[7] = {x.x, x.y, x.z, q.w, q.x, q.y, q.z};
    return gg_pose_usable(pose);
}

static gg_status check_part(const gg_world_def *d, int k, gg_message out) {
    const gg_shape *s = &d->part[k];
    GG_EXPECT(out, s->kind > GG_SHAPE_NONE && s->kind < GG_SHAPE_KIND_COUNT, "part %d: unknown kind %d", k,
              (int)s->kind);
    GG_EXPECT(out, s->tool >= 0 && s->tool < d->tool_count, "part %d: expected a tool in [0, %d), got %d", k,
              (int)d->tool_count, (int)s->tool);
    GG_EXPECT(out, s->material >= 0 && s->material < d->material_count,
              "part %d: expected a material in [0, %d), got %d", k, (int)d->material_count, (int)s->material);
    GG_EXPECT(out, s->kind != GG_SHAPE_GRID || (s->grid >= 0 && s->grid < d->grid_count),
              "part %d: expected a grid in [0, %d), got %d", k, (int)d->grid_count, (int)s->grid);
    for (int c = 0; c < 4; c++) {
        GG_EXPECT(out, gg_finite(s->size[c]) && s->size[c] >= 0.0f, "part %d: expected sizes >= 0, got %g", k,
                  s->size[c]);
    }
    GG_EXPECT(out, pose_usable(s->position, s->rotation), "part %d: expected a finite position and a unit quaternion",
              k);
    return GG_OK;
}

static gg_status check_grid(const gg_world_def *d, int k, gg_message out) {
    const gg_sdf_grid *g = &d->grid[k];
    int64_t n = (int64_t)g->count[0] * g->count[1] * g->count[2];
    GG_EXPECT(out,
              g->count[0] >= 2 && g->count[1] >= 2 && g->count[2] >= 2 && g->spacing > 0.0f && g->first_sample >= 0 &&
                  g->first_sample + n <= d->sample_count,
              "grid %d: expected at least 2 samples per axis, a spacing > 0 and %lld samples in the array", k,
              (long long)n);
    GG_EXPECT(out, n <= INT32_MAX, "grid %d: expected at most %d samples, got %lld", k, INT32_MAX, (long long)n);
    for (int64_t c = 0; c < n; c++) {
        GG_EXPECT(out, gg_finite(d->sample[g->first_sample + c]), "grid %d: expected finite samples", k);
    }
    return GG_OK;
}

static gg_status check_camera(const gg_world_def *d, int k, gg_message out) {
    const gg_camera *c = &d->camera[k];
    GG_EXPECT(out, c->kind == GG_CAMERA_PERSPECTIVE || c->kind == GG_CAMERA_ORTHOGRAPHIC, "camera %d: unknown kind %d",
              k, (int)c->kind);
    GG_EXPECT(out, c->height >= 1 && c->width >= 1 && c->height <= 16384 && c->width <= 16384,
              "camera %d: expected 1 to 16384 pixels each way, got %d x %d", k, (int)c->height, (int)c->width);
    GG_EXPECT(out, c->tool >= -1 && c->tool < d->tool_count, "camera %d: expected a tool in [-1, %d), got %d", k,
              (int)d->tool_count, (int)c->tool);
    GG_EXPECT(out, c->extent > 0.0f && gg_finite(c->extent), "camera %d: expected an extent > 0, got %g", k, c->extent);
    GG_EXPECT(out, c->near_depth >= 0.0f && c->far_depth > c->near_depth && gg_finite(c->far_depth),
              "camera %d: expected 0 <= near < far, got %g, %g", k, c->near_depth, c->far_depth);
    GG_EXPECT(out, pose_usable(c->pose.position, c->pose.rotation),
              "camera %d: expected a finite position and a unit quaternion", k);
    return GG_OK;
}

static gg_status check_tools(const gg_world_def *d, gg_message out) {
    gg_status status = GG_OK;
    for (int32_t k = 0; k < d->tool_count; k++) {
        GG_EXPECT(out, pose_usable(d->tool_pose[k].position, d->tool_pose[k].rotation),
                  "tool_pose: expected finite positions and unit quaternions, those of tool %d are not", (int)k);
    }
    status = gg_tool_masses_check(d, out);
    for (int32_t k = 0; status == GG_OK && k < d->part_count; k++) {
        status = check_part(d, (int)k, out);
    }
    for (int32_t k = 0; status == GG_OK && k < d->grid_count; k++) {
        status = check_grid(d, (int)k, out);
    }
    for (int32_t k = 0; status == GG_OK && k < d->camera_count; k++) {
        status = check_camera(d, (int)k, out);
    }
    return status;
}

gg_status gg_def_check(const gg_world_def *d, gg_message out) {
    gg_status status;
    if ((status = check_counts(d, out)) != GG_OK || (status = check_space(d, out)) != GG_OK ||
        (status = gg_world_solver_check(&d->solver, out)) != GG_OK || (status = check_grains(d, out)) != GG_OK ||
        (status = check_materials(d, out)) != GG_OK || (status = gg_air_check(&d->air, out)) != GG_OK ||
        (status = check_tools(d, out)) != GG_OK) {
        return status;
    }
    status = gg_planar_check(d, out);
    status = status == GG_OK ? gg_clumps_check(d, out) : status;
    status = status == GG_OK ? gg_continuum_check(d, out) : status;
    return status == GG_OK ? gg_tables_check(d, out) : status;
}
