/* images.c: depth images of cameras, and pictures for people. */
#include <string.h>

#include "../sensors/picture.h"
#include "world.h"

/* brings the depth images of all cameras up to date, once `camera` is found to be one of them */
static gg_status render(gg_world *w, int32_t camera) {
    GG_EXPECT(gg_message_of(w), camera >= 0 && camera < w->view.dims.camera_count,
              "camera: expected an index in [0, %d), got %d", (int)w->view.dims.camera_count, (int)camera);
    gg_status status = w->depth_valid ? GG_OK : gg_world_run(w, GG_PHASE_render_depth);
    w->depth_valid = status == GG_OK;
    return status;
}

gg_status gg_world_depth(gg_world *w, int32_t camera, float *depth, gg_memory_space space) {
    const gg_dims *d = &w->view.dims;
    gg_status status = render(w, camera);
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
    gg_status status = render(w, camera);
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

gg_status gg_world_picture(gg_world *w, int64_t env, const gg_picture *picture, uint8_t *rgb) {
    gg_picture own = *picture;
    own.camera.tool += own.camera.tool >= 0 ? GG_WALL_COUNT : 0;
    gg_fields fields = GG_BIT(position) | GG_BIT(grain_id) | GG_BIT(slot_of) | GG_BIT(tool_pose) | GG_BIT(tool_active) |
                       GG_BIT(angle) | GG_BIT(material);
    gg_view *host;
    gg_status status = gg_env_check(w, env);
    if (status != GG_OK || (status = gg_world_pull(w, fields, env, &host)) != GG_OK ||
        (status = gg_picture_check(host, env, &own, w->message, sizeof w->message)) != GG_OK) {
        return status;
    }
    status = gg_picture_render(host, env, &own, w->thread_count, rgb);
    return status == GG_OK ? GG_OK : gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: picture");
}
