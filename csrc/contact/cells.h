/* cells.h: the cell grids of the broad phase: one per size class and env, fitted to the bounding box of the grains.
 *
 * Grains are sorted by (size class, cell), so that a cell is a run of cell_item and a line of cells is one longer run.
 * The number of cells is bounded by the number of grains: where the bounding box would need more, cell coordinates fold
 * modulo the grid (two distant cells become one; the distance test tells their grains apart). Memory therefore never
 * grows with the domain, and a grain that escapes costs nothing.
 */
#ifndef GG_CELLS_H
#define GG_CELLS_H

#include "separation.h"

/* floor; saturates beyond +-1e9 */
GG_FN int32_t gg_floor_int(float x) {
    x = gg_clampf(x, -1.0e9f, 1.0e9f);
    int32_t i = (int32_t)x;
    return (float)i > x ? i - 1 : i;
}

/* size class of a radius */
GG_FN int gg_size_class_of(const gg_params *p, float radius) {
    int size_class = 0;
    while (size_class + 1 < p->size_class_count && radius > p->size_class_radius[size_class]) {
        size_class++;
    }
    return size_class;
}

/* folds a cell coordinate into the grid */
GG_FN int32_t gg_cell_fold(const gg_cell_grid *g, int axis, int32_t c) {
    int32_t n = g->count[axis];
    if (g->folds[axis]) {
        c %= n;
        return c < 0 ? c + n : c;
    }
    return c < 0 ? 0 : c >= n ? n - 1 : c;
}

GG_FN int32_t gg_cell_index(const gg_cell_grid *g, const int32_t c[3]) {
    int32_t a0 = g->axis[0], a1 = g->axis[1], a2 = g->axis[2];
    return g->first_cell + (c[a2] * g->count[a1] + c[a1]) * g->count[a0] + c[a0];
}

GG_FN int32_t gg_cell_of(const gg_cell_grid *g, gg_vec3 origin, gg_vec4 x) {
    int32_t c[3];
    c[0] = gg_cell_fold(g, 0, gg_floor_int((x.x - origin.x) / g->cell_size[0]));
    c[1] = gg_cell_fold(g, 1, gg_floor_int((x.y - origin.y) / g->cell_size[1]));
    c[2] = gg_cell_fold(g, 2, gg_floor_int((x.z - origin.z) / g->cell_size[2]));
    return gg_cell_index(g, c);
}

/* fits the grid of one size class to a box of `extent` [m] from the env's origin; at most cell_cap cells */
GG_FN void gg_cell_grid_fit(const gg_params *p, gg_cell_grid *g, float cell_size, gg_vec3 extent, int64_t cell_cap) {
    for (int axis = 0; axis < 3; axis++) {
        float length = gg_axis_of(extent, axis);
        int periodic = p->boundary[axis][0] == GG_BOUNDARY_PERIODIC;
        /* a periodic axis is divided evenly; on others the cells start at the lowest grain */
        int32_t n = gg_floor_int(gg_minf(length / cell_size, 1.0e6f)) + (periodic ? 0 : 1);
        g->count[axis] = n < 1 ? 1 : n;
        g->folds[axis] = periodic;
        g->cell_size[axis] = cell_size;
    }
    while ((int64_t)g->count[0] * g->count[1] * g->count[2] > cell_cap) {
        int longest = g->count[0] >= g->count[1] ? 0 : 1;
        longest = g->count[longest] >= g->count[2] ? longest : 2;
        g->count[longest] = (g->count[longest] + 1) / 2;
        g->folds[longest] = 1;
    }
    for (int axis = 0; axis < 3; axis++) {
        if (p->boundary[axis][0] == GG_BOUNDARY_PERIODIC) {
            g->cell_size[axis] = gg_axis_of(extent, axis) / (float)g->count[axis];
        }
    }
    /* the longest axis is slowest: that keeps neighbours close in memory */
    g->axis[0] = 0;
    g->axis[1] = 1;
    g->axis[2] = 2;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 2; k++) {
            if (g->count[g->axis[k]] > g->count[g->axis[k + 1]]) {
                int32_t swap = g->axis[k];
                g->axis[k] = g->axis[k + 1];
                g->axis[k + 1] = swap;
            }
        }
    }
}

/* axis-aligned bounding box of centres [m] */
typedef struct gg_aabb {
    gg_vec3 low, high;
} gg_aabb;

