/* pair_field.h: contact of two rigid plane shapes as a lookup in the space of their relative poses.
 *
 * The distance of two shapes A and B is a function d of the pose (theta, t) of B in A's frame, and its gradient gives
 * the contact normal and the moment arm. A field stores d and the normal component of A's moment arm, in a table or a
 * network; pair_field.py builds it. The origin of a shape's frame is its centre of mass. Source of the formulation:
 * "The Configurational Element Method for Nonconvex Granular Media", sections 4 and 5.
 *
 * A table has nodes (theta, y, x) of two half-precision floats, d and arm in units of `scale`. theta is periodic: one
 * period of B's rotational symmetry is stored, with one more layer in front and two behind. Where A has two-fold or
 * four-fold symmetry, t is first rotated into the upper half plane or the first quadrant. All nodes that a query inside
 * `reach` needs exist. Cubic (Catmull-Rom) interpolation makes d smooth across cells, which static friction needs;
 * linear interpolation has kinks and is cheaper. For networks see pair_network.h.
 */
#ifndef GG_PAIR_FIELD_H
#define GG_PAIR_FIELD_H

#include "../base/four.h"

/* version of the layout of gg_pair_field and its data, in files and snapshots */
#define GG_PAIR_FIELD_VERSION 2

typedef enum gg_pair_kind { GG_PAIR_CUBIC = 0, GG_PAIR_LINEAR, GG_PAIR_NETWORK } gg_pair_kind;

typedef struct gg_pair_sample {
    float d;      /* gap of the two shapes [m] */
    float nx, ny; /* unit dd/dt: normal in A's frame, from A to B */
    float dtheta; /* dd/dtheta at fixed t, scaled as dd/dt is to unit length [m] */
    float arm_a;  /* r_A . n [m], r_A from A's centre of mass to the contact point; r_B . n = d - t . n + arm_a */
} gg_pair_sample;

/* a network's input for the angle: itself, with a jump at half a turn, or cosine and sine */
typedef enum gg_pair_encoding { GG_PAIR_ANGLE = 0, GG_PAIR_CIRCLE } gg_pair_encoding;
typedef enum gg_pair_activation { GG_PAIR_RELU = 0, GG_PAIR_SINE } gg_pair_activation;

/* plain data without pointers: many fields share one blob */
typedef struct gg_pair_field {
    int64_t offset; /* bytes from the start of the blob to this field's data, a multiple of 64 */
    int64_t size;   /* bytes of the data */
    int32_t kind;   /* gg_pair_kind */
    int32_t fold_a; /* order of A's rotational symmetry, as far as it is used: 1, 2 or 4 */
    int32_t fold_b; /* order of B's rotational symmetry: periods of theta per turn */
    float radius;   /* circumradius of A plus that of B [m] */
    float reach;    /* radius + margin [m]: beyond it d is extrapolated from there along its gradient */
    float scale;    /* metres per stored unit */
    int32_t theta_count, y_count, x_count; /* cells of one period of theta; nodes along y and x */
    float theta_first;                     /* theta of node 0, in cells, 0 .. 1 */
    float y_first, x_first;                /* position of node 0 in cells: node k lies at (first + k) / per_metre */
    float per_metre;                       /* cells per metre; of a network: inputs per metre */
    int32_t layers, width;                 /* of a network: hidden layers, and values of each */
    int32_t encoding, activation;          /* gg_pair_encoding, gg_pair_activation */
    int32_t reserved;
} gg_pair_field;

#include "pair_network.h"

/* Whether a query at any pose stays inside the field's data, and the data inside a blob of blob_size bytes: checked
 * once for a field of the caller's. */
