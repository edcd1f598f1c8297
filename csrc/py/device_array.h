/* device_array.h: the type granular_gym.DeviceArray, and the arrays that methods of a world return. */
#ifndef GG_PY_DEVICE_ARRAY_H
#define GG_PY_DEVICE_ARRAY_H

#include "world_object.h"

#define GG_PY_DEVICE_AXES 4

/* an element type under its names in NumPy, DLPack and the array interface */
typedef struct gg_py_dtype {
    int numpy;
    uint8_t dlpack_code, size; /* size in bytes */
    const char *name, *typestr;
} gg_py_dtype;

typedef struct device_array {
    PyObject_HEAD const gg_module_state *state; /* of the module; the type keeps the module alive */
    gg_buffer *buffer;
    const gg_py_dtype *dtype;
    int ndim;
    int64_t shape[GG_PY_DEVICE_AXES];
    int64_t count; /* of elements */
} device_array;

/* A DeviceArray of this NumPy dtype (float32, float64, int32, int64, uint8, bool) and shape over the start of a buffer.
 * Steals the reference to the buffer, also where it fails. */
PyObject *gg_py_device_array(const gg_module_state *state, gg_buffer *buffer, int dtype, int ndim,
                             const npy_intp *shape);
/* a new tuple */
PyObject *gg_py_device_shape(const device_array *self);
/* raises the exception of a status of the array's buffer; always returns NULL */
PyObject *gg_py_device_raise(const device_array *self, gg_status status);

/* device_export.c: __dlpack__, __dlpack_device__, __cuda_array_interface__ */
PyObject *gg_py_device_dlpack(device_array *self, PyObject *args, PyObject *kwargs);
PyObject *gg_py_device_dlpack_device(device_array *self, PyObject *unused);
PyObject *gg_py_device_interface(device_array *self, void *closure);

/* a new array: NumPy's, or a DeviceArray on the GPU of the world */
typedef struct gg_py_out {
    PyObject *object;
    void *data;
    gg_memory_space space;
} gg_py_out;
/* between gg_py_begin and gg_py_end; -1 with an exception set and out->object NULL */
int gg_py_out_new(world_object *self, int device, int dtype, int ndim, const npy_intp *shape, gg_py_out *out);

/* world_readout.c: counters for info dicts by name, each (count,); those of envs that made no step yet (fresh, or NULL)
 * and what is not finite read 0 */
PyObject *gg_py_counters(const gg_env_stats *stats, npy_intp count, const npy_bool *fresh);
/* Corners and shape of a grid, copied, as other threads may write to the caller's arrays. The engine checks them too, but
 * the result is allocated before. Returns 0 or -1. */
typedef struct gg_py_grid {
    float lower[3], upper[3];
    int32_t shape[3];
} gg_py_grid;
int gg_py_grid_read(world_object *self, PyObject *lower, PyObject *upper, PyObject *shape, int axes, gg_py_grid *grid);
/* world_cameras.c: index of a camera, and the shape of its images (3). Returns 0 or -1. */
int gg_py_camera_index(const world_object *self, PyObject *object, int64_t *camera, npy_intp *shape);

#endif
