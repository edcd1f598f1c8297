/* continuum.h: sizes, fields and scene arrays of the law `continuum`: matter as a continuum, by the material point
 * method. See solvers/continuum/continuum.h.
 *
 * A particle of the continuum is a grain: a sphere of the particle's volume, which cameras, boxes, tallies and readings
 * know as any other. Nodes of the background grid live in blocks of 4 x 4 x 4 that follow the matter.
 */
#ifndef GG_STATE_CONTINUUM_H
#define GG_STATE_CONTINUUM_H

#include "../base/real4.h"
#include "../base/root.h"
#include "../base/tensor.h"
#include "env.h"

/* nodes of a block, and those that its particles reach: 6 x 6 x 6 */
#define GG_NODES 64
#define GG_HALO  216
/* vectors in which symmetric matrices of as many nodes find room, of which four components are written at once */
#define GG_HALO_MATRICES (GG_HALO * 6 / 4 + 1)
/* cells of the grid that begin at nodes of its particles, but for the last along each axis: 5 x 5 x 5 */
#define GG_CELLS 125

/* Half the distance of particles over the radius of the sphere of a particle's volume, (pi / 6)^(1/3): the surface of the
 * matter is that far from the centre of a particle on it. */
#define GG_CONTINUUM_REACH 0.80599597700823482

/* a yield stress or tension that nothing reaches [Pa] */
#define GG_UNYIELDING 1e30

/* What continuous matter is made of: isotropic linear elasticity of the corotated strain, a yield stress that may rise
 * with the pressure, a tension at which it parts, a viscosity: solvers/continuum/matter.h. Or a liquid, whose moduli are 0:
 * solvers/continuum/liquid.h. */
typedef struct gg_continuum_material {
    double bulk, shear; /* moduli [Pa] */
    double strength;    /* largest norm of the deviatoric stress where there is no pressure [Pa] */
    double slope;       /* rise of it with the pressure */
    double tension;     /* largest mean tension [Pa] */
    double viscosity;   /* [Pa s] */
    double liquid;      /* bulk modulus of a liquid [Pa]; this and `bulk` 0: grains of the material are no continuum */
    double dilatancy;   /* volumetric strain over the norm of the plastic deviatoric strain that makes it */
    double dilation;    /* largest volumetric strain that it makes */
} gg_continuum_material;

/* all 0 where there is no continuum */
typedef struct gg_continuum_dims {
    int64_t envs, slots;   /* 1, slots */
    int64_t blocks, nodes; /* capacities: blocks that hold particles, and blocks of nodes that these reach */
    int64_t given;         /* vectors that a block of particles keeps of its nodes: solvers/continuum/nodes.h */
    int64_t contacts;      /* tool_contacts */
    int64_t tools, twists; /* tools of the scene where one is dynamic, else 0; components of their twists, 6 each */
    int64_t tool_blocks;   /* blocks, or 0 without dynamic tools */
    int64_t cells;         /* of particles, for cameras */
    int64_t liquid;        /* whether there are liquids */
    int64_t dilatant;      /* slots, or 0 without a material that dilates */
    int64_t fills, flows;  /* cells of the blocks, nodes of the blocks of nodes; 0 without liquids */
    int64_t rooms;         /* nodes, or 0 without liquids */
} gg_continuum_dims;

/* a particle within a substep, in the order of blocks */
typedef struct gg_continuum_point {
    double place[3];  /* in its stencil, in units of the grid's spacing, .5 .. 1.5 */
    gg_sym strain;    /* of the iterate */
    double strength;  /* yield stress in this substep [Pa] */
    double volume;    /* [m3] */
    int32_t id, slot; /* grain id, and where it is */
    int32_t halo;     /* the first node of its stencil in its block */
    int32_t contact, contact_count;
    int32_t pressed; /* whether it is liquid under pressure */
} gg_continuum_point;

/* the Hessian of a particle in single precision, times its volume and dt^2; symmetric matrices as gg_sym. Along flow
 * stress does not rise by `soften`. */
typedef struct gg_continuum_tangent { /* 5 x 16 bytes, which quad_cells.h reads as they are */
    /* from the nearer edge of its cell, in units of the grid's spacing; < 0: from the upper one */
    GG_ALIGNED(16) float off[3];
    float pressed; /* beside liquids: volume times dt, by which the slope of the pressure pushes it [m3 s] */
    float bulk, shear, soften; /* [J]; bulk: less a third of shear */
    float lever[6], flow[6];
    int16_t halo;
    int16_t touches; /* whether it has contacts */
} gg_continuum_tangent;

/* contact of a particle with a part of a tool within a substep */
typedef struct gg_continuum_contact {
    double normal[3];  /* towards the particle */
    double arm[3];     /* from the tool's origin to where it acts [m] */
    double surface[3]; /* velocity there of a tool that follows its targets [m/s] */
    double target;     /* normal velocity that closes the gap [m/s] */
    double reach;      /* from the particle to the surface of its matter [m] */
    double give[2];    /* regularisation along the normal and across it [1/kg] */
    double friction;
    double cling;                 /* of a liquid: impulse across over the relative velocity [kg] */
    double impulse[3];            /* on the particle [N s] */
    double along[3], velocity[3]; /* of the particle relative to the tool: change along the step, and of the iterate */
    gg_sym tangent;               /* [kg] */
    int32_t part, tool;           /* tool: among those of the scene, -1: it follows its targets */
} gg_continuum_contact;

