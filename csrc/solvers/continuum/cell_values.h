/* cell_values.h: the splines over the nodes of a cell as one polynomial, which all particles of the cell share.
 *
 * Within a cell the quadratic B-splines of spline.h are polynomials of t = place - 1, from -1/2 to 1/2; or, with
 * GG_CELL_FROM_EDGE, of t = place - 1/2, from 0 to 1. From the middle all numbers are smallest. From the edge the last of
 * three nodes has no part but in t^2: where particles lie at that edge it is almost without mass, is as fast as that allows,
 * and would drown what others say in its rounding. What the 3 x 3 x 3 nodes say is turned once into the 27 coefficients of
 * 1, t, t^2 along each axis; a particle then takes Horner's scheme, at half the operations of the splines. What particles
 * give is summed by powers of t, and goes to the nodes by the transpose when the cell is left.
 *
 * Every operation works on each component of a value alone. Included once for each kind of value, by who defines
 *   GG_CELL(name)   the function of that name
 *   GG_CELL_TYPE    a cell
 *   GG_CELL_VALUE, GG_CELL_SCALAR, GG_CELL_PLACE   types of a value, of a factor, of a coordinate t
 *   GG_CELL_ZERO, GG_CELL_ADD(a, b), GG_CELL_SUB(a, b), GG_CELL_TIMES(a, factor)
 *   GG_CELL_T(place), GG_CELL_SCALE(a, t), GG_CELL_MADD(sum, t, a)
 */
/* the cell at which the particles of a block are */
typedef struct GG_CELL_TYPE {
    int32_t at;                  /* its first node in the halo; -1: none yet */
    GG_CELL_SCALAR share;        /* of values: coefficients are 8 times what they should be, which saves operations */
    GG_CELL_SCALAR per_metre[3]; /* the same of derivatives along each axis [1/m] */
    GG_CELL_VALUE says[27];      /* coefficients, x fastest, of what the nodes say */
    GG_CELL_VALUE gets[27];      /* sums of what particles give, by power */
} GG_CELL_TYPE;

#ifdef GG_CELL_FROM_EDGE

/* twice the coefficients of 1, t, t^2 from the values of three nodes along an axis, `step` apart, and the transpose */
GG_FN void GG_CELL(turn)(GG_CELL_VALUE *row, int step) {
    GG_CELL_VALUE low = row[0], middle = row[step], rise = GG_CELL_SUB(middle, low);
    row[0] = GG_CELL_ADD(low, middle);
    row[step] = GG_CELL_ADD(rise, rise);
    row[2 * step] = GG_CELL_SUB(GG_CELL_SUB(row[2 * step], middle), rise);
}
GG_FN void GG_CELL(turn_back)(GG_CELL_VALUE *row, int step) {
    GG_CELL_VALUE one = row[0], t = GG_CELL_ADD(row[step], row[step]), square = row[2 * step];
    row[0] = GG_CELL_ADD(GG_CELL_SUB(one, t), square);
    row[step] = GG_CELL_SUB(GG_CELL_ADD(one, t), GG_CELL_ADD(square, square));
}

#else

/* twice the coefficients of 1, t, t^2 from the values of three nodes along an axis, `step` apart */
GG_FN void GG_CELL(turn)(GG_CELL_VALUE *row, int step) {
    GG_CELL_VALUE low = row[0], middle = GG_CELL_ADD(row[step], row[step]), high = row[2 * step];
    GG_CELL_VALUE bend = GG_CELL_SUB(GG_CELL_ADD(low, high), middle);
    row[0] = GG_CELL_ADD(middle, GG_CELL_TIMES(bend, (GG_CELL_SCALAR)0.25));
    row[step] = GG_CELL_SUB(high, low);
    row[2 * step] = bend;
}

/* the transpose */
GG_FN void GG_CELL(turn_back)(GG_CELL_VALUE *row, int step) {
    GG_CELL_VALUE one = row[0], t = row[step],
                  ends = GG_CELL_ADD(row[2 * step], GG_CELL_TIMES(one, (GG_CELL_SCALAR)0.25));
    GG_CELL_VALUE rest = GG_CELL_SUB(one, ends);
    row[0] = GG_CELL_SUB(ends, t);
    row[step] = GG_CELL_ADD(rest, rest);
    row[2 * step] = GG_CELL_ADD(ends, t);
}

#endif

/* takes what the nodes say, x fastest; leaves the array changed */
GG_FN void GG_CELL(say)(GG_CELL_TYPE *cell, GG_CELL_VALUE node[27]) {
    for (int k = 0; k < 9; k++) {
        GG_CELL(turn)(node + 3 * k, 1);
    }
    for (int k = 0; k < 9; k++) {
        GG_CELL(turn)(node + k / 3 * 9 + k % 3, 3);
    }
    for (int k = 0; k < 9; k++) {
        GG_CELL(turn)(node + k, 9);
        for (int i = 0; i < 3; i++) {
            cell->says[k + 9 * i] = node[k + 9 * i];
        }
    }
}

/* what goes to the nodes of all that the cell got; empties it */
GG_FN void GG_CELL(give)(GG_CELL_TYPE *cell, GG_CELL_VALUE node[27]) {
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < 3; i++) {
            node[k + 9 * i] = cell->gets[k + 9 * i];
            cell->gets[k + 9 * i] = GG_CELL_ZERO;
        }
        GG_CELL(turn_back)(node + k, 9);
    }
    for (int k = 0; k < 9; k++) {
        GG_CELL(turn_back)(node + k / 3 * 9 + k % 3, 3);
    }
    for (int k = 0; k < 9; k++) {
        GG_CELL(turn_back)(node + 3 * k, 1);
    }
}

