/* world_tools.c: methods of _core.World on tools: their poses, which take part, how those with a mass move, and the
 * wrenches on them. */
#include "device_array.h"

WORLD_METHOD(get_tool_poses) {
    int device = 0;
    gg_py_out out;
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->tool_count, 7};
    if (!PyArg_ParseTuple(argument, "|p:get_tool_poses", &device) || gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, NPY_FLOAT32, 3, shape, &out)) {
        return gg_py_refuse(self);
    }
    return gg_py_finish(self, gg_world_get_tool_poses(self->world, out.data, out.space), out.object);
}

WORLD_METHOD(set_tool_poses) {
    PyObject *envs_object, *poses_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OO:set_tool_poses", &envs_object, &poses_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)listed, (npy_intp)self->tool_count, 7};
    const float *poses = gg_py_buffer(self->state, "poses", poses_object, NPY_FLOAT32, 3, shape);
    if (!poses || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_tool_poses(self->world, envs, listed, poses));
}

WORLD_METHOD(get_tools_active) {
    npy_intp shape[2] = {(npy_intp)self->env_count, (npy_intp)self->tool_count};
    (void)argument;
    if (gg_py_begin(self)) {
        return NULL;
    }
    PyObject *active = PyArray_SimpleNew(2, shape, NPY_INT32);
    gg_status status = active ? gg_world_get_tools_active(self->world, gg_py_data(active)) : GG_OK;
    return gg_py_finish(self, status, active);
}

WORLD_METHOD(set_tools_active) {
    PyObject *envs_object, *active_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OO:set_tools_active", &envs_object, &active_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[2] = {(npy_intp)listed, (npy_intp)self->tool_count};
    const int32_t *active = gg_py_array(self->state, "active", active_object, NPY_INT32, 2, shape);
    if (!active || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_tools_active(self->world, envs, listed, active));
}

WORLD_METHOD(get_tool_motion) {
    int64_t tool;
    if (gg_py_integer(self->state, "tool", argument, 0, INT32_MAX, &tool) || gg_py_begin(self)) {
        return NULL;
    }
    PyObject *all = PyTuple_New(4);
    for (Py_ssize_t k = 0; all && k < 4; k++) {
        PyObject *one = gg_py_zeros(NPY_FLOAT32, self->env_count, 3, 0);
        if (!one) {
            Py_CLEAR(all);
        } else {
            PyTuple_SetItem(all, k, one);
        }
    }
    gg_status status = GG_OK;
    if (all) {
        gg_dynamic_motion m = {gg_py_data(PyTuple_GetItem(all, 0)), gg_py_data(PyTuple_GetItem(all, 1)),
                               gg_py_data(PyTuple_GetItem(all, 2)), gg_py_data(PyTuple_GetItem(all, 3))};
        status = gg_world_get_tool_motion(self->world, tool, &m);
    }
    return gg_py_finish(self, status, all);
}

WORLD_METHOD(set_tool_motion) {
    static const char *const name[4] = {"velocity", "force", "angular_velocity", "torque"};
    PyObject *envs_object, *tool_object, *object[4];
    const int32_t *envs;
    void *data[4];
    int64_t listed, tool;
    if (!PyArg_ParseTuple(argument, "OOOOOO:set_tool_motion", &envs_object, &tool_object, &object[0], &object[1],
                          &object[2], &object[3]) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed) ||
        gg_py_integer(self->state, "tool", tool_object, 0, INT32_MAX, &tool)) {
        return NULL;
    }
    npy_intp shape[2] = {(npy_intp)listed, 3};
    for (int k = 0; k < 4; k++) {
        if (gg_py_array_or_none(self->state, name[k], object[k], NPY_FLOAT32, 2, shape, &data[k])) {
            return NULL;
        }
    }
    if (gg_py_begin(self)) {
        return NULL;
    }
    gg_dynamic_motion m = {data[0], data[1], data[2], data[3]};
    return gg_py_finish_none(self, gg_world_set_tool_motion(self->world, envs, listed, tool, &m));
}

WORLD_METHOD(get_coupled) {
    gg_world_info info;
    (void)argument;
    if (gg_py_begin(self)) {
        return NULL;
    }
    gg_world_get_info(self->world, &info);
    return gg_py_read_motion(self, gg_world_get_coupled, info.coupled_count);
}

WORLD_METHOD(set_coupled) {
    PyObject *envs_object, *object[4];
    static const char *const name[4] = {"poses", "twists", "accelerations", "responses"};
    const double *data[4] = {NULL, NULL, NULL, NULL};
    const int32_t *envs;
    int64_t listed;
    gg_world_info info;
    if (!PyArg_ParseTuple(argument, "OOOOO:set_coupled", &envs_object, &object[0], &object[1], &object[2],
                          &object[3]) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed) || gg_py_begin(self)) {
        return NULL;
    }
    gg_world_get_info(self->world, &info);
    npy_intp count = (npy_intp)info.coupled_count;
    const npy_intp shapes[4][3] = {{(npy_intp)listed, count, 7},
                                   {(npy_intp)listed, count, 6},
                                   {(npy_intp)listed, count, 6},
                                   {(npy_intp)listed, 6 * count, 6 * count}};
    for (int k = 0; k < 4; k++) {
        npy_intp shape[3] = {shapes[k][0], shapes[k][1], shapes[k][2]};
        if (gg_py_array_or_none(self->state, name[k], object[k], NPY_FLOAT64, 3, shape, (void *)&data[k])) {
            return gg_py_refuse(self);
        }
    }
    gg_coupled in = {data[0], data[1], data[2], data[3]};
    return gg_py_finish_none(self, gg_world_set_coupled(self->world, envs, listed, &in));
}

WORLD_METHOD(get_wrenches) {
    int walls = 0, device = 0;
    gg_py_out out;
    if (!PyArg_ParseTuple(argument, "p|p:get_wrenches", &walls, &device) || gg_py_begin(self)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)self->env_count, walls ? GG_WALL_COUNT : (npy_intp)self->tool_count, 6};
    if (gg_py_out_new(self, device, NPY_FLOAT32, 3, shape, &out)) {
        return gg_py_refuse(self);
    }
    gg_status status = gg_world_get_wrenches(self->world, walls ? NULL : out.data, walls ? out.data : NULL, out.space);
    return gg_py_finish(self, status, out.object);
}
