/* device_array.c: the type granular_gym.DeviceArray: an array on a GPU that torch, JAX and CuPy take without a copy.
 *
 * It is a handle: shape, dtype and a counted reference to memory (gg_buffer). What it exports, by DLPack or by
 * __cuda_array_interface__, holds no Python object but a reference to the memory of its own, so that a consumer may let go
 * of it on any thread, without the GIL and after the world, the array and even the interpreter are gone.
 */
#include "device_array.h"
#include "dlpack.h"

#define MOST_AXES 4

/* the dtypes that exist here, as everybody calls them */
typedef struct dtype_names {
    int numpy;
    uint8_t code, size;
    const char *name, *typestr;
} dtype_names;

static const dtype_names dtypes[] = {
    {NPY_FLOAT32, GG_DLPACK_FLOAT, 4, "float32", "<f4"}, {NPY_FLOAT64, GG_DLPACK_FLOAT, 8, "float64", "<f8"},
    {NPY_INT32, GG_DLPACK_INT, 4, "int32", "<i4"},       {NPY_INT64, GG_DLPACK_INT, 8, "int64", "<i8"},
    {NPY_UINT8, GG_DLPACK_UINT, 1, "uint8", "|u1"},      {NPY_BOOL, GG_DLPACK_BOOL, 1, "bool", "|b1"},
};

static const dtype_names *dtype_of(int numpy) {
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        /* on some machines two C types are 64 bits wide */
        if (dtypes[k].numpy == numpy || (numpy == NPY_LONGLONG && dtypes[k].numpy == NPY_INT64)) {
            return &dtypes[k];
        }
    }
    return NULL;
}

typedef struct device_array {
    PyObject_HEAD const gg_module_state *state; /* of the module; the type keeps the module alive */
    gg_buffer *buffer;
    const dtype_names *dtype;
    int ndim;
    int64_t shape[MOST_AXES];
    int64_t count; /* of elements */
} device_array;

PyObject *gg_py_device_array(const gg_module_state *state, gg_buffer *buffer, int dtype, int ndim,
                             const npy_intp *shape) {
    PyTypeObject *type = (PyTypeObject *)state->device_array_type;
    device_array *self = (device_array *)type->tp_alloc(type, 0);
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
        out->place = GG_HOST;
        out->object = PyArray_ZEROS(ndim, (npy_intp *)shape, dtype, 0);
        out->data = out->object ? data_of(out->object) : NULL;
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
    out->place = GG_DEVICE;
    out->data = gg_buffer_data(buffer);
    out->object = gg_py_device_array(self->state, buffer, dtype, ndim, shape);
    return out->object ? 0 : -1;
}

static void array_dealloc(device_array *self) {
    PyTypeObject *type = Py_TYPE(self);
    gg_buffer_release(self->buffer);
    type->tp_free(self);
    Py_DECREF(type);
}

/* -------------------------------------------------------------------------------------------------------- what it is */

static PyObject *shape_tuple(const device_array *self) {
    PyObject *shape = PyTuple_New(self->ndim);
    for (int axis = 0; shape && axis < self->ndim; axis++) {
        PyObject *length = PyLong_FromLongLong(self->shape[axis]);
        if (!length) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, axis, length);
    }
    return shape;
}

