/* counts.c: grains counted where the world runs: in boxes, in cells of a grid, in columns. */
#include <string.h>

#include "world.h"

static gg_status check_box(gg_world *w, const float *box, int64_t number, int64_t env) {
    for (int k = 0; k < 3; k++) {
        GG_EXPECT(gg_message_of(w), box[k] <= box[k + 3] && gg_finite(box[k]) && gg_finite(box[k + 3]),
                  "box: expected finite lower <= upper, got [%g, %g] on axis %d of box %lld of env %lld", box[k],
                  box[k + 3], k, (long long)number, (long long)env);
    }
    return GG_OK;
}

gg_status gg_world_box_stats(gg_world *w, const float *boxes, int64_t box_count, int64_t *counts, float *mean_distances,
                             gg_memory_space space) {
    int64_t all = w->view.dims.env_count * box_count;
    gg_status status = GG_OK;
    for (int64_t b = 0; status == GG_OK && b < all; b++) {
        status = check_box(w, boxes + b * 6, b % box_count, b / box_count);
    }
    if (status != GG_OK) {
        return status;
    }
    size_t sums = (size_t)all;
    gg_access a;
    memset(&a, 0, sizeof a);
    a.box_count = box_count;
    a.boxes = gg_stage_input(w, GG_STAGING_BOXES, boxes, sizeof(float) * 6 * sums, &status);
    a.box_grains = gg_stage_output(w, GG_STAGING_A, counts, sizeof(int64_t) * sums, space, &status);
    a.box_distance = gg_stage_output(w, GG_STAGING_B, mean_distances, sizeof(float) * sums, space, &status);
    w->view.access = a;
    for (int32_t k = 0; status == GG_OK && k < box_count; k++) {
        status = gg_world_run_pass(w, GG_PHASE_sum_boxes, k);
        status = status == GG_OK ? gg_world_run_pass(w, GG_PHASE_read_boxes, k) : status;
    }
    memset(&w->view.access, 0, sizeof w->view.access);
    const gg_copy_run outputs[] = {{counts, a.box_grains, sizeof(int64_t) * sums},
                                   {mean_distances, a.box_distance, sizeof(float) * sums}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}

/* counts grains as `a` says into (env_count, tally_bins) */
static gg_status tally(gg_world *w, gg_access *a, int64_t *counts, gg_memory_space space, gg_status status) {
    size_t size = sizeof(int64_t) * (size_t)(w->view.dims.env_count * a->tally_bins);
    a->tally = gg_stage_output(w, GG_STAGING_A, counts, size, space, &status);
    const gg_phase phases[] = {GG_PHASE_clear_tally, GG_PHASE_tally};
    status = gg_access_run(w, a, phases, 2, status);
    const gg_copy_run output = {counts, a->tally, size};
    return status == GG_OK ? gg_fetch_outputs(w, &output, 1) : status;
}

static gg_status check_turned_box(gg_world *w, const float *box) {
    float square = box[3] * box[3] + box[4] * box[4] + box[5] * box[5] + box[6] * box[6];
    GG_EXPECT(gg_message_of(w), gg_absf(square - 1.0f) < 1e-3f && box[7] >= 0.0f && box[8] >= 0.0f && box[9] >= 0.0f,
              "boxes: expected unit quaternions and half sizes >= 0, got a quaternion of length^2 %g and half sizes "
              "%g %g %g",
              square, box[7], box[8], box[9]);
    return GG_OK;
}

gg_status gg_world_count_boxes(gg_world *w, const float *boxes, int64_t box_count, int64_t *counts,
                               gg_memory_space space) {
    int64_t total = w->view.dims.env_count * box_count;
    gg_status status = gg_finite_check(w, "boxes", boxes, total * GG_TALLY_BOX);
    for (int64_t k = 0; status == GG_OK && k < total; k++) {
        status = check_turned_box(w, boxes + k * GG_TALLY_BOX);
    }
    gg_access a;
    memset(&a, 0, sizeof a);
    a.tally_kind = GG_TALLY_BOXES;
    a.tally_bins = a.tally_boxes = box_count;
    a.tally_box = gg_stage_input(w, GG_STAGING_BOXES, boxes, sizeof(float) * (size_t)(total * GG_TALLY_BOX), &status);
    return tally(w, &a, counts, space, status);
}

/* a grid of `axes` axes between its corners */
static gg_status grid_of(gg_world *w, const float *lower, const float *upper, const int32_t *shape, int axes,
                         gg_access *a) {
    gg_message out = gg_message_of(w);
    memset(a, 0, sizeof *a);
    a->tally_bins = 1;
    for (int k = 0; k < axes; k++) {
        GG_EXPECT(out, gg_finite(lower[k]) && gg_finite(upper[k]) && lower[k] < upper[k],
                  "lower, upper: expected finite lower < upper, got %g, %g on axis %d", lower[k], upper[k], k);
        GG_EXPECT(out, shape[k] >= 1 && shape[k] <= GG_GRID_LIMIT / a->tally_bins,
                  "shape: expected 1 to %d cells in all, got %d on axis %d", GG_GRID_LIMIT, (int)shape[k], k);
        a->tally_grid.lower[k] = lower[k];
        a->tally_grid.shape[k] = shape[k];
        a->tally_grid.per_length[k] = (float)shape[k] / (upper[k] - lower[k]);
        a->tally_bins *= shape[k];
    }
    return GG_OK;
}

gg_status gg_world_count_cells(gg_world *w, const float *lower, const float *upper, const int32_t *shape,
                               const uint8_t *labels, int64_t *counts, gg_memory_space space) {
    gg_access a;
    gg_status status = grid_of(w, lower, upper, shape, 3, &a);
    a.tally_kind = GG_TALLY_CELLS;
    a.tally_bins *= labels ? 2 : 1;
    size_t grains = (size_t)(w->view.dims.env_count * w->view.dims.grain_count);
    a.tally_label = gg_stage_input(w, GG_STAGING_B, labels, grains, &status);
    return tally(w, &a, counts, space, status);
}

gg_status gg_world_count_columns(gg_world *w, const float *lower, const float *upper, const int32_t *shape,
                                 int64_t *counts, gg_memory_space space) {
    gg_access a;
    gg_status status = grid_of(w, lower, upper, shape, 2, &a);
    a.tally_kind = GG_TALLY_COLUMNS;
    return tally(w, &a, counts, space, status);
}
