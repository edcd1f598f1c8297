/* world_readout.c: methods of _core.World that move and read tools, and read counters and cameras.
 *
 * What is read lies in a fresh NumPy array or, where `device` is set, in a DeviceArray.
 */
#include "device_array.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------- tools and read-out */

WORLD_METHOD(get_tool_poses) {
    int device = 0;
    gg_py_out out;
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->tool_count, 7};
    if (!PyArg_ParseTuple(argument, "|p:get_tool_poses", &device) || begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_FLOAT32, 3, shape, &out)) {
        return refuse(self);
    }
    return finish(self, gg_world_get_tool_poses(self->world, out.data, out.place), out.object);
}

WORLD_METHOD(set_tool_poses) {
    PyObject *envs_object, *poses_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OO:set_tool_poses", &envs_object, &poses_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)listed, (npy_intp)self->tool_count, 7};
    const float *poses = gg_py_array(self->state, "poses", poses_object, NPY_FLOAT32, 3, shape);
    if (!poses || gg_py_check_poses(self->state, "poses", poses, listed * self->tool_count) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_tool_poses(self->world, envs, listed, poses));
}

WORLD_METHOD(get_wrenches) {
    int walls = 0, device = 0;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "p|p:get_wrenches", &walls, &device) || begin(self)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)self->env_count, walls ? GG_WALL_COUNT : (npy_intp)self->tool_count, 6};
    if (gg_py_out_new(self, device, NPY_FLOAT32, 3, shape, &out)) {
        return refuse(self);
    }
    gg_status status = gg_world_get_wrenches(self->world, walls ? NULL : out.data, walls ? out.data : NULL, out.place);
    return finish(self, status, out.object);
}

WORLD_METHOD(get_contacts) {
    long long env = PyLong_AsLongLong(argument);
    int64_t count = 0;
    double dt = 0.0;
    if ((env == -1 && PyErr_Occurred()) || begin(self)) {
        return NULL;
    }
    gg_status status = gg_world_get_contacts(self->world, env, 0, NULL, NULL, &count, &dt);
    npy_intp shape[2] = {(npy_intp)count, 2}, shape3[2] = {(npy_intp)count, 3};
    PyObject *pairs = PyArray_SimpleNew(2, shape, NPY_INT32), *impulses = PyArray_SimpleNew(2, shape3, NPY_FLOAT32);
    PyObject *result = pairs && impulses ? Py_BuildValue("(OOd)", pairs, impulses, dt) : NULL;
    if (status == GG_OK && result) {
        status = gg_world_get_contacts(self->world, env, count, data_of(pairs), data_of(impulses), &count, &dt);
    }
    Py_XDECREF(pairs);
    Py_XDECREF(impulses);
    return finish(self, status, result);
}

/* the fields of gg_env_stats, once */
#define STATS_FIELDS(X)                                                                                                \
    X(overlap_sum, double, NPY_FLOAT64)                                                                                \
    X(kinetic_energy, double, NPY_FLOAT64)                                                                             \
    X(overlap_max, float, NPY_FLOAT32)                                                                                 \
    X(overlap_max_last, float, NPY_FLOAT32)                                                                            \
    X(residual, float, NPY_FLOAT32)                                                                                    \
    X(speed_max, float, NPY_FLOAT32)                                                                                   \
    X(overlap_count, int64_t, NPY_INT64)                                                                               \
    X(contact_count, int32_t, NPY_INT32)                                                                               \
    X(tool_contact_count, int32_t, NPY_INT32)                                                                          \
    X(escaped_count, int32_t, NPY_INT32)                                                                               \
    X(fast_count, int32_t, NPY_INT32)                                                                                  \
    X(fast_tool_count, int32_t, NPY_INT32)                                                                             \
    X(rebuild_count, int32_t, NPY_INT32)                                                                               \
    X(iteration_count, int32_t, NPY_INT32)                                                                             \
    X(growth_count, int32_t, NPY_INT32)                                                                                \
    X(diverged, int32_t, NPY_INT32)

