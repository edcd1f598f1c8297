/* phases.h: the phases of planar grains, and of planar grains on springs; the columns are those of phases/phases.h. */
#ifndef GG_PLANAR_PHASES_H
#define GG_PLANAR_PHASES_H

#include "../scalar.h"
#include "motion.h"
#include "springs.h"

/* clang-format off */
#define GG_PLANAR_PHASES(X)                                                                                            \
    X(find_manifolds, v->dims.planar.slots, SLOTS, LANES, EACH, v->dims.planar.slots, ALONE,                           \
      gg_manifold_slot(v, e, i))                                                                                       \
    X(planar_count, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE, gg_planar_count_slice(v, e, i))          \
    X(planar_list, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE, gg_planar_list_slice(v, e, i))            \
    X(planar_prepare, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE,                                        \
      GG_LANE_CALL(planar_prepare_slice)(v, e, i))                                                                     \
    X(planar_iterate, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE,                                        \
      GG_LANE_CALL(planar_iterate_slice)(v, e, i, pass))                                                               \
    X(planar_project_tools, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE,                                   \
      gg_planar_project_tools(v, e, i))                                                                                \
    X(planar_load_tools, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_planar_load_tools(v, e, i))       \
    X(planar_integrate, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE, gg_planar_integrate_slice(v, e, i))  \
    X(apply_springs, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE, gg_springs_slice(v, e, i))
/* clang-format on */

#endif