/* before the first cell of a block; spacing of the nodes [m] */
GG_FN void GG_CELL(begin)(GG_CELL_TYPE *cell, double spacing) {
    cell->at = -1;
    cell->share = (GG_CELL_SCALAR)0.125;
    for (int axis = 0; axis < 3; axis++) {
        cell->per_metre[axis] = (GG_CELL_SCALAR)(0.125 / spacing);
    }
    for (int k = 0; k < 27; k++) {
        cell->gets[k] = GG_CELL_ZERO;
    }
}

/* a + b t + c t^2, and its derivative */
GG_FN GG_CELL_VALUE GG_CELL(horner)(GG_CELL_VALUE a, GG_CELL_VALUE b, GG_CELL_VALUE c, GG_CELL_PLACE t,
                                    GG_CELL_VALUE *slope) {
    GG_CELL_VALUE bend = GG_CELL_SCALE(c, t), mean = GG_CELL_ADD(b, bend);
    *slope = GG_CELL_ADD(mean, bend);
    return GG_CELL_MADD(a, t, mean);
}
GG_FN GG_CELL_VALUE GG_CELL(horner_value)(GG_CELL_VALUE a, GG_CELL_VALUE b, GG_CELL_VALUE c, GG_CELL_PLACE t) {
    return GG_CELL_MADD(a, t, GG_CELL_MADD(b, t, c));
}

/* What the nodes say at a particle: *value, and its derivatives along the axes [1/m]. */
GG_FN void GG_CELL(gather)(const GG_CELL_TYPE *cell, const GG_CELL_PLACE place[3], GG_CELL_VALUE *value,
                           GG_CELL_VALUE along[3]) {
    GG_CELL_PLACE x = GG_CELL_T(place[0]), y = GG_CELL_T(place[1]), z = GG_CELL_T(place[2]);
    GG_CELL_VALUE plane[3], plane_x[3], plane_y[3];
    for (int k = 0; k < 3; k++) {
        GG_CELL_VALUE row[3], row_x[3];
        for (int j = 0; j < 3; j++) {
            const GG_CELL_VALUE *at = cell->says + 9 * k + 3 * j;
            row[j] = GG_CELL(horner)(at[0], at[1], at[2], x, &row_x[j]);
        }
        plane[k] = GG_CELL(horner)(row[0], row[1], row[2], y, &plane_y[k]);
        plane_x[k] = GG_CELL(horner_value)(row_x[0], row_x[1], row_x[2], y);
    }
    *value = GG_CELL_TIMES(GG_CELL(horner)(plane[0], plane[1], plane[2], z, &along[2]), cell->share);
    along[1] = GG_CELL(horner_value)(plane_y[0], plane_y[1], plane_y[2], z);
    along[0] = GG_CELL(horner_value)(plane_x[0], plane_x[1], plane_x[2], z);
    for (int axis = 0; axis < 3; axis++) {
        along[axis] = GG_CELL_TIMES(along[axis], cell->per_metre[axis]);
    }
}

/* adds to what is summed by powers of t: a value, and what is given to its derivative */
GG_FN void GG_CELL(powers)(GG_CELL_VALUE value, GG_CELL_VALUE slope, GG_CELL_PLACE t, GG_CELL_VALUE out[3]) {
    out[0] = value;
    out[1] = GG_CELL_MADD(slope, t, value);
    out[2] = GG_CELL_SCALE(GG_CELL_ADD(out[1], slope), t);
}

/* The transpose: a particle gives `value` by the weights of the nodes, along[k] by their derivatives on axis k. */
GG_FN void GG_CELL(scatter)(GG_CELL_TYPE *cell, const GG_CELL_PLACE place[3], GG_CELL_VALUE value,
                            const GG_CELL_VALUE along[3]) {
    GG_CELL_PLACE x = GG_CELL_T(place[0]), y = GG_CELL_T(place[1]), z = GG_CELL_T(place[2]);
    GG_CELL_VALUE by_x = GG_CELL_TIMES(along[0], cell->per_metre[0]),
                  by_y = GG_CELL_TIMES(along[1], cell->per_metre[1]);
    GG_CELL_VALUE plane[3];
    GG_CELL(powers)(GG_CELL_TIMES(value, cell->share), GG_CELL_TIMES(along[2], cell->per_metre[2]), z, plane);
    for (int k = 0; k < 3; k++) {
        GG_CELL_VALUE row[3], row_x = by_x;
        GG_CELL(powers)(plane[k], by_y, y, row);
        for (int j = 0; j < 3; j++) {
            GG_CELL_VALUE of[3], *at = cell->gets + 9 * k + 3 * j;
            GG_CELL(powers)(row[j], row_x, x, of);
            for (int i = 0; i < 3; i++) {
                at[i] = GG_CELL_ADD(at[i], of[i]);
            }
            row_x = GG_CELL_SCALE(row_x, y);
        }
        by_x = GG_CELL_SCALE(by_x, z);
        by_y = GG_CELL_SCALE(by_y, z);
    }
}

#undef GG_CELL
#undef GG_CELL_FROM_EDGE
#undef GG_CELL_TYPE
#undef GG_CELL_VALUE
#undef GG_CELL_SCALAR
#undef GG_CELL_PLACE
#undef GG_CELL_ZERO
#undef GG_CELL_ADD
#undef GG_CELL_SUB
#undef GG_CELL_TIMES
#undef GG_CELL_T
#undef GG_CELL_SCALE
#undef GG_CELL_MADD
