/* lanes.h: three-vectors of lanes, for ncp_count.h, ncp_prepare.h and ncp_iterate.h; included once per kind of lane. */

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

/* a scaled back to `limit` where it is longer: min(1, limit / |a|) */
GG_FN gg_lane GG_LANE_NAME(cone_scale)(GG_LANE_NAME(vec) a, gg_lane limit) {
    gg_lane a2 = lane_max(GG_LANE_NAME(dot)(a, a), lane_splat(1e-30f));
    return lane_min(lane_splat(1.0f), lane_div(limit, lane_sqrt(a2)));
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

/* gg_separation_axis in lanes */
GG_FN gg_lane GG_LANE_NAME(nearest_image)(const gg_params *p, int axis, gg_lane d, float lower, float upper) {
    if (p->boundary[axis][0] == GG_BOUNDARY_PERIODIC) {
        gg_lane length = lane_splat(upper - lower), half = lane_splat(0.5f * (upper - lower));
        gg_lane zero = lane_splat(0.0f);
        d = lane_less(half, d, d - length, lane_less(d, zero - half, d + length, d));
    }
    return d;
}
