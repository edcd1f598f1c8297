/* device_array.h: the Python object around a gg_buffer, and where a method of a world puts what it reads. */
#ifndef GG_PY_DEVICE_ARRAY_H
#define GG_PY_DEVICE_ARRAY_H

#include "world_object.h"

/* A DeviceArray of this NumPy dtype (float32, float64, int32, int64, uint8, bool) and shape over the start of a buffer,
 * whose holder it becomes, also where it fails. */
PyObject *gg_py_device_array(const gg_module_state *state, gg_buffer *buffer, int dtype, int ndim,
                             const npy_intp *shape);

/* a fresh array: NumPy's, or one on the GPU of the world */
typedef struct gg_py_out {
    PyObject *object;
    void *data;
    gg_memory_space place;
} gg_py_out;
/* inside begin and end; -1 with an exception set and out->object NULL */
int gg_py_out_new(world_object *self, int device, int dtype, int ndim, const npy_intp *shape, gg_py_out *out);

/* whether a DeviceArray can hold this NumPy dtype */
int gg_py_device_dtype(int dtype);
/* fills a DeviceArray from memory of this machine; -1 with an exception set */
int gg_py_device_fill(PyObject *array, const void *from);

#endif
