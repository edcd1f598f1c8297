/* tool_contacts.h: contacts with tools of the laws that list no others. */
#ifndef GG_TOOL_CONTACTS_H
#define GG_TOOL_CONTACTS_H

#include "../contact/candidates.h"
#include "../contact/narrow.h"
#include "contacts.h"

/* Counts the contacts with tools that may close within the substep. item: slice of an env */
GG_FN void gg_tool_contacts_count_slice(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t near = gg_slice_parts(v, e, slice);
    v->slice_parts[e * v->dims.slices + slice] = near;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int32_t i = (int32_t)(slice * GG_LANES + lane), count = 0;
        int64_t at = e * v->dims.slots + i, part = v->dims.part_count;
        if (v->grain_id[at] >= 0 && !gg_slot_fixed(v, e, i)) {
            part = gg_next_part(v, near, 0);
        }
        for (; part < v->dims.part_count; part = gg_next_part(v, near, part + 1)) {
            count += gg_touch_part(v, e, i, part).active;
        }
        v->next_count[at] = 0;
        v->next_tool_count[at] = count;
    }
    gg_contacts_counted(v, e, slice);
}

#endif
