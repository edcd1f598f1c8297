/* spline.h: quadratic B-splines over 3 x 3 x 3 nodes of a halo of 6 x 6 x 6, one axis after another. */
#ifndef GG_CONTINUUM_SPLINE_H
#define GG_CONTINUUM_SPLINE_H

#include "../../base/columns.h"

/* weights along each axis, and a second set beside them: their derivatives [1/m], or their moments [m] */
typedef struct gg_spline {
    double weight[3][3], other[3][3];
} gg_spline;

GG_FN void gg_spline_weights(const double place[3], gg_spline *s) {
    for (int axis = 0; axis < 3; axis++) {
        double x = place[axis];
        s->weight[axis][0] = 0.5 * (1.5 - x) * (1.5 - x);
        s->weight[axis][1] = 0.75 - (x - 1.0) * (x - 1.0);
        s->weight[axis][2] = 0.5 * (x - 0.5) * (x - 0.5);
    }
}

/* weights and their derivatives; spacing of the nodes [m] */
GG_FN gg_spline gg_spline_slopes(const double place[3], double spacing) {
    gg_spline s;
    gg_spline_weights(place, &s);
    for (int axis = 0; axis < 3; axis++) {
        double x = place[axis];
        s.other[axis][0] = (x - 1.5) / spacing;
        s.other[axis][1] = -2.0 * (x - 1.0) / spacing;
        s.other[axis][2] = (x - 0.5) / spacing;
    }
    return s;
}

/* weights, and weights times the way from the particle to the node */
GG_FN gg_spline gg_spline_moments(const double place[3], double spacing) {
    gg_spline s;
    gg_spline_weights(place, &s);
    for (int axis = 0; axis < 3; axis++) {
        for (int k = 0; k < 3; k++) {
            s.other[axis][k] = s.weight[axis][k] * ((double)k - place[axis]) * spacing;
        }
    }
    return s;
}

/* weight of node i j k of the stencil, and its derivatives from the second set */
GG_FN double gg_spline_node(const gg_spline *s, int i, int j, int k, double slope[3]) {
    double x = s->weight[0][i], y = s->weight[1][j], z = s->weight[2][k];
    slope[0] = s->other[0][i] * y * z;
    slope[1] = x * s->other[1][j] * z;
    slope[2] = x * y * s->other[2][k];
    return x * y * z;
}

/* what nodes give to a particle by the weights, and with the second set on each axis; first of the nodes of a plane */
typedef struct gg_spline_sum {
    gg_real4 value, along[3], plane, plane_x, plane_y;
} gg_spline_sum;
GG_FN gg_spline_sum gg_spline_sum_begin(void) {
    gg_spline_sum sum;
    sum.value = sum.along[0] = sum.along[1] = sum.along[2] = gg_real4_zero();
    sum.plane = sum.plane_x = sum.plane_y = gg_real4_zero();
    return sum;
}
/* adds the nodes of a row, number j of its plane */
GG_FN void gg_spline_add_row(const gg_spline *s, int j, gg_real4 low, gg_real4 middle, gg_real4 high,
                             gg_spline_sum *sum) {
    gg_real4 a = gg_real4_scale(low, s->weight[0][0]), b = gg_real4_scale(low, s->other[0][0]);
    a = gg_real4_madd(a, s->weight[0][1], middle);
    b = gg_real4_madd(b, s->other[0][1], middle);
    a = gg_real4_madd(a, s->weight[0][2], high);
    b = gg_real4_madd(b, s->other[0][2], high);
    sum->plane = gg_real4_madd(sum->plane, s->weight[1][j], a);
    sum->plane_x = gg_real4_madd(sum->plane_x, s->weight[1][j], b);
    sum->plane_y = gg_real4_madd(sum->plane_y, s->other[1][j], a);
}
/* adds the plane, number k */
GG_FN void gg_spline_add_plane(const gg_spline *s, int k, gg_spline_sum *sum) {
    sum->value = gg_real4_madd(sum->value, s->weight[2][k], sum->plane);
    sum->along[0] = gg_real4_madd(sum->along[0], s->weight[2][k], sum->plane_x);
    sum->along[1] = gg_real4_madd(sum->along[1], s->weight[2][k], sum->plane_y);
    sum->along[2] = gg_real4_madd(sum->along[2], s->other[2][k], sum->plane);
    sum->plane = sum->plane_x = sum->plane_y = gg_real4_zero();
}

/* What the nodes give to a particle: *value by the weights, along[k] with the second set on axis k. halo: the first node of
 * the stencil */
GG_FN_LARGE void gg_spline_gather(const gg_spline *s, const gg_real4 *halo, gg_real4 *value, gg_real4 along[3]) {
    gg_spline_sum sum = gg_spline_sum_begin();
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            const gg_real4 *row = halo + k * 36 + j * 6;
            gg_spline_add_row(s, j, row[0], row[1], row[2], &sum);
        }
        gg_spline_add_plane(s, k, &sum);
    }
    *value = sum.value;
    for (int axis = 0; axis < 3; axis++) {
        along[axis] = sum.along[axis];
    }
}

/* The transpose: adds to the nodes `value` by the weights and along[k] with the second set on axis k. row: the first of the
 * three nodes j, k of the stencil */
GG_FN void gg_spline_scatter_row(const gg_spline *s, gg_real4 value, const gg_real4 along[3], int j, int k,
                                 gg_real4 *row) {
    gg_real4 plane = gg_real4_madd(gg_real4_scale(value, s->weight[2][k]), s->other[2][k], along[2]);
    gg_real4 plane_x = gg_real4_scale(along[0], s->weight[2][k]), plane_y = gg_real4_scale(along[1], s->weight[2][k]);
    gg_real4 a = gg_real4_madd(gg_real4_scale(plane, s->weight[1][j]), s->other[1][j], plane_y);
    gg_real4 b = gg_real4_scale(plane_x, s->weight[1][j]);
    for (int i = 0; i < 3; i++) {
        row[i] = gg_real4_madd(gg_real4_madd(row[i], s->weight[0][i], a), s->other[0][i], b);
    }
}
/* all rows; halo: the first node of the stencil */
GG_FN_LARGE void gg_spline_scatter(const gg_spline *s, gg_real4 value, const gg_real4 along[3], gg_real4 *halo) {
    for (int n = 0; n < 9; n++) {
        gg_spline_scatter_row(s, value, along, n % 3, n / 3, halo + n / 3 * 36 + n % 3 * 6);
    }
}

#endif
