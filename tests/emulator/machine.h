/* machine.h: the state of the emulated device, and settings from the environment. */
#ifndef GG_EMULATOR_MACHINE_H
#define GG_EMULATOR_MACHINE_H

#include "runtime_types.h"
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace emulator {

inline long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

constexpr int MULTIPROCESSORS = 3, BLOCKS_PER_MULTIPROCESSOR = 2;
/* shared memory of a block [bytes]: by declaration; the most that a launch may ask for beside it; what all blocks of a
 * multiprocessor may ask for together */
constexpr size_t BLOCK_MEMORY = 64 * 1024, MOST_SHARED = 128 * 1024, SHARED_OF_MULTIPROCESSOR = 24 * 1024;
/* behind it, to find out who writes there [bytes]; what shared memory holds that nobody wrote */
constexpr size_t GUARD = 4 * 1024;
constexpr unsigned char UNWRITTEN = 0xA5;

/* size of the address range of device memory, alignment of allocations, granularity of protection [bytes] */
constexpr size_t RANGE = (size_t)1 << 40, ALIGNMENT = 256, PAGE = (size_t)1 << 21;

struct runtime {
    std::mutex lock;
    std::recursive_mutex order;                  /* held while `deferred` is changed or executed */
    std::vector<std::function<void()>> deferred; /* copies to and from pinned memory that nobody has waited for */
    std::map<char *, size_t> memory, pinned;
    std::set<const void *> loaded; /* kernels */
    size_t used = 0;
    long launches = 0;
    bool lost = false;
    /* device memory: [begin, end) has been allocated at some time, and can be accessed while users > 0 */
    std::mutex range_lock;
    char *begin = nullptr, *end = nullptr;
    int users = 0;
};
/* never destroyed: threads may still run when the process ends */
inline runtime &machine() {
    static runtime &r = *new runtime;
    return r;
}

inline cudaError_t alive() { return machine().lost ? cudaErrorLaunchFailure : cudaSuccess; }

} // namespace emulator

#endif
