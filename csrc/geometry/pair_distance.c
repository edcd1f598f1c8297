/* pair_distance.c: the exact signed distance of two polygons under translation at a fixed angle. Host only, in double.
 *
 * The translations t at which B, turned by theta, meets A are the Minkowski sum of A and -B: the union of the convex sums of
 * all pairs of convex pieces. Its boundary is made of sums of an edge of one shape and a convex corner of the other whose
 * normal cone holds the edge's normal; of these, what lies inside any convex sum is clipped away. The rest is the boundary
 * itself, and the distance of t to it, negative within, is d; the nearest boundary point names both contact points.
 *
 * Edges that coincide, as symmetric shapes have them, are kept by clipping with sums that are smaller by a hair; a slot into
 * which a bar fits exactly therefore stays free. Each pose is computed on its own: same bits for any number of threads.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/scalar.h"
#include "polygon.h"

/* sums are clipped with by this share of the size of the pair less than they are */
#define HAIR 1e-10
/* normals count as parallel within this angle [rad] */
#define PARALLEL 1e-7
/* poses of one angle that one thread takes at a time */
#define RUN_MAX 2048

typedef struct point {
    double x, y;
} point;

static point minus(point a, point b) { return (point){a.x - b.x, a.y - b.y}; }
static point plus(point a, point b) { return (point){a.x + b.x, a.y + b.y}; }
static point along(point a, point b, double s) { return (point){a.x + (b.x - a.x) * s, a.y + (b.y - a.y) * s}; }
static double dot(point a, point b) { return a.x * b.x + a.y * b.y; }
static double cross(point a, point b) { return a.x * b.y - a.y * b.x; }
static point vertex_of(const gg_polygon *p, int32_t k) { return (point){p->vertex[2 * k], p->vertex[2 * k + 1]}; }
static int32_t vertex_count_of(const gg_polygon *p) { return p->ring_end[p->ring_count - 1]; }

/* a corner of a polygon with the edge that leaves it */
typedef struct corner {
    point at, to;           /* this end of the edge and the other */
    point normal, arriving; /* unit outward normals of the edge and of the one before */
    int convex;
} corner;

/* a half plane n . x <= h */
typedef struct side {
    point normal;
    double h;
} side;

/* a convex sum: sides first .. first + count - 1 and the box around it */
typedef struct sum {
    int32_t first, count;
    point lower, upper;
} sum;

/* a piece of the boundary of the sums, from p to q, with A's contact point at both */
typedef struct segment {
    point p, q, a_p, a_q, normal;
} segment;

/* workspace of one thread: the sums and the boundary at one angle */
typedef struct obstacle {
    corner *a, *b; /* b turned and mirrored: -R(theta) B */
    sum *sums;
    side *sides;
    segment *segments;
    double *interval; /* what of a segment is left: begin, end pairs */
    int32_t a_count, b_count, sum_count, segment_count, segment_capacity;
    double size;
} obstacle;

/* ---- the two shapes ---- */

static point unit_normal(point from, point to) {
    point e = minus(to, from);
    double length = sqrt(dot(e, e));
    return (point){e.y / length, -e.x / length};
}

/* corners of all rings, turned by (c, s) */
static void set_corners(const gg_polygon *p, double c, double s, corner *out) {
    for (int32_t ring = 0, first = 0; ring < p->ring_count; ring++) {
        int32_t end = p->ring_end[ring];
        for (int32_t k = first; k < end; k++) {
            point v = vertex_of(p, k);
            out[k].at = (point){c * v.x - s * v.y, s * v.x + c * v.y};
        }
        for (int32_t k = first; k < end; k++) {
            out[k].to = out[k + 1 < end ? k + 1 : first].at;
            out[k].normal = unit_normal(out[k].at, out[k].to);
        }
        for (int32_t k = first; k < end; k++) {
            out[k].arriving = out[k > first ? k - 1 : end - 1].normal;
            out[k].convex = cross(out[k].arriving, out[k].normal) > -PARALLEL;
        }
        first = end;
    }
}

static int32_t piece_first(const gg_polygon *p, int32_t k) { return k ? p->piece_end[k - 1] : 0; }

/* vertex m of piece k; of the turned and mirrored shape where `turned` holds its corners */
static point piece_vertex(const gg_polygon *p, const corner *turned, int32_t k, int32_t m) {
    int32_t first = piece_first(p, k), count = p->piece_end[k] - first;
    return turned[p->piece[first + m % count]].at;
}

