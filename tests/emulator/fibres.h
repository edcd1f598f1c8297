/* fibres.h: threads of a kernel as fibres on one CPU thread, and their barriers. */
#ifndef GG_EMULATOR_FIBRES_H
#define GG_EMULATOR_FIBRES_H

#include "instrument.h"
#include "machine.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ucontext.h>
#include <utility>
#include <vector>

namespace emulator {

constexpr size_t STACK = 128 * 1024, SHIFT = 256, SHIFTS = 16;

struct barrier {
    unsigned arrived = 0, round = 0;
};

struct block {
    unsigned index = 0, threads = 0;
    barrier all;
    std::vector<barrier> warps, half_warps;
    unsigned char *memory = nullptr;
};

/* what the scheduler asks for comes first, side by side */
struct fibre {
    void *stack_pointer = nullptr;
    block *home = nullptr;
    unsigned thread = 0;
    bool done = false;
    const barrier *waits = nullptr; /* at this barrier, until its round is no longer `round` */
    unsigned round = 0;
    std::vector<char> stack;
    ucontext_t context;
};

struct state {
    fibre *current = nullptr;
    void *scheduler_stack = nullptr;
    ucontext_t *scheduler = nullptr;
    unsigned grid = 0, threads = 0;
    uint64_t progress = 0;
    const std::function<void()> *kernel = nullptr;
};

/* asked for by every thread at every index and barrier: at a fixed distance from the thread's pointer, without a call */
extern __thread state current_state __attribute__((tls_model("initial-exec")));
inline state &now() { return current_state; }
#ifdef GG_EMULATOR_IMPLEMENTATION
/* said again, as the compiler forgets it here */
__thread state current_state __attribute__((tls_model("initial-exec")));
#endif

/* switches from a fibre to the scheduler, and back; on x86-64 without the system calls of swapcontext */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define EMULATOR_FAST 1
extern "C" void gg_emulator_switch(void **from, void *to);
#ifdef GG_EMULATOR_IMPLEMENTATION
asm(".text\n.globl gg_emulator_switch\n.type gg_emulator_switch,@function\ngg_emulator_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
#endif
inline void leave(fibre *f) { gg_emulator_switch(&f->stack_pointer, now().scheduler_stack); }
inline void visit(fibre *f) { gg_emulator_switch(&now().scheduler_stack, f->stack_pointer); }
#else
inline void leave(fibre *f) { swapcontext(&f->context, now().scheduler); }
inline void visit(fibre *f) { swapcontext(now().scheduler, &f->context); }
#endif

inline void yield() { leave(now().current); }

/* a barrier of `count` threads of the current one's block, of which `first` is the first */
inline void meet(barrier &b, emulator_barrier kind, unsigned first, unsigned count) {
    unsigned round = b.round;
    if (++b.arrived == count) {
        const block *home = now().current->home;
        gg_meter_meet(kind, home->index * home->threads + first, count);
        b.arrived = 0;
        b.round++;
        now().progress++;
        return;
    }
    now().current->waits = &b;
    now().current->round = round;
    yield();
    now().current->waits = nullptr;
    now().progress++;
}

/* whether a fibre would only find that it has to wait on */
inline bool waits(const fibre *f) { return f->waits && f->waits->round == f->round; }

inline void enter() {
    (*now().kernel)();
    fibre *f = now().current;
    f->done = true;
    now().progress++;
    for (;;) {
        leave(f);
    }
}

inline void prepare(fibre &f, size_t number) {
    f.done = false;
    f.stack.resize(STACK + SHIFTS * SHIFT);
#ifdef EMULATOR_FAST
    /* six registers, then the entry point; the stack is aligned as at the entry of a function. Stacks begin at different
     * places of a page, or all of them would share a few sets of the cache */
    uintptr_t top = (uintptr_t)(f.stack.data() + STACK + number % SHIFTS * SHIFT) & ~(uintptr_t)15;
    void **at = (void **)(top - 16);
    *at = (void *)&enter;
    for (int k = 0; k < 6; k++) {
        *--at = nullptr;
    }
    f.stack_pointer = at;
#else
    (void)number;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.data();
    f.context.uc_stack.ss_size = STACK;
    f.context.uc_link = nullptr;
    makecontext(&f.context, (void (*)())enter, 0);
#endif
}

/* Ends the process where the guard behind the shared memory of a block was written to. */
inline void look_behind(const unsigned char *guard, unsigned index) {
    const unsigned char *end = guard + GUARD;
    if (std::find_if(guard, end, [](unsigned char c) { return c != UNWRITTEN; }) != end) {
        fprintf(stderr, "CUDA emulator: block %u wrote beyond the shared memory that its launch asked for\n", index);
        abort();
    }
}

/* runs blocks [begin, end) of a grid together; memory: shared by the threads of one [bytes] */
inline void run_blocks(unsigned begin, unsigned end, unsigned grid, unsigned threads, size_t memory,
                       const std::function<void()> &kernel) {
    static thread_local std::vector<fibre> fibres;
    static thread_local std::vector<unsigned char> memories;
    std::vector<block> blocks(end - begin);
    const size_t stride = memory + GUARD;
    memories.assign(stride * blocks.size(), UNWRITTEN);
    size_t count = (size_t)(end - begin) * threads;
    if (fibres.size() < count) {
        fibres = std::vector<fibre>(count);
    }
    state &s = now();
    s.grid = grid;
    s.threads = threads;
    s.kernel = &kernel;
#ifndef EMULATOR_FAST
    ucontext_t scheduler;
    s.scheduler = &scheduler;
#endif
    gg_meter_blocks(memories.data(), stride, end - begin);
    std::vector<fibre *> order(count);
    for (size_t k = 0; k < count; k++) {
        block &b = blocks[k / threads];
        b.index = begin + (unsigned)(k / threads);
        b.threads = threads;
        b.warps.resize(threads / 32 + 1);
        b.half_warps.resize(threads / 16 + 1);
        b.memory = memories.data() + stride * (k / threads);
        prepare(fibres[k], k);
        fibres[k].home = &b;
        fibres[k].thread = (unsigned)(k % threads);
        order[k] = &fibres[k];
    }
    uint64_t seed = (uint64_t)setting("GG_EMULATOR_SEED", 0);
    size_t left = count;
    int idle = 0;
    while (left) {
        uint64_t before = s.progress;
        if (seed) {
            for (size_t k = left; k > 1; k--) {
                seed = seed * 6364136223846793005ull + 1442695040888963407ull;
                std::swap(order[k - 1], order[(seed >> 32) * k >> 32]);
            }
        }
        for (size_t k = 0; k < left; k++) {
            if (waits(order[k])) {
                continue;
            }
            s.current = order[k];
            gg_meter_resume(order[k]->home->index * threads + order[k]->thread);
            visit(order[k]);
        }
        left = (size_t)(std::remove_if(order.begin(), order.begin() + (long)left, [](fibre *f) { return f->done; }) -
                        order.begin());
        /* threads that wait for something in memory make no progress of their own while they see it */
        idle = s.progress == before ? idle + 1 : 0;
        if (idle > 8) {
            fprintf(stderr, "CUDA emulator: deadlock, %zu threads wait for each other\n", left);
            abort();
        }
    }
    s.current = nullptr;
    gg_meter_end();
    for (const block &b : blocks) {
        look_behind(b.memory + memory, b.index);
    }
}

} // namespace emulator

#endif
