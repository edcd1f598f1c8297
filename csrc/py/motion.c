/* motion.c: what the tasks compute for all their envs at once: sines and cosines, vehicles, and numbers within bounds.
 *
 * NumPy's sines may depend on where in an array an angle stands; these do not, so that env k alone equals env k among many.
 * And where NumPy needs a call for each of many small arrays, one is enough here.
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
    if (!result) {
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < shape[0]; n++) {
        gg_vehicle_move(&vehicle, pose + 3 * n, move + 3 * n, out + 3 * n);
    }
    return result;
}

/* Driving: actions are shares of the rates, along the heading [m/s] and turning [rad/s]. */
static PyObject *motion_vehicle_drive(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *vehicle_object, *rates, *poses, *actions, *result = NULL;
    gg_vehicle vehicle;
    double duration;
    npy_intp shape[2] = {GG_PY_ANY, 3}, two[2] = {2, 2};
    if (!PyArg_ParseTuple(args, "OOOOd:vehicle_drive", &vehicle_object, &rates, &poses, &actions, &duration) ||
        vehicle_read(state, vehicle_object, &vehicle)) {
        return NULL;
    }
    const double *rate = gg_py_array(state, "rates", rates, NPY_FLOAT64, 1, two);
    const double *pose = rate ? gg_py_array(state, "poses", poses, NPY_FLOAT64, 2, shape) : NULL;
    PyObject *wide = pose ? PyArray_FROMANY(actions, NPY_FLOAT64, 0, 0, NPY_ARRAY_CARRAY_RO) : NULL;
    if (!wide) {
        return NULL;
    }
    two[0] = shape[0];
    const double *action = gg_py_array(state, "actions", wide, NPY_FLOAT64, 2, two);
    if (action) {
        result = PyArray_EMPTY(2, shape, NPY_FLOAT64, 0);
    }
    double *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0]; n++) {
        double move[3] = {action[2 * n] * rate[0] * duration, 0.0, action[2 * n + 1] * rate[1] * duration};
        gg_vehicle_move(&vehicle, pose + 3 * n, move, out + 3 * n);
    }
    Py_DECREF(wide);
    return result;
}

static PyObject *motion_vehicle_poses(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *poses;
    int tools;
    npy_intp shape[3] = {GG_PY_ANY, 3, 7};
    if (!PyArg_ParseTuple(args, "Oi:vehicle_poses", &poses, &tools)) {
        return NULL;
    }
    const double *pose = gg_py_array(state, "poses", poses, NPY_FLOAT64, 2, shape);
    shape[1] = tools > 0 ? tools : 0;
    PyObject *result = pose ? PyArray_ZEROS(3, shape, NPY_FLOAT32, 0) : NULL;
    if (!result) {
        return NULL;
    }
    float *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < shape[0]; n++) {
        double s, c;
        gg_sincos_double(0.5 * pose[3 * n + 2], &s, &c);
        for (npy_intp k = 0; k < shape[1]; k++, out += 7) {
            out[0] = (float)pose[3 * n];
            out[1] = (float)pose[3 * n + 1];
            out[3] = (float)c;
            out[6] = (float)s;
        }
    }
    return result;
}

static PyObject *motion_wrap_angles(PyObject *module, PyObject *object) {
    (void)module;
    PyObject *result = PyArray_FROMANY(object, NPY_FLOAT64, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
    if (!result) {
        return NULL;
    }
    const double half = 3.14159265358979323846, whole = 2.0 * half;
    double *angle = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < PyArray_SIZE((PyArrayObject *)result); n++) {
        double rest = angle[n] + half;
        if (!(rest >= 0.0 && rest < whole)) {
            rest = fmod(rest, whole); /* exact, and slow */
            rest += rest < 0.0 ? whole : 0.0;
        }
        angle[n] = rest - half;
    }
    return result;
}

/* (n, k) as float32 within bounds (k,); what is not finite reads 0 first */
static PyObject *motion_clipped(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    const char *names[3] = {"table", "lower", "upper"};
    PyObject *object[3], *whole[3] = {NULL}, *result = NULL;
    const double *data[3] = {NULL};
    npy_intp shape[2] = {0, 0};
    if (!PyArg_ParseTuple(args, "OOO:clipped", &object[0], &object[1], &object[2])) {
        return NULL;
    }
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
    result = PyArray_EMPTY(2, shape, NPY_FLOAT32, 0);
    float *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0] * shape[1]; n++) {
        npy_intp k = n % shape[1];
        double x = isfinite(data[0][n]) ? data[0][n] : 0.0;
        x = x > data[1][k] ? x : data[1][k];
        out[n] = (float)(x < data[2][k] ? x : data[2][k]);
    }

done:
    for (int k = 0; k < 3; k++) {
        Py_XDECREF(whole[k]);
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
    {"vehicle_drive", motion_vehicle_drive, METH_VARARGS,
     PyDoc_STR(
         "vehicle_drive(vehicle, rates, poses, actions, duration, /)\n\nPoses (n, 3) after driving by actions (n, 2) "
         "at rates (2,) [m/s], [rad/s].")},
    {"vehicle_poses", motion_vehicle_poses, METH_VARARGS,
     PyDoc_STR(
         "vehicle_poses(poses, tools, /)\n\nPoses (n, tools, 7) float32 of tools in the frames of vehicles (n, 3).")},
    {"wrap_angles", motion_wrap_angles, METH_O,
     PyDoc_STR("wrap_angles($module, angles, /)\n--\n\nAngles of any shape folded into -pi .. pi.")},
    {"clipped", motion_clipped, METH_VARARGS,
     PyDoc_STR(
         "clipped(table, lower, upper, /)\n\nA table (n, k) as float32 between bounds (k,); what is not finite is 0 "
         "before.")},
    {"all_finite", motion_all_finite, METH_O,
     PyDoc_STR("all_finite($module, array, /)\n--\n\nWhether an array of numbers holds neither NaN nor infinity.")},
    {NULL, NULL, 0, NULL},
};
