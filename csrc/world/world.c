/* world.c: the step of a world. The order of its phases is phases/step.h.
 *
 * A step covers all envs. Where a buffer of contacts turns out too small, the envs concerned stop before anything is
 * lost, the buffer grows, and they resume.
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
    int32_t resumed;         /* this step finishes one that ran out of memory */
    const gg_copy_run *runs; /* copied to the host at its end */
    int run_count;
} step_context;

#define GG_TEAM_FN static
static const gg_view *gg_team_view(const gg_team *team) { return team->executor->view; }
static gg_law gg_team_law(const gg_team *team) { return (gg_law)gg_team_view(team)->params.law; }
#define gg_team_pass(team, phase, sweep)  0
#define gg_team_extrapolates(team, phase) 0
static int32_t gg_team_colours(const gg_team *team) {
    int32_t most = 0;
    for (int64_t e = team->env_begin; e < team->env_end; e++) {
        most = GG_MAX(most, gg_step_colours(&gg_team_view(team)->env[e]));
    }
    return most;
}
static int gg_team_any(const gg_team *team, gg_condition question) {
    for (int64_t e = team->env_begin; e < team->env_end; e++) {
        if (gg_step_condition(&gg_team_view(team)->env[e], question)) {
            return 1;
        }
    }
    return 0;
}

#include "../phases/step.h"

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* asks the caller, not too often, whether to go on */
static void poll_caller(step_context *c) {
    if (c->poll && now() >= c->next_poll) {
        if (c->poll(c->poll_context)) {
            __atomic_store_n(&c->cancelled, 1, __ATOMIC_RELAXED);
        }
        c->next_poll = now() + 0.1;
    }
}

/* asks the caller, on its own thread, whether to go on */
static int cancelled(const gg_team *team, step_context *c) {
    if (team->caller) {
        poll_caller(c);
    }
    return __atomic_load_n(&c->cancelled, __ATOMIC_RELAXED);
}

static void run_substeps(const gg_team *team, void *context) {
    const gg_view *v = gg_team_view(team);
    while (v->env[team->env_begin].substeps_done < v->params.substeps) {
        int resumed = v->env[team->env_begin].predicted;
        if (cancelled(team, context) || !gg_step_substep(team, resumed)) {
            break;
        }
    }
    gg_team_run(team, GG_PHASE_arrive_tools, 0);
}

static gg_executor executor_of(const gg_world *w) {
    gg_executor executor = {&w->view, w->thread_count, w->kernel, w->seconds};
    return executor;
}

/* all substeps on the CPU, or as many as the buffers allow */
static void step_cpu(gg_world *w, step_context *context) {
    gg_executor executor = executor_of(w);
    /* after a failure envs may stand at different substeps: each goes on alone */
    executor.thread_count = context->resumed ? 1 : executor.thread_count;
    gg_executor_run(&executor, run_substeps, context);
}

/* the same on a GPU, in launches of some tens of milliseconds: a launch cannot be cancelled */
static gg_status step_cuda(gg_world *w, step_context *context) {
    int32_t left = w->view.params.substeps, done = 0;
    while (!done && !context->cancelled) {
        double start = now();
        int32_t chunk = w->chunk;
        gg_status status = gg_cuda_step(w->cuda, &w->view, chunk, context->runs, context->run_count, &done);
        if (status != GG_OK) {
            return gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
        }
        w->chunk = gg_chunk_next(chunk, left, now() - start); /* also for the next call */
        left -= GG_MIN(chunk, left);
        poll_caller(context);
    }
    return GG_OK;
}

static gg_status check_step(gg_world *w, double dt, int32_t substeps, const float *targets) {
    gg_message out = gg_message_of(w);
    GG_EXPECT(out, dt > 0.0 && isfinite(dt) && (float)dt > 0.0f && dt <= 1.0, "dt: expected a step in (0, 1] s, got %g",
              dt);
    float mass = w->view.params.mass_min; /* 0 where no contact is a spring */
    float bound = mass > 0.0f ? gg_penalty_step_bound(&w->solver, mass) : INFINITY;
    GG_EXPECT(
        out, dt < bound,
        "dt: expected less than %g s, beyond which a contact of stiffness %g N/m and damping %g throws a grain of "
        "%g kg/m ever further, got %g",
        bound, w->solver.stiffness, w->solver.damping, mass, dt);
    const gg_params *p = &w->view.params;
    /* the bound as the message rounds it is taken */
    GG_EXPECT(
        out, p->step_bound == 0.0 || dt <= p->step_bound * (1.0 + 1e-5),
        "dt: expected at most %g s, beyond which mode explicit is unstable for material %d on nodes %g m apart, got "
        "%g",
        p->step_bound, (int)p->step_material, p->spacing, dt);
    GG_EXPECT(out, substeps >= 1, "substeps: expected at least 1, got %d", (int)substeps);
    gg_status status = gg_tables_check_step(w, dt, out);
    if (status != GG_OK) {
        return status;
    }
    return gg_tool_poses_check(w, "tool_poses", targets, NULL, w->view.dims.env_count, 0);
}

static size_t targets_size(const gg_world *w) {
    return sizeof(float) * 7 * (size_t)(w->view.dims.env_count * gg_own_tool_count(w));
}

