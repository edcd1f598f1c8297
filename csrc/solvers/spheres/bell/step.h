/* step.h: the part of a substep that belongs to the law of Bell. Included by phases/step.h alone, which says what a team
 * is. */

GG_TEAM_FN void gg_bell_find_contacts(const gg_team *team) { gg_team_run(team, GG_PHASE_bell_count, 0); }

/* a substep of velocity Verlet */
GG_TEAM_FN void gg_bell_step_verlet(const gg_team *team) {
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
}

/* as many steps of Runge-Kutta-Fehlberg as each env takes */
GG_TEAM_FN void gg_bell_step_rkf45(const gg_team *team) {
    gg_team_run(team, GG_PHASE_bell_open_steps, 0);
    for (int32_t k = 0; k < GG_BELL_TRIES && gg_team_any(team, GG_UNCONVERGED); k++) {
        for (int32_t pass = GG_BELL_STAGE; pass < GG_BELL_STAGE + 6; pass++) {
            gg_team_start(team, GG_PHASE_bell_pose_parts, pass);
            gg_team_run(team, GG_PHASE_bell_stage, pass);
            gg_team_run(team, GG_PHASE_bell_push, pass);
            gg_team_run(team, GG_PHASE_bell_slope, pass);
        }
        gg_team_run(team, GG_PHASE_bell_judge, 0);
        gg_team_run(team, GG_PHASE_bell_decide, 0);
        gg_team_start(team, GG_PHASE_bell_accept, 0);
        gg_team_run(team, GG_PHASE_bell_accept_loads, 0);
    }
}

GG_TEAM_FN void gg_bell_solve(const gg_team *team) {
    gg_team_run(team, GG_PHASE_bell_list, 0);
    if (gg_is_adaptive(&gg_team_view(team)->params)) {
        gg_bell_step_rkf45(team);
    } else {
        gg_bell_step_verlet(team);
    }
    gg_team_start(team, GG_PHASE_bell_note, 0);
}

GG_TEAM_FN void gg_bell_integrate(const gg_team *team) {
    gg_step_move_tools(team);
    if (gg_is_adaptive(&gg_team_view(team)->params)) {
        gg_team_run(team, GG_PHASE_bell_settle, 0);
    } else {
        gg_team_run(team, GG_PHASE_bell_close, 0);
        gg_team_start(team, GG_PHASE_bell_close_tools, 0);
    }
    gg_team_run(team, GG_PHASE_note_clumps, 0);
    gg_team_start(team, GG_PHASE_bell_forget_lists, 0);
}
