/* cameras.cuh: images of cameras on a GPU. */
#ifndef GG_CAMERAS_CUH
#define GG_CAMERAS_CUH

#include "team.cuh"

/* Renders the bands of v->access.camera where the env is listed. A block renders a band of rows that fits shared memory:
 * one thread per grain, then one per pixel for tools. Whose surfaces are seen stays in global memory: it is written about
 * once a pixel, by grains in a second turn, when the nearest depth is known. */
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
        strip.normal = NULL;
        strip.crowded = 1;
        int32_t pixels = (strip.row_end - strip.row_begin) * camera->width;
        int64_t first = gg_depth_first(v, e) + (int64_t)strip.row_begin * camera->width;
        float *image = v->depth + first;
        int32_t *seen = v->access.camera_seen ? v->seen + first : NULL;
        strip.depth = pixels <= GG_TILE ? gg_near_memory() : image;
        for (int32_t k = threadIdx.x; k < pixels; k += GG_THREADS) {
            strip.depth[k] = lens.far_depth;
            if (seen) {
                seen[k] = INT32_MAX;
            }
        }
        __syncthreads();
        /* of continuous matter the depths of this turn are not the last */
        int32_t turns = seen && !v->dims.continuum.envs ? 2 : 1;
        for (int32_t turn = 0; turn < turns; turn++) {
            strip.id = turn ? seen : NULL;
            for (int64_t slot = threadIdx.x; lens.usable && slot < v->dims.slots; slot += GG_THREADS) {
                gg_strip_slot(&strip, &lens, v, e, slot);
            }
            __syncthreads();
        }
        for (int32_t k = threadIdx.x; lens.usable && k < pixels; k += GG_THREADS) {
            gg_strip one = strip;
            one.row_begin += k / camera->width;
            one.row_end = one.row_begin + 1;
            one.column_begin = k % camera->width;
            one.column_end = one.column_begin + 1;
            one.depth += k - one.column_begin;
            one.id = seen ? seen + k - one.column_begin : NULL;
            one.crowded = 0;
            if (v->dims.continuum.envs && strip.depth[k] < lens.far_depth) {
                float x = gg_lens_column(&lens, one.column_begin), y = gg_lens_row(&lens, one.row_begin);
                float t = gg_matter_trace(&lens, v, e, x, y, strip.depth[k]);
                strip.depth[k] = gg_minf(t, lens.far_depth);
                if (seen && t < lens.far_depth) {
                    gg_vec3 origin, direction;
                    gg_lens_ray(&lens, x, y, &origin, &direction);
                    seen[k] = gg_matter_face_at(v, e, gg_madd(origin, direction, t)).id;
                }
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

/* a thread a pixel */
__device__ __forceinline__ void gg_gpu_read_colors(const gg_gpu_team *team, const gg_view *v, int64_t e, int32_t) {
    const gg_camera *camera = &v->cameras[v->access.camera];
    gg_lens lens = gg_lens_make(camera, gg_camera_pose(v, e, camera));
    for (int64_t i = gg_team_rank(team); i < v->access.pixel_count; i += gg_team_size(team)) {
        gg_seen_color_pixel(v, e, &lens, i);
    }
}

#endif
