/* address_range.h: the addresses of device memory.
 *
 * They can be read and written only while a kernel or a copy runs.
 */
#ifndef GG_EMULATOR_ADDRESS_RANGE_H
#define GG_EMULATOR_ADDRESS_RANGE_H

#include "machine.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>

namespace emulator {

inline void protect(char *begin, char *end, int protection) {
    if (begin != end && mprotect(begin, (size_t)(end - begin), protection)) {
        perror("CUDA emulator: mprotect");
        abort();
    }
}

/* adds `more` users of device memory, which can be read and written as long as there is one */
inline void use_memory(int more) {
    runtime &r = machine();
    std::lock_guard<std::mutex> hold(r.range_lock);
    bool before = r.users > 0;
    r.users += more;
    if (before != (r.users > 0)) {
        protect(r.begin, r.end, before ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
}
struct memory_access {
    memory_access() { use_memory(1); }
    ~memory_access() { use_memory(-1); }
    memory_access(const memory_access &) = delete;
    memory_access &operator=(const memory_access &) = delete;
};

#ifdef GG_EMULATOR_IMPLEMENTATION
/* for tests that read device memory themselves: 1 opens it to them, -1 closes it again */
extern "C" __attribute__((visibility("default"))) void gg_emulator_use_memory(int more) { use_memory(more); }
#endif

inline bool is_on_device(const void *at) {
    const runtime &r = machine();
    return r.begin && (const char *)at >= r.begin && (const char *)at < r.begin + RANGE;
}

/* where the pages end that begin .. at lie in */
inline char *page_end(const runtime &r, const char *at) { return r.begin + ((size_t)(at - r.begin) / PAGE + 1) * PAGE; }

/* gives back the pages behind the last allocation: what a change of protection costs grows with the pages in use, which
 * those of a large world would be for the rest of the process; r.lock is held */
inline void trim(runtime &r) {
    std::lock_guard<std::mutex> hold(r.range_lock);
    char *end = r.begin;
    if (!r.memory.empty()) {
        end = page_end(r, r.memory.rbegin()->first + r.memory.rbegin()->second);
    }
    if (end < r.end) {
        protect(end, r.end, PROT_NONE);
        (void)madvise(end, (size_t)(r.end - end), MADV_DONTNEED);
        r.end = end;
    }
}

/* the first free range of `size` bytes on the device, or NULL; r.lock is held */
inline char *find_free(runtime &r, size_t size) {
    std::lock_guard<std::mutex> hold(r.range_lock);
    if (!r.begin) {
        void *range = mmap(nullptr, RANGE + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) {
            return nullptr;
        }
        r.begin = r.end = (char *)(((uintptr_t)range + PAGE - 1) / PAGE * PAGE);
        /* few large pages, where there are any: their protection changes sooner */
        (void)madvise(r.begin, RANGE, MADV_HUGEPAGE);
    }
    char *free_at = r.begin;
    for (const auto &[at, length] : r.memory) {
        if (size < (size_t)(at - free_at)) {
            break;
        }
        free_at = at + (length / ALIGNMENT + 1) * ALIGNMENT;
    }
    if (size >= (size_t)(r.begin + RANGE - free_at)) {
        return nullptr;
    }
    char *end = page_end(r, free_at + size);
    if (end > r.end) {
        protect(r.end, end, r.users ? PROT_READ | PROT_WRITE : PROT_NONE);
        r.end = end;
    }
    return free_at;
}

} // namespace emulator

#endif
