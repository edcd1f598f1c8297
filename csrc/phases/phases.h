/* phases.h: the table of phases: what a step is made of, item by item.
 *
 * A phase is a function of (view, env, item, pass) that writes only what belongs to its item and reads nothing that another
 * item of the same phase writes; so its items can run in any order, on any number of threads, with the same bits.
 * The table gives name, items per env and body. Backends expand it into their loops; the order of phases is world.c's.
 */
#ifndef GG_PHASES_H
#define GG_PHASES_H

#include "../sensors/depth.h"
#include "../solvers/ncp_scalar.h"
#include "motion.h"
#include "sorting.h"

/* early exit: stop once no velocity changed by more than the tolerance in this iteration. item: env */
GG_FN void gg_solve_check_env(const gg_view *v, int64_t e, int32_t pass) {
    gg_env *env = &v->env[e];
    if (env->converged) {
        return;
    }
    env->iteration = pass + 1;
    float residual = 0.0f;
    for (int64_t s = 0; s < v->dims.slices; s++) {
        residual = gg_maxf(residual, v->slice_stats[e * v->dims.slices + s].residual);
    }
    env->converged = residual < v->params.tolerance;
}

/* grains of one block in the box of their env. item: block */
GG_FN void gg_box_sum_block(const gg_view *v, int64_t e, int64_t block) {
    const float *box = v->boxes + e * 6;
    gg_box_stats sum;
    sum.distance_sum = sum.count = 0.0;
    int64_t end = GG_MIN((block + 1) * GG_BLOCK, v->dims.grain_count);
    for (int64_t id = block * GG_BLOCK; id < end; id++) {
        gg_vec4 x = v->position[e * v->dims.slots + v->slot_of[e * v->dims.slots + id]];
        gg_vec3 d = gg_v3(gg_maxf(gg_maxf(box[0] - x.x, x.x - box[3]), 0.0f),
                          gg_maxf(gg_maxf(box[1] - x.y, x.y - box[4]), 0.0f),
                          gg_maxf(gg_maxf(box[2] - x.z, x.z - box[5]), 0.0f));
        float distance = gg_norm(d);
        sum.distance_sum += distance;
        sum.count += distance == 0.0f;
    }
    v->box_partial[e * v->dims.blocks + block] = sum;
}

/* X(name, items per env, skips envs that diverged, body) */
/* clang-format off */
#define GG_PHASES(X)                                                                                                   \
    X(open_step, 1, 0, gg_motion_open_env(v, e))                                                                       \
    X(plan_tools, v->dims.tool_count, 0, gg_motion_plan_tool(v, e, i))                                                 \
    X(pose_parts, v->dims.part_count, 1, gg_motion_pose_part(v, e, i))                                                 \
    X(predict, v->dims.slices, 1, gg_motion_predict_slice(v, e, i))                                                    \
    X(check, 1, 0, gg_motion_check_env(v, e))                                                                          \
    X(fit_grids, 1, 1, gg_sort_fit_env(v, e))                                                                          \
    X(find_cells, v->dims.slots, 1, gg_sort_cell_slot(v, e, i))                                                        \
    X(order, 1, 1, gg_sort_order_env(v, e))                                                                            \
    X(gather, v->dims.slots, 1, gg_sort_gather_slot(v, e, i))                                                          \
    X(scatter, v->dims.slots, 1, gg_sort_scatter_slot(v, e, i))                                                        \
    X(room, 1, 1, gg_sort_room_env(v, e))                                                                              \
    X(search, v->dims.slots, 1, gg_sort_search_slot(v, e, i))                                                          \
    X(close_lists, 1, 1, gg_sort_close_env(v, e))                                                                      \
    X(count_contacts, v->dims.slices, 1, gg_scalar_count_slice(v, e, i))                                               \
    X(place_contacts, 1, 1, gg_ncp_place_env(v, e))                                                                    \
    X(list_contacts, v->dims.slices, 1, gg_ncp_list_slice(v, e, i))                                                    \
    X(prepare_contacts, v->dims.slices, 1, gg_scalar_prepare_slice(v, e, i))                                           \
    X(iterate, v->dims.slices, 1, gg_scalar_iterate_slice(v, e, i, pass))                                              \
    X(check_convergence, 1, 1, gg_solve_check_env(v, e, pass))                                                         \
    X(project_tools, v->dims.slots, 1, gg_motion_project_tools(v, e, i))                                               \
    X(sum_wrench_blocks, v->dims.blocks, 1, gg_motion_wrench_block(v, e, i))                                           \
    X(sum_wrench_tools, v->dims.tool_count, 1, gg_motion_wrench_tool(v, e, i))                                         \
    X(integrate, v->dims.slices, 1, gg_motion_integrate_slice(v, e, i))                                                \
    X(close_substep, 1, 0, gg_motion_close_env(v, e))                                                                  \
    X(withdraw, v->dims.slots, 1, gg_motion_withdraw_slot(v, e, i))                                                    \
    X(arrive_tools, v->dims.tool_count, 0, gg_motion_arrive_tool(v, e, i))                                             \
    X(sum_boxes, v->dims.blocks, 0, gg_box_sum_block(v, e, i))                                                         \
    X(render_depth, gg_depth_env_bands(v), 0, gg_depth_band(v, e * gg_depth_env_bands(v) + i))
/* clang-format on */

typedef enum gg_phase {
#define GG_PHASE_ENUM(name, count, skip, body) GG_PHASE_##name,
    GG_PHASES(GG_PHASE_ENUM)
#undef GG_PHASE_ENUM
        GG_PHASE_COUNT
} gg_phase;

#endif
