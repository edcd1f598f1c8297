/* world_state.c: methods of _core.World on the state of an env: snapshots and hashes; traces and profiles of phases. */
#include "world_object.h"

WORLD_METHOD(save_state) {
    int64_t env = 0;
    size_t size = 0;
    PyObject *bytes = NULL;
    if (gg_py_integer(self->state, "env", argument, 0, self->env_count - 1, &env) || gg_py_begin(self)) {
        return NULL;
    }
    gg_status status = gg_world_state_size(self->world, env, &size);
    if (status == GG_OK) {
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
        if (!bytes) {
            return gg_py_refuse(self);
        }
        char *target = PyBytes_AsString(bytes);
        /* padding inside structs must not expose old heap contents */
        memset(target, 0, size);
        WITHOUT_GIL(status = gg_world_save_state(self->world, env, target, size));
    }
    return gg_py_finish(self, status, bytes);
}

/* States of the bytes in a tuple, which lives longer than they; NULL with an exception set. To be freed by PyMem_Free. */
static gg_state *states_of(PyObject *tuple, int checked) {
    Py_ssize_t count = PyTuple_Size(tuple);
    gg_state *states = PyMem_Calloc((size_t)count + 1, sizeof *states);
    if (!states) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t k = 0; states && k < count; k++) {
        char *data;
        Py_ssize_t size;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(tuple, k), &data, &size)) {
            PyMem_Free(states);
            return NULL;
        }
        states[k].data = data;
        states[k].size = (size_t)size;
        states[k].checked = checked;
    }
    return states;
}

WORLD_METHOD(load_state) {
    PyObject *envs_object, *given, *result = NULL;
    const int32_t *envs;
    int64_t listed;
    int checked = 0;
    if (!PyArg_ParseTuple(argument, "OO|p:load_state", &envs_object, &given, &checked) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    /* the tuple keeps the bytes while they are read */
    PyObject *tuple = PySequence_Tuple(given);
    gg_state *states = tuple ? states_of(tuple, checked) : NULL;
    if (states && !gg_py_begin(self)) {
        result = gg_py_finish_none(self, gg_world_load_states(self->world, envs, listed, states, PyTuple_Size(tuple)));
    }
    PyMem_Free(states);
    Py_XDECREF(tuple);
    return result;
}

WORLD_METHOD(state_hash) {
    int64_t env = 0;
    uint64_t hash = 0;
    if (gg_py_integer(self->state, "env", argument, 0, self->env_count - 1, &env) || gg_py_begin(self)) {
        return NULL;
    }
    gg_status status;
    WITHOUT_GIL(status = gg_world_state_hash(self->world, env, &hash));
    return gg_py_finish(self, status, PyLong_FromUnsignedLongLong(hash));
}

typedef struct phase_notes {
    gg_world *world;
    uint64_t *hashes; /* of each field */
    PyObject *list;   /* of (phase, pass, {array: hash}); NULL once something went wrong */
} phase_notes;

static gg_status note_phase(void *context, int phase, int32_t pass) {
    phase_notes *notes = context;
    gg_status status = gg_world_field_hashes(notes->world, notes->hashes);
    if (status != GG_OK) {
        return status;
    }
    PyObject *dict = notes->list ? PyDict_New() : NULL;
    for (int f = 0; dict && f < gg_field_count(); f++) {
        PyObject *hash = PyLong_FromUnsignedLongLong(notes->hashes[f]);
        if (!hash || PyDict_SetItemString(dict, gg_field_name(f), hash)) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(hash);
    }
    PyObject *line = dict ? Py_BuildValue("(siN)", gg_phase_name(phase), (int)pass, dict) : NULL;
    if (!line || PyList_Append(notes->list, line)) {
        Py_CLEAR(notes->list);
    }
    Py_XDECREF(line);
    return GG_OK;
}

WORLD_METHOD(trace) {
    double dt = 0.0;
    PyObject *targets_object = Py_None;
    const float *targets = NULL;
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->tool_count, 7};
    if (!PyArg_ParseTuple(argument, "d|O:trace", &dt, &targets_object)) {
        return NULL;
    }
    if (targets_object != Py_None) {
        targets = gg_py_buffer(self->state, "tool_poses", targets_object, NPY_FLOAT32, 3, shape);
    }
    if ((targets_object != Py_None && !targets) || gg_py_begin(self)) {
        return NULL;
    }
    uint64_t *hashes = PyMem_Calloc((size_t)gg_field_count(), sizeof *hashes);
    if (!hashes) {
        PyErr_NoMemory();
        return gg_py_refuse(self);
    }
    phase_notes notes = {self->world, hashes, PyList_New(0)};
    gg_status status = notes.list ? gg_world_trace(self->world, dt, targets, note_phase, &notes) : GG_OK;
    PyMem_Free(hashes);
    return gg_py_finish(self, status, notes.list);
}

WORLD_METHOD(profile) {
    int count = gg_phase_count(), enable = PyObject_IsTrue(argument);
    PyObject *dict = NULL;
    if (enable < 0) {
        return NULL;
    }
    double *seconds = PyMem_Calloc((size_t)count + 1, sizeof *seconds);
    if (!seconds) {
        return PyErr_NoMemory();
    }
    if (gg_py_begin(self)) {
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
    dict = gg_py_finish(self, status, dict);

done:
    PyMem_Free(seconds);
    return dict;
}
