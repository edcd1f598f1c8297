/* fields.h: every array of a world, once: the list drives allocation, growth, snapshots and the memory report.
 *
 * GG_FIELDS(X) expands X(type, name, count, keep) where count is the number of elements per env, written in terms of
 * the gg_dims `d`, and keep says what a snapshot does with it: STATE is saved, SCRATCH is rebuilt within a step. What
 * values a saved field may have is a rule of world/state_check.c. A law brings fields of its own, which are empty in
 * worlds of another. All arrays are env-major: element k of env e is array[e * count + k].
 *
 * GG_FIELD_ALIASES(X) expands X(type, alias, field): a second name of memory that holds one thing early in a substep
 * and another later.
 *
 * Arrays over slots are in cell order, padded to whole slices of GG_LANES with empty slots (grain_id -1) at the end.
 * Contact lists are sliced ELL: contact k of the grain in lane l of slice s is element contact_first + k * GG_LANES.
 */
#ifndef GG_FIELDS_H
#define GG_FIELDS_H

#include "bell.h"
#include "clumps.h"
#include "coloured.h"
#include "planar.h"
#include "sleep.h"
#include "spheres.h"
#include "table.h"
#include "tools.h"

/* clang-format off */
#define GG_COMMON_FIELDS(X)                                                                                            \
    /* per env: flags, cell grids, counters */                                                                         \
    X(gg_env, env, 1, STATE)                                                                                           \
    X(gg_pair, pair, d->material_count * d->material_count, STATE)      /* contact parameters of two materials */      \
    X(float, density, d->material_count, STATE)                         /* of each material [kg/m3] */                 \
    /* collision slots: what collides, in cell order */                                                                \
    X(int32_t, grain_id, d->slots, STATE)                               /* grain in this slot, -1: empty */            \
    X(int32_t, slot_of, d->slots, STATE)                                /* slot of a grain id */                       \
    X(int32_t, material, d->slots, STATE)                               /* material of the grain in this slot */       \
    X(gg_vec4, position, d->slots, STATE)                               /* x y z [m], radius [m] */                    \
    X(gg_vec4, built_position, d->slots, STATE)                         /* at the last list build; w spare */          \
    /* bodies: what moves */                                                                                           \
    X(float, body_a, d->bodies * GG_BODY, STATE)                        /* motion of bodies, see GG_BODY */            \
    X(float, velocity_error, d->slots * 3, STATE)                       /* by grain id: rounding error of v [m/s] */   \
    X(float, position_error, d->slots * 3, STATE)                       /* the same of x y z [m], or x y [m], angle */ \
    X(float, body_b, d->listed_bodies * GG_BODY, SCRATCH)               /* the other half of the double buffer */      \
    X(float, start_velocity, d->listed * 6, SCRATCH)                    /* v, r*omega before contact, SoA per slice */ \
    X(float, count_over_mass, d->listed, SCRATCH)                       /* contact count over mass [1/kg] */           \
    X(float, correction, d->listed * 3, SCRATCH)                        /* position correction [m], SoA per slice */   \
    X(float, velocity, d->listed * 6, SCRATCH)                          /* v, r*omega of the last iterate, SoA */      \
    /* candidates: pairs near enough to touch before the lists are built again */                                      \
    X(int32_t, candidate_first, d->listed, STATE)                                                                      \
    X(int32_t, candidate_count, d->listed, STATE)                                                                      \
    X(int32_t, candidate, d->candidate_cap, STATE)                      /* slots of the others, ascending */           \
    /* contacts that live from one substep to the next (warm start); key: the other's grain id, or -1 - part */        \
    X(int32_t, contact_first, d->listed, STATE)                                                                        \
    X(int32_t, contact_count, d->listed, STATE)                                                                        \
    X(int32_t, tool_contact_count, d->listed, STATE)                    /* they come last in a grain's list */         \
    X(int32_t, key_a, d->contact_rows * GG_LANES, STATE)                                                               \
    X(int32_t, key_b, d->contact_rows * GG_LANES, STATE)                                                               \
    X(float, impulse_a, d->contact_rows * GG_LANES * 3, STATE)          /* on this grain, in world axes [N s] */       \
    X(float, impulse_b, d->contact_rows * GG_LANES * 3, STATE)                                                         \
    /* contacts of this substep */                                                                                     \
    X(int32_t, other_body, d->contact_rows * GG_LANES, SCRATCH)         /* body of the other side */                   \
    X(float, normal, d->contact_rows * GG_LANES * 3, SCRATCH)           /* unit, towards this grain */                 \
    X(float, bias, d->contact_rows * GG_LANES, SCRATCH)                 /* target of the normal velocity [m/s] */      \
    X(float, effective_mass, d->contact_rows * GG_LANES, SCRATCH)       /* relaxed, of the normal direction [kg] */    \
    X(float, friction, d->contact_rows * GG_LANES, SCRATCH)                                                            \
    X(int32_t, next_first, d->slots, SCRATCH)                           /* contact_first of this substep */            \
    X(int32_t, next_count, d->slots, SCRATCH)                                                                          \
    X(int32_t, next_tool_count, d->slots, SCRATCH)                                                                     \
    X(uint64_t, active, d->listed, SCRATCH)                             /* bit k: candidate k < 64 is a contact */     \
    X(int32_t, slice_rows, d->slices, SCRATCH)                          /* longest contact list in the slice */        \
    X(int32_t, slice_first_row, d->slices, SCRATCH)                                                                    \
    X(uint64_t, slice_parts, d->slices, SCRATCH)                        /* bit k: part k < 64 is near the slice */     \
    X(int32_t, slice_tool_contacts, d->slices, SCRATCH)                 /* contacts with tools in the slice */         \
    X(int32_t, slice_first_tool_body, d->slices, SCRATCH)                                                              \
    X(gg_slice_stats, slice_stats, d->slices, SCRATCH)                                                                 \
    /* building the lists */                                                                                           \
    X(int32_t, cell, d->listed, SCRATCH)                                /* cell of the grain in this slot */           \
    X(int32_t, sort_material, d->listed, SCRATCH)                       /* material, before it moves to its new slot */\
    X(int32_t, source_slot, d->listed, SCRATCH)                         /* where the grain in a new slot comes from */ \
    X(int32_t, cell_first, d->cells + 1, SCRATCH)                       /* first index of each cell in cell_item */    \
    X(int32_t, cell_item, d->listed, SCRATCH)                           /* slots in order of cells */                  \
    X(float, cell_point, d->cell_points * 4, SCRATCH)                   /* the same: x, y, z, radius; SoA */           \
    X(int32_t, cell_cursor, d->cell_cursors, SCRATCH)                   /* on a GPU: how far a cell is filled */       \
    X(int32_t, hash_head, d->hash_size, SCRATCH)                        /* linked hash: first grain of a bucket */     \
    X(int32_t, hash_next, d->hash_next, SCRATCH)                        /* linked hash: next grain, -1 at the end */   \
    /* tools */                                                                                                        \
    X(gg_pose, tool_pose, d->tool_count, STATE)                         /* now */                                      \
    X(int32_t, tool_active, d->tool_count, STATE)                       /* 1, or 0: taken out */                       \
    X(gg_tool_motion, tool_motion, d->tool_count, SCRATCH)              /* over this step */                           \
    X(gg_part_pose, part_pose, d->part_count, SCRATCH)                  /* over this substep */                        \
    X(gg_tool_load, tool_load, d->tool_contacts, SCRATCH)               /* in the order of tool contact rows */        \
    X(float, wrench_partial, d->load_blocks * d->tool_count * 6, SCRATCH)                                              \
    X(double, wrench, d->tool_count * 6, STATE)                         /* impulse on the tool over this step */       \
    /* read-out */                                                                                                     \
    X(gg_box_stats, box_partial, d->blocks, SCRATCH)                                                                   \
    X(float, depth, d->pixels, SCRATCH)                                                                                \
    X(int32_t, seen, d->seen_pixels, SCRATCH)                           /* whose surface, see gg_strip */

