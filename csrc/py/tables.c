/* tables.c: what tasks compute from counts of grains, a table per env.
 *
 * One pass here replaces a dozen of NumPy's and their temporary arrays. Each sum runs in one order, so that env k alone
 * equals env k among many.
 */
#include "convert.h"

#include <math.h>

#include "../base/scalar.h"

/* A count as a double, for |n| < 2^51, on bits: compilers make vectors of a loop of these, for which common instruction
 * sets have no conversion. */
static double number_of(int64_t n) {
    const double zero = GG_TO_INTEGER;
    int64_t bits;
    double number;
    memcpy(&bits, &zero, sizeof bits);
    bits += n;
    memcpy(&number, &bits, sizeof number);
    return number - zero;
}

/* (1, 2, 1) / 4 of three neighbours */
static double blend(double before, double here, double after) { return 0.25 * before + 0.5 * here + 0.25 * after; }

/* the blend of a line with its neighbours */
static void blend_lines(const double *restrict before, const double *restrict here, const double *restrict after,
                        npy_intp count, double *restrict out) {
    for (npy_intp k = 0; k < count; k++) {
        out[k] = blend(before[k], here[k], after[k]);
    }
}

/* Smooths the rows first .. last - 1 of a table along the rows' axis, then along the columns', mirrored at its edges.
 * between, out: as large as the table; out may be the table. */
static void smooth_rows(const double *table, npy_intp rows, npy_intp columns, npy_intp first, npy_intp last,
                        double *between, double *out) {
    npy_intp end = columns - 1;
    for (npy_intp r = first; r < last; r++) {
        const double *here = table + r * columns;
        const double *before = r > 0 ? here - columns : here, *after = r + 1 < rows ? here + columns : here;
        blend_lines(before, here, after, columns, between + r * columns);
    }
    for (npy_intp r = first; r < last && columns > 0; r++) {
        const double *line = between + r * columns;
        double *to = out + r * columns;
        to[0] = blend(line[0], line[0], line[end > 0]);
        if (end > 0) {
            blend_lines(line, line + 1, line + 2, end - 1, to + 1);
            to[end] = blend(line[end - 1], line[end], line[end]);
        }
    }
}

/* What is computed for each of n tables: an array with a first axis of n, and numbers to work with. */
typedef struct table_output {
    PyObject *array;
    double *out, *scratch;
} table_output;

/* A new float64 array of this shape and so many doubles of scratch, which table_done frees. Returns 0, or -1 with an
 * exception set. */
