/* count.h: which candidates are contacts: gg_pair_active for the k-th candidates of W grains at a time, see lane_phases.h.
 */

/* W grains and their candidate lists; an empty list beside others is replaced by the grain itself */
typedef struct GG_LANE_NAME(lists) {
    const int32_t *list[GG_LANE_WIDTH];
    int32_t own[GG_LANE_WIDTH], count[GG_LANE_WIDTH];
    int32_t longest;
    gg_lane point[4], body[GG_BODY];
} GG_LANE_NAME(lists);

GG_FN void GG_LANE_NAME(lists_of)(const gg_view *v, int64_t e, int32_t slot, GG_LANE_NAME(lists) * lists) {
    int64_t at = e * v->dims.slots + slot;
    const int32_t *candidates = v->candidate + e * v->dims.candidate_cap;
    lists->longest = 0;
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        lists->own[k] = slot + k;
        lists->count[k] = v->grain_id[at + k] < 0 ? 0 : v->candidate_count[at + k];
        lists->list[k] =
            GG_LANE_WIDTH == 1 || lists->count[k] ? candidates + v->candidate_first[at + k] : &lists->own[k];
        lists->longest = GG_MAX(lists->longest, lists->count[k]);
    }
    lane_points(v->position + e * v->dims.slots, lists->own, lists->point);
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, lists->own, lists->body);
}

/* which of W pairs come within reach by speed alone: the last test of gg_pair_active, without cohesion */
GG_FN uint32_t GG_LANE_NAME(closing_bits)(const gg_view *v, int64_t e, const gg_lane *own, const int32_t *index,
                                          gg_lane distance2, gg_lane margin) {
    gg_lane other[GG_BODY];
    lane_bodies(v->body_a + e * v->dims.bodies * GG_BODY, index, other);
    GG_LANE_NAME(vec)
    a = GG_LANE_NAME(columns)(own, 0), b = GG_LANE_NAME(columns)(other, 0), d = GG_LANE_NAME(sub)(a, b);
    gg_lane most = lane_max(GG_LANE_NAME(dot)(a, a), GG_LANE_NAME(dot)(b, b));
    gg_lane approach = lane_sqrt(lane_max(GG_LANE_NAME(dot)(d, d), most));
    margin = margin + approach * lane_splat(v->params.foresight);
    return lane_less_bits(distance2, margin * margin);
}

/* which of the W grains from `slot` on touch their candidate k, as bits */
GG_FN uint32_t GG_LANE_NAME(active_bits)(const gg_view *v, int64_t e, int32_t slot, const GG_LANE_NAME(lists) * lists,
                                         int32_t k) {
    const gg_params *p = &v->params;
    int32_t place[GG_LANE_WIDTH], index[GG_LANE_WIDTH];
    /* lists that have ended repeat their last candidate */
    for (int lane = 0; lane < GG_LANE_WIDTH; lane++) {
        place[lane] = GG_MIN(k, GG_MAX(lists->count[lane] - 1, 0));
    }
    for (int lane = 0; lane < GG_LANE_WIDTH; lane++) {
        index[lane] = lists->list[lane][place[lane]];
    }
    uint32_t listed = lane_less_bits(lane_splat(0.0f), lane_at_least(lists->count, k + 1));
    gg_lane other[4];
    lane_points(v->position + e * v->dims.slots, index, other);
    GG_LANE_NAME(vec) d;
    d.x = GG_LANE_NAME(nearest_image)(p, 0, lists->point[0] - other[0], p->lower.x, p->upper.x);
    d.y = GG_LANE_NAME(nearest_image)(p, 1, lists->point[1] - other[1], p->lower.y, p->upper.y);
    d.z = GG_LANE_NAME(nearest_image)(p, 2, lists->point[2] - other[2], p->lower.z, p->upper.z);
    gg_lane distance2 = GG_LANE_NAME(dot)(d, d), radius = lists->point[3];
    gg_lane margin = radius + other[3] +
                     (lane_splat(p->margin * 2.0f) * lane_min(radius, other[3]) + lane_splat(v->env[e].crowd_margin));
    gg_lane most = margin + lane_splat(gg_maxf(2.0001f * v->env[e].speed_max * p->foresight, v->env[e].cohesion_range));
    uint32_t active = lane_less_bits(distance2, margin * margin) & listed;
    /* candidates that only speed or cohesion can bring into contact: few, except near a fast grain */
    uint32_t maybe = lane_less_bits(distance2, most * most) & listed & ~active;
    if (maybe && !(v->env[e].cohesion_range > 0.0f)) {
        return active | (GG_LANE_NAME(closing_bits)(v, e, lists->body, index, distance2, margin) & maybe);
    }
    for (; maybe; maybe &= maybe - 1) {
        int lane = gg_bit_lowest(maybe);
        active |= (uint32_t)gg_pair_active(v, e, slot + lane, index[lane]) << lane;
    }
    return active;
}

