/* polygon_split.c: decomposes a polygon with holes into convex pieces. Host only.
 *
 * Holes are joined to the outer ring by bridges, rightmost hole first (Eberly, "Triangulation by ear clipping"), ears
 * are clipped, and triangles are joined across diagonals while the piece stays convex. No vertex is added, so pieces
 * are lists of indices and share the vertices of the polygon to the bit.
 */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "polygon.h"

typedef struct point {
    double x, y;
} point;

typedef struct splitter {
    const point *at;
    double tolerance; /* twice the area below which three points count as collinear */
    int32_t *loop;    /* the ring still to be clipped, bridges included */
    int32_t loop_count;
} splitter;

/* twice the signed area of a triangle */
static double area2(const splitter *s, int32_t a, int32_t b, int32_t c) {
    point p = s->at[a], q = s->at[b], r = s->at[c];
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
}

static int in_triangle(const splitter *s, int32_t a, int32_t b, int32_t c, int32_t p) {
    return area2(s, a, b, p) >= -s->tolerance && area2(s, b, c, p) >= -s->tolerance &&
           area2(s, c, a, p) >= -s->tolerance;
}

static int32_t next_of(const splitter *s, int32_t k) { return k + 1 < s->loop_count ? k + 1 : 0; }
static int32_t previous_of(const splitter *s, int32_t k) { return k > 0 ? k - 1 : s->loop_count - 1; }

/* ---- bridges to holes ---- */

/* whether direction loop[k] -> p points into the solid at index k of the loop; a vertex with bridges occurs at several
 * indices, and only one of them sees p */
static int opens_to(const splitter *s, int32_t k, int32_t p) {
    int32_t a = s->loop[previous_of(s, k)], b = s->loop[k], c = s->loop[next_of(s, k)];
    int left_in = area2(s, a, b, p) > 0.0, left_out = area2(s, b, c, p) > 0.0;
    return area2(s, a, b, c) >= 0.0 ? left_in && left_out : left_in || left_out;
}

/* whether the open segment p - q intersects the segment a - b; a common end does not count */
static int crosses(const splitter *s, int32_t p, int32_t q, int32_t a, int32_t b) {
    if (a == p || a == q || b == p || b == q) {
        return 0;
    }
    double pa = area2(s, p, q, a), pb = area2(s, p, q, b), ap = area2(s, a, b, p), aq = area2(s, a, b, q);
    return ((pa >= 0.0 && pb <= 0.0) || (pa <= 0.0 && pb >= 0.0)) &&
           ((ap >= 0.0 && aq <= 0.0) || (ap <= 0.0 && aq >= 0.0));
}

/* the nearest index of the loop that is visible from vertex p, also past the rings that are not joined yet; -1: none */
static int32_t visible_index(const splitter *s, int32_t p, const gg_polygon *polygon, const uint8_t *joined) {
    int32_t best = -1;
    double best2 = 0.0;
    for (int32_t k = 0; k < s->loop_count; k++) {
        int32_t q = s->loop[k];
        double dx = s->at[q].x - s->at[p].x, dy = s->at[q].y - s->at[p].y, away2 = dx * dx + dy * dy;
        if ((best >= 0 && away2 >= best2) || !opens_to(s, k, p)) {
            continue;
        }
        int blocked = 0;
        for (int32_t m = 0; m < s->loop_count && !blocked; m++) {
            blocked = crosses(s, p, q, s->loop[m], s->loop[next_of(s, m)]);
        }
        for (int32_t ring = 1, first = polygon->ring_end[0]; ring < polygon->ring_count && !blocked; ring++) {
            for (int32_t m = first; m < polygon->ring_end[ring] && !blocked && !joined[ring]; m++) {
                blocked = crosses(s, p, q, m, m + 1 < polygon->ring_end[ring] ? m + 1 : first);
            }
            first = polygon->ring_end[ring];
        }
        if (!blocked) {
            best = k;
            best2 = away2;
        }
    }
    return best;
}

/* inserts the hole first .. end - 1 into the loop: ... q, p, hole ..., p, q ... */
static void splice(splitter *s, int32_t index, int32_t p, int32_t first, int32_t end) {
    int32_t hole = end - first, q = s->loop[index];
    memmove(s->loop + index + hole + 3, s->loop + index + 1, (size_t)(s->loop_count - index - 1) * sizeof *s->loop);
    for (int32_t k = 0; k <= hole; k++) {
        s->loop[index + 1 + k] = first + (p - first + k) % hole;
    }
    s->loop[index + hole + 2] = q;
    s->loop_count += hole + 2;
}

