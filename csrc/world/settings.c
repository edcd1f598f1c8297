/* settings.c: how a world runs: its sizes, solver, threads, kernel and stream. */
#include <string.h>

#include "../base/cores.h"
#include "world.h"

void gg_world_get_info(const gg_world *w, gg_world_info *info) {
    memset(info, 0, sizeof *info);
    info->env_count = w->view.dims.env_count;
    info->grain_count = w->view.dims.grain_count;
    info->clump_count = w->view.dims.clumps.count;
    info->tool_count = gg_own_tool_count(w);
    info->coupled_count = w->view.dims.tools.coupled;
    info->camera_count = w->view.dims.camera_count;
    info->material_count = w->view.dims.material_count;
    info->memory = (int64_t)w->arena_size;
    info->thread_count = w->thread_count;
    info->kernel = w->cuda ? gg_cuda_kernel(w->cuda) : w->kernel.name;
    info->gpu = w->cuda ? gg_cuda_device(w->cuda) + 1 : 0;
    info->waits = w->cuda ? gg_cuda_waits(w->cuda) : 0;
    info->drawn = w->drawn_count;
    info->solver = w->solver;
    info->solver.relaxation = w->view.params.relaxation;
    info->solver.relaxation_sum = w->view.params.relaxation_sum;
}

gg_status gg_world_set_thread_count(gg_world *w, int32_t thread_count) {
    const gg_view *v = &w->view;
    GG_EXPECT(gg_message_of(w), thread_count >= 0 && thread_count <= GG_THREAD_LIMIT,
              "thread_count: expected 0 (as many as are of use) to 1024, got %d", (int)thread_count);
    int32_t cores = thread_count ? thread_count : gg_usable_cores();
    w->host_threads = cores;
    w->thread_count = thread_count ? thread_count : gg_executor_useful_threads(&v->dims, (gg_law)v->params.law, cores);
    return GG_OK;
}

gg_status gg_world_solver_check(const gg_solver *solver, gg_message out) {
    static const char prefix[] = "solver.";
    const size_t length = sizeof prefix - 1;
    if (!out.text || out.size <= length) {
        return gg_solver_check(solver, NULL, 0);
    }
    gg_status status = gg_solver_check(solver, out.text + length, out.size - length);
    if (status != GG_OK) {
        memcpy(out.text, prefix, length);
    }
    return status;
}

gg_status gg_world_set_solver(gg_world *w, const gg_solver *solver) {
    gg_message out = gg_message_of(w);
    gg_status status = gg_world_solver_check(solver, out);
    if (status != GG_OK) {
        return status;
    }
    GG_EXPECT(out,
              solver->spin == w->solver.spin && solver->mode == w->solver.mode &&
                  solver->broad_phase == w->solver.broad_phase,
              "solver: spin, mode and broad_phase are fixed when a world is built; build another");
    GG_EXPECT(out, solver->broad_phase != GG_BROAD_LINKED_HASH || solver->hash_ratio == w->solver.hash_ratio,
              "solver.hash_ratio: expected %g, with which the world was built, got %g", w->solver.hash_ratio,
              solver->hash_ratio);
    GG_EXPECT(out, !solver->sleep || !w->view.dims.continuum.envs, "solver.sleep: expected 0 with continuous matter");
    GG_EXPECT(out, solver->integrator == w->solver.integrator,
              "solver.integrator: fixed when a world is built; build another");
    gg_view *host;
    gg_dims dims = w->view.dims;
    if (gg_dims_fit_sleep(w, &dims, solver)) {
        status = gg_arena_resize(w, dims);
    }
    if (status != GG_OK || (status = gg_world_pull(w, GG_BIT(env), -1, &host)) != GG_OK) {
        return status;
    }
    w->solver = *solver;
    gg_params_from_solver(w);
    for (int64_t e = 0; e < host->dims.env_count; e++) {
        host->env[e].rebuild = 1;
    }
    gg_envs_wake(host, NULL, host->dims.env_count);
    if (w->cuda) {
        size_t size = w->scene.beta_size;
        status = gg_memory_copy(w, (void *)(uintptr_t)w->view.beta, size, w->scene.beta, size, size, 1, GG_TO_DEVICE);
    }
    return status == GG_OK ? gg_world_push(w, GG_BIT(env), -1) : status;
}

gg_status gg_world_set_kernel(gg_world *w, const char *name) {
    if (w->cuda) {
        gg_status status = gg_cuda_set_kernel(w->cuda, name);
        return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
    }
    gg_kernel kernel = gg_kernel_select(name);
    if (!kernel.name) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "kernel: \"%s\" is not in this build or not for this processor",
                             name);
    }
    w->kernel = kernel;
    return GG_OK;
}

gg_status gg_world_set_stream(gg_world *w, uintptr_t stream) {
    if (!w->cuda) {
        return gg_world_fail(w, GG_ERROR_BACKEND, "stream: this world runs on the CPU");
    }
    gg_status status = gg_cuda_set_stream(w->cuda, stream);
    return status == GG_OK ? GG_OK : gg_world_fail(w, status, "%s", gg_cuda_message(w->cuda));
}

uintptr_t gg_world_get_stream(const gg_world *w) { return w->cuda ? gg_cuda_stream(w->cuda) : 0; }
