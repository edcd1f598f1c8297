/* step.h: the part of a substep that belongs to the law of spheres. Included by phases/step.h alone, which says what a
 * team is. */

GG_TEAM_FN void gg_spheres_find_contacts(const gg_team *team) { gg_team_next(team, GG_PHASE_count_contacts, 0); }

GG_TEAM_FN void gg_spheres_solve(const gg_team *team) {
    gg_step_list(team, GG_PHASE_list_contacts);
    gg_team_run(team, GG_PHASE_prepare_contacts, 0);
    gg_step_iterate(team, GG_PHASE_iterate, 1);
    gg_team_next(team, GG_PHASE_project_tools, 0);
    gg_team_run(team, GG_PHASE_load_tools, 0);
}

GG_TEAM_FN void gg_spheres_integrate(const gg_team *team) { gg_step_move(team, GG_PHASE_integrate); }
