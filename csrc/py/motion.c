/* motion.c: batched kinematics of the tasks: sines and cosines, vehicles, wrapped angles, clipped actions.
 *
 * NumPy's sines may depend on the position of an angle in its array; these do not, so that env k alone equals env k
 * among many. And one call here replaces several of NumPy's on small arrays.
 */
#include "convert.h"

#include <math.h>

#include "../geometry/vehicle.h"

static PyObject *motion_sin_cos(PyObject *module, PyObject *angles) {
    npy_intp count[1] = {GG_PY_ANY};
    const double *angle = gg_py_array(PyModule_GetState(module), "angles", angles, NPY_FLOAT64, 1, count);
    if (!angle) {
        return NULL;
    }
    PyObject *sines = PyArray_EMPTY(1, count, NPY_FLOAT64, 0), *cosines = PyArray_EMPTY(1, count, NPY_FLOAT64, 0);
    if (!sines || !cosines) {
        Py_XDECREF(sines);
        Py_XDECREF(cosines);
        return NULL;
    }
    double *sine = PyArray_DATA((PyArrayObject *)sines), *cosine = PyArray_DATA((PyArrayObject *)cosines);
    for (npy_intp n = 0; n < count[0]; n++) {
        gg_sincos_double(angle[n], &sine[n], &cosine[n]);
    }
    return Py_BuildValue("NN", sines, cosines);
}

/* (8,): rear, front, half_width, lower x y, upper x y, clearance. Returns 0 or -1. */
static int vehicle_read(const gg_module_state *state, PyObject *object, gg_vehicle *out) {
    npy_intp shape[1] = {8};
    const double *a = gg_py_array(state, "vehicle", object, NPY_FLOAT64, 1, shape);
    if (!a) {
        return -1;
    }
    *out = gg_vehicle_read(a);
    return 0;
}

static PyObject *motion_vehicle_bounds(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *vehicle_object, *yaws;
    gg_vehicle vehicle;
    npy_intp shape[2] = {GG_PY_ANY, 4};
    if (!PyArg_ParseTuple(args, "OO:vehicle_bounds", &vehicle_object, &yaws) ||
        vehicle_read(state, vehicle_object, &vehicle)) {
        return NULL;
    }
    const double *yaw = gg_py_array(state, "yaws", yaws, NPY_FLOAT64, 1, shape);
    PyObject *result = yaw ? PyArray_EMPTY(2, shape, NPY_FLOAT64, 0) : NULL;
    if (!result) {
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < shape[0]; n++) {
        gg_vehicle_bounds(&vehicle, yaw[n], out + 4 * n);
    }
    return result;
}

static PyObject *motion_vehicle_move(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *vehicle_object, *poses, *moves;
    gg_vehicle vehicle;
    npy_intp shape[2] = {GG_PY_ANY, 3};
    if (!PyArg_ParseTuple(args, "OOO:vehicle_move", &vehicle_object, &poses, &moves) ||
        vehicle_read(state, vehicle_object, &vehicle)) {
        return NULL;
    }
    const double *pose = gg_py_array(state, "poses", poses, NPY_FLOAT64, 2, shape);
    const double *move = pose ? gg_py_array(state, "moves", moves, NPY_FLOAT64, 2, shape) : NULL;
    PyObject *result = move ? PyArray_EMPTY(2, shape, NPY_FLOAT64, 0) : NULL;
    double *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0]; n++) {
        gg_vehicle_move(&vehicle, pose + 3 * n, move + 3 * n, out + 3 * n);
    }
    return result;
}

/* the same angle within -pi .. pi [rad] */
static double wrapped(double angle) {
    const double half = GG_PI, whole = 2.0 * half;
    double shifted = angle + half;
    if (!(shifted >= 0.0 && shifted < whole)) {
        shifted = fmod(shifted, whole); /* exact, and slow */
        shifted += shifted < 0.0 ? whole : 0.0;
    }
    return shifted - half;
}

static PyObject *motion_wrap_angles(PyObject *module, PyObject *object) {
    (void)module;
    PyObject *result = PyArray_FROMANY(object, NPY_FLOAT64, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
    if (!result) {
        return NULL;
    }
    double *angle = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < PyArray_SIZE((PyArrayObject *)result); n++) {
        angle[n] = wrapped(angle[n]);
    }
    return result;
}

/* A table (n, k) clipped to its bounds, as float32. angle: a column of angles that are wrapped first, or -1. refuse:
 * None instead of the table where a number of it is not finite; else such a number counts as 0. */
