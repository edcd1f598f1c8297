/* step.h: the order in which the phases of a substep run. START HERE to learn how the engine works.
 *
 * Written once for every kind of team: CPU threads (backend/cpu.c), GPU threads of a persistent kernel
 * (backend/cuda/step_kernel.cuh), and a host that launches one kernel per phase (backend/cuda/launch.cuh).
 * The including file defines
 *   GG_TEAM_FN                        qualifiers of the functions here
 *   gg_team                           a team: it works on one set of envs
 *   gg_team_view(team)                its const gg_view *
 *   gg_team_law(team)                 its gg_law; a compile-time constant where phases must be
 *   gg_team_run(team, phase, pass)    all items of a phase; returns when all threads of the team are done
 *   gg_team_start(team, phase, pass)  the same, without a barrier: the next phase does not depend on it
 *   gg_team_next(team, phase, pass)   the same, where blocks of a GPU, which keep their slices, need not wait for each
 *                                     other: the next phase reads of other slices nothing that this one writes after its
 *                                     last meeting, and writes nothing that this one reads of them
 *   gg_team_pass(team, phase, sweep)  runs a phase for all colours, one after another, and returns 1; 0: it does not, and
 *                                     gg_team_run does so colour by colour
 *   gg_team_extrapolates(team, phase) whether gg_team_pass of that phase extrapolates bodies itself: advance_bodies is left
 *                                     out after the first sweep
 *   gg_team_colours(team)             the most colours that an env of the team has (gg_step_colours)
 *   gg_team_any(team, condition)      whether the condition holds for an env of the team (gg_step_condition)
 */
#ifndef GG_STEP_H
#define GG_STEP_H

#include "phases.h"

GG_TEAM_FN void gg_step_build_lists(const gg_team *team) {
    gg_team_run(team, GG_PHASE_fit_cell_grids, 0);
    if (gg_team_view(team)->dims.sleep.slots) {
        gg_team_run(team, GG_PHASE_choose_asleep, 0);
        gg_team_run(team, GG_PHASE_enter_sleep, 0);
    }
    gg_team_run(team, GG_PHASE_find_cells, 0);
    gg_team_run(team, GG_PHASE_order, 0);
    gg_team_run(team, GG_PHASE_gather, 0);
    gg_team_run(team, GG_PHASE_scatter, 0);
    gg_team_run(team, GG_PHASE_allocate_candidates, 0);
    gg_team_run(team, GG_PHASE_search, 0);
    gg_team_run(team, GG_PHASE_close_lists, 0);
}

/* Lists contacts by a phase of their law, and opens dynamic tools before these are prepared. */
GG_TEAM_FN void gg_step_list(const gg_team *team, gg_phase list) {
    if (gg_team_view(team)->params.dynamic) {
        gg_team_run(team, list, 0);
        gg_team_run(team, GG_PHASE_count_tool_contacts, 0);
        gg_team_run(team, GG_PHASE_open_tools, 0);
    } else {
        gg_team_next(team, list, 0);
    }
}

/* the velocities of dynamic tools after `done` iterations; 0: after the warm start */
GG_TEAM_FN void gg_step_sync_tools(const gg_team *team, int32_t done) {
    if (gg_team_view(team)->params.dynamic) {
        gg_team_run(team, GG_PHASE_sum_tool_impulses, done);
        gg_team_run(team, GG_PHASE_sync_tools, done);
        gg_team_run(team, GG_PHASE_spread_tools, done);
    }
}

/* Iterates a law's contact solve until it converges or has done params.iterations. dynamic: 1 where the law knows
 * dynamic tools; a constant */
GG_TEAM_FN void gg_step_iterate(const gg_team *team, gg_phase iteration, int dynamic) {
    const gg_params *p = &gg_team_view(team)->params;
    if (dynamic) {
        gg_step_sync_tools(team, 0);
    }
    for (int32_t pass = 0; pass < p->iterations; pass++) {
        int last = pass + 1 == p->iterations, checked = last || (p->tolerance > 0.0f && pass % 2 == 1);
        if (checked && !p->dynamic) {
            gg_team_next(team, iteration, pass);
        } else {
            gg_team_run(team, iteration, pass);
        }
        if (dynamic) {
            gg_step_sync_tools(team, pass + 1);
        }
        if (checked) {
            gg_team_run(team, GG_PHASE_check_convergence, pass);
            if (!last && !gg_team_any(team, GG_UNCONVERGED)) {
                return;
            }
        }
    }
}

