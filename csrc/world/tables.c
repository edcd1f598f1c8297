/* tables.c: what the law of tables asks of a definition, and the time steps that its tables bear. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../solvers/spheres/table/table.h"
#include "world.h"

/* nodes of one axis: rising, finite, within these limits */
static gg_status check_axis(const gg_table_def *d, int32_t k, int axis, const float *nodes, gg_message out) {
    static const char *const names[3] = {"gap", "normal_velocity", "sliding_speed"};
    int32_t count = d->table[k].count[axis];
    for (int32_t n = 0; n < count; n++) {
        GG_EXPECT(out, gg_within(nodes[n], axis == 2 ? 0.0f : -1e6f, 1e6f),
                  "table %d: expected nodes of %s within 1e6 and, of speeds, >= 0, got %g", (int)k, names[axis],
                  nodes[n]);
        GG_EXPECT(out, n == 0 || nodes[n] > nodes[n - 1], "table %d: expected rising nodes of %s, got %g after %g",
                  (int)k, names[axis], nodes[n], nodes[n - 1]);
    }
    return GG_OK;
}

static gg_status check_table(const gg_table_def *d, int32_t k, gg_message out) {
    const gg_table *t = &d->table[k];
    int64_t nodes = 0, samples = 1;
    for (int axis = 0; axis < 3; axis++) {
        GG_EXPECT(out, t->count[axis] >= (axis == 0 ? 2 : 1) && t->count[axis] <= 1024,
                  "table %d: expected 2 to 1024 gaps and 1 to 1024 nodes of the other axes, got %d", (int)k,
                  (int)t->count[axis]);
        nodes += t->count[axis];
        samples *= t->count[axis];
    }
    GG_EXPECT(out,
              t->first_node >= 0 && t->first_node + nodes <= d->node_count && t->first >= 0 &&
                  t->first + samples <= d->sample_count,
              "table %d: expected %lld nodes and %lld samples in the arrays", (int)k, (long long)nodes,
              (long long)samples);
    const float *axis = d->node + t->first_node;
    gg_status status = check_axis(d, k, 0, axis, out);
    status = status == GG_OK ? check_axis(d, k, 1, axis + t->count[0], out) : status;
    status = status == GG_OK ? check_axis(d, k, 2, axis + t->count[0] + t->count[1], out) : status;
    for (int64_t n = 0; status == GG_OK && n < 2 * samples; n++) {
        float value = d->sample[2 * t->first + n];
        GG_EXPECT(out, gg_within(value, -1e15f, 1e15f), "table %d: expected forces within 1e15 N, got %g", (int)k,
                  value);
    }
    return status;
}

static gg_status check_pairs(const gg_world_def *d, gg_message out) {
    const gg_table_def *tables = &d->table;
    int64_t m = d->material_count;
    for (int64_t a = 0; a < m; a++) {
        for (int64_t b = 0; b <= m; b++) {
            for (int bonded = 0; bonded < 2; bonded++) {
                int32_t number = tables->of[GG_TABLE_OF(m, a, b, bonded)];
                GG_EXPECT(out, number >= -1 && number < tables->count, "of: expected tables in [-1, %d), got %d",
                          (int)tables->count, (int)number);
                GG_EXPECT(out, b == m || number == tables->of[GG_TABLE_OF(m, b, a, bonded)],
                          "of: expected one table of materials %d, %d, got two", (int)a, (int)b);
                GG_EXPECT(out, b < m || !bonded || number < 0, "of: expected no table of a tool that is bonded");
            }
        }
    }
    return GG_OK;
}

