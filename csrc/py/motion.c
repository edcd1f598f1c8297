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

/* the heading (cosine, sine), and a point: ahead, to the left [m], cosine and sine of its bearing */
static void see_point(const double pose[3], const double point[2], float heading[2], float seen[4]) {
    double sine, cosine, x = point[0] - pose[0], y = point[1] - pose[1];
    gg_sincos_double(pose[2], &sine, &cosine);
    double ahead = cosine * x + sine * y, left = cosine * y - sine * x;
    double length = sqrt(ahead * ahead + left * left), distance = length > 1e-9 ? length : 1e-9;
    heading[0] = (float)cosine;
    heading[1] = (float)sine;
    seen[0] = (float)ahead;
    seen[1] = (float)left;
    seen[2] = (float)(ahead / distance);
    seen[3] = (float)(left / distance);
}

static PyObject *motion_vehicle_view(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *poses, *points;
    npy_intp shape[2] = {GG_PY_ANY, 3};
    if (!PyArg_ParseTuple(args, "OO:vehicle_view", &poses, &points)) {
        return NULL;
    }
    const double *pose = gg_py_array(state, "poses", poses, NPY_FLOAT64, 2, shape);
    npy_intp two[2] = {shape[0], 2}, four[2] = {shape[0], 4};
    const double *point = pose ? gg_py_array(state, "points", points, NPY_FLOAT64, 2, two) : NULL;
    PyObject *headings = point ? PyArray_EMPTY(2, two, NPY_FLOAT32, 0) : NULL;
    PyObject *seen = headings ? PyArray_EMPTY(2, four, NPY_FLOAT32, 0) : NULL;
    if (!seen) {
        Py_XDECREF(headings);
        return NULL;
    }
    float *heading = PyArray_DATA((PyArrayObject *)headings), *out = PyArray_DATA((PyArrayObject *)seen);
    for (npy_intp n = 0; n < shape[0]; n++) {
        see_point(pose + 3 * n, point + 2 * n, heading + 2 * n, out + 4 * n);
    }
    return Py_BuildValue("NN", headings, seen);
}

/* A box of a body that stands at x, z and is tilted about y, as the engine takes boxes: middle, quaternion, half
 * extents. turn: sine and cosine of half the tilt, and of the tilt. box: x, z of its middle and half extents x, y, z in
 * the frame of the body [m]. */
static void tilt_box(const double pose[3], const double turn[4], const double box[5], float out[10]) {
    double half_sine = turn[0], half_cosine = turn[1], sine = turn[2], cosine = turn[3];
    out[0] = (float)(pose[0] + (cosine * box[0] + sine * box[1]));
    out[2] = (float)(pose[1] + (cosine * box[1] - sine * box[0]));
    out[3] = (float)half_cosine;
    out[5] = (float)half_sine;
    out[1] = out[4] = out[6] = 0.0f;
    for (int i = 0; i < 3; i++) {
        out[7 + i] = (float)box[2 + i];
    }
}

