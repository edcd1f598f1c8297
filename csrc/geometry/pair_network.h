/* pair_network.h: a pair field as two small networks, one for d and one for the arm; included by pair_field.h.
 *
 * Each is a multilayer perceptron with hidden layers of one width and ReLU or sine activations, from the angle and the
 * translation to one value. The gradient of d comes by backpropagation. Sums run in a fixed order that vector registers
 * of any width can follow: over inputs one after another, over outputs in GG_PAIR_LANES partial sums. Source: "The
 * Configurational Element Method for Nonconvex Granular Media", section 6; the sine after "Implicit Neural
 * Representations with Periodic Activation Functions" (Sitzmann et al. 2020).
 *
 * Data of one network: weights (inputs, width) and biases of the first layer, (width, width) and biases of every
 * further one, weights (width) and bias of the output; d's network first.
 */
#ifndef GG_PAIR_NETWORK_H
#define GG_PAIR_NETWORK_H

#define GG_PAIR_LANES         16
#define GG_PAIR_HIDDEN_LAYERS 8
#define GG_PAIR_WIDTH         64

GG_FN int32_t gg_pair_inputs(const gg_pair_field *field) { return field->encoding == GG_PAIR_CIRCLE ? 4 : 3; }

GG_FN int gg_pair_network_fits(const gg_pair_field *field) {
    return field->layers >= 1 && field->layers <= GG_PAIR_HIDDEN_LAYERS && field->width >= GG_PAIR_LANES &&
           field->width <= GG_PAIR_WIDTH && field->width % GG_PAIR_LANES == 0 &&
           (field->encoding == GG_PAIR_ANGLE || field->encoding == GG_PAIR_CIRCLE) &&
           (field->activation == GG_PAIR_RELU || field->activation == GG_PAIR_SINE);
}

/* floats of one of the two networks */
GG_FN int64_t gg_pair_network_floats(const gg_pair_field *field) {
    int64_t width = field->width;
    return (gg_pair_inputs(field) + 1) * width + (field->layers - 1) * (width + 1) * width + width + 1;
}

GG_FN int64_t gg_pair_network_bytes(const gg_pair_field *field) {
    return 2 * (int64_t)sizeof(float) * gg_pair_network_floats(field);
}

/* Sine and cosine in single precision, to 1e-6 for |x| <= 1000; those of 0 beyond 1e5 and for NaN. Range reduction in
 * two parts to [-pi/4, pi/4], then Taylor series. Without branches, so that loops over it are vectorised. */
GG_FN void gg_pair_sincos(float x, float *sine, float *cosine) {
    x = gg_absf(x) <= 1e5f ? x : 0.0f;
    float magic = 12582912.0f; /* 1.5 * 2^23: the sum rounds to an integer */
    float k = (x * 0.63661977f + magic) - magic;
    float r = (x - k * 1.5703125f) - k * 4.8382679e-4f; /* pi/2 = 1.5703125 and the remainder */
    float r2 = r * r;
    float s = r + r * r2 * (-1.6666667e-1f + r2 * (8.3333333e-3f + r2 * (-1.9841270e-4f + r2 * 2.7557319e-6f)));
    float c = 1.0f + r2 * (-0.5f + r2 * (4.1666667e-2f + r2 * (-1.3888889e-3f + r2 * 2.4801587e-5f)));
    int32_t quarter = (int32_t)k;
    float a = quarter & 1 ? c : s, b = quarter & 1 ? s : c;
    *sine = quarter & 2 ? -a : a;
    *cosine = (quarter + 1) & 2 ? -b : b;
}

