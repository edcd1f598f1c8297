/* product.h: the Hessian times a direction: in double precision, or in single, four particles of a cell at a time.
 *
 * A linear solve that Newton's method asks for few digits of needs no more of a product than single precision; the
 * gradient, and what the solve adds up, keep double.
 */
#ifndef GG_CONTINUUM_PRODUCT_H
#define GG_CONTINUUM_PRODUCT_H

#include "newton.h"

/* particles of a cell that pass through a stage of a product with the matrix together; the bits are those of 1 */
#define GG_CONTINUUM_BATCH 8

/* What contacts of a particle make of the direction, of which its nodes say `value` and `along`: added to what it gives.
 * What contacts push is left in contact->along. */
GG_FN void gg_point_apply_contacts(const gg_view *v, int64_t e, const gg_continuum_point *p, gg_real4 value,
                                   const gg_real4 along[3], gg_point_gift *gift) {
    GG_ROLLED
    for (int32_t c = 0; c < p->contact_count; c++) {
        gg_continuum_contact *contact = &gg_continuum_contacts(v, e)[p->contact + c];
        double moved[3];
        gg_continuum_at_surface(contact, value, along, moved);
        gg_contact_less_tool(contact, gg_twist(v, e, GG_TWIST_ALONG), moved);
        gg_sym_mul(contact->tangent, moved, contact->along);
        gg_point_push(gift, contact, contact->along);
    }
}

/* what its stress and pressure make of it as well */
GG_FN gg_point_gift gg_point_apply(const gg_view *v, int64_t e, const gg_continuum_point *p, gg_real4 value,
                                   const gg_real4 along[3]) {
    double dt = v->params.dt;
    gg_sym lever = gg_point_lever(v, e, p), change = gg_matter_strain_along(along, lever, dt);
    gg_matter m = gg_matter_of(gg_continuum_material_of(v, e, p->slot), p->strength, p->strain, change, dt);
    gg_point_gift gift = gg_point_stress(p, gg_matter_tangent(&m, change), lever, dt);
    if (gg_has_liquid(v)) {
        gg_liquid_push(p, along, dt, &gift);
    }
    gg_point_apply_contacts(v, e, p, value, along, &gift);
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

#include "quad_cells.h"

#define GG_TANGENT(name) gg_four_tangent_##name
#define GG_TANGENT_VALUE gg_four
#define GG_TANGENT_HALF  0.5f
#include "tangent_values.h"

/* What contacts make of the direction at `count` of four particles: of what nodes say to that of what they give. */
GG_FN_LARGE void gg_quad_contacts(const gg_view *v, int64_t e, const gg_continuum_point *p, int count,
                                  const gg_quad says[4], gg_quad gives[4]) {
    float say[4][16], give[4][16];
    memcpy(say, says, sizeof say);
    memcpy(give, gives, sizeof give);
    GG_ROLLED
    for (int k = 0; k < count; k++) {
        if (p[k].contact_count == 0) {
            continue;
        }
        gg_point_gift gift = gg_point_nothing();
        gg_real4 own[4];
        for (int n = 0; n < 4; n++) {
            own[n] = gg_four_widened(gg_four_load_floats(say[n] + 4 * k));
        }
        gg_point_apply_contacts(v, e, p + k, own[0], own + 1, &gift);
        for (int n = 0; n < 4; n++) {
            gg_four sum = gg_four_load_floats(give[n] + 4 * k);
            sum = sum + gg_four_rounded(n ? gift.along[n - 1] : gift.impulse);
            memcpy(give[n] + 4 * k, &sum, sizeof sum);
        }
    }
    memcpy(gives, give, sizeof give);
}

/* gg_quad_work: what stress, pressure and contacts make of the direction */
GG_FN void gg_quad_apply(const gg_view *v, int64_t e, const gg_continuum_tangent *p, const gg_continuum_point *points,
                         int count, gg_four side, gg_quad_cell *cell) {
    gg_quad row[5];
    gg_quad_rows(p, count, row, 5);
    int touches = 0;
    for (int k = 0; k < count; k++) {
        touches |= p[k].touches;
    }
    gg_quad place[3], say[4], give[4];
    gg_quad_places(row[0], side, place);
    gg_quad_cell_gather(cell, place, &say[0], say + 1);
    for (int r = 0; r < 5; r++) {
        row[r] = gg_quad_transpose(row[r]);
    }
    const gg_four pressed = GG_QUAD_AT(row[0], 3);
    const gg_four bulk = GG_QUAD_AT(row[1], 0), shear = GG_QUAD_AT(row[1], 1), soften = GG_QUAD_AT(row[1], 2);
    const gg_four lever[6] = {GG_QUAD_AT(row[1], 3), GG_QUAD_AT(row[2], 0), GG_QUAD_AT(row[2], 1),
                              GG_QUAD_AT(row[2], 2), GG_QUAD_AT(row[2], 3), GG_QUAD_AT(row[3], 0)};
    const gg_four flow[6] = {GG_QUAD_AT(row[3], 1), GG_QUAD_AT(row[3], 2), GG_QUAD_AT(row[3], 3),
                             GG_QUAD_AT(row[4], 0), GG_QUAD_AT(row[4], 1), GG_QUAD_AT(row[4], 2)};
    gg_four g[3][3], push[3];
    for (int j = 0; j < 3; j++) {
        gg_quad turned = gg_quad_transpose(say[1 + j]);
        g[0][j] = GG_QUAD_AT(turned, 0), g[1][j] = GG_QUAD_AT(turned, 1), g[2][j] = GG_QUAD_AT(turned, 2);
        push[j] = pressed * GG_QUAD_AT(turned, 3);
    }
    gg_four_tangent_apply(bulk, shear, soften, lever, flow, g);
    give[0] = gg_quad_of(gg_four_zero());
    if (gg_has_liquid(v)) {
        give[0] = gg_quad_transpose(gg_quad_join(push[0], push[1], push[2], gg_four_zero()));
    }
    for (int j = 0; j < 3; j++) {
        give[1 + j] = gg_quad_transpose(gg_quad_join(g[0][j], g[1][j], g[2][j], gg_four_zero()));
    }
    if (touches) {
        gg_quad_contacts(v, e, points, count, say, give);
    }
    gg_quad_cell_scatter(cell, place, give[0], give + 1);
}

/* what stress and contacts of a block make of the direction */
GG_FN void gg_continuum_apply_single(const gg_view *v, int64_t e, int64_t b) {
    gg_quad_cells(v, e, b, v->continuum_way, gg_quad_apply);
    gg_block_sum_tools(v, e, b, 1);
}

#endif

#endif
