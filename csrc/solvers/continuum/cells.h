/* cells.h: the particles of a block cell by cell, in whose order they are: cell_values.h. */
#ifndef GG_CONTINUUM_CELLS_H
#define GG_CONTINUUM_CELLS_H

#include "nodes.h"

#define GG_CELL(name)            gg_cell_##name
#define GG_CELL_TYPE             gg_cell
#define GG_CELL_VALUE            gg_real4
#define GG_CELL_SCALAR           double
#define GG_CELL_PLACE            double
#define GG_CELL_ZERO             gg_real4_zero()
#define GG_CELL_ADD(a, b)        gg_real4_add(a, b)
#define GG_CELL_SUB(a, b)        gg_real4_sub(a, b)
#define GG_CELL_TIMES(a, factor) gg_real4_scale(a, factor)
#define GG_CELL_T(place)         ((place)-1.0)
#define GG_CELL_SCALE(a, t)      gg_real4_scale(a, t)
#define GG_CELL_MADD(sum, t, a)  gg_real4_madd(sum, t, a)
#include "cell_values.h"

/* where row k of three nodes begins, from the first node of the cell */
GG_FN int gg_cell_row(int k) { return k / 3 * 36 + k % 3 * 6; }

/* reads the nodes */
GG_FN_LARGE void gg_cell_read(gg_cell *cell, const gg_real4 *halo) {
    gg_real4 node[27];
    for (int k = 0; k < 27; k++) {
        node[k] = halo[cell->at + gg_cell_row(k / 3) + k % 3];
    }
    gg_cell_say(cell, node);
}

/* adds to the nodes what the cell got, and empties it */
GG_FN_LARGE void gg_cell_write(gg_cell *cell, gg_real4 *given) {
    gg_real4 node[27];
    gg_cell_give(cell, node);
    for (int k = 0; k < 27; k++) {
        gg_real4 *to = &given[cell->at + gg_cell_row(k / 3) + k % 3];
        *to = gg_real4_add(*to, node[k]);
    }
}

/* goes to the cell of the next particle; given: NULL where particles give nothing */
GG_FN void gg_cell_enter(gg_cell *cell, int32_t at, const gg_real4 *halo, gg_real4 *given) {
    if (at == cell->at) {
        return;
    }
    if (given && cell->at >= 0) {
        gg_cell_write(cell, given);
    }
    cell->at = at;
    gg_cell_read(cell, halo);
}

/* after the last particle of a block */
GG_FN void gg_cell_end(gg_cell *cell, gg_real4 *given) {
    if (cell->at >= 0) {
        gg_cell_write(cell, given);
    }
}

#endif
