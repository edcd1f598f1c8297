/* test_team_shape.c: the teams that step a number of envs on a GPU (backend/cuda/team_shape.h). */
#include "../../csrc/backend/cuda/team_shape.h"
#include "check.h"

/* blocks of 256 threads that an H200 runs at once, two on each multiprocessor */
#define RESIDENT 264

/* the largest share of env substeps that a team does, over what it would do if all blocks were busy all the time */
static double waste(int64_t envs, int64_t useful) {
    gg_team_shape shape = gg_team_shape_of(envs, useful, RESIDENT, GG_SHAPE_MEETING);
    double share = (double)envs / (double)shape.teams, even = (double)(envs * shape.blocks) / RESIDENT;
    return share / even;
}

static void every_shape_fits(void) {
    for (int64_t resident = 1; resident < 300; resident += 37) {
        for (int64_t envs = 1; envs < 2000; envs += 1 + envs / 3) {
            for (int64_t useful = 0; useful < 500; useful += 1 + useful / 2) {
                gg_team_shape shape = gg_team_shape_of(envs, useful, resident, GG_SHAPE_MEETING);
                CHECK(shape.teams >= 1 && shape.teams <= envs);
                CHECK(shape.blocks >= 1 && shape.blocks <= GG_MAX(useful, 1));
                CHECK(shape.teams * shape.blocks <= resident);
            }
        }
    }
}

static void promised_batches_fill_the_gpu(void) {
    /* where there is work for all blocks, at least 95 % of them have some */
    CHECK(waste(1, 1954) < 1.0 / 0.95);  /* 500,000 grains */
    CHECK(waste(16, 40) < 1.0 / 0.95);   /* 10,000 */
    CHECK(waste(148, 40) < 1.0 / 0.95);  /* 10,000 */
    CHECK(waste(1024, 40) < 1.0 / 0.95); /* 10,000 */
    CHECK(waste(1024, 1) < 1.0 / 0.95);  /* 1,000, whose bodies are in the shared memory of one block */
}

static void shapes_are_those_measured_to_be_fastest(void) {
    gg_team_shape shape = gg_team_shape_of(148, 40, RESIDENT, GG_SHAPE_MEETING);
    CHECK(shape.teams == 66 && shape.blocks == 4);
    /* 1,000 grains in the shared memory of a block, or in memory */
    shape = gg_team_shape_of(1024, 1, RESIDENT, GG_SHAPE_MEETING);
    CHECK(shape.teams == RESIDENT && shape.blocks == 1);
    shape = gg_team_shape_of(1024, 4, RESIDENT, GG_SHAPE_MEETING);
    CHECK(shape.teams == RESIDENT && shape.blocks == 1);
    /* no more blocks than have work */
    shape = gg_team_shape_of(1, 40, RESIDENT, GG_SHAPE_MEETING);
    CHECK(shape.teams == 1 && shape.blocks == 40);
    /* particles of matter, of which a multiprocessor runs one block: 1,000 in about 30 blocks of cells */
    shape = gg_team_shape_of(1024, 30, RESIDENT / 2, GG_SHAPE_MEETING_MATTER);
    CHECK(shape.teams == RESIDENT / 2 && shape.blocks == 1);
    shape = gg_team_shape_of(64, 30, RESIDENT / 2, GG_SHAPE_MEETING_MATTER);
    CHECK(shape.teams == 64 && shape.blocks == 2);
}

/* every substep of every env is done once, first ones by the team that begins with them */
static void shares_cover_all_substeps(int64_t envs, int32_t most, int64_t teams) {
    int64_t done = 0, next = 0, longest = 0, shortest = envs * most, left_open = 0;
    for (int64_t team = 0; team < teams; team++) {
        int64_t own = 0, visit = 0;
        for (gg_env_share s; (s = gg_env_share_of(envs, most, teams, team, visit)).substeps; visit++) {
            CHECK(s.env == (s.goes_on_before ? next - 1 : next));
            CHECK(s.substeps > 0 && s.substeps <= most && !(s.begun_by_next && s.goes_on_before));
            /* only the first env of a team goes on elsewhere, and just where the team before left it open */
            CHECK(s.goes_on_before == (visit == 0 && left_open > 0));
            CHECK((s.substeps == most) == !(s.begun_by_next || s.goes_on_before));
            if (s.goes_on_before) {
                CHECK(left_open + s.substeps == most);
            }
            left_open = s.begun_by_next ? s.substeps : 0;
            next = s.env + 1;
            own += s.substeps;
        }
        CHECK(!gg_env_share_of(envs, most, teams, team, visit + 1).substeps);
        longest = GG_MAX(longest, own);
        shortest = GG_MIN(shortest, own);
        done += own;
    }
    CHECK(done == envs * most && next == envs && left_open == 0);
    CHECK(longest - shortest <= 1);
}

/* the last component of a vector of the last contact has an index of 32 bits, and one row more has none */
static void short_indices_are_as_many_as_there_are(void) {
    const int64_t components = 3 * GG_LANES, most = ((int64_t)1 << 32) / components;
    for (int64_t envs = 1; envs <= 1000; envs *= 10) {
        CHECK(gg_short_indices(envs, most / envs) && most / envs * envs * components - 1 <= (int64_t)UINT32_MAX);
        CHECK(!gg_short_indices(envs, most / envs + 1));
    }
}

int main(void) {
    shares_cover_all_substeps(1, 7, 1);
    shares_cover_all_substeps(148, 50, 132);
    shares_cover_all_substeps(148, 1, 132);
    shares_cover_all_substeps(1024, 20, 264);
    shares_cover_all_substeps(264, 20, 264);
    shares_cover_all_substeps(265, 3, 264);
    short_indices_are_as_many_as_there_are();
    every_shape_fits();
    promised_batches_fill_the_gpu();
    shapes_are_those_measured_to_be_fastest();
    return check_report();
}
