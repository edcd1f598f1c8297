/* cuda_runtime.h: stands in for the CUDA toolkit and runs kernels on a CPU, thread by thread.
 *
 * For tests where there is no GPU: the device code of csrc/backend/cuda is compiled by a plain C++ compiler with this header
 * in place of the toolkit's. Every CUDA thread is a fibre; barriers, half-warp barriers, atomics, cooperative grids, streams,
 * graphs and memory behave as documented. A cooperative grid has all its blocks in flight, any other runs block after block,
 * so that code which waits for a block that need not be resident hangs here too, and is reported. Memory of the device is out of
 * the host's reach but while a kernel or a copy works on it, kernels may not be given addresses of the host, and a copy must be
 * of the kind it says; memory that nobody has set, of the device or of a block, holds anything but zeros.
 *
 * Environment: GG_EMULATOR_DEVICES (1), GG_EMULATOR_MEMORY bytes per device (unlimited), GG_EMULATOR_SEED (0: threads run in
 * order, else shuffled by it), GG_EMULATOR_FAIL=n (kernel launch n and everything after it fails, as a lost device does),
 * GG_EMULATOR_DRIVER (13000), 0: no driver; GG_EMULATOR_OWNER: the process in which another library has started CUDA, so
 * that it cannot be started in a child.
 */
#ifndef GG_EMULATOR_CUDA_RUNTIME_H
#define GG_EMULATOR_CUDA_RUNTIME_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

/* threads per block: few, so that envs of some hundred grains have teams of several blocks */
#ifndef GG_THREADS
#define GG_THREADS 64
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* ---- threads ---- */

namespace emulator {

constexpr size_t STACK = 128 * 1024;

struct barrier {
    unsigned arrived = 0, round = 0;
};

struct block {
    unsigned index = 0, threads = 0;
    barrier all;
    std::vector<barrier> half_warps;
    unsigned char *memory = nullptr;
};

struct fibre {
    ucontext_t context;
    void *stack_pointer = nullptr;
    std::vector<char> stack;
    block *home = nullptr;
    unsigned thread = 0;
    bool done = false;
};

struct state {
    fibre *current = nullptr;
    void *scheduler_stack = nullptr;
    ucontext_t scheduler;
    unsigned grid = 0, threads = 0;
    uint64_t progress = 0;
    const std::function<void()> *kernel = nullptr;
};

inline state &now() {
    static thread_local state s;
    return s;
}

/* leaves a fibre for the scheduler, and back; on x86-64 without the system calls of swapcontext */
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
inline void leave(fibre *f) { swapcontext(&f->context, &now().scheduler); }
inline void visit(fibre *f) { swapcontext(&now().scheduler, &f->context); }
#endif

inline void yield() { leave(now().current); }

inline void meet(barrier &b, unsigned count) {
    unsigned round = b.round;
    if (++b.arrived == count) {
        b.arrived = 0;
        b.round++;
        now().progress++;
        return;
    }
    while (b.round == round) {
        yield();
    }
    now().progress++;
}

inline void enter() {
    (*now().kernel)();
    fibre *f = now().current;
    f->done = true;
    now().progress++;
    for (;;) {
        leave(f);
    }
}

inline void prepare(fibre &f) {
    f.done = false;
    f.stack.resize(STACK);
#ifdef EMULATOR_FAST
    /* six registers, then where to begin; the stack is aligned as at the entry of a function */
    uintptr_t top = (uintptr_t)(f.stack.data() + STACK) & ~(uintptr_t)15;
    void **at = (void **)(top - 16);
    *at = (void *)&enter;
    for (int k = 0; k < 6; k++) {
        *--at = nullptr;
    }
    f.stack_pointer = at;
#else
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.data();
    f.context.uc_stack.ss_size = STACK;
    f.context.uc_link = nullptr;
    makecontext(&f.context, (void (*)())enter, 0);
#endif
}

inline long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

/* runs blocks [begin, end) of a grid together */
inline void run_blocks(unsigned begin, unsigned end, unsigned grid, unsigned threads, size_t memory,
                       const std::function<void()> &kernel) {
    static thread_local std::vector<fibre> fibres;
    static thread_local std::vector<unsigned char> memories;
    std::vector<block> blocks(end - begin);
    memories.assign(memory * blocks.size(), 0xA5);
    size_t count = (size_t)(end - begin) * threads;
    if (fibres.size() < count) {
        fibres = std::vector<fibre>(count);
    }
    state &s = now();
    s.grid = grid;
    s.threads = threads;
    s.kernel = &kernel;
    std::vector<fibre *> order(count);
    for (size_t k = 0; k < count; k++) {
        block &b = blocks[k / threads];
        b.index = begin + (unsigned)(k / threads);
        b.threads = threads;
        b.half_warps.resize(threads / 16 + 1);
        b.memory = memories.data() + memory * (k / threads);
        prepare(fibres[k]);
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
                std::swap(order[k - 1], order[(seed >> 33) % k]);
            }
        }
        for (size_t k = 0; k < left; k++) {
            s.current = order[k];
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
}

} // namespace emulator

