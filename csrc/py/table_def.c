/* table_def.c: reads the arguments `table` and `bonds` of World(): None, or a dict each.
 *
 * table, of mode table:
 * counts (tables, 3) int32                    nodes of gaps, normal velocities, sliding speeds
 * nodes (n,) float32                          of all axes, those of a table one behind the other
 * samples (m, 2) float32                      normal and tangential force, sliding speeds innermost
 * of (materials, materials + 1, 2) int32      see gg_table_def
 * at_contact int                              1: forces act at contacts and turn grains
 * bonds:
 * first (grains + 1) int32, other (m) int32, length (m) float32: see gg_bond_def
 */
#include "convert.h"

static const void *item(const gg_module_state *state, const char *of, PyObject *dict, const char *name, int type,
                        int ndim, npy_intp *shape) {
    PyObject *object = PyDict_GetItemString(dict, name);
    if (!object) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: expected the key %s", of, name);
        return NULL;
    }
    return gg_py_array(state, name, object, type, ndim, shape);
}

/* 1: a dict, 0: None, -1: an exception is set */
static int given(const gg_module_state *state, const char *name, PyObject *dict) {
    if (dict == Py_None) {
        return 0;
    }
    if (!PyDict_Check(dict)) {
        gg_py_refuse_type(state, name, "a dict or None", dict);
        return -1;
    }
    return 1;
}

int gg_py_def_table(const gg_module_state *state, PyObject *table, gg_py_def *out) {
    gg_world_def *def = &out->def;
    int found = given(state, "table", table);
    if (found < 1) {
        return found;
    }
    npy_intp counts[2] = {GG_PY_ANY, 3}, nodes[1] = {GG_PY_ANY}, samples[2] = {GG_PY_ANY, 2};
    npy_intp pairs[3] = {def->material_count, def->material_count + 1, 2};
    const int32_t *count = item(state, "table", table, "counts", NPY_INT32, 2, counts);
    const float *node = count ? item(state, "table", table, "nodes", NPY_FLOAT32, 1, nodes) : NULL;
    const float *sample = node ? item(state, "table", table, "samples", NPY_FLOAT32, 2, samples) : NULL;
    const int32_t *of = sample ? item(state, "table", table, "of", NPY_INT32, 3, pairs) : NULL;
    int64_t at_contact = 0;
    if (!of || gg_py_integer(state, "at_contact", PyDict_GetItemString(table, "at_contact"), 0, 1, &at_contact)) {
        return -1;
    }
    if (counts[0] < 1 || counts[0] > 100000 || nodes[0] > INT32_MAX || samples[0] > INT32_MAX) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "table: expected 1 to 100000 tables of less than 2^31 samples");
        return -1;
    }
    gg_table *each = gg_py_def_alloc(out, counts[0], sizeof *each);
    if (!each) {
        return -1;
    }
    int64_t first_node = 0, first = 0;
    for (int64_t k = 0; k < counts[0]; k++) {
        int64_t size = 1;
        each[k].first_node = (int32_t)first_node;
        each[k].first = (int32_t)first;
        for (int axis = 0; axis < 3; axis++) {
            /* more than there are: gg_tables_check refuses it */
            int32_t length = GG_MIN(GG_MAX(count[3 * k + axis], 0), 1025);
            each[k].count[axis] = length;
            first_node += length;
            size *= length;
        }
        first += size;
        if (first_node > nodes[0] || first > samples[0]) {
            PyErr_Format(state->error[GG_PY_ARGUMENT],
                         "table: expected nodes and samples of all counts, got %zd and %zd", (Py_ssize_t)nodes[0],
                         (Py_ssize_t)samples[0]);
            return -1;
        }
    }
    gg_table_def *tables = &def->table;
    tables->count = (int32_t)counts[0];
    tables->table = each;
    tables->node = node;
    tables->node_count = nodes[0];
    tables->sample = sample;
    tables->sample_count = samples[0];
    tables->of = of;
    tables->at_contact = (int32_t)at_contact;
    return 0;
}

int gg_py_def_bonds(const gg_module_state *state, PyObject *bonds, gg_py_def *out) {
    gg_world_def *def = &out->def;
    int found = given(state, "bonds", bonds);
    if (found < 1) {
        return found;
    }
    npy_intp firsts[1] = {def->grain_count + 1}, others[1] = {GG_PY_ANY};
    const int32_t *first = item(state, "bonds", bonds, "first", NPY_INT32, 1, firsts);
    const int32_t *other = first ? item(state, "bonds", bonds, "other", NPY_INT32, 1, others) : NULL;
    npy_intp lengths[1] = {others[0]};
    const float *length = other ? item(state, "bonds", bonds, "length", NPY_FLOAT32, 1, lengths) : NULL;
    if (!length) {
        return -1;
    }
    def->bonds.count = others[0];
    def->bonds.first = first;
    def->bonds.other = other;
    def->bonds.length = length;
    return 0;
}
