/* tools.h: dynamic tools: those with a mass, which move as forces and grains make them, and coupled ones, links of a
 * robot that another engine moves. Sizes, fields, scene arrays. One with a mass turns where it has an inertia, too.
 *
 * What has a mass is kept per axis of the world, along which a tool is free or held. A tool follows its targets where its
 * mass is 0 and it is not coupled; a compliant tool has a mass, and a spring and a damper that hold it to its targets.
 * Nothing here exists in worlds without dynamic tools.
 */
#ifndef GG_STATE_TOOLS_H
#define GG_STATE_TOOLS_H

#include "../base/exact.h"
#include "../base/tensor.h"

/* what makes a tool dynamic: part of the scene */
typedef struct gg_tool_mass {
    gg_sym inertia;  /* about its origin, the centre of mass, in its axes [kg m2]; 0: it does not turn */
    float mass;      /* [kg]; 0: the tool follows its targets, or is coupled */
    int32_t coupled; /* 0: it is not. Of a definition 1, of a world 1 + its index among the coupled tools */
    int32_t free[3]; /* 1: it moves along this axis of the world */
    float lower[3];  /* where its origin is stopped [m], +-GG_UNBOUNDED: nowhere */
    float upper[3];
    float stiffness, damping; /* of a compliant tool [N/m], [N s/m]; 0: it has no targets */
} gg_tool_mass;

/* motion of a dynamic tool, in double precision: a heavy one moves by less per substep than a float resolves */
typedef struct gg_tool_body {
    double position[3]; /* of its origin [m]; its pose is this, rounded */
    double velocity[3]; /* [m/s] */
    double force[3];    /* of the caller [N] */
} gg_tool_body;

/* rotation of a tool with an inertia, likewise */
typedef struct gg_tool_turn {
    double rotation[4]; /* w x y z, of its axes; that of its pose is this, rounded */
    double spin[3];     /* angular velocity in the axes of the world [rad/s] */
    double torque[3];   /* of the caller, in the axes of the world [N m] */
} gg_tool_turn;

/* motion of a coupled tool: velocities [m/s] of its origin, then angular ones [rad/s], in the axes of the world */
typedef struct gg_coupled_motion {
    double position[3]; /* of its origin [m]; its pose is this, rounded */
    double rotation[4]; /* w x y z */
    double twist[6];
    double acceleration[6]; /* without grains [m/s2], [rad/s2] */
} gg_coupled_motion;

/* a dynamic tool within a substep */
typedef struct gg_tool_solve {
    double start[6];       /* velocity before contact [m/s], angular velocity [rad/s] */
    double velocity[6];    /* with the impulses of the last iteration, as if nothing stopped it */
    double seen[6];        /* what its contacts see in the next iteration: extrapolated, and stopped */
    double shift[3];       /* position correction [m] */
    float count;           /* of its contacts */
    float count_over_mass; /* [1/kg] */
    float bounce_speed;    /* slower impacts on it do not bounce: the forces on it alone bring it up to this [m/s] */
    float change;          /* of its velocity in the last iteration [m/s] */
    int32_t restless;      /* it is not at rest, see solvers/motion.h */
    int32_t fast, bad;     /* it moved by over half of the smallest radius; it would not be finite */
} gg_tool_solve;

/* sums over the contacts of a block with one dynamic tool: what they take from it */
typedef struct gg_tool_sum {
    gg_exact velocity[3]; /* impulses on the grains over its mass [m/s] */
    gg_exact shift[3];    /* position corrections of the grains, by mass [m] */
    int64_t count;
} gg_tool_sum;

/* sums over the contacts of a block with one coupled tool: impulses on the grains and their moments about its origin */
typedef struct gg_coupled_sum {
    gg_exact impulse[6]; /* [N s], [N m s] */
} gg_coupled_sum;

/* which contacts of a block of tool contacts are with dynamic tools, in order */
typedef struct gg_tool_block {
    int32_t count;
    uint8_t contact[GG_LOAD_BLOCK]; /* from the first of the block on */
} gg_tool_block;

/* all 0 where no tool is dynamic */
typedef struct gg_tool_dims {
    int64_t dynamic;                        /* tool_count */
    int64_t contacts;                       /* tool_contacts */
    int64_t sums;                           /* load_blocks * tool_count */
    int64_t coupled;                        /* coupled tools */
    int64_t compliant;                      /* tool_count where a tool is compliant */
    int64_t turning;                        /* tool_count where a tool has an inertia */
    int64_t coupled_contacts, coupled_sums; /* tool_contacts, load_blocks * coupled; 0 without coupled tools */
} gg_tool_dims;

/* clang-format off */
#define GG_TOOL_FIELDS(X)                                                                                              \
    X(gg_tool_body, tool_body, d->tools.dynamic, STATE)                                                                \
    X(double, tool_anchor, 3 * d->tools.compliant, STATE) /* targets of compliant tools, along their way [m] */        \
    X(gg_tool_turn, tool_turn, d->tools.turning, STATE)                                                                \
    X(gg_coupled_motion, coupled_motion, d->tools.coupled, STATE)                                                      \
    X(double, coupled_response, 36 * d->tools.coupled * d->tools.coupled, STATE) /* twists per impulses, row by row */ \
    X(gg_coupled_sum, coupled_sum, d->tools.coupled_sums, SCRATCH)                                                     \
    X(gg_vec3, coupled_arm, d->tools.coupled_contacts, SCRATCH) /* of a tool contact, from the tool's origin [m] */    \
    X(float, coupled_yield, d->tools.coupled_contacts, SCRATCH) /* how the tool yields there, in any direction [1/kg] */ \
    X(gg_tool_solve, tool_solve, d->tools.dynamic, SCRATCH)                                                            \
    X(gg_tool_sum, tool_sum, d->tools.sums, SCRATCH)                                                                   \
    X(gg_tool_block, tool_block, d->tools.dynamic ? d->load_blocks : 0, SCRATCH)                                       \
    X(int32_t, tool_contact_at, d->tools.contacts, SCRATCH) /* where impulses keep each tool contact */                \
    X(gg_vec3, tool_contact_turn, d->tools.compliant ? d->tools.contacts : 0, SCRATCH) /* velocity there, as it turns */ \
    X(gg_vec3, tool_contact_shift, d->tools.contacts, SCRATCH) /* position correction of its grain, times mass [kg m] */

#define GG_TOOL_SCENE_ARRAYS(X)                                                                                        \
    X(gg_tool_mass, tool_mass, dims->tools.dynamic, NULL) /* of all tools, those of the walls first */
/* clang-format on */

#endif
