/* grain_sleep.h: which grains of an env sleep while others move.
 *
 * Classes are decided where the lists are built. A grain moves if it was not quiet in the last substep (gg_quiet_of,
 * solvers/motion.h). It is awake, as are grains with a contact with it, those in the cells around one that must wake,
 * and those in more cells around a fast one. Other grains stay asleep, or fall asleep once they were quiet for
 * GG_QUIET_SUBSTEPS if enough would, for which lists are built in the first substep of a step. Of those asleep, grains in
 * or next to a cell with one that is awake are at the edge: they may be touched. The rest are deep: they come last in
 * the order of slots, and no phase but those that build the lists reads or writes them.
 *
 * A grain at the edge wakes where its imbalance asks for it (solvers/spheres/coloured/asleep.h), and any grain in the
 * step in which a tool that moves comes near it; the grains in the cells around it wake as well. All wake where anything
 * of their env is set from outside. After GG_CALM_STEPS steps in which nothing moved they wake, too, unless nothing has
 * moved since their env slept last: they come to rest together, in balance, and it sleeps as a whole (sleep.h).
 */
#ifndef GG_GRAIN_SLEEP_H
#define GG_GRAIN_SLEEP_H

#include "../contact/cells.h"
#include "../solvers/scalar.h"
#include "../solvers/spheres/coloured/asleep.h"

/* Grains fall asleep where one in so many of those awake would. */
#define GG_LULL_PART 8

/* marks of a cell: it holds a grain that must wake, one that is fast, one that is awake; it is near such a cell */
enum { GG_MARK_WAKES = 1, GG_MARK_FAST = 2, GG_MARK_AWAKE = 4, GG_MARK_STIRRED = 8, GG_MARK_NEAR_AWAKE = 16 };

/* cells around one that is marked: around a fast grain more than it can shake before the lists are built again */
enum { GG_NEAR = 1, GG_NEAR_FAST = 3 };

/* way of a fast grain in a substep, over its radius */
#define GG_FAST_WAY 0.25f

/* the cells that are marked: those of the largest size class, so that grains that may touch are in neighbouring ones */
GG_FN const gg_cell_grid *gg_marked_grid(const gg_view *v, int64_t e) {
    return &v->env[e].cell_grid[v->params.size_class_count - 1];
}
GG_FN int32_t gg_marked_cells(const gg_cell_grid *g) { return g->count[0] * g->count[1] * g->count[2]; }

/* marks of these cells, in an array that is idle until the grains are sorted */
GG_FN int32_t *gg_cell_marks(const gg_view *v, int64_t e) {
    return v->cell_first + e * (v->dims.cells + 1) + gg_marked_grid(v, e)->first_cell;
}

/* a grain that stays awake, or wakes; many threads may say so */
GG_FN void gg_sleep_stir(int32_t *next_class) {
#if defined(__CUDA_ARCH__) || defined(GG_CUDA_EMULATED)
    atomicExch(next_class, GG_AWAKE);
#else
    *next_class = GG_AWAKE;
#endif
}

GG_FN void gg_mark(int32_t *marks, int32_t mark) {
#if defined(__CUDA_ARCH__) || defined(GG_CUDA_EMULATED)
    atomicOr(marks, mark);
#else
    *marks |= mark;
#endif
}

/* the cell `away` from c along an axis, -1: there is none; a folded axis wraps around */
GG_FN int32_t gg_cell_beside(const gg_cell_grid *g, int axis, int32_t c, int32_t away) {
    int32_t n = g->count[axis], at = c + away;
    if (g->folds[axis]) {
        at %= n;
        return at < 0 ? at + n : at;
    }
    return at < n ? at : -1;
}

