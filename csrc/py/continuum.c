/* continuum.c: the `continuum` argument of World(), and what is read and set of continuous matter.
 *
 * continuum: None, or a dict of
 * spacing float                      of the nodes of the grid [m]
 * material (materials, 9) float64    bulk and shear modulus, yield stress, its slope, tension [Pa], viscosity [Pa s], bulk
 *                                    modulus of a liquid [Pa], dilatancy, largest strain by it
 */
#include "world_object.h"

int gg_py_def_continuum(const gg_module_state *state, PyObject *continuum, gg_py_def *out) {
    gg_world_def *def = &out->def;
    if (continuum == Py_None) {
        return 0;
    }
    PyObject *spacing = PyDict_Check(continuum) ? PyDict_GetItemString(continuum, "spacing") : NULL;
    PyObject *table = PyDict_Check(continuum) ? PyDict_GetItemString(continuum, "material") : NULL;
    if (!spacing || !table) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "continuum: expected None, or a dict of spacing and material");
        return -1;
    }
    _Static_assert(sizeof(gg_continuum_material) == 9 * sizeof(double), "a material is nine doubles");
    npy_intp shape[2] = {def->material_count, 9};
    const double *rows = gg_py_array(state, "material", table, NPY_FLOAT64, 2, shape);
    gg_continuum_material *material = rows ? gg_py_def_alloc(out, def->material_count, sizeof *material) : NULL;
    if (!material) {
        return -1;
    }
    memcpy(material, rows, sizeof *material * (size_t)def->material_count);
    def->continuum.material = material;
    def->continuum.spacing = PyFloat_AsDouble(spacing);
    if (PyErr_Occurred()) {
        return -1;
    }
    if (!(def->continuum.spacing > 0.0)) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "spacing: expected a length > 0");
        return -1;
    }
    return 0;
}

WORLD_METHOD(get_continuum) {
    (void)argument;
    PyObject *result = NULL;
    npy_intp shape[3] = {(npy_intp)self->env_count, (npy_intp)self->grain_count, 6};
    if (gg_py_begin(self)) {
        return NULL;
    }
    PyObject *stretch = PyArray_ZEROS(3, shape, NPY_FLOAT64, 0), *stress = PyArray_ZEROS(3, shape, NPY_FLOAT64, 0);
    PyObject *plastic = PyArray_ZEROS(2, shape, NPY_FLOAT32, 0), *dilation = PyArray_ZEROS(2, shape, NPY_FLOAT32, 0);
    if (stretch && stress && plastic && dilation) {
        gg_continuum_state out = {gg_py_data(stretch), gg_py_data(stress), gg_py_data(plastic), gg_py_data(dilation)};
        gg_status status = gg_world_get_continuum(self->world, &out);
        result = gg_py_finish(self, status, Py_BuildValue("(OOOO)", stretch, stress, plastic, dilation));
    } else {
        gg_py_end(self);
    }
    Py_XDECREF(stretch);
    Py_XDECREF(stress);
    Py_XDECREF(plastic);
    Py_XDECREF(dilation);
    return result;
}

WORLD_METHOD(set_continuum) {
    PyObject *envs_object, *stretch_object, *plastic_object, *dilation_object;
    const int32_t *envs;
    int64_t listed;
    if (!PyArg_ParseTuple(argument, "OOOO:set_continuum", &envs_object, &stretch_object, &plastic_object,
                          &dilation_object) ||
        gg_py_envs(self->state, envs_object, self->env_count, &envs, &listed)) {
        return NULL;
    }
    npy_intp shape[3] = {(npy_intp)listed, (npy_intp)self->grain_count, 6};
    const double *stretch = gg_py_array(self->state, "stretches", stretch_object, NPY_FLOAT64, 3, shape);
    const float *plastic =
        stretch ? gg_py_array(self->state, "plastic_strains", plastic_object, NPY_FLOAT32, 2, shape) : NULL;
    const float *dilation =
        plastic ? gg_py_array(self->state, "dilations", dilation_object, NPY_FLOAT32, 2, shape) : NULL;
    if (!dilation || gg_py_begin(self)) {
        return NULL;
    }
    return gg_py_finish_none(self, gg_world_set_continuum(self->world, envs, listed, stretch, plastic, dilation));
}
