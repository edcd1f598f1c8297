/* world_type.c: the Python type _core.World, one method per gg_world call.
 *
 * Every method claims the world with a busy flag, so that a second thread gets BusyError and close() can never free a
 * world that is in use. Long calls release the GIL; the poll of a step takes it back to look for signals. What is
 * returned is always a fresh array.
 */
#include "convert.h"

#include <stdatomic.h>
#include <string.h>

typedef struct world_object {
    PyObject_HEAD
    gg_world *world; /* NULL once closed */
    gg_module_state *state; /* of the module; the type keeps the module alive */
    atomic_int busy;
    int64_t env_count, grain_count, tool_count, camera_count, material_count;
    PyObject *camera_sizes; /* (camera_count) of (height, width) */
} world_object;

/* claims the world for this call; -1 with an exception set */
static int begin(world_object *self) {
    if (atomic_exchange(&self->busy, 1)) {
        PyErr_SetString(self->state->error[GG_PY_BUSY], "another thread is using this world; give each thread its own");
        return -1;
    }
    if (!self->world) {
        atomic_store(&self->busy, 0);
        PyErr_SetString(self->state->error[GG_PY_CLOSED], "this world is closed");
        return -1;
    }
    return 0;
}

static void end(world_object *self) { atomic_store(&self->busy, 0); }

/* ends the call; returns result, or raises what status says and drops result (steals it) */
static PyObject *finish(world_object *self, gg_status status, PyObject *result) {
    if (status != GG_OK) {
        Py_CLEAR(result);
        gg_py_raise(self->state, status, gg_world_message(self->world));
    }
    end(self);
    return result;
}

static PyObject *finish_none(world_object *self, gg_status status) { return finish(self, status, Py_NewRef(Py_None)); }

/* ends a call whose arguments were refused */
static PyObject *refuse(world_object *self) {
    end(self);
    return NULL;
}

/* an engine call without the GIL; forks are held off */
#define WITHOUT_GIL(call)                                                                                              \
    do {                                                                                                               \
        Py_BEGIN_ALLOW_THREADS                                                                                         \
        gg_py_engine_enter();                                                                                          \
        call;                                                                                                          \
        gg_py_engine_leave();                                                                                          \
        Py_END_ALLOW_THREADS                                                                                           \
    } while (0)

static void *data_of(PyObject *array) { return PyArray_DATA((PyArrayObject *)array); }

/* new zero-filled arrays: rows of `columns` for each of count in each env; columns 0: no third axis */
static PyObject *new_array(int dtype, int64_t envs, int64_t count, int64_t columns) {
    npy_intp shape[3] = {(npy_intp)envs, (npy_intp)count, (npy_intp)columns};
    return PyArray_ZEROS(columns ? 3 : 2, shape, dtype, 0);
}

/* ------------------------------------------------------------------------------------------------ making, closing */

static PyObject *camera_sizes_of(const gg_world_def *def) {
    PyObject *sizes = PyTuple_New(def->camera_count);
    for (int32_t k = 0; sizes && k < def->camera_count; k++) {
        PyObject *size = Py_BuildValue("(ii)", (int)def->camera[k].height, (int)def->camera[k].width);
        if (!size) {
            Py_CLEAR(sizes);
            break;
        }
        PyTuple_SET_ITEM(sizes, k, size);
    }
    return sizes;
}

