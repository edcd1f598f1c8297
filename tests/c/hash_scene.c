/* hash_scene.c: runs two small scenes through the C interface and prints the hashes of what they became.
 *
 * tests/determinism builds it with other compilers and optimisation levels: all must print the same. It is no test of
 * its own (those are called test_*.c). Grains of three sizes fall on a floor and are ploughed by a turning blade and a
 * ball; a box is dipped into a liquid. All input is made with integer and float operations that every compiler performs
 * alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/gg.h"

#define GRAINS 400
/* of the liquid: particles along each axis, 8 to a cell, and the side of a cell [m] */
#define ALONG  10
#define ACROSS 4
#define CELL   0.017

static float uniform(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * (1.0f / 16777216.0f);
}

static gg_shape part(int kind, float a, float b, float c, gg_vec3 position) {
    gg_shape s;
    memset(&s, 0, sizeof s);
    s.kind = kind;
    s.tool = 0;
    s.grid = -1;
    s.size[0] = a;
    s.size[1] = b;
    s.size[2] = c;
    s.position = position;
    s.rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    return s;
}

static float position[GRAINS][3], velocity[GRAINS][3], radius[GRAINS];
static int32_t material[GRAINS];

static void make_grains(void) {
    uint32_t state = 7;
    for (int k = 0; k < GRAINS; k++) {
        radius[k] = k % 40 == 0 ? 0.012f : 0.004f + 0.001f * (float)(k % 3);
        position[k][0] = 0.026f * (float)(k % 8 - 4) + 0.001f * uniform(&state);
        position[k][1] = 0.026f * (float)(k / 8 % 8 - 4) + 0.001f * uniform(&state);
        position[k][2] = 0.015f + 0.026f * (float)(k / 64);
        for (int c = 0; c < 3; c++) {
            velocity[k][c] = 0.2f * (uniform(&state) - 0.5f);
        }
        material[k] = k % 2;
    }
}

/* A world of a scene, with the kernel and the threads that the command names; the program ends where there is none. */
static gg_world *build(gg_world_def *def, int argc, char **argv) {
    gg_world *world = NULL;
    char message[256];
    def->thread_count = argc > 2 ? atoi(argv[2]) : 1;
    if (gg_world_create(def, &world, message, sizeof message) != GG_OK) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    if (argc > 1 && strcmp(argv[1], "default") && gg_world_set_kernel(world, argv[1]) != GG_OK) {
        printf("no kernel\n");
        gg_world_destroy(world);
        exit(0);
    }
    return world;
}

static void step(gg_world *world, double dt, int substeps, const float target[7]) {
    if (gg_world_step(world, dt, substeps, target, NULL, NULL) != GG_OK) {
        fprintf(stderr, "%s\n", gg_world_message(world));
        exit(1);
    }
}

/* Prints the hash of a world, and ends it. A scene without contacts would prove nothing: as many are expected. */
static void tell(gg_world *world, int contacts, int tool_contacts) {
    gg_env_stats stats;
    uint64_t hash = 0;
    gg_world_get_stats(world, &stats);
    gg_world_state_hash(world, 0, &hash);
    gg_world_destroy(world);
    if (stats.contact_count < contacts || stats.tool_contact_count < tool_contacts || stats.diverged) {
        fprintf(stderr, "expected contacts, got %d, with tools %d\n", (int)stats.contact_count,
                (int)stats.tool_contact_count);
        exit(1);
    }
    printf("%016llx\n", (unsigned long long)hash);
}

