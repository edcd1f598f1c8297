/* arm.c: functions of _core on robot arms: kinematics and motion guard, in batches; see geometry/arm.h and
 * geometry/arm_guard.h.
 *
 * Arrays are float64; each row of a batch is computed from that row alone.
 */
#include "convert.h"

#include "../base/threads.h"
#include "../geometry/arm_guard.h"

static const npy_intp frame_size = 7, block_size = 10;

static void frame_read(const double *from, gg_frame *out) {
    for (int k = 0; k < 3; k++) {
        out->p[k] = from[k];
    }
    for (int k = 0; k < 4; k++) {
        out->q[k] = from[3 + k];
    }
}

/* a chain, its base and a batch of joint angles */
typedef struct chain_arguments {
    const gg_arm_row *row;
    gg_arm_turn turn[GG_ARM_ROWS]; /* of joints at 0 */
    gg_frame base;
    const double *joints;
    npy_intp row_count, joint_count, count;
} chain_arguments;

/* Returns 0 or -1. */
static int chain_read(const gg_module_state *state, PyObject *rows, PyObject *base, PyObject *joints,
                      chain_arguments *out) {
    npy_intp row_shape[2] = {GG_PY_ANY, 4}, base_shape[1] = {frame_size}, joint_shape[2] = {GG_PY_ANY, GG_PY_ANY};
    const double *row_data = gg_py_array(state, "rows", rows, NPY_FLOAT64, 2, row_shape);
    const double *base_data = row_data ? gg_py_array(state, "base", base, NPY_FLOAT64, 1, base_shape) : NULL;
    out->joints = base_data ? gg_py_array(state, "joints", joints, NPY_FLOAT64, 2, joint_shape) : NULL;
    if (!out->joints) {
        return -1;
    }
    if (row_shape[0] < 1 || row_shape[0] > GG_ARM_ROWS || joint_shape[1] > row_shape[0]) {
        PyErr_Format(state->error[GG_PY_ARGUMENT],
                     "rows: expected 1 .. %d rows, at least one per joint, got %lld for %lld", GG_ARM_ROWS,
                     (long long)row_shape[0], (long long)joint_shape[1]);
        return -1;
    }
    out->row = (const gg_arm_row *)(const void *)row_data;
    frame_read(base_data, &out->base);
    out->row_count = row_shape[0];
    out->joint_count = joint_shape[1];
    out->count = joint_shape[0];
    for (npy_intp k = 0; k < row_shape[0]; k++) {
        out->turn[k] = gg_arm_turn_of(&out->row[k], 0.0);
    }
    return 0;
}

/* Arms that are computed side by side: one number of each after the other. A frame waits for the one before it; those
 * of other arms do not, and the compiler takes several at once. */
#define ARM_LANES 8

typedef struct arm_lanes {
    double p[3][ARM_LANES], q[4][ARM_LANES];
} arm_lanes;

/* into each build of what uses it */
#define INLINE static inline __attribute__((always_inline))

INLINE gg_frame lane_get(const arm_lanes *lanes, int l) {
    gg_frame frame = {{lanes->p[0][l], lanes->p[1][l], lanes->p[2][l]},
                      {lanes->q[0][l], lanes->q[1][l], lanes->q[2][l], lanes->q[3][l]}};
    return frame;
}

INLINE void lane_put(arm_lanes *lanes, int l, const gg_frame *frame) {
    for (int k = 0; k < 3; k++) {
        lanes->p[k][l] = frame->p[k];
    }
    for (int k = 0; k < 4; k++) {
        lanes->q[k][l] = frame->q[k];
    }
}

