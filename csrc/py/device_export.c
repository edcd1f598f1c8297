/* device_export.c: how other libraries take a DeviceArray without a copy: DLPack and __cuda_array_interface__.
 *
 * An export by DLPack holds a reference to the memory and no Python object, so that a consumer may release it on any
 * thread, without the GIL, and after the world, the array and even the interpreter are gone.
 */
#include "device_array.h"
#include "dlpack.h"

/* one export: either form of the tensor, and what it points to */
typedef struct exported {
    union {
        gg_dlpack_managed managed;
        gg_dlpack_versioned versioned;
    } as;
    gg_buffer *buffer; /* a reference; NULL: the data are in `host` */
    void *host;        /* a copy in host memory, or NULL */
    int64_t shape[GG_PY_DEVICE_AXES], strides[GG_PY_DEVICE_AXES];
} exported;

/* called on any thread, without the GIL, maybe after Python has ended */
static void free_export(exported *e) {
    gg_buffer_release(e->buffer);
    free(e->host);
    free(e);
}
static void delete_managed(gg_dlpack_managed *tensor) { free_export(tensor->context); }
static void delete_versioned(gg_dlpack_versioned *tensor) { free_export(tensor->context); }

#define PLAIN     "dltensor"
#define VERSIONED "dltensor_versioned"

/* destructor of a capsule; a consumer that took the tensor has renamed it */
static void free_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, PLAIN)) {
        gg_dlpack_managed *tensor = PyCapsule_GetPointer(capsule, PLAIN);
        tensor->deleter(tensor);
    } else if (PyCapsule_IsValid(capsule, VERSIONED)) {
        gg_dlpack_versioned *tensor = PyCapsule_GetPointer(capsule, VERSIONED);
        tensor->deleter(tensor);
    }
}

/* the arguments of __dlpack__ */
typedef struct request {
    int versioned, to_host, copied;
    int sync; /* 0: no synchronisation with the consumer's stream */
    uintptr_t stream;
} request;

static int read_pair(const device_array *self, const char *name, PyObject *object, int64_t *a, int64_t *b) {
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2) {
        PyErr_Format(self->state->error[GG_PY_ARGUMENT], "%s: expected two integers, got %R", name, object);
        return -1;
    }
    return gg_py_integer(self->state, name, PyTuple_GetItem(object, 0), 0, INT32_MAX, a) ||
                   gg_py_integer(self->state, name, PyTuple_GetItem(object, 1), 0, INT32_MAX, b)
               ? -1
               : 0;
}

/* streams are numbered as in the array API: 0 would be either default stream and is refused */
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

static gg_status fill_export(const device_array *self, const request *r, exported *e) {
    size_t size = (size_t)self->count * self->dtype->size;
    if (r->to_host) {
        /* the alignment that DLPack asks for */
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

PyObject *gg_py_device_dlpack(device_array *self, PyObject *args, PyObject *kwargs) {
    request r;
    if (read_request(self, args, kwargs, &r)) {
        return NULL;
    }
    exported *e = calloc(1, sizeof *e);
    if (!e) {
        return PyErr_NoMemory();
    }
    gg_status status;
    WITHOUT_GIL(status = fill_export(self, &r, e));
    if (status != GG_OK) {
        free_export(e);
        return gg_py_device_raise(self, status);
    }
    gg_dlpack_tensor *t = r.versioned ? &e->as.versioned.tensor : &e->as.managed.tensor;
    t->data = r.to_host ? e->host : gg_buffer_data(e->buffer);
    t->device_type = r.to_host ? GG_DLPACK_CPU : GG_DLPACK_CUDA;
    t->device_id = r.to_host ? 0 : gg_buffer_device(e->buffer);
    t->ndim = self->ndim;
    t->type_code = self->dtype->dlpack_code;
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
        /* writable: nobody else writes into it */
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

PyObject *gg_py_device_dlpack_device(device_array *self, PyObject *Py_UNUSED(unused)) {
    return Py_BuildValue("(ii)", GG_DLPACK_CUDA, (int)gg_buffer_device(self->buffer));
}

PyObject *gg_py_device_interface(device_array *self, void *Py_UNUSED(closure)) {
    uintptr_t stream = gg_buffer_stream(self->buffer);
    PyObject *shape = gg_py_device_shape(self);
    if (!shape) {
        return NULL;
    }
    gg_buffer_lend(self->buffer);
    /* 0 is not allowed, 1 is the same stream; an empty array has no address */
    return Py_BuildValue("{s:N,s:s,s:(KO),s:O,s:K,s:i}", "shape", shape, "typestr", self->dtype->typestr, "data",
                         (unsigned long long)(self->count ? (uintptr_t)gg_buffer_data(self->buffer) : 0), Py_False,
                         "strides", Py_None, "stream", (unsigned long long)(stream ? stream : 1), "version", 3);
}
