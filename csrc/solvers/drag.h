/* drag.h: drag of the air: the velocity of a grain decays towards the wind, its spin towards 0.
 *
 * Force: 6 pi eta r f (wind - v), with Stokes' law f = 1 where the air has no density, else f = 1 + 0.15 Re^0.687
 * (Schiller and Naumann, 1933), but at least the force of a drag coefficient of 0.44 (Newton's range, Re above 1000).
 * The exponent is 11/16, which needs square roots only: within 0.5 % of the correlation for all Re up to 1000. Torque:
 * 8 pi eta r^3 times the spin (Stokes). Each grain is treated as isolated; buoyancy and added mass are neglected.
 *
 * Implicit: v' = (v + dt g + c wind) / (1 + c), c = dt times the rate at v: stable for grains of any size, and exact at
 * the terminal velocity.
 */
#ifndef GG_DRAG_H
#define GG_DRAG_H

#include "../state/view.h"

GG_FN int gg_air_drags(const gg_air *air) { return air->density > 0.0f || air->viscosity > 0.0f; }

/* decay rate of the velocity of a grain at this speed relative to the air [1/s] */
GG_FN float gg_drag_rate(const gg_air *air, float radius, float inverse_mass, float speed) {
    const float pi = 3.14159265f;
    float stokes = 6.0f * pi * air->viscosity * radius, factor = stokes;
    if (air->density > 0.0f) {
        if (air->viscosity > 0.0f) {
            float reynolds = gg_minf(2.0f * radius * air->density * speed / air->viscosity, 1e12f);
            float half = sqrtf(reynolds), eighth = sqrtf(sqrtf(half));
            factor = stokes * (1.0f + 0.15f * half * eighth * sqrtf(eighth));
        }
        factor = gg_maxf(factor, 0.22f * pi * air->density * radius * radius * speed);
    }
    return factor * inverse_mass;
}

/* fraction that decays within dt, by implicit Euler: 0 .. 1 */
GG_FN float gg_drag_share(float rate, float dt) {
    float c = gg_minf(rate * dt, 1e30f);
    return c / (1.0f + c);
}

/* change of a grain's velocity over dt, by drag and the kick of gravity */
GG_FN gg_vec3 gg_drag_kick(const gg_air *air, gg_vec3 kick, gg_vec3 velocity, float radius, float inverse_mass,
                           float dt) {
    gg_vec3 lag = gg_sub(air->wind, velocity);
    float share = gg_drag_share(gg_drag_rate(air, radius, inverse_mass, gg_norm(lag)), dt);
    return gg_add(gg_sub(kick, gg_scale(kick, share)), gg_scale(lag, share));
}

/* fraction of the spin that is left after dt */
GG_FN float gg_drag_spin_left(const gg_air *air, float radius, float inverse_mass, float dt) {
    const float pi = 3.14159265f;
    return 1.0f - gg_drag_share(20.0f * pi * air->viscosity * radius * inverse_mass, dt);
}

#endif
