/* threads.c: the pool of workers, and loops whose chunks are claimed.
 *
 * A loop has a number that only grows. Each share of a set has one word: the number of the loop it was last claimed for,
 * how many of its chunks are claimed, how many are done. A claim is a compare-and-swap of that word, so a worker that
 * wakes up late, with a loop that is over, fails to claim. A share is on a cache line of its own, which in most loops
 * one thread alone writes; the caller reads the shares to see that all are done. For n threads a loop costs one
 * broadcast and n reads that do not depend on each other; workers help log2(n) others and no more.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinity, clocks */
#endif
#include "threads.h"

#include "cores.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#define SET_LIMIT        64    /* callers that have workers at a time; further ones work alone */
#define SPIN_NANOSECONDS 20000 /* for which a thread spins before it sleeps: some phases of a step */
/* A worker that stays for less time than this came in vain: it mostly waited. So it is where it shares its core with the
 * caller, whom its waiting holds up. It is then called again later: after the first delay, the next time after twice
 * that, at most after the last. */
#define VAIN_NANOSECONDS  (2 * SPIN_NANOSECONDS)
#define FIRST_NANOSECONDS 50000
#define LAST_NANOSECONDS  1600000

/* number of the loop << 16 | chunks claimed << 8 | chunks done */
typedef struct share {
    _Alignas(64) uint64_t word;
} share;

/* a loop as a thread has read it */
typedef struct loop {
    uint64_t number;
    gg_loop_body body;
    void *context;
    int64_t count, share_items, chunk_items;
    int32_t share_count, share_chunks; /* share_chunks: of a full share */
} loop;

struct gg_threads {
    /* the loop that runs: written by the caller, read by workers */
    _Alignas(64) uint64_t round; /* twice its number; odd while the loop is being written */
    gg_loop_body body;           /* NULL: none */
    void *context;
    int64_t count, share_items, chunk_items;
    int32_t share_count, share_chunks;
    _Alignas(64) int32_t caller_sleeps;
    int32_t missing;    /* workers that are to be called; atomic */
    int64_t call_after; /* but not before this time; atomic [ns] */
    /* under the lock of the pool */
    int64_t delay;   /* of the last worker that came in vain, 0 since one did not [ns] */
    int32_t called;  /* workers that were called and have not come */
    int32_t present; /* workers at work on this set */
    int32_t open;
    int32_t thread_count;
    gg_affinity affinity;
    pthread_cond_t done;
    share share[GG_THREAD_LIMIT];
};

/* process-wide, as cores are */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t call;
    int32_t set_count, worker_count;
    int32_t workers_asleep, callers_asleep;
    int32_t called;          /* of all sets */
    int32_t pretended_cores; /* 0: none */
    gg_threads set[SET_LIMIT];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .call = PTHREAD_COND_INITIALIZER};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

#define LOAD(place)         __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELEASE)

/* ---- waiting ---- */

int64_t gg_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

typedef struct patience {
    int64_t end; /* 0: the clock was not read yet [ns] */
    int32_t turns;
} patience;

/* a short pause; 0: it has been long enough, better sleep */
static int pause_briefly(patience *p) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
    if (++p->turns % 32) {
        return 1;
    }
    int64_t now = gg_clock();
    p->end = p->end ? p->end : now + SPIN_NANOSECONDS;
    return now < p->end;
}

/* counted in `asleep`; under the lock of the pool */
static void sleep_on(pthread_cond_t *condition, int32_t *asleep) {
    ++*asleep;
    pthread_cond_wait(condition, &pool.lock);
    --*asleep;
}

/* ---- loops ---- */

/* 0: the loop is being changed */
static int read_loop(gg_threads *t, loop *out) {
    uint64_t round = LOAD(t->round);
    out->number = round / 2;
    out->body = LOAD(t->body);
    out->context = LOAD(t->context);
    out->count = LOAD(t->count);
    out->share_items = LOAD(t->share_items);
    out->chunk_items = LOAD(t->chunk_items);
    out->share_count = LOAD(t->share_count);
    out->share_chunks = LOAD(t->share_chunks);
    return round % 2 == 0 && __atomic_load_n(&t->round, __ATOMIC_RELAXED) == round;
}

