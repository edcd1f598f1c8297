/* drive_vehicle.h: tools that share the frame of a vehicle (vehicle.h), which may also be lifted.
 *
 * index: whether it lifts (0, 1); the actions that move it ahead, to the left, up, and turn it to the left (-1: none).
 * value: its outline and field (the 8 doubles of gg_vehicle); speeds at full action ahead, to the left, up [m/s], and
 *        turning [rad/s]; the control period [s]; lower and upper limit of its height [m].
 * state: x, y [m], where it lifts z [m], yaw [rad].
 */
#ifndef GG_DRIVE_VEHICLE_H
#define GG_DRIVE_VEHICLE_H

#include "drive.h"
#include "vehicle.h"

enum { GG_VEHICLE_LIFTS, GG_VEHICLE_ACTION, GG_VEHICLE_INDICES = GG_VEHICLE_ACTION + 4 };
enum {
    GG_VEHICLE_OUTLINE,
    GG_VEHICLE_RATE = GG_VEHICLE_OUTLINE + 8,
    GG_VEHICLE_PERIOD = GG_VEHICLE_RATE + 4,
    GG_VEHICLE_LOWER,
    GG_VEHICLE_UPPER,
    GG_VEHICLE_VALUES
};

GG_FN int gg_vehicle_fits(const gg_drive *d) {
    if (d->index_count != GG_VEHICLE_INDICES || d->value_count != GG_VEHICLE_VALUES ||
        (d->index[GG_VEHICLE_LIFTS] | 1) != 1 || d->state_count != 3 + d->index[GG_VEHICLE_LIFTS]) {
        return 0;
    }
    int fits = 1;
    for (int k = 0; k < 4; k++) {
        int32_t action = d->index[GG_VEHICLE_ACTION + k];
        fits = fits && action >= -1 && action < d->action_count;
    }
    return fits;
}

GG_FN void gg_vehicle_drive(const gg_drive *d, const double *action, double *state) {
    double go[4];
    for (int k = 0; k < 4; k++) {
        int32_t from = d->index[GG_VEHICLE_ACTION + k];
        go[k] = from < 0 ? 0.0 : action[from] * d->value[GG_VEHICLE_RATE + k] * d->value[GG_VEHICLE_PERIOD];
    }
    gg_vehicle vehicle = gg_vehicle_read(d->value + GG_VEHICLE_OUTLINE);
    double *yaw = &state[d->state_count - 1];
    const double pose[3] = {state[0], state[1], *yaw}, move[3] = {go[0], go[1], go[3]};
    double moved[3];
    gg_vehicle_move(&vehicle, pose, move, moved);
    if (d->index[GG_VEHICLE_LIFTS]) {
        state[2] = gg_drive_clamp(state[2] + go[2], d->value[GG_VEHICLE_LOWER], d->value[GG_VEHICLE_UPPER]);
    }
    state[0] = moved[0];
    state[1] = moved[1];
    *yaw = moved[2];
}

GG_FN void gg_vehicle_poses(const gg_drive *d, const double *state, float *poses) {
    const double position[3] = {state[0], state[1], d->index[GG_VEHICLE_LIFTS] ? state[2] : 0.0};
    double turn[4] = {1.0, 0.0, 0.0, 0.0};
    gg_sincos_double(0.5 * state[d->state_count - 1], &turn[3], &turn[0]);
    for (int t = 0; t < d->tool_count; t++) {
        gg_drive_put_pose(position, turn, poses + 7 * t);
    }
}

#endif
