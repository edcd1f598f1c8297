/* dynamic_tools.h: tools with a mass within the contact solve, for every law that accumulates impulses.
 *
 * Newton's law along the free axes of the tool, with one velocity in all its contacts. A step by the wrench of the last
 * substep would diverge once the grains that it pushes outweigh it; here its velocity is an unknown of the solve, as
 * those of the grains are:
 *
 *     v = v_start - W sum(P),   v_start = v + dt (g + F/m),   W = 1/m along free axes, 0 along others
 *
 * after the warm start and after every iteration or sweep, with P the impulse of each contact on its grain, summed
 * exactly (base/exact.h): in any order. Contacts see v extrapolated like the velocities of the grains, through the
 * bodies that they have of their own. Within an iteration each contact meets a share of the tool's mass (mass splitting:
 * the contact count over the mass, n/m, is its inverse), so that any ratio of masses is stable: the tool is solved by
 * Jacobi, also where the grains are by Gauss-Seidel. Source: Tonge et al., Mass splitting for jitter-free parallel rigid
 * body simulation, ACM TOG 31 (2012).
 *
 * Stops. Where a tool may travel no further, v is clamped such that it ends there. Minimising the solve's energy over
 * the impulse of the stop leaves a convex function, whose gradient takes the clamped velocity: the iteration converges
 * as before. A stop takes all motion along its axis, it does not bounce.
 *
 * Position correction removes a share of the overlap, split between the grain and the mass of the tool per contact.
 *
 * Compliant tools. A spring K and a damper D hold a tool to its targets x_t, by implicit Euler: with the mass of a step
 *
 *     M = m + dt D + dt^2 K,   v = v_start - sum(P) / M,   v_start = v + dt (F + K (x_t' - x - dt v) + D (v_t - v)) / M,
 *
 * x_t' at the end of the substep, which is stable for any K and D. It is turned as its targets are. Its mount carries its
 * weight.
 *
 * Tools with an inertia turn: free bodies, under a law that solves for their twists (solvers/continuum/tools.h). A substep
 * keeps their angular momentum where nothing acts on them.
 *
 * Coupled tools (coupled_tools.h) turn, and share an inverse mass that another engine gives; positions are not corrected
 * by moving them.
 *
 * A law lists its contacts with tools through gg_tool_contact_listed, tells by gg_tool_contact_placed where their
 * impulses are kept, and runs gg_step_open_tools and gg_step_sync_tools (phases/step.h).
 */
#ifndef GG_DYNAMIC_TOOLS_H
#define GG_DYNAMIC_TOOLS_H

#include "../base/rigid.h"
#include "../geometry/pose.h"
#include "coupled_tools.h"
#include "motion.h"

/* forces on a tool alone bring it up to a velocity per substep; impacts up to this many times that do not bounce */
#define GG_TOOL_BOUNCE 3.0

/* whether a definition or a world lets the solve move a tool */
GG_FN int gg_tool_moves(const gg_tool_mass *m) { return m->mass > 0.0f || m->coupled > 0; }
GG_FN int gg_tool_dynamic(const gg_view *v, int64_t tool) {
    return v->params.dynamic && gg_tool_moves(&v->tool_mass[tool]);
}

/* whether a tool is held to its targets by a spring */
GG_FN int gg_tool_compliant(const gg_view *v, int64_t tool) {
    return v->dims.tools.compliant && v->tool_mass[tool].stiffness > 0.0f;
}

/* whether a tool with a mass turns as contacts make it */
GG_FN int gg_tool_turns(const gg_view *v, int64_t tool) {
    return v->dims.tools.turning && v->tool_mass[tool].inertia.xx > 0.0;
}

/* inertia of such a tool in the axes of the world [kg m2] */
GG_FN gg_sym gg_tool_inertia(const gg_view *v, int64_t e, int64_t tool) {
    gg_turn t = gg_turn_of(v->tool_turn[e * v->dims.tool_count + tool].rotation);
    return gg_turn_sym(&t, v->tool_mass[tool].inertia);
}

/* what an impulse on a tool with a mass meets in a substep [kg] */
GG_FN float gg_tool_step_mass(const gg_view *v, const gg_tool_mass *m) {
    return m->mass + v->params.dt * (m->damping + v->params.dt * m->stiffness);
}

