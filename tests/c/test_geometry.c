/* test_geometry.c: distances and directions of every primitive and of grids, bounds, poses and scalar functions.
 *
 * A distance d with direction g at p is right when p - d g lies on the surface (so it is not too short), when no point
 * sampled from the surface is nearer than |d| (so it is not too long) and when the sign agrees with an inside test that
 * is written here on its own.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/base/scalar.h"
#include "../../csrc/geometry/pose.h"
#include "../../csrc/geometry/sdf.h"
#include "check.h"

static uint64_t draw;

static float uniform(float lower, float upper) { return lower + (upper - lower) * gg_rng_uniform(7, 1, draw++); }

static gg_vec3 uniform3(float half) {
    float x = uniform(-half, half), y = uniform(-half, half);
    return gg_v3(x, y, uniform(-half, half));
}

static gg_vec3 direction(void) {
    for (;;) {
        gg_vec3 a = uniform3(1.0f);
        float n = gg_norm(a);
        if (n > 0.05f && n < 1.0f) {
            return gg_scale(a, 1.0f / n);
        }
    }
}

static gg_shape shape_of(gg_shape_kind kind, float a, float b, float c) {
    gg_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.kind = kind;
    shape.grid = -1;
    shape.size[0] = a;
    shape.size[1] = b;
    shape.size[2] = c;
    gg_shape_set_bounds(&shape, NULL);
    return shape;
}

/* ---- primitives ---- */

static gg_vec3 on_tube(float lower, float upper, float half) {
    /* side of a frustum, or of a cylinder where the radii are the same */
    float turn = uniform(0.0f, 6.2831853f), t = uniform(0.0f, 1.0f);
    float r = lower + (upper - lower) * t;
    return gg_v3(r * cosf(turn), r * sinf(turn), -half + 2.0f * half * t);
}

static gg_vec3 on_disc(float radius, float z) {
    float turn = uniform(0.0f, 6.2831853f), r = radius * sqrtf(uniform(0.0f, 1.0f));
    return gg_v3(r * cosf(turn), r * sinf(turn), z);
}

/* a random point of the surface; near p where the surface is unbounded */
static gg_vec3 surface_point(const gg_shape *s, gg_vec3 p) {
    const float *a = s->size;
    float pick = uniform(0.0f, 1.0f);
    switch (s->kind) {
    case GG_SHAPE_PLANE:
        return gg_v3(p.x + uniform(-0.5f, 0.5f), p.y + uniform(-0.5f, 0.5f), 0.0f);
    case GG_SHAPE_BOX: {
        gg_vec3 q = gg_v3(uniform(-a[0], a[0]), uniform(-a[1], a[1]), uniform(-a[2], a[2]));
        float side = uniform(0.0f, 1.0f) < 0.5f ? -1.0f : 1.0f;
        return pick < 0.33f   ? gg_v3(side * a[0], q.y, q.z)
               : pick < 0.66f ? gg_v3(q.x, side * a[1], q.z)
                              : gg_v3(q.x, q.y, side * a[2]);
    }
    case GG_SHAPE_SPHERE:
        return gg_scale(direction(), a[0]);
    case GG_SHAPE_CAPSULE: {
        gg_vec3 q = gg_scale(direction(), a[0]);
        q.z += q.z < 0.0f ? -a[1] : a[1];
        return pick < 0.5f ? on_tube(a[0], a[0], a[1]) : q;
    }
    case GG_SHAPE_CYLINDER:
        return pick < 0.4f ? on_tube(a[0], a[0], a[1]) : on_disc(a[0], pick < 0.7f ? a[1] : -a[1]);
    case GG_SHAPE_CONE:
        return pick < 0.4f ? on_tube(a[0], a[1], a[2]) : pick < 0.7f ? on_disc(a[1], a[2]) : on_disc(a[0], -a[2]);
    default: { /* cavity */
        gg_vec3 q = on_tube(a[0], a[0], 0.5f);
        q.z += p.z;
        return q;
    }
    }
}