/* the frames (row_count + 1) of the arms from `first` on, at most ARM_LANES; returns how many these are */
INLINE int chain_lanes(const chain_arguments *chain, npy_intp first, arm_lanes *frames) {
    int count = chain->count - first < ARM_LANES ? (int)(chain->count - first) : ARM_LANES;
    for (int l = 0; l < count; l++) {
        lane_put(&frames[0], l, &chain->base);
    }
    for (int k = 0; k < chain->row_count; k++) {
        const arm_lanes *before = &frames[k];
        arm_lanes *after = &frames[k + 1];
        const gg_arm_row row = chain->row[k];
        const gg_arm_turn at_zero = chain->turn[k];
        double half[ARM_LANES], sine[ARM_LANES], cosine[ARM_LANES];
        if (k < chain->joint_count) {
            for (int l = 0; l < count; l++) {
                double angle = chain->joints[(first + l) * chain->joint_count + k];
                half[l] = gg_sincos_angle(0.5 * (row.theta + angle));
            }
            for (int l = 0; l < count; l++) {
                gg_sincos_lane(half[l], &sine[l], &cosine[l]);
            }
        } else {
            for (int l = 0; l < count; l++) {
                sine[l] = at_zero.st;
                cosine[l] = at_zero.ct;
            }
        }
        for (int l = 0; l < count; l++) {
            gg_arm_turn turn = {at_zero.sa, at_zero.ca, sine[l], cosine[l]};
            gg_frame frame = lane_get(before, l);
            frame = gg_arm_turned(&frame, &row, &turn);
            lane_put(after, l, &frame);
        }
    }
    return count;
}

static PyObject *arm_frames(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *rows, *base, *joints;
    chain_arguments chain;
    if (!PyArg_ParseTuple(args, "OOO:arm_frames", &rows, &base, &joints) ||
        chain_read(state, rows, base, joints, &chain)) {
        return NULL;
    }
    npy_intp shape[3] = {chain.count, chain.row_count + 1, frame_size};
    PyObject *result = PyArray_EMPTY(3, shape, NPY_FLOAT64, 0);
    if (!result) {
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    arm_lanes frames[GG_ARM_ROWS + 1];
    for (npy_intp first = 0; first < chain.count; first += ARM_LANES) {
        int count = chain_lanes(&chain, first, frames);
        for (int l = 0; l < count; l++) {
            for (npy_intp k = 0; k <= chain.row_count; k++, out += frame_size) {
                gg_frame frame = lane_get(&frames[k], l);
                memcpy(out, frame.p, sizeof frame.p);
                memcpy(out + 3, frame.q, sizeof frame.q);
            }
        }
    }
    return result;
}

static PyObject *arm_jacobian(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *rows, *base, *joints, *point;
    chain_arguments chain;
    npy_intp point_shape[1] = {3};
    if (!PyArg_ParseTuple(args, "OOOO:arm_jacobian", &rows, &base, &joints, &point) ||
        chain_read(state, rows, base, joints, &chain)) {
        return NULL;
    }
    const double *local = gg_py_array(state, "point", point, NPY_FLOAT64, 1, point_shape);
    npy_intp shape[3] = {chain.count, 6, chain.joint_count};
    PyObject *result = local ? PyArray_EMPTY(3, shape, NPY_FLOAT64, 0) : NULL;
    if (!result) {
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < chain.count; n++) {
        gg_frame frames[GG_ARM_ROWS + 1];
        gg_arm_frames(chain.row, (int)chain.row_count, (int)chain.joint_count, &chain.base,
                      chain.joints + n * chain.joint_count, frames);
        gg_arm_jacobian(frames, (int)chain.row_count, (int)chain.joint_count, local, out + n * 6 * chain.joint_count);
    }
    return result;
}

/* Joint torques of the arms from `first` on that hold against their wrenches (6,) on the last frame, minus J^T w; and
 * the wrenches in that frame. What of a wrench is not finite counts as 0. Returns how many arms these are. */
INLINE int load_lanes(const chain_arguments *chain, npy_intp first, const double *wrench, double *torque,
                      double *local) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    arm_lanes frames[GG_ARM_ROWS + 1];
    double load[6][ARM_LANES], tip[3][ARM_LANES], out[6][ARM_LANES], hold[ARM_LANES];
    int count = chain_lanes(chain, first, frames);
    const arm_lanes *last = &frames[chain->row_count];
    for (int l = 0; l < count; l++) {
        for (int axis = 0; axis < 6; axis++) {
            double w = wrench[6 * (first + l) + axis];
            load[axis][l] = isfinite(w) ? w : 0.0;
        }
    }
    for (int l = 0; l < count; l++) {
        gg_frame frame = lane_get(last, l);
        double at[3], there[6] = {load[0][l], load[1][l], load[2][l], load[3][l], load[4][l], load[5][l]};
        gg_frame_point(&frame, origin, at);
        for (int k = 0; k < 3; k++) {
            tip[k][l] = at[k];
        }
        const double back[4] = {frame.q[0], -frame.q[1], -frame.q[2], -frame.q[3]};
        gg_frame_rotate(back, there, there);
        gg_frame_rotate(back, there + 3, there + 3);
        for (int axis = 0; axis < 6; axis++) {
            out[axis][l] = there[axis];
        }
    }
    for (int j = 0; j < chain->joint_count; j++) {
        const arm_lanes *joint = &frames[j + 1];
        for (int l = 0; l < count; l++) {
            gg_frame frame = lane_get(joint, l);
            double column[6], at[3] = {tip[0][l], tip[1][l], tip[2][l]}, sum = 0.0;
            gg_arm_column(&frame, at, column);
            for (int axis = 0; axis < 6; axis++) {
                sum -= column[axis] * load[axis][l];
            }
            hold[l] = sum;
        }
        for (int l = 0; l < count; l++) {
            torque[(first + l) * chain->joint_count + j] = hold[l];
        }
    }
    for (int l = 0; l < count; l++) {
        for (int axis = 0; axis < 6; axis++) {
            local[6 * (first + l) + axis] = out[axis][l];
        }
    }
    return count;
}