/* one layer: value and derivative of the activation of (weights * input + bias); returns the next layer's weights */
GG_FN const float *gg_pair_layer(const gg_pair_field *field, const float *weight, const float *in, int32_t in_count,
                                 float *value, float *slope) {
    int32_t width = field->width;
    const float *bias = weight + (int64_t)in_count * width;
    float sum[GG_PAIR_WIDTH];
    for (int32_t k = 0; k < width; k++) {
        sum[k] = bias[k];
    }
    for (int32_t i = 0; i < in_count; i++) {
        for (int32_t k = 0; k < width; k++) {
            sum[k] += weight[(int64_t)i * width + k] * in[i];
        }
    }
    if (field->activation == GG_PAIR_SINE) {
        for (int32_t k = 0; k < width; k++) {
            gg_pair_sincos(sum[k], &value[k], &slope[k]);
        }
    } else {
        for (int32_t k = 0; k < width; k++) {
            value[k] = sum[k] > 0.0f ? sum[k] : 0.0f;
            slope[k] = sum[k] > 0.0f ? 1.0f : 0.0f;
        }
    }
    return bias + width;
}

/* dot product, in partial sums */
GG_FN float gg_pair_dot(const float *a, const float *b, int32_t count) {
    float part[GG_PAIR_LANES];
    for (int32_t k = 0; k < GG_PAIR_LANES; k++) {
        part[k] = a[k] * b[k];
    }
    for (int32_t first = GG_PAIR_LANES; first < count; first += GG_PAIR_LANES) {
        for (int32_t k = 0; k < GG_PAIR_LANES; k++) {
            part[k] += a[first + k] * b[first + k];
        }
    }
    for (int32_t half = GG_PAIR_LANES / 2; half > 0; half /= 2) {
        for (int32_t k = 0; k < half; k++) {
            part[k] += part[k + half];
        }
    }
    return part[0];
}

/* the value of one network, and its gradient with respect to the inputs unless NULL */
GG_FN float gg_pair_evaluate(const gg_pair_field *field, const float *weight, const float *input, float *gradient) {
    float value[GG_PAIR_WIDTH], slope[GG_PAIR_HIDDEN_LAYERS][GG_PAIR_WIDTH], back[GG_PAIR_WIDTH], next[GG_PAIR_WIDTH];
    int32_t inputs = gg_pair_inputs(field), width = field->width;
    const float *layer = gg_pair_layer(field, weight, input, inputs, value, slope[0]);
    for (int32_t m = 1; m < field->layers; m++) {
        for (int32_t k = 0; k < width; k++) {
            next[k] = value[k];
        }
        layer = gg_pair_layer(field, layer, next, width, value, slope[m]);
    }
    float out = gg_pair_dot(layer, value, width) + layer[width];
    if (!gradient) {
        return out;
    }
    for (int32_t k = 0; k < width; k++) {
        back[k] = layer[k] * slope[field->layers - 1][k];
    }
    for (int32_t m = field->layers - 1; m > 0; m--) {
        layer -= (int64_t)(width + 1) * width;
        for (int32_t i = 0; i < width; i++) {
            next[i] = gg_pair_dot(layer + (int64_t)i * width, back, width) * slope[m - 1][i];
        }
        for (int32_t k = 0; k < width; k++) {
            back[k] = next[k];
        }
    }
    for (int32_t i = 0; i < inputs; i++) {
        gradient[i] = gg_pair_dot(weight + (int64_t)i * width, back, width);
    }
    return out;
}

/* d, its gradient (phase, y, x; per unit of input) and the arm, in units of scale; see gg_pair_interpolate */
GG_FN_LARGE void gg_pair_infer(const gg_pair_field *field, const float *weight, float phase, float y, float x,
                               float out[5]) {
    float turn = (float)(2.0 * GG_PI), input[4], gradient[4];
    int circle = field->encoding == GG_PAIR_CIRCLE;
    /* -half a turn .. half a turn */
    float angle = turn * (phase < 0.5f ? phase : phase - 1.0f);
    if (circle) {
        gg_pair_sincos(angle, &input[1], &input[0]);
    } else {
        input[0] = angle;
    }
    input[1 + circle] = x * field->per_metre;
    input[2 + circle] = y * field->per_metre;
    out[0] = gg_pair_evaluate(field, weight, input, gradient);
    out[1] = turn * (circle ? gradient[1] * input[0] - gradient[0] * input[1] : gradient[0]);
    out[2] = gradient[2 + circle];
    out[3] = gradient[1 + circle];
    out[4] = gg_pair_evaluate(field, weight + gg_pair_network_floats(field), input, NULL);
}

#endif
