/* sleep.h: sizes and fields of grains that sleep while others of their env move. See phases/grain_sleep.h. */
#ifndef GG_STATE_SLEEP_H
#define GG_STATE_SLEEP_H

#include <stdint.h>

/* Of a grain: AWAKE, or asleep: at the EDGE, near enough to touch a grain that is awake, or DEEP. */
enum { GG_AWAKE = 0, GG_EDGE, GG_DEEP };

/* a grain may sleep after so many substeps at which it was quiet, see gg_quiet_of */
#define GG_QUIET_SUBSTEPS 5
/* Of a grain that must wake when the lists are built next; of one that must be awake throughout this step, since a tool
 * that moves in it may come near. */
enum { GG_MUST_WAKE = -1, GG_NEAR_TOOL = -2 };
/* a grain that owns more contacts does not sleep */
#define GG_KEPT 8

typedef struct gg_sleep_dims {
    int64_t slots; /* slots, or 0: no grain sleeps while others of its env move */
    int64_t tools; /* tool_count, or 0 */
} gg_sleep_dims;

/* clang-format off */
#define GG_SLEEP_FIELDS(X)                                                                                             \
    /* by grain id */                                                                                                  \
    X(int32_t, sleep_class, d->sleep.slots, STATE)             /* GG_AWAKE, GG_EDGE, GG_DEEP */                        \
    X(int32_t, quiet, d->sleep.slots, STATE)                   /* quiet substeps in a row, or GG_MUST_WAKE, ... */     \
    X(float, held, d->sleep.slots * 12, STATE)                 /* of GG_EDGE, see solvers/spheres/coloured/asleep.h */ \
    X(int32_t, next_class, d->sleep.slots, SCRATCH)                                                                    \
    X(int32_t, moves, d->sleep.slots, SCRATCH)                 /* while classes are decided: it was not quiet */       \
    /* contacts of two grains asleep, and of such a grain with a tool, by the id of their owner and key */             \
    X(int32_t, kept_count, d->sleep.slots, STATE)                                                                      \
    X(int32_t, kept_key, d->sleep.slots * GG_KEPT, STATE)                                                              \
    X(gg_vec3, kept_impulse, d->sleep.slots * GG_KEPT, STATE)  /* [N s] */                                             \
    X(gg_vec3, kept_torque, d->sleep.slots * GG_KEPT, STATE)   /* rolling torque impulse [N m s] */                    \
    X(double, kept_wrench, d->sleep.tools * 6, STATE)          /* of the kept contacts on a tool, per substep */
/* clang-format on */

#endif
