/* gg.h: the public C interface of the engine. Usable without Python.
 *
 * A world holds env_count isolated copies of one scene. It is created from plain structs, stepped, read and destroyed.
 * Nothing here prints, exits or keeps a pointer of the caller's. One world may be used by one thread at a time.
 *
 * Units are SI: m, kg, s, N, rad. z is up. Quaternions are w x y z. Arrays are C-contiguous; grains are in order of
 * their ids. An `envs` argument lists env indices, env_listed of them; NULL means all envs, and env_listed is then not
 * read.
 *
 * Errors. A call that can fail returns a gg_status and leaves a message behind gg_world_message that names the
 * argument, what was expected and what came. Any call may return GG_ERROR_ARGUMENT, for a value outside what its
 * documentation allows: nothing has changed then. On a GPU any call may return GG_ERROR_BACKEND, where the device
 * failed, and GG_ERROR_MEMORY, where its memory ran out. Further errors are documented with the call.
 */
#ifndef GG_H
#define GG_H

#include <stddef.h>
#include <stdint.h>

#include "backend/device.h"
#include "base/status.h"
#include "geometry/camera.h"
#include "geometry/drive.h"
#include "geometry/mesh_sdf.h"
#include "geometry/outline.h"
#include "geometry/paint.h"
#include "geometry/pair_field.h"
#include "geometry/picture.h"
#include "phases/names.h"
#include "sensors/png.h"
#include "state/clumps.h"
#include "state/continuum.h"
#include "state/settings.h"
#include "state/table.h"
#include "state/tools.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GG_VERSION "0.1.0"

/* how contacts are solved; gg_solver_default() gives the values in brackets */
typedef struct gg_solver {
    int32_t mode;         /* gg_mode [GG_MODE_GAUSS_SEIDEL]; planar grains need another */
    int32_t iterations;   /* [10], 1 .. GG_MAX_ITERATIONS */
    int32_t nesterov;     /* accelerate [1] */
    int32_t spin;         /* grains rotate [1]; 0: the point grains of GranularGym (2023) */
    int32_t broad_phase;  /* gg_broad_phase [GG_BROAD_CELLS] */
    float alpha;          /* share of the overlap of two grains removed per substep [0.8] */
    float tool_alpha;     /* the same against tools [0.5] */
    float relaxation;     /* largest relaxation factor of one contact; 0: safe value by mode [0] */
    float relaxation_sum; /* bound on the summed relaxation of one grain's contacts; 0: safe value by mode [0] */
    float margin;         /* gap up to which a contact is speculative, over the smaller diameter [0.02] */
    float skin;           /* Verlet skin over the smallest diameter: lists hold until a grain moved half of it [0.15] */
    float bounce_speed;   /* impacts slower than max(this, 3 g dt) do not bounce [0.05 m/s] */
    float correction_share; /* largest position correction of a contact per substep, over the smallest radius [0.2] */
    float tolerance;        /* stop iterating once no velocity changes by more than this [0: never, m/s] */
    float hash_ratio;       /* buckets of the linked hash per grain; fixed when the world is built [2] */
    int32_t sleep;          /* an env at rest that no moving tool comes near is left as it is [0] */
    /* of GG_MODE_PENALTY, see solvers/planar/springs.h */
    float stiffness;            /* of a contact [0: must be given, N/m] */
    float tangential_stiffness; /* over stiffness [0.5] */
    float damping;              /* over the critical damping of a contact [0.5] */
    float tangential_damping;   /* over the damping along the normal [0.5] */
    /* of GG_MODE_BELL, see solvers/spheres/bell/bell.h; a modulus or a stiffness must be given */
    int32_t integrator;              /* gg_integrator [GG_INTEGRATOR_VERLET] */
    float bell_modulus;              /* effective modulus of two grains, or of a grain and a tool [0, Pa] */
    float bell_stiffness;            /* k_r of every contact in its place [0, N/m^b] */
    float bell_damping;              /* k_d [0, N s/m^(1 + a)] */
    float bell_sliding;              /* k_t [0, N s/m] */
    int32_t bell_damping_quarters;   /* the exponent a in quarters [2], 0 .. 16 */
    int32_t bell_stiffness_quarters; /* the exponent b in quarters [6], 4 .. 16 */
} gg_solver;

