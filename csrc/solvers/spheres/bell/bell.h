/* bell.h: the law of Bell, Yu and Mucha, Particle-based simulation of granular materials (SCA 2005), section 2: contacts
 * are forces that depend on the present positions and velocities alone.
 *
 * Two spheres of overlap x, whose surfaces approach by v and slide by v_t at the contact, push each other apart by
 *
 *     f = k_r x^b + k_d x^a v              a = 1/2, b = 3/2: the Hertz contact with viscous damping
 *     f_t = min(mu f, k_t |v_t|)           against v_t
 *
 * k_r is given, or follows from the elastic moduli: 4/3 E sqrt(R), 1/E = sum (1 - nu^2) / E_i, 1/R = sum 1 / R_i. A tool
 * is a body without curvature (R: that of the sphere).
 *
 * f < 0: the paper cuts nothing off. A damped contact that opens fast enough is held back until its overlap is gone, and
 * so it is here; with that the restitution of the linear law (a = 0, b = 1) is the one that the paper's equations 9 and
 * 10 invert, and that of a = 1/4 does not depend on the speed (its figure 3). Spheres apart attract by nothing, and
 * f < 0 bears no friction.
 *
 * Friction has no memory: spheres at rest on a slope creep by mg sin / k_t, and what stands does by its shape, which is
 * why grains are clumps here (../clumps/clumps.h says what they are, and holds what moves).
 *
 * The force acts in the middle of the overlap. Each side finds it for itself, from inputs that are exactly antisymmetric
 * in doubles, so that momentum is kept to rounding; a sphere adds up its contacts in order of grain ids, then of parts,
 * and a clump its spheres. x^a and x^b are products and square roots: exponents are multiples of a quarter.
 *
 * Integration: verlet.h, rkf45.h.
 */
#ifndef GG_BELL_H
#define GG_BELL_H

#include "../../../contact/candidates.h"
#include "../../../contact/narrow.h"
#include "../../contacts.h"
#include "../../motion.h"
#include "../clumps/clumps.h"

/* at which moment forces are found: `pass` of a phase */
enum {
    GG_BELL_START = 0, /* before the first substep, where no forces are known */
    GG_BELL_END,       /* at the end of a substep of velocity Verlet */
    GG_BELL_STAGE      /* and those after it: in a stage of a step of Runge-Kutta-Fehlberg */
};

/* whether a pass has nothing to do in an env */
GG_FN int gg_bell_idle(const gg_view *v, int64_t e, int32_t pass) { return pass != GG_BELL_END && v->env[e].converged; }

/* weight of the slope of a stage of Runge-Kutta-Fehlberg in the step that is taken, which is of fourth order */
GG_FN double gg_bell_fourth_weight(int s) {
    const double weights[6] = {25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -1.0 / 5.0, 0.0};
    return weights[s];
}

/* a moment since the start of the substep, and how long the forces there act [s] */
typedef struct gg_bell_moment {
    double time, duration;
} gg_bell_moment;

GG_FN gg_bell_moment gg_bell_moment_of(const gg_view *v, int64_t e, int32_t pass) {
    const double shares[6] = {0.0, 1.0 / 4.0, 3.0 / 8.0, 12.0 / 13.0, 1.0, 1.0 / 2.0};
    gg_bell_moment at = {pass == GG_BELL_END ? (double)v->params.dt : 0.0, 0.5 * (double)v->params.dt};
    if (pass >= GG_BELL_STAGE) {
        const gg_bell_env *own = &v->bell_env[e];
        at.time = own->done + shares[pass - GG_BELL_STAGE] * own->trial;
        at.duration = gg_bell_fourth_weight(pass - GG_BELL_STAGE) * own->trial;
    }
    return at;
}

/* to = a x b */
GG_FN void gg_bell_cross(const double a[3], const double b[3], double to[3]) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

