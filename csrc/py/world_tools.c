/* world_tools.c: methods of _core.World on tools: their poses, which take part, and the wrenches on them. */
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