/* a block of particles, and where the blocks of nodes are that it reaches: bit k of the index: the next along axis k */
typedef struct gg_continuum_block {
    int64_t key;
    uint64_t cells;       /* bit 16 z + 4 y + x: cell x y z of the block holds particles */
    int32_t first, count; /* of its particles in the order of blocks */
    int32_t first_cell;   /* of those that hold particles, in continuum_cell */
    int32_t dynamic;      /* whether its particles meet dynamic tools */
    int32_t node[8];
} gg_continuum_block;

/* a cell of a block, in a world with liquids */
typedef struct gg_liquid_cell {
    double room; /* what tools leave of it [m3]; 0: another block's, or without liquid; first, if it counts */
    double bulk; /* [Pa] */
    double full, fill, along; /* how much more than full it is: at the start, of the iterate; change along the step */
} gg_liquid_cell;

/* Cubes of half a spacing that the splines of a block of nodes reach: along an axis, in all; what is told of them, in a
 * world with liquids. */
#define GG_ROOM_SIDE   12
#define GG_ROOM_CUBES  (GG_ROOM_SIDE * GG_ROOM_SIDE * GG_ROOM_SIDE)
#define GG_ROOM_OCTETS (GG_ROOM_CUBES / 8)
typedef struct gg_room {
    float left[GG_ROOM_CUBES];     /* share that tools leave */
    float along[3][GG_ROOM_CUBES]; /* what tools that follow their targets take, times their velocity [m/s] */
} gg_room;

/* how a dynamic tool displaces liquid at a block of nodes: solvers/continuum/displaced.h */
typedef struct gg_displaced {
    double by[GG_NODES][6]; /* volume that a node gains by each component of the tool's twist [m2], [m3] */
    double impulse[6];      /* of the pressures there over a substep [N s], [N m s]; or how it changes */
    int32_t met;            /* whether the tool is there: else the others mean nothing */
} gg_displaced;
/* the same over the cells of a block of particles: how the impulse changes with the twist, upper triangle, row by row */
typedef struct gg_displaced_sum {
    double tangent[21];
    int32_t met;
} gg_displaced_sum;

/* the blocks of particles that reach a block of nodes, -1: none */
typedef struct gg_continuum_source {
    int32_t block[8];
} gg_continuum_source;

/* cells at least: where the box of the particles needs more, axes fold that have eight of them or more */
#define GG_MATTER_CELLS 4096

/* the cells in which cameras look for particles, see sensors/matter_surface.h */
typedef struct gg_matter_cells {
    gg_cell_grid grid;
    gg_vec3 low, high; /* box of the centres of particles [m] */
} gg_matter_cells;

/* the solve of an env within a substep */
typedef struct gg_continuum_env {
    uint64_t some, other;          /* bits of keys that are 1 in some, and that are 0 in some */
    int32_t particles, cells;      /* that are near enough for the grid; cells that hold some */
    int32_t blocks, nodes;         /* in use */
    int32_t newton, linear, tries; /* iterations of Newton's method; of the linear solve and line search under way */
    int32_t linear_all, tries_all; /* of the substep */
    int32_t unsolved;              /* the gradient is not below its bound */
    int32_t smooth;                /* the objective is quadratic */
    int32_t single;                /* the linear solve takes its products in single precision */
    double cost, gradient;         /* objective [J]; norm of its gradient by inverse mass [kg^.5 m/s] */
    double last_gradient;          /* of the iterate before */
    double momenta, bound;         /* of the substep, by the same norm; what the gradient must get below */
    double mass;                   /* of the nodes [kg] */
    double drift[3];               /* velocity that the solve leaves to be added to all [m/s] */
    double energy, first_energy; /* r . z of the linear solve, and where it began: the slope of the line search there */
    double step, blend;          /* length of a step of the linear solve, and share of the last direction */
    double slope, curvature;     /* inertial part of the slope of the objective along the step, and of its rise */
    gg_root length;              /* of the step, in the line search */
} gg_continuum_env;

/* partial sums of a block, and over how many of these are added up at first */
#define GG_SUM_GROUP 64
typedef struct gg_continuum_sum {
    double of[4];
} gg_continuum_sum;

/* vectors over the twists of the dynamic tools of an env within the solve: see solvers/continuum/tools.h */
typedef enum gg_twist_vector {
    GG_TWIST_START,    /* before contact [m/s], [rad/s] */
    GG_TWIST_VELOCITY, /* of the iterate */
    GG_TWIST_ALONG,    /* change along the direction of the linear solve; then along its solution */
    /* in the coordinates in which the inverse mass is 1: */
    GG_TWIST_ITERATE,  /* the change since the start */
    GG_TWIST_RESIDUAL, /* as of nodes */
    GG_TWIST_STEP,
    GG_TWIST_WAY,
    GG_TWIST_IMAGE,
    GG_TWIST_VECTORS
} gg_twist_vector;