static PyObject *stats_dict(const gg_env_stats *stats, npy_intp count) {
    PyObject *dict = PyDict_New(), *array = NULL;
    if (!dict) {
        return NULL;
    }
#define PUT_FIELD(field, type, dtype)                                                                                  \
    array = PyArray_SimpleNew(1, &count, dtype);                                                                       \
    if (!array) {                                                                                                      \
        goto fail;                                                                                                     \
    }                                                                                                                  \
    for (npy_intp e = 0; e < count; e++) {                                                                             \
        ((type *)data_of(array))[e] = stats[e].field;                                                                  \
    }                                                                                                                  \
    if (PyDict_SetItemString(dict, #field, array)) {                                                                   \
        goto fail;                                                                                                     \
    }                                                                                                                  \
    Py_CLEAR(array);
    STATS_FIELDS(PUT_FIELD)
    return dict;

fail:
    Py_XDECREF(array);
    Py_DECREF(dict);
    return NULL;
}

WORLD_METHOD(get_stats) {
    (void)argument;
    gg_env_stats *stats = PyMem_Calloc((size_t)self->env_count + 1, sizeof *stats);
    PyObject *result = NULL;
    if (!stats) {
        return PyErr_NoMemory();
    }
    if (!begin(self)) {
        gg_status status = gg_world_get_stats(self->world, stats);
        result = finish(self, status, stats_dict(stats, (npy_intp)self->env_count));
    }
    PyMem_Free(stats);
    return result;
}

/* what is counted, where the env has made a step */
static double counted(double value, int fresh) { return !fresh && isfinite(value) ? value : 0.0; }

WORLD_METHOD(get_counters) {
    static const char *const names[] = {"overlap_mean", "overlap_max",   "residual", "escaped_count",
                                        "fast_count",   "contact_count", "diverged"};
    enum { REALS = 3, INTEGERS = 3, ALL = REALS + INTEGERS + 1 };
    npy_intp count = (npy_intp)self->env_count;
    const npy_bool *fresh;
    PyObject *array[ALL] = {NULL}, *dict = NULL;
    gg_env_stats *stats = NULL;
    if (gg_py_array_or_none(self->state, "fresh", argument, NPY_BOOL, 1, &count, &fresh)) {
        return NULL;
    }
    for (int k = 0; k < ALL; k++) {
        int dtype = k < REALS ? NPY_FLOAT64 : k < REALS + INTEGERS ? NPY_INT64 : NPY_BOOL;
        array[k] = PyArray_SimpleNew(1, &count, dtype);
        if (!array[k]) {
            goto done;
        }
    }
    stats = PyMem_Calloc((size_t)count + 1, sizeof *stats);
    if (!stats) {
        PyErr_NoMemory();
        goto done;
    }
    if (begin(self)) {
        goto done;
    }
    gg_status status = gg_world_get_stats(self->world, stats);
    for (npy_intp e = 0; status == GG_OK && e < count; e++) {
        const gg_env_stats *s = &stats[e];
        int none = fresh && fresh[e];
        int64_t pairs = s->overlap_count > 0 ? s->overlap_count : 1;
        ((double *)data_of(array[0]))[e] = counted(s->overlap_sum / (double)pairs, none);
        ((double *)data_of(array[1]))[e] = counted((double)s->overlap_max, none);
        ((double *)data_of(array[2]))[e] = counted((double)s->residual, none);
        ((int64_t *)data_of(array[3]))[e] = none ? 0 : s->escaped_count;
        ((int64_t *)data_of(array[4]))[e] = none ? 0 : s->fast_count;
        ((int64_t *)data_of(array[5]))[e] = none ? 0 : s->contact_count;
        ((npy_bool *)data_of(array[6]))[e] = !none && s->diverged != 0;
    }
    dict = finish(self, status, PyDict_New());
    for (int k = 0; dict && k < ALL; k++) {
        if (PyDict_SetItemString(dict, names[k], array[k])) {
            Py_CLEAR(dict);
        }
    }

done:
    PyMem_Free(stats);
    for (int k = 0; k < ALL; k++) {
        Py_XDECREF(array[k]);
    }
    return dict;
}

WORLD_METHOD(box_stats) {
    int device = 0;
    PyObject *object, *result = NULL;
    npy_intp shape[3] = {(npy_intp)self->env_count, GG_PY_ANY, 6};
    gg_py_out counts, distances = {NULL, NULL, GG_HOST};
    if (!PyArg_ParseTuple(argument, "O|p:box_stats", &object, &device)) {
        return NULL;
    }
    const float *boxes = gg_py_array(self->state, "boxes", object, NPY_FLOAT32, 3, shape);
    if (!boxes) {
        return NULL;
    }
    for (const float *box = boxes; box < boxes + 6 * shape[0] * shape[1]; box += 6) {
        if (box[0] > box[3] || box[1] > box[4] || box[2] > box[5]) {
            PyErr_SetString(self->state->error[GG_PY_ARGUMENT], "lower: expected at most upper along each axis");
            return NULL;
        }
    }
    if (begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_INT64, 2, shape, &counts) ||
        gg_py_out_new(self, device, NPY_FLOAT32, 2, shape, &distances)) {
        end(self);
        goto done;
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_box_stats(self->world, boxes, shape[1], counts.data, distances.data, counts.place));
    result = finish(self, status, Py_BuildValue("(OO)", counts.object, distances.object));

done:
    Py_XDECREF(counts.object);
    Py_XDECREF(distances.object);
    return result;
}

