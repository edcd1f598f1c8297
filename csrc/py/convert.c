/* convert.c: checked views of Python arguments; see convert.h.
 *
 * The Python layer has checked its arguments already; here they are checked once more, because beyond this point a
 * wrong array is not an error message but a crash.
 */
#include "convert.h"

PyObject *gg_py_raise(const gg_module_state *state, gg_status status, const char *message) {
    static const char *const nothing = "the engine gave no message";
    if (!message || !message[0]) {
        message = nothing;
    }
    switch (status) {
    case GG_OK:
        PyErr_SetString(PyExc_SystemError, "gg_py_raise called without an error");
        break;
    case GG_ERROR_ARGUMENT:
        PyErr_SetString(state->error[GG_PY_ARGUMENT], message);
        break;
    case GG_ERROR_MEMORY:
        PyErr_SetString(PyExc_MemoryError, message);
        break;
    case GG_ERROR_CAPACITY:
        PyErr_SetString(state->error[GG_PY_CAPACITY], message);
        break;
    case GG_ERROR_STATE:
        PyErr_SetString(state->error[GG_PY_STATE], message);
        break;
    case GG_ERROR_BACKEND:
        PyErr_SetString(state->error[GG_PY_BACKEND], message);
        break;
    case GG_INTERRUPTED:
        /* the poll has set the signal handler's exception */
        if (!PyErr_Occurred()) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
        break;
    }
    return NULL;
}

void gg_py_refuse_type(const gg_module_state *state, const char *name, const char *expected, PyObject *object) {
    PyObject *type = object ? PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__") : NULL;
    if (object && !type) {
        return;
    }
    if (type) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: expected %s, got %U", name, expected, type);
    } else {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: expected %s, got nothing", name, expected);
    }
    Py_XDECREF(type);
}

/* "(3, *)"; at most four axes */
static void shape_text(char *out, size_t size, int ndim, const npy_intp *shape) {
    size_t used = (size_t)snprintf(out, size, "(");
    for (int axis = 0; axis < ndim && used < size; axis++) {
        const char *end = ndim == 1 ? "," : axis + 1 < ndim ? ", " : "";
        int n = shape[axis] == GG_PY_ANY ? snprintf(out + used, size - used, "*%s", end)
                                         : snprintf(out + used, size - used, "%lld%s", (long long)shape[axis], end);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used < size) {
        snprintf(out + used, size - used, ")");
    }
}

static const char *dtype_name(int dtype) {
    switch (dtype) {
    case NPY_FLOAT32:
        return "float32";
    case NPY_FLOAT64:
        return "float64";
    case NPY_INT32:
        return "int32";
    case NPY_INT64:
        return "int64";
    case NPY_UINT8:
        return "uint8";
    default:
        return "another type";
    }
}

int64_t gg_py_first_not_finite(int dtype, const void *data, int64_t count) {
    /* not finite: all bits of the exponent are set; one vectorised pass without branches, and a search where one is
     * found */
    uint32_t bad = 0;
    if (dtype == NPY_FLOAT32) {
        const float *a = data;
        for (int64_t k = 0; k < count; k++) {
            uint32_t bits;
            memcpy(&bits, a + k, sizeof bits);
            bad |= (bits & 0x7F800000u) == 0x7F800000u;
        }
        for (int64_t k = 0; bad && k < count; k++) {
            if (a[k] - a[k] != 0.0f) {
                return k;
            }
        }
    } else if (dtype == NPY_FLOAT64) {
        const double *a = data;
        for (int64_t k = 0; k < count; k++) {
            uint64_t bits;
            memcpy(&bits, a + k, sizeof bits);
            bad |= ((uint32_t)(bits >> 32) & 0x7FF00000u) == 0x7FF00000u;
        }
        for (int64_t k = 0; bad && k < count; k++) {
            if (a[k] - a[k] != 0.0) {
                return k;
            }
        }
    }
    return -1;
}