GG_FN double gg_tool_inverse_mass(const gg_view *v, const gg_tool_mass *m, int axis) {
    return m->free[axis] && m->mass > 0.0f ? 1.0 / (double)gg_tool_step_mass(v, m) : 0.0;
}

/* inverse mass that a contact with this normal meets [1/kg]: n . W n; 0 of a tool that follows its targets */
GG_FN float gg_tool_inverse_mass_along(const gg_view *v, const gg_tool_mass *m, gg_vec3 normal) {
    float n[3] = {normal.x, normal.y, normal.z}, sum = 0.0f;
    if (!(m->mass > 0.0f)) {
        return 0.0f;
    }
    if (m->free[0] && m->free[1] && m->free[2]) {
        return 1.0f / gg_tool_step_mass(v, m);
    }
    for (int k = 0; k < 3; k++) {
        sum += m->free[k] ? n[k] * n[k] : 0.0f;
    }
    return sum / gg_tool_step_mass(v, m);
}

/* where the targets of a tool are after `done` substeps */
GG_FN gg_pose gg_tool_way(const gg_view *v, int64_t e, int64_t tool, int32_t done) {
    const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + tool];
    return done == v->params.substeps ? motion->target : gg_tool_motion_at(motion, (double)v->params.dt * done);
}

/* force of spring and damper on a compliant tool by the end of a substep, if it kept its velocity [N] */
GG_FN double gg_tool_spring(const gg_view *v, int64_t e, int64_t tool, int axis) {
    const gg_tool_mass *m = &v->tool_mass[tool];
    const gg_tool_body *body = &v->tool_body[e * v->dims.tool_count + tool];
    const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + tool];
    double dt = v->params.dt, speed = body->velocity[axis];
    double end = gg_axis_of(gg_tool_way(v, e, tool, v->env[e].substeps_done + 1).position, axis);
    return (double)m->stiffness * (end - body->position[axis] - dt * speed) +
           (double)m->damping * ((double)gg_axis_of(motion->velocity, axis) - speed);
}

/* acceleration by gravity, the caller's force and a spring [m/s2] */
GG_FN double gg_tool_acceleration(const gg_view *v, int64_t e, int64_t tool, int axis) {
    const gg_tool_mass *m = &v->tool_mass[tool];
    double force = v->tool_body[e * v->dims.tool_count + tool].force[axis];
    if (gg_tool_compliant(v, tool)) {
        return (force + gg_tool_spring(v, e, tool, axis)) / (double)gg_tool_step_mass(v, m);
    }
    return m->free[axis] ? (double)gg_axis_of(v->env[e].gravity, axis) + force / (double)m->mass : 0.0;
}

/* a velocity along an axis, no faster than to the stops of the tool */
GG_FN double gg_tool_stopped(const gg_view *v, int64_t e, int64_t tool, int axis, double velocity) {
    const gg_tool_mass *m = &v->tool_mass[tool];
    double x = v->tool_body[e * v->dims.tool_count + tool].position[axis], dt = v->params.dt;
    double down = ((double)m->lower[axis] - x) / dt, up = ((double)m->upper[axis] - x) / dt;
    /* one beyond its stops goes no further, and is not thrown back */
    down = down < 0.0 ? down : 0.0;
    up = up > 0.0 ? up : 0.0;
    return velocity < down ? down : velocity > up ? up : velocity;
}

/* velocity along an axis after these accelerations, before contact; of a tool that is out 0 */
GG_FN double gg_tool_start(const gg_view *v, int64_t e, int64_t tool, int axis) {
    int64_t at = e * v->dims.tool_count + tool;
    return v->tool_active[at]
               ? v->tool_body[at].velocity[axis] + (double)v->params.dt * gg_tool_acceleration(v, e, tool, axis)
               : 0.0;
}

