/* module.c: the extension granular_gym._core: its types, mesh and PNG functions, GPUs and the build. */
#define GG_PY_IMPORTS_NUMPY
#include "convert.h"

#include "../base/cores.h"
#include "../base/threads.h"

#ifndef GG_SOURCE_HASH
#define GG_SOURCE_HASH "unknown"
#endif
#ifndef GG_BUILD_FLAGS
#define GG_BUILD_FLAGS ""
#endif

/* ---------------------------------------------------------------------------------------------------------
 * functions */

static PyObject *core_usable_cores(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
    return PyLong_FromLong(gg_usable_cores());
}

static PyObject *core_build_info(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused)) {
#if defined(__clang__)
    static const char compiler[] = "clang " __clang_version__;
#elif defined(__GNUC__)
    static const char compiler[] = "gcc " __VERSION__;
#else
    static const char compiler[] = "unknown";
#endif
#if defined(NDEBUG)
    int debug = 0;
#else
    int debug = 1;
#endif
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:O,s:O}", "version", GG_VERSION, "source", GG_SOURCE_HASH, "compiler",
                         compiler, "flags", GG_BUILD_FLAGS, "debug", debug ? Py_True : Py_False, "cuda",
                         gg_device_built() ? Py_True : Py_False);
}

static PyObject *core_cuda_device_count(PyObject *module, PyObject *Py_UNUSED(unused)) {
    int32_t count = 0;
    char message[512] = "";
    gg_status status = gg_device_count(&count, message, sizeof message);
    return status == GG_OK ? PyLong_FromLong(count) : gg_py_raise(PyModule_GetState(module), status, message);
}

static PyObject *core_cuda_device(PyObject *module, PyObject *argument) {
    const gg_module_state *state = PyModule_GetState(module);
    int64_t number = 0;
    char message[512] = "";
    gg_device_info info;
    if (gg_py_integer(state, "device", argument, 0, 1023, &number)) {
        return NULL;
    }
    gg_status status = gg_device_get_info((int32_t)number, &info, message, sizeof message);
    if (status != GG_OK) {
        return gg_py_raise(state, status, message);
    }
    return Py_BuildValue("{s:s,s:L,s:L,s:i,s:i,s:i,s:i}", "name", info.name, "memory", (long long)info.memory,
                         "memory_free", (long long)info.memory_free, "multiprocessors", (int)info.multiprocessors,
                         "capability", (int)info.capability, "driver_version", (int)info.driver_version,
                         "runtime_version", (int)info.runtime_version);
}

static PyObject *core_cuda_check(PyObject *module, PyObject *argument) {
    const gg_module_state *state = PyModule_GetState(module);
    int64_t number = 0;
    char message[512] = "";
    if (gg_py_integer(state, "device", argument, 0, 1023, &number)) {
        return NULL;
    }
    gg_status status = gg_device_check((int32_t)number, message, sizeof message);
    return status == GG_OK ? Py_NewRef(Py_None) : gg_py_raise(state, status, message);
}

/* checks the arguments of mesh_to_grid. Returns 0 or -1. */
static int mesh_arguments(const gg_module_state *state, PyObject *vertices, PyObject *faces, double spacing,
                          const double *origin, const int *counts, gg_sdf_grid *grid, int64_t *vertex_count,
                          int64_t *face_count) {
    npy_intp vertex_shape[2] = {GG_PY_ANY, 3}, face_shape[2] = {GG_PY_ANY, 3};
    PyObject *error = state->error[GG_PY_ARGUMENT];
    if (!gg_py_array(state, "vertices", vertices, NPY_FLOAT64, 2, vertex_shape)) {
        return -1;
    }
    const int32_t *face = gg_py_array(state, "faces", faces, NPY_INT32, 2, face_shape);
    if (!face) {
        return -1;
    }
    for (npy_intp k = 0; k < face_shape[0] * 3; k++) {
        if (face[k] < 0 || face[k] >= vertex_shape[0]) {
            PyErr_Format(error, "faces: expected vertex indices in 0 .. %lld, face %lld has %d",
                         (long long)vertex_shape[0] - 1, (long long)(k / 3), (int)face[k]);
            return -1;
        }
    }
    float step = (float)spacing;
    gg_vec3 start = gg_v3((float)origin[0], (float)origin[1], (float)origin[2]);
    if (!(step > 0.0f) || !gg_finite(step)) {
        PyErr_SetString(error, "spacing: expected a finite length > 0");
        return -1;
    }
    if (!gg_finite3(start)) {
        PyErr_SetString(error, "origin: expected finite coordinates");
        return -1;
    }
    for (int axis = 0; axis < 3; axis++) {
        if (counts[axis] < 2 || counts[axis] > 4096) {
            PyErr_Format(error, "counts: expected 2 .. 4096 samples along each axis, got %d", counts[axis]);
            return -1;
        }
        grid->count[axis] = counts[axis];
    }
    grid->spacing = step;
    grid->origin = start;
    grid->first_sample = 0;
    *vertex_count = vertex_shape[0];
    *face_count = face_shape[0];
    return 0;
}

