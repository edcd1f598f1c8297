/* order.h: finds accesses of one word that nothing puts in order, which on a GPU may see it stale.
 *
 * A thread counts its own releases; what it knows of the others, their counts up to which all that they did comes before
 * what it does now, is its row of a matrix (a vector clock). Barriers join the rows of those who meet. A release leaves a
 * row at a word, from which an acquire joins it; so does a relaxed atomic access after a fence, for one before a fence
 * (the fences of C++ and PTX). The threads that touched a word last are kept with their counts. An access of it by a
 * thread that does not know of them is a race: between blocks what it reads may be stale, in whatever order the emulator
 * happened to run them. A new kernel knows of all before it.
 *
 * Of a word's readers, and of those who change it atomically, two are kept, of different blocks where there are such.
 */
#ifndef GG_METER_ORDER_H
#define GG_METER_ORDER_H

#include "places.h"
#include "../instrument.h"
#include <memory>
#include <tuple>
#include <unordered_map>

namespace meter {

enum conflict { READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE, CONFLICTS };

/* how far apart the threads are: of two blocks; of one, but not of one slice; lanes of a slice (half a warp) */
enum distance { BLOCKS, SLICES, LANES, DISTANCES };

/* two accesses without order: their sites, the one that the emulator executed first being the first */
struct race {
    distance apart;
    conflict kind;
    uint16_t array, before, after;
    bool operator<(const race &o) const {
        return std::tie(apart, kind, array, before, after) < std::tie(o.apart, o.kind, o.array, o.before, o.after);
    }
};

class order {
    static constexpr size_t WORD = 4, PAGE = 1 << 16, MOST_THREADS = 1 << 13;
    struct visit {
        uint32_t count; /* of the thread then; 0: nobody */
        uint16_t thread, site;
    };
    struct word {
        uint32_t turn; /* of the kernel, or of its blocks, that the rest belongs to */
        visit writers[2], readers[2];
    };
    typedef std::vector<uint32_t> row;

    unsigned count = 0, per_block = 1;
    uint32_t kernel_turn = 0, block_turn = 0;
    std::vector<uint32_t> known;     /* (count, count) */
    std::vector<row> released, seen; /* by thread: its row at its last fence; what it read before its next one */
    std::unordered_map<uintptr_t, row> left; /* rows at words */
    std::vector<std::unique_ptr<word[]>> pages;
    std::vector<word> shared;
    uintptr_t shared_begin = 0, device_begin = 0;
    const site_map &sites;

    uint32_t *row_of(unsigned thread) { return known.data() + (size_t)thread * count; }
    void join(uint32_t *to, const uint32_t *from) const {
        for (unsigned k = 0; k < count; k++) {
            to[k] = std::max(to[k], from[k]);
        }
    }
    row copy_of(unsigned thread) { return row(row_of(thread), row_of(thread) + count); }
    void join_at(row &to, const row &from) const {
        if (to.empty()) {
            to = from;
        } else if (!from.empty()) {
            join(to.data(), from.data());
        }
    }

    word &word_at(uintptr_t at, int array) {
        word *found;
        uint32_t turn = array == SHARED ? block_turn : kernel_turn;
        if (array == SHARED) {
            found = &shared[(at - shared_begin) / WORD];
        } else {
            size_t offset = at - device_begin, page = offset / PAGE;
            if (page >= pages.size()) {
                pages.resize(page + 1);
            }
            if (!pages[page]) {
                pages[page].reset(new word[PAGE / WORD]());
            }
            found = &pages[page][offset % PAGE / WORD];
        }
        if (found->turn != turn) {
            *found = word();
            found->turn = turn;
        }
        return *found;
    }

    void look(const visit (&visits)[2], unsigned thread, uint16_t site, int array, conflict kind) {
        for (const visit &v : visits) {
            /* of atomic accesses of a word, those before the thread's own come before whatever it does there later */
            if (&v != visits && visits[0].thread == thread && sites.all[visits[0].site].atomic &&
                sites.all[v.site].atomic) {
                continue;
            }
            if (v.count && v.thread != thread && row_of(thread)[v.thread] < v.count &&
                !(sites.all[v.site].atomic && sites.all[site].atomic)) {
                distance apart = v.thread / per_block != thread / per_block ? BLOCKS
                                 : v.thread / GG_LANES != thread / GG_LANES ? SLICES
                                                                            : LANES;
                races[{apart, kind, (uint16_t)array, v.site, site}]++;
            }
        }
    }
    /* keeps the last visit, and the last one of another block or else of another thread */
    void keep(visit (&visits)[2], const visit &now) {
        if (visits[0].count && visits[0].thread != now.thread &&
            (visits[0].thread / per_block != now.thread / per_block || !visits[1].count ||
             visits[1].thread / per_block == now.thread / per_block)) {
            visits[1] = visits[0];
        }
        visits[0] = now;
    }

  public:
    std::map<race, uint64_t> races;

    explicit order(const site_map &sites_) : sites(sites_) {}

    void begin(unsigned blocks, unsigned threads, uintptr_t device) {
        if ((size_t)blocks * threads > MOST_THREADS) {
            give_up("a kernel of more than 8192 threads: take a smaller scene");
        }
        count = blocks * threads;
        per_block = threads;
        device_begin = device;
        kernel_turn++;
        known.assign((size_t)count * count, 0);
        for (unsigned k = 0; k < count; k++) {
            row_of(k)[k] = 1;
        }
        released.assign(count, row());
        seen.assign(count, row());
        left.clear();
    }
    void begin_blocks(uintptr_t at, size_t size) {
        shared_begin = at;
        shared.resize(std::max(shared.size(), size / WORD));
        block_turn++;
    }

    void access(unsigned thread, uint16_t site, int array, uintptr_t at, size_t size, bool reads, bool writes) {
        const visit now = {row_of(thread)[thread], (uint16_t)thread, site};
        for (uintptr_t a = at / WORD * WORD; a < at + size; a += WORD) {
            word &w = word_at(a, array);
            if (reads) {
                look(w.writers, thread, site, array, READ_AFTER_WRITE);
                keep(w.readers, now);
            }
            if (writes) {
                look(w.readers, thread, site, array, WRITE_AFTER_READ);
                if (!reads) {
                    look(w.writers, thread, site, array, WRITE_AFTER_WRITE);
                }
                if (!sites.all[site].atomic) {
                    w.writers[0] = w.writers[1] = visit();
                }
                keep(w.writers, now);
            }
        }
    }

    void synchronise(unsigned thread, uintptr_t at, emulator_order kind) {
        auto here = left.find(at);
        if (here != left.end()) {
            join_at(seen[thread], here->second);
            if (kind == EMULATOR_ACQUIRE) {
                join(row_of(thread), here->second.data());
            }
        }
        if (kind == EMULATOR_RELEASE) {
            join_at(left[at], copy_of(thread));
            row_of(thread)[thread]++;
        } else if (kind == EMULATOR_RELAXED && !released[thread].empty()) {
            join_at(left[at], released[thread]);
        }
    }
    void fence(unsigned thread) {
        if (!seen[thread].empty()) {
            join(row_of(thread), seen[thread].data());
        }
        released[thread] = copy_of(thread);
        row_of(thread)[thread]++;
    }
    void meet(unsigned first, unsigned number) {
        row all(count);
        for (unsigned k = first; k < first + number; k++) {
            join(all.data(), row_of(k));
        }
        for (unsigned k = first; k < first + number; k++) {
            std::copy(all.begin(), all.end(), row_of(k));
            row_of(k)[k]++;
        }
    }
};

} // namespace meter

#endif
