/* dynamic_tools.c: what makes tools dynamic, checked; their motion and the forces on them, set and read. How they move:
 * solvers/dynamic_tools.h. */
#include <math.h>
#include <string.h>

#include "../solvers/dynamic_tools.h"
#include "world.h"

static gg_status check_axis(const gg_world_def *d, int32_t tool, int axis, gg_message out) {
    const gg_tool_mass *m = &d->tool_mass[tool];
    char name = "xyz"[axis];
    float x = gg_axis_of(d->tool_pose[tool].position, axis);
    GG_EXPECT(out, m->free[axis] == 0 || m->free[axis] == 1,
              "tool_mass: expected axes free or not (1, 0), got %d for %c", (int)m->free[axis], name);
    GG_EXPECT(out, !m->free[axis] || (x >= m->lower[axis] && x <= m->upper[axis]),
              "travel: expected a range on %c that holds the start, %g m, got [%g, %g] for tool %d", name, x,
              m->lower[axis], m->upper[axis], (int)tool);
    return GG_OK;
}

/* of a free body beside continuous matter: positive definite, and no moment above the sum of the others */
static gg_status check_inertia(const gg_world_def *d, int32_t tool, gg_message out) {
    const gg_tool_mass *m = &d->tool_mass[tool];
    gg_sym a = m->inertia, zero = GG_ZERO;
    if (!memcmp(&a, &zero, sizeof a)) {
        return GG_OK;
    }
    double half = 0.5 * gg_sym_trace(a), slack = 1e-6 * half;
    gg_sym spread = gg_sym_shift(gg_sym_scale(a, -1.0), half + slack); /* of the masses: positive semi-definite */
    int real = a.xx > 0.0 && a.xx * a.yy > a.xy * a.xy && gg_sym_det(a) > 0.0 && half < 1e12;
    int solid = spread.xx >= 0.0 && spread.yy >= 0.0 && spread.zz >= 0.0 && gg_sym_det(spread) >= 0.0 &&
                spread.xx * spread.yy >= spread.xy * spread.xy && spread.xx * spread.zz >= spread.xz * spread.xz &&
                spread.yy * spread.zz >= spread.yz * spread.yz;
    GG_EXPECT(out, real && solid,
              "inertia: expected a positive definite tensor, no moment of which is above the sum of the others, got xx "
              "%g yy %g zz %g xy %g xz %g yz %g kg m2 for tool %d",
              a.xx, a.yy, a.zz, a.xy, a.xz, a.yz, (int)tool);
    GG_EXPECT(out, m->mass > 0.0f && m->stiffness == 0.0f,
              "inertia: expected a tool with a mass and without a spring, got tool %d", (int)tool);
    GG_EXPECT(out, d->continuum.spacing > 0.0,
              "inertia: tools turn beside continuous matter alone, got one for tool %d; among grains bodies do",
              (int)tool);
    return GG_OK;
}

gg_status gg_tool_masses_check(const gg_world_def *d, gg_message out) {
    for (int32_t k = 0; d->tool_mass && k < d->tool_count; k++) {
        const gg_tool_mass *m = &d->tool_mass[k];
        GG_EXPECT(out, m->mass == 0.0f || gg_within(m->mass, 1e-12f, 1e12f),
                  "mass: expected a value in [1e-12, 1e12] kg, got %g for tool %d", m->mass, (int)k);
        GG_EXPECT(out, (m->coupled == 0 || m->coupled == 1) && !(m->coupled && m->mass > 0.0f),
                  "tool_mass: expected a tool with a mass or a coupled one (1, 0), got %g kg and %d for tool %d",
                  m->mass, (int)m->coupled, (int)k);
        GG_EXPECT(out, !m->coupled || (d->planar.outline_count == 0 && d->solver.mode != GG_MODE_PAPER),
                  "coupled: expected none among planar grains and in mode paper, got tool %d", (int)k);
        GG_EXPECT(out, d->solver.mode != GG_MODE_BELL || !gg_tool_moves(m),
                  "mass: tools have none in mode bell, got tool %d; bodies (clumps) are pushed", (int)k);
        GG_EXPECT(out, d->solver.mode != GG_MODE_TABLE || !gg_tool_moves(m),
                  "mass: tools have none in mode table, got tool %d", (int)k);
        GG_EXPECT(out, gg_within(m->stiffness, 0.0f, 1e12f) && gg_within(m->damping, 0.0f, 1e12f),
                  "stiffness, damping: expected values in [0, 1e12] N/m and N s/m, got %g and %g for tool %d",
                  m->stiffness, m->damping, (int)k);
        GG_EXPECT(
            out, m->stiffness > 0.0f ? m->mass > 0.0f : m->damping == 0.0f,
            "stiffness: expected a mass along with it, and it along with damping, got %g N/m, %g kg and %g N s/m for "
            "tool %d",
            m->stiffness, m->mass, m->damping, (int)k);
        gg_status status = check_inertia(d, k, out);
        if (status != GG_OK) {
            return status;
        }
        if (m->mass == 0.0f) {
            continue;
        }
        GG_EXPECT(out, d->planar.outline_count == 0, "mass: tools among planar grains have none, got %g kg for tool %d",
                  m->mass, (int)k);
        GG_EXPECT(out, d->solver.mode != GG_MODE_PAPER,
                  "mass: tools have none in mode paper, whose impulses are never taken back, got %g kg for tool %d",
                  m->mass, (int)k);
        GG_EXPECT(out, m->free[0] || m->free[1] || m->free[2], "free: expected at least one axis for tool %d, got none",
                  (int)k);
        GG_EXPECT(out, m->stiffness == 0.0f || (m->free[0] && m->free[1] && m->free[2]),
                  "free: expected all axes for tool %d, which a spring holds", (int)k);
        for (int axis = 0; axis < 3; axis++) {
            status = check_axis(d, k, axis, out);
            if (status != GG_OK) {
                return status;
            }
        }
    }
    return GG_OK;
}

