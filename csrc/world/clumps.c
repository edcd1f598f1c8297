/* clumps.c: what the law of clumps asks of a definition; reading and setting clumps. */
#include <string.h>

#include "../solvers/dynamic_tools.h"
#include "world.h"

static gg_status check_shape(const gg_world_def *d, int64_t k, gg_message out) {
    const gg_clump_shape *s = &d->clumps.shape[k];
    const double *m = s->moment;
    GG_EXPECT(out, s->volume > 0.0 && s->volume < 1e30 && s->radius > 0.0f && gg_finite(s->radius),
              "clump %lld: expected a volume and a radius > 0, got %g m3 and %g m", (long long)k, s->volume, s->radius);
    GG_EXPECT(out, m[0] > 0.0 && m[1] > 0.0 && m[2] > 0.0 && m[0] + m[1] + m[2] < 1e30,
              "clump %lld: expected moments of inertia > 0, got %g, %g, %g m5", (long long)k, m[0], m[1], m[2]);
    double slack = 1.0 + 1e-6;
    GG_EXPECT(out, m[0] <= slack * (m[1] + m[2]) && m[1] <= slack * (m[0] + m[2]) && m[2] <= slack * (m[0] + m[1]),
              "clump %lld: expected no moment of inertia above the sum of the others, got %g, %g, %g m5", (long long)k,
              m[0], m[1], m[2]);
    GG_EXPECT(out, d->clumps.first[k] >= 0 && d->clumps.first[k] < d->clumps.first[k + 1],
              "clump %lld: expected one grain or more", (long long)k);
    GG_EXPECT(out, s->material >= 0 && s->material < d->material_count, "clump %lld: expected a material in [0, %d)",
              (long long)k, (int)d->material_count);
    for (int64_t id = d->clumps.first[k]; id < d->clumps.first[k + 1] && id < d->grain_count; id++) {
        GG_EXPECT(out, gg_finite3(d->clumps.offset[id]) && d->grain_material[id] == s->material,
                  "clump %lld: expected a finite offset and the material of the clump for grain %lld", (long long)k,
                  (long long)id);
    }
    for (int axis = 0; axis < 3; axis++) {
        float length = gg_axis_of(d->upper, axis) - gg_axis_of(d->lower, axis);
        GG_EXPECT(out, d->boundary[axis][0] != GG_BOUNDARY_PERIODIC || 2.0f * s->radius < length,
                  "bounds: a periodic axis must be longer than a clump, whose images would meet (%g m), got %g on %c",
                  2.0f * s->radius, length, "xyz"[axis]);
    }
    return GG_OK;
}

/* a tool of its own, that nothing else moves, and no part of it wider than half the way round */
static gg_status check_surface(const gg_world_def *d, int64_t k, gg_message out) {
    const gg_clump_shape *s = &d->clumps.shape[k];
    if (s->surface < 0) {
        return GG_OK;
    }
    const double *f = s->frame;
    double length2 = f[0] * f[0] + f[1] * f[1] + f[2] * f[2] + f[3] * f[3];
    GG_EXPECT(out, s->surface < d->tool_count, "surface: expected a tool or -1, got %d for clump %lld", s->surface,
              (long long)k);
    GG_EXPECT(out, d->solver.mode == GG_MODE_GAUSS_SEIDEL, "solver.mode: bodies with surfaces have gauss_seidel alone");
    GG_EXPECT(out, length2 > 0.998 && length2 < 1.002, "surface_frame: expected unit quaternions, got length^2 %g",
              length2);
    GG_EXPECT(out, !d->tool_mass || !gg_tool_moves(&d->tool_mass[s->surface]),
              "surface: expected a tool without a mass and not coupled, got tool %d", s->surface);
    GG_EXPECT(out, !(d->material_fixed && d->material_fixed[s->material]),
              "surface: a fixed clump has none, clump %lld does", (long long)k);
    for (int64_t other = 0; other < k; other++) {
        GG_EXPECT(out, d->clumps.shape[other].surface != s->surface, "surface: expected one clump for tool %d, got two",
                  s->surface);
    }
    for (int axis = 0; axis < 3; axis++) {
        float length = gg_axis_of(d->upper, axis) - gg_axis_of(d->lower, axis);
        GG_EXPECT(out, d->boundary[axis][0] != GG_BOUNDARY_PERIODIC || 4.0f * s->radius < length,
                  "surface: expected bodies of a radius below a quarter of the period %g m, got %g m", length,
                  s->radius);
    }
    return GG_OK;
}

