/* settings.h: what a user sets or reads of a world as plain data: boundaries, materials, air, modes, counters. */
#ifndef GG_SETTINGS_H
#define GG_SETTINGS_H

#include "../base/vec.h"

/* boundary condition at the two faces of an axis */
typedef enum gg_boundary {
    GG_BOUNDARY_OPEN = 0, /* grains leave and are counted as escaped */
    GG_BOUNDARY_WALL,     /* a plane tool closes the face */
    GG_BOUNDARY_CYCLIC,   /* carried to the other face with the same velocity; no contact across (GranularGym, III.B) */
    GG_BOUNDARY_PERIODIC  /* carried to the other face, contacts across */
} gg_boundary;

/* contact parameters of a pair of materials */
typedef struct gg_pair {
    float friction;          /* Coulomb coefficient of sliding */
    float restitution;       /* normal velocity after / before */
    float rolling_friction;  /* rolling torque over normal force and effective radius */
    float twisting_friction; /* torque about the normal over the same */
    float cohesion;          /* largest attraction over effective radius [N/m] */
    float cohesion_range;    /* surfaces this far apart attract no more [m] */
} gg_pair;

/* the air: no drag where density and viscosity are 0, Stokes' drag where the density is 0 */
typedef struct gg_air {
    float density;   /* [kg/m3] */
    float viscosity; /* [Pa s] */
    gg_vec3 wind;    /* velocity of the air [m/s] */
} gg_air;

typedef enum gg_mode {
    GG_MODE_GAUSS_SEIDEL = 0, /* spheres: contacts in turn, by colours: solvers/spheres/coloured/coloured.h */
    GG_MODE_JACOBI,           /* all contacts at once: solvers/spheres/ncp.h, solvers/planar/planar.h */
    GG_MODE_PAPER,            /* GranularGym (2023), Algorithm 1 as printed: impulses are added, never taken back */
    GG_MODE_PENALTY,          /* planar grains: springs in explicit steps, solvers/planar/springs.h */
    GG_MODE_BELL,             /* spheres and clumps: forces in explicit steps, solvers/spheres/bell/bell.h */
    GG_MODE_EXPLICIT,         /* continuous matter in explicit steps, solvers/continuum/explicit.h */
    GG_MODE_TABLE             /* spheres: forces read from tables, in explicit steps, solvers/spheres/table/table.h */
} gg_mode;

/* how GG_MODE_BELL goes on in time */
typedef enum gg_integrator {
    GG_INTEGRATOR_VERLET = 0, /* velocity Verlet */
    GG_INTEGRATOR_RKF45       /* Runge-Kutta-Fehlberg 4(5), adaptive */
} gg_integrator;

/* whether impulses are accumulated and kept from substep to substep, so that the solve converges */
GG_FN int gg_mode_converges(int32_t mode) { return mode == GG_MODE_GAUSS_SEIDEL || mode == GG_MODE_JACOBI; }

/* whether contacts are listed that may close within a substep */
GG_FN int gg_mode_foresees(int32_t mode) {
    return gg_mode_converges(mode) || mode == GG_MODE_BELL || mode == GG_MODE_EXPLICIT;
}

typedef enum gg_broad_phase {
    GG_BROAD_CELLS = 0,  /* grains sorted by cell */
    GG_BROAD_LINKED_HASH /* GranularGym (2023), equation 6 and Algorithm 2 */
} gg_broad_phase;

#define GG_MAX_ITERATIONS 1024
/* largest skin of a solver, over the smallest diameter */
#define GG_SKIN_MAX 1.0f
/* substeps that lists of fast grains last, at most */
#define GG_SKIN_SUBSTEPS 3

/* counters of one env over one step; X(type, name) */
/* clang-format off */
#define GG_ENV_STATS(X)                                                                                              \
    X(double, overlap_sum)         /* of overlap / smaller diameter, over contacts that overlap, last substep     */ \
    X(double, kinetic_energy)      /* [J], after the last substep                                                 */ \
    X(float, overlap_max)          /* deepest overlap / smaller diameter over all substeps                        */ \
    X(float, overlap_max_last)     /* the same in the last substep                                                */ \
    X(float, residual)             /* largest change of velocity in the last iteration [m/s], worst substep       */ \
    X(float, speed_max)            /* [m/s]                                                                       */ \
    X(float, asleep_share)         /* share of the grains that slept                                              */ \
    X(int64_t, overlap_count)      /* contact sides that overlap, last substep                                    */ \
    X(int32_t, contact_count)      /* contact sides of grains, last substep                                       */ \
    X(int32_t, tool_contact_count) /* contacts of grains and tools                                                */ \
    X(int32_t, escaped_count)      /* grains wholly outside the bounds, also in a wall, after the last substep    */ \
    X(int32_t, fast_count)         /* grain-substeps of more than half a radius: walls may fail to hold them      */ \
    X(int32_t, fast_tool_count)    /* substeps in which a tool moved by more than half of the smallest radius     */ \
    X(int32_t, rebuild_count)      /* list builds                                                                 */ \
    X(int32_t, iteration_count)    /* solver iterations, all substeps                                             */ \
    X(int32_t, step_count)         /* time steps of an explicit integrator                                        */ \
    X(int32_t, rejected_count)     /* time steps that it took back and tried anew                                 */ \
    X(double, cost)                /* continuous matter: the objective of the last substep at its minimum [J]     */ \
    X(int32_t, linear_count)       /* iterations of the linear solves of its Newton steps                         */ \
    X(int32_t, search_count)       /* lengths that their line searches tried                                      */ \
    X(int32_t, unsolved_count)     /* substeps whose gradient stayed above its bound                              */ \
    X(int32_t, unsampled_count)    /* contact sides deeper or faster than their table was sampled, all substeps    */ \
    X(int32_t, growth_count)       /* times a buffer had to grow                                                  */ \
    X(int32_t, diverged)           /* 1: a value would not be finite; the env is frozen until its grains are set  */
/* clang-format on */
typedef struct gg_env_stats {
#define GG_ENV_STATS_MEMBER(type, name) type name;
    GG_ENV_STATS(GG_ENV_STATS_MEMBER)
#undef GG_ENV_STATS_MEMBER
} gg_env_stats;

#endif