/* is p in the solid, widened by `wider`? */
static int inside(const gg_shape *s, gg_vec3 p, float wider) {
    const float *a = s->size;
    float rho = hypotf(p.x, p.y);
    switch (s->kind) {
    case GG_SHAPE_PLANE:
        return p.z <= wider;
    case GG_SHAPE_BOX:
        return fabsf(p.x) <= a[0] + wider && fabsf(p.y) <= a[1] + wider && fabsf(p.z) <= a[2] + wider;
    case GG_SHAPE_SPHERE:
        return gg_norm(p) <= a[0] + wider;
    case GG_SHAPE_CAPSULE:
        return hypotf(rho, fmaxf(fabsf(p.z) - a[1], 0.0f)) <= a[0] + wider;
    case GG_SHAPE_CYLINDER:
        return rho <= a[0] + wider && fabsf(p.z) <= a[1] + wider;
    case GG_SHAPE_CONE:
        return fabsf(p.z) <= a[2] + wider && rho <= a[0] + (a[1] - a[0]) * (p.z + a[2]) / (2.0f * a[2]) + 3.0f * wider;
    default:
        return rho >= a[0] - wider;
    }
}

static void check_shape_at(const gg_shape *s, gg_vec3 p) {
    gg_sdf_hit hit = gg_sdf_eval(s, NULL, NULL, p);
    int ok = CHECK_NEAR(gg_norm(hit.gradient), 1.0, 1e-5);
    ok &= CHECK(gg_sdf_distance(s, NULL, NULL, p) == hit.distance);
    ok &= CHECK(gg_sdf_bound(s, p) <= hit.distance + 2e-6f);
    /* the foot is on the surface: in the solid widened a little, not in the solid shrunk a little */
    gg_vec3 foot = gg_madd(p, hit.gradient, -hit.distance);
    ok &= CHECK(inside(s, foot, 3e-6f) && !inside(s, foot, -3e-6f));
    if (fabsf(hit.distance) > 1e-5f) {
        ok &= CHECK(inside(s, p, 0.0f) == (hit.distance < 0.0f));
    }
    float nearest = 1e9f;
    for (int i = 0; i < 300; i++) {
        nearest = fminf(nearest, gg_norm(gg_sub(p, surface_point(s, p))));
    }
    ok &= CHECK(nearest >= fabsf(hit.distance) - 2e-6f);
    if (!ok) {
        fprintf(stderr, "    kind %d at (%g, %g, %g): distance %g direction (%g, %g, %g)\n", s->kind, (double)p.x,
                (double)p.y, (double)p.z, (double)hit.distance, (double)hit.gradient.x, (double)hit.gradient.y,
                (double)hit.gradient.z);
    }
}

/* central differences where the field is smooth: their length says whether it is */
static long check_slope_at(const gg_shape *s, gg_vec3 p) {
    float h = 1e-3f;
    gg_vec3 slope = gg_v3(gg_sdf_distance(s, NULL, NULL, gg_v3(p.x + h, p.y, p.z)) -
                              gg_sdf_distance(s, NULL, NULL, gg_v3(p.x - h, p.y, p.z)),
                          gg_sdf_distance(s, NULL, NULL, gg_v3(p.x, p.y + h, p.z)) -
                              gg_sdf_distance(s, NULL, NULL, gg_v3(p.x, p.y - h, p.z)),
                          gg_sdf_distance(s, NULL, NULL, gg_v3(p.x, p.y, p.z + h)) -
                              gg_sdf_distance(s, NULL, NULL, gg_v3(p.x, p.y, p.z - h)));
    slope = gg_scale(slope, 0.5f / h);
    if (fabsf(gg_norm(slope) - 1.0f) > 1e-3f) {
        return 0;
    }
    CHECK(gg_norm(gg_sub(slope, gg_sdf_eval(s, NULL, NULL, p).gradient)) < 0.05f);
    return 1;
}