/* finds the contacts of the W grains from `slot` on with grains: their numbers, and bit k of `active` for candidate k */
GG_FN void GG_LANE_NAME(count_grains)(const gg_view *v, int64_t e, int32_t slot, const GG_LANE_NAME(lists) * lists,
                                      int32_t *count, uint64_t *active) {
    int32_t half[2][GG_LANE_WIDTH];
    for (int lane = 0; lane < GG_LANE_WIDTH; lane++) {
        half[0][lane] = half[1][lane] = 0;
    }
    for (int32_t k = 0; k < lists->longest; k++) {
        uint32_t bits = GG_LANE_NAME(active_bits)(v, e, slot, lists, k);
        if (k < 64) {
            lane_mark(half[k / 32], bits, (uint32_t)1 << k % 32);
            continue;
        }
        for (; bits; bits &= bits - 1) {
            count[gg_bit_lowest(bits)]++;
        }
    }
    for (int lane = 0; lane < GG_LANE_WIDTH; lane++) {
        uint32_t low = (uint32_t)half[0][lane], high = (uint32_t)half[1][lane];
        active[lane] = (uint64_t)high << 32 | low;
        count[lane] += gg_bit_count(low) + gg_bit_count(high);
    }
}

#if GG_LANE_WIDTH > 1
/* which of W grains, given by centre and radius, may touch a part: the tests by which gg_touch_part rejects most */
GG_FN uint32_t GG_LANE_NAME(part_bits)(const gg_view *v, int64_t e, const gg_lane *point, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    const gg_part_pose *pose = &v->part_pose[e * v->dims.part_count + part];
    const gg_mat3 *m = &pose->rotation;
    gg_lane margin = lane_splat(v->params.margin * 2.0f) * point[3] + lane_splat(gg_speed_margin(v, e));
    margin =
        lane_max(margin + lane_splat(v->params.foresight * v->env[e].speed_max), lane_splat(v->env[e].cohesion_range));
    GG_LANE_NAME(vec) d, local;
    d.x = point[0] - lane_splat(pose->position.x);
    d.y = point[1] - lane_splat(pose->position.y);
    d.z = point[2] - lane_splat(pose->position.z);
    local.z = lane_splat(m->r0.z) * d.x + lane_splat(m->r1.z) * d.y + lane_splat(m->r2.z) * d.z;
    if (shape->kind == GG_SHAPE_PLANE) {
        return lane_less_bits(local.z - point[3], margin);
    }
    int nearest_image = gg_clump_of_tool(v, shape->tool) >= 0 && gg_goes_round(&v->params);
    if (shape->bound_radius >= GG_UNBOUNDED || nearest_image) {
        return ~(uint32_t)0;
    }
    local.x = lane_splat(m->r0.x) * d.x + lane_splat(m->r1.x) * d.y + lane_splat(m->r2.x) * d.z;
    local.y = lane_splat(m->r0.y) * d.x + lane_splat(m->r1.y) * d.y + lane_splat(m->r2.y) * d.z;
    local.x = local.x - lane_splat(shape->bound_center.x);
    local.y = local.y - lane_splat(shape->bound_center.y);
    local.z = local.z - lane_splat(shape->bound_center.z);
    gg_lane bound = lane_sqrt(GG_LANE_NAME(dot)(local, local)) - lane_splat(shape->bound_radius);
    return ~lane_less_bits(point[3] + margin, bound);
}
#else
GG_FN uint32_t GG_LANE_NAME(part_bits)(const gg_view *v, int64_t e, const gg_lane *point, int64_t part) {
    (void)v, (void)e, (void)point, (void)part;
    return 1;
}
#endif

