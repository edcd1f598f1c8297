/* planar_prepare.h: turns the listed rows of planar grains into what the solve reads, for one lane or a register of lanes.
 *
 * Listing (planar_contacts.h) has left, per row: other_body, friction, the restitution in `weight` (-1: an empty place), the
 * gap in `bias`, the normal, the arms, and the stored impulses (normal, tangential) as they were. See ncp_iterate.h for the
 * lane_* operations and planar.h for the law.
 */

/* the geometry of W rows and the motion of both sides */
typedef struct GG_LANE_NAME(planar_row) {
    gg_lane nx, ny, cn, ct, other_cn, other_ct;
    gg_lane own[GG_BODY], other[GG_BODY];
} GG_LANE_NAME(planar_row);

/* velocity at which W pairs of surfaces part along the normal. The sum is the same to the bit on both sides. */
GG_FN gg_lane GG_LANE_NAME(planar_parting)(const GG_LANE_NAME(planar_row) * r) {
    gg_lane along = r->nx * (r->own[0] - r->other[0]) + r->ny * (r->own[1] - r->other[1]);
    return along + (r->cn * r->own[GG_BODY_PLANAR_SPIN] - r->other_cn * r->other[GG_BODY_PLANAR_SPIN]);
}

/* and slide along the tangent (-ny, nx) */
GG_FN gg_lane GG_LANE_NAME(planar_sliding)(const GG_LANE_NAME(planar_row) * r) {
    gg_lane along = r->nx * (r->own[1] - r->other[1]) - r->ny * (r->own[0] - r->other[0]);
    return along + (r->ct * r->own[GG_BODY_PLANAR_SPIN] - r->other_ct * r->other[GG_BODY_PLANAR_SPIN]);
}

GG_FN void GG_LANE_NAME(planar_load)(const gg_view *v, int64_t contact3, int64_t geometry, const float *rows,
                                     const int32_t *others, GG_LANE_NAME(planar_row) * r) {
    lane_bodies(rows, others, r->other);
    r->nx = lane_load(v->normal + contact3);
    r->ny = lane_load(v->normal + contact3 + GG_LANES);
    r->cn = lane_load(v->planar_geometry + geometry);
    r->ct = lane_load(v->planar_geometry + geometry + GG_LANES);
    r->other_cn = lane_load(v->planar_geometry + geometry + 2 * GG_LANES);
    r->other_ct = lane_load(v->planar_geometry + geometry + 3 * GG_LANES);
}

/* relaxed effective mass along one direction with arms c and c' */
GG_FN gg_lane GG_LANE_NAME(planar_weight)(const GG_LANE_NAME(planar_row) * r, gg_lane c, gg_lane other_c, gg_lane count,
                                          gg_lane other_count, gg_lane relaxation, gg_lane sum) {
    gg_lane own = r->own[GG_BODY_INVERSE_MASS] + r->own[GG_BODY_INVERSE_INERTIA] * (c * c),
            other = r->other[GG_BODY_INVERSE_MASS] + r->other[GG_BODY_INVERSE_INERTIA] * (other_c * other_c);
    return lane_min(lane_div(relaxation, own + other), lane_div(sum, count * own + other_count * other));
}

