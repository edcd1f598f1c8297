/* mesh_sdf.c: the signed distance field of a triangle mesh, sampled on a regular grid. Host only.
 *
 * Distance: exact point-triangle distance in double, found through a tree of bounding boxes; the search at a sample
 * starts from its left neighbour's distance plus one spacing, which is an upper bound. Sign: generalised winding number
 * (Jacobson, Kavan, Sorkine-Hornung 2013), |w| >= 0.5 is inside, so small holes, doubled faces and self-intersections
 * do no harm, and an inverted mesh gives the same field. Nodes of the tree that are far off count as one dipole, the
 * first term of the expansion of Barill, Dickson, Schmidt, Levin, Jacobson 2018; near triangles give their exact solid
 * angle (Van Oosterom, Strackee 1983). In a closed mesh samples further from the surface than one spacing share the
 * sign of their right neighbour. Every row of samples is computed on its own in one fixed order: same bits for any
 * number of threads.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/scalar.h"
#include "mesh_sdf.h"

/* a node of the tree is split while it holds more triangles than this; halves hold at least half of it */
#define LEAF_MAX 6
/* median splits halve: 64 levels are enough for any number of triangles, two nodes wait per level */
#define STACK_SIZE 128
/* further than this many radii from its centre a node counts as a dipole: w is then off by a few thousandths */
#define FAR_RATIO 2.5
/* a coordinate beyond this is a broken file, not a tool [m] */
#define VERTEX_MAX 1e9

typedef struct vec {
    double x, y, z;
} vec;

typedef struct triangle {
    vec a, b, c;
} triangle;

typedef struct node {
    double lower[3], upper[3];
    vec center;    /* of area */
    vec area;      /* sum of area * normal */
    double far2;   /* squared distance from the centre beyond which the node counts as a dipole */
    int64_t first; /* triangle */
    int32_t count; /* triangles of a leaf, 0 for an inner node */
    int32_t right; /* second child; the first is the next node */
} node;

typedef struct tree {
    triangle *triangles;
    node *nodes;
    int64_t node_count;
    int closed; /* the faces cancel along every edge, so w is a whole number that changes at the surface only */
} tree;

/* a triangle while the tree is being built */
typedef struct item {
    double center[3];
    int64_t face;
} item;

static vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vec madd(vec a, vec b, double s) { return (vec){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s}; }
static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

/* ---- building the tree ---- */

static int item_before(const item *a, const item *b, int axis) {
    if (a->center[axis] != b->center[axis]) {
        return a->center[axis] < b->center[axis];
    }
    return a->face < b->face;
}

/* moves the items that come before rank `middle` along the axis to the front (quickselect; ties by face index) */
static void select_middle(item *items, int64_t count, int64_t middle, int axis) {
    int64_t lower = 0, upper = count - 1;
    while (lower < upper) {
        item pivot = items[lower + (upper - lower) / 2];
        int64_t i = lower, j = upper;
        while (i <= j) {
            while (item_before(&items[i], &pivot, axis)) {
                i++;
            }
            while (item_before(&pivot, &items[j], axis)) {
                j--;
            }
            if (i <= j) {
                item swap = items[i];
                items[i++] = items[j];
                items[j--] = swap;
            }
        }
        if (middle <= j) {
            upper = j;
        } else if (middle >= i) {
            lower = i;
        } else {
            return;
        }
    }
}

static int widest_axis(const item *items, int64_t count) {
    int widest = 0;
    double most = -1.0;
    for (int k = 0; k < 3; k++) {
        double lower = items[0].center[k], upper = lower;
        for (int64_t i = 1; i < count; i++) {
            lower = GG_MIN(lower, items[i].center[k]);
            upper = GG_MAX(upper, items[i].center[k]);
        }
        if (upper - lower > most) {
            most = upper - lower;
            widest = k;
        }
    }
    return widest;
}

