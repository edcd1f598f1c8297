/* world.c: START HERE. The step: the order in which phases run.
 *
 * Every phase is defined once (phases/phases.h) and looped over by a backend; this file only says what comes after what.
 * A step covers all envs. If a buffer of contacts turns out too small, the envs concerned stop before anything is lost,
 * the buffer grows, and they go on from where they stopped.
 */
#include "world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct step_context {
    gg_world *world;
    gg_poll poll;
    void *poll_context;
    double next_poll;
    int32_t cancelled;
} step_context;

static int any_env(const gg_team *team, int (*test)(const gg_env *)) {
    for (int64_t e = team->env_begin; e < team->env_end; e++) {
        if (test(&team->crew->view->env[e])) {
            return 1;
        }
    }
    return 0;
}

static int needs_lists(const gg_env *env) { return env->rebuild && !env->stats.diverged; }
static int overflowed(const gg_env *env) {
    return env->overflow_candidates || env->overflow_rows || env->overflow_tool_rows;
}
static int still_solving(const gg_env *env) { return !env->converged; }

static void build_lists(const gg_team *team) {
    gg_team_run(team, GG_PHASE_fit_grids, 0);
    gg_team_run(team, GG_PHASE_find_cells, 0);
    gg_team_run(team, GG_PHASE_order, 0);
    gg_team_run(team, GG_PHASE_gather, 0);
    gg_team_run(team, GG_PHASE_scatter, 0);
    gg_team_run(team, GG_PHASE_room, 0);
    gg_team_run(team, GG_PHASE_search, 0);
    gg_team_run(team, GG_PHASE_close_lists, 0);
}

static void solve(const gg_team *team) {
    const gg_params *p = &team->crew->view->params;
    for (int32_t pass = 0; pass < p->iterations; pass++) {
        gg_team_run(team, GG_PHASE_iterate, pass);
        int last = pass + 1 == p->iterations;
        if (last || (p->tolerance > 0.0f && pass % 2 == 1)) {
            gg_team_run(team, GG_PHASE_check_convergence, pass);
            if (!last && !any_env(team, still_solving)) {
                return;
            }
        }
    }
}

/* one substep of the team's envs; 0: a buffer must grow first */
static int substep(const gg_team *team) {
    if (!team->crew->view->env[team->env_begin].predicted) {
        gg_team_run(team, GG_PHASE_pose_parts, 0);
        gg_team_run(team, GG_PHASE_predict, 0);
        gg_team_run(team, GG_PHASE_check, 0);
    }
    if (any_env(team, needs_lists)) {
        build_lists(team);
        if (any_env(team, overflowed)) {
            return 0;
        }
    }
    gg_team_run(team, GG_PHASE_count_contacts, 0);
    gg_team_run(team, GG_PHASE_place_contacts, 0);
    if (any_env(team, overflowed)) {
        return 0;
    }
    gg_team_run(team, GG_PHASE_list_contacts, 0);
    gg_team_run(team, GG_PHASE_prepare_contacts, 0);
    solve(team);
    gg_team_run(team, GG_PHASE_project_tools, 0);
    gg_team_run(team, GG_PHASE_sum_wrench_blocks, 0);
    gg_team_run(team, GG_PHASE_sum_wrench_tools, 0);
    gg_team_run(team, GG_PHASE_integrate, 0);
    gg_team_run(team, GG_PHASE_close_substep, 0);
    return 1;
}

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* asks the caller, on its own thread and not too often, whether to go on; all threads of a team hear the same answer */
static int cancelled(const gg_team *team, step_context *c) {
    if (team->caller && c->poll && now() >= c->next_poll) {
        if (c->poll(c->poll_context)) {
            __atomic_store_n(&c->cancelled, 1, __ATOMIC_RELAXED);
        }
        c->next_poll = now() + 0.1;
    }
    gg_team_wait(team);
    int answer = __atomic_load_n(&c->cancelled, __ATOMIC_RELAXED);
    gg_team_wait(team);
    return answer;
}

static void run_substeps(const gg_team *team, void *context) {
    const gg_view *v = team->crew->view;
    while (v->env[team->env_begin].substeps_done < v->params.substeps) {
        if (cancelled(team, context) || !substep(team)) {
            break;
        }
    }
    gg_team_run(team, GG_PHASE_arrive_tools, 0);
}

static void open_step(const gg_team *team, void *context) {
    (void)context;
    gg_team_run(team, GG_PHASE_open_step, 0);
    gg_team_run(team, GG_PHASE_plan_tools, 0);
}

static void withdraw(const gg_team *team, void *context) {
    (void)context;
    gg_team_run(team, GG_PHASE_withdraw, 0);
}

static gg_crew crew_of(const gg_world *w) {
    gg_crew crew = {&w->view, w->thread_count, w->kernel, w->seconds};
    return crew;
}

static gg_status check_step(gg_world *w, double dt, int32_t substeps, const float *targets) {
    if (!(dt > 0.0) || !isfinite(dt) || !((float)dt > 0.0f) || dt > 1.0) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "dt: expected a step in (0, 1] s, got %g", dt);
    }
    if (substeps < 1) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "substeps: expected at least 1, got %d", (int)substeps);
    }
    int64_t count = w->view.dims.env_count * gg_own_tool_count(w);
    for (int64_t k = 0; targets && k < count; k++) {
        const float *t = targets + k * 7;
        float norm2 = t[3] * t[3] + t[4] * t[4] + t[5] * t[5] + t[6] * t[6];
        float size2 = t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
        if (!gg_finite(norm2) || !gg_finite(size2) || !(norm2 > 1e-12f)) {
            return gg_world_fail(w, GG_ERROR_ARGUMENT,
                                 "tool_poses: expected finite positions and quaternions of length > 0, got "
                                 "(%g, %g, %g, %g, %g, %g, %g) for tool %d of env %d",
                                 t[0], t[1], t[2], t[3], t[4], t[5], t[6], (int)(k % gg_own_tool_count(w)),
                                 (int)(k / gg_own_tool_count(w)));
        }
    }
    return GG_OK;
}

