/* phases.h: the phases of the law of tables; the columns are those of phases/phases.h. */
#ifndef GG_TABLE_PHASES_H
#define GG_TABLE_PHASES_H

#include "contacts.h"

/* clang-format off */
#define GG_TABLE_PHASES(X)                                                                                             \
    X(table_count, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_table_count_slice(v, e, i))          \
    X(table_list, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_table_list_slice(v, e, i))            \
    X(table_open, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_table_open_slot(v, e, i))                \
    X(table_push, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_table_push_slot(v, e, i))                \
    X(table_note, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_table_note_slice(v, e, i))            \
    X(table_forget, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_forces_forget_slot(v, e, i))           \
    X(table_close, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_table_close_env(v, e))
/* clang-format on */

#endif
