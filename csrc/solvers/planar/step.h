/* step.h: the parts of a substep that belong to the laws of planar grains: rigid contact (`planar`) and springs in
 * explicit steps (`springs`). Included by phases/step.h alone, which says what a team is. */

GG_TEAM_FN void gg_planar_find_contacts(const gg_team *team) {
    gg_team_run(team, GG_PHASE_find_manifolds, 0);
    gg_team_next(team, GG_PHASE_planar_count, 0);
}

GG_TEAM_FN void gg_planar_solve(const gg_team *team) {
    gg_team_next(team, GG_PHASE_planar_list, 0);
    gg_team_run(team, GG_PHASE_planar_prepare, 0);
    gg_step_iterate(team, GG_PHASE_planar_iterate, 0);
    gg_team_next(team, GG_PHASE_planar_project_tools, 0);
    gg_team_run(team, GG_PHASE_planar_load_tools, 0);
}

GG_TEAM_FN void gg_planar_integrate(const gg_team *team) { gg_step_move(team, GG_PHASE_planar_integrate); }

GG_TEAM_FN void gg_springs_find_contacts(const gg_team *team) { gg_planar_find_contacts(team); }

GG_TEAM_FN void gg_springs_solve(const gg_team *team) {
    gg_team_next(team, GG_PHASE_planar_list, 0);
    gg_team_run(team, GG_PHASE_apply_springs, 0);
    gg_team_run(team, GG_PHASE_planar_load_tools, 0);
}

GG_TEAM_FN void gg_springs_integrate(const gg_team *team) { gg_planar_integrate(team); }
