/* matter.h: what strain costs: the energy of a particle over its volume, its derivatives, and the return mapping.
 *
 * B is the elastic left stretch of a particle at the start of a substep, L = grad v. Its strain at the end is
 *   E(v) = B - 1 + dE,   dE = dt sym(L B),
 * the corotational strain of Zong et al. (2024), equation 19, with the lagged rotation R0: R0 E' R0^T of theirs, as
 * B = F R0^T. It is linear in v, and objective for rotations up to the order of (angle per substep)^2 / 2.
 *
 * Matter with a yield stress that no pressure changes (von Mises) has the logarithmic strain instead,
 *   E(v) = ln B + dE,   dE = dt sym(L):
 * its stress is Kirchhoff's, so that the yield stress bounds what pushes the nodes, and as its trace is the logarithm of the
 * volume it flows without a change of that. The strain B - 1 falls short of both by the elastic strain at which it yields.
 *
 * The energy is that of Hooke's law, K tr(E)^2 / 2 + G |dev E|^2, where it does not yield. Where the deviatoric stress
 * would pass the yield stress y, or the mean tension its bound, the energy goes on linearly: the least of elastic energy
 * and plastic work over all plastic strains of the substep (the Moreau envelope). Yield is thus inside the step, and the
 * energy convex and once differentiable. y rises with the pressure (Drucker-Prager); the potential takes it as given, and
 * newton.h lets it follow; likewise what dilatancy adds to the volume, in proportion to the plastic strain, which elastic
 * strain is less. Viscosity adds eta |dev dE|^2 / dt.
 */
#ifndef GG_CONTINUUM_MATTER_H
#define GG_CONTINUUM_MATTER_H

#include "../../base/columns.h"
#include "../../base/logarithm.h"
#include "continuum.h"

/* Opening that matter without tension remembers where it touches a tool: it must close before there is pressure again. */
#define GG_CONTINUUM_OPENING 0.1
/* density on the grid, over that at rest, above which matter expands, in about the time [s] that follows, by no more than
 * the share after it */
#define GG_CONTINUUM_DENSE  1.05
#define GG_CONTINUUM_EXPAND 0.1
#define GG_CONTINUUM_EXCESS 0.3
/* a particle at the face of packed matter sees 1 / 1.6 of its density; lowest density that is told apart */
#define GG_CONTINUUM_FACE 1.6
#define GG_CONTINUUM_THIN 0.125

/* whether matter can have such a stretch: positive definite, and within what numbers hold */
GG_FN int gg_stretch_usable(gg_sym a) {
    double minor = a.xx * a.yy - a.xy * a.xy, det = gg_sym_det(a);
    return a.xx > 0.0 && minor > 0.0 && det > 0.0 && gg_sym_norm(a) < 1e6;
}

/* whether strain is logarithmic: of matter with a yield stress that no pressure changes */
GG_FN int gg_matter_logarithmic(const gg_continuum_material *m) {
    return m->strength < GG_UNYIELDING && m->tension >= GG_UNYIELDING;
}

/* the strain of a stretch, and the other way round */
GG_FN gg_sym gg_matter_strain(const gg_continuum_material *m, gg_sym stretch) {
    return gg_matter_logarithmic(m) ? gg_sym_log(stretch) : gg_sym_shift(stretch, -1.0);
}
GG_FN gg_sym gg_matter_stretch(const gg_continuum_material *m, gg_sym strain) {
    return gg_matter_logarithmic(m) ? gg_sym_exp(strain) : gg_sym_shift(strain, 1.0);
}
/* what a gradient of velocities is multiplied by for the change of a strain */
GG_FN gg_sym gg_matter_lever(const gg_continuum_material *m, gg_sym strain) {
    return gg_matter_logarithmic(m) ? gg_sym_make(1.0, 1.0, 1.0, 0.0, 0.0, 0.0) : gg_sym_shift(strain, 1.0);
}

typedef struct gg_matter {
    gg_sym stress;
    gg_sym flow;                        /* unit deviator along which it flows */
    double bulk, shear, soften, energy; /* tangent moduli [Pa], energy per volume [J/m3] */
} gg_matter;

/* dE of a velocity gradient, column by column, over a substep; lever: gg_matter_lever */
GG_FN gg_sym gg_matter_strain_along(const gg_real4 along[3], gg_sym lever, double dt) {
    gg_real4 turned[3];
    gg_columns_times(along, lever, turned);
    return gg_sym_scale(gg_tensor_symmetric(gg_tensor_of_columns(turned)), dt);
}
GG_FN gg_sym gg_matter_strain_change(gg_tensor gradient, gg_sym lever, double dt) {
    return gg_sym_scale(gg_tensor_symmetric(gg_tensor_mul_sym(gradient, lever)), dt);
}

