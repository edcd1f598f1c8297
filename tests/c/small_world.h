/* small_world.h: a gg_view over small arrays, assembled by hand: the scenes of the sensors' tests. */
#ifndef GG_SMALL_WORLD_H
#define GG_SMALL_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/sensors/depth.h"
#include "check.h"

#define SLOTS  512
#define ENVS   3
#define TOOLS  8
#define PIXELS 40000

typedef struct small_world {
    gg_view view;
    gg_vec4 position[ENVS * SLOTS];
    int32_t grain_id[ENVS * SLOTS], slot_of[ENVS * SLOTS];
    gg_shape parts[TOOLS];
    gg_pose poses[ENVS * TOOLS];
    int32_t active[ENVS * TOOLS];
    gg_camera cameras[3];
    int64_t listed[ENVS]; /* all: 0 */
    gg_sdf_grid grid;
    float samples[24 * 24 * 24];
    float depth[ENVS * PIXELS + 2];
} small_world;

static small_world world;
static uint64_t draw;

static inline float uniform(float lower, float upper) {
    return lower + (upper - lower) * gg_rng_uniform(11, 3, draw++);
}
static inline gg_quat random_turn(void) {
    float w = uniform(-1.0f, 1.0f), x = uniform(-1.0f, 1.0f), y = uniform(-1.0f, 1.0f);
    return gg_quat_unit(gg_quat_make(w, x, y, uniform(-1.0f, 1.0f)));
}
static inline gg_vec3 random_point(float half) {
    float x = uniform(-half, half), y = uniform(-half, half);
    return gg_v3(x, y, uniform(-half, half));
}

/* one env, no grains, no tools, one camera at the origin that looks along +z */
static inline gg_view *fresh(int kind, int32_t height, int32_t width, float extent) {
    memset(&world, 0, sizeof world);
    gg_view *v = &world.view;
    v->dims.env_count = 1;
    v->dims.slots = SLOTS;
    v->dims.tool_count = TOOLS;
    v->dims.camera_count = 1;
    v->dims.pixels = (int64_t)height * width;
    v->position = world.position;
    v->grain_id = world.grain_id;
    v->slot_of = world.slot_of;
    v->parts = world.parts;
    v->grids = &world.grid;
    v->samples = world.samples;
    v->tool_pose = world.poses;
    v->tool_active = world.active;
    v->cameras = world.cameras;
    v->access.listed = world.listed;
    v->depth = world.depth + 1;
    v->params.lower = gg_v3(-1.0f, -1.0f, 0.0f);
    v->params.upper = gg_v3(1.0f, 1.0f, 1.0f);
    v->params.radius_max = 0.1f;
    for (int i = 0; i < ENVS * SLOTS; i++) {
        world.grain_id[i] = -1;
    }
    for (int i = 0; i < ENVS * TOOLS; i++) {
        world.poses[i] = gg_pose_identity();
        world.active[i] = 1;
    }
    gg_camera *c = &world.cameras[0];
    c->kind = kind;
    c->height = height;
    c->width = width;
    c->tool = -1;
    c->pose = gg_pose_identity();
    c->extent = extent;
    c->near_depth = 0.1f;
    c->far_depth = 30.0f;
    return v;
}

static inline void put_grain(int slot, gg_vec3 p, float radius) {
    world.position[slot] = (gg_vec4){p.x, p.y, p.z, radius};
    world.grain_id[slot] = slot;
    world.slot_of[slot] = slot;
}

static inline gg_shape *put_part(int kind, int tool, float a, float b, float c) {
    gg_shape *shape = &world.parts[world.view.dims.part_count++];
    memset(shape, 0, sizeof *shape);
    shape->kind = kind;
    shape->tool = tool;
    shape->size[0] = a;
    shape->size[1] = b;
    shape->size[2] = c;
    shape->rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    gg_shape_set_bounds(shape, &world.grid);
    return shape;
}

/* draws all cameras in all envs into a buffer that is NaN before */
static inline void render(void) {
    gg_view *v = &world.view;
    for (int64_t i = 0; i < ENVS * PIXELS + 2; i++) {
        world.depth[i] = NAN;
    }
    /* backwards: items do not depend on each other */
    for (int64_t e = v->dims.env_count - 1; e >= 0; e--) {
        for (int64_t c = v->dims.camera_count - 1; c >= 0; c--) {
            v->access.camera = c;
            for (int64_t i = gg_depth_camera_bands(&v->cameras[c]) - 1; i >= 0; i--) {
                gg_depth_band(v, e, i);
            }
        }
    }
}

#endif