static int join_holes(splitter *s, const gg_polygon *polygon, uint8_t *joined) {
    for (int32_t round = 1; round < polygon->ring_count; round++) {
        /* the hole with the rightmost vertex */
        int32_t hole = -1, vertex = -1;
        for (int32_t ring = 1; ring < polygon->ring_count; ring++) {
            for (int32_t k = polygon->ring_end[ring - 1]; !joined[ring] && k < polygon->ring_end[ring]; k++) {
                if (vertex < 0 || s->at[k].x > s->at[vertex].x) {
                    vertex = k;
                    hole = ring;
                }
            }
        }
        int32_t index = visible_index(s, vertex, polygon, joined);
        if (index < 0) {
            return -1;
        }
        splice(s, index, vertex, polygon->ring_end[hole - 1], polygon->ring_end[hole]);
        joined[hole] = 1;
    }
    return 0;
}

/* ---- ears ---- */

static int is_ear(const splitter *s, int32_t k, double least) {
    int32_t a = s->loop[previous_of(s, k)], b = s->loop[k], c = s->loop[next_of(s, k)];
    if (area2(s, a, b, c) <= least) {
        return 0;
    }
    for (int32_t m = 0; m < s->loop_count; m++) {
        int32_t p = s->loop[m];
        if (p != a && p != b && p != c && in_triangle(s, a, b, c, p)) {
            return 0;
        }
    }
    return 1;
}

/* the ear with the shortest diagonal, which keeps slivers rare; -1: none */
static int32_t best_ear(const splitter *s) {
    int32_t best = -1;
    double best2 = 0.0;
    for (int32_t k = 0; k < s->loop_count; k++) {
        point p = s->at[s->loop[previous_of(s, k)]], q = s->at[s->loop[next_of(s, k)]];
        double length2 = (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y);
        if ((best < 0 || length2 < best2) && is_ear(s, k, s->tolerance)) {
            best = k;
            best2 = length2;
        }
    }
    return best;
}

/* a corner without area, as bridges leave them, or -1 */
static int32_t flat_corner(const splitter *s) {
    for (int32_t k = 0; k < s->loop_count; k++) {
        double twice = area2(s, s->loop[previous_of(s, k)], s->loop[k], s->loop[next_of(s, k)]);
        if (twice <= s->tolerance && twice >= -s->tolerance) {
            return k;
        }
    }
    return -1;
}

/* triangles into piece (three indices each); their number, or -1 */
static int32_t clip_ears(splitter *s, int32_t *piece) {
    int32_t count = 0;
    while (s->loop_count > 2) {
        int32_t k = best_ear(s);
        if (k >= 0) {
            piece[3 * count] = s->loop[previous_of(s, k)];
            piece[3 * count + 1] = s->loop[k];
            piece[3 * count + 2] = s->loop[next_of(s, k)];
            count++;
        } else {
            k = flat_corner(s);
        }
        if (k < 0) {
            return -1;
        }
        memmove(s->loop + k, s->loop + k + 1, (size_t)(s->loop_count - k - 1) * sizeof *s->loop);
        s->loop_count--;
    }
    return count;
}

/* ---- joining pieces ---- */

/* one piece while pieces are being joined: a ring of indices in a row of a square table */
typedef struct pieces {
    int32_t *index, *size;
    int32_t width, count;
} pieces;

/* index of the directed edge from -> to in piece k, or -1 */
static int32_t edge_index(const pieces *all, int32_t k, int32_t from, int32_t to) {
    const int32_t *ring = all->index + (int64_t)k * all->width;
    for (int32_t m = 0; m < all->size[k]; m++) {
        if (ring[m] == from && ring[(m + 1) % all->size[k]] == to) {
            return m;
        }
    }
    return -1;
}

