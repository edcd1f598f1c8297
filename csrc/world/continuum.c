/* continuum.c: what the law of continuous matter asks of a definition; reading and setting its deformation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../solvers/continuum/explicit.h"
#include "../solvers/drag.h"
#include "world.h"

static gg_status check_material(const gg_world_def *d, int32_t k, gg_message out) {
    const gg_continuum_material *m = &d->continuum.material[k];
    GG_EXPECT(out, m->bulk >= 0.0 && m->bulk <= 1e13 && m->shear >= 0.0 && m->shear <= 1e13,
              "material %d: expected moduli in [0, 1e13] Pa, got bulk %g and shear %g", (int)k, m->bulk, m->shear);
    GG_EXPECT(
        out, m->strength >= 0.0 && m->strength <= GG_UNYIELDING && m->tension >= 0.0 && m->tension <= GG_UNYIELDING,
        "material %d: expected a yield stress and a tension >= 0 Pa, got %g and %g", (int)k, m->strength, m->tension);
    GG_EXPECT(
        out, m->slope >= 0.0 && m->slope <= 10.0 && m->viscosity >= 0.0 && m->viscosity <= 1e9,
        "material %d: expected a slope of the yield stress in [0, 10] and a viscosity in [0, 1e9] Pa s, got %g and "
        "%g",
        (int)k, m->slope, m->viscosity);
    GG_EXPECT(out, m->dilatancy >= 0.0 && m->dilatancy <= 10.0 && m->dilation >= 0.0 && m->dilation <= 10.0,
              "material %d: expected a dilatancy and a bound on its strain in [0, 10], got %g and %g", (int)k,
              m->dilatancy, m->dilation);
    GG_EXPECT(out, m->liquid >= 0.0 && m->liquid <= 1e13 && (m->liquid == 0.0 || (m->bulk == 0.0 && m->shear == 0.0)),
              "material %d: expected a bulk modulus of a liquid in [0, 1e13] Pa, and none of a solid beside it, got %g",
              (int)k, m->liquid);
    return GG_OK;
}

/* what continuous matter cannot meet */
static gg_status check_scene(const gg_world_def *d, gg_message out) {
    for (int axis = 0; axis < 3; axis++) {
        GG_EXPECT(out, d->boundary[axis][0] < GG_BOUNDARY_CYCLIC,
                  "boundary: continuous matter takes walls and open faces, got another kind on %c", "xyz"[axis]);
    }
    GG_EXPECT(out, !gg_air_drags(&d->air), "air: expected none around continuous matter, as it drags on single grains");
    for (int32_t k = 0; k < d->material_count; k++) {
        GG_EXPECT(out, !(d->continuum.material[k].liquid > 0.0 && d->solver.mode == GG_MODE_EXPLICIT),
                  "solver.mode: expected the default in a scene with a liquid, got explicit");
    }
    GG_EXPECT(out, !d->solver.sleep, "solver.sleep: expected 0 with continuous matter");
    GG_EXPECT(out,
              d->solver.mode == GG_MODE_GAUSS_SEIDEL || d->solver.mode == GG_MODE_JACOBI ||
                  d->solver.mode == GG_MODE_EXPLICIT,
              "solver.mode: continuous matter has a solver of its own, expected the default or explicit, got %d",
              (int)d->solver.mode);
    return GG_OK;
}

gg_status gg_continuum_check(const gg_world_def *d, gg_message out) {
    double h = d->continuum.spacing;
    GG_EXPECT(out, h != 0.0 || d->solver.mode != GG_MODE_EXPLICIT,
              "solver.mode: explicit is for continuous matter alone");
    if (h == 0.0) {
        return GG_OK;
    }
    GG_EXPECT(out, h >= 1e-5 && h <= 1e3, "spacing: expected a value in [1e-5, 1000] m, got %g", h);
    GG_EXPECT(out, !d->planar.outline_count && !d->clumps.count,
              "continuum: expected no planar grains and no clumps beside continuous matter");
    for (int32_t k = 0; k < d->material_count; k++) {
        gg_status status = check_material(d, k, out);
        if (status != GG_OK) {
            return status;
        }
    }
    for (int64_t i = 0; i < d->grain_count; i++) {
        int32_t material = d->grain_material[i];
        GG_EXPECT(out,
                  d->continuum.material[material].bulk + d->continuum.material[material].liquid > 0.0 &&
                      !(d->material_fixed && d->material_fixed[material]),
                  "grain_material: expected particles of continuous matter alone, grain %lld is none", (long long)i);
        GG_EXPECT(out, (double)d->radius[i] <= h,
                  "radius: expected particles no larger than the spacing of the grid (%g m), got %g for grain %lld", h,
                  (double)d->radius[i], (long long)i);
    }
    return check_scene(d, out);
}

void gg_continuum_step_bound(const gg_view *v, gg_params *p) {
    p->step_bound = INFINITY;
    for (int64_t at = 0; at < v->dims.env_count * v->dims.slots; at++) {
        int32_t material = v->material[at];
        if (v->grain_id[at] >= 0) {
            double density = v->density[at / v->dims.slots * v->dims.material_count + material];
            double bound = gg_explicit_bound(&v->continuum_material[material], density, p->spacing);
            p->step_material = bound < p->step_bound ? material : p->step_material;
            p->step_bound = GG_MIN(bound, p->step_bound);
        }
    }
}

static gg_status expect_continuum(gg_world *w) {
    GG_EXPECT(gg_message_of(w), w->view.dims.continuum.envs, "continuum: expected a world of continuous matter");
    return GG_OK;
}