/* angular velocity of a tool with an inertia after the torque on it, before contact; of one that is out 0 */
GG_FN void gg_tool_start_spin(const gg_view *v, int64_t e, int64_t tool, double spin[3]) {
    int64_t at = e * v->dims.tool_count + tool;
    const gg_tool_turn *turn = &v->tool_turn[at];
    double dt = v->tool_active[at] ? (double)v->params.dt : 0.0;
    gg_sym_mul(gg_sym_inverse(gg_tool_inertia(v, e, tool)), turn->torque, spin);
    for (int k = 0; k < 3; k++) {
        spin[k] = v->tool_active[at] ? turn->spin[k] + dt * spin[k] : 0.0;
    }
}

/* the same in all axes, stopped: what the search for contacts knows of the motion to come */
GG_FN gg_vec3 gg_tool_predicted(const gg_view *v, int64_t e, int64_t tool) {
    if (gg_tool_coupled(v, tool)) {
        return gg_v3((float)gg_coupled_start(v, e, tool, 0), (float)gg_coupled_start(v, e, tool, 1),
                     (float)gg_coupled_start(v, e, tool, 2));
    }
    return gg_v3((float)gg_tool_stopped(v, e, tool, 0, gg_tool_start(v, e, tool, 0)),
                 (float)gg_tool_stopped(v, e, tool, 1, gg_tool_start(v, e, tool, 1)),
                 (float)gg_tool_stopped(v, e, tool, 2, gg_tool_start(v, e, tool, 2)));
}

/* the angular velocity of the targets of a tool */
GG_FN gg_vec3 gg_tool_target_spin(const gg_view *v, int64_t e, int64_t tool) {
    const gg_tool_motion *motion = &v->tool_motion[e * v->dims.tool_count + tool];
    return gg_scale(motion->axis, motion->speed);
}

/* the angular velocity likewise; compliant tools turn as their targets do */
GG_FN gg_vec3 gg_tool_predicted_spin(const gg_view *v, int64_t e, int64_t tool) {
    if (gg_tool_turns(v, tool)) {
        double spin[3];
        gg_tool_start_spin(v, e, tool, spin);
        return gg_v3((float)spin[0], (float)spin[1], (float)spin[2]);
    }
    if (gg_tool_compliant(v, tool)) {
        return gg_tool_target_spin(v, e, tool);
    }
    if (!gg_tool_coupled(v, tool)) {
        return gg_v3(0.0f, 0.0f, 0.0f);
    }
    return gg_v3((float)gg_coupled_start(v, e, tool, 3), (float)gg_coupled_start(v, e, tool, 4),
                 (float)gg_coupled_start(v, e, tool, 5));
}

/* Notes the tool of a tool contact at a point, and which inverse mass the contact meets along its normal: of a tool that
 * follows its targets 0. */
GG_FN float gg_tool_contact_listed(const gg_view *v, int64_t e, int64_t c, int32_t tool, gg_vec3 at, gg_vec3 normal) {
    v->tool_load[e * v->dims.tool_contacts + c].tool = tool;
    if (gg_tool_coupled(v, tool)) {
        return gg_coupled_contact_listed(v, e, c, tool, at, normal);
    }
    if (gg_tool_compliant(v, tool)) {
        gg_vec3 arm = gg_sub(at, v->tool_pose[e * v->dims.tool_count + tool].position);
        v->tool_contact_turn[e * v->dims.tools.contacts + c] = gg_cross(gg_tool_target_spin(v, e, tool), arm);
    }
    return gg_tool_inverse_mass_along(v, &v->tool_mass[tool], normal);
}

/* notes that the impulses of tool contact c are those of `contact` */
GG_FN void gg_tool_contact_placed(const gg_view *v, int64_t e, int64_t c, int64_t contact) {
    v->tool_contact_at[e * v->dims.tools.contacts + c] = (int32_t)contact;
}

/* Impulse of tool contact c on its grain after `done` iterations or sweeps [N s], which write two buffers in turns. */
GG_FN gg_vec3 gg_tool_contact_impulse(const gg_view *v, int64_t e, int64_t c, int32_t done) {
    int64_t contact = v->tool_contact_at[e * v->dims.tools.contacts + c], lane = contact % GG_LANES;
    int from_b = v->env[e].impulse_buffer ^ 1 ^ (done & 1);
    return gg_load_lane3(from_b ? v->impulse_b : v->impulse_a,
                         (e * v->dims.contact_rows * GG_LANES + contact - lane) * 3 + lane);
}

