/* threads.h: loops that threads share. On the host alone.
 *
 * The process has one pool of workers. A caller opens a set of threads, itself and as many workers as it asks for, runs
 * loops on it and closes it. The items of a loop are claimed in chunks: each thread begins with a share of its own,
 * whose data its cache holds since the last loop, and then helps others. So no loop waits for a thread that has not
 * begun: workers that are late, busy with another caller or not to be had cost nothing but their help, and which thread
 * runs which item depends on chance; an item must therefore write nothing that another one of its loop reads or writes.
 *
 * Who waits spins for some microseconds and then sleeps. A fork in any thread leaves the child an empty pool.
 */
#ifndef GG_THREADS_H
#define GG_THREADS_H

#include <stdint.h>

#define GG_THREAD_LIMIT 1024 /* most threads of a set */

typedef struct gg_threads gg_threads;

/* items [begin, end) of a loop; caller: on the thread that runs the loop */
typedef void (*gg_loop_body)(void *context, int64_t begin, int64_t end, int caller);

/* A set of thread_count threads, the calling one included, and no more than it may use cores. NULL: it works alone. */
gg_threads *gg_threads_open(int32_t thread_count);
/* Runs body over the items [0, count), each share in at most chunk_limit chunks (1 .. GG_CHUNK_LIMIT); returns when all
 * are done. threads NULL: in one call. */
#define GG_CHUNK_LIMIT 255
void gg_threads_run(gg_threads *threads, int64_t count, int32_t chunk_limit, gg_loop_body body, void *context);
void gg_threads_close(gg_threads *threads);

/* one loop on a set of its own, as finely divided as can be; thread_count 0: one per core the process may use */
void gg_threads_loop(int32_t thread_count, int64_t count, gg_loop_body body, void *context);

typedef struct gg_threads_stats {
    int32_t workers;        /* of the pool, whatever they do */
    int32_t workers_asleep; /* who wait for work */
    int32_t callers_asleep; /* who wait for a worker to end what it has begun */
} gg_threads_stats;
gg_threads_stats gg_threads_get_stats(void);

/* for tests: as if threads might use so many cores; 0: those they may */
void gg_threads_pretend_cores(int32_t count);

/* a clock that nobody sets [ns] */
int64_t gg_clock(void);

#endif
