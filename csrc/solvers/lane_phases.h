/* lane_phases.h: code written once for one grain and for a vector of W grains: the search for candidates and the phases
 * of the contact laws. Included once per kind of lane (scalar.h; backend/vector.h), which defines:
 *   GG_LANE_WIDTH, gg_lane (supports + - *), GG_LANE_NAME(x) (unique function names)
 *   lane_load(const float *)                W consecutive floats
 *   lane_store(float *, gg_lane)
 *   lane_splat(float)
 *   lane_min, lane_max(gg_lane, gg_lane)    a < b ? a : b,  a > b ? a : b
 *   lane_sqrt(gg_lane), lane_div(gg_lane, gg_lane)
 *   lane_ratio(a, b)                        a / b, of b > 0; a is often 0
 *   lane_less(a, b, x, y)                   a < b ? x : y, lane by lane
 *   lane_less_bits(a, b)                    bit k: a < b in lane k
 *   lane_at_least(const int32_t *, int32_t a)  1 where an integer is a or more, else 0
 *   lane_first(int32_t count)               1 for the first `count` of W lanes, 0 for the others
 *   lane_gather(const float *, const int32_t *index)
 *   lane_mark(int32_t *, uint32_t bits, uint32_t mark)   sets the bits of `mark` in those of W integers that have a bit
 *   lane_points(const gg_vec4 *, const int32_t *index, gg_lane out[4])      gathers W points
 *   lane_bodies(const float *, const int32_t *index, gg_lane out[GG_BODY])  gathers W bodies
 *   lane_bodies_store(float *, int64_t first, const gg_lane in[GG_BODY])    stores W consecutive bodies
 *   lane_bodies_scatter(float *, const int32_t *index, int count, const gg_lane in[GG_BODY])   the first `count` bodies
 *   lane_points_scatter(gg_vec4 *, const int32_t *index, int count, int32_t last, const gg_lane in[4])  the first `count`
 *                                           points whose index is at most `last`
 *   lane_points_store(gg_vec4 *, const gg_lane in[4])                       stores W consecutive points
 *   lane_bodies_copy(float *to, const float *from)                          copies W consecutive bodies
 *   lane_triples(const float *, int64_t stride, const int32_t *index, gg_lane out[3])   gathers W times three
 *                                           consecutive floats, the first of them at index times stride
 *   lane_triples_scatter(float *, int64_t stride, const int32_t *index, const gg_lane in[3])   the inverse
 *   lane_prefetch(const float *, int64_t stride, const int32_t *index)      says that these triples are needed soon
 *   lane_search_fallback(view, env, slot)   the search with one grain per lane (vectors only)
 * Every operation is the IEEE one, in the same order per grain, so that all widths give the same bits.
 */
#include "lanes.h"
#include "lane_contacts.h"
#include "../contact/search.h"
#include "predict.h"
#include "spheres/rows.h"
#include "spheres/count.h"
#include "spheres/iterate.h"
#include "spheres/move.h"
#include "spheres/prepare.h"
#include "spheres/coloured/prepare.h"
#include "spheres/coloured/sweep.h"
#include "spheres/coloured/bodies.h"
#include "spheres/coloured/notes.h"
#include "spheres/clumps/prepare.h"
#include "spheres/clumps/sweep.h"
#include "planar/prepare.h"
#include "planar/iterate.h"