static gg_status check_bond(const gg_world_def *d, int64_t grain, int64_t k, gg_message out) {
    const gg_bond_def *bonds = &d->bonds;
    int32_t other = bonds->other[k];
    GG_EXPECT(out, other >= 0 && other < d->grain_count && other != grain,
              "bonds: expected another grain in [0, %lld), got %d for grain %lld", (long long)d->grain_count,
              (int)other, (long long)grain);
    GG_EXPECT(out, k == bonds->first[grain] || other > bonds->other[k - 1],
              "bonds: expected rising ids, got %d for grain %lld", (int)other, (long long)grain);
    GG_EXPECT(out, bonds->length[k] > 0.0f && gg_finite(bonds->length[k]),
              "bonds: expected lengths > 0 m, got %g for grains %lld, %d", bonds->length[k], (long long)grain,
              (int)other);
    int32_t a = d->grain_material[grain], b = d->grain_material[other];
    GG_EXPECT(out, d->table.of[GG_TABLE_OF(d->material_count, a, b, 1)] >= 0,
              "bonds: expected a table of bonded grains of materials %d, %d, got none, for grains %lld, %d", (int)a,
              (int)b, (long long)grain, (int)other);
    for (int64_t back = bonds->first[other]; back < bonds->first[other + 1]; back++) {
        if (bonds->other[back] == grain && bonds->length[back] == bonds->length[k]) {
            return GG_OK;
        }
    }
    return gg_refuse(out, "bonds: expected both grains of a bond to list it with one length, got %lld, %d",
                     (long long)grain, (int)other);
}

static gg_status check_bonds(const gg_world_def *d, gg_message out) {
    const gg_bond_def *bonds = &d->bonds;
    GG_EXPECT(out, bonds->count >= 0 && bonds->count <= INT32_MAX, "bonds: expected at most %d, got %lld",
              INT32_MAX / 2, (long long)bonds->count / 2);
    if (!bonds->count) {
        return GG_OK;
    }
    GG_EXPECT(out, bonds->first[0] == 0 && bonds->first[d->grain_count] == bonds->count,
              "bonds: expected %lld, got a list of %d", (long long)bonds->count, (int)bonds->first[d->grain_count]);
    for (int64_t i = 0; i < d->grain_count; i++) {
        GG_EXPECT(out, bonds->first[i] <= bonds->first[i + 1], "bonds: expected rising starts, grain %lld has none",
                  (long long)i);
    }
    gg_status status = GG_OK;
    for (int64_t i = 0; status == GG_OK && i < d->grain_count; i++) {
        for (int64_t k = bonds->first[i]; status == GG_OK && k < bonds->first[i + 1]; k++) {
            status = check_bond(d, i, k, out);
        }
    }
    return status;
}

gg_status gg_tables_check(const gg_world_def *d, gg_message out) {
    int tabled = d->solver.mode == GG_MODE_TABLE;
    GG_EXPECT(out, tabled || !d->table.count, "table: expected none but in mode table, got %d", (int)d->table.count);
    GG_EXPECT(out, tabled || !d->bonds.count, "bonds: mode table alone has bonds, got %lld",
              (long long)d->bonds.count / 2);
    if (!tabled) {
        return GG_OK;
    }
    GG_EXPECT(out, !d->planar.outline_count, "solver.mode: table is a law of spheres");
    GG_EXPECT(out, d->table.count > 0, "table: expected one or more in mode table, got none");
    GG_EXPECT(out, d->solver.spin || !d->table.at_contact,
              "solver.spin: tables whose forces act at contacts turn grains");
    gg_status status = GG_OK;
    for (int32_t k = 0; status == GG_OK && k < d->table.count; k++) {
        status = check_table(&d->table, k, out);
    }
    status = status == GG_OK ? check_pairs(d, out) : status;
    status = status == GG_OK ? check_bonds(d, out) : status;
    float reach = status == GG_OK ? gg_table_law_of(d).reach : 0.0f, radius = INFINITY;
    for (int64_t i = 0; i < d->grain_count; i++) {
        radius = gg_minf(radius, d->radius[i]);
    }
    GG_EXPECT(out, status != GG_OK || !(reach > 2.0f * radius),
              "table: expected forces that end within a diameter of the smallest grain, %g m, got gaps up to %g m",
              2.0f * radius, reach);
    return status;
}

