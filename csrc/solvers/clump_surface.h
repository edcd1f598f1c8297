/* clump_surface.h: surfaces of clumps: tools that a clump carries, and that grains meet in place of its spheres.
 *
 * A surface is a signed distance field with parts as other tools have. Its contacts are listed as those of tools, with a
 * body each (solvers/spheres/coloured/contacts.h); in the solve the clump stands for that body (gg_contact_lead), so that
 * they are coloured, solved and corrected as contacts of two clumps. Spheres of the clump meet tools, walls and the
 * surfaces of others, and no spheres. Source: Bell, Yu, Mucha, Particle-based simulation of granular materials (SCA
 * 2005), section 3.3.
 */
#ifndef GG_CLUMP_SURFACE_H
#define GG_CLUMP_SURFACE_H

#include "dynamic_tools.h"

/* whether a tool goes where the solve moves it, be it held to its targets or not */
GG_FN int gg_tool_free(const gg_view *v, int64_t tool) {
    return gg_tool_dynamic(v, tool) || gg_clump_of_tool(v, tool) >= 0;
}

/* whether a tool has targets */
GG_FN int gg_tool_aimed(const gg_view *v, int64_t tool) { return gg_tool_compliant(v, tool) || !gg_tool_free(v, tool); }

/* pose of the surface of a clump, rounded: its origin is the centre of mass */
GG_FN gg_pose gg_clump_surface_pose(const gg_clump_shape *shape, const gg_clump_motion *motion) {
    const double *q = motion->rotation, *f = shape->frame;
    gg_pose pose;
    /* the turn back from the principal axes to those of the tool comes first */
    double w = q[0] * f[0] + q[1] * f[1] + q[2] * f[2] + q[3] * f[3];
    double x = q[1] * f[0] - q[0] * f[1] - q[2] * f[3] + q[3] * f[2];
    double y = q[2] * f[0] - q[0] * f[2] - q[3] * f[1] + q[1] * f[3];
    double z = q[3] * f[0] - q[0] * f[3] - q[1] * f[2] + q[2] * f[1];
    pose.position = gg_v3((float)motion->position[0], (float)motion->position[1], (float)motion->position[2]);
    pose.rotation = gg_quat_make((float)w, (float)x, (float)y, (float)z);
    return pose;
}

/* carries the surface of a clump along */
GG_FN void gg_clump_carry(const gg_view *v, int64_t e, int64_t clump) {
    const gg_clump_shape *shape = &v->clump_shape[clump];
    if (v->dims.clumps.surfaces && shape->surface >= 0) {
        v->tool_pose[e * v->dims.tool_count + shape->surface] =
            gg_clump_surface_pose(shape, &v->clump_motion[e * v->dims.clumps.count + clump]);
    }
}

/* velocity of the surface of a clump where a substep begins, as a part of a tool has it */
GG_FN void gg_clump_surface_move(const gg_view *v, int64_t e, int64_t clump, gg_part_pose *pose) {
    const gg_clump_motion *m = &v->clump_motion[e * v->dims.clumps.count + clump];
    pose->velocity = gg_v3((float)m->velocity[0], (float)m->velocity[1], (float)m->velocity[2]);
    pose->angular_velocity = gg_v3((float)m->spin[0], (float)m->spin[1], (float)m->spin[2]);
}

#endif
