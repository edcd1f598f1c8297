/* world_readout.c: methods of _core.World that read contacts, counters, and how many grains are where.
 *
 * Results are new NumPy arrays or, where `device` is set, DeviceArrays.
 */
#include "device_array.h"

#include <math.h>

/* ---------------------------------------------------------------------------------------------- contacts and
 * counters */

WORLD_METHOD(get_contacts) {
    int64_t env = 0, count = 0;
    double dt = 0.0;
    if (gg_py_integer(self->state, "env", argument, 0, self->env_count - 1, &env) || gg_py_begin(self)) {
        return NULL;
    }
    gg_status status = gg_world_get_contacts(self->world, env, 0, NULL, &count, &dt);
    npy_intp shape[2] = {(npy_intp)count, 2}, shape3[2] = {(npy_intp)count, 3};
    PyObject *pairs = PyArray_SimpleNew(2, shape, NPY_INT32), *vectors[4], *result = NULL;
    int made = pairs != NULL;
    for (int k = 0; k < 4; k++) {
        vectors[k] = PyArray_SimpleNew(2, shape3, NPY_FLOAT32);
        made = made && vectors[k];
    }
    if (status == GG_OK && made) {
        const gg_contact_list list = {gg_py_data(pairs), gg_py_data(vectors[0]), gg_py_data(vectors[1]),
                                      gg_py_data(vectors[2]), gg_py_data(vectors[3])};
        status = gg_world_get_contacts(self->world, env, count, &list, &count, &dt);
        result = Py_BuildValue("(OOOOOd)", pairs, vectors[0], vectors[1], vectors[2], vectors[3], dt);
    }
    Py_XDECREF(pairs);
    for (int k = 0; k < 4; k++) {
        Py_XDECREF(vectors[k]);
    }
    return gg_py_finish(self, status, result);
}

WORLD_METHOD(find_overlaps) {
    long long env = 0;
    float tolerance = 0.0f;
    if (!PyArg_ParseTuple(argument, "Lf:find_overlaps", &env, &tolerance) || gg_py_begin(self)) {
        return NULL;
    }
    int64_t count = 0;
    gg_status status;
    WITHOUT_GIL(status = gg_world_find_overlaps(self->world, env, tolerance, 0, NULL, NULL, &count));
    npy_intp shape[2] = {(npy_intp)count, 2};
    PyObject *pairs = PyArray_SimpleNew(2, shape, NPY_INT32), *depths = PyArray_SimpleNew(1, shape, NPY_FLOAT32);
    PyObject *result = pairs && depths ? Py_BuildValue("(OOi)", pairs, depths, count < GG_OVERLAP_LIMIT) : NULL;
    if (status == GG_OK && result && count) {
        int32_t *to = gg_py_data(pairs);
        float *deep = gg_py_data(depths);
        WITHOUT_GIL(status = gg_world_find_overlaps(self->world, env, tolerance, count, to, deep, &count));
    }
    Py_XDECREF(pairs);
    Py_XDECREF(depths);
    return gg_py_finish(self, status, result);
}

/* NumPy's types of the counters' types */
#define NPY_OF_double  NPY_FLOAT64
#define NPY_OF_float   NPY_FLOAT32
#define NPY_OF_int64_t NPY_INT64
#define NPY_OF_int32_t NPY_INT32