/* the tool that a body is a contact of, in the solve; NULL: of a grain. Of one that follows its targets all is 0. */
GG_FN const gg_tool_solve *gg_tool_solve_of(const gg_view *v, int64_t e, int64_t body) {
    if (!gg_is_tool(v, body)) {
        return NULL;
    }
    int32_t tool = v->tool_load[e * v->dims.tool_contacts + body - v->dims.free_bodies].tool;
    return &v->tool_solve[e * v->dims.tool_count + tool];
}

/* contact count over mass that a contact with a dynamic tool meets in any direction [1/kg] */
GG_FN float gg_tool_split(const gg_view *v, int64_t e, int64_t body, const gg_tool_solve *s) {
    int64_t c = body - v->dims.free_bodies;
    if (!gg_tool_coupled(v, v->tool_load[e * v->dims.tool_contacts + c].tool)) {
        return s->count_over_mass;
    }
    return s->count * v->coupled_yield[e * v->dims.tools.coupled_contacts + c];
}

/* number of tool contacts of this substep */
GG_FN int64_t gg_tool_loads(const gg_view *v, int64_t e) {
    int64_t slices = v->env[e].live_slices, last = e * v->dims.slices + slices - 1;
    return slices ? v->slice_first_tool_body[last] + v->slice_tool_contacts[last] - v->dims.free_bodies : 0;
}

/* number of blocks of them */
GG_FN int64_t gg_tool_blocks(const gg_view *v, int64_t e) {
    return (gg_tool_loads(v, e) + GG_LOAD_BLOCK - 1) / GG_LOAD_BLOCK;
}

GG_FN gg_tool_block *gg_tool_block_of(const gg_view *v, int64_t e, int64_t block) {
    return &v->tool_block[e * v->dims.load_blocks + block];
}

GG_FN gg_tool_sum *gg_tool_sums(const gg_view *v, int64_t e, int64_t block) {
    return v->tool_sum + e * v->dims.tools.sums + block * v->dims.tool_count;
}

GG_FN void gg_tool_sums_clear(const gg_view *v, int64_t e, int64_t block) {
    for (int64_t t = 0; t < v->dims.tool_count; t++) {
        gg_tool_sum none = GG_ZERO;
        gg_tool_sums(v, e, block)[t] = none;
    }
    for (int64_t k = 0; k < v->dims.tools.coupled; k++) {
        gg_coupled_sum none = GG_ZERO;
        gg_coupled_sums(v, e, block)[k] = none;
    }
}

/* contacts of each dynamic tool. item: block of tool contacts of an env */
GG_FN void gg_tool_count_block(const gg_view *v, int64_t e, int64_t block) {
    const gg_tool_load *loads = v->tool_load + e * v->dims.tool_contacts;
    gg_tool_sum *sums = gg_tool_sums(v, e, block);
    gg_tool_block *found = gg_tool_block_of(v, e, block);
    int64_t first = block * GG_LOAD_BLOCK, end = GG_MIN(first + GG_LOAD_BLOCK, gg_tool_loads(v, e));
    gg_tool_sums_clear(v, e, block);
    found->count = 0;
    for (int64_t c = first; c < end; c++) {
        sums[loads[c].tool].count++;
        if (gg_tool_dynamic(v, loads[c].tool)) {
            found->contact[found->count++] = (uint8_t)(c - first);
        }
    }
}

/* contacts of a tool in all blocks */
GG_FN int64_t gg_tool_counted(const gg_view *v, int64_t e, int64_t tool) {
    int64_t count = 0;
    for (int64_t block = 0; block < gg_tool_blocks(v, e); block++) {
        count += gg_tool_sums(v, e, block)[tool].count;
    }
    return count;
}

