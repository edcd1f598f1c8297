/* world_def.c: reads the keyword arguments of World() into a gg_world_def.
 *
 * Structs come as tables: integers and floats of a part, a grid or a camera are the columns of two arrays. The layout
 * is written down once, in the docstring of World.
 */
#include "convert.h"

#include "../geometry/sdf.h"

#include <string.h>

/* the arguments as Python objects, borrowed */
typedef struct def_args {
    PyObject *env_count, *lower, *upper, *boundary, *wall_material, *gravity, *air, *density, *material_fixed, *pair;
    PyObject *position, *velocity, *radius, *grain_material, *tool_pose, *tool_free, *tool_mass, *tool_inertia;
    PyObject *part_integers, *part_floats, *grid_integers, *grid_floats, *sample;
    PyObject *camera_integers, *camera_floats, *planar, *clumps, *continuum, *table, *bonds;
    PyObject *solver, *thread_count, *gpu;
} def_args;

static gg_vec3 vec3_of(const float *a) { return gg_v3(a[0], a[1], a[2]); }

static int read_vec3(const gg_module_state *state, const char *name, PyObject *object, gg_vec3 *out) {
    npy_intp shape[1] = {3};
    const float *data = gg_py_array(state, name, object, NPY_FLOAT32, 1, shape);
    if (!data) {
        return -1;
    }
    *out = vec3_of(data);
    return 0;
}

/* two tables of equal length */
static int read_tables(const gg_module_state *state, const char *what, PyObject *integers, PyObject *floats,
                       int columns_i, int columns_f, const int32_t **out_i, const float **out_f, int64_t *count) {
    char name[64];
    npy_intp shape_i[2] = {GG_PY_ANY, columns_i};
    PyOS_snprintf(name, sizeof name, "%s_integers", what);
    *out_i = gg_py_array(state, name, integers, NPY_INT32, 2, shape_i);
    if (!*out_i) {
        return -1;
    }
    npy_intp shape_f[2] = {shape_i[0], columns_f};
    PyOS_snprintf(name, sizeof name, "%s_floats", what);
    *out_f = gg_py_array(state, name, floats, NPY_FLOAT32, 2, shape_f);
    if (!*out_f) {
        return -1;
    }
    if (shape_i[0] > INT32_MAX) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "%s: too many rows", name);
        return -1;
    }
    *count = shape_i[0];
    return 0;
}

/* bounds, boundaries, gravity, materials */
static int read_field(const gg_module_state *state, const def_args *a, gg_py_def *out) {
    gg_world_def *def = &out->def;
    npy_intp boundary_shape[2] = {3, 2}, density_shape[1] = {GG_PY_ANY}, air_shape[1] = {GG_PY_AIR_COLUMNS};
    int64_t wall_material = 0;
    if (gg_py_integer(state, "env_count", a->env_count, 1, INT32_MAX, &def->env_count) ||
        read_vec3(state, "lower", a->lower, &def->lower) || read_vec3(state, "upper", a->upper, &def->upper) ||
        read_vec3(state, "gravity", a->gravity, &def->gravity)) {
        return -1;
    }
    const float *air = gg_py_array(state, "air", a->air, NPY_FLOAT32, 1, air_shape);
    if (!air) {
        return -1;
    }
    memcpy(&def->air, air, sizeof def->air);
    const int32_t *boundary = gg_py_array(state, "boundary", a->boundary, NPY_INT32, 2, boundary_shape);
    const float *density = boundary ? gg_py_array(state, "density", a->density, NPY_FLOAT32, 1, density_shape) : NULL;
    if (!density) {
        return -1;
    }
    def->material_fixed = gg_py_array(state, "material_fixed", a->material_fixed, NPY_INT32, 1, density_shape);
    if (!def->material_fixed) {
        return -1;
    }
    memcpy(def->boundary, boundary, sizeof def->boundary);
    npy_intp pair_shape[3] = {density_shape[0], density_shape[0], GG_PY_PAIR_COLUMNS};
    const float *pair = gg_py_array(state, "pair", a->pair, NPY_FLOAT32, 3, pair_shape);
    if (!pair) {
        return -1;
    }
    if (density_shape[0] > 4096) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "density: expected at most 4096 materials");
        return -1;
    }
    if (gg_py_integer(state, "wall_material", a->wall_material, 0, density_shape[0] - 1, &wall_material)) {
        return -1;
    }
    def->wall_material = (int32_t)wall_material;
    def->material_count = (int32_t)density_shape[0];
    def->density = density;
    int64_t pair_count = (int64_t)density_shape[0] * density_shape[0];
    gg_pair *pairs = gg_py_def_alloc(out, pair_count, sizeof *pairs);
    if (!pairs) {
        return -1;
    }
    memcpy(pairs, pair, (size_t)pair_count * sizeof *pairs);
    def->pair = pairs;
    return 0;
}

