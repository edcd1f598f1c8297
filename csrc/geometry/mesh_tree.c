/* mesh_tree.c: builds the bounding volume tree of a triangle mesh. */
#include <stdlib.h>

#include "mesh_tree.h"

/* a node of the tree is split while it holds more triangles than this; halves hold at least half of it */
#define LEAF_MAX 6
/* beyond this many radii from its centre a node counts as a dipole: the error of w is then a few thousandths */
#define FAR_RATIO 2.5

/* a triangle while the tree is being built */
typedef struct entry {
    double center[3]; /* times three */
    int64_t face;
} entry;

static int entry_before(const entry *a, const entry *b, int axis) {
    if (a->center[axis] != b->center[axis]) {
        return a->center[axis] < b->center[axis];
    }
    return a->face < b->face;
}

/* moves the entries before rank `middle` along the axis to the front (quickselect; ties by face index) */
static void select_middle(entry *entries, int64_t count, int64_t middle, int axis) {
    int64_t lower = 0, upper = count - 1;
    while (lower < upper) {
        entry pivot = entries[lower + (upper - lower) / 2];
        int64_t i = lower, j = upper;
        while (i <= j) {
            while (entry_before(&entries[i], &pivot, axis)) {
                i++;
            }
            while (entry_before(&pivot, &entries[j], axis)) {
                j--;
            }
            if (i <= j) {
                entry swap = entries[i];
                entries[i++] = entries[j];
                entries[j--] = swap;
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

static int widest_axis(const entry *entries, int64_t count) {
    int widest = 0;
    double width = -1.0;
    for (int k = 0; k < 3; k++) {
        double lower = entries[0].center[k], upper = lower;
        for (int64_t i = 1; i < count; i++) {
            lower = GG_MIN(lower, entries[i].center[k]);
            upper = GG_MAX(upper, entries[i].center[k]);
        }
        if (upper - lower > width) {
            width = upper - lower;
            widest = k;
        }
    }
    return widest;
}

static gg_triangle face_triangle(const double *vertices, const int32_t *faces, int64_t face) {
    const double *a = vertices + 3 * (int64_t)faces[3 * face];
    const double *b = vertices + 3 * (int64_t)faces[3 * face + 1];
    const double *c = vertices + 3 * (int64_t)faces[3 * face + 2];
    return (gg_triangle){{a[0], a[1], a[2]}, {b[0], b[1], b[2]}, {c[0], c[1], c[2]}};
}

static void grow_box(gg_mesh_node *n, gg_vec3d p) {
    const double q[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) {
        n->lower[k] = GG_MIN(n->lower[k], q[k]);
        n->upper[k] = GG_MAX(n->upper[k], q[k]);
    }
}

/* bounding box, dipole and radius of the triangles first .. first + count - 1 */
static void measure_node(gg_mesh_node *n, const gg_triangle *triangles, int64_t first, int64_t count) {
    gg_vec3d sum = {0.0, 0.0, 0.0}, moment = {0.0, 0.0, 0.0};
    double total = 0.0;
    for (int k = 0; k < 3; k++) {
        n->lower[k] = INFINITY;
        n->upper[k] = -INFINITY;
    }
    for (int64_t i = first; i < first + count; i++) {
        const gg_triangle *t = &triangles[i];
        gg_vec3d twice = gg_dcross(gg_dsub(t->b, t->a), gg_dsub(t->c, t->a));
        double area = 0.5 * sqrt(gg_ddot(twice, twice));
        gg_vec3d third = {(t->a.x + t->b.x + t->c.x) / 3.0, (t->a.y + t->b.y + t->c.y) / 3.0,
                          (t->a.z + t->b.z + t->c.z) / 3.0};
        sum = gg_dmadd(sum, twice, 0.5);
        moment = gg_dmadd(moment, third, area);
        total += area;
        grow_box(n, t->a);
        grow_box(n, t->b);
        grow_box(n, t->c);
    }
    n->area = sum;
    n->center = (gg_vec3d){0.5 * (n->lower[0] + n->upper[0]), 0.5 * (n->lower[1] + n->upper[1]),
                           0.5 * (n->lower[2] + n->upper[2])};
    if (total > 0.0) {
        n->center = (gg_vec3d){moment.x / total, moment.y / total, moment.z / total};
    }
    double radius2 = 0.0;
    for (int64_t i = first; i < first + count; i++) {
        const gg_triangle *t = &triangles[i];
        gg_vec3d a = gg_dsub(t->a, n->center), b = gg_dsub(t->b, n->center), c = gg_dsub(t->c, n->center);
        radius2 = GG_MAX(radius2, GG_MAX(gg_ddot(a, a), GG_MAX(gg_ddot(b, b), gg_ddot(c, c))));
    }
    n->far2 = radius2 * (FAR_RATIO * FAR_RATIO);
}

/* splits entries at the median of their widest axis, down to leaves, and orders them; returns the index of the node */
static int32_t split_node(gg_mesh_tree *t, entry *entries, int64_t first, int64_t count) {
    int32_t index = (int32_t)t->node_count++;
    t->nodes[index].first = first;
    t->nodes[index].count = 0;
    t->nodes[index].right = 0;
    if (count <= LEAF_MAX) {
        t->nodes[index].count = (int32_t)count;
        return index;
    }
    int64_t half = count / 2;
    select_middle(entries, count, half, widest_axis(entries, count));
    split_node(t, entries, first, half);
    int32_t right = split_node(t, entries + half, first + half, count - half);
    t->nodes[index].right = right;
    return index;
}

/* triangles below a node */
static int64_t node_size(const gg_mesh_tree *t, int64_t index) {
    int64_t last = index;
    while (!t->nodes[last].count) {
        last = t->nodes[last].right;
    }
    return t->nodes[last].first + t->nodes[last].count - t->nodes[index].first;
}

/* an edge between vertices lower < upper; direction: 1 from lower to upper, -1 back */
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

/* 1 where every edge is used as often in one direction as in the other, else 0; -1: no memory */
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

void gg_mesh_tree_free(gg_mesh_tree *t) {
    free(t->triangles);
    free(t->nodes);
}

gg_status gg_mesh_tree_build(gg_mesh_tree *t, const double *vertices, const int32_t *faces, int64_t face_count) {
    /* a split node holds over LEAF_MAX triangles, so every leaf holds at least LEAF_MAX / 2 */
    int64_t node_cap = 2 * (face_count / (LEAF_MAX / 2) + 1);
    entry *entries = malloc((size_t)face_count * sizeof(entry));
    t->triangles = malloc((size_t)face_count * sizeof(gg_triangle));
    t->nodes = malloc((size_t)node_cap * sizeof(gg_mesh_node));
    t->node_count = 0;
    t->closed = mesh_closed(faces, face_count);
    if (!entries || !t->triangles || !t->nodes || t->closed < 0) {
        free(entries);
        gg_mesh_tree_free(t);
        return GG_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < face_count; i++) {
        gg_triangle f = face_triangle(vertices, faces, i);
        entries[i] = (entry){{f.a.x + f.b.x + f.c.x, f.a.y + f.b.y + f.c.y, f.a.z + f.b.z + f.c.z}, i};
    }
    split_node(t, entries, 0, face_count);
    for (int64_t i = 0; i < face_count; i++) {
        t->triangles[i] = face_triangle(vertices, faces, entries[i].face);
    }
    for (int64_t i = 0; i < t->node_count; i++) {
        measure_node(&t->nodes[i], t->triangles, t->nodes[i].first, node_size(t, i));
    }
    free(entries);
    return GG_OK;
}