static triangle face_triangle(const double *vertices, const int32_t *faces, int64_t face) {
    const double *a = vertices + 3 * (int64_t)faces[3 * face];
    const double *b = vertices + 3 * (int64_t)faces[3 * face + 1];
    const double *c = vertices + 3 * (int64_t)faces[3 * face + 2];
    return (triangle){{a[0], a[1], a[2]}, {b[0], b[1], b[2]}, {c[0], c[1], c[2]}};
}

static void grow_box(node *n, vec p) {
    const double q[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        n->lower[k] = GG_MIN(n->lower[k], q[k]);
        n->upper[k] = GG_MAX(n->upper[k], q[k]);
    }
}

/* box, dipole and radius of the triangles first .. first + count */
static void measure(node *n, const triangle *triangles, int64_t first, int64_t count) {
    vec sum = {0.0, 0.0, 0.0}, moment = {0.0, 0.0, 0.0};
    double total = 0.0;
    for (int k = 0; k < 3; k++) {
        n->lower[k] = INFINITY;
        n->upper[k] = -INFINITY;
    }
    for (int64_t i = first; i < first + count; i++) {
        const triangle *t = &triangles[i];
        vec twice = cross(sub(t->b, t->a), sub(t->c, t->a));
        double area = 0.5 * sqrt(dot(twice, twice));
        vec third = {(t->a.x + t->b.x + t->c.x) / 3.0, (t->a.y + t->b.y + t->c.y) / 3.0,
                     (t->a.z + t->b.z + t->c.z) / 3.0};
        sum = madd(sum, twice, 0.5);
        moment = madd(moment, third, area);
        total += area;
        grow_box(n, t->a);
        grow_box(n, t->b);
        grow_box(n, t->c);
    }
    n->area = sum;
    n->center =
        (vec){0.5 * (n->lower[0] + n->upper[0]), 0.5 * (n->lower[1] + n->upper[1]), 0.5 * (n->lower[2] + n->upper[2])};
    if (total > 0.0) {
        n->center = (vec){moment.x / total, moment.y / total, moment.z / total};
    }
    double radius2 = 0.0;
    for (int64_t i = first; i < first + count; i++) {
        const triangle *t = &triangles[i];
        vec a = sub(t->a, n->center), b = sub(t->b, n->center), c = sub(t->c, n->center);
        radius2 = GG_MAX(radius2, GG_MAX(dot(a, a), GG_MAX(dot(b, b), dot(c, c))));
    }
    n->far2 = radius2 * (FAR_RATIO * FAR_RATIO);
}

/* orders items by the tree and lays out its nodes; returns the index of the node made */
static int32_t split(tree *t, item *items, int64_t first, int64_t count) {
    int32_t index = (int32_t)t->node_count++;
    t->nodes[index].first = first;
    t->nodes[index].count = 0;
    t->nodes[index].right = 0;
    if (count <= LEAF_MAX) {
        t->nodes[index].count = (int32_t)count;
        return index;
    }
    int64_t half = count / 2;
    select_middle(items, count, half, widest_axis(items, count));
    split(t, items, first, half);
    int32_t right = split(t, items + half, first + half, count - half);
    t->nodes[index].right = right;
    return index;
}

/* triangles under a node */
static int64_t node_size(const tree *t, int64_t index) {
    int64_t last = index;
    while (!t->nodes[last].count) {
        last = t->nodes[last].right;
    }
    return t->nodes[last].first + t->nodes[last].count - t->nodes[index].first;
}

/* an edge between vertices lower < upper, and whether it runs up or down */
typedef struct edge {
    int32_t lower, upper;
    int32_t direction;
} edge;

static int compare_edges(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->lower != y->lower) {
        return x->lower < y->lower ? -1 : 1;
    }
    return x->upper < y->upper ? -1 : x->upper > y->upper;
}

