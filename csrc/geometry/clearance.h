/* clearance.h: distances of the capsules of an arm to each other and to boxes, in double.
 *
 * Segment and segment: the squared distance is a quadratic in two parameters on the unit square; clamping them in order
 * finds its minimum, inside or on an edge. Segment and box: the distance of a point to a box is convex, so along a
 * segment it has one minimum, which golden section search finds.
 */
#ifndef GG_CLEARANCE_H
#define GG_CLEARANCE_H

#include "arm.h"

/* a sphere, world [m] */
typedef struct gg_ball {
    double center[3], radius;
} gg_ball;

/* all points within `radius` of the segment from a to b, and their bounding sphere, world [m] */
typedef struct gg_capsule {
    double a[3], b[3], radius;
    gg_ball ball;
} gg_capsule;

/* Bounding spheres count as larger by this, so that rounding never makes a bound reject what the exact test would
 * find [m]. */
#define GG_CLEARANCE_SLACK 1e-9

/* a box in a frame of its own [m] */
typedef struct gg_block {
    gg_frame frame;
    double half[3];
} gg_block;

GG_FN double gg_clearance_clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

GG_FN double gg_clearance_dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* sets the bounding sphere of a capsule from its ends and radius */
GG_FN void gg_clearance_bound(gg_capsule *capsule) {
    double length2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double along = capsule->b[k] - capsule->a[k];
        capsule->ball.center[k] = 0.5 * (capsule->a[k] + capsule->b[k]);
        length2 += along * along;
    }
    capsule->ball.radius = 0.5 * sqrt(length2) + capsule->radius;
}

/* a bounding sphere of capsules */
GG_FN gg_ball gg_clearance_ball(const gg_capsule *capsules, int count) {
    gg_ball all = GG_ZERO;
    for (int c = 0; c < count; c++) {
        for (int k = 0; k < 3; k++) {
            all.center[k] += capsules[c].ball.center[k] / count;
        }
    }
    for (int c = 0; c < count; c++) {
        double d2 = 0.0;
        for (int k = 0; k < 3; k++) {
            double d = capsules[c].ball.center[k] - all.center[k];
            d2 += d * d;
        }
        double reach = sqrt(d2) + capsules[c].ball.radius;
        all.radius = reach > all.radius ? reach : all.radius;
    }
    return all;
}

/* whether two bounding spheres are at least `best` apart */
GG_FN int gg_clearance_far(const gg_ball *one, const gg_ball *other, double best) {
    double reach = best + one->radius + other->radius + GG_CLEARANCE_SLACK, d2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = one->center[k] - other->center[k];
        d2 += d * d;
    }
    return reach <= 0.0 || d2 > reach * reach;
}

/* distance of two segments [m] */
GG_FN double gg_clearance_segments(const double a0[3], const double a1[3], const double b0[3], const double b1[3]) {
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = a1[k] - a0[k];
        v[k] = b1[k] - b0[k];
        w[k] = a0[k] - b0[k];
    }
    double uu = gg_clearance_dot(u, u), vv = gg_clearance_dot(v, v), uv = gg_clearance_dot(u, v);
    double uw = gg_clearance_dot(u, w), vw = gg_clearance_dot(v, w);
    double area = uu * vv - uv * uv;
    /* parameter on a; anything goes where the segments are parallel */
    double s = area > 1e-12 * uu * vv ? gg_clearance_clamp((uv * vw - vv * uw) / area, 0.0, 1.0) : 0.0;
    /* nearest parameter on b; where that is off its end, the nearest one on a for that end */
    double t = vv > 0.0 ? (uv * s + vw) / vv : 0.0;
    if (t < 0.0 || t > 1.0 || vv <= 0.0) {
        t = gg_clearance_clamp(t, 0.0, 1.0);
        s = uu > 0.0 ? gg_clearance_clamp((uv * t - uw) / uu, 0.0, 1.0) : 0.0;
    }
    double d2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = w[k] + s * u[k] - t * v[k];
        d2 += d * d;
    }
    return sqrt(d2);
}

/* squared distance of a point of the block's frame to the block [m2], 0 inside */
GG_FN double gg_clearance_point2(const gg_block *block, const double x[3]) {
    double d2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double outside = (x[k] < 0.0 ? -x[k] : x[k]) - block->half[k];
        d2 += outside > 0.0 ? outside * outside : 0.0;
    }
    return d2;
}

/* the distance [m] */
GG_FN double gg_clearance_point(const gg_block *block, const double x[3]) {
    return sqrt(gg_clearance_point2(block, x));
}

/* a world point in the frame of a block */
GG_FN void gg_clearance_local(const gg_block *block, const double x[3], double out[3]) {
    const double *q = block->frame.q;
    double inverse[4] = {q[0], -q[1], -q[2], -q[3]};
    for (int k = 0; k < 3; k++) {
        out[k] = x[k] - block->frame.p[k];
    }
    gg_frame_rotate(inverse, out, out);
}

/* whether a bounding sphere is at least `best` away from a block */
GG_FN int gg_clearance_block_far(const gg_ball *ball, const gg_block *block, double best) {
    double center[3], reach = best + ball->radius + GG_CLEARANCE_SLACK;
    gg_clearance_local(block, ball->center, center);
    return reach <= 0.0 || gg_clearance_point2(block, center) > reach * reach;
}

/* Clearance of a capsule and a block [m], negative by up to the radius where they overlap; at most `best`. */
GG_FN double gg_clearance_block(const gg_capsule *capsule, const gg_block *block, double best) {
    if (gg_clearance_block_far(&capsule->ball, block, best)) {
        return best;
    }
    double a[3], b[3], along[3];
    gg_clearance_local(block, capsule->a, a);
    gg_clearance_local(block, capsule->b, b);
    for (int k = 0; k < 3; k++) {
        along[k] = b[k] - a[k];
    }
    double length = sqrt(gg_clearance_dot(along, along));
    /* each round keeps 0.618 of the interval: 3e-8 of the length after 36 */
    const double gold = 0.6180339887498949;
    double low = 0.0, high = 1.0, least = best + capsule->radius;
    for (int round = 0; round < 36; round++) {
        double t0 = high - gold * (high - low), t1 = low + gold * (high - low);
        double x0[3], x1[3];
        for (int k = 0; k < 3; k++) {
            x0[k] = a[k] + t0 * along[k];
            x1[k] = a[k] + t1 * along[k];
        }
        double f0 = gg_clearance_point(block, x0), f1 = gg_clearance_point(block, x1);
        if (f0 <= f1) {
            high = t1;
        } else {
            low = t0;
        }
        least = f0 < least ? f0 : least;
        least = f1 < least ? f1 : least;
        /* no point of the interval is lower by more than its length */
        if (f0 - (high - low) * length > best + capsule->radius + GG_CLEARANCE_SLACK) {
            break;
        }
    }
    double end_a = gg_clearance_point(block, a), end_b = gg_clearance_point(block, b);
    least = end_a < least ? end_a : least;
    least = end_b < least ? end_b : least;
    return least < best + capsule->radius ? least - capsule->radius : best;
}

#endif
