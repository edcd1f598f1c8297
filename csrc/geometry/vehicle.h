/* vehicle.h: a vehicle with a rectangular outline that moves along its heading and stays inside a rectangular field.
 *
 * The vehicle moves and turns at once (midpoint rule). Then its centre is clamped to where the whole outline, at the
 * new heading, lies inside the field. In double; headings are not wrapped.
 */
#ifndef GG_VEHICLE_H
#define GG_VEHICLE_H

#include "../base/scalar.h"

/* lengths in m; the outline extends from `rear` (negative) to `front` along x, the heading, and keeps `clearance` from
 * the edges of the field */
typedef struct gg_vehicle {
    double rear, front, half_width;
    double lower[2], upper[2];
    double clearance;
} gg_vehicle;

/* the same from 8 numbers in this order */
GG_FN gg_vehicle gg_vehicle_read(const double a[8]) {
    gg_vehicle v = {a[0], a[1], a[2], {a[3], a[4]}, {a[5], a[6]}, a[7]};
    return v;
}

/* bounds of the centre at a heading [rad]: x lower, x upper, y lower, y upper [m] */
GG_FN void gg_vehicle_bounds(const gg_vehicle *v, double yaw, double bounds[4]) {
    double s, c;
    gg_sincos_double(yaw, &s, &c);
    double low[2] = {0.0, 0.0}, high[2] = {0.0, 0.0};
    for (int k = 0; k < 4; k++) {
        double a = k & 2 ? v->front : v->rear, b = k & 1 ? v->half_width : -v->half_width;
        double corner[2] = {c * a - s * b, s * a + c * b};
        for (int i = 0; i < 2; i++) {
            low[i] = k == 0 ? corner[i] : GG_MIN(low[i], corner[i]);
            high[i] = k == 0 ? corner[i] : GG_MAX(high[i], corner[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        bounds[2 * i] = v->lower[i] + v->clearance - low[i];
        bounds[2 * i + 1] = v->upper[i] - v->clearance - high[i];
    }
}

/* pose: x [m], y [m], yaw [rad]. move: along the heading [m], across it to the left [m], turn [rad]. */
GG_FN void gg_vehicle_move(const gg_vehicle *v, const double pose[3], const double move[3], double out[3]) {
    double s, c, bounds[4];
    gg_sincos_double(pose[2] + 0.5 * move[2], &s, &c);
    double target[2] = {pose[0] + (move[0] * c - move[1] * s), pose[1] + (move[0] * s + move[1] * c)};
    out[2] = pose[2] + move[2];
    gg_vehicle_bounds(v, out[2], bounds);
    for (int i = 0; i < 2; i++) {
        double raised = GG_MAX(target[i], bounds[2 * i]);
        out[i] = GG_MIN(raised, bounds[2 * i + 1]);
    }
}

#endif