static void write_loop(gg_threads *t, const loop *from) {
    uint64_t round = __atomic_load_n(&t->round, __ATOMIC_RELAXED);
    __atomic_store_n(&t->round, round + 1, __ATOMIC_RELAXED);
    STORE(t->body, from->body);
    STORE(t->context, from->context);
    STORE(t->count, from->count);
    STORE(t->share_items, from->share_items);
    STORE(t->chunk_items, from->chunk_items);
    STORE(t->share_count, from->share_count);
    STORE(t->share_chunks, from->share_chunks);
    STORE(t->round, round + 2);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static loop make_loop(const gg_threads *t, int64_t count, int32_t chunk_limit, gg_loop_body body, void *context) {
    loop l = {.number = t->round / 2 + 1, .body = body, .context = context, .count = count};
    l.share_count = t->thread_count;
    l.share_items = quotient_up(count, t->thread_count);
    l.chunk_items = quotient_up(l.share_items, chunk_limit);
    l.share_chunks = (int32_t)quotient_up(l.share_items, l.chunk_items);
    return l;
}

/* the items of a share, and its chunks: the last shares may hold fewer, or none */
typedef struct span {
    int64_t begin, end;
    uint64_t chunks;
} span;

static span share_span(const loop *l, int64_t k) {
    span s;
    s.begin = least(l->share_items * k, l->count);
    s.end = least(s.begin + l->share_items, l->count);
    int64_t items = s.end - s.begin;
    s.chunks = (uint64_t)(items == l->share_items ? l->share_chunks : quotient_up(items, l->chunk_items));
    return s;
}

/* claims a chunk of a share; 0: none is left, or the loop is over */
static int claim(share *s, uint64_t number, uint64_t chunks, int64_t *chunk) {
    uint64_t word = LOAD(s->word);
    for (;;) {
        uint64_t of = word >> 16, next = of == number ? word >> 8 & 255 : 0;
        if (of > number || next >= chunks) {
            return 0;
        }
        uint64_t claimed = of == number ? word + 256 : number << 16 | 256;
        if (__atomic_compare_exchange_n(&s->word, &word, claimed, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
            *chunk = (int64_t)next;
            return 1;
        }
    }
}

/* what is left of one share */
static void work_on(gg_threads *t, const loop *l, int64_t k, int caller) {
    share *own = &t->share[k];
    span s = share_span(l, k);
    int64_t chunk;
    while (claim(own, l->number, s.chunks, &chunk)) {
        int64_t begin = s.begin + chunk * l->chunk_items;
        l->body(l->context, begin, least(begin + l->chunk_items, s.end), caller);
        uint64_t word = __atomic_add_fetch(&own->word, 1, __ATOMIC_SEQ_CST);
        if ((word & 255) == s.chunks && __atomic_load_n(&t->caller_sleeps, __ATOMIC_SEQ_CST)) {
            pthread_mutex_lock(&pool.lock);
            pthread_cond_signal(&t->done);
            pthread_mutex_unlock(&pool.lock);
        }
    }
}

static int share_done(gg_threads *t, const loop *l, int64_t k) {
    uint64_t chunks = share_span(l, k).chunks;
    return !chunks || __atomic_load_n(&t->share[k].word, __ATOMIC_SEQ_CST) == (l->number << 16 | chunks << 8 | chunks);
}

/* until a share, all of whose chunks are claimed, is done */
static void await_share(gg_threads *t, const loop *l, int64_t k) {
    patience p = {0, 0};
    while (!share_done(t, l, k)) {
        if (pause_briefly(&p)) {
            continue;
        }
        pthread_mutex_lock(&pool.lock);
        __atomic_store_n(&t->caller_sleeps, 1, __ATOMIC_SEQ_CST);
        while (!share_done(t, l, k)) {
            sleep_on(&t->done, &pool.callers_asleep);
        }
        __atomic_store_n(&t->caller_sleeps, 0, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&pool.lock);
        return;
    }
}

/* ---- workers ---- */

/* wakes two of those asleep, who wake the others */
static void wake_workers(void) {
    for (int k = 0; k < 2 && k < pool.workers_asleep && k < pool.called; k++) {
        pthread_cond_signal(&pool.call);
    }
}

/* works on the loops of a set until it lets its workers wait; they also wait for the set to open again */
static void serve(gg_threads *t, int64_t seat) {
    uint64_t last = 0;
    patience p = {0, 0};
    loop l;
    for (;;) {
        if (!read_loop(t, &l) || l.number == last || !l.body) {
            if (!pause_briefly(&p)) {
                return;
            }
            continue;
        }
        work_on(t, &l, seat, 0);
        for (int64_t far = 1; far < l.share_count; far *= 2) {
            work_on(t, &l, (seat + far) % l.share_count, 0);
        }
        last = l.number;
        p.end = p.turns = 0;
    }
}

static gg_threads *calling_set(void) {
    for (int32_t k = 0; k < pool.set_count && pool.called > 0; k++) {
        if (pool.set[k].called > 0) {
            return &pool.set[k];
        }
    }
    return NULL;
}

/* a worker leaves a set that is open, after it stayed for some time [ns] */
static void miss_worker(gg_threads *t, int64_t stay) {
    int64_t longer = t->delay ? 2 * t->delay : FIRST_NANOSECONDS;
    t->delay = stay >= VAIN_NANOSECONDS ? 0 : longer < LAST_NANOSECONDS ? longer : LAST_NANOSECONDS;
    STORE(t->call_after, t->delay ? gg_clock() + t->delay : 0);
    __atomic_add_fetch(&t->missing, 1, __ATOMIC_RELEASE);
}

static void count_called(gg_threads *t, int32_t change) {
    t->called += change;
    pool.called += change;
}

static void *work(void *argument) {
    int64_t number = (int64_t)(intptr_t)argument;
    gg_affinity affinity = gg_affinity_get();
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        gg_threads *t = calling_set();
        if (!t) {
            sleep_on(&pool.call, &pool.workers_asleep);
            continue;
        }
        count_called(t, -1);
        t->present++;
        int64_t seat = 1 + number % (t->thread_count - 1);
        gg_affinity wanted = t->affinity;
        wake_workers();
        pthread_mutex_unlock(&pool.lock);
        if (!gg_affinity_equal(&affinity, &wanted)) {
            gg_affinity_set(&wanted);
            affinity = wanted;
        }
        int64_t begin = gg_clock();
        serve(t, seat);
        pthread_mutex_lock(&pool.lock);
        t->present--;
        if (t->open) {
            miss_worker(t, gg_clock() - begin);
        }
    }
    return NULL;
}

/* starts workers until there are `count`, or as many as the system grants; signals are for the caller's threads */
static void start_workers(int32_t count) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool.worker_count < count) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(intptr_t)pool.worker_count)) {
            break;
        }
        pthread_detach(thread);
        pool.worker_count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- forking ---- */

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork(void) { pthread_mutex_unlock(&pool.lock); }

