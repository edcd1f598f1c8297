/* table.h: sizes and arrays of the law `table`: spheres whose forces are read from tables. See
 * solvers/spheres/table/table.h. */
#ifndef GG_STATE_TABLE_H
#define GG_STATE_TABLE_H

#include "body.h"

/* all 0 under another law */
typedef struct gg_table_dims {
    int64_t envs, slots; /* 1, slots */
    int64_t bonds;       /* twice their number, as both grains of a bond list it */
} gg_table_dims;

/* what an axis is divided into, evenly, so that the nodes around a value are found without a search */
#define GG_TABLE_BUCKETS 256

/* Samples of the forces of a pair: axes gap, normal velocity, sliding speed, each a list of rising nodes. The nodes lie one
 * axis behind the other, the samples with the last axis innermost, two each: normal force, tangential force [N]. */
typedef struct gg_table {
    int32_t count[3];   /* nodes of each axis; of gaps two or more */
    int32_t first_node; /* in table_axis */
    int32_t first;      /* sample in table_value */
    /* set by the world */
    int32_t start;    /* in table_start */
    float buckets[3]; /* of an axis, per unit */
    float end;        /* gap from which on it is zero [m] */
} gg_table;

/* constants of the law */
typedef struct gg_table_law {
    float reach;        /* gap from which on none acts but on bonded grains [m] */
    int32_t at_contact; /* 1: forces act where spheres touch, and turn them; 0: on centres */
} gg_table_law;

/* which table is that of a material and another one, or a tool (other: dims.material_count) */
#define GG_TABLE_OF(materials, a, other, bonded) (((int64_t)(a) * ((materials) + 1) + (other)) * 2 + ((bonded) ? 1 : 0))

/* clang-format off */
#define GG_TABLE_FIELDS(X)                                                                                             \
    X(gg_vec4, table_overlap, d->table.slots, SCRATCH)    /* by slot: deepest, sum, number; unsampled */               \
    X(gg_vec4, table_motion, 2 * d->table.slots, SCRATCH) /* by slot: velocity, then r*omega, as forces see them */

#define GG_TABLE_SCENE_ARRAYS(X)                                                                                       \
    X(gg_table, tables, def->table.count, def->table.table)                                                            \
    X(float, table_axis, def->table.node_count, def->table.node)                                                       \
    X(float, table_value, 2 * def->table.sample_count, def->table.sample)                                              \
    X(int16_t, table_start, 3 * GG_TABLE_BUCKETS * def->table.count, NULL) /* node to start from in each bucket */     \
    X(int32_t, table_of, def->table.count ? GG_TABLE_OF(def->material_count, def->material_count, 0, 0) : 0,           \
      def->table.of)                                                                                                   \
    X(int32_t, bond_first, dims->table.bonds ? def->grain_count + 1 : 0, def->bonds.first)                             \
    X(int32_t, bond_other, dims->table.bonds, def->bonds.other) /* grain ids, rising within those of a grain */        \
    X(float, bond_length, dims->table.bonds, def->bonds.length) /* at rest [m] */
/* clang-format on */

#endif