static PyObject *array_shape(device_array *self, void *Py_UNUSED(closure)) { return shape_tuple(self); }
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
    PyObject *shape = shape_tuple(self);
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
    npy_intp shape[MOST_AXES];
    int64_t count = 1;
    PyObject *list =
        PyTuple_GET_SIZE(args) == 1 && PyTuple_Check(PyTuple_GET_ITEM(args, 0)) ? PyTuple_GET_ITEM(args, 0) : args;
    Py_ssize_t ndim = PyTuple_GET_SIZE(list);
    if (ndim > MOST_AXES) {
        PyErr_Format(error, "shape: expected at most %d axes, got %R", MOST_AXES, list);
        return NULL;
    }
    for (Py_ssize_t axis = 0; axis < ndim; axis++) {
        int64_t length = 0;
        if (gg_py_integer(self->state, "shape", PyTuple_GET_ITEM(list, axis), 0, INT32_MAX, &length)) {
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

/* --------------------------------------------------------------------------------------------------- copies to the host */

static PyObject *raise_status(const device_array *self, gg_status status) {
    return gg_py_raise(self->state, status, gg_buffer_message(self->buffer));
}

int gg_py_device_dtype(int dtype) { return dtype_of(dtype) != NULL; }

int gg_py_device_fill(PyObject *array, const void *from) {
    device_array *self = (device_array *)array;
    /* the GIL stays: nobody may change what is copied */
    gg_status status = gg_buffer_write(self->buffer, 0, from, (size_t)self->count * self->dtype->size);
    return status == GG_OK ? 0 : (raise_status(self, status), -1);
}

static PyObject *array_numpy(device_array *self, PyObject *Py_UNUSED(unused)) {
    npy_intp shape[MOST_AXES];
    for (int axis = 0; axis < self->ndim; axis++) {
        shape[axis] = (npy_intp)self->shape[axis];
    }
    PyObject *out = PyArray_SimpleNew(self->ndim, shape, self->dtype->numpy);
    if (!out) {
        return NULL;
    }
    void *data = data_of(out);
    size_t size = (size_t)self->count * self->dtype->size;
    gg_status status;
    WITHOUT_GIL(status = gg_buffer_read(self->buffer, 0, data, size));
    if (status != GG_OK) {
        Py_DECREF(out);
        return raise_status(self, status);
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
        Py_SETREF(out, PyObject_CallMethod(out, "astype", "O", dtype));
    }
    return out;
}

/* ------------------------------------------------------------------------------------------------------------- DLPack */

/* one export: both forms of the struct, and what they point to */
typedef struct export {
    union {
        gg_dlpack_managed managed;
        gg_dlpack_versioned versioned;
    } as;
    gg_buffer *buffer; /* held; NULL: the data follow on this machine */
    int64_t shape[MOST_AXES], strides[MOST_AXES];
    void *host;
}
export;

/* any thread, no GIL, no Python */
static void free_export(export *e) {
    gg_buffer_release(e->buffer);
    free(e->host);
    free(e);
}
static void delete_managed(gg_dlpack_managed *tensor) { free_export(tensor->context); }
static void delete_versioned(gg_dlpack_versioned *tensor) { free_export(tensor->context); }

#define PLAIN     "dltensor"
#define VERSIONED "dltensor_versioned"

/* a capsule that nobody took */
static void free_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, PLAIN)) {
        gg_dlpack_managed *tensor = PyCapsule_GetPointer(capsule, PLAIN);
        tensor->deleter(tensor);
    } else if (PyCapsule_IsValid(capsule, VERSIONED)) {
        gg_dlpack_versioned *tensor = PyCapsule_GetPointer(capsule, VERSIONED);
        tensor->deleter(tensor);
    }
}

/* what __dlpack__ was asked for */
typedef struct request {
    int versioned, to_host, copied;
    int sync; /* 0: the consumer wants no waiting */
    uintptr_t stream;
} request;

static int read_pair(const device_array *self, const char *name, PyObject *object, int64_t *a, int64_t *b) {
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 2) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT], "%s: expected two integers, got %R", name, object);
        return -1;
    }
    return gg_py_integer(self->state, name, PyTuple_GET_ITEM(object, 0), 0, INT32_MAX, a) ||
                   gg_py_integer(self->state, name, PyTuple_GET_ITEM(object, 1), 0, INT32_MAX, b)
               ? -1
               : 0;
}

/* the numbers of streams are those of the array API: 0 would be either default stream and is refused */
static int read_stream(const device_array *self, PyObject *object, request *r) {
    int64_t stream = 1;
    if (object != Py_None && gg_py_integer(self->state, "stream", object, -1, INT64_MAX, &stream)) {
        return -1;
    }
    if (stream == 0) {
        PyErr_SetString(self->state->error[GG_PY_ARGUMENT],
                        "stream: expected None or 1 (legacy default stream), 2 (per-thread default stream), -1 (no "
                        "waiting) or a stream's handle, got 0, which does not say which");
        return -1;
    }
    r->sync = stream != -1;
    r->stream = (uintptr_t)stream;
    return 0;
}