/* Moves grains by a phase of their law, and dynamic tools, while loads on tools are summed up. */
GG_TEAM_FN void gg_step_move(const gg_team *team, gg_phase integrate) {
    gg_team_start(team, GG_PHASE_sum_wrench_blocks, 0);
    if (gg_team_view(team)->params.dynamic) {
        gg_team_start(team, GG_PHASE_move_tools, 0);
    }
    gg_team_run(team, integrate, 0);
    gg_team_start(team, GG_PHASE_sum_wrench_tools, 0);
}

/* the same, of a law whose phases add to wrenches themselves: before these */
GG_TEAM_FN void gg_step_move_tools(const gg_team *team) {
    gg_team_run(team, GG_PHASE_sum_wrench_blocks, 0);
    gg_team_start(team, GG_PHASE_sum_wrench_tools, 0);
    if (gg_team_view(team)->params.dynamic) {
        gg_team_start(team, GG_PHASE_move_tools, 0);
    }
}

/* the part of each law in a substep: find_contacts, solve and integrate */
#include "../solvers/spheres/coloured/step.h"
#include "../solvers/spheres/clumps/step.h"
#include "../solvers/spheres/bell/step.h"
#include "../solvers/spheres/table/step.h"
#include "../solvers/continuum/step.h"
#include "../solvers/planar/step.h"
#include "../solvers/spheres/step.h"

#define GG_LAW_CASE_FIND(law)                                                                                          \
    case GG_LAW_##law:                                                                                                 \
        gg_##law##_find_contacts(team);                                                                                \
        return;
#define GG_LAW_CASE_SOLVE(law)                                                                                         \
    case GG_LAW_##law:                                                                                                 \
        gg_##law##_solve(team);                                                                                        \
        return;
#define GG_LAW_CASE_INTEGRATE(law)                                                                                     \
    case GG_LAW_##law:                                                                                                 \
        gg_##law##_integrate(team);                                                                                    \
        return;
GG_TEAM_FN void gg_law_find_contacts(const gg_team *team) {
    switch (gg_team_law(team)) { GG_LAWS(GG_LAW_CASE_FIND) }
}
GG_TEAM_FN void gg_law_solve(const gg_team *team) {
    switch (gg_team_law(team)) { GG_LAWS(GG_LAW_CASE_SOLVE) }
}
GG_TEAM_FN void gg_law_integrate(const gg_team *team) {
    switch (gg_team_law(team)) { GG_LAWS(GG_LAW_CASE_INTEGRATE) }
}
#undef GG_LAW_CASE_FIND
#undef GG_LAW_CASE_SOLVE
#undef GG_LAW_CASE_INTEGRATE

/* Runs one substep of the team's envs; 0: a buffer must grow first. resumed: it has grown, the substep continues. */
GG_TEAM_FN int gg_step_substep(const gg_team *team, int resumed) {
    if (!resumed) {
        gg_team_start(team, GG_PHASE_pose_parts, 0);
        gg_team_next(team, GG_PHASE_predict, 0);
        gg_team_run(team, GG_PHASE_check, 0);
    }
    if (!gg_team_any(team, GG_IS_AWAKE)) {
        gg_team_run(team, GG_PHASE_close_substep, 0);
        return 1;
    }
    if (gg_law_has_lists(gg_team_law(team)) && gg_team_any(team, GG_NEEDS_REBUILD)) {
        gg_step_build_lists(team);
        if (gg_team_any(team, GG_HAS_OVERFLOW)) {
            return 0;
        }
    }
    gg_law_find_contacts(team);
    gg_team_next(team, GG_PHASE_allocate_contacts, 0);
    if (gg_team_any(team, GG_HAS_OVERFLOW)) {
        return 0;
    }
    gg_law_solve(team);
    gg_law_integrate(team);
    gg_team_run(team, GG_PHASE_close_substep, 0);
    return 1;
}

#endif
