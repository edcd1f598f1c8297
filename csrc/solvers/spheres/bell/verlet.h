/* verlet.h: velocity Verlet of clumps under the law of Bell: second order, one evaluation of the forces per substep.
 *
 *     v_half = v + h/2 a(t),  x += h v_half,  a(t + h) at x and v_half + h/2 a(t),  v = v_half + h/2 a(t + h)
 *
 * and likewise for the angular momentum, with which the rotation goes on by Runge-Kutta steps of fourth order
 * (gg_clump_rotate). As forces depend on velocities, they see that of the end of the substep, extrapolated. A contact is
 * stable while h is a small share of its duration; damping and friction while h k < m, k the slope of the force in the
 * velocity, m the effective mass.
 *
 * The force at the end of a substep is that at the start of the next: it is kept (`bell_force`), and so is half of its
 * impulse on each tool (`bell_wrench`), as the wrench over a substep is the mean of both. Where none is known, before the
 * first substep and after grains were set, it is found first.
 *
 * Gravity, drag and the caller's wrench act as they are at the start of the substep.
 */
#ifndef GG_VERLET_H
#define GG_VERLET_H

#include "contacts.h"

/* Opens the substep of an env. item: env */
GG_FN void gg_bell_open_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    env->converged = v->bell_env[e].known && env->dt_last > 0.0f;
    v->bell_env[e].known = 1;
    env->stats.step_count++;
}

/* The spheres of a clump as they are. item: clump of an env */
GG_FN void gg_bell_start(const gg_view *v, int64_t e, int64_t clump) {
    const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    if (!gg_bell_idle(v, e, GG_BELL_START)) {
        gg_bell_place(v, e, clump, motion, motion->velocity, motion->spin);
    }
}

/* keeps the forces that were found there. item: clump of an env */
GG_FN void gg_bell_keep(const gg_view *v, int64_t e, int64_t clump) {
    if (!gg_bell_idle(v, e, GG_BELL_START)) {
        v->bell_force[e * v->dims.clumps.count + clump] = gg_bell_sum(v, e, clump);
    }
}

/* and those on tools. item: tool of an env */
GG_FN void gg_bell_keep_tool(const gg_view *v, int64_t e, int64_t tool) {
    if (gg_bell_idle(v, e, GG_BELL_START)) {
        return;
    }
    double *to = v->bell_wrench + (e * v->dims.tool_count + tool) * 6;
    const gg_tool_load *loads = v->tool_load + e * v->dims.tool_contacts;
    for (int k = 0; k < 6; k++) {
        to[k] = 0.0;
    }
    for (int64_t c = 0; c < gg_tool_loads(v, e); c++) {
        for (int k = 0; k < 6 && loads[c].tool == tool; k++) {
            to[k] += (double)gg_axis_of(k < 3 ? loads[c].force : loads[c].torque, k % 3);
        }
    }
}

