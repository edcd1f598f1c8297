/* step.h: the part of a substep that belongs to spheres solved by coloured Gauss-Seidel. Included by phases/step.h
 * alone, which says what a team is. */

GG_TEAM_FN void gg_coloured_find_contacts(const gg_team *team) { gg_team_next(team, GG_PHASE_count_contacts, 0); }

/* One pass over all contacts by the phases of a law for a colour and for the last one; sweep: of the passes of the
 * phases. The phases are constants. */
GG_TEAM_FN void gg_coloured_pass(const gg_team *team, gg_phase colour_phase, gg_phase rest_phase, int32_t sweep) {
    int32_t colours = gg_team_pass(team, colour_phase, sweep) ? 0 : gg_team_colours(team);
    for (int32_t colour = 0; colour < colours; colour++) {
        gg_team_run(team, colour_phase, gg_colour_pass(sweep, colour));
    }
    if (gg_team_any(team, GG_HAS_REST)) {
        gg_team_run(team, rest_phase, sweep);
    }
}

/* Sweeps until the solve converges or has done params.iterations, by the phases of a law: constants. */
GG_TEAM_FN void gg_coloured_iterate(const gg_team *team, gg_phase colour_phase, gg_phase rest_phase) {
    const gg_params *p = &gg_team_view(team)->params;
    gg_step_sync_tools(team, 0);
    for (int32_t sweep = 0; sweep < p->iterations; sweep++) {
        if (sweep == 0) {
            gg_team_next(team, GG_PHASE_advance_bodies, sweep); /* nothing moves: a block may bring bodies near */
        } else if (!gg_team_extrapolates(team, colour_phase)) {
            gg_team_run(team, GG_PHASE_advance_bodies, sweep);
        }
        gg_coloured_pass(team, colour_phase, rest_phase, sweep);
        gg_step_sync_tools(team, sweep + 1);
        int last = sweep + 1 == p->iterations;
        if (last || (p->tolerance > 0.0f && sweep % 2 == 1)) {
            gg_team_next(team, GG_PHASE_note_change, 0);
            gg_team_run(team, GG_PHASE_check_convergence, sweep);
            if (!last && !gg_team_any(team, GG_UNCONVERGED)) {
                return;
            }
        }
    }
}

GG_TEAM_FN void gg_coloured_solve(const gg_team *team) {
    gg_step_list(team, GG_PHASE_coloured_list);
    /* it meets before it is done; how many colours there are is known to all after bodies are opened */
    gg_team_next(team, GG_PHASE_colour_contacts, 0);
    if (gg_team_any(team, GG_HAS_ASLEEP)) {
        gg_team_next(team, GG_PHASE_weigh_edges, 0);
    }
    gg_team_run(team, GG_PHASE_open_bodies, 0);
    gg_coloured_pass(team, GG_PHASE_prepare_colour, GG_PHASE_prepare_rest, 0);
    if (gg_team_any(team, GG_HAS_ASLEEP)) {
        gg_team_run(team, GG_PHASE_hold_edges, 0);
        gg_team_run(team, GG_PHASE_sum_kept, 0);
    }
    gg_coloured_iterate(team, GG_PHASE_sweep_colour, GG_PHASE_sweep_rest);
    gg_team_start(team, GG_PHASE_note_overlaps, 0);
    gg_team_run(team, GG_PHASE_coloured_load_tools, 0);
    if (gg_team_any(team, GG_HAS_ASLEEP)) {
        gg_team_run(team, GG_PHASE_stop_edges, 0);
    }
}

GG_TEAM_FN void gg_coloured_integrate(const gg_team *team) { gg_step_move(team, GG_PHASE_coloured_integrate); }
