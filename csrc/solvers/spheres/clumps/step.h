/* step.h: the part of a substep that belongs to clumps. Included by phases/step.h alone, which says what a team is. */

GG_TEAM_FN void gg_clumps_find_contacts(const gg_team *team) { gg_coloured_find_contacts(team); }

GG_TEAM_FN void gg_clumps_solve(const gg_team *team) {
    gg_step_list(team, GG_PHASE_coloured_list);
    gg_team_next(team, GG_PHASE_colour_contacts, 0);
    gg_team_run(team, GG_PHASE_open_bodies, 0);
    gg_team_run(team, GG_PHASE_open_clumps, 0);
    gg_coloured_pass(team, GG_PHASE_prepare_clumps, GG_PHASE_prepare_clump_rest, 0);
    gg_coloured_iterate(team, GG_PHASE_sweep_clumps, GG_PHASE_sweep_clump_rest);
    gg_team_start(team, GG_PHASE_note_overlaps, 0);
    gg_team_run(team, GG_PHASE_load_clump_tools, 0);
}

GG_TEAM_FN void gg_clumps_integrate(const gg_team *team) {
    gg_step_move(team, GG_PHASE_move_clumps);
    gg_team_run(team, GG_PHASE_note_clumps, 0);
}
