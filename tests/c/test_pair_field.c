/* test_pair_field.c: convex pieces and exact distances of polygons, and lookups in a table whose values are known.
 *
 * Distances are compared with a separate computation: apart, the least distance of a vertex of one shape and an edge of
 * the other; overlapping, the promise itself: moved by the depth along the normal the shapes touch free space, moved by
 * less in any direction they still overlap.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/geometry/pair_field.h"
#include "../../csrc/geometry/polygon.h"
#include "check.h"

static uint64_t draw;

static double uniform(double lower, double upper) {
    return lower + (upper - lower) * (double)gg_rng_uniform(7, 3, draw++);
}

/* ---- shapes: rings with the solid on the left ---- */

typedef struct shape {
    const char *name;
    double vertex[64];
    int32_t ring_end[3], ring_count, vertices;
    int32_t piece[128], piece_end[64], piece_count;
} shape;

static shape shapes[] = {
    {"triangle", {-0.8, -0.5, 0.9, -0.4, 0.1, 0.9}, {3}, 1, 3, {0}, {0}, 0},
    {"block", {-1.0, -0.27, 1.0, -0.27, 1.0, 0.27, -1.0, 0.27}, {4}, 1, 4, {0}, {0}, 0},
    {"U",
     {-0.7, 0.9, -0.7, -0.8, 0.7, -0.8, 0.7, 0.9, 0.3, 0.9, 0.3, -0.4, -0.3, -0.4, -0.3, 0.9},
     {8},
     1,
     8,
     {0},
     {0},
     0},
    {"comb",
     {0.54,  -0.26, 1.0,   -0.26, 1.0,   0.25, 0.54, 0.25, 0.54, 0.54,  1.0,   0.54,
      1.0,   0.8,   0.54,  0.8,   0.54,  1.0,  0.26, 1.0,  0.26, 0.8,   -0.26, 0.8,
      -0.26, 1.0,   -0.54, 1.0,   -0.54, 0.24, -1.0, 0.24, -1.0, -0.26, -0.54, -0.26, /* hole */
      -0.2,  0.1,   0.2,   0.1,   0.2,   -0.1, -0.2, -0.1},
     {18, 22},
     2,
     22,
     {0},
     {0},
     0},
    {"ring", {-1, -1, 1, -1, 1, 1, -1, 1, -0.6, -0.6, -0.6, 0.6, 0.6, 0.6, 0.6, -0.6}, {4, 8}, 2, 8, {0}, {0}, 0},
};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))

static gg_polygon polygon_of(const shape *s) {
    gg_polygon p = {s->vertex, s->ring_end, s->piece, s->piece_end, s->ring_count, s->piece_count};
    return p;
}

/* ---- the separate computation ---- */

typedef struct edges {
    double x0[64], y0[64], x1[64], y1[64];
    int count;
} edges;

static edges posed(const shape *s, double theta, double tx, double ty) {
    edges e = {.count = 0};
    double c = cos(theta), n = sin(theta);
    for (int ring = 0, first = 0; ring < s->ring_count; first = s->ring_end[ring++]) {
        for (int k = first; k < s->ring_end[ring]; k++) {
            int m = k + 1 < s->ring_end[ring] ? k + 1 : first;
            const double *p = s->vertex + 2 * (ptrdiff_t)k, *q = s->vertex + 2 * (ptrdiff_t)m;
            e.x0[e.count] = c * p[0] - n * p[1] + tx;
            e.y0[e.count] = n * p[0] + c * p[1] + ty;
            e.x1[e.count] = c * q[0] - n * q[1] + tx;
            e.y1[e.count++] = n * q[0] + c * q[1] + ty;
        }
    }
    return e;
}

static double to_edge(const edges *e, int k, double x, double y) {
    double ex = e->x1[k] - e->x0[k], ey = e->y1[k] - e->y0[k], px = x - e->x0[k], py = y - e->y0[k];
    double s = fmin(1.0, fmax(0.0, (px * ex + py * ey) / (ex * ex + ey * ey)));
    return hypot(px - s * ex, py - s * ey);
}

