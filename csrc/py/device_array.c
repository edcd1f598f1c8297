/* device_array.c: the type granular_gym.DeviceArray: shape, dtype and a counted reference to memory on a GPU
 * (gg_buffer). */
#include "device_array.h"
#include "dlpack.h"

static const gg_py_dtype dtypes[] = {
    {NPY_FLOAT32, GG_DLPACK_FLOAT, 4, "float32", "<f4"}, {NPY_FLOAT64, GG_DLPACK_FLOAT, 8, "float64", "<f8"},
    {NPY_INT32, GG_DLPACK_INT, 4, "int32", "<i4"},       {NPY_INT64, GG_DLPACK_INT, 8, "int64", "<i8"},
    {NPY_UINT8, GG_DLPACK_UINT, 1, "uint8", "|u1"},      {NPY_BOOL, GG_DLPACK_BOOL, 1, "bool", "|b1"},
};

static const gg_py_dtype *dtype_of(int numpy) {
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        /* on some machines two C types are 64 bits wide */
        if (dtypes[k].numpy == numpy || (numpy == NPY_LONGLONG && dtypes[k].numpy == NPY_INT64)) {
            return &dtypes[k];
        }
    }
    return NULL;
}

PyObject *gg_py_device_array(const gg_module_state *state, gg_buffer *buffer, int dtype, int ndim,
                             const npy_intp *shape) {
    PyTypeObject *type = (PyTypeObject *)state->device_array_type;
    device_array *self = (device_array *)PyType_GenericAlloc(type, 0);
    if (!self) {
        gg_buffer_release(buffer);
        return NULL;
    }
    self->state = state;
    self->buffer = buffer;
    self->dtype = dtype_of(dtype);
    self->ndim = ndim;
    self->count = 1;
    for (int axis = 0; axis < ndim; axis++) {
        self->shape[axis] = shape[axis];
        self->count *= shape[axis];
    }
    return (PyObject *)self;
}

int gg_py_out_new(world_object *self, int device, int dtype, int ndim, const npy_intp *shape, gg_py_out *out) {
    memset(out, 0, sizeof *out);
    if (!device) {
        out->space = GG_HOST;
        out->object = PyArray_ZEROS(ndim, (npy_intp *)shape, dtype, 0);
        out->data = out->object ? gg_py_data(out->object) : NULL;
        return out->object ? 0 : -1;
    }
    gg_buffer *buffer = NULL;
    size_t size = dtype_of(dtype)->size;
    for (int axis = 0; axis < ndim; axis++) {
        size *= (size_t)shape[axis];
    }
    gg_status status;
    WITHOUT_GIL(status = gg_buffer_create(self->world, size, &buffer));
    if (status != GG_OK) {
        gg_py_raise(self->state, status, gg_world_message(self->world));
        return -1;
    }
    out->space = GG_DEVICE;
    out->data = gg_buffer_data(buffer);
    out->object = gg_py_device_array(self->state, buffer, dtype, ndim, shape);
    return out->object ? 0 : -1;
}

static void array_dealloc(device_array *self) {
    PyTypeObject *type = Py_TYPE(self);
    gg_buffer_release(self->buffer);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* -------------------------------------------------------------------------------------------------------- what it
 * is */

PyObject *gg_py_device_shape(const device_array *self) {
    PyObject *shape = PyTuple_New(self->ndim);
    for (int axis = 0; shape && axis < self->ndim; axis++) {
        PyObject *length = PyLong_FromLongLong(self->shape[axis]);
        if (!length) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SetItem(shape, axis, length);
    }
    return shape;
}

static PyObject *array_shape(device_array *self, void *Py_UNUSED(closure)) { return gg_py_device_shape(self); }
static PyObject *array_dtype(device_array *self, void *Py_UNUSED(closure)) {
    return (PyObject *)PyArray_DescrFromType(self->dtype->numpy);
}
static PyObject *array_ndim(device_array *self, void *Py_UNUSED(closure)) { return PyLong_FromLong(self->ndim); }
static PyObject *array_size(device_array *self, void *Py_UNUSED(closure)) { return PyLong_FromLongLong(self->count); }
static PyObject *array_itemsize(device_array *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLong(self->dtype->size);
}
static PyObject *array_nbytes(device_array *self, void *Py_UNUSED(closure)) {
    return PyLong_FromLongLong(self->count * self->dtype->size);
}
static PyObject *array_device(device_array *self, void *Py_UNUSED(closure)) {
    return PyUnicode_FromFormat("cuda:%d", (int)gg_buffer_device(self->buffer));
}

static Py_ssize_t array_length(device_array *self) {
    if (self->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "a DeviceArray without axes has no length");
        return -1;
    }
    return (Py_ssize_t)self->shape[0];
}

