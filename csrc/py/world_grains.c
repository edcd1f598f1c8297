/* world_grains.c: methods of _core.World that read and set grains, gravity, air and materials. */
#include "device_array.h"

/* ------------------------------------------------------------------------------------------------------------
 * grains */

WORLD_METHOD(get_grains) {
    static const char *const names[] = {"position", "velocity", "angular_velocity", "radius", "angle", "material"};
    gg_grains grains;
    int field = 0, device = 0;
    PyObject *object;
    if (!PyArg_ParseTuple(argument, "O|p:get_grains", &object, &device)) {
        return NULL;
    }
    const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    while (field < 6 && name && strcmp(name, names[field])) {
        field++;
    }
    if (!name || field == 6) {
        PyErr_Clear();
        PyErr_Format(self->state->error[GG_PY_ARGUMENT],
                     "field: expected position, velocity, angular_velocity, radius, angle or material, got %R", object);
        return NULL;
    }
    gg_py_out out;
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->grain_count, 3};
    if (gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, device, field == 5 ? NPY_INT32 : NPY_FLOAT32, field < 3 ? 3 : 2, shape, &out)) {
        return gg_py_refuse(self);
    }
    memset(&grains, 0, sizeof grains);
    grains.position = field == 0 ? out.data : NULL;
    grains.velocity = field == 1 ? out.data : NULL;
    grains.angular_velocity = field == 2 ? out.data : NULL;
    grains.radius = field == 3 ? out.data : NULL;
    grains.angle = field == 4 ? out.data : NULL;
    grains.material = field == 5 ? out.data : NULL;
    gg_status status;
    WITHOUT_GIL(status = gg_world_get_grains(self->world, &grains, out.space));
    return gg_py_finish(self, status, out.object);
}

WORLD_METHOD(set_grains) {
    PyObject *envs_object, *position, *velocity, *angular_velocity, *angle;
    const int32_t *envs;
    int64_t listed;
    gg_grains grains;
    int keep_impulses = 0;
    memset(&grains, 0, sizeof grains);
    if (!PyArg_ParseTuple(argument, "OOOOO|p:set_grains", &envs_object, &position, &velocity, &angular_velocity, &angle,
                          &keep_impulses) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    grains.keep_impulses = keep_impulses;
    npy_intp shape[3] = {(npy_intp)listed, (npy_intp)self->grain_count, 3};
    if (gg_py_array_or_none(self->state, "positions", position, NPY_FLOAT32, 3, shape, (void *)&grains.position) ||
        gg_py_array_or_none(self->state, "velocities", velocity, NPY_FLOAT32, 3, shape, (void *)&grains.velocity) ||
        gg_py_array_or_none(self->state, "angular_velocities", angular_velocity, NPY_FLOAT32, 3, shape,
                            (void *)&grains.angular_velocity) ||
        gg_py_array_or_none(self->state, "angles", angle, NPY_FLOAT32, 2, shape, (void *)&grains.angle) ||
        gg_py_begin(self)) {
        return NULL;
    }
    /* calls that take env lists keep the GIL: nobody may change a list after it was checked */
    return gg_py_finish_none(self, gg_world_set_grains(self->world, envs, listed, &grains));
}

WORLD_METHOD(transform_grains) {
    PyObject *envs_object, *translation_object, *yaw_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OOO:transform_grains", &envs_object, &translation_object, &yaw_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp translation_shape[2] = {(npy_intp)listed, 3}, yaw_shape[1] = {(npy_intp)listed};
    const float *translation =
        gg_py_array(self->state, "translation", translation_object, NPY_FLOAT32, 2, translation_shape);
    const float *yaw = translation ? gg_py_array(self->state, "yaw", yaw_object, NPY_FLOAT32, 1, yaw_shape) : NULL;
    if (!yaw || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_transform_grains(self->world, envs, listed, translation, yaw));
}

/* --------------------------------------------------------------------------------------------------------
 * clumps */

WORLD_METHOD(get_clumps) {
    gg_world_info info;
    (void)argument;
    if (gg_py_begin(self)) {
        return NULL;
    }
    gg_world_get_info(self->world, &info);
    return gg_py_read_motion(self, gg_world_get_clumps, info.clump_count);
}

/* shape of an array of a call that lists envs: (listed, clumps, width) */
static void clump_shape(world_object *self, int64_t listed, npy_intp width, npy_intp shape[3]) {
    gg_world_info info;
    gg_world_get_info(self->world, &info);
    shape[0] = (npy_intp)listed;
    shape[1] = (npy_intp)info.clump_count;
    shape[2] = width;
}

WORLD_METHOD(set_clumps) {
    PyObject *envs_object, *pose_object, *velocity_object;
    const int32_t *envs;
    int64_t listed;
    npy_intp poses[3], velocities[3];
    int keep_impulses = 0;
    const double *pose = NULL, *velocity = NULL;
    if (!PyArg_ParseTuple(argument, "OOO|p:set_clumps", &envs_object, &pose_object, &velocity_object, &keep_impulses) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed) || gg_py_begin(self)) {
        return NULL;
    }
    clump_shape(self, listed, 7, poses);
    clump_shape(self, listed, 6, velocities);
    if (gg_py_array_or_none(self->state, "poses", pose_object, NPY_FLOAT64, 3, poses, (void *)&pose) ||
        gg_py_array_or_none(self->state, "velocities", velocity_object, NPY_FLOAT64, 3, velocities,
                            (void *)&velocity)) {
        return gg_py_refuse(self);
    }
    return gg_py_finish_none(self, gg_world_set_clumps(self->world, envs, listed, pose, velocity, keep_impulses));
}

