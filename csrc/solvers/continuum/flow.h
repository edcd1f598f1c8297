/* flow.h: how the motion of particles carries volume to nodes, sum_p V_p grad w . v (liquid.h): in double precision, or where
 * products with the Hessian are in single precision (product.h) as these are. */
#ifndef GG_CONTINUUM_FLOW_H
#define GG_CONTINUUM_FLOW_H

#include "product.h"

/* gg_cell_scatter sums what it is told of the three axes, here each of one component */
GG_FN void gg_liquid_flow_of(const gg_continuum_point *p, gg_real4 value, gg_real4 along[3]) {
    for (int j = 0; j < 3; j++) {
        along[j] = gg_real4_set(p->volume * gg_real4_at(value, j), 0.0, 0.0, 0.0);
    }
}

/* eight times what nodes say is multiplied by this, and by gg_continuum_tangent.pressed, to carry volume along an axis */
GG_FN float gg_flow_scale(const gg_view *v, float side) {
    return side * (float)(0.125 * 0.125 / (v->params.spacing * v->params.dt));
}

#ifndef __CUDACC__

/* Gives to the nodes of a block what velocities carry. nodes: the velocities */
GG_FN_LARGE void gg_liquid_flow_double(const gg_view *v, int64_t e, int64_t b, const gg_real4 *nodes) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    const gg_real4 *halo = gg_halo_read(v, e, b, nodes, gg_given_of(v, e, b) + GG_HALO);
    gg_real4 *given = gg_given_clear(v, e, b, GG_HALO);
    gg_cell cell;
    gg_cell_begin(&cell, v->params.spacing);
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        gg_real4 value, along[3];
        gg_cell_enter(&cell, p->halo, halo, given);
        gg_cell_gather(&cell, p->place, &value, along);
        gg_liquid_flow_of(p, value, along);
        gg_cell_scatter(&cell, p->place, gg_real4_zero(), along);
    }
    gg_cell_end(&cell, given);
}

/* ---- in single precision ---- */

#define GG_FLOW(name)     gg_quad_flow_##name
#define GG_FLOW_VALUE     gg_quad
#define GG_FLOW_ADD(a, b) gg_quad_add(a, b)
#define GG_FLOW_MUL(a, b) gg_quad_mul(a, b)
#include "flow_values.h"

/* gg_quad_work */
GG_FN void gg_quad_flow(const gg_view *v, int64_t e, const gg_continuum_tangent *p, const gg_continuum_point *points,
                        int count, gg_four side, gg_quad_cell *cell) {
    const gg_quad_flow_axis axis[3] = {
        {gg_quad_of(gg_four_set(1.0f, 0.0f, 0.0f, 0.0f)), gg_quad_of(gg_four_set(0.0f, 1.0f, 1.0f, 0.0f))},
        {gg_quad_of(gg_four_set(0.0f, 1.0f, 0.0f, 0.0f)), gg_quad_of(gg_four_set(1.0f, 0.0f, 1.0f, 0.0f))},
        {gg_quad_of(gg_four_set(0.0f, 0.0f, 1.0f, 0.0f)), gg_quad_of(gg_four_set(1.0f, 1.0f, 0.0f, 0.0f))}};
    const gg_four scale =
        gg_four_set(gg_flow_scale(v, side[0]), gg_flow_scale(v, side[1]), gg_flow_scale(v, side[2]), 0.0f);
    gg_quad first, place[3];
    (void)e, (void)points;
    gg_quad_rows(p, count, &first, 1);
    gg_quad_places(first, side, place);
    gg_quad carried = gg_quad_mul(gg_quad_flow_value(cell->says, place), GG_QUAD_SPLAT(first, 3));
    carried = gg_quad_mul(carried, gg_quad_of(scale));
    gg_quad_flow_give(axis, place, carried, cell->gets);
}

/* item: block of an env */
GG_FN void gg_liquid_flow_iterate(const gg_view *v, int64_t e, int64_t b) {
    if (b < gg_continuum_env_of(v, e)->blocks && gg_continuum_newton_on(v, e)) {
        gg_liquid_flow_double(v, e, b, v->continuum_velocity);
    }
}
GG_FN void gg_liquid_flow_way(const gg_view *v, int64_t e, int64_t b) {
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (b >= own->blocks || !gg_continuum_inner_on(v, e)) {
        return;
    }
    if (own->single) {
        gg_quad_cells(v, e, b, v->continuum_way, gg_quad_flow);
    } else {
        gg_liquid_flow_double(v, e, b, v->continuum_way);
    }
}
GG_FN void gg_liquid_flow_step(const gg_view *v, int64_t e, int64_t b) {
    if (b < gg_continuum_env_of(v, e)->blocks && gg_continuum_newton_on(v, e)) {
        gg_liquid_flow_double(v, e, b, v->continuum_step);
    }
}

#endif

#endif
