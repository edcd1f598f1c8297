/* cpu.c: the CPU backend: phases as loops, teams as OpenMP threads. */
#include "backend.h"

#include <sched.h>
#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>
#else
static double omp_get_wtime(void) { return 0.0; }
#endif

/* one loop per phase over items [begin, end) of the envs from env_begin on */
typedef void (*phase_loop)(const gg_view *v, int64_t per_env, int64_t begin, int64_t end, int64_t env_begin,
                           int32_t pass);

#define PHASE_LOOP(name, items, diverged_envs, build, gpu, threads, sync, body)                                        \
    static void loop_##name(const gg_view *v, int64_t per_env, int64_t begin, int64_t end, int64_t env_begin,          \
                            int32_t pass) {                                                                            \
        (void)pass;                                                                                                    \
        int64_t e = env_begin + begin / per_env, i = begin % per_env;                                                  \
        for (int64_t item = begin; item < end; item++) {                                                               \
            if (GG_DIVERGED_##diverged_envs == GG_DIVERGED_COVERS || !v->env[e].stats.diverged) {                      \
                body;                                                                                                  \
            }                                                                                                          \
            if (++i == per_env) {                                                                                      \
                i = 0;                                                                                                 \
                e++;                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
GG_PHASES(PHASE_LOOP)
#undef PHASE_LOOP

/* the chosen kernel in place of a reference body */
static void run_kernel(gg_kernel_body kernel, const gg_view *v, int64_t per_env, int64_t begin, int64_t end,
                       int64_t env_begin, int32_t pass) {
    int64_t e = env_begin + begin / per_env, i = begin % per_env;
    for (int64_t item = begin; item < end; item++) {
        if (!v->env[e].stats.diverged) {
            kernel(v, e, i, pass);
        }
        if (++i == per_env) {
            i = 0;
            e++;
        }
    }
}

static phase_loop loop_of(gg_phase phase) {
    static const phase_loop loops[] = {
#define PHASE_ENTRY(name, ...) loop_##name,
        GG_PHASES(PHASE_ENTRY)
#undef PHASE_ENTRY
    };
    return loops[phase];
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

/* A barrier that spins for about the length of a phase, a few microseconds, and then yields its core: phases are too
 * short for a thread to sleep, and on a busy machine the awaited thread may need the core of the waiting one. */
void gg_team_wait(const gg_team *team) {
    if (team->thread_count == 1) {
        return;
    }
    gg_barrier *b = team->barrier;
    int32_t round = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == team->thread_count) {
        __atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&b->round, round + 1, __ATOMIC_RELEASE);
        return;
    }
    for (int spin = 0; __atomic_load_n(&b->round, __ATOMIC_ACQUIRE) == round; spin++) {
        if (spin < 2000) {
#ifdef __x86_64__
            __builtin_ia32_pause();
#endif
        } else {
            sched_yield();
        }
    }
}

static void run(const gg_team *team, gg_phase phase, int32_t pass, int wait) {
    const gg_view *view = team->executor->view;
    double *seconds = team->caller ? team->executor->seconds : NULL;
    double start = seconds ? omp_get_wtime() : 0.0;
    int64_t per_env = items_per_env(view, phase);
    int64_t total = per_env * (team->env_end - team->env_begin);
    if (total > 0) {
        /* fixed shares: any thread may process any item, but its cache still holds those of the last phase */
        int64_t begin = total * team->thread / team->thread_count;
        int64_t end = total * (team->thread + 1) / team->thread_count;
        gg_kernel_body body = team->executor->kernel.body[phase];
        if (end > begin && body) {
            run_kernel(body, view, per_env, begin, end, team->env_begin, pass);
        } else if (end > begin) {
            loop_of(phase)(view, per_env, begin, end, team->env_begin, pass);
        }
    }
    if (wait) {
        gg_team_wait(team);
    }
    if (seconds) {
        seconds[phase] += omp_get_wtime() - start;
    }
}

void gg_team_run(const gg_team *team, gg_phase phase, int32_t pass) { run(team, phase, pass, 1); }

void gg_team_start(const gg_team *team, gg_phase phase, int32_t pass) { run(team, phase, pass, 0); }

static void run_team(const gg_executor *executor, gg_barrier *barrier, int64_t begin, int64_t end, int32_t thread,
                     int32_t count, int caller, gg_team_body body, void *context) {
    gg_team team = {executor, barrier, begin, end, thread, count, caller};
    body(&team, context);
}

void gg_executor_run(const gg_executor *executor, gg_team_body body, void *context) {
    int64_t env_count = executor->view->dims.env_count;
#ifdef _OPENMP
    int32_t threads = executor->thread_count;
    if (threads > 1 && (env_count >= 2 * (int64_t)threads || env_count % threads == 0)) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int64_t e = 0; e < env_count; e++) {
            run_team(executor, NULL, e, e + 1, 0, 1, omp_get_thread_num() == 0, body, context);
        }
        return;
    }
    if (threads > 1) {
        gg_barrier barrier = {0, 0};
#pragma omp parallel num_threads(threads)
        run_team(executor, &barrier, 0, env_count, omp_get_thread_num(), omp_get_num_threads(),
                 omp_get_thread_num() == 0, body, context);
        return;
    }
#endif
    for (int64_t e = 0; e < env_count; e++) {
        run_team(executor, NULL, e, e + 1, 0, 1, 1, body, context);
    }
}
