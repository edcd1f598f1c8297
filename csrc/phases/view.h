/* view.h: what a phase sees: the sizes of a world, its parameters and pointers to all of its arrays.
 *
 * A view is plain data. It is the only argument of every phase, on every backend.
 */
#ifndef GG_VIEW_H
#define GG_VIEW_H

#include "../base/vec.h"
#include "../contact/pair_field.h"
#include "../geometry/outline.h"
#include "../geometry/shape.h"
#include "../sensors/camera.h"
#include "fields.h"

/* aligned, so that a GPU moves it in one piece */
typedef struct gg_vec4 {
    GG_ALIGNED(16) float x;
    float y, z, w;
} gg_vec4;

/* nvcc keeps aligned pieces whole where it loads them; where some callers store them it must be told */
#ifdef __CUDA_ARCH__
#define GG_STORE_VEC4(to, a) __stwb((float4 *)(to), make_float4((a).x, (a).y, (a).z, (a).w))
#else
#define GG_STORE_VEC4(to, a) (*(to) = (a))
#endif

/* A velocity row and a copy of it. It moves in aligned pieces: a GPU gathers it with two loads, not eight. */
GG_FN void gg_body_load(const float *row, float out[GG_BODY]) {
    for (int k = 0; k < GG_BODY; k += 4) {
        gg_vec4 four = *(const gg_vec4 *)(row + k);
        out[k] = four.x;
        out[k + 1] = four.y;
        out[k + 2] = four.z;
        out[k + 3] = four.w;
    }
}
GG_FN void gg_body_store(float *row, const float in[GG_BODY]) {
    for (int k = 0; k < GG_BODY; k += 4) {
        gg_vec4 four = {in[k], in[k + 1], in[k + 2], in[k + 3]};
        GG_STORE_VEC4((gg_vec4 *)(row + k), four);
    }
}

/* what happens at the two faces of an axis */
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

/* what grains fly through: off where density and viscosity are 0, Stokes' drag where the density is 0 */
typedef struct gg_air {
    float density;   /* [kg/m3] */
    float viscosity; /* [Pa s] */
    gg_vec3 wind;    /* velocity of the air [m/s] */
} gg_air;

/* the most size classes a broad phase tells apart, each with cells of its own size */
#define GG_SIZE_CLASSES 4

/* the cell grid of one size class in one env */
typedef struct gg_cell_grid {
    float cell_size[3]; /* [m] */
    int32_t count[3];   /* cells along each axis */
    int32_t folds[3];   /* 1: coordinates fold modulo count (periodic, or too far apart to give each place a cell) */
    int32_t axis[3];    /* axes from the fastest to the slowest in the order of cells; the longest is slowest */
    int32_t first_cell;
} gg_cell_grid;

/* read-out of one env over one step; the order is that of GG_STATS in gg.h */
typedef struct gg_env_stats {
    double overlap_sum;     /* of overlap / smaller diameter, over contacts that overlap, last substep */
    double kinetic_energy;  /* [J], after the last substep */
    float overlap_max;      /* deepest overlap / smaller diameter over all substeps */
    float overlap_max_last; /* the same in the last substep */
    float residual;         /* largest change of velocity in the last iteration [m/s], worst substep */
    float speed_max;        /* [m/s] */
    int64_t overlap_count;  /* contact sides that overlap, last substep */
    int32_t contact_count;  /* contact sides of grains, last substep */
    int32_t tool_contact_count;
    int32_t escaped_count; /* grains outside the bounds now */
    int32_t fast_count;    /* grain-substeps that moved over half a radius: beyond it walls are not promised to hold */
    int32_t fast_tool_count; /* substeps in which a tool moved over half of the smallest radius */
    int32_t rebuild_count;   /* list builds */
    int32_t iteration_count; /* solver iterations, all substeps */
    int32_t growth_count;    /* times a buffer had to grow */
    int32_t diverged;        /* 1: a position or velocity stopped being finite; the env is frozen until reset */
} gg_env_stats;