/* What the law of planar grains needs: shapes in the plane z = 0, and the pair fields of every two of them
 * (solvers/planar/planar.h). `radius` of a grain is then the circumradius of its outline, `density` is per area
 * [kg/m2], and all z are 0. */
typedef struct gg_planar_def {
    int32_t outline_count;                 /* 0: grains are spheres; at most 256 */
    const gg_outline *outline;             /* (outline_count) */
    const gg_outline_point *outline_point; /* (outline_point_count) of all outlines */
    int64_t outline_point_count;
    const gg_pair_field *pair_field; /* (outline_count, outline_count); used where row <= column */
    const void *pair_data;           /* (pair_data_size) bytes that the fields point into */
    int64_t pair_data_size;
    const int32_t *material_outline; /* (material_count) outline of the grains of a material */
    const float *angle;              /* (grain_count) [rad] or NULL: 0 */
} gg_planar_def;

/* What the law of clumps needs: grains are then spheres of rigid unions (solvers/spheres/clumps/clumps.h). Those of a
 * clump follow one another; every grain is of a clump, a lone one of a clump of its own. Positions and velocities of the
 * grains follow from those of their clumps. */
typedef struct gg_clump_def {
    int64_t count;               /* 0: grains are lone spheres */
    const gg_clump_shape *shape; /* (count) */
    const int32_t *first;        /* (count + 1) id of its first grain; the last one: grain_count */
    const gg_vec3 *offset;       /* (grain_count) centre of the sphere in the principal axes of its clump [m] */
    const double *pose;          /* (count, 7) centre of mass [m] and w x y z of the principal axes */
    const double *velocity;      /* (count, 6) [m/s], angular velocity in the axes of the world [rad/s] */
} gg_clump_def;

/* What the law of continuous matter needs: grains are then particles of it (solvers/continuum/continuum.h), spheres of
 * their share of the volume. They meet tools and walls, and each other as the matter they are. */
typedef struct gg_continuum_def {
    double spacing;                        /* of the nodes of the grid [m]; 0: grains are grains */
    const gg_continuum_material *material; /* (material_count); bulk 0: of no particle */
} gg_continuum_def;

/* What the law of tables needs (solvers/spheres/table/table.h). */
typedef struct gg_table_def {
    int32_t count;         /* 0: another law */
    const gg_table *table; /* (count) */
    const float *node;     /* (node_count) of all axes [m], [m/s] */
    int64_t node_count;
    const float *sample; /* (sample_count, 2) normal and tangential forces [N] */
    int64_t sample_count;
    const int32_t *of; /* (material_count, material_count + 1, 2) table of a material and another one, or, last, a tool;
                           free, and bonded; -1: they do not act on each other. Symmetric, no tool is bonded */
    int32_t at_contact; /* of gg_table_law */
} gg_table_def;

/* pairs of grains that are bonded, each listed by both */
typedef struct gg_bond_def {
    int64_t count;        /* twice their number; 0: none */
    const int32_t *first; /* (grain_count + 1) where those of a grain begin */
    const int32_t *other; /* (count) ids, rising within those of a grain */
    const float *length;  /* (count) at rest [m] */
} gg_bond_def;

