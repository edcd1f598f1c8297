/* columns.h: 3 x 3 matrices by columns, each the first three of a vector of four doubles. */
#ifndef GG_COLUMNS_H
#define GG_COLUMNS_H

#include "real4.h"
#include "tensor.h"

/* out = a b of a matrix and a symmetric one */
GG_FN void gg_columns_times(const gg_real4 a[3], gg_sym b, gg_real4 out[3]) {
    for (int j = 0; j < 3; j++) {
        double of[3];
        gg_sym_row(b, j, of);
        out[j] = gg_real4_madd(gg_real4_madd(gg_real4_scale(a[0], of[0]), of[1], a[1]), of[2], a[2]);
    }
}

/* the same matrix by rows */
GG_FN gg_tensor gg_tensor_of_columns(const gg_real4 columns[3]) {
    gg_tensor out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.m[i][j] = gg_real4_at(columns[j], i);
        }
    }
    return out;
}

#endif