/* as in the toolkit, but a read-only view of the fibre under way */
struct emulator_index {
    unsigned x;
};
#define threadIdx (emulator_index{emulator::now().current->thread})
#define blockIdx  (emulator_index{emulator::now().current->home->index})
#define gridDim   (emulator_index{emulator::now().grid})
#define blockDim  (emulator_index{emulator::now().threads})

inline void __syncthreads() {
    emulator::block *b = emulator::now().current->home;
    emulator::meet(b->all, b->threads);
}
/* half warps only, which is all that is used */
inline void __syncwarp(unsigned mask) {
    emulator::fibre *f = emulator::now().current;
    if (mask != 0xFFFFu << (f->thread & 16u)) {
        fprintf(stderr, "CUDA emulator: __syncwarp of mask %08x\n", mask);
        abort();
    }
    emulator::meet(f->home->half_warps[f->thread / 16], 16);
}
inline void __threadfence() {}
inline int32_t atomicAdd(int32_t *at, int32_t value) {
    int32_t before = *at;
    *at = before + value;
    return before;
}
inline int32_t atomicExch(int32_t *at, int32_t value) { return std::exchange(*at, value); }

#define GG_BLOCK_MEMORY(type, name) type &name = *reinterpret_cast<type *>(emulator::now().current->home->memory)
#define GG_SPIN()                   emulator::yield()
#define GG_KERNEL_PARAMETER         const

/* ---- the runtime ---- */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorStreamCaptureUnsupported = 900
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrCooperativeLaunch = 95 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };

struct emulator_graph {
    std::vector<std::function<void()>> nodes;
};
struct emulator_stream {
    emulator_graph *capture = nullptr;
};
typedef emulator_stream *cudaStream_t;
typedef struct emulator_event *cudaEvent_t;
typedef emulator_graph *cudaGraph_t;
typedef emulator_graph *cudaGraphExec_t;
struct cudaDeviceProp {
    char name[256];
    int multiProcessorCount, major, minor;
};