GG_FN int gg_pair_field_fits(const gg_pair_field *field, int64_t blob_size) {
    float limit = 16384.0f;
    int folds =
        (field->fold_a == 1 || field->fold_a == 2 || field->fold_a == 4) && field->fold_b >= 1 && field->fold_b <= 4096;
    int lengths = field->scale > 0.0f && field->radius > 0.0f && field->reach >= field->radius &&
                  gg_finite(field->reach) && gg_finite(field->scale) && field->per_metre > 0.0f &&
                  field->reach * field->per_metre < limit && field->theta_first >= 0.0f && field->theta_first < 1.0f;
    int sizes = field->theta_count >= 1 && field->theta_count <= 4096;
    int64_t bytes = 0;
    if (field->kind == GG_PAIR_NETWORK) {
        sizes = sizes && gg_pair_network_fits(field);
        bytes = sizes ? gg_pair_network_bytes(field) : 0;
    } else if (field->kind == GG_PAIR_CUBIC || field->kind == GG_PAIR_LINEAR) {
        sizes = sizes && field->y_count >= 4 && field->y_count <= 4096 && field->x_count >= 4 &&
                field->x_count <= 4096 && gg_absf(field->x_first) < limit && gg_absf(field->y_first) < limit;
        bytes = sizes ? 4 * (int64_t)(field->theta_count + 3) * field->y_count * field->x_count : 0;
    } else {
        sizes = 0;
    }
    return sizes && folds && lengths && field->offset >= 0 && field->offset % 64 == 0 && field->size == bytes &&
           bytes <= blob_size && field->offset <= blob_size - bytes;
}

/* floor of x, |x| < 2^22, without libm */
GG_FN float gg_pair_floor(float x) {
    float magic = 12582912.0f; /* 1.5 * 2^23 */
    float k = (x + magic) - magic;
    return k > x ? k - 1.0f : k;
}

/* phase of theta within its period, 0 .. 1, after subtracting `turned` quarter turns; 0 for NaN and beyond four million
 * periods */
GG_FN float gg_pair_phase(const gg_pair_field *field, float theta, int turned) {
    float fold = (float)field->fold_b;
    float w = theta * (fold * (float)(0.5 / GG_PI)) - 0.25f * fold * (float)turned -
              field->theta_first / (float)field->theta_count;
    w = gg_absf(w) < 4e6f ? w - gg_pair_floor(w) : 0.0f;
    return w < 1.0f ? w : 0.0f;
}

/* interpolation weights of four nodes, and their derivatives, at 0 <= f <= 1 between the middle two */
GG_FN void gg_pair_weights(int32_t kind, float f, float w[4], float slope[4]) {
    if (kind == GG_PAIR_LINEAR) {
        w[0] = 0.0f, w[1] = 1.0f - f, w[2] = f, w[3] = 0.0f;
        slope[0] = 0.0f, slope[1] = -1.0f, slope[2] = 1.0f, slope[3] = 0.0f;
        return;
    }
    float f2 = f * f, f3 = f2 * f;
    w[0] = f2 - 0.5f * (f3 + f);
    w[1] = 1.5f * f3 - 2.5f * f2 + 1.0f;
    w[2] = 2.0f * f2 - 1.5f * f3 + 0.5f * f;
    w[3] = 0.5f * (f3 - f2);
    slope[0] = 2.0f * f - 1.5f * f2 - 0.5f;
    slope[1] = 4.5f * f2 - 5.0f * f;
    slope[2] = 4.0f * f - 4.5f * f2 + 0.5f;
    slope[3] = 1.5f * f2 - f;
}

/* weighted sums over y of one layer, at four nodes along x, in units of scale; dy: per cell */
typedef struct gg_pair_stripe {
    gg_four d, dy, arm;
} gg_pair_stripe;

/* share of its reach at which a field is queried for what lies beyond */
#define GG_PAIR_WITHIN 0.9999f

/* layers that a probe caches from one angle to the next */
#define GG_PAIR_CACHED_LAYERS 8

/* A query at one translation t of B and several angles close to each other: what does not depend on the angle is
 * shared. */
