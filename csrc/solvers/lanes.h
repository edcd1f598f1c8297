/* lanes.h: vectors of three lanes. Included by lane_phases.h, once per kind of lane. */

typedef struct GG_LANE_NAME(vec) {
    gg_lane x, y, z;
} GG_LANE_NAME(vec);

GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(load3)(const float *p) {
    GG_LANE_NAME(vec) a;
    a.x = lane_load(p);
    a.y = lane_load(p + GG_LANES);
    a.z = lane_load(p + 2 * GG_LANES);
    return a;
}

GG_FN void GG_LANE_NAME(store3)(float *p, GG_LANE_NAME(vec) a) {
    lane_store(p, a.x);
    lane_store(p + GG_LANES, a.y);
    lane_store(p + 2 * GG_LANES, a.z);
}

GG_FN gg_lane GG_LANE_NAME(dot)(GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* a scaled by s */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(scale)(GG_LANE_NAME(vec) a, gg_lane s) {
    a.x = s * a.x;
    a.y = s * a.y;
    a.z = s * a.z;
    return a;
}

GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(sub)(GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) b) {
    a.x = a.x - b.x;
    a.y = a.y - b.y;
    a.z = a.z - b.z;
    return a;
}

GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(zero)(void) {
    GG_LANE_NAME(vec) a;
    a.x = a.y = a.z = lane_splat(0.0f);
    return a;
}

/* columns first .. first + 2 of a body */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(columns)(const gg_lane *body, int first) {
    GG_LANE_NAME(vec) a;
    a.x = body[first];
    a.y = body[first + 1];
    a.z = body[first + 2];
    return a;
}

/* p < q ? a : b, lane by lane */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(choose)(gg_lane p, gg_lane q, GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) b) {
    a.x = lane_less(p, q, a.x, b.x);
    a.y = lane_less(p, q, a.y, b.y);
    a.z = lane_less(p, q, a.z, b.z);
    return a;
}

/* the factor that scales a back to `limit` where it is longer: min(1, limit / |a|) */
GG_FN gg_lane GG_LANE_NAME(cone_scale)(GG_LANE_NAME(vec) a, gg_lane limit) {
    gg_lane a2 = lane_max(GG_LANE_NAME(dot)(a, a), lane_splat(1e-30f));
    return lane_min(lane_splat(1.0f), lane_div(limit, lane_sqrt(a2)));
}

/* A torque impulse that is no longer than the larger of two bounds, with its part about the normal within `twist`, that in
 * the contact plane within `roll`. Where both bounds are equal it stays, bit for bit. */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(torque_parts)(GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) normal, gg_lane roll, gg_lane twist) {
    gg_lane zero = lane_splat(0.0f), one = lane_splat(1.0f), most = lane_max(roll, twist);
    /* the smaller bound limits its own part only */
    GG_LANE_NAME(vec)
    n = GG_LANE_NAME(scale)(normal, GG_LANE_NAME(dot)(a, normal)), t = GG_LANE_NAME(sub)(a, n), bounded;
    gg_lane n_scale = lane_less(twist, most, GG_LANE_NAME(cone_scale)(n, twist), one);
    gg_lane t_scale = lane_less(roll, most, GG_LANE_NAME(cone_scale)(t, roll), one);
    gg_lane unequal = lane_less(twist, most, one, lane_less(roll, most, one, zero));
    bounded.x = n_scale * n.x + t_scale * t.x;
    bounded.y = n_scale * n.y + t_scale * t.y;
    bounded.z = n_scale * n.z + t_scale * t.z;
    return GG_LANE_NAME(choose)(zero, unequal, bounded, a);
}

/* A torque impulse projected into its bounds: the whole within the larger one, then its parts. Where both are equal it is
 * cone_scale, bit for bit. */
GG_FN GG_LANE_NAME(vec)
    GG_LANE_NAME(torque_bounds)(GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) normal, gg_lane roll, gg_lane twist) {
    a = GG_LANE_NAME(scale)(a, GG_LANE_NAME(cone_scale)(a, lane_max(roll, twist)));
    return GG_LANE_NAME(torque_parts)(a, normal, roll, twist);
}

/* cross product a x b */
GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(cross)(GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) b) {
    GG_LANE_NAME(vec) c;
    c.x = a.y * b.z - a.z * b.y;
    c.y = a.z * b.x - a.x * b.z;
    c.z = a.x * b.y - a.y * b.x;
    return c;
}

GG_FN void GG_LANE_NAME(add_scaled)(GG_LANE_NAME(vec) * sum, GG_LANE_NAME(vec) a, gg_lane s) {
    sum->x = sum->x + s * a.x;
    sum->y = sum->y + s * a.y;
    sum->z = sum->z + s * a.z;
}

GG_FN GG_LANE_NAME(vec) GG_LANE_NAME(sub_scaled)(GG_LANE_NAME(vec) a, GG_LANE_NAME(vec) b, gg_lane s) {
    a.x = a.x - s * b.x;
    a.y = a.y - s * b.y;
    a.z = a.z - s * b.z;
    return a;
}

/* gg_separation_axis in lanes */
GG_FN gg_lane GG_LANE_NAME(nearest_image)(const gg_params *p, int axis, gg_lane d, float lower, float upper) {
    if (p->boundary[axis][0] == GG_BOUNDARY_PERIODIC) {
        gg_lane length = lane_splat(upper - lower), half = lane_splat(0.5f * (upper - lower));
        gg_lane zero = lane_splat(0.0f);
        d = lane_less(half, d, d - length, lane_less(d, zero - half, d + length, d));
    }
    return d;
}