namespace emulator {

constexpr int MULTIPROCESSORS = 3, BLOCKS_PER_MULTIPROCESSOR = 2;

/* addresses that memory of the device can have, and the step of allocations [bytes] */
constexpr size_t RANGE = (size_t)1 << 40, ALIGNMENT = 256, PAGE = (size_t)1 << 16;

struct runtime {
    std::mutex lock;
    std::recursive_mutex order;              /* of late, and while it is worked off */
    std::vector<std::function<void()>> late; /* copies to and from pinned memory that nobody has waited for */
    std::map<char *, size_t> memory, pinned;
    std::set<const void *> loaded; /* kernels */
    size_t used = 0;
    long launches = 0;
    bool lost = false;
    /* memory of the device: [begin, end) was in use at some time, and is open to `users` */
    std::mutex door;
    char *begin = nullptr, *end = nullptr;
    int users = 0;
};
/* it is never destroyed: threads may still be at work when the process ends */
inline runtime &machine() {
    static runtime &r = *new runtime;
    return r;
}

inline void protect(char *begin, char *end, int protection) {
    if (begin != end && mprotect(begin, (size_t)(end - begin), protection)) {
        perror("CUDA emulator: mprotect");
        abort();
    }
}

/* one user more or less of the memory of the device, which can be read and written as long as there is one */
inline void use_memory(int more) {
    runtime &r = machine();
    std::lock_guard<std::mutex> hold(r.door);
    bool before = r.users > 0;
    r.users += more;
    if (before != (r.users > 0)) {
        protect(r.begin, r.end, before ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
}
struct visit_of_memory {
    visit_of_memory() { use_memory(1); }
    ~visit_of_memory() { use_memory(-1); }
    visit_of_memory(const visit_of_memory &) = delete;
    visit_of_memory &operator=(const visit_of_memory &) = delete;
};

#ifdef GG_EMULATOR_IMPLEMENTATION
/* for tests that look into the memory themselves: 1 opens it to them, -1 takes that back */
extern "C" __attribute__((visibility("default"))) void gg_emulator_use_memory(int more) { use_memory(more); }
#endif

inline bool is_on_device(const void *at) {
    const runtime &r = machine();
    return r.begin && (const char *)at >= r.begin && (const char *)at < r.begin + RANGE;
}

/* room for `size` bytes on the device, the first that is large enough; r.lock is held */
inline char *find_room(runtime &r, size_t size) {
    std::lock_guard<std::mutex> hold(r.door);
    if (!r.begin) {
        void *range = mmap(nullptr, RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) {
            return nullptr;
        }
        r.begin = r.end = (char *)range;
    }
    char *room = r.begin;
    for (const auto &[at, length] : r.memory) {
        if (size < (size_t)(at - room)) {
            break;
        }
        room = at + (length / ALIGNMENT + 1) * ALIGNMENT;
    }
    if (size >= (size_t)(r.begin + RANGE - room)) {
        return nullptr;
    }
    char *end = r.begin + ((size_t)(room + size - r.begin) / PAGE + 1) * PAGE;
    if (end > r.end) {
        protect(r.end, end, r.users ? PROT_READ | PROT_WRITE : PROT_NONE);
        r.end = end;
    }
    return room;
}

inline cudaError_t alive() { return machine().lost ? cudaErrorLaunchFailure : cudaSuccess; }

/* works off what was put off */
inline cudaError_t catch_up() {
    std::lock_guard<std::recursive_mutex> hold(machine().order);
    if (!machine().late.empty()) {
        visit_of_memory visit;
        for (const auto &work : std::exchange(machine().late, {})) {
            work();
        }
    }
    return alive();
}

inline bool capturing(cudaStream_t stream) { return stream > (cudaStream_t)2 && stream->capture; }

inline cudaError_t execute(cudaStream_t stream, std::function<void()> work) {
    if (capturing(stream)) {
        stream->capture->nodes.push_back(std::move(work));
    } else {
        catch_up();
        visit_of_memory visit;
        work();
    }
    return cudaSuccess;
}

inline bool is_pinned(const void *at) {
    std::lock_guard<std::mutex> hold(machine().lock);
    auto next = machine().pinned.upper_bound((char *)const_cast<void *>(at));
    return next != machine().pinned.begin() && (const char *)at < std::prev(next)->first + std::prev(next)->second;
}

/* A copy. With pinned memory it comes as late as CUDA allows, so that a host shows up that changes what it gave, or reads what it
 * asked for, too early; other memory of the host is read and written before the call returns. */
inline cudaError_t copy(cudaStream_t stream, const void *to, const void *from, cudaMemcpyKind kind,
                        std::function<void()> work) {
    if (machine().lost) {
        return cudaErrorLaunchFailure;
    }
    if (is_on_device(to) != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) ||
        is_on_device(from) != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)) {
        return cudaErrorInvalidValue;
    }
    if (capturing(stream) || !(is_pinned(to) || is_pinned(from))) {
        return execute(stream, std::move(work));
    }
    std::lock_guard<std::recursive_mutex> hold(machine().order);
    machine().late.push_back(std::move(work));
    return cudaSuccess;
}

} // namespace emulator

