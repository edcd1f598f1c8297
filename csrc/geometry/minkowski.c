/* minkowski.c: boundary and inside test of the Minkowski sum of two polygons; see minkowski.h. */
#include <stdlib.h>
#include <string.h>

#include "../base/scalar.h"
#include "minkowski.h"

static gg_point2 vertex_of(const gg_polygon *p, int32_t k) {
    return (gg_point2){p->vertex[2 * k], p->vertex[2 * k + 1]};
}
static int32_t vertex_count_of(const gg_polygon *p) { return p->ring_end[p->ring_count - 1]; }

/* ---- the two shapes ---- */

static gg_point2 unit_normal(gg_point2 from, gg_point2 to) {
    gg_point2 e = gg_point2_minus(to, from);
    double length = sqrt(gg_point2_dot(e, e));
    return (gg_point2){e.y / length, -e.x / length};
}

/* corners of all rings, rotated by the cosine c and sine s */
static void set_corners(const gg_polygon *p, double c, double s, gg_corner *out) {
    for (int32_t ring = 0, first = 0; ring < p->ring_count; ring++) {
        int32_t end = p->ring_end[ring];
        for (int32_t k = first; k < end; k++) {
            gg_point2 v = vertex_of(p, k);
            out[k].from = (gg_point2){c * v.x - s * v.y, s * v.x + c * v.y};
        }
        for (int32_t k = first; k < end; k++) {
            out[k].to = out[k + 1 < end ? k + 1 : first].from;
            out[k].normal = unit_normal(out[k].from, out[k].to);
        }
        for (int32_t k = first; k < end; k++) {
            out[k].arriving = out[k > first ? k - 1 : end - 1].normal;
            out[k].convex = gg_point2_cross(out[k].arriving, out[k].normal) > -GG_MINKOWSKI_PARALLEL;
        }
        first = end;
    }
}

static int32_t piece_first(const gg_polygon *p, int32_t k) { return k ? p->piece_end[k - 1] : 0; }

/* vertex m of piece k, of the shape whose corners these are */
static gg_point2 piece_vertex(const gg_polygon *p, const gg_corner *corners, int32_t k, int32_t m) {
    int32_t first = piece_first(p, k), count = p->piece_end[k] - first;
    return corners[p->piece[first + m % count]].from;
}

/* the sides of one convex piece, moved out by the support of the other: both pieces' sides together bound their sum */
static void add_sides(gg_minkowski *sum, gg_convex_sum *to, const gg_polygon *p, const gg_corner *corners, int32_t k,
                      const gg_polygon *other, const gg_corner *other_corners, int32_t l) {
    int32_t count = p->piece_end[k] - piece_first(p, k), other_count = other->piece_end[l] - piece_first(other, l);
    for (int32_t m = 0; m < count; m++) {
        gg_point2 from = piece_vertex(p, corners, k, m), n = unit_normal(from, piece_vertex(p, corners, k, m + 1));
        double support = -1e300;
        for (int32_t c = 0; c < other_count; c++) {
            support = fmax(support, gg_point2_dot(n, piece_vertex(other, other_corners, l, c)));
        }
        sum->sides[to->first + to->count++] = (gg_half_plane){n, gg_point2_dot(n, from) + support};
    }
}

static void piece_box(const gg_polygon *p, const gg_corner *corners, int32_t k, gg_point2 *lower, gg_point2 *upper) {
    *lower = *upper = piece_vertex(p, corners, k, 0);
    for (int32_t m = 1; m < p->piece_end[k] - piece_first(p, k); m++) {
        gg_point2 v = piece_vertex(p, corners, k, m);
        *lower = (gg_point2){fmin(lower->x, v.x), fmin(lower->y, v.y)};
        *upper = (gg_point2){fmax(upper->x, v.x), fmax(upper->y, v.y)};
    }
}