static int read_grains(const gg_module_state *state, const def_args *a, gg_world_def *def) {
    npy_intp position_shape[2] = {GG_PY_ANY, 3};
    def->position = gg_py_array(state, "position", a->position, NPY_FLOAT32, 2, position_shape);
    if (!def->position) {
        return -1;
    }
    def->grain_count = position_shape[0];
    npy_intp radius_shape[1] = {position_shape[0]}, material_shape[1] = {position_shape[0]};
    def->radius = gg_py_array(state, "radius", a->radius, NPY_FLOAT32, 1, radius_shape);
    if (!def->radius ||
        gg_py_array_or_none(state, "velocity", a->velocity, NPY_FLOAT32, 2, position_shape, (void *)&def->velocity)) {
        return -1;
    }
    def->grain_material = gg_py_array(state, "grain_material", a->grain_material, NPY_INT32, 1, material_shape);
    if (!def->grain_material) {
        return -1;
    }
    for (int64_t k = 0; k < def->grain_count; k++) {
        if (def->grain_material[k] < 0 || def->grain_material[k] >= def->material_count) {
            PyErr_Format(state->error[GG_PY_ARGUMENT], "grain_material: expected 0 .. %d, that of grain %lld is %d",
                         (int)def->material_count - 1, (long long)k, (int)def->grain_material[k]);
            return -1;
        }
    }
    return 0;
}

static int read_grids(const gg_module_state *state, const def_args *a, gg_py_def *out) {
    gg_world_def *def = &out->def;
    npy_intp sample_shape[1] = {GG_PY_ANY};
    const int32_t *integers;
    const float *floats;
    int64_t count = 0, first = 0;
    if (read_tables(state, "grid", a->grid_integers, a->grid_floats, 3, 4, &integers, &floats, &count)) {
        return -1;
    }
    def->sample = gg_py_array(state, "sample", a->sample, NPY_FLOAT32, 1, sample_shape);
    gg_sdf_grid *grids = def->sample ? gg_py_def_alloc(out, count, sizeof *grids) : NULL;
    if (!grids) {
        return -1;
    }
    for (int64_t k = 0; k < count; k++) {
        const int32_t *n = integers + k * 3;
        if (n[0] < 2 || n[1] < 2 || n[2] < 2 || n[0] > 4096 || n[1] > 4096 || n[2] > 4096 || !(floats[k * 4] > 0.0f)) {
            PyErr_Format(state->error[GG_PY_ARGUMENT],
                         "grid_integers: expected 2 .. 4096 samples along each axis and a spacing > 0 in grid %lld",
                         (long long)k);
            return -1;
        }
        memcpy(grids[k].count, n, sizeof grids[k].count);
        grids[k].spacing = floats[k * 4];
        grids[k].origin = vec3_of(floats + k * 4 + 1);
        /* grids lie one after the other in `sample` */
        grids[k].first_sample = first;
        first += (int64_t)n[0] * n[1] * n[2];
    }
    if (first != sample_shape[0]) {
        PyErr_Format(state->error[GG_PY_ARGUMENT], "sample: expected %lld samples, as many as the grids hold, got %lld",
                     (long long)first, (long long)sample_shape[0]);
        return -1;
    }
    def->grid = grids;
    def->grid_count = (int32_t)count;
    def->sample_count = first;
    return 0;
}

