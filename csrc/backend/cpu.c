/* cpu.c: the CPU backend: phases as loops, which the threads of a team share. */
#include "backend.h"

#include <stddef.h>

/* the table of phases counts work in threads that a GPU can keep busy */
#define GG_THREADS      256
#define GG_GPU_SHARE(n) (n)

/* one loop per phase over items [begin, end) of the envs from env_begin on */
typedef void (*phase_loop)(const gg_view *v, int64_t per_env, int64_t begin, int64_t end, int64_t env_begin,
                           int32_t pass);

#define PHASE_LOOP_PLAIN(name, still, body)                                                                            \
    static void loop_##name(const gg_view *v, int64_t per_env, int64_t begin, int64_t end, int64_t env_begin,          \
                            int32_t pass) {                                                                            \
        (void)pass;                                                                                                    \
        int64_t e = env_begin + begin / per_env, i = begin % per_env;                                                  \
        for (int64_t item = begin; item < end; e++) {                                                                  \
            int64_t stop = GG_MIN(per_env, i + end - item), left = gg_items_left(&v->env[e], GG_STILL_##still, stop);  \
            item += stop - i;                                                                                          \
            for (; i < left; i++) {                                                                                    \
                body;                                                                                                  \
            }                                                                                                          \
            i = 0;                                                                                                     \
        }                                                                                                              \
    }
/* the chosen kernel has its body */
#define PHASE_LOOP_LANES(name, still, body)
#define PHASE_LOOP(name, items, still, build, gpu, threads, sync, body) PHASE_LOOP_##build(name, still, body)
GG_PHASES(PHASE_LOOP)
#undef PHASE_LOOP
#undef PHASE_LOOP_LANES
#undef PHASE_LOOP_PLAIN

/* of a phase marked LANES: the body that the chosen kernel has; still: column of its phase */
static void run_kernel(gg_kernel_body kernel, int still, const gg_view *v, int64_t per_env, int64_t begin, int64_t end,
                       int64_t env_begin, int32_t pass) {
    int64_t e = env_begin + begin / per_env, i = begin % per_env;
    for (int64_t item = begin; item < end; e++) {
        int64_t stop = GG_MIN(per_env, i + end - item), left = gg_items_left(&v->env[e], still, stop);
        item += stop - i;
        for (; i < left; i++) {
            kernel(v, e, i, pass);
        }
        i = 0;
    }
}

static phase_loop loop_of(gg_phase phase) {
    static const phase_loop loops[] = {
#define PHASE_ENTRY_PLAIN(name)                                          loop_##name
#define PHASE_ENTRY_LANES(name)                                          NULL
#define PHASE_ENTRY(name, items, still, build, gpu, threads, sync, body) PHASE_ENTRY_##build(name),
        GG_PHASES(PHASE_ENTRY)
#undef PHASE_ENTRY
#undef PHASE_ENTRY_LANES
#undef PHASE_ENTRY_PLAIN
    };
    return loops[phase];
}

static int still_of(gg_phase phase) {
    static const int still[] = {
#define PHASE_STILL(name, items, still, ...) GG_STILL_##still,
        GG_PHASES(PHASE_STILL)
#undef PHASE_STILL
    };
    return still[phase];
}

static int64_t items_per_env(const gg_view *v, gg_phase phase) {
    switch (phase) {
#define PHASE_ITEMS(name, items, ...)                                                                                  \
    case GG_PHASE_##name:                                                                                              \
        return items;
        GG_PHASES(PHASE_ITEMS)
#undef PHASE_ITEMS
    default:
        return 0;
    }
}

/* threads that a GPU could keep busy with a phase in one env: how much work it is */
static int64_t phase_work(const gg_view *v, gg_phase phase) {
    switch (phase) {
#define PHASE_WORK(name, items, still, build, gpu, threads, ...)                                                       \
    case GG_PHASE_##name:                                                                                              \
        return threads;
        GG_PHASES(PHASE_WORK)
#undef PHASE_WORK
    default:
        return 0;
    }
}

/* One item in a chunk of its own where it is an env; a share of a phase in few chunks, enough to help out a thread that
 * lost its core. */
#define ENV_CHUNKS   GG_CHUNK_LIMIT
#define PHASE_CHUNKS 4
/* Less work than this is not worth sharing, by threads at hand and by threads that have to be woken; in threads that a
 * GPU could keep busy with it. */
#define SHARED_WORK 64
#define CALLED_WORK 4096

/* a phase on the envs of a team, for the loop that threads share */
typedef struct phase_run {
    const gg_team *team;
    phase_loop loop;
    gg_kernel_body kernel;
    int still;
    int64_t per_env;
    int32_t pass;
} phase_run;

static void run_items(void *context, int64_t begin, int64_t end, int caller) {
    const phase_run *r = (const phase_run *)context;
    const gg_view *view = r->team->executor->view;
    (void)caller;
    if (r->kernel) {
        run_kernel(r->kernel, r->still, view, r->per_env, begin, end, r->team->env_begin, r->pass);
    } else {
        r->loop(view, r->per_env, begin, end, r->team->env_begin, r->pass);
    }
}

void gg_team_run(const gg_team *team, gg_phase phase, int32_t pass) {
    const gg_executor *executor = team->executor;
    double *seconds = team->caller ? executor->seconds : NULL;
    int64_t start = seconds ? gg_clock() : 0;
    int64_t env_count = team->env_end - team->env_begin, per_env = items_per_env(executor->view, phase);
    phase_run r = {team, loop_of(phase), executor->kernel.body[phase], still_of(phase), per_env, pass};
    int shared = team->threads && env_count * phase_work(executor->view, phase) >= SHARED_WORK;
    gg_threads_run(shared ? team->threads : NULL, per_env * env_count, PHASE_CHUNKS, run_items, &r);
    if (seconds) {
        seconds[phase] += 1e-9 * (double)(gg_clock() - start);
    }
}

void gg_team_start(const gg_team *team, gg_phase phase, int32_t pass) { gg_team_run(team, phase, pass); }
void gg_team_next(const gg_team *team, gg_phase phase, int32_t pass) { gg_team_run(team, phase, pass); }

/* ---- teams ---- */

int64_t gg_grains_per_thread(gg_law law) {
    int64_t most = law == GG_LAW_coloured || law == GG_LAW_clumps ? 20000 : 10000;
    return law == GG_LAW_continuum ? 1000 : most;
}

int32_t gg_executor_useful_threads(const gg_dims *dims, gg_law law, int32_t thread_count) {
    int64_t shared = dims->env_count * dims->grain_count / gg_grains_per_thread(law);
    return (int32_t)GG_MAX(1, GG_MIN(thread_count, GG_MAX(shared, dims->env_count)));
}

/* whether each thread takes whole envs, which needs no waiting in between, or all threads share every phase */
static int takes_whole_envs(const gg_view *v, int32_t threads) {
    const gg_dims *dims = &v->dims;
    int even = dims->env_count >= 2 * (int64_t)threads || dims->env_count % threads == 0;
    int small = dims->env_count * dims->grain_count < threads * gg_grains_per_thread((gg_law)v->params.law);
    return even || (small && dims->env_count > 1);
}

typedef struct team_run {
    const gg_executor *executor;
    gg_team_body body;
    void *context;
} team_run;

/* a team of one for each env */
static void run_envs(void *context, int64_t begin, int64_t end, int caller) {
    const team_run *r = (const team_run *)context;
    for (int64_t e = begin; e < end; e++) {
        gg_team team = {r->executor, NULL, e, e + 1, caller};
        r->body(&team, r->context);
    }
}

void gg_executor_run(const gg_executor *executor, gg_team_body body, void *context) {
    const gg_dims *dims = &executor->view->dims;
    team_run r = {executor, body, context};
    int whole = takes_whole_envs(executor->view, executor->thread_count);
    int64_t most = whole ? GG_MIN(executor->thread_count, dims->env_count) : executor->thread_count;
    gg_threads *threads = gg_threads_open((int32_t)most);
    if (whole || !threads) {
        gg_threads_run(threads, dims->env_count, ENV_CHUNKS, run_envs, &r);
    } else {
        gg_team team = {executor, threads, 0, dims->env_count, 1};
        body(&team, context);
    }
    gg_threads_close(threads);
}

void gg_executor_run_phase(const gg_executor *executor, gg_phase phase, int32_t pass) {
    int64_t env_count = executor->view->dims.env_count;
    int wide = env_count * phase_work(executor->view, phase) >= CALLED_WORK;
    gg_team team = {executor, gg_threads_open(wide ? executor->thread_count : 1), 0, env_count, 1};
    gg_team_run(&team, phase, pass);
    gg_threads_close(team.threads);
}