static void set_sums(gg_minkowski *sum, const gg_polygon *a, const gg_polygon *b) {
    int32_t sides = 0;
    sum->sum_count = 0;
    for (int32_t k = 0; k < a->piece_count; k++) {
        gg_point2 lower, upper;
        piece_box(a, sum->a, k, &lower, &upper);
        for (int32_t l = 0; l < b->piece_count; l++) {
            gg_convex_sum *s = &sum->sums[sum->sum_count++];
            piece_box(b, sum->b, l, &s->lower, &s->upper);
            s->lower = gg_point2_plus(s->lower, lower);
            s->upper = gg_point2_plus(s->upper, upper);
            s->first = sides;
            s->count = 0;
            add_sides(sum, s, a, sum->a, k, b, sum->b, l);
            add_sides(sum, s, b, sum->b, l, a, sum->a, k);
            sides += s->count;
        }
    }
}

/* ---- the boundary ---- */

/* the part of p + s (q - p), 0 <= s <= 1, that lies inside a convex sum less its inset; 0: none */
static int inside_sum(const gg_minkowski *sum, const gg_convex_sum *s, gg_point2 p, gg_point2 q, double *begin,
                      double *end) {
    double inset = GG_MINKOWSKI_INSET * sum->size, from = 0.0, to = 1.0;
    if (fmax(p.x, q.x) < s->lower.x || fmin(p.x, q.x) > s->upper.x || fmax(p.y, q.y) < s->lower.y ||
        fmin(p.y, q.y) > s->upper.y) {
        return 0;
    }
    for (int32_t k = s->first; k < s->first + s->count; k++) {
        double offset = sum->sides[k].offset - inset;
        double hp = gg_point2_dot(sum->sides[k].normal, p) - offset;
        double hq = gg_point2_dot(sum->sides[k].normal, q) - offset;
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

/* subtracts begin .. end from the intervals; their new number */
static int32_t subtract(double *interval, int32_t count, double begin, double end) {
    int32_t kept = 0;
    double tail = 0.0;
    int split = 0;
    for (int32_t k = 0; k < count; k++) {
        double from = interval[2 * k], to = interval[2 * k + 1];
        if (from < begin && to > end) {
            /* only one interval can contain it: its second half goes last */
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

/* clips one candidate with all convex sums and adds what remains; 0, or -1: no memory */
static int add_candidate(gg_minkowski *sum, const gg_segment2 *candidate) {
    gg_point2 e = gg_point2_minus(candidate->q, candidate->p);
    double length = sqrt(gg_point2_dot(e, e)), begin, end;
    int32_t count = 1;
    sum->interval[0] = 0.0;
    sum->interval[1] = 1.0;
    for (int32_t k = 0; k < sum->sum_count && count; k++) {
        if (inside_sum(sum, &sum->sums[k], candidate->p, candidate->q, &begin, &end)) {
            count = subtract(sum->interval, count, begin, end);
        }
        if (!count && k > 0) {
            /* the next candidate is most likely covered by the same convex sum: test it first */
            gg_convex_sum covering = sum->sums[k];
            memmove(&sum->sums[1], &sum->sums[0], (size_t)k * sizeof covering);
            sum->sums[0] = covering;
        }
    }
    for (int32_t k = 0; k < count; k++) {
        double from = sum->interval[2 * k], to = sum->interval[2 * k + 1];
        if ((to - from) * length < 10.0 * GG_MINKOWSKI_INSET * sum->size) {
            continue;
        }
        if (sum->segment_count == sum->segment_capacity) {
            int32_t capacity = 2 * sum->segment_capacity + 64;
            gg_segment2 *more = realloc(sum->segments, (size_t)capacity * sizeof *more);
            if (!more) {
                return -1;
            }
            sum->segments = more;
            sum->segment_capacity = capacity;
        }
        gg_segment2 *s = &sum->segments[sum->segment_count++];
        s->normal = candidate->normal;
        s->p = gg_point2_lerp(candidate->p, candidate->q, from);
        s->q = gg_point2_lerp(candidate->p, candidate->q, to);
        s->a_p = gg_point2_lerp(candidate->a_p, candidate->a_q, from);
        s->a_q = gg_point2_lerp(candidate->a_p, candidate->a_q, to);
    }
    return 0;
}

/* whether a direction lies in the normal cone of a corner */
static int in_normal_cone(const gg_corner *c, gg_point2 n) {
    return c->convex && gg_point2_cross(c->arriving, n) >= -GG_MINKOWSKI_PARALLEL &&
           gg_point2_cross(n, c->normal) >= -GG_MINKOWSKI_PARALLEL &&
           gg_point2_dot(n, gg_point2_plus(c->arriving, c->normal)) > 0.0;
}

/* sums of all edges of one shape and the corners of the other whose normal cone holds the edge's normal; 0, or -1: no
 * memory */
static int add_edges(gg_minkowski *sum, const gg_corner *edge, int32_t edges, const gg_corner *fixed, int32_t corners,
                     int edge_is_a) {
    for (int32_t k = 0; k < edges; k++) {
        for (int32_t m = 0; m < corners; m++) {
            if (!in_normal_cone(&fixed[m], edge[k].normal)) {
                continue;
            }
            gg_segment2 s = {gg_point2_plus(edge[k].from, fixed[m].from), gg_point2_plus(edge[k].to, fixed[m].from),
                             edge_is_a ? edge[k].from : fixed[m].from, edge_is_a ? edge[k].to : fixed[m].from,
                             edge[k].normal};
            if (add_candidate(sum, &s)) {
                return -1;
            }
        }
    }
    return 0;
}

int gg_minkowski_set_angle(gg_minkowski *sum, const gg_polygon *a, const gg_polygon *b, double theta) {
    set_corners(a, 1.0, 0.0, sum->a);
    double sine, cosine;
    gg_sincos_double(theta, &sine, &cosine);
    set_corners(b, -cosine, -sine, sum->b);
    set_sums(sum, a, b);
    sum->segment_count = 0;
    return add_edges(sum, sum->a, sum->a_count, sum->b, sum->b_count, 1) ||
           add_edges(sum, sum->b, sum->b_count, sum->a, sum->a_count, 0);
}

int gg_minkowski_contains(const gg_minkowski *sum, gg_point2 t) {
    for (int32_t k = 0; k < sum->sum_count; k++) {
        const gg_convex_sum *s = &sum->sums[k];
        if (t.x < s->lower.x || t.x > s->upper.x || t.y < s->lower.y || t.y > s->upper.y) {
            continue;
        }
        int32_t side = s->first, end = s->first + s->count;
        while (side < end && gg_point2_dot(sum->sides[side].normal, t) < sum->sides[side].offset) {
            side++;
        }
        if (side == end) {
            return 1;
        }
    }
    return 0;
}

/* ---- memory ---- */

void gg_minkowski_free(gg_minkowski *sum) {
    free(sum->a);
    free(sum->b);
    free(sum->sums);
    free(sum->sides);
    free(sum->segments);
    free(sum->interval);
}

int gg_minkowski_init(gg_minkowski *sum, const gg_polygon *a, const gg_polygon *b) {
    memset(sum, 0, sizeof *sum);
    sum->a_count = vertex_count_of(a);
    sum->b_count = vertex_count_of(b);
    size_t sums = (size_t)a->piece_count * (size_t)b->piece_count;
    size_t sides = (size_t)a->piece_end[a->piece_count - 1] * (size_t)b->piece_count +
                   (size_t)b->piece_end[b->piece_count - 1] * (size_t)a->piece_count;
    sum->a = malloc((size_t)sum->a_count * sizeof *sum->a);
    sum->b = malloc((size_t)sum->b_count * sizeof *sum->b);
    sum->sums = malloc(sums * sizeof *sum->sums);
    sum->sides = malloc(sides * sizeof *sum->sides);
    /* every sum splits at most one interval */
    sum->interval = malloc(2 * (sums + 2) * sizeof *sum->interval);
    if (!sum->a || !sum->b || !sum->sums || !sum->sides || !sum->interval) {
        return -1;
    }
    for (int32_t k = 0; k < sum->a_count; k++) {
        gg_point2 v = vertex_of(a, k);
        sum->size = fmax(sum->size, sqrt(gg_point2_dot(v, v)));
    }
    double size_b = 0.0;
    for (int32_t k = 0; k < sum->b_count; k++) {
        gg_point2 v = vertex_of(b, k);
        size_b = fmax(size_b, sqrt(gg_point2_dot(v, v)));
    }
    sum->size += size_b;
    return 0;
}
