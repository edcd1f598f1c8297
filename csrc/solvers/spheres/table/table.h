/* table.h: the law of tables: forces of two spheres, or of a sphere and a tool, are functions that were sampled, as of a
 * law that was learned.
 *
 * Of gap g (distance less the sum of radii; of bonded spheres the distance less the length of the bond; of a tool its
 * distance less the radius), normal velocity u (> 0: they part) and sliding speed s there are
 *
 *     f(g, u, s)      along the normal, > 0: apart
 *     f_t(g, u, s)    against the sliding
 *
 * read by linear interpolation along each axis: it is continuous, never leaves the range of the samples around it, rises
 * where they rise, and is nowhere steeper than the steepest step between two nodes, so that the longest stable time step
 * follows from the samples (world/table.c). From the last gap on the force is zero; beyond the other ends it is that of
 * the end, as a force that vanished there would let grains pass through each other.
 *
 * Velocities are those of the centres, and forces act on them; or (`at_contact`) those of the points a radius from the
 * centre, where forces then act and turn the spheres. Contacts have no memory.
 *
 * Steps are symplectic Euler: v += dt (g + f(x, v) / m), x += dt v. Prediction (solvers/predict.h) adds gravity and drag
 * first, but forces see the velocities before it: table_open puts them back where all grains find them.
 *
 * Each side of a pair finds the force for itself, from inputs that are exactly antisymmetric in floats; a sphere adds up
 * its contacts in order of grain ids, then its bonds likewise, then its tools.
 */
#ifndef GG_TABLE_H
#define GG_TABLE_H

#include "../../../contact/candidates.h"
#include "../../../contact/narrow.h"
#include "../../contacts.h"
#include "../../motion.h"
#include "../../prediction.h"

/* what lists hold beyond the reach of the law, over the smallest radius: see gg_table_close */
#define GG_TABLE_PAD 0.1f

/* where a value lies among the nodes of an axis: between nodes `low` and `high`, `share` of the way */
typedef struct gg_table_place {
    int32_t low, high;
    float share;
} gg_table_place;

GG_FN gg_table_place gg_table_place_of(const float *nodes, int32_t count, float x) {
    gg_table_place at = {0, 0, 0.0f};
    int32_t end = count - 1;
    if (end == 0 || !(x > nodes[0])) {
        return at;
    }
    if (x >= nodes[end]) {
        at.low = at.high = end;
        return at;
    }
    while (end - at.low > 1) {
        int32_t middle = (at.low + end) / 2;
        if (nodes[middle] <= x) {
            at.low = middle;
        } else {
            end = middle;
        }
    }
    at.high = end;
    at.share = (x - nodes[at.low]) / (nodes[end] - nodes[at.low]);
    return at;
}

/* normal and tangential force [N] */
typedef struct gg_table_force {
    float normal, tangential;
} gg_table_force;

GG_FN gg_table_force gg_table_between(gg_table_force a, gg_table_force b, float share) {
    gg_table_force f = {a.normal + share * (b.normal - a.normal), a.tangential + share * (b.tangential - a.tangential)};
    return f;
}

/* what the table says; the gap is below its last one */
GG_FN gg_table_force gg_table_read(const gg_view *v, const gg_table *t, float gap, float normal, float sliding) {
    const float *nodes = v->table_axis + t->first_node;
    gg_table_place g = gg_table_place_of(nodes, t->count[0], gap);
    gg_table_place u = gg_table_place_of(nodes + t->count[0], t->count[1], normal);
    gg_table_place s = gg_table_place_of(nodes + t->count[0] + t->count[1], t->count[2], sliding);
    const int32_t gaps[2] = {g.low, g.high}, speeds[2] = {u.low, u.high};
    gg_table_force along[2];
    for (int a = 0; a < 2; a++) {
        gg_table_force each[2];
        for (int b = 0; b < 2; b++) {
            int64_t row = t->first + ((int64_t)gaps[a] * t->count[1] + speeds[b]) * t->count[2];
            const float *low = v->table_value + 2 * (row + s.low), *high = v->table_value + 2 * (row + s.high);
            gg_table_force one = {low[0], low[1]}, two = {high[0], high[1]};
            each[b] = gg_table_between(one, two, s.share);
        }
        along[a] = gg_table_between(each[0], each[1], u.share);
    }
    return gg_table_between(along[0], along[1], g.share);
}

/* the gap from which on a table is zero [m] */
GG_FN float gg_table_end(const gg_view *v, const gg_table *t) { return v->table_axis[t->first_node + t->count[0] - 1]; }

/* the table of the material of a slot and another material, or a tool (other: material_count); NULL: no force */
GG_FN const gg_table *gg_table_at(const gg_view *v, int32_t material, int64_t other, int bonded) {
    int32_t number = v->table_of[GG_TABLE_OF(v->dims.material_count, material, other, bonded)];
    return number < 0 ? NULL : &v->tables[number];
}

/* what contacts do to a sphere */
typedef struct gg_table_total {
    gg_vec3 force;  /* [N] */
    gg_vec3 torque; /* over the radius [N] */
    gg_overlaps overlaps;
    int32_t count;
} gg_table_total;

/* The force on the side that the unit normal points to. velocity: of this side over the other */
GG_FN gg_vec3 gg_table_force_of(const gg_view *v, const gg_table *t, float gap, gg_vec3 normal, gg_vec3 velocity) {
    float parting = gg_dot(velocity, normal);
    gg_vec3 slip = gg_madd(velocity, normal, -parting);
    float sliding = gg_norm(slip);
    gg_table_force f = gg_table_read(v, t, gap, parting, sliding);
    gg_vec3 force = gg_scale(normal, f.normal);
    return sliding > 0.0f ? gg_madd(force, slip, -(f.tangential / sliding)) : force;
}

GG_FN void gg_table_add(const gg_view *v, gg_table_total *total, gg_vec3 normal, gg_vec3 force) {
    total->force = gg_add(total->force, force);
    if (v->params.table.at_contact) {
        total->torque = gg_add(total->torque, gg_cross(force, normal));
    }
    total->count++;
}

/* share: overlap over the smaller diameter */
GG_FN void gg_table_note_overlap(gg_table_total *total, float share) {
    if (share > 0.0f) {
        total->overlaps.most = gg_maxf(total->overlaps.most, share);
        total->overlaps.sum += share;
        total->overlaps.count += 1.0f;
    }
}

#endif
