/* phases.h: the phases of continuous matter; the columns are those of phases/phases.h. */
#ifndef GG_CONTINUUM_PHASES_H
#define GG_CONTINUUM_PHASES_H

#include "close.h"
#include "flow.h"

#define GG_CONTINUUM_BLOCKS v->dims.continuum.blocks
#define GG_CONTINUUM_NODES  v->dims.continuum.nodes
#define GG_CONTINUUM_ENVS   v->dims.continuum.envs

/* a phase over blocks of particles, blocks of nodes, or envs, of which the second column counts the work */
/* clang-format off */
#define GG_CONTINUUM_PHASES(X)                                                                                         \
    X(continuum_key, v->dims.continuum.slots, SKIPS, PLAIN, EACH, v->dims.continuum.slots, ALONE,                      \
      gg_continuum_key_slot(v, e, i))                                                                                  \
    X(continuum_order, GG_CONTINUUM_ENVS, SKIPS, PLAIN, APART, v->dims.continuum.slots, MEETS, gg_continuum_order_env(v, e))  \
    X(continuum_count, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_tool_contacts_count_slice(v, e, i))   \
    X(continuum_list, v->dims.slices, SLICES, PLAIN, EACH, v->dims.slices, ALONE, gg_continuum_list_slice(v, e, i))     \
    X(continuum_begin, GG_CONTINUUM_ENVS, SKIPS, PLAIN, EACH, GG_CONTINUUM_ENVS, ALONE, gg_continuum_begin_env(v, e))  \
    X(continuum_open_blocks, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,           \
      gg_continuum_open_block(v, e, i))                                                                                \
    X(continuum_open_nodes, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,              \
      gg_continuum_open_nodes(v, e, i))                                                                                \
    X(continuum_regularise, GG_CONTINUUM_BLOCKS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,            \
      gg_continuum_regularise_block(v, e, i))                                                                          \
    X(liquid_open, GG_CONTINUUM_NODES, SKIPS, PLAIN, TEAM, GG_CONTINUUM_NODES * GG_THREADS, ALONE,                     \
      gg_liquid_open_nodes(v, e, i))                                                                                   \
    X(liquid_count, GG_CONTINUUM_BLOCKS, SKIPS, PLAIN, EACH, GG_CONTINUUM_BLOCKS * GG_NODES, ALONE,                    \
      gg_liquid_count_block(v, e, i))                                                                                  \
    X(liquid_share, GG_CONTINUUM_NODES, SKIPS, LANES, EACH, GG_CONTINUUM_NODES * GG_NODES, ALONE,                      \
      gg_liquid_share_nodes(v, e, i))                                                                                  \
    X(liquid_measure, GG_CONTINUUM_BLOCKS, SKIPS, PLAIN, EACH, GG_CONTINUUM_BLOCKS * GG_NODES, ALONE,                  \
      gg_liquid_measure_block(v, e, i))                                                                                \
    X(liquid_crowd, GG_CONTINUUM_NODES, SKIPS, LANES, EACH, GG_CONTINUUM_NODES * GG_NODES, ALONE,                      \
      gg_liquid_crowd_nodes(v, e, i))                                                                                  \
    X(liquid_spread, GG_CONTINUUM_BLOCKS, SKIPS, PLAIN, EACH, GG_CONTINUUM_BLOCKS * GG_NODES, ALONE,                   \
      gg_liquid_spread_block(v, e, i))                                                                                 \
    X(liquid_flow_iterate, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,           \
      gg_liquid_flow_iterate(v, e, i))                                                                                 \
    X(liquid_flow_way, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,           \
      gg_liquid_flow_way(v, e, i))                                                                                     \
    X(liquid_flow_step, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,           \
      gg_liquid_flow_step(v, e, i))                                                                                    \
    X(liquid_flow, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                       \
      gg_liquid_flow_nodes(v, e, i, pass))                                                                                   \
    X(liquid_press_iterate, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,            \
      gg_liquid_press_iterate(v, e, i))                                                                                \
    X(liquid_press_way, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,                \
      gg_liquid_press_way(v, e, i))                                                                                    \
    X(liquid_press_step, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,               \
      gg_liquid_press_step(v, e, i))                                                                                   \
    X(liquid_keep_iterate, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,               \
      gg_liquid_keep_iterate(v, e, i))                                                                                 \
    X(liquid_keep_way, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                   \
      gg_liquid_keep_way(v, e, i))                                                                                     \
    X(liquid_react, GG_CONTINUUM_NODES, SKIPS, PLAIN, TEAM, GG_CONTINUUM_NODES * GG_THREADS, ALONE,                    \
      gg_liquid_react_nodes(v, e, i))                                                                                  \
    X(liquid_reacted, v->dims.tool_count * 6, SKIPS, PLAIN, EACH, v->dims.tool_count * 6, ALONE,                       \
      gg_liquid_reacted(v, e, i))                                                                                      \
    X(continuum_linearise, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,             \
      gg_continuum_linearise_block(v, e, i))                                                                           \
    X(continuum_gradient, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                \
      gg_continuum_gradient_nodes(v, e, i))                                                                            \
    X(continuum_judge, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE, gg_continuum_judge_env(v, e))  \
    X(continuum_diagonal, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,              \
      gg_continuum_diagonal_block(v, e, i))                                                                            \
    X(continuum_start, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                   \
      gg_continuum_start_nodes(v, e, i))                                                                               \
    X(continuum_started, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE,                              \
      gg_continuum_started_env(v, e))                                                                                    \
    X(continuum_apply, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,                 \
      gg_continuum_apply_block(v, e, i))                                                                               \
    X(continuum_image, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                   \
      gg_continuum_image_nodes(v, e, i))                                                                               \
    X(continuum_length, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE,                               \
      gg_continuum_length_env(v, e))                                                                                   \
    X(continuum_step, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                    \
      gg_continuum_step_nodes(v, e, i))                                                                                \
    X(continuum_blend, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE, gg_continuum_blend_env(v, e))  \
    X(continuum_turn, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                    \
      gg_continuum_turn_nodes(v, e, i))                                                                                \
    X(continuum_ray_blocks, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,            \
      gg_continuum_ray_block(v, e, i))                                                                                 \
    X(continuum_ray_nodes, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,               \
      gg_continuum_ray_nodes(v, e, i))                                                                                 \
    X(continuum_ray, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE, gg_continuum_ray_env(v, e))      \
    X(continuum_try_blocks, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,            \
      gg_continuum_try_block(v, e, i))                                                                                 \
    X(continuum_try, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE, gg_continuum_try_env(v, e))      \
    X(continuum_advance, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                 \
      gg_continuum_advance_nodes(v, e, i))                                                                             \
    X(continuum_left, GG_CONTINUUM_NODES, SKIPS, LANES, TEAM, GG_CONTINUUM_NODES * GG_NODES, ALONE,                    \
      gg_continuum_left_nodes(v, e, i))                                                                                \
    X(continuum_balance, GG_CONTINUUM_ENVS, SKIPS, PLAIN, TEAM, GG_CONTINUUM_ENVS, ALONE,                              \
      gg_continuum_balance_env(v, e))                                                                                  \
    X(continuum_end, GG_CONTINUUM_ENVS, SKIPS, PLAIN, EACH, GG_CONTINUUM_ENVS, ALONE, gg_continuum_end_env(v, e))      \
    X(continuum_load, v->dims.continuum.slots, SKIPS, PLAIN, EACH, v->dims.continuum.slots, ALONE,                     \
      gg_continuum_load_slot(v, e, i))                                                                                 \
    X(continuum_weigh, GG_CONTINUUM_BLOCKS, SKIPS, LANES, EACH, GG_CONTINUUM_BLOCKS * GG_NODES, ALONE,                 \
      gg_explicit_weigh_block(v, e, i))                                                                                \
    X(continuum_weighed, GG_CONTINUUM_NODES, SKIPS, LANES, EACH, GG_CONTINUUM_NODES * GG_NODES, ALONE,                 \
      gg_explicit_weigh_nodes(v, e, i))                                                                                \
    X(continuum_push, GG_CONTINUUM_BLOCKS, SKIPS, LANES, EACH, GG_CONTINUUM_BLOCKS * GG_NODES, ALONE,                  \
      gg_explicit_push_block(v, e, i))                                                                                 \
    X(continuum_pushed, GG_CONTINUUM_NODES, SKIPS, LANES, EACH, GG_CONTINUUM_NODES * GG_NODES, ALONE,                  \
      gg_explicit_push_nodes(v, e, i))                                                                                 \
    X(continuum_integrate, GG_CONTINUUM_BLOCKS, SKIPS, LANES, TEAM, GG_CONTINUUM_BLOCKS * GG_THREADS, ALONE,             \
      gg_continuum_integrate_block(v, e, i))                                                                           \
    X(continuum_note, v->dims.slices, SKIPS, PLAIN, EACH, v->dims.slices, ALONE, gg_continuum_note_slice(v, e, i))     \
    X(restore_continuum, v->dims.continuum.slots, COVERS, PLAIN, EACH, v->dims.continuum.slots, ALONE,                 \
      gg_continuum_restore_slot(v, e, i))                                                                              \
    X(transform_continuum, v->dims.continuum.slots, COVERS, PLAIN, EACH, v->dims.continuum.slots, ALONE,               \
      gg_continuum_transform_slot(v, e, i))
/* clang-format on */

#endif
