/* dims.c: sizes of the arrays of a world: what follows from its definition, and what grows with the contacts. */
#include <string.h>

#include "../sensors/depth.h"
#include "../solvers/dynamic_tools.h"
#include "world.h"

void gg_dims_set_tool_contacts(gg_dims *dims, int64_t tool_contacts) {
    dims->tool_contacts = tool_contacts;
    dims->bodies = dims->free_bodies + tool_contacts;
    dims->listed_bodies = dims->listed ? dims->bodies : 0;
    dims->clumps.bodies = dims->clumps.count && dims->coloured.envs ? dims->bodies : 0;
    dims->bell.touches = dims->bell.envs ? tool_contacts : 0;
    dims->bell.loads = dims->bell.adaptive ? tool_contacts : 0;
    dims->continuum.contacts = dims->continuum.envs ? tool_contacts : 0;
    dims->coloured.touches = dims->coloured.envs ? tool_contacts : 0;
    dims->load_blocks = (tool_contacts + GG_LOAD_BLOCK - 1) / GG_LOAD_BLOCK;
    dims->tools.contacts = dims->tools.dynamic ? tool_contacts : 0;
    dims->tools.sums = dims->load_blocks * dims->tools.dynamic;
    dims->tools.coupled_contacts = dims->tools.coupled ? tool_contacts : 0;
    dims->tools.coupled_sums = dims->load_blocks * dims->tools.coupled;
}

void gg_dims_set_contact_rows(gg_dims *dims, int64_t contact_rows) {
    dims->contact_rows = contact_rows;
    dims->spheres.roll_rows = dims->spheres.roll_rows ? contact_rows : 0;
    dims->spheres.cohesive_rows = dims->spheres.cohesive_rows ? contact_rows : 0;
    dims->planar.rows = dims->planar.outline_count ? contact_rows : 0;
    dims->coloured.rows = dims->coloured.envs ? contact_rows : 0;
    dims->coloured.pushes = dims->coloured.found ? contact_rows : 0;
    dims->clumps.rows = dims->clumps.count && dims->coloured.envs ? contact_rows : 0;
}

void gg_dims_set_candidates(gg_dims *dims, int64_t candidates) {
    dims->candidate_cap = candidates;
    dims->planar.manifolds = dims->planar.outline_count ? candidates : 0;
}

int64_t gg_candidates_of_env(const gg_world *w, const int32_t *per_grain) {
    int64_t candidates = 0;
    for (int k = 0; k < GG_SIZE_CLASSES; k++) {
        candidates += w->size_class_grains[k] * per_grain[k];
    }
    return candidates;
}

void gg_dims_set_blocks(gg_dims *dims, int64_t blocks, int64_t nodes) {
    dims->continuum.blocks = dims->continuum.envs ? blocks : 0;
    dims->continuum.nodes = dims->continuum.envs ? nodes : 0;
    dims->continuum.fills = dims->continuum.liquid ? dims->continuum.blocks * GG_CELLS : 0;
    dims->continuum.rooms = dims->continuum.liquid ? dims->continuum.nodes : 0;
    dims->continuum.flows = dims->continuum.rooms * GG_NODES;
    dims->continuum.tool_blocks = dims->continuum.tools ? dims->continuum.blocks : 0;
}

gg_law gg_law_of(const gg_world_def *d) {
    if (d->continuum.spacing > 0.0) {
        return GG_LAW_continuum;
    }
    if (d->planar.outline_count) {
        return d->solver.mode == GG_MODE_PENALTY ? GG_LAW_springs : GG_LAW_planar;
    }
    if (d->solver.mode == GG_MODE_BELL) {
        return GG_LAW_bell;
    }
    if (d->solver.mode == GG_MODE_TABLE) {
        return GG_LAW_table;
    }
    if (d->clumps.count) {
        return GG_LAW_clumps;
    }
    return d->solver.mode == GG_MODE_GAUSS_SEIDEL ? GG_LAW_coloured : GG_LAW_spheres;
}

