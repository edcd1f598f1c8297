/* planar.c: what a definition says of shapes in the plane: checks and copies. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define EXPECT(w, condition, ...)                                                                                      \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return gg_world_fail(w, GG_ERROR_ARGUMENT, __VA_ARGS__);                                                   \
        }                                                                                                              \
    } while (0)

static gg_status check_outline(gg_world *w, const gg_world_def *d, int32_t k) {
    const gg_outline *o = &d->outline[k];
    EXPECT(w, o->radius > 0.0f && o->area > 0.0f && o->gyration2 > 0.0f && o->thickness > 0.0f && gg_finite(o->radius),
           "outline %d: expected radius, area, gyration2 and thickness > 0, got %g, %g, %g, %g", (int)k, o->radius,
           o->area, o->gyration2, o->thickness);
    EXPECT(w, o->point_count >= 3 && o->point_count <= GG_OUTLINE_POINTS, "outline %d: expected 3 to %d points, got %d",
           (int)k, GG_OUTLINE_POINTS, (int)o->point_count);
    EXPECT(w, o->first_point >= 0 && (int64_t)o->first_point + o->point_count <= d->outline_point_count,
           "outline %d: its points lie outside the array", (int)k);
    for (int32_t p = 0; p < o->point_count; p++) {
        const gg_outline_point *point = &d->outline_point[o->first_point + p];
        EXPECT(w,
               gg_finite(point->x) && gg_finite(point->y) && point->before >= 0 && point->before < o->point_count &&
                   point->after >= 0 && point->after < o->point_count,
               "outline %d: point %d is not finite, or its neighbours are none of the outline's", (int)k, (int)p);
    }
    return GG_OK;
}

static gg_status check_field(gg_world *w, const gg_world_def *d, int32_t a, int32_t b) {
    const gg_pair_field *f = &d->pair_field[(int64_t)a * d->outline_count + b];
    float radius = d->outline[a].radius + d->outline[b].radius;
    EXPECT(w, f->offset >= 0 && f->size > 0 && f->offset + f->size <= d->pair_data_size && f->offset % 64 == 0,
           "pair_field (%d, %d): its data lie outside of what was given", (int)a, (int)b);
    EXPECT(w, gg_absf(f->radius - radius) <= 1e-3f * radius,
           "pair_field (%d, %d): built for shapes whose circumradii add up to %g m, these have %g m", (int)a, (int)b,
           f->radius, radius);
    return GG_OK;
}

gg_status gg_planar_check(gg_world *w, const gg_world_def *d) {
    int64_t materials = d->material_count;
    EXPECT(w, d->outline_count >= 0 && d->outline_count <= 256, "outline_count: expected 0 to 256, got %d",
           (int)d->outline_count);
    EXPECT(w, d->outline_count || d->solver.mode != GG_MODE_PENALTY,
           "solver.mode: penalty is a law of planar grains; spheres have convergent and paper");
    if (!d->outline_count) {
        return GG_OK;
    }
    EXPECT(w, d->solver.mode != GG_MODE_PAPER, "solver.mode: Algorithm 1 of GranularGym is for spheres alone");
    EXPECT(w, d->solver.spin, "solver.spin: planar grains turn");
    EXPECT(w, d->solver.broad_phase == GG_BROAD_CELLS, "solver.broad_phase: planar grains are sorted by cells");
    EXPECT(w, d->air.density == 0.0f && d->air.viscosity == 0.0f, "air: planar grains fly without drag");
    EXPECT(w, d->gravity.z == 0.0f, "gravity: expected z = 0 for planar grains, got %g", d->gravity.z);
    EXPECT(w,
           (int64_t)(d->part_count + GG_WALL_COUNT) * d->outline_point_count < INT32_MAX && d->outline_point_count > 0,
           "outline_point: too many points for %d parts of tools", (int)d->part_count);
    for (int32_t a = 0; a < d->outline_count; a++) {
        gg_status status = check_outline(w, d, a);
        for (int32_t b = a; status == GG_OK && b < d->outline_count; b++) {
            status = check_field(w, d, a, b);
        }
        if (status != GG_OK) {
            return status;
        }
    }
    for (int64_t m = 0; m < materials; m++) {
        EXPECT(w, d->material_outline[m] >= 0 && d->material_outline[m] < d->outline_count,
               "material_outline: expected an index in [0, %d), got %d for material %d", (int)d->outline_count,
               (int)d->material_outline[m], (int)m);
    }
    for (int64_t k = 0; k < materials * materials; k++) {
        EXPECT(w, d->pair[k].cohesion == 0.0f, "pair: planar grains do not attract each other, got cohesion %g",
               d->pair[k].cohesion);
    }
    for (int64_t i = 0; i < d->grain_count; i++) {
        float radius = d->outline[d->material_outline[d->grain_material[i]]].radius;
        EXPECT(w, gg_absf(d->radius[i] - radius) <= 1e-4f * radius,
               "radius: expected the circumradius %g m of its shape for grain %lld, got %g", radius, (long long)i,
               d->radius[i]);
        EXPECT(w, d->position[3 * i + 2] == 0.0f && (!d->velocity || d->velocity[3 * i + 2] == 0.0f),
               "position, velocity: expected z = 0 for planar grain %lld", (long long)i);
        EXPECT(w, !d->angle || gg_absf(d->angle[i]) <= 1e6f, "angle: expected up to 1e6 rad, got %g for grain %lld",
               d->angle ? d->angle[i] : 0.0f, (long long)i);
    }
    return GG_OK;
}

static void *copy_of(const void *from, size_t size) {
    /* tables are read in whole lines of the cache, a little past their end */
    void *to = aligned_alloc(64, (size + 127) / 64 * 64);
    if (to && size) {
        memcpy(to, from, size);
    }
    return to;
}

gg_status gg_planar_take(gg_world *w, const gg_world_def *d) {
    if (!d->outline_count) {
        return GG_OK;
    }
    size_t outlines = (size_t)d->outline_count, materials = (size_t)d->material_count;
    w->outlines = copy_of(d->outline, sizeof(gg_outline) * outlines);
    w->outline_point = copy_of(d->outline_point, sizeof(gg_outline_point) * (size_t)d->outline_point_count);
    w->pair_fields = copy_of(d->pair_field, sizeof(gg_pair_field) * outlines * outlines);
    w->pair_data = copy_of(d->pair_data, (size_t)d->pair_data_size);
    w->pair_data_size = d->pair_data_size;
    w->material_outline = copy_of(d->material_outline, sizeof(int32_t) * materials);
    w->material_fixed = copy_of(d->material_fixed, sizeof(int32_t) * materials);
    if (!w->outlines || !w->outline_point || !w->pair_fields || !w->pair_data || !w->material_outline ||
        !w->material_fixed) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: shapes and pair fields");
    }
    gg_view *v = &w->view;
    v->outlines = w->outlines;
    v->outline_point = w->outline_point;
    v->pair_fields = w->pair_fields;
    v->pair_data = w->pair_data;
    v->material_outline = w->material_outline;
    v->material_fixed = w->material_fixed;
    v->params.law = d->solver.mode == GG_MODE_PENALTY ? GG_LAW_springs : GG_LAW_planar;
    return GG_OK;
}

void gg_planar_free(gg_world *w) {
    free(w->outlines);
    free(w->outline_point);
    free(w->pair_fields);
    free(w->pair_data);
    free(w->material_outline);
    free(w->material_fixed);
}