static PyObject *world_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    gg_module_state *state = PyType_GetModuleState(type);
    gg_py_def def;
    char message[512] = "";
    world_object *self = NULL;
    if (!state || gg_py_def_read(state, args, kwargs, &def)) {
        return NULL;
    }
    self = (world_object *)type->tp_alloc(type, 0);
    if (!self) {
        goto fail;
    }
    self->state = state;
    atomic_init(&self->busy, 0);
    self->camera_sizes = camera_sizes_of(&def.def);
    if (!self->camera_sizes) {
        goto fail;
    }
    /* the GIL stays: nobody may change the arrays while they are copied */
    gg_py_engine_enter();
    gg_status status = gg_world_create(&def.def, &self->world, message, sizeof message);
    gg_py_engine_leave();
    if (status != GG_OK) {
        gg_py_raise(state, status, message);
        goto fail;
    }
    self->env_count = def.def.env_count;
    self->grain_count = def.def.grain_count;
    self->tool_count = def.def.tool_count;
    self->camera_count = def.def.camera_count;
    self->material_count = def.def.material_count;
    gg_py_def_free(&def);
    return (PyObject *)self;

fail:
    gg_py_def_free(&def);
    Py_XDECREF(self);
    return NULL;
}

static void world_dealloc(world_object *self) {
    PyTypeObject *type = Py_TYPE(self);
    /* nobody can be inside: a running call holds a reference */
    gg_world_destroy(self->world);
    self->world = NULL;
    Py_CLEAR(self->camera_sizes);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *world_close(world_object *self, PyObject *Py_UNUSED(unused)) {
    if (atomic_exchange(&self->busy, 1)) {
        PyErr_SetString(self->state->error[GG_PY_BUSY], "another thread is using this world; it cannot be closed now");
        return NULL;
    }
    gg_world *world = self->world;
    self->world = NULL;
    gg_world_destroy(world);
    end(self);
    Py_RETURN_NONE;
}

static PyObject *world_get_closed(world_object *self, void *Py_UNUSED(closure)) { return PyBool_FromLong(!self->world); }

/* ---------------------------------------------------------------------------------------------------------- stepping */

typedef struct poll_context {
    PyThreadState *thread;
} poll_context;

/* called by the engine without the GIL */
static int poll_signals(void *context) {
    poll_context *poll = context;
    PyEval_RestoreThread(poll->thread);
    int stop = PyErr_CheckSignals() != 0;
    poll->thread = PyEval_SaveThread();
    return stop;
}

static PyObject *world_step(world_object *self, PyObject *args) {
    double dt = 0.0;
    int64_t substeps = 0;
    PyObject *substeps_object, *targets_object = Py_None;
    const float *targets = NULL;
    if (!PyArg_ParseTuple(args, "dO|O:step", &dt, &substeps_object, &targets_object)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->tool_count, 7};
    if (gg_py_integer(self->state, "substeps", substeps_object, 0, INT32_MAX, &substeps) ||
        gg_py_array_or_none(self->state, "tool_poses", targets_object, NPY_FLOAT32, 3, shape, (void *)&targets) ||
        (targets && gg_py_check_poses(self->state, "tool_poses", targets, self->env_count * self->tool_count))) {
        return NULL;
    }
    if (!(dt > 0.0 && dt <= 1e3)) {
        char text[32];
        PyOS_snprintf(text, sizeof text, "%g", dt);
        PyErr_Format(self->state->error[GG_PY_ARGUMENT], "dt: expected a number of seconds > 0, got %s", text);
        return NULL;
    }
    if (begin(self)) {
        return NULL;
    }
    poll_context poll;
    poll.thread = PyEval_SaveThread();
    gg_py_engine_enter();
    gg_status status = gg_world_step(self->world, dt, (int32_t)substeps, targets, poll_signals, &poll);
    gg_py_engine_leave();
    PyEval_RestoreThread(poll.thread);
    return finish_none(self, status);
}

static PyObject *world_info(world_object *self, PyObject *Py_UNUSED(unused)) {
    gg_world_info info;
    memset(&info, 0, sizeof info);
    if (begin(self)) {
        return NULL;
    }
    gg_world_get_info(self->world, &info);
    end(self);
    PyObject *solver = gg_py_solver_dict(&info.solver);
    if (!solver) {
        return NULL;
    }
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:i,s:s,s:N}", "env_count", (long long)info.env_count, "grain_count",
                         (long long)info.grain_count, "tool_count", (long long)info.tool_count, "camera_count",
                         (long long)info.camera_count, "material_count", (long long)info.material_count, "memory",
                         (long long)info.memory, "thread_count", (int)info.thread_count, "kernel",
                         info.kernel ? info.kernel : "", "solver", solver);
}