/* 1 where every edge is used as often in one direction as in the other, 0 where not, -1 without memory */
static int mesh_closed(const int32_t *faces, int64_t face_count) {
    edge *edges = malloc((size_t)face_count * 3 * sizeof(edge));
    if (!edges) {
        return -1;
    }
    int64_t count = 0;
    for (int64_t i = 0; i < 3 * face_count; i++) {
        int32_t a = faces[i], b = faces[i % 3 == 2 ? i - 2 : i + 1];
        if (a != b) {
            edges[count++] = (edge){GG_MIN(a, b), GG_MAX(a, b), a < b ? 1 : -1};
        }
    }
    qsort(edges, (size_t)count, sizeof(edge), compare_edges);
    int64_t balance = 0;
    int closed = 1;
    for (int64_t i = 0; i < count && closed; i++) {
        balance += edges[i].direction;
        if (i + 1 == count || compare_edges(&edges[i], &edges[i + 1])) {
            closed = balance == 0;
            balance = 0;
        }
    }
    free(edges);
    return closed;
}

static void tree_free(tree *t) {
    free(t->triangles);
    free(t->nodes);
}

static gg_status tree_build(tree *t, const double *vertices, const int32_t *faces, int64_t face_count) {
    /* a split node holds over LEAF_MAX triangles, so every leaf holds at least LEAF_MAX / 2 */
    int64_t node_cap = 2 * (face_count / (LEAF_MAX / 2) + 1);
    item *items = malloc((size_t)face_count * sizeof(item));
    t->triangles = malloc((size_t)face_count * sizeof(triangle));
    t->nodes = malloc((size_t)node_cap * sizeof(node));
    t->node_count = 0;
    t->closed = mesh_closed(faces, face_count);
    if (!items || !t->triangles || !t->nodes || t->closed < 0) {
        free(items);
        tree_free(t);
        return GG_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < face_count; i++) {
        triangle f = face_triangle(vertices, faces, i);
        items[i] = (item){{f.a.x + f.b.x + f.c.x, f.a.y + f.b.y + f.c.y, f.a.z + f.b.z + f.c.z}, i};
    }
    split(t, items, 0, face_count);
    for (int64_t i = 0; i < face_count; i++) {
        t->triangles[i] = face_triangle(vertices, faces, items[i].face);
    }
    for (int64_t i = 0; i < t->node_count; i++) {
        measure(&t->nodes[i], t->triangles, t->nodes[i].first, node_size(t, i));
    }
    free(items);
    return GG_OK;
}

/* ---- distance ---- */

static double segment_distance2(vec p, vec a, vec b) {
    vec ab = sub(b, a), ap = sub(p, a);
    double length2 = dot(ab, ab);
    double s = length2 > 0.0 ? dot(ap, ab) / length2 : 0.0;
    vec off = madd(ap, ab, -GG_MIN(GG_MAX(s, 0.0), 1.0));
    return dot(off, off);
}

/* squared distance to the triangle's plane where p projects into the triangle, to the nearest edge elsewhere */
static double triangle_distance2(vec p, const triangle *t) {
    vec ab = sub(t->b, t->a), bc = sub(t->c, t->b), ca = sub(t->a, t->c);
    vec n = cross(ab, sub(t->c, t->a));
    double n2 = dot(n, n);
    vec ap = sub(p, t->a), bp = sub(p, t->b), cp = sub(p, t->c);
    if (n2 > 0.0 && dot(cross(ab, ap), n) >= 0.0 && dot(cross(bc, bp), n) >= 0.0 && dot(cross(ca, cp), n) >= 0.0) {
        double height = dot(ap, n);
        return height * height / n2;
    }
    double d = segment_distance2(p, t->a, t->b);
    d = GG_MIN(d, segment_distance2(p, t->b, t->c));
    return GG_MIN(d, segment_distance2(p, t->c, t->a));
}

static double box_distance2(vec p, const node *n) {
    const double q[3] = {p.x, p.y, p.z};
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double off = GG_MAX(0.0, GG_MAX(n->lower[k] - q[k], q[k] - n->upper[k]));
        sum += off * off;
    }
    return sum;
}