static void test_primitives(void) {
    const gg_shape shapes[] = {
        shape_of(GG_SHAPE_PLANE, 0.0f, 0.0f, 0.0f),      shape_of(GG_SHAPE_BOX, 0.1f, 0.2f, 0.05f),
        shape_of(GG_SHAPE_BOX, 0.2f, 0.001f, 0.2f),      shape_of(GG_SHAPE_SPHERE, 0.15f, 0.0f, 0.0f),
        shape_of(GG_SHAPE_CAPSULE, 0.08f, 0.12f, 0.0f),  shape_of(GG_SHAPE_CAPSULE, 0.08f, 0.0f, 0.0f),
        shape_of(GG_SHAPE_CYLINDER, 0.12f, 0.07f, 0.0f), shape_of(GG_SHAPE_CYLINDER, 0.03f, 0.2f, 0.0f),
        shape_of(GG_SHAPE_CONE, 0.15f, 0.05f, 0.1f),     shape_of(GG_SHAPE_CONE, 0.05f, 0.15f, 0.1f),
        shape_of(GG_SHAPE_CONE, 0.15f, 0.0f, 0.1f),      shape_of(GG_SHAPE_CONE, 0.0f, 0.15f, 0.05f),
        shape_of(GG_SHAPE_CONE, 0.1f, 0.1f, 0.1f),       shape_of(GG_SHAPE_CAVITY, 0.2f, 0.0f, 0.0f),
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const int points = CHECK_TIMES(2000, 500);
        long smooth = 0;
        for (int i = 0; i < points; i++) {
            gg_vec3 p = uniform3(i < points / 2 ? 0.25f : 0.6f);
            check_shape_at(&shapes[k], p);
            smooth += check_slope_at(&shapes[k], p);
        }
        /* most points are smooth, so the comparison of slopes did run */
        CHECK(smooth > points / 2);
        /* centre, axis, coordinate planes, points of the surface, rims and corners by chance */
        for (int i = 0; i < 27; i++) {
            gg_vec3 p = gg_v3(0.15f * (float)(i % 3 - 1), 0.15f * (float)(i / 3 % 3 - 1), 0.1f * (float)(i / 9 - 1));
            check_shape_at(&shapes[k], p);
            check_shape_at(&shapes[k], gg_scale(p, 1e-20f));
        }
        for (int i = 0; i < 300; i++) {
            gg_vec3 p = surface_point(&shapes[k], gg_v3(0.0f, 0.0f, 0.0f));
            check_shape_at(&shapes[k], p);
            CHECK_NEAR(gg_sdf_distance(&shapes[k], NULL, NULL, p), 0.0, 1e-6);
        }
    }
}

/* what no formula may turn into NaN: sizes of 0, points far away */
static void test_degenerate(void) {
    for (int kind = 0; kind < GG_SHAPE_KIND_COUNT; kind++) {
        if (kind == GG_SHAPE_GRID) {
            continue;
        }
        for (int i = 0; i < 500; i++) {
            gg_shape s = shape_of((gg_shape_kind)kind, i & 1 ? 0.1f : 0.0f, i & 2 ? 0.1f : 0.0f, i & 4 ? 0.1f : 0.0f);
            gg_vec3 p = gg_scale(uniform3(1.0f), i % 5 == 0 ? 0.0f : i % 5 == 1 ? 1e-25f : i % 5 == 2 ? 1e15f : 0.1f);
            gg_sdf_hit hit = gg_sdf_eval(&s, NULL, NULL, p);
            CHECK(gg_finite(hit.distance));
            CHECK_NEAR(gg_norm(hit.gradient), 1.0, 1e-5);
        }
    }
    gg_shape none = shape_of(GG_SHAPE_NONE, 0.0f, 0.0f, 0.0f);
    CHECK(gg_sdf_distance(&none, NULL, NULL, gg_v3(0.0f, 0.0f, 0.0f)) == GG_UNBOUNDED);
    gg_shape plane = shape_of(GG_SHAPE_PLANE, 0.0f, 0.0f, 0.0f), cavity = shape_of(GG_SHAPE_CAVITY, 1.0f, 0.0f, 0.0f);
    CHECK(gg_sdf_bound(&plane, gg_v3(5.0f, 5.0f, 5.0f)) == -GG_UNBOUNDED);
    CHECK(gg_sdf_bound(&cavity, gg_v3(5.0f, 5.0f, 5.0f)) == -GG_UNBOUNDED);
}

