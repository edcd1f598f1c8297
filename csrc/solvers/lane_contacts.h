/* lane_contacts.h: what all laws share of contacts in lanes. Included by lane_phases.h, once per kind of lane. */

/* sums over the contacts of W grains, before the first iteration */
typedef struct GG_LANE_NAME(sums) {
    GG_LANE_NAME(vec) dv, du, correction;
    gg_lane overlap_max, overlap_sum, overlap_count;
} GG_LANE_NAME(sums);

GG_FN GG_LANE_NAME(sums) GG_LANE_NAME(no_sums)(void) {
    GG_LANE_NAME(sums) sums;
    sums.dv = sums.du = sums.correction = GG_LANE_NAME(zero)();
    sums.overlap_max = sums.overlap_sum = sums.overlap_count = lane_splat(0.0f);
    return sums;
}

/* Target normal velocity of W contacts: no faster approach than the gap allows, or the rebound of an impact. Overlap is
 * left to position correction, except in the printed algorithm (Baumgarte). */
GG_FN gg_lane GG_LANE_NAME(bias)(const gg_params *p, gg_lane bounce_speed, gg_lane gap, gg_lane approach,
                                 gg_lane restitution) {
    gg_lane zero = lane_splat(0.0f), dt = lane_splat(p->dt), out = zero;
    if (p->mode == GG_MODE_PAPER) {
        out = lane_min(lane_div(lane_splat(p->alpha) * (zero - gap), dt), lane_splat(p->correction_max / p->dt));
    }
    /* gaps within rounding error count as 0: grains at rest would close them at ulp / dt, again and again */
    gg_lane slack = lane_splat(p->slack);
    gg_lane bias = lane_less(gap, slack, out, lane_div(slack - gap, dt));
    /* only contacts that are fast enough to be impacts and close within this substep bounce */
    gg_lane bounce = lane_max(bias, zero - restitution * approach);
    bounce = lane_less(gap + dt * approach, zero, bounce, bias);
    return lane_less(approach, zero - bounce_speed, bounce, bias);
}

/* adds the overlap of W contacts over the smaller diameter; radius: of the smaller side */
GG_FN void GG_LANE_NAME(note_overlap)(gg_lane radius, gg_lane gap, GG_LANE_NAME(sums) * sums) {
    gg_lane zero = lane_splat(0.0f);
    gg_lane overlap = lane_div(zero - gap, lane_max(radius + radius, lane_splat(1e-30f)));
    sums->overlap_max = lane_max(sums->overlap_max, lane_max(overlap, zero));
    sums->overlap_sum = sums->overlap_sum + lane_less(gap, zero, overlap, zero);
    sums->overlap_count = sums->overlap_count + lane_less(gap, zero, lane_splat(1.0f), zero);
}

/* stores the overlaps of each of the W grains */
GG_FN void GG_LANE_NAME(store_overlaps)(const GG_LANE_NAME(sums) * sums, gg_overlaps *each) {
    float most[GG_LANE_WIDTH], sum[GG_LANE_WIDTH], count[GG_LANE_WIDTH];
    lane_store(most, sums->overlap_max);
    lane_store(sum, sums->overlap_sum);
    lane_store(count, sums->overlap_count);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        each[k].most = most[k];
        each[k].sum = sum[k];
        each[k].count = count[k];
    }
}

/* records the residual of a slice: the largest of W changes of velocity */
GG_FN void GG_LANE_NAME(note_residual)(const gg_view *v, int64_t e, int64_t slice, gg_lane change) {
    float each[GG_LANE_WIDTH], most = 0.0f;
    lane_store(each, change);
    for (int k = 0; k < GG_LANE_WIDTH; k++) {
        most = gg_maxf(most, each[k]);
    }
    v->slice_stats[e * v->dims.slices + slice].residual = most;
}
