/* links.c: function of _core on the links of robots: how they move and yield; see solvers/coupled_tools.h. */
#include <math.h>

#include "convert.h"

#include "../base/cholesky.h"

/* a robot of n degrees of freedom, whose links have `rows` components of twist */
typedef struct robot_arguments {
    const double *jacobian, *inertia, *rates[2]; /* velocities, accelerations */
    npy_intp rows, n;
} robot_arguments;

/* Returns 0 or -1. Numbers that are not finite make such ones. */
static int robot_read(const gg_module_state *state, PyObject *arguments, robot_arguments *out) {
    PyObject *jacobian, *inertia, *rates[2];
    npy_intp shape[2] = {GG_PY_ANY, GG_PY_ANY};
    if (!PyArg_ParseTuple(arguments, "OOOO:link_motion", &jacobian, &inertia, &rates[0], &rates[1]) ||
        !(out->jacobian = gg_py_buffer(state, "jacobian", jacobian, NPY_FLOAT64, 2, shape))) {
        return -1;
    }
    npy_intp square[2] = {shape[1], shape[1]}, each[1] = {shape[1]};
    out->rows = shape[0];
    out->n = shape[1];
    if (out->rows % 6) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "jacobian: expected 6 rows for each link, got %lld",
                     (long long)out->rows);
        return -1;
    }
    return (out->inertia = gg_py_buffer(state, "inertia", inertia, NPY_FLOAT64, 2, square)) &&
                   (out->rates[0] = gg_py_buffer(state, "velocities", rates[0], NPY_FLOAT64, 1, each)) &&
                   (out->rates[1] = gg_py_buffer(state, "accelerations", rates[1], NPY_FLOAT64, 1, each))
               ? 0
               : -1;
}

/* out = J rates */
static void twists_of(const robot_arguments *robot, const double *rates, double *out) {
    for (npy_intp r = 0; r < robot->rows; r++) {
        out[r] = 0.0;
        for (npy_intp c = 0; c < robot->n; c++) {
            out[r] += robot->jacobian[r * robot->n + c] * rates[c];
        }
    }
}

/* out = J H^-1 J^T; scratch: n (n + rows) */
static void response_of(const robot_arguments *robot, double *scratch, double *out) {
    npy_intp rows = robot->rows, n = robot->n;
    double *u = scratch, *y = scratch + n * n;
    memcpy(u, robot->inertia, sizeof(double) * (size_t)(n * n));
    for (npy_intp r = 0; r < rows; r++) {
        for (npy_intp c = 0; c < n; c++) {
            y[c * rows + r] = robot->jacobian[r * n + c];
        }
    }
    if (gg_cholesky_factor(u, n, 0.0) == n) {
        gg_cholesky_forward(u, n, y, rows);
        gg_gram(y, n, out, rows);
        return;
    }
    for (npy_intp k = 0; k < rows * rows; k++) {
        out[k] = NAN;
    }
}

static PyObject *core_link_motion(PyObject *module, PyObject *arguments) {
    robot_arguments robot;
    if (robot_read(PyModule_GetState(module), arguments, &robot)) {
        return NULL;
    }
    npy_intp twists[2] = {robot.rows / 6, 6}, response[2] = {robot.rows, robot.rows};
    double *scratch = PyMem_Malloc(sizeof(double) * (size_t)(robot.n * (robot.n + robot.rows)));
    if (!scratch) {
        return PyErr_NoMemory();
    }
    PyObject *out[3] = {PyArray_SimpleNew(2, twists, NPY_FLOAT64), PyArray_SimpleNew(2, twists, NPY_FLOAT64),
                        PyArray_SimpleNew(2, response, NPY_FLOAT64)};
    PyObject *result = out[0] && out[1] && out[2] ? PyTuple_Pack(3, out[0], out[1], out[2]) : NULL;
    if (result) {
        for (int k = 0; k < 2; k++) {
            twists_of(&robot, robot.rates[k], PyArray_DATA((PyArrayObject *)out[k]));
        }
        response_of(&robot, scratch, PyArray_DATA((PyArrayObject *)out[2]));
    }
    for (int k = 0; k < 3; k++) {
        Py_XDECREF(out[k]);
    }
    PyMem_Free(scratch);
    return result;
}

PyMethodDef gg_py_link_methods[] = {
    {"link_motion", core_link_motion, METH_VARARGS,
     PyDoc_STR("link_motion($module, jacobian, inertia, velocities, accelerations, /)\n--\n\n"
               "Twists, accelerations (links, 6) and inverse inertia J H^-1 J^T (6 links, 6 links) of the links of a "
               "robot, float64;\nthe last one NaN where H is not positive definite. The same bits on any machine.\n\n"
               "jacobian: J (6 links, n). inertia: H (n, n), symmetric. velocities, accelerations: (n,) of the joints. "
               "All float64.\nRaises ArgumentError, MemoryError.")},
    {NULL, NULL, 0, NULL},
};
