/* matter_surface.h: the surface of continuous matter as cameras see it, and where a ray enters it.
 *
 * A point leans towards the matter by the mean of the offsets of the particles near it, in units of their distance,
 * weighted by (1 - s^2 / 4)^4 at s distances. The surface is where that mean is GG_MATTER_LEAN long (Zhu, Bridson:
 * Animating sand as a fluid, ACM Transactions on Graphics 24, 2005; the kernel is ours). Above a flat layer of a lattice
 * that is half a distance beyond the outermost centres, where contacts are; a lone particle is a sphere. Between two
 * pieces the offsets cancel, and the surface would bridge them: there is matter only where the weights have a sum as
 * near a particle. So a crack closes where it is about a distance wide.
 *
 * Particles are kept in order of cells, those of a cell in order of slots. The sums at a point run in that order, and
 * particles out of reach add zeros: bits depend on the point alone, not on the cells that are looked into.
 */
#ifndef GG_MATTER_SURFACE_H
#define GG_MATTER_SURFACE_H

#include "../contact/candidates.h"
#include "../contact/cells.h"
#include "lens.h"

/* in units of the distance of particles: */
#define GG_MATTER_REACH  2.0f    /* of a particle's weight */
#define GG_MATTER_LEAN   0.5215f /* at the surface: the mean over a lattice's flat face, within .001 */
#define GG_MATTER_BALL   1.25f   /* there is matter within this of a particle alone */
#define GG_MATTER_CASTER 0.6f    /* radius of what casts a shadow in place of a particle */
#define GG_MATTER_SUNK   1.6f /* how much deeper that is drawn, over this radius: the surface casts no shadow on itself */
/* least sum of weights: .75 at the surface of a lone particle, 1.85 on a flat face */
#define GG_MATTER_WEIGHT 0.6f

/* steps of a ray, in the same units */
#define GG_MATTER_TOLERANCE 2e-3f
#define GG_MATTER_LEAST     0.05f /* least step */
#define GG_MATTER_BOLD      0.3f  /* most that a step exceeds the distance ahead */
#define GG_MATTER_WAY_OUT   0.25f /* steps of a ray that begins inside */
/* steps through nothing, after which a ray looks for the next particle on its way */
#define GG_MATTER_STRAY 16
/* most evaluations of a ray, and to find where it enters */
#define GG_MATTER_STEPS 1024
#define GG_MATTER_TRIES 8

/* ---- cells ---- */

/* whether a slot has a particle that is somewhere */
GG_FN int gg_matter_placed(const gg_view *v, int64_t e, int64_t slot) {
    gg_vec4 p = v->position[e * v->dims.slots + slot];
    return v->grain_id[e * v->dims.slots + slot] >= 0 && gg_absf(p.x) < 1e9f && gg_absf(p.y) < 1e9f &&
           gg_absf(p.z) < 1e9f;
}

/* The particles of an env in order of cells: centres [m], 1 over the distance of particles of their size [1/m], grain
 * ids. Behind the floats there is room for a vector of them. */
typedef struct gg_matter_points {
    float *x, *y, *z, *scale;
    int32_t *id;
} gg_matter_points;

GG_FN gg_matter_points gg_matter_points_of(const gg_view *v, int64_t e) {
    int64_t slots = v->dims.continuum.slots;
    float *first = (float *)(void *)(v->continuum_point + e * slots);
    return GG_LIT(gg_matter_points){first, first + slots, first + 2 * slots, first + 3 * slots,
                                    v->continuum_lost + e * slots};
}

/* sorts the particles of an env into cells as wide as the reach of the largest */
GG_FN void gg_matter_order(const gg_view *v, int64_t e) {
    gg_matter_cells *cells = &v->matter_cells[e];
    const gg_vec4 *x = v->position + e * v->dims.slots;
    gg_matter_points points = gg_matter_points_of(v, e);
    int32_t *first = v->matter_first + e * (v->dims.continuum.cells + 2), sum = 0;
    gg_aabb box = gg_aabb_empty();
    for (int64_t i = 0; i < v->dims.slots; i++) {
        if (gg_matter_placed(v, e, i)) {
            gg_aabb point;
            point.low = point.high = gg_v3(x[i].x, x[i].y, x[i].z);
            box = gg_aabb_join(box, point);
        }
    }
    cells->low = box.low;
    cells->high = box.high;
    float distance = 2.0f * (float)GG_CONTINUUM_REACH;
    gg_cell_grid_fit(&v->params, &cells->grid, 1.001f * GG_MATTER_REACH * distance * v->params.radius_max,
                     gg_sub(box.high, box.low), v->dims.continuum.cells);
    cells->grid.first_cell = 0;
    int64_t count = (int64_t)cells->grid.count[0] * cells->grid.count[1] * cells->grid.count[2];
    for (int64_t c = 0; c <= count; c++) {
        first[c] = 0;
    }
    for (int64_t i = 0; i < v->dims.slots; i++) {
        if (gg_matter_placed(v, e, i)) {
            first[gg_cell_of(&cells->grid, box.low, x[i]) + 1]++;
        }
    }
    /* first[c + 1]: where the next particle of cell c goes, and in the end where the next cell begins */
    for (int64_t c = 1; c <= count; c++) {
        int32_t own = first[c];
        first[c] = sum;
        sum += own;
    }
    for (int64_t i = 0; i < v->dims.slots; i++) {
        if (gg_matter_placed(v, e, i)) {
            int32_t to = first[gg_cell_of(&cells->grid, box.low, x[i]) + 1]++;
            points.x[to] = x[i].x;
            points.y[to] = x[i].y;
            points.z[to] = x[i].z;
            points.scale[to] = 1.0f / (distance * x[i].w);
            points.id[to] = v->grain_id[e * v->dims.slots + i];
        }
    }
}