gg_table_law gg_table_law_of(const gg_world_def *d) {
    gg_table_law law = {0.0f, d->table.at_contact};
    int64_t m = d->material_count;
    for (int64_t pair = 0; d->table.count && pair < m * (m + 1); pair++) {
        int32_t k = d->table.of[GG_TABLE_OF(m, pair / (m + 1), pair % (m + 1), 0)];
        const gg_table *t = k < 0 ? NULL : &d->table.table[k];
        law.reach = t ? gg_maxf(law.reach, d->table.node[t->first_node + t->count[0] - 1]) : law.reach;
    }
    return law;
}

/* where the nodes of an axis are to be looked for: the last one in a bucket below that of a value, or the first */
static void fill_buckets(gg_table *t, int axis, const float *nodes, int16_t *start) {
    int32_t count = t->count[axis];
    /* a bound for nodes so near that the quotient is not finite; buckets are right at any scale */
    t->buckets[axis] = count > 1 ? gg_minf((float)GG_TABLE_BUCKETS / (nodes[count - 1] - nodes[0]), 1e30f) : 0.0f;
    int32_t low = 0;
    for (int32_t bucket = 0; bucket < GG_TABLE_BUCKETS; bucket++) {
        while (low + 2 < count && gg_table_bucket(nodes[low + 1], nodes[0], t->buckets[axis]) < bucket) {
            low++;
        }
        start[bucket] = (int16_t)low;
    }
}

void gg_tables_measure(gg_scene *scene, const gg_world_def *def) {
    for (int32_t k = 0; k < def->table.count; k++) {
        gg_table *t = &scene->tables[k];
        const float *nodes = def->table.node + t->first_node;
        t->end = nodes[t->count[0] - 1];
        t->start = 3 * GG_TABLE_BUCKETS * k;
        for (int axis = 0; axis < 3; axis++) {
            fill_buckets(t, axis, nodes, scene->table_start + t->start + axis * GG_TABLE_BUCKETS);
            nodes += t->count[axis];
        }
    }
}

/* Symplectic Euler of one contact of stiffness k, damping c and effective mass m is stable while k dt^2 + 2 c dt < 4 m:
 * the roots of z^2 - (2 - (k dt + c) dt / m) z + 1 - c dt / m. */
static double longest_step(double stiffness, double damping, double mass) {
    if (stiffness > 0.0) {
        return (sqrt(damping * damping + 4.0 * stiffness * mass) - damping) / stiffness;
    }
    return damping > 0.0 ? 2.0 * mass / damping : INFINITY;
}

/* how fast the normal force falls from a sample to the next one along an axis, 0 or more; `at`: the first of the two */
static double fall(const gg_scene *scene, const gg_table *t, int axis, const float *nodes, int64_t node, int64_t at) {
    int64_t stride = axis == 0 ? (int64_t)t->count[1] * t->count[2] : t->count[2];
    const float *value = scene->table_value + 2 * (t->first + at);
    double width = (double)nodes[node + 1] - nodes[node];
    return GG_MAX(((double)value[0] - value[2 * stride]) / width, 0.0);
}

/* The slopes of a table that ask for the shortest steps: those at which k dt^2 + 2 c dt is largest. Both change linearly
 * with each variable within a cell, and so does that sum; it is largest at a corner, where the slopes are those of the
 * edges of the cell that meet there. */
static double largest_slopes(const gg_scene *scene, const gg_table *t, double dt, double slopes[2]) {
    const float *gaps = scene->table_axis + t->first_node, *speeds = gaps + t->count[0];
    int64_t sides = t->count[2], row = t->count[1] * sides;
    int32_t cells = GG_MAX(t->count[1] - 1, 1), last = t->count[1] - 1;
    double most = -1.0;
    for (int64_t i = 0; i + 1 < t->count[0]; i++) {
        for (int64_t j = 0; j < cells; j++) {
            for (int64_t s = 0; s < sides; s++) {
                int64_t at = i * row + j * sides + s;
                double k = fall(scene, t, 0, gaps, i, at), c = 0.0;
                if (last > 0) {
                    k = GG_MAX(k, fall(scene, t, 0, gaps, i, at + sides));
                    c = fall(scene, t, 1, speeds, j, at);
                    c = GG_MAX(c, fall(scene, t, 1, speeds, j, at + row));
                }
                double sum = (k * dt + 2.0 * c) * dt;
                if (sum > most) {
                    most = sum;
                    slopes[0] = k;
                    slopes[1] = c;
                }
            }
        }
    }
    return most;
}

