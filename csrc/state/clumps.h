/* clumps.h: sizes, fields and scene arrays of the law `clumps`: rigid unions of spheres. See
 * solvers/spheres/clumps/clumps.h. */
#ifndef GG_STATE_CLUMPS_H
#define GG_STATE_CLUMPS_H

#include "../base/vec.h"

/* what never changes of a clump; times a density: mass and inertia */
typedef struct gg_clump_shape {
    double volume;    /* [m3] */
    double moment[3]; /* principal moments of inertia over density [m5] */
    float radius;     /* of the ball about the centre of mass that holds it [m]: turns spins into speeds */
    int32_t material; /* of all its grains */
    int32_t lone;     /* a sphere with the inertia of one; set by the world */
    int32_t surface;  /* tool that is its surface: what grains meet instead of its spheres; -1: none */
    double frame[4];  /* w x y z: from the axes of that tool to the principal ones */
} gg_clump_shape;

/* motion of a clump, in double precision: what a substep changes is less than a float resolves */
typedef struct gg_clump_motion {
    double position[3]; /* of the centre of mass [m] */
    double rotation[4]; /* w x y z, of the principal axes */
    double velocity[3]; /* [m/s] */
    double spin[3];     /* angular velocity in the axes of the world [rad/s] */
    double force[3];    /* of the caller, at the centre of mass [N] */
    double torque[3];   /* of the caller, in the axes of the world [N m] */
} gg_clump_motion;

/* all 0 under another law */
typedef struct gg_clump_dims {
    int64_t count;               /* clumps of an env; a lone sphere is one, too */
    int64_t lone;                /* whether there are lone spheres among them */
    int64_t surfaces;            /* whether tools are surfaces of some */
    int64_t slots, bodies, rows; /* slots, bodies, contact_rows */
} gg_clump_dims;

/* clang-format off */
#define GG_CLUMP_FIELDS(X)                                                                                             \
    X(gg_clump_motion, clump_motion, d->clumps.count, STATE)                                                           \
    X(gg_vec4, clump_arm, d->clumps.slots, SCRATCH)              /* by grain id: from the centre of its clump [m] */   \
    X(gg_vec4, clump_turn, d->clumps.slots, SCRATCH)             /* by lead: position correction of the rotation, */   \
                                                                 /* times radius [m]; number of contacts */            \
    X(gg_vec4, clump_note, d->clumps.slots, SCRATCH)             /* by slot: energy [J], displacement^2 [m2], flaw */  \
    X(float, clump_inertia, d->clumps.bodies * GG_BODY, SCRATCH) /* radius^2 / inertia: xx yy zz xy xz yz [1/kg]; */   \
                                                                 /* the one about any axis, else -1 */                 \
    X(int32_t, first_lead, d->clumps.rows * GG_LANES, SCRATCH)   /* of a record: body of the owner's clump */          \
    X(int32_t, other_lead, d->clumps.rows * GG_LANES, SCRATCH)   /* and of the other side */                           \
    X(float, clump_lever, d->clumps.rows * GG_LANES * 6, SCRATCH) /* arms of both sides over their radii */            \
    X(float, clump_spread, d->clumps.rows * GG_LANES * 2, SCRATCH) /* and what clump_inertia has in the seventh place */ \
    X(float, tangent_mass, d->clumps.rows * GG_LANES, SCRATCH)   /* relaxed, of the plane of the contact [kg] */         \

#define GG_CLUMP_SCENE_ARRAYS(X)                                                                                       \
    X(gg_clump_shape, clump_shape, dims->clumps.count, def->clumps.shape)                                              \
    X(int32_t, clump_first, dims->clumps.count ? dims->clumps.count + 1 : 0, def->clumps.first) /* its grain ids */    \
    X(int32_t, clump_of, dims->clumps.count ? dims->grain_count : 0, NULL) /* clump of a grain id */                   \
    X(int32_t, tool_clump, dims->clumps.surfaces ? dims->tool_count : 0, NULL) /* that a tool is the surface of; -1 */ \
    X(gg_vec3, clump_offset, dims->clumps.count ? dims->grain_count : 0, def->clumps.offset) /* in its axes [m] */
/* clang-format on */

#endif
