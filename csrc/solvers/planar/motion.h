/* motion.h: after the solve: projection of planar grains out of tools, loads on tools, new positions. */
#ifndef GG_PLANAR_MOTION_H
#define GG_PLANAR_MOTION_H

#include "../motion.h"
#include "contacts.h"

/* one contact of a planar grain with a tool, and the inverse masses of the grain */
typedef struct gg_planar_hold {
    float nx, ny, cn, ct;
    float mass, spin; /* 1/m and R^2/I of the grain */
} gg_planar_hold;

GG_FN gg_planar_hold gg_planar_hold_of(const gg_view *v, const float *body, int64_t contact3, int64_t geometry) {
    gg_planar_hold h;
    h.nx = v->normal[contact3];
    h.ny = v->normal[contact3 + GG_LANES];
    h.cn = v->planar_geometry[geometry];
    h.ct = v->planar_geometry[geometry + GG_LANES];
    h.mass = body[GG_BODY_INVERSE_MASS];
    h.spin = body[GG_BODY_INVERSE_INERTIA];
    return h;
}

/* Final projection out of tools, as gg_sphere_project_tools. item: slot */
GG_FN void gg_planar_project_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    int32_t tools = v->next_tool_count[at], count = v->next_count[at];
    if (tools == 0) {
        return;
    }
    int64_t first_row = v->next_first[at] / GG_LANES + count - tools;
    int64_t state = (at - lane) * 6 + lane;
    float *impulse = (v->env[e].impulse_buffer ^ 1 ^ (v->env[e].iteration & 1)) ? v->impulse_b : v->impulse_a;
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    float velocity[3] = {v->velocity[state], v->velocity[state + GG_LANES], v->velocity[state + 2 * GG_LANES]};
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < tools; k++) {
            int64_t row = first_row + k, contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
            int64_t contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
            int64_t geometry = (e * v->dims.planar.rows + row) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
            gg_planar_hold h = gg_planar_hold_of(v, bodies + i * GG_BODY, contact3, geometry);
            const float *tool = bodies + (int64_t)v->other_body[contact] * GG_BODY;
            float parting = h.nx * (velocity[0] - tool[0]) + h.ny * (velocity[1] - tool[1]) + h.cn * velocity[2];
            float deficit = v->bias[contact] - parting;
            if (deficit > 0.0f) {
                float push = deficit / (h.mass + h.spin * h.cn * h.cn);
                velocity[0] += h.mass * push * h.nx;
                velocity[1] += h.mass * push * h.ny;
                velocity[2] += h.spin * push * h.cn;
                impulse[contact3] += push;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        v->velocity[state + k * GG_LANES] = velocity[k];
    }
}

/* the load of each contact of a grain on its tool, as gg_sphere_load_tools. item: slot */
GG_FN void gg_planar_load_tools(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES;
    int32_t tools = v->next_tool_count[at];
    int from_b = v->env[e].impulse_buffer ^ 1 ^ (v->env[e].iteration & 1);
    const float *impulse = from_b ? v->impulse_b : v->impulse_a;
    const int32_t *keys = v->env[e].key_buffer ? v->key_a : v->key_b;
    int64_t row = v->next_first[at] / GG_LANES + v->next_count[at] - tools;
    for (int32_t k = 0; k < tools; k++, row++) {
        int64_t contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
        int64_t contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
        int64_t geometry = (e * v->dims.planar.rows + row) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
        int64_t part = gg_planar_part_of_key(v, keys[contact]);
        gg_vec4 x = v->position[at];
        gg_planar_hold h = gg_planar_hold_of(v, gg_slot_body_at(v, e, i), contact3, geometry);
        float normal = impulse[contact3], tangent = impulse[contact3 + GG_LANES];
        gg_tool_load load;
        load.force = gg_v3(h.ny * tangent - h.nx * normal, -(h.ny * normal) - h.nx * tangent, 0.0f);
        /* r = (r . n) n + (r . t) t, and r x n = -(r . t) */
        float along = h.ct * x.w, aside = -h.cn * x.w;
        gg_vec3 point = gg_v3(x.x + along * h.nx - aside * h.ny, x.y + along * h.ny + aside * h.nx, x.z);
        load.torque = gg_cross(gg_sub(point, v->part_pose[e * v->dims.part_count + part].tool_position), load.force);
        load.tool = v->parts[part].tool;
        v->tool_load[e * v->dims.tool_contacts + v->other_body[contact] - v->dims.free_bodies] = load;
    }
}