WORLD_METHOD(set_clump_wrenches) {
    PyObject *envs_object, *wrench_object;
    const int32_t *envs;
    int64_t listed;
    npy_intp shape[3];
    if (!PyArg_ParseTuple(argument, "OO:set_clump_wrenches", &envs_object, &wrench_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed) || gg_py_begin(self)) {
        return NULL;
    }
    clump_shape(self, listed, 6, shape);
    const double *wrench = gg_py_array(self->state, "wrenches", wrench_object, NPY_FLOAT64, 3, shape);
    if (!wrench) {
        return gg_py_refuse(self);
    }
    return gg_py_finish_none(self, gg_world_set_clump_wrenches(self->world, envs, listed, wrench));
}

/* --------------------------------------------------------------------------------------------------------
 * parameters */

WORLD_METHOD(get_gravity) {
    (void)argument;
    if (gg_py_begin(self)) {
        return NULL;
    }
    PyObject *out = gg_py_zeros(NPY_FLOAT32, self->env_count, 3, 0);
    if (!out) {
        return gg_py_refuse(self);
    }
    return gg_py_finish(self, gg_world_get_gravity(self->world, gg_py_data(out)), out);
}

WORLD_METHOD(set_gravity) {
    PyObject *envs_object, *gravity_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OO:set_gravity", &envs_object, &gravity_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[2] = {(npy_intp)listed, 3};
    const float *gravity = gg_py_array(self->state, "gravity", gravity_object, NPY_FLOAT32, 2, shape);
    if (!gravity || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_gravity(self->world, envs, listed, gravity));
}

WORLD_METHOD(get_air) {
    (void)argument;
    if (gg_py_begin(self)) {
        return NULL;
    }
    PyObject *out = gg_py_zeros(NPY_FLOAT32, self->env_count, GG_PY_AIR_COLUMNS, 0);
    if (!out) {
        return gg_py_refuse(self);
    }
    return gg_py_finish(self, gg_world_get_air(self->world, gg_py_data(out)), out);
}

WORLD_METHOD(set_air) {
    PyObject *envs_object, *air_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OO:set_air", &envs_object, &air_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[2] = {(npy_intp)listed, GG_PY_AIR_COLUMNS};
    const void *air = gg_py_array(self->state, "air", air_object, NPY_FLOAT32, 2, shape);
    if (!air || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_air(self->world, envs, listed, air));
}

WORLD_METHOD(get_materials) {
    (void)argument;
    PyObject *result = NULL;
    int64_t m = self->material_count;
    npy_intp shape[4] = {(npy_intp)self->env_count, (npy_intp)m, (npy_intp)m, GG_PY_PAIR_COLUMNS};
    if (gg_py_begin(self)) {
        return NULL;
    }
    PyObject *pair = PyArray_ZEROS(4, shape, NPY_FLOAT32, 0);
    PyObject *density = gg_py_zeros(NPY_FLOAT32, self->env_count, m, 0);
    if (pair && density) {
        gg_status status = gg_world_get_materials(self->world, gg_py_data(pair), gg_py_data(density));
        result = gg_py_finish(self, status, Py_BuildValue("(OO)", pair, density));
    } else {
        gg_py_end(self);
    }
    Py_XDECREF(pair);
    Py_XDECREF(density);
    return result;
}

WORLD_METHOD(set_materials) {
    PyObject *envs_object, *pair_object, *density_object;
    const int32_t *envs;
    const gg_pair *pair;
    const float *density;
    int64_t listed, m = self->material_count;
    if (!PyArg_ParseTuple(argument, "OOO:set_materials", &envs_object, &pair_object, &density_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp pair_shape[4] = {(npy_intp)listed, (npy_intp)m, (npy_intp)m, GG_PY_PAIR_COLUMNS};
    npy_intp density_shape[2] = {(npy_intp)listed, (npy_intp)m};
    if (gg_py_array_or_none(self->state, "pairs", pair_object, NPY_FLOAT32, 4, pair_shape, (void *)&pair) ||
        gg_py_array_or_none(self->state, "densities", density_object, NPY_FLOAT32, 2, density_shape,
                            (void *)&density) ||
        gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_materials(self->world, envs, listed, pair, density));
}
