/* world.h: the inside of a world, for the files of this layer alone. */
#ifndef GG_WORLD_H
#define GG_WORLD_H

#include "../backend/backend.h"
#include "../backend/cuda.h"
#include "../gg.h"
#include "expect.h"

/* the most outputs that are collected before one fetch, see gg_collect_outputs */
#define GG_COLLECTED_LIMIT (8 + 2 * GG_RESULT_IMAGES)

/* staging buffers: device copies of the caller's arrays, by purpose; kept from call to call */
typedef enum gg_staging_id {
    GG_STAGING_TARGETS,
    GG_STAGING_BOXES,
    GG_STAGING_LISTED,
    GG_STAGING_A,
    GG_STAGING_B,
    GG_STAGING_C,
    GG_STAGING_D,
    GG_STAGING_E,
    GG_STAGING_F,
    GG_STAGING_COLLECTED, /* the first of those of collected outputs */
    GG_STAGING_COUNT = GG_STAGING_COLLECTED + GG_COLLECTED_LIMIT
} gg_staging_id;
typedef struct gg_staging {
    void *memory;
    size_t size;
} gg_staging;

/* the world's own copies of the arrays of a scene, on the host, and their sizes in bytes */
typedef struct gg_scene {
#define GG_SCENE_ARRAY(type, name, count, from)                                                                        \
    type *name;                                                                                                        \
    size_t name##_size;
    GG_SCENE_ARRAYS(GG_SCENE_ARRAY)
#undef GG_SCENE_ARRAY
} gg_scene;

/* what a grain is, whatever happens to it */
typedef struct gg_grain_kind {
    float radius; /* [m] */
    int32_t material;
} gg_grain_kind;

/* smallest and largest radius of the grains of a material [m]; 0: it has none */
typedef struct gg_material_radii {
    float low, high;
} gg_material_radii;

/* buffer.c: device buffers that nobody holds, for the next ones of their size */
typedef struct gg_pool gg_pool;

/* in GG_MODE_TABLE: the contact that asks for the shortest steps */
typedef struct gg_table_bound {
    double dt;        /* longest stable one [s] */
    int32_t pair[2];  /* its materials; of a tool -1 */
    int32_t bonded;   /* of a bond */
    double slopes[2]; /* by which the normal force falls with gap and normal velocity there [N/m], [N s/m] */
    double mass;      /* effective [kg] */
} gg_table_bound;

struct gg_world {
    gg_view view; /* its arrays lie where the world runs */
    void *arena;  /* all fields of the view */
    size_t arena_size;
    /* on a GPU; NULL and unused on the CPU */
    gg_cuda *cuda;
    gg_view mirror; /* the same arrays on the host, see gg_world_pull */
    void *mirror_arena;
    gg_staging staging[GG_STAGING_COUNT];
    gg_copy_run collected[GG_COLLECTED_LIMIT]; /* outputs of several readers that wait for their fetch */
    int32_t collecting, collected_count, collected_staging;
    gg_pool *pool;
    gg_scene scene;
    gg_grain_kind *kinds;                       /* (grain_count) of all envs */
    gg_material_radii *material_radii;          /* (material_count) */
    int64_t size_class_grains[GG_SIZE_CLASSES]; /* grains of each size class in one env */
    int64_t *listed;                            /* (env_count) for gg_access */
    uint8_t *drawn;                             /* (camera_count, env_count) what shows the present state: images.c */
    uint8_t *seen_wanted;                       /* (camera_count) 1: whose surfaces was asked since the last drawing */
    int64_t drawn_count;                        /* depth images drawn so far, each of one camera in one env */
    float *targets;                             /* (env_count, own tools, 7) of the last step */
    int32_t has_targets;
    gg_drive drive;        /* its arrays are the world's own, on the host; kind -1: none */
    gg_drive device_drive; /* the same where phases can read them */
    float *drive_poses;    /* (env_count, own tools, 7) that the drive asks for */
    int32_t *drive_fault;  /* (env_count) */
    gg_table_bound table_bound;
    double table_inverse[256]; /* what it was found with, see gg_tables_find_bound */
    gg_solver solver;
    gg_kernel kernel;
    gg_picture_memory picture;
    int32_t thread_count; /* of a step */
    int32_t host_threads; /* of what has work for all cores: pictures */
    int32_t chunk;        /* substeps that a GPU runs per launch; no result depends on it */
    int32_t stats_valid;  /* on a GPU: the last step brought the counters of the present state to the host */
    int32_t unfinished;   /* the last step ran out of memory: the same call goes on with it */
    double *seconds;      /* per phase, or NULL */
    uint64_t layout;      /* hash of what a snapshot must agree on */
    char message[512];
};

