/* tools.h: dynamic tools in the solve of continuous matter: their twists are unknowns beside the velocities of the nodes.
 *
 * The twists V of an env's tools, stacked, are V* before contact and change by A p where impulses p act on them. A is
 * 1 / mass along the free axes of a tool with a mass, the inverse inertia of one that turns, and the response of coupled
 * tools (solvers/dynamic_tools.h): symmetric, positive semi-definite, 0 where a tool is held. With A = R R^T and
 *
 *     V = V* + R y
 *
 * their inertia adds |y|^2 / 2 to the objective: nothing is divided by an inverse mass of 0. A stop adds the potential of
 * a spring so stiff that what is left of the way beyond it does not matter; the tool is then put where its stop is.
 * Contacts are summed by block, blocks in their order. The Hessian of y, dense and small, is factored for every step of
 * Newton's method; its factor is the preconditioner of these unknowns.
 */
#ifndef GG_CONTINUUM_TOOLS_H
#define GG_CONTINUUM_TOOLS_H

#include "../../base/cholesky.h"
#include "../dynamic_tools.h"
#include "displaced.h"

/* a row of A that is a combination of those before it but for this share adds no unknown */
#define GG_CONTINUUM_RANK 1e-10
/* stiffness of a stop, as an impulse per velocity, over the mass of its tool */
#define GG_CONTINUUM_STOP 1e6

GG_FN double *gg_twist(const gg_view *v, int64_t e, gg_twist_vector which) {
    return v->continuum_twist + (e * GG_TWIST_VECTORS + which) * v->dims.continuum.twists;
}
/* R^T, upper triangular; 0 below */
GG_FN double *gg_twist_root(const gg_view *v, int64_t e) {
    return v->continuum_root + e * v->dims.continuum.twists * v->dims.continuum.twists;
}
GG_FN double *gg_twist_factor(const gg_view *v, int64_t e) {
    return v->continuum_factor + e * v->dims.continuum.twists * v->dims.continuum.twists;
}
GG_FN gg_continuum_tool_sum *gg_block_tools(const gg_view *v, int64_t e, int64_t block) {
    return v->continuum_tool_sum + (e * v->dims.continuum.tool_blocks + block) * v->dims.continuum.tools;
}

/* index of a tool in the solve; -1: it follows its targets */
GG_FN int32_t gg_continuum_tool(const gg_view *v, int32_t tool) {
    return gg_tool_dynamic(v, tool) ? tool - GG_WALL_COUNT : -1;
}

/* element (r, c) of A */
GG_FN double gg_twist_inverse_mass(const gg_view *v, int64_t e, int64_t r, int64_t c) {
    int64_t a = GG_WALL_COUNT + r / 6, b = GG_WALL_COUNT + c / 6;
    int row = (int)(r % 6), column = (int)(c % 6);
    if (gg_tool_coupled(v, a) && gg_tool_coupled(v, b)) {
        return gg_coupled_response_at(v, e, gg_coupled_index(v, a), row, gg_coupled_index(v, b), column);
    }
    if (row >= 3 && column >= 3 && a == b && gg_tool_turns(v, a)) {
        double own[3];
        gg_sym_row(gg_sym_inverse(gg_tool_inertia(v, e, a)), row - 3, own);
        return own[column - 3];
    }
    return r == c && row < 3 ? gg_tool_inverse_mass(v, &v->tool_mass[a], row) : 0.0;
}

/* component k of the twist of a tool before contact */
GG_FN double gg_twist_start(const gg_view *v, int64_t e, int64_t tool, int k) {
    if (gg_tool_coupled(v, tool)) {
        return gg_coupled_start(v, e, tool, k);
    }
    if (!gg_tool_dynamic(v, tool)) {
        return 0.0;
    }
    double spin[3];
    if (k >= 3 && gg_tool_turns(v, tool)) {
        gg_tool_start_spin(v, e, tool, spin);
        return spin[k - 3];
    }
    return k < 3 ? gg_tool_start(v, e, tool, k) : (double)gg_axis_of(gg_tool_predicted_spin(v, e, tool), k - 3);
}

/* the same at the start of the substep, as the steps before left it */
GG_FN double gg_twist_before(const gg_view *v, int64_t e, int64_t tool, int k) {
    int64_t at = e * v->dims.tool_count + tool;
    if (!v->tool_active[at] || !gg_tool_dynamic(v, tool)) {
        return 0.0;
    }
    if (gg_tool_coupled(v, tool)) {
        return gg_coupled_motion_of(v, e, tool)->twist[k];
    }
    return k < 3 ? v->tool_body[at].velocity[k] : gg_tool_turns(v, tool) ? v->tool_turn[at].spin[k - 3] : 0.0;
}

