/* coupled_tools.h: links of robots within the contact solve.
 *
 * Another engine moves them. For each step it says where coupled tools are, how fast they are and how they accelerate
 * without grains, and how they yield: the twists of all coupled tools of an env, stacked, change by A p where impulses
 * and their moments p act on them at their origins. A = J H^-1 J^T for a robot with the Jacobian J of these points and
 * the mass matrix H, to which active joint limits and contacts of its own may add their stiffness: dense, symmetric and
 * positive semi-definite. The twists are unknowns of the solve like the velocities of dynamic tools
 * (dynamic_tools.h), and their contacts share A: each meets the inverse mass of its point times the number of contacts
 * of all coupled tools of the env, which by the inequality of Cauchy and Schwarz is never too little. So no ratio of
 * grain to link mass is unstable. Afterwards the other engine takes the impulses (the wrench over the step) and moves on.
 *
 * Within a step of several substeps the tools go on by themselves: x += dt twist, twist += dt acceleration + A p.
 */
#ifndef GG_COUPLED_TOOLS_H
#define GG_COUPLED_TOOLS_H

#include "../base/scalar.h"
#include "contacts.h"

/* sums are of impulses times this: what a grain of .1 mm takes is 1e-11 N s, and exact sums cut terms at 1e-15 */
#define GG_COUPLED_SCALE 1048576.0

GG_FN int gg_tool_coupled(const gg_view *v, int64_t tool) {
    return v->dims.tools.coupled && v->tool_mass[tool].coupled > 0;
}

/* index among the coupled tools */
GG_FN int64_t gg_coupled_index(const gg_view *v, int64_t tool) { return v->tool_mass[tool].coupled - 1; }

GG_FN gg_coupled_motion *gg_coupled_motion_of(const gg_view *v, int64_t e, int64_t tool) {
    return &v->coupled_motion[e * v->dims.tools.coupled + gg_coupled_index(v, tool)];
}

/* component of the twist after the acceleration of a substep, before contact; of a tool that is out 0 */
GG_FN double gg_coupled_start(const gg_view *v, int64_t e, int64_t tool, int k) {
    const gg_coupled_motion *m = gg_coupled_motion_of(v, e, tool);
    return v->tool_active[e * v->dims.tool_count + tool] ? m->twist[k] + (double)v->params.dt * m->acceleration[k]
                                                         : 0.0;
}

/* twist per impulse: row r of coupled tool a, column c of coupled tool b */
GG_FN double gg_coupled_response_at(const gg_view *v, int64_t e, int64_t a, int r, int64_t b, int c) {
    int64_t width = 6 * v->dims.tools.coupled;
    return v->coupled_response[e * width * width + (6 * a + r) * width + 6 * b + c];
}

/* velocity along axis `to` of a point of a coupled tool, per impulse along axis `from` there [1/kg] */
GG_FN double gg_coupled_yield_at(const gg_view *v, int64_t e, int64_t own, gg_vec3 arm, int to, int from) {
    double r[3] = {arm.x, arm.y, arm.z}, sum = 0.0;
    /* the impulse e_from with its moment r x e_from; of the twist the part e_to . (v + omega x r) = v_to + omega . (r x
     * e_to) */
    int a = (from + 1) % 3, b = (from + 2) % 3, c = (to + 1) % 3, d = (to + 2) % 3;
    const int columns[3] = {from, 3 + a, 3 + b}, rows[3] = {to, 3 + c, 3 + d};
    double impulse[3] = {1.0, r[b], -r[a]}, part[3] = {1.0, r[d], -r[c]};
    GG_ROLLED
    for (int i = 0; i < 3; i++) {
        GG_ROLLED
        for (int k = 0; k < 3; k++) {
            sum += part[i] * gg_coupled_response_at(v, e, own, rows[i], own, columns[k]) * impulse[k];
        }
    }
    return sum;
}

/* Notes where tool contact c meets its coupled tool, and how it yields there in any direction; returns how along the
 * normal. */
GG_FN float gg_coupled_contact_listed(const gg_view *v, int64_t e, int64_t c, int32_t tool, gg_vec3 at,
                                      gg_vec3 normal) {
    const gg_coupled_motion *m = gg_coupled_motion_of(v, e, tool);
    int64_t own = gg_coupled_index(v, tool), place = e * v->dims.tools.coupled_contacts + c;
    gg_vec3 arm = gg_v3((float)((double)at.x - m->position[0]), (float)((double)at.y - m->position[1]),
                        (float)((double)at.z - m->position[2]));
    double along = 0.0, most = 0.0;
    GG_ROLLED
    for (int to = 0; to < 3; to++) {
        double row = 0.0;
        GG_ROLLED
        for (int from = 0; from < 3; from++) {
            double k = gg_coupled_yield_at(v, e, own, arm, to, from);
            along += (double)gg_axis_of(normal, to) * k * (double)gg_axis_of(normal, from);
            row += k < 0.0 ? -k : k;
        }
        most = row > most ? row : most;
    }
    v->coupled_arm[place] = arm;
    v->coupled_yield[place] = (float)most;
    return (float)(along > 0.0 ? along : 0.0);
}

