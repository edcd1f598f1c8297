/* phases.h: the phases of the law of spheres solved by coloured Gauss-Seidel; the columns are those of
 * phases/phases.h. */
#ifndef GG_COLOURED_PHASES_H
#define GG_COLOURED_PHASES_H

#include "../../scalar.h"
#include "asleep.h"
#include "colours.h"
#include "contacts.h"
#include "motion.h"
#include "rest.h"

/* clang-format off */
#define GG_COLOURED_PHASES(X)                                                                                          \
    X(coloured_list, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE, gg_coloured_list_slice(v, e, i))        \
    X(colour_contacts, 1, SKIPS, PLAIN, TEAM, v->dims.slots, MEETS, gg_coloured_colour_env(v, e))                      \
    X(open_bodies, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(open_slice)(v, e, i))        \
    X(prepare_colour, gg_colour_shares(&v->dims), SKIPS, LANES, TEAM, v->dims.slots, ALONE,                            \
      GG_LANE_CALL(prepare_share)(v, e, i, pass))                                                                      \
    X(prepare_rest, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_coloured_prepare_rest(v, e))                                   \
    X(advance_bodies, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots * GG_BODY, ALONE,                              \
      GG_LANE_CALL(advance_slice)(v, e, i, pass))                                                                      \
    X(sweep_colour, gg_colour_shares(&v->dims), SKIPS, LANES, TEAM, v->dims.slots, ALONE,                              \
      GG_LANE_CALL(sweep_share)(v, e, i, pass))                                                                        \
    X(sweep_rest, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_coloured_sweep_rest(v, e, pass))                                 \
    X(note_change, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(note_change)(v, e, i))       \
    X(note_overlaps, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(note_overlaps)(v, e, i))   \
    X(coloured_load_tools, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE,                                   \
      gg_coloured_close_tools_slice(v, e, i))                                                                          \
    X(weigh_edges, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_edge_weigh_slice(v, e, i))             \
    X(hold_edges, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_edge_hold_slice(v, e, i))               \
    X(sum_kept, 1, SKIPS, PLAIN, EACH, 1, ALONE, gg_kept_sum_env(v, e))                                                \
    X(stop_edges, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_edge_stop_slice(v, e, i))               \
    X(coloured_integrate, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE,                                    \
      GG_LANE_CALL(coloured_integrate_slice)(v, e, i))
/* clang-format on */

#endif
