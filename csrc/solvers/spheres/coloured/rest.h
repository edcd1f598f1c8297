/* rest.h: the contacts of the last colour (colours.h), which may share grains: one after another. */
#ifndef GG_COLOURED_REST_H
#define GG_COLOURED_REST_H

#include "../../scalar.h"

/* contact k of the last colour */
GG_FN gg_scalar_records gg_coloured_rest(const gg_view *v, int64_t e, int64_t k) {
    int64_t record = (int64_t)v->colouring[e].first_row[GG_COLOURS - 1] * GG_LANES + k;
    return gg_scalar_records_at(v, e, record, record + 1);
}

/* item: env */
GG_FN void gg_coloured_prepare_rest(const gg_view *v, int64_t e) {
    for (int64_t k = 0; k < v->colouring[e].contacts[GG_COLOURS - 1]; k++) {
        gg_scalar_records at = gg_coloured_rest(v, e, k);
        gg_scalar_prepare_records(v, e, &at);
    }
}

/* item: env */
GG_FN void gg_coloured_sweep_rest(const gg_view *v, int64_t e, int32_t sweep) {
    if (v->env[e].converged) {
        return;
    }
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, sweep);
    for (int64_t k = 0; k < v->colouring[e].contacts[GG_COLOURS - 1]; k++) {
        gg_scalar_records at = gg_coloured_rest(v, e, k);
        gg_scalar_sweep_features(&s, &at, NULL);
    }
}

#endif
