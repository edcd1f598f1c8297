/* close.h: opening a step, convergence, closing a substep: counters and double buffers. */
#ifndef GG_CLOSE_H
#define GG_CLOSE_H

#include "../solvers/dynamic_tools.h"
#include "freeze.h"
#include "sleep.h"

/* Opens a step of one env, in which it sleeps or not: if not, wrenches and counters start from 0; `diverged` stays.
 * item: env */
GG_FN void gg_step_open_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    int disturbed = gg_sleep_disturbed(v, e);
    env->asleep = gg_sleep_decide(v, e, disturbed);
    env->restless = 0;
    if (env->asleep) {
        gg_sleep_open(v, e);
    } else {
        int32_t diverged = env->stats.diverged;
        gg_env_stats none = GG_ZERO;
        env->stats = none;
        env->stats.diverged = diverged;
        gg_wrenches_clear(v, e);
        env->wrench_substeps = 0;
        env->wrench_dt = v->params.dt;
        gg_sleep_lull(v, e, disturbed);
    }
    env->substeps_done = 0;
    env->predicted = 0;
}

/* largest change of a velocity in slices begin, begin + stride, ... before `end` of an env */
GG_FN float gg_step_residual(const gg_view *v, int64_t e, int64_t begin, int64_t end, int64_t stride) {
    float residual = 0.0f;
    for (int64_t s = begin; s < end; s += stride) {
        residual = gg_maxf(residual, v->slice_stats[e * v->dims.slices + s].residual);
    }
    return residual;
}

/* early exit: stop once no velocity changed by more than the tolerance in this iteration */
GG_FN void gg_step_check(const gg_view *v, int64_t e, int32_t pass, float residual) {
    if (v->params.dynamic) {
        residual = gg_maxf(residual, gg_tool_stats_of(v, e).change);
    }
    v->env[e].iteration = pass + 1;
    if (residual < v->params.tolerance) {
        v->env[e].converged = 1; /* it was 0, which others may still read */
    }
}

/* item: env */
GG_FN void gg_step_check_env(const gg_view *v, int64_t e, int32_t pass) {
    if (!v->env[e].converged) {
        gg_step_check(v, e, pass,
                      v->params.tolerance > 0.0f ? gg_step_residual(v, e, 0, v->env[e].live_slices, 1) : 0.0f);
    }
}

/* statistics of every substep: the extremes over slices begin, begin + stride, ... before `end` of an
 * env */
typedef struct gg_substep_stats {
    float overlap_max, residual;
    int32_t restless, fast, bad, drowsy, moving, woken, unsampled;
} gg_substep_stats;

GG_FN gg_substep_stats gg_substep_stats_of(const gg_view *v, int64_t e, int64_t begin, int64_t end, int64_t stride) {
    gg_substep_stats all = GG_ZERO;
    for (int64_t s = begin; s < end; s += stride) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.overlap_max = gg_maxf(all.overlap_max, stats->overlap_max);
        all.residual = gg_maxf(all.residual, stats->residual);
        all.restless += stats->restless;
        all.fast += stats->fast;
        all.bad += stats->bad;
        all.drowsy += stats->drowsy;
        all.moving += stats->moving;
        all.woken |= stats->woken;
        all.unsampled += stats->unsampled;
    }
    return all;
}

GG_FN gg_substep_stats gg_substep_stats_join(gg_substep_stats a, gg_substep_stats b) {
    a.overlap_max = gg_maxf(a.overlap_max, b.overlap_max);
    a.residual = gg_maxf(a.residual, b.residual);
    a.restless += b.restless;
    a.fast += b.fast;
    a.bad += b.bad;
    a.drowsy += b.drowsy;
    a.moving += b.moving;
    a.woken |= b.woken;
    a.unsampled += b.unsampled;
    return a;
}

/* statistics of the last substep of a step: sums over the slices of a block in order, then over the blocks in order */
typedef struct gg_step_stats {
    double overlap_sum, energy;
    int64_t overlap_count;
    int32_t escaped, contacts, tool_contacts;
} gg_step_stats;