static PyObject *clip_table(const gg_module_state *state, PyObject *const object[3], int angle, int refuse) {
    const char *names[3] = {"table", "lower", "upper"};
    PyObject *whole[3] = {NULL}, *result = NULL;
    const double *data[3] = {NULL};
    npy_intp shape[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        whole[k] = PyArray_FROMANY(object[k], NPY_FLOAT64, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
        if (!whole[k]) {
            goto done;
        }
        PyArrayObject *array = (PyArrayObject *)whole[k];
        int fits = k == 0 ? PyArray_NDIM(array) == 2 : PyArray_NDIM(array) == 1 && PyArray_DIM(array, 0) == shape[1];
        if (!fits) {
            PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: expected a table (n, k) and bounds (k,)", names[k]);
            goto done;
        }
        if (k == 0) {
            shape[0] = PyArray_DIM(array, 0);
            shape[1] = PyArray_DIM(array, 1);
        }
        data[k] = PyArray_DATA(array);
    }
    if (refuse && gg_py_first_not_finite(NPY_FLOAT64, data[0], shape[0] * shape[1]) >= 0) {
        result = Py_NewRef(Py_None);
        goto done;
    }
    result = PyArray_EMPTY(2, shape, NPY_FLOAT32, 0);
    float *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0] * shape[1]; n++) {
        npy_intp k = n % shape[1];
        double x = isfinite(data[0][n]) ? data[0][n] : 0.0;
        x = k == angle ? wrapped(x) : x;
        x = x > data[1][k] ? x : data[1][k];
        out[n] = (float)(x < data[2][k] ? x : data[2][k]);
    }

done:
    for (int k = 0; k < 3; k++) {
        Py_XDECREF(whole[k]);
    }
    return result;
}

static PyObject *motion_clipped(PyObject *module, PyObject *args) {
    PyObject *object[3];
    int angle = -1;
    if (!PyArg_ParseTuple(args, "OOO|i:clipped", &object[0], &object[1], &object[2], &angle)) {
        return NULL;
    }
    return clip_table(PyModule_GetState(module), object, angle, 0);
}

static PyObject *motion_clip_actions(PyObject *module, PyObject *args) {
    PyObject *object[3];
    if (!PyArg_ParseTuple(args, "OOO:clip_actions", &object[0], &object[1], &object[2])) {
        return NULL;
    }
    return clip_table(PyModule_GetState(module), object, -1, 1);
}

static PyObject *motion_all_finite(PyObject *module, PyObject *object) {
    if (!PyArray_Check(object)) {
        const gg_module_state *state = PyModule_GetState(module);
        PyErr_Format(state->error[GG_PY_ARGUMENT], "array: expected a NumPy array, got %s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    int dtype = PyArray_TYPE((PyArrayObject *)object) == NPY_FLOAT32 ? NPY_FLOAT32 : NPY_FLOAT64;
    /* the array itself where it is contiguous */
    PyObject *whole = PyArray_FROMANY(object, dtype, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (!whole) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)whole;
    int finite = gg_py_first_not_finite(dtype, PyArray_DATA(array), PyArray_SIZE(array)) < 0;
    Py_DECREF(whole);
    return PyBool_FromLong(finite);
}

PyMethodDef gg_py_motion_methods[] = {
    {"sin_cos", motion_sin_cos, METH_O,
     PyDoc_STR("sin_cos($module, angles, /)\n--\n\n"
               "Sines and cosines of angles (n,) float64 [rad]; each depends on its own angle alone. Raises "
               "ArgumentError.")},
    {"vehicle_bounds", motion_vehicle_bounds, METH_VARARGS,
     PyDoc_STR("vehicle_bounds($module, vehicle, yaws, /)\n--\n\n"
               "Bounds of the centre at headings (n,) float64 [rad]: x lower, x upper, y lower, y upper, (n, 4) "
               "[m].\n\n"
               "vehicle: (8,) float64, rear, front, half width, lower x y, upper x y of the field, clearance [m]. "
               "Raises ArgumentError.")},
    {"vehicle_move", motion_vehicle_move, METH_VARARGS,
     PyDoc_STR("vehicle_move($module, vehicle, poses, moves, /)\n--\n\n"
               "Poses (n, 3) float64, x y [m] yaw [rad], after moves (n, 3): ahead, to the left [m], turn [rad]; "
               "inside the field. Raises ArgumentError.")},
    {"wrap_angles", motion_wrap_angles, METH_O,
     PyDoc_STR("wrap_angles($module, angles, /)\n--\n\n"
               "Angles [rad] of any shape wrapped into -pi .. pi, float64.")},
    {"clipped", motion_clipped, METH_VARARGS,
     PyDoc_STR("clipped($module, table, lower, upper, angle=-1, /)\n--\n\n"
               "A table (n, k) clipped to bounds (k,), as float32; NaN and infinity count as 0.\n\n"
               "angle: the column of an angle [rad] that is wrapped into -pi .. pi before, or -1. Raises "
               "ArgumentError.")},
    {"clip_actions", motion_clip_actions, METH_VARARGS,
     PyDoc_STR("clip_actions($module, actions, lower, upper, /)\n--\n\n"
               "Actions (n, k) clipped to bounds (k,), as float32; None where one is not finite. Raises "
               "ArgumentError.")},
    {"all_finite", motion_all_finite, METH_O,
     PyDoc_STR("all_finite($module, array, /)\n--\n\n"
               "Whether an array of numbers holds neither NaN nor infinity. Raises ArgumentError where it is no "
               "array.")},
    {NULL, NULL, 0, NULL},
};