static int read_request(const device_array *self, PyObject *args, PyObject *kwargs, request *r) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    int64_t major = 0, minor = 0, type = GG_DLPACK_CUDA, id = gg_buffer_device(self->buffer);
    memset(r, 0, sizeof *r);
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy) ||
        read_stream(self, stream, r) ||
        (version != Py_None && read_pair(self, "max_version", version, &major, &minor)) ||
        (device != Py_None && read_pair(self, "dl_device", device, &type, &id))) {
        return -1;
    }
    if (copy != Py_None && !PyBool_Check(copy)) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT], "copy: expected True, False or None, got %R", copy);
        return -1;
    }
    r->versioned = major >= 1;
    r->to_host = type == GG_DLPACK_CPU;
    r->copied = r->to_host || copy == Py_True;
    if (!r->to_host && (type != GG_DLPACK_CUDA || id != gg_buffer_device(self->buffer))) {
        PyErr_Format(PyExc_BufferError,
                     "dl_device: expected (%d, 0), the host, or (%d, %d), where the array lies, got %R", GG_DLPACK_CPU,
                     GG_DLPACK_CUDA, (int)gg_buffer_device(self->buffer), device);
        return -1;
    }
    if (r->to_host && copy == Py_False) {
        PyErr_SetString(PyExc_BufferError, "copy: this array lies on a GPU; without a copy it cannot go to the host");
        return -1;
    }
    return 0;
}

static gg_status fill_export(const device_array *self, const request *r, export *e) {
    size_t size = (size_t)self->count * self->dtype->size;
    if (r->to_host) {
        /* aligned as consumers like it */
        if (posix_memalign(&e->host, 256, size ? size : 1)) {
            e->host = NULL;
            return GG_ERROR_MEMORY;
        }
        return gg_buffer_read(self->buffer, 0, e->host, size);
    }
    gg_status status = GG_OK;
    if (r->copied) {
        status = gg_buffer_clone(self->buffer, &e->buffer);
    } else {
        gg_buffer_retain(self->buffer);
        e->buffer = self->buffer;
    }
    if (status == GG_OK && r->sync) {
        return gg_buffer_order(e->buffer, r->stream);
    }
    if (status == GG_OK) {
        gg_buffer_lend(e->buffer);
    }
    return status;
}

static PyObject *array_dlpack(device_array *self, PyObject *args, PyObject *kwargs) {
    request r;
    if (read_request(self, args, kwargs, &r)) {
        return NULL;
    }
    export *e = calloc(1, sizeof *e);
    if (!e) {
        return PyErr_NoMemory();
    }
    gg_status status;
    WITHOUT_GIL(status = fill_export(self, &r, e));
    if (status != GG_OK) {
        free_export(e);
        return raise_status(self, status);
    }
    gg_dlpack_tensor *t = r.versioned ? &e->as.versioned.tensor : &e->as.managed.tensor;
    t->data = r.to_host ? e->host : gg_buffer_data(e->buffer);
    t->device_type = r.to_host ? GG_DLPACK_CPU : GG_DLPACK_CUDA;
    t->device_id = r.to_host ? 0 : gg_buffer_device(e->buffer);
    t->ndim = self->ndim;
    t->type_code = self->dtype->code;
    t->type_bits = (uint8_t)(8 * self->dtype->size);
    t->type_lanes = 1;
    t->shape = e->shape;
    t->strides = e->strides;
    int64_t stride = 1;
    for (int axis = self->ndim - 1; axis >= 0; axis--) {
        e->shape[axis] = self->shape[axis];
        e->strides[axis] = stride;
        stride *= self->shape[axis];
    }
    if (r.versioned) {
        e->as.versioned.major = 1;
        e->as.versioned.context = e;
        e->as.versioned.deleter = delete_versioned;
        /* nobody else writes into it: who takes it may */
        e->as.versioned.flags = r.copied ? GG_DLPACK_IS_COPIED : 0;
    } else {
        e->as.managed.context = e;
        e->as.managed.deleter = delete_managed;
    }
    PyObject *capsule = PyCapsule_New(&e->as, r.versioned ? VERSIONED : PLAIN, free_capsule);
    if (!capsule) {
        free_export(e);
    }
    return capsule;
}