WORLD_METHOD(count_boxes) {
    int device = 0;
    PyObject *object;
    gg_py_out out;
    npy_intp shape[3] = {(npy_intp)self->env_count, GG_PY_ANY, 10};
    if (!PyArg_ParseTuple(argument, "O|p:count_boxes", &object, &device)) {
        return NULL;
    }
    const float *boxes = gg_py_array(self->state, "boxes", object, NPY_FLOAT32, 3, shape);
    if (!boxes || begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_INT64, 2, shape, &out)) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_count_boxes(self->world, boxes, shape[1], out.data, out.place));
    return finish(self, status, out.object);
}

/* the corners and the shape of a grid; the engine says what they may be, but memory is taken first */
static int read_grid(world_object *self, PyObject *lower_object, PyObject *upper_object, PyObject *shape_object,
                     int axes, const float **lower, const float **upper, const int32_t **shape) {
    npy_intp length = axes;
    *lower = gg_py_array(self->state, "lower", lower_object, NPY_FLOAT32, 1, &length);
    *upper = *lower ? gg_py_array(self->state, "upper", upper_object, NPY_FLOAT32, 1, &length) : NULL;
    *shape = *upper ? gg_py_array(self->state, "shape", shape_object, NPY_INT32, 1, &length) : NULL;
    int64_t cells = 1;
    for (int k = 0; *shape && k < axes; k++) {
        if ((*shape)[k] < 1 || (*shape)[k] > GG_GRID_LIMIT / cells) {
            PyErr_Format(self->state->error[GG_PY_ARGUMENT], "shape: expected 1 to %d cells in all, got %d on axis %d",
                         GG_GRID_LIMIT, (int)(*shape)[k], k);
            return -1;
        }
        cells *= (*shape)[k];
    }
    return *shape ? 0 : -1;
}

WORLD_METHOD(count_cells) {
    int device = 0;
    PyObject *lower_object, *upper_object, *shape_object, *labels_object;
    const float *lower, *upper;
    const int32_t *shape;
    const uint8_t *labels;
    gg_py_out out;
    npy_intp grains[2] = {(npy_intp)self->env_count, (npy_intp)self->grain_count};
    if (!PyArg_ParseTuple(argument, "OOOO|p:count_cells", &lower_object, &upper_object, &shape_object, &labels_object,
                          &device) ||
        read_grid(self, lower_object, upper_object, shape_object, 3, &lower, &upper, &shape) ||
        gg_py_array_or_none(self->state, "labels", labels_object, NPY_UINT8, 2, grains, &labels) || begin(self)) {
        return NULL;
    }
    npy_intp size[5] = {(npy_intp)self->env_count, shape[0], shape[1], shape[2], 2};
    if (gg_py_out_new(self, device, NPY_INT64, labels ? 5 : 4, size, &out)) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_count_cells(self->world, lower, upper, shape, labels, out.data, out.place));
    return finish(self, status, out.object);
}

WORLD_METHOD(count_columns) {
    int device = 0;
    PyObject *lower_object, *upper_object, *shape_object;
    const float *lower, *upper;
    const int32_t *shape;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "OOO|p:count_columns", &lower_object, &upper_object, &shape_object, &device) ||
        read_grid(self, lower_object, upper_object, shape_object, 2, &lower, &upper, &shape) || begin(self)) {
        return NULL;
    }
    npy_intp size[3] = {(npy_intp)self->env_count, shape[1], shape[0]};
    if (gg_py_out_new(self, device, NPY_INT64, 3, size, &out)) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_count_columns(self->world, lower, upper, shape, out.data, out.place));
    return finish(self, status, out.object);
}

WORLD_METHOD(to_device) {
    gg_py_out out;
    if (!PyArray_Check(argument) || !PyArray_ISCARRAY_RO((PyArrayObject *)argument) ||
        !gg_py_device_dtype(PyArray_TYPE((PyArrayObject *)argument)) || PyArray_NDIM((PyArrayObject *)argument) > 4) {
        PyErr_Format(
            self->state->error[GG_PY_ARGUMENT],
            "array: expected a C-contiguous NumPy array of float32, float64, int32, int64, uint8 or bool with at "
            "most 4 axes, got %R",
            Py_TYPE(argument));
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)argument;
    if (begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, 1, PyArray_TYPE(array), PyArray_NDIM(array), PyArray_DIMS(array), &out)) {
        return refuse(self);
    }
    if (gg_py_device_fill(out.object, PyArray_DATA(array))) {
        Py_CLEAR(out.object);
    }
    end(self);
    return out.object;
}