static gg_status check_motion(const double *pose, const double *velocity, int64_t count, gg_message out) {
    for (int64_t k = 0; k < count; k++) {
        const double *q = pose ? pose + 7 * k + 3 : NULL;
        double sum = 0.0, length2 = q ? q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] : 1.0;
        for (int c = 0; c < 3; c++) {
            sum += pose ? pose[7 * k + c] : 0.0;
            sum += velocity ? velocity[6 * k + c] + velocity[6 * k + 3 + c] : 0.0;
        }
        GG_EXPECT(out, gg_finite((float)sum),
                  "clumps: expected finite positions and velocities, those of clump %lld are not", (long long)k);
        GG_EXPECT(out, length2 > 0.998 && length2 < 1.002,
                  "orientations: expected unit quaternions, got one of length^2 %g for clump %lld", length2,
                  (long long)k);
    }
    return GG_OK;
}

gg_status gg_clumps_check(const gg_world_def *d, gg_message out) {
    const gg_clump_def *c = &d->clumps;
    int bell = d->solver.mode == GG_MODE_BELL;
    GG_EXPECT(out, !bell || !d->planar.outline_count, "solver.mode: bell is a law of spheres and clumps");
    GG_EXPECT(out, !bell || d->solver.spin, "solver.spin: grains turn in mode bell");
    GG_EXPECT(out, !bell || c->count || !d->grain_count,
              "clumps: mode bell takes every grain as a sphere of one, got none");
    GG_EXPECT(out, c->count >= 0 && c->count <= d->grain_count, "clumps: expected at most %lld of them, got %lld",
              (long long)d->grain_count, (long long)c->count);
    if (!c->count) {
        return GG_OK;
    }
    GG_EXPECT(out, !d->planar.outline_count, "clumps: planar grains form none");
    GG_EXPECT(out, d->solver.mode == GG_MODE_GAUSS_SEIDEL || d->solver.mode == GG_MODE_BELL,
              "solver.mode: clumps have gauss_seidel and bell alone");
    GG_EXPECT(out, d->solver.spin, "solver.spin: clumps turn");
    GG_EXPECT(out, c->first[0] == 0 && c->first[c->count] == d->grain_count, "clumps: expected every grain in one");
    gg_status status = GG_OK;
    for (int64_t k = 0; status == GG_OK && k < c->count; k++) {
        status = check_shape(d, k, out);
        status = status == GG_OK ? check_surface(d, k, out) : status;
    }
    return status == GG_OK ? check_motion(c->pose, c->velocity, c->count, out) : status;
}

/* ---- a world that is being built ---- */

static int is_lone(const gg_clump_def *c, int64_t k) {
    const gg_clump_shape *s = &c->shape[k];
    double inertia = 0.4 * s->volume * s->radius * s->radius, slack = 1e-6 * inertia;
    gg_vec3 at = c->offset[c->first[k]];
    int alike = c->first[k + 1] - c->first[k] == 1 && at.x == 0.0f && at.y == 0.0f && at.z == 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        alike &= fabs(s->moment[axis] - inertia) <= slack;
    }
    return alike;
}

int64_t gg_clumps_lone(const gg_world_def *def) {
    int64_t lone = 0;
    for (int64_t k = 0; k < def->clumps.count; k++) {
        lone |= is_lone(&def->clumps, k);
    }
    return lone;
}

int64_t gg_clumps_surfaces(const gg_world_def *def) {
    int64_t surfaces = 0;
    for (int64_t k = 0; k < def->clumps.count; k++) {
        surfaces |= def->clumps.shape[k].surface >= 0;
    }
    return surfaces;
}

void gg_clumps_list(gg_scene *scene, const gg_world_def *def) {
    for (int32_t t = 0; scene->tool_clump && t < GG_WALL_COUNT + def->tool_count; t++) {
        scene->tool_clump[t] = -1;
    }
    for (int64_t k = 0; k < def->clumps.count; k++) {
        gg_clump_shape *shape = &scene->clump_shape[k];
        shape->lone = is_lone(&def->clumps, k);
        if (shape->surface >= 0) {
            shape->surface += GG_WALL_COUNT;
            scene->tool_clump[shape->surface] = (int32_t)k;
        }
        for (int64_t id = def->clumps.first[k]; id < def->clumps.first[k + 1]; id++) {
            scene->clump_of[id] = (int32_t)k;
        }
    }
}

