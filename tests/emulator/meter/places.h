/* places.h: where an access is: in the code (sites), and in memory (arrays of a view). */
#ifndef GG_METER_PLACES_H
#define GG_METER_PLACES_H

#include "../../../csrc/phases/phases.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace meter {

[[noreturn]] inline void give_up(const char *why) {
    fprintf(stderr, "CUDA emulator, instrument: %s\n", why);
    abort();
}

/* what a kernel accesses besides the arrays of a view: memory of a block; device memory that has no name */
enum { SHARED, OTHER, FIRST_ARRAY };

/* the names of arrays: SHARED, OTHER, then those of scenes and of worlds */
inline const std::vector<const char *> &array_names() {
    static const std::vector<const char *> names = {"shared memory", "other memory",
#define NAME(type, name, ...) #name,
                                                    GG_SCENE_ARRAYS(NAME) GG_FIELDS(NAME)
#undef NAME
    };
    return names;
}

/* PHASES: before the first phase of a kernel */
inline const char *phase_name(int phase) {
    static const char *const names[] = {
#define NAME(name, ...) #name,
        GG_PHASES(NAME)
#undef NAME
            "none"};
    return names[phase];
}
constexpr int PHASES = GG_PHASE_COUNT;

/* Which array an address of device memory belongs to. A view says where arrays begin and, of a world's own, where they
 * end; those of a scene end where the next one begins. */
class memory_map {
    struct range {
        uintptr_t begin, end;
        int array;
        bool operator<(const range &other) const { return begin < other.begin; }
    };
    std::map<uintptr_t, uintptr_t> allocations; /* ends by beginnings */
    std::vector<range> ranges;
    gg_view view;
    size_t last = 0;

    void add(const void *at, size_t size, int array) {
        if (at && size) {
            ranges.push_back({(uintptr_t)at, (uintptr_t)at + size, array});
        }
    }

  public:
    uintptr_t begin = UINTPTR_MAX, end = 0; /* all of device memory that was ever allocated */

    memory_map() : view() {}

    void allocated(const void *at, size_t size) {
        if (size) {
            allocations[(uintptr_t)at] = (uintptr_t)at + size;
            begin = std::min(begin, (uintptr_t)at);
            end = std::max(end, (uintptr_t)at + size);
        } else {
            allocations.erase((uintptr_t)at);
        }
        view.dims.env_count = -1;
    }

    /* learns where the arrays of a view are */
    void look_at(const gg_view &now) {
        if (!memcmp(&view, &now, sizeof view)) {
            return;
        }
        memcpy(&view, &now, sizeof view);
        ranges.clear();
        last = 0;
        const gg_dims *d = &view.dims;
        const size_t envs = (size_t)d->env_count;
        int array = FIRST_ARRAY;
#define SCENE_RANGE(type, name, ...) add(view.name, 1, array++);
        GG_SCENE_ARRAYS(SCENE_RANGE)
#undef SCENE_RANGE
        const int fields = array;
#define FIELD_RANGE(type, name, count, keep) add(view.name, sizeof(type) * (size_t)(count)*envs, array++);
        GG_FIELDS(FIELD_RANGE)
#undef FIELD_RANGE
        std::sort(ranges.begin(), ranges.end());
        for (size_t k = 0; k < ranges.size(); k++) {
            if (ranges[k].array < fields) {
                auto after = allocations.upper_bound(ranges[k].begin);
                if (after != allocations.begin()) {
                    ranges[k].end = std::prev(after)->second;
                }
                if (k + 1 < ranges.size()) {
                    ranges[k].end = std::min(ranges[k].end, ranges[k + 1].begin);
                }
            }
        }
    }

    int array_at(uintptr_t at) {
        if (last < ranges.size() && at >= ranges[last].begin && at < ranges[last].end) {
            return ranges[last].array;
        }
        size_t k = (size_t)(std::upper_bound(ranges.begin(), ranges.end(), range{at, 0, 0}) - ranges.begin());
        if (k == 0 || at >= ranges[k - 1].end) {
            return OTHER;
        }
        last = k - 1;
        return ranges[last].array;
    }
};

/* a place in the code, within a phase */
struct site {
    uintptr_t code;
    int16_t phase;
    bool writes, atomic;
};

/* numbers sites in the order in which they are met */
class site_map {
    std::vector<uint16_t> table = std::vector<uint16_t>(1 << 16); /* 1 + the number of a site */

  public:
    std::vector<site> all;

    uint16_t number(uintptr_t code, int phase, bool writes, bool atomic) {
        size_t k = (size_t)((code * 0x9E3779B97F4A7C15ull >> 40) + (unsigned)phase * 2654435761u) % table.size();
        for (; table[k]; k = (k + 1) % table.size()) {
            const site &s = all[table[k] - 1u];
            if (s.code == code && s.phase == phase && s.writes == writes && s.atomic == atomic) {
                return (uint16_t)(table[k] - 1u);
            }
        }
        if (all.size() > table.size() / 2) {
            give_up("more places in the code than it can number");
        }
        all.push_back({code, (int16_t)phase, writes, atomic});
        table[k] = (uint16_t)all.size();
        return (uint16_t)(all.size() - 1);
    }
};

} // namespace meter

#endif