/* all arms of the batch */
INLINE void loads_of(const chain_arguments *chain, const double *wrench, double *torque, double *local) {
    for (npy_intp n = 0; n < chain->count;) {
        n += load_lanes(chain, n, wrench, torque, local);
    }
}

#ifdef __x86_64__
/* four arms at once where two were: no number depends on it */
__attribute__((target("avx2"))) static void loads_wide(const chain_arguments *chain, const double *wrench,
                                                       double *torque, double *local) {
    loads_of(chain, wrench, torque, local);
}
#endif

static void loads_best(const chain_arguments *chain, const double *wrench, double *torque, double *local) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        loads_wide(chain, wrench, torque, local);
        return;
    }
#endif
    loads_of(chain, wrench, torque, local);
}

static PyObject *arm_loads(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *rows, *base, *joints, *wrenches;
    chain_arguments chain;
    if (!PyArg_ParseTuple(args, "OOOO:arm_loads", &rows, &base, &joints, &wrenches) ||
        chain_read(state, rows, base, joints, &chain)) {
        return NULL;
    }
    npy_intp wrench_shape[2] = {chain.count, 6}, shape[2] = {chain.count, chain.joint_count};
    const double *wrench = gg_py_buffer(state, "wrenches", wrenches, NPY_FLOAT64, 2, wrench_shape);
    PyObject *torques = wrench ? PyArray_EMPTY(2, shape, NPY_FLOAT64, 0) : NULL;
    PyObject *locals = torques ? PyArray_EMPTY(2, wrench_shape, NPY_FLOAT64, 0) : NULL;
    if (!locals) {
        Py_XDECREF(torques);
        return NULL;
    }
    double *torque = PyArray_DATA((PyArrayObject *)torques), *local = PyArray_DATA((PyArrayObject *)locals);
    loads_best(&chain, wrench, torque, local);
    return Py_BuildValue("NN", torques, locals);
}

/* the largest share, or NaN where one is */
static double largest_share(const double *values, const double *limits, npy_intp count) {
    double most = 0.0;
    for (npy_intp j = 0; j < count; j++) {
        double share = fabs(values[j] / limits[j]);
        most = share > most || share != share ? share : most;
    }
    return most;
}

