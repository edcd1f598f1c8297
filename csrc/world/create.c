/* create.c: from a definition to a world, and its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../phases/access.h"
#include "world.h"

/* grain k starts in slot k; slots without a grain come last */
static void fill_slot(gg_view *v, const gg_world_def *d, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    int used = i < d->grain_count;
    gg_vec4 none = {0.0f, 0.0f, 0.0f, 0.0f};
    v->grain_id[at] = used ? (int32_t)i : -1;
    v->slot_of[at] = used ? (int32_t)i : -1;
    v->position[at] = none;
    if (used) {
        gg_vec4 x = {d->position[3 * i], d->position[3 * i + 1], d->position[3 * i + 2], d->radius[i]};
        float *body = v->body_a + (e * v->dims.bodies + i) * GG_BODY;
        v->position[at] = x;
        v->material[at] = d->grain_material[i];
        for (int k = 0; d->velocity && k < 3; k++) {
            body[k] = d->velocity[3 * i + k];
        }
        body[7] = 1.0f / d->radius[i];
        if (v->dims.planar.slots && d->planar.angle) {
            v->angle[e * v->dims.planar.slots + i] = gg_turn_within(d->planar.angle[i]);
        }
    }
    v->built_position[at] = v->position[at];
}

static void fill_env(gg_view *v, const gg_world_def *d, int64_t e) {
    gg_env *env = &v->env[e];
    int64_t m = d->material_count;
    memset(env, 0, sizeof *env);
    env->gravity = d->gravity;
    env->air = d->air;
    env->rebuild = 1;
    env->live_slices = (int32_t)v->dims.slices;
    env->awake = (int32_t)d->grain_count;
    memcpy(v->pair + e * m * m, d->pair, sizeof(gg_pair) * (size_t)(m * m));
    memcpy(v->density + e * m, d->density, sizeof(float) * (size_t)m);
    for (int64_t i = 0; i < v->dims.slots; i++) {
        fill_slot(v, d, e, i);
    }
    for (int64_t t = 0; t < v->dims.tool_count; t++) {
        gg_pose pose = {gg_v3(0.0f, 0.0f, 0.0f), gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f)};
        if (t >= GG_WALL_COUNT) {
            pose = d->tool_pose[t - GG_WALL_COUNT];
            pose.rotation = gg_quat_unit(pose.rotation);
        }
        v->tool_pose[e * v->dims.tool_count + t] = pose;
        v->tool_active[e * v->dims.tool_count + t] = 1;
        gg_tool_place(v, e, t);
    }
}

/* the scene, and all envs as they start, on the host */
static gg_status fill(gg_world *w, const gg_world_def *d, gg_dims dims) {
    gg_params *p = &w->view.params;
    w->listed = malloc(sizeof(int64_t) * (size_t)d->env_count);
    w->drawn = calloc((size_t)(d->env_count * d->camera_count + 1), 1);
    w->seen_wanted = calloc((size_t)d->camera_count + 1, 1);
    w->targets = malloc(sizeof(float) * 7 * (size_t)(d->env_count * d->tool_count + 1));
    w->kinds = malloc(sizeof(gg_grain_kind) * (size_t)(d->grain_count + 1));
    w->material_radii = calloc((size_t)d->material_count + 1, sizeof(gg_material_radii));
    if (!w->listed || !w->drawn || !w->seen_wanted || !w->targets || !w->kinds || !w->material_radii) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: lists of envs, tools and grains");
    }
    for (int64_t i = 0; i < d->grain_count; i++) {
        w->kinds[i].radius = d->radius[i];
        w->kinds[i].material = d->grain_material[i];
        gg_material_radii *of = &w->material_radii[d->grain_material[i]];
        of->low = of->high > 0.0f ? gg_minf(of->low, d->radius[i]) : d->radius[i];
        of->high = gg_maxf(of->high, d->radius[i]);
    }
    p->lower = d->lower;
    p->upper = d->upper;
    memcpy(p->boundary, d->boundary, sizeof p->boundary);
    p->law = gg_law_of(d);
    p->dynamic = dims.tools.dynamic > 0;
    p->spacing = d->continuum.spacing;
    p->table = gg_table_law_of(d);
    gg_status status = gg_scene_create(w, d, &dims);
    if (status != GG_OK || (status = gg_arena_resize(w, dims)) != GG_OK) {
        return status;
    }
    for (int64_t e = 0; e < d->env_count; e++) {
        fill_env(&w->view, d, e);
        gg_clumps_fill(&w->view, d, e);
    }
    int64_t all = 0;
    status = gg_world_update_masses(w, gg_envs_list(w, NULL, &all));
    gg_access a = gg_access_of_envs(w, &status);
    const gg_phase place = GG_PHASE_place_clumps;
    return gg_access_run(w, &a, &place, 1, status);
}

static gg_status build(gg_world *w, const gg_world_def *d) {
    gg_status status = gg_def_check(d, gg_message_of(w));
    if (status != GG_OK) {
        return status;
    }
    gg_dims dims = gg_dims_of(d);
    w->solver = d->solver;
    w->chunk = GG_CHUNK_FIRST;
    w->drive.kind = GG_DRIVE_KINDS;
    w->kernel = gg_kernel_select(NULL);
    if ((status = fill(w, d, dims)) != GG_OK || (status = gg_world_set_thread_count(w, d->thread_count)) != GG_OK) {
        return status;
    }
    gg_params_from_grains(w);
    gg_params_from_materials(w);
    gg_params_from_solver(w);
    gg_dims_fit_grains(w, &dims, d->gpu != 0);
    gg_dims_fit_pairs(w, &dims, d->pair, (int64_t)d->material_count * d->material_count);
    gg_dims_fit_sleep(w, &dims, &w->solver);
    w->layout = gg_state_layout(w);
    if ((status = gg_arena_resize(w, dims)) != GG_OK || d->gpu == 0) {
        return status;
    }
    gg_cuda *cuda = NULL;
    status = gg_cuda_open(d->gpu - 1, &cuda, w->message, sizeof w->message);
    return status == GG_OK ? gg_world_move_to_device(w, cuda) : status;
}

gg_status gg_world_create(const gg_world_def *def, gg_world **out, char *message, size_t message_size) {
    *out = NULL;
    gg_world *w = calloc(1, sizeof *w);
    gg_status status = w ? build(w, def) : GG_ERROR_MEMORY;
    if (status != GG_OK) {
        if (message && message_size) {
            snprintf(message, message_size, "%s", w ? w->message : "out of memory: world");
        }
        gg_world_destroy(w);
        return status;
    }
    *out = w;
    return GG_OK;
}

void gg_world_destroy(gg_world *w) {
    if (!w) {
        return;
    }
    gg_staging_free(w);
    gg_drive_free(w);
    gg_scene_free(w);
    gg_memory_free(w, w->arena);
    gg_pool_close(w->pool);
    gg_cuda_release(w->cuda);
    free(w->mirror_arena);
    free(w->listed);
    free(w->drawn);
    free(w->seen_wanted);
    gg_picture_memory_free(&w->picture);
    free(w->targets);
    free(w->kinds);
    free(w->material_radii);
    free(w->seconds);
    free(w);
}
