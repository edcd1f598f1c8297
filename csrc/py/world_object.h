/* world_object.h: the Python object of a gg_world, and how every method of it begins and ends.
 *
 * A method claims the world with a busy flag, so that a second thread gets BusyError and close() never frees a world in
 * use. Long calls release the GIL; calls that take lists of envs keep it: nobody may change a list after it was
 * checked. Arrays that are returned are always new.
 */
#ifndef GG_PY_WORLD_OBJECT_H
#define GG_PY_WORLD_OBJECT_H

#include "convert.h"

#include <stdatomic.h>

typedef struct world_object {
    PyObject_HEAD gg_world *world; /* NULL once closed */
    gg_module_state *state;        /* of the module; the type keeps the module alive */
    atomic_int busy;
    int64_t env_count, grain_count, tool_count, camera_count, material_count;
    int64_t action_count, state_count; /* of the drive; 0: none */
    PyObject *camera_sizes;            /* (camera_count) of (height, width) */
} world_object;

/* claims the world for this call; -1: BusyError or ClosedError is set */
GG_FN int gg_py_begin(world_object *self) {
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

GG_FN void gg_py_end(world_object *self) { atomic_store(&self->busy, 0); }

/* ends the call; returns result, or raises the exception of a status. Steals result; NULL: an exception is set. */
GG_FN PyObject *gg_py_finish(world_object *self, gg_status status, PyObject *result) {
    if (status != GG_OK) {
        Py_CLEAR(result);
        gg_py_raise(self->state, status, gg_world_message(self->world));
    }
    gg_py_end(self);
    return result;
}

GG_FN PyObject *gg_py_finish_none(world_object *self, gg_status status) {
    return gg_py_finish(self, status, Py_NewRef(Py_None));
}

/* ends a call with an exception that is set */
GG_FN PyObject *gg_py_refuse(world_object *self) {
    gg_py_end(self);
    return NULL;
}

/* an engine call without the GIL */
#define WITHOUT_GIL(call)                                                                                              \
    do {                                                                                                               \
        Py_BEGIN_ALLOW_THREADS call;                                                                                   \
        Py_END_ALLOW_THREADS                                                                                           \
    } while (0)

GG_FN void *gg_py_data(PyObject *array) { return PyArray_DATA((PyArrayObject *)array); }

/* a new array of zeros (envs, count, columns); columns 0: (envs, count) */
GG_FN PyObject *gg_py_zeros(int dtype, int64_t envs, int64_t count, int64_t columns) {
    npy_intp shape[3] = {(npy_intp)envs, (npy_intp)count, (npy_intp)columns};
    return PyArray_ZEROS(columns ? 3 : 2, shape, dtype, 0);
}

/* What the engine tells of the motion of `count` things of each env: a tuple of float64 arrays (env_count, count, 7) and
 * twice (env_count, count, 6). */
typedef gg_status (*gg_py_motion_reader)(gg_world *world, double *poses, double *velocities, double *wrenches);
GG_FN PyObject *gg_py_read_motion(world_object *self, gg_py_motion_reader read, int64_t count) {
    PyObject *out[3], *all = NULL;
    for (int k = 0; k < 3; k++) {
        out[k] = gg_py_zeros(NPY_FLOAT64, self->env_count, count, k == 0 ? 7 : 6);
    }
    if (out[0] && out[1] && out[2]) {
        all = PyTuple_Pack(3, out[0], out[1], out[2]);
    }
    for (int k = 0; k < 3; k++) {
        Py_XDECREF(out[k]); /* the tuple holds them */
    }
    if (!all) {
        return gg_py_refuse(self);
    }
    return gg_py_finish(self, read(self->world, gg_py_data(out[0]), gg_py_data(out[1]), gg_py_data(out[2])), all);
}

/* world_type.c: what a step that is run without the GIL asks between substeps: whether a signal came */
typedef struct gg_py_poll_context {
    PyThreadState *thread;
} gg_py_poll_context;
int gg_py_poll(void *context);

/* methods by the file that defines them; world_type.c lists them all */
#define WORLD_METHOD(name) PyObject *gg_py_world_##name(world_object *self, PyObject *argument)
WORLD_METHOD(get_grains);
WORLD_METHOD(set_grains);
WORLD_METHOD(transform_grains);
WORLD_METHOD(get_coupled);
WORLD_METHOD(set_coupled);
WORLD_METHOD(get_clumps);
WORLD_METHOD(set_clumps);
WORLD_METHOD(set_clump_wrenches);
WORLD_METHOD(get_continuum);
WORLD_METHOD(set_continuum);
WORLD_METHOD(get_gravity);
WORLD_METHOD(set_gravity);
WORLD_METHOD(get_air);
WORLD_METHOD(set_air);
WORLD_METHOD(get_materials);
WORLD_METHOD(set_materials);
WORLD_METHOD(get_tool_poses);
WORLD_METHOD(set_tool_poses);
WORLD_METHOD(get_tools_active);
WORLD_METHOD(set_tools_active);
WORLD_METHOD(get_tool_motion);
WORLD_METHOD(set_tool_motion);
WORLD_METHOD(get_wrenches);
WORLD_METHOD(set_drive);
WORLD_METHOD(drive_poses);
WORLD_METHOD(step_driven);
WORLD_METHOD(get_contacts);
WORLD_METHOD(find_overlaps);
WORLD_METHOD(get_stats);
WORLD_METHOD(get_counters);
WORLD_METHOD(read_results);
WORLD_METHOD(box_stats);
WORLD_METHOD(count_boxes);
WORLD_METHOD(count_cells);
WORLD_METHOD(count_columns);
WORLD_METHOD(depth);
WORLD_METHOD(segmentation);
WORLD_METHOD(color);
WORLD_METHOD(depth_image);
WORLD_METHOD(to_device);
WORLD_METHOD(picture);
WORLD_METHOD(picture_depth);
WORLD_METHOD(save_state);
WORLD_METHOD(load_state);
WORLD_METHOD(state_hash);
WORLD_METHOD(trace);
WORLD_METHOD(profile);

#endif
