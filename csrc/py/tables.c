/* tables.c: what tasks compute from counts of grains, a table per env.
 *
 * One pass here replaces a dozen of NumPy's and their temporary arrays. Each sum runs in one order, so that env k alone
 * equals env k among many.
 */
#include "convert.h"

#include <math.h>

/* (1, 2, 1) / 4 of three neighbours */
static double blend(double before, double here, double after) { return 0.25 * before + 0.5 * here + 0.25 * after; }

/* smooths a table along its rows' axis, then along its columns', mirrored at its edges; `between` is as large, `out`
 * may be the table */
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

/* so many doubles, for PyMem_Free; NULL with an exception set */
static double *scratch_of(npy_intp count) {
    double *scratch = PyMem_Calloc((size_t)count + 1, sizeof *scratch);
    return scratch ? scratch : (double *)PyErr_NoMemory();
}

static PyObject *tables_smoothed(PyObject *module, PyObject *object) {
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const double *tables = gg_py_buffer(PyModule_GetState(module), "tables", object, NPY_FLOAT64, 3, shape);
    if (!tables) {
        return NULL;
    }
    npy_intp size = shape[1] * shape[2];
    PyObject *result = PyArray_EMPTY(3, shape, NPY_FLOAT64, 0);
    double *between = result ? scratch_of(size) : NULL;
    if (!between) {
        Py_XDECREF(result);
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp k = 0; k < shape[0]; k++) {
        smooth_table(tables + k * size, shape[1], shape[2], between, out + k * size);
    }
    PyMem_Free(between);
    return result;
}

/* The heights of a table of counts: smoothed, then scaled. between, out: as large. */
static void table_heights(const int64_t *counts, npy_intp rows, npy_intp columns, double scale, double *between,
                          double *out) {
    npy_intp size = rows * columns;
    for (npy_intp k = 0; k < size; k++) {
        out[k] = (double)counts[k];
    }
    smooth_table(out, rows, columns, between, out);
    for (npy_intp k = 0; k < size; k++) {
        out[k] *= scale;
    }
}

/* eight partial sums, then what is left one by one: the order of NumPy up to 128 numbers */
static double partial_sums(const double *x, npy_intp count) {
    double sum[8] = {0.0}, total;
    npy_intp n = 0;
    for (; n + 8 <= count; n += 8) {
        for (int k = 0; k < 8; k++) {
            sum[k] += x[n + k];
        }
    }
    total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    for (; n < count; n++) {
        total += x[n];
    }
    return total;
}

/* mean distance of heights from their targets, less `margin` cells along the edges; off: as large */
static double table_error(const double *heights, const double *targets, npy_intp rows, npy_intp columns,
                          npy_intp margin, double *off) {
    npy_intp count = 0;
    for (npy_intp r = margin; r < rows - margin; r++) {
        for (npy_intp c = margin; c < columns - margin; c++) {
            off[count++] = fabs(heights[r * columns + c] - targets[r * columns + c]);
        }
    }
    return partial_sums(off, count) / (double)count;
}

static PyObject *tables_heights(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *object;
    double scale;
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const int64_t *counts;
    if (!PyArg_ParseTuple(args, "Od:column_heights", &object, &scale) ||
        !(counts = gg_py_buffer(state, "counts", object, NPY_INT64, 3, shape))) {
        return NULL;
    }
    npy_intp size = shape[1] * shape[2];
    PyObject *result = PyArray_EMPTY(3, shape, NPY_FLOAT64, 0);
    double *between = result ? scratch_of(size) : NULL;
    if (!between) {
        Py_XDECREF(result);
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp k = 0; k < shape[0]; k++) {
        table_heights(counts + k * size, shape[1], shape[2], scale, between, out + k * size);
    }
    PyMem_Free(between);
    return result;
}

static PyObject *tables_errors(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *height_object, *target_object;
    Py_ssize_t margin;
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const double *heights, *targets;
    if (!PyArg_ParseTuple(args, "OOn:height_errors", &height_object, &target_object, &margin) ||
        !(heights = gg_py_buffer(state, "heights", height_object, NPY_FLOAT64, 3, shape)) ||
        !(targets = gg_py_buffer(state, "targets", target_object, NPY_FLOAT64, 3, shape))) {
        return NULL;
    }
    npy_intp most = (shape[1] < shape[2] ? shape[1] : shape[2]) - 1;
    if (margin < 0 || margin > most / 2 || most < 0) {
        PyErr_Format(state->error[GG_PY_ARGUMENT],
                     "margin: expected 0 .. less than half of %lld x %lld cells, got %lld", (long long)shape[1],
                     (long long)shape[2], (long long)margin);
        return NULL;
    }
    npy_intp size = shape[1] * shape[2];
    PyObject *result = PyArray_EMPTY(1, shape, NPY_FLOAT64, 0);
    double *off = result ? scratch_of(size) : NULL;
    if (!off) {
        Py_XDECREF(result);
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp k = 0; k < shape[0]; k++) {
        out[k] = table_error(heights + k * size, targets + k * size, shape[1], shape[2], margin, off);
    }
    PyMem_Free(off);
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
    {"column_heights", tables_heights, METH_VARARGS,
     PyDoc_STR("column_heights($module, counts, scale, /)\n--\n\n"
               "Counts (n, rows, columns) int64 smoothed as by `smoothed`, times a scale: float64. Raises "
               "ArgumentError.")},
    {"height_errors", tables_errors, METH_VARARGS,
     PyDoc_STR("height_errors($module, heights, targets, margin, /)\n--\n\n"
               "Mean distance (n,) float64 of heights from targets, both (n, rows, columns) float64, less `margin` "
               "cells along\nthe edges. Raises ArgumentError.")},
    {"lacey_index", tables_lacey_index, METH_O,
     PyDoc_STR("lacey_index($module, counts, /)\n--\n\n"
               "Index of Lacey (n,) float64 of beds whose samples hold counts (n, samples, 2) int64 of two kinds. "
               "Raises ArgumentError.")},
    {NULL, NULL, 0, NULL},
};
