/* convert.h: what the files of this folder share: the module state, errors, and checked views of Python objects.
 *
 * Python.h and NumPy are used in this folder alone. A view borrows the memory of the array: it is valid as long as the
 * argument is. Each function that fails returns NULL or -1 with a Python exception set that names the argument.
 */
#ifndef GG_PY_CONVERT_H
#define GG_PY_CONVERT_H

#ifndef Py_LIMITED_API
#error "setup.py defines Py_LIMITED_API: one build serves all Pythons from the oldest on"
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* runs with NumPy from 1.26 on, 2 included */
#define NPY_TARGET_VERSION     NPY_1_25_API_VERSION
#define NPY_NO_DEPRECATED_API  NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL gg_numpy_api
#ifndef GG_PY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

/* Python.h includes them outside the limited API alone; it comes first, as it asks for POSIX */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gg.h"

/* the exceptions of granular_gym.errors that this module raises */
typedef enum gg_py_error {
    GG_PY_ARGUMENT = 0,
    GG_PY_CAPACITY,
    GG_PY_STATE,
    GG_PY_BACKEND,
    GG_PY_CLOSED,
    GG_PY_BUSY,
    GG_PY_ERROR_COUNT
} gg_py_error;

typedef struct gg_module_state {
    PyObject *world_type, *device_array_type;
    PyObject *error[GG_PY_ERROR_COUNT];
} gg_module_state;

/* columns of tables of pairs and of air: the floats of their structs, in order */
#define GG_PY_PAIR_COLUMNS 6
#define GG_PY_AIR_COLUMNS  5
_Static_assert(sizeof(gg_pair) == GG_PY_PAIR_COLUMNS * sizeof(float), "a pair is its columns");
_Static_assert(sizeof(gg_air) == GG_PY_AIR_COLUMNS * sizeof(float), "air is its columns");

/* any length along this axis; gg_py_array writes back the actual one */
#define GG_PY_ANY (-1)

/* raises the exception of a status; always returns NULL */
PyObject *gg_py_raise(const gg_module_state *state, gg_status status, const char *message);
/* raises ArgumentError: name: expected `expected`, got the name of the object's type (NULL: nothing) */
void gg_py_refuse_type(const gg_module_state *state, const char *name, const char *expected, PyObject *object);

/* A C-contiguous, aligned, native array of exactly this dtype (NPY_FLOAT32, ...) and shape. Returns the data (never
 * NULL on success, also for empty arrays) or NULL. The values are for the engine to check. */
void *gg_py_buffer(const gg_module_state *state, const char *name, PyObject *object, int dtype, int ndim,
                   npy_intp *shape);
/* the same of finite numbers */
void *gg_py_array(const gg_module_state *state, const char *name, PyObject *object, int dtype, int ndim,
                  npy_intp *shape);

/* The same, but None is allowed and gives *out = NULL. Returns 0 or -1. */
int gg_py_array_or_none(const gg_module_state *state, const char *name, PyObject *object, int dtype, int ndim,
                        npy_intp *shape, void *out);

/* index of the first value that is not finite, or -1; other types than NPY_FLOAT32 and NPY_FLOAT64 are always finite */
int64_t gg_py_first_not_finite(int dtype, const void *data, int64_t count);

/* list of env indices, each in 0 .. env_count - 1; None gives *envs = NULL, *listed = env_count. Returns 0 or -1. */
int gg_py_envs(const gg_module_state *state, PyObject *object, int64_t env_count, const int32_t **envs,
               int64_t *listed);

/* refuses poses (count, 7) whose quaternion has no usable length. Returns 0 or -1. */
int gg_py_check_poses(const gg_module_state *state, const char *name, const float *poses, int64_t count);

/* an integer in lower .. upper. Returns 0 or -1. */
int gg_py_integer(const gg_module_state *state, const char *name, PyObject *object, int64_t lower, int64_t upper,
                  int64_t *out);

/* all fields of a solver by name from a dict; unknown and missing names are refused. Returns 0 or -1. */
int gg_py_solver(const gg_module_state *state, PyObject *dict, gg_solver *out);
PyObject *gg_py_solver_dict(const gg_solver *solver);

/* a camera from its row of 4 integers and its row of 10 floats, columns as in World */
gg_camera gg_py_camera(const int32_t *integers, const float *floats);

/* A definition read from the keyword arguments of World(). Arrays that need another layout are owned by `memory`. */
#define GG_PY_DEF_BLOCKS 16
typedef struct gg_py_def {
    gg_world_def def;
    void *memory[GG_PY_DEF_BLOCKS];
    int memory_count;
} gg_py_def;
int gg_py_def_read(const gg_module_state *state, PyObject *args, PyObject *kwargs, gg_py_def *out);
void gg_py_def_free(gg_py_def *def);
/* memory that lives as long as the definition; NULL with an exception set */
void *gg_py_def_alloc(gg_py_def *out, int64_t count, size_t size);
/* planar_def.c: shapes of planar grains; materials and grains are read already */
int gg_py_def_planar(const gg_module_state *state, PyObject *planar, gg_py_def *out);
/* clump_def.c: clumps; materials and grains are read already */
int gg_py_def_clumps(const gg_module_state *state, PyObject *clumps, gg_py_def *out);
/* continuum.c: the argument `continuum`; after the materials were read */
int gg_py_def_continuum(const gg_module_state *state, PyObject *continuum, gg_py_def *out);
/* table_def.c: the arguments `table` and `bonds`; likewise, after the grains */
int gg_py_def_table(const gg_module_state *state, PyObject *table, gg_py_def *out);
int gg_py_def_bonds(const gg_module_state *state, PyObject *bonds, gg_py_def *out);

/* arm.c: functions on robot arms */
extern PyMethodDef gg_py_arm_methods[];
/* links.c: how links of robots move and yield */
extern PyMethodDef gg_py_link_methods[];
/* motion.c: batched kinematics of the tasks */
extern PyMethodDef gg_py_motion_methods[];
/* tables.c: what tasks compute from counts of grains */
extern PyMethodDef gg_py_table_methods[];
/* episodes.c: what every env step needs besides the world */
extern PyMethodDef gg_py_episode_methods[];
/* pair.c: functions on plane shapes and their pairs */
extern PyMethodDef gg_py_pair_methods[];

/* world_type.c */
extern PyType_Spec gg_py_world_spec;
/* device_array.c */
extern PyType_Spec gg_py_device_array_spec;

#endif