/* out = R y */
GG_FN void gg_twist_of(const gg_view *v, int64_t e, const double *y, double *out) {
    int64_t n = v->dims.continuum.twists;
    const double *root = gg_twist_root(v, e);
    GG_ROLLED
    for (int64_t r = 0; r < n; r++) {
        out[r] = 0.0;
        GG_ROLLED
        for (int64_t k = 0; k <= r; k++) {
            out[r] += root[k * n + r] * y[k];
        }
    }
}

/* element r of R^T p */
GG_FN double gg_twist_pulled(const gg_view *v, int64_t e, int64_t r, const double *p) {
    int64_t n = v->dims.continuum.twists;
    const double *row = gg_twist_root(v, e) + r * n;
    double sum = 0.0;
    GG_ROLLED
    for (int64_t c = r; c < n; c++) {
        sum += row[c] * p[c];
    }
    return sum;
}

GG_FN double gg_twist_dot(const gg_view *v, int64_t e, gg_twist_vector a, gg_twist_vector b) {
    const double *one = gg_twist(v, e, a), *other = gg_twist(v, e, b);
    double sum = 0.0;
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        sum += one[r] * other[r];
    }
    return sum;
}

/* the twists of the iterate */
GG_FN void gg_twists_update(const gg_view *v, int64_t e) {
    double *velocity = gg_twist(v, e, GG_TWIST_VELOCITY);
    const double *start = gg_twist(v, e, GG_TWIST_START);
    gg_twist_of(v, e, gg_twist(v, e, GG_TWIST_ITERATE), velocity);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        velocity[r] += start[r];
    }
}

/* The first iterate is the motion of the tools as the steps before left it: at rest, contacts carry the load of gravity
 * and forces again. Solves R y = V - V* row by row; rows that add no unknown are left as they come. */
GG_FN void gg_twists_begin(const gg_view *v, int64_t e) {
    int64_t n = v->dims.continuum.twists;
    const double *root = gg_twist_root(v, e), *start = gg_twist(v, e, GG_TWIST_START);
    double *y = gg_twist(v, e, GG_TWIST_ITERATE);
    GG_ROLLED
    for (int64_t r = 0; r < n; r++) {
        double left = gg_twist_before(v, e, GG_WALL_COUNT + r / 6, (int)(r % 6)) - start[r];
        GG_ROLLED
        for (int64_t k = 0; k < r; k++) {
            left -= root[k * n + r] * y[k];
        }
        y[r] = root[r * n + r] > 0.0 ? left / root[r * n + r] : 0.0;
    }
    gg_twists_update(v, e);
}

/* Opens the tools of an env for a substep. */
GG_FN void gg_twists_open(const gg_view *v, int64_t e) {
    int64_t n = v->dims.continuum.twists;
    double *root = gg_twist_root(v, e);
    GG_ROLLED
    for (int64_t r = 0; r < n; r++) {
        gg_twist(v, e, GG_TWIST_START)[r] = gg_twist_start(v, e, GG_WALL_COUNT + r / 6, (int)(r % 6));
        GG_ROLLED
        for (int64_t c = 0; c < n; c++) {
            root[r * n + c] = c < r ? 0.0 : gg_twist_inverse_mass(v, e, r, c);
        }
    }
    gg_cholesky_factor(root, n, GG_CONTINUUM_RANK);
    gg_twists_begin(v, e);
}

/* velocity of a tool with this twist where a contact is */
GG_FN void gg_contact_surface(const gg_continuum_contact *c, const double twist[6], double out[3]) {
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = twist[k] + twist[3 + a] * c->arm[b] - twist[3 + b] * c->arm[a];
    }
}

/* takes the motion of a contact's tool, one of `twists`, from that of its particle */
GG_FN void gg_contact_less_tool(const gg_continuum_contact *c, const double *twists, double u[3]) {
    double surface[3];
    if (c->tool < 0) {
        return;
    }
    gg_contact_surface(c, twists + 6 * (int64_t)c->tool, surface);
    for (int k = 0; k < 3; k++) {
        u[k] -= surface[k];
    }
}

