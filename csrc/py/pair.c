/* pair.c: functions of _core on plane shapes: convex pieces, exact distances, pair fields; see geometry/polygon.h and
 * geometry/pair_field.h. */
#include "convert.h"

#include "../backend/backend.h"
#include "../geometry/polygon.h"

_Static_assert(sizeof(gg_pair_exact) == 9 * sizeof(double), "an exact distance is its columns");
_Static_assert(sizeof(gg_pair_sample) == 5 * sizeof(float), "a sample is its columns");

/* ring or piece ends: positive, increasing, the last one `total`. Returns 0 or -1. */
static int ends_read(const gg_module_state *state, const char *name, PyObject *object, npy_intp total,
                     const int32_t **out, int32_t *count) {
    npy_intp shape[1] = {GG_PY_ANY};
    const int32_t *end = gg_py_array(state, name, object, NPY_INT32, 1, shape);
    if (!end) {
        return -1;
    }
    int32_t before = 0;
    for (npy_intp k = 0; k < shape[0]; k++) {
        if (end[k] - (int64_t)before < 3 || end[k] > total) {
            PyErr_Format(state->error[GG_PY_ARGUMENT],
                         "%s: expected at least 3 vertices each, of %lld, number %lld ends at %d", name,
                         (long long)total, (long long)k, (int)end[k]);
            return -1;
        }
        before = end[k];
    }
    if (shape[0] < 1 || before != total) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: expected the last one to end at %lld, got %d", name,
                     (long long)total, (int)before);
        return -1;
    }
    *out = end;
    *count = (int32_t)shape[0];
    return 0;
}

/* vertices and rings of a polygon. Returns 0 or -1. */
static int rings_read(const gg_module_state *state, PyObject *vertices, PyObject *ring_end, gg_polygon *out) {
    npy_intp shape[2] = {GG_PY_ANY, 2};
    out->vertex = gg_py_array(state, "vertices", vertices, NPY_FLOAT64, 2, shape);
    if (!out->vertex) {
        return -1;
    }
    if (shape[0] < 3 || shape[0] > GG_POLYGON_VERTICES) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "vertices: expected 3 .. %d vertices, got %lld", GG_POLYGON_VERTICES,
                     (long long)shape[0]);
        return -1;
    }
    return ends_read(state, "ring_end", ring_end, shape[0], &out->ring_end, &out->ring_count);
}

/* a tuple (vertices, ring_end, piece, piece_end). Returns 0 or -1. */
static int polygon_read(const gg_module_state *state, PyObject *tuple, gg_polygon *out) {
    PyObject *vertices, *ring_end, *piece, *piece_end;
    npy_intp shape[1] = {GG_PY_ANY};
    if (!PyArg_ParseTuple(tuple, "OOOO:polygon", &vertices, &ring_end, &piece, &piece_end) ||
        rings_read(state, vertices, ring_end, out)) {
        return -1;
    }
    out->piece = gg_py_array(state, "piece", piece, NPY_INT32, 1, shape);
    if (!out->piece || ends_read(state, "piece_end", piece_end, shape[0], &out->piece_end, &out->piece_count)) {
        return -1;
    }
    for (npy_intp k = 0; k < shape[0]; k++) {
        if (out->piece[k] < 0 || out->piece[k] >= out->ring_end[out->ring_count - 1]) {
            PyErr_Format(state->error[GG_PY_ARGUMENT], "piece: expected indices of vertices, got %d",
                         (int)out->piece[k]);
            return -1;
        }
    }
    return 0;
}

static PyObject *polygon_split(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *vertices, *ring_end, *result = NULL;
    gg_polygon polygon = {0};
    char message[256] = "";
    if (!PyArg_ParseTuple(args, "OO:polygon_split", &vertices, &ring_end) ||
        rings_read(state, vertices, ring_end, &polygon)) {
        return NULL;
    }
    int32_t capacity = polygon.ring_end[polygon.ring_count - 1] + 2 * polygon.ring_count, pieces = 0;
    int32_t *piece = PyMem_Malloc(3 * (size_t)capacity * sizeof *piece);
    int32_t *piece_end = PyMem_Malloc((size_t)capacity * sizeof *piece_end);
    if (!piece || !piece_end) {
        PyErr_NoMemory();
        goto done;
    }
    gg_status status = gg_polygon_split(&polygon, piece, piece_end, &pieces, message, sizeof message);
    if (status != GG_OK) {
        gg_py_raise(state, status, message);
        goto done;
    }
    npy_intp indices = piece_end[pieces - 1], ends = pieces;
    PyObject *index_array = PyArray_EMPTY(1, &indices, NPY_INT32, 0);
    PyObject *end_array = PyArray_EMPTY(1, &ends, NPY_INT32, 0);
    if (!index_array || !end_array) {
        Py_XDECREF(index_array);
        Py_XDECREF(end_array);
        goto done;
    }
    memcpy(PyArray_DATA((PyArrayObject *)index_array), piece, (size_t)indices * sizeof *piece);
    memcpy(PyArray_DATA((PyArrayObject *)end_array), piece_end, (size_t)ends * sizeof *piece_end);
    result = Py_BuildValue("NN", index_array, end_array);

done:
    PyMem_Free(piece);
    PyMem_Free(piece_end);
    return result;
}

