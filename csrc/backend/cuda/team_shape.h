/* team_shape.h: how many teams of how many blocks step a number of envs, who does what, and how far they count. */
#ifndef GG_TEAM_SHAPE_H
#define GG_TEAM_SHAPE_H

#include "../../base/base.h"

/* What barriers between blocks add to a substep, in rounds: a round is what the threads of a block do with one item
 * each. Matter, whose linear solves meet often, meets for longer. Fitted to an H200 (148 envs of 10,000 grains in teams
 * of 1, 2 and 4 blocks, which met 36 + C times beside their sweeps, for 21 now) and an H100 (1, 64 and 1,024 envs of 1,000
 * particles in teams of about 30, 2 and 1). Where
 * kernels are emulated they cost nothing, so that also few grains are stepped by many blocks. */
#ifdef GG_CUDA_EMULATED
#define GG_SHAPE_MEETING        0.0
#define GG_SHAPE_MEETING_MATTER 0.0
#else
#define GG_SHAPE_MEETING        2.0
#define GG_SHAPE_MEETING_MATTER 8.0
#endif
/* so many teams at a time make a round twice as long, as their envs compete for the cache */
#define GG_SHAPE_CROWD 250.0

typedef struct gg_team_shape {
    int64_t teams, blocks; /* teams, and the blocks of each */
} gg_team_shape;

/* The shape by which `envs` envs take least time. useful: blocks that an env keeps busy; resident: blocks that the GPU
 * runs at once; meeting: what barriers between blocks cost, in rounds. */
static inline gg_team_shape gg_team_shape_of(int64_t envs, int64_t useful, int64_t resident, double meeting) {
    gg_team_shape best = {0, 0};
    double least = 0.0;
    for (int64_t blocks = 1; blocks <= GG_MAX(GG_MIN(useful, resident), 1); blocks++) {
        int64_t teams = GG_MIN(envs, resident / blocks);
        double round = 1.0 + (double)teams / GG_SHAPE_CROWD;
        double substep = (double)useful / (double)blocks * round + (blocks > 1 ? meeting : 0.0);
        double time = (double)envs / (double)teams * substep;
        if (!best.blocks || time < least) {
            best.teams = teams;
            best.blocks = blocks;
            least = time;
        }
    }
    return best;
}

/* whether 32 bits index the components of a vector of every contact of all envs; rows: of GG_LANES contacts, of an env */
static inline int gg_short_indices(int64_t envs, int64_t rows) {
    return envs * rows <= (int64_t)(UINT32_MAX / (3 * GG_LANES));
}

/* What a team does with one env in a step */
typedef struct gg_env_share {
    int64_t env;
    int32_t substeps;       /* 0: nothing is left to do */
    int32_t begun_by_next;  /* 1: these are the last substeps of the env; the next team does the first ones */
    int32_t goes_on_before; /* 1: these are the first; the team before does the last ones */
} gg_env_share;

/* The share of a team in an env, its number `visit` in turn.
 *
 * Where there are more envs than teams, the substeps of all envs, one env after another, are divided evenly, so that no
 * team waits while others do one env more. A team whose last env is cut short does its last substeps; the next team
 * does its first ones before all else (McNaughton's wrap-around rule). As a share is no less than an env, these are
 * done in time, as a rule, and by a team that has not waited for another.
 *
 * most: substeps of each env; teams: no more than envs. */
GG_FN gg_env_share gg_env_share_of(int64_t envs, int32_t most, int64_t teams, int64_t team, int64_t visit) {
    int64_t all = envs * most, begin = all * team / teams, end = all * (team + 1) / teams;
    gg_env_share share = {begin / most + visit, 0, 0, 0};
    int64_t first = share.env * most, last = first + most;
    if (first < end) {
        share.substeps = (int32_t)(GG_MIN(end, last) - GG_MAX(begin, first));
        share.begun_by_next = end < last;
        share.goes_on_before = begin > first;
    }
    return share;
}

#endif
