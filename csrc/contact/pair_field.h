/* pair_field.h: contact of two rigid plane shapes as a lookup in the space of their relative poses.
 *
 * Whatever two shapes A and B are, one function of the pose (theta, t) of B in A's frame says how far apart they are, and
 * its gradient says along which direction and with which lever arm they push. A field holds that function d and the normal
 * part of A's moment arm, in a table or a network; granular_gym/pair_field.py builds it. Shapes lie with their centre of mass
 * at the origin of their frame. Source of the formulation: "The Configurational Element Method for Nonconvex Granular
 * Media", sections 4 and 5.
 *
 * A table has nodes (theta, y, x) of two halves, d and arm in units of `scale`. theta is periodic: one period of B's own
 * rotational symmetry is stored, with one layer more in front and two behind. Where A has a symmetry of two or four turns,
 * t is first turned into the upper half plane or the first quadrant. All nodes that a query inside `reach` touches exist.
 * Cubic (Catmull-Rom) interpolation gives a d that is smooth across cells, which friction at rest asks for; linear gives
 * one with kinks, cheaper. For networks see pair_network.h.
 */
#ifndef GG_PAIR_FIELD_H
#define GG_PAIR_FIELD_H

#include "../base/scalar.h"

/* layout of gg_pair_field and of the data behind it; files and worlds carry it */
#define GG_PAIR_FIELD_VERSION 2

typedef enum gg_pair_kind { GG_PAIR_CUBIC = 0, GG_PAIR_LINEAR, GG_PAIR_NETWORK } gg_pair_kind;

typedef struct gg_pair_sample {
    float d;      /* signed distance of the two shapes [m], < 0: depth */
    float nx, ny; /* unit dd/dt: normal in A's frame, from A to B */
    float dtheta; /* dd/dtheta at fixed t, scaled with dd/dt to its unit length [m] */
    float arm_a;  /* r_A . n [m], r_A from A's centre of mass to the contact point; r_B . n = d - t . n + arm_a */
} gg_pair_sample;

/* how a network sees the angle: as it is, with a jump at half a turn, or as cosine and sine */
typedef enum gg_pair_encoding { GG_PAIR_ANGLE = 0, GG_PAIR_CIRCLE } gg_pair_encoding;
typedef enum gg_pair_activation { GG_PAIR_RELU = 0, GG_PAIR_SINE } gg_pair_activation;

/* plain data without pointers: many fields share one blob */
typedef struct gg_pair_field {
    int64_t offset; /* bytes from the start of the blob to this field's data, a multiple of 64 */
    int64_t size;   /* bytes of the data */
    int32_t kind;   /* gg_pair_kind */
    int32_t fold_a; /* rotations of A onto itself that are folded: 1, 2 or 4 */
    int32_t fold_b; /* rotations of B onto itself: theta repeats so many times per turn */
    float radius;   /* circumradius of A plus that of B [m] */
    float reach;    /* radius + margin [m]: beyond it d is |t| - radius, an underestimate above the margin */
    float scale;    /* metres per stored unit */
    int32_t theta_count, y_count, x_count; /* cells of one period of theta; nodes along y and x */
    float theta_first;                     /* theta of node 0, in cells, 0 .. 1 */
    float y_first, x_first;                /* place of node 0 in cells: node k lies at (first + k) / per_metre */
    float per_metre;                       /* cells per metre; of a network: inputs per metre */
    int32_t layers, width;                 /* of a network: hidden layers, and values of each */
    int32_t encoding, activation;          /* gg_pair_encoding, gg_pair_activation */
    int32_t reserved;
} gg_pair_field;

#include "pair_network.h"

/* Whether a query of any pose stays inside the field's data and the data inside a blob of so many bytes: to be asked once of
 * a field that comes from outside. */