static double to_surface(const edges *e, double x, double y) {
    double least = INFINITY;
    for (int k = 0; k < e->count; k++) {
        least = fmin(least, to_edge(e, k, x, y));
    }
    return least;
}

static double vertex_distance(const edges *a, const edges *b) {
    double least = INFINITY;
    for (int k = 0; k < a->count; k++) {
        least = fmin(least, to_surface(b, a->x0[k], a->y0[k]));
    }
    for (int k = 0; k < b->count; k++) {
        least = fmin(least, to_surface(a, b->x0[k], b->y0[k]));
    }
    return least;
}

static double side(const edges *e, int k, double x, double y) {
    return (e->x1[k] - e->x0[k]) * (y - e->y0[k]) - (e->y1[k] - e->y0[k]) * (x - e->x0[k]);
}

static int contains(const edges *e, double x, double y) {
    int inside = 0;
    for (int k = 0; k < e->count; k++) {
        if ((e->y0[k] > y) != (e->y1[k] > y)) {
            inside ^= x < e->x0[k] + (y - e->y0[k]) / (e->y1[k] - e->y0[k]) * (e->x1[k] - e->x0[k]);
        }
    }
    return inside;
}

/* solids share an inner point: edges cross, or one lies within the other */
static int overlap(const edges *a, const edges *b) {
    for (int k = 0; k < a->count; k++) {
        for (int m = 0; m < b->count; m++) {
            if (side(a, k, b->x0[m], b->y0[m]) * side(a, k, b->x1[m], b->y1[m]) < 0.0 &&
                side(b, m, a->x0[k], a->y0[k]) * side(b, m, a->x1[k], a->y1[k]) < 0.0) {
                return 1;
            }
        }
    }
    return contains(a, b->x0[0], b->y0[0]) || contains(b, a->x0[0], a->y0[0]);
}

/* ---- tests ---- */

static double area_of(const double *vertex, const int32_t *index, int count) {
    double twice = 0.0;
    for (int k = 0; k < count; k++) {
        const double *p = vertex + 2 * (ptrdiff_t)index[k], *q = vertex + 2 * (ptrdiff_t)index[(k + 1) % count];
        twice += p[0] * q[1] - p[1] * q[0];
    }
    return 0.5 * twice;
}

static void test_split(void) {
    char message[256] = "";
    for (int n = 0; n < SHAPES; n++) {
        shape *s = &shapes[n];
        gg_polygon p = polygon_of(s);
        CHECK(gg_polygon_split(&p, s->piece, s->piece_end, &s->piece_count, message, sizeof message) == GG_OK);
        double rings = 0.0, pieces = 0.0;
        for (int ring = 0, first = 0; ring < s->ring_count; first = s->ring_end[ring++]) {
            int32_t index[64];
            for (int k = first; k < s->ring_end[ring]; k++) {
                index[k - first] = k;
            }
            rings += area_of(s->vertex, index, s->ring_end[ring] - first);
        }
        for (int k = 0, first = 0; k < s->piece_count; first = s->piece_end[k++]) {
            int count = s->piece_end[k] - first;
            pieces += area_of(s->vertex, s->piece + first, count);
            for (int m = 0; m < count; m++) {
                int32_t corner[3] = {s->piece[first + m], s->piece[first + (m + 1) % count],
                                     s->piece[first + (m + 2) % count]};
                CHECK(area_of(s->vertex, corner, 3) >= -1e-12);
            }
        }
        CHECK_NEAR(pieces, rings, 1e-12);
    }
    CHECK(shapes[1].piece_count == 1 && shapes[2].piece_count == 3);
    /* a clockwise outer ring is no polygon */
    shape wrong = {"wrong", {0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0}, {4}, 1, 4, {0}, {0}, 0};
    gg_polygon p = polygon_of(&wrong);
    CHECK(gg_polygon_split(&p, wrong.piece, wrong.piece_end, &wrong.piece_count, message, sizeof message) ==
          GG_ERROR_ARGUMENT);
    CHECK(message[0]);
}

#define PER_ANGLE 20
#define ANGLES    334
#define POSES     (ANGLES * PER_ANGLE)