static PyObject *core_mesh_to_grid(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *vertices_object, *faces_object, *vertices = NULL, *faces = NULL, *samples = NULL;
    double spacing, origin[3];
    int counts[3], thread_count = 0;
    int64_t vertex_count = 0, face_count = 0;
    gg_sdf_grid grid;
    char message[512] = "";
    if (!PyArg_ParseTuple(args, "OOd(ddd)(iii)|i:mesh_to_grid", &vertices_object, &faces_object, &spacing, &origin[0],
                          &origin[1], &origin[2], &counts[0], &counts[1], &counts[2], &thread_count) ||
        mesh_arguments(state, vertices_object, faces_object, spacing, origin, counts, &grid, &vertex_count,
                       &face_count)) {
        return NULL;
    }
    npy_intp shape[3] = {counts[2], counts[1], counts[0]};
    /* copies: nobody can change them while the GIL is released */
    vertices = PyArray_NewCopy((PyArrayObject *)vertices_object, NPY_CORDER);
    faces = PyArray_NewCopy((PyArrayObject *)faces_object, NPY_CORDER);
    samples = PyArray_ZEROS(3, shape, NPY_FLOAT32, 0);
    if (!vertices || !faces || !samples) {
        goto fail;
    }
    gg_status status;
    Py_BEGIN_ALLOW_THREADS status = gg_mesh_to_grid(
        PyArray_DATA((PyArrayObject *)vertices), vertex_count, PyArray_DATA((PyArrayObject *)faces), face_count, &grid,
        PyArray_DATA((PyArrayObject *)samples), thread_count, message, sizeof message);
    Py_END_ALLOW_THREADS if (status != GG_OK) {
        gg_py_raise(state, status, message);
        goto fail;
    }
    Py_DECREF(vertices);
    Py_DECREF(faces);
    return samples;

fail:
    Py_XDECREF(vertices);
    Py_XDECREF(faces);
    Py_XDECREF(samples);
    return NULL;
}

static PyObject *core_check_solver(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *dict;
    gg_solver solver;
    int tools = 0;
    char message[512] = "";
    if (!PyArg_ParseTuple(args, "O|p:check_solver", &dict, &tools) || gg_py_solver(state, dict, &solver)) {
        return NULL;
    }
    gg_status status = gg_solver_check(&solver, message, sizeof message);
    if (status != GG_OK) {
        return gg_py_raise(state, status, message);
    }
    float relaxation, relaxation_sum;
    gg_solver_safe_relaxation(&solver, tools, &relaxation, &relaxation_sum);
    return Py_BuildValue("(dd)", (double)relaxation, (double)relaxation_sum);
}

static PyObject *core_write_png(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *path = NULL, *given, *object;
    if (!PyArg_ParseTuple(args, "OO:write_png", &given, &object)) {
        return NULL;
    }
    if (!PyUnicode_FSConverter(given, &path)) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "path: expected a path, got %.100R", given);
        return NULL;
    }
    /* grey images may come without a channel axis */
    int flat = PyArray_Check(object) && PyArray_NDIM((PyArrayObject *)object) == 2;
    npy_intp shape[3] = {GG_PY_ANY, GG_PY_ANY, GG_PY_ANY};
    const uint8_t *pixels = gg_py_array(state, "image", object, NPY_UINT8, flat ? 2 : 3, shape);
    npy_intp channels = flat ? 1 : shape[2];
    if (pixels &&
        (shape[0] < 1 || shape[1] < 1 || shape[0] > 65535 || shape[1] > 65535 || (channels != 1 && channels != 3))) {
        PyErr_Format(state->error[GG_PY_ARGUMENT],
                     "image: expected (height, width), (height, width, 1) or (height, width, 3) with 1 .. 65535 pixels "
                     "a side, got %lld x %lld x %lld",
                     (long long)shape[0], (long long)shape[1], (long long)channels);
        pixels = NULL;
    }
    if (!pixels) {
        Py_DECREF(path);
        return NULL;
    }
    gg_status status;
    Py_BEGIN_ALLOW_THREADS status =
        gg_write_png(PyBytes_AsString(path), (int32_t)shape[0], (int32_t)shape[1], (int32_t)channels, pixels);
    Py_END_ALLOW_THREADS if (status != GG_OK) {
        PyErr_Format(status == GG_ERROR_MEMORY ? PyExc_MemoryError : PyExc_OSError, "image: could not write %s",
                     PyBytes_AsString(path));
        Py_DECREF(path);
        return NULL;
    }
    Py_DECREF(path);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------------------------------
 * module */

