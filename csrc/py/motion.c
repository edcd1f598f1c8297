/* motion.c: what the tasks compute for all their envs at once: sines and cosines, vehicles, and whether all is finite.
 *
 * NumPy's sines may depend on where in an array an angle stands; these do not, so that env k alone equals env k among many.
 */
#include "convert.h"

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
        gg_sincos_wide(angle[n], &sine[n], &cosine[n]);
    }
    return Py_BuildValue("NN", sines, cosines);
}

/* rear, front, half_width, lower x y, upper x y, clearance. Returns 0 or -1. */
static int vehicle_read(const gg_module_state *state, PyObject *object, gg_vehicle *out) {
    npy_intp shape[1] = {8};
    const double *a = gg_py_array(state, "vehicle", object, NPY_FLOAT64, 1, shape);
    if (!a) {
        return -1;
    }
    *out = (gg_vehicle){a[0], a[1], a[2], {a[3], a[4]}, {a[5], a[6]}, a[7]};
    return 0;
}

static PyObject *motion_vehicle_room(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *vehicle_object, *yaws;
    gg_vehicle vehicle;
    npy_intp shape[2] = {GG_PY_ANY, 4};
    if (!PyArg_ParseTuple(args, "OO:vehicle_room", &vehicle_object, &yaws) ||
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
        gg_vehicle_room(&vehicle, yaw[n], out + 4 * n);
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
    if (!result) {
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < shape[0]; n++) {
        gg_vehicle_move(&vehicle, pose + 3 * n, move + 3 * n, out + 3 * n);
    }
    return result;
}

static PyObject *motion_all_finite(PyObject *module, PyObject *object) {
    if (!PyArray_Check(object)) {
        const gg_module_state *state = PyModule_GetState(module);
        PyErr_Format(state->error[GG_PY_ARGUMENT], "array: expected a NumPy array, got %s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    int dtype = PyArray_TYPE((PyArrayObject *)object) == NPY_FLOAT32 ? NPY_FLOAT32 : NPY_FLOAT64;
    /* the array itself where its values lie side by side */
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
     PyDoc_STR("sin_cos($module, angles, /)\n--\n\nSines and cosines of angles (n,) [rad], each from its own alone.")},
    {"vehicle_room", motion_vehicle_room, METH_VARARGS,
     PyDoc_STR("vehicle_room(vehicle, yaws, /)\n\nWhere the centre may be at headings (n,): lower x, upper x, lower y, "
               "upper y (n, 4) [m].")},
    {"vehicle_move", motion_vehicle_move, METH_VARARGS,
     PyDoc_STR("vehicle_move(vehicle, poses, moves, /)\n\nPoses (n, 3) after moves (n, 3) along, across, turn, inside "
               "the field.")},
    {"all_finite", motion_all_finite, METH_O,
     PyDoc_STR("all_finite($module, array, /)\n--\n\nWhether an array of numbers holds neither NaN nor infinity.")},
    {NULL, NULL, 0, NULL},
};