/* the same where the env is listed. item: env */
GG_FN void gg_matter_order_env(const gg_view *v, int64_t e) {
    if (v->access.listed[e] >= 0) {
        gg_matter_order(v, e);
    }
}

/* a walk over the particles in the cells that a box touches, in their order: a run of them after the other */
typedef struct gg_matter_walk {
    const gg_cell_grid *grid;
    const int32_t *first;
    gg_cell_range range[3]; /* along the axes of the grid, the fastest first */
    int32_t at[3];          /* how far it has come; of the fastest: 0, or 1 where it is left to go on from cell 0 */
    int32_t begin, end;     /* the run */
} gg_matter_walk;

/* 0: an axis that folds has no more cells than the box, so that their order would depend on it */
GG_FN int gg_matter_walk_open(gg_matter_walk *walk, const gg_view *v, int64_t e, gg_vec3 low, gg_vec3 high) {
    const gg_matter_cells *cells = &v->matter_cells[e];
    const gg_cell_grid *g = walk->grid = &cells->grid;
    walk->first = v->matter_first + e * (v->dims.continuum.cells + 2);
    float reach = 2.0f * (float)GG_CONTINUUM_REACH * 1.0001f * GG_MATTER_REACH * v->params.radius_max;
    int ordered = 1, some = 1;
    for (int k = 0; k < 3; k++) {
        int axis = g->axis[k];
        float origin = gg_axis_of(cells->low, axis);
        walk->range[k] =
            gg_cell_range_of(g, axis, gg_axis_of(low, axis) - reach - origin, gg_axis_of(high, axis) + reach - origin);
        ordered &= !(g->folds[axis] && walk->range[k].count >= g->count[axis]);
        some &= walk->range[k].count > 0;
    }
    walk->at[0] = walk->at[1] = 0;
    walk->at[2] = some ? 0 : INT32_MAX;
    return ordered;
}

/* the next run; 0: there is none */
GG_FN int gg_matter_walk_on(gg_matter_walk *walk) {
    const gg_cell_range *r = walk->range;
    if (walk->at[2] >= r[2].count) {
        return 0;
    }
    const gg_cell_grid *g = walk->grid;
    int32_t n0 = g->count[g->axis[0]], n1 = g->count[g->axis[1]], n2 = g->count[g->axis[2]];
    int32_t c1 = r[1].first + walk->at[1], c2 = r[2].first + walk->at[2];
    int32_t line = ((c2 < n2 ? c2 : c2 - n2) * n1 + (c1 < n1 ? c1 : c1 - n1)) * n0;
    int32_t end = r[0].first + r[0].count, wraps = end > n0;
    walk->begin = walk->first[line + (walk->at[0] ? 0 : r[0].first)];
    walk->end = walk->first[line + (walk->at[0] ? end - n0 : GG_MIN(end, n0))];
    walk->at[0] = wraps && !walk->at[0];
    walk->at[1] += !walk->at[0];
    if (walk->at[1] >= r[1].count) {
        walk->at[1] = 0;
        walk->at[2]++;
    }
    return 1;
}

/* ---- the surface ---- */

/* sums over the particles near a point: their weights, and their offsets times these */
typedef struct gg_matter_sum {
    float weight, x, y, z;
} gg_matter_sum;

GG_FN void gg_matter_add(gg_matter_sum *sum, gg_vec3 p, float x, float y, float z, float scale) {
    float dx = (x - p.x) * scale, dy = (y - p.y) * scale, dz = (z - p.z) * scale;
    float w = 1.0f - (dx * dx + dy * dy + dz * dz) * (1.0f / (GG_MATTER_REACH * GG_MATTER_REACH));
    w = gg_choose_max(w, 0.0f);
    w *= w;
    w *= w;
    sum->weight += w;
    sum->x += w * dx;
    sum->y += w * dy;
    sum->z += w * dz;
}

