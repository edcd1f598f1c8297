/* access.h: reading, setting and moving clumps. */
#ifndef GG_CLUMP_ACCESS_H
#define GG_CLUMP_ACCESS_H

#include "clumps.h"

/* item: clump of an env */
GG_FN void gg_clump_read(const gg_view *v, int64_t e, int64_t clump) {
    const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    double *pose = v->access.clump_pose, *velocity = v->access.clump_velocity, *wrench = v->access.clump_wrench;
    int64_t at = e * v->dims.clumps.count + clump;
    for (int k = 0; k < 3 && pose; k++) {
        pose[at * 7 + k] = motion->position[k];
    }
    for (int k = 0; k < 4 && pose; k++) {
        pose[at * 7 + 3 + k] = motion->rotation[k];
    }
    for (int k = 0; k < 3 && velocity; k++) {
        velocity[at * 6 + k] = motion->velocity[k];
        velocity[at * 6 + 3 + k] = motion->spin[k];
    }
    for (int k = 0; k < 3 && wrench; k++) {
        wrench[at * 6 + k] = motion->force[k];
        wrench[at * 6 + 3 + k] = motion->torque[k];
    }
}

/* places the spheres of the clumps of listed envs anew. item: clump of an env */
GG_FN void gg_clump_place_listed(const gg_view *v, int64_t e, int64_t clump) {
    if (v->access.listed[e] < 0) {
        return;
    }
    gg_clump_place(v, e, clump);
    for (int32_t id = v->clump_first[clump]; id < v->clump_first[clump + 1]; id++) {
        int64_t at = e * v->dims.slots + v->slot_of[e * v->dims.slots + id];
        v->built_position[at] = v->position[at];
    }
}

/* sets what is given in the listed envs. item: clump of an env */
GG_FN void gg_clump_write(const gg_view *v, int64_t e, int64_t clump) {
    if (v->access.listed[e] < 0) {
        return;
    }
    gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    const double *pose = v->access.clump_pose, *velocity = v->access.clump_velocity;
    int64_t at = v->access.listed[e] * v->dims.clumps.count + clump;
    for (int k = 0; k < 3 && pose; k++) {
        motion->position[k] = pose[at * 7 + k];
    }
    for (int k = 0; k < 4 && pose; k++) {
        motion->rotation[k] = pose[at * 7 + 3 + k];
    }
    if (pose) {
        gg_turn_settle(motion->rotation);
    }
    for (int k = 0; k < 3 && velocity; k++) {
        motion->velocity[k] = velocity[at * 6 + k];
        motion->spin[k] = velocity[at * 6 + 3 + k];
    }
    if (pose || velocity) {
        gg_clump_place_listed(v, e, clump);
    }
}

/* sets the caller's wrenches in the listed envs, which wakes them. item: clump of an env */
GG_FN void gg_clump_push(const gg_view *v, int64_t e, int64_t clump) {
    if (v->access.listed[e] < 0) {
        return;
    }
    gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    const double *wrench = v->access.clump_wrench + (v->access.listed[e] * v->dims.clumps.count + clump) * 6;
    for (int k = 0; k < 3; k++) {
        motion->force[k] = wrench[k];
        motion->torque[k] = wrench[k + 3];
    }
    if (clump == 0) {
        v->env[e].rested = 0;
    }
}

/* turns a clump of a listed env about the world's z axis and translates it. item: clump of an env */
GG_FN void gg_clump_transform(const gg_view *v, int64_t e, int64_t clump) {
    if (v->access.listed[e] < 0) {
        return;
    }
    gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    const float *move = v->access.move + v->access.listed[e] * 4;
    double sine, cosine, half_sine, half_cosine;
    gg_sincos_double(move[3], &sine, &cosine);
    gg_sincos_double(0.5 * (double)move[3], &half_sine, &half_cosine);
    double *const turned[5] = {motion->position, motion->velocity, motion->spin, motion->force, motion->torque};
    for (int k = 0; k < 3; k++) {
        double x = turned[k][0], y = turned[k][1];
        turned[k][0] = cosine * x - sine * y;
        turned[k][1] = sine * x + cosine * y;
    }
    for (int k = 0; k < 3; k++) {
        motion->position[k] += (double)move[k];
    }
    double w = motion->rotation[0], x = motion->rotation[1], y = motion->rotation[2], z = motion->rotation[3];
    motion->rotation[0] = half_cosine * w - half_sine * z;
    motion->rotation[1] = half_cosine * x - half_sine * y;
    motion->rotation[2] = half_cosine * y + half_sine * x;
    motion->rotation[3] = half_cosine * z + half_sine * w;
    gg_turn_settle(motion->rotation);
    gg_clump_place_listed(v, e, clump);
}

#endif