static PyObject *world_set_thread_count(world_object *self, PyObject *object) {
    int64_t count = 0;
    if (gg_py_integer(self->state, "thread_count", object, 0, 4096, &count) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_thread_count(self->world, (int32_t)count));
}

static PyObject *world_set_solver(world_object *self, PyObject *dict) {
    gg_solver solver;
    if (gg_py_solver(self->state, dict, &solver) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_solver(self->world, &solver));
}

/* ------------------------------------------------------------------------------------------------------------ grains */

static PyObject *world_get_grains(world_object *self, PyObject *name_object) {
    static const char *const names[] = {"position", "velocity", "angular_velocity", "radius", "material"};
    gg_grains grains;
    int field = 0;
    const char *name = PyUnicode_Check(name_object) ? PyUnicode_AsUTF8(name_object) : NULL;
    while (field < 5 && name && strcmp(name, names[field])) {
        field++;
    }
    if (!name || field == 5) {
        PyErr_Clear();
        PyErr_Format(self->state->error[GG_PY_ARGUMENT],
                     "field: expected position, velocity, angular_velocity, radius or material, got %R", name_object);
        return NULL;
    }
    if (begin(self)) {
        return NULL;
    }
    PyObject *out = new_array(field == 4 ? NPY_INT32 : NPY_FLOAT32, self->env_count, self->grain_count, field < 3 ? 3 : 0);
    if (!out) {
        return refuse(self);
    }
    memset(&grains, 0, sizeof grains);
    grains.position = field == 0 ? data_of(out) : NULL;
    grains.velocity = field == 1 ? data_of(out) : NULL;
    grains.angular_velocity = field == 2 ? data_of(out) : NULL;
    grains.radius = field == 3 ? data_of(out) : NULL;
    grains.material = field == 4 ? data_of(out) : NULL;
    gg_status status;
    WITHOUT_GIL(status = gg_world_get_grains(self->world, &grains));
    return finish(self, status, out);
}

static PyObject *world_set_grains(world_object *self, PyObject *args) {
    PyObject *envs_object, *position, *velocity, *angular_velocity;
    const int32_t *envs;
    int64_t listed;
    gg_grains grains;
    memset(&grains, 0, sizeof grains);
    if (!PyArg_ParseTuple(args, "OOOO:set_grains", &envs_object, &position, &velocity, &angular_velocity) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)listed, (npy_intp)self->grain_count, 3};
    if (gg_py_array_or_none(self->state, "positions", position, NPY_FLOAT32, 3, shape, (void *)&grains.position) ||
        gg_py_array_or_none(self->state, "velocities", velocity, NPY_FLOAT32, 3, shape, (void *)&grains.velocity) ||
        gg_py_array_or_none(self->state, "angular_velocities", angular_velocity, NPY_FLOAT32, 3, shape,
                            (void *)&grains.angular_velocity) ||
        begin(self)) {
        return NULL;
    }
    /* calls that take env lists keep the GIL: nobody may change a list after it was checked */
    return finish_none(self, gg_world_set_grains(self->world, envs, listed, &grains));
}

