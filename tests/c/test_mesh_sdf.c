/* test_mesh_sdf.c: gg_mesh_to_grid against analytic solids and against brute force over all triangles.
 *
 * Links against csrc/geometry/mesh_*.c alone.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/gg.h"
#include "check.h"

#define PI 3.14159265358979323846

typedef struct mesh {
    double vertices[3 * 6000];
    int32_t faces[3 * 12000];
    int64_t vertex_count, face_count;
} mesh;

static mesh work, other;

static int32_t add_vertex(mesh *m, double x, double y, double z) {
    double *v = m->vertices + 3 * m->vertex_count;
    v[0] = x;
    v[1] = y;
    v[2] = z;
    return (int32_t)m->vertex_count++;
}

static void add_face(mesh *m, int32_t a, int32_t b, int32_t c) {
    int32_t *f = m->faces + 3 * m->face_count++;
    f[0] = a;
    f[1] = b;
    f[2] = c;
}

static void clear(mesh *m) { m->vertex_count = m->face_count = 0; }

static void add_box(mesh *m, double x, double y, double z, double hx, double hy, double hz) {
    int32_t first = (int32_t)m->vertex_count;
    for (int i = 0; i < 8; i++) {
        add_vertex(m, x + (i & 1 ? hx : -hx), y + (i & 2 ? hy : -hy), z + (i & 4 ? hz : -hz));
    }
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int i = 0; i < 6; i++) {
        const int *q = quads[i];
        add_face(m, first + q[0], first + q[1], first + q[2]);
        add_face(m, first + q[0], first + q[2], first + q[3]);
    }
}

static void add_sphere(mesh *m, double x, double y, double z, double radius, int rings) {
    int around = 2 * rings;
    int32_t first = (int32_t)m->vertex_count;
    for (int i = 1; i < rings; i++) {
        for (int j = 0; j < around; j++) {
            double a = PI * i / rings, b = 2.0 * PI * j / around;
            add_vertex(m, x + radius * sin(a) * cos(b), y + radius * sin(a) * sin(b), z + radius * cos(a));
        }
    }
    int32_t top = add_vertex(m, x, y, z + radius), bottom = add_vertex(m, x, y, z - radius);
    for (int j = 0; j < around; j++) {
        int next = (j + 1) % around;
        add_face(m, top, first + j, first + next);
        for (int i = 0; i + 2 < rings; i++) {
            int32_t a = first + i * around, b = a + around;
            add_face(m, a + j, b + j, b + next);
            add_face(m, a + j, b + next, a + next);
        }
        add_face(m, bottom, first + (rings - 2) * around + next, first + (rings - 2) * around + j);
    }
}

/* a torus around z */
static void add_torus(mesh *m, double major, double minor, int count, int tube) {
    int32_t first = (int32_t)m->vertex_count;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < tube; j++) {
            double a = 2.0 * PI * i / count, b = 2.0 * PI * j / tube, r = major + minor * cos(b);
            add_vertex(m, r * cos(a), r * sin(a), minor * sin(b));
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < tube; j++) {
            int32_t a = first + i * tube, b = first + (i + 1) % count * tube;
            int32_t k = (j + 1) % tube;
            add_face(m, a + j, b + j, b + k);
            add_face(m, a + j, b + k, a + k);
        }
    }
}

static void invert(mesh *m) {
    for (int64_t i = 0; i < m->face_count; i++) {
        int32_t swap = m->faces[3 * i];
        m->faces[3 * i] = m->faces[3 * i + 1];
        m->faces[3 * i + 1] = swap;
    }
}

/* drops every face whose three corners all satisfy z > lowest and |x|, |y| < wide */
static int64_t punch(mesh *m, double lowest, double wide) {
    int64_t kept = 0, faces = m->face_count;
    for (int64_t i = 0; i < faces; i++) {
        int hit = 1;
        for (int k = 0; k < 3; k++) {
            const double *v = m->vertices + 3 * m->faces[3 * i + k];
            hit = hit && v[2] > lowest && fabs(v[0]) < wide && fabs(v[1]) < wide;
        }
        if (!hit) {
            memmove(m->faces + 3 * kept++, m->faces + 3 * i, 3 * sizeof(int32_t));
        }
    }
    m->face_count = kept;
    return faces - kept;
}

/* ---- grids ---- */

enum { N = 24 };

static float field[N * N * N], field_b[N * N * N];

/* a cube of samples around the origin; an odd offset keeps them off the symmetry planes */
static gg_sdf_grid cube(double half) {
    gg_sdf_grid grid;
    memset(&grid, 0, sizeof grid);
    grid.count[0] = grid.count[1] = grid.count[2] = N;
    grid.spacing = (float)(2.0 * half / (N - 1));
    grid.origin = gg_v3((float)-half + 0.00013f, (float)-half + 0.00029f, (float)-half + 0.00017f);
    return grid;
}

