/* dlpack.h: the structs of the DLPack 1.0 specification.
 *
 * A capsule named "dltensor" or "dltensor_versioned" holds one of the two managed tensors. A consumer renames the
 * capsule ("used_...") and calls the deleter when done; a capsule that is not consumed frees its tensor itself.
 */
#ifndef GG_PY_DLPACK_H
#define GG_PY_DLPACK_H

#include <stdint.h>

enum { GG_DLPACK_CPU = 1, GG_DLPACK_CUDA = 2 };
enum { GG_DLPACK_INT = 0, GG_DLPACK_UINT = 1, GG_DLPACK_FLOAT = 2, GG_DLPACK_BOOL = 6 };
/* flags of a versioned tensor */
#define GG_DLPACK_READ_ONLY ((uint64_t)1)
#define GG_DLPACK_IS_COPIED ((uint64_t)2)

typedef struct gg_dlpack_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    int64_t *shape, *strides; /* in elements */
    uint64_t byte_offset;
} gg_dlpack_tensor;

typedef struct gg_dlpack_managed {
    gg_dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct gg_dlpack_managed *self);
} gg_dlpack_managed;

typedef struct gg_dlpack_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct gg_dlpack_versioned *self);
    uint64_t flags;
    gg_dlpack_tensor tensor;
} gg_dlpack_versioned;

#endif