/* squared distance of p to the mesh, `bound` where everything is further than that */
static double mesh_distance2(const tree *t, vec p, double bound) {
    struct {
        int32_t node;
        double distance2;
    } stack[STACK_SIZE];
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
        const node *n = &t->nodes[index];
        for (int64_t i = n->first; i < n->first + n->count; i++) {
            best = GG_MIN(best, triangle_distance2(p, &t->triangles[i]));
        }
        if (!n->count) {
            /* the nearer child is looked into first */
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

/* ---- winding number ---- */

/* A sum of angles kept as the direction (re, im) of a product of complex numbers and the full turns it went past: one
 * multiplication for each triangle, and one arc at the end. */
typedef struct arc_sum {
    double re, im;
    double turns;
} arc_sum;

static void arc_add(arc_sum *sum, double re, double im) {
    double x = sum->re * re - sum->im * im, y = sum->re * im + sum->im * re;
    double size = GG_MAX(x, -x) + GG_MAX(y, -y);
    if (!(size > 0.0)) {
        return;
    }
    if (sum->im >= 0.0 && im >= 0.0) {
        sum->turns += y < 0.0 ? 1.0 : 0.0;
    } else if (sum->im < 0.0 && im < 0.0) {
        sum->turns -= y > 0.0 || (y == 0.0 && x < 0.0) ? 1.0 : 0.0;
    }
    /* any length will do, as long as it neither grows nor shrinks without end */
    sum->re = x / size;
    sum->im = y / size;
}

static double arc_total(const arc_sum *sum) {
    double angle = sum->im < 0.0 ? -gg_angle_double(-sum->im, sum->re) : gg_angle_double(sum->im, sum->re);
    return angle + 2.0 * GG_PI * sum->turns;
}

/* adds half the solid angle of a triangle seen from p, positive where p is behind it; nothing on its plane */
static void add_solid_angle(arc_sum *sum, vec p, const triangle *t) {
    vec a = sub(t->a, p), b = sub(t->b, p), c = sub(t->c, p);
    double det = dot(a, cross(b, c));
    if (det == 0.0) {
        return;
    }
    double la = sqrt(dot(a, a)), lb = sqrt(dot(b, b)), lc = sqrt(dot(c, c));
    arc_add(sum, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb, det);
}

static double winding_number(const tree *t, vec p) {
    int32_t stack[STACK_SIZE];
    int depth = 0;
    stack[depth++] = 0;
    arc_sum arcs = {1.0, 0.0, 0.0};
    double far = 0.0;
    while (depth) {
        int32_t index = stack[--depth];
        const node *n = &t->nodes[index];
        vec off = sub(n->center, p);
        double distance2 = dot(off, off);
        if (distance2 > n->far2) {
            far += dot(off, n->area) / (distance2 * sqrt(distance2));
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

/* ---- the grid ---- */

static void sample_row(const tree *t, const gg_sdf_grid *grid, int64_t row, float *out) {
    int64_t iy = row % grid->count[1], iz = row / grid->count[1];
    double spacing = grid->spacing;
    vec p = {0.0, grid->origin.y + spacing * (double)iy, grid->origin.z + spacing * (double)iz};
    double before = -1.0;
    int inside = 0;
    for (int32_t ix = 0; ix < grid->count[0]; ix++) {
        p.x = grid->origin.x + spacing * (double)ix;
        double reach = (before + spacing) * (1.0 + 1e-6);
        double distance = sqrt(mesh_distance2(t, p, before < 0.0 ? INFINITY : reach * reach));
        /* no surface lies between this sample and one that is further than a spacing from it */
        if (!t->closed || before <= spacing * (1.0 + 1e-6)) {
            double w = winding_number(t, p);
            inside = w >= 0.5 || w <= -0.5;
        }
        out[ix] = (float)(inside ? -distance : distance);
        before = distance;
    }
}

__attribute__((format(printf, 4, 5))) static gg_status fail(gg_status status, char *message, size_t message_size,
                                                            const char *format, ...) {
    if (message && message_size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message, message_size, format, arguments);
        va_end(arguments);
    }
    return status;
}

static gg_status check_grid(const gg_sdf_grid *grid, char *message, size_t message_size) {
    int64_t samples = 1;
    for (int k = 0; k < 3; k++) {
        if (grid->count[k] < 2) {
            return fail(GG_ERROR_ARGUMENT, message, message_size,
                        "grid: at least 2 samples along each axis expected, got %d x %d x %d", (int)grid->count[0],
                        (int)grid->count[1], (int)grid->count[2]);
        }
        samples = samples > INT32_MAX ? samples : samples * grid->count[k];
    }
    if (samples > INT32_MAX) {
        return fail(GG_ERROR_ARGUMENT, message, message_size,
                    "grid: at most %d samples expected, got %d x %d x %d; use a larger spacing", (int)INT32_MAX,
                    (int)grid->count[0], (int)grid->count[1], (int)grid->count[2]);
    }
    if (!(grid->spacing > 0.0f) || !gg_finite(grid->spacing)) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "grid: spacing above 0 m expected, got %g",
                    (double)grid->spacing);
    }
    if (!gg_finite3(grid->origin)) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "grid: a finite origin expected, got (%g, %g, %g)",
                    (double)grid->origin.x, (double)grid->origin.y, (double)grid->origin.z);
    }
    return GG_OK;
}