inline const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInitializationError:
        return "initialization error";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted when stream is capturing";
    default:
        return "invalid argument";
    }
}
inline const char *cudaGetErrorName(cudaError_t e) {
    return e == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : e == cudaErrorLaunchFailure  ? "cudaErrorLaunchFailure"
                                          : "cudaError";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *version) {
    *version = (int)emulator::setting("GG_EMULATOR_DRIVER", 13000);
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int *count) {
    int driver = 0;
    *count = 0;
    cudaDriverGetVersion(&driver);
    if (driver < 12000) {
        return cudaErrorInsufficientDriver;
    }
    long owner = emulator::setting("GG_EMULATOR_OWNER", 0);
    if (owner && owner != (long)getpid()) {
        return cudaErrorInitializationError;
    }
    *count = (int)emulator::setting("GG_EMULATOR_DEVICES", 1);
    return *count ? cudaSuccess : cudaErrorNoDevice;
}
inline cudaError_t cudaSetDevice(int device) {
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    return e != cudaSuccess ? e : device < count ? emulator::alive() : cudaErrorInvalidDevice;
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount ? emulator::MULTIPROCESSORS : 1;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
    snprintf(p->name, sizeof p->name, "CPU emulating CUDA");
    p->multiProcessorCount = emulator::MULTIPROCESSORS;
    p->major = 7;
    p->minor = 5;
    return cudaSuccess;
}
inline size_t emulator_memory() { return (size_t)emulator::setting("GG_EMULATOR_MEMORY", 1l << 40); }
inline cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    *total = emulator_memory();
    *left = *total - std::min(*total, emulator::machine().used);
    return cudaSuccess;
}
namespace emulator {
template <class... Parameters> inline void load(void (*kernel)(Parameters...)) {
    std::lock_guard<std::mutex> hold(machine().lock);
    machine().loaded.insert(reinterpret_cast<const void *>(kernel));
}
template <class... Parameters> inline bool is_loaded(void (*kernel)(Parameters...)) {
    std::lock_guard<std::mutex> hold(machine().lock);
    return machine().loaded.count(reinterpret_cast<const void *>(kernel));
}
} // namespace emulator
template <class Kernel>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel kernel, int, size_t) {
    emulator::load(kernel);
    *blocks = emulator::BLOCKS_PER_MULTIPROCESSOR;
    return emulator::alive();
}
struct cudaFuncAttributes {};
template <class Kernel> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Kernel kernel) {
    emulator::load(kernel);
    return emulator::alive();
}

