/* meter.cpp: the instrument of the emulator (../instrument.h): what kernels move, and what they do without order.
 *
 * A shared library, to be loaded before the extension, whose instrumented code calls it. It knows one kernel at a time:
 * no two worlds may step at once. gg_meter_clear begins a measurement, gg_meter_report returns it as JSON;
 * gg_meter_cache before it says how large a second-level cache is.
 */
#include "order.h"
#include "traffic.h"
#include <sstream>
#include <string>

#include <dlfcn.h>

namespace meter {

struct instrument {
    memory_map memory;
    site_map sites;
    traffic moved;
    meter::order order{sites};
    /* kernels, and barriers of block 0 (of its first warp; of the team that it belongs to) */
    uint64_t kernels = 0, met[PHASES + 1][EMULATOR_BARRIERS] = {}, arrived[PHASES + 1] = {};
    std::vector<int16_t> phase; /* by thread */
    unsigned per_block = 1, thread = 0, blocks_now = 0;
    uintptr_t shared_begin = 0, shared_end = 0;
    bool runs = false;
    int forgotten = -1; /* the phase whose barriers are taken not to be there */

    instrument() { moved.clear(); }

    void note(uintptr_t code, uintptr_t at, size_t size, bool reads, bool writes, bool atomic) {
        int array;
        if (at >= memory.begin && at < memory.end) {
            array = memory.array_at(at);
        } else if (at >= shared_begin && at < shared_end) {
            array = SHARED;
        } else {
            return; /* its stack and parameters, which are registers and constants */
        }
        uint16_t site = sites.number(code, phase[thread], writes, atomic);
        for (size_t done = 0; done < size;) {
            size_t piece = std::min(size - done, VECTOR - (at + done) % VECTOR);
            if (reads) {
                moved.note(thread, site, phase[thread], array, at + done, (unsigned)piece, false);
            }
            if (writes) {
                moved.note(thread, site, phase[thread], array, at + done, (unsigned)piece, true);
            }
            done += piece;
        }
        order.access(thread, site, array, at, size, reads, writes);
    }
};

/* never destroyed: the extension may outlive this library's objects */
static instrument &own() {
    static instrument &it = *new instrument;
    return it;
}

static void accessed(const void *code, const volatile void *at, size_t size, bool writes) {
    instrument &it = own();
    if (it.runs) {
        it.note((uintptr_t)code, (uintptr_t)at, size, !writes, writes, false);
    }
}

/* "library+offset" of a place in the code */
static std::string place(uintptr_t code) {
    Dl_info info;
    std::ostringstream text;
    text << std::hex;
    if (dladdr((void *)code, &info) && info.dli_fname) {
        /* the call, not what follows it */
        text << info.dli_fname << "+0x" << code - 1 - (uintptr_t)info.dli_fbase;
    }
    return text.str();
}

static void write_site(std::ostringstream &to, const site &s) {
    to << "{\"phase\": \"" << phase_name(s.phase) << "\", \"code\": \"" << place(s.code) << "\"}";
}

static std::string report() {
    static const char *const sides[] = {"read", "written"};
    static const char *const kinds[] = {"read after write", "write after read", "write after write"};
    static const char *const distances[] = {"blocks", "slices", "lanes"};
    static const char *const barriers[] = {"block", "warp", "half warp"};
    const instrument &it = own();
    std::ostringstream to;
    to << "{\"kernels\": " << it.kernels << ", \"traffic\": [";
    const char *comma = "";
    for (int writes = 0; writes < 2; writes++) {
        for (int phase = 0; phase <= PHASES; phase++) {
            for (size_t array = 0; array < array_names().size(); array++) {
                const flow &f = it.moved.flows[writes][(size_t)phase][array];
                if (f.bytes) {
                    to << comma << "{\"side\": \"" << sides[writes] << "\", \"phase\": \"" << phase_name(phase)
                       << "\", \"array\": \"" << array_names()[array] << "\", \"bytes\": " << f.bytes
                       << ", \"sectors\": " << f.sectors << ", \"cold\": " << f.cold << ", \"missed\": " << f.missed
                       << ", \"accesses\": " << f.accesses << "}";
                    comma = ", ";
                }
            }
        }
    }
    to << "], \"barriers\": [";
    comma = "";
    auto barrier = [&](int phase, const char *kind, uint64_t count) {
        if (count) {
            to << comma << "{\"phase\": \"" << phase_name(phase) << "\", \"kind\": \"" << kind
               << "\", \"count\": " << count << "}";
            comma = ", ";
        }
    };
    for (int phase = 0; phase <= PHASES; phase++) {
        barrier(phase, "team", it.arrived[phase]);
        for (int kind = 0; kind < EMULATOR_BARRIERS; kind++) {
            barrier(phase, barriers[kind], it.met[phase][kind]);
        }
    }
    to << "], \"races\": [";
    comma = "";
    for (const auto &[race, count] : it.order.races) {
        to << comma << "{\"kind\": \"" << kinds[race.kind] << "\", \"between\": \"" << distances[race.apart]
           << "\", \"array\": \"" << array_names()[race.array] << "\", \"count\": " << count << ", \"before\": ";
        write_site(to, it.sites.all[race.before]);
        to << ", \"after\": ";
        write_site(to, it.sites.all[race.after]);
        to << "}";
        comma = ", ";
    }
    to << "]}";
    return to.str();
}

} // namespace meter

#define API extern "C" __attribute__((visibility("default")))