/* x to the power of quarters / 4; x > 0 */
GG_FN double gg_bell_power(double x, int32_t quarters) {
    double half = sqrt(x), power = quarters & 1 ? sqrt(half) : 1.0;
    power *= quarters & 2 ? half : 1.0;
    for (int32_t k = quarters / 4; k > 0; k--) {
        power *= x;
    }
    return power;
}

/* k_r of two spheres, or of a sphere and a tool (other: 0) */
GG_FN double gg_bell_stiffness(const gg_bell_law *law, double radius, double other) {
    if (law->stiffness > 0.0) {
        return law->stiffness;
    }
    double effective = other > 0.0 ? radius * other / (radius + other) : radius;
    return 4.0 / 3.0 * law->modulus * sqrt(effective);
}

/* The force of a contact on the side that the unit normal points to. velocity: of this side over the other, at the
 * contact */
GG_FN void gg_bell_force(const gg_bell_law *law, double stiffness, double friction, double overlap,
                         const double normal[3], const double velocity[3], double force[3]) {
    double closing = -gg_dot3(velocity, normal), slip[3];
    double push = stiffness * gg_bell_power(overlap, law->stiffness_quarters) +
                  law->damping * gg_bell_power(overlap, law->damping_quarters) * closing;
    for (int k = 0; k < 3; k++) {
        slip[k] = velocity[k] + closing * normal[k];
    }
    double speed = sqrt(gg_dot3(slip, slip)), bound = friction * (push > 0.0 ? push : 0.0);
    double rub = speed > 0.0 ? (law->sliding * speed < bound ? law->sliding : bound / speed) : 0.0;
    for (int k = 0; k < 3; k++) {
        force[k] = normal[k] * push - slip[k] * rub;
    }
}

/* a point of a clump in the axes of the world */
GG_FN void gg_bell_turned(const gg_turn *t, gg_vec3 offset, double to[3]) {
    const double own[3] = {offset.x, offset.y, offset.z};
    for (int c = 0; c < 3; c++) {
        to[c] = gg_dot3(t->m[c], own);
    }
}

/* a coordinate carried around through periodic and cyclic faces */
GG_FN double gg_bell_wrap(const gg_params *p, int axis, double x) {
    double lower = gg_axis_of(p->lower, axis), upper = gg_axis_of(p->upper, axis);
    int around = p->boundary[axis][0] == GG_BOUNDARY_PERIODIC || p->boundary[axis][0] == GG_BOUNDARY_CYCLIC;
    return !around ? x : x >= upper ? x - (upper - lower) : x < lower ? x + (upper - lower) : x;
}

/* the spheres of a clump at a pose, with a velocity and a spin */
GG_FN void gg_bell_place(const gg_view *v, int64_t e, int64_t clump, const gg_clump_motion *at,
                         const double velocity[3], const double spin[3]) {
    gg_turn turn = gg_turn_of(at->rotation);
    for (int32_t id = v->clump_first[clump]; id < v->clump_first[clump + 1]; id++) {
        gg_bell_sphere *s = &v->bell_sphere[e * v->dims.slots + v->slot_of[e * v->dims.slots + id]];
        double around[3];
        gg_bell_turned(&turn, v->clump_offset[id], s->arm);
        gg_bell_cross(spin, s->arm, around);
        for (int k = 0; k < 3; k++) {
            s->center[k] = gg_bell_wrap(&v->params, k, at->position[k] + s->arm[k]);
            s->velocity[k] = velocity[k] + around[k];
            s->spin[k] = spin[k];
        }
    }
}

/* what the contacts of its spheres do to a clump, in order of ids */
GG_FN gg_bell_push gg_bell_sum(const gg_view *v, int64_t e, int64_t clump) {
    gg_bell_push sum = GG_ZERO;
    for (int32_t id = v->clump_first[clump]; id < v->clump_first[clump + 1]; id++) {
        const gg_bell_push *of = &v->bell_push[e * v->dims.slots + id];
        for (int k = 0; k < 3; k++) {
            sum.force[k] += of->force[k];
            sum.torque[k] += of->torque[k];
        }
    }
    return sum;
}

#endif
