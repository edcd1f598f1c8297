/* close.h: the start and the end of an env's solve. */
#ifndef GG_CONTINUUM_CLOSE_H
#define GG_CONTINUUM_CLOSE_H

#include "search.h"

/* whether the objective is quadratic: nothing yields, parts or touches */
GG_FN int gg_continuum_smooth(const gg_view *v, int64_t e) {
    for (int64_t k = 0; k < v->dims.material_count; k++) {
        const gg_continuum_material *m = &v->continuum_material[k];
        if (m->liquid > 0.0 || (m->bulk > 0.0 && (m->strength < GG_UNYIELDING || m->tension < GG_UNYIELDING))) {
            return 0;
        }
    }
    return gg_tool_loads(v, e) == 0;
}

/* item: env */
GG_FN void gg_continuum_begin_env(const gg_view *v, int64_t e) {
    gg_continuum_env *own = gg_continuum_env_of(v, e);
    own->newton = own->linear_all = own->tries_all = own->unsolved = 0;
    own->cost = own->gradient = own->last_gradient = own->bound = own->mass = 0.0;
    own->smooth = gg_continuum_smooth(v, e);
    own->drift[0] = own->drift[1] = own->drift[2] = 0.0;
    gg_twists_open(v, e);
    v->env[e].inner = 0;
}

/* what the solve leaves of the gradient at a node, and its mass */
GG_FN void gg_continuum_left_node(const gg_view *v, int64_t e, gg_node node, gg_continuum_sum *sum) {
    (void)e;
    double left[3];
    gg_real4_three(v->continuum_residual[node.at], left);
    for (int k = 0; k < 3; k++) {
        sum->of[k] += left[k];
    }
    sum->of[3] += gg_real4_at(v->continuum_free[node.at], 3);
}
GG_NODES_PHASE(left, 1)

/* Where nothing touches, all particles take the velocity that the sum of it lacks: momentum is then kept to rounding, not
 * to the bound of the solve. Elsewhere that sum holds what contacts, far stiffer than mass, are off: it would push what
 * rests. sum: over the blocks of nodes */
GG_FN void gg_continuum_balance(const gg_view *v, int64_t e, gg_continuum_sum sum) {
    int flies = gg_tool_loads(v, e) == 0 && !gg_has_liquid(v) && sum.of[3] > 0.0;
    for (int k = 0; k < 3; k++) {
        gg_continuum_env_of(v, e)->drift[k] = flies ? sum.of[k] / sum.of[3] : 0.0;
    }
}
GG_NODES_JUDGED(balance, 1)

/* Tells of the solve. item: env */
GG_FN void gg_continuum_end_env(const gg_view *v, int64_t e) {
    gg_env *env = &v->env[e];
    const gg_continuum_env *own = gg_continuum_env_of(v, e);
    if (gg_continuum_explicit(v)) {
        gg_twists_push(v, e);
        env->stats.step_count++;
    }
    gg_twists_close(v, e);
    env->iteration = own->newton;
    env->converged = !own->unsolved;
    env->stats.cost = own->cost;
    env->stats.linear_count += own->linear_all;
    env->stats.search_count += own->tries_all;
    env->stats.unsolved_count += own->unsolved;
}

#endif