/* an impulse at a contact, and its moment about the tool's origin */
GG_FN void gg_contact_moment(const gg_continuum_contact *c, const double p[3], double out[6]) {
    const double *r = c->arm;
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        out[k] = p[k];
        out[3 + k] = r[a] * p[b] - r[b] * p[a];
    }
}

/* adds how the impulse of a contact changes with the twist of its tool */
GG_FN void gg_tool_sum_stiffen(gg_continuum_tool_sum *sum, const gg_continuum_contact *c) {
    GG_ROLLED
    for (int column = 0; column < 6; column++) {
        double unit[6] = {0.0}, moved[3], push[3], moment[6];
        unit[column] = 1.0;
        gg_contact_surface(c, unit, moved);
        gg_sym_mul(c->tangent, moved, push);
        gg_contact_moment(c, push, moment);
        for (int row = 0; row <= column; row++) {
            sum->tangent[row * (11 - row) / 2 + column] += moment[row];
        }
    }
}

/* Sums over the contacts of a block with a dynamic tool, in the order of particles: of the impulses of the iterate, and how
 * these change with the twist; or, with `along`, of what contact->along holds. */
GG_FN void gg_block_sum_tool(const gg_view *v, int64_t e, int64_t b, int32_t tool, int along) {
    const gg_continuum_block *block = gg_continuum_block_of(v, e, b);
    gg_continuum_tool_sum sum = GG_ZERO;
    GG_ROLLED
    for (int32_t k = block->first; k < block->first + block->count; k++) {
        const gg_continuum_point *p = &gg_continuum_points(v, e)[k];
        GG_ROLLED
        for (int32_t n = 0; n < p->contact_count; n++) {
            const gg_continuum_contact *c = &gg_continuum_contacts(v, e)[p->contact + n];
            double moment[6];
            if (c->tool != tool) {
                continue;
            }
            gg_contact_moment(c, along ? c->along : c->impulse, moment);
            for (int i = 0; i < 6; i++) {
                sum.impulse[i] += moment[i];
            }
            if (!along && !gg_continuum_explicit(v)) {
                gg_tool_sum_stiffen(&sum, c);
            }
        }
    }
    gg_block_tools(v, e, b)[tool] = sum;
}
GG_FN void gg_block_sum_tools(const gg_view *v, int64_t e, int64_t b, int along) {
    GG_ROLLED
    for (int32_t tool = 0; gg_continuum_block_of(v, e, b)->dynamic && tool < v->dims.continuum.tools; tool++) {
        gg_block_sum_tool(v, e, b, tool, along);
    }
}

/* sum of component k of the impulses of a tool's contacts over the blocks of an env */
GG_FN double gg_twist_impulse(const gg_view *v, int64_t e, int64_t r) {
    double sum = 0.0;
    GG_ROLLED
    for (int64_t b = 0; b < gg_continuum_env_of(v, e)->blocks; b++) {
        if (gg_continuum_block_of(v, e, b)->dynamic) {
            sum += gg_block_tools(v, e, b)[r / 6].impulse[r % 6];
        }
    }
    return sum;
}

/* how far a velocity is beyond what a stop allows; stiffness: of the stop, 0 where it is not beyond */
GG_FN double gg_twist_beyond(const gg_view *v, int64_t e, int64_t r, double velocity, double *stiffness) {
    int64_t tool = GG_WALL_COUNT + r / 6;
    *stiffness = 0.0;
    if (r % 6 >= 3 || gg_tool_coupled(v, tool) || !gg_tool_dynamic(v, tool)) {
        return 0.0;
    }
    double beyond = velocity - gg_tool_stopped(v, e, tool, (int)(r % 6), velocity);
    *stiffness = beyond != 0.0 ? GG_CONTINUUM_STOP * (double)v->tool_mass[tool].mass : 0.0;
    return beyond;
}

/* A's share of the Delassus operator of a contact: the mean over directions of how it yields there [1/kg] */
GG_FN double gg_contact_yield(const gg_view *v, int64_t e, const gg_continuum_contact *c) {
    int64_t n = v->dims.continuum.twists, first = 6 * (int64_t)c->tool;
    double sum = 0.0;
    GG_ROLLED
    for (int axis = 0; c->tool >= 0 && axis < 3; axis++) {
        double unit[3] = {0.0}, moment[6];
        unit[axis] = 1.0;
        gg_contact_moment(c, unit, moment);
        GG_ROLLED
        for (int64_t r = 0; r < first + 6; r++) {
            double pulled = 0.0;
            for (int k = 0; k < 6; k++) {
                pulled += gg_twist_root(v, e)[r * n + first + k] * moment[k];
            }
            sum += pulled * pulled;
        }
    }
    return sum / 3.0;
}

