/* images.c: images of cameras: depth, whose surfaces, colours; and pictures for people. */
#include <string.h>

#include "../sensors/picture.h"
#include "world.h"

/* what an image of a camera in an env shows of the present state: `drawn` in gg_world */
enum { DRAWN_DEPTH = 1, DRAWN_SEEN = 2 };

/* memory for whose surfaces pixels see, which few worlds are asked for */
static gg_status keep_seen(gg_world *w) {
    gg_dims dims = w->view.dims;
    dims.seen_pixels = dims.pixels;
    return w->view.dims.seen_pixels == dims.pixels ? GG_OK : gg_arena_resize(w, dims);
}

/* Draws one camera, in the envs where its image does not show the present state. Depths bring with them whose surfaces
 * they are where that was asked for since they were drawn before: then it is asked for again. */
static gg_status render(gg_world *w, int32_t camera, int seen) {
    const gg_dims *d = &w->view.dims;
    GG_EXPECT(gg_message_of(w), camera >= 0 && camera < d->camera_count, "camera: expected an index in [0, %d), got %d",
              (int)d->camera_count, (int)camera);
    gg_status status = seen ? keep_seen(w) : GG_OK;
    uint8_t *drawn = w->drawn + camera * d->env_count, needed = seen ? DRAWN_SEEN : DRAWN_DEPTH;
    int64_t stale = 0;
    for (int64_t e = 0; e < d->env_count; e++) {
        w->listed[e] = drawn[e] & needed ? -1 : stale++;
    }
    if (status != GG_OK) {
        return status;
    }
    if (!stale) {
        w->seen_wanted[camera] |= (uint8_t)seen;
        return GG_OK;
    }
    gg_access a = gg_access_of_envs(w, &status);
    a.camera = camera;
    a.camera_bands = gg_depth_camera_bands(&w->scene.cameras[camera]);
    /* bands share what is prepared for an image: threads that have enough of them take whole ones */
    a.camera_whole = stale >= w->thread_count;
    a.camera_seen = seen || w->seen_wanted[camera];
    const gg_phase phases[] = {GG_PHASE_order_matter, GG_PHASE_render_depth};
    int first = d->continuum.envs ? 0 : 1;
    status = gg_access_run(w, &a, phases + first, 2 - first, status);
    if (status == GG_OK) {
        for (int64_t e = 0; e < d->env_count; e++) {
            drawn[e] = w->listed[e] < 0 ? drawn[e] : a.camera_seen ? DRAWN_DEPTH | DRAWN_SEEN : DRAWN_DEPTH;
        }
        w->seen_wanted[camera] = (uint8_t)seen;
        w->drawn_count += stale;
    }
    return status;
}

gg_status gg_world_depth(gg_world *w, int32_t camera, float *depth, gg_memory_space space) {
    const gg_dims *d = &w->view.dims;
    gg_status status = render(w, camera, 0);
    if (status != GG_OK) {
        return status;
    }
    const gg_camera *c = &w->scene.cameras[camera];
    size_t width = sizeof(float) * (size_t)c->height * (size_t)c->width;
    return gg_memory_copy(w, depth, width, w->view.depth + c->first_pixel, sizeof(float) * (size_t)d->pixels, width,
                          (size_t)d->env_count, space == GG_DEVICE ? GG_ON_DEVICE : GG_TO_HOST);
}

gg_status gg_world_depth_image(gg_world *w, int32_t camera, double near_depth, double far_depth, float *metres,
                               uint8_t *bytes, gg_memory_space space) {
    gg_access a;
    memset(&a, 0, sizeof a);
    a.depth_near = (float)near_depth;
    a.depth_far = (float)far_depth;
    a.depth_span = (float)(far_depth - near_depth);
    GG_EXPECT(gg_message_of(w),
              gg_finite(a.depth_near) && gg_finite(a.depth_far) && gg_finite(a.depth_span) && a.depth_span > 0.0f,
              "limits: expected finite near < far [m], got %g and %g", near_depth, far_depth);
    gg_status status = render(w, camera, 0);
    if (status != GG_OK) {
        return status;
    }
    const gg_camera *c = &w->scene.cameras[camera];
    a.pixel_first = c->first_pixel;
    a.pixel_count = (int64_t)c->height * c->width;
    size_t pixels = (size_t)(a.pixel_count * w->view.dims.env_count);
    a.metres = gg_stage_output(w, GG_STAGING_A, metres, pixels * sizeof(float), space, &status);
    a.bytes = gg_stage_output(w, GG_STAGING_B, bytes, pixels, space, &status);
    const gg_phase phase = GG_PHASE_read_depth;
    status = gg_access_run(w, &a, &phase, 1, status);
    const gg_copy_run outputs[] = {{metres, a.metres, pixels * sizeof(float)}, {bytes, a.bytes, pixels}};
    return status == GG_OK ? gg_fetch_outputs(w, outputs, 2) : status;
}

/* draws whose surfaces a camera sees, and sets what reading that takes; `bytes` a pixel go to *out, which is moved to
 * where phases can write */
static gg_status open_seen(gg_world *w, int32_t camera, gg_access *a, void **out, size_t bytes, gg_memory_space space) {
    gg_status status = render(w, camera, 1);
    if (status != GG_OK) {
        return status;
    }
    const gg_camera *c = &w->scene.cameras[camera];
    for (int64_t e = 0; e < w->view.dims.env_count; e++) {
        w->listed[e] = e;
    }
    *a = gg_access_of_envs(w, &status);
    a->camera = camera;
    a->camera_bands = gg_depth_camera_bands(c);
    a->pixel_count = (int64_t)c->height * c->width;
    *out = gg_stage_output(w, GG_STAGING_A, *out, (size_t)(a->pixel_count * w->view.dims.env_count) * bytes, space,
                           &status);
    return status;
}