/* whether this call repeats the one whose step ran out of memory */
static int resumes(const gg_world *w, double dt, int32_t substeps, const float *targets) {
    const gg_params *p = &w->view.params;
    return w->unfinished && p->dt == (float)dt && p->substeps == substeps && !targets == !w->has_targets &&
           (!targets || !memcmp(targets, w->targets, targets_size(w)));
}

/* keeps the targets of a step that ran out of memory for the call that repeats it */
static gg_status keep_targets(gg_world *w, const float *device_targets) {
    w->has_targets = 1;
    return gg_memory_copy(w, w->targets, targets_size(w), device_targets, targets_size(w), targets_size(w), 1,
                          GG_TO_HOST);
}

static gg_status open_step(gg_world *w) {
    static const gg_phase phases[] = {
#define OPENING_PHASE(name) GG_PHASE_##name,
        GG_OPENING_PHASES(OPENING_PHASE)
#undef OPENING_PHASE
    };
    gg_status status = GG_OK;
    for (size_t k = 0; status == GG_OK && k < sizeof phases / sizeof *phases; k++) {
        int needed = phases[k] != GG_PHASE_watch_tools || w->view.params.sleep;
        status = needed ? gg_world_run(w, phases[k]) : GG_OK;
    }
    return status;
}

/* all that is left of the step; where memory runs out, up to a whole substep of each env */
static gg_status run_step(gg_world *w, step_context *context) {
    gg_status status = GG_OK;
    int grew = 1;
    if (!context->resumed && (status = open_step(w)) != GG_OK) {
        return status;
    }
    while (grew && !context->cancelled) {
        if (w->cuda) {
            gg_status stepped = step_cuda(w, context);
            if (stepped != GG_OK) {
                return stepped;
            }
        } else {
            step_cpu(w, context);
        }
        grew = !w->cuda || gg_cuda_overflowed(w->cuda);
        gg_status grown = grew ? gg_arena_grow(w, &grew) : GG_OK;
        status = grown != GG_OK ? grown : status;
        if (grown == GG_ERROR_MEMORY || grown == GG_ERROR_BACKEND) {
            w->unfinished = 1;
            break;
        }
    }
    if (context->cancelled || w->unfinished) {
        gg_status undone = gg_world_run(w, GG_PHASE_roll_back);
        undone = undone == GG_OK ? gg_world_run(w, GG_PHASE_rolled_back) : undone;
        status = status == GG_OK ? undone : status;
    }
    return status;
}

gg_status gg_world_plan_step(gg_world *w, double dt, int32_t substeps, gg_tool_targets targets) {
    gg_status status = check_step(w, dt, substeps, targets.host);
    if (status != GG_OK) {
        return status;
    }
    gg_params_from_step(w, dt, substeps);
    w->has_targets = targets.host != NULL;
    w->view.tool_targets = targets.device;
    if (targets.host) {
        memcpy(w->targets, targets.host, targets_size(w));
        w->view.tool_targets = gg_stage_input(w, GG_STAGING_TARGETS, w->targets, targets_size(w), &status);
    }
    gg_world_invalidate(w, NULL, w->view.dims.env_count);
    return status;
}

gg_status gg_world_step_to(gg_world *w, double dt, int32_t substeps, gg_tool_targets targets, const gg_copy_run *runs,
                           int count, gg_poll poll, void *poll_context) {
    int32_t resumed = !targets.device && resumes(w, dt, substeps, targets.host);
    step_context context = {w, poll, poll_context, now() + 0.1, 0, resumed, runs, count};
    gg_status status = resumed ? GG_OK : gg_tool_targets_check(w, targets.host);
    status = status == GG_OK ? gg_world_plan_step(w, dt, substeps, targets) : status;
    if (status == GG_OK) {
        status = run_step(w, &context);
    }
    if (w->unfinished && targets.device) {
        gg_status kept = keep_targets(w, targets.device);
        w->unfinished = kept == GG_OK;
    }
    w->view.tool_targets = NULL;
    w->stats_valid = w->cuda && status == GG_OK && !context.cancelled;
    return context.cancelled ? gg_world_fail(w, GG_INTERRUPTED, "step: interrupted") : status;
}

gg_status gg_world_step(gg_world *w, double dt, int32_t substeps, const float *tool_targets, gg_poll poll,
                        void *poll_context) {
    gg_tool_targets targets = {tool_targets, NULL};
    return gg_world_step_to(w, dt, substeps, targets, NULL, 0, poll, poll_context);
}

gg_status gg_world_run_pass(gg_world *w, gg_phase phase, int32_t pass) {
    if (w->cuda) {
        gg_status status = gg_cuda_run(w->cuda, &w->view, phase, pass);
        return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
    }
    gg_executor executor = executor_of(w);
    gg_executor_run_phase(&executor, phase, pass);
    return GG_OK;
}

gg_status gg_world_run(gg_world *w, gg_phase phase) { return gg_world_run_pass(w, phase, 0); }

gg_status gg_world_fail(gg_world *w, gg_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->message, sizeof w->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *gg_world_message(const gg_world *w) { return w->message; }
