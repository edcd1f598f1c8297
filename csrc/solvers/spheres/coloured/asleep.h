/* asleep.h: contacts of grains asleep, and what holds a grain at their edge; see phases/grain_sleep.h.
 *
 * A contact of two grains asleep, or of one with a tool, is kept with its impulses by the grain that owns it, and is not
 * solved. A grain at the edge meets those that are awake as a body GG_EDGE_MASS times heavier, which gives no way: solved
 * as a free body it would yield to what lies on it, and beds would not come to rest. Its kept contacts give it the same
 * velocity in every substep, that with which it was at rest: `held`. The velocity it has after the solve, times
 * GG_EDGE_MASS, is its imbalance, by which it would start to move: beyond a limit it must wake; else it is noted, so that
 * many small ones add up. Either way it stays in this substep.
 */
#ifndef GG_COLOURED_ASLEEP_H
#define GG_COLOURED_ASLEEP_H

#include "coloured.h"

/* imbalance at which a grain at the edge must wake, over g dt, and from which it cannot wait */
#define GG_WAKE_SHARE     0.1f
#define GG_WAKE_NOW_SHARE 0.5f
enum { GG_WAKES = 1, GG_WAKES_NOW = 2 };
/* A grain at the edge is so many times heavier in the solve: those awake meet it as one that stays where it is, and what
 * it would take up is its velocity times this. A power of two, which loses no bit. */
#define GG_EDGE_MASS 1024.0f

/* whether what has this key in a contact list, a grain or a part of a tool, does not move while its partner sleeps */
GG_FN int gg_key_asleep(const int32_t *classes, int32_t key) { return key < 0 || classes[key] != GG_AWAKE; }

/* notes a contact among those that its owner keeps, in order of keys; one that it keeps already stays */
GG_FN void gg_kept_add(const gg_view *v, int64_t e, int64_t id, int32_t key, gg_vec3 impulse, gg_vec3 torque) {
    int64_t first = gg_kept_first(v, e, id);
    int32_t *count = &v->kept_count[e * v->dims.sleep.slots + id], k = *count;
    for (int32_t n = 0; n < *count; n++) {
        if (v->kept_key[first + n] == key) {
            return;
        }
    }
    for (; k > 0 && gg_key_before(key, v->kept_key[first + k - 1]); k--) {
        v->kept_key[first + k] = v->kept_key[first + k - 1];
        v->kept_impulse[first + k] = v->kept_impulse[first + k - 1];
        v->kept_torque[first + k] = v->kept_torque[first + k - 1];
    }
    v->kept_key[first + k] = key;
    v->kept_impulse[first + k] = impulse;
    v->kept_torque[first + k] = torque;
    ++*count;
}

/* keeps those stored contacts of a grain that falls asleep, or has, whose other side will be asleep too */
GG_FN void gg_kept_store(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, id = v->grain_id[at];
    const int32_t *classes = v->next_class + e * v->dims.sleep.slots;
    for (int32_t k = 0; v->env[e].dt_last > 0.0f && k < v->contact_count[at]; k++) {
        gg_stored_contact stored = gg_stored_contact_at(v, e, at, k);
        if (gg_key_asleep(classes, stored.key)) {
            gg_vec3 torque = gg_v3(0.0f, 0.0f, 0.0f);
            if (v->params.rolling) {
                torque = gg_load_lane3(gg_stored_torques(v, e), stored.impulse3);
            }
            gg_kept_add(v, e, id, stored.key, gg_load_lane3(gg_stored_impulses(v, e), stored.impulse3), torque);
        }
    }
}

/* drops the kept contacts of a grain one of whose sides is awake */
GG_FN void gg_kept_drop(const gg_view *v, int64_t e, int64_t id) {
    const int32_t *classes = v->sleep_class + e * v->dims.sleep.slots;
    int64_t first = gg_kept_first(v, e, id);
    int32_t *count = &v->kept_count[e * v->dims.sleep.slots + id], kept = 0;
    for (int32_t k = 0; classes[id] != GG_AWAKE && k < *count; k++) {
        if (gg_key_asleep(classes, v->kept_key[first + k])) {
            v->kept_key[first + kept] = v->kept_key[first + k];
            v->kept_impulse[first + kept] = v->kept_impulse[first + k];
            v->kept_torque[first + kept] = v->kept_torque[first + k];
            kept++;
        }
    }
    *count = kept;
}