/* The longest step that a table bears with an effective mass. Each step tried is that of the worst slopes of the one
 * before; as the sums rise with the step, none is too short, and after a few the worst slopes are their own. */
static gg_table_bound bound_of(const gg_scene *scene, const gg_table *t, double mass) {
    gg_table_bound bound = {0};
    double dt = 1.0, most = largest_slopes(scene, t, dt, bound.slopes);
    bound.mass = mass;
    bound.dt = longest_step(bound.slopes[0], bound.slopes[1], mass);
    for (int tries = 0; most > 0.0 && tries < 100; tries++) {
        dt = bound.dt;
        most = largest_slopes(scene, t, dt, bound.slopes);
        bound.dt = longest_step(bound.slopes[0], bound.slopes[1], mass);
        if (!(bound.dt < dt * (1.0 - 1e-9))) {
            break;
        }
    }
    return bound;
}

static void meet(gg_world *w, int32_t a, int32_t b, int bonded, double inverse_mass) {
    int64_t m = w->view.dims.material_count;
    int32_t number = w->scene.table_of[GG_TABLE_OF(m, a, b < 0 ? m : b, bonded)];
    if (number < 0 || !(inverse_mass > 0.0)) {
        return;
    }
    /* friction is bounded: where its slope is too steep it trembles, and throws nothing */
    gg_table_bound bound = bound_of(&w->scene, &w->scene.tables[number], 1.0 / inverse_mass);
    if (bound.dt < w->table_bound.dt) {
        bound.pair[0] = a;
        bound.pair[1] = b;
        bound.bonded = bonded;
        w->table_bound = bound;
    }
}

void gg_tables_find_bound(gg_world *w, const float *density) {
    int64_t m = w->view.dims.material_count;
    /* largest inverse mass of a grain of each material; -1: there is none */
    double inverse[256] = {0};
    for (int64_t a = 0; a < m; a++) {
        float least = INFINITY, low = w->material_radii[a].low;
        for (int64_t e = 0; e < w->view.dims.env_count; e++) {
            least = gg_minf(least, density[e * m + a]);
        }
        double mass = 4.0 / 3.0 * 3.14159265358979 * (double)least * low * low * low;
        int none = !(w->material_radii[a].high > 0.0f);
        inverse[a] = none ? -1.0 : w->scene.material_fixed[a] ? 0.0 : 1.0 / mass;
    }
    if (w->table_bound.dt > 0.0 && !memcmp(inverse, w->table_inverse, sizeof inverse)) {
        return;
    }
    memcpy(w->table_inverse, inverse, sizeof inverse);
    w->table_bound.dt = INFINITY;
    for (int32_t a = 0; a < m; a++) {
        for (int32_t b = -1; b <= a; b++) {
            if (inverse[a] >= 0.0 && (b < 0 || inverse[b] >= 0.0)) {
                double both = inverse[a] + (b < 0 ? 0.0 : inverse[b]);
                meet(w, a, b, 0, both);
                if (b >= 0 && w->view.dims.table.bonds) {
                    meet(w, a, b, 1, both);
                }
            }
        }
    }
}

gg_status gg_tables_check_step(const gg_world *w, double dt, gg_message out) {
    const gg_table_bound *b = &w->table_bound;
    char other[32] = "a tool";
    if (b->pair[1] >= 0) {
        snprintf(other, sizeof other, "%d", (int)b->pair[1]);
    }
    GG_EXPECT(
        out, w->view.params.law != GG_LAW_table || dt <= b->dt * (1.0 + 1e-5),
        "dt: expected at most %g s, beyond which the table of materials %d and %s%s is unstable: where it is least "
        "stable it falls by %g N/m with the gap and by %g N s/m with the normal velocity, the least effective mass is "
        "%g kg; got %g",
        b->dt, (int)b->pair[0], other, b->bonded ? ", bonded," : "", b->slopes[0], b->slopes[1], b->mass, dt);
    return GG_OK;
}
