/* test_memory.c: every allocation of the engine fails once, in turn: the call says so, leaks nothing, changes nothing,
 * and the same call afterwards gives the bits of a world that was never disturbed.
 *
 * Linked with --wrap (tests/unit/test_c.py), so that the allocations of the engine come here and those of the C
 * library do not.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../csrc/gg.h"
#include "check.h"
#include "failing_malloc.h"

/* ---- the scene: sand falls into a heap, a blade goes through it ---- */

#define GRAINS   160
#define MAX_ENVS 4
#define STEPS    6
#define SUBSTEPS 12
#define DT       2e-3

static float position[3 * GRAINS], radius[GRAINS];
static int32_t material[GRAINS];
static float samples[4 * 4 * 4];
static const float density = 2500.0f;
static const gg_pair pair = {0.5f, 0.1f, 0.0f, 0.0f, 0.0f, 0.0f}, rolling = {0.5f, 0.1f, 0.3f, 0.3f, 0.0f, 0.0f};
static const gg_pose pose = {{0.0f, 0.0f, 0.1f}, {1.0f, 0.0f, 0.0f, 0.0f}};
static gg_shape parts[2];
static gg_camera camera;
static gg_sdf_grid grid;

static gg_world_def scene(int env_count, int thread_count) {
    gg_world_def d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < GRAINS; i++) {
        position[3 * i] = 0.0125f * (float)(i % 4) - 0.02f + 0.0004f * (float)(i % 3);
        position[3 * i + 1] = 0.0125f * (float)(i / 4 % 4) - 0.02f + 0.0004f * (float)(i % 5);
        position[3 * i + 2] = 0.012f + 0.02f * (float)(i / 16);
        radius[i] = i % 16 == 5 ? 0.0095f : i % 7 ? 0.005f : 0.004f;
    }
    memset(parts, 0, sizeof parts);
    grid.count[0] = grid.count[1] = grid.count[2] = 4;
    grid.spacing = 0.01f;
    grid.origin = gg_v3(-0.015f, -0.015f, -0.015f);
    for (int k = 0; k < 64; k++) {
        samples[k] = 0.01f * (float)(k / 16 - 2);
    }
    for (int k = 0; k < 2; k++) {
        parts[k].kind = k ? GG_SHAPE_GRID : GG_SHAPE_BOX;
        parts[k].grid = k - 1;
        parts[k].size[0] = 0.004f;
        parts[k].size[1] = parts[k].size[2] = k ? 0.0f : 0.015f;
        parts[k].position.z = k ? 0.05f : 0.0f;
        parts[k].rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    }
    camera.kind = GG_CAMERA_ORTHOGRAPHIC;
    camera.height = camera.width = 12;
    camera.tool = -1;
    camera.pose.position = gg_v3(0.0f, 0.0f, 1.0f);
    camera.pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    camera.extent = 0.03f;
    camera.far_depth = 2.0f;
    d.env_count = env_count;
    d.grain_count = GRAINS;
    d.lower = gg_v3(-0.026f, -0.026f, 0.0f);
    d.upper = gg_v3(0.026f, 0.026f, 0.5f);
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
    d.tool_count = d.camera_count = d.grid_count = 1;
    d.part_count = 2;
    d.tool_pose = &pose;
    d.part = parts;
    d.grid = &grid;
    d.sample = samples;
    d.sample_count = 64;
    d.camera = &camera;
    d.solver = gg_solver_default();
    d.solver.mode = GG_MODE_JACOBI; /* its buffers of contacts outgrow their first sizes in so small a scene */
    d.thread_count = thread_count;
    return d;
}

static gg_world *world_of(int env_count, int thread_count) {
    gg_world_def d = scene(env_count, thread_count);
    gg_world *w = NULL;
    if (!CHECK(gg_world_create(&d, &w, NULL, 0) == GG_OK)) {
        exit(1);
    }
    /* each env lives under a gravity of its own, so that buffers grow at different times */
    float gravity[3 * MAX_ENVS] = {0};
    for (int e = 0; e < env_count; e++) {
        gravity[3 * e] = 1.5f * (float)e;
        gravity[3 * e + 2] = -25.0f - 8.0f * (float)e;
    }
    CHECK(gg_world_set_gravity(w, NULL, 0, gravity) == GG_OK);
    return w;
}

static uint64_t hash_of(gg_world *w, int64_t env) {
    uint64_t hash = 0;
    CHECK(gg_world_state_hash(w, env, &hash) == GG_OK);
    return hash;
}

static int64_t env_count_of(const gg_world *w) {
    gg_world_info info;
    gg_world_get_info(w, &info);
    return info.env_count;
}

