/* test_world.c: the engine through its C interface: creation, stepping, growth, isolation, snapshots, bad input.
 *
 * Also run by the race check: it steps with one team of many threads and with many teams of one.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/gg.h"
#include "../../csrc/world/world.h"
#include "check.h"

#define GRAINS 400
#define ENVS   5

static float position[3 * GRAINS], radius[GRAINS];
static int32_t material[GRAINS];
static const float density = 2500.0f;
static const gg_pair pair = {0.5f, 0.1f, 0.2f, 0.2f, 0.0f, 0.0f};
static gg_pose pose = {{0.0f, 0.0f, 0.2f}, {1.0f, 0.0f, 0.0f, 0.0f}};
static gg_shape blade;
static gg_camera camera;

/* a jittered lattice over a floor, with a box that can plough through it */
static gg_world_def scene(void) {
    gg_world_def d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < GRAINS; i++) {
        position[3 * i] = 0.011f * (float)(i % 8) - 0.038f + 0.0003f * (float)(i % 3);
        position[3 * i + 1] = 0.011f * (float)(i / 8 % 8) - 0.038f + 0.0003f * (float)(i % 5);
        position[3 * i + 2] = 0.006f + 0.011f * (float)(i / 64);
        radius[i] = i % 7 ? 0.005f : 0.004f;
    }
    memset(&blade, 0, sizeof blade);
    blade.kind = GG_SHAPE_BOX;
    blade.grid = -1;
    blade.size[0] = 0.005f;
    blade.size[1] = 0.02f;
    blade.size[2] = 0.02f;
    blade.rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    memset(&camera, 0, sizeof camera);
    camera.kind = GG_CAMERA_ORTHOGRAPHIC;
    camera.height = camera.width = 16;
    camera.tool = -1;
    camera.pose.position = gg_v3(0.0f, 0.0f, 1.0f);
    camera.pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    camera.extent = 0.05f;
    camera.far_depth = 2.0f;
    d.env_count = ENVS;
    d.grain_count = GRAINS;
    d.lower = gg_v3(-0.05f, -0.05f, 0.0f);
    d.upper = gg_v3(0.05f, 0.05f, 0.3f);
    for (int axis = 0; axis < 3; axis++) {
        d.boundary[axis][0] = d.boundary[axis][1] = GG_BOUNDARY_WALL;
    }
    d.gravity = gg_v3(0.0f, 0.0f, -9.81f);
    d.material_count = 1;
    d.density = &density;
    d.pair = &pair;
    d.position = position;
    d.radius = radius;
    d.grain_material = material;
    d.tool_count = d.part_count = d.camera_count = 1;
    d.tool_pose = &pose;
    d.part = &blade;
    d.camera = &camera;
    d.solver = gg_solver_default();
    d.thread_count = 2;
    return d;
}

static gg_world *world_of(const gg_world_def *d) {
    gg_world *w = NULL;
    char message[256] = "";
    gg_status status = gg_world_create(d, &w, message, sizeof message);
    if (!CHECK(status == GG_OK)) {
        fprintf(stderr, "    %s\n", message);
        exit(1);
    }
    return w;
}

/* the blade goes down into the bed and across it, and back */
static gg_status plough(gg_world *w, int64_t env_count, int steps) {
    float targets[16 * 7];
    gg_status status = GG_OK;
    for (int s = 0; s < steps && status == GG_OK; s++) {
        for (int64_t e = 0; e < env_count; e++) {
            const float target[7] = {s % 2 ? 0.03f : -0.03f, 0.0f, 0.03f, 1.0f, 0.0f, 0.0f, 0.1f * (float)s};
            memcpy(targets + e * 7, target, sizeof target);
        }
        status = gg_world_step(w, 1e-3, CHECK_TIMES(60, 12), targets, NULL, NULL);
    }
    return status;
}

static uint64_t hash_of(gg_world *w, int64_t env) {
    uint64_t hash = 0;
    CHECK(gg_world_state_hash(w, env, &hash) == GG_OK);
    return hash;
}

static void test_threads_and_envs(void) {
    gg_world_def d = scene();
    const int threads[] = {1, 2, 3, 8}, steps = CHECK_TIMES(2, 1);
    const char *const kernels[] = {"scalar", "vector128", "avx2", "avx512"};
    d.env_count = 1;
    gg_world *alone = world_of(&d);
    CHECK(plough(alone, 1, steps) == GG_OK);
    uint64_t expected = hash_of(alone, 0);
    gg_world_destroy(alone);
    for (int k = 0; k < 4; k++) {
        d.env_count = k % 2 ? ENVS : 1;
        d.thread_count = threads[k];
        gg_world *w = world_of(&d);
        if (gg_world_set_kernel(w, kernels[k]) != GG_OK) {
            fprintf(stderr, "    note: %s\n", gg_world_message(w));
        }
        CHECK(plough(w, d.env_count, steps) == GG_OK);
        for (int64_t e = 0; e < d.env_count; e++) {
            CHECK(hash_of(w, e) == expected);
        }
        gg_world_destroy(w);
    }
}

