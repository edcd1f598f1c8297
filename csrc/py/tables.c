/* tables.c: what tasks compute from counts of grains, a table per env; and programmes, a row of stages per env.
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

/* Programmes: functions of time that hold a value from stage to stage; the first stage begins at 0. */
typedef struct programmes {
    const double *end, *value; /* of the stages, (count, stages) [s] and any unit */
    npy_intp count, stages;
} programmes;

/* the integral of programme e from 0 to a time */
static double programme_integral(const programmes *p, npy_intp e, double time) {
    double begin = 0.0, total = 0.0;
    for (npy_intp k = e * p->stages; k < (e + 1) * p->stages; k++) {
        double until = time > begin ? time : begin;
        total += ((until < p->end[k] ? until : p->end[k]) - begin) * p->value[k];
        begin = p->end[k];
    }
    return total;
}

/* the value of programme e at a time; 0 after its end */
static double programme_value(const programmes *p, npy_intp e, double time) {
    for (npy_intp k = e * p->stages; k < (e + 1) * p->stages; k++) {
        if (time < p->end[k]) {
            return time >= 0.0 ? p->value[k] : 0.0;
        }
    }
    return 0.0;
}

/* applies `of` to the times (..., count) of `count` programmes */
static PyObject *tables_programme(PyObject *module, PyObject *args,
                                  double (*of)(const programmes *, npy_intp, double)) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *time, *ends, *values;
    npy_intp shape[2] = {GG_PY_ANY, GG_PY_ANY};
    programmes p;
    if (!PyArg_ParseTuple(args, "OOO:programme", &time, &ends, &values) ||
        !(p.end = gg_py_buffer(state, "ends", ends, NPY_FLOAT64, 2, shape)) ||
        !(p.value = gg_py_buffer(state, "values", values, NPY_FLOAT64, 2, shape))) {
        return NULL;
    }
    p.count = shape[0];
    p.stages = shape[1];
    PyArrayObject *times = (PyArrayObject *)PyArray_FROMANY(time, NPY_FLOAT64, 0, 0, NPY_ARRAY_CARRAY_RO);
    PyObject *result = NULL;
    if (times && (PyArray_NDIM(times) < 1 || PyArray_DIM(times, PyArray_NDIM(times) - 1) != p.count)) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "time: expected a time for each of %lld programmes",
                     (long long)p.count);
    } else if (times && (result = PyArray_EMPTY(PyArray_NDIM(times), PyArray_DIMS(times), NPY_FLOAT64, 0))) {
        const double *at = PyArray_DATA(times);
        double *out = PyArray_DATA((PyArrayObject *)result);
        for (npy_intp n = 0; n < PyArray_SIZE(times); n++) {
            out[n] = of(&p, n % p.count, at[n]);
        }
    }
    Py_XDECREF(times);
    return result;
}

static PyObject *tables_programme_integral(PyObject *module, PyObject *args) {
    return tables_programme(module, args, programme_integral);
}

static PyObject *tables_programme_value(PyObject *module, PyObject *args) {
    return tables_programme(module, args, programme_value);
}

PyMethodDef gg_py_table_methods[] = {
    {"smoothed", tables_smoothed, METH_O,
     PyDoc_STR("smoothed($module, tables, /)\n--\n\n"
               "Tables (n, rows, columns) float64 smoothed by (1, 2, 1) / 4 along both axes, mirrored at their edges. "
               "Raises ArgumentError.")},
    {"programme_integral", tables_programme_integral, METH_VARARGS,
     PyDoc_STR("programme_integral($module, time, ends, values, /)\n--\n\n"
               "Integrals from 0 to times (..., n) of n functions that hold a value from stage to stage, float64.\n\n"
               "ends, values: (n, stages) float64, where the stages end, ascending, and what holds there. Raises "
               "ArgumentError.")},
    {"programme_value", tables_programme_value, METH_VARARGS,
     PyDoc_STR("programme_value($module, time, ends, values, /)\n--\n\n"
               "The values of such functions at times (..., n); 0 before 0 and from the last end on.")},
    {"lacey_index", tables_lacey_index, METH_O,
     PyDoc_STR("lacey_index($module, counts, /)\n--\n\n"
               "Index of Lacey (n,) float64 of beds whose samples hold counts (n, samples, 2) int64 of two kinds. "
               "Raises ArgumentError.")},
    {NULL, NULL, 0, NULL},
};