static PyObject *arm_largest_shares(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *value_object, *limit_object;
    npy_intp shape[2] = {GG_PY_ANY, GG_PY_ANY};
    const double *values, *limits;
    if (!PyArg_ParseTuple(args, "OO:largest_shares", &value_object, &limit_object) ||
        !(values = gg_py_buffer(state, "values", value_object, NPY_FLOAT64, 2, shape)) ||
        !(limits = gg_py_buffer(state, "limits", limit_object, NPY_FLOAT64, 1, &shape[1]))) {
        return NULL;
    }
    PyObject *result = PyArray_EMPTY(1, shape, NPY_FLOAT64, 0);
    double *out = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp n = 0; out && n < shape[0]; n++) {
        out[n] = largest_share(values + n * shape[1], limits, shape[1]);
    }
    return result;
}

/* The tuple of an arm (rows, base, lower, upper, speed, acceleration, reach, capsule_frame, capsule, pair, tip_speed,
 * margin) and a batch of joint angles. Returns 0 or -1. */
static int arm_read(const gg_module_state *state, PyObject *tuple, PyObject *joints, gg_arm *arm,
                    chain_arguments *chain) {
    PyObject *rows, *base, *lower, *upper, *speed, *acceleration, *reach, *frames, *capsules, *pairs;
    PyObject *error = state->error[GG_PY_ARGUMENT];
    if (!PyTuple_Check(tuple)) {
        gg_py_refuse_type(state, "arm", "a tuple", tuple);
        return -1;
    }
    if (!PyArg_ParseTuple(tuple, "OOOOOOOOOOdd:arm", &rows, &base, &lower, &upper, &speed, &acceleration, &reach,
                          &frames, &capsules, &pairs, &arm->tip_speed, &arm->margin) ||
        chain_read(state, rows, base, joints, chain)) {
        return -1;
    }
    npy_intp one_each[1] = {chain->joint_count}, per_frame[1] = {chain->row_count + 1};
    npy_intp capsule_shape[2] = {GG_PY_ANY, 7}, frame_shape[1], pair_shape[2] = {GG_PY_ANY, 2};
    arm->row_count = (int)chain->row_count;
    arm->joint_count = (int)chain->joint_count;
    arm->row = chain->row;
    if (!(arm->lower = gg_py_array(state, "lower", lower, NPY_FLOAT64, 1, one_each)) ||
        !(arm->upper = gg_py_array(state, "upper", upper, NPY_FLOAT64, 1, one_each)) ||
        !(arm->speed = gg_py_array(state, "speed", speed, NPY_FLOAT64, 1, one_each)) ||
        !(arm->acceleration = gg_py_array(state, "acceleration", acceleration, NPY_FLOAT64, 1, one_each)) ||
        !(arm->reach = gg_py_array(state, "reach", reach, NPY_FLOAT64, 1, per_frame)) ||
        !(arm->capsule = gg_py_array(state, "capsule", capsules, NPY_FLOAT64, 2, capsule_shape))) {
        return -1;
    }
    frame_shape[0] = capsule_shape[0];
    if (!(arm->capsule_frame = gg_py_array(state, "capsule_frame", frames, NPY_INT32, 1, frame_shape)) ||
        !(arm->pair = gg_py_array(state, "pair", pairs, NPY_INT32, 2, pair_shape))) {
        return -1;
    }
    if (capsule_shape[0] > GG_ARM_CAPSULES || pair_shape[0] > GG_ARM_CAPSULES * GG_ARM_CAPSULES) {
        PyErr_Format(error, "capsule: expected at most %d capsules, got %lld", GG_ARM_CAPSULES,
                     (long long)capsule_shape[0]);
        return -1;
    }
    arm->capsule_count = (int)capsule_shape[0];
    arm->pair_count = (int)pair_shape[0];
    for (int c = 0; c < arm->capsule_count; c++) {
        if (arm->capsule_frame[c] < 0 || arm->capsule_frame[c] > arm->row_count) {
            PyErr_Format(error, "capsule_frame: expected 0 .. %d, got %d", arm->row_count, arm->capsule_frame[c]);
            return -1;
        }
    }
    for (int k = 0; k < 2 * arm->pair_count; k++) {
        if (arm->pair[k] < 0 || arm->pair[k] >= arm->capsule_count) {
            PyErr_Format(error, "pair: expected 0 .. %d, got %d", arm->capsule_count - 1, arm->pair[k]);
            return -1;
        }
    }
    return 0;
}

