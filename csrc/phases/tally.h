/* tally.h: counts of grains by boxes, by cells of a grid, or distributed over columns of a grid.
 *
 * Counts are integers, so that the order of addition does not matter: the threads of a GPU add in any order, and a
 * reward can be computed without copying every grain to the host. A grain whose position is not finite is not counted.
 */
#ifndef GG_TALLY_H
#define GG_TALLY_H

#include "../base/scalar.h"
#include "../state/view.h"

GG_FN void gg_tally_add(int64_t *bin, int64_t value) {
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)bin, (unsigned long long)value);
    return;
#endif
    *bin += value;
}

/* coordinate along an axis in cells, clamped to 0 .. shape */
GG_FN float gg_tally_coordinate(const gg_tally_grid *grid, int axis, float x) {
    float coordinate = (x - grid->lower[axis]) * grid->per_length[axis];
    return gg_minf(gg_maxf(coordinate, 0.0f), (float)grid->shape[axis]);
}

GG_FN int64_t gg_tally_cell(const gg_tally_grid *grid, int axis, float x) {
    int64_t cell = (int64_t)gg_tally_coordinate(grid, axis, x);
    return GG_MIN(cell, (int64_t)grid->shape[axis] - 1);
}

/* the first box that holds a point, or box_count */
GG_FN int64_t gg_tally_box(const gg_access *a, int64_t e, gg_vec3 x) {
    int64_t k = 0;
    for (; k < a->tally_boxes; k++) {
        const float *box = a->tally_box + (e * a->tally_boxes + k) * GG_TALLY_BOX;
        gg_quat turn = GG_LIT(gg_quat){box[3], box[4], box[5], box[6]};
        gg_vec3 own = gg_mat_tmul(gg_quat_mat(turn), gg_sub(x, gg_v3(box[0], box[1], box[2])));
        if (gg_absf(own.x) <= box[7] && gg_absf(own.y) <= box[8] && gg_absf(own.z) <= box[9]) {
            break;
        }
    }
    return k;
}

/* the first of the two nearest columns along an axis; *second: the second's share of a grain, of GG_TALLY_SHARE */
GG_FN int64_t gg_tally_share(const gg_tally_grid *grid, int axis, float x, int64_t *second) {
    float coordinate = gg_tally_coordinate(grid, axis, x) + 0.5f;
    int64_t first = (int64_t)coordinate;
    *second = (int64_t)((coordinate - (float)first) * (float)GG_TALLY_SHARE + 0.5f);
    return first - 1;
}

GG_FN void gg_tally_columns(const gg_tally_grid *grid, int64_t *bins, gg_vec3 x) {
    int64_t share[2], nx = grid->shape[0], ny = grid->shape[1];
    int64_t column = gg_tally_share(grid, 0, x.x, &share[0]), line = gg_tally_share(grid, 1, x.y, &share[1]);
    for (int k = 0; k < 4; k++) {
        int right = k & 1, above = k >> 1;
        /* shares beyond the edge are mirrored: column -1 is column 0 */
        int64_t at_x = GG_MIN(GG_MAX(column + right, 0), nx - 1), at_y = GG_MIN(GG_MAX(line + above, 0), ny - 1);
        int64_t weight =
            (right ? share[0] : GG_TALLY_SHARE - share[0]) * (above ? share[1] : GG_TALLY_SHARE - share[1]);
        gg_tally_add(&bins[at_y * nx + at_x], weight);
    }
}

/* adds one grain of an env to its bins */
GG_FN void gg_tally_grain(const gg_view *v, int64_t e, int64_t id) {
    const gg_access *a = &v->access;
    gg_vec4 p = v->position[e * v->dims.slots + v->slot_of[e * v->dims.slots + id]];
    gg_vec3 x = gg_v3(p.x, p.y, p.z);
    int64_t *bins = a->tally + e * a->tally_bins;
    if (!gg_finite(x.x) || !gg_finite(x.y) || !gg_finite(x.z)) {
        return;
    }
    if (a->tally_kind == GG_TALLY_BOXES) {
        int64_t box = gg_tally_box(a, e, x);
        if (box < a->tally_boxes) {
            gg_tally_add(&bins[box], 1);
        }
    } else if (a->tally_kind == GG_TALLY_COLUMNS) {
        gg_tally_columns(&a->tally_grid, bins, x);
    } else {
        const gg_tally_grid *grid = &a->tally_grid;
        int64_t cell = gg_tally_cell(grid, 0, x.x) * grid->shape[1] + gg_tally_cell(grid, 1, x.y);
        cell = cell * grid->shape[2] + gg_tally_cell(grid, 2, x.z);
        if (a->tally_label) {
            cell = 2 * cell + (a->tally_label[e * v->dims.grain_count + id] != 0);
        }
        gg_tally_add(&bins[cell], 1);
    }
}

/* item: bin of an env */
GG_FN void gg_tally_clear(const gg_view *v, int64_t e, int64_t bin) {
    v->access.tally[e * v->access.tally_bins + bin] = 0;
}

/* item: env, as its grains add to the same bins */
GG_FN void gg_tally_env(const gg_view *v, int64_t e) {
    for (int64_t id = 0; id < v->dims.grain_count; id++) {
        gg_tally_grain(v, e, id);
    }
}

#endif