void gg_tool_place(gg_view *v, int64_t e, int64_t tool) {
    int64_t at = e * v->dims.tool_count + tool;
    if (gg_tool_coupled(v, tool)) {
        gg_coupled_motion *m = gg_coupled_motion_of(v, e, tool), still = GG_ZERO;
        const gg_pose *pose = &v->tool_pose[at];
        *m = still;
        for (int k = 0; k < 3; k++) {
            m->position[k] = gg_axis_of(pose->position, k);
        }
        m->rotation[0] = pose->rotation.w;
        m->rotation[1] = pose->rotation.x;
        m->rotation[2] = pose->rotation.y;
        m->rotation[3] = pose->rotation.z;
        return;
    }
    if (gg_tool_turns(v, tool)) {
        gg_tool_turn *turn = &v->tool_turn[at];
        gg_quat q = v->tool_pose[at].rotation;
        turn->rotation[0] = q.w;
        turn->rotation[1] = q.x;
        turn->rotation[2] = q.y;
        turn->rotation[3] = q.z;
        gg_turn_settle(turn->rotation);
        turn->spin[0] = turn->spin[1] = turn->spin[2] = 0.0;
    }
    for (int k = 0; gg_tool_dynamic(v, tool) && k < 3; k++) {
        v->tool_body[at].position[k] = gg_axis_of(v->tool_pose[at].position, k);
        v->tool_body[at].velocity[k] = 0.0;
        if (gg_tool_compliant(v, tool)) {
            v->tool_anchor[3 * at + k] = v->tool_body[at].position[k];
        }
    }
}

int gg_tool_carried(const gg_world *w, int64_t tool) { return w->scene.tool_clump && w->scene.tool_clump[tool] >= 0; }

int gg_tool_goes_by_itself(const gg_world *w, int64_t tool) {
    const gg_tool_mass *m = w->scene.tool_mass ? &w->scene.tool_mass[tool] : NULL;
    return (m && gg_tool_moves(m) && !(m->stiffness > 0.0f)) || gg_tool_carried(w, tool);
}

int gg_tool_row_stays(const float row[7], const gg_pose *now) {
    int empty = 1;
    for (int k = 0; k < 7; k++) {
        empty &= row[k] != row[k];
    }
    return empty || (now && !memcmp(row, now, sizeof *now));
}

gg_status gg_tool_targets_check(gg_world *w, const float *targets) {
    int64_t own = gg_own_tool_count(w), count = w->view.dims.env_count * own, first = count;
    int some = w->view.params.dynamic || w->view.dims.clumps.surfaces;
    for (int64_t k = 0; targets && some && k < count; k++) {
        int by_itself = gg_tool_goes_by_itself(w, GG_WALL_COUNT + k % own);
        first = by_itself && !gg_tool_row_stays(targets + 7 * k, NULL) ? GG_MIN(first, k) : first;
    }
    gg_view *host;
    gg_status status = first < count ? gg_world_pull(w, GG_BIT(tool_pose), -1, &host) : GG_OK;
    for (int64_t k = first; status == GG_OK && k < count; k++) {
        int64_t tool = GG_WALL_COUNT + k % own, e = k / own;
        const float *row = targets + 7 * k;
        const gg_pose *now = &host->tool_pose[e * w->view.dims.tool_count + tool];
        int stays = !gg_tool_goes_by_itself(w, tool) || gg_tool_row_stays(row, now);
        GG_EXPECT(gg_message_of(w), stays,
                  "tool_poses: expected NaN, or the pose that it has, for tool %d, which forces, a body or another "
                  "engine move, got (%g, %g, %g, ...) in env %d",
                  (int)(k % own), row[0], row[1], row[2], (int)e);
    }
    return status;
}

