/* predict.h: what follows from the prediction of all grains (solvers/predict.h): whether neighbour lists are still valid,
 * and its rollback. */
#ifndef GG_PREDICT_H
#define GG_PREDICT_H

#include "../contact/narrow.h"
#include "../solvers/dynamic_tools.h"
#include "../solvers/prediction.h"
#include "freeze.h"
#include "tools.h"

/* Rolls back the prediction of a substep that cannot be finished: the env returns to the end of the previous one, bit
 * for bit. item: slot */
GG_FN void gg_predict_roll_back_slot(const gg_view *v, int64_t e, int64_t i) {
    if (v->env[e].predicted && v->grain_id[e * v->dims.slots + i] >= 0) {
        gg_predict_undo(v, e, i);
    }
}

/* completes the rollback of gg_predict_roll_back_slot. item: env */
GG_FN void gg_predict_rolled_back_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    env->predicted = 0;
    /* what was begun for grains asleep is not finished either */
    env->roused = env->some_asleep;
    env->rebuild |= env->some_asleep;
    env->reclassed = 0;
}

/* the predictions reduced over slices begin, begin + stride, ... before `end` of an env */
GG_FN gg_prediction gg_predictions_of(const gg_view *v, int64_t e, int64_t begin, int64_t end, int64_t stride) {
    gg_prediction all = GG_ZERO;
    for (int64_t s = begin; s < end; s += stride) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.displacement2 = gg_maxf(all.displacement2, stats->displacement2);
        all.speed2 = gg_maxf(all.speed2, stats->speed2);
        all.bad += stats->bad;
        all.hurried += stats->hurried;
    }
    return all;
}

GG_FN gg_prediction gg_predictions_join(gg_prediction a, gg_prediction b) {
    a.displacement2 = gg_maxf(a.displacement2, b.displacement2);
    a.speed2 = gg_maxf(a.speed2, b.speed2);
    a.bad += b.bad;
    a.hurried += b.hurried;
    return a;
}

/* decides whether the env's lists must be built again, and freezes an env that is no longer finite */
GG_FN void gg_predict_decide(const gg_view *v, int64_t e, gg_prediction all) {
    gg_env *env = &v->env[e];
    env->predicted = 1;
    if (env->asleep) {
        return;
    }
    env->iteration = 0;
    env->converged = 1;
    if (all.bad) {
        gg_env_freeze(v, e);
    }
    if (env->stats.diverged) {
        return;
    }
    float tool_speed = gg_tool_speed_max(v, e), dynamic_speed = gg_tool_predicted_max(v, e);
    if (!gg_finite(dynamic_speed)) {
        gg_env_freeze(v, e);
        return;
    }
    env->speed_max = sqrtf(all.speed2) + gg_maxf(tool_speed, dynamic_speed);
    env->stats.speed_max = gg_maxf(env->stats.speed_max, sqrtf(all.speed2));
    env->crowd_margin = gg_crowd_margin_of(v, sqrtf(all.speed2), all.hurried);
    env->fast_tool = gg_tool_is_fast(&v->params, tool_speed);
    if (all.displacement2 > 0.25f * env->skin * env->skin) {
        env->rebuild = 1;
    }
    env->bounce_speed = gg_maxf(v->params.bounce_speed, 3.0f * gg_norm(env->gravity) * v->params.dt);
    env->converged = 0;
}

/* item: env */
GG_FN void gg_predict_check_env(const gg_view *v, int64_t e) {
    gg_predict_decide(v, e, gg_predictions_of(v, e, 0, v->env[e].live_slices, 1));
}

#endif