/* the yield stress under the pressure that a volumetric strain makes */
GG_FN double gg_matter_strength(const gg_continuum_material *m, double volumetric) {
    double pressure = -m->bulk * volumetric;
    pressure = pressure > -m->tension ? pressure : -m->tension;
    double strength = m->strength + m->slope * pressure;
    return strength > 0.0 ? strength : 0.0;
}

GG_FN_LARGE gg_matter gg_matter_of(const gg_continuum_material *m, double strength, gg_sym strain, gg_sym change,
                                   double dt) {
    gg_matter out;
    double volumetric = gg_sym_trace(strain), mean = m->bulk * volumetric;
    out.bulk = m->bulk;
    out.energy = 0.5 * mean * volumetric;
    if (mean > m->tension) {
        out.energy = m->tension * (volumetric - 0.5 * m->tension / m->bulk);
        mean = m->tension;
        out.bulk = 0.0;
    }
    gg_sym deviator = gg_sym_deviator(strain), zero = GG_ZERO;
    double size = gg_sym_norm(deviator);
    out.shear = 2.0 * m->shear;
    out.soften = 0.0;
    out.flow = zero;
    if (out.shear * size > strength) {
        out.energy += strength * (size - 0.5 * strength / out.shear);
        out.shear = out.soften = strength / size;
        out.flow = gg_sym_scale(deviator, 1.0 / size);
    } else {
        out.energy += 0.5 * out.shear * size * size;
    }
    out.stress = gg_sym_shift(gg_sym_scale(deviator, out.shear), mean);
    if (m->viscosity > 0.0) {
        gg_sym flowing = gg_sym_deviator(change);
        out.stress = gg_sym_madd(out.stress, 2.0 * m->viscosity / dt, flowing);
        out.energy += m->viscosity / dt * gg_sym_dot(flowing, flowing);
        out.shear += 2.0 * m->viscosity / dt;
    }
    return out;
}

/* the rise of stress with a change of strain */
GG_FN gg_sym gg_matter_tangent(const gg_matter *m, gg_sym change) {
    double trace = gg_sym_trace(change);
    gg_sym stress = gg_sym_shift(gg_sym_scale(change, m->shear), (m->bulk - m->shear / 3.0) * trace);
    return gg_sym_madd(stress, -m->soften * gg_sym_dot(m->flow, change), m->flow);
}

/* What the grid tells of the room that a particle has. */
typedef struct gg_matter_room {
    double opening; /* trace of B - 1 that it closes until the density is that at rest */
    double excess;  /* density above that at rest, over it */
    int touching;   /* a tool or wall: there the kernel ends, and the grid tells too little */
} gg_matter_room;

/* density: on the grid at the particle, over that at rest. aside: how far off the particle the centre of the mass is that it
 * sees, over the spacing of the nodes: 0 amid matter, .21 at its face; densities are those of a half space that looks so.
 * Particles farther out than that are not of the body: they fall on it. */
GG_FN gg_matter_room gg_matter_room_of(double density, double aside, int touching) {
    gg_matter_room out;
    double seen = 1.0 + aside * (1.3 + 6.8 * aside);
    double full = density * (seen < GG_CONTINUUM_FACE ? seen : GG_CONTINUUM_FACE);
    double ratio = 1.0 / (full > GG_CONTINUUM_THIN ? full : GG_CONTINUUM_THIN), side = 1.0 + (ratio - 1.0) / 3.0;
    for (int k = 0; k < 4; k++) { /* the cube root of the ratio, by Newton's method */
        side = (2.0 * side + ratio / (side * side)) / 3.0;
    }
    out.opening = ratio > 1.0 ? 3.0 * (side - 1.0) : 0.0;
    out.excess = density > GG_CONTINUUM_DENSE ? density - GG_CONTINUUM_DENSE : 0.0;
    out.excess = out.excess < GG_CONTINUUM_EXCESS ? out.excess : GG_CONTINUUM_EXCESS;
    out.touching = touching;
    return out;
}

/* The volumetric strain that matter with a bound on its tension keeps. Where nothing holds it together it has the volume
 * that the grid shows, not the one that its velocities add up to: those are too coarse, and drift. So pressure begins
 * where the density is that at rest. What was pressed together all the same expands. */
GG_FN double gg_matter_volumetric(double volumetric, double tip, const gg_matter_room *room, double dt) {
    if (room->excess > 0.0) {
        return (volumetric < tip ? volumetric : tip) - dt / (dt + GG_CONTINUUM_EXPAND) * room->excess;
    }
    if (room->touching) {
        return volumetric < tip + GG_CONTINUUM_OPENING ? volumetric : tip + GG_CONTINUUM_OPENING;
    }
    return volumetric > tip ? tip + room->opening : volumetric;
}

