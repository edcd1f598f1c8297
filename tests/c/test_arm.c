/* test_arm.c: sine and cosine in double, frames and Jacobian of a chain, clearances, and the motion guard.
 *
 * Frames are compared with a product of homogeneous matrices written here on its own, clearances with points sampled
 * from the shapes.
 */
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/geometry/arm_guard.h"
#include "check.h"

static uint64_t draw;

static double uniform(double lower, double upper) {
    return lower + (upper - lower) * (double)gg_rng_uniform(11, 2, draw++);
}

static void test_sincos(void) {
    double worst = 0.0;
    for (int k = 0; k < 200000; k++) {
        double x = uniform(-10.0, 10.0), s, c;
        gg_sincos_double(x, &s, &c);
        worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
    }
    CHECK_NEAR(worst, 0.0, 1e-15);
    /* headings that are never folded, after a million full turns and more */
    for (int decade = 2; decade <= 9; decade++) {
        worst = 0.0;
        for (int k = 0; k < 20000; k++) {
            double size = pow(10.0, decade), x = uniform(-size, size), s, c;
            gg_sincos_double(x, &s, &c);
            worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
        }
        CHECK_NEAR(worst, 0.0, decade <= 6 ? 1e-15 : 2e-14);
    }
    double s, c;
    gg_sincos_double((double)NAN, &s, &c);
    CHECK(s == 0.0 && c == 1.0);
    gg_sincos_double(0.0, &s, &c);
    CHECK(s == 0.0 && c == 1.0);
}

/* rows of the matrix RotX(alpha) TransX(a) RotZ(theta) TransZ(d), multiplied on the right of m (3, 4) */
static void multiply(double m[3][4], double a, double alpha, double d, double theta) {
    double ca = cos(alpha), sa = sin(alpha), ct = cos(theta), st = sin(theta), out[3][4];
    double t[4][4] = {
        {ct, -st, 0.0, a}, {st * ca, ct * ca, -sa, -sa * d}, {st * sa, ct * sa, ca, ca * d}, {0.0, 0.0, 0.0, 1.0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            out[i][j] = m[i][0] * t[0][j] + m[i][1] * t[1][j] + m[i][2] * t[2][j] + m[i][3] * t[3][j];
        }
    }
    memcpy(m, out, sizeof out);
}

#define ROWS   9
#define JOINTS 7

static void random_chain(gg_arm_row *rows, double *joints) {
    for (int k = 0; k < ROWS; k++) {
        rows[k].a = uniform(-0.4, 0.4);
        rows[k].alpha = uniform(-3.2, 3.2);
        rows[k].d = uniform(-0.4, 0.4);
        rows[k].theta = uniform(-3.2, 3.2);
    }
    for (int j = 0; j < JOINTS; j++) {
        joints[j] = uniform(-6.0, 6.0);
    }
}

static const gg_frame origin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};

static void test_frames(void) {
    double worst = 0.0, slope = 0.0;
    for (int round = 0; round < 500; round++) {
        gg_arm_row rows[ROWS];
        double joints[JOINTS];
        gg_frame frames[GG_ARM_ROWS + 1];
        random_chain(rows, joints);
        gg_arm_frames(rows, ROWS, JOINTS, &origin, joints, frames);
        double m[3][4] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
        for (int k = 0; k < ROWS; k++) {
            multiply(m, rows[k].a, rows[k].alpha, rows[k].d, rows[k].theta + (k < JOINTS ? joints[k] : 0.0));
            for (int i = 0; i < 3; i++) {
                worst = fmax(worst, fabs(m[i][3] - frames[k + 1].p[i]));
                double axis[3] = {0.0, 0.0, 0.0}, turned[3];
                axis[i] = 1.0;
                gg_frame_rotate(frames[k + 1].q, axis, turned);
                for (int j = 0; j < 3; j++) {
                    worst = fmax(worst, fabs(m[j][i] - turned[j]));
                }
            }
        }
        /* the Jacobian is the slope of the tip */
        double jacobian[6 * JOINTS], point[3] = {uniform(-0.2, 0.2), uniform(-0.2, 0.2), uniform(-0.2, 0.2)};
        gg_arm_jacobian(frames, ROWS, JOINTS, point, jacobian);
        for (int j = 0; j < JOINTS; j++) {
            double h = 1e-6, up[3], down[3], keep = joints[j];
            joints[j] = keep + h;
            gg_arm_frames(rows, ROWS, JOINTS, &origin, joints, frames);
            gg_frame_point(&frames[ROWS], point, up);
            joints[j] = keep - h;
            gg_arm_frames(rows, ROWS, JOINTS, &origin, joints, frames);
            gg_frame_point(&frames[ROWS], point, down);
            joints[j] = keep;
            for (int i = 0; i < 3; i++) {
                slope = fmax(slope, fabs((up[i] - down[i]) / (2.0 * h) - jacobian[i * JOINTS + j]));
            }
        }
    }
    CHECK_NEAR(worst, 0.0, 1e-14);
    CHECK_NEAR(slope, 0.0, 1e-8);
}

