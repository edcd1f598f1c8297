/* step_results.c: all that an env step is read for, in one call: counts, distances, wrenches, counters and depth
 * images.
 *
 * Each reader runs its phases and leaves its outputs in a staging buffer; one fetch brings them all to the host.
 */
#include "world.h"

static gg_status read_counts(gg_world *w, const gg_step_results *r) {
    gg_status status = GG_OK;
    if (r->box_count) {
        status = gg_world_box_stats(w, r->boxes, r->box_count, r->box_counts, r->box_distances, GG_HOST);
    }
    if (status == GG_OK && r->turned_box_count) {
        status = gg_world_count_boxes(w, r->turned_boxes, r->turned_box_count, r->turned_box_counts, GG_HOST);
    }
    if (status == GG_OK && r->cells.counts) {
        const gg_grid_result *g = &r->cells;
        status = gg_world_count_cells(w, g->lower, g->upper, g->shape, g->labels, g->counts, GG_HOST);
    }
    if (status == GG_OK && r->columns.counts) {
        const gg_grid_result *g = &r->columns;
        status = gg_world_count_columns(w, g->lower, g->upper, g->shape, g->counts, GG_HOST);
    }
    return status;
}

/* the images that go to this memory space */
static gg_status read_images(gg_world *w, const gg_step_results *r, gg_memory_space space) {
    gg_status status = GG_OK;
    for (int32_t k = 0; status == GG_OK && k < r->image_count; k++) {
        const gg_image_result *i = &r->images[k];
        if (i->space == space) {
            status = gg_world_depth_image(w, i->camera, i->near_depth, i->far_depth, i->metres, i->bytes, space);
        }
    }
    return status;
}

gg_status gg_world_read_results(gg_world *w, const gg_step_results *r) {
    GG_EXPECT(gg_message_of(w), r->image_count >= 0 && r->image_count <= GG_RESULT_IMAGES,
              "images: expected at most %d, got %d", GG_RESULT_IMAGES, (int)r->image_count);
    gg_collect_outputs(w);
    gg_status status = read_counts(w, r);
    if (status == GG_OK && r->wrenches) {
        status = gg_world_get_wrenches(w, r->wrenches, NULL, GG_HOST);
    }
    status = status == GG_OK ? read_images(w, r, GG_HOST) : status;
    gg_status fetched = gg_fetch_collected(w);
    status = status == GG_OK ? fetched : status;
    if (status == GG_OK && r->stats) {
        status = gg_world_get_stats(w, r->stats);
    }
    return status == GG_OK ? read_images(w, r, GG_DEVICE) : status;
}