/* enough grains for threads to share each colour: columns of 16 layers in a wider box */
static void test_threads_and_colours(void) {
    enum { count = 4096, side = 16 };
    static float at[3 * count], radii[count];
    static int32_t kinds[count];
    const int32_t modes[] = {GG_MODE_GAUSS_SEIDEL, GG_MODE_PAPER};
    gg_world_def d = scene();
    for (int i = 0; i < count; i++) {
        at[3 * i] = 0.0102f * ((float)(i % side) - 7.5f) + 0.0001f * (float)(i % 3);
        at[3 * i + 1] = 0.0102f * ((float)(i / side % side) - 7.5f) + 0.0001f * (float)(i % 5);
        at[3 * i + 2] = 0.006f + 0.0102f * (float)(i / (side * side));
        radii[i] = 0.005f;
    }
    d.env_count = 1;
    d.grain_count = count;
    d.position = at;
    d.radius = radii;
    d.grain_material = kinds;
    d.tool_count = d.part_count = d.camera_count = 0;
    d.lower = gg_v3(-0.083f, -0.083f, 0.0f);
    d.upper = gg_v3(0.083f, 0.083f, 0.3f);
    for (int m = 0; m < 2; m++) {
        const int32_t threads[] = {1, 2, 3, 8};
        uint64_t expected = 0;
        d.solver.mode = modes[m];
        for (int k = 0; k < 4; k++) {
            d.thread_count = threads[k];
            gg_world *w = world_of(&d);
            CHECK(gg_world_step(w, 1e-3, CHECK_TIMES(20, 6), NULL, NULL, NULL) == GG_OK);
            expected = k ? expected : hash_of(w, 0);
            CHECK(hash_of(w, 0) == expected);
            gg_world_destroy(w);
        }
    }
}

static void test_weight(void) {
    gg_world_def d = scene();
    d.env_count = 1;
    gg_world *w = world_of(&d);
    CHECK(gg_world_step(w, 1e-3, CHECK_TIMES(800, 600), NULL, NULL, NULL) == GG_OK);
    CHECK(gg_world_step(w, 1e-3, 100, NULL, NULL, NULL) == GG_OK);
    float wrench[(GG_WALL_COUNT + 1) * 6];
    CHECK(gg_world_get_wrenches(w, wrench, wrench + 6, GG_HOST) == GG_OK);
    double mass = 0.0, up = 0.0;
    for (int i = 0; i < GRAINS; i++) {
        mass += 2500.0 * 4.0 / 3.0 * 3.14159265358979 * pow(radius[i], 3.0);
    }
    for (int t = 0; t <= GG_WALL_COUNT; t++) {
        up += wrench[6 * t + 2];
    }
    CHECK_NEAR(-up / (mass * 9.81), 1.0, 1e-3);
    gg_env_stats stats;
    CHECK(gg_world_get_stats(w, &stats) == GG_OK);
    CHECK(stats.overlap_max < 0.01f && stats.escaped_count == 0 && stats.diverged == 0);
    gg_world_destroy(w);
}

static void test_snapshot(void) {
    gg_world_def d = scene();
    gg_world *w = world_of(&d), *other;
    CHECK(plough(w, ENVS, 2) == GG_OK);
    size_t size = 0;
    CHECK(gg_world_state_size(w, 3, &size) == GG_OK);
    char *state = malloc(size);
    CHECK(gg_world_save_state(w, 3, state, size) == GG_OK);
    CHECK(gg_world_save_state(w, 3, state, size - 1) == GG_ERROR_ARGUMENT);
    CHECK(plough(w, ENVS, 2) == GG_OK);
    uint64_t straight = hash_of(w, 3);
    /* into another env of a fresh world, whose buffers never grew */
    d.env_count = 2;
    other = world_of(&d);
    const int32_t env = 1;
    CHECK(gg_world_load_state(other, &env, 1, state, size) == GG_OK);
    CHECK(plough(other, 2, 2) == GG_OK);
    CHECK(hash_of(other, 1) == straight);
    CHECK(hash_of(other, 0) != straight);
    /* refused whole: truncated, damaged, foreign, wrong env */
    uint64_t before = hash_of(other, 0);
    CHECK(gg_world_load_state(other, NULL, 0, state, size - 8) == GG_ERROR_STATE);
    CHECK(gg_world_load_state(other, NULL, 0, state, 10) == GG_ERROR_STATE);
    state[size - 5] ^= 1;
    CHECK(gg_world_load_state(other, NULL, 0, state, size) == GG_ERROR_STATE);
    state[size - 5] ^= 1;
    const int32_t wrong = 2;
    CHECK(gg_world_load_state(other, &wrong, 1, state, size) == GG_ERROR_ARGUMENT);
    CHECK(hash_of(other, 0) == before);
    gg_world_destroy(other);
    d.grain_count = GRAINS - 1;
    other = world_of(&d);
    CHECK(gg_world_load_state(other, NULL, 0, state, size) == GG_ERROR_STATE);
    gg_world_destroy(other);
    free(state);
    gg_world_destroy(w);
}

