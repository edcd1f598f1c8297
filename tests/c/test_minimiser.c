/* test_minimiser.c: the solve of continuous matter as a minimisation: from any start it comes to the same velocities, the
 * objective falls in every iteration of Newton's method, its Hessian is symmetric, positive definite and the derivative of
 * its gradient, in single precision as well, and a body that nothing touches keeps its momentum.
 *
 * The phases of a substep run one by one (gg_world_trace), and are looked at, or given another start, in between.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/base/rng.h"
#include "../../csrc/solvers/continuum/linear.h"
#include "../../csrc/world/world.h"
#include "check.h"

#define SIDE  6
#define COUNT (SIDE * SIDE * SIDE)
#define CELL  0.02
#define DT    0.01

static float position[COUNT][3], velocity[COUNT][3], radius[COUNT];
static int32_t material[COUNT];
static const float density = 1000.0f;
static const gg_continuum_material dough = {33333.0, 7142.9, 1e3, 0.0, GG_UNYIELDING, 0.0, 0.0, 0.0, 0.0};
static const gg_continuum_material rubber = {33333.0, 7142.9, GG_UNYIELDING, 0.0, GG_UNYIELDING, 0.0, 0.0, 0.0, 0.0};

static uint64_t draws;
static double draw(void) { return 2.0 * (double)gg_rng_uniform(4, 2, draws++) - 1.0; }

/* by which particles are moved off the middle of their octant of a cell [m] */
static float shift = 0.0f;

