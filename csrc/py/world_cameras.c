/* world_cameras.c: methods of _core.World that render: images of its cameras, and pictures for people. */
#include "device_array.h"

int gg_py_camera_index(const world_object *self, PyObject *object, int64_t *camera, npy_intp *shape) {
    if (self->camera_count == 0) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT], "camera: this world has none");
        return -1;
    }
    if (gg_py_integer(self->state, "camera", object, 0, self->camera_count - 1, camera)) {
        return -1;
    }
    PyObject *size = PyTuple_GetItem(self->camera_sizes, *camera);
    shape[0] = (npy_intp)self->env_count;
    shape[1] = (npy_intp)PyLong_AsLong(PyTuple_GetItem(size, 0));
    shape[2] = (npy_intp)PyLong_AsLong(PyTuple_GetItem(size, 1));
    return 0;
}

WORLD_METHOD(depth) {
    int64_t camera = 0;
    int device = 0;
    npy_intp shape[3];
    PyObject *object;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "O|p:depth", &object, &device) ||
        gg_py_camera_index(self, object, &camera, shape) || gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_FLOAT32, 3, shape, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_depth(self->world, (int32_t)camera, out.data, out.space));
    return gg_py_finish(self, status, out.object);
}

WORLD_METHOD(depth_image) {
    int64_t camera = 0;
    int bytes = 0, device = 0;
    double near_depth = 0.0, far_depth = 0.0;
    npy_intp shape[3];
    PyObject *object;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "Oddp|p:depth_image", &object, &near_depth, &far_depth, &bytes, &device) ||
        gg_py_camera_index(self, object, &camera, shape) || gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, bytes ? NPY_UINT8 : NPY_FLOAT32, 3, shape, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_depth_image(self->world, (int32_t)camera, near_depth, far_depth,
                                              bytes ? NULL : out.data, bytes ? out.data : NULL, out.space));
    return gg_py_finish(self, status, out.object);
}

WORLD_METHOD(segmentation) {
    int64_t camera = 0;
    int bytes = 0, floor = 0, device = 0;
    npy_intp shape[3];
    PyObject *object;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "Opp|p:segmentation", &object, &bytes, &floor, &device) ||
        gg_py_camera_index(self, object, &camera, shape) || gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, bytes ? NPY_UINT8 : NPY_INT32, 3, shape, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_segmentation(self->world, (int32_t)camera, floor, bytes ? NULL : out.data,
                                               bytes ? out.data : NULL, out.space));
    return gg_py_finish(self, status, out.object);
}

WORLD_METHOD(color) {
    int64_t camera = 0;
    int floor = 0, first = 0, device = 0;
    PyObject *object, *grain_color, *tool_color, *background_object, *light_object;
    gg_py_out out;
    gg_paint paint;
    memset(&paint, 0, sizeof paint);
    if (!PyArg_ParseTuple(argument, "OOOOOfpp|p:color", &object, &grain_color, &tool_color, &background_object,
                          &light_object, &paint.ambient, &floor, &first, &device)) {
        return NULL;
    }
    npy_intp shape[4] = {0, 0, 0, 3}, planes[4] = {0, 3, 0, 0}, three[1] = {3};
    npy_intp grain_shape[3] = {(npy_intp)self->env_count, (npy_intp)self->grain_count, 3};
    int own = PyArray_Check(grain_color) && PyArray_NDIM((PyArrayObject *)grain_color) == 3; /* of each env */
    npy_intp tool_shape[2] = {GG_WALL_COUNT + (npy_intp)self->tool_count, 3};
    const uint8_t *background = gg_py_array(self->state, "background", background_object, NPY_UINT8, 1, three);
    const float *light = background ? gg_py_array(self->state, "light", light_object, NPY_FLOAT32, 1, three) : NULL;
    if (!light || gg_py_camera_index(self, object, &camera, shape) ||
        gg_py_array_or_none(self->state, "grain_colors", grain_color, NPY_UINT8, own ? 3 : 2, grain_shape + !own,
                            (void *)&paint.grain_color)) {
        return NULL;
    }
    paint.grain_stride = own ? 3 * self->grain_count : 0;
    paint.tool_color = gg_py_array(self->state, "tool_colors", tool_color, NPY_UINT8, 2, tool_shape);
    if (!paint.tool_color || gg_py_begin(self)) {
        return NULL;
    }
    memcpy(paint.background, background, 3);
    paint.light = gg_v3(light[0], light[1], light[2]);
    for (int k = 0; k < 3; k++) {
        planes[k ? k + 1 : 0] = shape[k];
    }
    if (gg_py_out_new(self, device, NPY_UINT8, 4, first ? planes : shape, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_color(self->world, (int32_t)camera, floor, first, &paint, out.data, out.space));
    return gg_py_finish(self, status, out.object);
}

/* an env, and a camera as integers and floats; returns 0, or -1 with an exception set */
static int parse_view(const world_object *self, PyObject *env_object, PyObject *integers_object,
                      PyObject *floats_object, int64_t *env, gg_camera *camera) {
    npy_intp four[1] = {4}, ten[1] = {10};
    const int32_t *integers = gg_py_array(self->state, "camera_integers", integers_object, NPY_INT32, 1, four);
    const float *floats =
        integers ? gg_py_array(self->state, "camera_floats", floats_object, NPY_FLOAT32, 1, ten) : NULL;
    if (!floats || gg_py_check_poses(self->state, "camera_floats", floats, 1) ||
        gg_py_integer(self->state, "env", env_object, 0, self->env_count - 1, env)) {
        return -1;
    }
    *camera = gg_py_camera(integers, floats);
    if (camera->height < 1 || camera->width < 1 || camera->height > 16384 || camera->width > 16384 ||
        camera->tool < -1 || camera->tool >= self->tool_count) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT],
                     "camera: expected 1 .. 16384 pixels and a tool of this world, got %d x %d on tool %d",
                     (int)camera->height, (int)camera->width, (int)camera->tool);
        return -1;
    }
    return 0;
}

