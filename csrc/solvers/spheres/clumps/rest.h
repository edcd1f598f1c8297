/* rest.h: the contacts of clumps of the last colour (coloured/colours.h), which may share clumps: one after another. */
#ifndef GG_CLUMP_REST_H
#define GG_CLUMP_REST_H

#include "../../scalar.h"

/* item: env */
GG_FN void gg_clump_prepare_rest(const gg_view *v, int64_t e) {
    int64_t first = (int64_t)v->colouring[e].first_row[GG_COLOURS - 1] * GG_LANES;
    for (int64_t k = 0; k < v->colouring[e].contacts[GG_COLOURS - 1]; k++) {
        gg_scalar_records at = gg_scalar_records_at(v, e, first + k, first + k + 1);
        gg_scalar_prepare_clump_records(v, e, &at);
    }
}

/* item: env */
GG_FN void gg_clump_sweep_rest(const gg_view *v, int64_t e, int32_t sweep) {
    if (v->env[e].converged) {
        return;
    }
    int64_t first = (int64_t)v->colouring[e].first_row[GG_COLOURS - 1] * GG_LANES;
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, sweep);
    for (int64_t k = 0; k < v->colouring[e].contacts[GG_COLOURS - 1]; k++) {
        gg_scalar_records at = gg_scalar_records_at(v, e, first + k, first + k + 1);
        gg_scalar_sweep_clump_features(&s, e, &at);
    }
}

#endif
