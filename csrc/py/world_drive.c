/* world_drive.c: methods of _core.World that move tools by the actions of an agent.
 *
 * Actions on the world's GPU are taken by DLPack and not copied; the library that made them orders its stream before
 * the world's.
 */
#include "device_array.h"
#include "dlpack.h"

WORLD_METHOD(set_drive) {
    int kind, actions, states;
    PyObject *index, *value;
    npy_intp index_count = GG_PY_ANY, value_count = GG_PY_ANY;
    gg_drive drive;
    if (!PyArg_ParseTuple(argument, "iiiOO:set_drive", &kind, &actions, &states, &index, &value)) {
        return NULL;
    }
    drive.kind = kind;
    drive.action_count = actions;
    drive.state_count = states;
    drive.tool_count = (int32_t)self->tool_count;
    drive.index = gg_py_array(self->state, "index", index, NPY_INT32, 1, &index_count);
    drive.value = drive.index ? gg_py_array(self->state, "value", value, NPY_FLOAT64, 1, &value_count) : NULL;
    if (!drive.value || gg_py_begin(self)) {
        return NULL;
    }
    drive.index_count = index_count;
    drive.value_count = value_count;
    gg_status status = gg_world_set_drive(self->world, &drive);
    if (status == GG_OK) {
        self->action_count = actions;
        self->state_count = states;
    }
    return gg_py_finish_none(self, status);
}

WORLD_METHOD(drive_poses) {
    npy_intp shape[3] = {GG_PY_ANY, (npy_intp)self->state_count, 7};
    const double *state = gg_py_array(self->state, "state", argument, NPY_FLOAT64, 2, shape);
    shape[1] = (npy_intp)self->tool_count;
    PyObject *poses = state ? PyArray_SimpleNew(3, shape, NPY_FLOAT32) : NULL;
    if (!poses) {
        return NULL;
    }
    if (gg_py_begin(self)) {
        Py_DECREF(poses);
        return NULL;
    }
    return gg_py_finish(self, gg_world_drive_poses(self->world, state, shape[0], gg_py_data(poses)), poses);
}

/* whether a tensor is what the drive reads: float32 (shape), contiguous, on this GPU */
static int is_readable(const gg_dlpack_tensor *t, int gpu, const npy_intp shape[2]) {
    return t->device_type == GG_DLPACK_CUDA && t->device_id == gpu && t->type_code == GG_DLPACK_FLOAT &&
           t->type_bits == 32 && t->type_lanes == 1 && t->ndim == 2 && t->shape[0] == shape[0] &&
           t->shape[1] == shape[1] &&
           (!t->strides || ((shape[1] < 2 || t->strides[1] == 1) && (shape[0] < 2 || t->strides[0] == shape[1])));
}

/* The capsule that holds an array on the world's GPU, and its data; nobody renames it, so its end releases them. NULL:
 * BufferError where the array must be converted or copied first. */
static PyObject *take_actions(world_object *self, PyObject *object, const npy_intp shape[2], const float **data) {
    gg_world_info info;
    memset(&info, 0, sizeof info);
    if (gg_py_begin(self)) {
        return NULL;
    }
    gg_world_get_info(self->world, &info);
    uintptr_t stream = gg_world_get_stream(self->world);
    gg_py_end(self);
    PyObject *export = PyObject_GetAttrString(object, "__dlpack__");
    /* streams are numbered as in the array API: the legacy default stream is 1 */
    PyObject *keyword = export ? Py_BuildValue("{s:K}", "stream", (unsigned long long)(stream ? stream : 1)) : NULL;
    PyObject *none = keyword ? PyTuple_New(0) : NULL;
    PyObject *capsule = none ? PyObject_Call(export, none, keyword) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(keyword);
    Py_XDECREF(export);
    const gg_dlpack_managed *managed = capsule ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
    if (managed && !is_readable(&managed->tensor, info.gpu - 1, shape)) {
        PyErr_SetString(PyExc_BufferError, "actions: expected a contiguous float32 array on the GPU of the world");
        managed = NULL;
    }
    if (!managed) {
        Py_XDECREF(capsule);
        return NULL;
    }
    *data = (const float *)(const void *)((const char *)managed->tensor.data + managed->tensor.byte_offset);
    return capsule;
}

/* the step; data of the arguments stay while it runs: `argument` holds them */
static gg_status run_step(world_object *self, double dt, int64_t substeps, const gg_driven_step *step) {
    gg_py_poll_context poll;
    poll.thread = PyEval_SaveThread();
    gg_status status = gg_world_step_driven(self->world, dt, (int32_t)substeps, step, gg_py_poll, &poll);
    PyEval_RestoreThread(poll.thread);
    return status;
}

/* (state, None or the first env and action that are not finite); steals both */
static PyObject *driven(PyObject *next, PyObject *faults) {
    const int32_t *fault = gg_py_data(faults);
    npy_intp count = PyArray_SIZE((PyArrayObject *)faults), first = 0;
    while (first < count && !fault[first]) {
        first++;
    }
    PyObject *result = first < count ? Py_BuildValue("O(ni)", next, (Py_ssize_t)first, (int)fault[first] - 1)
                                     : Py_BuildValue("OO", next, Py_None);
    Py_DECREF(next);
    Py_DECREF(faults);
    return result;
}

WORLD_METHOD(step_driven) {
    PyObject *substeps_object, *actions, *state, *idle, *capsule = NULL, *next = NULL, *faults = NULL;
    double dt;
    int64_t substeps;
    npy_intp count = (npy_intp)self->env_count, state_shape[2] = {count, (npy_intp)self->state_count};
    npy_intp action_shape[2] = {count, (npy_intp)self->action_count};
    gg_driven_step step;
    memset(&step, 0, sizeof step);
    if (!PyArg_ParseTuple(argument, "dOOOOdd:step_driven", &dt, &substeps_object, &actions, &state, &idle,
                          &step.stroke.share, &step.stroke.scale) ||
        gg_py_integer(self->state, "substeps", substeps_object, 0, INT32_MAX, &substeps) ||
        !(step.state = gg_py_array(self->state, "state", state, NPY_FLOAT64, 2, state_shape)) ||
        gg_py_array_or_none(self->state, "idle", idle, NPY_BOOL, 1, &count, (void *)&step.idle)) {
        return NULL;
    }
    if (PyArray_Check(actions)) {
        step.actions = gg_py_buffer(self->state, "actions", actions, NPY_FLOAT32, 2, action_shape);
    } else {
        capsule = take_actions(self, actions, action_shape, &step.actions);
        step.space = GG_DEVICE;
    }
    next = step.actions ? PyArray_SimpleNew(2, state_shape, NPY_FLOAT64) : NULL;
    faults = next ? PyArray_ZEROS(1, &count, NPY_INT32, 0) : NULL;
    if (!faults || gg_py_begin(self)) {
        goto fail;
    }
    /* numbers and arrays may run code of the caller, which may set another drive */
    if (state_shape[1] != (npy_intp)self->state_count || action_shape[1] != (npy_intp)self->action_count) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT], "drive: it changed while the arguments were read");
        gg_py_end(self);
        goto fail;
    }
    step.next = gg_py_data(next);
    step.fault = gg_py_data(faults);
    gg_status status = run_step(self, dt, substeps, &step);
    if (status != GG_OK) {
        gg_py_finish_none(self, status);
        goto fail;
    }
    gg_py_end(self);
    Py_XDECREF(capsule);
    return driven(next, faults);

fail:
    Py_XDECREF(capsule);
    Py_XDECREF(next);
    Py_XDECREF(faults);
    return NULL;
}