/* blocks of one env at most */
#define ARM_BLOCKS 64

/* blocks (count, n, 10): pose and half extents. Returns the data or NULL. */
static const double *blocks_read(const gg_module_state *state, PyObject *object, npy_intp count, npy_intp *each) {
    npy_intp shape[3] = {count, GG_PY_ANY, block_size};
    const double *data = gg_py_array(state, "blocks", object, NPY_FLOAT64, 3, shape);
    if (data && shape[1] > ARM_BLOCKS) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "blocks: expected at most %d blocks, got %lld", ARM_BLOCKS,
                     (long long)shape[1]);
        return NULL;
    }
    *each = shape[1];
    return data;
}

static void blocks_of(const double *data, npy_intp count, gg_block *out) {
    for (npy_intp k = 0; k < count; k++, data += block_size) {
        frame_read(data, &out[k].frame);
        for (int i = 0; i < 3; i++) {
            out[k].half[i] = data[frame_size + i];
        }
    }
}

static PyObject *arm_clearance(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *tuple, *joints, *blocks;
    double cap;
    gg_arm arm;
    chain_arguments chain;
    npy_intp each;
    if (!PyArg_ParseTuple(args, "OOOd:arm_clearance", &tuple, &joints, &blocks, &cap) ||
        arm_read(state, tuple, joints, &arm, &chain)) {
        return NULL;
    }
    const double *data = blocks_read(state, blocks, chain.count, &each);
    PyObject *result = data ? PyArray_EMPTY(1, &chain.count, NPY_FLOAT64, 0) : NULL;
    if (!result) {
        return NULL;
    }
    double *out = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp n = 0; n < chain.count; n++) {
        gg_block block[ARM_BLOCKS];
        blocks_of(data + n * each * block_size, each, block);
        out[n] = gg_arm_clearance(&arm, &chain.base, chain.joints + n * chain.joint_count, block, (int)each, cap);
    }
    return result;
}

typedef struct guard_run {
    const gg_arm *arm;
    const chain_arguments *chain;
    const double *blocks, *wanted;
    npy_intp each; /* blocks of an arm */
    double duration;
    double *joints, *velocities;
    int32_t *event;
} guard_run;

static void guard_arms(void *context, int64_t begin, int64_t end, int caller) {
    const guard_run *r = context;
    (void)caller;
    for (int64_t n = begin; n < end; n++) {
        gg_block block[ARM_BLOCKS];
        int64_t row = n * r->chain->joint_count;
        blocks_of(r->blocks + n * r->each * block_size, r->each, block);
        r->event[n] = gg_arm_guard(r->arm, &r->chain->base, block, (int)r->each, r->duration, r->wanted + row,
                                   r->joints + row, r->velocities + row);
    }
}

static PyObject *arm_guard(PyObject *module, PyObject *args) {
    const gg_module_state *state = PyModule_GetState(module);
    PyObject *tuple, *joints, *velocities, *wanted, *blocks;
    double duration;
    int threads;
    gg_arm arm;
    chain_arguments chain;
    npy_intp each;
    if (!PyArg_ParseTuple(args, "OOOOOdi:arm_guard", &tuple, &joints, &velocities, &wanted, &blocks, &duration,
                          &threads) ||
        arm_read(state, tuple, joints, &arm, &chain)) {
        return NULL;
    }
    if (threads < 1) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "threads: expected at least 1, got %d", threads);
        return NULL;
    }
    npy_intp shape[2] = {chain.count, chain.joint_count};
    if (!gg_py_array(state, "velocities", velocities, NPY_FLOAT64, 2, shape)) {
        return NULL;
    }
    const double *asked = gg_py_array(state, "wanted", wanted, NPY_FLOAT64, 2, shape);
    const double *data = asked ? blocks_read(state, blocks, chain.count, &each) : NULL;
    if (!data) {
        return NULL;
    }
    if (!(duration > 0.0 && duration <= 1e3)) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "duration: expected a time > 0");
        return NULL;
    }
    PyObject *angles = PyArray_NewCopy((PyArrayObject *)joints, NPY_CORDER);
    PyObject *speed = PyArray_NewCopy((PyArrayObject *)velocities, NPY_CORDER);
    PyObject *events = PyArray_EMPTY(1, &chain.count, NPY_INT32, 0);
    if (!angles || !speed || !events) {
        Py_XDECREF(angles);
        Py_XDECREF(speed);
        Py_XDECREF(events);
        return NULL;
    }
    double *q = PyArray_DATA((PyArrayObject *)angles), *v = PyArray_DATA((PyArrayObject *)speed);
    int32_t *event = PyArray_DATA((PyArrayObject *)events);
    guard_run run = {&arm, &chain, data, asked, each, duration, q, v, event};
    /* the GIL stays: nobody may change what is read */
    gg_threads_loop(threads, chain.count, guard_arms, &run);
    return Py_BuildValue("NNN", angles, speed, events);
}