/* where a cell has one mark, gives another to the cells up to `reach` away from it */
GG_FN void gg_mark_near(const gg_view *v, int64_t e, int32_t cell, int32_t mark, int32_t near, int32_t reach) {
    const gg_cell_grid *g = gg_marked_grid(v, e);
    int32_t *marks = gg_cell_marks(v, e), n0 = g->count[g->axis[0]], n1 = g->count[g->axis[1]];
    if (!(marks[cell] & mark)) {
        return;
    }
    for (int32_t a2 = -reach; a2 <= reach; a2++) {
        int32_t c2 = gg_cell_beside(g, g->axis[2], cell / n0 / n1, a2);
        for (int32_t a1 = -reach; c2 >= 0 && a1 <= reach; a1++) {
            int32_t c1 = gg_cell_beside(g, g->axis[1], cell / n0 % n1, a1);
            for (int32_t a0 = -reach; c1 >= 0 && a0 <= reach; a0++) {
                int32_t c0 = gg_cell_beside(g, g->axis[0], cell % n0, a0);
                if (c0 >= 0) {
                    gg_mark(&marks[(c2 * n1 + c1) * n0 + c0], near);
                }
            }
        }
    }
}

/* near grains that must wake, or are fast */
GG_FN void gg_mark_stirred(const gg_view *v, int64_t e, int32_t cell) {
    gg_mark_near(v, e, cell, GG_MARK_WAKES, GG_MARK_STIRRED, GG_NEAR);
    gg_mark_near(v, e, cell, GG_MARK_FAST, GG_MARK_STIRRED, GG_NEAR_FAST);
}

/* Whether grains of an env may fall asleep: enough would, and their stored impulses are those of this dt. Those that
 * what moves near them kept awake last do not count while anything moves. */
GG_FN int gg_sleep_lulls(const gg_view *v, int64_t e) {
    const gg_env *env = &v->env[e];
    int32_t would = env->drowsy - (env->moving ? env->drowsy_kept : 0);
    return env->watched && would * GG_LULL_PART > env->awake && env->dt_last == v->params.dt;
}

/* whether classes are decided when the lists of an env are built now */
GG_FN int gg_sleep_chooses(const gg_view *v, int64_t e) {
    const gg_env *env = &v->env[e];
    return env->rebuild && !env->reclassed && (env->some_asleep || gg_sleep_lulls(v, e));
}

/* Four passes over the slots. The first finds the cell of slot i, marks it, and tells whether its grain moves: it was not
 * quiet, or owns more contacts than are kept. After it gg_mark_stirred passes over the cells. */
GG_FN void gg_sleep_find(const gg_view *v, int64_t e, int64_t i) {
    const gg_cell_grid *g = gg_marked_grid(v, e);
    int64_t at = e * v->dims.slots + i, id = e * v->dims.sleep.slots + v->grain_id[at];
    v->cell[at] = gg_cell_of(g, v->env[e].origin, v->position[at]) - g->first_cell;
    v->moves[id] = v->quiet[id] <= 0 || v->contact_count[at] + v->kept_count[id] > GG_KEPT;
    v->next_class[id] = v->moves[id] ? GG_AWAKE : GG_DEEP;
    if (v->quiet[id] <= 0) {
        const float *body = gg_slot_body_at(v, e, i);
        float way = v->params.dt * gg_norm(gg_v3(body[0], body[1], body[2]));
        int fast = way > GG_FAST_WAY * v->position[at].w;
        int wakes = v->quiet[id] == GG_MUST_WAKE || (v->quiet[id] < 0 && v->sleep_class[id] != GG_AWAKE);
        int mark = (wakes ? GG_MARK_WAKES : 0) | (fast ? GG_MARK_FAST : 0);
        if (mark) {
            gg_mark(&gg_cell_marks(v, e)[v->cell[at]], mark);
        }
    }
}

/* The second finds the grains that touch one that moves, by the contacts of the last substep. */
GG_FN void gg_sleep_touch(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, id = v->grain_id[at];
    int32_t *next = v->next_class + e * v->dims.sleep.slots, *moves = v->moves + e * v->dims.sleep.slots;
    for (int32_t k = 0; k < v->contact_count[at]; k++) {
        int32_t key = gg_stored_contact_at(v, e, at, k).key;
        if (key >= 0 && moves[id] != moves[key]) {
            gg_sleep_stir(&next[moves[id] ? key : id]);
        }
    }
}