/* sides of one convex piece against the furthest points of the other: both together bound the sum */
static void add_sides(obstacle *o, sum *to, const gg_polygon *p, const corner *turned, int32_t k,
                      const gg_polygon *other, const corner *other_turned, int32_t l) {
    int32_t count = p->piece_end[k] - piece_first(p, k), other_count = other->piece_end[l] - piece_first(other, l);
    for (int32_t m = 0; m < count; m++) {
        point from = piece_vertex(p, turned, k, m), n = unit_normal(from, piece_vertex(p, turned, k, m + 1));
        double furthest = -1e300;
        for (int32_t c = 0; c < other_count; c++) {
            furthest = fmax(furthest, dot(n, piece_vertex(other, other_turned, l, c)));
        }
        o->sides[to->first + to->count++] = (side){n, dot(n, from) + furthest};
    }
}

static void piece_box(const gg_polygon *p, const corner *turned, int32_t k, point *lower, point *upper) {
    *lower = *upper = piece_vertex(p, turned, k, 0);
    for (int32_t m = 1; m < p->piece_end[k] - piece_first(p, k); m++) {
        point v = piece_vertex(p, turned, k, m);
        *lower = (point){fmin(lower->x, v.x), fmin(lower->y, v.y)};
        *upper = (point){fmax(upper->x, v.x), fmax(upper->y, v.y)};
    }
}

static void set_sums(obstacle *o, const gg_polygon *a, const gg_polygon *b) {
    int32_t sides = 0;
    o->sum_count = 0;
    for (int32_t k = 0; k < a->piece_count; k++) {
        point lower, upper;
        piece_box(a, o->a, k, &lower, &upper);
        for (int32_t l = 0; l < b->piece_count; l++) {
            sum *s = &o->sums[o->sum_count++];
            piece_box(b, o->b, l, &s->lower, &s->upper);
            s->lower = plus(s->lower, lower);
            s->upper = plus(s->upper, upper);
            s->first = sides;
            s->count = 0;
            add_sides(o, s, a, o->a, k, b, o->b, l);
            add_sides(o, s, b, o->b, l, a, o->a, k);
            sides += s->count;
        }
    }
}

/* ---- the boundary ---- */

/* the part of p + s (q - p), 0 <= s <= 1, that lies inside a sum less a hair; 0: none */
static int inside_sum(const obstacle *o, const sum *s, point p, point q, double *begin, double *end) {
    double hair = HAIR * o->size, from = 0.0, to = 1.0;
    if (fmax(p.x, q.x) < s->lower.x || fmin(p.x, q.x) > s->upper.x || fmax(p.y, q.y) < s->lower.y ||
        fmin(p.y, q.y) > s->upper.y) {
        return 0;
    }
    for (int32_t k = s->first; k < s->first + s->count; k++) {
        double h = o->sides[k].h - hair, hp = dot(o->sides[k].normal, p) - h, hq = dot(o->sides[k].normal, q) - h;
        if (hp >= 0.0 && hq >= 0.0) {
            return 0;
        }
        if (hp > 0.0) {
            from = fmax(from, hp / (hp - hq));
        } else if (hq > 0.0) {
            to = fmin(to, hp / (hp - hq));
        }
    }
    *begin = from;
    *end = to;
    return from < to;
}

/* takes begin .. end out of the intervals left; their new number */
static int32_t take_out(double *interval, int32_t count, double begin, double end) {
    int32_t kept = 0;
    double tail = 0.0;
    int split = 0;
    for (int32_t k = 0; k < count; k++) {
        double from = interval[2 * k], to = interval[2 * k + 1];
        if (from < begin && to > end) {
            /* only one interval can hold all of it: its second half goes last */
            interval[2 * kept] = from;
            interval[2 * kept++ + 1] = begin;
            tail = to;
            split = 1;
        } else if (to <= begin || from >= end) {
            interval[2 * kept] = from;
            interval[2 * kept++ + 1] = to;
        } else if (from < begin || to > end) {
            interval[2 * kept] = from < begin ? from : end;
            interval[2 * kept++ + 1] = from < begin ? begin : to;
        }
    }
    if (split) {
        interval[2 * kept] = end;
        interval[2 * kept++ + 1] = tail;
    }
    return kept;
}