/* the child has the thread that forked and no other; sets that were open are left to those who opened them */
static void in_child(void) {
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.call, NULL);
    pool.worker_count = pool.workers_asleep = pool.callers_asleep = pool.called = 0;
    for (int32_t k = 0; k < pool.set_count; k++) {
        gg_threads *t = &pool.set[k];
        t->present = t->called = 0;
        pthread_cond_init(&t->done, NULL);
    }
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }

/* ---- sets ---- */

/* a set that is closed, best one whose workers of the last time still wait there; NULL: none is left */
static gg_threads *free_set(int32_t thread_count, const gg_affinity *affinity) {
    gg_threads *found = NULL;
    for (int32_t k = 0; k < SET_LIMIT && (k < pool.set_count || !found); k++) {
        gg_threads *t = &pool.set[k];
        if (!t->open && t->present > 0 && t->thread_count == thread_count &&
            gg_affinity_equal(&t->affinity, affinity)) {
            return t;
        }
        found = found || t->open || t->present > 0 ? found : t;
    }
    return found;
}

gg_threads *gg_threads_open(int32_t thread_count) {
    if (thread_count < 2) {
        return NULL;
    }
    gg_affinity affinity = gg_affinity_get();
    int32_t cores = pool.pretended_cores ? pool.pretended_cores : gg_affinity_count(&affinity);
    int32_t count = (int32_t)least(least(thread_count, cores), GG_THREAD_LIMIT);
    if (count < 2) {
        return NULL;
    }
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&pool.lock);
    start_workers(count - 1);
    gg_threads *t = pool.worker_count > 0 ? free_set(count, &affinity) : NULL;
    if (t) {
        if (t == &pool.set[pool.set_count]) {
            pthread_cond_init(&t->done, NULL);
            pool.set_count++;
        }
        t->open = 1;
        STORE(t->call_after, 0);
        t->thread_count = count;
        t->affinity = affinity;
        __atomic_store_n(&t->missing, (int32_t)least(count - 1, pool.worker_count) - t->present, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&pool.lock);
    return t;
}

void gg_threads_pretend_cores(int32_t count) { pool.pretended_cores = count; }

/* calls the workers that a set misses */
static void call_workers(gg_threads *t) {
    pthread_mutex_lock(&pool.lock);
    count_called(t, t->missing);
    __atomic_store_n(&t->missing, 0, __ATOMIC_RELAXED);
    wake_workers();
    pthread_mutex_unlock(&pool.lock);
}

void gg_threads_run(gg_threads *t, int64_t count, int32_t chunk_limit, gg_loop_body body, void *context) {
    if (count < 1) {
        return;
    }
    if (!t || count == 1) {
        body(context, 0, count, 1);
        return;
    }
    loop l = make_loop(t, count, chunk_limit, body, context);
    write_loop(t, &l);
    if (LOAD(t->missing) > 0 && gg_clock() >= LOAD(t->call_after)) {
        call_workers(t);
    }
    for (int64_t k = 0; k < l.share_count; k++) {
        work_on(t, &l, k, 1);
    }
    for (int64_t k = 0; k < l.share_count; k++) {
        await_share(t, &l, k);
    }
}

void gg_threads_close(gg_threads *t) {
    if (!t) {
        return;
    }
    loop none = make_loop(t, 1, 1, NULL, NULL);
    write_loop(t, &none);
    pthread_mutex_lock(&pool.lock);
    count_called(t, -t->called);
    __atomic_store_n(&t->missing, 0, __ATOMIC_RELAXED);
    t->open = 0;
    pthread_mutex_unlock(&pool.lock);
}

void gg_threads_loop(int32_t thread_count, int64_t count, gg_loop_body body, void *context) {
    int32_t most = thread_count ? thread_count : gg_usable_cores();
    gg_threads *t = gg_threads_open((int32_t)least(most, count));
    gg_threads_run(t, count, GG_CHUNK_LIMIT, body, context);
    gg_threads_close(t);
}

gg_threads_stats gg_threads_get_stats(void) {
    pthread_mutex_lock(&pool.lock);
    gg_threads_stats stats = {pool.worker_count, pool.workers_asleep, pool.callers_asleep};
    pthread_mutex_unlock(&pool.lock);
    return stats;
}
