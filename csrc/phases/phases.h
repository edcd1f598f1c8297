/* phases.h: the table of phases: what a step is made of, item by item.
 *
 * A phase is a function of (view, env, item, pass) that writes only what belongs to its item and reads nothing that another
 * item of the same phase writes; so its items can run in any order, on any number of threads, with the same bits.
 * The table gives name, items per env and body. How many items there are follows from sizes alone, as it is asked where the
 * arrays need not be. Backends expand the table into their loops; the order of phases within a substep is step.h's.
 */
#ifndef GG_PHASES_H
#define GG_PHASES_H

#include "../sensors/depth.h"
#include "../solvers/planar/motion.h"
#include "../solvers/planar/springs.h"
#include "../solvers/scalar.h"
#include "../solvers/spheres/motion.h"
#include "access.h"
#include "close.h"
#include "lists.h"
#include "predict.h"
#include "tally.h"
#include "tools.h"

/* largest change of a velocity in slices begin, begin + stride, ... of an env */
GG_FN float gg_solve_residual(const gg_view *v, int64_t e, int64_t begin, int64_t stride) {
    float residual = 0.0f;
    for (int64_t s = begin; s < v->dims.slices; s += stride) {
        residual = gg_maxf(residual, v->slice_stats[e * v->dims.slices + s].residual);
    }
    return residual;
}

/* early exit: stop once no velocity changed by more than the tolerance in this iteration */
GG_FN void gg_solve_check(const gg_view *v, int64_t e, int32_t pass, float residual) {
    v->env[e].iteration = pass + 1;
    v->env[e].converged = v->params.tolerance > 0.0f && residual < v->params.tolerance;
}

/* item: env */
GG_FN void gg_solve_check_env(const gg_view *v, int64_t e, int32_t pass) {
    if (!v->env[e].converged) {
        gg_solve_check(v, e, pass, v->params.tolerance > 0.0f ? gg_solve_residual(v, e, 0, 1) : 0.0f);
    }
}