/* sums over the contacts of a block with a dynamic tool: impulses and moments about its origin on the particles, and
 * how they change with its twist: upper triangle, row by row */
typedef struct gg_continuum_tool_sum {
    double impulse[6], tangent[21];
} gg_continuum_tool_sum;

/* clang-format off */
#define GG_CONTINUUM_FIELDS(X)                                                                                         \
    X(gg_sym, continuum_strain, d->continuum.slots, STATE)        /* elastic, see solvers/continuum/matter.h, by id */ \
    X(float, continuum_affine, d->continuum.slots * 9, STATE)     /* APIC's matrix C, by grain id [1/s] */             \
    X(float, continuum_plastic, d->continuum.slots, STATE)        /* equivalent plastic strain, by grain id */          \
    X(float, continuum_dilation, d->continuum.dilatant, STATE)    /* volumetric strain by dilatancy, by grain id */     \
    X(double, continuum_swelling, d->continuum.dilatant, SCRATCH) /* of this substep, in the order of points */        \
    X(int32_t, continuum_lost, d->continuum.slots, SCRATCH)       /* by grain id: too far away for the grid */         \
    X(gg_continuum_env, continuum_env, d->continuum.envs, SCRATCH)                                                     \
    X(int32_t, continuum_cell, d->continuum.slots, SCRATCH)       /* first particle of each cell that holds some */    \
    X(gg_continuum_point, continuum_point, d->continuum.slots, SCRATCH)                                                \
    X(gg_continuum_tangent, continuum_tangent, d->continuum.slots, SCRATCH) /* in the order of continuum_point */      \
    X(gg_continuum_contact, continuum_contact, d->continuum.contacts, SCRATCH)                                         \
    X(gg_continuum_block, continuum_block, d->continuum.blocks, SCRATCH)                                               \
    X(gg_continuum_sum, continuum_block_sum, d->continuum.blocks, SCRATCH)                                             \
    X(gg_real4, continuum_given, d->continuum.blocks * d->continuum.given, SCRATCH)                                    \
    X(gg_continuum_source, continuum_source, d->continuum.nodes, SCRATCH)                                              \
    X(gg_liquid_cell, liquid_cell, d->continuum.fills, SCRATCH)                                                        \
    X(gg_room, liquid_room, d->continuum.rooms, SCRATCH)                                                               \
    X(gg_real4, liquid_flow, d->continuum.flows, SCRATCH) /* what liquid.h says of nodes */                            \
    X(double, liquid_push, d->continuum.rooms * d->tool_count * 6, SCRATCH) /* on tools, by block of nodes [N s] */    \
    X(gg_continuum_sum, continuum_node_sum, d->continuum.nodes, SCRATCH)                                               \
    X(gg_real4, continuum_velocity, d->continuum.nodes * GG_NODES, SCRATCH) /* iterate [m/s]; w: mass or pressure */   \
    X(gg_real4, continuum_free, d->continuum.nodes * GG_NODES, SCRATCH)     /* without stress, contact; w: mass */    \
    X(gg_real4, continuum_residual, d->continuum.nodes * GG_NODES, SCRATCH) /* of the linear solve [N s] */            \
    X(gg_real4, continuum_step, d->continuum.nodes * GG_NODES, SCRATCH)     /* its solution [m/s] */                   \
    X(gg_real4, continuum_way, d->continuum.nodes * GG_NODES, SCRATCH)      /* its direction; w: pressure */           \
    X(gg_real4, continuum_image, d->continuum.nodes * GG_NODES, SCRATCH)    /* the matrix times the direction */       \
    X(gg_lower, continuum_inverse, d->continuum.nodes * GG_NODES, SCRATCH)  /* of its diagonal blocks [1/kg^.5] */     \
    X(double, continuum_twist, d->continuum.twists * GG_TWIST_VECTORS, SCRATCH) /* one gg_twist_vector after another */ \
    X(double, continuum_root, d->continuum.twists * d->continuum.twists, SCRATCH)   /* of the tools' inverse mass */   \
    X(double, continuum_factor, d->continuum.twists * d->continuum.twists, SCRATCH) /* of their Hessian */             \
    X(gg_continuum_tool_sum, continuum_tool_sum, d->continuum.tool_blocks * d->continuum.tools, SCRATCH)               \
    X(gg_displaced, displaced, d->continuum.rooms * d->continuum.tools, SCRATCH) /* by block of nodes and tool */      \
    X(gg_displaced_sum, displaced_sum, d->continuum.liquid * d->continuum.tool_blocks * d->continuum.tools, SCRATCH)   \
    X(gg_matter_cells, matter_cells, d->continuum.envs, SCRATCH)                                                       \
    X(int32_t, matter_first, d->continuum.cells + 2 * d->continuum.envs, SCRATCH) /* first particle of each cell */

#define GG_CONTINUUM_SCENE_ARRAYS(X)                                                                                   \
    X(gg_continuum_material, continuum_material, dims->continuum.envs ? dims->material_count : 0,                      \
      def->continuum.material)
/* clang-format on */

#endif