/* an angle wrapped to -pi .. pi after a substep [rad] */
GG_FN float gg_planar_wrap_angle(float angle) {
    float turn = (float)(2.0 * GG_PI);
    if (gg_absf(angle) > (float)(3.0 * GG_PI)) { /* more than a turn in a substep */
        angle -= turn * gg_pair_floor(angle / turn + 0.5f);
    }
    return angle > (float)GG_PI ? angle - turn : angle < (float)-GG_PI ? angle + turn : angle;
}

/* moves one grain and stores its contacts for the next substep */
GG_FN gg_motion gg_planar_integrate_lane(const gg_view *v, int64_t e, int64_t i) {
    gg_motion out = GG_ZERO;
    const gg_params *p = &v->params;
    int64_t at = e * v->dims.slots + i, lane = i % GG_LANES, first = at - lane;
    v->contact_first[at] = v->next_first[at];
    v->contact_count[at] = v->next_count[at];
    v->tool_contact_count[at] = v->next_tool_count[at];
    int32_t id = v->grain_id[at];
    if (id < 0) {
        return out;
    }
    float body[GG_BODY], *home = gg_slot_body_at(v, e, i);
    gg_body_load(home, body);
    gg_vec4 *x = &v->position[at];
    float velocity[3];
    for (int k = 0; k < 3; k++) {
        velocity[k] = v->velocity[first * 6 + lane + k * GG_LANES];
    }
    body[0] = velocity[0];
    body[1] = velocity[1];
    body[GG_BODY_PLANAR_SPIN] = velocity[2];
    gg_body_store(home, body);
    /* position correction is the effect of a pseudo-impulse */
    gg_vec3 correction = gg_load_lane3(v->correction, first * 3 + lane);
    float *angle = &v->angle[e * v->dims.planar.slots + id];
    gg_vec3 displacement =
        gg_v3(body[GG_BODY_INVERSE_MASS] * correction.x + p->dt * velocity[0],
              body[GG_BODY_INVERSE_MASS] * correction.y + p->dt * velocity[1],
              (body[GG_BODY_INVERSE_INERTIA] * correction.z + p->dt * velocity[2]) * body[GG_BODY_INVERSE_RADIUS]);
    float *error = v->position_error + (e * v->dims.slots + id) * 3;
    gg_vec4 before = *x;
    float angle_before = *angle, speed2 = velocity[0] * velocity[0] + velocity[1] * velocity[1];
    gg_vec3 moved_to = gg_add_compensated(gg_v3(x->x, x->y, *angle), displacement, error);
    gg_vec3 moved = gg_wrap(p, gg_v3(moved_to.x, moved_to.y, x->z));
    x->x = moved.x;
    x->y = moved.y;
    *angle = gg_planar_wrap_angle(moved_to.z);
    if (body[GG_BODY_INVERSE_MASS] > 0.0f) {
        out.energy = 0.5f * ((velocity[0] * velocity[0] + velocity[1] * velocity[1]) / body[GG_BODY_INVERSE_MASS] +
                             velocity[2] * velocity[2] / body[GG_BODY_INVERSE_INERTIA]);
        out.fast = p->dt * gg_planar_speed(body) > 0.5f * gg_outline_of(v, e, i)->thickness;
    }
    float turned = displacement.z * x->w;
    float moved2 = displacement.x * displacement.x + displacement.y * displacement.y + turned * turned;
    gg_rest rest = gg_rest_of(v, e), quiet = gg_quiet_of(v, e);
    if (body[GG_BODY_INVERSE_MASS] == 0.0f) { /* a fixed grain that moves never rests */
        rest.speed2 = rest.displacement2 = quiet.speed2 = quiet.displacement2 = 0.0f;
    }
    float fastest2 = gg_maxf(speed2, velocity[2] * velocity[2]);
    out.restless = fastest2 > rest.speed2 || moved2 > rest.displacement2;
    out.moving = fastest2 > quiet.speed2 || moved2 > quiet.displacement2;
    out.escaped = gg_outside(p, moved, x->w);
    out.bad = !gg_motion_finite(speed2, velocity[2] * velocity[2], moved_to);
    if (out.bad) {
        *angle = angle_before;
        gg_motion_refuse(v, e, i, before);
    }
    return out;
}

/* item: slice of an env */
GG_FN void gg_planar_integrate_slice(const gg_view *v, int64_t e, int64_t slice) {
    gg_motion each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        each[lane] = gg_planar_integrate_lane(v, e, slice * GG_LANES + lane);
    }
    gg_motion_integrated(v, e, slice, each);
}

#endif
