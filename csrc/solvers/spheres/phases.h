/* phases.h: the phases of the law of spheres; the columns are those of phases/phases.h. */
#ifndef GG_SPHERE_PHASES_H
#define GG_SPHERE_PHASES_H

#include "../scalar.h"
#include "motion.h"

/* clang-format off */
#define GG_SPHERE_PHASES(X)                                                                                            \
    X(count_contacts, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(count_slice)(v, e, i))    \
    X(list_contacts, v->dims.slices, SLICES, PLAIN, TEAM, v->dims.slots, ALONE, gg_sphere_list_slice(v, e, i))          \
    X(prepare_contacts, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE,                                      \
      GG_LANE_CALL(prepare_slice)(v, e, i))                                                                            \
    X(iterate, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(iterate_slice)(v, e, i, pass))   \
    X(project_tools, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_sphere_project_tools(v, e, i))        \
    X(load_tools, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_sphere_load_tools(v, e, i))              \
    X(integrate, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(integrate_slice)(v, e, i))
/* clang-format on */

#endif
