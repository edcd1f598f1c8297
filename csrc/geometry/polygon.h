/* polygon.h: solid polygons with holes, their convex pieces, and exact distances of pairs. Host only, in double.
 *
 * Rings are lists of vertices with the solid on the left: the outer ring counter-clockwise, holes clockwise. No ring
 * crosses or touches another or itself; the caller (shape2d.py) checks that.
 */
#ifndef GG_POLYGON_H
#define GG_POLYGON_H

#include <stddef.h>

#include "../base/base.h"
#include "../base/status.h"

/* capacity of one polygon */
#define GG_POLYGON_VERTICES 512

typedef struct gg_polygon {
    const double *vertex;    /* (vertices, 2) of all rings [m], the outer ring first */
    const int32_t *ring_end; /* (ring_count) vertices of this ring and those before it */
    const int32_t *piece;    /* vertex indices of the convex pieces, each counter-clockwise */
    const int32_t *piece_end;
    int32_t ring_count, piece_count;
} gg_polygon;

/* Splits a polygon into convex pieces that cover it: ear clipping, then pieces are joined across diagonals while they
 * stay convex (Hertel, Mehlhorn 1983). Capacity of piece: 3 * (vertices + 2 * rings) indices, of piece_end: vertices +
 * 2 * rings. polygon->piece* are not read. GG_ERROR_ARGUMENT: the rings are not those of a simple polygon. */
gg_status gg_polygon_split(const gg_polygon *polygon, int32_t *piece, int32_t *piece_end, int32_t *piece_count,
                           char *message, size_t message_size);

/* exact contact of two polygons at one pose; points in A's frame */
typedef struct gg_pair_exact {
    double d;          /* signed distance; < 0: minus the smallest translation that separates them [m] */
    double normal[2];  /* dd/dt, unit, from A to B */
    double dtheta;     /* dd/dtheta at fixed t [m] */
    double arm_a;      /* r_A . n [m]; of two simultaneous contacts, combined as their normals are */
    double point_a[2]; /* a contact point on A's surface */
    double point_b[2]; /* on B's surface: point_a + d * normal */
} gg_pair_exact;

/* Distances at poses (count, 3) theta, x, y of B in A's frame [rad, m]. Poses of the same angle cost less side by side.
 * thread_count 0: one per core this process may use. */
gg_status gg_pair_distance(const gg_polygon *a, const gg_polygon *b, const double *pose, int64_t count,
                           int32_t thread_count, gg_pair_exact *out, char *message, size_t message_size);

#endif
