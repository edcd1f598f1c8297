/* tables.c: what tasks compute from counts of grains, a table per env.
 *
 * One pass here replaces a dozen of NumPy's and their temporary arrays. Each sum runs in one order, so that env k alone
 * equals env k among many.
 */
#include "convert.h"

/* (1, 2, 1) / 4 of three neighbours */
static double blend(double before, double here, double after) { return 0.25 * before + 0.5 * here + 0.25 * after; }

/* smooths a table along its rows' axis, then along its columns', mirrored at its edges; `between` is as large */
static void smooth_table(const double *table, npy_intp rows, npy_intp columns, double *between, double *out) {
    for (npy_intp r = 0; r < rows; r++) {
        const double *here = table + r * columns;
        const double *before = r > 0 ? here - columns : here, *after = r + 1 < rows ? here + columns : here;
        for (npy_intp c = 0; c < columns; c++) {
            between[r * columns + c] = blend(before[c], here[c], after[c]);
        }
    }
    for (npy_intp r = 0; r < rows; r++) {
        const double *line = between + r * columns;
        for (npy_intp c = 0; c < columns; c++) {
            out[r * columns + c] = blend(line[c > 0 ? c - 1 : c], line[c], line[c + 1 < columns ? c + 1 : c]);
        }
    }
}

static PyObject *tables_smoothed(PyObject *module, PyObject *object) {
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const double *tables = gg_py_buffer(PyModule_GetState(module), "tables", object, NPY_FLOAT64, 3, shape);
    if (!tables) {
        return NULL;
    }
    npy_intp size = shape[1] * shape[2];
    PyObject *result = PyArray_EMPTY(3, shape, NPY_FLOAT64, 0);
    double *between = PyMem_Calloc((size_t)size + 1, sizeof *between);
    if (!result || !between) {
        Py_XDECREF(result);
        PyMem_Free(between);
        return PyErr_NoMemory();
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp k = 0; k < shape[0]; k++) {
        smooth_table(tables + k * size, shape[1], shape[2], between, out + k * size);
    }
    PyMem_Free(between);
    return result;
}

/* The index of one bed from counts (samples, 2): P. M. C. Lacey, "Developments in the theory of particle mixing" (1954);
 * granular_gym/tasks/mixing.py. */
static double lacey_index(const int64_t *counts, npy_intp samples) {
    int64_t all = 0, ones = 0, filled = 0;
    for (npy_intp k = 0; k < samples; k++) {
        int64_t size = counts[2 * k] + counts[2 * k + 1];
        all += size;
        ones += counts[2 * k + 1];
        filled += size > 0;
    }
    double count = (double)(all > 1 ? all : 1), share = (double)ones / count;
    double apart = share * (1.0 - share), left = apart - apart * (double)filled / count, variance = 0.0;
    if (!(apart > 0.0 && left > 1e-12)) {
        return 1.0;
    }
    for (npy_intp k = 0; k < samples; k++) {
        int64_t size = counts[2 * k] + counts[2 * k + 1];
        double off = (double)counts[2 * k + 1] / (double)(size > 1 ? size : 1) - share;
        variance += (double)size * (off * off);
    }
    return (apart - variance / count) / left;
}

static PyObject *tables_lacey_index(PyObject *module, PyObject *object) {
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, 2};
    const int64_t *counts = gg_py_buffer(PyModule_GetState(module), "counts", object, NPY_INT64, 3, shape);
    PyObject *result = counts ? PyArray_EMPTY(1, shape, NPY_FLOAT64, 0) : NULL;
    double *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp k = 0; out && k < shape[0]; k++) {
        out[k] = lacey_index(counts + 2 * k * shape[1], shape[1]);
    }
    return result;
}

PyMethodDef gg_py_table_methods[] = {
    {"smoothed", tables_smoothed, METH_O,
     PyDoc_STR("smoothed($module, tables, /)\n--\n\n"
               "Tables (n, rows, columns) float64 smoothed by (1, 2, 1) / 4 along both axes, mirrored at their edges. "
               "Raises ArgumentError.")},
    {"lacey_index", tables_lacey_index, METH_O,
     PyDoc_STR("lacey_index($module, counts, /)\n--\n\n"
               "Index of Lacey (n,) float64 of beds whose samples hold counts (n, samples, 2) int64 of two kinds. "
               "Raises ArgumentError.")},
    {NULL, NULL, 0, NULL},
};