static int table_begin(table_output *output, int ndim, const npy_intp *shape, npy_intp scratch) {
    output->array = PyArray_EMPTY(ndim, (npy_intp *)shape, NPY_FLOAT64, 0);
    if (!output->array) {
        return -1;
    }
    output->out = PyArray_DATA((PyArrayObject *)output->array);
    output->scratch = PyMem_Calloc((size_t)scratch + 1, sizeof *output->scratch);
    if (!output->scratch) {
        Py_DECREF(output->array);
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* the array */
static PyObject *table_done(table_output *output) {
    PyMem_Free(output->scratch);
    return output->array;
}

static PyObject *tables_smoothed(PyObject *module, PyObject *object) {
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const double *tables = gg_py_buffer(PyModule_GetState(module), "tables", object, NPY_FLOAT64, 3, shape);
    table_output o;
    if (!tables || table_begin(&o, 3, shape, shape[1] * shape[2])) {
        return NULL;
    }
    npy_intp size = shape[1] * shape[2];
    for (npy_intp k = 0; k < shape[0]; k++) {
        smooth_rows(tables + k * size, shape[1], shape[2], 0, shape[1], o.scratch, o.out + k * size);
    }
    return table_done(&o);
}

/* The heights of rows first .. last - 1 of a table of counts: smoothed, then scaled. between, out: as large as the
 * table. */
static void table_heights(const int64_t *counts, npy_intp rows, npy_intp columns, npy_intp first, npy_intp last,
                          double scale, double *between, double *out) {
    for (npy_intp k = 0; k < rows * columns; k++) {
        out[k] = number_of(counts[k]);
    }
    smooth_rows(out, rows, columns, first, last, between, out);
    for (npy_intp k = first * columns; k < last * columns; k++) {
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
                          npy_intp margin, double *restrict off) {
    npy_intp count = 0, width = columns - 2 * margin;
    for (npy_intp r = margin; r < rows - margin; r++) {
        const double *height = heights + r * columns + margin, *target = targets + r * columns + margin;
        for (npy_intp c = 0; c < width; c++) {
            off[count + c] = fabs(height[c] - target[c]);
        }
        count += width;
    }
    return partial_sums(off, count) / (double)count;
}

static PyObject *tables_heights(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *object;
    double scale;
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const int64_t *counts;
    table_output o;
    if (!PyArg_ParseTuple(args, "Od:column_heights", &object, &scale) ||
        !(counts = gg_py_buffer(state, "counts", object, NPY_INT64, 3, shape)) ||
        table_begin(&o, 3, shape, shape[1] * shape[2])) {
        return NULL;
    }
    npy_intp size = shape[1] * shape[2];
    for (npy_intp k = 0; k < shape[0]; k++) {
        table_heights(counts + k * size, shape[1], shape[2], 0, shape[1], scale, o.scratch, o.out + k * size);
    }
    return table_done(&o);
}

static PyObject *tables_errors(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *height_object, *target_object;
    Py_ssize_t margin;
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const double *heights, *targets;
    table_output o;
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
    if (table_begin(&o, 1, shape, size)) {
        return NULL;
    }
    for (npy_intp k = 0; k < shape[0]; k++) {
        o.out[k] = table_error(heights + k * size, targets + k * size, shape[1], shape[2], margin, o.scratch);
    }
    return table_done(&o);
}

static PyObject *tables_count_shares(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *count_object, *weight_object;
    double whole;
    npy_intp count_shape[2] = {GG_PY_ANY, GG_PY_ANY}, weight_shape[2] = {GG_PY_ANY, GG_PY_ANY};
    const int64_t *counts, *weights;
    if (!PyArg_ParseTuple(args, "OOd:count_shares", &count_object, &weight_object, &whole) ||
        !(counts = gg_py_buffer(state, "counts", count_object, NPY_INT64, 2, count_shape))) {
        return NULL;
    }
    npy_intp width = count_shape[1];
    weight_shape[0] = width;
    if (!(weights = gg_py_buffer(state, "weights", weight_object, NPY_INT64, 2, weight_shape))) {
        return NULL;
    }
    npy_intp sums = weight_shape[1], shape[2] = {count_shape[0], sums};
    PyObject *result = PyArray_EMPTY(2, shape, NPY_FLOAT64, 0);
    double *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0]; n++) {
        for (npy_intp k = 0; k < sums; k++) {
            uint64_t sum = 0; /* wraps, where a signed one may not */
            for (npy_intp c = 0; c < width; c++) {
                sum += (uint64_t)counts[n * width + c] * (uint64_t)weights[c * sums + k];
            }
            out[n * sums + k] = (double)(int64_t)sum / whole;
        }
    }
    return result;
}

/* The index of one bed from counts (samples, 2): P. M. C. Lacey, "Developments in the theory of particle mixing"
 * (1954); granular_gym/tasks/mixing.py. Each loop but the sums treats all samples alike, for compilers to make vectors.
 * composition (samples): the second kind less the first, over both, 0 in an empty sample; NULL: it is not wanted.
 * scratch: SAMPLE_SCRATCH per sample. */
#define SAMPLE_SCRATCH 4

static double lacey_index(const int64_t *restrict counts, npy_intp samples, double *restrict composition,
                          double *restrict scratch) {
    double *restrict other = scratch, *restrict one = other + samples;
    double *restrict whole = one + samples, *restrict term = whole + samples;
    int64_t all = 0, ones = 0;
    uint64_t filled = 0;
    for (npy_intp k = 0; k < samples; k++) {
        int64_t both = counts[2 * k] + counts[2 * k + 1];
        all += both;
        ones += counts[2 * k + 1];
        filled += (0 - (uint64_t)both) >> 63; /* 1 where it is above 0 */
    }
    for (npy_intp k = 0; k < samples; k++) {
        other[k] = number_of(counts[2 * k]);
        one[k] = number_of(counts[2 * k + 1]);
    }
    for (npy_intp k = 0; k < samples; k++) {
        double both = other[k] + one[k];
        whole[k] = both > 1.0 ? both : 1.0;
    }
    if (composition) {
        for (npy_intp k = 0; k < samples; k++) {
            composition[k] = (one[k] - other[k]) / whole[k];
        }
    }
    double count = (double)(all > 1 ? all : 1), share = (double)ones / count;
    double apart = share * (1.0 - share), left = apart - apart * (double)filled / count, variance = 0.0;
    if (!(apart > 0.0 && left > 1e-12)) {
        return 1.0;
    }
    for (npy_intp k = 0; k < samples; k++) {
        double off = one[k] / whole[k] - share;
        term[k] = (other[k] + one[k]) * (off * off);
    }
    for (npy_intp k = 0; k < samples; k++) {
        variance += term[k];
    }
    return (apart - variance / count) / left;
}

static PyObject *tables_lacey_index(PyObject *module, PyObject *object) {
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, 2};
    const int64_t *counts = gg_py_buffer(PyModule_GetState(module), "counts", object, NPY_INT64, 3, shape);
    table_output o;
    if (!counts || table_begin(&o, 1, shape, SAMPLE_SCRATCH * shape[1])) {
        return NULL;
    }
    for (npy_intp k = 0; k < shape[0]; k++) {
        o.out[k] = lacey_index(counts + 2 * k * shape[1], shape[1], NULL, o.scratch);
    }
    return table_done(&o);
}

