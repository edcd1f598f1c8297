/* pair_distance.c: the exact signed distance of two polygons under translation at a fixed angle. Host only, in double.
 *
 * The distance of t to the boundary of their Minkowski sum (minkowski.h), negative inside, is d; the nearest boundary
 * point gives both contact points. Each pose is computed on its own: same bits for any number of threads.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../base/threads.h"

#include "minkowski.h"

/* poses of one angle that one thread takes at a time */
#define RUN_MAX 2048

/* A boundary corner p that is nearest to an overlapping pose is two contacts at once: n is a combination of both
 * normals with shares >= 0, and the slope in theta and the arm, being linear in the normal, combine alike. The other
 * segment at p that gives such shares, or NULL. */
static const gg_segment2 *second_contact(const gg_minkowski *sum, const gg_segment2 *first, gg_point2 p, gg_point2 n,
                                         double share[2]) {
    for (int32_t k = 0; k < sum->segment_count; k++) {
        const gg_segment2 *s = &sum->segments[k];
        gg_point2 off_p = gg_point2_minus(s->p, p), off_q = gg_point2_minus(s->q, p);
        double det = gg_point2_cross(first->normal, s->normal), near = 100.0 * GG_MINKOWSKI_INSET * sum->size;
        if (fmin(gg_point2_dot(off_p, off_p), gg_point2_dot(off_q, off_q)) > near * near ||
            fabs(det) < GG_MINKOWSKI_PARALLEL) {
            continue;
        }
        share[0] = gg_point2_cross(n, s->normal) / det;
        share[1] = gg_point2_cross(first->normal, n) / det;
        if (share[0] >= 0.0 && share[1] >= 0.0) {
            return s;
        }
    }
    return NULL;
}

/* dd/dtheta of a contact with normal n at boundary point p, with A's contact point a; that of B moves with B */
static double theta_slope(gg_point2 n, gg_point2 p, gg_point2 a) { return n.y * (a.x - p.x) - n.x * (a.y - p.y); }

static gg_pair_exact query(const gg_minkowski *sum, gg_point2 t) {
    double best2 = INFINITY, best_s = 0.0;
    const gg_segment2 *best = NULL;
    for (int32_t k = 0; k < sum->segment_count; k++) {
        const gg_segment2 *s = &sum->segments[k];
        gg_point2 e = gg_point2_minus(s->q, s->p), away = gg_point2_minus(t, s->p);
        double share = gg_point2_dot(away, e) / gg_point2_dot(e, e);
        share = share > 0.0 ? (share < 1.0 ? share : 1.0) : 0.0;
        gg_point2 off = gg_point2_minus(away, (gg_point2){e.x * share, e.y * share});
        double off2 = gg_point2_dot(off, off);
        if (off2 < best2) {
            best2 = off2;
            best = s;
            best_s = share;
        }
    }
    gg_pair_exact out = {0};
    if (!best) {
        out.d = NAN;
        return out;
    }
    gg_point2 near = gg_point2_lerp(best->p, best->q, best_s), a = gg_point2_lerp(best->a_p, best->a_q, best_s);
    gg_point2 off = gg_point2_minus(t, near);
    double sign = gg_minkowski_contains(sum, t) ? -1.0 : 1.0, distance = sqrt(best2);
    int corner = (best_s == 0.0 || best_s == 1.0) && distance > GG_MINKOWSKI_INSET * sum->size;
    gg_point2 n = corner ? (gg_point2){sign * off.x / distance, sign * off.y / distance} : best->normal;
    out.d = sign * distance;
    out.dtheta = theta_slope(n, near, a);
    out.arm_a = gg_point2_dot(n, a);
    double share[2];
    const gg_segment2 *second = corner && sign < 0.0 ? second_contact(sum, best, near, n, share) : NULL;
    if (second) {
        gg_point2 p = gg_point2_minus(second->p, near), q = gg_point2_minus(second->q, near);
        gg_point2 other = gg_point2_dot(p, p) < gg_point2_dot(q, q) ? second->a_p : second->a_q;
        out.dtheta =
            share[0] * theta_slope(best->normal, near, a) + share[1] * theta_slope(second->normal, near, other);
        out.arm_a = share[0] * gg_point2_dot(best->normal, a) + share[1] * gg_point2_dot(second->normal, other);
    }
    out.normal[0] = n.x;
    out.normal[1] = n.y;
    out.point_a[0] = a.x;
    out.point_a[1] = a.y;
    out.point_b[0] = a.x + out.d * n.x;
    out.point_b[1] = a.y + out.d * n.y;
    return out;
}

/* first pose of each run of poses of one angle, and `count` behind them; the number of runs */
static int64_t find_runs(const double *pose, int64_t count, int64_t *first) {
    int64_t runs = 0;
    for (int64_t k = 0; k < count; k++) {
        if (k == 0 || pose[3 * k] != pose[3 * k - 3] || k - first[runs - 1] == RUN_MAX) {
            first[runs++] = k;
        }
    }
    first[runs] = count;
    return runs;
}

typedef struct request {
    const gg_polygon *a, *b;
    const double *pose;
    const int64_t *first; /* pose of each run */
    gg_pair_exact *out;
    int failed; /* atomic */
} request;

static void answer_runs(void *context, int64_t begin, int64_t end, int caller) {
    request *r = context;
    (void)caller;
    gg_minkowski sum;
    int failed = gg_minkowski_init(&sum, r->a, r->b) != 0;
    double theta = NAN;
    for (int64_t run = begin; run < end && !failed; run++) {
        if (r->pose[3 * r->first[run]] != theta) {
            theta = r->pose[3 * r->first[run]];
            failed = gg_minkowski_set_angle(&sum, r->a, r->b, theta) != 0;
        }
        for (int64_t k = r->first[run]; k < r->first[run + 1] && !failed; k++) {
            r->out[k] = query(&sum, (gg_point2){r->pose[3 * k + 1], r->pose[3 * k + 2]});
        }
    }
    gg_minkowski_free(&sum);
    if (failed) {
        __atomic_store_n(&r->failed, 1, __ATOMIC_RELAXED);
    }
}

gg_status gg_pair_distance(const gg_polygon *a, const gg_polygon *b, const double *pose, int64_t count,
                           int32_t thread_count, gg_pair_exact *out, char *message, size_t message_size) {
    int64_t *first = malloc((size_t)(count + 1) * sizeof *first);
    request r = {a, b, pose, first, out, !first};
    if (first) {
        gg_threads_loop(thread_count, find_runs(pose, count, first), answer_runs, &r);
    }
    free(first);
    if (r.failed) {
        snprintf(message, message_size, "pair: no memory for %lld poses of %d and %d convex pieces", (long long)count,
                 (int)a->piece_count, (int)b->piece_count);
        return GG_ERROR_MEMORY;
    }
    return GG_OK;
}
