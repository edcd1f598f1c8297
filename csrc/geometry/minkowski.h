/* minkowski.h: the Minkowski sum of a polygon A and the mirror image of a polygon B at a fixed angle. Host only, in
 * double.
 *
 * The translations t at which B, turned by theta, meets A are the sum of A and -B: the union of the convex sums of all
 * pairs of convex pieces. Its boundary consists of sums of an edge of one shape and a convex corner of the other whose
 * normal cone holds the normal of the edge; of these, what lies inside any convex sum is clipped away.
 *
 * Edges that coincide, as those of symmetric shapes do, must not clip each other: convex sums clip with a small inset.
 * A slot into which a bar fits exactly therefore stays free.
 */
#ifndef GG_MINKOWSKI_H
#define GG_MINKOWSKI_H

#include <math.h>

#include "polygon.h"

/* by this share of the size of the pair a convex sum is smaller where it clips */
#define GG_MINKOWSKI_INSET 1e-10
/* normals count as parallel within this angle [rad] */
#define GG_MINKOWSKI_PARALLEL 1e-7

typedef struct gg_point2 {
    double x, y;
} gg_point2;

GG_FN gg_point2 gg_point2_minus(gg_point2 a, gg_point2 b) { return (gg_point2){a.x - b.x, a.y - b.y}; }
GG_FN gg_point2 gg_point2_plus(gg_point2 a, gg_point2 b) { return (gg_point2){a.x + b.x, a.y + b.y}; }
GG_FN gg_point2 gg_point2_lerp(gg_point2 a, gg_point2 b, double s) {
    return (gg_point2){a.x + (b.x - a.x) * s, a.y + (b.y - a.y) * s};
}
GG_FN double gg_point2_dot(gg_point2 a, gg_point2 b) { return a.x * b.x + a.y * b.y; }
GG_FN double gg_point2_cross(gg_point2 a, gg_point2 b) { return a.x * b.y - a.y * b.x; }

/* a corner of a polygon with the edge that leaves it */
typedef struct gg_corner {
    gg_point2 from, to;         /* ends of the edge */
    gg_point2 normal, arriving; /* unit outward normals of this edge and of the one before */
    int convex;
} gg_corner;

/* normal . x <= offset */
typedef struct gg_half_plane {
    gg_point2 normal;
    double offset;
} gg_half_plane;

/* the sum of two convex pieces: sides first .. first + count - 1, and its bounding box */
typedef struct gg_convex_sum {
    int32_t first, count;
    gg_point2 lower, upper;
} gg_convex_sum;

/* a piece of the boundary from p to q, with the contact point of A at both ends */
typedef struct gg_segment2 {
    gg_point2 p, q, a_p, a_q, normal;
} gg_segment2;

/* the sum at one angle; also the workspace of a thread, which goes from angle to angle */
typedef struct gg_minkowski {
    gg_corner *a, *b; /* b turned and mirrored: -R(theta) B */
    gg_convex_sum *sums;
    gg_half_plane *sides;
    gg_segment2 *segments; /* the boundary */
    double *interval;      /* the parts of a segment that are not clipped: begin, end pairs */
    int32_t a_count, b_count, sum_count, segment_count, segment_capacity;
    double size; /* circumradius of A plus that of B [m] */
} gg_minkowski;

/* Allocates for a pair of polygons; 0, or -1: no memory. gg_minkowski_free is due in both cases. */
int gg_minkowski_init(gg_minkowski *sum, const gg_polygon *a, const gg_polygon *b);
void gg_minkowski_free(gg_minkowski *sum);

/* Computes the sum at an angle [rad]; 0, or -1: no memory. */
int gg_minkowski_set_angle(gg_minkowski *sum, const gg_polygon *a, const gg_polygon *b, double theta);

/* whether t is inside the sum: the two shapes overlap */
int gg_minkowski_contains(const gg_minkowski *sum, gg_point2 t);

#endif