/* one env full of nonsense must not disturb the others */
static void test_isolation(void) {
    gg_world_def d = scene();
    gg_world *w = world_of(&d), *clean = world_of(&d);
    float *speeds = calloc(3 * GRAINS, sizeof(float)), *heap = calloc(3 * GRAINS, sizeof(float));
    speeds[7] = 3e38f;
    gg_grains grains;
    memset(&grains, 0, sizeof grains);
    grains.velocity = speeds;
    const int32_t fast = 1, crowded = 2;
    CHECK(gg_world_set_grains(w, &fast, 1, &grains) == GG_OK);
    CHECK(plough(w, ENVS, 1) == GG_OK);
    gg_env_stats stats[ENVS];
    CHECK(gg_world_get_stats(w, stats) == GG_OK);
    CHECK(stats[1].diverged == 1 && stats[0].diverged == 0 && stats[4].diverged == 0);
    /* all grains of env 2 in one point: refused by name, frozen, the others go on */
    grains.velocity = NULL;
    grains.position = heap;
    CHECK(gg_world_set_grains(w, &crowded, 1, &grains) == GG_OK);
    CHECK(plough(w, ENVS, 1) == GG_ERROR_CAPACITY);
    CHECK(strstr(gg_world_message(w), "env 2") != NULL);
    CHECK(plough(clean, ENVS, 1) == GG_OK);
    CHECK(plough(clean, ENVS, 1) == GG_OK);
    CHECK(hash_of(w, 0) == hash_of(clean, 0) && hash_of(w, 4) == hash_of(clean, 4));
    /* set again, the frozen envs are alive */
    grains.position = position;
    const int32_t both[] = {1, 2};
    float *two = malloc(sizeof position * 2), *zeros = calloc(6 * GRAINS, sizeof(float));
    memcpy(two, position, sizeof position);
    memcpy(two + 3 * GRAINS, position, sizeof position);
    grains.position = two;
    grains.velocity = grains.angular_velocity = zeros;
    CHECK(gg_world_set_grains(w, both, 2, &grains) == GG_OK);
    CHECK(plough(w, ENVS, 1) == GG_OK);
    CHECK(gg_world_get_stats(w, stats) == GG_OK);
    CHECK(stats[1].diverged == 0 && stats[2].diverged == 0 && hash_of(w, 1) == hash_of(w, 2));
    free(two);
    free(zeros);
    free(speeds);
    free(heap);
    gg_world_destroy(w);
    gg_world_destroy(clean);
}

static int stop_now(void *context) {
    (*(int *)context)++;
    return 1;
}

static void test_poll(void) {
    gg_world_def d = scene();
    for (int envs = 1; envs <= ENVS; envs += ENVS - 1) {
        d.env_count = envs;
        gg_world *w = world_of(&d);
        int calls = 0;
        CHECK(gg_world_step(w, 1e-4, 100000000, NULL, stop_now, &calls) == GG_INTERRUPTED);
        CHECK(calls == 1);
        CHECK(gg_world_step(w, 1e-3, 2, NULL, NULL, NULL) == GG_OK);
        gg_world_destroy(w);
    }
}

/* every definition here has one fault, which the message must name */
static void expect_refusal(const gg_world_def *d, const char *word) {
    gg_world *w = (gg_world *)1;
    char message[256] = "";
    CHECK(gg_world_create(d, &w, message, sizeof message) == GG_ERROR_ARGUMENT);
    CHECK(w == NULL);
    if (!CHECK(strstr(message, word) != NULL)) {
        fprintf(stderr, "    expected \"%s\" in \"%s\"\n", word, message);
    }
}