/* the least distance of sampled points of two capsules' segments */
static double sampled_segments(const gg_capsule *a, const gg_capsule *b, int n) {
    double least = 1e9;
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= n; j++) {
            double s = (double)i / n, t = (double)j / n, d2 = 0.0;
            for (int k = 0; k < 3; k++) {
                double d = a->a[k] + s * (a->b[k] - a->a[k]) - b->a[k] - t * (b->b[k] - b->a[k]);
                d2 += d * d;
            }
            least = fmin(least, sqrt(d2));
        }
    }
    return least;
}

static gg_capsule random_capsule(int kind) {
    gg_capsule c;
    for (int k = 0; k < 3; k++) {
        c.a[k] = uniform(-1.0, 1.0);
        c.b[k] = kind == 1 ? c.a[k] : uniform(-1.0, 1.0);
    }
    if (kind == 2) {
        /* along x: parallel pairs must work */
        c.b[1] = c.a[1];
        c.b[2] = c.a[2];
    }
    c.radius = uniform(0.0, 0.2);
    gg_clearance_bound(&c);
    return c;
}

static void test_segments(void) {
    for (int round = 0; round < 2000; round++) {
        gg_capsule a = random_capsule(round % 3), b = random_capsule(round / 3 % 3);
        double d = gg_clearance_segments(a.a, a.b, b.a, b.b);
        double other = gg_clearance_segments(b.b, b.a, a.a, a.b);
        double sampled = sampled_segments(&a, &b, 60);
        CHECK_NEAR(d, other, 1e-12);
        CHECK(d <= sampled + 1e-12);
        /* two samples of segments up to 3.5 m are at most 6 cm apart: the nearest is off by at most that */
        CHECK(sampled - d < 0.06);
    }
}

static void test_blocks(void) {
    for (int round = 0; round < CHECK_TIMES(2000, 400); round++) {
        gg_capsule c = random_capsule(round % 3);
        gg_block block;
        double n = 0.0;
        for (int k = 0; k < 3; k++) {
            block.frame.p[k] = uniform(-1.0, 1.0);
            block.half[k] = uniform(0.01, 0.4);
        }
        for (int k = 0; k < 4; k++) {
            block.frame.q[k] = uniform(-1.0, 1.0);
            n += block.frame.q[k] * block.frame.q[k];
        }
        for (int k = 0; k < 4; k++) {
            block.frame.q[k] /= sqrt(n);
        }
        double gap = gg_clearance_block(&c, &block, 10.0), sampled = 1e9;
        for (int i = 0; i <= 4000; i++) {
            double x[3], out[3], d2 = 0.0, t = i / 4000.0;
            double inverse[4] = {block.frame.q[0], -block.frame.q[1], -block.frame.q[2], -block.frame.q[3]};
            for (int k = 0; k < 3; k++) {
                x[k] = c.a[k] + t * (c.b[k] - c.a[k]) - block.frame.p[k];
            }
            gg_frame_rotate(inverse, x, out);
            for (int k = 0; k < 3; k++) {
                double beyond = fmax(fabs(out[k]) - block.half[k], 0.0);
                d2 += beyond * beyond;
            }
            sampled = fmin(sampled, sqrt(d2) - c.radius);
        }
        CHECK(gap <= sampled + 1e-9);
        CHECK(sampled - gap < 1e-3);
        /* a bound in hand changes nothing but what is beyond it */
        CHECK_NEAR(gg_clearance_block(&c, &block, 0.3), fmin(gap, 0.3), 1e-9);
    }
}

