/* rows.h: indices of the contacts of W grains, row by row; included by lane_phases.h, once per kind of lane. */

/* indices of one contact of W grains in the arrays */
typedef struct GG_LANE_NAME(at) {
    int64_t contact, contact3, roll, roll3, cohesive;
} GG_LANE_NAME(at);

GG_FN GG_LANE_NAME(at) GG_LANE_NAME(contacts_of)(const gg_view *v, int64_t e, int64_t row, int64_t lane) {
    GG_LANE_NAME(at) at;
    at.contact = (e * v->dims.contact_rows + row) * GG_LANES + lane;
    at.contact3 = (e * v->dims.contact_rows + row) * GG_LANES * 3 + lane;
    at.roll = (e * v->dims.spheres.roll_rows + row) * GG_LANES + lane;
    at.roll3 = (e * v->dims.spheres.roll_rows + row) * GG_LANES * 3 + lane;
    at.cohesive = (e * v->dims.spheres.cohesive_rows + row) * GG_LANES + lane;
    return at;
}

GG_FN void GG_LANE_NAME(next_contact)(GG_LANE_NAME(at) * at) {
    at->contact += GG_LANES;
    at->contact3 += 3 * GG_LANES;
    at->roll += GG_LANES;
    at->roll3 += 3 * GG_LANES;
    at->cohesive += GG_LANES;
}