static PyObject *world_place_grains(world_object *self, PyObject *args) {
    PyObject *envs_object, *translation_object, *yaw_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(args, "OOO:place_grains", &envs_object, &translation_object, &yaw_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp translation_shape[2] = {(npy_intp)listed, 3}, yaw_shape[1] = {(npy_intp)listed};
    const float *translation =
        gg_py_array(self->state, "translation", translation_object, NPY_FLOAT32, 2, translation_shape);
    const float *yaw = translation ? gg_py_array(self->state, "yaw", yaw_object, NPY_FLOAT32, 1, yaw_shape) : NULL;
    if (!yaw || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_place_grains(self->world, envs, listed, translation, yaw));
}

/* -------------------------------------------------------------------------------------------------------- parameters */

static PyObject *world_get_gravity(world_object *self, PyObject *Py_UNUSED(unused)) {
    if (begin(self)) {
        return NULL;
    }
    PyObject *out = new_array(NPY_FLOAT32, self->env_count, 3, 0);
    if (!out) {
        return refuse(self);
    }
    return finish(self, gg_world_get_gravity(self->world, data_of(out)), out);
}

static PyObject *world_set_gravity(world_object *self, PyObject *args) {
    PyObject *envs_object, *gravity_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(args, "OO:set_gravity", &envs_object, &gravity_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[2] = {(npy_intp)listed, 3};
    const float *gravity = gg_py_array(self->state, "gravity", gravity_object, NPY_FLOAT32, 2, shape);
    if (!gravity || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_gravity(self->world, envs, listed, gravity));
}

static PyObject *world_get_materials(world_object *self, PyObject *Py_UNUSED(unused)) {
    PyObject *result = NULL, *pair = NULL, *density = NULL;
    int64_t m = self->material_count, count = self->env_count * m * m;
    npy_intp shape[4] = {(npy_intp)self->env_count, (npy_intp)m, (npy_intp)m, 3};
    gg_pair *pairs = PyMem_Calloc((size_t)count + 1, sizeof *pairs);
    if (!pairs) {
        return PyErr_NoMemory();
    }
    if (begin(self)) {
        goto done;
    }
    pair = PyArray_ZEROS(4, shape, NPY_FLOAT32, 0);
    density = new_array(NPY_FLOAT32, self->env_count, m, 0);
    if (!pair || !density) {
        end(self);
        goto done;
    }
    gg_status status = gg_world_get_materials(self->world, pairs, data_of(density));
    float *out = data_of(pair);
    for (int64_t k = 0; k < count; k++) {
        out[k * 3] = pairs[k].friction;
        out[k * 3 + 1] = pairs[k].restitution;
        out[k * 3 + 2] = pairs[k].rolling_friction;
    }
    result = finish(self, status, Py_BuildValue("(OO)", pair, density));

done:
    PyMem_Free(pairs);
    Py_XDECREF(pair);
    Py_XDECREF(density);
    return result;
}

static PyObject *world_set_materials(world_object *self, PyObject *args) {
    PyObject *envs_object, *pair_object, *density_object, *result = NULL;
    const int32_t *envs;
    const float *pair, *density;
    gg_pair *pairs = NULL;
    int64_t listed, m = self->material_count;
    if (!PyArg_ParseTuple(args, "OOO:set_materials", &envs_object, &pair_object, &density_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp pair_shape[4] = {(npy_intp)listed, (npy_intp)m, (npy_intp)m, 3};
    npy_intp density_shape[2] = {(npy_intp)listed, (npy_intp)m};
    if (gg_py_array_or_none(self->state, "pairs", pair_object, NPY_FLOAT32, 4, pair_shape, (void *)&pair) ||
        gg_py_array_or_none(self->state, "densities", density_object, NPY_FLOAT32, 2, density_shape, (void *)&density)) {
        return NULL;
    }
    if (pair) {
        pairs = PyMem_Calloc((size_t)(listed * m * m) + 1, sizeof *pairs);
        if (!pairs) {
            return PyErr_NoMemory();
        }
        for (int64_t k = 0; k < listed * m * m; k++) {
            pairs[k].friction = pair[k * 3];
            pairs[k].restitution = pair[k * 3 + 1];
            pairs[k].rolling_friction = pair[k * 3 + 2];
        }
    }
    if (!begin(self)) {
        result = finish_none(self, gg_world_set_materials(self->world, envs, listed, pairs, density));
    }
    PyMem_Free(pairs);
    return result;
}

/* ------------------------------------------------------------------------------------------------- tools and read-out */

static PyObject *world_get_tool_poses(world_object *self, PyObject *Py_UNUSED(unused)) {
    if (begin(self)) {
        return NULL;
    }
    PyObject *out = new_array(NPY_FLOAT32, self->env_count, self->tool_count, 7);
    if (!out) {
        return refuse(self);
    }
    return finish(self, gg_world_get_tool_poses(self->world, data_of(out)), out);
}

static PyObject *world_set_tool_poses(world_object *self, PyObject *args) {
    PyObject *envs_object, *poses_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(args, "OO:set_tool_poses", &envs_object, &poses_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)listed, (npy_intp)self->tool_count, 7};
    const float *poses = gg_py_array(self->state, "poses", poses_object, NPY_FLOAT32, 3, shape);
    if (!poses || gg_py_check_poses(self->state, "poses", poses, listed * self->tool_count) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_tool_poses(self->world, envs, listed, poses));
}

static PyObject *world_get_wrenches(world_object *self, PyObject *Py_UNUSED(unused)) {
    if (begin(self)) {
        return NULL;
    }
    PyObject *out = new_array(NPY_FLOAT32, self->env_count, GG_WALL_COUNT + self->tool_count, 6);
    if (!out) {
        return refuse(self);
    }
    return finish(self, gg_world_get_wrenches(self->world, data_of(out)), out);
}

/* the fields of gg_env_stats, once */
#define STATS_FIELDS(X)                                                                                                \
    X(overlap_sum, double, NPY_FLOAT64)                                                                                \
    X(kinetic_energy, double, NPY_FLOAT64)                                                                             \
    X(overlap_max, float, NPY_FLOAT32)                                                                                 \
    X(overlap_max_last, float, NPY_FLOAT32)                                                                            \
    X(residual, float, NPY_FLOAT32)                                                                                    \
    X(speed_max, float, NPY_FLOAT32)                                                                                   \
    X(overlap_count, int64_t, NPY_INT64)                                                                               \
    X(contact_count, int32_t, NPY_INT32)                                                                               \
    X(tool_contact_count, int32_t, NPY_INT32)                                                                          \
    X(escaped_count, int32_t, NPY_INT32)                                                                               \
    X(fast_count, int32_t, NPY_INT32)                                                                                  \
    X(rebuild_count, int32_t, NPY_INT32)                                                                               \
    X(iteration_count, int32_t, NPY_INT32)                                                                             \
    X(growth_count, int32_t, NPY_INT32)                                                                                \
    X(diverged, int32_t, NPY_INT32)

static PyObject *stats_dict(const gg_env_stats *stats, npy_intp count) {
    PyObject *dict = PyDict_New(), *array = NULL;
    if (!dict) {
        return NULL;
    }
#define PUT_FIELD(field, type, dtype)                                                                                  \
    array = PyArray_SimpleNew(1, &count, dtype);                                                                       \
    if (!array) {                                                                                                      \
        goto fail;                                                                                                     \
    }                                                                                                                  \
    for (npy_intp e = 0; e < count; e++) {                                                                             \
        ((type *)data_of(array))[e] = stats[e].field;                                                                  \
    }                                                                                                                  \
    if (PyDict_SetItemString(dict, #field, array)) {                                                                   \
        goto fail;                                                                                                     \
    }                                                                                                                  \
    Py_CLEAR(array);
    STATS_FIELDS(PUT_FIELD)
    return dict;

fail:
    Py_XDECREF(array);
    Py_DECREF(dict);
    return NULL;
}

static PyObject *world_get_stats(world_object *self, PyObject *Py_UNUSED(unused)) {
    gg_env_stats *stats = PyMem_Calloc((size_t)self->env_count + 1, sizeof *stats);
    PyObject *result = NULL;
    if (!stats) {
        return PyErr_NoMemory();
    }
    if (!begin(self)) {
        gg_status status = gg_world_get_stats(self->world, stats);
        result = finish(self, status, stats_dict(stats, (npy_intp)self->env_count));
    }
    PyMem_Free(stats);
    return result;
}

static PyObject *world_box_stats(world_object *self, PyObject *boxes_object) {
    npy_intp shape[2] = {(npy_intp)self->env_count, 6}, count = (npy_intp)self->env_count;
    const float *boxes = gg_py_array(self->state, "boxes", boxes_object, NPY_FLOAT32, 2, shape);
    if (!boxes || begin(self)) {
        return NULL;
    }
    PyObject *result = NULL;
    PyObject *counts = PyArray_ZEROS(1, &count, NPY_INT64, 0), *distances = PyArray_ZEROS(1, &count, NPY_FLOAT32, 0);
    if (!counts || !distances) {
        end(self);
        goto done;
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_box_stats(self->world, boxes, data_of(counts), data_of(distances)));
    result = finish(self, status, Py_BuildValue("(OO)", counts, distances));

done:
    Py_XDECREF(counts);
    Py_XDECREF(distances);
    return result;
}

/* ----------------------------------------------------------------------------------------------------------- cameras */

static PyObject *world_depth(world_object *self, PyObject *object) {
    int64_t camera = 0;
    if (self->camera_count == 0) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT], "camera: this world has none");
        return NULL;
    }
    if (gg_py_integer(self->state, "camera", object, 0, self->camera_count - 1, &camera) || begin(self)) {
        return NULL;
    }
    PyObject *size = PyTuple_GET_ITEM(self->camera_sizes, camera);
    long height = PyLong_AsLong(PyTuple_GET_ITEM(size, 0)), width = PyLong_AsLong(PyTuple_GET_ITEM(size, 1));
    PyObject *out = new_array(NPY_FLOAT32, self->env_count, height, width);
    if (!out) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_depth(self->world, (int32_t)camera, data_of(out)));
    return finish(self, status, out);
}

