/* cameras.cuh: depth images on a GPU. */
#ifndef GG_CAMERAS_CUH
#define GG_CAMERAS_CUH

#include "team.cuh"

/* Renders the bands of v->access.camera where the env is listed. A block renders a band of rows that fits shared memory:
 * one thread per grain, then one per pixel for tools. */
__device__ __forceinline__ void gg_gpu_render_depth(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    if (v->access.listed[e] < 0) {
        return;
    }
    const gg_camera *camera = &v->cameras[v->access.camera];
    int32_t rows = GG_MIN(GG_MAX(GG_TILE / camera->width, 1), camera->height);
    int64_t bands = (camera->height + rows - 1) / rows;
    for (int64_t band = team->block; band < bands; band += team->blocks) {
        gg_lens lens = gg_lens_make(camera, gg_camera_pose(v, e, camera));
        gg_strip strip;
        strip.row_begin = (int32_t)band * rows;
        strip.row_end = GG_MIN(strip.row_begin + rows, camera->height);
        strip.column_begin = 0;
        strip.column_end = camera->width;
        strip.id = NULL;
        strip.normal = NULL;
        int32_t pixels = (strip.row_end - strip.row_begin) * camera->width;
        float *image = v->depth + e * v->dims.pixels + camera->first_pixel + (int64_t)strip.row_begin * camera->width;
        strip.depth = pixels <= GG_TILE ? gg_near_memory() : image;
        for (int32_t k = threadIdx.x; k < pixels; k += GG_THREADS) {
            strip.depth[k] = lens.far_depth;
        }
        __syncthreads();
        for (int64_t slot = threadIdx.x; lens.usable && slot < v->dims.slots; slot += GG_THREADS) {
            gg_strip_slot(&strip, &lens, v, e, slot);
        }
        __syncthreads();
        for (int32_t k = threadIdx.x; lens.usable && k < pixels; k += GG_THREADS) {
            gg_strip one = strip;
            one.row_begin += k / camera->width;
            one.row_end = one.row_begin + 1;
            one.column_begin = k % camera->width;
            one.column_end = one.column_begin + 1;
            one.depth += k - one.column_begin;
            if (v->dims.continuum.envs && strip.depth[k] < lens.far_depth) {
                float x = gg_lens_column(&lens, one.column_begin), y = gg_lens_row(&lens, one.row_begin);
                float t = gg_matter_trace(&lens, v, e, x, y, strip.depth[k]);
                strip.depth[k] = gg_minf(t, lens.far_depth);
            }
            gg_strip_parts(&one, &lens, v, e, GG_STRIP_WALLS_FLOOR);
        }
        __syncthreads();
        for (int32_t k = threadIdx.x; strip.depth != image && k < pixels; k += GG_THREADS) {
            image[k] = strip.depth[k];
        }
        __syncthreads();
    }
}

#endif
