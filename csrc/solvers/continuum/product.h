/* product.h: the Hessian times a direction: in double precision, or in single, four particles of a cell at a time.
 *
 * A linear solve that Newton's method asks for few digits of needs no more of a product than single precision; the
 * gradient, and what the solve adds up, keep double. Particle k of a cell is one of the four by k % 4: what particles give
 * to nodes is summed for each of the four, and these sums in the order of gg_quad_sum. A GPU does the same:
 * backend/cuda/continuum.cuh.
 */
#ifndef GG_CONTINUUM_PRODUCT_H
#define GG_CONTINUUM_PRODUCT_H

#include "newton.h"

/* particles of a cell that pass through a stage of a product with the matrix together; the bits are those of 1 */
#define GG_CONTINUUM_BATCH 8

/* What pressure and contacts of a particle make of the direction, of which its nodes say `value` and `along`: added to
 * what it gives. What contacts push is left in contact->along. */
GG_FN void gg_point_apply_more(const gg_view *v, int64_t e, const gg_continuum_point *p, gg_real4 value,
                               const gg_real4 along[3], gg_point_gift *gift) {
    if (gg_has_liquid(v)) {
        gg_liquid_push(p, along, v->params.dt, gift);
    }
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        gg_tensor gradient = gg_tensor_of_columns(along);
        double u[3], moved[3];
        gg_real4_three(value, u);
        gg_continuum_at_surface(contact, u, &gradient, moved);
        gg_contact_less_tool(contact, gg_twist(v, e, GG_TWIST_ALONG), moved);
        gg_sym_mul(contact->tangent, moved, contact->along);
        gg_point_push(gift, contact, contact->along);
    }
}

/* what its stress makes of it as well */
GG_FN gg_point_gift gg_point_apply(const gg_view *v, int64_t e, const gg_continuum_point *p, gg_real4 value,
                                   const gg_real4 along[3]) {
    double dt = v->params.dt;
    gg_sym lever = gg_point_lever(v, e, p), change = gg_matter_strain_along(along, lever, dt);
    gg_matter m = gg_matter_of(gg_continuum_material_of(v, e, p->slot), p->strength, p->strain, change, dt);
    gg_point_gift gift = gg_point_stress(p, gg_matter_tangent(&m, change), lever, dt);
    gg_point_apply_more(v, e, p, value, along, &gift);
    return gift;
}

#ifndef __CUDACC__

/* What stress and contacts make of the direction. Particles of a cell pass through three stages together: where a stage is
 * short a processor works on several at once. */
GG_FN void gg_continuum_apply_double(const gg_view *v, int64_t e, int64_t b) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_real4 halo[GG_HALO];
    gg_halo_read(v, e, b, v->continuum_way, halo);
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    const gg_continuum_point *p = gg_continuum_points(v, e) + block->first, *end = p + block->count;
    gg_cell cell;
    gg_cell_begin(&cell, v->params.spacing);
    GG_ROLLED
    while (p < end) {
        gg_real4 value[GG_CONTINUUM_BATCH], along[GG_CONTINUUM_BATCH][3];
        gg_point_gift gift[GG_CONTINUUM_BATCH];
        int count = 0;
        gg_cell_enter(&cell, p->halo, halo, given);
        GG_ROLLED
        for (; count < GG_CONTINUUM_BATCH && p + count < end && p[count].halo == cell.at; count++) {
            gg_cell_gather(&cell, p[count].place, &value[count], along[count]);
        }
        GG_ROLLED
        for (int k = 0; k < count; k++) {
            gift[k] = gg_point_apply(v, e, &p[k], value[k], along[k]);
        }
        GG_ROLLED
        for (int k = 0; k < count; k++) {
            gg_cell_scatter(&cell, p[k].place, gift[k].impulse, gift[k].along);
        }
        p += count;
    }
    gg_cell_end(&cell, given);
    gg_block_sum_tools(v, e, b, 1);
}

/* ---- in single precision ---- */

#include "../../base/quad.h"

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

#define GG_TANGENT(name) gg_four_tangent_##name
#define GG_TANGENT_VALUE gg_four
#define GG_TANGENT_HALF  0.5f
#include "tangent_values.h"

GG_FN gg_four gg_four_rounded(gg_real4 a) {
    return gg_four_set((float)gg_real4_at(a, 0), (float)gg_real4_at(a, 1), (float)gg_real4_at(a, 2),
                       (float)gg_real4_at(a, 3));
}
GG_FN gg_real4 gg_four_widened(gg_four a) {
    return gg_real4_set((double)a[0], (double)a[1], (double)a[2], (double)a[3]);
}

