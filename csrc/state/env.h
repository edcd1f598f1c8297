/* env.h: the bookkeeping of one env, and what a slice or a contact reports to it. */
#ifndef GG_ENV_H
#define GG_ENV_H

#include "settings.h"

/* the most size classes of a broad phase, each with a cell grid of its own */
#define GG_SIZE_CLASSES 4

/* the cell grid of one size class in one env */
typedef struct gg_cell_grid {
    float cell_size[3]; /* [m] */
    int32_t count[3];   /* cells along each axis */
    int32_t folds[3];   /* 1: cells wrap modulo count (periodic, or more cells would be needed than there are) */
    int32_t axis[3];    /* axes from the fastest to the slowest in the order of cells; the longest is slowest */
    int32_t first_cell;
} gg_cell_grid;

/* what contacts that are kept for grains asleep add to the statistics of a substep */
typedef struct gg_kept_stats {
    double overlap_sum;
    float overlap_max;
    int32_t overlap_count, contacts, tool_contacts;
} gg_kept_stats;

/* state of one env's bookkeeping */
typedef struct gg_env {
    gg_vec3 gravity; /* [m/s2] */
    gg_air air;
    float cohesion_range;               /* largest of the env's pairs that attract, see gg_params [m] */
    int32_t uneven;                     /* its grains differ in mass by over GG_EVEN_MASSES */
    float dt_last;                      /* step the stored impulses belong to [s], 0: none stored */
    int32_t rebuild;                    /* lists must be built before the next solve */
    int32_t key_buffer, impulse_buffer; /* half of the double buffer that holds the stored contacts: 0 = a, 1 = b */
    int32_t substeps_done;              /* within the current step */
    int32_t overflow_rows, overflow_tool_contacts, overflow_candidates; /* the capacity that a buffer needed; 0: fits */
    int32_t overflow_blocks, overflow_nodes;
    int32_t overflow_size_class;
    int32_t converged; /* early exit of this substep */
    int32_t inner;     /* continuous matter: the linear solve or the line search goes on */
    int32_t iteration; /* iterations done in this substep */
    int32_t colours; /* of this substep's contacts, the last one not counted: see solvers/spheres/coloured/colours.h */
    int32_t rest;    /* contacts of the last colour */
    /* sleep, see phases/sleep.h */
    int32_t rested;          /* steps in a row in which all grains were at rest, up to GG_REST_STEPS */
    int32_t restless;        /* it was not at rest in a substep of this step */
    int32_t asleep;          /* the env sleeps in this step */
    int32_t wrench_substeps; /* over which the wrenches are summed */
    float wrench_dt;         /* of each of these [s] */
    int32_t live_slices;     /* the first ones, which hold all grains but those deep asleep */
    int32_t live_before;     /* the same before the lists were built in this substep */
    int32_t awake;           /* grains that are awake */
    int32_t some_asleep;     /* not all are */
    int32_t drowsy;          /* of these: quiet for long enough to sleep */
    int32_t moving;          /* of these: not quiet in the last substep */
    int32_t calm;            /* steps in a row without any of these */
    int32_t unsettled;       /* grains moved since the env slept last */
    int32_t drowsy_kept;     /* of these: kept awake by what moves near them, when classes were decided last */
    int32_t watched;         /* it is known which grains a tool may come near in this step: others may fall asleep */
    int32_t roused;          /* all grains wake when the lists are built next */
    int32_t reclassed;       /* classes were decided in this substep */
    int32_t kept_changed;    /* the same since the kept contacts were counted */
    int32_t predicted;       /* the current substep is past its prediction: resume there after a buffer grew */
    int32_t fast_tool;       /* a tool moves by over half of the smallest radius in this substep */
    float bounce_speed;      /* slower impacts do not bounce [m/s] */
    float skin;              /* lists are valid while no grain moved further than half of this [m] */
    float speed_max;         /* of grains and tools at the start of this substep [m/s] */
    float crowd_margin;      /* what many fast grains add to the margin of every contact of grains [m] */
    gg_vec3 origin;          /* of the cell grids [m] */
    gg_cell_grid cell_grid[GG_SIZE_CLASSES];
    gg_env_stats stats;
    gg_kept_stats kept;
} gg_env;

/* whether an env stands still: it is frozen, as a value is not finite, or it sleeps */
GG_FN int gg_env_still(const gg_env *env) { return env->stats.diverged || env->asleep; }

/* partial results of one slice, reduced in slice order */
typedef struct gg_slice_stats {
    float displacement2, speed2; /* largest since the lists were built [m2], [m2/s2] */
    float overlap_max, overlap_sum;
    float residual;
    float energy;
    int32_t overlap_count, bad, fast, escaped;
    int32_t hurried;   /* grains that move far in this substep: GG_HURRY of contact/narrow.h */
    int32_t restless;  /* grains that are not at rest, see solvers/motion.h */
    int32_t disturbed; /* bit 0: a tool that moves in this step may come near a grain; bit 1: near one asleep */
    int32_t drowsy;    /* grains awake that were quiet for long enough to sleep */
    int32_t moving;    /* grains that are not quiet */
    int32_t woken;     /* a grain at the edge of those asleep must wake */
    int32_t unsampled; /* contact sides outside the samples of their table; 0 under another law */
} gg_slice_stats;

/* impulse of one contact on a tool over a substep */
typedef struct gg_tool_load {
    gg_vec3 force;  /* impulse [N s] */
    gg_vec3 torque; /* about the tool's origin [N m s] */
    int32_t tool;
} gg_tool_load;

/* grains in a box: partial sums of one block */
typedef struct gg_box_stats {
    double distance_sum; /* of centres to the box, 0 inside [m] */
    double count;        /* centres inside */
} gg_box_stats;

#endif