/* opens the solve of a coupled tool: all of them share the mass of the robot */
GG_FN void gg_coupled_open(const gg_view *v, int64_t e, int64_t tool, gg_tool_solve *s) {
    const gg_coupled_motion *m = gg_coupled_motion_of(v, e, tool);
    double dt = v->params.dt, kick2 = 0.0;
    int64_t count = 0;
    for (int64_t t = GG_WALL_COUNT; t < v->dims.tool_count; t++) {
        count += gg_tool_coupled(v, t) ? gg_tool_counted(v, e, t) : 0;
    }
    for (int k = 0; k < 6; k++) {
        s->start[k] = s->velocity[k] = gg_coupled_start(v, e, tool, k);
        kick2 += k < 3 ? dt * dt * m->acceleration[k] * m->acceleration[k] : 0.0;
    }
    s->count = (float)count;
    s->bounce_speed = (float)(GG_TOOL_BOUNCE * sqrt(kick2));
}

/* opens the solve of a tool. item: tool of an env */
GG_FN void gg_tool_open(const gg_view *v, int64_t e, int64_t tool) {
    gg_tool_solve *s = &v->tool_solve[e * v->dims.tool_count + tool], none = GG_ZERO;
    *s = none;
    if (gg_tool_coupled(v, tool)) {
        gg_coupled_open(v, e, tool, s);
        return;
    }
    if (!gg_tool_dynamic(v, tool)) {
        return;
    }
    int64_t count = gg_tool_counted(v, e, tool);
    double speed2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double kick = (double)v->params.dt * gg_tool_acceleration(v, e, tool, k);
        speed2 += kick * kick;
        s->start[k] = s->velocity[k] = gg_tool_start(v, e, tool, k);
    }
    s->count = (float)count;
    /* of a single contact the bits of its inverse mass: it is not relaxed then */
    s->count_over_mass = s->count * (1.0f / gg_tool_step_mass(v, &v->tool_mass[tool]));
    s->bounce_speed = (float)(GG_TOOL_BOUNCE * sqrt(speed2));
}

/* Sums the impulses of the contacts of a block by tool; before the first iteration also their position corrections.
 * item: block of tool contacts of an env */
GG_FN void gg_tool_sum_block(const gg_view *v, int64_t e, int64_t block, int32_t done) {
    const gg_tool_block *found = gg_tool_block_of(v, e, block);
    if (v->env[e].converged || !found->count) {
        return;
    }
    const gg_tool_load *loads = v->tool_load + e * v->dims.tool_contacts;
    gg_tool_sum *sums = gg_tool_sums(v, e, block);
    gg_tool_sums_clear(v, e, block);
    for (int32_t i = 0; i < found->count; i++) {
        int64_t c = block * GG_LOAD_BLOCK + found->contact[i];
        gg_tool_sum *sum = &sums[loads[c].tool];
        const gg_tool_mass *m = &v->tool_mass[loads[c].tool];
        gg_vec3 impulse = gg_tool_contact_impulse(v, e, c, done), shift = GG_ZERO;
        if (m->coupled) {
            gg_coupled_sum_add(v, e, &gg_coupled_sums(v, e, block)[m->coupled - 1], c, impulse);
            continue;
        }
        if (done == 0) {
            shift = v->tool_contact_shift[e * v->dims.tools.contacts + c];
        }
        for (int k = 0; k < 3; k++) {
            double per_mass = gg_tool_inverse_mass(v, m, k);
            gg_exact_add(&sum->velocity[k], per_mass * (double)gg_axis_of(impulse, k));
            gg_exact_add(&sum->shift[k], per_mass * (double)gg_axis_of(shift, k));
        }
    }
}

/* twist of a coupled tool after `done` iterations */
GG_FN void gg_coupled_sync(const gg_view *v, int64_t e, int64_t tool, gg_tool_solve *s, double beta, int first) {
    double taken[6];
    gg_coupled_taken(v, e, tool, gg_tool_blocks(v, e), taken);
    for (int k = 0; k < 6; k++) {
        double now = s->start[k] - taken[k], step = first ? 0.0 : now - s->velocity[k];
        s->velocity[k] = now;
        s->seen[k] = now + beta * step;
        s->change = k < 3 ? gg_maxf(s->change, gg_absf((float)step)) : s->change;
    }
}