static PyObject *motion_tilted_boxes(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *poses, *boxes;
    npy_intp pose_shape[2] = {GG_PY_ANY, 3}, box_shape[2] = {GG_PY_ANY, 5};
    const double *pose, *box;
    if (!PyArg_ParseTuple(args, "OO:tilted_boxes", &poses, &boxes) ||
        !(pose = gg_py_buffer(state, "poses", poses, NPY_FLOAT64, 2, pose_shape)) ||
        !(box = gg_py_buffer(state, "boxes", boxes, NPY_FLOAT64, 2, box_shape))) {
        return NULL;
    }
    npy_intp count = box_shape[0], shape[3] = {pose_shape[0], count, 10};
    PyObject *result = PyArray_EMPTY(3, shape, NPY_FLOAT32, 0);
    float *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0]; n++) {
        double turn[4], tilt = pose[3 * n + 2];
        gg_sincos_double(0.5 * tilt, &turn[0], &turn[1]);
        gg_sincos_double(tilt, &turn[2], &turn[3]);
        for (npy_intp k = 0; k < count; k++, out += 10) {
            tilt_box(pose + 3 * n, turn, box + 5 * k, out);
        }
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

static double clip(double x, double lower, double upper) {
    x = x > lower ? x : lower;
    return x < upper ? x : upper;
}

/* The array itself, or as float64 where it holds neither float32 nor float64, with these NPY_ARRAY flags; a new
 * reference or NULL. */
static PyArrayObject *floats_of(PyObject *object, int flags) {
    int single = PyArray_Check(object) && PyArray_TYPE((PyArrayObject *)object) == NPY_FLOAT32;
    return (PyArrayObject *)PyArray_FROMANY(object, single ? NPY_FLOAT32 : NPY_FLOAT64, 0, 0,
                                            flags | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST);
}

/* a number of an array of floats */
static double float_at(int dtype, const void *at) {
    return dtype == NPY_FLOAT32 ? (double)*(const float *)at : *(const double *)at;
}

/* columns of an array of floats (count,) or (count, n) */
static npy_intp columns_of(PyArrayObject *part) { return PyArray_NDIM(part) == 2 ? PyArray_DIM(part, 1) : 1; }

/* What observations are clipped to, and where they go: columns (count, width), row by row. */
typedef struct clipped_table {
    const float *lower, *upper;
    float *out;
    npy_intp count, width;
    int angle; /* column of an angle that is wrapped, or -1 */
} clipped_table;

/* clips numbers, each so many bytes after the one before, into column `to`; inlined, with constant type and angle */
static inline void clip_column(const clipped_table *t, const char *from, npy_intp down, npy_intp to, int dtype,
                               int is_angle) {
    double low = (double)t->lower[to], high = (double)t->upper[to];
    float *out = t->out + to;
    for (npy_intp n = 0; n < t->count; n++, from += down, out += t->width) {
        double x = float_at(dtype, from);
        x = isfinite(x) ? x : 0.0;
        *out = (float)clip(is_angle ? wrapped(x) : x, low, high);
    }
}

/* clips an array of floats (count,) or (count, n) into the columns from `first` on */
static void clip_columns(const clipped_table *t, PyArrayObject *part, npy_intp first) {
    npy_intp down = PyArray_STRIDE(part, 0), across = PyArray_NDIM(part) == 2 ? PyArray_STRIDE(part, 1) : 0;
    for (npy_intp k = 0; k < columns_of(part); k++) {
        const char *from = PyArray_BYTES(part) + k * across;
        if (first + k == t->angle) {
            clip_column(t, from, down, first + k, PyArray_TYPE(part), 1);
        } else if (PyArray_TYPE(part) == NPY_FLOAT32) {
            clip_column(t, from, down, first + k, NPY_FLOAT32, 0);
        } else {
            clip_column(t, from, down, first + k, NPY_FLOAT64, 0);
        }
    }
}

/* Whether arrays of floats (count,) or (count, n) are as wide as the table side by side; sets its count. */
static int columns_fit(PyObject *parts, clipped_table *t) {
    npy_intp width = 0;
    for (Py_ssize_t k = 0; k < PyTuple_Size(parts); k++) {
        PyArrayObject *part = (PyArrayObject *)PyTuple_GetItem(parts, k);
        int ndim = PyArray_NDIM(part);
        if (ndim < 1 || ndim > 2 || (k > 0 && PyArray_DIM(part, 0) != t->count)) {
            return 0;
        }
        t->count = PyArray_DIM(part, 0);
        width += columns_of(part);
    }
    return width == t->width;
}

/* a new tuple of the arrays of a sequence, see floats_of; NULL with an exception set */
static PyObject *parts_of(PyObject *sequence) {
    PyObject *items = PySequence_Tuple(sequence);
    Py_ssize_t count = items ? PyTuple_Size(items) : 0;
    PyObject *parts = items ? PyTuple_New(count) : NULL;
    for (Py_ssize_t k = 0; parts && k < count; k++) {
        PyObject *part = (PyObject *)floats_of(PyTuple_GetItem(items, k), NPY_ARRAY_ALIGNED);
        if (!part || PyTuple_SetItem(parts, k, part)) {
            Py_CLEAR(parts);
        }
    }
    Py_XDECREF(items);
    return parts;
}

static PyObject *motion_clipped(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *columns, *lower, *upper, *result = NULL;
    clipped_table t = {.angle = -1};
    npy_intp width[1] = {GG_PY_ANY};
    if (!PyArg_ParseTuple(args, "OOO|i:clipped", &columns, &lower, &upper, &t.angle) ||
        !(t.lower = gg_py_buffer(state, "lower", lower, NPY_FLOAT32, 1, width)) ||
        !(t.upper = gg_py_buffer(state, "upper", upper, NPY_FLOAT32, 1, width))) {
        return NULL;
    }
    t.width = width[0];
    PyObject *parts = parts_of(columns);
    if (parts && !columns_fit(parts, &t)) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "columns: expected arrays (n,) or (n, k) of %lld columns in all",
                     (long long)t.width);
        Py_CLEAR(parts);
    }
    npy_intp shape[2] = {t.count, t.width};
    if (parts && (result = PyArray_EMPTY(2, shape, NPY_FLOAT32, 0))) {
        npy_intp first = 0;
        t.out = PyArray_DATA((PyArrayObject *)result);
        for (Py_ssize_t k = 0; k < PyTuple_Size(parts); k++) {
            PyArrayObject *part = (PyArrayObject *)PyTuple_GetItem(parts, k);
            clip_columns(&t, part, first);
            first += columns_of(part);
        }
    }
    Py_XDECREF(parts);
    return result;
}

