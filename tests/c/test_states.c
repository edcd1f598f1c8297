/* test_states.c: states that were tampered with: refused whole, or safe to go on from.
 *
 * Mutations of the header and of every field, most with the checksum mended, so that the rules of state_check.c decide.
 * What is accepted is stepped, read and moved; what is refused must have changed no bit. Run under AddressSanitizer
 * too, which finds what only reads out of bounds. An argument is the number of mutations.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/world/world.h"
#include "check.h"

#define GRAINS   20
#define HEADER   88
#define CHECK_AT 24
#define ENVS     2

static float position[3 * GRAINS], radius[GRAINS];
static int32_t material[GRAINS];
static const float densities[2] = {2500.0f, 1500.0f};
static gg_pair pairs[4];
static gg_pose pose = {{0.0f, 0.0f, 0.02f}, {1.0f, 0.0f, 0.0f, 0.0f}};
static gg_shape ball;

/* two layers over a floor and under a ball, of two sizes and materials */
static gg_world_def scene(float rolling, float cohesion, int32_t broad_phase) {
    gg_world_def d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < GRAINS; i++) {
        position[3 * i] = 0.0099f * (float)(i % 4) - 0.015f + 0.0003f * (float)(i % 3);
        position[3 * i + 1] = 0.0099f * (float)(i / 4 % 3) - 0.01f;
        position[3 * i + 2] = 0.005f + 0.0097f * (float)(i / 12);
        radius[i] = i % 7 ? 0.005f : 0.0015f;
        material[i] = i % 2;
    }
    for (int k = 0; k < 4; k++) {
        const gg_pair one = {0.5f, 0.1f, rolling, rolling, cohesion, cohesion > 0.0f ? 0.0004f : 0.0f};
        pairs[k] = one;
    }
    memset(&ball, 0, sizeof ball);
    ball.kind = GG_SHAPE_SPHERE;
    ball.grid = -1;
    ball.size[0] = 0.008f;
    ball.rotation = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    d.env_count = ENVS;
    d.grain_count = GRAINS;
    d.lower = gg_v3(-0.03f, -0.03f, 0.0f);
    d.upper = gg_v3(0.03f, 0.03f, 0.1f);
    for (int axis = 0; axis < 3; axis++) {
        d.boundary[axis][0] = d.boundary[axis][1] =
            axis == 1 && broad_phase == GG_BROAD_CELLS ? GG_BOUNDARY_PERIODIC : GG_BOUNDARY_WALL;
    }
    d.gravity = gg_v3(0.0f, 0.0f, -9.81f);
    d.material_count = 2;
    d.density = densities;
    d.pair = pairs;
    d.position = position;
    d.radius = radius;
    d.grain_material = material;
    d.tool_count = d.part_count = 1;
    d.tool_pose = &pose;
    d.part = &ball;
    d.solver = gg_solver_default();
    d.solver.broad_phase = broad_phase;
    d.thread_count = 1;
    return d;
}

static gg_world *world_of(const gg_world_def *d) {
    gg_world *w = NULL;
    char message[256] = "";
    if (!CHECK(gg_world_create(d, &w, message, sizeof message) == GG_OK)) {
        fprintf(stderr, "    %s\n", message);
        exit(1);
    }
    return w;
}

typedef struct saved {
    char *data;
    size_t size;
    gg_dims dims;
} saved;

static saved save(gg_world *w) {
    saved s = {NULL, 0, w->view.dims};
    CHECK(gg_world_state_size(w, 0, &s.size) == GG_OK);
    s.data = calloc(1, s.size);
    CHECK(gg_world_save_state(w, 0, s.data, s.size) == GG_OK);
    return s;
}

static uint64_t draws;
static uint64_t below(uint64_t count) { return gg_rng_bits(19, 5, draws++) % count; }

/* the checksum that fits a state */
static void mend(char *data, size_t size) {
    const uint64_t none = 0, size_now = size;
    memcpy(data + 16, &size_now, 8);
    memcpy(data + CHECK_AT, &none, 8);
    uint64_t check = gg_hash_bytes(gg_hash_bytes(0, data, HEADER), data + HEADER, size - HEADER);
    memcpy(data + CHECK_AT, &check, 8);
}

/* the bytes of a random field: all fields are hit, however small */
static void choose_field(const gg_dims *dims, size_t *first, size_t *size) {
    size_t at = HEADER, count = 0, begin[GG_FIELD_COUNT], sizes[GG_FIELD_COUNT];
    for (int f = 0; f < GG_FIELD_COUNT; f++) {
        int keep = 0;
        size_t field = gg_field_size(dims, (gg_field_id)f, &keep);
        if (keep && field) {
            begin[count] = at;
            sizes[count++] = field;
            at += field;
        }
    }
    size_t chosen = below(count);
    *first = begin[chosen];
    *size = sizes[chosen];
}