/* The residual of the tools at the iterate. Adds their inertia to sum.of[0], the square of the residual to sum.of[1], and
 * the potential of stops to *cost. */
GG_FN void gg_twists_judge(const gg_view *v, int64_t e, gg_continuum_sum *sum, double *cost) {
    double *p = gg_twist(v, e, GG_TWIST_IMAGE), *residual = gg_twist(v, e, GG_TWIST_RESIDUAL);
    const double *y = gg_twist(v, e, GG_TWIST_ITERATE), *velocity = gg_twist(v, e, GG_TWIST_VELOCITY);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        double stiffness, beyond = gg_twist_beyond(v, e, r, velocity[r], &stiffness);
        p[r] = gg_twist_impulse(v, e, r) + gg_displaced_impulse(v, e, r) + stiffness * beyond;
        *cost += 0.5 * stiffness * beyond * beyond;
    }
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        residual[r] = -y[r] - gg_twist_pulled(v, e, r, p);
        sum->of[0] += 0.5 * y[r] * y[r];
        sum->of[1] += residual[r] * residual[r];
    }
}

/* adds R^T S R of a tool, its contacts and stops, to the upper triangle of the Hessian */
GG_FN void gg_twists_stiffen(const gg_view *v, int64_t e, int64_t tool) {
    int64_t n = v->dims.continuum.twists, first = 6 * tool;
    const double *root = gg_twist_root(v, e) + first, *velocity = gg_twist(v, e, GG_TWIST_VELOCITY) + first;
    double *hessian = gg_twist_factor(v, e), s[6][6];
    GG_ROLLED
    for (int k = 0; k < 36; k++) {
        int row = k / 6, column = k % 6, low = GG_MIN(row, column), high = GG_MAX(row, column);
        double stiffness = 0.0;
        if (row == column) {
            gg_twist_beyond(v, e, first + row, velocity[row], &stiffness);
        }
        s[row][column] = stiffness + gg_displaced_tangent(v, e, tool, low * (11 - low) / 2 + high);
        GG_ROLLED
        for (int64_t b = 0; b < gg_continuum_env_of(v, e)->blocks; b++) {
            if (gg_continuum_block_of(v, e, b)->dynamic) {
                s[row][column] += gg_block_tools(v, e, b)[tool].tangent[low * (11 - low) / 2 + high];
            }
        }
    }
    GG_ROLLED
    for (int64_t j = 0; j < first + 6; j++) {
        double pushed[6];
        GG_ROLLED
        for (int a = 0; a < 6; a++) {
            pushed[a] = 0.0;
            for (int c = 0; c < 6; c++) {
                pushed[a] += s[a][c] * root[j * n + c];
            }
        }
        GG_ROLLED
        for (int64_t i = 0; i <= j; i++) {
            for (int a = 0; a < 6; a++) {
                hessian[i * n + j] += root[i * n + a] * pushed[a];
            }
        }
    }
}

/* out = the inverse of the tools' Hessian times their residual */
GG_FN void gg_twists_precondition(const gg_view *v, int64_t e, double *out) {
    int64_t n = v->dims.continuum.twists;
    GG_ROLLED
    for (int64_t r = 0; r < n; r++) {
        out[r] = gg_twist(v, e, GG_TWIST_RESIDUAL)[r];
    }
    gg_cholesky_forward(gg_twist_factor(v, e), n, out, 1);
    gg_cholesky_backward(gg_twist_factor(v, e), n, out);
}

/* Opens a linear solve: the Hessian and its factor, the first direction. Returns residual . direction. */
GG_FN double gg_twists_start(const gg_view *v, int64_t e) {
    int64_t n = v->dims.continuum.twists;
    double *hessian = gg_twist_factor(v, e);
    GG_ROLLED
    for (int64_t k = 0; k < n * n; k++) {
        hessian[k] = k / n == k % n ? 1.0 : 0.0;
    }
    GG_ROLLED
    for (int64_t tool = 0; tool < v->dims.continuum.tools; tool++) {
        gg_twists_stiffen(v, e, tool);
    }
    gg_cholesky_factor(hessian, n, 0.0);
    GG_ROLLED
    for (int64_t r = 0; r < n; r++) {
        gg_twist(v, e, GG_TWIST_STEP)[r] = 0.0;
    }
    gg_twists_precondition(v, e, gg_twist(v, e, GG_TWIST_WAY));
    gg_twist_of(v, e, gg_twist(v, e, GG_TWIST_WAY), gg_twist(v, e, GG_TWIST_ALONG));
    return gg_twist_dot(v, e, GG_TWIST_RESIDUAL, GG_TWIST_WAY);
}

