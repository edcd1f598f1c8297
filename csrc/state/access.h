/* access.h: the caller's arrays of one call that reads or sets state. */
#ifndef GG_STATE_ACCESS_H
#define GG_STATE_ACCESS_H

#include "../base/base.h"
#include "../geometry/drive.h"
#include "../geometry/paint.h"

/* how grains are counted, see phases/tally.h */
typedef enum gg_tally_kind { GG_TALLY_BOXES = 0, GG_TALLY_CELLS, GG_TALLY_COLUMNS } gg_tally_kind;
/* floats of a box: x y z qw qx qy qz, half sizes */
#define GG_TALLY_BOX 10
/* integer weight of a grain along an axis, distributed over two columns */
#define GG_TALLY_SHARE 1024

typedef struct gg_tally_grid {
    float lower[3];      /* [m] */
    float per_length[3]; /* cells [1/m] */
    int32_t shape[3];
} gg_tally_grid;

/* The caller's arrays of one call, see phases/access.h; NULL where not given. They lie in the world's memory space. */
typedef struct gg_access {
    const int64_t *listed; /* (env_count) index of an env in the list of the call, -1: not listed */
    float *position, *velocity, *angular_velocity; /* (envs, grain_count, 3) */
    float *angle;                                  /* (envs, grain_count) [rad], of planar grains */
    float *radius;                                 /* (env_count, grain_count) */
    int32_t *material;                             /* (env_count, grain_count) */
    double *clump_pose;                            /* (envs, clumps, 7) x y z [m], w x y z of the principal axes */
    double *clump_velocity;                        /* (envs, clumps, 6) [m/s], [rad/s] in world axes */
    double *clump_wrench;                          /* (envs, clumps, 6) of the caller [N], [N m] */
    int32_t keep_impulses;                         /* setting grains leaves stored impulses and `diverged` */
    const float *move;                             /* (envs, 4) translation [m], yaw [rad] */
    float *wrench, *wall_wrench;                   /* (env_count, tool_count of the caller or GG_WALL_COUNT, 6) */
    const float *boxes;                            /* (env_count, box_count, 6) lower, upper [m] */
    int64_t box_count;                             /* boxes of an env */
    int64_t *box_grains;                           /* (env_count, box_count) */
    float *box_distance;                           /* (env_count, box_count) [m] */
    float *metres;                                 /* (env_count, pixel_count) [m] */
    uint8_t *bytes;                                /* (env_count, pixel_count), of colours three for a pixel */
    int32_t *codes;                                /* (env_count, pixel_count), see gg_seen_code */
    gg_paint paint;                                /* its light is unit */
    int64_t pixel_first, pixel_count;              /* of the camera that is read */
    int64_t camera, camera_bands;                  /* that is rendered, and its bands (sensors/depth.h) */
    int32_t camera_whole;                          /* 1: a CPU draws all bands of an image at once */
    int32_t camera_seen;                           /* 1: whose surfaces pixels see is kept */
    int64_t channel_step;                          /* from a byte of a pixel's colour to the next: 1, or pixel_count */
    int32_t far_is_floor;                          /* 1: pixels that read far_depth see the floor */
    float depth_near, depth_far, depth_span;       /* [m] */
    int64_t *tally;                                /* (env_count, tally_bins) */
    int64_t tally_bins, tally_boxes;
    gg_tally_kind tally_kind;
    gg_tally_grid tally_grid;
    const float *tally_box;     /* (env_count, tally_boxes, GG_TALLY_BOX) */
    const uint8_t *tally_label; /* (env_count, grain_count) 0 or not, or NULL */
    gg_drive drive;             /* that moves the tools */
    gg_drive_stroke stroke;
    const float *action;       /* (env_count, action_count) */
    const uint8_t *idle;       /* (env_count) 1: its tools stay and its actions are not read; or NULL */
    const double *drive_state; /* (env_count, state_count) before the control period */
    double *drive_next;        /* the same after it */
    float *drive_poses;        /* (env_count, tool_count, 7) at the end of the step */
    int32_t *drive_fault;      /* (env_count) 1 + the action that is not finite; 0: none */
} gg_access;

#endif
