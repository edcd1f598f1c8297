/* motion.h: statistics of the motion of a slice's grains, for every law. */
#ifndef GG_MOTION_H
#define GG_MOTION_H

#include "../contact/separation.h"

GG_FN int gg_outside(const gg_params *p, gg_vec3 x, float radius) {
    return x.x < p->lower.x - radius || x.x > p->upper.x + radius || x.y < p->lower.y - radius ||
           x.y > p->upper.y + radius || x.z < p->lower.z - radius || x.z > p->upper.z + radius;
}

/* speed of a grain at rest, over g dt: a grain that lost its support has g dt after a substep */
#define GG_REST_SHARE 1e-4f

/* The largest squares of a speed and of the displacement in a substep that a grain at rest has. Corrections of overlaps
 * by less than the slack never end, and shift nothing. Without gravity nothing may move at all. */
typedef struct gg_rest {
    float speed2, displacement2; /* [m2/s2], [m2] */
} gg_rest;

/* the same of a grain that is quiet enough to sleep while others move: the noise of an unconverged solve is less */
#define GG_QUIET_SHARE 1e-2f

GG_FN gg_rest gg_rest_below(const gg_view *v, int64_t e, float share) {
    float speed = share * gg_norm(v->env[e].gravity) * v->params.dt;
    float displacement = gg_maxf(speed * v->params.dt, v->params.slack);
    gg_rest rest = {speed * speed, displacement * displacement};
    return rest;
}
GG_FN gg_rest gg_rest_of(const gg_view *v, int64_t e) { return gg_rest_below(v, e, GG_REST_SHARE); }
GG_FN gg_rest gg_quiet_of(const gg_view *v, int64_t e) { return gg_rest_below(v, e, GG_QUIET_SHARE); }

/* contribution of one grain to the statistics of its slice */
typedef struct gg_motion {
    float energy;
    int32_t restless, moving, fast, escaped, bad; /* restless: not at rest; moving: not quiet */
} gg_motion;

/* whether what a grain would have after a substep is finite */
GG_FN int gg_motion_finite(float speed2, float spin2, gg_vec3 moved) {
    return gg_finite((speed2 + spin2) + (moved.x + moved.y + moved.z));
}

/* Where it is not: the grain of slot i takes its old position back, and its velocities from before contact. The env,
 * which freezes, then holds finite numbers that are the same on every machine. */
GG_FN_LARGE void gg_motion_refuse(const gg_view *v, int64_t e, int64_t i, gg_vec4 position) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    const float *before = v->start_velocity + (at - lane) * 6 + lane;
    float *body = gg_slot_body_at(v, e, i);
    body[0] = before[0];
    body[1] = before[GG_LANES];
    if (gg_is_planar(&v->params)) {
        body[GG_BODY_PLANAR_SPIN] = before[2 * GG_LANES];
    } else {
        for (int k = 2; k < 6; k++) {
            body[k + k / 3] = before[k * GG_LANES];
        }
    }
    v->position[at] = position;
    for (int k = 0; k < 3; k++) {
        v->position_error[(e * v->dims.slots + v->grain_id[at]) * 3 + k] = 0.0f;
    }
}

/* Counts the quiet substeps of the grains of a slice, but those that must wake or be awake. */
GG_FN void gg_quiet_count(const gg_view *v, int64_t e, int64_t slice, const gg_motion each[GG_LANES]) {
    int32_t drowsy = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int64_t slot = slice * GG_LANES + lane, id = v->grain_id[e * v->dims.slots + slot];
        if (id >= 0) {
            int32_t *quiet = &v->quiet[e * v->dims.sleep.slots + id];
            int moves = each[lane].moving || each[lane].escaped;
            *quiet = *quiet == GG_NEAR_TOOL && gg_last_substep(v, e) ? 0 : *quiet;
            *quiet = *quiet < 0 ? *quiet : moves ? 0 : GG_MIN(*quiet + 1, GG_QUIET_SUBSTEPS);
            drowsy += *quiet == GG_QUIET_SUBSTEPS && !gg_slot_asleep(v, e, slot);
        }
    }
    v->slice_stats[e * v->dims.slices + slice].drowsy = drowsy;
}

/* records the motion of the grains of a slice, in order of lanes */
GG_FN void gg_motion_integrated(const gg_view *v, int64_t e, int64_t slice, const gg_motion each[GG_LANES]) {
    gg_slice_stats *stats = &v->slice_stats[e * v->dims.slices + slice];
    gg_motion all = GG_ZERO;
    for (int lane = 0; lane < GG_LANES; lane++) {
        all.energy += each[lane].energy;
        all.restless += each[lane].restless;
        all.moving += each[lane].moving;
        all.fast += each[lane].fast;
        all.escaped += each[lane].escaped;
        all.bad += each[lane].bad;
    }
    stats->energy = all.energy;
    stats->restless = all.restless;
    stats->moving = all.moving;
    stats->fast = all.fast;
    stats->escaped = all.escaped;
    stats->bad = all.bad;
    if (v->params.grain_sleep) {
        gg_quiet_count(v, e, slice, each);
    }
}

#endif
