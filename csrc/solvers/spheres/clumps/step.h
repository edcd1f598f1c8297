/* step.h: the part of a substep that belongs to clumps. Included by phases/step.h alone, which says what a team is. */

GG_TEAM_FN void gg_clumps_find_contacts(const gg_team *team) { gg_coloured_find_contacts(team); }

/* a sweep over all colours */
GG_TEAM_FN void gg_clumps_sweep(const gg_team *team, int32_t sweep) {
    gg_team_run(team, GG_PHASE_advance_bodies, sweep);
    int32_t colours = gg_team_colours(team);
    for (int32_t colour = 0; colour < colours; colour++) {
        gg_team_run(team, GG_PHASE_sweep_clumps, gg_colour_pass(sweep, colour));
    }
    if (gg_team_any(team, GG_HAS_REST)) {
        gg_team_run(team, GG_PHASE_sweep_clump_rest, sweep);
    }
}

GG_TEAM_FN void gg_clumps_solve(const gg_team *team) {
    const gg_params *p = &gg_team_view(team)->params;
    gg_team_run(team, GG_PHASE_coloured_list, 0);
    gg_step_open_tools(team);
    gg_team_run(team, GG_PHASE_colour_contacts, 0);
    gg_team_run(team, GG_PHASE_open_bodies, 0);
    gg_team_run(team, GG_PHASE_open_clumps, 0);
    int32_t colours = gg_team_colours(team);
    for (int32_t colour = 0; colour < colours; colour++) {
        gg_team_run(team, GG_PHASE_prepare_clumps, colour);
    }
    if (gg_team_any(team, GG_HAS_REST)) {
        gg_team_run(team, GG_PHASE_prepare_clump_rest, 0);
    }
    gg_step_sync_tools(team, 0);
    for (int32_t sweep = 0; sweep < p->iterations; sweep++) {
        gg_clumps_sweep(team, sweep);
        gg_step_sync_tools(team, sweep + 1);
        int last = sweep + 1 == p->iterations;
        if (last || (p->tolerance > 0.0f && sweep % 2 == 1)) {
            gg_team_run(team, GG_PHASE_note_change, 0);
            gg_team_run(team, GG_PHASE_check_convergence, sweep);
            if (!last && !gg_team_any(team, GG_UNCONVERGED)) {
                break;
            }
        }
    }
    gg_team_start(team, GG_PHASE_note_overlaps, 0);
    gg_team_run(team, GG_PHASE_load_clump_tools, 0);
}

GG_TEAM_FN void gg_clumps_integrate(const gg_team *team) {
    gg_team_run(team, GG_PHASE_move_clumps, 0);
    gg_team_run(team, GG_PHASE_note_clumps, 0);
}
