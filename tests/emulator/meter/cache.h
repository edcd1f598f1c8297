/* cache.h: what a second-level cache does not hold: sectors that are fetched from memory, and changed ones that leave for
 * it. Fully associative; the sector that was not touched for longest leaves first. */
#ifndef GG_METER_CACHE_H
#define GG_METER_CACHE_H

#include <cstdint>
#include <list>
#include <unordered_map>

namespace meter {

class cache {
  public:
    /* who touched a sector */
    struct user {
        int phase, array;
    };

    /* of so many sectors, empty; 0: there is none, and nothing is counted */
    void open(size_t sectors) {
        capacity = sectors;
        order.clear();
        found.clear();
    }

    /* A sector is read or written as a whole. fetched(user) where it comes from memory, evicted(user) where a changed one
     * leaves, with who changed it last. */
    template <class Fetched, class Evicted>
    void touch(uintptr_t sector, user by, bool writes, Fetched fetched, Evicted evicted) {
        if (capacity == 0) {
            return;
        }
        auto at = found.find(sector);
        if (at == found.end()) {
            if (!writes) {
                fetched(by);
            }
            order.push_front({sector, by, writes});
            found[sector] = order.begin();
        } else {
            order.splice(order.begin(), order, at->second);
            if (writes) {
                *order.begin() = {sector, by, true};
            }
        }
        if (order.size() > capacity) {
            const line &last = order.back();
            if (last.changed) {
                evicted(last.by);
            }
            found.erase(last.sector);
            order.pop_back();
        }
    }

  private:
    struct line {
        uintptr_t sector;
        user by;
        bool changed;
    };
    size_t capacity = 0;
    std::list<line> order; /* those touched last first */
    std::unordered_map<uintptr_t, std::list<line>::iterator> found;
};

} // namespace meter

#endif