/* the caller's tools */
static inline int64_t gg_own_tool_count(const gg_world *w) { return w->view.dims.tool_count - GG_WALL_COUNT; }

/* A GPU runs tens of milliseconds per launch: launches are few, and Ctrl-C is heard. The chunk that follows one which
 * took `seconds`; where fewer substeps were `left` than it has, it was not run in full and tells nothing about a longer
 * one. */
#define GG_CHUNK_FIRST 16
static inline int32_t gg_chunk_next(int32_t chunk, int32_t left, double seconds) {
    if (seconds < 0.02) {
        return chunk <= left && chunk < 1 << 20 ? chunk * 2 : chunk;
    }
    return seconds > 0.08 && chunk > 1 ? chunk / 2 : chunk;
}

/* where checks write what is wrong with the arguments of a call */
static inline gg_message gg_message_of(gg_world *w) {
    gg_message out = {w->message, sizeof w->message};
    return out;
}

/* world.c: records a message and passes the status on */
gg_status gg_world_fail(gg_world *w, gg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* one phase over all its items, where the world runs; `pass` is that of an iteration */
gg_status gg_world_run(gg_world *w, gg_phase phase);
gg_status gg_world_run_pass(gg_world *w, gg_phase phase, int32_t pass);
/* where tools shall be at the end of a step: `host` or `device` (env_count, own tools, 7); both NULL: they stay */
typedef struct gg_tool_targets {
    const float *host, *device;
} gg_tool_targets;
/* what a step needs before its first phase: parameters, and the targets of tools where phases can read them */
gg_status gg_world_plan_step(gg_world *w, double dt, int32_t substeps, gg_tool_targets targets);
/* gg_world_step; on a GPU `count` runs are copied to the host when the step ends, without a further wait */
gg_status gg_world_step_to(gg_world *w, double dt, int32_t substeps, gg_tool_targets targets, const gg_copy_run *runs,
                           int count, gg_poll poll, void *poll_context);

/* checks.c: whether a world can be built from a definition */
gg_status gg_def_check(const gg_world_def *def, gg_message out);

/* settings.c: messages name the member as solver.member */
gg_status gg_world_solver_check(const gg_solver *solver, gg_message out);

/* env_params.c */
gg_status gg_air_check(const gg_air *air, gg_message out);

/* materials.c: a table of pairs (NULL: not given) and densities (likewise); planar: of planar grains; radius_min: of the
 * smallest grain [m] */
gg_status gg_materials_check(const gg_pair *pair, const float *density, int64_t material_count, int32_t mode,
                             int planar, float radius_min, gg_message out);
/* contact rows that these pairs need for rolling and cohesion, and no fewer than there are; 1: more than before */
int gg_dims_fit_pairs(const gg_world *w, gg_dims *dims, const gg_pair *pair, int64_t count);
/* parameters that follow from the materials of all envs, and the range of cohesion of each env */
gg_status gg_params_from_materials(gg_world *w);
/* inverse masses of the envs listed last; nothing happens where status is an error already */
gg_status gg_world_update_masses(gg_world *w, gg_status status);

/* tools.c: whether a pose x y z qw qx qy qz is finite and its quaternion long enough to be made a unit */
int gg_pose_usable(const float pose[7]);
/* poses (listed, own tools, 7), NULL: none; the only check of poses that a call brings. dynamic: those of dynamic tools
 * too */
gg_status gg_tool_poses_check(gg_world *w, const char *name, const float *poses, const int32_t *envs, int64_t listed,
                              int dynamic);

/* dynamic_tools.c */
gg_status gg_tool_masses_check(const gg_world_def *def, gg_message out);
/* whether a body carries a tool; whether forces, a body or another engine move it; whether a row of 7 is NaN or `now` */
int gg_tool_carried(const gg_world *w, int64_t tool);
int gg_tool_goes_by_itself(const gg_world *w, int64_t tool);
int gg_tool_row_stays(const float row[7], const gg_pose *now);
/* targets of a step: those of tools that go by themselves are the poses that they have, or not given */
gg_status gg_tool_targets_check(gg_world *w, const float *targets);
/* a dynamic tool of one env is at rest where its pose is; others are left as they are */
void gg_tool_place(gg_view *host, int64_t e, int64_t tool);

/* drive.c */
void gg_drive_free(gg_world *w);

/* planar.c: also refuses what spheres have no part in */
gg_status gg_planar_check(const gg_world_def *def, gg_message out);
/* mass of the lightest grain that is not fixed, of all envs, per metre of depth [kg/m]; 0: there is none */
float gg_planar_mass_min(const gg_view *host_view);
/* notes the longest stable dt in GG_MODE_EXPLICIT */
void gg_continuum_step_bound(const gg_view *host_view, gg_params *params);

/* clumps.c: whether a world can have these clumps; the clump of each grain; how they start in an env */
gg_status gg_clumps_check(const gg_world_def *def, gg_message out);
void gg_clumps_list(gg_scene *scene, const gg_world_def *def);
/* whether there are lone spheres among the clumps, and whether tools are surfaces of some */
int64_t gg_clumps_lone(const gg_world_def *def);
int64_t gg_clumps_surfaces(const gg_world_def *def);
void gg_clumps_fill(gg_view *view, const gg_world_def *def, int64_t env);

/* continuum.c: whether a world can have this continuum */
gg_status gg_continuum_check(const gg_world_def *def, gg_message out);

/* tables.c: whether a world can have these tables and bonds; what follows from them */
gg_status gg_tables_check(const gg_world_def *def, gg_message out);
gg_table_law gg_table_law_of(const gg_world_def *def);
void gg_tables_measure(gg_scene *scene, const gg_world_def *def);
/* notes the longest stable dt; density: of all envs */
void gg_tables_find_bound(gg_world *w, const float *density);
gg_status gg_tables_check_step(const gg_world *w, double dt, gg_message out);

/* params.c */
void gg_params_from_grains(gg_world *w);
/* when the solver changes: all but what depends on dt */
void gg_params_from_solver(gg_world *w);
void gg_params_from_step(gg_world *w, double dt, int32_t substeps);

/* dims.c: the law of a definition */
gg_law gg_law_of(const gg_world_def *def);
/* sizes that a definition gives; those that depend on the grains are not set yet */
gg_dims gg_dims_of(const gg_world_def *def);
void gg_dims_fit_grains(const gg_world *w, gg_dims *dims, int on_gpu);
/* whether grains may sleep while others of their env move, with such a solver */
int gg_grains_may_sleep(const gg_world *w, const gg_solver *solver);
/* makes room for grains asleep where they may be; whether this changes the sizes */
int gg_dims_fit_sleep(const gg_world *w, gg_dims *dims, const gg_solver *solver);
/* rows of contacts, and of what they carry where they do */
void gg_dims_set_contact_rows(gg_dims *dims, int64_t contact_rows);
/* capacities of continuous matter: blocks of particles, and of nodes */
void gg_dims_set_blocks(gg_dims *dims, int64_t blocks, int64_t nodes);
/* candidates of an env, and the manifolds beside them where grains are planar */
void gg_dims_set_candidates(gg_dims *dims, int64_t candidates);
/* contacts with tools, and what follows from them */
void gg_dims_set_tool_contacts(gg_dims *dims, int64_t tool_contacts);
/* candidates of an env whose grains have `per_grain` by size class */
int64_t gg_candidates_of_env(const gg_world *w, const int32_t *per_grain);

/* arena.c: memory of all fields [bytes]; SIZE_MAX: more than any machine has */
size_t gg_arena_total(const gg_dims *dims);
/* points the fields of a view into `memory` and gives it these dims */
void gg_arena_carve(gg_view *view, const gg_dims *dims, void *memory);
/* Moves the world to arrays of new sizes: each env keeps what fits, what is new is zero. */
gg_status gg_arena_resize(gg_world *w, gg_dims dims);
/* grows what the envs noted as too small; GG_OK with *grew = 0 where nothing was noted */
gg_status gg_arena_grow(gg_world *w, int *grew);
/* bytes of a field per env; keep (may be NULL): 1 where a snapshot saves it */
size_t gg_field_size(const gg_dims *dims, gg_field_id field, int *keep);
void *gg_field_data(const gg_view *v, gg_field_id field);

/* scene.c: copies the arrays of the scene and points the view of the world to the copies */
gg_status gg_scene_create(gg_world *w, const gg_world_def *def, const gg_dims *dims);
/* points a view that the host reads to the host's copies */
void gg_scene_show(const gg_world *w, gg_view *host_view);
/* copies the arrays to the device and points the view of the world there */
gg_status gg_scene_move_to_device(gg_world *w);
void gg_scene_free(gg_world *w);

/* transfer.c: memory where the world runs; new memory is zero, NULL: there is none left */
void *gg_memory_new(gg_world *w, size_t size);
void gg_memory_free(gg_world *w, void *memory);
gg_status gg_memory_copy(gg_world *w, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t rows, gg_direction direction);
/* a set of fields */
typedef unsigned __int128 gg_fields;
/* what is named one by one is among the first 128 of the list of fields; a later one does not compile */
#define GG_FIELD_BITS 128
#define GG_BIT(name)  ((gg_fields)1 << GG_FIELD_##name)
#define GG_ALL_FIELDS (~(gg_fields)0)
/* *view: one whose named fields the host can read, of one env or (-1) of all; push brings changes back */
gg_status gg_world_pull(gg_world *w, gg_fields fields, int64_t env, gg_view **view);
gg_status gg_world_push(gg_world *w, gg_fields fields, int64_t env);
/* The caller's array where phases can read it. Nothing happens where *status is an error already; NULL stays NULL. */
const void *gg_stage_input(gg_world *w, gg_staging_id id, const void *data, size_t size, gg_status *status);
/* Where phases can write what the caller wants in `out`, an array in `space`; gg_fetch_outputs then copies all outputs
 * of a call with one wait. */
void *gg_stage_output(gg_world *w, gg_staging_id id, void *out, size_t size, gg_memory_space space, gg_status *status);
gg_status gg_fetch_outputs(gg_world *w, const gg_copy_run *outputs, int count);
/* From here to gg_fetch_collected the outputs of all readers keep staging buffers of their own, and are fetched
 * together: a GPU is waited for once. */
void gg_collect_outputs(gg_world *w);
gg_status gg_fetch_collected(gg_world *w);
void gg_staging_free(gg_world *w);
/* takes over `cuda` and moves a world that was built on the host there */
gg_status gg_world_move_to_device(gg_world *w, gg_cuda *cuda);

/* buffer.c: frees what nobody holds, and returns how many buffers that were; NULL is fine */
int32_t gg_pool_trim(gg_pool *pool);
/* the world ends: from now on the last holder of a buffer frees it */
void gg_pool_close(gg_pool *pool);

/* snapshot.c */
uint64_t gg_hash_bytes(uint64_t hash, const void *data, size_t size);
/* hash of what a snapshot and a world must agree on */
uint64_t gg_state_layout(const gg_world *w);

/* state_check.c: whether an env can go on from saved fields, a view of one env of which those marked STATE are set; else
 * GG_ERROR_STATE. Nothing but the layout decides: the answer holds for every world of this one's. */
gg_status gg_state_check(gg_world *w, const gg_view *saved);

/* access.c: grains or tools of the listed envs (checked; NULL: all) change: what depends on them no longer holds */
void gg_world_invalidate(gg_world *w, const int32_t *envs, int64_t listed);
/* the listed envs (checked; NULL: all) must come to rest anew before they sleep; host: a view with the field `env` */
void gg_envs_wake(const gg_view *host, const int32_t *envs, int64_t listed);
gg_status gg_env_check(gg_world *w, int64_t env);
/* checks a caller's list of envs; NULL: all of them, whose number *listed becomes */
gg_status gg_envs_check(gg_world *w, const int32_t *envs, int64_t *listed);
/* the k-th env of a checked list */
static inline int64_t gg_env_at(const int32_t *envs, int64_t k) { return envs ? envs[k] : k; }
/* the same check, and the list in w->listed */
gg_status gg_envs_list(gg_world *w, const int32_t *envs, int64_t *listed);
/* NULL is fine */
gg_status gg_finite_check(gg_world *w, const char *name, const float *values, int64_t count);
/* an access to the envs listed last, and to no array yet */
gg_access gg_access_of_envs(gg_world *w, gg_status *status);
/* runs phases on the caller's arrays, which the view then drops; nothing runs where status is an error already */
gg_status gg_access_run(gg_world *w, const gg_access *access, const gg_phase *phases, int count, gg_status status);

#endif