/* what a world is built from; all arrays are copied */
typedef struct gg_world_def {
    int64_t env_count, grain_count; /* grains per env; 0 is allowed */
    gg_vec3 lower, upper;           /* bounds [m] */
    int32_t boundary[3][2]; /* gg_boundary of the lower and upper face of each axis; cyclic and periodic in pairs */
    int32_t wall_material;
    gg_vec3 gravity; /* [m/s2] */
    gg_air air;      /* zero: none */
    int32_t material_count;
    const float *density;          /* (material_count) [kg/m3] */
    const gg_pair *pair;           /* (material_count, material_count), symmetric */
    const int32_t *material_fixed; /* (material_count) 1: its grains keep their velocity; NULL: 0 */
    const float *position;         /* (grain_count, 3) [m] */
    const float *velocity;         /* (grain_count, 3) [m/s] or NULL: 0 */
    const float *radius;           /* (grain_count) [m] */
    const int32_t *grain_material; /* (grain_count) */
    int32_t tool_count, part_count, grid_count, camera_count;
    const gg_pose *tool_pose;      /* (tool_count) at the start */
    const gg_tool_mass *tool_mass; /* (tool_count) or NULL: all follow their targets */
    const gg_shape *part;          /* (part_count) */
    const gg_sdf_grid *grid; /* (grid_count); samples on the faces of a box: the largest diameter or more, see sdf.h */
    const float *sample;     /* (sample_count) of all grids [m] */
    int64_t sample_count;
    const gg_camera *camera;    /* (camera_count); the world computes first_pixel */
    gg_planar_def planar;       /* zero: grains are spheres */
    gg_clump_def clumps;        /* zero: they are lone ones */
    gg_continuum_def continuum; /* zero: they are no continuum */
    gg_table_def table;         /* of GG_MODE_TABLE, else zero */
    gg_bond_def bonds;          /* of GG_MODE_TABLE alone */
    gg_solver solver;
    int32_t thread_count; /* see gg_world_set_thread_count */
    int32_t gpu;          /* 0: the CPU; k + 1: GPU number k */
} gg_world_def;

typedef struct gg_world gg_world;

/* memory in which an array of the caller's lies; the same for a world on the CPU */
typedef enum gg_memory_space { GG_HOST = 0, GG_DEVICE } gg_memory_space;

gg_solver gg_solver_default(void);
/* whether a world accepts these settings; message (message_size bytes, may be NULL) names the member it refuses */
gg_status gg_solver_check(const gg_solver *solver, char *message, size_t message_size);
/* the longest stable time step [s], in mode penalty, of a contact of a grain of this mass [kg/m] with a fixed body */
float gg_penalty_step_bound(const gg_solver *solver, float mass);
/* relaxation and relaxation_sum that are stable for these settings by rule; tools: whether the caller has any */
void gg_solver_safe_relaxation(const gg_solver *solver, int tools, float *relaxation, float *relaxation_sum);

/* Builds a world. On failure *out is NULL and message (message_size bytes, may be NULL) says why: GG_ERROR_ARGUMENT,
 * GG_ERROR_MEMORY, or GG_ERROR_BACKEND where there is no such GPU. The walls of the bounds become six tools ahead of
 * the caller's: tool index = face (x lower, x upper, y lower, ...), without parts where the face is not a wall. */
gg_status gg_world_create(const gg_world_def *def, gg_world **out, char *message, size_t message_size);
/* NULL is fine */
void gg_world_destroy(gg_world *world);
/* of the last call that failed; valid until the next call */
const char *gg_world_message(const gg_world *world);

/* Called between substeps, on the calling thread, at most ten times a second; non-zero stops the step. */
typedef int (*gg_poll)(void *context);

/* Advances all envs by substeps * dt [s], 0 < dt <= 1, substeps >= 1. Tools move at constant velocity and turn rate
 * from their poses to tool_targets (env_count, tool_count, 7) x y z qw qx qy qz, or stay (NULL). Dynamic tools have no
 * targets: their rows are the poses that they have, or NaN.
 * GG_ERROR_MEMORY: a buffer could not grow. Each env then stands at the end of a whole substep, maybe not the last. The
 * same call again finishes the step, with the bits it would have had, unless grains, tools or states were set
 * meanwhile; a call with other arguments is a new step from there.
 * GG_ERROR_CAPACITY: the grains of some env lie inside each other; it is frozen until its grains are set again, the
 * others have finished the step.
 * GG_INTERRUPTED: poll stopped the step; each env stands at the end of a whole substep. */
gg_status gg_world_step(gg_world *world, double dt, int32_t substeps, const float *tool_targets, gg_poll poll,
                        void *poll_context);

/* The drive by which gg_world_step_driven moves the tools of every env; its arrays are copied. NULL: none.
 * GG_ERROR_MEMORY */
