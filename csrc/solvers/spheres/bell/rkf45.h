/* rkf45.h: clumps under the law of Bell by the Runge-Kutta-Fehlberg method 4(5): steps as long as the error allows.
 *
 * The state of a clump is its position, rotation, velocity and angular momentum over density. Six stages give a step of
 * fourth order, which is taken, and one of fifth order, with which it is compared: the largest difference of a velocity,
 * of the speed by spin at the surface of the ball that holds a clump, and of a displacement over the step, of all clumps
 * of an env, is at most the tolerance of the solver [m/s]. A step whose error is above is taken back and tried anew with a
 * shorter one. Each env takes its own steps until the substep is done: neither threads nor other envs matter. At the
 * shortest step, the share 1 / GG_BELL_PIECES of the substep, errors are taken as they are; `residual` tells the largest.
 *
 * Neighbours and the tools near are those of the start of the substep: no grain may move by more than half a radius in
 * it, as elsewhere. The load on a tool is summed with the weights of the step, so that momentum is kept.
 *
 * Source of the coefficients: E. Fehlberg, Low-order classical Runge-Kutta formulas with stepsize control, NASA TR R-315
 * (1969), table III.
 */
#ifndef GG_RKF45_H
#define GG_RKF45_H

#include "verlet.h"

#define GG_BELL_PIECES 1024
/* tries of steps within a substep: as many are rejected as taken, and a few more */
#define GG_BELL_TRIES (4 * GG_BELL_PIECES)
/* an error that is no number */
#define GG_BELL_LOST 1e30

/* weight of the slope of stage j in stage s */
GG_FN double gg_bell_stage_weight(int s, int j) {
    const double weights[6][5] = {{0.0, 0.0, 0.0, 0.0, 0.0},
                                  {1.0 / 4.0, 0.0, 0.0, 0.0, 0.0},
                                  {3.0 / 32.0, 9.0 / 32.0, 0.0, 0.0, 0.0},
                                  {1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0, 0.0, 0.0},
                                  {439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0, 0.0},
                                  {-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0}};
    return weights[s][j];
}

/* weight of the slope of a stage in the fifth order */
GG_FN double gg_bell_fifth_weight(int s) {
    const double weights[6] = {16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0};
    return weights[s];
}

/* position, rotation, velocity, angular momentum over density of a clump */
GG_FN void gg_bell_state(const gg_clump_shape *shape, const gg_clump_motion *motion, double state[13]) {
    gg_turn turn = gg_turn_of(motion->rotation);
    for (int k = 0; k < 3; k++) {
        state[k] = motion->position[k];
        state[7 + k] = motion->velocity[k];
    }
    for (int k = 0; k < 4; k++) {
        state[3 + k] = motion->rotation[k];
    }
    gg_turn_momentum(&turn, shape->moment, motion->spin, state + 10);
}

/* the inverse; a clump without mass keeps its spin. The caller's force and torque stay as they are. */
GG_FN void gg_bell_motion(const gg_clump_shape *shape, const double state[13], int fixed, gg_clump_motion *motion) {
    for (int k = 0; k < 3; k++) {
        motion->position[k] = state[k];
        motion->velocity[k] = state[7 + k];
    }
    for (int k = 0; k < 4; k++) {
        motion->rotation[k] = state[3 + k];
    }
    gg_turn_settle(motion->rotation);
    if (!fixed) {
        gg_turn turn = gg_turn_of(motion->rotation);
        gg_turn_spin(&turn, shape->moment, state + 10, motion->spin);
    }
}

/* rate of a quaternion at a spin in the axes of the world: half of spin times q */
GG_FN void gg_bell_rotation_rate(const double q[4], const double spin[3], double rate[4]) {
    double around[3];
    gg_bell_cross(spin, q + 1, around);
    rate[0] = -0.5 * gg_dot3(spin, q + 1);
    for (int k = 0; k < 3; k++) {
        rate[k + 1] = 0.5 * (q[0] * spin[k] + around[k]);
    }
}

