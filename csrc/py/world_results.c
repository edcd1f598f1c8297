/* world_results.c: the method of _core.World that reads all that an env step needs in one call. */
#include "device_array.h"

/* places in the tuple that read_results returns; None: not asked for */
enum {
    BOX_COUNTS,
    BOX_DISTANCES,
    TURNED_COUNTS,
    CELL_COUNTS,
    COLUMN_COUNTS,
    WRENCHES,
    COUNTERS,
    FAST_TOOLS,
    IMAGES,
    RESULT_COUNT
};

/* data of a new host array at its place in the results; NULL with an exception set */
static void *new_result(PyObject *results, int place, int dtype, int ndim, npy_intp *shape) {
    PyObject *array = PyArray_SimpleNew(ndim, shape, dtype);
    if (!array) {
        return NULL;
    }
    PyTuple_SetItem(results, place, array);
    return gg_py_data(array);
}

/* boxes along the axes, (env_count, n, 6); None: none. Returns 0 or -1. */
static int ask_boxes(world_object *self, PyObject *object, PyObject *results, gg_step_results *out) {
    npy_intp shape[3] = {(npy_intp)self->env_count, GG_PY_ANY, 6};
    if (object == Py_None) {
        return 0;
    }
    out->boxes = gg_py_buffer(self->state, "boxes", object, NPY_FLOAT32, 3, shape);
    if (!out->boxes) {
        return -1;
    }
    out->box_count = shape[1];
    out->box_counts = new_result(results, BOX_COUNTS, NPY_INT64, 2, shape);
    out->box_distances = out->box_counts ? new_result(results, BOX_DISTANCES, NPY_FLOAT32, 2, shape) : NULL;
    return out->box_distances ? 0 : -1;
}

/* boxes of any rotation, (env_count, n, 10); None: none. Returns 0 or -1. */
static int ask_turned_boxes(world_object *self, PyObject *object, PyObject *results, gg_step_results *out) {
    npy_intp shape[3] = {(npy_intp)self->env_count, GG_PY_ANY, 10};
    if (object == Py_None) {
        return 0;
    }
    out->turned_boxes = gg_py_buffer(self->state, "boxes", object, NPY_FLOAT32, 3, shape);
    if (!out->turned_boxes) {
        return -1;
    }
    out->turned_box_count = shape[1];
    out->turned_box_counts = new_result(results, TURNED_COUNTS, NPY_INT64, 2, shape);
    return out->turned_box_counts ? 0 : -1;
}

/* a grid (lower, upper, shape), which `read` then holds, labels of the grains or None; None: no grid. Returns 0 or -1. */
static int ask_grid(world_object *self, PyObject *grid, PyObject *labels, int axes, PyObject *results, gg_py_grid *read,
                    gg_grid_result *out) {
    PyObject *lower, *upper, *cells;
    npy_intp grains[2] = {(npy_intp)self->env_count, (npy_intp)self->grain_count};
    if (grid == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(grid)) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT], "grid: expected a tuple of lower, upper and shape");
        return -1;
    }
    if (!PyArg_ParseTuple(grid, "OOO:grid", &lower, &upper, &cells) ||
        gg_py_grid_read(self, lower, upper, cells, axes, read) ||
        gg_py_array_or_none(self->state, "labels", labels, NPY_UINT8, 2, grains, (void *)&out->labels)) {
        return -1;
    }
    const int32_t *n = out->shape = read->shape;
    out->lower = read->lower;
    out->upper = read->upper;
    if (axes == 2) {
        npy_intp shape[3] = {(npy_intp)self->env_count, n[1], n[0]};
        out->counts = new_result(results, COLUMN_COUNTS, NPY_INT64, 3, shape);
    } else {
        npy_intp shape[5] = {(npy_intp)self->env_count, n[0], n[1], n[2], 2};
        out->counts = new_result(results, CELL_COUNTS, NPY_INT64, out->labels ? 5 : 4, shape);
    }
    return out->counts ? 0 : -1;
}

/* Images (camera, near, far, whether as bytes) and their new arrays; between gg_py_begin and gg_py_end. Returns 0 or
 * -1. */