/* joins pieces k and l, which share the edge at k_index of k and l_index of l, where the result is convex */
static int join_pieces(const splitter *s, pieces *all, int32_t k, int32_t k_index, int32_t l, int32_t l_index) {
    int32_t *ring = all->index + (int64_t)k * all->width, *other = all->index + (int64_t)l * all->width;
    int32_t n = all->size[k], m = all->size[l], a = ring[k_index], b = ring[(k_index + 1) % n];
    int32_t before_a = ring[(k_index + n - 1) % n], after_b = ring[(k_index + 2) % n];
    int32_t after_a = other[(l_index + 2) % m], before_b = other[(l_index + m - 1) % m];
    if (n + m - 2 > all->width || area2(s, before_a, a, after_a) < -s->tolerance ||
        area2(s, before_b, b, after_b) < -s->tolerance) {
        return 0;
    }
    /* the other ring, without its two shared corners, between a and b */
    memmove(ring + k_index + m - 1, ring + k_index + 1, (size_t)(n - k_index - 1) * sizeof *ring);
    for (int32_t c = 0; c < m - 2; c++) {
        ring[k_index + 1 + c] = other[(l_index + 2 + c) % m];
    }
    all->size[k] = n + m - 2;
    all->size[l] = 0;
    return 1;
}

static void join_triangles(const splitter *s, pieces *all, const int32_t *triangle) {
    for (int32_t edge = 0; edge < 3 * all->count; edge++) {
        int32_t from = triangle[edge], to = triangle[edge % 3 == 2 ? edge - 2 : edge + 1];
        int32_t mine = -1, mine_index = -1, other = -1, other_index = -1;
        for (int32_t k = 0; from < to && k < all->count; k++) {
            int32_t index = edge_index(all, k, from, to), back = edge_index(all, k, to, from);
            if (index >= 0) {
                mine = k;
                mine_index = index;
            }
            if (back >= 0) {
                other = k;
                other_index = back;
            }
        }
        if (mine >= 0 && other >= 0 && mine != other) {
            join_pieces(s, all, mine, mine_index, other, other_index);
        }
    }
}

gg_status gg_polygon_split(const gg_polygon *polygon, int32_t *piece, int32_t *piece_end, int32_t *piece_count,
                           char *message, size_t message_size) {
    int32_t rings = polygon->ring_count, vertices = rings > 0 ? polygon->ring_end[rings - 1] : 0;
    if (rings < 1 || polygon->ring_end[0] < 3 || vertices > GG_POLYGON_VERTICES) {
        snprintf(message, message_size, "polygon: 3 .. %d vertices expected, got %d in %d rings", GG_POLYGON_VERTICES,
                 (int)vertices, (int)rings);
        return GG_ERROR_ARGUMENT;
    }
    gg_status status = GG_ERROR_MEMORY;
    int32_t capacity = vertices + 2 * rings;
    splitter s = {(const point *)(const void *)polygon->vertex, 0.0, malloc((size_t)capacity * sizeof(int32_t)), 0};
    uint8_t *joined = calloc((size_t)rings, 1);
    pieces all = {calloc((size_t)capacity * (size_t)(vertices + 1), sizeof(int32_t)),
                  malloc((size_t)capacity * sizeof(int32_t)), vertices + 1, 0};
    if (!s.loop || !joined || !all.index || !all.size) {
        snprintf(message, message_size, "polygon: no memory to split %d vertices", (int)vertices);
        goto done;
    }
    double size = 0.0;
    for (int32_t k = 0; k < vertices; k++) {
        size = GG_MAX(size, fabs(s.at[k].x - s.at[0].x) + fabs(s.at[k].y - s.at[0].y));
    }
    s.tolerance = 1e-13 * size * size;
    for (int32_t k = 0; k < polygon->ring_end[0]; k++) {
        s.loop[s.loop_count++] = k;
    }
    status = GG_ERROR_ARGUMENT;
    if (join_holes(&s, polygon, joined) || (all.count = clip_ears(&s, piece)) < 1) {
        snprintf(message, message_size, "polygon: rings of a simple polygon expected, with the solid on their left");
        goto done;
    }
    for (int32_t k = 0; k < all.count; k++) {
        memcpy(all.index + (int64_t)k * all.width, piece + 3 * (int64_t)k, 3 * sizeof *piece);
        all.size[k] = 3;
    }
    join_triangles(&s, &all, piece);
    int32_t count = 0, written = 0;
    for (int32_t k = 0; k < all.count; k++) {
        if (all.size[k]) {
            memcpy(piece + written, all.index + (int64_t)k * all.width, (size_t)all.size[k] * sizeof *piece);
            written += all.size[k];
            piece_end[count++] = written;
        }
    }
    *piece_count = count;
    status = GG_OK;

done:
    free(s.loop);
    free(joined);
    free(all.index);
    free(all.size);
    return status;
}
