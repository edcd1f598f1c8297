/* phases.h: the table of phases: what a step is made of, item by item.
 *
 * A phase is a function of (view, env, item, pass) that writes only what belongs to its item and reads nothing that
 * another item of the same phase writes; so its items can run in any order, on any number of threads, with the same
 * bits. A line of the table declares a phase; backends expand it into their loops, and step.h calls it:
 *
 *   X(name, items, still, build, gpu, threads, sync, body)
 *   items     items per env, from sizes alone: evaluated on the host, where the arrays need not be
 *   still     COVERS or SKIPS envs that stand still: frozen because a value is not finite, or asleep; SLICES, SLOTS:
 *             skips them, and the slices or slots of grains deep asleep (grain_sleep.h): the items are all slices, or
 *             all slots, of which a block of a GPU always has the same
 *   build     PLAIN, or LANES: one build per instruction set; the body calls GG_LANE_CALL (solvers/lane_phases.h), or
 *             has loops that compilers make vectors of
 *   gpu       EACH: a GPU runs the body item by item; TEAM: it runs gg_gpu_<name> of backend/cuda, with the same bits;
 *             APART: the same, not as part of the kernels of steps but as a function that they call, as it runs rarely
 *   threads   threads that a GPU can keep busy in one env
 *   sync      between the blocks of a GPU: ALONE (none), MEETS (barriers within the phase), REDUCES (one reduction)
 */
#ifndef GG_PHASES_H
#define GG_PHASES_H

#include "../sensors/seen.h"
#include "../solvers/spheres/bell/phases.h"
#include "../solvers/spheres/clumps/phases.h"
#include "../solvers/spheres/coloured/phases.h"
#include "../solvers/continuum/phases.h"
#include "../solvers/planar/phases.h"
#include "../solvers/spheres/phases.h"
#include "../solvers/spheres/table/phases.h"
#include "access.h"
#include "close.h"
#include "drive.h"
#include "grain_sleep.h"
#include "lists.h"
#include "predict.h"
#include "sleep.h"
#include "tally.h"
#include "tools.h"