/* one part from its rows; its bounding sphere is found here */
static int read_part(const gg_module_state *state, const gg_world_def *def, int64_t k, const int32_t *n, const float *x,
                     gg_shape *part) {
    int is_grid = n[0] == GG_SHAPE_GRID;
    if (n[0] <= GG_SHAPE_NONE || n[0] >= GG_SHAPE_KIND_COUNT || n[1] < 0 || n[1] >= def->tool_count || n[3] < 0 ||
        n[3] >= def->material_count || (is_grid ? (n[2] < 0 || n[2] >= def->grid_count) : n[2] != -1)) {
        PyErr_Format(state->error[GG_PY_ARGUMENT],
                     "part_integers: kind %d, tool %d, grid %d, material %d of part %lld do not fit the scene",
                     (int)n[0], (int)n[1], (int)n[2], (int)n[3], (long long)k);
        return -1;
    }
    part->kind = n[0];
    part->tool = n[1];
    part->grid = n[2];
    part->material = n[3];
    for (int axis = 0; axis < 4; axis++) {
        part->size[axis] = x[axis];
        if (x[axis] < 0.0f) {
            PyErr_Format(state->error[GG_PY_ARGUMENT], "part_floats: expected sizes >= 0 in part %lld", (long long)k);
            return -1;
        }
    }
    part->position = vec3_of(x + 4);
    part->rotation = gg_quat_make(x[7], x[8], x[9], x[10]);
    if (gg_py_check_poses(state, "part_floats", x + 4, 1)) {
        return -1;
    }
    part->rotation = gg_quat_unit(part->rotation);
    gg_shape_set_bounds(part, is_grid ? &def->grid[n[2]] : NULL);
    return 0;
}

/* what makes tools dynamic: axes, coupled or not, and mass, lower and upper ends of travel, stiffness, damping */
static int read_masses(const gg_module_state *state, const def_args *a, gg_py_def *out) {
    npy_intp shape[2] = {out->def.tool_count, 4};
    const int32_t *axes = gg_py_array(state, "tool_free", a->tool_free, NPY_INT32, 2, shape);
    shape[1] = 9;
    const float *floats = axes ? gg_py_array(state, "tool_mass", a->tool_mass, NPY_FLOAT32, 2, shape) : NULL;
    shape[1] = 6;
    const double *inertia = floats ? gg_py_array(state, "tool_inertia", a->tool_inertia, NPY_FLOAT64, 2, shape) : NULL;
    gg_tool_mass *masses = inertia ? gg_py_def_alloc(out, out->def.tool_count, sizeof *masses) : NULL;
    if (!masses) {
        return -1;
    }
    for (int32_t k = 0; k < out->def.tool_count; k++) {
        const double *i = inertia + k * 6;
        masses[k].inertia = gg_sym_make(i[0], i[1], i[2], i[3], i[4], i[5]);
        masses[k].mass = floats[k * 9];
        memcpy(masses[k].free, axes + k * 4, sizeof masses[k].free);
        masses[k].coupled = axes[k * 4 + 3];
        memcpy(masses[k].lower, floats + k * 9 + 1, sizeof masses[k].lower);
        memcpy(masses[k].upper, floats + k * 9 + 4, sizeof masses[k].upper);
        masses[k].stiffness = floats[k * 9 + 7];
        masses[k].damping = floats[k * 9 + 8];
    }
    out->def.tool_mass = masses;
    return 0;
}

static int read_tools(const gg_module_state *state, const def_args *a, gg_py_def *out) {
    gg_world_def *def = &out->def;
    npy_intp pose_shape[2] = {GG_PY_ANY, 7};
    const int32_t *integers;
    const float *floats;
    int64_t count = 0;
    const float *poses = gg_py_array(state, "tool_pose", a->tool_pose, NPY_FLOAT32, 2, pose_shape);
    if (!poses || gg_py_check_poses(state, "tool_pose", poses, pose_shape[0])) {
        return -1;
    }
    if (pose_shape[0] > INT32_MAX) {
        PyErr_SetString(state->error[GG_PY_ARGUMENT], "tool_pose: too many tools");
        return -1;
    }
    /* x y z qw qx qy qz is exactly what gg_pose holds */
    _Static_assert(sizeof(gg_pose) == 7 * sizeof(float), "a pose is seven floats");
    def->tool_count = (int32_t)pose_shape[0];
    gg_pose *tool_pose = gg_py_def_alloc(out, pose_shape[0], sizeof *tool_pose);
    if (!tool_pose) {
        return -1;
    }
    memcpy(tool_pose, poses, (size_t)pose_shape[0] * sizeof *tool_pose);
    def->tool_pose = tool_pose;
    if (read_masses(state, a, out)) {
        return -1;
    }
    if (read_tables(state, "part", a->part_integers, a->part_floats, 4, 11, &integers, &floats, &count)) {
        return -1;
    }
    gg_shape *parts = gg_py_def_alloc(out, count, sizeof *parts);
    if (!parts) {
        return -1;
    }
    for (int64_t k = 0; k < count; k++) {
        if (read_part(state, def, k, integers + k * 4, floats + k * 11, &parts[k])) {
            return -1;
        }
    }
    def->part = parts;
    def->part_count = (int32_t)count;
    return 0;
}

