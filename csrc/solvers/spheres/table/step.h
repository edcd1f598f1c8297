/* step.h: the part of a substep that belongs to the law of tables. Included by phases/step.h alone, which says what a
 * team is. */

GG_TEAM_FN void gg_table_find_contacts(const gg_team *team) { gg_team_run(team, GG_PHASE_table_count, 0); }

GG_TEAM_FN void gg_table_solve(const gg_team *team) {
    gg_team_start(team, GG_PHASE_table_list, 0);
    gg_team_run(team, GG_PHASE_table_open, 0);
    gg_team_run(team, GG_PHASE_table_push, 0);
    gg_team_start(team, GG_PHASE_table_note, 0);
}

GG_TEAM_FN void gg_table_integrate(const gg_team *team) {
    gg_step_move(team, GG_PHASE_integrate);
    gg_team_start(team, GG_PHASE_table_forget, 0);
    gg_team_start(team, GG_PHASE_table_close, 0);
}
