/* rest.h: the contacts of the last colour in a world of clumps, which may share clumps: one after another. */
#ifndef GG_CLUMP_REST_H
#define GG_CLUMP_REST_H

#include "../coloured/rest.h"

/* item: env */
GG_FN void gg_clump_prepare_rest(const gg_view *v, int64_t e) {
    for (int64_t k = 0; k < v->colouring[e].contacts[GG_COLOURS - 1]; k++) {
        gg_scalar_records at = gg_coloured_rest(v, e, k);
        if (gg_lone_contact(v, e, at.own[0], at.other[0])) {
            gg_scalar_prepare_records(v, e, &at);
        } else {
            gg_scalar_prepare_clump_records(v, e, &at);
        }
    }
}

/* item: env */
GG_FN void gg_clump_sweep_rest(const gg_view *v, int64_t e, int32_t sweep) {
    if (v->env[e].converged) {
        return;
    }
    gg_scalar_sweep s = gg_scalar_sweep_of(v, e, sweep);
    for (int64_t k = 0; k < v->colouring[e].contacts[GG_COLOURS - 1]; k++) {
        gg_scalar_records at = gg_coloured_rest(v, e, k);
        if (gg_lone_contact(v, e, at.own[0], at.other[0])) {
            gg_scalar_sweep_features(&s, &at, NULL);
        } else {
            gg_scalar_sweep_clump_features(&s, e, &at);
        }
    }
}

#endif
