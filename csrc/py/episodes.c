/* episodes.c: what every env step needs besides the world: programmes that episodes follow, infos with their masks. */
#include "convert.h"

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
static PyObject *episode_programme(PyObject *module, PyObject *args,
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

static PyObject *episode_programme_integral(PyObject *module, PyObject *args) {
    return episode_programme(module, args, programme_integral);
}

static PyObject *episode_programme_value(PyObject *module, PyObject *args) {
    return episode_programme(module, args, programme_value);
}

/* {name: array, "_name": which envs it is of, here all} for each entry */
static PyObject *episode_masked(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *values, *name, *array;
    Py_ssize_t at = 0, env_count;
    if (!PyArg_ParseTuple(args, "O!n:masked", &PyDict_Type, &values, &env_count)) {
        return NULL;
    }
    npy_intp count = env_count;
    PyObject *result = PyDict_New(), *prefix = PyUnicode_FromString("_");
    while (result && prefix && PyDict_Next(values, &at, &name, &array)) {
        PyObject *mask_name = PyUnicode_Concat(prefix, name), *mask = PyArray_SimpleNew(1, &count, NPY_BOOL);
        if (mask) {
            memset(PyArray_DATA((PyArrayObject *)mask), 1, (size_t)count);
        }
        if (!mask_name || !mask || PyDict_SetItem(result, name, array) || PyDict_SetItem(result, mask_name, mask)) {
            Py_CLEAR(result);
        }
        Py_XDECREF(mask_name);
        Py_XDECREF(mask);
    }
    Py_XDECREF(prefix);
    return result;
}

PyMethodDef gg_py_episode_methods[] = {
    {"programme_integral", episode_programme_integral, METH_VARARGS,
     PyDoc_STR("programme_integral($module, time, ends, values, /)\n--\n\n"
               "Integrals from 0 to times (..., n) of n functions that hold a value from stage to stage, float64.\n\n"
               "ends, values: (n, stages) float64, where the stages end, ascending, and what holds there. Raises "
               "ArgumentError.")},
    {"programme_value", episode_programme_value, METH_VARARGS,
     PyDoc_STR("programme_value($module, time, ends, values, /)\n--\n\n"
               "The values of such functions at times (..., n); 0 before 0 and from the last end on.")},
    {"masked", episode_masked, METH_VARARGS,
     PyDoc_STR("masked($module, infos, env_count, /)\n--\n\n"
               "A dict of infos by name, and behind each, as _name, a new mask (env_count,) bool that is True.")},
    {NULL, NULL, 0, NULL},
};