/* velocity of a tool after `done` iterations. item: tool of an env */
GG_FN void gg_tool_sync(const gg_view *v, int64_t e, int64_t tool, int32_t done) {
    if (v->env[e].converged || !gg_tool_dynamic(v, tool)) {
        return;
    }
    gg_tool_solve *s = &v->tool_solve[e * v->dims.tool_count + tool];
    double beta = done > 0 && done < v->params.iterations ? (double)v->beta[done] : 0.0;
    int64_t blocks = gg_tool_blocks(v, e);
    s->change = 0.0f;
    if (gg_tool_coupled(v, tool)) {
        gg_coupled_sync(v, e, tool, s, beta, done == 0);
        return;
    }
    for (int k = 0; k < 3; k++) {
        gg_exact velocity = GG_ZERO, shift = GG_ZERO;
        for (int64_t block = 0; block < blocks; block++) {
            gg_exact_merge(&velocity, &gg_tool_sums(v, e, block)[tool].velocity[k]);
            gg_exact_merge(&shift, &gg_tool_sums(v, e, block)[tool].shift[k]);
        }
        double now = s->start[k] - gg_exact_value(&velocity), step = done > 0 ? now - s->velocity[k] : 0.0;
        s->shift[k] = done > 0 ? s->shift[k] : -gg_exact_value(&shift);
        s->velocity[k] = now;
        s->seen[k] = gg_tool_stopped(v, e, tool, k, now + beta * step);
        s->change = gg_maxf(s->change, gg_absf((float)step));
    }
}

/* tells the contacts of a block how fast their tools are. item: block of tool contacts of an env */
GG_FN void gg_tool_spread_block(const gg_view *v, int64_t e, int64_t block, int32_t done) {
    const gg_tool_block *found = gg_tool_block_of(v, e, block);
    if (v->env[e].converged || !found->count) {
        return;
    }
    const gg_tool_load *loads = v->tool_load + e * v->dims.tool_contacts;
    int in_a = gg_has_owners(&v->params) || done & 1;
    float *bodies = (in_a ? v->body_a : v->body_b) + (e * v->dims.bodies + v->dims.free_bodies) * GG_BODY;
    for (int32_t i = 0; i < found->count; i++) {
        int64_t c = block * GG_LOAD_BLOCK + found->contact[i];
        const gg_tool_solve *s = &v->tool_solve[e * v->dims.tool_count + loads[c].tool];
        gg_vec3 seen = gg_v3((float)s->seen[0], (float)s->seen[1], (float)s->seen[2]);
        if (gg_tool_coupled(v, loads[c].tool)) {
            seen = gg_coupled_velocity(s->seen, v->coupled_arm[e * v->dims.tools.coupled_contacts + c]);
        } else if (gg_tool_compliant(v, loads[c].tool)) {
            seen = gg_add(seen, v->tool_contact_turn[e * v->dims.tools.contacts + c]);
        }
        for (int k = 0; k < 3; k++) {
            bodies[c * GG_BODY + k] = gg_axis_of(seen, k);
            bodies[c * GG_BODY + GG_BODY_SPIN + k] = 0.0f; /* what it turns is in its velocity there */
        }
    }
}

/* moves a coupled tool at the twist that the solve found */
GG_FN void gg_coupled_move(const gg_view *v, int64_t e, int64_t tool) {
    int64_t at = e * v->dims.tool_count + tool;
    gg_coupled_motion *now = gg_coupled_motion_of(v, e, tool), moved = *now;
    gg_tool_solve *s = &v->tool_solve[at];
    double dt = v->params.dt, speed2 = 0.0, sum = 0.0;
    gg_coupled_advance(&moved, s->velocity, dt);
    for (int k = 0; k < 3; k++) {
        speed2 += s->velocity[k] * s->velocity[k];
        sum += moved.position[k] + moved.rotation[k] + s->velocity[3 + k];
    }
    gg_rest rest = gg_rest_of(v, e);
    s->restless = speed2 > (double)rest.speed2 || speed2 * dt * dt > (double)rest.displacement2;
    s->fast = speed2 * dt * dt > 0.25 * (double)v->params.radius_min * (double)v->params.radius_min;
    s->bad = !gg_finite((float)(speed2 + sum));
    if (!s->bad) {
        *now = moved;
        v->tool_pose[at] = gg_coupled_pose(&moved);
    }
}

/* Turns a tool at the angular velocity that the solve found, which then follows from the angular momentum; returns 0, and
 * changes nothing, where it would not be finite. */