/* ----------------------------------------------------------------------------------------------------------- cameras */

/* index of a camera, and the shape of its images */
static int read_camera(const world_object *self, PyObject *object, int64_t *camera, npy_intp *shape) {
    if (self->camera_count == 0) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT], "camera: this world has none");
        return -1;
    }
    if (gg_py_integer(self->state, "camera", object, 0, self->camera_count - 1, camera)) {
        return -1;
    }
    PyObject *size = PyTuple_GET_ITEM(self->camera_sizes, *camera);
    shape[0] = (npy_intp)self->env_count;
    shape[1] = (npy_intp)PyLong_AsLong(PyTuple_GET_ITEM(size, 0));
    shape[2] = (npy_intp)PyLong_AsLong(PyTuple_GET_ITEM(size, 1));
    return 0;
}

WORLD_METHOD(depth) {
    int64_t camera = 0;
    int device = 0;
    npy_intp shape[3];
    PyObject *object;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "O|p:depth", &object, &device) || read_camera(self, object, &camera, shape) ||
        begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_FLOAT32, 3, shape, &out)) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_depth(self->world, (int32_t)camera, out.data, out.place));
    return finish(self, status, out.object);
}

WORLD_METHOD(depth_image) {
    int64_t camera = 0;
    int bytes = 0, device = 0;
    double near_depth = 0.0, far_depth = 0.0;
    npy_intp shape[3];
    PyObject *object;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "Oddp|p:depth_image", &object, &near_depth, &far_depth, &bytes, &device) ||
        read_camera(self, object, &camera, shape) || begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, bytes ? NPY_UINT8 : NPY_FLOAT32, 3, shape, &out)) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_depth_image(self->world, (int32_t)camera, near_depth, far_depth,
                                              bytes ? NULL : out.data, bytes ? out.data : NULL, out.place));
    return finish(self, status, out.object);
}

WORLD_METHOD(picture) {
    PyObject *env_object, *integers_object, *floats_object, *light_object, *grain_color, *tool_color;
    int show_walls = 0, samples = 0;
    int64_t env = 0;
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    if (!PyArg_ParseTuple(argument, "OOOOOOpi:picture", &env_object, &integers_object, &floats_object, &light_object,
                          &grain_color, &tool_color, &show_walls, &samples)) {
        return NULL;
    }
    npy_intp four[1] = {4}, ten[1] = {10}, three[1] = {3};
    npy_intp grain_shape[2] = {(npy_intp)self->grain_count, 3};
    npy_intp tool_shape[2] = {GG_WALL_COUNT + (npy_intp)self->tool_count, 3};
    const int32_t *integers = gg_py_array(self->state, "camera_integers", integers_object, NPY_INT32, 1, four);
    const float *floats =
        integers ? gg_py_array(self->state, "camera_floats", floats_object, NPY_FLOAT32, 1, ten) : NULL;
    const float *light = floats ? gg_py_array(self->state, "light", light_object, NPY_FLOAT32, 1, three) : NULL;
    if (!light || gg_py_check_poses(self->state, "camera_floats", floats, 1) ||
        gg_py_integer(self->state, "env", env_object, 0, self->env_count - 1, &env) ||
        gg_py_array_or_none(self->state, "grain_colors", grain_color, NPY_UINT8, 2, grain_shape,
                            (void *)&picture.grain_color) ||
        gg_py_array_or_none(self->state, "tool_colors", tool_color, NPY_UINT8, 2, tool_shape,
                            (void *)&picture.tool_color)) {
        return NULL;
    }
    picture.camera = gg_py_camera(integers, floats);
    picture.light = gg_v3(light[0], light[1], light[2]);
    picture.show_walls = show_walls;
    picture.samples = samples;
    if (picture.camera.height < 1 || picture.camera.width < 1 || picture.camera.height > 16384 ||
        picture.camera.width > 16384 || picture.camera.tool < -1 || picture.camera.tool >= self->tool_count) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT],
                     "camera: expected 1 .. 16384 pixels and a tool of this world, got %d x %d on tool %d",
                     (int)picture.camera.height, (int)picture.camera.width, (int)picture.camera.tool);
        return NULL;
    }
    if (begin(self)) {
        return NULL;
    }
    PyObject *out = new_array(NPY_UINT8, picture.camera.height, picture.camera.width, 3);
    if (!out) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_picture(self->world, env, &picture, data_of(out)));
    return finish(self, status, out);
}