/* ---- grids ---- */

enum { GRID_X = 12, GRID_Y = 9, GRID_Z = 15, GRID_SKIP = 7 };

static float grid_samples[GRID_SKIP + GRID_X * GRID_Y * GRID_Z];

static gg_sdf_grid grid_make(float spacing, gg_vec3 origin) {
    gg_sdf_grid grid;
    memset(&grid, 0, sizeof grid);
    grid.count[0] = GRID_X;
    grid.count[1] = GRID_Y;
    grid.count[2] = GRID_Z;
    grid.spacing = spacing;
    grid.origin = origin;
    grid.first_sample = GRID_SKIP;
    return grid;
}

static double sample_at(int x, int y, int z) { return grid_samples[GRID_SKIP + x + GRID_X * (y + GRID_Y * z)]; }

/* trilinear interpolation as a weighted sum over the eight corners */
static double trilinear(const gg_sdf_grid *grid, gg_vec3 p) {
    double u[3] = {((double)p.x - (double)grid->origin.x) / (double)grid->spacing,
                   ((double)p.y - (double)grid->origin.y) / (double)grid->spacing,
                   ((double)p.z - (double)grid->origin.z) / (double)grid->spacing};
    int cell[3];
    for (int k = 0; k < 3; k++) {
        u[k] = fmin(fmax(u[k], 0.0), grid->count[k] - 1.0);
        cell[k] = (int)fmin(floor(u[k]), grid->count[k] - 2.0);
        u[k] -= cell[k];
    }
    double sum = 0.0;
    for (int i = 0; i < 8; i++) {
        int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        double weight = (x ? u[0] : 1.0 - u[0]) * (y ? u[1] : 1.0 - u[1]) * (z ? u[2] : 1.0 - u[2]);
        sum += weight * sample_at(cell[0] + x, cell[1] + y, cell[2] + z);
    }
    return sum;
}

static void test_grid_inside(void) {
    gg_sdf_grid grid = grid_make(0.02f, gg_v3(-0.1f, 0.3f, -0.05f));
    gg_shape shape = shape_of(GG_SHAPE_GRID, 0.0f, 0.0f, 0.0f);
    shape.grid = 0;
    for (size_t i = 0; i < sizeof grid_samples / sizeof *grid_samples; i++) {
        grid_samples[i] = uniform(-0.05f, 0.05f);
    }
    float h = 1e-4f;
    for (int i = 0; i < 5000; i++) {
        gg_vec3 p = gg_v3(grid.origin.x + uniform(0.001f, 0.219f), grid.origin.y + uniform(0.001f, 0.159f),
                          grid.origin.z + uniform(0.001f, 0.279f));
        gg_sdf_hit hit = gg_sdf_eval(&shape, &grid, grid_samples, p);
        CHECK_NEAR(hit.distance, trilinear(&grid, p), 1e-6);
        CHECK_NEAR(gg_norm(hit.gradient), 1.0, 1e-5);
        /* the field is linear along each axis within a cell, so differences are exact there */
        gg_vec3 u = gg_scale(gg_sub(p, grid.origin), 1.0f / grid.spacing);
        float fx = u.x - floorf(u.x), fy = u.y - floorf(u.y), fz = u.z - floorf(u.z);
        if (fminf(fx, fminf(fy, fz)) < 0.01f || fmaxf(fx, fmaxf(fy, fz)) > 0.99f) {
            continue;
        }
        double dx = trilinear(&grid, gg_v3(p.x + h, p.y, p.z)) - trilinear(&grid, gg_v3(p.x - h, p.y, p.z));
        double dy = trilinear(&grid, gg_v3(p.x, p.y + h, p.z)) - trilinear(&grid, gg_v3(p.x, p.y - h, p.z));
        double dz = trilinear(&grid, gg_v3(p.x, p.y, p.z + h)) - trilinear(&grid, gg_v3(p.x, p.y, p.z - h));
        double n = sqrt(dx * dx + dy * dy + dz * dz);
        if (n > 2e-5) {
            CHECK_NEAR(hit.gradient.x, dx / n, 2e-2);
            CHECK_NEAR(hit.gradient.y, dy / n, 2e-2);
            CHECK_NEAR(hit.gradient.z, dz / n, 2e-2);
        }
    }
}