static PyObject *array_dlpack_device(device_array *self, PyObject *Py_UNUSED(unused)) {
    return Py_BuildValue("(ii)", GG_DLPACK_CUDA, (int)gg_buffer_device(self->buffer));
}

/* -------------------------------------------------------------------------------------------------------------- others */

static PyObject *array_interface(device_array *self, void *Py_UNUSED(closure)) {
    uintptr_t stream = gg_buffer_stream(self->buffer);
    PyObject *shape = shape_tuple(self);
    if (!shape) {
        return NULL;
    }
    gg_buffer_lend(self->buffer);
    /* 0 is not allowed, 1 is the same stream; an empty array has no address */
    return Py_BuildValue("{s:N,s:s,s:(KO),s:O,s:K,s:i}", "shape", shape, "typestr", self->dtype->typestr, "data",
                         (unsigned long long)(self->count ? (uintptr_t)gg_buffer_data(self->buffer) : 0), Py_False,
                         "strides", Py_None, "stream", (unsigned long long)(stream ? stream : 1), "version", 3);
}

#define METHOD(name, function, flags, doc)                                                                             \
    { name, (PyCFunction)(void (*)(void))function, flags, PyDoc_STR(doc) }

static PyMethodDef array_methods[] = {
    METHOD("numpy", array_numpy, METH_NOARGS, "numpy($self, /)\n--\n\nA copy on the host, a NumPy array."),
    METHOD("reshape", array_reshape, METH_VARARGS,
           "reshape(*shape)\n\nThe same memory under another shape with as many elements."),
    METHOD("__array__", array_array, METH_VARARGS | METH_KEYWORDS,
           "__array__($self, /, dtype=None, copy=None)\n--\n\nA copy on the host; copy=False is refused."),
    METHOD("__dlpack__", array_dlpack, METH_VARARGS | METH_KEYWORDS,
           "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
           "A capsule for another library, as the array API says.\n\n"
           "stream: what the consumer will work on: None or 1 the legacy default stream, 2 the per-thread one, a "
           "handle, or\n"
           "-1 for no waiting. max_version from (1, 0): a versioned capsule. dl_device (1, 0): a copy on the host.\n"
           "copy=True: a copy on the GPU. Raises BufferError where that cannot be had."),
    METHOD("__dlpack_device__", array_dlpack_device, METH_NOARGS,
           "__dlpack_device__($self, /)\n--\n\n(2, number of the GPU)."),
    METHOD("__reduce__", array_reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nRefuses to be pickled."),
    {NULL, NULL, 0, NULL},
};

#define PROPERTY(name, function, doc)                                                                                  \
    { name, (getter)function, NULL, PyDoc_STR(doc), NULL }

static PyGetSetDef array_getset[] = {
    PROPERTY("shape", array_shape, "Length along each axis."),
    PROPERTY("dtype", array_dtype, "Of the elements, as NumPy's."),
    PROPERTY("ndim", array_ndim, "Number of axes."),
    PROPERTY("size", array_size, "Number of elements."),
    PROPERTY("itemsize", array_itemsize, "Bytes of one element."),
    PROPERTY("nbytes", array_nbytes, "Bytes of all elements."),
    PROPERTY("device", array_device, "Where it lies: \"cuda:0\"."),
    PROPERTY("__cuda_array_interface__", array_interface,
             "Version 3. It holds nothing: keep this array as long as the memory is used."),
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    array_doc,
    "An array on a GPU, C-contiguous, made by a world; torch, JAX and CuPy take it without a copy.\n\n"
    "`torch.from_dlpack(array)`, `jax.dlpack.from_dlpack(array)` and `cupy.from_dlpack(array)` share its memory,\n"
    "which lives until the last of them is gone, also after the world was closed. It is the reader's own: no later\n"
    "call of the world writes into it, and the reader may. `array.numpy()` copies to the host.");

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