static PyObject *pair_distance(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *tuple_a, *tuple_b, *poses;
    gg_polygon a, b;
    int thread_count = 0;
    char message[256] = "";
    npy_intp shape[2] = {GG_PY_ANY, 3};
    if (!PyArg_ParseTuple(args, "O!O!O|i:pair_distance", &PyTuple_Type, &tuple_a, &PyTuple_Type, &tuple_b, &poses,
                          &thread_count) ||
        polygon_read(state, tuple_a, &a) || polygon_read(state, tuple_b, &b)) {
        return NULL;
    }
    const double *pose = gg_py_array(state, "poses", poses, NPY_FLOAT64, 2, shape);
    npy_intp count = shape[0];
    if (pose && (thread_count < 0 || thread_count > 1024)) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "thread_count: expected 0 .. 1024, got %d", thread_count);
        pose = NULL;
    }
    shape[1] = (npy_intp)(sizeof(gg_pair_exact) / sizeof(double));
    PyObject *result = pose ? PyArray_EMPTY(2, shape, NPY_FLOAT64, 0) : NULL;
    if (!result) {
        return NULL;
    }
    gg_status status;
    Py_BEGIN_ALLOW_THREADS status = gg_pair_distance(&a, &b, pose, count, thread_count,
                                                     PyArray_DATA((PyArrayObject *)result), message, sizeof message);
    Py_END_ALLOW_THREADS if (status != GG_OK) {
        Py_DECREF(result);
        return gg_py_raise(state, status, message);
    }
    return result;
}

static PyObject *pair_query(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *record, *blob, *poses;
    const char *name = NULL;
    npy_intp record_shape[1] = {sizeof(gg_pair_field)}, blob_shape[1] = {GG_PY_ANY}, shape[2] = {GG_PY_ANY, 3};
    if (!PyArg_ParseTuple(args, "OOO|z:pair_query", &record, &blob, &poses, &name)) {
        return NULL;
    }
    const void *bytes = gg_py_array(state, "field", record, NPY_UINT8, 1, record_shape);
    const char *data = bytes ? gg_py_array(state, "blob", blob, NPY_UINT8, 1, blob_shape) : NULL;
    const float *pose = data ? gg_py_array(state, "poses", poses, NPY_FLOAT32, 2, shape) : NULL;
    if (!pose) {
        return NULL;
    }
    gg_pair_field field;
    memcpy(&field, bytes, sizeof field);
    if (!gg_pair_field_fits(&field, blob_shape[0]) || (uintptr_t)data % sizeof(uint32_t)) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "field: expected a record that fits the blob");
        return NULL;
    }
    gg_kernel kernel = gg_kernel_select(name);
    if (!kernel.query) {
        PyErr_Format(state->error[GG_PY_BACKEND], "kernel: \"%s\" is not in this build or not for this processor",
                     name);
        return NULL;
    }
    npy_intp count = shape[0];
    shape[1] = (npy_intp)(sizeof(gg_pair_sample) / sizeof(float));
    PyObject *result = PyArray_EMPTY(2, shape, NPY_FLOAT32, 0);
    if (!result) {
        return NULL;
    }
    gg_pair_sample *out = PyArray_DATA((PyArrayObject *)result);
    Py_BEGIN_ALLOW_THREADS kernel.query(&field, data, pose, count, out);
    Py_END_ALLOW_THREADS return result;
}

PyMethodDef gg_py_pair_methods[] = {
    {"polygon_split", polygon_split, METH_VARARGS,
     PyDoc_STR("polygon_split($module, vertices, ring_end, /)\n--\n\n"
               "Convex pieces of a polygon: vertex indices of all pieces (k,) int32, and where each piece ends (m,) "
               "int32.\n\n"
               "vertices: (n, 2) float64 [m], ring after ring with the solid on the left. ring_end: (rings,) int32. "
               "Raises ArgumentError\n"
               "for rings of no simple polygon.")},
    {"pair_distance", pair_distance, METH_VARARGS,
     PyDoc_STR("pair_distance($module, a, b, poses, thread_count=0, /)\n--\n\n"
               "Exact contacts of two polygons, (n, 9) float64: d [m], normal, dd/dtheta [m], arm [m], contact "
               "points on a, b [m].\n\n"
               "a, b: tuples of vertices, ring_end, piece, piece_end, see polygon_split. poses: (n, 3) float64 "
               "theta [rad], x, y [m] of b\n"
               "in a's frame. thread_count 0: one per core. Raises ArgumentError, MemoryError.")},
    {"pair_query", pair_query, METH_VARARGS,
     PyDoc_STR("pair_query($module, field, blob, poses, kernel=None, /)\n--\n\n"
               "Contacts of a pair field at poses, (n, 5) float32: d [m], normal, dd/dtheta [m], arm [m].\n\n"
               "field: the bytes of a gg_pair_field, uint8. blob: (m,) uint8, its data. poses: (n, 3) float32. "
               "kernel: scalar, vector128,\n"
               "avx2 or avx512 (same bits, other speed); None: the fastest. Raises ArgumentError, BackendError.")},
    {NULL, NULL, 0, NULL},
};