static void sample_point(const gg_sdf_grid *grid, int i, double *p) {
    p[0] = (double)grid->origin.x + (double)grid->spacing * (i % N);
    p[1] = (double)grid->origin.y + (double)grid->spacing * (i / N % N);
    p[2] = (double)grid->origin.z + (double)grid->spacing * (i / N / N);
}

static gg_status convert(const mesh *m, const gg_sdf_grid *grid, float *out, int threads) {
    char message[200];
    gg_status status = gg_mesh_to_grid(m->vertices, m->vertex_count, m->faces, m->face_count, grid, out, threads,
                                       message, sizeof message);
    if (!CHECK(status == GG_OK)) {
        fprintf(stderr, "    %s\n", message);
    }
    return status;
}

static double box_truth(const double *p, double hx, double hy, double hz) {
    double q[3] = {fabs(p[0]) - hx, fabs(p[1]) - hy, fabs(p[2]) - hz};
    double out = sqrt(pow(fmax(q[0], 0.0), 2) + pow(fmax(q[1], 0.0), 2) + pow(fmax(q[2], 0.0), 2));
    return out + fmin(fmax(q[0], fmax(q[1], q[2])), 0.0);
}

static void test_box(void) {
    clear(&work);
    add_box(&work, 0.0, 0.0, 0.0, 0.1, 0.2, 0.05);
    /* faces that do no harm: one of no area, one folded to a line, and vertices nobody uses */
    add_face(&work, 0, 0, 0);
    add_face(&work, 0, 1, 1);
    add_vertex(&work, 9.0, 9.0, 9.0);
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 2);
    for (int i = 0; i < N * N * N; i++) {
        double p[3];
        sample_point(&grid, i, p);
        CHECK_NEAR(field[i], box_truth(p, 0.1, 0.2, 0.05), 1e-7);
    }
}

static void test_sphere(void) {
    clear(&work);
    add_sphere(&work, 0.0, 0.0, 0.0, 0.2, 40);
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 1);
    /* a chord of 2 pi R / 80 lies R (pi / 80)^2 / 2 inside; on both axes of a face about twice that */
    double sag = 0.2 * pow(PI / 80.0, 2);
    for (int i = 0; i < N * N * N; i++) {
        double p[3];
        sample_point(&grid, i, p);
        double truth = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.2;
        CHECK(field[i] >= truth - 1e-6 && field[i] <= truth + sag + 1e-6);
    }
    /* the same bits on 2 and 3 threads; the same field from the inverted mesh */
    for (int threads = 0; threads <= 3; threads++) {
        convert(&work, &grid, field_b, threads);
        CHECK(memcmp(field, field_b, sizeof field) == 0);
    }
    invert(&work);
    convert(&work, &grid, field_b, 2);
    for (int i = 0; i < N * N * N; i++) {
        CHECK_NEAR(field_b[i], field[i], 1e-7);
    }
}

static void test_torus(void) {
    clear(&work);
    add_torus(&work, 0.18, 0.06, 90, 45);
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 2);
    for (int i = 0; i < N * N * N; i++) {
        double p[3];
        sample_point(&grid, i, p);
        double truth = hypot(hypot(p[0], p[1]) - 0.18, p[2]) - 0.06;
        CHECK(field[i] >= truth - 6e-4 && field[i] <= truth + 6e-4);
    }
}

/* two spheres that cut into each other: inside is inside of either */
static void test_overlapping(void) {
    clear(&work);
    add_sphere(&work, -0.06, 0.0, 0.0, 0.12, 20);
    add_sphere(&work, 0.06, 0.0, 0.0, 0.12, 20);
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 2);
    int both = 0;
    for (int i = 0; i < N * N * N; i++) {
        double p[3];
        sample_point(&grid, i, p);
        double left = sqrt(pow(p[0] + 0.06, 2) + p[1] * p[1] + p[2] * p[2]) - 0.12;
        double right = sqrt(pow(p[0] - 0.06, 2) + p[1] * p[1] + p[2] * p[2]) - 0.12;
        double truth = fmin(left, right);
        if (fabs(truth) > 2e-3) {
            CHECK((field[i] < 0.0f) == (truth < 0.0));
        }
        both += left < -0.01 && right < -0.01;
    }
    CHECK(both > 20);
    /* a sphere within a sphere, turned inside out, is a hollow */
    clear(&work);
    add_sphere(&work, 0.0, 0.0, 0.0, 0.1, 20);
    invert(&work);
    add_sphere(&work, 0.0, 0.0, 0.0, 0.25, 20);
    convert(&work, &grid, field, 2);
    for (int i = 0; i < N * N * N; i++) {
        double p[3];
        sample_point(&grid, i, p);
        double r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        if (fabs(r - 0.1) > 4e-3 && fabs(r - 0.25) > 4e-3) {
            CHECK((field[i] < 0.0f) == (r > 0.1 && r < 0.25));
        }
    }
}