GG_FN void gg_step_stats_add(gg_step_stats *all, gg_step_stats one) {
    all->overlap_sum += one.overlap_sum;
    all->energy += one.energy;
    all->overlap_count += one.overlap_count;
    all->escaped += one.escaped;
    all->contacts += one.contacts;
    all->tool_contacts += one.tool_contacts;
}

GG_FN gg_step_stats gg_step_stats_of_block(const gg_view *v, int64_t e, int64_t block) {
    gg_step_stats all = GG_ZERO;
    int64_t per_block = GG_BLOCK / GG_LANES, end = GG_MIN((block + 1) * per_block, v->env[e].live_slices);
    for (int64_t s = block * per_block; s < end; s++) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.overlap_sum += stats->overlap_sum;
        all.energy += stats->energy;
        all.overlap_count += stats->overlap_count;
        all.escaped += stats->escaped;
        all.tool_contacts += v->slice_tool_contacts[e * v->dims.slices + s];
        int32_t listed = 0;
        for (int lane = 0; lane < GG_LANES; lane++) {
            listed += v->next_count[e * v->dims.slots + s * GG_LANES + lane];
        }
        /* where one side alone lists a contact of two grains, it stands for both */
        all.contacts += listed;
        all.contacts += gg_has_owners(&v->params) ? listed - v->slice_tool_contacts[e * v->dims.slices + s] : 0;
    }
    return all;
}

/* Closes the substep of one env: swaps the double buffers and adds the statistics of its slices. last: NULL, or the
 * statistics of the last substep of a step */
GG_FN void gg_step_close(const gg_view *v, int64_t e, gg_substep_stats all, const gg_step_stats *last) {
    gg_env *env = &v->env[e];
    gg_env_stats *total = &env->stats;
    env->predicted = 0;
    env->substeps_done++;
    if (env->asleep) {
        return;
    }
    if (v->params.dynamic && !total->diverged) {
        gg_tool_stats tools = gg_tool_stats_of(v, e);
        all.residual = gg_maxf(all.residual, tools.change);
        all.bad |= tools.bad;
        env->fast_tool |= tools.fast;
        all.moving += tools.restless;
    }
    if (all.bad) {
        gg_env_freeze(v, e);
    }
    if (total->diverged) {
        return;
    }
    env->wrench_substeps++;
    gg_sleep_close(v, e, all.drowsy, all.moving, all.woken);
    total->asleep_share = env->some_asleep ? 1.0f - (float)env->awake / (float)v->dims.grain_count : 0.0f;
    all.overlap_max = gg_maxf(all.overlap_max, env->kept.overlap_max);
    gg_sleep_note(v, e, all.restless, all.moving, last != NULL);
    total->overlap_max_last = all.overlap_max;
    total->overlap_max = gg_maxf(total->overlap_max, all.overlap_max);
    total->residual = gg_maxf(total->residual, all.residual);
    total->fast_count += all.fast;
    total->fast_tool_count += env->fast_tool;
    total->unsampled_count += all.unsampled;
    total->iteration_count += env->iteration;
    if (last) {
        total->overlap_sum = last->overlap_sum + env->kept.overlap_sum;
        total->kinetic_energy = last->energy;
        total->overlap_count = last->overlap_count + env->kept.overlap_count;
        total->escaped_count = last->escaped;
        total->contact_count = last->contacts + env->kept.contacts;
        total->tool_contact_count = last->tool_contacts + env->kept.tool_contacts;
    }
    env->impulse_buffer ^= 1 ^ (env->iteration & 1);
    env->key_buffer ^= 1;
    env->dt_last = v->params.dt;
}

/* item: env */
GG_FN void gg_step_close_env(const gg_view *v, int64_t e) {
    gg_step_stats last = GG_ZERO;
    gg_substep_stats all = GG_ZERO;
    int awake = !v->env[e].asleep;
    for (int64_t block = 0; awake && gg_last_substep(v, e) && block < v->dims.blocks; block++) {
        gg_step_stats_add(&last, gg_step_stats_of_block(v, e, block));
    }
    if (awake) {
        all = gg_substep_stats_of(v, e, 0, v->env[e].live_slices, 1);
    }
    gg_step_close(v, e, all, gg_last_substep(v, e) ? &last : NULL);
}

#endif
