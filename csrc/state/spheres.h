/* spheres.h: sizes and fields of the law of spheres: rolling and twisting friction, and cohesion, where needed. */
#ifndef GG_STATE_SPHERES_H
#define GG_STATE_SPHERES_H

#include <stdint.h>

typedef struct gg_sphere_dims {
    int64_t roll_rows;     /* contact_rows, or 0 where nothing rolls */
    int64_t cohesive_rows; /* contact_rows, or 0 where no pair is cohesive */
} gg_sphere_dims;

/* clang-format off */
#define GG_SPHERE_FIELDS(X)                                                                                            \
    X(float, roll_a, d->spheres.roll_rows * GG_LANES * 3, STATE)                /* rolling torque impulse [N m s] */   \
    X(float, roll_b, d->spheres.roll_rows * GG_LANES * 3, STATE)                                                       \
    X(float, roll_limit, d->spheres.roll_rows * GG_LANES, SCRATCH)              /* rolling friction times radius [m] */\
    X(float, roll_weight, d->spheres.roll_rows * GG_LANES, SCRATCH)             /* relaxed effective inertia [kg m2] */\
    X(float, attraction, d->spheres.cohesive_rows * GG_LANES, SCRATCH)          /* largest attraction [N s] */         \
    X(float, attraction_range, d->spheres.cohesive_rows * GG_LANES, SCRATCH)    /* attraction ends at this gap [m] */  \
    X(float, twist_limit, d->spheres.cohesive_rows * GG_LANES, SCRATCH)         /* twisting friction times radius [m] */

/* a listed contact, before it is prepared */
#define GG_SPHERE_ALIASES(X)                                                                                           \
    X(float, rolling_friction, roll_limit)                                                                             \
    X(float, cohesion, attraction)                                                                                     \
    X(float, twisting_friction, twist_limit)
/* clang-format on */

#endif