/* a hole of some faces: the inside stays inside right up to it, and nothing leaks out of it */
static void test_hole(void) {
    clear(&work);
    add_sphere(&work, 0.0, 0.0, 0.0, 0.2, 40);
    int64_t dropped = punch(&work, 0.0, 0.03);
    CHECK(dropped > 20 && dropped < 600);
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 2);
    int seen = 0;
    for (int i = 0; i < N * N * N; i++) {
        double p[3];
        sample_point(&grid, i, p);
        double r = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        /* at the hole's rim the surface is not defined; a hole's width away from it, it is */
        double to_hole = sqrt(p[0] * p[0] + p[1] * p[1] + pow(p[2] - 0.2, 2));
        if (fabs(r - 0.2) > 2e-3 && to_hole > 0.06) {
            CHECK((field[i] < 0.0f) == (r < 0.2));
            seen++;
        }
    }
    CHECK(seen > 10000);
}

/* ---- brute force ---- */

static double brute_winding(const mesh *m, const double *p) {
    double sum = 0.0;
    for (int64_t f = 0; f < m->face_count; f++) {
        double v[3][3], n[3];
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++) {
                v[k][j] = m->vertices[3 * m->faces[3 * f + k] + j] - p[j];
            }
            n[k] = sqrt(v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
        }
        double det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                     v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                     v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        double real = n[0] * n[1] * n[2];
        for (int k = 0; k < 3; k++) {
            const double *a = v[k], *b = v[(k + 1) % 3];
            real += (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * n[(k + 2) % 3];
        }
        sum += 2.0 * atan2(det, real);
    }
    return sum / (4.0 * PI);
}

/* nearest point by a dense net of barycentric points: an upper bound within `gap` of the truth */
static double brute_distance(const mesh *m, const double *p, int net) {
    double best = 1e9;
    for (int64_t f = 0; f < m->face_count; f++) {
        for (int i = 0; i <= net; i++) {
            for (int j = 0; i + j <= net; j++) {
                double sum = 0.0, s = (double)i / net, t = (double)j / net;
                for (int k = 0; k < 3; k++) {
                    double a = m->vertices[3 * m->faces[3 * f] + k], b = m->vertices[3 * m->faces[3 * f + 1] + k];
                    double c = m->vertices[3 * m->faces[3 * f + 2] + k];
                    sum += pow(a + s * (b - a) + t * (c - a) - p[k], 2);
                }
                best = fmin(best, sum);
            }
        }
    }
    return sqrt(best);
}

/* a crumpled, open, self-intersecting heap of triangles: distance and sign as brute force finds them */
static void test_soup(void) {
    clear(&work);
    add_sphere(&work, 0.0, 0.0, 0.0, 0.2, 8);
    for (int64_t i = 0; i < 3 * work.vertex_count; i++) {
        work.vertices[i] += 0.04 * sin(12.9898 * (double)i * (double)i);
    }
    CHECK(punch(&work, 0.05, 0.3) > 0);
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 2);
    int inside = 0, compared = 0;
    for (int i = 0; i < N * N * N; i += 7) {
        double p[3];
        sample_point(&grid, i, p);
        double w = fabs(brute_winding(&work, p));
        /* far nodes are dipoles, so close to one half the sign may differ */
        if (fabs(w - 0.5) > 0.02) {
            CHECK((field[i] < 0.0f) == (w > 0.5));
            compared++;
        }
        inside += w > 0.52;
    }
    CHECK(inside > 30 && compared > 1700);
    for (int i = 0; i < N * N * N; i += 331) {
        double p[3];
        sample_point(&grid, i, p);
        double net = brute_distance(&work, p, 24);
        CHECK(fabs((double)field[i]) <= net + 1e-7 && fabs((double)field[i]) >= net - 4e-3);
    }
}

