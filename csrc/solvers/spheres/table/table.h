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
 * follows from the samples (world/tables.c). From the last gap on the force is zero; beyond the other ends it is that of
 * the end, as a force that vanished there would let grains pass through each other; such contacts are counted.
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

#include "../../../base/four.h"
#include "../../../contact/candidates.h"
#include "../../../contact/narrow.h"
#include "../../contacts.h"
#include "../../motion.h"
#include "../../prediction.h"

/* what lists hold beyond the reach of the law, over the smallest radius: see gg_table_close */
#define GG_TABLE_PAD 0.1f

/* where a value lies among the nodes of an axis: `share` of the way from node `low` to node `high` */
typedef struct gg_table_place {
    int32_t low, high; /* the same where an axis has one node */
    float share;
    int32_t outside; /* beyond an end, whose forces are held; 0 where an axis has one node, as nothing depends on it */
} gg_table_place;

/* The bucket of a value. It never falls as x rises, whatever the rounding: so a node in a lower bucket than x is below
 * x, and the last of those is where to start. NaN: 0 */
GG_FN int32_t gg_table_bucket(float x, float first, float buckets) {
    return (int32_t)gg_minf(gg_maxf((x - first) * buckets, 0.0f), (float)(GG_TABLE_BUCKETS - 1));
}

GG_FN gg_table_place gg_table_place_of(const gg_view *v, const gg_table *t, int axis, const float *nodes, float x) {
    gg_table_place at = {0, 0, 0.0f, 0};
    int32_t end = t->count[axis] - 1;
    if (end == 0) {
        return at;
    }
    at.low = v->table_start[t->start + axis * GG_TABLE_BUCKETS + gg_table_bucket(x, nodes[0], t->buckets[axis])];
    /* a bucket has seldom two nodes: without the first step the loop would begin as often as not */
    at.low += (at.low + 1 < end) & (nodes[at.low + 1] <= x);
    while (at.low + 1 < end && nodes[at.low + 1] <= x) {
        at.low++;
    }
    at.high = at.low + 1;
    at.share = gg_minf(gg_maxf((x - nodes[at.low]) / (nodes[at.high] - nodes[at.low]), 0.0f), 1.0f);
    at.outside = x < nodes[0] || x > nodes[end];
    return at;
}

/* normal and tangential force [N] */
typedef struct gg_table_force {
    float normal, tangential;
} gg_table_force;

/* both forces at a sliding speed below and at the next one above: two samples, one behind the other */
GG_FN gg_four gg_table_pair(const gg_view *v, int64_t row, const gg_table_place *s) {
    const float *low = v->table_value + 2 * (row + s->low);
    return s->low < s->high ? gg_four_load_floats(low) : gg_four_set(low[0], low[1], low[0], low[1]);
}

/* what the table says; the gap is below its last one. outside: set to 1 where it was not sampled */
GG_FN gg_table_force gg_table_read(const gg_view *v, const gg_table *t, float gap, float normal, float sliding,
                                   int32_t *outside) {
    const float *nodes = v->table_axis + t->first_node, *speeds = nodes + t->count[0];
    gg_table_place g = gg_table_place_of(v, t, 0, nodes, gap);
    gg_table_place u = gg_table_place_of(v, t, 1, speeds, normal);
    gg_table_place s = gg_table_place_of(v, t, 2, speeds + t->count[1], sliding);
    *outside = g.outside | u.outside | s.outside;
    const int32_t normals[2] = {u.low, u.high};
    gg_four along[2];
    for (int b = 0; b < 2; b++) {
        int64_t row = t->first + ((int64_t)g.low * t->count[1] + normals[b]) * t->count[2];
        int64_t next = t->first + ((int64_t)g.high * t->count[1] + normals[b]) * t->count[2];
        along[b] = gg_four_between(gg_table_pair(v, row, &s), gg_table_pair(v, next, &s), g.share);
    }
    gg_four ends = gg_four_between(along[0], along[1], u.share);
    float normal_low = gg_four_at(ends, 0), tangential_low = gg_four_at(ends, 1);
    gg_table_force f = {normal_low + s.share * (gg_four_at(ends, 2) - normal_low),
                        tangential_low + s.share * (gg_four_at(ends, 3) - tangential_low)};
    return f;
}

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
    int32_t unsampled; /* of these: deeper or faster than the samples */
} gg_table_total;

/* Adds the force on the side that the unit normal points to, and returns it. velocity: of this side over the other */
GG_FN gg_vec3 gg_table_push(const gg_view *v, const gg_table *t, float gap, gg_vec3 normal, gg_vec3 velocity,
                            gg_table_total *total) {
    float parting = gg_dot(velocity, normal);
    gg_vec3 slip = gg_madd(velocity, normal, -parting);
    float sliding = gg_norm(slip);
    int32_t outside;
    gg_table_force f = gg_table_read(v, t, gap, parting, sliding, &outside);
    gg_vec3 force = gg_scale(normal, f.normal);
    force = sliding > 0.0f ? gg_madd(force, slip, -(f.tangential / sliding)) : force;
    total->force = gg_add(total->force, force);
    if (v->params.table.at_contact) {
        total->torque = gg_add(total->torque, gg_cross(force, normal));
    }
    total->count++;
    total->unsampled += outside;
    return force;
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
