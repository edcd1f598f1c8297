/* flow_values.h: the volume that the motion of particles carries to the nodes of a cell, sum_p V_p grad w . v, in single
 * precision. The sum over the axes is left to the nodes: axes lie side by side, each summed by powers of t as in
 * cell_values.h, from the edge. Included once for each kind of value, by who defines GG_FLOW(name), GG_FLOW_VALUE,
 * GG_FLOW_ADD(a, b) and GG_FLOW_MUL(a, b).
 */
/* along an axis: 1 where a component is that of the axis, and where it is another's; 0 elsewhere */
typedef struct GG_FLOW(axis) {
    GG_FLOW_VALUE own, other;
} GG_FLOW(axis);

/* a + b t + c t^2 */
GG_FN GG_FLOW_VALUE GG_FLOW(horner)(const GG_FLOW_VALUE *a, int step, GG_FLOW_VALUE t) {
    return GG_FLOW_ADD(a[0], GG_FLOW_MUL(t, GG_FLOW_ADD(a[step], GG_FLOW_MUL(a[2 * step], t))));
}

/* what the nodes say at a particle, eight times */
GG_FN GG_FLOW_VALUE GG_FLOW(value)(const GG_FLOW_VALUE says[27], const GG_FLOW_VALUE place[3]) {
    GG_FLOW_VALUE row[9], plane[3];
    for (int k = 0; k < 9; k++) {
        row[k] = GG_FLOW(horner)(says + 3 * k, 1, place[0]);
    }
    for (int k = 0; k < 3; k++) {
        plane[k] = GG_FLOW(horner)(row + 3 * k, 1, place[1]);
    }
    return GG_FLOW(horner)(plane, 1, place[2]);
}

/* 1, t, t^2; along the axis itself their derivatives */
GG_FN void GG_FLOW(powers)(const GG_FLOW(axis) * axis, GG_FLOW_VALUE t, GG_FLOW_VALUE out[3]) {
    out[0] = axis->other;
    out[1] = GG_FLOW_ADD(axis->own, GG_FLOW_MUL(axis->other, t));
    out[2] = GG_FLOW_MUL(GG_FLOW_ADD(axis->own, out[1]), t);
}

/* gives the volume that a particle carries along each axis */
GG_FN void GG_FLOW(give)(const GG_FLOW(axis) axis[3], const GG_FLOW_VALUE place[3], GG_FLOW_VALUE carried,
                         GG_FLOW_VALUE gets[27]) {
    GG_FLOW_VALUE by[3][3];
    for (int k = 0; k < 3; k++) {
        GG_FLOW(powers)(&axis[k], place[k], by[k]);
    }
    for (int l = 0; l < 3; l++) {
        GG_FLOW_VALUE plane = GG_FLOW_MUL(carried, by[2][l]);
        for (int j = 0; j < 3; j++) {
            GG_FLOW_VALUE row = GG_FLOW_MUL(plane, by[1][j]), *to = gets + 9 * l + 3 * j;
            for (int i = 0; i < 3; i++) {
                to[i] = GG_FLOW_ADD(to[i], GG_FLOW_MUL(row, by[0][i]));
            }
        }
    }
}

#undef GG_FLOW
#undef GG_FLOW_VALUE
#undef GG_FLOW_ADD
#undef GG_FLOW_MUL