/* a sphere inside a grid, or cut by its box: outside the box */
static void check_grid_outside(float radius) {
    gg_sdf_grid grid = grid_make(0.02f, gg_v3(-0.11f, -0.08f, -0.14f));
    gg_shape shape = shape_of(GG_SHAPE_GRID, 0.0f, 0.0f, 0.0f);
    shape.grid = 0;
    gg_shape_set_bounds(&shape, &grid);
    for (int i = 0; i < GRID_X * GRID_Y * GRID_Z; i++) {
        gg_vec3 q =
            gg_v3(grid.origin.x + 0.02f * (float)(i % GRID_X), grid.origin.y + 0.02f * (float)(i / GRID_X % GRID_Y),
                  grid.origin.z + 0.02f * (float)(i / GRID_X / GRID_Y));
        grid_samples[GRID_SKIP + i] = gg_norm(q) - radius;
    }
    int cut = radius > 0.08f;
    for (int i = 0; i < 5000; i++) {
        gg_vec3 p = uniform3(i < 2500 ? 0.3f : 3.0f);
        gg_vec3 over =
            gg_v3(fmaxf(fabsf(p.x) - 0.11f, 0.0f), fmaxf(fabsf(p.y) - 0.08f, 0.0f), fmaxf(fabsf(p.z) - 0.14f, 0.0f));
        float to_box = gg_norm(over);
        if (to_box == 0.0f) {
            continue;
        }
        gg_sdf_hit hit = gg_sdf_eval(&shape, &grid, grid_samples, p);
        CHECK_NEAR(gg_norm(hit.gradient), 1.0, 1e-5);
        CHECK(gg_dot(hit.gradient, p) > 0.0f);
        if (cut) {
            /* the cut is up to 2 cm deep: beyond that nothing reaches out of the box */
            CHECK(to_box < 0.025f || (hit.distance > to_box - 0.025f && hit.distance <= gg_norm(p)));
            continue;
        }
        /* never closer than the box, never further than the sphere, and no worse than 60 % of the truth */
        float truth = gg_norm(p) - radius;
        CHECK(hit.distance >= to_box - 1e-6f);
        CHECK(hit.distance <= truth + 2e-3f);
        CHECK(hit.distance >= 0.6f * truth);
        CHECK(gg_sdf_bound(&shape, p) <= hit.distance + 2e-6f);
    }
    /* across the border: value and direction go on */
    for (int i = 0; i < 3000; i++) {
        gg_vec3 q = gg_v3(uniform(-0.11f, 0.11f), uniform(-0.08f, 0.08f), uniform(-0.14f, 0.14f));
        gg_vec3 step = gg_v3(0.0f, 0.0f, 0.0f);
        if (i % 3 == 0) {
            q.x = i % 2 ? 0.11f : -0.11f;
            step.x = i % 2 ? 1e-5f : -1e-5f;
        } else if (i % 3 == 1) {
            q.y = i % 2 ? 0.08f : -0.08f;
            step.y = i % 2 ? 1e-5f : -1e-5f;
        } else {
            q.z = i % 2 ? 0.14f : -0.14f;
            step.z = i % 2 ? 1e-5f : -1e-5f;
        }
        gg_sdf_hit in = gg_sdf_eval(&shape, &grid, grid_samples, gg_sub(q, step));
        gg_sdf_hit out = gg_sdf_eval(&shape, &grid, grid_samples, gg_add(q, step));
        CHECK_NEAR(out.distance, in.distance, 4e-5);
        if (fabsf(in.distance) > 2e-3f) {
            CHECK(gg_norm(gg_sub(out.gradient, in.gradient)) < 0.02f);
        }
    }
}