/* {name: (count,)} of all counters */
static PyObject *stats_dict(const gg_env_stats *stats, npy_intp count) {
    PyObject *dict = PyDict_New(), *array = NULL;
    if (!dict) {
        return NULL;
    }
#define PUT_FIELD(type, field)                                                                                         \
    array = PyArray_SimpleNew(1, &count, NPY_OF_##type);                                                               \
    if (!array) {                                                                                                      \
        goto fail;                                                                                                     \
    }                                                                                                                  \
    for (npy_intp e = 0; e < count; e++) {                                                                             \
        ((type *)gg_py_data(array))[e] = stats[e].field;                                                               \
    }                                                                                                                  \
    if (PyDict_SetItemString(dict, #field, array)) {                                                                   \
        goto fail;                                                                                                     \
    }                                                                                                                  \
    Py_CLEAR(array);
    GG_ENV_STATS(PUT_FIELD)
#undef PUT_FIELD
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
    if (!gg_py_begin(self)) {
        gg_status status = gg_world_get_stats(self->world, stats);
        result = gg_py_finish(self, status, stats_dict(stats, (npy_intp)self->env_count));
    }
    PyMem_Free(stats);
    return result;
}

/* a counter for an info dict: 0 of an env that made no step yet, and where it is not finite */
static double counter(double value, int fresh) { return !fresh && isfinite(value) ? value : 0.0; }

PyObject *gg_py_counters(const gg_env_stats *stats, npy_intp count, const npy_bool *fresh) {
    static const char *const names[] = {"overlap_mean", "overlap_max",   "residual", "escaped_count",
                                        "fast_count",   "contact_count", "diverged"};
    enum { REALS = 3, INTEGERS = 3, ALL = REALS + INTEGERS + 1 };
    PyObject *array[ALL] = {NULL}, *dict = PyDict_New();
    for (int k = 0; dict && k < ALL; k++) {
        int dtype = k < REALS ? NPY_FLOAT64 : k < REALS + INTEGERS ? NPY_INT64 : NPY_BOOL;
        array[k] = PyArray_SimpleNew(1, &count, dtype);
        if (!array[k] || PyDict_SetItemString(dict, names[k], array[k])) {
            Py_CLEAR(dict);
        }
    }
    for (npy_intp e = 0; dict && e < count; e++) {
        const gg_env_stats *s = &stats[e];
        int none = fresh && fresh[e];
        int64_t pairs = s->overlap_count > 0 ? s->overlap_count : 1;
        ((double *)gg_py_data(array[0]))[e] = counter(s->overlap_sum / (double)pairs, none);
        ((double *)gg_py_data(array[1]))[e] = counter((double)s->overlap_max, none);
        ((double *)gg_py_data(array[2]))[e] = counter((double)s->residual, none);
        ((int64_t *)gg_py_data(array[3]))[e] = none ? 0 : s->escaped_count;
        ((int64_t *)gg_py_data(array[4]))[e] = none ? 0 : s->fast_count;
        ((int64_t *)gg_py_data(array[5]))[e] = none ? 0 : s->contact_count;
        ((npy_bool *)gg_py_data(array[6]))[e] = !none && s->diverged != 0;
    }
    for (int k = 0; k < ALL; k++) {
        Py_XDECREF(array[k]);
    }
    return dict;
}

WORLD_METHOD(get_counters) {
    npy_intp count = (npy_intp)self->env_count;
    const npy_bool *fresh;
    PyObject *result = NULL;
    if (gg_py_array_or_none(self->state, "fresh", argument, NPY_BOOL, 1, &count, &fresh)) {
        return NULL;
    }
    gg_env_stats *stats = PyMem_Calloc((size_t)count + 1, sizeof *stats);
    if (!stats) {
        return PyErr_NoMemory();
    }
    if (!gg_py_begin(self)) {
        gg_status status = gg_world_get_stats(self->world, stats);
        result = gg_py_finish(self, status, gg_py_counters(stats, count, fresh));
    }
    PyMem_Free(stats);
    return result;
}

/* ---------------------------------------------------------------------------------------------------- counting
 * grains */

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
    if (gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_INT64, 2, shape, &counts) ||
        gg_py_out_new(self, device, NPY_FLOAT32, 2, shape, &distances)) {
        gg_py_end(self);
        goto done;
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_box_stats(self->world, boxes, shape[1], counts.data, distances.data, counts.space));
    result = gg_py_finish(self, status, Py_BuildValue("(OO)", counts.object, distances.object));

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
    if (!boxes || gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_INT64, 2, shape, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_count_boxes(self->world, boxes, shape[1], out.data, out.space));
    return gg_py_finish(self, status, out.object);
}

int gg_py_grid_read(world_object *self, PyObject *lower, PyObject *upper, PyObject *shape, int axes, gg_py_grid *grid) {
    npy_intp length = axes;
    const float *low = gg_py_array(self->state, "lower", lower, NPY_FLOAT32, 1, &length);
    const float *high = low ? gg_py_array(self->state, "upper", upper, NPY_FLOAT32, 1, &length) : NULL;
    const int32_t *cells = high ? gg_py_array(self->state, "shape", shape, NPY_INT32, 1, &length) : NULL;
    if (!cells) {
        return -1;
    }
    memcpy(grid->lower, low, sizeof *low * (size_t)axes);
    memcpy(grid->upper, high, sizeof *high * (size_t)axes);
    memcpy(grid->shape, cells, sizeof *cells * (size_t)axes);
    int64_t all = 1;
    for (int k = 0; k < axes; k++) {
        if (grid->shape[k] < 1 || grid->shape[k] > GG_GRID_LIMIT / all) {
            PyErr_Format(self->state->error[GG_PY_ARGUMENT], "shape: expected 1 to %d cells in all, got %d on axis %d",
                         GG_GRID_LIMIT, (int)grid->shape[k], k);
            return -1;
        }
        all *= grid->shape[k];
    }
    return 0;
}

WORLD_METHOD(count_cells) {
    int device = 0;
    PyObject *lower, *upper, *shape, *labels_object;
    gg_py_grid grid;
    const uint8_t *labels;
    gg_py_out out;
    npy_intp grains[2] = {(npy_intp)self->env_count, (npy_intp)self->grain_count};
    if (!PyArg_ParseTuple(argument, "OOOO|p:count_cells", &lower, &upper, &shape, &labels_object, &device) ||
        gg_py_grid_read(self, lower, upper, shape, 3, &grid) ||
        gg_py_array_or_none(self->state, "labels", labels_object, NPY_UINT8, 2, grains, &labels) || gg_py_begin(self)) {
        return NULL;
    }
    npy_intp size[5] = {(npy_intp)self->env_count, grid.shape[0], grid.shape[1], grid.shape[2], 2};
    if (gg_py_out_new(self, device, NPY_INT64, labels ? 5 : 4, size, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status =
                    gg_world_count_cells(self->world, grid.lower, grid.upper, grid.shape, labels, out.data, out.space));
    return gg_py_finish(self, status, out.object);
}

WORLD_METHOD(count_columns) {
    int device = 0;
    PyObject *lower, *upper, *shape;
    gg_py_grid grid;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "OOO|p:count_columns", &lower, &upper, &shape, &device) ||
        gg_py_grid_read(self, lower, upper, shape, 2, &grid) || gg_py_begin(self)) {
        return NULL;
    }
    npy_intp size[3] = {(npy_intp)self->env_count, grid.shape[1], grid.shape[0]};
    if (gg_py_out_new(self, device, NPY_INT64, 3, size, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_count_columns(self->world, grid.lower, grid.upper, grid.shape, out.data, out.space));
    return gg_py_finish(self, status, out.object);
}
