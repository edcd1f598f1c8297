/* drag.h: what the air does to a grain that flies through it: it slows down towards the wind, and its spin towards none.
 *
 * Force: 6 pi eta r f (wind - v), with Stokes' law f = 1 where the air has no density, else f = 1 + 0.15 Re^0.687 (Schiller
 * and Naumann, 1933), but at least the force of a drag coefficient of 0.44 (Newton's range, Re above 1000). The exponent
 * is taken as 11/16, which square roots can do: within 0.5 % of the correlation for all Re up to 1000. Torque: 8 pi eta r^3
 * times the spin (Stokes). Each grain is taken as if it were alone; buoyancy and added mass are left out.
 *
 * Implicit: v' = (v + dt g + c wind) / (1 + c), c = dt times the rate at v, which no grain is too small for, and at which
 * the terminal velocity is exact.
 */
#ifndef GG_DRAG_H
#define GG_DRAG_H

#include "../state/view.h"

GG_FN int gg_air_drags(const gg_air *air) { return air->density > 0.0f || air->viscosity > 0.0f; }

/* rate at which a grain of this speed relative to the air loses it [1/s] */
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

/* share of a rate's decay that happens within dt, implicitly: 0 .. 1 */
GG_FN float gg_drag_share(float rate, float dt) {
    float c = gg_minf(rate * dt, 1e30f);
    return c / (1.0f + c);
}

/* what is added to the velocity of a grain over dt: gravity's kick and drag */
GG_FN gg_vec3 gg_drag_kick(const gg_air *air, gg_vec3 kick, gg_vec3 velocity, float radius, float inverse_mass,
                           float dt) {
    gg_vec3 lag = gg_sub(air->wind, velocity);
    float share = gg_drag_share(gg_drag_rate(air, radius, inverse_mass, gg_norm(lag)), dt);
    return gg_add(gg_sub(kick, gg_scale(kick, share)), gg_scale(lag, share));
}

/* share of the spin that is left after dt */
GG_FN float gg_drag_spin_left(const gg_air *air, float radius, float inverse_mass, float dt) {
    const float pi = 3.14159265f;
    return 1.0f - gg_drag_share(20.0f * pi * air->viscosity * radius * inverse_mass, dt);
}

#endif