gg_status gg_world_set_drive(gg_world *world, const gg_drive *drive);
/* poses (count, tool_count, 7) of the tools for states (count, state_count) of the world's drive */
gg_status gg_world_drive_poses(gg_world *world, const double *state, int64_t count, float *poses);

/* one step of a control period */
typedef struct gg_driven_step {
    const float *actions;   /* (env_count, action_count), clamped to [-1, 1] */
    gg_memory_space space;  /* of the actions alone */
    const uint8_t *idle;    /* (env_count) 1: the tools stay and the actions are not read; NULL: none */
    const double *state;    /* (env_count, state_count) before the period */
    double *next;           /* the same after it */
    int32_t *fault;         /* (env_count) 1 + the action that is not finite, 0: none */
    gg_drive_stroke stroke; /* {1, 1}: the step is the whole period */
} gg_driven_step;
/* Advances all envs as gg_world_step does, with tools moved by the drive where the world runs; errors likewise, and
 * `next` is then not defined. Actions on the host must be finite. Actions on the device are not waited for: where one is
 * not finite the tools of its env stay, the step is made, and `fault` says so. */
gg_status gg_world_step_driven(gg_world *world, double dt, int32_t substeps, const gg_driven_step *step, gg_poll poll,
                               void *poll_context);

/* sizes and settings */
typedef struct gg_world_info {
    int64_t env_count, grain_count, clump_count, tool_count, coupled_count, camera_count, material_count;
    int64_t memory; /* of all fields [bytes] */
    int32_t thread_count;
    const char *kernel; /* see gg_world_set_kernel */
    int32_t gpu;        /* 0: the CPU; k + 1: GPU number k */
    int64_t waits;      /* times that this world, or a buffer of its own, has waited for the GPU */
    int64_t drawn;      /* depth images drawn so far, each of one camera in one env */
    gg_solver solver;   /* with the safe values filled in */
} gg_world_info;
void gg_world_get_info(const gg_world *world, gg_world_info *info);
/* Threads of a step, at most 1024; of them no more work at a time than the calling thread may use cores. 0: as many as
 * its work can use and the process may (affinity, quotas of control groups, OMP_NUM_THREADS). */
gg_status gg_world_set_thread_count(gg_world *world, int32_t thread_count);
/* spin, mode, broad_phase and, of the linked hash, hash_ratio must be those that the world was built with */
gg_status gg_world_set_solver(gg_world *world, const gg_solver *solver);
/* Runs the solve on another instruction set: "scalar", "vector128", "avx2", "avx512"; on a GPU: "team" (one kernel runs
 * the whole step), "graph" (one kernel per phase), "auto" (team). Same bits, other speed. GG_ERROR_BACKEND: not in this
 * build, or not for this processor. */
gg_status gg_world_set_kernel(gg_world *world, const char *name);

/* grains; each pointer (env_count or env_listed, grain_count, ...) or NULL to skip it */
typedef struct gg_grains {
    float *position;         /* (.., 3) [m] */
    float *velocity;         /* (.., 3) [m/s] */
    float *angular_velocity; /* (.., 3) [rad/s] */
    float *angle;            /* (..) [rad] in -pi .. pi, of planar grains; spheres have none */
    float *radius;           /* (..) [m]; read only */
    int32_t *material;       /* (..); read only */
    int32_t keep_impulses;   /* setting leaves stored impulses and `diverged` */
} gg_grains;
gg_status gg_world_get_grains(gg_world *world, const gg_grains *out, gg_memory_space space);
/* Sets what is not NULL in the listed envs; unless they are kept, stored impulses of these envs are dropped and
 * `diverged` is cleared. */
gg_status gg_world_set_grains(gg_world *world, const int32_t *envs, int64_t env_listed, const gg_grains *in);
/* Turns the grains of each listed env about the world's z axis through the origin by yaw (env_listed) [rad], then moves
 * them by translation (env_listed, 3) [m]; velocities and stored impulses turn along, so that a settled bed stays
 * settled. */
gg_status gg_world_transform_grains(gg_world *world, const int32_t *envs, int64_t env_listed, const float *translation,
                                    const float *yaw);