/* X(name, items per env, skips envs that diverged, body) */
/* clang-format off */
#define GG_PHASES(X)                                                                                                   \
    X(open_step, 1, 0, gg_motion_open_env(v, e))                                                                       \
    X(plan_tools, v->dims.tool_count, 0, gg_motion_plan_tool(v, e, i))                                                 \
    X(pose_parts, v->dims.part_count, 1, gg_motion_pose_part(v, e, i))                                                 \
    X(predict, v->dims.slices, 1, gg_motion_predict_slice(v, e, i))                                                    \
    X(check, 1, 0, gg_motion_check_env(v, e))                                                                          \
    X(fit_cell_grids, 1, 1, gg_sort_fit_env(v, e))                                                                          \
    X(find_cells, v->dims.slots, 1, gg_sort_cell_slot(v, e, i))                                                        \
    X(order, 1, 1, gg_sort_order_env(v, e))                                                                            \
    X(gather, v->dims.slots, 1, gg_sort_gather_slot(v, e, i))                                                          \
    X(scatter, v->dims.slots, 1, gg_sort_scatter_slot(v, e, i))                                                        \
    X(allocate_candidates, 1, 1, gg_sort_allocate_env(v, e))                                                                              \
    X(search, v->dims.slots, 1, gg_scalar_search_slot(v, e, i))                                                        \
    X(close_lists, 1, 1, gg_sort_close_env(v, e))                                                                      \
    X(count_contacts, v->dims.slices, 1, gg_scalar_count_slice(v, e, i))                                               \
    X(allocate_contacts, 1, 1, gg_contacts_allocate_env(v, e))                                                                    \
    X(list_contacts, v->dims.slices, 1, gg_ncp_list_slice(v, e, i))                                                    \
    X(prepare_contacts, v->dims.slices, 1, gg_scalar_prepare_slice(v, e, i))                                           \
    X(iterate, v->dims.slices, 1, gg_scalar_iterate_slice(v, e, i, pass))                                              \
    X(check_convergence, 1, 1, gg_solve_check_env(v, e, pass))                                                         \
    X(project_tools, v->dims.slots, 1, gg_motion_project_tools(v, e, i))                                               \
    X(load_tools, v->dims.slots, 1, gg_motion_load_tools(v, e, i))                                                     \
    X(sum_wrench_blocks, v->dims.load_blocks, 1, gg_motion_wrench_block(v, e, i))                                      \
    X(sum_wrench_tools, v->dims.tool_count, 1, gg_motion_wrench_tool(v, e, i))                                         \
    X(integrate, v->dims.slices, 1, gg_motion_integrate_slice(v, e, i))                                                \
    X(find_manifolds, v->dims.planar_slots, 1, gg_manifold_slot(v, e, i))                                            \
    X(planar_count, v->dims.slices, 1, gg_planar_count_slice(v, e, i))                                                 \
    X(planar_list, v->dims.slices, 1, gg_planar_list_slice(v, e, i))                                                   \
    X(planar_prepare, v->dims.slices, 1, gg_scalar_planar_prepare_slice(v, e, i))                                      \
    X(planar_iterate, v->dims.slices, 1, gg_scalar_planar_iterate_slice(v, e, i, pass))                                \
    X(planar_project_tools, v->dims.slots, 1, gg_planar_project_tools(v, e, i))                                        \
    X(planar_load_tools, v->dims.slots, 1, gg_planar_load_tools(v, e, i))                                              \
    X(planar_integrate, v->dims.slices, 1, gg_planar_integrate_slice(v, e, i))                                         \
    X(penalty_forces, v->dims.slices, 1, gg_penalty_slice(v, e, i))                                                    \
    X(close_substep, 1, 0, gg_motion_close_env(v, e))                                                                  \
    X(roll_back, v->dims.slots, 1, gg_predict_roll_back_slot(v, e, i))                                                    \
    X(rolled_back, 1, 0, gg_predict_rolled_back_env(v, e))                                                                  \
    X(arrive_tools, v->dims.tool_count, 0, gg_motion_arrive_tool(v, e, i))                                             \
    X(sum_boxes, v->dims.blocks, 0, gg_access_box_block(v, e, i, pass))                                                \
    X(read_boxes, 1, 0, gg_access_box_env(v, e, pass))                                                                 \
    X(clear_tally, v->access.tally_bins, 0, gg_tally_clear(v, e, i))                                                   \
    X(tally, 1, 0, gg_tally_env(v, e))                                                                                 \
    X(read_grains, v->dims.grain_count, 0, gg_access_read_grain(v, e, i))                                              \
    X(write_grains, v->dims.grain_count, 0, gg_access_write_grain(v, e, i))                                            \
    X(transform_grains, v->dims.grain_count, 0, gg_access_transform_grain(v, e, i))                                            \
    X(set_masses, v->dims.slots, 0, gg_access_set_mass_slot(v, e, i))                                                          \
    X(invalidate, 1, 0, gg_access_invalidate_env(v, e))                                                                      \
    X(read_wrenches, v->dims.tool_count * 6, 0, gg_access_read_wrench(v, e, i))                                        \
    X(render_depth, v->dims.bands, 0, gg_depth_band(v, e, i))                                                          \
    X(read_depth, v->access.pixel_count, 0, gg_access_read_pixel(v, e, i))
/* clang-format on */

typedef enum gg_phase {
#define GG_PHASE_ENUM(name, count, skip, body) GG_PHASE_##name,
    GG_PHASES(GG_PHASE_ENUM)
#undef GG_PHASE_ENUM
        GG_PHASE_COUNT
} gg_phase;

/* what decides the way of a substep */
typedef enum gg_condition {
    GG_NEEDS_REBUILD, /* must its lists be built? */
    GG_HAS_OVERFLOW,  /* was a buffer too small? */
    GG_UNCONVERGED    /* has its solve not met the tolerance? */
} gg_condition;

GG_FN int gg_step_condition(const gg_env *env, gg_condition question) {
    switch (question) {
    case GG_NEEDS_REBUILD:
        return env->rebuild && !env->stats.diverged;
    case GG_HAS_OVERFLOW:
        return env->overflow_candidates || env->overflow_rows || env->overflow_tool_contacts;
    default:
        return !env->converged;
    }
}

#endif
