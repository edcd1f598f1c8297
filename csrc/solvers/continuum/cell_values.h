/* cell_values.h: the splines over the nodes of a cell as one polynomial, which all particles of the cell share.
 *
 * Within a cell the quadratic B-splines of spline.h are polynomials of t = place - 1, from -1/2 to 1/2. What its 3 x 3 x 3
 * nodes say is turned once into the 27 coefficients of 1, t, t^2 along each axis; a particle then takes Horner's scheme,
 * at half the operations of the splines. What particles give is summed by powers of t, and goes to the nodes by the
 * transpose when the cell is left.
 *
 * Every operation works on each component of a value alone. backend/cuda/continuum.cuh includes this file a second time,
 * with one component for gg_real4.
 */
#ifndef GG_CONTINUUM_CELL_VALUES_H
#define GG_CONTINUUM_CELL_VALUES_H

#include "../../base/real4.h"

/* the cell at which the particles of a block are */
typedef struct gg_cell {
    int32_t at;        /* its first node in the halo; -1: none yet */
    double share;      /* of values: coefficients are 8 times what they should be, which saves operations */
    double per_metre;  /* the same of derivatives [1/m] */
    gg_real4 says[27]; /* coefficients, x fastest, of what the nodes say */
    gg_real4 gets[27]; /* sums of what particles give, by power */
} gg_cell;

/* twice the coefficients of 1, t, t^2 from the values of three nodes along an axis, `step` apart */
GG_FN void gg_cell_turn(gg_real4 *row, int step) {
    gg_real4 low = row[0], middle = gg_real4_add(row[step], row[step]), high = row[2 * step];
    gg_real4 bend = gg_real4_sub(gg_real4_add(low, high), middle);
    row[0] = gg_real4_madd(middle, 0.25, bend);
    row[step] = gg_real4_sub(high, low);
    row[2 * step] = bend;
}

/* the transpose */
GG_FN void gg_cell_turn_back(gg_real4 *row, int step) {
    gg_real4 one = row[0], t = row[step], ends = gg_real4_madd(row[2 * step], 0.25, one);
    gg_real4 rest = gg_real4_sub(one, ends);
    row[0] = gg_real4_sub(ends, t);
    row[step] = gg_real4_add(rest, rest);
    row[2 * step] = gg_real4_add(ends, t);
}

/* takes what the nodes say, x fastest; leaves the array changed */
GG_FN void gg_cell_say(gg_cell *cell, gg_real4 node[27]) {
    for (int k = 0; k < 9; k++) {
        gg_cell_turn(node + 3 * k, 1);
    }
    for (int k = 0; k < 9; k++) {
        gg_cell_turn(node + k / 3 * 9 + k % 3, 3);
    }
    for (int k = 0; k < 9; k++) {
        gg_cell_turn(node + k, 9);
        for (int i = 0; i < 3; i++) {
            cell->says[k + 9 * i] = node[k + 9 * i];
        }
    }
}

/* what goes to the nodes of all that the cell got; empties it */
GG_FN void gg_cell_give(gg_cell *cell, gg_real4 node[27]) {
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < 3; i++) {
            node[k + 9 * i] = cell->gets[k + 9 * i];
            cell->gets[k + 9 * i] = gg_real4_zero();
        }
        gg_cell_turn_back(node + k, 9);
    }
    for (int k = 0; k < 9; k++) {
        gg_cell_turn_back(node + k / 3 * 9 + k % 3, 3);
    }
    for (int k = 0; k < 9; k++) {
        gg_cell_turn_back(node + 3 * k, 1);
    }
}

/* before the first cell of a block; spacing of the nodes [m] */
GG_FN void gg_cell_begin(gg_cell *cell, double spacing) {
    cell->at = -1;
    cell->share = 0.125;
    cell->per_metre = 0.125 / spacing;
    for (int k = 0; k < 27; k++) {
        cell->gets[k] = gg_real4_zero();
    }
}

/* a + b t + c t^2, and its derivative */
GG_FN gg_real4 gg_horner(gg_real4 a, gg_real4 b, gg_real4 c, double t, gg_real4 *slope) {
    gg_real4 bend = gg_real4_scale(c, t), mean = gg_real4_add(b, bend);
    *slope = gg_real4_add(mean, bend);
    return gg_real4_madd(a, t, mean);
}
GG_FN gg_real4 gg_horner_value(gg_real4 a, gg_real4 b, gg_real4 c, double t) {
    return gg_real4_madd(a, t, gg_real4_madd(b, t, c));
}

/* What the nodes say at a particle: *value, and its derivatives along the axes [1/m]. */
GG_FN void gg_cell_gather(const gg_cell *cell, const double place[3], gg_real4 *value, gg_real4 along[3]) {
    double x = place[0] - 1.0, y = place[1] - 1.0, z = place[2] - 1.0;
    gg_real4 plane[3], plane_x[3], plane_y[3];
    for (int k = 0; k < 3; k++) {
        gg_real4 row[3], row_x[3];
        for (int j = 0; j < 3; j++) {
            const gg_real4 *at = cell->says + 9 * k + 3 * j;
            row[j] = gg_horner(at[0], at[1], at[2], x, &row_x[j]);
        }
        plane[k] = gg_horner(row[0], row[1], row[2], y, &plane_y[k]);
        plane_x[k] = gg_horner_value(row_x[0], row_x[1], row_x[2], y);
    }
    *value = gg_real4_scale(gg_horner(plane[0], plane[1], plane[2], z, &along[2]), cell->share);
    along[1] = gg_horner_value(plane_y[0], plane_y[1], plane_y[2], z);
    along[0] = gg_horner_value(plane_x[0], plane_x[1], plane_x[2], z);
    for (int axis = 0; axis < 3; axis++) {
        along[axis] = gg_real4_scale(along[axis], cell->per_metre);
    }
}

/* adds to what is summed by powers of t: a value, and what is given to its derivative */
GG_FN void gg_powers(gg_real4 value, gg_real4 slope, double t, gg_real4 out[3]) {
    out[0] = value;
    out[1] = gg_real4_madd(slope, t, value);
    out[2] = gg_real4_scale(gg_real4_add(out[1], slope), t);
}

/* The transpose: a particle gives `value` by the weights of the nodes, along[k] by their derivatives on axis k. */
GG_FN void gg_cell_scatter(gg_cell *cell, const double place[3], gg_real4 value, const gg_real4 along[3]) {
    double x = place[0] - 1.0, y = place[1] - 1.0, z = place[2] - 1.0;
    gg_real4 by_x = gg_real4_scale(along[0], cell->per_metre), by_y = gg_real4_scale(along[1], cell->per_metre);
    gg_real4 plane[3];
    gg_powers(gg_real4_scale(value, cell->share), gg_real4_scale(along[2], cell->per_metre), z, plane);
    for (int k = 0; k < 3; k++) {
        gg_real4 row[3], row_x = by_x;
        gg_powers(plane[k], by_y, y, row);
        for (int j = 0; j < 3; j++) {
            gg_real4 of[3], *at = cell->gets + 9 * k + 3 * j;
            gg_powers(row[j], row_x, x, of);
            for (int i = 0; i < 3; i++) {
                at[i] = gg_real4_add(at[i], of[i]);
            }
            row_x = gg_real4_scale(row_x, y);
        }
        by_x = gg_real4_scale(by_x, z);
        by_y = gg_real4_scale(by_y, z);
    }
}

#endif