static double pose[3 * POSES];
static gg_pair_exact exact[POSES], alone[POSES];

static void check_apart(const edges *ea, const edges *eb, const gg_pair_exact *x) {
    CHECK(!overlap(ea, eb));
    CHECK_NEAR(x->d, vertex_distance(ea, eb), 1e-9);
}

/* Whether b is free a hair away from a translation, straight on or to either side: at a corner of the free space, the
 * tip of a wedge, straight on may lie beside the wedge. */
static int free_beside(const shape *b, const edges *ea, double theta, double x, double y, double angle, double hair) {
    for (int k = 0; k < 1440; k++) {
        double turned = angle + (k % 2 ? 1 : -1) * (k + 1) / 2 * (GG_PI / 720);
        edges moved = posed(b, theta, x + hair * cos(turned), y + hair * sin(turned));
        if (!overlap(ea, &moved)) {
            return 1;
        }
    }
    return 0;
}

static void check_overlap(const shape *b, const edges *ea, const edges *eb, const double *at, const gg_pair_exact *x) {
    double hair = 1e-7, depth = -x->d;
    CHECK(overlap(ea, eb));
    CHECK(free_beside(b, ea, at[0], at[1] + depth * x->normal[0], at[2] + depth * x->normal[1],
                      atan2(x->normal[1], x->normal[0]), hair));
    for (int k = 0; k < 8; k++) {
        double angle = uniform(0.0, 6.3), length = uniform(0.9, 1.0) * (depth - hair);
        edges moved = posed(b, at[0], at[1] + length * cos(angle), at[2] + length * sin(angle));
        CHECK(overlap(ea, &moved));
    }
}

static void test_exact(void) {
    char message[256] = "";
    const int poses = CHECK_TIMES(POSES, POSES / 5);
    long total = 0, apart = 0, within = 0;
    for (int n = 0; n < SHAPES; n++) {
        for (int m = 0; m <= n; m++) {
            gg_polygon a = polygon_of(&shapes[n]), b = polygon_of(&shapes[m]);
            for (int k = 0; k < poses; k++) {
                /* every fourth angle makes edges parallel */
                int angle = k / PER_ANGLE;
                double theta = k % PER_ANGLE ? pose[3 * k - 3] : angle % 4 ? uniform(-4, 4) : angle / 4 * (GG_PI / 4);
                pose[3 * k] = theta;
                pose[3 * k + 1] = uniform(-1.8, 1.8);
                pose[3 * k + 2] = uniform(-1.8, 1.8);
            }
            CHECK(gg_pair_distance(&a, &b, pose, poses, 2, exact, message, sizeof message) == GG_OK);
            CHECK(gg_pair_distance(&a, &b, pose, poses, 1, alone, message, sizeof message) == GG_OK);
            CHECK(!memcmp(exact, alone, (size_t)poses * sizeof *exact));
            total += poses;
            edges ea = posed(&shapes[n], 0.0, 0.0, 0.0);
            for (int k = 0; k < poses; k++) {
                const gg_pair_exact *x = &exact[k];
                const double *at = pose + 3 * (ptrdiff_t)k;
                edges eb = posed(&shapes[m], at[0], at[1], at[2]);
                CHECK_NEAR(hypot(x->normal[0], x->normal[1]), 1.0, 1e-9);
                CHECK_NEAR(x->point_a[0] + x->d * x->normal[0], x->point_b[0], 1e-12);
                CHECK_NEAR(x->point_a[1] + x->d * x->normal[1], x->point_b[1], 1e-12);
                CHECK_NEAR(to_surface(&ea, x->point_a[0], x->point_a[1]), 0.0, 1e-9);
                CHECK_NEAR(to_surface(&eb, x->point_b[0], x->point_b[1]), 0.0, 1e-9);
                if (x->d > 1e-6) {
                    check_apart(&ea, &eb, x);
                    apart++;
                } else if (x->d < -1e-6) {
                    check_overlap(&shapes[m], &ea, &eb, at, x);
                    within++;
                }
            }
        }
    }
    CHECK(apart > total / 5 && within > total / 5 && apart + within > total / 100 * 99);
}