gg_status gg_world_segmentation(gg_world *w, int32_t camera, int far_is_floor, int32_t *codes, uint8_t *classes,
                                gg_memory_space space) {
    GG_EXPECT(gg_message_of(w), codes || w->view.dims.tool_count - GG_WALL_COUNT <= GG_CLASS_TOOLS,
              "dtype: expected int32 where there are more than %d tools, got uint8 with %d", (int)GG_CLASS_TOOLS,
              (int)(w->view.dims.tool_count - GG_WALL_COUNT));
    gg_access a;
    void *out = codes ? (void *)codes : (void *)classes, *staged = out;
    size_t width = codes ? sizeof *codes : sizeof *classes;
    gg_status status = open_seen(w, camera, &a, &staged, width, space);
    if (status != GG_OK) {
        return status;
    }
    a.far_is_floor = far_is_floor;
    a.codes = codes ? staged : NULL;
    a.bytes = codes ? NULL : staged;
    const gg_phase phase = GG_PHASE_read_codes;
    status = gg_access_run(w, &a, &phase, 1, status);
    const gg_copy_run output = {out, staged, width * (size_t)(a.pixel_count * w->view.dims.env_count)};
    return status == GG_OK ? gg_fetch_outputs(w, &output, 1) : status;
}

gg_status gg_world_color(gg_world *w, int32_t camera, int far_is_floor, int channels_first, const gg_paint *paint,
                         uint8_t *rgb, gg_memory_space space) {
    const gg_dims *d = &w->view.dims;
    float length = gg_norm(paint->light);
    GG_EXPECT(gg_message_of(w), length > 0.0f && gg_finite(length), "light: expected a direction, got (%g, %g, %g)",
              paint->light.x, paint->light.y, paint->light.z);
    GG_EXPECT(gg_message_of(w), paint->ambient >= 0.0f && paint->ambient <= 1.0f,
              "ambient: expected a share in [0, 1], got %g", paint->ambient);
    GG_EXPECT(gg_message_of(w), paint->tool_color, "tool_color: expected the colours of walls and tools, got NULL");
    GG_EXPECT(gg_message_of(w), paint->grain_stride == 0 || paint->grain_stride == 3 * d->grain_count,
              "grain_colors: expected those of all envs or of each, got a stride of %lld bytes",
              (long long)paint->grain_stride);
    gg_access a;
    void *staged = rgb;
    gg_status status = open_seen(w, camera, &a, &staged, 3, space);
    if (status != GG_OK) {
        return status;
    }
    a.bytes = staged;
    a.far_is_floor = far_is_floor;
    a.channel_step = channels_first ? a.pixel_count : 1;
    a.paint = *paint;
    a.paint.light = gg_scale(paint->light, 1.0f / length);
    size_t colors = 3 * (size_t)d->grain_count * (size_t)(paint->grain_stride ? d->env_count : 1);
    a.paint.grain_color = gg_stage_input(w, GG_STAGING_B, paint->grain_color, colors, &status);
    a.paint.tool_color = gg_stage_input(w, GG_STAGING_C, paint->tool_color, 3 * (size_t)d->tool_count, &status);
    /* normals of continuous matter look at its cells, which a step or another env's picture may have used since */
    const gg_phase phases[] = {GG_PHASE_order_matter, GG_PHASE_read_colors};
    int first = d->continuum.envs ? 0 : 1;
    status = gg_access_run(w, &a, phases + first, 2 - first, status);
    const gg_copy_run output = {rgb, staged, 3 * (size_t)(a.pixel_count * d->env_count)};
    return status == GG_OK ? gg_fetch_outputs(w, &output, 1) : status;
}

/* checks a picture of an env, whose camera then counts walls among the tools, and brings what it shows to the host */
static gg_status open_picture(gg_world *w, int64_t env, gg_picture *picture, gg_view **host) {
    picture->camera.tool += picture->camera.tool >= 0 ? GG_WALL_COUNT : 0;
    gg_fields fields = GG_BIT(position) | GG_BIT(grain_id) | GG_BIT(slot_of) | GG_BIT(tool_pose) | GG_BIT(tool_active) |
                       GG_BIT(angle) | GG_BIT(material);
    gg_status status = gg_env_check(w, env);
    if (status != GG_OK || (status = gg_world_pull(w, fields, env, host)) != GG_OK) {
        return status;
    }
    if (w->view.dims.continuum.envs) {
        gg_matter_order(*host, env);
    }
    return gg_picture_check(*host, env, picture, w->message, sizeof w->message);
}

gg_status gg_world_picture(gg_world *w, int64_t env, const gg_picture *picture, uint8_t *rgb) {
    gg_picture own = *picture;
    gg_view *host;
    gg_status status = open_picture(w, env, &own, &host);
    if (status != GG_OK) {
        return status;
    }
    status = gg_picture_render(host, env, &own, &w->kernel.picture, &w->picture, w->host_threads, rgb);
    return status == GG_OK ? GG_OK : gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: picture");
}

gg_status gg_world_picture_depth(gg_world *w, int64_t env, const gg_camera *camera, float *depth) {
    gg_picture own = {.camera = *camera, .samples = 1};
    gg_view *host;
    gg_status status = open_picture(w, env, &own, &host);
    if (status == GG_OK) {
        gg_lens lens = gg_lens_make(&own.camera, gg_camera_pose(host, env, &own.camera));
        gg_draw_strip(&lens, host, env, 0, own.camera.height, depth, NULL, GG_STRIP_WALLS_FLOOR);
    }
    return status;
}