gg_dims gg_dims_of(const gg_world_def *d) {
    gg_dims dims;
    memset(&dims, 0, sizeof dims);
    dims.env_count = d->env_count;
    dims.grain_count = d->grain_count;
    dims.slices = GG_MAX((d->grain_count + GG_LANES - 1) / GG_LANES, 1);
    dims.slots = dims.slices * GG_LANES;
    dims.blocks = (dims.slots + GG_BLOCK - 1) / GG_BLOCK;
    dims.free_bodies = dims.slots; /* every grain is one slot and one body */
    dims.listed = gg_law_has_lists(gg_law_of(d)) ? dims.slots : 0;
    dims.noted = dims.slots * 6;
    dims.clumps.count = d->clumps.count;
    dims.clumps.lone = gg_clumps_lone(d);
    dims.clumps.surfaces = gg_clumps_surfaces(d);
    dims.clumps.slots = dims.clumps.count ? dims.slots : 0;
    if (gg_law_of(d) == GG_LAW_coloured || gg_law_of(d) == GG_LAW_clumps) {
        dims.coloured.envs = 1;
        dims.coloured.slots = dims.slots;
        dims.coloured.firsts = dims.slots;
    }
    dims.tool_count = GG_WALL_COUNT + d->tool_count;
    if (gg_law_of(d) == GG_LAW_bell) {
        dims.bell.envs = 1;
        dims.bell.count = dims.clumps.count;
        dims.bell.slots = dims.slots;
        dims.bell.tools = dims.tool_count;
        dims.bell.adaptive = d->solver.integrator == GG_INTEGRATOR_RKF45 ? dims.clumps.count : 0;
    }
    if (gg_law_of(d) == GG_LAW_table) {
        dims.table.envs = 1;
        dims.table.slots = dims.slots;
        dims.table.bonds = d->bonds.count;
    }
    for (int32_t k = 0; d->tool_mass && k < d->tool_count; k++) {
        dims.tools.dynamic = gg_tool_moves(&d->tool_mass[k]) ? dims.tool_count : dims.tools.dynamic;
        dims.tools.coupled += d->tool_mass[k].coupled > 0;
        dims.tools.compliant = d->tool_mass[k].stiffness > 0.0f ? dims.tool_count : dims.tools.compliant;
        dims.tools.turning = d->tool_mass[k].inertia.xx > 0.0 ? dims.tool_count : dims.tools.turning;
    }
    if (gg_law_of(d) == GG_LAW_continuum) {
        dims.continuum.envs = 1;
        dims.continuum.slots = dims.slots;
        dims.continuum.tools = dims.tools.dynamic ? dims.tool_count - GG_WALL_COUNT : 0;
        dims.continuum.twists = 6 * dims.continuum.tools;
        dims.continuum.cells = GG_MAX(2 * dims.slots, GG_MATTER_CELLS);
        for (int32_t k = 0; k < d->material_count; k++) {
            dims.continuum.liquid |= d->continuum.material[k].liquid > 0.0;
            dims.continuum.dilatant = d->continuum.material[k].dilatancy > 0.0 ? dims.slots : dims.continuum.dilatant;
        }
        dims.noted = dims.slots * (int64_t)(sizeof(gg_continuum_point) / sizeof(float));
        dims.continuum.given = dims.continuum.liquid ? 2 * GG_HALO : GG_HALO_MATRICES;
        gg_dims_set_blocks(&dims, dims.slots / 256 + 8, dims.slots / 192 + 32);
    }
    /* of continuous matter only the surface meets tools */
    gg_dims_set_tool_contacts(&dims, dims.slots / (dims.continuum.envs ? 16 : 4) + 64);
    dims.planar.outline_count = d->planar.outline_count;
    dims.planar.outline_points = d->planar.outline_point_count;
    dims.planar.slots = dims.planar.outline_count ? dims.slots : 0;
    gg_dims_set_contact_rows(&dims, dims.continuum.envs  ? 0
                                    : dims.coloured.envs ? dims.slices * 3 + 32
                                                         : dims.slices * 5 + 8);
    dims.material_count = d->material_count;
    dims.part_count = d->part_count;
    for (int face = 0; face < GG_WALL_COUNT; face++) {
        dims.part_count += d->boundary[face / 2][face % 2] == GG_BOUNDARY_WALL;
    }
    dims.camera_count = d->camera_count;
    for (int32_t k = 0; k < d->camera_count; k++) {
        dims.pixels += (int64_t)d->camera[k].height * d->camera[k].width;
    }
    if (d->solver.broad_phase == GG_BROAD_LINKED_HASH) {
        double buckets = (double)d->solver.hash_ratio * (double)d->grain_count;
        dims.hash_size = buckets < 1.0 ? 1 : buckets > (double)INT32_MAX ? INT32_MAX : (int64_t)buckets;
        dims.hash_next = dims.slots;
    }
    return dims;
}

int gg_grains_may_sleep(const gg_world *w, const gg_solver *solver) {
    const gg_params *p = &w->view.params;
    /* records of kept contacts come behind those of all others, see solvers/spheres/coloured/coloured.h */
    int64_t records = w->view.dims.slots * GG_KEPT;
    return solver->sleep && p->law == GG_LAW_coloured && solver->broad_phase == GG_BROAD_CELLS && !p->dynamic &&
           records < INT32_MAX / GG_COLOURS / 2;
}

int gg_dims_fit_sleep(const gg_world *w, gg_dims *dims, const gg_solver *solver) {
    if (dims->sleep.slots || !gg_grains_may_sleep(w, solver)) {
        return 0;
    }
    dims->sleep.slots = dims->slots;
    dims->sleep.tools = dims->tool_count;
    return 1;
}

void gg_dims_fit_grains(const gg_world *w, gg_dims *dims, int on_gpu) {
    const gg_params *p = &w->view.params;
    /* the last one is for grains deep asleep */
    dims->cells = GG_MAX(2 * dims->slots, 64) * p->size_class_count + 1;
    if (!gg_law_has_lists((gg_law)p->law)) {
        dims->cells = 1;
        return;
    }
    dims->cell_cursors = on_gpu ? dims->cells : 0;
    dims->coloured.firsts = dims->coloured.slots * (on_gpu ? 2 : 1);
    dims->coloured.found = on_gpu && !dims->clumps.count ? dims->coloured.slots : 0;
    dims->coloured.pushes = dims->coloured.found ? dims->coloured.rows : 0;
    dims->cell_points = on_gpu || p->broad_phase != GG_BROAD_CELLS ? 0 : dims->slots + GG_LANES;
    gg_dims_set_candidates(dims, gg_candidates_of_env(w, p->size_class_candidates));
}