/* a bar in a slot of its own width: free on the one line on which it fits, and nowhere beside it */
static void test_exact_fit(void) {
    char message[256] = "";
    shape bar = {"bar", {-0.5, -0.3, 0.5, -0.3, 0.5, 0.3, -0.5, 0.3}, {4}, 1, 4, {0, 1, 2, 3}, {4}, 1};
    gg_polygon a = polygon_of(&shapes[2]), b = polygon_of(&bar);
    double poses[] = {GG_PI / 2, 0.0, 0.6, GG_PI / 2, 0.05, 0.6, GG_PI / 2, 0.0, 0.2, GG_PI / 2 + 0.1, 0.0, 0.6};
    gg_pair_exact out[4];
    CHECK(gg_pair_distance(&a, &b, poses, 4, 1, out, message, sizeof message) == GG_OK);
    CHECK_NEAR(out[0].d, 0.0, 1e-9);
    CHECK_NEAR(out[1].d, -0.05, 1e-9);
    CHECK_NEAR(out[2].d, 0.0, 1e-9);
    CHECK(out[3].d < -0.04);
    /* further down it meets the floor of the slot */
    poses[1] = 0.0;
    poses[2] = 0.05;
    CHECK(gg_pair_distance(&a, &b, poses, 1, 1, out, message, sizeof message) == GG_OK);
    CHECK_NEAR(out[0].d, -0.05, 1e-9);
}

/* gradient of d by differences, where both one-sided ones agree */
static void test_gradient(void) {
    char message[256] = "";
    gg_polygon a = polygon_of(&shapes[3]), b = polygon_of(&shapes[2]);
    int smooth = 0;
    for (int k = 0; k < 1000; k++) {
        double h = 1e-6, base[3] = {uniform(-4, 4), uniform(-1.8, 1.8), uniform(-1.8, 1.8)}, poses[21];
        gg_pair_exact at[7];
        for (int i = 0; i < 7; i++) {
            memcpy(poses + 3 * (ptrdiff_t)i, base, sizeof base);
            if (i) {
                poses[3 * i + (i - 1) / 2] += i % 2 ? h : -h;
            }
        }
        CHECK(gg_pair_distance(&a, &b, poses, 7, 1, at, message, sizeof message) == GG_OK);
        double slope[3] = {at[0].dtheta, at[0].normal[0], at[0].normal[1]};
        for (int axis = 0; axis < 3; axis++) {
            double up = (at[1 + 2 * axis].d - at[0].d) / h, down = (at[0].d - at[2 + 2 * axis].d) / h;
            if (fabs(up - down) < 1e-4) {
                CHECK_NEAR(0.5 * (up + down), slope[axis], 1e-4);
                smooth++;
            }
        }
    }
    CHECK(smooth > 2500);
}

/* nearest half of a value of 2^-14 to 4 */
static uint32_t to_half(float value) {
    uint32_t sign = value < 0.0f ? 0x8000u : 0u;
    int exponent;
    float part = frexpf(fabsf(value), &exponent);
    uint32_t bits = (uint32_t)lrintf(part * 2048.0f);
    return sign | (((uint32_t)(exponent + 14) << 10) + (bits - 1024u));
}

#define T_COUNT 32
#define NODES   12

