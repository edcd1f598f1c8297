/* quad_cells.h: the particles of a block cell by cell in single precision, four of a cell at a time.
 *
 * Particle k of a cell is one of the four by k % 4: what particles give to nodes is summed for each of the four, and these
 * sums in the order of gg_quad_sum. A GPU does the same: backend/cuda/continuum.cuh. */
#ifndef GG_CONTINUUM_QUAD_CELLS_H
#define GG_CONTINUUM_QUAD_CELLS_H

#include "../../base/quad.h"
#include "newton.h"

/* of a node's value: what nodes say, and what they are given */
#define GG_CELL_FROM_EDGE
#define GG_CELL(name)  gg_four_cell_##name
#define GG_CELL_TYPE   gg_four_cell
#define GG_CELL_VALUE  gg_four
#define GG_CELL_SCALAR float
#define GG_CELL_PLACE  float
#define GG_CELL_ZERO   gg_four_zero()
#include "cell_operators.h"
/* of four particles */
#define GG_CELL_FROM_EDGE
#define GG_CELL(name)            gg_quad_cell_##name
#define GG_CELL_TYPE             gg_quad_cell
#define GG_CELL_VALUE            gg_quad
#define GG_CELL_SCALAR           float
#define GG_CELL_PLACE            gg_quad
#define GG_CELL_ZERO             gg_quad_of(gg_four_zero())
#define GG_CELL_ADD(a, b)        gg_quad_add(a, b)
#define GG_CELL_SUB(a, b)        gg_quad_sub(a, b)
#define GG_CELL_TIMES(a, factor) gg_quad_scale(a, factor)
#define GG_CELL_T(place)         (place)
#define GG_CELL_SCALE(a, t)      gg_quad_mul(a, t)
#define GG_CELL_MADD(sum, t, a)  gg_quad_madd(sum, t, a)
#include "cell_values.h"

GG_FN gg_four gg_four_rounded(gg_real4 a) {
    return gg_four_set((float)gg_real4_at(a, 0), (float)gg_real4_at(a, 1), (float)gg_real4_at(a, 2),
                       (float)gg_real4_at(a, 3));
}
GG_FN gg_real4 gg_four_widened(gg_four a) {
    return gg_real4_set((double)a[0], (double)a[1], (double)a[2], (double)a[3]);
}

/* the 27 nodes of a cell in a halo: the first, and steps along the axes; back to front along axes that are counted from the
 * upper edge, as the first particle is nearer to it */
typedef struct gg_quad_nodes {
    int32_t first, step[3];
} gg_quad_nodes;
GG_FN gg_quad_nodes gg_quad_nodes_of(const gg_continuum_tangent *p) {
    gg_quad_nodes out = {p->halo, {1, 6, 36}};
    for (int axis = 0; axis < 3; axis++) {
        if (p->off[axis] < 0.0f) {
            out.first += 2 * out.step[axis];
            out.step[axis] = -out.step[axis];
        }
    }
    return out;
}

/* enters a cell */
GG_FN void gg_quad_cell_open(gg_quad_cell *cell, const gg_four *halo, gg_quad_nodes at) {
    gg_four_cell nodes;
    gg_four node[27];
    halo += at.first;
    for (int z = 0; z < 3; z++) {
        for (int y = 0; y < 3; y++) {
            for (int x = 0; x < 3; x++) {
                node[9 * z + 3 * y + x] = halo[at.step[2] * z + at.step[1] * y + at.step[0] * x];
            }
        }
    }
    gg_four_cell_say(&nodes, node);
    for (int k = 0; k < 27; k++) {
        cell->says[k] = gg_quad_of(nodes.says[k]);
        cell->gets[k] = gg_quad_of(gg_four_zero());
    }
}

/* leaves it: adds to the nodes what it got */
GG_FN void gg_quad_cell_close(gg_quad_cell *cell, gg_real4 *given, gg_quad_nodes at) {
    gg_four_cell nodes;
    gg_four node[27];
    for (int k = 0; k < 27; k++) {
        nodes.gets[k] = gg_quad_sum(cell->gets[k]);
    }
    gg_four_cell_give(&nodes, node);
    given += at.first;
    for (int z = 0; z < 3; z++) {
        for (int y = 0; y < 3; y++) {
            for (int x = 0; x < 3; x++) {
                gg_real4 *to = &given[at.step[2] * z + at.step[1] * y + at.step[0] * x];
                *to = gg_real4_add(*to, gg_four_widened(node[9 * z + 3 * y + x]));
            }
        }
    }
}

/* what `count` particles of a cell, no more than four, take from it and give to it; side: 1 along axes that are counted
 * from the lower edge, else -1 */
typedef void gg_quad_work(const gg_view *v, int64_t e, const gg_continuum_tangent *p, const gg_continuum_point *points,
                          int count, gg_four side, gg_quad_cell *cell);

/* the first `rows` vectors of each; of those that are missing zeros */
GG_FN void gg_quad_rows(const gg_continuum_tangent *p, int count, gg_quad *row, int rows) {
    static const gg_continuum_tangent none = GG_ZERO;
    gg_four of[4][5];
    for (int k = 0; k < 4; k++) {
        memcpy(of[k], k < count ? p + k : &none, sizeof of[k]);
    }
    for (int r = 0; r < rows; r++) {
        row[r] = gg_quad_join(of[0][r], of[1][r], of[2][r], of[3][r]);
    }
}

/* their places, of their first vectors */
GG_FN void gg_quad_places(gg_quad first, gg_four side, gg_quad place[3]) {
    gg_quad at = gg_quad_wrapped(gg_quad_mul(first, gg_quad_of(side)));
    place[0] = GG_QUAD_SPLAT(at, 0), place[1] = GG_QUAD_SPLAT(at, 1), place[2] = GG_QUAD_SPLAT(at, 2);
}

/* goes through the particles of a block; nodes: what says something */
GG_FN void gg_quad_cells(const gg_view *v, int64_t e, int64_t b, const gg_real4 *nodes, gg_quad_work *work) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *from = nodes + e * v->dims.continuum.nodes * GG_NODES;
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    gg_four halo[GG_HALO];
    for (int z = 0; z < 6; z++) {
        for (int y = 0; y < 6; y++) {
            const gg_real4 *low = from + gg_halo_node(block, 0, y, z), *high = from + gg_halo_node(block, 4, y, z);
            for (int x = 0; x < 6; x++) {
                halo[z * 36 + y * 6 + x] = gg_four_rounded(x < 4 ? low[x] : high[x - 4]);
            }
        }
    }
    const gg_continuum_point *points = gg_continuum_points(v, e) + block->first;
    const gg_continuum_tangent *p = gg_continuum_tangents(v, e) + block->first, *end = p + block->count;
    gg_quad_cell cell;
    gg_quad_cell_begin(&cell, v->params.spacing);
    while (p < end) {
        int32_t at = p->halo;
        gg_quad_nodes cell_nodes = gg_quad_nodes_of(p);
        float side[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int axis = 0; axis < 3; axis++) {
            side[axis] = cell_nodes.step[axis] > 0 ? 1.0f : -1.0f;
            cell.per_metre[axis] = side[axis] * (float)(0.125 / v->params.spacing);
        }
        gg_quad_cell_open(&cell, halo, cell_nodes);
        while (p < end && p->halo == at) {
            int count = 1;
            while (count < 4 && p + count < end && p[count].halo == at) {
                count++;
            }
            work(v, e, p, points, count, gg_four_set(side[0], side[1], side[2], 0.0f), &cell);
            p += count;
            points += count;
        }
        gg_quad_cell_close(&cell, given, cell_nodes);
    }
}

#endif