/* Continuous matter of all envs: elastic left stretch and Kirchhoff stress [Pa], xx yy zz xy xz yz
 * (env_count, grain_count, 6); equivalent plastic strain, and volumetric strain by dilatancy (env_count, grain_count);
 * the last is left as it is where no material dilates. */
typedef struct gg_continuum_state {
    double *stretch, *stress;
    float *plastic, *dilation;
} gg_continuum_state;
gg_status gg_world_get_continuum(gg_world *world, const gg_continuum_state *out);
/* Sets stretch, plastic strain and dilation in the listed envs. Stretches must be positive definite; dilations 0 where no
 * material dilates. */
gg_status gg_world_set_continuum(gg_world *world, const int32_t *envs, int64_t env_listed, const double *stretch,
                                 const float *plastic, const float *dilation);
/* Clumps of all envs: pose (env_count, clumps, 7) x y z [m], w x y z of the principal axes; velocity (env_count, clumps,
 * 6) [m/s], angular velocity in the axes of the world [rad/s]; wrench: see gg_world_set_clump_wrenches. NULL to skip
 * one. */
gg_status gg_world_get_clumps(gg_world *world, double *pose, double *velocity, double *wrench);
/* Poses and velocities of the listed envs; unless they are kept, their stored impulses are dropped and `diverged` is
 * cleared. */
gg_status gg_world_set_clumps(gg_world *world, const int32_t *envs, int64_t env_listed, const double *pose,
                              const double *velocity, int keep_impulses);
/* force at the centre of mass [N] and torque [N m] (env_listed, clumps, 6) that act on clumps until they are set anew */
gg_status gg_world_set_clump_wrenches(gg_world *world, const int32_t *envs, int64_t env_listed, const double *wrench);

/* gravity (env_listed or env_count, 3) [m/s2] */
gg_status gg_world_set_gravity(gg_world *world, const int32_t *envs, int64_t env_listed, const float *gravity);
gg_status gg_world_get_gravity(gg_world *world, float *gravity);
/* air (env_listed or env_count) */
gg_status gg_world_set_air(gg_world *world, const int32_t *envs, int64_t env_listed, const gg_air *air);
gg_status gg_world_get_air(gg_world *world, gg_air *air);
/* materials: pair (env_listed or env_count, material_count, material_count), density (.., material_count) [kg/m3]; NULL
 * to skip either. set: GG_ERROR_MEMORY where the pairs need arrays that cannot be had. */
gg_status gg_world_set_materials(gg_world *world, const int32_t *envs, int64_t env_listed, const gg_pair *pair,
                                 const float *density);
gg_status gg_world_get_materials(gg_world *world, gg_pair *pair, float *density);

/* Poses of the caller's tools (env_count or env_listed, tool_count, 7) x y z qw qx qy qz; set moves them without
 * velocity. */
gg_status gg_world_get_tool_poses(gg_world *world, float *poses, gg_memory_space space);
gg_status gg_world_set_tool_poses(gg_world *world, const int32_t *envs, int64_t env_listed, const float *poses);
/* Whether the caller's tools take part (env_count or env_listed, tool_count): 1, or 0: grains pass through them and no
 * camera sees them; they keep moving. */
gg_status gg_world_get_tools_active(gg_world *world, int32_t *active);
gg_status gg_world_set_tools_active(gg_world *world, const int32_t *envs, int64_t env_listed, const int32_t *active);
/* Motion of a tool with a mass, each (env_count or env_listed, 3), in the axes of the world; NULL to skip. */
typedef struct gg_dynamic_motion {
    float *velocity;         /* [m/s] */
    float *force;            /* of the caller [N]: acts until it is set anew; along an axis that is held in vain */
    float *angular_velocity; /* [rad/s]; this and the next of a tool with an inertia alone, of others read as 0 */
    float *torque;           /* of the caller [N m] */
} gg_dynamic_motion;
gg_status gg_world_get_tool_motion(gg_world *world, int64_t tool, const gg_dynamic_motion *out);
gg_status gg_world_set_tool_motion(gg_world *world, const int32_t *envs, int64_t env_listed, int64_t tool,
                                   const gg_dynamic_motion *in);