static PyObject *array_repr(device_array *self) {
    PyObject *shape = gg_py_device_shape(self);
    PyObject *text = shape ? PyUnicode_FromFormat("DeviceArray(shape=%R, dtype=%s, device='cuda:%d')", shape,
                                                  self->dtype->name, (int)gg_buffer_device(self->buffer))
                           : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyObject *array_reduce(device_array *Py_UNUSED(self), PyObject *Py_UNUSED(unused)) {
    PyErr_SetString(PyExc_TypeError,
                    "a DeviceArray lies on a GPU and cannot be pickled or copied by Python; copy it to "
                    "the host with .numpy(), or hand it to torch, JAX or CuPy");
    return NULL;
}

static PyObject *array_reshape(device_array *self, PyObject *args) {
    PyObject *error = self->state->error[GG_PY_ARGUMENT];
    npy_intp shape[GG_PY_DEVICE_AXES];
    int64_t count = 1;
    PyObject *list =
        PyTuple_Size(args) == 1 && PyTuple_Check(PyTuple_GetItem(args, 0)) ? PyTuple_GetItem(args, 0) : args;
    Py_ssize_t ndim = PyTuple_Size(list);
    if (ndim > GG_PY_DEVICE_AXES) {
        PyErr_Format(error, "shape: expected at most %d axes, got %R", GG_PY_DEVICE_AXES, list);
        return NULL;
    }
    for (Py_ssize_t axis = 0; axis < ndim; axis++) {
        int64_t length = 0;
        if (gg_py_integer(self->state, "shape", PyTuple_GetItem(list, axis), 0, INT32_MAX, &length)) {
            return NULL;
        }
        shape[axis] = (npy_intp)length;
        if (__builtin_mul_overflow(count, length, &count)) {
            count = -1;
            break;
        }
    }
    if (count != self->count) {
        PyErr_Format(error, "shape: expected %lld elements in all, got %R", (long long)self->count, list);
        return NULL;
    }
    gg_buffer_retain(self->buffer);
    return gg_py_device_array(self->state, self->buffer, self->dtype->numpy, (int)ndim, shape);
}

/* --------------------------------------------------------------------------------------------------- copies to and
 * from the host */

PyObject *gg_py_device_raise(const device_array *self, gg_status status) {
    return gg_py_raise(self->state, status, gg_buffer_message(self->buffer));
}

WORLD_METHOD(to_device) {
    PyArrayObject *array = (PyArrayObject *)argument;
    gg_py_out out;
    if (!PyArray_Check(argument) || !PyArray_ISCARRAY_RO(array) || !dtype_of(PyArray_TYPE(array)) ||
        PyArray_NDIM(array) > GG_PY_DEVICE_AXES) {
        PyErr_Format(
            self->state->error[GG_PY_ARGUMENT],
            "array: expected a C-contiguous NumPy array of float32, float64, int32, int64, uint8 or bool with at "
            "most 4 axes, got %R",
            Py_TYPE(argument));
        return NULL;
    }
    if (gg_py_begin(self)) {
        return NULL;
    }
    if (gg_py_out_new(self, 1, PyArray_TYPE(array), PyArray_NDIM(array), PyArray_DIMS(array), &out)) {
        return gg_py_refuse(self);
    }
    const device_array *result = (const device_array *)out.object;
    /* the GIL stays: nobody may change what is copied */
    gg_status status =
        gg_buffer_write(result->buffer, 0, PyArray_DATA(array), (size_t)result->count * result->dtype->size);
    if (status != GG_OK) {
        gg_py_device_raise(result, status);
        Py_CLEAR(out.object);
    }
    gg_py_end(self);
    return out.object;
}

static PyObject *array_numpy(device_array *self, PyObject *Py_UNUSED(unused)) {
    npy_intp shape[GG_PY_DEVICE_AXES];
    for (int axis = 0; axis < self->ndim; axis++) {
        shape[axis] = (npy_intp)self->shape[axis];
    }
    PyObject *out = PyArray_SimpleNew(self->ndim, shape, self->dtype->numpy);
    if (!out) {
        return NULL;
    }
    void *data = gg_py_data(out);
    size_t size = (size_t)self->count * self->dtype->size;
    gg_status status;
    WITHOUT_GIL(status = gg_buffer_read(self->buffer, 0, data, size));
    if (status != GG_OK) {
        Py_DECREF(out);
        return gg_py_device_raise(self, status);
    }
    return out;
}

static PyObject *array_array(device_array *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy)) {
        return NULL;
    }
    if (copy == Py_False) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT],
                        "copy: expected True or None, got False: this array lies on a GPU and NumPy needs a copy");
        return NULL;
    }
    PyObject *out = array_numpy(self, NULL);
    if (out && dtype != Py_None) {
        PyObject *cast = PyObject_CallMethod(out, "astype", "O", dtype);
        Py_DECREF(out);
        return cast;
    }
    return out;
}