typedef struct gg_pair_probe {
    const gg_pair_field *field;
    const void *data;
    float beyond_x, beyond_y; /* from where the field is queried to t, which lies beyond its reach, in A's frame [m] */
    float x, y;               /* there, after the rotation of A onto itself [m] */
    int32_t turned;           /* its quarter turns */
    /* of a table: nodes and weights along y and x; the layers from `first` on, and which of them are cached */
    int64_t node;
    float wy[4], sy[4];
    gg_four wx, sx;
    int32_t first;
    uint32_t cached;
    gg_pair_stripe layer[GG_PAIR_CACHED_LAYERS];
} gg_pair_probe;

/* cell of a coordinate in cells, clamped to first .. last; *fraction: position within it */
GG_FN int32_t gg_pair_cell(float coordinate, int32_t first, int32_t last, float *fraction) {
    int32_t cell = GG_MAX(first, GG_MIN((int32_t)coordinate, last));
    *fraction = coordinate - (float)cell;
    return cell;
}

/* starts a query with B's centre of mass at (tx, ty) in A's frame [m]; blob: data of all fields */
GG_FN void gg_pair_open(gg_pair_probe *p, const gg_pair_field *field, const void *blob, float tx, float ty) {
    p->field = field;
    p->data = (const char *)blob + field->offset;
    p->cached = 0;
    p->first = 0;
    p->turned = 0;
    p->node = 0;
    p->wx = p->sx = gg_four_zero();
    p->beyond_x = p->beyond_y = 0.0f;
    float distance2 = tx * tx + ty * ty;
    if (!(distance2 < field->reach * field->reach)) {
        /* the nearest place within reach; of what is not finite any, as the result is not finite either */
        float inward = field->reach * GG_PAIR_WITHIN / sqrtf(distance2);
        float near_x = inward > 0.0f ? tx * inward : 0.0f, near_y = inward > 0.0f ? ty * inward : 0.0f;
        p->beyond_x = tx - near_x;
        p->beyond_y = ty - near_y;
        tx = near_x;
        ty = near_y;
    }
    /* A rotated onto itself, so that t lies in the part that is stored */
    if (field->fold_a == 4) {
        p->turned = ty >= 0.0f ? (tx >= 0.0f ? 0 : 1) : (tx < 0.0f ? 2 : 3);
    } else if (field->fold_a == 2) {
        p->turned = ty >= 0.0f ? 0 : 2;
    }
    p->x = p->turned == 0 ? tx : p->turned == 1 ? ty : p->turned == 2 ? -tx : -ty;
    p->y = p->turned == 0 ? ty : p->turned == 1 ? -tx : p->turned == 2 ? -ty : tx;
    if (field->kind != GG_PAIR_NETWORK) {
        float fy, fx;
        int32_t iy = gg_pair_cell(p->y * field->per_metre - field->y_first, 1, field->y_count - 3, &fy);
        int32_t ix = gg_pair_cell(p->x * field->per_metre - field->x_first, 1, field->x_count - 3, &fx);
        gg_pair_weights(field->kind, fy, p->wy, p->sy);
        float w[4], slope[4];
        gg_pair_weights(field->kind, fx, w, slope);
        p->wx = gg_four_set(w[0], w[1], w[2], w[3]);
        p->sx = gg_four_set(slope[0], slope[1], slope[2], slope[3]);
        p->node = (int64_t)(iy - 1) * field->x_count + ix - 1;
    }
}

/* interpolates layer `number` along y */
GG_FN void gg_pair_sum(const gg_pair_probe *p, int32_t number, gg_pair_stripe *out) {
    const gg_pair_field *field = p->field;
    const uint32_t *node = (const uint32_t *)p->data + (int64_t)number * field->y_count * field->x_count + p->node;
    int from = field->kind == GG_PAIR_LINEAR ? 1 : 0, to = 4 - from;
    gg_four d = gg_four_zero(), dy = d, arm = d;
    for (int b = from; b < to; b++) {
        gg_four_bits pairs = gg_four_load(node + (int64_t)b * field->x_count);
        gg_four value = gg_four_halves(pairs, 0);
        d = gg_four_add(d, p->wy[b], value);
        dy = gg_four_add(dy, p->sy[b], value);
        arm = gg_four_add(arm, p->wy[b], gg_four_halves(pairs, 1));
    }
    out->d = d, out->dy = dy, out->arm = arm;
}