/* The third decides whether a grain is awake. */
GG_FN void gg_sleep_part(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i, id = e * v->dims.sleep.slots + v->grain_id[at];
    const gg_env *env = &v->env[e];
    int32_t *mark = &gg_cell_marks(v, e)[v->cell[at]];
    int may_sleep = v->sleep_class[id] != GG_AWAKE || (v->quiet[id] == GG_QUIET_SUBSTEPS && gg_sleep_lulls(v, e));
    if (env->roused || !may_sleep || *mark & GG_MARK_STIRRED) {
        v->next_class[id] = GG_AWAKE;
    }
    if (v->next_class[id] == GG_AWAKE) {
        gg_mark(mark, GG_MARK_AWAKE);
    }
}

/* The fourth tells edge and deep. */
GG_FN void gg_sleep_place(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    int32_t *next = &v->next_class[e * v->dims.sleep.slots + v->grain_id[at]];
    if (*next != GG_AWAKE) {
        *next = gg_cell_marks(v, e)[v->cell[at]] & GG_MARK_NEAR_AWAKE ? GG_EDGE : GG_DEEP;
    }
}

/* whether the grain in slot i stays awake though it has been quiet for long */
GG_FN int gg_sleep_drowsy(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = e * v->dims.sleep.slots + v->grain_id[e * v->dims.slots + i];
    return v->next_class[id] == GG_AWAKE && v->quiet[id] >= GG_QUIET_SUBSTEPS;
}

/* completes the choice for `awake` grains, `live` that are not deep, and those awake that might have slept */
GG_FN void gg_sleep_chosen(const gg_view *v, int64_t e, int32_t awake, int32_t live, int32_t drowsy) {
    gg_env *env = &v->env[e];
    env->drowsy_kept = gg_sleep_lulls(v, e) ? drowsy : env->drowsy_kept;
    env->awake = awake;
    env->some_asleep = awake < v->dims.grain_count;
    env->live_before = env->live_slices;
    env->live_slices = (int32_t)((live + GG_LANES - 1) / GG_LANES);
    env->reclassed = env->kept_changed = 1;
    env->roused = 0;
}

/* Decides who sleeps. item: env */
GG_FN void gg_sleep_choose_env(const gg_view *v, int64_t e) {
    if (!gg_sleep_chooses(v, e)) {
        return;
    }
    int32_t cells = gg_marked_cells(gg_marked_grid(v, e)), *marks = gg_cell_marks(v, e), awake = 0, live = 0,
            drowsy = 0;
    int64_t n = v->dims.grain_count;
    for (int32_t c = 0; c < cells; c++) {
        marks[c] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        gg_sleep_find(v, e, i);
    }
    for (int32_t c = 0; c < cells; c++) {
        gg_mark_stirred(v, e, c);
    }
    for (int64_t i = 0; i < n; i++) {
        gg_sleep_touch(v, e, i);
    }
    for (int64_t i = 0; i < n; i++) {
        gg_sleep_part(v, e, i);
    }
    for (int32_t c = 0; c < cells; c++) {
        gg_mark_near(v, e, c, GG_MARK_AWAKE, GG_MARK_NEAR_AWAKE, GG_NEAR);
    }
    for (int64_t i = 0; i < n; i++) {
        gg_sleep_place(v, e, i);
        int32_t next = v->next_class[e * v->dims.sleep.slots + v->grain_id[e * v->dims.slots + i]];
        awake += next == GG_AWAKE;
        live += next != GG_DEEP;
        drowsy += gg_sleep_drowsy(v, e, i);
    }
    gg_sleep_chosen(v, e, awake, live, drowsy);
}

/* Lets the grain in slot i, which falls asleep at the edge, start into this substep from rest: gravity alone moves it. What
 * a rollback of the substep gives back stays as prediction noted it. */
GG_FN void gg_sleep_predict_at_rest(const gg_view *v, int64_t e, int64_t i) {
    int64_t id = e * v->dims.slots + v->grain_id[e * v->dims.slots + i];
    float *note = gg_before_prediction(v, e) + v->grain_id[e * v->dims.slots + i] * 6, noted[6];
    gg_prediction ignored = GG_ZERO;
    for (int k = 0; k < 6; k++) {
        noted[k] = note[k];
        gg_slot_body_at(v, e, i)[k + k / 3] = 0.0f;
    }
    for (int k = 0; k < 3; k++) {
        v->velocity_error[id * 3 + k] = 0.0f;
    }
    gg_scalar_predict_lanes(v, e, i, &ignored);
    for (int k = 0; k < 6; k++) {
        note[k] = noted[k];
    }
}