void *gg_py_buffer(const gg_module_state *state, const char *name, PyObject *object, int dtype, int ndim,
                   npy_intp *shape) {
    char want[96], got[96];
    PyObject *error = state->error[GG_PY_ARGUMENT];
    if (!object || !PyArray_Check(object)) {
        snprintf(want, sizeof want, "a NumPy array of %s", dtype_name(dtype));
        gg_py_refuse_type(state, name, want, object);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != dtype) {
        PyErr_Format(error, "%s: expected dtype %s, got %S", name, dtype_name(dtype), (PyObject *)PyArray_DESCR(array));
        return NULL;
    }
    int fits = PyArray_NDIM(array) == ndim;
    for (int axis = 0; fits && axis < ndim; axis++) {
        fits = shape[axis] == GG_PY_ANY || shape[axis] == PyArray_DIM(array, axis);
    }
    if (!fits) {
        shape_text(want, sizeof want, ndim, shape);
        shape_text(got, sizeof got, PyArray_NDIM(array) < 5 ? PyArray_NDIM(array) : 5, PyArray_DIMS(array));
        PyErr_Format(error, "%s: expected shape %s, got %s", name, want, got);
        return NULL;
    }
    if (!PyArray_ISCARRAY_RO(array)) {
        PyErr_Format(error, "%s: expected a C-contiguous, aligned array in native byte order", name);
        return NULL;
    }
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = PyArray_DIM(array, axis);
    }
    return PyArray_DATA(array);
}

void *gg_py_array(const gg_module_state *state, const char *name, PyObject *object, int dtype, int ndim,
                  npy_intp *shape) {
    void *data = gg_py_buffer(state, name, object, dtype, ndim, shape);
    int64_t bad = data ? gg_py_first_not_finite(dtype, data, PyArray_SIZE((PyArrayObject *)object)) : -1;
    if (bad >= 0) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: expected finite numbers, element %lld is not", name,
                     (long long)bad);
        return NULL;
    }
    return data;
}

int gg_py_array_or_none(const gg_module_state *state, const char *name, PyObject *object, int dtype, int ndim,
                        npy_intp *shape, void *out) {
    void *data = NULL;
    if (object && object != Py_None) {
        data = gg_py_array(state, name, object, dtype, ndim, shape);
        if (!data) {
            return -1;
        }
    }
    memcpy(out, &data, sizeof data);
    return 0;
}

int gg_py_envs(const gg_module_state *state, PyObject *object, int64_t env_count, const int32_t **envs,
               int64_t *listed) {
    npy_intp shape[1] = {GG_PY_ANY};
    *envs = NULL;
    *listed = env_count;
    if (!object || object == Py_None) {
        return 0;
    }
    const int32_t *list = gg_py_array(state, "envs", object, NPY_INT32, 1, shape);
    if (!list) {
        return -1;
    }
    for (npy_intp k = 0; k < shape[0]; k++) {
        if (list[k] < 0 || list[k] >= env_count) {
            PyErr_Format(state->error[GG_PY_ARGUMENT], "envs: expected env indices in 0 .. %lld, element %lld is %d",
                         (long long)env_count - 1, (long long)k, (int)list[k]);
            return -1;
        }
    }
    *envs = list;
    *listed = shape[0];
    return 0;
}

int gg_py_check_poses(const gg_module_state *state, const char *name, const float *poses, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        const float *q = poses + k * 7 + 3;
        double n2 = (double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] + (double)q[3] * q[3];
        if (!(n2 > 1e-8 && n2 < 1e8)) {
            PyErr_Format(state->error[GG_PY_ARGUMENT],
                         "%s: expected unit quaternions (qw, qx, qy, qz), that of pose %lld has no usable length", name,
                         (long long)k);
            return -1;
        }
    }
    return 0;
}

int gg_py_integer(const gg_module_state *state, const char *name, PyObject *object, int64_t lower, int64_t upper,
                  int64_t *out) {
    PyObject *error = state->error[GG_PY_ARGUMENT];
    PyObject *index = object ? PyNumber_Index(object) : NULL;
    if (!index) {
        PyErr_Clear();
        gg_py_refuse_type(state, name, "an integer", object);
        return -1;
    }
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || value < lower || value > upper) {
        PyErr_Format(error, "%s: expected %lld .. %lld, got %S", name, (long long)lower, (long long)upper, object);
        return -1;
    }
    *out = value;
    return 0;
}

/* the fields of gg_solver, once: name in Python and C, and whether it is an integer */
#define SOLVER_FIELDS(I, F)                                                                                            \
    I(mode)                                                                                                            \
    I(iterations)                                                                                                      \
    I(nesterov)                                                                                                        \
    I(spin)                                                                                                            \
    I(broad_phase)                                                                                                     \
    F(alpha)                                                                                                           \
    F(tool_alpha)                                                                                                      \
    F(relaxation)                                                                                                      \
    F(relaxation_sum)                                                                                                  \
    F(margin)                                                                                                          \
    F(skin)                                                                                                            \
    F(bounce_speed)                                                                                                    \
    F(correction_share)                                                                                                \
    F(tolerance)                                                                                                       \
    F(hash_ratio)                                                                                                      \
    I(sleep)                                                                                                           \
    F(stiffness)                                                                                                       \
    F(tangential_stiffness)                                                                                            \
    F(damping)                                                                                                         \
    F(tangential_damping)                                                                                              \
    I(integrator)                                                                                                      \
    F(bell_modulus)                                                                                                    \
    F(bell_stiffness)                                                                                                  \
    F(bell_damping)                                                                                                    \
    F(bell_sliding)                                                                                                    \
    I(bell_damping_quarters)                                                                                           \
    I(bell_stiffness_quarters)