static PyMethodDef core_methods[] = {
    {"mesh_to_grid", core_mesh_to_grid, METH_VARARGS,
     PyDoc_STR("mesh_to_grid($module, vertices, faces, spacing, origin, counts, thread_count=0, /)\n--\n\n"
               "Signed distances of a mesh at the samples of a grid, (nz, ny, nx) float32 [m].\n\n"
               "vertices: (n, 3) float64 [m]. faces: (m, 3) int32. spacing [m]. origin: x, y, z [m]. counts: nx, "
               "ny, nz. thread_count 0:\n"
               "one per core. Raises ArgumentError, MemoryError.")},
    {"check_solver", core_check_solver, METH_VARARGS,
     PyDoc_STR("check_solver($module, solver, tools=False, /)\n--\n\n"
               "The (relaxation, relaxation_sum) that are stable for these settings, in a scene with tools or "
               "without.\n\n"
               "solver: a dict of all fields of gg_solver. Raises ArgumentError for settings that no world accepts.")},
    {"write_png", core_write_png, METH_VARARGS,
     PyDoc_STR("write_png($module, path, image, /)\n--\n\n"
               "Writes an 8-bit PNG of a (height, width), (height, width, 1) or (height, width, 3) uint8 image.\n"
               "\nRaises ArgumentError, OSError, MemoryError.")},
    {"cuda_device_count", core_cuda_device_count, METH_NOARGS,
     PyDoc_STR("cuda_device_count($module, /)\n--\n\n"
               "Number of usable GPUs. Raises BackendError where there is none, and says why.")},
    {"cuda_device", core_cuda_device, METH_O,
     PyDoc_STR("cuda_device($module, device, /)\n--\n\n"
               "Name, memory [bytes], multiprocessors and versions of GPU number device. Raises ArgumentError, "
               "BackendError.")},
    {"cuda_check", core_cuda_check, METH_O,
     PyDoc_STR("cuda_check($module, device, /)\n--\n\n"
               "Opens and closes GPU number device. Raises BackendError where it cannot be used, ArgumentError.")},
    {"build_info", core_build_info, METH_NOARGS,
     PyDoc_STR("build_info($module, /)\n--\n\n"
               "Version, compiler, flags and features of this build by name.")},
    {"usable_cores", core_usable_cores, METH_NOARGS,
     PyDoc_STR("usable_cores($module, /)\n--\n\n"
               "Cores that this process may use: the least of its affinity, the quota of its control group and "
               "OMP_NUM_THREADS.")},
    {NULL, NULL, 0, NULL},
};

static int core_exec(PyObject *module) {
    static const char *const names[GG_PY_ERROR_COUNT] = {"ArgumentError", "CapacityError", "StateError",
                                                         "BackendError",  "ClosedError",   "BusyError"};
    gg_module_state *state = PyModule_GetState(module);
    PyObject *errors = NULL;
    if (PyArray_ImportNumPyAPI() < 0) {
        goto fail;
    }
    errors = PyImport_ImportModule("granular_gym.errors");
    if (!errors) {
        goto fail;
    }
    for (int k = 0; k < GG_PY_ERROR_COUNT; k++) {
        state->error[k] = PyObject_GetAttrString(errors, names[k]);
        if (!state->error[k]) {
            goto fail;
        }
    }
    state->world_type = PyType_FromModuleAndSpec(module, &gg_py_world_spec, NULL);
    if (!state->world_type || PyModule_AddObjectRef(module, "World", state->world_type)) {
        goto fail;
    }
    state->device_array_type = PyType_FromModuleAndSpec(module, &gg_py_device_array_spec, NULL);
    if (!state->device_array_type || PyModule_AddObjectRef(module, "DeviceArray", state->device_array_type)) {
        goto fail;
    }
    if (PyModule_AddFunctions(module, gg_py_arm_methods) || PyModule_AddFunctions(module, gg_py_link_methods) ||
        PyModule_AddFunctions(module, gg_py_motion_methods) || PyModule_AddFunctions(module, gg_py_table_methods) ||
        PyModule_AddFunctions(module, gg_py_pair_methods) || PyModule_AddFunctions(module, gg_py_episode_methods)) {
        goto fail;
    }
    Py_DECREF(errors);
    return 0;

fail:
    Py_XDECREF(errors);
    return -1;
}

static int core_traverse(PyObject *module, visitproc visit, void *arg) {
    gg_module_state *state = PyModule_GetState(module);
    if (state) {
        Py_VISIT(state->world_type);
        Py_VISIT(state->device_array_type);
        for (int k = 0; k < GG_PY_ERROR_COUNT; k++) {
            Py_VISIT(state->error[k]);
        }
    }
    return 0;
}

static int core_clear(PyObject *module) {
    gg_module_state *state = PyModule_GetState(module);
    if (state) {
        Py_CLEAR(state->world_type);
        Py_CLEAR(state->device_array_type);
        for (int k = 0; k < GG_PY_ERROR_COUNT; k++) {
            Py_CLEAR(state->error[k]);
        }
    }
    return 0;
}

static void core_free(void *module) { core_clear(module); }

static PyModuleDef_Slot core_slots[] = {
    {Py_mod_exec, core_exec},
    {0, NULL},
};

static struct PyModuleDef core_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "granular_gym._core",
    .m_doc = PyDoc_STR("The engine. Use the names of granular_gym instead."),
    .m_size = sizeof(gg_module_state),
    .m_methods = core_methods,
    .m_slots = core_slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
    .m_free = core_free,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&core_module); }
