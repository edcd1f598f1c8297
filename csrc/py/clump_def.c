/* clump_def.c: reads the `clumps` argument of World(): None, or a dict of the clumps that all grains are spheres of.
 *
 * first (clumps + 1) int32           id of the first grain of each; the last one: the number of grains
 * shape (clumps, 5) float64          volume, principal moments of inertia over density, radius
 * offset (grains, 3) float32         centre of the sphere in the principal axes
 * pose (clumps, 7) float64           centre of mass, w x y z of the principal axes
 * velocity (clumps, 6) float64       velocity, angular velocity in the axes of the world
 * surface (clumps) int32             tool that is the surface of each; -1: none
 * axes (clumps, 4) float64           w x y z of the principal axes in the frame of each, which is that of its surface
 */
#include "convert.h"

static const void *item(const gg_module_state *state, PyObject *clumps, const char *name, int type, int ndim,
                        npy_intp *shape) {
    PyObject *object = PyDict_GetItemString(clumps, name);
    if (!object) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "clumps: expected the key %s", name);
        return NULL;
    }
    return gg_py_array(state, name, object, type, ndim, shape);
}

int gg_py_def_clumps(const gg_module_state *state, PyObject *clumps, gg_py_def *out) {
    gg_world_def *def = &out->def;
    if (clumps == Py_None) {
        return 0;
    }
    if (!PyDict_Check(clumps)) {
        gg_py_refuse_type(state, "clumps", "a dict or None", clumps);
        return -1;
    }
    npy_intp shapes[2] = {GG_PY_ANY, 5}, offsets[2] = {def->grain_count, 3};
    const double *shape = item(state, clumps, "shape", NPY_FLOAT64, 2, shapes);
    npy_intp firsts[1] = {shapes[0] + 1}, poses[2] = {shapes[0], 7}, velocities[2] = {shapes[0], 6};
    const int32_t *first = shape ? item(state, clumps, "first", NPY_INT32, 1, firsts) : NULL;
    const float *offset = first ? item(state, clumps, "offset", NPY_FLOAT32, 2, offsets) : NULL;
    const double *pose = offset ? item(state, clumps, "pose", NPY_FLOAT64, 2, poses) : NULL;
    const double *velocity = pose ? item(state, clumps, "velocity", NPY_FLOAT64, 2, velocities) : NULL;
    npy_intp surfaces[1] = {shapes[0]}, frames[2] = {shapes[0], 4};
    const int32_t *surface = velocity ? item(state, clumps, "surface", NPY_INT32, 1, surfaces) : NULL;
    const double *frame = surface ? item(state, clumps, "axes", NPY_FLOAT64, 2, frames) : NULL;
    if (!frame) {
        return -1;
    }
    int64_t count = shapes[0];
    gg_clump_shape *each = gg_py_def_alloc(out, count, sizeof *each);
    if (!each) {
        return -1;
    }
    for (int64_t k = 0; k < count; k++) {
        /* gg_clumps_check sees to the order of the ids, but reads no grain that is not there */
        if (first[k] < 0 || first[k] >= def->grain_count) {
            PyErr_Format(state->error[GG_PY_ARGUMENT], "first: expected ids of grains, got %d", (int)first[k]);
            return -1;
        }
        each[k].volume = shape[5 * k];
        for (int c = 0; c < 3; c++) {
            each[k].moment[c] = shape[5 * k + 1 + c];
        }
        each[k].radius = (float)shape[5 * k + 4];
        each[k].surface = surface[k] < 0 ? -1 : surface[k];
        for (int c = 0; c < 4; c++) {
            each[k].frame[c] = frame[4 * k + c];
        }
        each[k].material = def->grain_material[first[k]];
    }
    def->clumps.count = count;
    def->clumps.shape = each;
    def->clumps.first = first;
    def->clumps.offset = (const gg_vec3 *)offset;
    def->clumps.pose = pose;
    def->clumps.velocity = velocity;
    return 0;
}