#define COUNT_ONE(name) +1

/* the value of a solver field, borrowed */
static PyObject *solver_item(const gg_module_state *state, PyObject *dict, const char *name) {
    PyObject *key = PyUnicode_FromString(name);
    PyObject *value = key ? PyDict_GetItemWithError(dict, key) : NULL;
    Py_XDECREF(key);
    if (!value && !PyErr_Occurred()) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "solver: field %s is missing", name);
    }
    return value;
}

int gg_py_solver(const gg_module_state *state, PyObject *dict, gg_solver *out) {
    PyObject *error = state->error[GG_PY_ARGUMENT];
    const Py_ssize_t field_count = 0 SOLVER_FIELDS(COUNT_ONE, COUNT_ONE);
    if (!dict || !PyDict_Check(dict)) {
        gg_py_refuse_type(state, "solver", "a dict", dict);
        return -1;
    }
    if (PyDict_Size(dict) > field_count) {
        PyErr_Format(error, "solver: expected %zd fields, got %zd", field_count, PyDict_Size(dict));
        return -1;
    }
    *out = gg_solver_default();
#define READ_INTEGER(field)                                                                                            \
    {                                                                                                                  \
        int64_t value = 0;                                                                                             \
        PyObject *item = solver_item(state, dict, #field);                                                             \
        if (!item || gg_py_integer(state, "solver." #field, item, INT32_MIN, INT32_MAX, &value)) {                     \
            return -1;                                                                                                 \
        }                                                                                                              \
        out->field = (int32_t)value;                                                                                   \
    }
#define READ_FLOAT(field)                                                                                              \
    {                                                                                                                  \
        PyObject *item = solver_item(state, dict, #field);                                                             \
        double value = item ? PyFloat_AsDouble(item) : -1.0;                                                           \
        if (PyErr_Occurred()) {                                                                                        \
            return -1;                                                                                                 \
        }                                                                                                              \
        out->field = (float)value;                                                                                     \
    }
    SOLVER_FIELDS(READ_INTEGER, READ_FLOAT)
    return 0;
}

/* sets dict[name] and steals value, which may be NULL. Returns 0 or -1. */
static int set_item(PyObject *dict, const char *name, PyObject *value) {
    int status = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

PyObject *gg_py_solver_dict(const gg_solver *solver) {
    PyObject *dict = PyDict_New();
#define WRITE_INTEGER(field) || set_item(dict, #field, PyLong_FromLong(solver->field))
#define WRITE_FLOAT(field)   || set_item(dict, #field, PyFloat_FromDouble((double)solver->field))
    if (dict && (0 SOLVER_FIELDS(WRITE_INTEGER, WRITE_FLOAT))) {
        Py_CLEAR(dict);
    }
    return dict;
}

gg_camera gg_py_camera(const int32_t *integers, const float *floats) {
    gg_camera camera;
    memset(&camera, 0, sizeof camera);
    camera.kind = integers[0];
    camera.height = integers[1];
    camera.width = integers[2];
    camera.tool = integers[3];
    camera.pose.position = gg_v3(floats[0], floats[1], floats[2]);
    camera.pose.rotation = gg_quat_make(floats[3], floats[4], floats[5], floats[6]);
    camera.extent = floats[7];
    camera.near_depth = floats[8];
    camera.far_depth = floats[9];
    return camera;
}

void *gg_py_def_alloc(gg_py_def *out, int64_t count, size_t size) {
    void *block = PyMem_Calloc(count > 0 ? (size_t)count : 1, size);
    if (!block) {
        PyErr_NoMemory();
        return NULL;
    }
    out->memory[out->memory_count++] = block;
    return block;
}

void gg_py_def_free(gg_py_def *def) {
    for (int k = 0; k < def->memory_count; k++) {
        PyMem_Free(def->memory[k]);
    }
    def->memory_count = 0;
}