WORLD_METHOD(picture) {
    PyObject *env_object, *integers_object, *floats_object, *light_object, *grain_color, *tool_color, *mark;
    int show_walls = 0, samples = 0;
    int64_t env = 0;
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    if (!PyArg_ParseTuple(argument, "OOOOOOOpi:picture", &env_object, &integers_object, &floats_object, &light_object,
                          &grain_color, &tool_color, &mark, &show_walls, &samples)) {
        return NULL;
    }
    npy_intp three[1] = {3}, mark_shape[1] = {GG_MARK_SIZE}, grain_shape[2] = {(npy_intp)self->grain_count, 3};
    npy_intp tool_shape[2] = {GG_WALL_COUNT + (npy_intp)self->tool_count, 3};
    const float *light = gg_py_array(self->state, "light", light_object, NPY_FLOAT32, 1, three);
    if (!light || parse_view(self, env_object, integers_object, floats_object, &env, &picture.camera) ||
        gg_py_array_or_none(self->state, "grain_colors", grain_color, NPY_UINT8, 2, grain_shape,
                            (void *)&picture.grain_color) ||
        gg_py_array_or_none(self->state, "tool_colors", tool_color, NPY_UINT8, 2, tool_shape,
                            (void *)&picture.tool_color) ||
        gg_py_array_or_none(self->state, "floor_mark", mark, NPY_FLOAT32, 1, mark_shape, (void *)&picture.floor_mark)) {
        return NULL;
    }
    picture.light = gg_v3(light[0], light[1], light[2]);
    picture.show_walls = show_walls;
    picture.samples = samples;
    if (gg_py_begin(self)) {
        return NULL;
    }
    PyObject *out = gg_py_zeros(NPY_UINT8, picture.camera.height, picture.camera.width, 3);
    if (!out) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_picture(self->world, env, &picture, gg_py_data(out)));
    return gg_py_finish(self, status, out);
}

WORLD_METHOD(picture_depth) {
    PyObject *env_object, *integers_object, *floats_object;
    int64_t env = 0;
    gg_camera camera;
    if (!PyArg_ParseTuple(argument, "OOO:picture_depth", &env_object, &integers_object, &floats_object) ||
        parse_view(self, env_object, integers_object, floats_object, &env, &camera) || gg_py_begin(self)) {
        return NULL;
    }
    npy_intp shape[2] = {camera.height, camera.width};
    PyObject *out = PyArray_SimpleNew(2, shape, NPY_FLOAT32);
    if (!out) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_picture_depth(self->world, env, &camera, gg_py_data(out)));
    return gg_py_finish(self, status, out);
}