/* a cube of 8 particles in a cell, its lowest face at `height`, that moves at `speed` and turns at `spin` about z */
static gg_world *cube(const gg_continuum_material *matter, float height, const float speed[3], float spin,
                      int32_t boundary) {
    static const gg_pair pair = {0.8f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    gg_world_def d;
    memset(&d, 0, sizeof d);
    for (int k = 0; k < COUNT; k++) {
        const int at[3] = {k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE};
        for (int axis = 0; axis < 3; axis++) {
            position[k][axis] = (float)(0.5 * CELL) * ((float)at[axis] + 0.5f) + shift + (axis == 2 ? height : 0.0f);
            velocity[k][axis] = speed[axis];
        }
        velocity[k][0] -= spin * (position[k][1] - (float)(0.25 * CELL * SIDE));
        velocity[k][1] += spin * (position[k][0] - (float)(0.25 * CELL * SIDE));
        radius[k] = (float)(0.5 * CELL / (2.0 * GG_CONTINUUM_REACH));
    }
    d.env_count = 1;
    d.grain_count = COUNT;
    d.lower = gg_v3(-0.1f, -0.1f, 0.0f);
    d.upper = gg_v3(0.2f, 0.2f, 0.3f);
    for (int axis = 0; axis < 3; axis++) {
        d.boundary[axis][0] = d.boundary[axis][1] = boundary;
    }
    d.gravity = gg_v3(0.0f, 0.0f, boundary == GG_BOUNDARY_WALL ? -9.81f : 0.0f);
    d.material_count = 1;
    d.density = &density;
    d.pair = &pair;
    d.position = position[0];
    d.velocity = velocity[0];
    d.radius = radius;
    d.grain_material = material;
    d.continuum.spacing = CELL;
    d.continuum.material = matter;
    d.solver = gg_solver_default();
    d.solver.tolerance = 0.0f;
    d.thread_count = 1;
    gg_world *w = NULL;
    char message[256] = "";
    if (!CHECK(gg_world_create(&d, &w, message, sizeof message) == GG_OK)) {
        fprintf(stderr, "    %s\n", message);
        exit(1);
    }
    return w;
}

/* what is looked at in a substep */
typedef struct watch {
    gg_world *world;
    int start;                       /* of the solve: 0: as the engine has it, 1: 0, 2: drawn by lot, up to 1 m/s */
    int iterations, rises, yielding; /* of Newton's method; where the objective rose; particles that flow */
    double cost, first;              /* objective of the iterate, and at the start [J] */
    double square;                   /* sum of the masses of nodes times their velocities squared, at the end */
    double *found;                   /* those velocities, and masses */
} watch;

static gg_status note(void *context, int phase, int32_t pass) {
    watch *to = context;
    const gg_view *v = &to->world->view;
    const gg_continuum_env *own = &v->continuum_env[0];
    int64_t nodes = (int64_t)own->nodes * GG_NODES;
    (void)pass;
    if (phase == GG_PHASE_continuum_open_nodes && to->start) {
        for (int64_t k = 0; k < nodes; k++) {
            double mass = gg_real4_at(v->continuum_free[k], 3), size = to->start == 2 && mass > 0.0 ? 1.0 : 0.0;
            v->continuum_velocity[k] = gg_real4_set(size * draw(), size * draw(), size * draw(), mass);
        }
    }
    if (phase == GG_PHASE_continuum_judge) {
        /* beyond the rounding of the sum */
        to->rises += to->iterations && own->cost > to->cost + 1e-12 * to->first;
        to->cost = own->cost;
        to->first = to->iterations++ ? to->first : own->cost;
    }
    if (phase == GG_PHASE_continuum_end) {
        to->found = calloc((size_t)nodes * 4, sizeof *to->found);
        for (int64_t k = 0; k < nodes; k++) {
            double u[3], mass = gg_real4_at(v->continuum_free[k], 3);
            gg_real4_three(v->continuum_velocity[k], u);
            memcpy(to->found + 4 * k, u, sizeof u);
            to->found[4 * k + 3] = mass;
            to->square += mass * gg_dot3(u, u);
        }
        for (int32_t k = 0; k < own->particles; k++) {
            to->yielding += v->continuum_tangent[k].soften > 0.0f;
        }
    }
    return GG_OK;
}

/* a substep of a cube of dough that has begun to be pressed flat by its fall, from one of the starts */
static watch pressed(int start, int64_t *nodes) {
    static const float speed[3] = {0.5f, 0.2f, -1.5f};
    watch w = {cube(&dough, 0.01f, speed, 3.0f, GG_BOUNDARY_WALL), start, 0, 0, 0, 0.0, 0.0, 0.0, NULL};
    CHECK(gg_world_step(w.world, DT, 2, NULL, NULL, NULL) == GG_OK);
    CHECK(gg_world_trace(w.world, DT, NULL, note, &w) == GG_OK);
    gg_env_stats stats;
    gg_world_get_stats(w.world, &stats);
    CHECK(!stats.unsolved_count && stats.tool_contact_count > 20);
    *nodes = (int64_t)w.world->view.continuum_env[0].nodes * GG_NODES;
    gg_world_destroy(w.world);
    return w;
}

static void test_starts(void) {
    int64_t nodes, others;
    watch one = pressed(0, &nodes);
    CHECK(one.iterations > 4 && one.rises == 0 && one.yielding > COUNT / 4);
    for (int start = 1; start < 3; start++) {
        watch other = pressed(start, &others);
        CHECK(other.iterations > 4 && other.rises == 0);
        CHECK(fabs(other.first - one.first) > 0.1 * one.cost);
        if (CHECK(others == nodes)) {
            double apart = 0.0;
            for (int64_t k = 0; k < nodes; k++) {
                for (int axis = 0; axis < 3; axis++) {
                    double off = other.found[4 * k + axis] - one.found[4 * k + axis];
                    apart += one.found[4 * k + 3] * off * off;
                }
            }
            CHECK(sqrt(apart / one.square) < 1e-5);
        }
        free(other.found);
    }
    free(one.found);
}

/* ---- the Hessian ---- */

enum { DOUBLE, SINGLE, GRADIENT };

/* what blocks make of a vector over the nodes: its product with the Hessian but for inertia, or, of velocities, the gradient */
static void product(const gg_view *v, int kind, const double *vector, double *out) {
    const gg_continuum_env *own = &v->continuum_env[0];
    int64_t nodes = (int64_t)own->nodes * GG_NODES;
    gg_real4 *to = kind == GRADIENT ? v->continuum_velocity : v->continuum_way;
    for (int64_t k = 0; k < nodes; k++) {
        to[k] = gg_real4_set(vector[3 * k], vector[3 * k + 1], vector[3 * k + 2], 0.0);
    }
    for (int64_t b = 0; b < own->blocks; b++) {
        if (kind == GRADIENT) {
            gg_continuum_linearise_block(v, 0, b);
        } else if (kind == SINGLE) {
            gg_continuum_apply_single(v, 0, b);
        } else {
            gg_continuum_apply_double(v, 0, b);
        }
    }
    for (int64_t k = 0; k < nodes; k++) {
        gg_real4_three(gg_node_sum(v, 0, k / GG_NODES, (int)(k % GG_NODES)), out + 3 * k);
    }
}

static double dot(const double *a, const double *b, int64_t count) {
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}
static double apart(const double *a, const double *b, int64_t count) {
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(sum / dot(b, b, count));
}

/* after the first linearisation of a substep, so that the next ones see what this leaves behind */
static gg_status note_hessian(void *context, int phase, int32_t pass) {
    watch *to = context;
    const gg_view *v = &to->world->view;
    int64_t count = (int64_t)v->continuum_env[0].nodes * GG_NODES * 3;
    (void)pass;
    if (phase != GG_PHASE_continuum_start || to->iterations++ > 0) {
        return GG_OK;
    }
    double *x = calloc((size_t)count * 7, sizeof *x), *y = x + count, *at = y + count, *ax = at + count;
    double *single = ax + count, *ay = single + count, *near = ay + count;
    for (int64_t k = 0; k < count; k++) {
        double u[3];
        gg_real4_three(v->continuum_velocity[k / 3], u);
        at[k] = u[k % 3];
        x[k] = draw();
        y[k] = draw();
    }
    product(v, DOUBLE, x, ax);
    product(v, DOUBLE, y, ay);
    CHECK(fabs(dot(x, ay, count) - dot(y, ax, count)) < 1e-12 * sqrt(dot(x, ax, count) * dot(y, ay, count)));
    CHECK(dot(x, ax, count) > 0.0 && dot(y, ay, count) > 0.0);
    product(v, SINGLE, x, single);
    CHECK(apart(single, ax, count) < 1e-6);
    CHECK(fabs(dot(y, single, count) - dot(x, ay, count)) < 1e-6 * sqrt(dot(x, ax, count) * dot(y, ay, count)));
    /* central differences of the gradient; particles that begin to flow meanwhile change it less */
    const double small = 1e-7;
    for (int64_t k = 0; k < count; k++) {
        near[k] = at[k] + small * x[k];
    }
    product(v, GRADIENT, near, y);
    for (int64_t k = 0; k < count; k++) {
        near[k] = at[k] - small * x[k];
    }
    product(v, GRADIENT, near, ay);
    for (int64_t k = 0; k < count; k++) {
        y[k] = (y[k] - ay[k]) / (2.0 * small);
    }
    CHECK(apart(y, ax, count) < 1e-6);
    for (int32_t k = 0; k < v->continuum_env[0].particles; k++) {
        to->yielding += v->continuum_tangent[k].soften > 0.0f;
    }
    product(v, GRADIENT, at, y); /* as it was */
    free(x);
    return GG_OK;
}

/* The same product of a vector in which every node has as much energy: light ones are fast. Apart by the inverse mass, as
 * the solve measures. Nodes that are lighter still are left out: double precision is at its end there. */
static gg_status note_light(void *context, int phase, int32_t pass) {
    watch *to = context;
    const gg_view *v = &to->world->view;
    int64_t nodes = (int64_t)v->continuum_env[0].nodes * GG_NODES, count = 3 * nodes;
    (void)pass;
    if (phase != GG_PHASE_continuum_start || to->iterations++ > 0) {
        return GG_OK;
    }
    double *x = calloc((size_t)count * 3, sizeof *x), *one = x + count, *other = one + count;
    double lightest = 1.0, heaviest = 0.0, off = 0.0, all = 0.0;
    for (int64_t k = 0; k < nodes; k++) {
        heaviest = fmax(heaviest, gg_real4_at(v->continuum_free[k], 3));
    }
    for (int64_t k = 0; k < count; k++) {
        double mass = gg_real4_at(v->continuum_free[k / 3], 3);
        x[k] = mass > 1e-14 * heaviest ? draw() / sqrt(mass) : 0.0;
        lightest = x[k] != 0.0 ? fmin(lightest, mass) : lightest;
    }
    CHECK(lightest < 1e-10 * heaviest);
    product(v, DOUBLE, x, one);
    product(v, SINGLE, x, other);
    for (int64_t k = 0; k < count; k++) {
        double mass = gg_real4_at(v->continuum_free[k / 3], 3), apart = other[k] - one[k];
        off += x[k] != 0.0 ? apart * apart / mass : 0.0;
        all += x[k] != 0.0 ? one[k] * one[k] / mass : 0.0;
    }
    CHECK(sqrt(off / all) < 1e-6);
    free(x);
    return GG_OK;
}

/* particles on a lattice whose outermost ones, above and below, are at the edges of cells but for rounding */
static void test_light_nodes(void) {
    static const float speed[3] = {0.5f, 0.2f, -1.5f};
    for (int side = -1; side < CHECK_TIMES(2, 1); side += 2) {
        shift = (float)side * ((float)(0.25 * CELL) - 5e-8f);
        watch w = {cube(&dough, 0.02f, speed, 3.0f, GG_BOUNDARY_WALL), 0, 0, 0, 0, 0.0, 0.0, 0.0, NULL};
        CHECK(gg_world_trace(w.world, DT, NULL, note_light, &w) == GG_OK);
        gg_world_destroy(w.world);
    }
    shift = 0.0f;
}

static void test_hessian(void) {
    static const float speed[3] = {0.5f, 0.2f, -1.5f};
    watch w = {cube(&dough, 0.01f, speed, 3.0f, GG_BOUNDARY_WALL), 0, 0, 0, 0, 0.0, 0.0, 0.0, NULL};
    CHECK(gg_world_step(w.world, DT, 3, NULL, NULL, NULL) == GG_OK);
    CHECK(gg_world_trace(w.world, DT, NULL, note_hessian, &w) == GG_OK);
    CHECK(w.yielding > COUNT / 8);
    gg_world_destroy(w.world);
}

/* momentum of the particles, as exactly as the engine keeps it */
static void momentum_of(gg_world *w, double out[3]) {
    const gg_view *v = &w->view;
    memset(out, 0, 3 * sizeof *out);
    for (int64_t slot = 0; slot < v->dims.slots; slot++) {
        if (v->grain_id[slot] >= 0) {
            double x[3], u[3];
            gg_continuum_motion(v, 0, slot, x, u);
            for (int axis = 0; axis < 3; axis++) {
                out[axis] += u[axis] / (double)gg_slot_body_at(v, 0, slot)[GG_BODY_INVERSE_MASS];
            }
        }
    }
}

/* a body that flies and turns by .1 rad in a substep */
static void test_momentum(const gg_continuum_material *matter) {
    static const float speed[3] = {0.3f, 0.2f, 0.1f};
    gg_world *w = cube(matter, 0.1f, speed, 10.0f, GG_BOUNDARY_OPEN);
    double start[3], now[3];
    momentum_of(w, start);
    for (int k = 0; k < CHECK_TIMES(60, 6); k++) {
        double before[3], most = 0.0;
        momentum_of(w, before);
        CHECK(gg_world_step(w, DT, 1, NULL, NULL, NULL) == GG_OK);
        momentum_of(w, now);
        for (int axis = 0; axis < 3; axis++) {
            most = fmax(most, fabs(now[axis] - before[axis]));
        }
        CHECK(most < 1e-10 * start[0]);
    }
    gg_world_destroy(w);
}

int main(void) {
    test_starts();
    test_hessian();
    test_light_nodes();
    test_momentum(&rubber);
    test_momentum(&dough);
    return check_report();
}