/* Coupled tools (solvers/coupled_tools.h), in the order of their indices; each pointer may be NULL: it stays. */
typedef struct gg_coupled {
    const double *pose;         /* (env_listed, coupled, 7) x y z [m], w x y z */
    const double *twist;        /* (env_listed, coupled, 6) of the origin [m/s], angular [rad/s], in the world's axes */
    const double *acceleration; /* likewise [m/s2], [rad/s2]: without grains */
    const double *response;     /* (env_listed, 6 coupled, 6 coupled) change of the twists per impulse [N s], [N m s] */
} gg_coupled;
gg_status gg_world_set_coupled(gg_world *world, const int32_t *envs, int64_t env_listed, const gg_coupled *in);
/* Poses and twists of all envs; impulses and moments of the grains on them over the last step [N s], [N m s]. NULL to
 * skip one. */
gg_status gg_world_get_coupled(gg_world *world, double *pose, double *twist, double *impulse);

/* Wrenches: mean force [N] and torque about the tool's origin [N m] that the grains exerted over the last step, world
 * axes, on the caller's tools (env_count, tool_count, 6) and on the walls (env_count, GG_WALL_COUNT, 6); NULL to skip
 * either. */
gg_status gg_world_get_wrenches(gg_world *world, float *tools, float *walls, gg_memory_space space);

/* where a list of contacts is written; world axes, all on the first grain of a pair */
typedef struct gg_contact_list {
    int32_t
        *pairs; /* (count, 2) a grain, and a grain of a higher id, tool k (-1 - k) or wall k (-1 - tool_count - k) */
    float *impulses;        /* (count, 3) [N s] */
    float *torque_impulses; /* (count, 3) of rolling and twisting resistance [N m s] */
    float *points;          /* (count, 3) where they act [m], as grains and tools lie now */
    float *normals;         /* (count, 3) unit, towards the first grain */
} gg_contact_list;

/* The contacts of one env in the last substep, speculative ones too, in order of the grains that keep them. At most `capacity` are
 * written; *count is how many there are, *dt the substep they belong to [s]. None before the first step, and none after
 * grains were set. Planar grains are refused. */
gg_status gg_world_get_contacts(gg_world *world, int64_t env, int64_t capacity, const gg_contact_list *list,
                                int64_t *count, double *dt);

/* the most overlaps that gg_world_find_overlaps looks for */
#define GG_OVERLAP_LIMIT 1000000
/* Where grains of one env, as they are now, lie in something by more than `tolerance` (0 .. 1e6) diameters of the
 * smaller grain. pairs (count, 2) are numbered as in gg_world_get_contacts; depths (count) are overlaps over that
 * diameter. A grain wholly beyond a cyclic or periodic face is listed with the wall of that face, and its depth from
 * there. Two fixed grains, and fixed grains in tools and walls, are left out. At most `capacity` are written; *count is
 * how many there are, GG_OVERLAP_LIMIT: that many or more. GG_ERROR_MEMORY */
gg_status gg_world_find_overlaps(gg_world *world, int64_t env, float tolerance, int64_t capacity, int32_t *pairs,
                                 float *depths, int64_t *count);

/* counters of the last step (env_count) */
gg_status gg_world_get_stats(gg_world *world, gg_env_stats *stats);
/* Grains whose centre lies in a box, and the mean distance of all centres to it [m], (env_count, box_count) each; boxes
 * (env_count, box_count, 6): lower, upper corner [m]. */
gg_status gg_world_box_stats(gg_world *world, const float *boxes, int64_t box_count, int64_t *counts,
                             float *mean_distances, gg_memory_space space);

/* the most cells of a grid, per env */
#define GG_GRID_LIMIT 1000000
/* Grains by the first box that holds their centre: counts (env_count, box_count). boxes (env_count, box_count, 10):
 * middle [m], unit quaternion, half sizes [m]. */
gg_status gg_world_count_boxes(gg_world *world, const float *boxes, int64_t box_count, int64_t *counts,
                               gg_memory_space space);