GG_FN gg_aabb gg_aabb_empty(void) {
    gg_aabb box;
    box.low = gg_v3(1e30f, 1e30f, 1e30f);
    box.high = gg_v3(-1e30f, -1e30f, -1e30f);
    return box;
}

GG_FN gg_aabb gg_aabb_join(gg_aabb a, gg_aabb b) {
    a.low = gg_v3(gg_minf(a.low.x, b.low.x), gg_minf(a.low.y, b.low.y), gg_minf(a.low.z, b.low.z));
    a.high = gg_v3(gg_maxf(a.high.x, b.high.x), gg_maxf(a.high.y, b.high.y), gg_maxf(a.high.z, b.high.z));
    return a;
}

/* bounding box of the grains in slots begin, begin + stride, ... */
GG_FN gg_aabb gg_aabb_of(const gg_view *v, int64_t e, int64_t begin, int64_t stride) {
    const gg_vec4 *x = v->position + e * v->dims.slots;
    gg_aabb box = gg_aabb_empty();
    for (int64_t i = begin; i < v->dims.grain_count; i += stride) {
        gg_aabb point;
        point.low = point.high = gg_v3(x[i].x, x[i].y, x[i].z);
        box = gg_aabb_join(box, point);
    }
    return box;
}

/* the box that cell grids are fitted to: along a periodic axis the bounds */
GG_FN gg_aabb gg_cell_grids_box(const gg_params *p, gg_aabb box) {
    if (p->boundary[0][0] == GG_BOUNDARY_PERIODIC) {
        box.low.x = p->lower.x;
        box.high.x = p->upper.x;
    }
    if (p->boundary[1][0] == GG_BOUNDARY_PERIODIC) {
        box.low.y = p->lower.y;
        box.high.y = p->upper.y;
    }
    if (p->boundary[2][0] == GG_BOUNDARY_PERIODIC) {
        box.low.z = p->lower.z;
        box.high.z = p->upper.z;
    }
    return box;
}

/* The skin [m] for grains of a speed: twice what they move in a substep, up to a radius. Where grains do not sleep one by
 * one, and as long as that skin holds all contacts that are foreseen, so that results are the same, also one that lasts
 * for whole substeps, up to GG_SKIN_SUBSTEPS, and a twentieth more, as they may accelerate: what lasts for a part of a
 * substep would be for nothing. Cells that wide would keep awake too many around fast grains. The law of tables foresees
 * nothing: where lists cannot last for a second substep its skin is the least. */
GG_FN float gg_skin_of(const gg_params *p, float speed, int grains_sleep) {
    if (p->law == GG_LAW_table && 4.0f * speed * p->dt > gg_maxf(p->skin, p->radius_min)) {
        return p->skin;
    }
    float each = 2.1f * speed * p->dt, most = GG_SKIN_MAX * 2.0f * p->radius_min;
    float skin = gg_clampf(4.0f * speed * p->dt, p->skin, gg_maxf(p->skin, p->radius_min));
    int32_t substeps = grains_sleep || each > skin ? 0 : GG_SKIN_SUBSTEPS;
    while (substeps > 0 && !((float)substeps * each <= most)) {
        substeps--;
    }
    return substeps > 0 ? gg_maxf(skin, (float)substeps * each) : skin;
}

/* fits all cell grids of env e to the bounding box of its grains, and sets its skin */
GG_FN void gg_cell_grids_fit(const gg_view *v, int64_t e, gg_aabb box) {
    const gg_params *p = &v->params;
    gg_env *env = &v->env[e];
    box = gg_cell_grids_box(p, box);
    env->origin = box.low;
    env->skin = gg_skin_of(p, env->speed_max, v->dims.sleep.slots > 0);
    int32_t first = 0;
    int64_t cap = (v->dims.cells - 1) / p->size_class_count;
    for (int k = 0; k < p->size_class_count; k++) {
        gg_cell_grid *g = &env->cell_grid[k];
        float size = 2.0f * p->size_class_radius[k] * (1.0f + p->margin) + env->cohesion_range + env->skin;
        gg_cell_grid_fit(p, g, size * 1.001f, gg_sub(box.high, box.low), cap);
        g->first_cell = first;
        first += g->count[0] * g->count[1] * g->count[2];
    }
}

#endif