#define GG_COMMON_ALIASES(X)                                                                                           \
    /* a listed contact, before it is prepared */                                                                      \
    X(float, restitution, effective_mass) /* -1: no contact */                                                         \
    X(float, gap, bias)                                                                                                \
    X(float, before_prediction, velocity) /* gg_before_prediction; of a law without lists elsewhere: arena.c */        \
    /* grains before they move to their new slots */                                                                   \
    X(float, sort_point, start_velocity) /* position, built position */                                                \
    X(float, sort_body, body_b)                                                                                        \
    X(int32_t, sort_grain_id, cell)                                                                                    \
    X(int32_t, sort_slot, next_first)    /* slots in order of cells, then of grain ids */                              \
    X(int32_t, sort_unordered, next_count) /* on a GPU: slots in order of cells alone */                               \
    X(int32_t, sort_contact_first, next_first)                                                                         \
    X(int32_t, sort_contact_count, next_count)                                                                         \
    X(int32_t, sort_tool_contact_count, next_tool_count)
/* clang-format on */

#define GG_FIELDS(X)                                                                                                   \
    GG_COMMON_FIELDS(X)                                                                                                \
    GG_SPHERE_FIELDS(X)                                                                                                \
    GG_COLOURED_FIELDS(X)                                                                                              \
    GG_CLUMP_FIELDS(X)                                                                                                 \
    GG_PLANAR_FIELDS(X)                                                                                                \
    GG_TOOL_FIELDS(X) GG_SLEEP_FIELDS(X) GG_BELL_FIELDS(X) GG_TABLE_FIELDS(X) GG_CONTINUUM_FIELDS(X)
#define GG_FIELD_ALIASES(X) GG_COMMON_ALIASES(X) GG_SPHERE_ALIASES(X)

#endif