/* Grains by cells of a grid of shape (nx, ny, nz) between lower and upper (3) [m], those outside in the cells at its
 * edge: counts (env_count, nx, ny, nz). With labels (env_count, grain_count) of 0 or 1, or NULL, also by these: counts
 * (env_count, nx, ny, nz, 2). */
gg_status gg_world_count_cells(gg_world *world, const float *lower, const float *upper, const int32_t *shape,
                               const uint8_t *labels, int64_t *counts, gg_memory_space space);
/* Grains by columns of a grid in plan, of shape (nx, ny) between lower and upper (2) [m]: counts (env_count, ny, nx).
 * Each grain is shared bilinearly between the four columns next to its centre, mirrored beyond the edge; in units of
 * 2^-20 grains. */
gg_status gg_world_count_columns(gg_world *world, const float *lower, const float *upper, const int32_t *shape,
                                 int64_t *counts, gg_memory_space space);

/* Depth image of one camera in every env: (env_count, height, width) [m]. It is drawn when it is read, and again only in
 * envs whose grains or tools have changed since. */
gg_status gg_world_depth(gg_world *world, int32_t camera, float *depth, gg_memory_space space);
/* the same clipped to near_depth .. far_depth: in metres, and as bytes (0 near, 255 far, ties to even); NULL to skip
 * either */
gg_status gg_world_depth_image(gg_world *world, int32_t camera, double near_depth, double far_depth, float *metres,
                               uint8_t *bytes, gg_memory_space space);
/* Whose surface each pixel sees, of which gg_world_depth gives the depth: codes (env_count, height, width) of paint.h;
 * or with NULL for codes their classes. far_is_floor: what reads the camera's far depth is the floor. */
gg_status gg_world_segmentation(gg_world *world, int32_t camera, int far_is_floor, int32_t *codes, uint8_t *classes,
                                gg_memory_space space);
/* the same in colour, without shadows: rgb (env_count, height, width, 3), with channels_first (env_count, 3, height,
 * width), 8-bit sRGB */
gg_status gg_world_color(gg_world *world, int32_t camera, int far_is_floor, int channels_first, const gg_paint *paint,
                         uint8_t *rgb, gg_memory_space space);
/* A depth image, as gg_world_depth_image reads it: one of metres and bytes, or both. */
typedef struct gg_image_result {
    int32_t camera;
    double near_depth, far_depth; /* [m] */
    float *metres;
    uint8_t *bytes;
    gg_memory_space space;
} gg_image_result;
/* a grid and what is counted by its cells; labels as in gg_world_count_cells */
typedef struct gg_grid_result {
    const float *lower, *upper; /* [m] */
    const int32_t *shape;
    const uint8_t *labels;
    int64_t *counts; /* NULL: nothing is counted */
} gg_grid_result;

/* the most images of one call of gg_world_read_results */
#define GG_RESULT_IMAGES 16
/* What an env step is read for. Each member is what the function of its name fills in, on the host; NULL or 0: not
 * read. */
typedef struct gg_step_results {
    const float *boxes; /* gg_world_box_stats */
    int64_t box_count, *box_counts;
    float *box_distances;
    const float *turned_boxes; /* gg_world_count_boxes */
    int64_t turned_box_count, *turned_box_counts;
    gg_grid_result cells, columns; /* gg_world_count_cells, gg_world_count_columns */
    float *wrenches;               /* gg_world_get_wrenches, of the caller's tools */
    gg_env_stats *stats;           /* gg_world_get_stats */
    const gg_image_result *images;
    int32_t image_count;
} gg_step_results;
/* Reads all of it. A GPU is waited for once, for what goes to the host together; once more for counters that the last
 * step did not bring, as after grains were set. Images that stay on the device are rendered last, and nothing waits
 * for them. */
gg_status gg_world_read_results(gg_world *world, const gg_step_results *results);

/* a shaded picture of one env for people: rgb (height, width, 3) of picture->camera. GG_ERROR_MEMORY */
gg_status gg_world_picture(gg_world *world, int64_t env, const gg_picture *picture, uint8_t *rgb);
/* the depth of what such a picture shows at the middle of each pixel: (height, width) [m]; no walls but the floor */
gg_status gg_world_picture_depth(gg_world *world, int64_t env, const gg_camera *camera, float *depth);