#define METHOD(name, function, flags, doc)                                                                             \
    { name, (PyCFunction)(void (*)(void))function, flags, PyDoc_STR(doc) }

static PyMethodDef array_methods[] = {
    METHOD("numpy", array_numpy, METH_NOARGS,
           "numpy($self, /)\n--\n\n"
           "A copy on the host, a NumPy array. Raises BackendError."),
    METHOD("reshape", array_reshape, METH_VARARGS,
           "reshape($self, /, *shape)\n--\n\n"
           "The same memory under another shape (integers or one tuple) of as many elements. Raises ArgumentError."),
    METHOD("__array__", array_array, METH_VARARGS | METH_KEYWORDS,
           "__array__($self, /, dtype=None, copy=None)\n--\n\n"
           "A copy on the host, as NumPy asks for it. Raises ArgumentError for copy=False."),
    METHOD("__dlpack__", gg_py_device_dlpack, METH_VARARGS | METH_KEYWORDS,
           "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
           "A capsule for another library, as the array API defines it.\n\n"
           "stream: the consumer's stream: None or 1 the legacy default stream, 2 the per-thread one, a handle, or -1 "
           "for no\n"
           "synchronisation. max_version: from (1, 0) on a versioned capsule. dl_device: (1, 0): a copy on the host.\n"
           "copy: True: a copy on the GPU. Raises BufferError where that cannot be, ArgumentError."),
    METHOD("__dlpack_device__", gg_py_device_dlpack_device, METH_NOARGS,
           "__dlpack_device__($self, /)\n--\n\n"
           "(2, number of the GPU): DLPack's kind of device, and which."),
    METHOD("__reduce__", array_reduce, METH_NOARGS,
           "__reduce__($self, /)\n--\n\n"
           "Raises TypeError: what lies on a GPU is not pickled."),
    {NULL, NULL, 0, NULL},
};

#define PROPERTY(name, function, doc)                                                                                  \
    { name, (getter)function, NULL, PyDoc_STR(doc), NULL }

static PyGetSetDef array_getset[] = {
    PROPERTY("shape", array_shape, "Length along each axis."),
    PROPERTY("dtype", array_dtype, "NumPy's dtype of the elements."),
    PROPERTY("ndim", array_ndim, "Number of axes."),
    PROPERTY("size", array_size, "Number of elements."),
    PROPERTY("itemsize", array_itemsize, "Bytes of one element."),
    PROPERTY("nbytes", array_nbytes, "Bytes of all elements."),
    PROPERTY("device", array_device, "The GPU it lies on: \"cuda:0\"."),
    PROPERTY("__cuda_array_interface__", gg_py_device_interface,
             "Version 3. It owns nothing: keep this array as long as the memory is used."),
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    array_doc,
    "An array on a GPU, C-contiguous, made by a world; torch, JAX and CuPy take it without a copy.\n\n"
    "`torch.from_dlpack(array)`, `jax.dlpack.from_dlpack(array)` and `cupy.from_dlpack(array)` share its memory,\n"
    "which lives until the last of them is gone, also after the world was closed. The world never writes into it "
    "again;\n"
    "its owner may. `array.numpy()` copies to the host.");

static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_methods, array_methods},
    {Py_tp_getset, array_getset},
    {Py_tp_repr, array_repr},
    {Py_sq_length, array_length},
    {Py_tp_doc, (void *)array_doc},
    {0, NULL},
};

PyType_Spec gg_py_device_array_spec = {
    .name = "granular_gym._core.DeviceArray",
    .basicsize = sizeof(device_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = array_slots,
};