/* Opens the substep of an env. item: env */
GG_FN void gg_bell_open_steps(const gg_view *v, int64_t e) {
    gg_bell_env *own = &v->bell_env[e];
    double dt = v->params.dt;
    v->env[e].converged = 0;
    own->known = own->lost = own->accepted = 0;
    own->done = 0.0;
    own->step = own->step > 0.0 ? own->step : 0.1 * dt;
    own->trial = GG_MIN(own->step, dt);
}

/* A stage of a clump: its state from the slopes so far, its spheres there, and the slope of position and rotation.
 * item: clump of an env */
GG_FN void gg_bell_stage(const gg_view *v, int64_t e, int64_t clump, int32_t pass) {
    if (gg_bell_idle(v, e, pass)) {
        return;
    }
    int64_t at = e * v->dims.clumps.count + clump;
    const gg_clump_shape *shape = &v->clump_shape[clump];
    gg_clump_motion *trial = &v->bell_trial[at];
    gg_bell_slope *slopes = v->bell_slope + at * 6;
    double density = gg_clump_density(v, e, shape), h = v->bell_env[e].trial, state[13];
    int s = pass - GG_BELL_STAGE;
    if (s == 0) {
        *trial = v->clump_motion[at];
        gg_bell_outer(v, e, clump, density, trial);
    }
    gg_bell_state(shape, &v->clump_motion[at], state);
    for (int j = 0; j < s; j++) {
        double weight = h * gg_bell_stage_weight(s, j);
        for (int k = 0; k < 13; k++) {
            state[k] += weight * slopes[j].of[k];
        }
    }
    gg_bell_motion(shape, state, !(density > 0.0), trial);
    for (int k = 0; k < 3; k++) {
        slopes[s].of[k] = state[7 + k];
    }
    gg_bell_rotation_rate(state + 3, trial->spin, slopes[s].of + 3);
    gg_bell_place(v, e, clump, trial, trial->velocity, trial->spin);
}

/* the slope of its velocity and angular momentum, from the forces there. item: clump of an env */
GG_FN void gg_bell_find_slope(const gg_view *v, int64_t e, int64_t clump, int32_t pass) {
    if (gg_bell_idle(v, e, pass)) {
        return;
    }
    int64_t at = e * v->dims.clumps.count + clump;
    const gg_clump_motion *trial = &v->bell_trial[at];
    double density = gg_clump_density(v, e, &v->clump_shape[clump]);
    double inverse_mass = density > 0.0 ? 1.0 / (density * v->clump_shape[clump].volume) : 0.0;
    double inverse_density = density > 0.0 ? 1.0 / density : 0.0;
    gg_bell_push push = gg_bell_sum(v, e, clump);
    double *slope = v->bell_slope[at * 6 + pass - GG_BELL_STAGE].of;
    for (int k = 0; k < 3; k++) {
        slope[7 + k] = trial->force[k] + inverse_mass * push.force[k];
        slope[10 + k] = inverse_density * (trial->torque[k] + push.torque[k]);
    }
}

/* the state of a clump after a tried step of length h [s]; error: difference of both orders */
GG_FN void gg_bell_tried(const gg_view *v, int64_t e, int64_t clump, double h, double state[13], double error[13]) {
    int64_t at = e * v->dims.clumps.count + clump;
    const gg_bell_slope *slopes = v->bell_slope + at * 6;
    gg_bell_state(&v->clump_shape[clump], &v->clump_motion[at], state);
    for (int k = 0; k < 13; k++) {
        double fourth = 0.0, apart = 0.0;
        for (int s = 0; s < 6; s++) {
            fourth += gg_bell_fourth_weight(s) * slopes[s].of[k];
            apart += (gg_bell_fifth_weight(s) - gg_bell_fourth_weight(s)) * slopes[s].of[k];
        }
        state[k] += h * fourth;
        error[k] = h * apart;
    }
}

GG_FN double gg_bell_length(const double *a, int count) {
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        sum += a[k] * a[k];
    }
    return sqrt(sum);
}