inline cudaError_t cudaMalloc(void **memory, size_t size) {
    emulator::runtime &r = emulator::machine();
    std::lock_guard<std::mutex> hold(r.lock);
    *memory = nullptr;
    if (r.lost) {
        return cudaErrorLaunchFailure;
    }
    char *room = r.used + size > emulator_memory() ? nullptr : emulator::find_room(r, size);
    if (!room) {
        return cudaErrorMemoryAllocation;
    }
    emulator::visit_of_memory visit;
    memset(room, 0xA5, size);
    r.memory[room] = size;
    r.used += size;
    *memory = room;
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *memory) {
    emulator::runtime &r = emulator::machine();
    emulator::catch_up();
    std::lock_guard<std::mutex> hold(r.lock);
    auto found = r.memory.find((char *)memory);
    if (found != r.memory.end()) {
        r.used -= found->second;
        r.memory.erase(found);
    }
    return cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned) {
    *memory = malloc(size);
    std::lock_guard<std::mutex> hold(emulator::machine().lock);
    if (*memory) {
        emulator::machine().pinned[(char *)*memory] = size;
    }
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void *memory) {
    emulator::catch_up();
    std::lock_guard<std::mutex> hold(emulator::machine().lock);
    emulator::machine().pinned.erase((char *)memory);
    free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream) {
    return emulator::machine().lost          ? cudaErrorLaunchFailure
           : !emulator::is_on_device(memory) ? cudaErrorInvalidValue
                                             : emulator::execute(stream, [=] { memset(memory, value, size); });
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
    return emulator::copy(stream, to, from, kind, [=] { memcpy(to, from, size); });
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
    if (width > to_pitch || width > from_pitch) {
        return cudaErrorInvalidValue;
    }
    return emulator::copy(stream, to, from, kind, [=] {
        for (size_t r = 0; r < rows; r++) {
            memcpy((char *)to + r * to_pitch, (const char *)from + r * from_pitch, width);
        }
    });
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
    *stream = new emulator_stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    delete stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return emulator::catch_up(); }
inline cudaError_t cudaDeviceSynchronize() { return emulator::catch_up(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return emulator::alive(); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    *event = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return emulator::alive(); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return emulator::catch_up(); }
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 1.0f;
    return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (stream <= (cudaStream_t)2) {
        return cudaErrorStreamCaptureUnsupported;
    }
    stream->capture = new emulator_graph;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    *graph = std::exchange(stream->capture, nullptr);
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
    *exec = new emulator_graph(*graph);
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return cudaGraphDestroy(exec); }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
    emulator::catch_up();
    emulator::visit_of_memory visit;
    for (const auto &node : exec->nodes) {
        node();
    }
    return emulator::alive();
}

namespace emulator {
/* ends the process where a kernel is given an address of the host; numbers that look like one do not occur */
template <class Argument> inline void look_for_host_addresses(const Argument &argument) {
#ifdef __x86_64__
    for (size_t at = 0; at + sizeof(uintptr_t) <= sizeof argument; at += sizeof(uintptr_t)) {
        uintptr_t word;
        memcpy(&word, (const char *)&argument + at, sizeof word);
        if (word >= 0x500000000000u && word < 0x800000000000u && !is_on_device((const void *)word)) {
            fprintf(stderr, "CUDA emulator: a kernel is given %p, which is memory of the host (byte %zu of %zu)\n",
                    (void *)word, at, sizeof argument);
            abort();
        }
    }
#else
    (void)argument;
#endif
}
} // namespace emulator

template <class... Parameters, class... Arguments>
inline cudaError_t gg_launch(void (*kernel)(Parameters...), int blocks, int threads, int cooperative,
                             cudaStream_t stream, Arguments... arguments) {
    emulator::runtime &r = emulator::machine();
    long fail = emulator::setting("GG_EMULATOR_FAIL", 0);
    if (fail > 0 && ++r.launches >= fail) {
        r.lost = true;
    }
    if (r.lost) {
        return cudaErrorLaunchFailure;
    }
    if (blocks < 1 || threads < 1) {
        return cudaErrorInvalidValue;
    }
    if (cooperative && blocks > emulator::MULTIPROCESSORS * emulator::BLOCKS_PER_MULTIPROCESSOR) {
        return cudaErrorCooperativeLaunchTooLarge;
    }
    if (emulator::capturing(stream) && !emulator::is_loaded(kernel)) {
        return cudaErrorStreamCaptureUnsupported;
    }
    emulator::load(kernel);
    (emulator::look_for_host_addresses(arguments), ...);
    return emulator::execute(stream, [=] {
        std::function<void()> call = [=] { kernel(arguments...); };
        unsigned grid = (unsigned)blocks, step = cooperative ? grid : 1;
        for (unsigned b = 0; b < grid; b += step) {
            emulator::run_blocks(b, b + step, grid, (unsigned)threads, 64 * 1024, call);
        }
    });
}

#endif