/* of all envs */
static uint64_t whole(gg_world *w) {
    uint64_t hash = 0;
    for (int64_t e = 0; e < env_count_of(w); e++) {
        hash = hash * 31 + hash_of(w, e);
    }
    return hash;
}

static gg_status plough(gg_world *w, int s) {
    float targets[MAX_ENVS * 7] = {0};
    for (int e = 0; e < MAX_ENVS; e++) {
        targets[7 * e] = s % 2 ? 0.012f : -0.012f;
        targets[7 * e + 2] = 0.1f - 0.015f * (float)(s + 1);
        targets[7 * e + 3] = 1.0f;
    }
    return gg_world_step(w, DT, SUBSTEPS, targets, NULL, NULL);
}

/* ---- creation ---- */

static void test_create(void) {
    gg_world_def d = scene(2, 1);
    long n = 1, before = blocks;
    for (int failed = 1; failed; n++) {
        gg_world *w = (gg_world *)1;
        char message[256] = "";
        arm(n, n);
        gg_status status = gg_world_create(&d, &w, message, sizeof message);
        failed = disarm();
        if (failed) {
            CHECK(status == GG_ERROR_MEMORY && w == NULL && strstr(message, "memory") != NULL);
        } else {
            CHECK(status == GG_OK && w != NULL);
            gg_world_destroy(w);
        }
        CHECK(blocks == before);
    }
    CHECK(n > 8);
    /* more than the machine can name */
    gg_world *w;
    d.env_count = 1000000;
    camera.height = camera.width = 16384;
    CHECK(gg_world_create(&d, &w, NULL, 0) == GG_ERROR_MEMORY && blocks == before);
}

/* ---- calls that work or change nothing ---- */

typedef struct outcome {
    uint64_t hash; /* of what the call wrote */
    void *state;   /* what save_state saved */
    size_t state_size;
} outcome;

typedef gg_status (*operation)(gg_world *w, outcome *out);

static uint64_t hash_bytes(const void *data, size_t size) {
    uint64_t hash = 1469598103934665603u;
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ ((const unsigned char *)data)[k]) * 1099511628211u;
    }
    return hash;
}

static gg_status add_rolling(gg_world *w, outcome *out) {
    gg_pair table[MAX_ENVS];
    for (int e = 0; e < MAX_ENVS; e++) {
        table[e] = rolling;
    }
    (void)out;
    return gg_world_set_materials(w, NULL, 0, table, NULL);
}

static gg_status take_picture(gg_world *w, outcome *out) {
    gg_picture picture;
    static uint8_t rgb[24 * 24 * 3];
    memset(&picture, 0, sizeof picture);
    memset(rgb, 0, sizeof rgb);
    picture.camera = camera;
    picture.camera.height = picture.camera.width = 24;
    picture.light = gg_v3(0.3f, 0.2f, 1.0f);
    picture.samples = 1;
    gg_status status = gg_world_picture(w, 1, &picture, rgb);
    out->hash = hash_bytes(rgb, sizeof rgb);
    return status;
}

static gg_status take_depth(gg_world *w, outcome *out) {
    static float depth[MAX_ENVS * 144];
    gg_status status = gg_world_depth(w, 0, depth, GG_HOST);
    out->hash = hash_bytes(depth, sizeof depth);
    return status;
}

static gg_status save(gg_world *w, outcome *out) {
    size_t size = 0;
    gg_status status = gg_world_state_size(w, 0, &size);
    void *state = __real_calloc(1, size);
    status = status == GG_OK ? gg_world_save_state(w, 0, state, size) : status;
    out->hash = hash_bytes(state, size);
    __real_free(state);
    return status;
}

static gg_status profile(gg_world *w, outcome *out) {
    (void)out;
    return gg_world_profile(w, 1, NULL);
}

/* a state of a world whose buffers have grown */
static void *grown_state;
static size_t grown_size;

static gg_status load(gg_world *w, outcome *out) {
    (void)out;
    return gg_world_load_state(w, NULL, 0, grown_state, grown_size);
}

static void make_grown_state(void) {
    gg_world *w = world_of(2, 1);
    CHECK(add_rolling(w, NULL) == GG_OK);
    for (int s = 0; s < STEPS; s++) {
        CHECK(plough(w, s) == GG_OK);
    }
    CHECK(gg_world_state_size(w, 1, &grown_size) == GG_OK);
    grown_state = __real_calloc(1, grown_size);
    CHECK(gg_world_save_state(w, 1, grown_state, grown_size) == GG_OK);
    gg_world_destroy(w);
}

