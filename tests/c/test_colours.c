/* test_colours.c: the records and colours of contacts (solvers/spheres/coloured): after every substep each listed contact has a
 * record of its own, and no two contacts of a colour share a grain; momentum is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/gg.h"
#include "../../csrc/world/world.h"
#include "check.h"

#define SMALL  1200
#define GRAINS (SMALL + 1)

static float position[3 * GRAINS], velocity[3 * GRAINS], radius[GRAINS];
static int32_t material[GRAINS];
static const float density[2] = {2500.0f, 500.0f};
static gg_pair pairs[4];

/* a lattice of small grains around one of `ratio` times their radius, in a box */
static gg_world *build(float ratio, float gravity) {
    static gg_world_def d;
    memset(&d, 0, sizeof d);
    float big = 0.005f * ratio;
    for (int i = 0, at = 0; i < SMALL; at++) {
        float x = 0.0105f * (float)(at % 13) - 0.063f, y = 0.0105f * (float)(at / 13 % 13) - 0.063f;
        float z = 0.006f + 0.0105f * (float)(at / 169);
        x += 0.0004f * (float)(at % 3);
        y += 0.0004f * (float)(at % 5);
        if (sqrtf(x * x + y * y + (z - 0.07f) * (z - 0.07f)) > big + 0.0055f) {
            position[3 * i] = x;
            position[3 * i + 1] = y;
            position[3 * i + 2] = z;
            radius[i] = 0.005f;
            material[i++] = at % 2;
        }
    }
    position[3 * SMALL] = position[3 * SMALL + 1] = 0.0f;
    position[3 * SMALL + 2] = 0.07f;
    radius[SMALL] = big;
    for (int k = 0; k < 3 * GRAINS; k++) {
        velocity[k] = gravity != 0.0f ? 0.0f : 0.2f * (float)(k * 7 % 11 - 5) / 5.0f;
    }
    for (int k = 0; k < 4; k++) {
        const gg_pair pair = {0.3f + 0.1f * (float)(k != 0), 0.2f, 0.2f, 0.2f, 0.0f, 0.0f};
        pairs[k] = pair;
    }
    pairs[2] = pairs[1];
    d.env_count = 1;
    d.grain_count = GRAINS;
    d.lower = gg_v3(-0.075f, -0.075f, 0.0f);
    d.upper = gg_v3(0.075f, 0.075f, 0.4f);
    for (int axis = 0; axis < 3; axis++) {
        d.boundary[axis][0] = d.boundary[axis][1] = gravity != 0.0f ? GG_BOUNDARY_WALL : GG_BOUNDARY_OPEN;
    }
    d.gravity = gg_v3(0.0f, 0.0f, gravity);
    d.material_count = 2;
    d.density = density;
    d.pair = pairs;
    d.position = position;
    d.velocity = velocity;
    d.radius = radius;
    d.grain_material = material;
    d.solver = gg_solver_default();
    d.solver.mode = GG_MODE_GAUSS_SEIDEL;
    d.thread_count = 2;
    gg_world *w = NULL;
    char message[256] = "";
    if (!CHECK(gg_world_create(&d, &w, message, sizeof message) == GG_OK)) {
        fprintf(stderr, "    %s\n", message);
        exit(1);
    }
    return w;
}

/* checks the stored contacts; returns how many have the last colour */
static int check_colours(const gg_world *w) {
    const gg_view *v = &w->view;
    const int32_t *keys = v->env->key_buffer ? v->key_b : v->key_a, *links = v->env->key_buffer ? v->link_b : v->link_a;
    uint64_t *used = calloc((size_t)v->dims.slots, sizeof *used);
    char *taken = calloc((size_t)(v->dims.coloured.rows * GG_LANES), 1);
    int last = 0;
    for (int64_t i = 0; used && taken && i < v->dims.slots; i++) {
        for (int64_t c = v->contact_first[i]; c < v->contact_first[i] + v->contact_count[i]; c++) {
            int32_t record = links[c] / GG_COLOURS, colour = links[c] % GG_COLOURS;
            int64_t other = keys[c] < 0 ? i : v->slot_of[keys[c]];
            uint64_t bit = (uint64_t)1 << colour;
            if (!CHECK(record >= 0 && record < v->dims.coloured.rows * GG_LANES) || !CHECK(!taken[record])) {
                break;
            }
            taken[record] = 1;
            CHECK(record / GG_LANES >= v->colouring->first_row[colour] &&
                  record / GG_LANES < v->colouring->first_row[colour + 1]);
            CHECK(v->first_body[record] == i && (keys[c] < 0 || v->other_body[record] == other));
            CHECK(keys[c] < 0 || gg_pair_owned(&v->params, v->grain_id[i], keys[c]));
            if (colour == GG_COLOURS - 1) {
                last++;
                continue;
            }
            CHECK(!((used[i] | used[other]) & bit));
            used[i] |= bit;
            used[other] |= bit;
        }
    }
    free(used);
    free(taken);
    return last;
}

/* A bed falls around a large grain; with a radius of ten others it touches more of them than there are colours. */
static void test_records(void) {
    const float ratios[] = {1.0f, 3.0f, 10.0f};
    const int steps = CHECK_TIMES(40, 20);
    for (int k = 0; k < 3; k++) {
        gg_world *w = build(ratios[k], -9.81f);
        int last = 0, contacts = 0;
        for (int step = 0; step < steps; step++) {
            CHECK(gg_world_step(w, 1e-3, 5, NULL, NULL, NULL) == GG_OK);
            last += check_colours(w);
            contacts += w->view.env->stats.contact_count;
        }
        CHECK(contacts > steps * GRAINS);
        CHECK(ratios[k] < 5.0f ? last == 0 : last > 0);
        gg_world_destroy(w);
    }
}

/* momentum of all grains, and its scale */
static void momentum(const gg_world *w, double out[4]) {
    const gg_view *v = &w->view;
    memset(out, 0, 4 * sizeof *out);
    for (int64_t i = 0; i < v->dims.grain_count; i++) {
        const float *body = v->body_a + i * GG_BODY;
        for (int k = 0; k < 3; k++) {
            out[k] += (double)body[k] / body[GG_BODY_INVERSE_MASS];
            out[3] += fabs((double)body[k]) / body[GG_BODY_INVERSE_MASS];
        }
    }
}

/* Grains collide in empty space: both sides of a contact get the same impulse, but for the rounding of velocities in
 * each of 2,000 sweeps or fewer. */
static void test_momentum(void) {
    gg_world *w = build(10.0f, 0.0f);
    double before[4], after[4];
    momentum(w, before);
    CHECK(gg_world_step(w, 1e-3, CHECK_TIMES(200, 40), NULL, NULL, NULL) == GG_OK);
    CHECK(w->view.env->stats.contact_count > 0);
    momentum(w, after);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(after[k], before[k], 5e-6 * before[3]);
    }
    gg_world_destroy(w);
}

int main(void) {
    test_records();
    test_momentum();
    return check_report();
}