static int ask_images(world_object *self, PyObject *list, int device, PyObject *results, gg_image_result *images) {
    Py_ssize_t count = PyTuple_Size(list);
    PyObject *arrays = PyTuple_New(count);
    if (!arrays) {
        return -1;
    }
    PyTuple_SetItem(results, IMAGES, arrays);
    for (Py_ssize_t k = 0; k < count; k++) {
        gg_image_result *image = &images[k];
        PyObject *camera_object;
        int64_t camera;
        int bytes = 0;
        npy_intp shape[3];
        gg_py_out out;
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, k), "Oddp:image", &camera_object, &image->near_depth,
                              &image->far_depth, &bytes) ||
            gg_py_camera_index(self, camera_object, &camera, shape) ||
            gg_py_out_new(self, device, bytes ? NPY_UINT8 : NPY_FLOAT32, 3, shape, &out)) {
            return -1;
        }
        PyTuple_SetItem(arrays, k, out.object);
        image->camera = (int32_t)camera;
        image->metres = bytes ? NULL : out.data;
        image->bytes = bytes ? out.data : NULL;
        image->space = out.space;
    }
    return 0;
}

/* whether the argument is a tuple of at most GG_RESULT_IMAGES tuples; -1: it is not, and ArgumentError is set */
static int check_images(world_object *self, PyObject *list) {
    int fits = PyTuple_Check(list) && PyTuple_Size(list) <= GG_RESULT_IMAGES;
    for (Py_ssize_t k = 0; fits && k < PyTuple_Size(list); k++) {
        fits = PyTuple_Check(PyTuple_GetItem(list, k));
    }
    if (!fits) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT], "images: expected a tuple of at most %d tuples",
                     GG_RESULT_IMAGES);
        return -1;
    }
    return 0;
}

/* counters by name, and tools that were too fast, at their places in the results. Returns 0 or -1. */
static int put_counters(const gg_env_stats *stats, npy_intp count, const npy_bool *fresh, PyObject *results) {
    PyObject *counters = gg_py_counters(stats, count, fresh);
    int64_t *fast = counters ? new_result(results, FAST_TOOLS, NPY_INT64, 1, &count) : NULL;
    if (!fast) {
        Py_XDECREF(counters);
        return -1;
    }
    for (npy_intp e = 0; e < count; e++) {
        fast[e] = fresh && fresh[e] ? 0 : stats[e].fast_tool_count;
    }
    PyTuple_SetItem(results, COUNTERS, counters);
    return 0;
}

WORLD_METHOD(read_results) {
    PyObject *boxes, *turned, *cells, *labels, *columns, *images, *fresh_object;
    const npy_bool *fresh;
    int wrenches = 0, device = 0;
    npy_intp count = (npy_intp)self->env_count, wrench_shape[3] = {count, (npy_intp)self->tool_count, 6};
    gg_image_result image[GG_RESULT_IMAGES];
    gg_step_results asked;
    gg_py_grid cell_grid, column_grid;
    memset(&asked, 0, sizeof asked);
    if (!PyArg_ParseTuple(argument, "OOOOOpOOp:read_results", &boxes, &turned, &cells, &labels, &columns, &wrenches,
                          &images, &fresh_object, &device) ||
        check_images(self, images) ||
        gg_py_array_or_none(self->state, "fresh", fresh_object, NPY_BOOL, 1, &count, (void *)&fresh)) {
        return NULL;
    }
    PyObject *results = PyTuple_New(RESULT_COUNT);
    gg_env_stats *stats = PyMem_Calloc((size_t)count + 1, sizeof *stats);
    for (int k = 0; results && k < RESULT_COUNT; k++) {
        PyTuple_SetItem(results, k, Py_NewRef(Py_None));
    }
    if (!results || !stats) {
        PyErr_NoMemory();
        goto fail;
    }
    if (ask_boxes(self, boxes, results, &asked) || ask_turned_boxes(self, turned, results, &asked) ||
        ask_grid(self, cells, labels, 3, results, &cell_grid, &asked.cells) ||
        ask_grid(self, columns, Py_None, 2, results, &column_grid, &asked.columns)) {
        goto fail;
    }
    if (wrenches) {
        asked.wrenches = new_result(results, WRENCHES, NPY_FLOAT32, 3, wrench_shape);
        if (!asked.wrenches) {
            goto fail;
        }
    }
    if (gg_py_begin(self)) {
        goto fail;
    }
    if (ask_images(self, images, device, results, image)) {
        gg_py_end(self);
        goto fail;
    }
    asked.images = image;
    asked.image_count = (int32_t)PyTuple_Size(images);
    asked.stats = stats;
    gg_status status;
    WITHOUT_GIL(status = gg_world_read_results(self->world, &asked));
    results = gg_py_finish(self, status, results);
    if (results && put_counters(stats, count, fresh, results)) {
        Py_CLEAR(results);
    }
    PyMem_Free(stats);
    return results;

fail:
    PyMem_Free(stats);
    Py_XDECREF(results);
    return NULL;
}