GG_FN int gg_pair_field_fits(const gg_pair_field *field, int64_t blob_size) {
    float most = 16384.0f;
    int folds =
        (field->fold_a == 1 || field->fold_a == 2 || field->fold_a == 4) && field->fold_b >= 1 && field->fold_b <= 4096;
    int lengths = field->scale > 0.0f && field->radius > 0.0f && field->reach >= field->radius &&
                  gg_finite(field->reach) && gg_finite(field->scale) && field->per_metre > 0.0f &&
                  field->reach * field->per_metre < most && field->theta_first >= 0.0f && field->theta_first < 1.0f;
    int sizes = field->theta_count >= 1 && field->theta_count <= 4096;
    int64_t bytes = 0;
    if (field->kind == GG_PAIR_NETWORK) {
        sizes = sizes && gg_pair_network_fits(field);
        bytes = sizes ? gg_pair_network_bytes(field) : 0;
    } else if (field->kind == GG_PAIR_CUBIC || field->kind == GG_PAIR_LINEAR) {
        sizes = sizes && field->y_count >= 4 && field->y_count <= 4096 && field->x_count >= 4 &&
                field->x_count <= 4096 && gg_absf(field->x_first) < most && gg_absf(field->y_first) < most;
        bytes = sizes ? 4 * (int64_t)(field->theta_count + 3) * field->y_count * field->x_count : 0;
    } else {
        sizes = 0;
    }
    return sizes && folds && lengths && field->offset >= 0 && field->offset % 64 == 0 && field->size == bytes &&
           bytes <= blob_size && field->offset <= blob_size - bytes;
}

/* a stored half: never infinite, NaN or subnormal, so that shifting its bits into place and a product with a power of two
 * are exact */
GG_FN float gg_pair_half(uint32_t half) {
    union {
        uint32_t bits;
        float value;
    } as;
    as.bits = (half & 0x7FFFu) << 13;
    float value = as.value * 5.192296858534828e33f; /* 2^112 */
    return half & 0x8000u ? -value : value;
}

/* largest whole number not above x, |x| < 2^22; exact on every compiler, without libm */
GG_FN float gg_pair_floor(float x) {
    float magic = 12582912.0f; /* 1.5 * 2^23 */
    float k = (x + magic) - magic;
    return k > x ? k - 1.0f : k;
}

/* where theta lies within its period, 0 .. 1; 0 for an angle that is not a number or beyond four million periods. `turned`
 * quarter turns are taken off first. */
GG_FN float gg_pair_phase(const gg_pair_field *field, float theta, int turned) {
    float fold = (float)field->fold_b;
    float w = theta * (fold * (float)(0.5 / GG_PI)) - 0.25f * fold * (float)turned -
              field->theta_first / (float)field->theta_count;
    w = gg_absf(w) < 4e6f ? w - gg_pair_floor(w) : 0.0f;
    return w < 1.0f ? w : 0.0f;
}

/* weights of four nodes and their derivatives at 0 <= f <= 1 between the middle two */
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