static void test_refusals(void) {
    gg_world_def d = scene();
    d.env_count = 0;
    expect_refusal(&d, "env_count");
    d = scene();
    d.upper.x = d.lower.x;
    expect_refusal(&d, "bounds");
    d = scene();
    d.boundary[1][0] = GG_BOUNDARY_PERIODIC;
    expect_refusal(&d, "boundary");
    d = scene();
    radius[3] = -1.0f;
    expect_refusal(&d, "radius");
    d = scene();
    position[4] = NAN;
    expect_refusal(&d, "position");
    d = scene();
    gg_pair bad = pair;
    bad.restitution = 2.0f;
    d.pair = &bad;
    expect_refusal(&d, "restitution");
    bad = pair;
    bad.friction = NAN;
    expect_refusal(&d, "friction");
    bad = pair;
    bad.twisting_friction = -0.1f;
    expect_refusal(&d, "twisting_friction");
    bad = pair;
    bad.cohesion = -1.0f;
    expect_refusal(&d, "cohesion");
    /* cohesion needs a range, and none wider than the smallest grain */
    bad.cohesion = 1.0f;
    expect_refusal(&d, "cohesion_range");
    bad.cohesion_range = 1.0f;
    expect_refusal(&d, "cohesion_range");
    d = scene();
    d.air.viscosity = NAN;
    expect_refusal(&d, "air");
    d = scene();
    d.air.wind.y = INFINITY;
    expect_refusal(&d, "air");
    d = scene();
    const float nothing = 0.0f;
    d.density = &nothing;
    expect_refusal(&d, "density");
    d = scene();
    d.solver.iterations = 0;
    expect_refusal(&d, "solver.iterations");
    d = scene();
    blade.kind = 99;
    expect_refusal(&d, "part 0");
    d = scene();
    camera.height = 0;
    expect_refusal(&d, "camera 0");
    d = scene();
    gg_world *w = world_of(&d);
    const double steps[] = {0.0, -1e-3, NAN, INFINITY, 2.0, 1e-60};
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        CHECK(gg_world_step(w, steps[k], 1, NULL, NULL, NULL) == GG_ERROR_ARGUMENT);
    }
    CHECK(gg_world_step(w, 1e-3, 0, NULL, NULL, NULL) == GG_ERROR_ARGUMENT);
    float targets[ENVS * 7] = {0};
    CHECK(gg_world_step(w, 1e-3, 1, targets, NULL, NULL) == GG_ERROR_ARGUMENT);
    gg_world_destroy(w);
}

static void test_empty(void) {
    gg_world_def d = scene();
    d.grain_count = 0;
    gg_world *w = world_of(&d);
    CHECK(plough(w, ENVS, 2) == GG_OK);
    float depth[ENVS * 16 * 16];
    CHECK(gg_world_depth(w, 0, depth, GG_HOST) == GG_OK);
    CHECK(gg_world_depth(w, 1, depth, GG_HOST) == GG_ERROR_ARGUMENT);
    float boxes[ENVS * 6] = {0}, mean[ENVS];
    int64_t count[ENVS];
    CHECK(gg_world_box_stats(w, boxes, 1, count, mean, GG_HOST) == GG_OK);
    CHECK(count[0] == 0 && mean[0] == 0.0f);
    float lower[3] = {0.0f, 0.0f, 0.0f}, upper[3] = {1.0f, 1.0f, 1.0f};
    int32_t shape[3] = {2, 1, 1}, flat[3] = {2, 0, 1};
    int64_t cells[ENVS * 2] = {7};
    CHECK(gg_world_count_cells(w, lower, upper, shape, NULL, cells, GG_HOST) == GG_OK);
    CHECK(cells[0] == 0 && cells[ENVS * 2 - 1] == 0);
    CHECK(gg_world_count_cells(w, lower, upper, flat, NULL, cells, GG_HOST) == GG_ERROR_ARGUMENT);
    CHECK(gg_world_count_columns(w, upper, lower, shape, cells, GG_HOST) == GG_ERROR_ARGUMENT);
    float upright[ENVS * 10] = {0};
    CHECK(gg_world_count_boxes(w, upright, 1, cells, GG_HOST) == GG_ERROR_ARGUMENT);
    for (int e = 0; e < ENVS; e++) {
        upright[e * 10 + 3] = 1.0f;
    }
    CHECK(gg_world_count_boxes(w, upright, 1, cells, GG_HOST) == GG_OK);
    CHECK(cells[0] == 0);
    gg_world_destroy(w);
    gg_world_destroy(NULL);
}