static PyObject *world_picture(world_object *self, PyObject *args) {
    PyObject *env_object, *integers_object, *floats_object, *light_object, *grain_color, *tool_color;
    int show_walls = 0, samples = 0;
    int64_t env = 0;
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    if (!PyArg_ParseTuple(args, "OOOOOOpi:picture", &env_object, &integers_object, &floats_object, &light_object,
                          &grain_color, &tool_color, &show_walls, &samples)) {
        return NULL;
    }
    npy_intp four[1] = {4}, ten[1] = {10}, three[1] = {3};
    npy_intp grain_shape[2] = {(npy_intp)self->grain_count, 3};
    npy_intp tool_shape[2] = {GG_WALL_COUNT + (npy_intp)self->tool_count, 3};
    const int32_t *integers = gg_py_array(self->state, "camera_integers", integers_object, NPY_INT32, 1, four);
    const float *floats = integers ? gg_py_array(self->state, "camera_floats", floats_object, NPY_FLOAT32, 1, ten) : NULL;
    const float *light = floats ? gg_py_array(self->state, "light", light_object, NPY_FLOAT32, 1, three) : NULL;
    if (!light || gg_py_check_poses(self->state, "camera_floats", floats, 1) ||
        gg_py_integer(self->state, "env", env_object, 0, self->env_count - 1, &env) ||
        gg_py_array_or_none(self->state, "grain_colors", grain_color, NPY_UINT8, 2, grain_shape,
                            (void *)&picture.grain_color) ||
        gg_py_array_or_none(self->state, "tool_colors", tool_color, NPY_UINT8, 2, tool_shape,
                            (void *)&picture.tool_color)) {
        return NULL;
    }
    picture.camera = gg_py_camera(integers, floats);
    picture.light = gg_v3(light[0], light[1], light[2]);
    picture.show_walls = show_walls;
    picture.samples = samples;
    if (picture.camera.height < 1 || picture.camera.width < 1 || picture.camera.height > 16384 ||
        picture.camera.width > 16384 || picture.camera.tool < -1 || picture.camera.tool >= self->tool_count) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT],
                     "camera: expected 1 .. 16384 pixels and a tool of this world, got %d x %d on tool %d",
                     (int)picture.camera.height, (int)picture.camera.width, (int)picture.camera.tool);
        return NULL;
    }
    if (begin(self)) {
        return NULL;
    }
    PyObject *out = new_array(NPY_UINT8, picture.camera.height, picture.camera.width, 3);
    if (!out) {
        return refuse(self);
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_picture(self->world, env, &picture, data_of(out)));
    return finish(self, status, out);
}