/* state of one env's bookkeeping */
typedef struct gg_env {
    gg_vec3 gravity; /* [m/s2] */
    gg_air air;
    float cohesion_range;               /* largest of the env's pairs that attract [m] */
    float dt_last;                      /* step the stored impulses belong to [s], 0: none stored */
    int32_t rebuild;                    /* lists must be built before the next solve */
    int32_t key_buffer, impulse_buffer; /* which half of the ping-pong holds the stored contacts: 0 = a, 1 = b */
    int32_t substeps_done;              /* within the current step */
    int32_t overflow_rows, overflow_tool_contacts,
        overflow_candidates; /* what a buffer would have had to hold; 0: fits */
    int32_t overflow_size_class;
    int32_t converged;  /* early exit of this substep */
    int32_t iteration;  /* iterations done in this substep */
    int32_t predicted;  /* the current substep is past its prediction: go on from there after a buffer grew */
    int32_t fast_tool;  /* a tool moves by over half of the smallest radius in this substep */
    float bounce_speed; /* slower impacts do not bounce [m/s] */
    float skin;         /* lists hold while no grain moved further than half of this [m] */
    float speed_max;    /* of grains and tools at the start of this substep [m/s] */
    gg_vec3 origin;     /* of the cell grids [m] */
    gg_cell_grid cell_grid[GG_SIZE_CLASSES];
    gg_env_stats stats;
} gg_env;

/* partial results of one slice, reduced in slice order */
typedef struct gg_slice_stats {
    float displacement2, speed2; /* largest since the lists were built [m2], [m2/s2] */
    float overlap_max, overlap_sum;
    float residual;
    float energy;
    int32_t overlap_count, bad, fast, escaped;
} gg_slice_stats;

/* what one contact did to a tool within a substep */
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

/* one row of contact of two planar grains, see solvers/planar.h: a is the first of their field, b the second */
typedef struct gg_manifold_point {
    float gap;                    /* [m] */
    float nx, ny;                 /* normal from a to b, world */
    float cn_a, cn_b, ct_a, ct_b; /* arms over circumradius */
    int32_t which;                /* the same row from substep to substep */
} gg_manifold_point;

typedef struct gg_manifold {
    int32_t count;
    int32_t swapped; /* 1: the grain beside whose candidates this stands is b */
    gg_manifold_point row[3];
} gg_manifold;

/* sizes; everything an array's length depends on */
typedef struct gg_dims {
    int64_t env_count;
    int64_t grain_count; /* per env */
    int64_t slots, slices, blocks;
    int64_t bodies; /* slots + tool contact rows */
    int64_t tool_contacts, load_blocks;
    int64_t contact_rows;  /* rows of GG_LANES contacts */
    int64_t roll_rows;     /* contact_rows, or 0 where nothing rolls */
    int64_t cohesive_rows; /* contact_rows, or 0 where no pair is cohesive */
    int64_t candidate_cap;
    int64_t cells, cell_cursors; /* cell_cursors: cells on a GPU, else 0 */
    int64_t cell_points;         /* slots and one vector of padding on a CPU, else 0 */
    int64_t hash_size, hash_next;
    int64_t material_count, tool_count, part_count;
    int64_t camera_count, pixels, bands;          /* pixels and bands (sensors/depth.h) of all cameras */
    int64_t outline_count;                        /* shapes of planar grains; 0: grains are spheres */
    int64_t outline_points;                       /* of all outlines */
    int64_t planar_slots, manifolds, planar_rows; /* slots, candidate_cap, contact_rows, or 0 for spheres */
} gg_dims;

typedef enum gg_mode {
    GG_MODE_CONVERGENT = 0, /* accumulated, warm-started, Nesterov */
    GG_MODE_PAPER,          /* GranularGym (2023), Algorithm 1 as printed: impulses are added, never taken back */
    GG_MODE_PENALTY         /* planar grains: springs in explicit steps, solvers/penalty.h */
} gg_mode;

typedef enum gg_broad_phase {
    GG_BROAD_CELLS = 0,  /* grains sorted by cell */
    GG_BROAD_LINKED_HASH /* GranularGym (2023), equation 6 and Algorithm 2 */
} gg_broad_phase;

#define GG_MAX_ITERATIONS 1024

/* parameters of one step */
typedef struct gg_params {
    float dt;
    int32_t substeps;
    int32_t iterations;
    int32_t mode;
    int32_t planar;   /* grains are shapes in the plane z = 0 */
    int32_t spin;     /* grains turn */
    int32_t rolling;  /* some pair resists rolling */
    int32_t cohesive; /* some pair attracts, or resists twisting otherwise than rolling */
    int32_t nesterov;
    int32_t broad_phase;
    float relaxation;     /* omega0: largest relaxation of a contact */
    float relaxation_sum; /* c: bound on the summed relaxation of a grain's contacts, see solvers/ncp.h */
    float
        mass_ratio_factor; /* how much more the more crowded side of a contact counts where the other is heavy or a tool */
    float roll_relaxation, roll_relaxation_sum;
    float alpha, tool_alpha;               /* share of the overlap removed per substep, by position */
    float correction_max;                  /* the most that one contact is moved apart per substep [m] */
    float slack;                           /* gaps and overlaps smaller than this are taken for none [m] */
    float margin;                          /* speculative distance / diameter */
    float foresight;                       /* dt, or 0: contacts are not foreseen (paper) */
    float skin;                            /* [m] */
    float bounce_speed;                    /* of gg_solver [m/s] */
    float tolerance;                       /* early exit [m/s], 0: never */
    float mass_min;                        /* of the free grains of all envs, where contacts are springs [kg/m] */
    float stiffness, tangential_stiffness; /* of the springs of penalty.h [N/m] */
    float damping, tangential_damping;     /* twice the share of the critical damping; tangential over normal damping */
    float radius_min, radius_max;
    float cohesion_range; /* largest of all envs [m] */
    int32_t size_class_count;
    float size_class_radius[GG_SIZE_CLASSES];       /* largest radius of each class [m] */
    int32_t size_class_candidates[GG_SIZE_CLASSES]; /* candidates a grain of each class may have */
    gg_vec3 lower, upper;                           /* bounds [m] */
    int32_t boundary[3][2];
} gg_params;