/* finds the contacts of the W grains from `slot` on with parts of tools: their numbers */
GG_FN void GG_LANE_NAME(count_parts)(const gg_view *v, int64_t e, int32_t slot, const GG_LANE_NAME(lists) * lists,
                                     uint64_t parts, int32_t *count) {
    uint32_t grains = lane_less_bits(lane_splat(0.0f), lane_at_least(v->grain_id + e * v->dims.slots + slot, 0));
    /* what is fixed passes through tools that no clump carries */
    uint32_t moved = grains & lane_less_bits(lane_splat(0.0f), lists->body[GG_BODY_INVERSE_MASS]);
    for (int64_t part = gg_next_part(v, parts, 0); part < v->dims.part_count; part = gg_next_part(v, parts, part + 1)) {
        uint32_t near = gg_clump_of_tool(v, v->parts[part].tool) < 0 ? moved : grains;
        near &= GG_LANE_NAME(part_bits)(v, e, lists->point, part);
        for (; near; near &= near - 1) {
            int lane = gg_bit_lowest(near);
            if (gg_slot_asleep(v, e, slot + lane)) {
                continue; /* its contacts with tools are kept */
            }
            count[lane] += gg_touch_part(v, e, slot + lane, part).active;
        }
    }
}

/* Counts the contacts of the W grains from `slot` on into next_count and next_tool_count, which have no colours yet;
 * `parts`: see gg_slice_parts. */
GG_FN void GG_LANE_NAME(count_lanes)(const gg_view *v, int64_t e, int32_t slot, uint64_t parts) {
    int64_t at = e * v->dims.slots + slot;
    int32_t grains[GG_LANE_WIDTH], tools[GG_LANE_WIDTH];
    uint64_t active[GG_LANE_WIDTH];
    float number[GG_LANE_WIDTH];
    GG_LANE_NAME(lists) lists;
    GG_LANE_NAME(lists_of)(v, e, slot, &lists);
    for (int lane = 0; lane < GG_LANE_WIDTH; lane++) {
        grains[lane] = tools[lane] = 0;
    }
    GG_LANE_NAME(count_grains)(v, e, slot, &lists, grains, active);
    GG_LANE_NAME(count_parts)(v, e, slot, &lists, parts, tools);
    for (int lane = 0; lane < GG_LANE_WIDTH; lane++) {
        v->active[at + lane] = active[lane];
        v->next_count[at + lane] = grains[lane] + tools[lane];
        v->next_tool_count[at + lane] = tools[lane];
        number[lane] = (float)(grains[lane] + tools[lane]);
    }
    for (int lane = 0; lane < (v->dims.coloured.envs ? GG_LANE_WIDTH : 0); lane++) {
        v->colours[at + lane] = 0;
    }
    lane_store(v->count_over_mass + at, lane_load(number) * lists.body[GG_BODY_INVERSE_MASS]);
}

/* counts the contacts of all grains of one slice of env e */
GG_FN void GG_LANE_NAME(count_slice)(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t parts = gg_slice_parts(v, e, slice);
    v->slice_parts[e * v->dims.slices + slice] = parts;
    for (int lane = 0; lane < GG_LANES; lane += GG_LANE_WIDTH) {
        GG_LANE_NAME(count_lanes)(v, e, (int32_t)(slice * GG_LANES + lane), parts);
    }
    gg_contacts_counted(v, e, slice);
}