/* the sums at a point */
GG_FN gg_matter_sum gg_matter_sum_at(const gg_view *v, int64_t e, gg_vec3 p) {
    gg_matter_sum sum = GG_ZERO;
    gg_matter_walk walk;
    gg_matter_points near = gg_matter_points_of(v, e);
    gg_matter_walk_open(&walk, v, e, p, p);
    while (gg_matter_walk_on(&walk)) {
        for (int32_t k = walk.begin; k < walk.end; k++) {
            gg_matter_add(&sum, p, near.x[k], near.y[k], near.z[k], near.scale[k]);
        }
    }
    return sum;
}

/* about the distance from the surface, in units of that of particles; negative inside. There are particles near. */
GG_FN float gg_matter_distance(const gg_matter_sum *sum) {
    float lean = sqrtf(sum->x * sum->x + sum->y * sum->y + sum->z * sum->z) / sum->weight - GG_MATTER_LEAN;
    return gg_maxf(lean, 0.5f * (GG_MATTER_WEIGHT - sum->weight));
}

/* ---- a ray ---- */

typedef enum gg_matter_stage {
    GG_MATTER_OUTSIDE = 0,
    GG_MATTER_INSIDE,  /* the ray began inside: it looks out */
    GG_MATTER_BETWEEN, /* it is known to enter between two depths */
    GG_MATTER_STRAYED, /* it has met nothing for long */
    GG_MATTER_ENDED
} gg_matter_stage;

typedef struct gg_matter_ray {
    gg_vec3 origin, direction;
    float unit;               /* depth over which it goes the distance of the smallest particles */
    float t, to;              /* depth where it is, and where it ends */
    float outer, outer_value; /* depth where it was last outside, and the distance there */
    float inner, inner_value; /* the same inside */
    float first;              /* depth at which it comes near a particle; -1: it may be inside from the beginning */
    float met;                /* where it enters; GG_UNBOUNDED: nowhere */
    int32_t steps, tries;     /* evaluations, and of these between outer and inner */
    int32_t side;             /* of the last of those: 1 outside, -1 inside */
    int32_t empty;            /* steps through nothing in a row */
    gg_matter_stage stage;
} gg_matter_ray;

/* depth at which a ray leaves what can hold the surface: the particles' box and what is round it */
GG_FN float gg_matter_exit(const gg_view *v, int64_t e, gg_vec3 o, gg_vec3 d) {
    const gg_matter_cells *cells = &v->matter_cells[e];
    float margin = 2.0f * (float)GG_CONTINUUM_REACH * GG_MATTER_BALL * v->params.radius_max, t = GG_UNBOUNDED;
    for (int axis = 0; axis < 3; axis++) {
        float along = gg_axis_of(d, axis), from = gg_axis_of(o, axis);
        float face = along > 0.0f ? gg_axis_of(cells->high, axis) + margin : gg_axis_of(cells->low, axis) - margin;
        t = gg_absf(along) > 1e-12f ? gg_minf(t, (face - from) / along) : t;
    }
    return t;
}

/* a ray of slopes or offsets (x, y) that first comes near a particle at depth t, or at the nearest depth is near one */
GG_FN gg_matter_ray gg_matter_ray_make(const gg_lens *lens, const gg_view *v, int64_t e, float x, float y, float t) {
    gg_matter_ray r = GG_ZERO;
    gg_lens_ray(lens, x, y, &r.origin, &r.direction);
    r.unit = 2.0f * (float)GG_CONTINUUM_REACH * v->params.radius_min / gg_norm(r.direction);
    r.t = t;
    r.first = t > lens->near_depth ? t : -1.0f;
    r.to = gg_minf(lens->far_depth, gg_matter_exit(v, e, r.origin, r.direction));
    r.met = GG_UNBOUNDED;
    r.stage = t < r.to ? GG_MATTER_OUTSIDE : GG_MATTER_ENDED;
    return r;
}

GG_FN gg_vec3 gg_matter_ray_point(const gg_matter_ray *r) { return gg_madd(r->origin, r->direction, r->t); }

/* a step of a ray outside, whose distance is `value`: the longer, the slower distances fell on its last step */
GG_FN float gg_matter_stride(const gg_matter_ray *r, float value) {
    float fall = (r->outer_value - value) * r->unit, gone = r->t - r->outer, stride = value;
    if (fall > 0.0f && gone > fall) {
        stride = gg_minf(value * (gone / fall), value + GG_MATTER_BOLD);
    }
    return gg_maxf(stride, r->steps < 128 ? GG_MATTER_LEAST : GG_MATTER_WAY_OUT);
}

/* Looks further between the depths outside and inside: regula falsi, where a side that stays counts half the next time
 * (the Illinois rule). */