/* clips one candidate with all sums and keeps what is left; 0, or -1: no memory */
static int add_candidate(obstacle *o, const segment *candidate) {
    point e = minus(candidate->q, candidate->p);
    double length = sqrt(dot(e, e)), begin, end;
    int32_t count = 1;
    o->interval[0] = 0.0;
    o->interval[1] = 1.0;
    for (int32_t k = 0; k < o->sum_count && count; k++) {
        if (inside_sum(o, &o->sums[k], candidate->p, candidate->q, &begin, &end)) {
            count = take_out(o->interval, count, begin, end);
        }
        if (!count && k > 0) {
            /* the neighbour of a covered segment is most likely covered by the same sum */
            sum found = o->sums[k];
            memmove(&o->sums[1], &o->sums[0], (size_t)k * sizeof found);
            o->sums[0] = found;
        }
    }
    for (int32_t k = 0; k < count; k++) {
        double from = o->interval[2 * k], to = o->interval[2 * k + 1];
        if ((to - from) * length < 10.0 * HAIR * o->size) {
            continue;
        }
        if (o->segment_count == o->segment_capacity) {
            int32_t capacity = 2 * o->segment_capacity + 64;
            segment *more = realloc(o->segments, (size_t)capacity * sizeof *more);
            if (!more) {
                return -1;
            }
            o->segments = more;
            o->segment_capacity = capacity;
        }
        segment *s = &o->segments[o->segment_count++];
        s->normal = candidate->normal;
        s->p = along(candidate->p, candidate->q, from);
        s->q = along(candidate->p, candidate->q, to);
        s->a_p = along(candidate->a_p, candidate->a_q, from);
        s->a_q = along(candidate->a_p, candidate->a_q, to);
    }
    return 0;
}

/* whether the cone of outward normals of a corner holds a direction */
static int cone_holds(const corner *c, point n) {
    return c->convex && cross(c->arriving, n) >= -PARALLEL && cross(n, c->normal) >= -PARALLEL &&
           dot(n, plus(c->arriving, c->normal)) > 0.0;
}

/* all edges of one shape with the fitting corners of the other; 0, or -1: no memory */
static int add_edges(obstacle *o, const corner *edge, int32_t edges, const corner *fixed, int32_t corners,
                     int edge_is_a) {
    for (int32_t k = 0; k < edges; k++) {
        for (int32_t m = 0; m < corners; m++) {
            if (!cone_holds(&fixed[m], edge[k].normal)) {
                continue;
            }
            segment s = {plus(edge[k].at, fixed[m].at), plus(edge[k].to, fixed[m].at),
                         edge_is_a ? edge[k].at : fixed[m].at, edge_is_a ? edge[k].to : fixed[m].at, edge[k].normal};
            if (add_candidate(o, &s)) {
                return -1;
            }
        }
    }
    return 0;
}

static int set_angle(obstacle *o, const gg_polygon *a, const gg_polygon *b, double theta) {
    set_corners(a, 1.0, 0.0, o->a);
    double sine, cosine;
    gg_sincos_double(theta, &sine, &cosine);
    set_corners(b, -cosine, -sine, o->b);
    set_sums(o, a, b);
    o->segment_count = 0;
    return add_edges(o, o->a, o->a_count, o->b, o->b_count, 1) || add_edges(o, o->b, o->b_count, o->a, o->a_count, 0);
}

/* ---- queries ---- */

static int within(const obstacle *o, point t) {
    for (int32_t k = 0; k < o->sum_count; k++) {
        const sum *s = &o->sums[k];
        if (t.x < s->lower.x || t.x > s->upper.x || t.y < s->lower.y || t.y > s->upper.y) {
            continue;
        }
        int32_t m = s->first, end = s->first + s->count;
        while (m < end && dot(o->sides[m].normal, t) < o->sides[m].h) {
            m++;
        }
        if (m == end) {
            return 1;
        }
    }
    return 0;
}

/* A corner p of the free space, seen from within, is two contacts at once: n is a sum of both normals with shares >= 0, and
 * what is linear in the normal, the slope in theta and the arm, is the same sum. The other segment at p that gives such
 * shares, or NULL. */
static const segment *second_contact(const obstacle *o, const segment *one, point p, point n, double share[2]) {
    for (int32_t k = 0; k < o->segment_count; k++) {
        const segment *s = &o->segments[k];
        point off_p = minus(s->p, p), off_q = minus(s->q, p);
        double det = cross(one->normal, s->normal), near = 100.0 * HAIR * o->size;
        if (fmin(dot(off_p, off_p), dot(off_q, off_q)) > near * near || fabs(det) < PARALLEL) {
            continue;
        }
        share[0] = cross(n, s->normal) / det;
        share[1] = cross(one->normal, n) / det;
        if (share[0] >= 0.0 && share[1] >= 0.0) {
            return s;
        }
    }
    return NULL;
}

/* slope in theta of a contact with normal n at boundary point p where a is A's contact point: B's moves with B */
static double slope_of(point n, point p, point a) { return n.y * (a.x - p.x) - n.x * (a.y - p.y); }