/* how many allocations the operation makes */
static long try_operation(operation run) {
    outcome expected = {0}, got = {0};
    gg_world *w = world_of(2, 1);
    CHECK(plough(w, 0) == GG_OK && run(w, &expected) == GG_OK);
    uint64_t after = whole(w);
    CHECK(plough(w, 1) == GG_OK);
    uint64_t later = whole(w);
    gg_world_destroy(w);
    for (long n = 1;; n++) {
        w = world_of(2, 1);
        CHECK(plough(w, 0) == GG_OK);
        uint64_t before = whole(w);
        long held = blocks;
        arm(n, n);
        gg_status status = run(w, &got);
        int failed = disarm();
        if (failed) {
            CHECK(status == GG_ERROR_MEMORY && strstr(gg_world_message(w), "memory") != NULL);
            CHECK(blocks == held && whole(w) == before);
            status = run(w, &got);
        }
        CHECK(status == GG_OK && got.hash == expected.hash && whole(w) == after);
        CHECK(plough(w, 1) == GG_OK && whole(w) == later);
        gg_world_destroy(w);
        if (!failed) {
            return n - 1;
        }
    }
}

/* a refused change is no change: the next step is that of a world that was never asked */
static void test_refused_change(operation run) {
    gg_world *w = world_of(2, 1), *clean = world_of(2, 1);
    outcome none = {0};
    arm(1, 1);
    CHECK(run(w, &none) == GG_ERROR_MEMORY);
    CHECK(disarm());
    for (int s = 0; s < STEPS; s++) {
        CHECK(plough(w, s) == GG_OK && plough(clean, s) == GG_OK);
        CHECK(whole(w) == whole(clean));
    }
    gg_world_destroy(w);
    gg_world_destroy(clean);
}

static void test_profile_is_kept(void) {
    gg_world *w = world_of(1, 1);
    double *before = __real_calloc((size_t)gg_phase_count(), sizeof(double));
    double *after = __real_calloc((size_t)gg_phase_count(), sizeof(double));
    CHECK(gg_world_profile(w, 1, NULL) == GG_OK && plough(w, 0) == GG_OK);
    arm(1, 1);
    CHECK(gg_world_profile(w, 1, before) == GG_ERROR_MEMORY);
    CHECK(disarm());
    CHECK(gg_world_profile(w, 0, after) == GG_OK);
    double all = 0.0;
    for (int phase = 0; phase < gg_phase_count(); phase++) {
        all += after[phase];
    }
    CHECK(!memcmp(before, after, (size_t)gg_phase_count() * sizeof(double)) && all > 0.0);
    __real_free(before);
    __real_free(after);
    gg_world_destroy(w);
}

/* ---- growth in the middle of a step ---- */

/* Allocations number n to n + more of the whole run fail; each failed step is asked for again. Returns whether any
 * did. */
static int grow_through(long n, long more, int env_count, int thread_count, const uint64_t *expected) {
    gg_world *w = world_of(env_count, thread_count);
    int any = 0;
    arm(n, n + more);
    for (int s = 0; s < STEPS; s++) {
        gg_status status = plough(w, s);
        for (long again = 0; status == GG_ERROR_MEMORY && again <= more; again++) {
            any = 1;
            CHECK(strstr(gg_world_message(w), "memory") != NULL);
            /* what can be read shows a world that stands still */
            outcome out;
            long left = calls;
            CHECK(take_depth(w, &out) == GG_OK && save(w, &out) == GG_OK && calls == left);
            status = plough(w, s);
        }
        CHECK(status == GG_OK);
        for (int e = 0; e < env_count; e++) {
            CHECK(hash_of(w, e) == expected[s * MAX_ENVS + e]);
        }
    }
    CHECK(disarm() == any);
    gg_world_destroy(w);
    return any;
}

static void test_growth(int env_count, int thread_count) {
    uint64_t expected[STEPS * MAX_ENVS] = {0};
    gg_world *w = world_of(env_count, thread_count);
    gg_env_stats stats[MAX_ENVS];
    int growths = 0;
    for (int s = 0; s < STEPS; s++) {
        CHECK(plough(w, s) == GG_OK);
        CHECK(gg_world_get_stats(w, stats) == GG_OK);
        for (int e = 0; e < env_count; e++) {
            expected[s * MAX_ENVS + e] = hash_of(w, e);
            growths += stats[e].growth_count;
        }
    }
    gg_world_destroy(w);
    CHECK(growths >= 2 * env_count);
    long held = blocks, n = 1;
    while (grow_through(n, 0, env_count, thread_count, expected)) {
        n++;
    }
    CHECK(n > 3);
    CHECK(grow_through(1, 2, env_count, thread_count, expected));
    CHECK(blocks == held);
}