static gg_status check_tool(gg_world *w, int64_t tool) {
    int64_t own = gg_own_tool_count(w);
    GG_EXPECT(gg_message_of(w), tool >= 0 && tool < own, "tool: expected an index in [0, %d), got %lld", (int)own,
              (long long)tool);
    GG_EXPECT(gg_message_of(w), !gg_tool_carried(w, GG_WALL_COUNT + tool),
              "tool: expected one with a mass of its own, tool %d goes with a body: set_clumps and set_clump_wrenches "
              "move it",
              (int)tool);
    GG_EXPECT(gg_message_of(w), w->scene.tool_mass && w->scene.tool_mass[GG_WALL_COUNT + tool].mass > 0.0f,
              "tool: expected one with a mass, tool %d follows its targets", (int)tool);
    return GG_OK;
}

/* the arrays that hold or take a motion, and where the engine keeps it; NULL: neither asked for nor there */
typedef struct motion_parts {
    float *array[4];
    const char *name[4];
} motion_parts;

static motion_parts parts_of(const gg_dynamic_motion *m) {
    motion_parts parts = {{m->velocity, m->force, m->angular_velocity, m->torque},
                          {"velocity", "force", "angular_velocity", "torque"}};
    return parts;
}

static void find_parts(gg_view *host, int64_t e, int64_t tool, double *out[4]) {
    gg_tool_body *body = &host->tool_body[e * host->dims.tool_count + tool];
    gg_tool_turn *turn = gg_tool_turns(host, tool) ? &host->tool_turn[e * host->dims.tool_count + tool] : NULL;
    out[0] = body->velocity;
    out[1] = body->force;
    out[2] = turn ? turn->spin : NULL;
    out[3] = turn ? turn->torque : NULL;
}

gg_status gg_world_get_tool_motion(gg_world *w, int64_t tool, const gg_dynamic_motion *out) {
    gg_view *host;
    gg_status status = check_tool(w, tool);
    if (status != GG_OK || (status = gg_world_pull(w, GG_BIT(tool_body) | GG_BIT(tool_turn), -1, &host)) != GG_OK) {
        return status;
    }
    motion_parts parts = parts_of(out);
    for (int64_t k = 0; k < w->view.dims.env_count * 3; k++) {
        double *from[4];
        find_parts(host, k / 3, GG_WALL_COUNT + tool, from);
        for (int p = 0; p < 4; p++) {
            if (parts.array[p]) {
                parts.array[p][k] = from[p] ? (float)from[p][k % 3] : 0.0f;
            }
        }
    }
    return GG_OK;
}

gg_status gg_world_set_tool_motion(gg_world *w, const int32_t *envs, int64_t listed, int64_t tool,
                                   const gg_dynamic_motion *in) {
    gg_view *host;
    gg_fields fields = GG_BIT(tool_body) | GG_BIT(tool_turn) | GG_BIT(env);
    motion_parts parts = parts_of(in);
    gg_status status = check_tool(w, tool);
    status = status == GG_OK ? gg_envs_check(w, envs, &listed) : status;
    for (int p = 0; status == GG_OK && p < 4; p++) {
        status = gg_finite_check(w, parts.name[p], parts.array[p], listed * 3);
    }
    if (status != GG_OK) {
        return status;
    }
    const gg_tool_mass *m = &w->scene.tool_mass[GG_WALL_COUNT + tool];
    GG_EXPECT(gg_message_of(w), m->inertia.xx > 0.0 || !(parts.array[2] || parts.array[3]),
              "tool: expected one with an inertia, tool %d does not turn", (int)tool);
    if ((status = gg_world_pull(w, fields, -1, &host)) != GG_OK) {
        return status;
    }
    for (int64_t k = 0; k < listed * 3; k++) {
        double *to[4];
        find_parts(host, gg_env_at(envs, k / 3), GG_WALL_COUNT + tool, to);
        for (int p = 0; p < 4; p++) {
            if (parts.array[p]) {
                to[p][k % 3] = p == 0 && !m->free[k % 3] ? 0.0 : (double)parts.array[p][k];
            }
        }
    }
    gg_envs_wake(host, envs, listed);
    gg_world_invalidate(w, envs, listed);
    return gg_world_push(w, fields, -1);
}