PyMethodDef gg_py_arm_methods[] = {
    {"arm_frames", arm_frames, METH_VARARGS,
     PyDoc_STR("arm_frames($module, rows, base, joints, /)\n--\n\n"
               "World poses of all frames of a chain, (n, rows + 1, 7) float64: x y z [m] qw qx qy qz.\n\n"
               "rows: (rows, 4) float64, Denavit-Hartenberg a [m], alpha [rad], d [m], theta [rad]. base: (7,) pose "
               "of the first frame.\n"
               "joints: (n, joints) [rad]. Raises ArgumentError.")},
    {"arm_jacobian", arm_jacobian, METH_VARARGS,
     PyDoc_STR("arm_jacobian($module, rows, base, joints, point, /)\n--\n\n"
               "Geometric Jacobians of a point (3,) [m] of the last frame, (n, 6, joints) float64: v [m], then w, per "
               "rad/s.\n\n"
               "Other arguments as for arm_frames. Raises ArgumentError.")},
    {"arm_loads", arm_loads, METH_VARARGS,
     PyDoc_STR("arm_loads($module, rows, base, joints, wrenches, /)\n--\n\n"
               "Joint torques (n, joints) [N m] that hold against wrenches (n, 6) float64 on the origin of the last "
               "frame, force [N] then torque [N m] in world axes; and the wrenches in that frame, (n, 6).\n\n"
               "What of a wrench is not finite counts as 0. Other arguments as for arm_frames. Raises "
               "ArgumentError.")},
    {"largest_shares", arm_largest_shares, METH_VARARGS,
     PyDoc_STR("largest_shares($module, values, limits, /)\n--\n\n"
               "Largest size of the values (n, k) float64 of each row over its limit (k,) float64, (n,) float64; NaN "
               "where one is. Raises ArgumentError.")},
    {"arm_clearance", arm_clearance, METH_VARARGS,
     PyDoc_STR("arm_clearance($module, arm, joints, blocks, cap, /)\n--\n\n"
               "Smallest gap of an arm to itself and to blocks, (n,) float64 [m], at most cap [m].\n\n"
               "arm: tuple of rows, base, lower, upper, speed, acceleration, reach, capsule_frame, capsule, pair, "
               "tip_speed, margin.\n"
               "joints: (n, joints) [rad]. blocks: (n, m, 10), pose and half extents [m]. Raises ArgumentError.")},
    {"arm_guard", arm_guard, METH_VARARGS,
     PyDoc_STR("arm_guard($module, arm, joints, velocities, wanted, blocks, duration, threads, /)\n--\n\n"
               "Motion within the limits of an arm over one control period of duration [s]: (joints, velocities, "
               "events).\n\n"
               "joints [rad], velocities [rad/s], wanted [rad/s]: (n, joints) float64; events: (n,) int32 bits, "
               "see\n"
               "csrc/geometry/arm_guard.h. arm and blocks as for arm_clearance. Raises ArgumentError.")},
    {NULL, NULL, 0, NULL},
};