/* The stream (cudaStream_t as a number) that a world on a GPU uses from now on. GG_ERROR_BACKEND on the CPU, where
 * get returns 0. */
gg_status gg_world_set_stream(gg_world *world, uintptr_t stream);
uintptr_t gg_world_get_stream(const gg_world *world);

/* Memory on the world's GPU that may outlive the world: arrays that phases write into and others read. The content of a
 * new buffer is undefined. A buffer that nobody holds any more is kept for the next one of its size. */
typedef struct gg_buffer gg_buffer;
/* GG_ERROR_BACKEND: the world runs on the CPU */
gg_status gg_buffer_create(gg_world *world, size_t size, gg_buffer **out);
/* a copy, made on the stream of the buffer's world */
gg_status gg_buffer_clone(gg_buffer *buffer, gg_buffer **out);
void gg_buffer_retain(gg_buffer *buffer);
/* NULL is fine */
void gg_buffer_release(gg_buffer *buffer);
void *gg_buffer_data(const gg_buffer *buffer);
int32_t gg_buffer_device(const gg_buffer *buffer);
/* copies to or from the host; returns when it is done */
gg_status gg_buffer_read(gg_buffer *buffer, size_t offset, void *to, size_t size);
gg_status gg_buffer_write(gg_buffer *buffer, size_t offset, const void *from, size_t size);
/* Makes `stream` wait for what was put on the stream of the buffer's world so far. Until its release, the buffer may be
 * read there. */
gg_status gg_buffer_order(gg_buffer *buffer, uintptr_t stream);
/* until its release, the buffer may be read on a stream that is not known */
void gg_buffer_lend(gg_buffer *buffer);
uintptr_t gg_buffer_stream(const gg_buffer *buffer);
const char *gg_buffer_message(const gg_buffer *buffer);

/* Snapshots. A state is one env as bytes; load puts it into any env of a world of the same scene layout, bit for bit,
 * stored impulses included. GG_ERROR_STATE: not a state, damaged, of another version or scene, or with a value that no
 * env of this scene can have. GG_ERROR_MEMORY: arrays as large as those of the world that saved it cannot be had. The
 * world is then as it was. */
typedef struct gg_state {
    const void *data;
    size_t size;
    int32_t checked; /* 1: unchanged since a world of this process saved it, or loaded it; its content is not read */
} gg_state;
gg_status gg_world_state_size(gg_world *world, int64_t env, size_t *size);
gg_status gg_world_save_state(gg_world *world, int64_t env, void *state, size_t size);
gg_status gg_world_load_state(gg_world *world, const int32_t *envs, int64_t env_listed, const void *state, size_t size);
/* the same with a state for each listed env, or (count 1) one for all; where one is refused none is loaded */
gg_status gg_world_load_states(gg_world *world, const int32_t *envs, int64_t env_listed, const gg_state *states,
                               int64_t count);
/* hash of one env's grains (position, velocity, spin in order of ids) and tool poses */
gg_status gg_world_state_hash(gg_world *world, int64_t env, uint64_t *hash);

/* seconds (gg_phase_count(), or NULL) spent in each phase since profiling was switched on; enable: from now on, or off.
 * Within a kernel of a GPU that runs all phases: its time, shared out as env 0 spends its own. GG_ERROR_MEMORY */
gg_status gg_world_profile(gg_world *world, int32_t enable, double *seconds);

/* For tests: one substep, phase by phase; `note` is called after each, and where it fails nothing runs any more. Errors:
 * its own, and those of gg_world_step. */
typedef gg_status (*gg_trace)(void *context, int phase, int32_t pass);
gg_status gg_world_trace(gg_world *world, double dt, const float *tool_targets, gg_trace note, void *context);
/* a hash of every field of the world, gg_field_count() of them. Errors: those of a device */
gg_status gg_world_field_hashes(gg_world *world, uint64_t *hashes);
int gg_field_count(void);
const char *gg_field_name(int field);

#ifdef __cplusplus
}
#endif

#endif