/* clang-format off */
#define GG_COMMON_PHASES(X)                                                                                            \
    X(watch_tools, v->dims.slices, COVERS, PLAIN, EACH, v->dims.slices, ALONE, gg_sleep_watch_slice(v, e, i))          \
    X(open_step, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_step_open_env(v, e))                                             \
    X(drive_joints, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_drive_env(v, e, GG_DRIVE_joints))                             \
    X(drive_vehicle, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_drive_env(v, e, GG_DRIVE_vehicle))                           \
    X(drive_arm, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_drive_env(v, e, GG_DRIVE_arm))                                   \
    X(plan_tools, v->dims.tool_count, COVERS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_tool_plan(v, e, i))           \
    X(pose_parts, v->dims.part_count, SKIPS, PLAIN, EACH, v->dims.part_count, ALONE, gg_tool_pose_part(v, e, i))       \
    X(predict, v->dims.slices, SLICES, LANES, TEAM, v->dims.slots, ALONE, GG_LANE_CALL(predict_slice)(v, e, i))         \
    X(check, 1, COVERS, PLAIN, TEAM, GG_GPU_SHARE(v->dims.slices), REDUCES, gg_predict_check_env(v, e))                \
    X(fit_cell_grids, 1, SKIPS, PLAIN, APART, GG_GPU_SHARE(v->dims.slots), REDUCES, gg_lists_fit_env(v, e))             \
    X(choose_asleep, 1, SKIPS, PLAIN, APART, v->dims.slots, MEETS, gg_sleep_choose_env(v, e))                           \
    X(enter_sleep, v->dims.slots, SKIPS, PLAIN, EACH, v->dims.slots, ALONE, gg_sleep_enter_slot(v, e, i))              \
    X(find_cells, v->dims.slots, SKIPS, PLAIN, EACH, v->dims.slots, ALONE, gg_lists_cell_slot(v, e, i))                \
    X(order, 1, SKIPS, PLAIN, APART, v->dims.slots, MEETS, gg_lists_order_env(v, e))                                    \
    X(gather, v->dims.slots, SKIPS, PLAIN, EACH, v->dims.slots, ALONE, gg_lists_gather_slot(v, e, i))                  \
    X(scatter, v->dims.slots, SKIPS, PLAIN, EACH, v->dims.slots, ALONE, gg_lists_scatter_slot(v, e, i))                \
    X(allocate_candidates, 1, SKIPS, PLAIN, APART, v->dims.slots, MEETS, gg_lists_allocate_env(v, e))                   \
    X(search, v->dims.slots, SLOTS, LANES, EACH, v->dims.slots, ALONE, GG_LANE_CALL(search_slot)(v, e, i))             \
    X(close_lists, 1, SKIPS, PLAIN, APART, GG_GPU_SHARE(v->dims.slots), REDUCES, gg_lists_close_env(v, e))              \
    X(allocate_contacts, 1, SKIPS, PLAIN, TEAM, GG_GPU_SHARE(v->dims.slices), MEETS, gg_contacts_allocate_env(v, e))   \
    X(count_tool_contacts, v->dims.load_blocks, SKIPS, PLAIN, EACH, v->dims.load_blocks, ALONE,                        \
      gg_tool_count_block(v, e, i))                                                                                    \
    X(open_tools, v->dims.tool_count, SKIPS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_tool_open(v, e, i))            \
    X(sum_tool_impulses, v->dims.load_blocks, SKIPS, PLAIN, EACH, v->dims.load_blocks, ALONE,                          \
      gg_tool_sum_block(v, e, i, pass))                                                                                \
    X(sync_tools, v->dims.tool_count, SKIPS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_tool_sync(v, e, i, pass))      \
    X(spread_tools, v->dims.load_blocks, SKIPS, PLAIN, EACH, v->dims.load_blocks, ALONE,                               \
      gg_tool_spread_block(v, e, i, pass))                                                                             \
    X(move_tools, v->dims.tool_count, SKIPS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_tool_move(v, e, i))            \
    X(check_convergence, 1, SKIPS, PLAIN, TEAM, GG_GPU_SHARE(v->dims.slices), REDUCES, gg_step_check_env(v, e, pass))  \
    X(sum_wrench_blocks, v->dims.load_blocks, SKIPS, PLAIN, TEAM, v->dims.load_blocks * GG_THREADS, ALONE,             \
      gg_tool_wrench_block(v, e, i))                                                                                   \
    X(sum_wrench_tools, v->dims.tool_count, SKIPS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_tool_wrench(v, e, i))    \
    X(close_substep, 1, COVERS, PLAIN, TEAM, GG_GPU_SHARE(v->dims.slices), REDUCES, gg_step_close_env(v, e))           \
    X(roll_back, v->dims.slots, SLOTS, PLAIN, EACH, v->dims.slots, ALONE, gg_predict_roll_back_slot(v, e, i))          \
    X(rolled_back, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_predict_rolled_back_env(v, e))                                 \
    X(arrive_tools, v->dims.tool_count, COVERS, PLAIN, EACH, v->dims.tool_count, ALONE, gg_tool_arrive(v, e, i))       \
    X(sum_boxes, v->dims.blocks, COVERS, PLAIN, TEAM, v->dims.blocks * GG_THREADS, ALONE,                              \
      gg_access_box_block(v, e, i, pass))                                                                              \
    X(read_boxes, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_access_box_env(v, e, pass))                                     \
    X(clear_tally, v->access.tally_bins, COVERS, PLAIN, EACH, v->access.tally_bins, ALONE, gg_tally_clear(v, e, i))    \
    X(tally, 1, COVERS, PLAIN, TEAM, v->dims.grain_count, ALONE, gg_tally_env(v, e))                                   \
    X(read_grains, v->dims.grain_count, COVERS, PLAIN, EACH, v->dims.grain_count, ALONE,                               \
      gg_access_read_grain(v, e, i))                                                                                   \
    X(write_grains, v->dims.grain_count, COVERS, PLAIN, EACH, v->dims.grain_count, ALONE,                              \
      gg_access_write_grain(v, e, i))                                                                                  \
    X(transform_grains, v->dims.grain_count, COVERS, PLAIN, EACH, v->dims.grain_count, ALONE,                          \
      gg_access_transform_grain(v, e, i))                                                                              \
    X(set_masses, v->dims.slots, COVERS, PLAIN, EACH, v->dims.slots, ALONE, gg_access_set_mass_slot(v, e, i))          \
    X(invalidate, 1, COVERS, PLAIN, EACH, 1, ALONE, gg_access_invalidate_env(v, e))                                    \
    X(read_wrenches, v->dims.tool_count * 6, COVERS, PLAIN, EACH, v->dims.tool_count * 6, ALONE,                       \
      gg_access_read_wrench(v, e, i))                                                                                  \
    X(order_matter, v->dims.continuum.envs, COVERS, PLAIN, EACH, v->dims.continuum.envs, ALONE,                        \
      gg_matter_order_env(v, e))                                                                                       \
    X(render_depth, v->access.camera_whole ? 1 : v->access.camera_bands, COVERS, LANES, TEAM,                          \
      v->access.camera_bands * GG_THREADS, ALONE, gg_depth_band(v, e, i))                                              \
    X(read_depth, v->access.pixel_count, COVERS, PLAIN, EACH, v->access.pixel_count, ALONE,                            \
      gg_access_read_pixel(v, e, i))                                                                                   \
    X(read_codes, v->access.pixel_count, COVERS, PLAIN, EACH, v->access.pixel_count, ALONE,                            \
      gg_seen_read_code(v, e, i))                                                                                      \
    X(read_colors, v->access.camera_bands, COVERS, PLAIN, TEAM, v->access.pixel_count, ALONE,                          \
      gg_seen_color_band(v, e, i))