/* d = 0.6 + 0.25 x - 0.125 y + waves in theta, arm = x / 8: cubic interpolation gives linear functions exactly */
static void test_table(void) {
    static uint32_t node[(T_COUNT + 3) * NODES * NODES];
    gg_pair_field field = {
        .kind = GG_PAIR_CUBIC, .fold_a = 1, .fold_b = 2, .radius = 0.9f, .reach = 1.0f, .scale = 1.0f};
    field.theta_count = T_COUNT;
    field.y_count = field.x_count = NODES;
    field.y_first = field.x_first = -5.5f;
    field.per_metre = 4.5f;
    field.size = sizeof node;
    for (int t = 0; t < T_COUNT + 3; t++) {
        for (int y = 0; y < NODES; y++) {
            for (int x = 0; x < NODES; x++) {
                float fx = (float)(x - 5.5) / 4.5f, fy = (float)(y - 5.5) / 4.5f;
                float wave = 0.125f * cosf((float)(t - 1) * (float)(2.0 * GG_PI / T_COUNT));
                node[(t * NODES + y) * NODES + x] =
                    to_half(0.6f + 0.25f * fx - 0.125f * fy + wave) | to_half(0.5f + 0.125f * fx) << 16;
            }
        }
    }
    CHECK(gg_pair_field_fits(&field, sizeof node));
    for (int k = 0; k < 20000; k++) {
        float theta = (float)uniform(-20, 20), x = (float)uniform(-0.7, 0.7), y = (float)uniform(-0.7, 0.7);
        gg_pair_sample s = gg_pair_field_query(&field, node, theta, x, y), turned;
        /* halves are off by 2^-12, the cubic through a cosine of 32 nodes by less */
        CHECK_NEAR(s.d, 0.6f + 0.25f * x - 0.125f * y + 0.125f * cosf(2.0f * theta), 0.001);
        CHECK_NEAR(s.arm_a, 0.5f + 0.125f * x, 0.0005);
        CHECK_NEAR(s.nx, 0.25f / hypotf(0.25f, 0.125f), 0.02);
        CHECK_NEAR(s.ny, -0.125f / hypotf(0.25f, 0.125f), 0.02);
        /* scaled with the gradient along t, which is not a unit vector here */
        CHECK_NEAR(s.dtheta * hypotf(0.25f, 0.125f), -0.25f * sinf(2.0f * theta), 0.02);
        /* B's half turn changes nothing but rounding */
        turned = gg_pair_field_query(&field, node, theta + (float)GG_PI, x, y);
        CHECK_NEAR(turned.d, s.d, 1e-5);
    }
    /* beyond the reach: extrapolated along the gradient at its edge */
    float edge = field.reach * GG_PAIR_WITHIN / 5.0f;
    gg_pair_sample far = gg_pair_field_query(&field, node, 0.3f, 3.0f, -4.0f);
    gg_pair_sample near = gg_pair_field_query(&field, node, 0.3f, 3.0f * edge, -4.0f * edge);
    CHECK_NEAR(far.d, near.d + (1.0f - edge) * (3.0f * near.nx - 4.0f * near.ny), 1e-5);
    CHECK_NEAR(far.nx, near.nx, 1e-5);
    CHECK_NEAR(far.arm_a, near.arm_a, 1e-5);
    /* no pose reads outside of the table: the sanitized build would say so */
    float odd[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 4e6f, 0.99999994f, -1e-30f, 0.0f, 1.0f, -1.0f};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        for (size_t j = 0; j < sizeof odd / sizeof odd[0]; j++) {
            gg_pair_sample s = gg_pair_field_query(&field, node, odd[i], odd[j], odd[(i + j) % 11]);
            CHECK(gg_finite(odd[j]) && gg_finite(odd[(i + j) % 11]) ? s.d == s.d : !gg_finite(s.d));
        }
    }
    /* records that do not fit are seen */
    gg_pair_field wrong = field;
    wrong.x_count++;
    CHECK(!gg_pair_field_fits(&wrong, sizeof node));
    wrong = field;
    wrong.offset = 64;
    CHECK(!gg_pair_field_fits(&wrong, sizeof node));
    wrong = field;
    wrong.fold_a = 3;
    CHECK(!gg_pair_field_fits(&wrong, sizeof node));
    wrong = field;
    wrong.reach = NAN;
    CHECK(!gg_pair_field_fits(&wrong, sizeof node));
}

/* a network computed here in double, its gradient by differences */
static double network_value(const gg_pair_field *f, const float *weight, const double in[4]) {
    double value[64], next[64];
    int count = gg_pair_inputs(f);
    memcpy(value, in, 4 * sizeof *in);
    for (int layer = 0; layer < f->layers; layer++) {
        for (int k = 0; k < f->width; k++) {
            double sum = (double)weight[count * f->width + k];
            for (int i = 0; i < count; i++) {
                sum += (double)weight[i * f->width + k] * value[i];
            }
            next[k] = f->activation == GG_PAIR_SINE ? sin(sum) : fmax(sum, 0.0);
        }
        weight += (count + 1) * f->width;
        count = f->width;
        memcpy(value, next, sizeof value);
    }
    double out = (double)weight[count];
    for (int i = 0; i < count; i++) {
        out += (double)weight[i] * value[i];
    }
    return out;
}

