/* step.h: the part of a substep that belongs to continuous matter. Included by phases/step.h alone, which says what a team
 * is. */

GG_TEAM_FN void gg_continuum_find_contacts(const gg_team *team) {
    gg_team_start(team, GG_PHASE_continuum_count, 0);
    gg_team_run(team, GG_PHASE_continuum_key, 0);
    gg_team_run(team, GG_PHASE_continuum_order, 0);
}

/* what liquids add: how full cells are; pressures of the iterate; their change along a direction and along the step */
GG_TEAM_FN void gg_liquid_measure(const gg_team *team) {
    if (gg_has_liquid(gg_team_view(team))) {
        gg_team_run(team, GG_PHASE_liquid_open, 0);
        gg_team_run(team, GG_PHASE_liquid_count, 0);
        gg_team_run(team, GG_PHASE_liquid_share, 0);
        gg_team_run(team, GG_PHASE_liquid_measure, 0);
        gg_team_run(team, GG_PHASE_liquid_crowd, 0);
    }
}
GG_TEAM_FN void gg_liquid_linearise(const gg_team *team) {
    if (gg_has_liquid(gg_team_view(team))) {
        gg_team_run(team, GG_PHASE_liquid_flow_iterate, 0);
        gg_team_run(team, GG_PHASE_liquid_flow, GG_TWIST_VELOCITY);
        gg_team_run(team, GG_PHASE_liquid_press_iterate, 0);
        gg_team_run(team, GG_PHASE_liquid_keep_iterate, 0);
    }
}
GG_TEAM_FN void gg_liquid_apply(const gg_team *team) {
    if (gg_has_liquid(gg_team_view(team))) {
        gg_team_run(team, GG_PHASE_liquid_flow_way, 0);
        gg_team_run(team, GG_PHASE_liquid_flow, GG_TWIST_ALONG);
        gg_team_run(team, GG_PHASE_liquid_press_way, 0);
        gg_team_run(team, GG_PHASE_liquid_keep_way, 0);
    }
}
GG_TEAM_FN void gg_liquid_ray(const gg_team *team) {
    if (gg_has_liquid(gg_team_view(team))) {
        gg_team_run(team, GG_PHASE_liquid_flow_step, 0);
        gg_team_run(team, GG_PHASE_liquid_flow, GG_TWIST_ALONG);
        gg_team_run(team, GG_PHASE_liquid_press_step, 0);
    }
}

/* the linear system of a step of Newton's method */
GG_TEAM_FN void gg_continuum_solve_linear(const gg_team *team) {
    gg_team_run(team, GG_PHASE_continuum_diagonal, 0);
    gg_team_run(team, GG_PHASE_continuum_start, 0);
    gg_team_run(team, GG_PHASE_continuum_started, 0);
    while (gg_team_any(team, GG_INNER_UNDONE)) {
        gg_liquid_apply(team);
        gg_team_run(team, GG_PHASE_continuum_apply, 0);
        gg_team_run(team, GG_PHASE_continuum_image, 0);
        gg_team_run(team, GG_PHASE_continuum_length, 0);
        gg_team_run(team, GG_PHASE_continuum_step, 0);
        gg_team_run(team, GG_PHASE_continuum_blend, 0);
        gg_team_run(team, GG_PHASE_continuum_turn, 0);
    }
}

/* the length of the step */
GG_TEAM_FN void gg_continuum_search_line(const gg_team *team) {
    gg_liquid_ray(team);
    gg_team_run(team, GG_PHASE_continuum_ray_blocks, 0);
    gg_team_run(team, GG_PHASE_continuum_ray_nodes, 0);
    gg_team_run(team, GG_PHASE_continuum_ray, 0);
    while (gg_team_any(team, GG_INNER_UNDONE)) {
        gg_team_run(team, GG_PHASE_continuum_try_blocks, 0);
        gg_team_run(team, GG_PHASE_continuum_try, 0);
    }
    gg_team_run(team, GG_PHASE_continuum_advance, 0);
}

/* the impulses of contacts, each once */
GG_TEAM_FN void gg_continuum_push(const gg_team *team) {
    gg_team_run(team, GG_PHASE_continuum_weigh, 0);
    gg_team_run(team, GG_PHASE_continuum_weighed, 0);
    gg_team_run(team, GG_PHASE_continuum_push, 0);
    gg_team_run(team, GG_PHASE_continuum_pushed, 0);
}

GG_TEAM_FN void gg_continuum_minimise(const gg_team *team) {
    gg_liquid_measure(team);
    gg_team_run(team, GG_PHASE_continuum_regularise, 0);
    for (;;) {
        gg_liquid_linearise(team);
        gg_team_run(team, GG_PHASE_continuum_linearise, 0);
        gg_team_run(team, GG_PHASE_continuum_gradient, 0);
        gg_team_run(team, GG_PHASE_continuum_judge, 0);
        if (!gg_team_any(team, GG_UNCONVERGED)) {
            break;
        }
        gg_continuum_solve_linear(team);
        gg_continuum_search_line(team);
    }
    gg_team_run(team, GG_PHASE_continuum_left, 0);
    gg_team_run(team, GG_PHASE_continuum_balance, 0);
}

GG_TEAM_FN void gg_continuum_solve(const gg_team *team) {
    gg_team_start(team, GG_PHASE_continuum_begin, 0);
    gg_team_run(team, GG_PHASE_continuum_list, 0);
    gg_team_run(team, GG_PHASE_continuum_open_blocks, 0);
    gg_team_run(team, GG_PHASE_continuum_open_nodes, 0);
    if (gg_team_view(team)->params.mode == GG_MODE_EXPLICIT) {
        gg_continuum_push(team);
    } else {
        gg_continuum_minimise(team);
    }
    gg_team_start(team, GG_PHASE_continuum_end, 0);
    gg_team_run(team, GG_PHASE_continuum_load, 0);
}

GG_TEAM_FN void gg_continuum_integrate(const gg_team *team) {
    gg_step_move_tools(team);
    if (gg_has_liquid(gg_team_view(team))) {
        gg_team_run(team, GG_PHASE_liquid_react, 0);
        gg_team_run(team, GG_PHASE_liquid_reacted, 0);
    }
    gg_team_run(team, GG_PHASE_continuum_integrate, 0);
    if (gg_has_liquid(gg_team_view(team))) {
        gg_team_run(team, GG_PHASE_liquid_spread, 0);
    }
    gg_team_run(team, GG_PHASE_continuum_note, 0);
}