API void gg_meter_clear() {
    meter::instrument &it = meter::own();
    it.moved.clear();
    it.order.races.clear();
    it.kernels = 0;
    memset(it.met, 0, sizeof it.met);
    memset(it.arrived, 0, sizeof it.arrived);
}
/* a second-level cache of so many bytes, empty; 0: what it would miss is not counted */
API void gg_meter_cache(uint64_t bytes) { meter::own().moved.second.open(bytes / meter::SECTOR); }
/* Takes the barriers of a phase not to be there, as if the code lacked them; "": of none. 1: there is such a phase. What
 * they keep in order must then be reported. */
API int gg_meter_forget(const char *phase) {
    int &forgotten = meter::own().forgotten;
    for (forgotten = meter::PHASES - 1; forgotten >= 0 && strcmp(phase, meter::phase_name(forgotten)); forgotten--) {
    }
    return forgotten >= 0;
}
API const char *gg_meter_report() {
    static std::string text;
    text = meter::report();
    return text.c_str();
}

/* ---- what the emulator tells ---- */

API void gg_meter_memory(const void *at, size_t size) { meter::own().memory.allocated(at, size); }
API void gg_meter_launch(const void *first, size_t size, unsigned blocks, unsigned threads) {
    meter::instrument &it = meter::own();
    if (size == sizeof(gg_view)) {
        it.memory.look_at(*(const gg_view *)first);
    }
    it.kernels++;
    it.per_block = threads;
    it.phase.assign((size_t)blocks * threads, meter::PHASES);
    it.moved.begin((size_t)blocks * threads);
    it.order.begin(blocks, threads, it.memory.begin);
}
API void gg_meter_blocks(const void *memory, size_t size, unsigned blocks) {
    meter::instrument &it = meter::own();
    it.shared_begin = (uintptr_t)memory;
    it.shared_end = it.shared_begin + size * blocks;
    it.order.begin_blocks(it.shared_begin, size * blocks);
    it.runs = true;
}
API void gg_meter_resume(unsigned thread) { meter::own().thread = thread; }
API void gg_meter_meet(emulator_barrier kind, unsigned first, unsigned count) {
    meter::instrument &it = meter::own();
    if (first == 0) {
        it.met[it.phase[0]][kind]++;
    }
    if (it.phase[first] != it.forgotten) {
        it.order.meet(first, count);
    }
    if (kind == EMULATOR_BLOCK) {
        it.moved.settle(first, count);
    }
    it.moved.pass(first, count);
}
API void gg_meter_end() {
    meter::instrument &it = meter::own();
    it.runs = false;
    for (unsigned first = 0; first < it.phase.size(); first += it.per_block) {
        it.moved.settle(first, it.per_block);
        it.moved.pass(first, it.per_block);
    }
}
API void gg_meter_phase(int phase) {
    meter::instrument &it = meter::own();
    it.phase[it.thread] = (int16_t)phase;
}
API void gg_meter_fence() {
    meter::instrument &it = meter::own();
    it.order.fence(it.thread);
}
API void gg_meter_atomic(const void *code, const void *at, size_t size, emulator_order order) {
    meter::instrument &it = meter::own();
    if (order == EMULATOR_RELEASE && it.thread == 0) {
        it.arrived[it.phase[0]]++;
    }
    it.note((uintptr_t)code, (uintptr_t)at, size, true, order != EMULATOR_ACQUIRE, true);
    if (it.phase[it.thread] != it.forgotten) {
        it.order.synchronise(it.thread, (uintptr_t)at, order);
    }
}

/* ---- what the compiler calls: GCC's -fsanitize=thread ---- */

#define CALLER __builtin_return_address(0)
#define SEEN(size)                                                                                                     \
    API void __tsan_read##size(const volatile void *at) { meter::accessed(CALLER, at, size, false); }                  \
    API void __tsan_write##size(const volatile void *at) { meter::accessed(CALLER, at, size, true); }                  \
    API void __tsan_unaligned_read##size(const volatile void *at) { meter::accessed(CALLER, at, size, false); }        \
    API void __tsan_unaligned_write##size(const volatile void *at) { meter::accessed(CALLER, at, size, true); }
SEEN(1)
SEEN(2)
SEEN(4)
SEEN(8)
SEEN(16)
API void __tsan_read_range(const void *at, size_t size) { meter::accessed(CALLER, at, size, false); }
API void __tsan_write_range(const void *at, size_t size) { meter::accessed(CALLER, at, size, true); }
API void __tsan_vptr_update(void **, void *) {}
API void __tsan_func_entry(void *) {}
API void __tsan_func_exit() {}
API void __tsan_init() {}

/* atomic operations of the host's side of the backend, which no kernel executes: those of the device are told above */
#define HOST_ATOMIC(type, bits)                                                                                        \
    API type __tsan_atomic##bits##_load(const volatile type *at, int) {                                                \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                  \
    }                                                                                                                  \
    API void __tsan_atomic##bits##_store(volatile type *at, type value, int) {                                         \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                 \
    }                                                                                                                  \
    API type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int) {                                     \
        return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                        \
    }                                                                                                                  \
    API type __tsan_atomic##bits##_fetch_sub(volatile type *at, type value, int) {                                     \
        return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                                                        \
    }
HOST_ATOMIC(uint8_t, 8)
HOST_ATOMIC(uint32_t, 32)
HOST_ATOMIC(uint64_t, 64)
