/* step.h: the part of a substep that belongs to the law of Bell. Included by phases/step.h alone, which says what a team
 * is. */

GG_TEAM_FN void gg_bell_find_contacts(const gg_team *team) { gg_team_run(team, GG_PHASE_bell_count, 0); }

GG_TEAM_FN void gg_bell_solve(const gg_team *team) {
    gg_team_start(team, GG_PHASE_bell_list, 0);
    gg_team_run(team, GG_PHASE_bell_open, 0);
    if (gg_team_any(team, GG_UNCONVERGED)) {
        gg_team_run(team, GG_PHASE_bell_start, 0);
        gg_team_run(team, GG_PHASE_bell_push, GG_BELL_START);
        gg_team_start(team, GG_PHASE_bell_keep, 0);
        gg_team_run(team, GG_PHASE_bell_keep_tools, 0);
    }
    gg_team_start(team, GG_PHASE_bell_pose_parts, GG_BELL_END);
    gg_team_run(team, GG_PHASE_bell_drift, 0);
    gg_team_run(team, GG_PHASE_bell_push, GG_BELL_END);
    gg_team_start(team, GG_PHASE_bell_note, 0);
}

GG_TEAM_FN void gg_bell_integrate(const gg_team *team) {
    gg_team_run(team, GG_PHASE_bell_close, 0);
    gg_team_start(team, GG_PHASE_bell_close_tools, 0);
    gg_team_run(team, GG_PHASE_note_clumps, 0);
    gg_team_start(team, GG_PHASE_bell_forget_lists, 0);
}
