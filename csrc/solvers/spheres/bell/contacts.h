/* contacts.h: the contacts of the law of Bell: those with tools are listed per substep, those with grains are found among
 * the candidates wherever forces are. */
#ifndef GG_BELL_CONTACTS_H
#define GG_BELL_CONTACTS_H

#include "../../tool_contacts.h"
#include "bell.h"

/* lists them. item: slice of an env */
GG_FN void gg_bell_list_slice(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t near = v->slice_parts[e * v->dims.slices + slice];
    int64_t touch = v->slice_first_tool_body[e * v->dims.slices + slice] - v->dims.free_bodies;
    for (int lane = 0; lane < GG_LANES; lane++) {
        int32_t i = (int32_t)(slice * GG_LANES + lane);
        int64_t at = e * v->dims.slots + i, part = v->dims.part_count;
        v->next_first[at] = (int32_t)touch;
        if (v->next_tool_count[at] > 0) {
            part = gg_next_part(v, near, 0);
        }
        for (; part < v->dims.part_count; part = gg_next_part(v, near, part + 1)) {
            if (gg_touch_part(v, e, i, part).active) {
                gg_tool_load none = GG_ZERO;
                none.tool = v->parts[part].tool;
                v->tool_load[e * v->dims.tool_contacts + touch] = none;
                v->bell_part[e * v->dims.tool_contacts + touch] = (int32_t)part;
                touch++;
            }
        }
    }
}

/* the sum of the contacts of a sphere */
typedef struct gg_bell_total {
    gg_bell_push push;
    gg_overlaps overlaps;
} gg_bell_total;

/* Adds a force at the distance `lever` from the centre of a sphere against the normal. diameter: by which its overlap is
 * told */
GG_FN void gg_bell_add(gg_bell_total *total, const gg_bell_sphere *own, const double normal[3], double lever,
                       const double force[3], double overlap, double diameter) {
    double arm[3], torque[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = own->arm[k] - lever * normal[k];
    }
    gg_bell_cross(arm, force, torque);
    for (int k = 0; k < 3; k++) {
        total->push.force[k] += force[k];
        total->push.torque[k] += torque[k];
    }
    float share = (float)(overlap / diameter);
    total->overlaps.most = gg_maxf(total->overlaps.most, share);
    total->overlaps.sum += share;
    total->overlaps.count += 1.0f;
}

/* to: velocity of the point of a sphere at `lever` times a unit vector from its centre */
GG_FN void gg_bell_surface(const gg_bell_sphere *s, double lever, const double along[3], double to[3]) {
    double arm[3] = {lever * along[0], lever * along[1], lever * along[2]}, around[3];
    gg_bell_cross(s->spin, arm, around);
    for (int k = 0; k < 3; k++) {
        to[k] = s->velocity[k] + around[k];
    }
}

/* the contact of slot i with the grain of slot j, where they overlap */
GG_FN void gg_bell_meet_grain(const gg_view *v, int64_t e, int32_t i, int32_t j, gg_bell_total *total) {
    const gg_params *p = &v->params;
    int64_t base = e * v->dims.slots;
    const gg_bell_sphere *own = &v->bell_sphere[base + i], *other = &v->bell_sphere[base + j];
    double r = v->position[base + i].w, s = v->position[base + j].w, apart[3];
    for (int k = 0; k < 3; k++) {
        apart[k] = own->center[k] - other->center[k];
        if (p->boundary[k][0] == GG_BOUNDARY_PERIODIC) {
            double length = (double)gg_axis_of(p->upper, k) - (double)gg_axis_of(p->lower, k);
            apart[k] += apart[k] > 0.5 * length ? -length : apart[k] < -0.5 * length ? length : 0.0;
        }
    }
    double distance2 = gg_dot3(apart, apart);
    if (!(distance2 < (r + s) * (r + s))) {
        return;
    }
    double distance = sqrt(distance2), overlap = (r + s) - distance, normal[3], opposite[3];
    gg_vec3 coincident = gg_coincident_normal(v->grain_id[base + i], v->grain_id[base + j]);
    for (int k = 0; k < 3; k++) {
        normal[k] = distance > 0.0 ? apart[k] / distance : (double)gg_axis_of(coincident, k);
        opposite[k] = -normal[k];
    }
    double velocity[3], across[3], force[3];
    gg_bell_surface(own, r - 0.5 * overlap, opposite, velocity);
    gg_bell_surface(other, s - 0.5 * overlap, normal, across);
    for (int k = 0; k < 3; k++) {
        velocity[k] -= across[k];
    }
    double friction = gg_pair_of(v, e, v->material[base + i], v->material[base + j])->friction;
    gg_bell_force(&p->bell, gg_bell_stiffness(&p->bell, r, s), friction, overlap, normal, velocity, force);
    gg_bell_add(total, own, normal, r - 0.5 * overlap, force, overlap, 2.0 * GG_MIN(r, s));
}

