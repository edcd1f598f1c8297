/* world_type.c: the Python type _core.World: creation, closing, stepping, snapshots, and the list of its methods.
 *
 * A step polls for signals with the GIL, so that Ctrl-C ends a long one.
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
        PyTuple_SetItem(sizes, k, size);
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
    self = (world_object *)PyType_GenericAlloc(type, 0);
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
    /* no call can be running: it would hold a reference */
    gg_world_destroy(self->world);
    self->world = NULL;
    Py_CLEAR(self->camera_sizes);
    PyObject_Free(self);
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
    gg_py_end(self);
    Py_RETURN_NONE;
}

static PyObject *world_get_closed(world_object *self, void *Py_UNUSED(closure)) {
    return PyBool_FromLong(!self->world);
}

/* ----------------------------------------------------------------------------------------------------------
 * stepping */

/* called by the engine without the GIL */
int gg_py_poll(void *context) {
    gg_py_poll_context *poll = context;
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
    if (gg_py_integer(self->state, "substeps", substeps_object, 0, INT32_MAX, &substeps)) {
        return NULL;
    }
    if (targets_object != Py_None) {
        targets = gg_py_buffer(self->state, "tool_poses", targets_object, NPY_FLOAT32, 3, shape);
        if (!targets) {
            return NULL;
        }
    }
    if (gg_py_begin(self)) {
        return NULL;
    }
    gg_py_poll_context poll;
    poll.thread = PyEval_SaveThread();
    gg_status status = gg_world_step(self->world, dt, (int32_t)substeps, targets, gg_py_poll, &poll);
    PyEval_RestoreThread(poll.thread);
    return gg_py_finish_none(self, status);
}

static PyObject *world_info(world_object *self, PyObject *Py_UNUSED(unused)) {
    gg_world_info info;
    memset(&info, 0, sizeof info);
    if (gg_py_begin(self)) {
        return NULL;
    }
    gg_world_get_info(self->world, &info);
    gg_py_end(self);
    PyObject *solver = gg_py_solver_dict(&info.solver);
    if (!solver) {
        return NULL;
    }
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:i,s:s,s:i,s:L,s:L,s:N}", "env_count", (long long)info.env_count,
                         "grain_count", (long long)info.grain_count, "tool_count", (long long)info.tool_count,
                         "camera_count", (long long)info.camera_count, "material_count", (long long)info.material_count,
                         "memory", (long long)info.memory, "thread_count", (int)info.thread_count, "kernel",
                         info.kernel ? info.kernel : "", "gpu", (int)info.gpu, "waits", (long long)info.waits, "drawn",
                         (long long)info.drawn, "solver", solver);
}

static PyObject *world_set_stream(world_object *self, PyObject *object) {
    int64_t stream = 0;
    if (gg_py_integer(self->state, "stream", object, 0, INT64_MAX, &stream) || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_stream(self->world, (uintptr_t)stream));
}

static PyObject *world_get_stream(world_object *self, PyObject *Py_UNUSED(unused)) {
    if (gg_py_begin(self)) {
        return NULL;
    }
    uintptr_t stream = gg_world_get_stream(self->world);
    gg_py_end(self);
    return PyLong_FromUnsignedLongLong(stream);
}

static PyObject *world_set_thread_count(world_object *self, PyObject *object) {
    int64_t count = 0;
    if (gg_py_integer(self->state, "thread_count", object, 0, INT32_MAX, &count) || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_thread_count(self->world, (int32_t)count));
}

static PyObject *world_set_kernel(world_object *self, PyObject *object) {
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!name) {
        if (!PyErr_Occurred()) {
            PyErr_Format(self->state->error[GG_PY_ARGUMENT], "kernel: expected a name, got %R", object);
        }
        return NULL;
    }
    if (gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_kernel(self->world, name));
}

static PyObject *world_set_solver(world_object *self, PyObject *dict) {
    gg_solver solver;
    if (gg_py_solver(self->state, dict, &solver) || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_solver(self->world, &solver));
}

/* ------------------------------------------------------------------------------------------------------------- type */