static gg_pair_exact query(const obstacle *o, point t) {
    double best2 = INFINITY, best_s = 0.0;
    const segment *best = NULL;
    for (int32_t k = 0; k < o->segment_count; k++) {
        const segment *s = &o->segments[k];
        point e = minus(s->q, s->p), away = minus(t, s->p);
        double at = dot(away, e) / dot(e, e);
        at = at > 0.0 ? (at < 1.0 ? at : 1.0) : 0.0;
        point off = minus(away, (point){e.x * at, e.y * at});
        double off2 = dot(off, off);
        if (off2 < best2) {
            best2 = off2;
            best = s;
            best_s = at;
        }
    }
    gg_pair_exact out = {0};
    if (!best) {
        out.d = NAN;
        return out;
    }
    point near = along(best->p, best->q, best_s), a = along(best->a_p, best->a_q, best_s), off = minus(t, near);
    double sign = within(o, t) ? -1.0 : 1.0, distance = sqrt(best2);
    int corner = (best_s == 0.0 || best_s == 1.0) && distance > HAIR * o->size;
    point n = corner ? (point){sign * off.x / distance, sign * off.y / distance} : best->normal;
    out.d = sign * distance;
    out.dtheta = slope_of(n, near, a);
    out.arm_a = dot(n, a);
    double share[2];
    const segment *second = corner && sign < 0.0 ? second_contact(o, best, near, n, share) : NULL;
    if (second) {
        point p = minus(second->p, near), q = minus(second->q, near);
        point other = dot(p, p) < dot(q, q) ? second->a_p : second->a_q;
        out.dtheta = share[0] * slope_of(best->normal, near, a) + share[1] * slope_of(second->normal, near, other);
        out.arm_a = share[0] * dot(best->normal, a) + share[1] * dot(second->normal, other);
    }
    out.normal[0] = n.x;
    out.normal[1] = n.y;
    out.point_a[0] = a.x;
    out.point_a[1] = a.y;
    out.point_b[0] = a.x + out.d * n.x;
    out.point_b[1] = a.y + out.d * n.y;
    return out;
}

/* ---- batches ---- */

static void obstacle_free(obstacle *o) {
    free(o->a);
    free(o->b);
    free(o->sums);
    free(o->sides);
    free(o->segments);
    free(o->interval);
}

static int obstacle_set(obstacle *o, const gg_polygon *a, const gg_polygon *b) {
    memset(o, 0, sizeof *o);
    o->a_count = vertex_count_of(a);
    o->b_count = vertex_count_of(b);
    size_t sums = (size_t)a->piece_count * (size_t)b->piece_count;
    size_t sides = (size_t)a->piece_end[a->piece_count - 1] * (size_t)b->piece_count +
                   (size_t)b->piece_end[b->piece_count - 1] * (size_t)a->piece_count;
    o->a = malloc((size_t)o->a_count * sizeof *o->a);
    o->b = malloc((size_t)o->b_count * sizeof *o->b);
    o->sums = malloc(sums * sizeof *o->sums);
    o->sides = malloc(sides * sizeof *o->sides);
    /* every sum splits at most one interval */
    o->interval = malloc(2 * (sums + 2) * sizeof *o->interval);
    if (!o->a || !o->b || !o->sums || !o->sides || !o->interval) {
        return -1;
    }
    for (int32_t k = 0; k < o->a_count; k++) {
        point v = vertex_of(a, k);
        o->size = fmax(o->size, sqrt(dot(v, v)));
    }
    double size_b = 0.0;
    for (int32_t k = 0; k < o->b_count; k++) {
        point v = vertex_of(b, k);
        size_b = fmax(size_b, sqrt(dot(v, v)));
    }
    o->size += size_b;
    return 0;
}

/* first pose of each run of poses of one angle; their number */
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

gg_status gg_pair_distance(const gg_polygon *a, const gg_polygon *b, const double *pose, int64_t count,
                           int32_t thread_count, gg_pair_exact *out, char *message, size_t message_size) {
    int64_t *first = malloc((size_t)(count + 1) * sizeof *first);
    int failed = !first;
    int64_t runs = first ? find_runs(pose, count, first) : 0;
#ifdef _OPENMP
    int threads = thread_count ? thread_count : omp_get_num_procs();
#pragma omp parallel num_threads(threads) reduction(| : failed)
#else
    (void)thread_count;
#endif
    {
        obstacle o;
        failed |= obstacle_set(&o, a, b) != 0;
        double theta = NAN;
#ifdef _OPENMP
#pragma omp for schedule(dynamic)
#endif
        for (int64_t run = 0; run < runs; run++) {
            if (!failed && pose[3 * first[run]] != theta) {
                theta = pose[3 * first[run]];
                failed |= set_angle(&o, a, b, theta) != 0;
            }
            for (int64_t k = first[run]; k < first[run + 1] && !failed; k++) {
                out[k] = query(&o, (point){pose[3 * k + 1], pose[3 * k + 2]});
            }
        }
        obstacle_free(&o);
    }
    free(first);
    if (failed) {
        snprintf(message, message_size, "pair: no memory for %lld poses of %d and %d convex pieces", (long long)count,
                 (int)a->piece_count, (int)b->piece_count);
        return GG_ERROR_MEMORY;
    }
    return GG_OK;
}