/* what a clump is accelerated by, and turned, but for its contacts */
GG_FN void gg_bell_outer(const gg_view *v, int64_t e, int64_t clump, double density, gg_clump_motion *trial) {
    double inverse_mass = density > 0.0 ? 1.0 / (density * v->clump_shape[clump].volume) : 0.0;
    gg_vec3 gravity = v->env[e].gravity, drag = gg_v3(0.0f, 0.0f, 0.0f);
    if (density > 0.0 && gg_air_drags(&v->env[e].air)) {
        const gg_clump_shape *shape = &v->clump_shape[clump];
        gg_turn turn = gg_turn_of(trial->rotation);
        double slowed[3], twist[3];
        drag = gg_clump_drag(v, e, clump, gg_scale(gravity, v->params.dt), (float)inverse_mass);
        gg_clump_drag_spin(v, e, clump, density, trial->spin, slowed);
        gg_turn_momentum(&turn, shape->moment, slowed, twist);
        for (int k = 0; k < 3; k++) {
            trial->torque[k] += density / (double)v->params.dt * twist[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        double acceleration = (double)gg_axis_of(gravity, k) + (double)gg_axis_of(drag, k) / (double)v->params.dt;
        trial->force[k] = density > 0.0 ? acceleration + inverse_mass * trial->force[k] : 0.0;
    }
}

/* adds what contacts, gravity and the caller do to a clump in `duration` [s] */
GG_FN void gg_bell_kick(const gg_clump_shape *shape, double density, const gg_clump_motion *outer,
                        const gg_bell_push *push, double duration, const double rotation[4], double velocity[3],
                        double spin[3]) {
    gg_turn turn = gg_turn_of(rotation);
    gg_spread inverse = gg_clump_inverse(shape, &turn, density);
    double inverse_mass = density > 0.0 ? 1.0 / (density * shape->volume) : 0.0, torque[3];
    for (int k = 0; k < 3; k++) {
        torque[k] = push->torque[k] + outer->torque[k];
    }
    for (int k = 0; k < 3; k++) {
        velocity[k] += duration * (outer->force[k] + inverse_mass * push->force[k]);
        spin[k] += duration * gg_spread_along(&inverse, k, torque);
    }
}

/* The first half of a substep: a clump moves, and its spheres with it. item: clump of an env */
GG_FN void gg_bell_drift(const gg_view *v, int64_t e, int64_t clump) {
    int64_t at = e * v->dims.clumps.count + clump;
    const gg_clump_shape *shape = &v->clump_shape[clump];
    gg_clump_motion *trial = &v->bell_trial[at];
    double density = gg_clump_density(v, e, shape), dt = v->params.dt;
    *trial = v->clump_motion[at];
    gg_bell_outer(v, e, clump, density, trial);
    gg_bell_kick(shape, density, trial, &v->bell_force[at], 0.5 * dt, trial->rotation, trial->velocity, trial->spin);
    for (int k = 0; k < 3; k++) {
        trial->position[k] = gg_bell_wrap(&v->params, k, trial->position[k] + dt * trial->velocity[k]);
    }
    gg_clump_rotate(trial, shape, dt, !(density > 0.0));
    gg_clump_motion end = *trial;
    gg_bell_kick(shape, density, trial, &v->bell_force[at], 0.5 * dt, end.rotation, end.velocity, end.spin);
    gg_bell_place(v, e, clump, &end, end.velocity, end.spin);
}

/* Puts the spheres of a clump where its motion says, and notes it. bad: it would not have been finite. item of the
 * caller: clump of an env */
GG_FN void gg_bell_moved(const gg_view *v, int64_t e, int64_t clump, int bad) {
    const gg_clump_shape *shape = &v->clump_shape[clump];
    const gg_clump_motion *motion = &v->clump_motion[e * v->dims.clumps.count + clump];
    float displacement2 = gg_clump_place(v, e, clump);
    int32_t first = v->clump_first[clump], end = v->clump_first[clump + 1];
    double energy = gg_clump_energy(shape, motion, gg_clump_density(v, e, shape)) / (end - first);
    gg_vec4 note = {(float)energy, displacement2, (float)bad, 0.0f};
    for (int32_t id = first; id < end; id++) {
        v->clump_note[e * v->dims.slots + v->slot_of[e * v->dims.slots + id]] = note;
    }
}

/* The second half. item: clump of an env */
GG_FN void gg_bell_close(const gg_view *v, int64_t e, int64_t clump) {
    int64_t at = e * v->dims.clumps.count + clump;
    const gg_clump_shape *shape = &v->clump_shape[clump];
    gg_clump_motion end = v->bell_trial[at];
    gg_bell_push push = gg_bell_sum(v, e, clump);
    gg_bell_kick(shape, gg_clump_density(v, e, shape), &v->bell_trial[at], &push, 0.5 * (double)v->params.dt,
                 end.rotation, end.velocity, end.spin);
    double sum = 0.0, forces = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += end.position[k] + end.velocity[k] + end.spin[k] * (double)shape->radius + end.rotation[k + 1];
        forces += push.force[k] + push.torque[k];
    }
    int bad = !gg_finite((float)sum) || !gg_finite((float)forces);
    if (!bad) {
        /* what the caller does to it stays */
        for (int k = 0; k < 3; k++) {
            end.force[k] = v->clump_motion[at].force[k];
            end.torque[k] = v->clump_motion[at].torque[k];
        }
        v->clump_motion[at] = end;
        v->bell_force[at] = push;
    }
    gg_bell_moved(v, e, clump, bad);
}

/* Completes the wrench on a tool by the half of the substep's start, and keeps that of its end. item: tool of an env */
GG_FN void gg_bell_close_tool(const gg_view *v, int64_t e, int64_t tool) {
    double *wrench = v->wrench + (e * v->dims.tool_count + tool) * 6;
    double *kept = v->bell_wrench + (e * v->dims.tool_count + tool) * 6;
    /* what was kept is half of an impulse over the last substep, or over this one where it was found at its start */
    double longer = v->env[e].converged ? (double)v->params.dt / (double)v->env[e].dt_last : 1.0;
    for (int k = 0; k < 6; k++) {
        wrench[k] += longer * kept[k];
        kept[k] = 0.0;
    }
    for (int64_t block = 0; block < gg_tool_blocks(v, e); block++) {
        const float *sum = v->wrench_partial + ((e * v->dims.load_blocks + block) * v->dims.tool_count + tool) * 6;
        for (int k = 0; k < 6; k++) {
            /* of an env that is about to freeze it is not read */
            kept[k] += gg_finite(sum[k]) ? (double)sum[k] : 0.0;
        }
    }
}

/* Grains that were moved meet tools anew: their forces are found before the next substep. item: env */
GG_FN void gg_bell_forget(const gg_view *v, int64_t e) {
    if (v->access.listed[e] >= 0) {
        v->bell_env[e].known = 0;
    }
}

#endif