GG_FN void gg_matter_narrow(gg_matter_ray *r, float value) {
    int32_t side = value >= 0.0f ? 1 : -1;
    if (side > 0) {
        r->outer = r->t;
        r->outer_value = value;
        r->inner_value *= r->side > 0 ? 0.5f : 1.0f;
    } else {
        r->inner = r->t;
        r->inner_value = value;
        r->outer_value *= r->side < 0 ? 0.5f : 1.0f;
    }
    r->side = side;
    r->t = r->outer + (r->inner - r->outer) * (r->outer_value / (r->outer_value - r->inner_value));
}

/* the ray enters where it is */
GG_FN void gg_matter_enter(gg_matter_ray *r) {
    r->met = r->t;
    r->stage = GG_MATTER_ENDED;
}

/* a step through nothing: no particle is nearer than the reach, so the surface is not nearer than that less the ball */
GG_FN void gg_matter_pass(gg_matter_ray *r) {
    r->stage = ++r->empty > GG_MATTER_STRAY ? GG_MATTER_STRAYED : GG_MATTER_OUTSIDE;
    r->outer = r->t;
    r->outer_value = 0.0f;
    r->t += (GG_MATTER_REACH - GG_MATTER_BALL) * r->unit;
}

/* moves a ray on, given the sums where it is */
GG_FN void gg_matter_advance(gg_matter_ray *r, const gg_matter_sum *sum) {
    float value = sum->weight > 0.0f ? gg_matter_distance(sum) : GG_UNBOUNDED;
    r->steps++;
    if (r->stage == GG_MATTER_BETWEEN) {
        if (gg_absf(value) < GG_MATTER_TOLERANCE || ++r->tries >= GG_MATTER_TRIES) {
            gg_matter_enter(r);
        } else {
            gg_matter_narrow(r, value);
        }
        return;
    }
    if (!(sum->weight > 0.0f)) {
        gg_matter_pass(r);
    } else if (value < 0.0f && r->stage == GG_MATTER_OUTSIDE && r->steps > 1 && r->t != r->first) {
        r->stage = GG_MATTER_BETWEEN;
        r->side = 0;
        r->inner = r->t;
        r->inner_value = value;
        gg_matter_narrow(r, value);
    } else if (value < 0.0f && r->t == r->first) {
        gg_matter_enter(r);
    } else if (value < 0.0f) {
        r->stage = GG_MATTER_INSIDE;
        r->t += GG_MATTER_WAY_OUT * r->unit;
    } else if (value < GG_MATTER_TOLERANCE && r->stage == GG_MATTER_OUTSIDE) {
        gg_matter_enter(r);
    } else {
        float stride = gg_matter_stride(r, value);
        r->stage = GG_MATTER_OUTSIDE;
        r->empty = 0;
        r->outer = r->t;
        r->outer_value = value;
        r->t += stride * r->unit;
    }
    if (!(r->t < r->to) || r->steps >= GG_MATTER_STEPS) {
        r->stage = GG_MATTER_ENDED;
    }
}

/* Takes a ray that has strayed to the next particle on its way; (x, y): its slopes or offsets. */
GG_FN void gg_matter_find(gg_matter_ray *r, const gg_lens *lens, const gg_view *v, int64_t e, float x, float y) {
    float next = GG_UNBOUNDED, scale = 2.0f * (float)GG_CONTINUUM_REACH * GG_MATTER_BALL;
    for (int64_t slot = 0; slot < v->dims.slots; slot++) {
        gg_vec4 p = v->position[e * v->dims.slots + slot];
        gg_vec3 c = gg_lens_local(lens, gg_v3(p.x, p.y, p.z));
        float enter, leave;
        int32_t hits = gg_lens_cross(lens->perspective, c, p.w * scale, x, y, &enter, &leave);
        next =
            gg_choose(hits & (enter > r->t) & (v->grain_id[e * v->dims.slots + slot] >= 0), gg_minf(enter, next), next);
    }
    r->t = r->first = next;
    r->empty = 0;
    r->stage = next < r->to ? GG_MATTER_OUTSIDE : GG_MATTER_ENDED;
}

/* depth at which a ray of slopes or offsets (x, y) enters the surface; it first comes near a particle at depth t */
GG_FN float gg_matter_trace(const gg_lens *lens, const gg_view *v, int64_t e, float x, float y, float t) {
    gg_matter_ray r = gg_matter_ray_make(lens, v, e, x, y, t);
    while (r.stage != GG_MATTER_ENDED) {
        gg_matter_sum sum = gg_matter_sum_at(v, e, gg_matter_ray_point(&r));
        gg_matter_advance(&r, &sum);
        if (r.stage == GG_MATTER_STRAYED) {
            gg_matter_find(&r, lens, v, e, x, y);
        }
    }
    return r.met;
}

#endif