/* Gives a grain its class: keeps contacts where both sides sleep, and starts a grain that was deep into this substep as
 * prediction started the others. item: slot */
GG_FN void gg_sleep_enter_slot(const gg_view *v, int64_t e, int64_t i) {
    int64_t at = e * v->dims.slots + i;
    if (!v->env[e].rebuild || !v->env[e].reclassed || v->grain_id[at] < 0) {
        return;
    }
    int64_t id = e * v->dims.sleep.slots + v->grain_id[at];
    int32_t last = v->sleep_class[id], next = v->next_class[id];
    int predicted = i < (int64_t)v->env[e].live_before * GG_LANES;
    if (last == GG_DEEP && next == GG_DEEP && !predicted) {
        return;
    }
    if (last == GG_DEEP && next != GG_DEEP && !predicted) {
        gg_prediction ignored = GG_ZERO;
        gg_scalar_predict_lanes(v, e, i, &ignored);
    }
    for (int k = 0; last == GG_AWAKE && next != GG_AWAKE && k < 12; k++) {
        v->held[id * 12 + k] = 0.0f;
    }
    if (last == GG_AWAKE && next == GG_EDGE) {
        gg_sleep_predict_at_rest(v, e, i);
    }
    if (next != GG_AWAKE) {
        gg_kept_store(v, e, i);
    }
    if (next == GG_DEEP) {
        v->contact_count[at] = v->tool_contact_count[at] = 0;
        for (int k = 0; k < 6; k++) {
            gg_slot_body_at(v, e, i)[k + k / 3] = 0.0f;
        }
    }
    if (v->quiet[id] != GG_NEAR_TOOL && (v->quiet[id] < 0 || (last != GG_AWAKE && next == GG_AWAKE))) {
        v->quiet[id] = 0;
    }
    v->sleep_class[id] = next;
}

/* whether it matters in this step where tools move */
GG_FN int gg_sleep_watches(const gg_view *v, int64_t e) {
    const gg_env *env = &v->env[e];
    return v->params.sleep && (env->rested > 0 || env->some_asleep || env->drowsy > 0);
}

/* steps in a row in which nothing moves before all wake, to come to rest in balance */
#define GG_CALM_STEPS 10

/* Before the first substep of a step: whether grains shall fall asleep, or must all wake. disturbed: see
 * gg_sleep_watch_slice */
GG_FN void gg_sleep_lull(const gg_view *v, int64_t e, int disturbed) {
    gg_env *env = &v->env[e];
    if (!v->dims.sleep.slots) {
        return;
    }
    env->watched = gg_sleep_watches(v, e);
    env->calm = disturbed || env->moving ? 0 : GG_MIN(env->calm + 1, GG_CALM_STEPS);
    int alike = v->params.grain_sleep && env->dt_last == v->params.dt,
        settles = env->calm == GG_CALM_STEPS && env->unsettled;
    env->roused = env->some_asleep && (env->roused || !alike || settles);
    env->rebuild |= env->roused || (!settles && gg_sleep_lulls(v, e)) || disturbed & 2;
}

/* At the end of a step, and of so many substeps in it, lists are built for grains that must wake and can wait, too. */
#define GG_WAKE_EVERY 4

/* At the end of a substep: whether grains must wake, which they do in the next one. */
GG_FN void gg_sleep_close(const gg_view *v, int64_t e, int32_t drowsy, int32_t moving, int32_t woken) {
    gg_env *env = &v->env[e];
    env->reclassed = 0;
    env->drowsy = v->params.grain_sleep ? drowsy : 0;
    env->moving = v->params.grain_sleep ? moving : 0;
    int turn = env->substeps_done % GG_WAKE_EVERY == 0 || env->substeps_done >= v->params.substeps;
    int waits = !(woken & GG_WAKES_NOW) && !turn;
    env->rebuild |= env->some_asleep && woken && !waits;
    env->unsettled |= env->moving > 0 || (env->some_asleep && woken);
}

#endif