/* what is kept of flow */
typedef struct gg_matter_history {
    double plastic;  /* equivalent plastic strain */
    double dilation; /* volumetric strain by dilatancy */
} gg_matter_history;

/* Volumetric strain by dilatancy as the deviator of strain flows from `size` to `allowed`, where there is pressure. dilation:
 * what there is of it; it ends at a bound, as sand at its critical state flows at constant volume. */
GG_FN double gg_matter_dilates(const gg_continuum_material *m, double size, double allowed, double volumetric,
                               double dilation) {
    double gain = m->dilatancy * (size - allowed), left = m->dilation - dilation;
    int flows = m->dilatancy > 0.0 && size > allowed && m->bulk * volumetric < m->tension && left > 0.0;
    return !flows ? 0.0 : gain < left ? gain : left;
}

/* The elastic strain after a substep in which matter was deformed by 1 + dt L; history: of flow, which it adds to. Radial
 * return of the deviator; strain stays as it was where the decomposition of the stretch fails. */
GG_FN_LARGE gg_sym gg_matter_return(const gg_continuum_material *m, double strength, gg_tensor gradient, gg_sym before,
                                    double dt, const gg_matter_room *room, gg_matter_history *history) {
    gg_sym next = GG_ZERO, stretch = gg_matter_stretch(m, before);
    gg_tensor deformed = gg_tensor_mul_sym(gradient, stretch);
    double rows[3];
    if (m->liquid > 0.0) {
        return next;
    }
    for (int i = 0; i < 3; i++) {
        gg_sym_row(stretch, i, rows);
        for (int j = 0; j < 3; j++) {
            deformed.m[i][j] = rows[j] + dt * deformed.m[i][j];
        }
    }
    if (!gg_tensor_stretch(deformed, &next)) {
        return before;
    }
    gg_sym strain = gg_matter_strain(m, next), deviator = gg_sym_deviator(strain);
    double volumetric = gg_sym_trace(strain), tip = m->tension / m->bulk;
    double size = gg_sym_norm(deviator), allowed = m->shear > 0.0 ? 0.5 * strength / m->shear : 0.0;
    if (size > allowed) {
        double gain = gg_matter_dilates(m, size, allowed, volumetric, history->dilation);
        history->plastic += 0.81649658092772603 * (size - allowed); /* sqrt(2/3) */
        history->dilation += gain;
        volumetric -= gain;
        deviator = gg_sym_scale(deviator, allowed / size);
    }
    if (m->tension < GG_UNYIELDING) {
        volumetric = gg_matter_volumetric(volumetric, tip, room, dt);
        if (volumetric > tip) {
            deviator = gg_sym_scale(deviator, 0.0);
        }
    }
    return gg_sym_shift(deviator, volumetric / 3.0);
}

/* what a particle kept of flow */
GG_FN gg_matter_history gg_point_history(const gg_view *v, int64_t e, int64_t id) {
    gg_matter_history out;
    out.plastic = v->continuum_plastic[e * v->dims.continuum.slots + id];
    out.dilation = v->dims.continuum.dilatant ? v->continuum_dilation[e * v->dims.continuum.slots + id] : 0.0f;
    return out;
}
GG_FN void gg_point_keep_history(const gg_view *v, int64_t e, int64_t id, gg_matter_history history) {
    v->continuum_plastic[e * v->dims.continuum.slots + id] = (float)history.plastic;
    if (v->dims.continuum.dilatant) {
        v->continuum_dilation[e * v->dims.continuum.slots + id] = (float)history.dilation;
    }
}

/* whether matter can have such a strain */
GG_FN int gg_matter_usable(const gg_continuum_material *m, gg_sym strain) {
    return gg_sym_norm(strain) < 1e6 && gg_stretch_usable(gg_matter_stretch(m, strain));
}

/* Strain of a particle at the start of a substep, that of a liquid 0: what is kept of it tells its pressure. What a gradient
 * of velocities is multiplied by for the change of its strain. */
GG_FN gg_sym gg_point_before(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    gg_sym none = GG_ZERO;
    int liquid = gg_continuum_material_of(v, e, p->slot)->liquid > 0.0;
    return liquid ? none : v->continuum_strain[e * v->dims.continuum.slots + p->id];
}
GG_FN gg_sym gg_point_lever(const gg_view *v, int64_t e, const gg_continuum_point *p) {
    return gg_matter_lever(gg_continuum_material_of(v, e, p->slot), gg_point_before(v, e, p));
}

#endif