/* the image of the direction; returns their product */
GG_FN double gg_twists_image(const gg_view *v, int64_t e) {
    double *p = gg_twist(v, e, GG_TWIST_IMAGE);
    const double *way = gg_twist(v, e, GG_TWIST_WAY), *along = gg_twist(v, e, GG_TWIST_ALONG);
    const double *velocity = gg_twist(v, e, GG_TWIST_VELOCITY);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        double stiffness;
        gg_twist_beyond(v, e, r, velocity[r], &stiffness);
        p[r] = stiffness * along[r] - gg_twist_impulse(v, e, r) + gg_displaced_impulse(v, e, r);
    }
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        p[r] = way[r] + gg_twist_pulled(v, e, r, p); /* reads p from r on */
    }
    return gg_twist_dot(v, e, GG_TWIST_WAY, GG_TWIST_IMAGE);
}

/* goes along the direction; the image becomes the preconditioned residual. Returns residual . image. */
GG_FN double gg_twists_step(const gg_view *v, int64_t e, double length) {
    double *image = gg_twist(v, e, GG_TWIST_IMAGE);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        gg_twist(v, e, GG_TWIST_RESIDUAL)[r] -= length * image[r];
        gg_twist(v, e, GG_TWIST_STEP)[r] += length * gg_twist(v, e, GG_TWIST_WAY)[r];
    }
    gg_twists_precondition(v, e, image);
    return gg_twist_dot(v, e, GG_TWIST_RESIDUAL, GG_TWIST_IMAGE);
}

/* the next direction, or where there is none the solution along which the line search goes */
GG_FN void gg_twists_turn(const gg_view *v, int64_t e, double blend, int on) {
    double *way = gg_twist(v, e, GG_TWIST_WAY);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        way[r] = gg_twist(v, e, GG_TWIST_IMAGE)[r] + blend * way[r];
    }
    gg_twist_of(v, e, gg_twist(v, e, on ? GG_TWIST_WAY : GG_TWIST_STEP), gg_twist(v, e, GG_TWIST_ALONG));
}

/* adds what stops do to the slope of the objective at a length of the step, and to its rise */
GG_FN void gg_twists_try(const gg_view *v, int64_t e, double length, double *slope, double *rise) {
    const double *velocity = gg_twist(v, e, GG_TWIST_VELOCITY), *along = gg_twist(v, e, GG_TWIST_ALONG);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        double stiffness, beyond = gg_twist_beyond(v, e, r, velocity[r] + length * along[r], &stiffness);
        *slope += stiffness * beyond * along[r];
        *rise += stiffness * along[r] * along[r];
    }
}

/* goes along the step */
GG_FN void gg_twists_advance(const gg_view *v, int64_t e, double length) {
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        gg_twist(v, e, GG_TWIST_ITERATE)[r] += length * gg_twist(v, e, GG_TWIST_STEP)[r];
    }
    gg_twists_update(v, e);
}

/* the twists after the impulses of all contacts: V = V* - A p */
GG_FN void gg_twists_push(const gg_view *v, int64_t e) {
    double *p = gg_twist(v, e, GG_TWIST_IMAGE), *y = gg_twist(v, e, GG_TWIST_ITERATE);
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        p[r] = gg_twist_impulse(v, e, r);
    }
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        y[r] = -gg_twist_pulled(v, e, r, p);
    }
    gg_twists_update(v, e);
}

/* what the solve found, for those who move tools */
GG_FN void gg_twists_close(const gg_view *v, int64_t e) {
    GG_ROLLED
    for (int64_t r = 0; r < v->dims.continuum.twists; r++) {
        gg_tool_solve *s = &v->tool_solve[e * v->dims.tool_count + GG_WALL_COUNT + r / 6], none = GG_ZERO;
        if (r % 6 == 0) {
            *s = none;
        }
        s->velocity[r % 6] = gg_twist(v, e, GG_TWIST_VELOCITY)[r];
    }
}

#endif