static int read_cameras(const gg_module_state *state, const def_args *a, gg_py_def *out) {
    gg_world_def *def = &out->def;
    const int32_t *integers;
    const float *floats;
    int64_t count = 0;
    if (read_tables(state, "camera", a->camera_integers, a->camera_floats, 4, 10, &integers, &floats, &count)) {
        return -1;
    }
    gg_camera *cameras = gg_py_def_alloc(out, count, sizeof *cameras);
    if (!cameras) {
        return -1;
    }
    for (int64_t k = 0; k < count; k++) {
        cameras[k] = gg_py_camera(integers + k * 4, floats + k * 10);
        if (cameras[k].tool < -1 || cameras[k].tool >= def->tool_count) {
            PyErr_Format(state->error[GG_PY_ARGUMENT],
                         "camera_integers: camera %lld rides on tool %d, there are %d tools", (long long)k,
                         (int)cameras[k].tool, (int)def->tool_count);
            return -1;
        }
        if (gg_py_check_poses(state, "camera_floats", floats + k * 10, 1)) {
            return -1;
        }
    }
    def->camera = cameras;
    def->camera_count = (int32_t)count;
    return 0;
}

int gg_py_def_read(const gg_module_state *state, PyObject *args, PyObject *kwargs, gg_py_def *out) {
    static char *names[] = {"env_count",
                            "lower",
                            "upper",
                            "boundary",
                            "wall_material",
                            "gravity",
                            "air",
                            "density",
                            "material_fixed",
                            "pair",
                            "position",
                            "velocity",
                            "radius",
                            "grain_material",
                            "tool_pose",
                            "tool_free",
                            "tool_mass",
                            "tool_inertia",
                            "part_integers",
                            "part_floats",
                            "grid_integers",
                            "grid_floats",
                            "sample",
                            "camera_integers",
                            "camera_floats",
                            "planar",
                            "clumps",
                            "continuum",
                            "table",
                            "bonds",
                            "solver",
                            "thread_count",
                            "gpu",
                            NULL};
    def_args a;
    int64_t thread_count = 0, gpu = 0;
    memset(&a, 0, sizeof a);
    memset(out, 0, sizeof *out);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "$OOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOOO:World", names, &a.env_count,
                                     &a.lower, &a.upper, &a.boundary, &a.wall_material, &a.gravity, &a.air, &a.density,
                                     &a.material_fixed, &a.pair, &a.position, &a.velocity, &a.radius, &a.grain_material,
                                     &a.tool_pose, &a.tool_free, &a.tool_mass, &a.tool_inertia, &a.part_integers,
                                     &a.part_floats, &a.grid_integers, &a.grid_floats, &a.sample, &a.camera_integers,
                                     &a.camera_floats, &a.planar, &a.clumps, &a.continuum, &a.table, &a.bonds,
                                     &a.solver, &a.thread_count, &a.gpu)) {
        return -1;
    }
    if (read_field(state, &a, out) || read_grains(state, &a, &out->def) || read_grids(state, &a, out) ||
        read_tools(state, &a, out) || read_cameras(state, &a, out) || gg_py_def_planar(state, a.planar, out) ||
        gg_py_def_clumps(state, a.clumps, out) || gg_py_def_continuum(state, a.continuum, out) ||
        gg_py_def_table(state, a.table, out) || gg_py_def_bonds(state, a.bonds, out) ||
        gg_py_solver(state, a.solver, &out->def.solver) ||
        gg_py_integer(state, "thread_count", a.thread_count, 0, INT32_MAX, &thread_count) ||
        gg_py_integer(state, "gpu", a.gpu, 0, 1024, &gpu)) {
        gg_py_def_free(out);
        return -1;
    }
    out->def.thread_count = (int32_t)thread_count;
    out->def.gpu = (int32_t)gpu;
    return 0;
}