static void test_grid_outside(void) {
    check_grid_outside(0.06f);
    check_grid_outside(0.1f);
    /* NaN must not become an address */
    gg_sdf_grid grid = grid_make(0.02f, gg_v3(0.0f, 0.0f, 0.0f));
    gg_vec3 bad[] = {gg_v3(NAN, 0.0f, 0.0f), gg_v3(0.0f, INFINITY, 0.0f), gg_v3(0.0f, 0.0f, -INFINITY),
                     gg_v3(1e30f, 0.0f, 0.0f)};
    for (int i = 0; i < 4; i++) {
        gg_sdf_hit hit = gg_sdf_grid_eval(&grid, grid_samples, bad[i]);
        CHECK(!(hit.distance < 0.0f));
    }
}

/* ---- scalars and poses ---- */

static void test_scalar(void) {
    double worst_sine = 0.0, worst_angle = 0.0, worst_relative = 0.0;
    for (int i = 0; i < 1000000; i++) {
        double range = i % 4 == 0 ? 1e4 : i % 4 == 1 ? 10.0 : i % 4 == 2 ? 1e-3 : 100.0;
        double x = range * (2.0 * (double)gg_rng_bits(1, 2, (uint64_t)i) / 18446744073709551616.0 - 1.0);
        /* every 8th value sits beside a multiple of pi/4, where the quarter turns meet */
        x = i % 8 == 0 ? floor(x) * (GG_PI / 4.0) + 1e-9 * (i % 5 - 2) : x;
        float s, c;
        gg_sincos(x, &s, &c);
        worst_sine = fmax(worst_sine, fmax(fabs((double)s - sin(x)), fabs((double)c - cos(x))));
    }
    CHECK(worst_sine < 1e-7);
    for (int i = 0; i < 1000000; i++) {
        double a = GG_PI * (double)i / 999999.0;
        a = i % 3 == 1 ? GG_PI - pow(10.0, -10.0 * i / 1e6) : i % 3 == 2 ? pow(10.0, -12.0 * i / 1e6) : a;
        double length = i % 2 ? 1.0 : pow(10.0, (i % 61) - 30.0);
        /* the angle of the rounded inputs is what is asked for */
        float s = (float)(length * fabs(sin(a))), c = (float)(length * cos(a));
        double expected = atan2((double)s, (double)c);
        double error = fabs((double)gg_angle(s, c) - expected);
        worst_angle = fmax(worst_angle, error);
        worst_relative = expected > 1e-30 ? fmax(worst_relative, error / expected) : worst_relative;
    }
    CHECK(worst_angle < 1e-6 && worst_relative < 1e-6);
    printf("scalar: sine and cosine within %.2g, angle within %.2g (relative %.2g)\n", worst_sine, worst_angle,
           worst_relative);
    CHECK(gg_angle(0.0f, 1.0f) == 0.0f);
    CHECK(gg_angle(0.0f, 0.0f) == 0.0f);
    CHECK_NEAR(gg_angle(0.0f, -1.0f), GG_PI, 3e-7);
    CHECK_NEAR(gg_angle(1.0f, 0.0f), GG_PI / 2.0, 2e-7);
    float s, c;
    gg_sincos(NAN, &s, &c);
    CHECK(s == 0.0f && c == 1.0f);
    gg_sincos(1e300, &s, &c);
    CHECK(s == 0.0f && c == 1.0f);
}

static gg_quat quat_of(gg_vec3 axis, double angle) {
    float s = (float)sin(0.5 * angle);
    return gg_quat_unit(gg_quat_make((float)cos(0.5 * angle), axis.x * s, axis.y * s, axis.z * s));
}

/* largest difference of two orientations, q and -q being the same */
static double quat_gap(gg_quat a, gg_quat b) {
    float sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0f ? -1.0f : 1.0f;
    return fmax(fmax(fabs(a.w - sign * b.w), fabs(a.x - sign * b.x)),
                fmax(fabs(a.y - sign * b.y), fabs(a.z - sign * b.z)));
}

