/* mesh_winding.c: the generalised winding number of a triangle mesh (Jacobson, Kavan, Sorkine-Hornung 2013).
 *
 * Distant nodes of the tree count as one dipole, the first term of the expansion of Barill, Dickson, Schmidt, Levin,
 * Jacobson 2018; near triangles give their exact solid angle (Van Oosterom, Strackee 1983).
 */
#include "mesh_tree.h"

/* A sum of angles, as the argument of a product of complex numbers (re, im) and the full turns it passed: a complex
 * multiplication for each triangle, and one arc tangent at the end. */
typedef struct arc_sum {
    double re, im;
    double turns;
} arc_sum;

static void arc_add(arc_sum *sum, double re, double im) {
    double x = sum->re * re - sum->im * im, y = sum->re * im + sum->im * re;
    double length = GG_MAX(x, -x) + GG_MAX(y, -y);
    if (!(length > 0.0)) {
        return;
    }
    if (sum->im >= 0.0 && im >= 0.0) {
        sum->turns += y < 0.0 ? 1.0 : 0.0;
    } else if (sum->im < 0.0 && im < 0.0) {
        sum->turns -= y > 0.0 || (y == 0.0 && x < 0.0) ? 1.0 : 0.0;
    }
    /* only the argument matters: rescaled against overflow and underflow */
    sum->re = x / length;
    sum->im = y / length;
}

static double arc_total(const arc_sum *sum) {
    double angle = sum->im < 0.0 ? -gg_angle_double(-sum->im, sum->re) : gg_angle_double(sum->im, sum->re);
    return angle + 2.0 * GG_PI * sum->turns;
}

/* adds half the solid angle of a triangle seen from p, positive where p is behind it; 0 in its plane */
static void add_solid_angle(arc_sum *sum, gg_vec3d p, const gg_triangle *t) {
    gg_vec3d a = gg_dsub(t->a, p), b = gg_dsub(t->b, p), c = gg_dsub(t->c, p);
    double det = gg_ddot(a, gg_dcross(b, c));
    if (det == 0.0) {
        return;
    }
    double la = sqrt(gg_ddot(a, a)), lb = sqrt(gg_ddot(b, b)), lc = sqrt(gg_ddot(c, c));
    arc_add(sum, la * lb * lc + gg_ddot(a, b) * lc + gg_ddot(b, c) * la + gg_ddot(c, a) * lb, det);
}

double gg_mesh_winding(const gg_mesh_tree *t, gg_vec3d p) {
    int32_t stack[GG_MESH_STACK];
    int depth = 0;
    stack[depth++] = 0;
    arc_sum arcs = {1.0, 0.0, 0.0};
    double far = 0.0;
    while (depth) {
        int32_t index = stack[--depth];
        const gg_mesh_node *n = &t->nodes[index];
        gg_vec3d off = gg_dsub(n->center, p);
        double distance2 = gg_ddot(off, off);
        if (distance2 > n->far2) {
            far += gg_ddot(off, n->area) / (distance2 * sqrt(distance2));
        } else if (n->count) {
            for (int64_t i = n->first; i < n->first + n->count; i++) {
                add_solid_angle(&arcs, p, &t->triangles[i]);
            }
        } else {
            stack[depth++] = n->right;
            stack[depth++] = index + 1;
        }
    }
    return (far + 2.0 * arc_total(&arcs)) / (4.0 * GG_PI);
}
