/* planar_def.c: reads the `planar` argument of World(): None, or a dict of the shapes of planar grains.
 *
 * outline_integers (shapes, 2)       first point, number of points
 * outline_floats (shapes, 4)         radius, area, gyration2, thickness
 * point_integers (points, 3)         before, after, corner
 * point_floats (points, 2)           x y
 * pair_field (shapes, shapes) bytes  gg_pair_field each, used where row <= column
 * pair_data bytes                    what they point into
 * material_outline (materials) int32  index of a shape
 * angle (grains) float32
 */
#include "convert.h"

#include <string.h>

static const void *item(const gg_module_state *state, PyObject *planar, const char *name, int type, int ndim,
                        npy_intp *shape) {
    PyObject *object = PyDict_GetItemString(planar, name);
    if (!object) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "planar: expected the key %s", name);
        return NULL;
    }
    return gg_py_array(state, name, object, type, ndim, shape);
}

int gg_py_def_planar(const gg_module_state *state, PyObject *planar, gg_py_def *out) {
    gg_world_def *def = &out->def;
    if (planar == Py_None) {
        return 0;
    }
    if (!PyDict_Check(planar)) {
        gg_py_refuse_type(state, "planar", "a dict or None", planar);
        return -1;
    }
    npy_intp outlines[2] = {GG_PY_ANY, 2}, points[2] = {GG_PY_ANY, 3}, data[1] = {GG_PY_ANY};
    const int32_t *outline_integers = item(state, planar, "outline_integers", NPY_INT32, 2, outlines);
    npy_intp outline_shape[2] = {outlines[0], 4};
    const float *outline_floats =
        outline_integers ? item(state, planar, "outline_floats", NPY_FLOAT32, 2, outline_shape) : NULL;
    const int32_t *point_integers = outline_floats ? item(state, planar, "point_integers", NPY_INT32, 2, points) : NULL;
    npy_intp point_shape[2] = {points[0], 2}, materials[1] = {def->material_count}, angles[1] = {def->grain_count};
    npy_intp fields[1] = {outlines[0] * outlines[0] * (npy_intp)sizeof(gg_pair_field)};
    const float *point_floats =
        point_integers ? item(state, planar, "point_floats", NPY_FLOAT32, 2, point_shape) : NULL;
    const void *pair_field = point_floats ? item(state, planar, "pair_field", NPY_UINT8, 1, fields) : NULL;
    const void *pair_data = pair_field ? item(state, planar, "pair_data", NPY_UINT8, 1, data) : NULL;
    const int32_t *material_outline =
        pair_data ? item(state, planar, "material_outline", NPY_INT32, 1, materials) : NULL;
    const float *angle = material_outline ? item(state, planar, "angle", NPY_FLOAT32, 1, angles) : NULL;
    if (!angle) {
        return -1;
    }
    int64_t outline_count = outlines[0], point_count = points[0];
    if (outline_count < 1 || outline_count > 256 || point_count > INT32_MAX) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "planar: expected 1 to 256 shapes");
        return -1;
    }
    gg_outline *outline = gg_py_def_alloc(out, outline_count, sizeof *outline);
    gg_outline_point *point = outline ? gg_py_def_alloc(out, point_count, sizeof *point) : NULL;
    gg_pair_field *field = point ? gg_py_def_alloc(out, outline_count * outline_count, sizeof *field) : NULL;
    if (!field) {
        return -1;
    }
    for (int64_t k = 0; k < outline_count; k++) {
        outline[k].first_point = outline_integers[2 * k];
        outline[k].point_count = outline_integers[2 * k + 1];
        outline[k].radius = outline_floats[4 * k];
        outline[k].area = outline_floats[4 * k + 1];
        outline[k].gyration2 = outline_floats[4 * k + 2];
        outline[k].thickness = outline_floats[4 * k + 3];
    }
    for (int64_t k = 0; k < point_count; k++) {
        point[k].x = point_floats[2 * k];
        point[k].y = point_floats[2 * k + 1];
        point[k].before = point_integers[3 * k];
        point[k].after = point_integers[3 * k + 1];
        point[k].kind = point_integers[3 * k + 2];
    }
    memcpy(field, pair_field, (size_t)(outline_count * outline_count) * sizeof *field);
    gg_planar_def *shapes = &def->planar;
    shapes->outline_count = (int32_t)outline_count;
    shapes->outline = outline;
    shapes->outline_point = point;
    shapes->outline_point_count = point_count;
    shapes->pair_field = field;
    shapes->pair_data = pair_data;
    shapes->pair_data_size = data[0];
    shapes->material_outline = material_outline;
    shapes->angle = angle;
    return 0;
}
