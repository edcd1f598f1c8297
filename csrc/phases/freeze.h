/* freeze.h: the end of an env that stopped being finite. */
#ifndef GG_FREEZE_H
#define GG_FREEZE_H

#include "../state/view.h"

/* the wrenches of an env start from 0 */
GG_FN void gg_wrenches_clear(const gg_view *v, int64_t e) {
    for (int64_t k = 0; k < v->dims.tool_count * 6; k++) {
        v->wrench[e * v->dims.tool_count * 6 + k] = 0.0;
    }
}

/* Freezes an env: its grains stay where they are until they are set again. What was not finite was not committed
 * (gg_predict_undo, gg_motion_refuse); impulses and wrenches of the failed substep are dropped, so that all that is read
 * or saved of the env is finite, and has the same bits on every machine. */
GG_FN void gg_env_freeze(const gg_view *v, int64_t e) {
    v->env[e].stats.diverged = 1;
    v->env[e].dt_last = 0.0f;
    v->env[e].rested = 0;
    gg_wrenches_clear(v, e);
}

#endif