/* the bed as continuous matter, on threads that share an env */
static void test_matter(void) {
    const gg_continuum_material soft = {1e5, 5e4, GG_UNYIELDING, 0.0, GG_UNYIELDING, 0.0, 0.0, 0.0, 0.0};
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        gg_world_def d = scene();
        d.env_count = 1;
        d.continuum.spacing = 0.02;
        d.continuum.material = &soft;
        d.thread_count = k ? 4 : 1;
        gg_world *w = world_of(&d);
        const float target[7] = {0.0f, 0.0f, 0.07f, 1.0f, 0.0f, 0.0f, 0.0f};
        CHECK(gg_world_step(w, 5e-3, CHECK_TIMES(10, 4), target, NULL, NULL) == GG_OK);
        gg_env_stats stats;
        CHECK(gg_world_get_stats(w, &stats) == GG_OK);
        CHECK(stats.tool_contact_count > 50 && !stats.diverged && !stats.unsolved_count);
        hash[k] = hash_of(w, 0);
        gg_world_destroy(w);
    }
    CHECK(hash[0] == hash[1]);
}

/* how many threads a default takes */
static int32_t useful(gg_law law, int64_t env_count, int64_t grain_count, int32_t threads) {
    gg_dims dims;
    memset(&dims, 0, sizeof dims);
    dims.env_count = env_count;
    dims.grain_count = grain_count;
    return gg_executor_useful_threads(&dims, law, threads);
}

static void test_useful(void) {
    for (gg_law law = GG_LAW_spheres; law <= GG_LAW_coloured; law++) {
        const int64_t grains = gg_grains_per_thread(law);
        CHECK(useful(law, 1, 0, 8) == 1);
        CHECK(useful(law, 1, 2 * grains - 1, 8) == 1);
        CHECK(useful(law, 1, 2 * grains, 8) == 2);
        CHECK(useful(law, 1, 100 * grains, 8) == 8);
        CHECK(useful(law, 1, 100 * grains, 1) == 1);
        CHECK(useful(law, 3, 10, 8) == 3);
        CHECK(useful(law, 2, 4 * grains, 8) == 8);
        CHECK(useful(law, 64, 10, 2) == 2);
    }
    CHECK(gg_grains_per_thread(GG_LAW_coloured) > gg_grains_per_thread(GG_LAW_spheres));
}

/* how many substeps a GPU is given at a time */
static void test_chunks(void) {
    const double quick = 0.01, right = 0.05, slow = 0.1;
    /* calls of 50 substeps that are quick: one launch each from the second call on */
    int32_t chunk = GG_CHUNK_FIRST, launches = 0;
    const int32_t expected[] = {3, 1, 1, 1, 1};
    for (int call = 0; call < 5; call++) {
        launches = 0;
        for (int32_t left = 50; left > 0; launches++) {
            int32_t run = chunk < left ? chunk : left;
            chunk = gg_chunk_next(chunk, left, quick);
            left -= run;
        }
        CHECK(launches == expected[call]);
    }
    /* what was not run in full says nothing */
    CHECK(chunk == 64 && gg_chunk_next(64, 63, quick) == 64 && gg_chunk_next(64, 64, quick) == 128);
    CHECK(gg_chunk_next(64, 64, right) == 64 && gg_chunk_next(64, 10, right) == 64);
    CHECK(gg_chunk_next(64, 64, slow) == 32 && gg_chunk_next(64, 10, slow) == 32);
    CHECK(gg_chunk_next(1, 1, slow) == 1 && gg_chunk_next(1 << 20, 1 << 20, quick) == 1 << 20);
}

/* this program is linked with no CUDA backend: what asks for one is told why */
static void test_no_cuda(void) {
    char message[256] = "";
    int32_t count = 1;
    gg_device_info info;
    CHECK(!gg_device_built());
    CHECK(gg_device_count(&count, message, sizeof message) == GG_ERROR_BACKEND && count == 0);
    CHECK(strstr(message, "it was built without nvcc") != NULL);
    message[0] = 0;
    CHECK(gg_device_get_info(0, &info, message, sizeof message) == GG_ERROR_BACKEND);
    CHECK(strstr(message, "it was built without nvcc") != NULL);
    gg_world_def d = scene();
    d.gpu = 1;
    gg_world *w = NULL;
    message[0] = 0;
    CHECK(gg_world_create(&d, &w, message, sizeof message) == GG_ERROR_BACKEND && !w);
    CHECK(strstr(message, "it was built without nvcc") != NULL);
}

int main(void) {
    gg_threads_pretend_cores(8); /* more threads than cores give the same bits */
    test_threads_and_envs();
    test_threads_and_colours();
    test_weight();
    test_snapshot();
    test_isolation();
    test_poll();
    test_refusals();
    test_empty();
    test_matter();
    test_useful();
    test_chunks();
    test_no_cuda();
    return check_report();
}