/* Contact `touch` of the tool contacts of the env: that of slot i with a part. Returns the force on the tool over
 * `duration`. A tool's surface lies at doubles from its origin, or coordinates would round off small overlaps. */
GG_FN gg_tool_load gg_bell_meet_part(const gg_view *v, int64_t e, int32_t i, int64_t touch, double duration,
                                     gg_bell_total *total) {
    int64_t base = e * v->dims.slots, part = v->bell_part[e * v->dims.tool_contacts + touch];
    const gg_bell_sphere *own = &v->bell_sphere[base + i];
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    const gg_mat3 *m = &pose->rotation;
    double r = v->position[base + i].w, d[3];
    gg_tool_load load = GG_ZERO;
    load.tool = shape->tool;
    for (int k = 0; k < 3; k++) {
        d[k] = own->center[k] - (double)gg_axis_of(pose->position, k);
    }
    gg_vec3 local = gg_v3((float)(m->r0.x * d[0] + m->r1.x * d[1] + m->r2.x * d[2]),
                          (float)(m->r0.y * d[0] + m->r1.y * d[1] + m->r2.y * d[2]),
                          (float)(m->r0.z * d[0] + m->r1.z * d[1] + m->r2.z * d[2]));
    double overlap = r - (double)gg_sdf_distance(shape, v->grids, v->samples, local);
    if (overlap > 0.0) {
        gg_vec3 outward = gg_mat_mul(pose->rotation, gg_sdf_eval(shape, v->grids, v->samples, local).gradient);
        double normal[3] = {outward.x, outward.y, outward.z}, opposite[3], velocity[3], from[3], across[3], force[3];
        double spin[3] = {pose->angular_velocity.x, pose->angular_velocity.y, pose->angular_velocity.z}, torque[3];
        double length = sqrt(gg_dot3(normal, normal)), lever = r - 0.5 * overlap;
        for (int k = 0; k < 3; k++) {
            normal[k] = length > 0.0 ? normal[k] / length : (k == 2 ? 1.0 : 0.0);
            opposite[k] = -normal[k];
            from[k] = own->center[k] - lever * normal[k] - (double)gg_axis_of(pose->tool_position, k);
        }
        gg_bell_surface(own, lever, opposite, velocity);
        gg_bell_cross(spin, from, across);
        for (int k = 0; k < 3; k++) {
            velocity[k] -= (double)gg_axis_of(pose->velocity, k) + across[k];
        }
        const gg_bell_law *law = &v->params.bell;
        double friction = gg_pair_of(v, e, v->material[base + i], shape->material)->friction;
        gg_bell_force(law, gg_bell_stiffness(law, r, 0.0), friction, overlap, normal, velocity, force);
        gg_bell_add(total, own, normal, lever, force, overlap, 2.0 * r);
        gg_bell_cross(from, force, torque);
        load.force = gg_v3((float)(-duration * force[0]), (float)(-duration * force[1]), (float)(-duration * force[2]));
        load.torque =
            gg_v3((float)(-duration * torque[0]), (float)(-duration * torque[1]), (float)(-duration * torque[2]));
    }
    return load;
}

/* keeps the load of a contact with a tool, or adds that of a stage to those of the step that is tried */
GG_FN void gg_bell_load_tool(const gg_view *v, int64_t e, int64_t touch, int32_t pass, gg_tool_load load) {
    int64_t at = e * v->dims.tool_contacts + touch;
    if (pass < GG_BELL_STAGE) {
        v->tool_load[at] = load;
        return;
    }
    if (pass > GG_BELL_STAGE) {
        load.force = gg_add(v->bell_load[at].force, load.force);
        load.torque = gg_add(v->bell_load[at].torque, load.torque);
    }
    v->bell_load[at] = load;
}

/* finds what the contacts of the sphere in a slot do to it. item: slot of an env */
GG_FN void gg_bell_push_slot(const gg_view *v, int64_t e, int64_t i, int32_t pass) {
    int64_t at = e * v->dims.slots + i;
    if (gg_bell_idle(v, e, pass) || v->grain_id[at] < 0) {
        return;
    }
    gg_bell_total total = GG_ZERO;
    const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[at];
    for (int32_t k = 0; k < v->candidate_count[at]; k++) {
        gg_bell_meet_grain(v, e, (int32_t)i, list[k], &total);
    }
    v->next_count[at] = (int32_t)total.overlaps.count + v->next_tool_count[at];
    double duration = gg_bell_moment_of(v, e, pass).duration;
    for (int32_t k = 0; k < v->next_tool_count[at]; k++) {
        int64_t touch = v->next_first[at] + k;
        gg_bell_load_tool(v, e, touch, pass, gg_bell_meet_part(v, e, (int32_t)i, touch, duration, &total));
    }
    v->bell_push[e * v->dims.slots + v->grain_id[at]] = total.push;
    gg_vec4 overlap = {total.overlaps.most, total.overlaps.sum, total.overlaps.count, 0.0f};
    v->bell_overlap[at] = overlap;
}

#endif
