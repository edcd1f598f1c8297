/* test_threads.c: loops that threads share: every item once, in any company, with more threads than cores; who waits
 * sleeps; workers are shared by all callers. Also run by the race check.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../csrc/base/threads.h"
#include "check.h"

#define ITEMS 1000

static int32_t load(int32_t *place) { return __atomic_load_n(place, __ATOMIC_SEQ_CST); }

static void rest(void) {
    const struct timespec little = {0, 100000};
    nanosleep(&little, NULL);
}

/* ---- every item once ---- */

static void count_items(void *context, int64_t begin, int64_t end, int caller) {
    int32_t *times = context;
    (void)caller;
    for (int64_t i = begin; i < end; i++) {
        times[i]++;
    }
}

static void test_items(void) {
    const int32_t threads[] = {2, 3, 8, 64}, chunks[] = {1, 4, GG_CHUNK_LIMIT};
    const int64_t counts[] = {0, 1, 2, 5, 63, 64, 65, ITEMS};
    for (int t = 0; t < 4; t++) {
        gg_threads *set = gg_threads_open(threads[t]);
        CHECK(set != NULL);
        for (int c = 0; c < 3; c++) {
            for (int n = 0; n < 8; n++) {
                int32_t times[ITEMS + 1] = {0};
                gg_threads_run(set, counts[n], chunks[c], count_items, times);
                for (int64_t i = 0; i <= ITEMS; i++) {
                    CHECK(times[i] == (i < counts[n]));
                }
            }
        }
        gg_threads_close(set);
    }
    int32_t times[ITEMS] = {0};
    gg_threads_loop(0, ITEMS, count_items, times);
    gg_threads_loop(1, ITEMS, count_items, times);
    for (int64_t i = 0; i < ITEMS; i++) {
        CHECK(times[i] == 2);
    }
    CHECK(gg_threads_open(1) == NULL);
    gg_threads_pretend_cores(1);
    CHECK(gg_threads_open(8) == NULL);
    gg_threads_close(NULL);
    gg_threads_pretend_cores(8);
}

/* ---- a loop sees what the loop before it wrote ---- */

typedef struct wave {
    int64_t *from, *to;
} wave;

static void sum_neighbours(void *context, int64_t begin, int64_t end, int caller) {
    const wave *w = context;
    (void)caller;
    for (int64_t i = begin; i < end; i++) {
        w->to[i] = (w->from[(i + ITEMS - 1) % ITEMS] + 2 * w->from[i] + w->from[(i + 1) % ITEMS]) % 1000003;
    }
}

static void run_waves(int64_t *field, gg_threads *set, int loops) {
    static const int sizes = 2;
    int64_t *other = malloc(ITEMS * sizeof *other);
    for (int64_t i = 0; i < ITEMS; i++) {
        field[i] = i * i % 7919;
    }
    for (int k = 0; k < sizes * loops; k++) {
        wave w = {k % 2 ? other : field, k % 2 ? field : other};
        gg_threads_run(set, ITEMS, 4, sum_neighbours, &w);
    }
    free(other);
}

static void test_order(void) {
    int64_t expected[ITEMS], found[ITEMS];
    run_waves(expected, NULL, 500);
    for (int32_t threads = 2; threads <= 8; threads += 3) {
        gg_threads *set = gg_threads_open(threads);
        run_waves(found, set, 500);
        gg_threads_close(set);
        CHECK(!memcmp(expected, found, sizeof expected));
    }
}

/* ---- several callers ---- */

typedef struct call {
    pthread_t thread;
    int64_t found[ITEMS];
} call;

static void *call_often(void *argument) {
    call *c = argument;
    for (int k = 0; k < 20; k++) {
        gg_threads *set = gg_threads_open(4);
        run_waves(c->found, set, 25);
        gg_threads_close(set);
    }
    return NULL;
}

static void test_callers(void) {
    static call calls[6];
    int64_t expected[ITEMS];
    int32_t workers = gg_threads_get_stats().workers;
    run_waves(expected, NULL, 25);
    for (int k = 0; k < 6; k++) {
        CHECK(pthread_create(&calls[k].thread, NULL, call_often, &calls[k]) == 0);
    }
    for (int k = 0; k < 6; k++) {
        pthread_join(calls[k].thread, NULL);
        CHECK(!memcmp(expected, calls[k].found, sizeof expected));
    }
    CHECK(workers == 7 && gg_threads_get_stats().workers == workers); /* those of test_items serve all */
}

/* ---- a worker that is held elsewhere holds nobody else ---- */

typedef struct gate {
    int32_t worker_in, open;
} gate;

/* the caller waits until a worker came; the worker until the gate opens */
static void pass_gate(void *context, int64_t begin, int64_t end, int caller) {
    gate *g = context;
    (void)begin;
    (void)end;
    if (!caller) {
        __atomic_store_n(&g->worker_in, 1, __ATOMIC_SEQ_CST);
    }
    while (!load(caller ? &g->worker_in : &g->open)) {
        rest();
    }
}

static void *call_gate(void *argument) {
    gg_threads *set = gg_threads_open(2);
    gg_threads_run(set, 2, 1, pass_gate, argument);
    gg_threads_close(set);
    return NULL;
}

static void test_held_worker(void) {
    gate g = {0, 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call_gate, &g) == 0);
    while (!load(&g.worker_in)) {
        rest();
    }
    int64_t expected[ITEMS], found[ITEMS];
    run_waves(expected, NULL, 50);
    gg_threads *set = gg_threads_open(8);
    run_waves(found, set, 50);
    gg_threads_close(set);
    CHECK(!memcmp(expected, found, sizeof expected));
    __atomic_store_n(&g.open, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
}

/* ---- waiting ---- */

/* the worker's chunk ends when the caller, who waits for it, has gone to sleep */
static void wait_for_sleep(void *context, int64_t begin, int64_t end, int caller) {
    gate *g = context;
    (void)begin;
    (void)end;
    if (!caller) {
        __atomic_store_n(&g->worker_in, 1, __ATOMIC_SEQ_CST);
    }
    while (caller ? !load(&g->worker_in) : !gg_threads_get_stats().callers_asleep) {
        rest();
    }
}

static void note_worker(void *context, int64_t begin, int64_t end, int caller) {
    gate *g = context;
    (void)begin;
    (void)end;
    if (caller) {
        rest();
    } else {
        __atomic_store_n(&g->worker_in, 1, __ATOMIC_SEQ_CST);
    }
}

static void test_waiting(void) {
    gate g = {0, 0};
    gg_threads *set = gg_threads_open(2);
    gg_threads_run(set, 2, 1, wait_for_sleep, &g);
    CHECK(load(&g.worker_in));
    /* workers without work sleep, while their set is open and when it is closed */
    for (int open = 1; open >= 0; open--) {
        gg_threads_stats stats = gg_threads_get_stats();
        for (; stats.workers_asleep < stats.workers; stats = gg_threads_get_stats()) {
            rest();
        }
        CHECK(stats.callers_asleep == 0);
        if (open) {
            /* called again, they come, if not at once */
            g.worker_in = 0;
            while (!load(&g.worker_in)) {
                gg_threads_run(set, 2, 1, note_worker, &g);
            }
            gg_threads_close(set);
        }
    }
}

int main(void) {
    gg_threads_pretend_cores(8); /* more than there may be */
    test_items();
    test_order();
    test_callers();
    test_held_worker();
    test_waiting();
    return check_report();
}