static double network_at(const gg_pair_field *f, const float *weight, double theta, double x, double y) {
    double circle[4] = {cos(f->fold_b * theta), sin(f->fold_b * theta), x, y}, angle[4] = {theta, x, y, 0.0};
    return network_value(f, weight, f->encoding == GG_PAIR_CIRCLE ? circle : angle);
}

static void test_network(void) {
    static float weight[2 * 20000] __attribute__((aligned(64)));
    for (int form = 0; form < 8; form++) {
        gg_pair_field f = {.kind = GG_PAIR_NETWORK, .fold_a = 1, .fold_b = 1, .theta_count = 1, .radius = 1.9f};
        f.reach = 2.0f, f.scale = 1.0f, f.per_metre = 1.0f;
        f.layers = form & 1 ? 5 : 3;
        f.width = form & 1 ? 64 : 32;
        f.encoding = form & 2 ? GG_PAIR_CIRCLE : GG_PAIR_ANGLE;
        f.fold_b = form & 2 ? 3 : 1;
        f.activation = form & 4 ? GG_PAIR_SINE : GG_PAIR_RELU;
        f.size = gg_pair_network_bytes(&f);
        CHECK(gg_pair_field_fits(&f, sizeof weight));
        CHECK(!gg_pair_field_fits(&f, f.size - 4));
        for (int64_t k = 0; k < f.size / 4; k++) {
            weight[k] = (float)uniform(-1.5, 1.5) / sqrtf((float)f.width);
        }
        for (int k = 0; k < CHECK_TIMES(300, 60); k++) {
            double theta = uniform(-3, 3), x = uniform(-1.2, 1.2), y = uniform(-1.2, 1.2), h = 1e-4, slope[3];
            const float *arm = weight + gg_pair_network_floats(&f);
            gg_pair_sample s = gg_pair_field_query(&f, weight, (float)theta, (float)x, (float)y);
            CHECK_NEAR(s.d, network_at(&f, weight, theta, x, y), 2e-5);
            CHECK_NEAR(s.arm_a, network_at(&f, arm, theta, x, y), 2e-5);
            slope[0] = network_at(&f, weight, theta + h, x, y) - network_at(&f, weight, theta - h, x, y);
            slope[1] = network_at(&f, weight, theta, x + h, y) - network_at(&f, weight, theta, x - h, y);
            slope[2] = network_at(&f, weight, theta, x, y + h) - network_at(&f, weight, theta, x, y - h);
            double length = hypot(slope[1], slope[2]) / (2 * h);
            /* a kink of a ReLU between the two points of the difference quotient changes it: sines only */
            if (f.activation == GG_PAIR_SINE && length > 0.05) {
                CHECK_NEAR(s.nx, slope[1] / (2 * h) / length, 2e-3);
                CHECK_NEAR(s.ny, slope[2] / (2 * h) / length, 2e-3);
                CHECK_NEAR(s.dtheta, slope[0] / (2 * h) / fmax(length, 0.25), 2e-3 * f.fold_b);
            }
        }
    }
    float s, c;
    double worst = 0.0;
    for (int k = 0; k < 100000; k++) {
        float x = (float)uniform(-1000, 1000);
        gg_pair_sincos(x, &s, &c);
        worst = fmax(worst, fmax(fabs((double)s - sin((double)x)), fabs((double)c - cos((double)x))));
    }
    CHECK_NEAR(worst, 0.0, 1e-6);
    gg_pair_sincos(INFINITY, &s, &c);
    CHECK(s == 0.0f && c == 1.0f);
}

int main(void) {
    test_network();
    test_split();
    test_exact();
    test_exact_fit();
    test_gradient();
    test_table();
    return check_report();
}