static void plough(int argc, char **argv) {
    make_grains();
    float density[2] = {2500.0f, 1600.0f};
    /* dry, dry, dry and moist, which resists twisting less than rolling */
    gg_pair pair[4] = {{0.5f, 0.2f, 0.1f, 0.1f, 0.0f, 0.0f},
                       {0.4f, 0.0f, 0.2f, 0.2f, 0.0f, 0.0f},
                       {0.4f, 0.0f, 0.2f, 0.2f, 0.0f, 0.0f},
                       {0.6f, 0.5f, 0.3f, 0.05f, 1.0f, 0.001f}};
    gg_shape parts[2] = {part(GG_SHAPE_BOX, 0.006f, 0.07f, 0.02f, gg_v3(0.0f, 0.0f, 0.0f)),
                         part(GG_SHAPE_SPHERE, 0.02f, 0.0f, 0.0f, gg_v3(0.0f, 0.0f, 0.03f))};
    gg_pose pose = {gg_v3(-0.14f, 0.0f, 0.03f), gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f)};
    gg_world_def def;
    memset(&def, 0, sizeof def);
    def.env_count = 1;
    def.grain_count = GRAINS;
    def.lower = gg_v3(-0.15f, -0.15f, 0.0f);
    def.upper = gg_v3(0.15f, 0.15f, 0.6f);
    for (int axis = 0; axis < 3; axis++) {
        def.boundary[axis][0] = def.boundary[axis][1] = axis == 1 ? GG_BOUNDARY_PERIODIC : GG_BOUNDARY_WALL;
    }
    def.gravity = gg_v3(0.0f, 0.0f, -9.81f);
    def.air.density = 1.2f;
    def.air.viscosity = 1.8e-5f;
    def.air.wind = gg_v3(0.5f, 0.0f, 0.0f);
    def.material_count = 2;
    def.density = density;
    def.pair = pair;
    def.position = position[0];
    def.velocity = velocity[0];
    def.radius = radius;
    def.grain_material = material;
    def.tool_count = 1;
    def.tool_pose = &pose;
    def.part = parts;
    def.part_count = 2;
    def.solver = gg_solver_default();
    gg_world *world = build(&def, argc, argv);
    for (int k = 1; k <= 10; k++) {
        float s = 0.1f * (float)k;
        const float target[7] = {-0.14f + 0.2f * s, 0.0f, 0.03f, 1.0f, 0.0f, 0.1f * s, 0.4f * s};
        step(world, 1e-3, 30, target);
    }
    tell(world, 500, 50);
}

/* The liquid lies in several blocks of nodes along y, where the box is. Their places are rounded to float, which gcc 12
 * left out where it made vectors of them. */
static void dip(int argc, char **argv) {
    enum { count = ACROSS * ALONG * ACROSS };
    const float density = 1000.0f;
    const gg_continuum_material oil = {.viscosity = 0.1, .liquid = 2e5};
    const gg_pair pair = {0.3f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    gg_shape box = part(GG_SHAPE_BOX, 0.02f, 0.02f, 0.02f, gg_v3(0.0f, 0.0f, 0.0f));
    gg_pose pose = {gg_v3(0.03f, 0.07f, 0.055f), gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f)};
    for (int k = 0; k < count; k++) {
        const int at[3] = {k % ACROSS, k / ACROSS % ALONG, k / ACROSS / ALONG};
        for (int axis = 0; axis < 3; axis++) {
            position[k][axis] = (float)(0.5 * CELL) * ((float)at[axis] + 0.5f);
            velocity[k][axis] = 0.0f;
        }
        radius[k] = (float)(0.5 * CELL / (2.0 * GG_CONTINUUM_REACH));
        material[k] = 0;
    }
    gg_world_def def;
    memset(&def, 0, sizeof def);
    def.env_count = 1;
    def.grain_count = count;
    def.lower = gg_v3(0.0f, 0.0f, 0.0f);
    def.upper = gg_v3(0.06f, 0.14f, 0.3f);
    for (int axis = 0; axis < 3; axis++) {
        def.boundary[axis][0] = def.boundary[axis][1] = GG_BOUNDARY_WALL;
    }
    def.gravity = gg_v3(0.0f, 0.0f, -9.81f);
    def.material_count = 1;
    def.density = &density;
    def.pair = &pair;
    def.position = position[0];
    def.velocity = velocity[0];
    def.radius = radius;
    def.grain_material = material;
    def.tool_count = 1;
    def.tool_pose = &pose;
    def.part = &box;
    def.part_count = 1;
    def.continuum.spacing = CELL;
    def.continuum.material = &oil;
    def.solver = gg_solver_default();
    gg_world *world = build(&def, argc, argv);
    for (int k = 1; k <= 2; k++) {
        const float target[7] = {0.03f, 0.07f, 0.055f - 0.003f * (float)k, 1.0f, 0.0f, 0.0f, 0.0f};
        step(world, 5e-3, 1, target);
    }
    tell(world, 0, 20);
}

int main(int argc, char **argv) {
    plough(argc, argv);
    dip(argc, argv);
    return 0;
}
