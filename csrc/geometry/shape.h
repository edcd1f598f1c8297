/* shape.h: the parts of tools, each a signed distance field (SDF) posed in the tool's frame; poses and motions of
 * tools.
 *
 * A tool is a body, kinematic or dynamic (state/tools.h). A grain has one contact with each part: a box made of one
 * part per wall holds its grains where a single field would see only the nearest wall. Distances are positive outside,
 * negative inside (GranularGym, II.C).
 */
#ifndef GG_SHAPE_H
#define GG_SHAPE_H

#include "../base/vec.h"

typedef enum gg_shape_kind {
    GG_SHAPE_NONE = 0,
    GG_SHAPE_PLANE,    /* solid below z = 0 of the part's frame */
    GG_SHAPE_BOX,      /* size = half extents x, y, z */
    GG_SHAPE_SPHERE,   /* size[0] = radius */
    GG_SHAPE_CAPSULE,  /* along z; size[0] = radius, size[1] = half length of the segment */
    GG_SHAPE_CYLINDER, /* along z; size[0] = radius, size[1] = half height */
    GG_SHAPE_CONE,     /* along z; size[0] = radius at -z, size[1] = radius at +z, size[2] = half height */
    GG_SHAPE_GRID,     /* samples of a mesh's field on a regular grid */
    GG_SHAPE_CAVITY,   /* vertical tube wall: solid outside radius size[0] around z, unbounded */
    GG_SHAPE_KIND_COUNT
} gg_shape_kind;

/* a regular grid of signed distances [m]; sample (ix, iy, iz) lies at origin + spacing * (ix, iy, iz), x fastest */
typedef struct gg_sdf_grid {
    int32_t count[3];
    float spacing;
    gg_vec3 origin;
    int64_t first_sample; /* index of sample (0, 0, 0) in the world's sample array */
    /* Box of all cells with a sample below surface_margin, in the grid's frame [m]; the margin is 0 where one reaches a
     * face of the grid. Set by gg_sdf_grid_set_surface. */
    gg_vec3 surface_lower, surface_upper;
    float surface_margin;
} gg_sdf_grid;

#define GG_UNBOUNDED 1e30f

/* the first tools of every world are the walls of its bounds: x lower, x upper, y lower, y upper, z lower, z upper */
#define GG_WALL_COUNT 6

/* one part of a tool */
typedef struct gg_shape {
    int32_t kind; /* gg_shape_kind */
    int32_t tool; /* index of the tool that owns it */
    int32_t grid; /* index of its grid, -1 for primitives */
    int32_t material;
    float size[4];    /* [m], by kind */
    gg_vec3 position; /* of the part's frame in the tool's frame [m] */
    gg_quat rotation;
    gg_vec3 bound_center; /* bounding sphere in the part's frame; radius GG_UNBOUNDED where there is none */
    float bound_radius;
} gg_shape;

/* pose of a rigid frame in the world */
typedef struct gg_pose {
    gg_vec3 position; /* [m] */
    gg_quat rotation;
} gg_pose;

/* motion of one tool over one step: constant linear and angular velocity from its pose to the target */
typedef struct gg_tool_motion {
    gg_pose start;
    gg_vec3 velocity;
    gg_vec3 axis; /* unit, world */
    float speed;  /* [rad/s] about axis */
    gg_pose target;
} gg_tool_motion;

/* pose and velocity of a part during one substep */
typedef struct gg_part_pose {
    gg_mat3 rotation;         /* part frame -> world */
    gg_vec3 position;         /* of the part frame, world [m] */
    gg_vec3 tool_position;    /* origin of the tool frame, world [m]; torques are about this point */
    gg_vec3 velocity;         /* of the tool frame's origin [m/s] */
    gg_vec3 angular_velocity; /* [rad/s] */
    int32_t active;           /* 0: its tool is taken out, nothing touches it */
} gg_part_pose;

#endif