#define METHOD(name, flags, doc)                                                                                       \
    { #name, (PyCFunction)(void (*)(void))world_##name, flags, PyDoc_STR(doc) }

#define ELSEWHERE(name, flags, doc)                                                                                    \
    { #name, (PyCFunction)(void (*)(void))gg_py_world_##name, flags, PyDoc_STR(doc) }

static PyMethodDef world_methods[] = {
    METHOD(close, METH_NOARGS,
           "close($self, /)\n--\n\n"
           "Frees the world; closing it twice is allowed. Raises BusyError while another thread uses it."),
    METHOD(step, METH_VARARGS,
           "step($self, dt, substeps, tool_poses=None, /)\n--\n\n"
           "Advances all envs by substeps * dt [s].\n\n"
           "tool_poses: (env_count, tool_count, 7) float32 x y z [m] qw qx qy qz, where the tools are at the "
           "end; None: they stay.\n"
           "Raises ArgumentError; MemoryError or CapacityError where a buffer cannot grow: the same call again "
           "finishes the step."),
    METHOD(info, METH_NOARGS,
           "info($self, /)\n--\n\n"
           "Sizes, memory [bytes], threads, kernel, GPU and solver settings by name."),
    METHOD(set_thread_count, METH_O,
           "set_thread_count($self, thread_count, /)\n--\n\n"
           "Threads of a step; 0: as many as it can use. Raises ArgumentError."),
    METHOD(set_kernel, METH_O,
           "set_kernel($self, name, /)\n--\n\n"
           "Instruction set of the solve: scalar, vector128, avx2 or avx512; on a GPU auto, team or graph.\n\n"
           "Same bits, other speed. Raises ArgumentError, or BackendError for what cannot be used here."),
    METHOD(set_stream, METH_O,
           "set_stream($self, stream, /)\n--\n\n"
           "The CUDA stream (its handle, an integer) of what comes next. Raises BackendError on the CPU."),
    METHOD(get_stream, METH_NOARGS,
           "get_stream($self, /)\n--\n\n"
           "Handle of the CUDA stream; 0 on the CPU."),
    METHOD(set_solver, METH_O,
           "set_solver($self, solver, /)\n--\n\n"
           "Settings of the solver: a dict of all fields of gg_solver. Raises ArgumentError."),
    ELSEWHERE(set_drive, METH_VARARGS,
              "set_drive($self, kind, action_count, state_count, index, value, /)\n--\n\n"
              "The drive by which actions move the tools; kind, index (n,) int32 and value (m,) float64 as in "
              "csrc/geometry/drives.h. Raises ArgumentError."),
    ELSEWHERE(drive_poses, METH_O,
              "drive_poses($self, state, /)\n--\n\n"
              "Poses (n, tool_count, 7) float32 of the tools for states (n, state_count) float64 of the drive. Raises "
              "ArgumentError."),
    ELSEWHERE(
        step_driven, METH_VARARGS,
        "step_driven($self, dt, substeps, actions, state, idle, share, scale, /)\n--\n\n"
        "Advances all envs as step does, with tools moved by the drive: (state after the control period, fault).\n\n"
        "actions: (env_count, action_count) float32, clamped to [-1, 1], on the host (finite) or, by DLPack, on the "
        "GPU of the world.\n"
        "state: (env_count, state_count) float64 before the period. idle: (env_count,) bool, envs whose tools stay, "
        "or None.\n"
        "share, scale: see gg_drive_stroke. fault: None, or the env and the index of an action on the GPU that is "
        "not finite;\n"
        "the tools of that env stayed. Raises ArgumentError; BufferError for an array that must be copied to the "
        "host first; else as step."),
    ELSEWHERE(get_grains, METH_VARARGS,
              "get_grains($self, field, device=False, /)\n--\n\n"
              "One field of all grains, in order of grain ids.\n\n"
              "field: position [m], velocity [m/s] or angular_velocity [rad/s], (env_count, grain_count, 3) "
              "float32; radius [m] or angle\n"
              "[rad], (env_count, grain_count) float32; material, int32. device: as a DeviceArray. Raises "
              "ArgumentError."),
    ELSEWHERE(set_grains, METH_VARARGS,
              "set_grains($self, envs, positions, velocities, angular_velocities, angles, keep_impulses=False, "
              "/)\n--\n\n"
              "Sets what is not None in the listed envs and, unless they are kept, drops their stored impulses.\n\n"
              "envs: (n,) int32, or None: all. positions [m], velocities [m/s], angular_velocities [rad/s]: (n, "
              "grain_count, 3) float32;\n"
              "angles [rad]: (n, grain_count). Raises ArgumentError."),
    ELSEWHERE(
        get_coupled, METH_NOARGS,
        "get_coupled($self, /)\n--\n\n"
        "Of all coupled tools, float64: poses (env_count, coupled, 7), twists (env_count, coupled, 6) and impulses\n"
        "and moments of the grains over the last step (env_count, coupled, 6). Raises ArgumentError: there are "
        "none."),
    ELSEWHERE(
        set_coupled, METH_VARARGS,
        "set_coupled($self, envs, poses, twists, accelerations, responses, /)\n--\n\n"
        "Sets what is not None of the coupled tools of the listed envs, float64: poses (listed, coupled, 7), "
        "twists\n"
        "and accelerations (listed, coupled, 6), responses (listed, 6 coupled, 6 coupled). Raises ArgumentError."),
    ELSEWHERE(
        get_clumps, METH_NOARGS,
        "get_clumps($self, /)\n--\n\n"
        "Of all clumps, float64: poses (env_count, clumps, 7), centre of mass and w x y z of the principal axes;\n"
        "velocities (env_count, clumps, 6), the angular ones in the axes of the world; forces and torques of the\n"
        "caller (env_count, clumps, 6). Raises ArgumentError: there are none."),
    ELSEWHERE(set_clumps, METH_VARARGS,
              "set_clumps($self, envs, poses, velocities, keep_impulses=False, /)\n--\n\n"
              "Sets what is not None in the listed envs and, unless they are kept, drops their stored impulses.\n\n"
              "Arrays as get_clumps gives them. Raises ArgumentError."),
    ELSEWHERE(set_clump_wrenches, METH_VARARGS,
              "set_clump_wrenches($self, envs, wrenches, /)\n--\n\n"
              "Force [N] at the centre of mass and torque [N m] on each clump, (listed, clumps, 6) float64, until they "
              "are set anew. Raises ArgumentError."),
    ELSEWHERE(
        get_continuum, METH_NOARGS,
        "get_continuum($self, /)\n--\n\n"
        "Of continuous matter: elastic left stretches and Kirchhoff stresses [Pa], xx yy zz xy xz yz (env_count,\n"
        "grain_count, 6) float64; equivalent plastic strains and volumetric strains by dilatancy, (env_count,\n"
        "grain_count) float32. Raises ArgumentError: there is none."),
    ELSEWHERE(set_continuum, METH_VARARGS,
              "set_continuum($self, envs, stretches, plastic_strains, dilations, /)\n--\n\n"
              "Sets them in the listed envs, arrays as get_continuum gives them. Raises ArgumentError."),
    ELSEWHERE(transform_grains, METH_VARARGS,
              "transform_grains($self, envs, translation, yaw, /)\n--\n\n"
              "Rotates the grains of the listed envs about the z axis, then translates them; a settled bed stays "
              "settled.\n\n"
              "envs: (n,) int32, or None: all. translation: (n, 3) float32 [m]. yaw: (n,) float32 [rad]. Raises "
              "ArgumentError."),
    ELSEWHERE(get_gravity, METH_NOARGS,
              "get_gravity($self, /)\n--\n\n"
              "(env_count, 3) float32 [m/s2]."),
    ELSEWHERE(set_gravity, METH_VARARGS,
              "set_gravity($self, envs, gravity, /)\n--\n\n"
              "Gravity (n, 3) float32 [m/s2] of the listed envs (n,) int32, None: all. Raises ArgumentError."),
    ELSEWHERE(get_air, METH_NOARGS,
              "get_air($self, /)\n--\n\n"
              "(env_count, 5) float32: density [kg/m3], viscosity [Pa s], wind x y z [m/s]."),
    ELSEWHERE(set_air, METH_VARARGS,
              "set_air($self, envs, air, /)\n--\n\n"
              "Air (n, 5) float32, columns as in get_air, of the listed envs (n,) int32, None: all. Raises "
              "ArgumentError."),
    ELSEWHERE(get_materials, METH_NOARGS,
              "get_materials($self, /)\n--\n\n"
              "Pairs (env_count, m, m, 6) float32, columns as in World, and densities (env_count, m) float32 "
              "[kg/m3]."),
    ELSEWHERE(set_materials, METH_VARARGS,
              "set_materials($self, envs, pairs, densities, /)\n--\n\n"
              "Sets what is not None of the listed envs (n,) int32, None: all.\n\n"
              "pairs: (n, m, m, 6) float32, symmetric. densities: (n, m) float32 [kg/m3]. Raises ArgumentError."),
    ELSEWHERE(get_tool_poses, METH_VARARGS,
              "get_tool_poses($self, device=False, /)\n--\n\n"
              "(env_count, tool_count, 7) float32: x y z [m] qw qx qy qz."),
    ELSEWHERE(set_tool_poses, METH_VARARGS,
              "set_tool_poses($self, envs, poses, /)\n--\n\n"
              "Moves the tools of the listed envs without velocity (a jump).\n\n"
              "envs: (n,) int32, or None: all. poses: (n, tool_count, 7) float32, x y z [m] qw qx qy qz. Raises "
              "ArgumentError."),
    ELSEWHERE(get_tools_active, METH_NOARGS,
              "get_tools_active($self, /)\n--\n\n"
              "(env_count, tool_count) int32: 1, or 0: the tool is taken out."),
    ELSEWHERE(set_tools_active, METH_VARARGS,
              "set_tools_active($self, envs, active, /)\n--\n\n"
              "Takes tools of the listed envs out (0) or puts them back.\n\n"
              "envs: (n,) int32, or None: all. active: (n, tool_count) int32. Raises ArgumentError."),
    ELSEWHERE(
        get_tool_motion, METH_O,
        "get_tool_motion($self, tool, /)\n--\n\n"
        "Velocity [m/s], the caller's force [N], angular velocity [rad/s] and torque [N m] of a tool with a mass, "
        "each (env_count, 3) float32. Raises ArgumentError."),
    ELSEWHERE(set_tool_motion, METH_VARARGS,
              "set_tool_motion($self, envs, tool, velocity, force, angular_velocity, torque, /)\n--\n\n"
              "Sets what is not None of a tool with a mass in the listed envs.\n\n"
              "envs: (n,) int32, or None: all. The others: (n, 3) float32 [m/s], [N], [rad/s], [N m]. Raises "
              "ArgumentError."),
    ELSEWHERE(get_wrenches, METH_VARARGS,
              "get_wrenches($self, walls, device=False, /)\n--\n\n"
              "Mean force [N] and torque [N m] of the grains on the tools, or the walls, over the last step.\n"
              "\n(env_count, n, 6) float32 in world axes; torques are about the origin of the tool."),
    ELSEWHERE(get_contacts, METH_O,
              "get_contacts($self, env, /)\n--\n\n"
              "Contacts of one env in its last substep, speculative ones included: (pairs, impulses, torque_impulses,\n"
              "points, normals, dt).\n\n"
              "pairs: (n, 2) int32, a grain and a grain of higher id, or -1 - tool, or -1 - tool_count - wall. "
              "impulses: (n, 3) float32\n"
              "[N s] on the first. dt: duration of that substep [s]. Raises ArgumentError."),
    ELSEWHERE(
        find_overlaps, METH_VARARGS,
        "find_overlaps($self, env, tolerance, /)\n--\n\n"
        "Where grains of one env lie in something, deeper than tolerance diameters: (pairs, depths, complete).\n\n"
        "pairs: (n, 2) int32 as of get_contacts. depths: (n,) float32, over the smaller diameter. complete: 0 where "
        "the search stopped at\nits limit. Raises ArgumentError, MemoryError."),
    ELSEWHERE(get_stats, METH_NOARGS,
              "get_stats($self, /)\n--\n\n"
              "Counters of the last step by name, each (env_count,); see granular_gym.engine.stats."),
    ELSEWHERE(get_counters, METH_O,
              "get_counters($self, fresh, /)\n--\n\n"
              "Counters for info dicts by name, each (env_count,); 0 where they are not finite.\n\n"
              "fresh: (env_count,) bool, envs that made no step since their reset, whose counters are 0; None: "
              "none. Raises\n"
              "ArgumentError."),
    ELSEWHERE(
        read_results, METH_VARARGS,
        "read_results($self, boxes, turned_boxes, cells, labels, columns, wrenches, images, fresh, device, /)\n--\n\n"
        "All that an env step is read for: box_stats, count_boxes, count_cells, count_columns, get_wrenches of the "
        "tools, get_counters, depth_image.\n\n"
        "cells, columns: (lower, upper, shape), or None as boxes. images: tuples (camera, near, far, bytes), on the "
        "GPU where device is set; a GPU is waited for once. Returns box counts, box distances, counts by turned "
        "boxes, cells and columns, wrenches, counters, fast_tool_count (env_count,) int64 and a tuple of images; "
        "None for what is not asked for. Raises ArgumentError."),
    ELSEWHERE(box_stats, METH_VARARGS,
              "box_stats($self, boxes, device=False, /)\n--\n\n"
              "Number of grains whose centre lies in each box, int64, and mean distance of all centres to it, "
              "float32 [m].\n\n"
              "boxes: (env_count, n, 6) float32, lower and upper corner [m]; both results are (env_count, n). "
              "Raises ArgumentError."),
    ELSEWHERE(count_boxes, METH_VARARGS,
              "count_boxes($self, boxes, device=False, /)\n--\n\n"
              "Grains by the first box that holds their centre, (env_count, n) int64.\n\n"
              "boxes: (env_count, n, 10) float32, pose x y z [m] qw qx qy qz and half sizes [m]. Raises "
              "ArgumentError."),
    ELSEWHERE(count_cells, METH_VARARGS,
              "count_cells($self, lower, upper, shape, labels, device=False, /)\n--\n\n"
              "Grains by the cells of a grid, (env_count, nx, ny, nz) int64; those outside count at its edge.\n"
              "\n"
              "lower, upper: (3,) float32 [m]. shape: (3,) int32. labels: (env_count, grain_count) uint8 of 0 or "
              "1, or None; with them\n"
              "the result has one more axis of 2. Raises ArgumentError."),
    ELSEWHERE(count_columns, METH_VARARGS,
              "count_columns($self, lower, upper, shape, device=False, /)\n--\n\n"
              "Grains by the columns of a grid in plan, (env_count, ny, nx) int64, in units of 2**-20 grains.\n"
              "\n"
              "Each grain is shared bilinearly between the four columns next to its centre. lower, upper: (2,) "
              "float32 [m]. shape: (2,)\n"
              "int32. Raises ArgumentError."),
    ELSEWHERE(depth, METH_VARARGS,
              "depth($self, camera, device=False, /)\n--\n\n"
              "Depth images of a camera (its index), (env_count, height, width) float32 [m]. Raises ArgumentError."),
    ELSEWHERE(depth_image, METH_VARARGS,
              "depth_image($self, camera, near, far, bytes, device=False, /)\n--\n\n"
              "The same clipped to near .. far [m]: float32 [m], or with bytes uint8, 0 at near and 255 at far.\n"
              "\nRaises ArgumentError."),
    ELSEWHERE(segmentation, METH_VARARGS,
              "segmentation($self, camera, bytes, far_is_floor, device=False, /)\n--\n\n"
              "Whose surface each pixel of a camera sees, (env_count, height, width) int32: a grain id, -1 nothing, -2 "
              "the bounds, -3 - k\n"
              "tool k; or with bytes uint8: 2, 0, 1, 3 + k. Raises ArgumentError."),
    ELSEWHERE(color, METH_VARARGS,
              "color($self, camera, grain_colors, tool_colors, background, light, ambient, far_is_floor, "
              "channels_first, device=False, "
              "/)\n--\n\n"
              "What a camera sees in colour, (env_count, height, width, 3) uint8 sRGB.\n\n"
              "grain_colors: (grain_count, 3) uint8 or (env_count, grain_count, 3), or None: sand. tool_colors: (6 + "
              "tool_count, 3) uint8, walls first. background: (3,)\n"
              "uint8. light: (3,) float32, towards the light. ambient: share of it from everywhere. Raises "
              "ArgumentError, MemoryError."),
    ELSEWHERE(to_device, METH_O,
              "to_device($self, array, /)\n--\n\n"
              "A copy of a NumPy array on the GPU of the world, a DeviceArray.\n\n"
              "Raises ArgumentError for arrays that are not C-contiguous, of other types or over 4 axes; "
              "BackendError on the CPU."),
    ELSEWHERE(picture, METH_VARARGS,
              "picture($self, env, camera_integers, camera_floats, light, grain_colors, tool_colors, floor_mark, "
              "show_walls, samples, /)\n--\n\n"
              "A shaded picture of one env, (height, width, 3) uint8 sRGB.\n\n"
              "The camera is a row of the tables of World. light: (3,) float32, towards the sun. grain_colors: "
              "(grain_count, 3) uint8, or\n"
              "None: sand. tool_colors: (6 + tool_count, 3) uint8, walls first, or None. floor_mark: (8,) float32, see "
              "gg_picture, or None. samples: rays per pixel "
              "along each axis, 1 .. 4.\n"
              "Raises ArgumentError, MemoryError."),
    ELSEWHERE(picture_depth, METH_VARARGS,
              "picture_depth($self, env, camera_integers, camera_floats, /)\n--\n\n"
              "Depth of what a picture of that camera shows, (height, width) float32 [m]. Raises ArgumentError."),
    ELSEWHERE(save_state, METH_O,
              "save_state($self, env, /)\n--\n\n"
              "The state of one env as bytes. Raises ArgumentError."),
    ELSEWHERE(load_state, METH_VARARGS,
              "load_state($self, envs, states, checked=False, /)\n--\n\n"
              "Puts states, one for all or one for each, into the listed envs (n,) int32, None: all; bit for bit.\n"
              "\nchecked: they are unchanged since a world of this process saved or loaded them.\n"
              "Raises StateError for a state of another version or scene or with a value that no env can have: none "
              "is loaded then; ArgumentError, MemoryError."),
    ELSEWHERE(state_hash, METH_O,
              "state_hash($self, env, /)\n--\n\n"
              "64-bit hash of the grains and tool poses of one env. Raises ArgumentError."),
    ELSEWHERE(trace, METH_VARARGS,
              "trace($self, dt, tool_poses=None, /)\n--\n\n"
              "For tests: makes one substep and returns [(phase, pass, {array: hash after it})]. Arguments as for "
              "step."),
    ELSEWHERE(profile, METH_O,
              "profile($self, enable, /)\n--\n\n"
              "Seconds by phase since profiling was switched on; switches it on or off."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef world_getset[] = {
    {"closed", (getter)world_get_closed, NULL, PyDoc_STR("Whether the world was closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    world_doc,
    "World(*, env_count, lower, upper, boundary, wall_material, gravity, air, density, pair, position, velocity, "
    "radius, grain_material, tool_pose, tool_free, tool_mass, tool_inertia, part_integers, part_floats, grid_integers, "
    "grid_floats, "
    "sample, "
    "camera_integers, camera_floats, planar, clumps, continuum, table, bonds, solver, thread_count, gpu)\n--\n\n"
    "A world of the engine. Use granular_gym.Scene.build instead. All arguments are required; tables hold, by column:\n"
    "air: density, viscosity, wind 3; pair (m, m, 6): friction, restitution, rolling and twisting friction, cohesion, "
    "its range\n"
    "tool_free: 1 or 0 for x, y, z, coupled; tool_mass: mass or 0, lower 3 and upper 3 end of travel, stiffness,\n"
    "damping; tool_inertia: float64 xx yy zz xy xz yz, 0: it does not turn\n"
    "part_integers: kind, tool, grid or -1, material; part_floats: size 4, position 3, rotation w x y z\n"
    "grid_integers: samples along x, y, z; grid_floats: spacing, origin 3; sample: all grids, x fastest\n"
    "camera_integers: kind, height, width, tool or -1; camera_floats: position 3, rotation w x y z, extent, near, "
    "far\n"
    "planar: None, or a dict of the shapes of planar grains, see csrc/py/planar_def.c\n\n"
    "clumps: None, or a dict of the clumps of spheres, see csrc/py/clump_def.c\n"
    "continuum: None, or a dict of continuous matter, see csrc/py/continuum.c\n"
    "table, bonds: None, or a dict of tables of forces and one of bonds, see csrc/py/table_def.c\n\n"
    "Where a method has an argument `device`, it returns DeviceArrays; BackendError: the world runs on the CPU. Every\n"
    "method raises ClosedError once the world is closed, and BusyError while another thread uses it.");

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