/* adds the impulse of tool contact c on its grain */
GG_FN void gg_coupled_sum_add(const gg_view *v, int64_t e, gg_coupled_sum *sum, int64_t c, gg_vec3 impulse) {
    gg_vec3 arm = v->coupled_arm[e * v->dims.tools.coupled_contacts + c];
    double p[3] = {impulse.x, impulse.y, impulse.z}, r[3] = {arm.x, arm.y, arm.z};
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        gg_exact_add(&sum->impulse[k], GG_COUPLED_SCALE * p[k]);
        gg_exact_add(&sum->impulse[3 + k], GG_COUPLED_SCALE * (r[a] * p[b] - r[b] * p[a]));
    }
}

GG_FN gg_coupled_sum *gg_coupled_sums(const gg_view *v, int64_t e, int64_t block) {
    return v->coupled_sum + e * v->dims.tools.coupled_sums + block * v->dims.tools.coupled;
}

/* what the impulses of all coupled tools, summed over `blocks` blocks, take from the twist of one of them */
GG_FN void gg_coupled_taken(const gg_view *v, int64_t e, int64_t tool, int64_t blocks, double taken[6]) {
    int64_t own = gg_coupled_index(v, tool);
    for (int r = 0; r < 6; r++) {
        taken[r] = 0.0;
    }
    for (int64_t other = 0; other < v->dims.tools.coupled; other++) {
        GG_ROLLED
        for (int c = 0; c < 6; c++) {
            gg_exact sum = GG_ZERO;
            for (int64_t block = 0; block < blocks; block++) {
                gg_exact_merge(&sum, &gg_coupled_sums(v, e, block)[other].impulse[c]);
            }
            double impulse = gg_exact_value(&sum) / GG_COUPLED_SCALE;
            GG_ROLLED
            for (int r = 0; r < 6; r++) {
                taken[r] += gg_coupled_response_at(v, e, own, r, other, c) * impulse;
            }
        }
    }
}

/* the velocity of a point of a coupled tool that turns and moves as `twist` says */
GG_FN gg_vec3 gg_coupled_velocity(const double twist[6], gg_vec3 arm) {
    double r[3] = {arm.x, arm.y, arm.z};
    return gg_v3((float)(twist[0] + twist[4] * r[2] - twist[5] * r[1]),
                 (float)(twist[1] + twist[5] * r[0] - twist[3] * r[2]),
                 (float)(twist[2] + twist[3] * r[1] - twist[4] * r[0]));
}

/* moves a coupled tool with a twist for dt: at constant velocity and turn rate */
GG_FN void gg_coupled_advance(gg_coupled_motion *m, const double twist[6], double dt) {
    double rate2 = 0.0, sine, cosine, *q = m->rotation;
    for (int k = 0; k < 3; k++) {
        m->position[k] += dt * twist[k];
        rate2 += twist[3 + k] * twist[3 + k];
    }
    for (int k = 0; k < 6; k++) {
        m->twist[k] = twist[k];
    }
    double rate = sqrt(rate2);
    if (!(rate > 0.0)) {
        return;
    }
    gg_sincos_double(0.5 * rate * dt, &sine, &cosine);
    double x = twist[3] / rate * sine, y = twist[4] / rate * sine, z = twist[5] / rate * sine;
    double w = cosine * q[0] - x * q[1] - y * q[2] - z * q[3], a = cosine * q[1] + x * q[0] + y * q[3] - z * q[2];
    double b = cosine * q[2] + y * q[0] + z * q[1] - x * q[3], c = cosine * q[3] + z * q[0] + x * q[2] - y * q[1];
    double scale = 1.0 / sqrt(w * w + a * a + b * b + c * c);
    q[0] = w * scale;
    q[1] = a * scale;
    q[2] = b * scale;
    q[3] = c * scale;
}

/* the pose of a coupled tool, rounded */
GG_FN gg_pose gg_coupled_pose(const gg_coupled_motion *m) {
    gg_pose pose;
    pose.position = gg_v3((float)m->position[0], (float)m->position[1], (float)m->position[2]);
    pose.rotation =
        gg_quat_make((float)m->rotation[0], (float)m->rotation[1], (float)m->rotation[2], (float)m->rotation[3]);
    return pose;
}

#endif