static PyObject *tables_mixing(PyObject *module, PyObject *object) {
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, 2};
    const int64_t *counts = gg_py_buffer(PyModule_GetState(module), "counts", object, NPY_INT64, 3, shape);
    PyObject *compositions = counts ? PyArray_EMPTY(2, shape, NPY_FLOAT64, 0) : NULL;
    table_output o;
    if (!compositions || table_begin(&o, 1, shape, SAMPLE_SCRATCH * shape[1])) {
        Py_XDECREF(compositions);
        return NULL;
    }
    double *composition = PyArray_DATA((PyArrayObject *)compositions);
    for (npy_intp k = 0; k < shape[0]; k++) {
        npy_intp at = k * shape[1];
        o.out[k] = lacey_index(counts + 2 * at, shape[1], composition + at, o.scratch);
    }
    return Py_BuildValue("NN", table_done(&o), compositions);
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
    {"count_shares", tables_count_shares, METH_VARARGS,
     PyDoc_STR("count_shares($module, counts, weights, whole, /)\n--\n\n"
               "Weighted sums of counts (n, k) int64 with weights (k, m) int64 over a whole, (n, m) float64. Raises "
               "ArgumentError.")},
    {"lacey_index", tables_lacey_index, METH_O,
     PyDoc_STR("lacey_index($module, counts, /)\n--\n\n"
               "Index of Lacey (n,) float64 of beds whose samples hold counts (n, samples, 2) int64 of two kinds. "
               "Raises ArgumentError.")},
    {"mixing", tables_mixing, METH_O,
     PyDoc_STR("mixing($module, counts, /)\n--\n\n"
               "This index, and the composition of the samples (n, samples) float64: the second kind less the first, "
               "over both;\n0 in an empty sample. Raises ArgumentError.")},
    {NULL, NULL, 0, NULL},
};