static gg_status check_mesh(const double *vertices, int64_t vertex_count, const int32_t *faces, int64_t face_count,
                            char *message, size_t message_size) {
    if (vertex_count < 3 || face_count < 1) {
        return fail(GG_ERROR_ARGUMENT, message, message_size,
                    "mesh: at least 3 vertices and 1 face expected, got %lld vertices and %lld faces",
                    (long long)vertex_count, (long long)face_count);
    }
    if (face_count > INT32_MAX) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "mesh: at most %d faces expected, got %lld",
                    (int)INT32_MAX, (long long)face_count);
    }
    for (int64_t i = 0; i < 3 * vertex_count; i++) {
        if (!(vertices[i] >= -VERTEX_MAX && vertices[i] <= VERTEX_MAX)) {
            return fail(GG_ERROR_ARGUMENT, message, message_size,
                        "mesh: vertices between -%g and %g m expected, vertex %lld has %g", VERTEX_MAX, VERTEX_MAX,
                        (long long)(i / 3), vertices[i]);
        }
    }
    for (int64_t i = 0; i < 3 * face_count; i++) {
        if (faces[i] < 0 || faces[i] >= vertex_count) {
            return fail(GG_ERROR_ARGUMENT, message, message_size,
                        "mesh: face %lld names vertex %d, but there are %lld vertices", (long long)(i / 3),
                        (int)faces[i], (long long)vertex_count);
        }
    }
    return GG_OK;
}

gg_status gg_mesh_to_grid(const double *vertices, int64_t vertex_count, const int32_t *faces, int64_t face_count,
                          const gg_sdf_grid *grid, float *samples, int32_t thread_count, char *message,
                          size_t message_size) {
    if (message && message_size) {
        message[0] = '\0';
    }
    if (!vertices || !faces || !grid || !samples) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "%s: an array expected, got NULL",
                    !vertices ? "vertices"
                    : !faces  ? "faces"
                    : !grid   ? "grid"
                              : "samples");
    }
    if (thread_count < 0) {
        return fail(GG_ERROR_ARGUMENT, message, message_size, "thread_count: 0 or more expected, got %d",
                    (int)thread_count);
    }
    gg_status status = check_grid(grid, message, message_size);
    if (status == GG_OK) {
        status = check_mesh(vertices, vertex_count, faces, face_count, message, message_size);
    }
    if (status != GG_OK) {
        return status;
    }
    tree t;
    if (tree_build(&t, vertices, faces, face_count) != GG_OK) {
        return fail(GG_ERROR_MEMORY, message, message_size, "mesh: no memory for a tree of %lld faces",
                    (long long)face_count);
    }
    int64_t rows = (int64_t)grid->count[1] * grid->count[2];
#ifdef _OPENMP
    int threads = thread_count ? thread_count : omp_get_num_procs();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
#endif
    for (int64_t row = 0; row < rows; row++) {
        sample_row(&t, grid, row, samples + row * grid->count[0]);
    }
    tree_free(&t);
    return GG_OK;
}