/* triangles that are lines but for rounding: their normals are of no use, their distances are those of the lines */
static void test_slivers(void) {
    clear(&work);
    for (int f = 0; f < 40; f++) {
        double a[3], d[3];
        for (int k = 0; k < 3; k++) {
            a[k] = 0.4 * (double)gg_rng_uniform(4, 0, (uint64_t)(3 * f + k)) - 0.2;
            d[k] = 0.2 * (double)gg_rng_uniform(4, 1, (uint64_t)(3 * f + k)) - 0.1;
        }
        int32_t first = add_vertex(&work, a[0], a[1], a[2]);
        add_vertex(&work, a[0] + 0.37 * d[0], a[1] + 0.37 * d[1], a[2] + 0.37 * d[2]);
        add_vertex(&work, a[0] + d[0], a[1] + d[1], a[2] + d[2]);
        add_face(&work, first, first + 1, first + 2);
    }
    gg_sdf_grid grid = cube(0.3);
    convert(&work, &grid, field, 2);
    for (int i = 0; i < N * N * N; i++) {
        double p[3], best = INFINITY;
        sample_point(&grid, i, p);
        for (int f = 0; f < 40; f++) {
            const double *a = work.vertices + 9 * f, *b = a + 6;
            double along = 0.0, length2 = 0.0, sum = 0.0;
            for (int k = 0; k < 3; k++) {
                along += (p[k] - a[k]) * (b[k] - a[k]);
                length2 += (b[k] - a[k]) * (b[k] - a[k]);
            }
            double s = fmin(fmax(along / length2, 0.0), 1.0);
            for (int k = 0; k < 3; k++) {
                sum += pow(a[k] + s * (b[k] - a[k]) - p[k], 2);
            }
            best = fmin(best, sqrt(sum));
        }
        CHECK_NEAR(fabs(field[i]), best, 1e-7);
    }
}

/* ---- hostile arguments, speed ---- */

static void expect_fault(const mesh *m, gg_sdf_grid grid, int threads, const char *word) {
    char message[200] = "";
    gg_status status = gg_mesh_to_grid(m->vertices, m->vertex_count, m->faces, m->face_count, &grid, field, threads,
                                       message, sizeof message);
    if (!CHECK(status == GG_ERROR_ARGUMENT && strstr(message, word))) {
        fprintf(stderr, "    '%s' expected in '%s'\n", word, message);
    }
    CHECK(gg_mesh_to_grid(m->vertices, m->vertex_count, m->faces, m->face_count, &grid, field, threads, NULL, 0) ==
          status);
}

static void test_faults(void) {
    gg_sdf_grid good = cube(0.3), bad = good;
    clear(&work);
    expect_fault(&work, good, 1, "at least 3 vertices");
    add_box(&work, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1);
    expect_fault(&work, good, -1, "thread_count");
    bad.count[1] = 1;
    expect_fault(&work, bad, 1, "at least 2 samples");
    bad.count[0] = bad.count[1] = bad.count[2] = INT32_MAX;
    expect_fault(&work, bad, 1, "larger spacing");
    bad = good;
    bad.spacing = 0.0f;
    expect_fault(&work, bad, 1, "spacing");
    bad.spacing = NAN;
    expect_fault(&work, bad, 1, "spacing");
    bad = good;
    bad.origin.z = INFINITY;
    expect_fault(&work, bad, 1, "origin");
    work.vertices[7] = NAN;
    expect_fault(&work, good, 1, "vertex 2");
    work.vertices[7] = 1e12;
    expect_fault(&work, good, 1, "vertex 2");
    work.vertices[7] = 0.1;
    work.faces[5] = 8;
    expect_fault(&work, good, 1, "face 1 names vertex 8");
    work.faces[5] = -1;
    expect_fault(&work, good, 1, "face 1 names vertex -1");
    char message[8];
    CHECK(gg_mesh_to_grid(NULL, 8, work.faces, 12, &good, field, 1, message, sizeof message) == GG_ERROR_ARGUMENT);
    CHECK(strlen(message) == 7);
}

/* seconds for 64^3 samples; reported, and bounded only against runaway cost */
static double time_sphere(int rings, double *share) {
    static float big[64 * 64 * 64];
    gg_sdf_grid grid = cube(0.3);
    grid.count[0] = grid.count[1] = grid.count[2] = 64;
    grid.spacing = 0.6f / 63.0f;
    clear(&other);
    add_sphere(&other, 0.0, 0.0, 0.0, 0.2, rings);
    struct timespec a, b;
    timespec_get(&a, TIME_UTC);
    convert(&other, &grid, big, 2);
    timespec_get(&b, TIME_UTC);
    int64_t inside = 0;
    for (int i = 0; i < 64 * 64 * 64; i++) {
        inside += big[i] < 0.0f;
    }
    *share = (double)inside / (64.0 * 64.0 * 64.0);
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

static void test_speed(void) {
    double share = 0.0;
    double small = time_sphere(8, &share), large = time_sphere(50, &share);
    printf("mesh to 64^3 samples on 2 threads: %.2f s for %d triangles, %.2f s for %lld\n", small, 4 * 8 * 7, large,
           (long long)other.face_count);
    CHECK_NEAR(share, 4.0 / 3.0 * PI * pow(0.2 / 0.6 * 63.0 / 64.0, 3), 1e-3);
    CHECK(large < 60.0);
}

int main(void) {
    test_box();
    test_sphere();
    test_torus();
    test_overlapping();
    test_hole();
    test_soup();
    test_slivers();
    test_faults();
    if (CHECK_TIMES(1, 0)) {
        test_speed();
    }
    return check_report();
}