/* the link of a contact that is not stored: to what its owner kept, where grains woke; it has no colour yet */
GG_FN int32_t gg_kept_link(const gg_view *v, int64_t e, int64_t id, int32_t key) {
    int64_t first = gg_kept_first(v, e, id);
    for (int32_t k = 0; k < v->kept_count[e * v->dims.sleep.slots + id]; k++) {
        if (v->kept_key[first + k] == key) {
            return gg_link(gg_kept_records(v) + (int32_t)(id * GG_KEPT + k), 0);
        }
    }
    return gg_link(GG_NO_RECORD, 0);
}

/* item: slice of an env */
GG_FN void gg_edge_weigh_slice(const gg_view *v, int64_t e, int64_t slice) {
    for (int64_t i = slice * GG_LANES; i < (slice + 1) * GG_LANES; i++) {
        if (v->grain_id[e * v->dims.slots + i] >= 0 && gg_slot_class(v, e, i) == GG_EDGE) {
            gg_slot_body_at(v, e, i)[GG_BODY_INVERSE_MASS] /= GG_EDGE_MASS;
        }
    }
}

/* Adds what its kept contacts give a grain at the edge to its velocity after the warm start. Where grains fell asleep or
 * woke it is taken anew, such that the grain starts from its last imbalance. item: slot */
GG_FN void gg_edge_hold(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    if (id < 0) {
        return;
    }
    if (gg_slot_class(v, e, i) == GG_EDGE) {
        float *body = gg_slot_body_at(v, e, i), *held = v->held + (e * v->dims.sleep.slots + id) * 12;
        for (int k = 0; k < 6; k++) {
            float *velocity = &body[k + k / 3];
            held[k] = v->env[e].reclassed ? held[6 + k] - *velocity : held[k];
            *velocity = v->env[e].reclassed ? held[6 + k] : *velocity + held[k];
        }
    }
    if (v->env[e].reclassed) {
        gg_kept_drop(v, e, id);
    }
}

/* Stops a grain asleep, whose slice may hold grains awake, and notes its imbalance. Returns GG_WAKES where that is so
 * large that the grain must wake, and GG_WAKES_NOW where it must in the next substep. */
GG_FN int gg_edge_stop(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = v->grain_id[e * v->dims.slots + i];
    if (id < 0 || !gg_slot_asleep(v, e, i)) {
        return 0;
    }
    float *body = gg_slot_body_at(v, e, i), *held = v->held + (e * v->dims.sleep.slots + id) * 12;
    float speed2 = body[0] * body[0] + body[1] * body[1] + body[2] * body[2];
    float spin2 = body[4] * body[4] + body[5] * body[5] + body[6] * body[6];
    float fall = gg_norm(v->env[e].gravity) * v->params.dt, share2 = gg_maxf(speed2, spin2);
    float limit = GG_WAKE_SHARE / GG_EDGE_MASS * fall, soon = GG_WAKE_NOW_SHARE / GG_EDGE_MASS * fall;
    int wakes = 0;
    if (gg_slot_class(v, e, i) == GG_EDGE) {
        body[GG_BODY_INVERSE_MASS] *= GG_EDGE_MASS;
        wakes = !(share2 <= limit * limit) * GG_WAKES | !(share2 <= soon * soon) * GG_WAKES_NOW;
    }
    if (wakes) {
        v->quiet[e * v->dims.sleep.slots + id] = GG_MUST_WAKE;
    }
    gg_vec4 none = {0.0f, 0.0f, 0.0f, 0.0f};
    v->shift[e * v->dims.slots + i] = none;
    for (int k = 0; k < 6; k++) {
        held[6 + k] = body[k + k / 3];
        body[k + k / 3] = 0.0f;
    }
    return wakes;
}

/* item: slice of an env */
GG_FN void gg_edge_hold_slice(const gg_view *v, int64_t e, int64_t slice) {
    for (int64_t i = slice * GG_LANES; i < (slice + 1) * GG_LANES; i++) {
        gg_edge_hold(v, e, i);
    }
}