/* the rows of the W grains from slot `slot` on; returns, by grain, the deepest overlap, the sum and the number */
GG_FN void GG_LANE_NAME(planar_prepare_lanes)(const gg_view *v, int64_t e, int64_t slot, gg_overlaps *each) {
    const gg_env *env = &v->env[e];
    const gg_params *p = &v->params;
    int64_t lane = slot % GG_LANES, base = e * v->dims.slots, slice = slot / GG_LANES;
    int64_t row = v->slice_first_row[e * v->dims.slices + slice];
    int32_t row_count = v->slice_rows[e * v->dims.slices + slice];
    int64_t contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    int64_t contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    int64_t geometry = (e * v->dims.planar_rows + row) * GG_LANES * GG_PLANAR_GEOMETRY + lane;
    float *impulses = env->impulse_buffer ? v->impulse_a : v->impulse_b;
    const float *rows = v->body_a + e * v->dims.bodies * GG_BODY;
    int32_t own[GG_LANE_WIDTH], index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        own[k] = (int32_t)(slot + k);
    }
    GG_LANE_NAME(planar_row) r;
    gg_lane zero = lane_splat(0.0f), point[4], other_point[4];
    lane_points(v->position + base, own, point);
    lane_bodies(rows, own, r.own);
    gg_lane count = lane_load(v->count_over_mass + base + slot);
    gg_lane warm = lane_splat(env->dt_last > 0.0f ? p->dt / env->dt_last : 0.0f);
    gg_lane bounce_speed = lane_splat(env->bounce_speed), most = zero, sum = zero, number = zero;
    GG_LANE_NAME(vec) dv, correction;
    dv.x = dv.y = dv.z = correction.x = correction.y = correction.z = zero;
    for (int32_t k = 0; k < row_count; k++) {
        for (int m = 0; m < GG_LANE_WIDTH; m++) {
            int32_t other = v->other_body[contact + m];
            index[m] = other < v->dims.slots ? other : own[m];
        }
        GG_LANE_NAME(planar_load)(v, contact3, geometry, rows, v->other_body + contact, &r);
        lane_points(v->position + base, index, other_point);
        /* a tool has no crowd; neither has what is fixed any say */
        gg_lane other_count = lane_gather(v->count_over_mass + base, index);
        gg_lane live = lane_load(v->restitution + contact),
                gap = lane_less(live, zero, zero, lane_load(v->gap + contact));
        gg_lane one = lane_splat(1.0f), relaxation = lane_splat(p->relaxation), bound = lane_splat(p->relaxation_sum);
        gg_lane weight = GG_LANE_NAME(planar_weight)(&r, r.cn, r.other_cn, count, other_count, relaxation, bound);
        gg_lane weight_t = GG_LANE_NAME(planar_weight)(&r, r.ct, r.other_ct, count, other_count, relaxation, bound);
        weight = lane_less(live, zero, zero, weight);
        lane_store(v->effective_mass + contact, weight);
        lane_store(v->planar_geometry + geometry + 4 * GG_LANES, lane_less(live, zero, zero, weight_t));
        gg_lane approach = GG_LANE_NAME(planar_parting)(&r);
        lane_store(v->bias + contact, GG_LANE_NAME(bias)(p, bounce_speed, gap, approach, live));
        /* overlap is moved out by position; fixed things and tools leave all of it to the grain */
        gg_lane push =
            GG_LANE_NAME(planar_weight)(&r, r.cn, r.other_cn, count, other_count, one, lane_splat(GG_PLANAR_SHIFT_SUM));
        gg_lane share = lane_less(zero, r.other[GG_BODY_INVERSE_MASS], lane_splat(p->alpha), lane_splat(p->tool_alpha));
        gg_lane effective = r.own[GG_BODY_INVERSE_MASS] + r.own[GG_BODY_INVERSE_INERTIA] * (r.cn * r.cn) +
                            r.other[GG_BODY_INVERSE_MASS] +
                            r.other[GG_BODY_INVERSE_INERTIA] * (r.other_cn * r.other_cn);
        gg_lane depth = share * (lane_splat(-p->slack) - gap);
        depth = lane_max(lane_min(push * depth, lane_div(lane_splat(p->correction_max), effective)), zero);
        depth = lane_less(live, zero, zero, depth);
        correction.x = correction.x + r.nx * depth;
        correction.y = correction.y + r.ny * depth;
        correction.z = correction.z + r.cn * depth;
        /* warm start */
        gg_lane normal = lane_max(warm * lane_load(impulses + contact3), zero);
        gg_lane limit = lane_load(v->friction + contact) * normal;
        gg_lane tangent = warm * lane_load(impulses + contact3 + GG_LANES);
        tangent = lane_max(lane_min(tangent, limit), zero - limit);
        lane_store(impulses + contact3, normal);
        lane_store(impulses + contact3 + GG_LANES, tangent);
        dv.x = dv.x + (r.nx * normal - r.ny * tangent);
        dv.y = dv.y + (r.ny * normal + r.nx * tangent);
        dv.z = dv.z + (r.cn * normal + r.ct * tangent);
        /* overlap against the smaller diameter */
        gg_lane radius = lane_less(zero, r.other[GG_BODY_INVERSE_MASS], lane_min(point[3], other_point[3]), point[3]);
        gg_lane deep = lane_div(zero - gap, lane_max(radius + radius, lane_splat(1e-30f)));
        most = lane_max(most, lane_max(deep, zero));
        sum = sum + lane_less(gap, zero, deep, zero);
        number = number + lane_less(gap, zero, lane_splat(1.0f), zero);
        contact += GG_LANES;
        contact3 += 3 * GG_LANES;
        geometry += GG_PLANAR_GEOMETRY * GG_LANES;
    }
    int64_t first = base + slot - lane;
    GG_LANE_NAME(store3)(v->correction + first * 3 + lane, correction);
    gg_lane change[3] = {r.own[GG_BODY_INVERSE_MASS] * dv.x, r.own[GG_BODY_INVERSE_MASS] * dv.y,
                         r.own[GG_BODY_INVERSE_INERTIA] * dv.z};
    for (int k = 0; k < 3; k++) {
        int column = k < 2 ? k : 6;
        lane_store(v->start_velocity + first * 6 + lane + k * GG_LANES, r.own[column]);
        r.own[column] = r.own[column] + change[k];
        lane_store(v->velocity + first * 6 + lane + k * GG_LANES, r.own[column]);
    }
    lane_bodies_store(v->body_b + e * v->dims.bodies * GG_BODY, slot, r.own);
    float deepest[GG_LANE_WIDTH], total[GG_LANE_WIDTH], how_many[GG_LANE_WIDTH];
    lane_store(deepest, most);
    lane_store(total, sum);
    lane_store(how_many, number);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        each[k].most = deepest[k];
        each[k].sum = total[k];
        each[k].count = how_many[k];
    }
}

/* all rows of one slice of env e */
GG_FN void GG_LANE_NAME(planar_prepare_slice)(const gg_view *v, int64_t e, int64_t slice) {
    gg_overlaps each[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(planar_prepare_lanes)(v, e, slice * GG_LANES + lane, each + lane);
    }
    gg_contacts_prepared(v, e, slice, each);
}