/* After a failure each env stands at the end of a whole substep, and another step goes on from there. */
static void test_failed_growth_left_alone(void) {
    enum { TOTAL = STEPS * SUBSTEPS };
    static uint64_t path[(TOTAL + 1) * 2];
    gg_world *w = world_of(2, 1);
    for (int k = 0; k <= TOTAL; k++) {
        for (int e = 0; e < 2; e++) {
            path[2 * k + e] = hash_of(w, e);
        }
        CHECK(gg_world_step(w, DT, 1, NULL, NULL, NULL) == GG_OK);
    }
    gg_world_destroy(w);
    int failures = 0;
    for (long n = 1;; n++) {
        w = world_of(2, 1);
        arm(n, n);
        gg_status status = gg_world_step(w, DT, TOTAL, NULL, NULL, NULL);
        if (!disarm()) {
            gg_world_destroy(w);
            break;
        }
        failures++;
        CHECK(status == GG_ERROR_MEMORY);
        int at[2] = {0, 0};
        for (int e = 0; e < 2; e++) {
            uint64_t hash = hash_of(w, e);
            while (at[e] < TOTAL && path[2 * at[e] + e] != hash) {
                at[e]++;
            }
            CHECK(at[e] > 0 && path[2 * at[e] + e] == hash);
        }
        CHECK(at[0] < TOTAL || at[1] < TOTAL);
        /* another length: not the step that failed */
        CHECK(gg_world_step(w, DT, 1, NULL, NULL, NULL) == GG_OK);
        for (int e = 0; e < 2; e++) {
            CHECK(at[e] == TOTAL || hash_of(w, e) == path[2 * (at[e] + 1) + e]);
        }
        /* the step that failed is forgotten by then */
        CHECK(gg_world_step(w, DT, 2, NULL, NULL, NULL) == GG_OK);
        for (int e = 0; e < 2; e++) {
            CHECK(at[e] + 3 > TOTAL || hash_of(w, e) == path[2 * (at[e] + 3) + e]);
        }
        gg_world_destroy(w);
    }
    CHECK(failures > 2);
}

/* ---- helpers without a world ---- */

static void test_mesh(void) {
    const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    gg_sdf_grid g;
    memset(&g, 0, sizeof g);
    g.count[0] = g.count[1] = g.count[2] = 4;
    g.spacing = 0.5f;
    g.origin = gg_v3(-0.25f, -0.25f, -0.25f);
    float expected[64], got[64];
    CHECK(gg_mesh_to_grid(vertices, 4, faces, 4, &g, expected, 1, NULL, 0) == GG_OK);
    long held = blocks, n = 1;
    for (int failed = 1; failed; n++) {
        char message[256] = "";
        arm(n, n);
        gg_status status = gg_mesh_to_grid(vertices, 4, faces, 4, &g, got, 1, message, sizeof message);
        failed = disarm();
        CHECK(status == (failed ? GG_ERROR_MEMORY : GG_OK) && (!failed || strstr(message, "memory")));
        CHECK(blocks == held);
    }
    CHECK(n > 4 && !memcmp(expected, got, sizeof got));
}

static size_t read_all(const char *path, char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(bytes, 1, size, file) : 0;
    if (file) {
        fclose(file);
    }
    return got;
}

static void test_png(void) {
    static uint8_t pixels[16 * 12 * 3];
    static char before[1 << 16], after[1 << 16];
    const char *path = "test_memory.tmp.png";
    for (size_t k = 0; k < sizeof pixels; k++) {
        pixels[k] = (uint8_t)(k * k / 37);
    }
    CHECK(gg_write_png(path, 8, 12, 3, pixels) == GG_OK);
    size_t size = read_all(path, before, sizeof before);
    CHECK(size > 100 && size < sizeof before);
    long held = blocks, n = 1;
    for (int failed = 1; failed; n++) {
        arm(n, n);
        gg_status status = gg_write_png(path, 16, 12, 3, pixels);
        failed = disarm();
        CHECK(status == (failed ? GG_ERROR_MEMORY : GG_OK) && blocks == held);
        /* the picture that was there is still there */
        CHECK(!failed || (read_all(path, after, sizeof after) == size && !memcmp(before, after, size)));
    }
    CHECK(n > 10);
    remove(path);
}

int main(void) {
    test_create();
    make_grown_state();
    CHECK(try_operation(add_rolling) == 1);
    /* to check the state, to grow, and zeros for what it may lack */
    CHECK(try_operation(load) == 3);
    CHECK(try_operation(take_picture) == 1);
    CHECK(try_operation(profile) == 1);
    CHECK(try_operation(take_depth) == 0);
    CHECK(try_operation(save) == 0);
    test_refused_change(add_rolling);
    test_refused_change(load);
    test_profile_is_kept();
    test_growth(1, 1);
    test_growth(3, 2);
    if (check_full()) {
        test_growth(4, 2);
    }
    test_failed_growth_left_alone();
    test_mesh();
    test_png();
    __real_free(grown_state);
    CHECK(blocks == 0);
    return check_report();
}
