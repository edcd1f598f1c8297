/* traffic.h: bytes and sectors that kernels move, and instructions that move them, by phase and array.
 *
 * The emulator runs a thread until its next barrier, so what a warp would do at once is put together afterwards, when its
 * block has met:
 *
 * - The pieces of 16 aligned bytes that a thread reads or writes in a row are one access, as of a vector.
 * - The accesses of the threads of a warp are one instruction if they come from the same place in the code, in the same
 *   phase, after as many barriers, and each is the n-th of its thread there: threads of a warp are taken to stay
 *   together in loops.
 * - An instruction takes each sector of 32 bytes of global memory that it touches once.
 * - Between two barriers of its block, the first-level cache answers all but the first of the reads of a sector, and
 *   joins what is written to it.
 */
#ifndef GG_METER_TRAFFIC_H
#define GG_METER_TRAFFIC_H

#include "cache.h"
#include "places.h"
#include <tuple>

namespace meter {

constexpr unsigned SECTOR = 32, VECTOR = 16, WARP = 32;

/* of one phase and array */
struct flow {
    uint64_t bytes = 0;    /* that threads ask for */
    uint64_t sectors = 0;  /* that instructions ask for */
    uint64_t cold = 0;     /* of these: not touched since the block met last */
    uint64_t missed = 0;   /* that a second-level cache does not hold: fetched, or changed and evicted; see cache.h */
    uint64_t accesses = 0; /* instructions of warps, to global and shared memory */
};

class traffic {
    struct access {
        uintptr_t at;
        uint32_t turn; /* which access of its thread from its site */
        uint16_t site, interval, array;
        uint8_t bytes;
        bool writes;
    };
    struct thread {
        std::vector<access> done;
        std::vector<std::pair<uint32_t, uint32_t>> turns; /* by site: interval and accesses */
        uint32_t interval = 0, first_interval = 0;
    };
    std::vector<thread> threads;
    std::vector<access> together;

    /* counts the accesses in `together`, of global memory alone or all, that differ in their key */
    template <class Key> void count(Key key, uint64_t flow::*of, bool all = false) {
        std::sort(together.begin(), together.end(), [&](const access &a, const access &b) { return key(a) < key(b); });
        for (size_t k = 0; k < together.size(); k++) {
            if ((all || together[k].array != SHARED) && (k == 0 || key(together[k - 1]) != key(together[k]))) {
                at(together[k]).*of += 1;
            }
        }
    }

    flow &at(const access &a) { return flows[a.writes][phase_of[a.site]][a.array]; }

  public:
    std::vector<std::vector<flow>> flows[2]; /* of reads, of writes: by phase and array */
    std::vector<int> phase_of;               /* by site */
    cache second;                            /* the second-level cache, of sectors */

    void clear() {
        for (auto &side : flows) {
            side.assign(PHASES + 1, std::vector<flow>(array_names().size()));
        }
    }

    /* a launch of so many threads begins */
    void begin(size_t count) {
        if (threads.size() < count) {
            threads.resize(count);
        }
    }

    void note(unsigned number, uint16_t site, int phase, int array, uintptr_t address, unsigned bytes, bool writes) {
        thread &t = threads[number];
        if (phase_of.size() <= site) {
            phase_of.resize(site + 1u);
        }
        phase_of[site] = phase;
        flows[writes][phase][array].bytes += bytes;
        if (!t.done.empty()) {
            access &last = t.done.back();
            if (last.writes == writes && last.at + last.bytes == address && last.at / VECTOR == address / VECTOR &&
                phase_of[last.site] == phase && last.interval == (uint16_t)(t.interval - t.first_interval)) {
                last.bytes = (uint8_t)(last.bytes + bytes);
                return;
            }
        }
        if (t.turns.size() <= site) {
            t.turns.resize(site + 64u);
        }
        auto &turn = t.turns[site];
        if (turn.first != t.interval) {
            turn = {t.interval, 0};
        }
        t.done.push_back({address, turn.second++, site, (uint16_t)(t.interval - t.first_interval), (uint16_t)array,
                          (uint8_t)bytes, writes});
    }

    /* threads first to first + count have passed a barrier */
    void pass(unsigned first, unsigned count) {
        for (unsigned k = first; k < first + count; k++) {
            threads[k].interval++;
        }
    }

    /* counts what the threads of a block have done since it met last */
    void settle(unsigned first, unsigned number) {
        for (unsigned warp = first; warp < first + number; warp += WARP) {
            together.clear();
            for (unsigned k = warp; k < std::min(warp + WARP, first + number); k++) {
                together.insert(together.end(), threads[k].done.begin(), threads[k].done.end());
            }
            count([](const access &a) { return std::make_tuple(a.site, a.interval, a.turn, a.writes, a.at / SECTOR); },
                  &flow::sectors);
            count([](const access &a) { return std::make_tuple(a.site, a.interval, a.turn, a.writes); },
                  &flow::accesses, true);
        }
        together.clear();
        for (unsigned k = first; k < first + number; k++) {
            together.insert(together.end(), threads[k].done.begin(), threads[k].done.end());
            threads[k].done.clear();
            threads[k].first_interval = threads[k].interval;
        }
        auto of_block = [this](const access &a) { return std::make_tuple(a.at / SECTOR, phase_of[a.site], a.writes); };
        count(of_block, &flow::cold);
        auto missed = [&](bool writes, cache::user by) { flows[writes][by.phase][by.array].missed++; };
        for (size_t k = 0; k < together.size(); k++) {
            const access &a = together[k];
            if (a.array != SHARED && (k == 0 || of_block(together[k - 1]) != of_block(a))) {
                second.touch(
                    a.at / SECTOR, {phase_of[a.site], a.array}, a.writes, [&](cache::user by) { missed(false, by); },
                    [&](cache::user by) { missed(true, by); });
            }
        }
    }
};

} // namespace meter

#endif
