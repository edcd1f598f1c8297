/* world.h: the inside of a world, for the files of this room alone. */
#ifndef GG_WORLD_H
#define GG_WORLD_H

#include "../backend/backend.h"
#include "../gg.h"

struct gg_world {
    gg_view view;
    void *arena; /* all fields of the view */
    size_t arena_size;
    /* owned copies of the scene */
    gg_shape *parts;
    gg_sdf_grid *grids;
    float *samples;
    gg_camera *cameras;
    float *targets; /* (env_count, own tools, 7) */
    gg_solver solver;
    gg_kernel kernel;
    int32_t thread_count;
    int32_t depth_valid; /* the depth images show the present state */
    int32_t unfinished;  /* the last step stopped for want of memory: the same call goes on with it */
    double duration;     /* of the last step [s] */
    double *seconds;     /* per phase, or NULL */
    uint64_t layout;     /* hash of what a snapshot must agree on */
    char message[512];
};

/* the caller's tools */
static inline int64_t gg_own_tool_count(const gg_world *w) { return w->view.dims.tool_count - GG_WALL_COUNT; }

/* grains or tools were set: what hung on where they were is over */
static inline void gg_world_moved(gg_world *w) { w->depth_valid = w->unfinished = 0; }

/* records a message and passes the status on */
gg_status gg_world_fail(gg_world *w, gg_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* arena.c: memory of all fields */
gg_status gg_arena_resize(gg_world *w, gg_dims dims);
/* makes room for what the envs noted as overflow; GG_OK with *grew = 0 where nothing was noted */
gg_status gg_arena_grow(gg_world *w, int *grew);
size_t gg_field_size(const gg_dims *d, gg_field_id field, int *keep);
void *gg_field_data(const gg_view *v, gg_field_id field);

/* create.c: parameters that follow from the solver, the grains and dt */
gg_status gg_world_check_solver(gg_world *w, const gg_solver *solver);
/* NULL: not given; radius_min: of the smallest grain [m] */
gg_status gg_pairs_check(gg_world *w, const gg_pair *pair, const float *density, int64_t material_count,
                         float radius_min);
gg_status gg_air_check(gg_world *w, const gg_air *air);
void gg_params_from_solver(gg_world *w);
void gg_params_from_grains(gg_world *w);
/* also the ranges of cohesion of the envs */
void gg_params_from_materials(gg_world *w);
/* contact rows that rolling and the extra laws need by the parameters, and no fewer than there are */
void gg_dims_from_materials(const gg_world *w, gg_dims *dims);
/* which laws these pairs ask the solver for, by the names in gg_params; sets what is not set yet */
void gg_world_laws(const gg_world *w, const gg_pair *pair, int64_t count, int32_t *rolling, int32_t *extra);
/* mass of a grain of env e from its radius and material [kg] */
void gg_world_weigh(gg_world *w, int64_t e);

#endif