static void test_pose_random(void) {
    for (int i = 0; i < 20000; i++) {
        double angle = i % 4 == 0 ? 1e-6 : i % 4 == 1 ? 1e-3 : i % 4 == 2 ? GG_PI - 1e-4 : (double)uniform(0.0f, 3.1f);
        double duration = i % 2 ? 0.1 : 20.0;
        gg_vec3 axis = direction();
        gg_pose start = {uniform3(5.0f), quat_of(direction(), (double)uniform(-3.0f, 3.0f))}, target;
        target.position = uniform3(5.0f);
        target.rotation = gg_quat_unit(gg_quat_mul(quat_of(axis, angle), start.rotation));
        if (i % 3 == 0) {
            target.rotation =
                gg_quat_make(-target.rotation.w, -target.rotation.x, -target.rotation.y, -target.rotation.z);
        }
        gg_tool_motion motion = gg_tool_motion_between(start, target, duration);
        CHECK(memcmp(&motion.target, &target, sizeof target) == 0);
        CHECK_NEAR(gg_norm(motion.axis), 1.0, 1e-6);
        CHECK_NEAR(motion.speed * duration, angle, 1e-6);
        if (angle > 0.01) {
            CHECK(gg_norm(gg_sub(motion.axis, axis)) < 1e-3f);
        }
        gg_pose first = gg_tool_motion_at(&motion, 0.0), last = gg_tool_motion_at(&motion, duration);
        CHECK(memcmp(&first, &start, sizeof start) == 0);
        CHECK(quat_gap(last.rotation, target.rotation) < 1e-6);
        CHECK(gg_norm(gg_sub(last.position, target.position)) < 2e-6f);
        /* half way: half the angle, half the path */
        gg_pose half = gg_tool_motion_at(&motion, 0.5 * duration);
        CHECK(quat_gap(half.rotation, gg_quat_mul(quat_of(motion.axis, 0.5 * angle), start.rotation)) < 1e-6);
        CHECK(gg_norm(gg_sub(half.position, gg_scale(gg_add(start.position, target.position), 0.5f))) < 2e-6f);
    }
}

static void test_pose_special(void) {
    gg_pose start = {gg_v3(1.0f, 2.0f, 3.0f), quat_of(gg_v3(0.6f, 0.0f, 0.8f), 1.0)};
    /* a tool that stays keeps its bits, however often it is asked to stay */
    gg_pose pose = start;
    for (int i = 0; i < 1000; i++) {
        gg_tool_motion stay = gg_tool_motion_between(pose, pose, 0.05);
        CHECK(stay.speed == 0.0f && gg_norm(stay.velocity) == 0.0f);
        pose = gg_tool_motion_at(&stay, 0.05);
    }
    CHECK(memcmp(&pose, &start, sizeof pose) == 0);
    /* no time, no motion */
    gg_pose target = {gg_v3(0.0f, 0.0f, 0.0f), quat_of(gg_v3(0.0f, 1.0f, 0.0f), 2.0)};
    double none[] = {0.0, -1.0, (double)NAN};
    for (int i = 0; i < 3; i++) {
        gg_tool_motion motion = gg_tool_motion_between(start, target, none[i]);
        CHECK(motion.speed == 0.0f && gg_norm(motion.velocity) == 0.0f && gg_norm(motion.axis) == 1.0f);
    }
    /* a quaternion of another length is one orientation all the same; zero is the identity */
    target.rotation = gg_quat_make(0.0f, 0.0f, 0.0f, 5.0f);
    start.rotation = gg_quat_make(0.0f, 0.0f, 0.0f, 0.0f);
    gg_tool_motion half_turn = gg_tool_motion_between(start, target, 1.0);
    CHECK_NEAR(half_turn.speed, GG_PI, 1e-6);
    CHECK_NEAR(fabs((double)half_turn.axis.z), 1.0, 1e-6);
    CHECK(quat_gap(gg_tool_motion_at(&half_turn, 1.0).rotation, gg_quat_make(0.0f, 0.0f, 0.0f, 1.0f)) < 1e-6);
}

int main(void) {
    test_primitives();
    test_degenerate();
    test_grid_inside();
    test_grid_outside();
    test_scalar();
    test_pose_random();
    test_pose_special();
    return check_report();
}
