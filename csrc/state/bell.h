/* bell.h: sizes and fields of the law `bell`: clumps whose contacts are forces, in explicit steps. See
 * solvers/spheres/bell/bell.h. */
#ifndef GG_STATE_BELL_H
#define GG_STATE_BELL_H

#include "tools.h"

/* all 0 under another law */
typedef struct gg_bell_dims {
    int64_t envs, count, slots; /* 1, clumps, slots */
    int64_t tools, touches;     /* tool_count, tool_contacts */
    int64_t adaptive, loads;    /* count and touches where steps are adaptive, else 0 */
} gg_bell_dims;

/* constants of the law, see gg_solver */
typedef struct gg_bell_law {
    double modulus, stiffness;
    double damping, sliding;
    int32_t damping_quarters, stiffness_quarters; /* the exponents a and b, in quarters */
    int32_t integrator;                           /* gg_integrator */
} gg_bell_law;

/* how far an env is */
typedef struct gg_bell_env {
    double step;      /* adaptive steps: the next one [s]; 0: none yet */
    double done;      /* of the substep [s] */
    double trial;     /* the step that is tried [s] */
    double taken;     /* the step that was tried last [s] */
    int32_t known;    /* bell_force is the force of the present state, unless grains were set since */
    int32_t accepted; /* the step is taken */
    int32_t lost;     /* no step of the env is finite */
    int32_t spare;
} gg_bell_env;

/* a sphere at the moment for which forces are found */
typedef struct gg_bell_sphere {
    double center[3];   /* [m] */
    double velocity[3]; /* of its centre [m/s] */
    double spin[3];     /* [rad/s] */
    double arm[3];      /* from the centre of mass of its clump [m] */
} gg_bell_sphere;

/* rates of position, rotation, velocity and angular momentum over density of a clump in a stage of a step */
typedef struct gg_bell_slope {
    double of[13];
} gg_bell_slope;

/* what contacts do to a sphere or a clump */
typedef struct gg_bell_push {
    double force[3];  /* [N] */
    double torque[3]; /* about the centre of mass of the clump [N m] */
} gg_bell_push;

/* clang-format off */
#define GG_BELL_FIELDS(X)                                                                                              \
    X(gg_bell_env, bell_env, d->bell.envs, STATE)                                                                      \
    X(gg_bell_push, bell_force, d->bell.count, STATE)          /* on a clump at the end of the last substep */         \
    X(double, bell_wrench, d->bell.tools * 6, STATE)           /* half of the impulse of such forces on a tool */      \
    X(gg_clump_motion, bell_trial, d->bell.count, SCRATCH)     /* a clump within the substep; force: acceleration */   \
                                                               /* but by contacts [m/s2] */                            \
    X(gg_bell_sphere, bell_sphere, d->bell.slots, SCRATCH)     /* by slot */                                           \
    X(gg_bell_push, bell_push, d->bell.slots, SCRATCH)         /* by grain id */                                       \
    X(gg_vec4, bell_overlap, d->bell.slots, SCRATCH)           /* by slot: deepest, sum, number */                     \
    X(gg_bell_slope, bell_slope, d->bell.adaptive * 6, SCRATCH)                                                        \
    X(double, bell_error, d->bell.adaptive, SCRATCH)           /* of a clump in the step that is tried [m/s] */        \
    X(gg_tool_load, bell_load, d->bell.loads, SCRATCH)         /* of that step */                                      \
    X(int32_t, bell_part, d->bell.touches, SCRATCH)            /* part of a contact with a tool */
/* clang-format on */

#endif
