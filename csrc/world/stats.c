/* stats.c: counters of the last step, and seconds per phase. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

gg_status gg_world_get_stats(gg_world *w, gg_env_stats *stats) {
    if (w->stats_valid) {
        memcpy(stats, gg_cuda_stats(w->cuda), sizeof *stats * (size_t)w->view.dims.env_count);
        return GG_OK;
    }
    return gg_memory_copy(w, stats, sizeof *stats, &w->view.env->stats, sizeof(gg_env), sizeof *stats,
                          (size_t)w->view.dims.env_count, GG_TO_HOST);
}

gg_status gg_world_profile(gg_world *w, int32_t enable, double *seconds) {
    if (seconds) {
        for (int k = 0; k < GG_PHASE_COUNT; k++) {
            seconds[k] = w->seconds ? w->seconds[k] : 0.0;
        }
    }
    double *fresh = enable ? calloc(GG_PHASE_COUNT, sizeof(double)) : NULL;
    if (enable && !fresh) {
        return gg_world_fail(w, GG_ERROR_MEMORY, "out of memory: profile");
    }
    if (w->cuda) {
        gg_cuda_profile(w->cuda, fresh);
    }
    free(w->seconds);
    w->seconds = fresh;
    return GG_OK;
}
