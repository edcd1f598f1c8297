/* phases.h: the phases of the law of Bell; the columns are those of phases/phases.h. */
#ifndef GG_BELL_PHASES_H
#define GG_BELL_PHASES_H

#include "rkf45.h"

/* clang-format off */
#define GG_BELL_PHASES(X)                                                                                              \
    X(bell_count, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_tool_contacts_count_slice(v, e, i))            \
    X(bell_list, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_bell_list_slice(v, e, i))              \
    X(bell_open, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_bell_open_env(v, e))                                              \
    X(bell_start, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_start(v, e, i))           \
    X(bell_push, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_bell_push_slot(v, e, i, pass))            \
    X(bell_keep, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_keep(v, e, i))             \
    X(bell_keep_tools, v->dims.tool_count, SKIPS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_bell_keep_tool(v, e, i))  \
    X(bell_drift, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_drift(v, e, i))           \
    X(bell_pose_parts, v->dims.part_count, SKIPS, PLAIN, EACH, v->dims.part_count, ALONE,                              \
      gg_tool_pose_part_at(v, e, i, gg_bell_moment_of(v, e, pass).time))                                               \
    X(bell_note, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE,                                           \
      gg_forces_note_slice(v, e, i, v->bell_overlap))                                                                  \
    X(bell_close, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_close(v, e, i))           \
    X(bell_close_tools, v->dims.tool_count, SKIPS, PLAIN, EACH, v->dims.tool_count, ALONE,                             \
      gg_bell_close_tool(v, e, i))                                                                                     \
    X(bell_open_steps, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_bell_open_steps(v, e))                                      \
    X(bell_stage, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_stage(v, e, i, pass))     \
    X(bell_slope, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE,                                   \
      gg_bell_find_slope(v, e, i, pass))                                                                               \
    X(bell_judge, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_judge(v, e, i))           \
    X(bell_decide, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_bell_decide(v, e))                                              \
    X(bell_accept, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_accept(v, e, i))         \
    X(bell_accept_loads, v->dims.load_blocks, SKIPS, PLAIN, EACH, v->dims.load_blocks, ALONE,                          \
      gg_bell_accept_loads(v, e, i))                                                                                   \
    X(bell_settle, v->dims.bell.count, SKIPS, PLAIN, EACH, v->dims.bell.count, ALONE, gg_bell_settle(v, e, i))         \
    X(bell_forget_lists, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_forces_forget_slot(v, e, i))      \
    X(forget_bell, v->dims.bell.envs, COVERS, PLAIN, EACH, v->dims.bell.envs, ALONE, gg_bell_forget(v, e))
/* clang-format on */

#endif
