/* camera.h: description of a camera. Rendering: sensors/depth.h (for learners) and sensors/shade.h (for people). */
#ifndef GG_CAMERA_H
#define GG_CAMERA_H

#include "shape.h"

typedef enum gg_camera_kind {
    GG_CAMERA_NONE = 0,
    GG_CAMERA_PERSPECTIVE,  /* extent = tan(half the vertical field of view) */
    GG_CAMERA_ORTHOGRAPHIC, /* extent = half the height of the image in the world [m] */
} gg_camera_kind;

/* Camera frame: +x right in the image, +y down, +z along the view. Pixel (row, column) looks through its centre.
 * Depth is measured along +z [m]; a ray that hits nothing, or nothing between near and far, reads exactly `far`. */
typedef struct gg_camera {
    int32_t kind;
    int32_t height, width;       /* pixels */
    int32_t tool;                /* tool it is mounted on, -1: fixed in the world */
    gg_pose pose;                /* camera frame in the tool's frame, or in the world */
    float extent;                /* vertical half extent, see gg_camera_kind; pixels are square */
    float near_depth, far_depth; /* [m] */
    int64_t first_pixel;         /* in the depth image of an env; env e starts at e * gg_dims.pixels */
} gg_camera;

#endif
