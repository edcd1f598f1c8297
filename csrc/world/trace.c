/* trace.c: one substep, phase by phase, and a hash of every array.
 *
 * For tests alone: where two devices differ, the first phase after which they do is the one to look at. The host
 * follows the order of phases/step.h, for every kind of device.
 */
#include "world.h"

typedef struct trace_team {
    gg_world *world;
    gg_trace note;
    void *context;
    gg_status *status; /* of the first failure: nothing runs after it */
} trace_team;

static void trace_run(const trace_team *t, gg_phase phase, int32_t pass) {
    if (*t->status == GG_OK && (*t->status = gg_world_run_pass(t->world, phase, pass)) == GG_OK) {
        *t->status = t->note(t->context, phase, pass);
    }
}

static int trace_any(const trace_team *t, gg_condition question) {
    gg_view *v = NULL;
    if (*t->status == GG_OK) {
        *t->status = gg_world_pull(t->world, GG_BIT(env), -1, &v);
    }
    for (int64_t e = 0; *t->status == GG_OK && e < v->dims.env_count; e++) {
        if (gg_step_condition(&v->env[e], question)) {
            return 1;
        }
    }
    return 0;
}

static int32_t trace_colours(const trace_team *t) {
    gg_view *v = NULL;
    int32_t most = 0;
    if (*t->status == GG_OK) {
        *t->status = gg_world_pull(t->world, GG_BIT(env), -1, &v);
    }
    for (int64_t e = 0; *t->status == GG_OK && e < v->dims.env_count; e++) {
        most = GG_MAX(most, gg_step_colours(&v->env[e]));
    }
    return most;
}

/* the team of step.h: the host, which runs one phase after the other where the world runs */
#define GG_TEAM_FN                        static
#define gg_team                           trace_team
#define gg_team_run                       trace_run
#define gg_team_start                     trace_run
#define gg_team_next                      trace_run
#define gg_team_any                       trace_any
#define gg_team_colours                   trace_colours
#define gg_team_pass(team, phase, sweep)  0
#define gg_team_extrapolates(team, phase) 0
#define gg_team_view(team)                (&(team)->world->view)
#define gg_team_law(team)                 ((gg_law)gg_team_view(team)->params.law)
#include "../phases/step.h"

gg_status gg_world_trace(gg_world *w, double dt, const float *tool_targets, gg_trace note, void *context) {
    gg_tool_targets targets = {tool_targets, NULL};
    gg_status status = gg_tool_targets_check(w, tool_targets);
    status = status == GG_OK ? gg_world_plan_step(w, dt, 1, targets) : status;
    trace_team team = {w, note, context, &status};
#define OPENING_PHASE(name) trace_run(&team, GG_PHASE_##name, 0);
    GG_OPENING_PHASES(OPENING_PHASE)
#undef OPENING_PHASE
    for (int resumed = 0; !gg_step_substep(&team, resumed) && status == GG_OK; resumed = 1) {
        int grew = 0;
        status = gg_arena_grow(w, &grew);
    }
    trace_run(&team, GG_PHASE_arrive_tools, 0);
    w->view.tool_targets = NULL;
    return status;
}

/* four words at a time, each with a sum of its own: the multiplications of one do not wait for those of another */
static uint64_t hash_field(const unsigned char *data, size_t size) {
    uint64_t sums[4] = {0, 1, 2, 3}, words[4];
    size_t done = 0;
    for (; size - done >= sizeof words; done += sizeof words) {
        memcpy(words, data + done, sizeof words);
        for (int k = 0; k < 4; k++) {
            sums[k] = gg_rng_mix(sums[k] ^ words[k]);
        }
    }
    return gg_hash_bytes(gg_hash_bytes(0, sums, sizeof sums), data + done, size - done);
}

gg_status gg_world_field_hashes(gg_world *w, uint64_t *hashes) {
    gg_view *v = NULL;
    gg_status status = gg_world_pull(w, GG_ALL_FIELDS, -1, &v);
    for (int f = 0; status == GG_OK && f < GG_FIELD_COUNT; f++) {
        size_t size = gg_field_size(&v->dims, (gg_field_id)f, NULL) * (size_t)v->dims.env_count;
        hashes[f] = hash_field(gg_field_data(v, (gg_field_id)f), size);
    }
    return status;
}

int gg_field_count(void) { return GG_FIELD_COUNT; }

const char *gg_field_name(int field) {
    static const char *const names[] = {
#define FIELD_NAME(type, name, count, keep) #name,
        GG_FIELDS(FIELD_NAME)
#undef FIELD_NAME
    };
    return field >= 0 && field < GG_FIELD_COUNT ? names[field] : "";
}