/* item: slice of an env */
GG_FN void gg_edge_stop_slice(const gg_view *v, int64_t e, int64_t slice) {
    int32_t woken = 0;
    for (int64_t i = slice * GG_LANES; i < (slice + 1) * GG_LANES; i++) {
        woken |= gg_edge_stop(v, e, i);
    }
    v->slice_stats[e * v->dims.slices + slice].woken = woken;
}

/* overlap of a contact that a grain keeps, over the smaller diameter; 0 where its surfaces only touch */
GG_FN float gg_kept_overlap(const gg_view *v, int64_t e, int64_t i, int32_t key) {
    const gg_vec4 *position = v->position + e * v->dims.slots;
    float gap, smaller = position[i].w;
    if (key >= 0) {
        gg_vec4 other = position[v->slot_of[e * v->dims.slots + key]];
        gap = gg_norm(gg_separation(&v->params, position[i], other)) - (smaller + other.w);
        smaller = gg_minf(smaller, other.w);
    } else {
        gap = gg_touch_part(v, e, (int32_t)i, -1 - (int64_t)key).gap;
    }
    return gap < -v->params.slack ? -gap / (2.0f * smaller) : 0.0f;
}

/* adds kept contact `at` of the grain in slot i to the statistics of its env */
GG_FN void gg_kept_count(const gg_view *v, int64_t e, int64_t i, int64_t at) {
    gg_kept_stats *all = &v->env[e].kept;
    int32_t key = v->kept_key[at];
    float overlap = gg_kept_overlap(v, e, i, key);
    int32_t sides = key < 0 ? 1 : 2;
    all->contacts += sides;
    all->tool_contacts += key < 0;
    all->overlap_max = gg_maxf(all->overlap_max, overlap);
    all->overlap_sum += (double)overlap * sides;
    all->overlap_count += overlap > 0.0f ? sides : 0;
}

/* adds kept contact `at` of the grain in slot i, with a tool, to the wrench on it */
GG_FN void gg_kept_load(const gg_view *v, int64_t e, int64_t i, int64_t at) {
    int64_t part = -1 - (int64_t)v->kept_key[at];
    gg_vec4 x = v->position[e * v->dims.slots + i];
    gg_vec3 normal = gg_part_normal(v, e, (int32_t)i, part), force = gg_scale(v->kept_impulse[at], -1.0f);
    gg_vec3 point = gg_madd(gg_v3(x.x, x.y, x.z), normal, -x.w);
    gg_vec3 arm = gg_sub(point, v->part_pose[e * v->dims.part_count + part].tool_position);
    gg_vec3 torque = gg_sub(gg_cross(arm, force), v->kept_torque[at]);
    double *wrench = v->kept_wrench + (e * v->dims.sleep.tools + v->parts[part].tool) * 6;
    for (int k = 0; k < 3; k++) {
        wrench[k] += gg_axis_of(force, k);
        wrench[3 + k] += gg_axis_of(torque, k);
    }
}

/* Sums what the kept contacts of an env add to the wrenches, where classes were decided in this substep; and in the last
 * substep of a step to the statistics, where they were since these were summed last. item: env */
GG_FN void gg_kept_sum_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    int counts = env->kept_changed && gg_last_substep(v, e), loads = env->reclassed;
    if (counts) {
        gg_kept_stats none = GG_ZERO;
        env->kept = none;
        env->kept_changed = 0;
    }
    for (int64_t k = 0; loads && k < v->dims.sleep.tools * 6; k++) {
        v->kept_wrench[e * v->dims.sleep.tools * 6 + k] = 0.0;
    }
    for (int64_t id = 0; (counts || loads) && id < v->dims.grain_count; id++) {
        int64_t i = v->slot_of[e * v->dims.slots + id], first = gg_kept_first(v, e, id);
        int32_t count = v->kept_count[e * v->dims.sleep.slots + id];
        for (int32_t k = 0; counts && k < count; k++) {
            gg_kept_count(v, e, i, first + k);
        }
        /* contacts with tools are last among those of a grain */
        for (int32_t k = count - 1; loads && k >= 0 && v->kept_key[first + k] < 0; k--) {
            gg_kept_load(v, e, i, first + k);
        }
    }
}

#endif
