/* world_type.c: the Python type _core.World: making, closing, stepping, saving, and the list of its methods.
 *
 * The poll of a step takes the GIL back to look for signals, so that Ctrl-C ends a long step.
 */
#include "world_object.h"

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
    gg_status status = gg_world_create(&def.def, &self->world, message, sizeof message);
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

static PyObject *world_get_closed(world_object *self, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(!self->world);
}

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
    if (begin(self)) {
        return NULL;
    }
    poll_context poll;
    poll.thread = PyEval_SaveThread();
    gg_status status = gg_world_step(self->world, dt, (int32_t)substeps, targets, poll_signals, &poll);
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
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:i,s:s,s:i,s:L,s:N}", "env_count", (long long)info.env_count,
                         "grain_count", (long long)info.grain_count, "tool_count", (long long)info.tool_count,
                         "camera_count", (long long)info.camera_count, "material_count", (long long)info.material_count,
                         "memory", (long long)info.memory, "thread_count", (int)info.thread_count, "kernel",
                         info.kernel ? info.kernel : "", "gpu", (int)info.gpu, "waits", (long long)info.waits, "solver",
                         solver);
}

static PyObject *world_set_stream(world_object *self, PyObject *object) {
    int64_t stream = 0;
    if (gg_py_integer(self->state, "stream", object, 0, INT64_MAX, &stream) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_stream(self->world, (uintptr_t)stream));
}

static PyObject *world_get_stream(world_object *self, PyObject *Py_UNUSED(unused)) {
    if (begin(self)) {
        return NULL;
    }
    uintptr_t stream = gg_world_get_stream(self->world);
    end(self);
    return PyLong_FromUnsignedLongLong(stream);
}

static PyObject *world_set_thread_count(world_object *self, PyObject *object) {
    int64_t count = 0;
    if (gg_py_integer(self->state, "thread_count", object, 0, INT32_MAX, &count) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_thread_count(self->world, (int32_t)count));
}

static PyObject *world_set_kernel(world_object *self, PyObject *object) {
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;
    if (!name) {
        if (!PyErr_Occurred()) {
            PyErr_Format(self->state->error[GG_PY_ARGUMENT], "kernel: expected a name, got %R", object);
        }
        return NULL;
    }
    if (begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_kernel(self->world, name));
}