static size_t targets_size(const gg_world *w) {
    return sizeof(float) * 7 * (size_t)(w->view.dims.env_count * gg_own_tool_count(w));
}

/* whether this call asks for the step that the last one could not finish */
static int resumes(const gg_world *w, double dt, int32_t substeps, const float *targets) {
    const gg_params *p = &w->view.params;
    return w->unfinished && p->dt == (float)dt && p->substeps == substeps && !targets == !w->view.tool_targets &&
           (!targets || !memcmp(targets, w->targets, targets_size(w)));
}

gg_status gg_world_step(gg_world *w, double dt, int32_t substeps, const float *tool_targets, gg_poll poll,
                        void *poll_context) {
    gg_status status = check_step(w, dt, substeps, tool_targets);
    if (status != GG_OK) {
        return status;
    }
    int resumed = resumes(w, dt, substeps, tool_targets);
    gg_params *p = &w->view.params;
    p->dt = (float)dt;
    p->substeps = substeps;
    gg_params_from_solver(w);
    if (tool_targets) {
        memcpy(w->targets, tool_targets, targets_size(w));
    }
    w->view.tool_targets = tool_targets ? w->targets : NULL;
    w->duration = (double)p->dt * substeps;
    gg_world_moved(w);
    step_context context = {w, poll, poll_context, now() + 0.1, 0};
    gg_crew crew = crew_of(w);
    if (resumed) {
        /* envs may have stopped at different substeps: each goes on alone */
        crew.thread_count = 1;
    } else {
        gg_crew_run(&crew, open_step, &context);
    }
    int grew = 1;
    while (grew && !context.cancelled) {
        gg_crew_run(&crew, run_substeps, &context);
        gg_status grown = gg_arena_grow(w, &grew);
        status = grown != GG_OK ? grown : status;
        if (grown == GG_ERROR_MEMORY) {
            w->unfinished = 1;
            break;
        }
    }
    if (context.cancelled || w->unfinished) {
        gg_crew_run(&crew, withdraw, NULL);
        for (int64_t e = 0; e < w->view.dims.env_count; e++) {
            w->view.env[e].predicted = 0;
        }
    }
    return context.cancelled ? gg_world_fail(w, GG_INTERRUPTED, "step: interrupted") : status;
}

gg_status gg_world_fail(gg_world *w, gg_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->message, sizeof w->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *gg_world_message(const gg_world *w) { return w->message; }

static void sum_boxes(const gg_team *team, void *context) {
    (void)context;
    gg_team_run(team, GG_PHASE_sum_boxes, 0);
}

gg_status gg_world_box_stats(gg_world *w, const float *boxes, int64_t *counts, float *mean_distances) {
    const gg_dims *d = &w->view.dims;
    for (int64_t e = 0; e < d->env_count; e++) {
        for (int k = 0; k < 3; k++) {
            const float *box = boxes + e * 6;
            if (!(box[k] <= box[k + 3]) || !gg_finite(box[k]) || !gg_finite(box[k + 3])) {
                return gg_world_fail(w, GG_ERROR_ARGUMENT,
                                     "box: expected finite lower <= upper, got [%g, %g] on axis %d of env %d", box[k],
                                     box[k + 3], k, (int)e);
            }
        }
    }
    w->view.boxes = boxes;
    gg_crew crew = crew_of(w);
    gg_crew_run(&crew, sum_boxes, NULL);
    w->view.boxes = NULL;
    for (int64_t e = 0; e < d->env_count; e++) {
        double distance = 0.0, count = 0.0;
        for (int64_t b = 0; b < d->blocks; b++) {
            distance += w->view.box_partial[e * d->blocks + b].distance_sum;
            count += w->view.box_partial[e * d->blocks + b].count;
        }
        counts[e] = (int64_t)count;
        mean_distances[e] = d->grain_count ? (float)(distance / (double)d->grain_count) : 0.0f;
    }
    return GG_OK;
}

static void render_depth(const gg_team *team, void *context) {
    (void)context;
    gg_team_run(team, GG_PHASE_render_depth, 0);
}

gg_status gg_world_depth(gg_world *w, int32_t camera, float *depth) {
    const gg_dims *d = &w->view.dims;
    if (camera < 0 || camera >= d->camera_count) {
        return gg_world_fail(w, GG_ERROR_ARGUMENT, "camera: expected an index in [0, %d), got %d", (int)d->camera_count,
                             (int)camera);
    }
    if (!w->depth_valid) {
        gg_crew crew = crew_of(w);
        gg_crew_run(&crew, render_depth, NULL);
        w->depth_valid = 1;
    }
    const gg_camera *c = &w->cameras[camera];
    size_t pixels = (size_t)c->height * (size_t)c->width;
    for (int64_t e = 0; e < d->env_count; e++) {
        memcpy(depth + (size_t)e * pixels, w->view.depth + e * d->pixels + c->first_pixel, pixels * sizeof(float));
    }
    return GG_OK;
}

int gg_phase_count(void) { return GG_PHASE_COUNT; }

const char *gg_phase_name(int phase) {
    static const char *const names[] = {
#define PHASE_NAME(name, count, skip, body) #name,
        GG_PHASES(PHASE_NAME)
#undef PHASE_NAME
    };
    return phase >= 0 && phase < GG_PHASE_COUNT ? names[phase] : "";
}