/* clang-format on */

/* with the phases of every law */
#define GG_PHASES(X)                                                                                                   \
    GG_COMMON_PHASES(X)                                                                                                \
    GG_SPHERE_PHASES(X)                                                                                                \
    GG_COLOURED_PHASES(X)                                                                                              \
    GG_CLUMP_PHASES(X) GG_BELL_PHASES(X) GG_TABLE_PHASES(X) GG_CONTINUUM_PHASES(X) GG_PLANAR_PHASES(X)

typedef enum gg_phase {
#define GG_PHASE_ENUM(name, ...) GG_PHASE_##name,
    GG_PHASES(GG_PHASE_ENUM)
#undef GG_PHASE_ENUM
        GG_PHASE_COUNT
} gg_phase;

/* values of the columns `still` and `sync` */
enum { GG_STILL_COVERS = 0, GG_STILL_SKIPS, GG_STILL_SLICES, GG_STILL_SLOTS };
enum { GG_SYNC_ALONE = 0, GG_SYNC_MEETS, GG_SYNC_REDUCES };

/* how many of the items of an env a phase has to do, by its column `still` */
GG_FN int64_t gg_items_left(const gg_env *env, int still, int64_t items) {
    if (still == GG_STILL_COVERS) {
        return items;
    }
    int64_t slices = env->live_slices, left = still == GG_STILL_SKIPS ? items : slices;
    left = still == GG_STILL_SLOTS ? slices * GG_LANES : left;
    return gg_env_still(env) ? 0 : GG_MIN(left, items);
}

/* the phases that open a step, in order: how tools move decides whether an env sleeps */
#define GG_OPENING_PHASES(X) X(plan_tools) X(watch_tools) X(open_step)

/* conditions that a substep branches on */
typedef enum gg_condition {
    GG_IS_AWAKE,      /* it does not sleep */
    GG_NEEDS_REBUILD, /* its lists must be built */
    GG_HAS_OVERFLOW,  /* a buffer was too small */
    GG_HAS_REST,      /* it has contacts of the last colour */
    GG_HAS_ASLEEP,    /* grains of it sleep, or have just woken */
    GG_INNER_UNDONE,  /* the linear solve or the line search within its solve goes on */
    GG_UNCONVERGED    /* its solve has not met the tolerance */
} gg_condition;

GG_FN int gg_step_condition(const gg_env *env, gg_condition condition) {
    switch (condition) {
    case GG_IS_AWAKE:
        return !env->asleep;
    case GG_NEEDS_REBUILD:
        return env->rebuild && !gg_env_still(env);
    case GG_HAS_OVERFLOW:
        return env->overflow_candidates || env->overflow_rows || env->overflow_tool_contacts || env->overflow_blocks ||
               env->overflow_nodes;
    case GG_HAS_REST:
        return env->rest > 0 && !gg_env_still(env);
    case GG_HAS_ASLEEP:
        return (env->some_asleep || env->kept_changed) && !gg_env_still(env);
    case GG_INNER_UNDONE:
        return env->inner && !env->converged && !gg_env_still(env);
    default:
        return !env->converged && !gg_env_still(env);
    }
}

/* colours that a sweep goes through in an env */
GG_FN int32_t gg_step_colours(const gg_env *env) { return gg_env_still(env) ? 0 : env->colours; }

#endif