/* material of a grain, by what the host has of slot_of and material */
static const gg_continuum_material *material_of(const gg_view *host, int64_t e, int64_t id) {
    int64_t slot = host->slot_of[e * host->dims.slots + id];
    return &host->continuum_material[host->material[e * host->dims.slots + slot]];
}

/* Kirchhoff's, as it pushes the nodes, but for viscosity: the stress that the strain alone has */
static gg_sym stress_of(const gg_continuum_material *m, gg_sym strain) {
    gg_sym none = {0};
    if (m->liquid > 0.0) {
        return gg_sym_shift(none, m->liquid * gg_sym_trace(strain));
    }
    gg_matter matter = gg_matter_of(m, gg_matter_strength(m, gg_sym_trace(strain)), strain, none, 1.0);
    return gg_tensor_symmetric(gg_sym_product(matter.stress, gg_matter_lever(m, strain)));
}

/* copies what grains have of a field, `each` bytes, between the host and where the world runs; rows: envs */
static gg_status copy_field(gg_world *w, void *host, void *field, size_t each, int64_t rows, gg_direction direction) {
    size_t width = each * (size_t)w->view.dims.grain_count, pitch = each * (size_t)w->view.dims.continuum.slots;
    int up = direction == GG_TO_DEVICE;
    return gg_memory_copy(w, up ? field : host, up ? pitch : width, up ? host : field, up ? width : pitch, width,
                          (size_t)rows, direction);
}

gg_status gg_world_get_continuum(gg_world *w, const gg_continuum_state *out) {
    gg_view *host;
    const gg_dims *dims = &w->view.dims;
    gg_status status = expect_continuum(w);
    status = status == GG_OK
                 ? copy_field(w, out->stretch, w->view.continuum_strain, sizeof(gg_sym), dims->env_count, GG_TO_HOST)
                 : status;
    status = status == GG_OK
                 ? copy_field(w, out->plastic, w->view.continuum_plastic, sizeof(float), dims->env_count, GG_TO_HOST)
                 : status;
    if (status == GG_OK && dims->continuum.dilatant) {
        status = copy_field(w, out->dilation, w->view.continuum_dilation, sizeof(float), dims->env_count, GG_TO_HOST);
    }
    status = status == GG_OK ? gg_world_pull(w, GG_BIT(slot_of) | GG_BIT(material), -1, &host) : status;
    for (int64_t k = 0; status == GG_OK && k < dims->env_count * dims->grain_count; k++) {
        const gg_continuum_material *m = material_of(host, k / dims->grain_count, k % dims->grain_count);
        gg_sym strain, stretch, stress;
        memcpy(&strain, out->stretch + 6 * k, sizeof strain);
        stretch = gg_matter_stretch(m, strain);
        stress = stress_of(m, strain);
        memcpy(out->stretch + 6 * k, &stretch, sizeof stretch);
        memcpy(out->stress + 6 * k, &stress, sizeof stress);
    }
    return status;
}

static gg_status check_deformation(gg_world *w, int64_t listed, const double *stretch, const float *plastic,
                                   const float *dilation) {
    int64_t count = w->view.dims.grain_count;
    int dilates = w->view.dims.continuum.dilatant > 0;
    for (int64_t k = 0; k < listed * count; k++) {
        gg_sym one;
        memcpy(&one, stretch + 6 * k, sizeof one);
        GG_EXPECT(gg_message_of(w), gg_stretch_usable(one) && gg_finite(plastic[k]) && plastic[k] >= 0.0f,
                  "stretches, plastic_strains: expected positive definite matrices and strains >= 0, those of particle "
                  "%lld are not",
                  (long long)(k % count));
        GG_EXPECT(gg_message_of(w), gg_finite(dilation[k]) && dilation[k] >= 0.0f && (!dilation[k] || dilates),
                  "dilations: expected strains >= 0, and 0 where no material dilates, that of particle %lld is %g",
                  (long long)(k % count), (double)dilation[k]);
    }
    return GG_OK;
}

gg_status gg_world_set_continuum(gg_world *w, const int32_t *envs, int64_t listed, const double *stretch,
                                 const float *plastic, const float *dilation) {
    gg_view *host;
    const gg_dims *dims = &w->view.dims;
    gg_status status = expect_continuum(w);
    status = status == GG_OK ? gg_envs_check(w, envs, &listed) : status;
    status = status == GG_OK ? gg_world_pull(w, GG_BIT(slot_of) | GG_BIT(material), -1, &host) : status;
    gg_sym *strain = malloc(sizeof *strain * (size_t)dims->grain_count);
    if (status == GG_OK && !strain) {
        status =
            gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: strains of %lld particles", (long long)dims->grain_count);
    }
    status = status == GG_OK ? check_deformation(w, listed, stretch, plastic, dilation) : status;
    for (int64_t k = 0; status == GG_OK && k < listed; k++) {
        int64_t e = gg_env_at(envs, k), at = e * dims->continuum.slots, from = k * dims->grain_count;
        for (int64_t id = 0; id < dims->grain_count; id++) {
            memcpy(&strain[id], stretch + 6 * (from + id), sizeof *strain);
            strain[id] = gg_matter_strain(material_of(host, e, id), strain[id]);
        }
        status = copy_field(w, strain, w->view.continuum_strain + at, sizeof *strain, 1, GG_TO_DEVICE);
        status = status == GG_OK ? copy_field(w, (void *)(uintptr_t)(plastic + from), w->view.continuum_plastic + at,
                                              sizeof(float), 1, GG_TO_DEVICE)
                                 : status;
        if (status == GG_OK && dims->continuum.dilatant) {
            status = copy_field(w, (void *)(uintptr_t)(dilation + from), w->view.continuum_dilation + at, sizeof(float),
                                1, GG_TO_DEVICE);
        }
    }
    free(strain);
    return status;
}
