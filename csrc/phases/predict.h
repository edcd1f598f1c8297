/* predict.h: the start of a substep: velocities before contact, and whether neighbour lists are still valid.
 *
 * Symplectic Euler (GranularGym (2023), equations 4-5, with x += dt v): the new velocity moves the grain.
 */
#ifndef GG_PREDICT_H
#define GG_PREDICT_H

#include "../solvers/drag.h"
#include "freeze.h"

/* saves what prediction changes, by grain id, in an array that is idle until the solve */
GG_FN void gg_predict_note(const gg_view *v, int64_t e, int64_t id, gg_vec3 velocity, const float *error) {
    float *note = v->before_prediction + (e * v->dims.slots + id) * 6;
    note[0] = velocity.x;
    note[1] = velocity.y;
    note[2] = velocity.z;
    for (int k = 0; k < 3; k++) {
        note[3 + k] = error[k];
    }
}

/* gives the grain of a slot the velocity that was noted */
GG_FN_LARGE void gg_predict_undo(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    const float *note = v->before_prediction + (e * v->dims.slots + id) * 6;
    for (int k = 0; k < 3; k++) {
        gg_slot_body_at(v, e, i)[k] = note[k];
        v->velocity_error[(e * v->dims.slots + id) * 3 + k] = note[3 + k];
    }
}

/* Rolls back the prediction of a substep that cannot be finished: the env returns to the end of the previous one, bit
 * for bit. item: slot */
GG_FN void gg_predict_roll_back_slot(const gg_view *v, int64_t e, int64_t i) {
    if (v->env[e].predicted && v->grain_id[e * v->dims.slots + i] >= 0) {
        gg_predict_undo(v, e, i);
    }
}

/* completes the rollback of gg_predict_roll_back_slot. item: env */
GG_FN void gg_predict_rolled_back_env(const gg_view *v, int64_t e) { v->env[e].predicted = 0; }

/* contribution of one grain to the prediction of its slice */
typedef struct gg_prediction {
    float displacement2, speed2;
    int32_t bad;
} gg_prediction;

/* adds gravity and drag to one grain and finds its displacement since the lists were built */
GG_FN gg_prediction gg_predict_lane(const gg_view *v, int64_t e, int64_t i) {
    gg_prediction out = GG_ZERO;
    const gg_params *p = &v->params;
    int64_t at = e * v->dims.slots + i;
    if (v->grain_id[at] < 0) {
        return out;
    }
    float body[GG_BODY], *home = gg_slot_body_at(v, e, i);
    gg_body_load(home, body);
    /* compensated summation: else small changes of a large velocity would all be rounded the same way */
    float *error = v->velocity_error + (e * v->dims.slots + v->grain_id[at]) * 3;
    const gg_air *air = &v->env[e].air;
    /* fixed grains keep the velocity they were given */
    gg_vec3 kick = gg_scale(v->env[e].gravity, body[GG_BODY_INVERSE_MASS] > 0.0f ? p->dt : 0.0f);
    gg_vec3 before = gg_v3(body[0], body[1], body[2]);
    gg_predict_note(v, e, v->grain_id[at], before, error);
    if (gg_air_drags(air)) {
        kick = gg_drag_kick(air, kick, before, v->position[at].w, body[GG_BODY_INVERSE_MASS], p->dt);
    }
    gg_vec3 velocity = gg_add_compensated(before, kick, error);
    body[0] = velocity.x;
    body[1] = velocity.y;
    body[2] = velocity.z;
    gg_body_store(home, body);
    gg_vec4 x = v->position[at], built = v->built_position[at];
    /* displacement since the lists were built, at the end of the substep if the grain meets no contact */
    gg_vec3 moved = gg_madd(gg_v3(x.x - built.x, x.y - built.y, x.z - built.z), velocity, p->dt);
    out.displacement2 = gg_norm2(moved);
    out.speed2 = gg_norm2(velocity);
    out.bad = !gg_finite(out.speed2 + out.displacement2 + gg_norm2(gg_v3(body[4], body[5], body[6])));
    if (out.bad) {
        gg_predict_undo(v, e, i);
    }
    return out;
}

/* records the predictions of the grains of a slice, in order of lanes */
GG_FN void gg_predicted(const gg_view *v, int64_t e, int64_t slice, const gg_prediction each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    float displacement2 = 0.0f, speed2 = 0.0f;
    int32_t bad = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        displacement2 = gg_maxf(displacement2, each[lane].displacement2);
        speed2 = gg_maxf(speed2, each[lane].speed2);
        bad += each[lane].bad;
    }
    stats->displacement2 = displacement2;
    stats->speed2 = speed2;
    stats->bad = bad;
}

/* item: slice of an env */
GG_FN void gg_predict_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_prediction each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        each[lane] = gg_predict_lane(v, e, slice * GG_LANES + lane);
    }
    gg_predicted(v, e, slice, each);
}

/* the predictions reduced over slices begin, begin + stride, ... of an env */
GG_FN gg_prediction gg_predictions_of(const gg_view *v, int64_t e, int64_t begin, int64_t stride) {
    gg_prediction all = GG_ZERO;
    for (int64_t s = begin; s < v->dims.slices; s += stride) {
        const gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + s];
        all.displacement2 = gg_maxf(all.displacement2, stats->displacement2);
        all.speed2 = gg_maxf(all.speed2, stats->speed2);
        all.bad += stats->bad;
    }
    return all;
}

GG_FN gg_prediction gg_predictions_join(gg_prediction a, gg_prediction b) {
    a.displacement2 = gg_maxf(a.displacement2, b.displacement2);
    a.speed2 = gg_maxf(a.speed2, b.speed2);
    a.bad += b.bad;
    return a;
}

/* decides whether the env's lists must be built again, and freezes an env that is no longer finite */
GG_FN void gg_predict_decide(const gg_view *v, int64_t e, gg_prediction all) {
    gg_env *env = &v->env[e];
    env->predicted = 1;
    env->iteration = 0;
    env->converged = 1;
    if (all.bad) {
        gg_env_freeze(v, e);
    }
    if (env->stats.diverged) {
        return;
    }
    float tool_speed = 0.0f;
    for (int64_t part = 0; part < v->dims.part_count; part++) {
        const gg_shape *shape = &v->parts[part];
        const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + shape->tool];
        if (!v->tool_active[e * v->dims.tool_count + shape->tool]) {
            continue;
        }
        float arm = shape->bound_radius < GG_UNBOUNDED
                        ? gg_norm(shape->position) + gg_norm(shape->bound_center) + shape->bound_radius
                        : 0.0f;
        tool_speed = gg_maxf(tool_speed, gg_norm(motion->velocity) + gg_absf(motion->speed) * arm);
    }
    env->speed_max = sqrtf(all.speed2) + tool_speed;
    env->stats.speed_max = gg_maxf(env->stats.speed_max, sqrtf(all.speed2));
    env->fast_tool = tool_speed * v->params.dt > 0.5f * v->params.radius_min;
    if (all.displacement2 > 0.25f * env->skin * env->skin) {
        env->rebuild = 1;
    }
    env->bounce_speed = gg_maxf(v->params.bounce_speed, 3.0f * gg_norm(env->gravity) * v->params.dt);
    env->converged = 0;
}

/* item: env */
GG_FN void gg_predict_check_env(const gg_view *v, int64_t e) { gg_predict_decide(v, e, gg_predictions_of(v, e, 0, 1)); }

#endif