/* how grains are counted, see tally.h */
typedef enum gg_tally_kind { GG_TALLY_BOXES = 0, GG_TALLY_CELLS, GG_TALLY_COLUMNS } gg_tally_kind;
/* floats of a box: x y z qw qx qy qz, half sizes */
#define GG_TALLY_BOX 10
/* parts of a grain along an axis that columns share */
#define GG_TALLY_SHARE 1024

typedef struct gg_tally_grid {
    float lower[3];      /* [m] */
    float per_length[3]; /* cells [1/m] */
    int32_t shape[3];
} gg_tally_grid;

/* The caller's arrays of one call that reads or sets, see access.h; NULL where not asked for. They lie where the world
 * runs. */
typedef struct gg_access {
    const int64_t *listed;                         /* (env_count) index of an env in the caller's list, -1 */
    float *position, *velocity, *angular_velocity; /* (envs, grain_count, 3) */
    float *angle;                                  /* (envs, grain_count) [rad], of planar grains */
    float *radius;                                 /* (env_count, grain_count) */
    int32_t *material;                             /* (env_count, grain_count) */
    const float *move;                             /* (envs, 4) shift [m], yaw [rad] */
    float *wrench, *wall_wrench;                   /* (env_count, tool_count of the caller or GG_WALL_COUNT, 6) */
    double duration;                               /* of the last step [s] */
    const float *boxes;                            /* (env_count, box_count, 6) lower, upper [m] */
    int64_t box_count;                             /* boxes of an env */
    int64_t *box_grains;                           /* (env_count, box_count) */
    float *box_distance;                           /* (env_count, box_count) [m] */
    float *metres;                                 /* (env_count, pixel_count) [m] */
    uint8_t *bytes;                                /* (env_count, pixel_count) */
    int64_t pixel_first, pixel_count;              /* of the camera that is read */
    float depth_near, depth_far, depth_span;       /* [m] */
    int64_t *tally;                                /* (env_count, tally_bins) */
    int64_t tally_bins, tally_boxes;
    gg_tally_kind tally_kind;
    gg_tally_grid tally_grid;
    const float *tally_box;     /* (env_count, tally_boxes, GG_TALLY_BOX) */
    const uint8_t *tally_label; /* (env_count, grain_count) 0 or not, or NULL */
} gg_access;

typedef struct gg_view {
    gg_dims dims;
    gg_params params;
    const gg_shape *parts;
    const gg_sdf_grid *grids;
    const float *samples;
    const gg_camera *cameras;
    const gg_outline *outlines;            /* (outline_count) */
    const gg_outline_point *outline_point; /* (outline_points) */
    const gg_pair_field *pair_fields;      /* (outline_count, outline_count), where the first is not the larger */
    const void *pair_data;                 /* what the fields point into */
    const int32_t *material_outline;       /* (material_count) shape of the grains of a material */
    const int32_t *material_fixed;         /* (material_count) 1: its grains move as they were told to */
    const float *beta;                     /* (GG_MAX_ITERATIONS) Nesterov's sequence */
    const float *tool_targets;             /* (env_count, tool_count, 7) x y z qw qx qy qz, or NULL: stay */
    gg_access access;
#define GG_FIELD_POINTER(type, name, count, keep) type *name;
    GG_FIELDS(GG_FIELD_POINTER)
#undef GG_FIELD_POINTER
} gg_view;

/* element counts per env, by field */
typedef enum gg_field_id {
#define GG_FIELD_ENUM(type, name, count, keep) GG_FIELD_##name,
    GG_FIELDS(GG_FIELD_ENUM)
#undef GG_FIELD_ENUM
        GG_FIELD_COUNT
} gg_field_id;

#endif
