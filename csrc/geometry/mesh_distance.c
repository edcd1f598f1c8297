/* mesh_distance.c: exact distances of points to a triangle mesh, through the tree of bounding boxes; two points at a time,
 * each as it would be alone. */
#include "mesh_tree.h"

/* A triangle whose angle at its first vertex has a smaller squared sine counts as its edges: its normal is uncertain, and
 * nothing of it is further from an edge than 1e-7 of their lengths. */
#define THIN 1e-14

typedef int64_t pair_mask __attribute__((vector_size(16)));

GG_FN gg_mesh_pair both(double x) { return (gg_mesh_pair){x, x}; }
GG_FN gg_mesh_pair choose(pair_mask mask, gg_mesh_pair a, gg_mesh_pair b) {
    return (gg_mesh_pair)(((pair_mask)a & mask) | ((pair_mask)b & ~mask));
}
GG_FN gg_mesh_pair smaller(gg_mesh_pair a, gg_mesh_pair b) { return choose(a < b, a, b); }
GG_FN gg_mesh_pair larger(gg_mesh_pair a, gg_mesh_pair b) { return choose(a > b, a, b); }
GG_FN int any(pair_mask mask) { return (mask[0] | mask[1]) != 0; }

/* two vectors that differ in x alone */
typedef struct along_x {
    gg_mesh_pair x;
    double y, z;
} along_x;

GG_FN along_x from(gg_vec3d origin, along_x p) { return (along_x){p.x - origin.x, p.y - origin.y, p.z - origin.z}; }
GG_FN gg_mesh_pair dot(along_x a, gg_vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/* (edge x a) . n */
GG_FN gg_mesh_pair side_of(gg_vec3d edge, along_x a, gg_vec3d n) {
    gg_mesh_pair x = both(edge.y * a.z - edge.z * a.y), y = edge.z * a.x - edge.x * a.z,
                 z = edge.x * a.y - edge.y * a.x;
    return x * n.x + y * n.y + z * n.z;
}

GG_FN gg_mesh_pair segment_distance2(along_x ap, gg_vec3d ab) {
    double length2 = gg_ddot(ab, ab);
    gg_mesh_pair share = length2 > 0.0 ? dot(ap, ab) / length2 : both(0.0);
    gg_mesh_pair s = -smaller(larger(share, both(0.0)), both(1.0));
    gg_mesh_pair x = ap.x + ab.x * s, y = ap.y + ab.y * s, z = ap.z + ab.z * s;
    return x * x + y * y + z * z;
}

/* The smaller of `best` and the squared distance: to the triangle's plane where a point projects into the triangle, to
 * the nearest edge elsewhere. */
GG_FN gg_mesh_pair triangle_distance2(along_x p, const gg_triangle *t, gg_mesh_pair best) {
    gg_vec3d ab = gg_dsub(t->b, t->a), bc = gg_dsub(t->c, t->b), ca = gg_dsub(t->a, t->c);
    gg_vec3d n = gg_dcross(ab, gg_dsub(t->c, t->a));
    double n2 = gg_ddot(n, n);
    int flat = n2 > THIN * gg_ddot(ab, ab) * gg_ddot(ca, ca);
    along_x ap = from(t->a, p), bp = from(t->b, p), cp = from(t->c, p);
    gg_mesh_pair height = dot(ap, n);
    /* nothing of a triangle is nearer than its plane */
    if (flat && !any(height * height < best * n2)) {
        return best;
    }
    pair_mask inside = {0, 0};
    if (flat) {
        inside = (side_of(ab, ap, n) >= 0.0) & (side_of(bc, bp, n) >= 0.0) & (side_of(ca, cp, n) >= 0.0);
    }
    gg_mesh_pair edges =
        smaller(smaller(segment_distance2(ap, ab), segment_distance2(bp, bc)), segment_distance2(cp, ca));
    return smaller(choose(inside, height * height / n2, edges), best);
}

GG_FN gg_mesh_pair box_distance2(along_x p, const gg_mesh_node *n) {
    gg_mesh_pair x = larger(larger(n->lower[0] - p.x, p.x - n->upper[0]), both(0.0));
    double y = GG_MAX(0.0, GG_MAX(n->lower[1] - p.y, p.y - n->upper[1]));
    double z = GG_MAX(0.0, GG_MAX(n->lower[2] - p.z, p.z - n->upper[2]));
    return x * x + y * y + z * z;
}

gg_mesh_pair gg_mesh_distances2(const gg_mesh_tree *t, gg_vec3d p, double apart, int64_t *nearest) {
    struct {
        gg_mesh_pair distance2;
        int32_t node;
    } stack[GG_MESH_STACK];
    along_x q = {{p.x, p.x + apart}, p.y, p.z};
    gg_mesh_pair best = triangle_distance2(q, &t->triangles[*nearest], both(INFINITY));
    int depth = 0;
    stack[depth].node = 0;
    stack[depth++].distance2 = box_distance2(q, &t->nodes[0]);
    while (depth) {
        depth--;
        if (!any(stack[depth].distance2 < best)) {
            continue;
        }
        /* down to the nearest leaf; what is left aside waits where it is near enough */
        int32_t index = stack[depth].node;
        const gg_mesh_node *n = &t->nodes[index];
        while (!n->count) {
            int32_t left = index + 1, right = n->right;
            gg_mesh_pair near2 = box_distance2(q, &t->nodes[left]), far2 = box_distance2(q, &t->nodes[right]);
            int swap = GG_MIN(far2[0], far2[1]) < GG_MIN(near2[0], near2[1]);
            gg_mesh_pair aside = swap ? near2 : far2;
            if (any(aside < best)) {
                stack[depth].node = swap ? left : right;
                stack[depth++].distance2 = aside;
            }
            if (!any((swap ? far2 : near2) < best)) {
                break;
            }
            index = swap ? right : left;
            n = &t->nodes[index];
        }
        for (int64_t i = n->first; i < n->first + n->count; i++) {
            gg_mesh_pair found = triangle_distance2(q, &t->triangles[i], best);
            *nearest = found[1] < best[1] ? i : *nearest;
            best = found;
        }
    }
    return best;
}