/* one change of a word or a bit */
static void mutate(char *data, size_t first, size_t size) {
    static const int32_t integers[] = {0, 1, -1, 2, GRAINS, GRAINS - 1, 31, 32, 1 << 20, INT32_MAX, INT32_MIN};
    static const float floats[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 0.0f, 1e-40f, -1.0f, 0.005f, 3.4e38f};
    size_t word = first + below(size / 4) * 4, other = first + below(size / 4) * 4;
    int32_t value;
    switch (below(6)) {
    case 0:
        memcpy(data + word, &integers[below(sizeof integers / sizeof *integers)], 4);
        break;
    case 1:
        memcpy(data + word, &floats[below(sizeof floats / sizeof *floats)], 4);
        break;
    case 2: /* a number near the one that was there */
        memcpy(&value, data + word, 4);
        value = (int32_t)((uint32_t)value + (uint32_t)below(9) - 4u);
        memcpy(data + word, &value, 4);
        break;
    case 3: /* two words change places */
        memcpy(&value, data + word, 4);
        memcpy(data + word, data + other, 4);
        memcpy(data + other, &value, 4);
        break;
    default:
        data[first + below(size)] ^= (char)(1u << below(8));
    }
}

/* calls that read what was loaded */
static void use(gg_world *w) {
    static float floats[ENVS * GRAINS * 3];
    static int32_t sides[2 * 1000];
    static float vectors[4][3 * 1000];
    static const float shift[3] = {0.001f, 0.0f, 0.0f}, yaw = 0.1f;
    const int32_t env = 0;
    int64_t count;
    double dt;
    gg_grains out = {0};
    out.position = floats;
    const gg_contact_list list = {sides, vectors[0], vectors[1], vectors[2], vectors[3]};
    gg_world_get_contacts(w, 0, 1000, &list, &count, &dt);
    gg_world_get_grains(w, &out, GG_HOST);
    gg_world_step(w, 1e-3, 1, NULL, NULL, NULL);
    if (below(4) == 0) {
        gg_world_transform_grains(w, &env, 1, shift, &yaw);
        gg_world_step(w, 1e-3, 2, NULL, NULL, NULL);
    }
}

static uint64_t hash_of(gg_world *w, int64_t env) {
    uint64_t hash = 0;
    CHECK(gg_world_state_hash(w, env, &hash) == GG_OK);
    return hash;
}

/* both envs, as bytes */
static uint64_t hash_all(gg_world *w) {
    saved s = save(w);
    uint64_t hash = gg_hash_bytes(hash_of(w, 1), s.data, s.size);
    free(s.data);
    return hash;
}

typedef struct counts {
    long accepted, refused, failed;
} counts;

/* loads mutations of a state into env 0 of a world; env 1 goes on undisturbed */
static void attack(const gg_world_def *d, const saved *good, long mutations, counts *all) {
    static const int32_t env = 0;
    gg_world *w = world_of(d), *clean = world_of(d);
    char *data = malloc(good->size + 64);
    for (long k = 0; k < mutations; k++) {
        size_t size = good->size, first = 0, field = HEADER;
        memset(data, 0, good->size + 64);
        memcpy(data, good->data, good->size);
        int in_header = below(8) == 0;
        for (uint64_t changes = 1 + below(3); changes > 0; changes--) {
            if (!in_header) {
                choose_field(&good->dims, &first, &field);
            }
            mutate(data, first, field);
        }
        if (below(50) == 0) {
            size = below(2) ? HEADER + below(size - HEADER) : size + below(64);
        }
        if (below(10)) {
            mend(data, size);
        }
        uint64_t before = k % 32 == 0 ? hash_all(w) : 0;
        gg_status status = gg_world_load_state(w, &env, 1, data, size);
        all->accepted += status == GG_OK;
        all->refused += status == GG_ERROR_STATE;
        all->failed += status != GG_OK && status != GG_ERROR_STATE;
        if (status == GG_OK) {
            use(w);
        } else if (k % 32 == 0) {
            CHECK(hash_all(w) == before);
        }
        if (k % 512 == 511) {
            /* what was accepted has left no trace in either env */
            CHECK(gg_world_load_state(w, NULL, 0, good->data, good->size) == GG_OK);
            CHECK(gg_world_load_state(clean, NULL, 0, good->data, good->size) == GG_OK);
            CHECK(gg_world_step(w, 1e-3, 3, NULL, NULL, NULL) == GG_OK);
            CHECK(gg_world_step(clean, 1e-3, 3, NULL, NULL, NULL) == GG_OK);
            CHECK(hash_of(w, 0) == hash_of(clean, 0) && hash_of(w, 1) == hash_of(clean, 1));
            gg_world_destroy(w);
            w = world_of(d);
        }
    }
    free(data);
    gg_world_destroy(w);
    gg_world_destroy(clean);
}

