/* planar.c: what the law of planar grains asks of a definition, and what follows from it. */
#include "../solvers/planar/touches.h"
#include "world.h"

static gg_status check_outline(const gg_planar_def *shapes, int32_t k, gg_message out) {
    const gg_outline *o = &shapes->outline[k];
    GG_EXPECT(out,
              o->radius > 0.0f && o->area > 0.0f && o->gyration2 > 0.0f && o->thickness > 0.0f && gg_finite(o->radius),
              "outline %d: expected radius, area, gyration2 and thickness > 0, got %g, %g, %g, %g", (int)k, o->radius,
              o->area, o->gyration2, o->thickness);
    GG_EXPECT(out, o->point_count >= 3 && o->point_count <= GG_OUTLINE_POINTS,
              "outline %d: expected 3 to %d points, got %d", (int)k, GG_OUTLINE_POINTS, (int)o->point_count);
    GG_EXPECT(out, o->first_point >= 0 && (int64_t)o->first_point + o->point_count <= shapes->outline_point_count,
              "outline %d: its points lie outside the array", (int)k);
    for (int32_t p = 0; p < o->point_count; p++) {
        const gg_outline_point *point = &shapes->outline_point[o->first_point + p];
        GG_EXPECT(out,
                  gg_finite(point->x) && gg_finite(point->y) && point->before >= 0 && point->before < o->point_count &&
                      point->after >= 0 && point->after < o->point_count,
                  "outline %d: point %d is not finite, or its neighbours are none of the outline's", (int)k, (int)p);
    }
    return GG_OK;
}

static gg_status check_field(const gg_planar_def *shapes, int32_t a, int32_t b, gg_message out) {
    const gg_pair_field *f = &shapes->pair_field[(int64_t)a * shapes->outline_count + b];
    float radius = shapes->outline[a].radius + shapes->outline[b].radius;
    GG_EXPECT(out, gg_pair_field_fits(f, shapes->pair_data_size),
              "pair_field (%d, %d): expected a record that fits its data", (int)a, (int)b);
    GG_EXPECT(out, gg_absf(f->radius - radius) <= 1e-3f * radius,
              "pair_field (%d, %d): built for shapes whose circumradii add up to %g m, these have %g m", (int)a, (int)b,
              f->radius, radius);
    return GG_OK;
}

static gg_status check_outlines(const gg_planar_def *shapes, gg_message out) {
    for (int32_t a = 0; a < shapes->outline_count; a++) {
        gg_status status = check_outline(shapes, a, out);
        for (int32_t b = a; status == GG_OK && b < shapes->outline_count; b++) {
            status = check_field(shapes, a, b, out);
        }
        if (status != GG_OK) {
            return status;
        }
    }
    return GG_OK;
}

static gg_status check_materials(const gg_world_def *d, gg_message out) {
    const gg_planar_def *shapes = &d->planar;
    int64_t materials = d->material_count;
    for (int64_t m = 0; m < materials; m++) {
        GG_EXPECT(out, shapes->material_outline[m] >= 0 && shapes->material_outline[m] < shapes->outline_count,
                  "material_outline: expected an index in [0, %d), got %d for material %d", (int)shapes->outline_count,
                  (int)shapes->material_outline[m], (int)m);
    }
    return GG_OK;
}

static gg_status check_grains(const gg_world_def *d, gg_message out) {
    const gg_planar_def *shapes = &d->planar;
    for (int64_t i = 0; i < d->grain_count; i++) {
        float radius = shapes->outline[shapes->material_outline[d->grain_material[i]]].radius;
        GG_EXPECT(out, gg_absf(d->radius[i] - radius) <= 1e-4f * radius,
                  "radius: expected the circumradius %g m of its shape for grain %lld, got %g", radius, (long long)i,
                  d->radius[i]);
        GG_EXPECT(out, d->position[3 * i + 2] == 0.0f && (!d->velocity || d->velocity[3 * i + 2] == 0.0f),
                  "position, velocity: expected z = 0 for planar grain %lld", (long long)i);
        GG_EXPECT(out, !shapes->angle || gg_absf(shapes->angle[i]) <= 1e6f,
                  "angle: expected up to 1e6 rad, got %g for grain %lld", shapes->angle ? shapes->angle[i] : 0.0f,
                  (long long)i);
    }
    return GG_OK;
}

gg_status gg_planar_check(const gg_world_def *d, gg_message out) {
    const gg_planar_def *shapes = &d->planar;
    GG_EXPECT(out, shapes->outline_count >= 0 && shapes->outline_count <= 256,
              "outline_count: expected 0 to 256, got %d", (int)shapes->outline_count);
    GG_EXPECT(out, shapes->outline_count || d->solver.mode != GG_MODE_PENALTY,
              "solver.mode: penalty is a law of planar grains; spheres have gauss_seidel, jacobi and paper");
    if (!shapes->outline_count) {
        return GG_OK;
    }
    GG_EXPECT(out, d->solver.mode != GG_MODE_PAPER, "solver.mode: Algorithm 1 of GranularGym is for spheres alone");
    GG_EXPECT(out, d->solver.mode != GG_MODE_GAUSS_SEIDEL, "solver.mode: gauss_seidel is for spheres alone");
    GG_EXPECT(out, d->solver.spin, "solver.spin: planar grains turn");
    GG_EXPECT(out, d->solver.broad_phase == GG_BROAD_CELLS, "solver.broad_phase: planar grains are sorted by cells");
    GG_EXPECT(out, d->air.density == 0.0f && d->air.viscosity == 0.0f, "air: planar grains fly without drag");
    GG_EXPECT(out, d->gravity.z == 0.0f, "gravity: expected z = 0 for planar grains, got %g", d->gravity.z);
    GG_EXPECT(out,
              GG_PLANAR_PLACES * (int64_t)(d->part_count + GG_WALL_COUNT) * shapes->outline_point_count < INT32_MAX &&
                  shapes->outline_point_count > 0,
              "outline_point: too many points for %d parts of tools", (int)d->part_count);
    gg_status status = check_outlines(shapes, out);
    status = status == GG_OK ? check_materials(d, out) : status;
    return status == GG_OK ? check_grains(d, out) : status;
}

float gg_planar_mass_min(const gg_view *v) {
    float mass = 0.0f;
    for (int64_t at = 0; at < v->dims.env_count * v->dims.slots; at++) {
        int32_t material = v->material[at];
        if (v->grain_id[at] >= 0 && !v->material_fixed[material]) {
            float density = v->density[at / v->dims.slots * v->dims.material_count + material];
            float own = density * v->outlines[v->material_outline[material]].area;
            mass = mass > 0.0f ? gg_minf(mass, own) : own;
        }
    }
    return mass;
}
