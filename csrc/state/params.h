/* params.h: sizes of a world's arrays and the parameters of a step. */
#ifndef GG_PARAMS_H
#define GG_PARAMS_H

#include "bell.h"
#include "clumps.h"
#include "coloured.h"
#include "continuum.h"
#include "env.h"
#include "planar.h"
#include "sleep.h"
#include "spheres.h"
#include "table.h"
#include "tools.h"

/* sizes: all that the lengths of arrays depend on */
typedef struct gg_dims {
    int64_t env_count;
    int64_t grain_count; /* per env */
    int64_t slots, slices, blocks;
    int64_t free_bodies;           /* of grains: each slot has one, of the same index */
    int64_t bodies;                /* these, and the contact points on tools behind them */
    int64_t listed, listed_bodies; /* slots and bodies; 0 where the law has no lists of neighbours */
    int64_t noted;                 /* floats that prediction notes of an env, see gg_before_prediction; or more */
    int64_t tool_contacts, load_blocks;
    int64_t contact_rows; /* rows of GG_LANES contacts */
    int64_t candidate_cap;
    int64_t cells, cell_cursors; /* cell_cursors: cells on a GPU, else 0 */
    int64_t cell_points;         /* slots and one vector of padding on a CPU, else 0 */
    int64_t hash_size, hash_next;
    int64_t material_count, tool_count, part_count;
    int64_t camera_count, pixels; /* pixels of all cameras */
    int64_t seen_pixels;          /* the same once whose surfaces they see was asked for, before 0 */
    gg_sphere_dims spheres;
    gg_coloured_dims coloured;
    gg_clump_dims clumps;
    gg_bell_dims bell;
    gg_table_dims table;
    gg_continuum_dims continuum;
    gg_planar_dims planar;
    gg_tool_dims tools;
    gg_sleep_dims sleep;
} gg_dims;

/* what matter is and how its contacts are solved; each brings its phases and its part of the step, see phases/step.h */
#define GG_LAWS(X) X(spheres) X(coloured) X(clumps) X(bell) X(table) X(continuum) X(planar) X(springs)
typedef enum gg_law {
#define GG_LAW_ENUM(law) GG_LAW_##law,
    GG_LAWS(GG_LAW_ENUM)
#undef GG_LAW_ENUM
} gg_law;
#define GG_LAW_ONE(law) +1
enum { GG_LAW_COUNT = 0 GG_LAWS(GG_LAW_ONE) };
#undef GG_LAW_ONE

/* whether grains meet grains, and so need lists of their neighbours */
GG_FN int gg_law_has_lists(gg_law law) { return law != GG_LAW_continuum; }

/* parameters of one step */
typedef struct gg_params {
    float dt;
    int32_t substeps;
    int32_t iterations;
    int32_t mode;
    int32_t law;      /* gg_law */
    int32_t spin;     /* grains turn */
    int32_t rolling;  /* some pair resists rolling */
    int32_t cohesive; /* some pair attracts, or its twisting friction is not its rolling friction */
    int32_t dynamic;  /* some tool has a mass */
    int32_t nesterov;
    int32_t broad_phase;
    int32_t sleep;           /* envs at rest sleep */
    int32_t grain_sleep;     /* so do grains at rest while others of their env move */
    float relaxation;        /* omega0: largest relaxation of a contact */
    float relaxation_sum;    /* c: bound on the summed relaxation of a grain's contacts, see solvers/spheres/ncp.h */
    float mass_ratio_factor; /* tightens the relaxation of contacts of high mass ratio, see solvers/spheres/ncp.h */
    float roll_relaxation, roll_relaxation_sum;
    float alpha, tool_alpha;               /* share of the overlap removed per substep, by position */
    float correction_max;                  /* largest position correction of one contact per substep [m] */
    float slack;                           /* gaps and overlaps smaller than this count as zero [m] */
    float margin;                          /* speculative distance / diameter */
    float foresight;                       /* dt, or 0: no speculative contacts (paper) */
    float skin;                            /* [m] */
    float bounce_speed;                    /* of gg_solver [m/s] */
    float tolerance;                       /* early exit [m/s], 0: never */
    float mass_min;                        /* of the free grains of all envs, where contacts are springs [kg/m] */
    float stiffness, tangential_stiffness; /* of the springs of solvers/planar/springs.h [N/m] */
    float damping, tangential_damping;     /* twice the damping ratio; tangential over normal damping */
    gg_bell_law bell;                      /* of solvers/spheres/bell/bell.h */
    gg_table_law table;                    /* of solvers/spheres/table/table.h */
    double spacing;                        /* of the nodes of continuous matter [m] */
    double step_bound;                     /* longest stable dt in GG_MODE_EXPLICIT [s]; 0 in other modes */
    int32_t step_material;                 /* whose bound that is */
    float radius_min, radius_max;
    float cohesion_range; /* largest of all envs, or of the law of tables its reach and a pad [m] */
    int32_t size_class_count;
    float size_class_radius[GG_SIZE_CLASSES];       /* largest radius of each class [m] */
    int32_t size_class_candidates[GG_SIZE_CLASSES]; /* candidates a grain of each class may have */
    gg_vec3 lower, upper;                           /* bounds [m] */
    int32_t boundary[3][2];
} gg_params;

/* colours of contacts besides the last one: spheres of similar size touch few others */
GG_FN int32_t gg_colour_limit(const gg_params *p) {
    return p->size_class_count > 1 || p->law == GG_LAW_clumps ? GG_COLOURS - 1 : 23;
}

/* whether a contact is listed by one of its grains alone, see gg_pair_owned */
GG_FN int gg_has_owners(const gg_params *p) { return p->law == GG_LAW_coloured || p->law == GG_LAW_clumps; }

/* Whether the grain `id` lists its contact with the grain `other`: each of a pair about as often as the other. */
GG_FN int gg_pair_owned(const gg_params *p, int32_t id, int32_t other) {
    return !gg_has_owners(p) || ((id < other) ^ ((id + other) & 1));
}

/* whether it shows only while a substep runs how many phases it takes */
GG_FN int gg_is_adaptive(const gg_params *p) {
    return (p->law == GG_LAW_continuum && p->mode != GG_MODE_EXPLICIT) ||
           (p->law == GG_LAW_bell && p->bell.integrator == GG_INTEGRATOR_RKF45);
}

/* whether grains are shapes in the plane z = 0 */
GG_FN int gg_is_planar(const gg_params *p) { return p->law == GG_LAW_planar || p->law == GG_LAW_springs; }

#endif