/* two links of a metre in a plane above a floor, each a capsule: the simplest arm with something to hit */
static void test_guard(void) {
    const gg_arm_row rows[3] = {{0.0, -GG_PI / 2.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    const double lower[2] = {-3.0, -2.5}, upper[2] = {0.5, 2.5}, speed[2] = {1.0, 2.0}, acceleration[2] = {5.0, 10.0};
    const double reach[4] = {0.0, 1.1, 1.1, 0.0};
    const int32_t frame[2] = {1, 2};
    const double capsule[14] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1};
    gg_arm arm = {3, 2, rows, lower, upper, speed, acceleration, reach, 1.5, 0.01, 2, frame, capsule, 0, NULL};
    gg_frame base = {{0.0, 0.0, 0.5}, {1.0, 0.0, 0.0, 0.0}};
    gg_block floor_block = {{{0.0, 0.0, -1.0}, {1.0, 0.0, 0.0, 0.0}}, {10.0, 10.0, 1.0}};
    double joints[2] = {-0.5, 0.3}, velocity[2] = {0.0, 0.0}, lowest = 10.0, reached[2] = {-10.0, 10.0};
    int seen = 0;
    for (int step = 0; step < CHECK_TIMES(20000, 5000); step++) {
        double wanted[2], before[2] = {joints[0], joints[1]}, slow[2] = {velocity[0], velocity[1]};
        gg_frame from[GG_ARM_ROWS + 1], to[GG_ARM_ROWS + 1];
        if (step % 40 == 0) {
            draw += 7;
        }
        for (int j = 0; j < 2; j++) {
            wanted[j] = 100.0 * ((double)gg_rng_uniform(5, 3, (uint64_t)(step / 40 * 2 + j)) - 0.5);
        }
        int event = gg_arm_guard(&arm, &base, &floor_block, 1, 0.05, wanted, joints, velocity);
        seen |= event;
        for (int j = 0; j < 2; j++) {
            CHECK(joints[j] >= lower[j] && joints[j] <= upper[j]);
            CHECK(fabs(velocity[j]) <= speed[j] * (1.0 + 1e-12));
            CHECK_NEAR(velocity[j] * 0.05, joints[j] - before[j], 1e-12);
            if (!(event & (GG_ARM_SPEED | GG_ARM_TOUCH))) {
                CHECK(fabs(velocity[j] - slow[j]) <= acceleration[j] * 0.05 * (1.0 + 1e-9));
            }
        }
        gg_arm_frames(rows, 3, 2, &base, before, from);
        gg_arm_frames(rows, 3, 2, &base, joints, to);
        CHECK(gg_arm_travel(&arm, from, to) <= 1.5 * 0.05 * (1.0 + 1e-9));
        lowest = fmin(lowest, gg_arm_clearance(&arm, &base, joints, &floor_block, 1, 10.0));
        reached[0] = fmax(reached[0], joints[0]);
        reached[1] = fmin(reached[1], joints[1]);
    }
    CHECK(seen == (GG_ARM_JOINT | GG_ARM_SPEED | GG_ARM_TOUCH));
    /* it comes as near as the margin, and no nearer */
    CHECK(lowest > 0.0098 - 1e-9 && lowest < 0.0102);
    CHECK(reached[1] < -2.49);
    /* it is not stuck there: pressed down at a slant it slides along the floor */
    joints[0] = 0.30;
    joints[1] = 0.0;
    velocity[0] = velocity[1] = 0.0;
    double slid = 0.0;
    for (int step = 0; step < 40; step++) {
        double wanted[2] = {1.0, -1.5}, before = joints[1];
        gg_arm_guard(&arm, &base, &floor_block, 1, 0.05, wanted, joints, velocity);
        slid += fabs(joints[1] - before);
    }
    CHECK(slid > 0.3);
}

int main(void) {
    test_sincos();
    test_frames();
    test_segments();
    test_blocks();
    test_guard();
    return check_report();
}