/* ------------------------------------------------------------------------------------------------------------- state */

static PyObject *world_save_state(world_object *self, PyObject *object) {
    int64_t env = 0;
    size_t size = 0;
    PyObject *bytes = NULL;
    if (gg_py_integer(self->state, "env", object, 0, self->env_count - 1, &env) || begin(self)) {
        return NULL;
    }
    gg_status status = gg_world_state_size(self->world, env, &size);
    if (status == GG_OK) {
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
        if (!bytes) {
            return refuse(self);
        }
        char *target = PyBytes_AS_STRING(bytes);
        /* padding inside structs must not carry old heap contents */
        memset(target, 0, size);
        WITHOUT_GIL(status = gg_world_save_state(self->world, env, target, size));
    }
    return finish(self, status, bytes);
}

static PyObject *world_load_state(world_object *self, PyObject *args) {
    PyObject *envs_object, *result = NULL;
    const int32_t *envs;
    int64_t listed;
    Py_buffer buffer;
    if (!PyArg_ParseTuple(args, "Oy*:load_state", &envs_object, &buffer)) {
        return NULL;
    }
    if (!gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed) && !begin(self)) {
        gg_status status = gg_world_load_state(self->world, envs, listed, buffer.buf, (size_t)buffer.len);
        result = finish_none(self, status);
    }
    PyBuffer_Release(&buffer);
    return result;
}

