/* test_thread_faults.c: threads that the system does not grant, and forks.
 *
 * Linked with --wrap for pthread_create (tests/unit/test_c.py).
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../csrc/base/threads.h"
#include "check.h"

#define ITEMS 1000

static int granted; /* threads that the system still grants */

typedef void *(*thread_body)(void *argument);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_body body, void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_body body, void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_body body, void *argument) {
    return granted-- > 0 ? __real_pthread_create(thread, attributes, body, argument) : EAGAIN;
}

static void square(void *context, int64_t begin, int64_t end, int caller) {
    int64_t *out = context;
    (void)caller;
    for (int64_t i = begin; i < end; i++) {
        out[i] = i * i;
    }
}

static int loops_work(void) {
    int64_t out[ITEMS];
    for (int k = 0; k < 200; k++) {
        gg_threads *set = gg_threads_open(4);
        memset(out, 0, sizeof out);
        gg_threads_run(set, ITEMS, 4, square, out);
        gg_threads_close(set);
        for (int64_t i = 0; i < ITEMS; i++) {
            if (out[i] != i * i) {
                return 0;
            }
        }
    }
    return 1;
}

static void test_refused_threads(void) {
    granted = 0;
    CHECK(gg_threads_open(4) == NULL);
    CHECK(loops_work());
    CHECK(gg_threads_get_stats().workers == 0);
    granted = 1;
    CHECK(loops_work());
    CHECK(gg_threads_get_stats().workers == 1);
    granted = 100;
    CHECK(loops_work());
    CHECK(gg_threads_get_stats().workers == 3);
}

/* whether the loops of a forked child work, and start workers of its own */
static int child_works(void) {
    pid_t pid = fork();
    if (pid == 0) {
        int empty = gg_threads_get_stats().workers == 0;
        int works = loops_work();
        _exit(empty && works && gg_threads_get_stats().workers == 3 ? 0 : 1);
    }
    int status = 1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int32_t stop, failures;

static void *loop_on(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        failures += !loops_work();
    }
    return unused;
}

static void test_forks(void) {
    CHECK(child_works());
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, loop_on, NULL) == 0);
    for (int k = 0; k < 20; k++) {
        CHECK(child_works());
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    CHECK(failures == 0);
    CHECK(loops_work());
}

int main(void) {
    gg_threads_pretend_cores(4);
    test_refused_threads();
    test_forks();
    return check_report();
}