static void test_mutations(long mutations) {
    counts all = {0, 0, 0};
    for (int kind = 0; kind < 6; kind++) {
        gg_world_def d = scene(kind ? 0.1f : 0.0f, kind % 3 == 2 ? 0.5f : 0.0f, kind == 3 ? GG_BROAD_LINKED_HASH : 0);
        d.solver.mode = kind > 3 ? GG_MODE_GAUSS_SEIDEL : GG_MODE_JACOBI;
        d.solver.sleep = kind == 5;
        gg_world *w = world_of(&d);
        /* long enough for grains to fall asleep, one after another */
        for (int step = 0; kind != 1 && step < (kind == 5 ? 12 : 2); step++) {
            CHECK(gg_world_step(w, 1e-3, 20, NULL, NULL, NULL) == GG_OK);
        }
        saved good = save(w);
        char *copy = malloc(good.size);
        memcpy(copy, good.data, good.size);
        mend(copy, good.size);
        CHECK(!memcmp(copy, good.data, good.size));
        CHECK(gg_world_load_state(w, NULL, 0, good.data, good.size) == GG_OK);
        attack(&d, &good, mutations / 6, &all);
        free(copy);
        free(good.data);
        gg_world_destroy(w);
    }
    printf("%ld mutations: %ld refused, %ld accepted, %ld other errors\n", mutations, all.refused, all.accepted,
           all.failed);
    CHECK(all.failed == 0 && all.refused > mutations / 4 && all.accepted > mutations / 50);
}

/* one of two states is bad: neither is loaded */
static void test_several(void) {
    gg_world_def d = scene(0.1f, 0.0f, GG_BROAD_CELLS);
    gg_world *w = world_of(&d);
    saved early = save(w);
    uint64_t first = hash_of(w, 0);
    CHECK(gg_world_step(w, 1e-3, 10, NULL, NULL, NULL) == GG_OK);
    saved late = save(w);
    const gg_state states[ENVS] = {{early.data, early.size, 0}, {late.data, late.size, 0}};
    uint64_t before = hash_all(w);
    late.data[200] ^= 1;
    CHECK(gg_world_load_states(w, NULL, 0, states, ENVS) == GG_ERROR_STATE);
    CHECK(gg_world_load_states(w, NULL, 0, states, 0) == GG_ERROR_ARGUMENT);
    CHECK(hash_all(w) == before);
    late.data[200] ^= 1;
    CHECK(gg_world_load_states(w, NULL, 0, states, ENVS) == GG_OK);
    CHECK(hash_of(w, 0) == first && hash_of(w, 1) != first);
    free(early.data);
    free(late.data);
    gg_world_destroy(w);
}

/* rolling impulses of the env's past do not outlive a state that has none */
static void test_no_rolling_impulses(void) {
    gg_pair rough[ENVS * 4];
    gg_world_def d = scene(0.0f, 0.0f, GG_BROAD_CELLS);
    gg_world *w = world_of(&d);
    for (int k = 0; k < ENVS * 4; k++) {
        rough[k] = pairs[0];
        rough[k].rolling_friction = rough[k].twisting_friction = 0.3f;
    }
    CHECK(gg_world_step(w, 1e-3, 40, NULL, NULL, NULL) == GG_OK);
    saved s = save(w);
    uint64_t expected = 0;
    for (int used = 0; used < 2; used++) {
        gg_world *other = world_of(&d);
        if (used) {
            CHECK(gg_world_set_materials(other, NULL, 0, rough, NULL) == GG_OK);
            CHECK(gg_world_step(other, 1e-3, 60, NULL, NULL, NULL) == GG_OK);
        }
        CHECK(gg_world_load_state(other, NULL, 0, s.data, s.size) == GG_OK);
        CHECK(gg_world_set_materials(other, NULL, 0, rough, NULL) == GG_OK);
        CHECK(gg_world_step(other, 1e-3, 5, NULL, NULL, NULL) == GG_OK);
        expected = used ? expected : hash_of(other, 0);
        CHECK(hash_of(other, 0) == expected);
        gg_world_destroy(other);
    }
    free(s.data);
    gg_world_destroy(w);
}

int main(int argc, char **argv) {
    const long mutations = CHECK_TIMES(check_full() ? 100000 : 25000, check_full() ? 8000 : 4000);
    test_several();
    test_no_rolling_impulses();
    test_mutations(argc > 1 ? atol(argv[1]) : mutations);
    return check_report();
}
