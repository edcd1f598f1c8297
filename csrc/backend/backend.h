/* backend.h: how phases are run. A backend knows loops, threads and memory, and no physics.
 *
 * A team works on a set of envs. Many envs: each thread is a team of its own, which waits for nobody and keeps an env's
 * data in one core's cache. Few envs: one team, led by the calling thread, whose phases all threads share.
 */
#ifndef GG_BACKEND_H
#define GG_BACKEND_H

#include "../base/threads.h"
#include "../phases/phases.h"
#include "../sensors/picture.h"

/* builds of the phases marked LANES, and of what else is hot, for one instruction set; all give the same bits */
typedef void (*gg_kernel_body)(const gg_view *v, int64_t e, int64_t item, int32_t pass);
typedef struct gg_kernel {
    const char *name;                    /* "scalar", "vector128", "avx2", "avx512" */
    gg_kernel_body body[GG_PHASE_COUNT]; /* NULL: the phase has one build */
    /* samples of a pair field at poses (theta, x, y) */
    void (*query)(const gg_pair_field *field, const void *blob, const float *pose, int64_t count, gg_pair_sample *out);
    gg_picture_passes picture;
} gg_kernel;
/* the widest kernel of this processor (NULL), or the one called `name`; all NULL where build or processor lack it */
gg_kernel gg_kernel_select(const char *name);

/* what all teams of a run share */
typedef struct gg_executor {
    const gg_view *view;
    int32_t thread_count;
    gg_kernel kernel;
    double *seconds; /* per phase, or NULL: not profiled; time of the calling thread */
} gg_executor;

typedef struct gg_team {
    const gg_executor *executor;
    gg_threads *threads; /* that share its phases; NULL: one thread */
    int64_t env_begin, env_end;
    int32_t caller; /* its thread is the one that called gg_executor_run */
} gg_team;

/* runs one phase on the team's envs */
void gg_team_run(const gg_team *team, gg_phase phase, int32_t pass);
/* the same: on a CPU the barrier that a GPU saves costs next to nothing */
void gg_team_start(const gg_team *team, gg_phase phase, int32_t pass);
void gg_team_next(const gg_team *team, gg_phase phase, int32_t pass);

/* Grains, of all envs, below which a further thread that shares phases loses more than it brings. A sweep of the law
 * `coloured` is a phase for each colour, and the bodies it changes move from core to core. */
int64_t gg_grains_per_thread(gg_law law);
/* Threads of at most thread_count that a step of such a world can use: a thread for each env, or one for each
 * gg_grains_per_thread grains. */
int32_t gg_executor_useful_threads(const gg_dims *dims, gg_law law, int32_t thread_count);

/* Calls body once per team. Envs are handed out to teams of one where there are enough of them. */
typedef void (*gg_team_body)(const gg_team *team, void *context);
void gg_executor_run(const gg_executor *executor, gg_team_body body, void *context);
/* one phase of all envs */
void gg_executor_run_phase(const gg_executor *executor, gg_phase phase, int32_t pass);

#endif