GG_FN int gg_tool_turn_by(const gg_view *v, int64_t e, int64_t tool, const double spin[3]) {
    gg_tool_turn *now = &v->tool_turn[e * v->dims.tool_count + tool], before = *now;
    double momentum[3], turn[3], sum = 0.0;
    gg_sym_mul(gg_tool_inertia(v, e, tool), spin, momentum);
    for (int k = 0; k < 3; k++) {
        turn[k] = (double)v->params.dt * spin[k];
    }
    gg_turn_by(now->rotation, turn);
    gg_sym_mul(gg_sym_inverse(gg_tool_inertia(v, e, tool)), momentum, now->spin);
    for (int k = 0; k < 3; k++) {
        sum += now->rotation[k] + now->spin[k];
    }
    if (!gg_finite((float)(sum + now->rotation[3]))) {
        *now = before;
        return 0;
    }
    return 1;
}

/* Moves a tool at the velocity that the solve found; one that would not be finite stays. item: tool of an env */
GG_FN void gg_tool_move(const gg_view *v, int64_t e, int64_t tool) {
    if (gg_tool_coupled(v, tool)) {
        gg_coupled_move(v, e, tool);
        return;
    }
    if (!gg_tool_dynamic(v, tool)) {
        return;
    }
    int64_t at = e * v->dims.tool_count + tool;
    gg_tool_body *body = &v->tool_body[at], moved = *body;
    gg_tool_solve *s = &v->tool_solve[at];
    double dt = v->params.dt, most = v->params.correction_max, speed2 = 0.0, moved2 = 0.0, solved = 0.0;
    for (int k = 0; k < 3; k++) {
        double shift = s->shift[k] < -most ? -most : s->shift[k] > most ? most : s->shift[k];
        /* a stop would hide what is not finite */
        solved += s->velocity[k] * s->velocity[k] + s->shift[k] * s->shift[k];
        moved.velocity[k] = gg_tool_stopped(v, e, tool, k, s->velocity[k]);
        moved.position[k] += dt * gg_tool_stopped(v, e, tool, k, moved.velocity[k] + shift / dt);
        speed2 += moved.velocity[k] * moved.velocity[k];
        double step = moved.position[k] - body->position[k];
        moved2 += step * step;
    }
    gg_vec3 x = gg_v3((float)moved.position[0], (float)moved.position[1], (float)moved.position[2]);
    gg_rest rest = gg_rest_of(v, e);
    s->restless = speed2 > (double)rest.speed2 || moved2 > (double)rest.displacement2;
    s->fast = speed2 * dt * dt > 0.25 * (double)v->params.radius_min * (double)v->params.radius_min;
    s->bad = !(gg_finite((float)solved) && gg_finite((float)speed2) && gg_finite3(x));
    if (gg_tool_turns(v, tool)) {
        s->bad = s->bad || !gg_tool_turn_by(v, e, tool, s->velocity + 3);
    }
    if (!s->bad) {
        *body = moved;
        v->tool_pose[at].position = x;
        if (gg_tool_compliant(v, tool)) {
            v->tool_pose[at].rotation = gg_tool_way(v, e, tool, v->env[e].substeps_done + 1).rotation;
        } else if (gg_tool_turns(v, tool)) {
            const double *q = v->tool_turn[at].rotation;
            v->tool_pose[at].rotation = gg_quat_make((float)q[0], (float)q[1], (float)q[2], (float)q[3]);
        }
    }
}

/* what the dynamic tools of an env add to its statistics of a substep */
typedef struct gg_tool_stats {
    float change;
    int32_t restless, fast, bad;
} gg_tool_stats;

GG_FN gg_tool_stats gg_tool_stats_of(const gg_view *v, int64_t e) {
    gg_tool_stats all = GG_ZERO;
    for (int64_t tool = 0; tool < v->dims.tools.dynamic; tool++) {
        const gg_tool_solve *s = &v->tool_solve[e * v->dims.tool_count + tool];
        all.change = gg_maxf(all.change, s->change);
        all.restless |= s->restless;
        all.fast |= s->fast;
        all.bad |= s->bad;
    }
    return all;
}

#endif