static PyObject *world_set_solver(world_object *self, PyObject *dict) {
    gg_solver solver;
    if (gg_py_solver(self->state, dict, &solver) || begin(self)) {
        return NULL;
    }
    return finish_none(self, gg_world_set_solver(self->world, &solver));
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

/* a list of (phase, pass, {array: hash}); NULL once something went wrong */
static void note_phase(void *context, int phase, int32_t pass, const uint64_t *hashes) {
    PyObject **list = context, *dict = *list ? PyDict_New() : NULL;
    for (int f = 0; dict && f < gg_field_count(); f++) {
        PyObject *hash = PyLong_FromUnsignedLongLong(hashes[f]);
        if (!hash || PyDict_SetItemString(dict, gg_field_name(f), hash)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(hash);
    }
    PyObject *line = dict ? Py_BuildValue("(siN)", gg_phase_name(phase), (int)pass, dict) : NULL;
    if (!line || PyList_Append(*list, line)) {
        Py_CLEAR(*list);
    }
    Py_XDECREF(line);
}

static PyObject *world_trace(world_object *self, PyObject *args) {
    double dt = 0.0;
    PyObject *targets_object = Py_None;
    const float *targets = NULL;
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->tool_count, 7};
    if (!PyArg_ParseTuple(args, "d|O:trace", &dt, &targets_object) ||
        gg_py_array_or_none(self->state, "tool_poses", targets_object, NPY_FLOAT32, 3, shape, (void *)&targets) ||
        begin(self)) {
        return NULL;
    }
    PyObject *list = PyList_New(0);
    if (!list) {
        return refuse(self);
    }
    gg_status status = gg_world_trace(self->world, dt, targets, note_phase, &list);
    return finish(self, status, list);
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

#define METHOD(name, flags, doc)                                                                                       \
    { #name, (PyCFunction)(void (*)(void))world_##name, flags, PyDoc_STR(doc) }

#define SHARED(name, flags, doc)                                                                                       \
    { #name, (PyCFunction)(void (*)(void))gg_py_world_##name, flags, PyDoc_STR(doc) }

static PyMethodDef world_methods[] = {
    METHOD(close, METH_NOARGS, "close($self, /)\n--\n\nFrees the world. Closing twice is fine."),
    METHOD(step, METH_VARARGS, "step(dt, substeps, tool_poses=None, /)\n\nAdvances all envs by substeps * dt."),
    METHOD(info, METH_NOARGS, "info($self, /)\n--\n\nSizes and settings as a dict."),
    METHOD(set_thread_count, METH_O, "set_thread_count($self, thread_count, /)\n--\n\n0: one per usable core."),
    METHOD(set_kernel, METH_O,
           "set_kernel($self, name, /)\n--\n\nscalar, vector128, avx2 or avx512: same bits, other speed."),
    METHOD(set_stream, METH_O, "set_stream($self, stream, /)\n--\n\nThe CUDA stream (as a number) of what comes."),
    METHOD(get_stream, METH_NOARGS, "get_stream($self, /)\n--\n\nIts number; 0 on the CPU."),
    METHOD(set_solver, METH_O, "set_solver($self, solver, /)\n--\n\nA dict with all fields of gg_solver."),
    SHARED(get_grains, METH_VARARGS,
           "get_grains($self, field, device=False, /)\n--\n\nOne field of all grains, a fresh array."),
    SHARED(set_grains, METH_VARARGS, "set_grains(envs, positions, velocities, angular_velocities, angles, /)"),
    SHARED(transform_grains, METH_VARARGS, "transform_grains(envs, translation, yaw, /)"),
    SHARED(get_gravity, METH_NOARGS, "get_gravity($self, /)\n--\n\n(env_count, 3) float32."),
    SHARED(set_gravity, METH_VARARGS, "set_gravity(envs, gravity, /)"),
    SHARED(get_air, METH_NOARGS, "get_air($self, /)\n--\n\n(env_count, 5) float32: density, viscosity, wind x y z."),
    SHARED(set_air, METH_VARARGS, "set_air(envs, air, /)"),
    SHARED(get_materials, METH_NOARGS, "get_materials($self, /)\n--\n\n(pairs, densities)."),
    SHARED(set_materials, METH_VARARGS, "set_materials(envs, pairs, densities, /)"),
    SHARED(get_tool_poses, METH_VARARGS,
           "get_tool_poses($self, device=False, /)\n--\n\n(env_count, tool_count, 7) float32."),
    SHARED(set_tool_poses, METH_VARARGS, "set_tool_poses(envs, poses, /)"),
    SHARED(
        get_wrenches, METH_VARARGS,
        "get_wrenches($self, walls, device=False, /)\n--\n\nOf the walls or of the tools, (env_count, n, 6) float32."),
    SHARED(get_contacts, METH_O, "get_contacts($self, env, /)\n--\n\n(pairs, impulses, dt) of one env."),
    SHARED(get_stats, METH_NOARGS, "get_stats($self, /)\n--\n\nDict of arrays (env_count,)."),
    SHARED(get_counters, METH_O,
           "get_counters($self, fresh, /)\n--\n\nDict of what tasks report, 0 where fresh (env_count,) bool is set."),
    SHARED(box_stats, METH_VARARGS,
           "box_stats($self, boxes, device=False, /)\n--\n\n"
           "(counts, mean distances), each (env_count, n), for boxes (env_count, n, 6)."),
    SHARED(count_boxes, METH_VARARGS,
           "count_boxes($self, boxes, device=False, /)\n--\n\n(env_count, n) for boxes (env_count, n, 10): pose, half "
           "sizes."),
    SHARED(count_cells, METH_VARARGS,
           "count_cells($self, lower, upper, shape, labels, device=False, /)\n--\n\n(env_count, nx, ny, nz), with "
           "labels (..., 2)."),
    SHARED(count_columns, METH_VARARGS,
           "count_columns($self, lower, upper, shape, device=False, /)\n--\n\n(env_count, ny, nx), in 2**-20 grains."),
    SHARED(depth, METH_VARARGS, "depth($self, camera, device=False, /)\n--\n\n(env_count, height, width) float32."),
    SHARED(depth_image, METH_VARARGS,
           "depth_image($self, camera, near, far, bytes, device=False, /)\n--\n\nClipped, float32 or uint8."),
    SHARED(to_device, METH_O, "to_device($self, array, /)\n--\n\nA copy on the GPU of the world, a DeviceArray."),
    SHARED(picture, METH_VARARGS,
           "picture(env, camera_integers, camera_floats, light, grain_colors, tool_colors, show_walls, samples, /)"),
    METHOD(save_state, METH_O, "save_state($self, env, /)\n--\n\nThe bytes of one env."),
    METHOD(load_state, METH_VARARGS, "load_state(envs, state, /)"),
    METHOD(state_hash, METH_O, "state_hash($self, env, /)\n--\n\nHash of grains and tool poses."),
    METHOD(trace, METH_VARARGS,
           "trace(dt, tool_poses=None, /)\n\nFor tests: a substep as [(phase, pass, {array: hash after it})]."),
    METHOD(profile, METH_O, "profile($self, enable, /)\n--\n\nSeconds by phase since profiling was switched on."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef world_getset[] = {
    {"closed", (getter)world_get_closed, NULL, PyDoc_STR("True once closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    world_doc,
    "World(*, env_count, lower, upper, boundary, wall_material, gravity, air, density, pair, position, velocity, "
    "radius, grain_material, tool_pose, part_integers, part_floats, grid_integers, grid_floats, sample, "
    "camera_integers, camera_floats, planar, solver, thread_count, gpu)\n\n"
    "The engine's world. Use granular_gym.Scene.build instead. All arguments are needed; tables hold, by column:\n"
    "air: density, viscosity, wind 3; pair (m, m, 6): friction, restitution, rolling and twisting friction, cohesion, "
    "its range\n"
    "part_integers: kind, tool, grid or -1, material; part_floats: size 4, position 3, rotation w x y z\n"
    "grid_integers: samples along x, y, z; grid_floats: spacing, origin 3; sample: all grids, x fastest\n"
    "camera_integers: kind, height, width, tool or -1; camera_floats: position 3, rotation w x y z, extent, near, "
    "far\n"
    "planar: None, or a dict of the shapes of planar grains, see csrc/py/planar_def.c");

static PyType_Slot world_slots[] = {
    {Py_tp_new, world_new},       {Py_tp_dealloc, world_dealloc}, {Py_tp_methods, world_methods},
    {Py_tp_getset, world_getset}, {Py_tp_doc, (void *)world_doc}, {0, NULL},
};

PyType_Spec gg_py_world_spec = {
    .name = "granular_gym._core.World",
    .basicsize = sizeof(world_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = world_slots,
};
