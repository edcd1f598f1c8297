/* mesh_tree.h: the triangles of a mesh in a tree of bounding boxes (BVH), and what is asked of it. Host only, in
 * double. */
#ifndef GG_MESH_TREE_H
#define GG_MESH_TREE_H

#include "../base/scalar.h"
#include "../base/status.h"

typedef struct gg_vec3d {
    double x, y, z;
} gg_vec3d;

GG_FN gg_vec3d gg_dsub(gg_vec3d a, gg_vec3d b) { return (gg_vec3d){a.x - b.x, a.y - b.y, a.z - b.z}; }
/* a + b * s */
GG_FN gg_vec3d gg_dmadd(gg_vec3d a, gg_vec3d b, double s) {
    return (gg_vec3d){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}
GG_FN double gg_ddot(gg_vec3d a, gg_vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
GG_FN gg_vec3d gg_dcross(gg_vec3d a, gg_vec3d b) {
    return (gg_vec3d){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

typedef struct gg_triangle {
    gg_vec3d a, b, c;
} gg_triangle;

typedef struct gg_mesh_node {
    /* what a search for distances reads, 64 bytes */
    double lower[3], upper[3]; /* bounding box [m] */
    int64_t first;             /* triangle */
    int32_t count;             /* triangles of a leaf, 0 for an inner node */
    int32_t right;             /* second child; the first is the next node */
    gg_vec3d center;           /* area centroid [m] */
    gg_vec3d area;             /* sum of area * normal [m2] */
    double far2;               /* squared distance from the centre beyond which the node counts as a dipole [m2] */
} gg_mesh_node;

typedef struct gg_mesh_tree {
    gg_triangle *triangles; /* in the order of the leaves */
    gg_mesh_node *nodes;    /* the root first */
    int64_t node_count;
    int closed; /* the faces cancel along every edge: the winding number is an integer, constant off the surface */
} gg_mesh_tree;

/* Median splits halve: 64 levels are enough for any number of triangles, and a traversal keeps two nodes of each. */
#define GG_MESH_STACK 128

/* Builds the tree of faces (face_count, 3) over vertices [m]; GG_ERROR_MEMORY: nothing is allocated then. */
gg_status gg_mesh_tree_build(gg_mesh_tree *t, const double *vertices, const int32_t *faces, int64_t face_count);
void gg_mesh_tree_free(gg_mesh_tree *t);

/* values of two points */
typedef double gg_mesh_pair __attribute__((vector_size(16)));

/* Squared distances to the mesh [m2] of p and of the point `apart` [m] beside it along x. nearest: a triangle to begin
 * with, the nearer the sooner the search ends; then the one nearest to the second point. */
gg_mesh_pair gg_mesh_distances2(const gg_mesh_tree *t, gg_vec3d p, double apart, int64_t *nearest);

/* generalised winding number of the mesh around p */
double gg_mesh_winding(const gg_mesh_tree *t, gg_vec3d p);

#endif