void gg_clumps_fill(gg_view *v, const gg_world_def *def, int64_t e) {
    for (int64_t k = 0; k < def->clumps.count; k++) {
        gg_clump_motion *motion = &v->clump_motion[e * def->clumps.count + k];
        const double *pose = def->clumps.pose + 7 * k, *velocity = def->clumps.velocity + 6 * k;
        memcpy(motion->position, pose, sizeof motion->position);
        memcpy(motion->rotation, pose + 3, sizeof motion->rotation);
        memcpy(motion->velocity, velocity, sizeof motion->velocity);
        memcpy(motion->spin, velocity + 3, sizeof motion->spin);
        gg_turn_settle(motion->rotation);
    }
}

/* ---- a world that runs ---- */

static gg_status check_clumps(gg_world *w) {
    GG_EXPECT(gg_message_of(w), w->view.dims.clumps.count, "clumps: expected a world that has some");
    return GG_OK;
}

gg_status gg_world_get_clumps(gg_world *w, double *pose, double *velocity, double *wrench) {
    size_t clumps = (size_t)(w->view.dims.env_count * w->view.dims.clumps.count) * sizeof(double);
    gg_status status = check_clumps(w);
    gg_access a;
    memset(&a, 0, sizeof a);
    a.clump_pose = gg_stage_output(w, GG_STAGING_A, pose, 7 * clumps, GG_HOST, &status);
    a.clump_velocity = gg_stage_output(w, GG_STAGING_B, velocity, 6 * clumps, GG_HOST, &status);
    a.clump_wrench = gg_stage_output(w, GG_STAGING_C, wrench, 6 * clumps, GG_HOST, &status);
    const gg_phase phase = GG_PHASE_read_clumps;
    status = gg_access_run(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{pose, a.clump_pose, 7 * clumps},
                                   {velocity, a.clump_velocity, 6 * clumps},
                                   {wrench, a.clump_wrench, 6 * clumps}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 3) : status;
}

gg_status gg_world_set_clumps(gg_world *w, const int32_t *envs, int64_t listed, const double *pose,
                              const double *velocity, int keep_impulses) {
    gg_status status = gg_envs_list(w, envs, &listed);
    size_t clumps = (size_t)(listed * w->view.dims.clumps.count) * sizeof(double);
    if (status != GG_OK || (status = check_clumps(w)) != GG_OK ||
        (status = check_motion(pose, velocity, listed * w->view.dims.clumps.count, gg_message_of(w))) != GG_OK) {
        return status;
    }
    gg_access a = gg_access_of_envs(w, &status);
    a.clump_pose = (double *)(uintptr_t)gg_stage_input(w, GG_STAGING_A, pose, 7 * clumps, &status);
    a.clump_velocity = (double *)(uintptr_t)gg_stage_input(w, GG_STAGING_B, velocity, 6 * clumps, &status);
    a.keep_impulses = keep_impulses;
    const gg_phase phases[] = {GG_PHASE_write_clumps, GG_PHASE_invalidate};
    gg_world_invalidate(w, envs, listed);
    return gg_access_run(w, &a, phases, 2, status);
}

gg_status gg_world_set_clump_wrenches(gg_world *w, const int32_t *envs, int64_t listed, const double *wrench) {
    gg_status status = gg_envs_list(w, envs, &listed);
    int64_t values = listed * w->view.dims.clumps.count * 6;
    if (status != GG_OK || (status = check_clumps(w)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < values; k++) {
        GG_EXPECT(gg_message_of(w), gg_finite((float)wrench[k]), "wrenches: expected finite forces and torques, got %g",
                  wrench[k]);
    }
    gg_access a = gg_access_of_envs(w, &status);
    a.clump_wrench =
        (double *)(uintptr_t)gg_stage_input(w, GG_STAGING_A, wrench, (size_t)values * sizeof(double), &status);
    const gg_phase phase = GG_PHASE_push_clumps;
    w->stats_valid = 0;
    return gg_access_run(w, &a, &phase, 1, status);
}
