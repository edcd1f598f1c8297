/* phases.h: the phases of the law of clumps; the columns are those of phases/phases.h. */
#ifndef GG_CLUMP_PHASES_H
#define GG_CLUMP_PHASES_H

#include "../../scalar.h"
#include "access.h"
#include "clumps.h"
#include "rest.h"

/* clang-format off */
#define GG_CLUMP_PHASES(X)                                                                                             \
    X(open_clumps, v->dims.clumps.count, SKIPS, PLAIN, EACH, v->dims.clumps.count, ALONE, gg_clump_open(v, e, i))       \
    X(prepare_clumps, gg_colour_shares(&v->dims), SKIPS, LANES, TEAM, v->dims.slots, ALONE,                            \
      GG_LANE_CALL(prepare_clump_share)(v, e, i, pass))                                                                \
    X(prepare_clump_rest, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_clump_prepare_rest(v, e))                                \
    X(sweep_clumps, gg_colour_shares(&v->dims), SKIPS, LANES, TEAM, v->dims.slots, ALONE,                              \
      GG_LANE_CALL(sweep_clump_share)(v, e, i, pass))                                                                  \
    X(sweep_clump_rest, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_clump_sweep_rest(v, e, pass))                              \
    X(load_clump_tools, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_clump_close_tools(v, e, i))      \
    X(move_clumps, v->dims.clumps.count, SKIPS, PLAIN, EACH, v->dims.clumps.count, ALONE, gg_clump_move(v, e, i))      \
    X(note_clumps, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_clump_note_slice(v, e, i))           \
    X(place_clumps, v->dims.clumps.count, COVERS, PLAIN, EACH, v->dims.clumps.count, ALONE,                            \
      gg_clump_place_listed(v, e, i))                                                                                  \
    X(read_clumps, v->dims.clumps.count, COVERS, PLAIN, EACH, v->dims.clumps.count, ALONE, gg_clump_read(v, e, i))     \
    X(write_clumps, v->dims.clumps.count, COVERS, PLAIN, EACH, v->dims.clumps.count, ALONE, gg_clump_write(v, e, i))   \
    X(push_clumps, v->dims.clumps.count, COVERS, PLAIN, EACH, v->dims.clumps.count, ALONE, gg_clump_push(v, e, i))     \
    X(transform_clumps, v->dims.clumps.count, COVERS, PLAIN, EACH, v->dims.clumps.count, ALONE,                        \
      gg_clump_transform(v, e, i))
/* clang-format on */

#endif
