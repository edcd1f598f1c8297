/* mesh_distance.c: exact distance of a point to a triangle mesh, through the tree of bounding boxes. */
#include "mesh_tree.h"

static double segment_distance2(gg_vec3d p, gg_vec3d a, gg_vec3d b) {
    gg_vec3d ab = gg_dsub(b, a), ap = gg_dsub(p, a);
    double length2 = gg_ddot(ab, ab);
    double s = length2 > 0.0 ? gg_ddot(ap, ab) / length2 : 0.0;
    gg_vec3d off = gg_dmadd(ap, ab, -GG_MIN(GG_MAX(s, 0.0), 1.0));
    return gg_ddot(off, off);
}

/* squared distance to the triangle's plane where p projects into the triangle, to the nearest edge elsewhere */
static double triangle_distance2(gg_vec3d p, const gg_triangle *t) {
    gg_vec3d ab = gg_dsub(t->b, t->a), bc = gg_dsub(t->c, t->b), ca = gg_dsub(t->a, t->c);
    gg_vec3d n = gg_dcross(ab, gg_dsub(t->c, t->a));
    double n2 = gg_ddot(n, n);
    gg_vec3d ap = gg_dsub(p, t->a), bp = gg_dsub(p, t->b), cp = gg_dsub(p, t->c);
    if (n2 > 0.0 && gg_ddot(gg_dcross(ab, ap), n) >= 0.0 && gg_ddot(gg_dcross(bc, bp), n) >= 0.0 &&
        gg_ddot(gg_dcross(ca, cp), n) >= 0.0) {
        double height = gg_ddot(ap, n);
        return height * height / n2;
    }
    double d = segment_distance2(p, t->a, t->b);
    d = GG_MIN(d, segment_distance2(p, t->b, t->c));
    return GG_MIN(d, segment_distance2(p, t->c, t->a));
}

static double box_distance2(gg_vec3d p, const gg_mesh_node *n) {
    const double q[3] = {p.x, p.y, p.z};
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double off = GG_MAX(0.0, GG_MAX(n->lower[k] - q[k], q[k] - n->upper[k]));
        sum += off * off;
    }
    return sum;
}

double gg_mesh_distance2(const gg_mesh_tree *t, gg_vec3d p, double bound) {
    struct {
        int32_t node;
        double distance2;
    } stack[GG_MESH_STACK];
    int depth = 0;
    stack[depth].node = 0;
    stack[depth++].distance2 = box_distance2(p, &t->nodes[0]);
    double best = bound;
    while (depth) {
        depth--;
        if (stack[depth].distance2 >= best) {
            continue;
        }
        int32_t index = stack[depth].node;
        const gg_mesh_node *n = &t->nodes[index];
        for (int64_t i = n->first; i < n->first + n->count; i++) {
            best = GG_MIN(best, triangle_distance2(p, &t->triangles[i]));
        }
        if (!n->count) {
            /* the nearer child is visited first */
            int32_t left = index + 1, right = n->right;
            double near2 = box_distance2(p, &t->nodes[left]), far2 = box_distance2(p, &t->nodes[right]);
            int swap = far2 < near2;
            stack[depth].node = swap ? left : right;
            stack[depth++].distance2 = swap ? near2 : far2;
            stack[depth].node = swap ? right : left;
            stack[depth++].distance2 = swap ? far2 : near2;
        }
    }
    return best;
}
