/* drive.h: the phases in which the actions of an agent become targets of tools, where the world runs: one for each kind
 * of drive, as an arm needs far more memory of a GPU thread than a vehicle. */
#ifndef GG_PHASE_DRIVE_H
#define GG_PHASE_DRIVE_H

#include "../geometry/drives.h"
#include "../state/view.h"

/* Reads the actions of an env, each clamped to [-1, 1]. Returns 0, or 1 + the first that is not finite. */
GG_FN int32_t gg_drive_actions(const gg_access *a, int64_t e, double *action) {
    int64_t count = a->drive.action_count;
    int32_t fault = 0;
    for (int64_t k = count - 1; k >= 0; k--) {
        float asked = a->action[e * count + k];
        fault = gg_finite(asked) ? fault : (int32_t)k + 1;
        action[k] = gg_drive_clamp((double)asked, -1.0, 1.0);
    }
    return fault;
}

/* Moves the tools of an env by its drive. Those of an idle env stay, and those of one whose actions are not finite.
 * kind: of the drive, a constant. item: env */
GG_FN void gg_drive_env(const gg_view *v, int64_t e, int32_t kind) {
    const gg_access *a = &v->access;
    int32_t count = a->drive.state_count;
    const double *state = a->drive_state + e * count;
    double share = a->stroke.share;
    double action[GG_DRIVE_ACTIONS], reached[GG_DRIVE_STATES], *next = a->drive_next + e * count;
    int idle = a->idle && a->idle[e];
    int32_t fault = idle ? 0 : gg_drive_actions(a, e, action);
    for (int32_t k = 0; k < count; k++) {
        next[k] = state[k];
    }
    if (!idle && !fault) {
        gg_drive_move(&a->drive, kind, action, next);
    }
    for (int32_t k = 0; k < count; k++) {
        double way = kind == GG_DRIVE_joints ? gg_joints_way(&a->drive, k, state[k], next[k]) : next[k] - state[k];
        reached[k] = share < 1.0 ? state[k] + share * way : next[k];
    }
    gg_drive_poses(&a->drive, kind, reached, next, a->stroke.scale, a->drive_poses + e * a->drive.tool_count * 7);
    a->drive_fault[e] = fault;
}

#endif