/* d, its gradient (theta, y, x; per cell) and the arm at a phase of theta, in units of scale */
GG_FN void gg_pair_interpolate(gg_pair_probe *p, float phase, float out[5]) {
    const gg_pair_field *field = p->field;
    int32_t count = field->theta_count;
    float fraction, w[4], slope[4];
    int32_t cell = gg_pair_cell(phase * (float)count, 0, count - 1, &fraction);
    gg_pair_weights(field->kind, fraction, w, slope);
    /* index among the cached layers; theta is periodic: layer n is also layer n - count */
    int32_t index = cell - p->first;
    index += index < 0 ? count : 0;
    if (p->cached == 0 || index > GG_PAIR_CACHED_LAYERS - 4) {
        index = 2;
        p->first = cell - 2 < 0 ? cell - 2 + count : cell - 2;
        p->cached = 0;
    }
    int from = field->kind == GG_PAIR_LINEAR ? 1 : 0, to = 4 - from;
    gg_four d = gg_four_zero(), dt = d, dy = d, arm = d;
    for (int a = from; a < to; a++) {
        gg_pair_stripe *layer = &p->layer[index + a];
        if (!(p->cached >> (index + a) & 1)) {
            gg_pair_sum(p, cell + a, layer);
            p->cached |= 1u << (index + a);
        }
        d = gg_four_add(d, w[a], layer->d);
        dt = gg_four_add(dt, slope[a], layer->d);
        dy = gg_four_add(dy, w[a], layer->dy);
        arm = gg_four_add(arm, w[a], layer->arm);
    }
    out[0] = gg_four_dot(p->wx, d);
    out[1] = gg_four_dot(p->wx, dt);
    out[2] = gg_four_dot(p->wx, dy);
    out[3] = gg_four_dot(p->sx, d);
    out[4] = gg_four_dot(p->wx, arm);
}

/* The contact of A and B at angle theta [rad] of B in A's frame. The whole gradient is scaled so that its part along t
 * is a unit vector: where the interpolation averages two contacts, it is the normal and the moment arm of their
 * resultant. */
GG_FN gg_pair_sample gg_pair_at(gg_pair_probe *p, float theta) {
    const gg_pair_field *field = p->field;
    gg_pair_sample out;
    float value[5];
    float phase = gg_pair_phase(field, theta, p->turned);
    if (field->kind == GG_PAIR_NETWORK) {
        gg_pair_infer(field, (const float *)p->data, phase, p->y, p->x, value);
    } else {
        gg_pair_interpolate(p, phase, value);
    }

    float per_radian = (float)field->theta_count * (float)field->fold_b * (float)(0.5 / GG_PI);
    float gx = value[3] * field->per_metre, gy = value[2] * field->per_metre; /* per unit of scale */
    float length = sqrtf(gx * gx + gy * gy) * field->scale;
    float inverse = length > 1e-6f ? field->scale / length : 0.0f;
    /* on a medial axis the gradient vanishes: the normal is then x, and the arm stays finite */
    float ux = length > 1e-6f ? gx * inverse : 1.0f, uy = gy * inverse;
    int turned = p->turned;
    out.nx = turned == 0 ? ux : turned == 1 ? -uy : turned == 2 ? -ux : uy;
    out.ny = turned == 0 ? uy : turned == 1 ? ux : turned == 2 ? -uy : -ux;
    out.d = value[0] * field->scale + (out.nx * p->beyond_x + out.ny * p->beyond_y);
    out.dtheta = value[1] * per_radian * (field->scale / gg_maxf(length, 0.25f));
    out.arm_a = value[4] * field->scale;
    return out;
}

/* a query at a single pose */
GG_FN gg_pair_sample gg_pair_field_query(const gg_pair_field *field, const void *blob, float theta, float tx,
                                         float ty) {
    gg_pair_probe probe;
    gg_pair_open(&probe, field, blob, tx, ty);
    return gg_pair_at(&probe, theta);
}

#endif