static PyObject *world_state_hash(world_object *self, PyObject *object) {
    int64_t env = 0;
    uint64_t hash = 0;
    if (gg_py_integer(self->state, "env", object, 0, self->env_count - 1, &env) || begin(self)) {
        return NULL;
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_state_hash(self->world, env, &hash));
    return finish(self, status, PyLong_FromUnsignedLongLong(hash));
}

static PyObject *world_profile(world_object *self, PyObject *object) {
    int count = gg_phase_count(), enable = PyObject_IsTrue(object);
    PyObject *dict = NULL;
    if (enable < 0) {
        return NULL;
    }
    double *seconds = PyMem_Calloc((size_t)count + 1, sizeof *seconds);
    if (!seconds) {
        return PyErr_NoMemory();
    }
    if (begin(self)) {
        goto done;
    }
    gg_status status = gg_world_profile(self->world, enable, seconds);
    dict = PyDict_New();
    for (int phase = 0; dict && phase < count; phase++) {
        PyObject *value = PyFloat_FromDouble(seconds[phase]);
        if (!value || PyDict_SetItemString(dict, gg_phase_name(phase), value)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
    }
    dict = finish(self, status, dict);

done:
    PyMem_Free(seconds);
    return dict;
}

/* ------------------------------------------------------------------------------------------------------------- type */

#define METHOD(name, flags, doc) {#name, (PyCFunction)(void (*)(void))world_##name, flags, PyDoc_STR(doc)}

static PyMethodDef world_methods[] = {
    METHOD(close, METH_NOARGS, "close($self, /)\n--\n\nFrees the world. Closing twice is fine."),
    METHOD(step, METH_VARARGS, "step(dt, substeps, tool_poses=None, /)\n\nAdvances all envs by substeps * dt."),
    METHOD(info, METH_NOARGS, "info($self, /)\n--\n\nSizes and settings as a dict."),
    METHOD(set_thread_count, METH_O, "set_thread_count($self, thread_count, /)\n--\n\n0: one per usable core."),
    METHOD(set_solver, METH_O, "set_solver($self, solver, /)\n--\n\nA dict with all fields of gg_solver."),
    METHOD(get_grains, METH_O, "get_grains($self, field, /)\n--\n\nOne field of all grains, a fresh array."),
    METHOD(set_grains, METH_VARARGS, "set_grains(envs, positions, velocities, angular_velocities, /)"),
    METHOD(place_grains, METH_VARARGS, "place_grains(envs, translation, yaw, /)"),
    METHOD(get_gravity, METH_NOARGS, "get_gravity($self, /)\n--\n\n(env_count, 3) float32."),
    METHOD(set_gravity, METH_VARARGS, "set_gravity(envs, gravity, /)"),
    METHOD(get_materials, METH_NOARGS, "get_materials($self, /)\n--\n\n(pairs, densities)."),
    METHOD(set_materials, METH_VARARGS, "set_materials(envs, pairs, densities, /)"),
    METHOD(get_tool_poses, METH_NOARGS, "get_tool_poses($self, /)\n--\n\n(env_count, tool_count, 7) float32."),
    METHOD(set_tool_poses, METH_VARARGS, "set_tool_poses(envs, poses, /)"),
    METHOD(get_wrenches, METH_NOARGS, "get_wrenches($self, /)\n--\n\n(env_count, 6 + tool_count, 6) float32."),
    METHOD(get_stats, METH_NOARGS, "get_stats($self, /)\n--\n\nDict of arrays (env_count,)."),
    METHOD(box_stats, METH_O, "box_stats($self, boxes, /)\n--\n\n(counts, mean distances) for boxes (env_count, 6)."),
    METHOD(depth, METH_O, "depth($self, camera, /)\n--\n\n(env_count, height, width) float32."),
    METHOD(picture, METH_VARARGS,
           "picture(env, camera_integers, camera_floats, light, grain_colors, tool_colors, show_walls, samples, /)"),
    METHOD(save_state, METH_O, "save_state($self, env, /)\n--\n\nThe bytes of one env."),
    METHOD(load_state, METH_VARARGS, "load_state(envs, state, /)"),
    METHOD(state_hash, METH_O, "state_hash($self, env, /)\n--\n\nHash of grains and tool poses."),
    METHOD(profile, METH_O, "profile($self, enable, /)\n--\n\nSeconds by phase since profiling was switched on."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef world_getset[] = {
    {"closed", (getter)world_get_closed, NULL, PyDoc_STR("True once closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(world_doc,
             "World(*, env_count, lower, upper, boundary, wall_material, gravity, density, pair, position, velocity, "
             "radius, grain_material, tool_pose, part_integers, part_floats, grid_integers, grid_floats, sample, "
             "camera_integers, camera_floats, solver, thread_count)\n\n"
             "The engine's world. Use granular_gym.Scene.build instead. All arguments are needed; tables hold, by column:\n"
             "pair (m, m, 3): friction, restitution, rolling friction\n"
             "part_integers: kind, tool, grid or -1, material; part_floats: size 4, position 3, rotation w x y z\n"
             "grid_integers: samples along x, y, z; grid_floats: spacing, origin 3; sample: all grids, x fastest\n"
             "camera_integers: kind, height, width, tool or -1; camera_floats: position 3, rotation w x y z, extent, near, "
             "far");

static PyType_Slot world_slots[] = {
    {Py_tp_new, world_new},         {Py_tp_dealloc, world_dealloc}, {Py_tp_methods, world_methods},
    {Py_tp_getset, world_getset},   {Py_tp_doc, (void *)world_doc}, {0, NULL},
};

PyType_Spec gg_py_world_spec = {
    .name = "granular_gym._core.World",
    .basicsize = sizeof(world_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = world_slots,
};