/* d, its gradient (theta, y, x; per cell) and the arm at a place inside the table, in units of scale */
GG_FN void gg_pair_interpolate(const gg_pair_field *field, const uint32_t *node, float phase, float y, float x,
                               float out[5]) {
    float place[3] = {phase * (float)field->theta_count, y * field->per_metre - field->y_first,
                      x * field->per_metre - field->x_first};
    int32_t last[3] = {field->theta_count - 1, field->y_count - 3, field->x_count - 3}, first[3] = {0, 1, 1}, cell[3];
    float w[3][4], slope[3][4];
    for (int axis = 0; axis < 3; axis++) {
        int32_t k = (int32_t)place[axis];
        cell[axis] = GG_MAX(first[axis], GG_MIN(k, last[axis]));
        gg_pair_weights(field->kind, place[axis] - (float)cell[axis], w[axis], slope[axis]);
    }
    int from = field->kind == GG_PAIR_LINEAR ? 1 : 0, to = 4 - from;
    float d = 0.0f, dt = 0.0f, dy = 0.0f, dx = 0.0f, arm = 0.0f;
    for (int a = from; a < to; a++) {
        float layer_d = 0.0f, layer_dy = 0.0f, layer_dx = 0.0f, layer_arm = 0.0f;
        for (int b = from; b < to; b++) {
            int64_t row = ((int64_t)(cell[0] + a) * field->y_count + (cell[1] - 1 + b)) * field->x_count + cell[2] - 1;
            float row_d = 0.0f, row_dx = 0.0f, row_arm = 0.0f;
            for (int c = from; c < to; c++) {
                uint32_t pair = node[row + c];
                float value = gg_pair_half(pair & 0xFFFFu);
                row_d += w[2][c] * value;
                row_dx += slope[2][c] * value;
                row_arm += w[2][c] * gg_pair_half(pair >> 16);
            }
            layer_d += w[1][b] * row_d;
            layer_dy += slope[1][b] * row_d;
            layer_dx += w[1][b] * row_dx;
            layer_arm += w[1][b] * row_arm;
        }
        d += w[0][a] * layer_d;
        dt += slope[0][a] * layer_d;
        dy += w[0][a] * layer_dy;
        dx += w[0][a] * layer_dx;
        arm += w[0][a] * layer_arm;
    }
    out[0] = d, out[1] = dt, out[2] = dy, out[3] = dx, out[4] = arm;
}

/* The contact of A and B where B stands at angle theta (any real) and translation t in A's frame. blob: what holds the data
 * of all fields. The gradient is scaled as a whole so that its part along t is a unit vector: where the interpolation
 * averages two contacts, that is the direction and the lever arm of their common push. */
GG_FN gg_pair_sample gg_pair_field_query(const gg_pair_field *field, const void *blob, float theta, float tx,
                                         float ty) {
    gg_pair_sample out;
    float distance2 = tx * tx + ty * ty;
    if (!(distance2 < field->reach * field->reach)) {
        float distance = sqrtf(distance2);
        out.d = distance - field->radius;
        out.nx = tx / distance;
        out.ny = ty / distance;
        out.dtheta = 0.0f;
        out.arm_a = 0.5f * field->radius;
        return out;
    }
    /* A turned onto itself: t comes to lie in the part that is stored */
    int turned = 0;
    float x = tx, y = ty;
    if (field->fold_a == 4) {
        turned = y >= 0.0f ? (x >= 0.0f ? 0 : 1) : (x < 0.0f ? 2 : 3);
    } else if (field->fold_a == 2) {
        turned = y >= 0.0f ? 0 : 2;
    }
    x = turned == 0 ? tx : turned == 1 ? ty : turned == 2 ? -tx : -ty;
    y = turned == 0 ? ty : turned == 1 ? -tx : turned == 2 ? -ty : tx;
    float value[5];
    const void *data = (const char *)blob + field->offset;
    float phase = gg_pair_phase(field, theta, turned);
    if (field->kind == GG_PAIR_NETWORK) {
        gg_pair_infer(field, (const float *)data, phase, y, x, value);
    } else {
        gg_pair_interpolate(field, (const uint32_t *)data, phase, y, x, value);
    }

    float per_radian = (float)field->theta_count * (float)field->fold_b * (float)(0.5 / GG_PI);
    float gx = value[3] * field->per_metre, gy = value[2] * field->per_metre; /* per unit of scale */
    float length = sqrtf(gx * gx + gy * gy) * field->scale;
    float inverse = length > 1e-6f ? field->scale / length : 0.0f;
    /* on a medial axis the direction is anyone's guess: along x, and the lever arm stays finite */
    float ux = length > 1e-6f ? gx * inverse : 1.0f, uy = gy * inverse;
    out.d = value[0] * field->scale;
    out.nx = turned == 0 ? ux : turned == 1 ? -uy : turned == 2 ? -ux : uy;
    out.ny = turned == 0 ? uy : turned == 1 ? ux : turned == 2 ? -uy : -ux;
    out.dtheta = value[1] * per_radian * (field->scale / gg_maxf(length, 0.25f));
    out.arm_a = value[4] * field->scale;
    return out;
}

#endif
