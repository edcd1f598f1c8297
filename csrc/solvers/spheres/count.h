/* count.h: which candidates of a slice's grains are contacts, W candidates of one grain at a time: gg_pair_active
 * written in lanes, see lane_phases.h. */

#if GG_LANE_WIDTH > 1
/* which of W grains come within reach of slot i by speed alone: the last test of gg_pair_active, without cohesion */
GG_FN uint32_t GG_LANE_NAME(closing_bits)(const gg_view *v, int64_t e, int32_t i, const int32_t *index,
                                          gg_lane distance2, gg_lane margin) {
    const float *bodies = v->body_a + e * v->dims.bodies * GG_BODY;
    gg_lane other[GG_BODY];
    lane_bodies(bodies, index, other);
    gg_vec3 own = gg_body_velocity(bodies, i);
    GG_LANE_NAME(vec) closing;
    closing.x = lane_splat(own.x) - other[0];
    closing.y = lane_splat(own.y) - other[1];
    closing.z = lane_splat(own.z) - other[2];
    margin = margin + lane_sqrt(GG_LANE_NAME(dot)(closing, closing)) * lane_splat(v->params.foresight);
    return lane_less_bits(distance2, margin * margin);
}
#endif

/* active candidates k0 .. k0 + W - 1 of slot i, as bits */
GG_FN uint32_t GG_LANE_NAME(active_bits)(const gg_view *v, int64_t e, int32_t i, const int32_t *list, int32_t left) {
    const gg_params *p = &v->params;
    const gg_vec4 *x = v->position + e * v->dims.slots;
    int32_t index[GG_LANE_WIDTH];
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        index[k] = k < left ? list[k] : i;
    }
    gg_lane other[4];
    lane_points(x, index, other);
    GG_LANE_NAME(vec) d;
    d.x = GG_LANE_NAME(nearest_image)(p, 0, lane_splat(x[i].x) - other[0], p->lower.x, p->upper.x);
    d.y = GG_LANE_NAME(nearest_image)(p, 1, lane_splat(x[i].y) - other[1], p->lower.y, p->upper.y);
    d.z = GG_LANE_NAME(nearest_image)(p, 2, lane_splat(x[i].z) - other[2], p->lower.z, p->upper.z);
    gg_lane distance2 = GG_LANE_NAME(dot)(d, d), radius = lane_splat(x[i].w);
    gg_lane margin = radius + other[3] + lane_splat(p->margin * 2.0f) * lane_min(radius, other[3]);
    gg_lane most = margin + lane_splat(gg_maxf(2.0001f * v->env[e].speed_max * p->foresight, v->env[e].cohesion_range));
    uint32_t valid = left >= 32 ? 0xFFFFFFFFu : (1u << left) - 1u;
    uint32_t active = lane_less_bits(distance2, margin * margin) & valid;
    /* candidates that only speed or cohesion can bring into contact: few, except near a fast grain */
    uint32_t maybe = lane_less_bits(distance2, most * most) & valid & ~active;
#if GG_LANE_WIDTH > 1
    if (gg_bit_count(maybe) > GG_LANE_WIDTH / 4 && !(v->env[e].cohesion_range > 0.0f)) {
        return active | (GG_LANE_NAME(closing_bits)(v, e, i, index, distance2, margin) & maybe);
    }
#endif
    for (int k = 0; maybe; k++, maybe >>= 1) {
        if (maybe & 1u) {
            active |= (uint32_t)gg_pair_active(v, e, i, list[k]) << k;
        }
    }
    return active;
}

/* Counts the contacts of slot i into next_count and next_tool_count; `parts`: see gg_slice_parts. */
GG_FN void GG_LANE_NAME(count_lane)(const gg_view *v, int64_t e, int32_t i, uint64_t parts) {
    int64_t base = e * v->dims.slots;
    int32_t count = 0, tools = 0;
    uint64_t bits = 0;
    float inverse_mass = gg_slot_body_at(v, e, i)[GG_BODY_INVERSE_MASS];
    if (v->grain_id[base + i] >= 0) {
        const int32_t *list = v->candidate + e * v->dims.candidate_cap + v->candidate_first[base + i];
        int32_t candidates = v->candidate_count[base + i];
        for (int32_t k = 0; k < candidates; k += GG_LANE_WIDTH) {
            uint64_t active = GG_LANE_NAME(active_bits)(v, e, i, list + k, candidates - k);
            bits |= k < 64 ? active << k : 0;
            count += (int32_t)gg_bit_count((uint32_t)active);
        }
        /* what is fixed passes through tools */
        int64_t part = inverse_mass > 0.0f ? gg_next_part(v, parts, 0) : v->dims.part_count;
        for (; part < v->dims.part_count; part = gg_next_part(v, parts, part + 1)) {
            tools += gg_touch_part(v, e, i, part).active;
        }
    }
    v->active[base + i] = bits;
    v->next_count[base + i] = count + tools;
    v->next_tool_count[base + i] = tools;
    v->count_over_mass[base + i] = (float)(count + tools) * inverse_mass;
}

/* counts the contacts of all grains of one slice of env e */
GG_FN void GG_LANE_NAME(count_slice)(const gg_view *v, int64_t e, int64_t slice) {
    uint64_t parts = gg_slice_parts(v, e, slice);
    v->slice_parts[e * v->dims.slices + slice] = parts;
    for (int lane = 0; lane < GG_LANES; lane++) {
        GG_LANE_NAME(count_lane)(v, e, (int32_t)(slice * GG_LANES + lane), parts);
    }
    gg_contacts_counted(v, e, slice);
}