/* The error of a clump in the step that is tried [m/s]. item: clump of an env */
GG_FN void gg_bell_judge(const gg_view *v, int64_t e, int64_t clump) {
    if (v->env[e].converged) {
        return;
    }
    const gg_clump_shape *shape = &v->clump_shape[clump];
    double state[13], error[13], h = v->bell_env[e].trial, radius = shape->radius;
    double least = GG_MIN(shape->moment[0], GG_MIN(shape->moment[1], shape->moment[2]));
    gg_bell_tried(v, e, clump, h, state, error);
    double moved = GG_MAX(gg_bell_length(error, 3), 2.0 * radius * gg_bell_length(error + 3, 4)) / h;
    double speed = GG_MAX(gg_bell_length(error + 7, 3), radius / least * gg_bell_length(error + 10, 3));
    double sum = (moved + speed) + (gg_bell_length(state, 13) + radius / least * gg_bell_length(state + 10, 3));
    v->bell_error[e * v->dims.clumps.count + clump] = sum < GG_BELL_LOST ? GG_MAX(moved, speed) : GG_BELL_LOST;
}

/* Whether the step that was tried is taken, and which is next. item: env */
GG_FN void gg_bell_decide(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    gg_bell_env *own = &v->bell_env[e];
    double dt = v->params.dt, least = dt / GG_BELL_PIECES, tolerance = v->params.tolerance, error = 0.0;
    own->accepted = 0;
    if (env->converged) {
        return;
    }
    for (int64_t clump = 0; clump < v->dims.clumps.count; clump++) {
        error = GG_MAX(error, v->bell_error[e * v->dims.clumps.count + clump]);
    }
    int shortest = own->trial <= least;
    if (error >= GG_BELL_LOST && shortest) {
        own->lost = env->converged = 1;
        own->step = 0.0;
        return;
    }
    /* an error of fifth order in the step, with a margin */
    double factor = error > 0.0 ? 0.84 * sqrt(sqrt(tolerance / error)) : 4.0;
    factor = factor < 0.1 ? 0.1 : factor > 4.0 ? 4.0 : factor;
    if (error > tolerance && !shortest) {
        own->step = own->trial = GG_MAX(own->trial * GG_MIN(factor, 0.9), least);
        env->stats.rejected_count++;
        return;
    }
    own->accepted = 1;
    own->taken = own->trial;
    own->done += own->trial;
    env->stats.step_count++;
    env->stats.residual = gg_maxf(env->stats.residual, (float)error);
    /* a step that the end of the substep cut short says nothing of the next but that it may be longer */
    double next = GG_MAX(own->trial * factor, least), left = dt - own->done;
    own->step = own->trial < own->step && error <= tolerance ? GG_MAX(own->step, next) : next;
    own->trial = own->step >= left ? left : own->step > 0.5 * left ? 0.5 * left : own->step;
    env->converged = left <= 1e-9 * dt;
}

/* Takes the step, where it is taken. item: clump of an env */
GG_FN void gg_bell_accept(const gg_view *v, int64_t e, int64_t clump) {
    if (!v->bell_env[e].accepted) {
        return;
    }
    const gg_clump_shape *shape = &v->clump_shape[clump];
    gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    double state[13], error[13];
    gg_bell_tried(v, e, clump, v->bell_env[e].taken, state, error);
    gg_bell_motion(shape, state, !(gg_clump_density(v, e, shape) > 0.0), motion);
    for (int k = 0; k < 3; k++) {
        motion->position[k] = gg_bell_wrap(&v->params, k, motion->position[k]);
    }
}

/* and the loads of the step on tools. item: block of tool contacts of an env */
GG_FN void gg_bell_accept_loads(const gg_view *v, int64_t e, int64_t block) {
    int64_t base = e * v->dims.tool_contacts, end = GG_MIN((block + 1) * GG_LOAD_BLOCK, gg_tool_loads(v, e));
    for (int64_t c = block * GG_LOAD_BLOCK; v->bell_env[e].accepted && c < end; c++) {
        v->tool_load[base + c].force = gg_add(v->tool_load[base + c].force, v->bell_load[base + c].force);
        v->tool_load[base + c].torque = gg_add(v->tool_load[base + c].torque, v->bell_load[base + c].torque);
    }
}

/* Puts the spheres of a clump where its last step led. item: clump of an env */
GG_FN void gg_bell_settle(const gg_view *v, int64_t e, int64_t clump) {
    gg_bell_moved(v, e, clump, v->bell_env[e].lost);
}

#endif