static PyObject *motion_clip_actions(PyObject *module, PyObject *object) {
    const gg_module_state *state = PyModule_GetState(module);
    PyArrayObject *table = floats_of(object, NPY_ARRAY_CARRAY_RO);
    PyObject *result = NULL;
    if (!table) {
        return NULL;
    }
    int dtype = PyArray_TYPE(table);
    npy_intp size = PyArray_ITEMSIZE(table);
    if (PyArray_NDIM(table) != 2) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "actions: expected a table (n, k)");
    } else if (gg_py_first_not_finite(dtype, PyArray_DATA(table), PyArray_SIZE(table)) >= 0) {
        result = Py_NewRef(Py_None);
    } else if ((result = PyArray_EMPTY(2, PyArray_DIMS(table), NPY_FLOAT32, 0))) {
        float *out = PyArray_DATA((PyArrayObject *)result);
        for (npy_intp n = 0; n < PyArray_SIZE(table); n++) {
            out[n] = (float)clip(float_at(dtype, PyArray_BYTES(table) + n * size), -1.0, 1.0);
        }
    }
    Py_DECREF(table);
    return result;
}

/* 1: every number of the array is finite; 0: not; -1 with an exception set */
static int array_finite(PyObject *object) {
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_ISFLOAT(array)) {
        return 1;
    }
    int dtype = PyArray_TYPE(array) == NPY_FLOAT32 ? NPY_FLOAT32 : NPY_FLOAT64;
    /* the array itself where it is contiguous */
    PyObject *whole = PyArray_FROMANY(object, dtype, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (!whole) {
        return -1;
    }
    array = (PyArrayObject *)whole;
    int finite = gg_py_first_not_finite(dtype, PyArray_DATA(array), PyArray_SIZE(array)) < 0;
    Py_DECREF(whole);
    return finite;
}

static PyObject *motion_all_finite(PyObject *module, PyObject *arrays) {
    int finite = 1;
    for (Py_ssize_t k = 0; finite > 0 && k < PyTuple_Size(arrays); k++) {
        PyObject *object = PyTuple_GetItem(arrays, k);
        if (!PyArray_Check(object)) {
            gg_py_refuse_type(PyModule_GetState(module), "array", "a NumPy array", object);
            return NULL;
        }
        finite = array_finite(object);
    }
    return finite < 0 ? NULL : PyBool_FromLong(finite);
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
    {"vehicle_view", motion_vehicle_view, METH_VARARGS,
     PyDoc_STR("vehicle_view($module, poses, points, /)\n--\n\n"
               "How vehicles at poses (n, 3) float64, x y [m] yaw [rad], see points (n, 2) float64 [m]: their headings "
               "(n, 2)\nfloat32, cosine and sine; of the points (n, 4) float32 ahead, to the left [m], cosine and sine "
               "of the bearing. Raises ArgumentError.")},
    {"tilted_boxes", motion_tilted_boxes, METH_VARARGS,
     PyDoc_STR("tilted_boxes($module, poses, boxes, /)\n--\n\n"
               "Boxes (n, m, 10) float32 as World takes them, of bodies at poses (n, 3) float64, x z [m] and tilt "
               "about y [rad].\n\n"
               "boxes: (m, 5) float64 in the frame of a body, x z of the middle and half extents x y z [m]. Raises "
               "ArgumentError.")},
    {"wrap_angles", motion_wrap_angles, METH_O,
     PyDoc_STR("wrap_angles($module, angles, /)\n--\n\n"
               "Angles [rad] of any shape wrapped into -pi .. pi, float64.")},
    {"clipped", motion_clipped, METH_VARARGS,
     PyDoc_STR(
         "clipped($module, columns, lower, upper, angle=-1, /)\n--\n\n"
         "Columns (n,) and tables (n, k) side by side, clipped to bounds (width,) float32: (n, width) float32; NaN "
         "and infinity count as 0.\n\n"
         "angle: the column of an angle [rad] that is wrapped into -pi .. pi before, or -1. Raises "
         "ArgumentError.")},
    {"clip_actions", motion_clip_actions, METH_O,
     PyDoc_STR("clip_actions($module, actions, /)\n--\n\n"
               "Actions (n, k) clipped to -1 .. 1, as float32; None where one is not finite. Raises ArgumentError.")},
    {"all_finite", motion_all_finite, METH_VARARGS,
     PyDoc_STR("all_finite($module, *arrays)\n--\n\n"
               "Whether arrays of numbers hold neither NaN nor infinity. Raises ArgumentError for what is no "
               "array.")},
    {NULL, NULL, 0, NULL},
};