/* what pressures and contacts make of the direction at particle k of four: of what nodes say to that of what it gives */
GG_FN_LARGE void gg_quad_more(const gg_view *v, int64_t e, const gg_continuum_point *p, int k, const gg_quad says[4],
                              gg_quad gives[4]) {
    gg_real4 say[4];
    for (int n = 0; n < 4; n++) {
        float of[16];
        memcpy(of, &says[n], sizeof of);
        say[n] = gg_real4_set((double)of[4 * k], (double)of[4 * k + 1], (double)of[4 * k + 2], (double)of[4 * k + 3]);
    }
    gg_point_gift gift = gg_point_nothing();
    gg_point_apply_more(v, e, p, say[0], say + 1, &gift);
    for (int n = 0; n < 4; n++) {
        gg_real4 given = n ? gift.along[n - 1] : gift.impulse;
        float of[16];
        memcpy(of, &gives[n], sizeof of);
        for (int c = 0; c < 4; c++) {
            of[4 * k + c] += (float)gg_real4_at(given, c);
        }
        memcpy(&gives[n], of, sizeof of);
    }
}

/* `count` particles of a cell, no more than four; side: 1 along axes that are counted from the lower edge, else -1 */
GG_FN void gg_quad_apply(const gg_view *v, int64_t e, const gg_continuum_tangent *p, const gg_continuum_point *points,
                         int count, gg_four side, gg_quad_cell *cell) {
    static const gg_continuum_tangent none = GG_ZERO;
    gg_four of[4][5];
    int32_t more = 0;
    for (int k = 0; k < 4; k++) {
        const gg_continuum_tangent *one = k < count ? p + k : &none;
        memcpy(of[k], one, sizeof of[k]);
        more |= one->more;
    }
    gg_quad row[5];
    for (int r = 0; r < 5; r++) {
        row[r] = gg_quad_join(of[0][r], of[1][r], of[2][r], of[3][r]);
    }
    gg_quad off = gg_quad_wrapped(gg_quad_mul(row[0], gg_quad_of(side)));
    const gg_quad place[3] = {GG_QUAD_SPLAT(off, 0), GG_QUAD_SPLAT(off, 1), GG_QUAD_SPLAT(off, 2)};
    gg_quad say[4], give[4];
    gg_quad_cell_gather(cell, place, &say[0], say + 1);
    for (int r = 0; r < 5; r++) {
        row[r] = gg_quad_transpose(row[r]);
    }
    const gg_four bulk = GG_QUAD_AT(row[0], 3), shear = GG_QUAD_AT(row[1], 0), soften = GG_QUAD_AT(row[1], 1);
    const gg_four lever[6] = {GG_QUAD_AT(row[1], 2), GG_QUAD_AT(row[1], 3), GG_QUAD_AT(row[2], 0),
                              GG_QUAD_AT(row[2], 1), GG_QUAD_AT(row[2], 2), GG_QUAD_AT(row[2], 3)};
    const gg_four flow[6] = {GG_QUAD_AT(row[3], 0), GG_QUAD_AT(row[3], 1), GG_QUAD_AT(row[3], 2),
                             GG_QUAD_AT(row[3], 3), GG_QUAD_AT(row[4], 0), GG_QUAD_AT(row[4], 1)};
    gg_four g[3][3];
    for (int j = 0; j < 3; j++) {
        gg_quad turned = gg_quad_transpose(say[1 + j]);
        g[0][j] = GG_QUAD_AT(turned, 0), g[1][j] = GG_QUAD_AT(turned, 1), g[2][j] = GG_QUAD_AT(turned, 2);
    }
    gg_four_tangent_apply(bulk, shear, soften, lever, flow, g);
    give[0] = gg_quad_of(gg_four_zero());
    for (int j = 0; j < 3; j++) {
        give[1 + j] = gg_quad_transpose(gg_quad_join(g[0][j], g[1][j], g[2][j], gg_four_zero()));
    }
    for (int k = 0; more && k < count; k++) {
        if (p[k].more) {
            gg_quad_more(v, e, points + k, k, say, give);
        }
    }
    gg_quad_cell_scatter(cell, place, give[0], give + 1);
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

/* what stress and contacts of a block make of the direction */
GG_FN void gg_continuum_apply_single(const gg_view *v, int64_t e, int64_t b) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *from = v->continuum_way + e * v->dims.continuum.nodes * GG_NODES;
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
        gg_quad_nodes nodes = gg_quad_nodes_of(p);
        float side[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int axis = 0; axis < 3; axis++) {
            side[axis] = nodes.step[axis] > 0 ? 1.0f : -1.0f;
            cell.per_metre[axis] = side[axis] * (float)(0.125 / v->params.spacing);
        }
        gg_quad_cell_open(&cell, halo, nodes);
        while (p < end && p->halo == at) {
            int count = 1;
            while (count < 4 && p + count < end && p[count].halo == at) {
                count++;
            }
            gg_quad_apply(v, e, p, points, count, gg_four_set(side[0], side[1], side[2], 0.0f), &cell);
            p += count;
            points += count;
        }
        gg_quad_cell_close(&cell, given, nodes);
    }
    gg_block_sum_tools(v, e, b, 1);
}

#endif

#endif
