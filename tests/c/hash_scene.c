/* hash_scene.c: prints the hashes of two runs, to be compared between compilers and optimisation levels. */
#include <stdio.h>
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/gg.h"

#define GRAINS 500

/* grains of one or two sizes fall on a turning box */
static int run(int sizes, int kernel_scalar) {
    static float position[3 * GRAINS], radius[GRAINS];
    static int32_t material[GRAINS];
    const float density = 2500.0f;
    const gg_pair pair = {0.5f, 0.4f, 0.2f, 0.0f};
    const gg_pose pose = {{0.0f, 0.0f, 0.02f}, {1.0f, 0.0f, 0.0f, 0.0f}};
    gg_shape box;
    gg_world_def d;
    gg_world *w;
    char message[256];
    memset(&box, 0, sizeof box);
    memset(&d, 0, sizeof d);
    for (int i = 0; i < GRAINS; i++) {
        radius[i] = i % 4 ? 0.005f : 0.005f / (float)sizes;
        for (int k = 0; k < 3; k++) {
            const int at[3] = {i % 7, i / 7 % 7, i / 49};
            position[3 * i + k] = 0.012f * (float)at[k] + 0.001f * gg_rng_uniform(5, (uint64_t)k, (uint64_t)i) -
                                  (k < 2 ? 0.036f : -0.05f);
        }
    }
    box.kind = GG_SHAPE_BOX;
    box.grid = -1;
    box.size[0] = box.size[1] = 0.03f;
    box.size[2] = 0.01f;
    box.rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    d.env_count = 1;
    d.grain_count = GRAINS;
    d.lower = gg_v3(-0.06f, -0.06f, 0.0f);
    d.upper = gg_v3(0.06f, 0.06f, 0.4f);
    for (int axis = 0; axis < 3; axis++) {
        d.boundary[axis][0] = d.boundary[axis][1] = GG_BOUNDARY_WALL;
    }
    d.gravity = gg_v3(0.0f, 0.0f, -9.81f);
    d.material_count = d.tool_count = d.part_count = 1;
    d.density = &density;
    d.pair = &pair;
    d.position = position;
    d.radius = radius;
    d.grain_material = material;
    d.tool_pose = &pose;
    d.part = &box;
    d.solver = gg_solver_default();
    d.thread_count = 1;
    if (gg_world_create(&d, &w, message, sizeof message) != GG_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    if (kernel_scalar && gg_world_set_kernel(w, "scalar") != GG_OK) {
        return 1;
    }
    for (int step = 0; step < 4; step++) {
        const float target[7] = {0.01f * (float)step, 0.0f, 0.03f, 1.0f, 0.1f, 0.0f, 0.3f * (float)step};
        if (gg_world_step(w, 1e-3, 60, target, NULL, NULL) != GG_OK) {
            fprintf(stderr, "%s\n", gg_world_message(w));
            return 1;
        }
    }
    uint64_t hash;
    gg_world_state_hash(w, 0, &hash);
    printf("%016llx\n", (unsigned long long)hash);
    gg_world_destroy(w);
    return 0;
}

int main(void) { return run(1, 0) || run(3, 1); }
