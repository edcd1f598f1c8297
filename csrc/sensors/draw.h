/* draw.h: draws grains and tools into a window of a depth image on a CPU: what strip.h says of pixels, for GG_LANES
 * columns of a row at once, with the same bits.
 *
 * A part is traced only along rays that pass its bounding box before they reach what is drawn already.
 */
#ifndef GG_DRAW_H
#define GG_DRAW_H

#include "march.h"
#include "matter_draw.h"
#include "strip.h"

/* a solid, and a box in its frame that holds its surface */
typedef struct gg_draw_solid {
    gg_strip_solid part;
    gg_vec3 center, half; /* slightly larger, see gg_strip_solid */
    int closed;           /* no ray meets the part outside the box */
} gg_draw_solid;

GG_FN gg_draw_solid gg_draw_solid_make(const gg_strip *strip, const gg_lens *lens, const gg_view *v,
                                       const gg_shape *shape, gg_pose pose, int32_t id) {
    gg_draw_solid s;
    s.part = gg_strip_solid_make(strip, lens, v, shape, pose, id);
    s.center = shape->bound_center;
    s.half = s.part.half;
    s.closed = shape->kind != GG_SHAPE_GRID;
    if (shape->kind == GG_SHAPE_GRID) {
        /* all points that a ray may take for the surface lie in cells with a small sample */
        const gg_sdf_grid *grid = &v->grids[shape->grid];
        gg_vec3 margin = gg_sub(s.half, gg_strip_half(shape, v->grids));
        s.closed = grid->surface_margin > 1.01f * gg_depth_tolerance(gg_absf(s.part.c.z) + s.part.reach);
        if (s.closed) {
            s.center = gg_scale(gg_add(grid->surface_lower, grid->surface_upper), 0.5f);
            s.half = gg_add(gg_scale(gg_sub(grid->surface_upper, grid->surface_lower), 0.5f), margin);
        }
    }
    return s;
}

/* rays of one row through GG_LANES columns, in the frame of a part */
typedef struct gg_draw_beam {
    gg_rays rays;
    float from[GG_LANES]; /* depth where a ray begins */
    uint32_t open;        /* bit k: ray k may meet the part */
} gg_draw_beam;

/* depth at which the line o + t * d enters the slab |p| <= half; a line along the slab is in it from the beginning */
GG_FN float gg_draw_slab(float o, float d, float half) {
    float inverse = 1.0f / d;
    return gg_choose(gg_absf(d) > 1e-12f, gg_minf((-half - o) * inverse, (half - o) * inverse), -GG_UNBOUNDED);
}

/* depth at which the line o + t * d, which passes the box of these half extents, enters it */
GG_FN float gg_draw_box(gg_vec3 o, gg_vec3 d, gg_vec3 half) {
    return gg_maxf(gg_draw_slab(o.x, d.x, half.x),
                   gg_maxf(gg_draw_slab(o.y, d.y, half.y), gg_draw_slab(o.z, d.z, half.z)));
}

/* The rays of columns `column` and following of a row. `perspective` and `bounded` are those of the lens and the part: as
 * arguments, so that each combination gets a loop without branches. */
GG_FN void gg_draw_aim_kind(gg_draw_beam *beam, const gg_strip *strip, const gg_lens *lens, const gg_draw_solid *solid,
                            int32_t row, int32_t column, int perspective, int bounded) {
    const gg_strip_solid *s = &solid->part;
    const float *depth = strip->depth + (int64_t)(row - strip->row_begin) * lens->width + column;
    int32_t count = GG_MIN(s->area.column_end - column, GG_LANES);
    gg_lens own = *lens;
    own.perspective = perspective;
    float y = gg_lens_row(lens, row), behind[GG_LANES];
    for (int32_t k = 0; k < GG_LANES; k++) {
        behind[k] = -GG_UNBOUNDED;
    }
    memcpy(behind, depth, sizeof(float) * (size_t)count);
    gg_rays *rays = &beam->rays;
    int32_t open_box = !solid->closed;
    uint32_t open = 0;
    for (int32_t k = 0; k < GG_LANES; k++) {
        float x = gg_lens_column(lens, column + k), enter = lens->near_depth, leave = lens->far_depth;
        int32_t passes = !bounded || gg_lens_cross(perspective, s->c, s->reach, x, y, &enter, &leave);
        gg_vec3 o, d;
        gg_lens_ray(&own, x, y, &o, &d);
        o = gg_mat_tmul(s->rotation, gg_sub(o, s->position));
        d = gg_mat_tmul(s->rotation, d);
        enter = gg_maxf(enter, lens->near_depth);
        leave = gg_minf(leave, behind[k]);
        beam->from[k] = enter;
        rays->to[k] = leave;
        rays->x[k] = o.x;
        rays->y[k] = o.y;
        rays->z[k] = o.z;
        rays->dx[k] = d.x;
        rays->dy[k] = d.y;
        rays->dz[k] = d.z;
        if (bounded) {
            o = gg_sub(o, solid->center);
            passes &= gg_strip_passes(o, d, solid->half) & (open_box | (gg_draw_box(o, d, solid->half) < leave));
        }
        open |= (uint32_t)(passes & (enter < leave)) << k;
    }
    beam->open = open;
}

GG_FN void gg_draw_aim(gg_draw_beam *beam, const gg_strip *strip, const gg_lens *lens, const gg_draw_solid *s,
                       int32_t row, int32_t column) {
    if (s->part.bounded && lens->perspective) {
        gg_draw_aim_kind(beam, strip, lens, s, row, column, 1, 1);
    } else if (s->part.bounded) {
        gg_draw_aim_kind(beam, strip, lens, s, row, column, 0, 1);
    } else if (lens->perspective) {
        gg_draw_aim_kind(beam, strip, lens, s, row, column, 1, 0);
    } else {
        gg_draw_aim_kind(beam, strip, lens, s, row, column, 0, 0);
    }
}

/* a step of all rays on their way; what they meet is drawn */
GG_FN void gg_draw_march(const gg_strip *strip, const gg_view *v, const gg_strip_solid *s, gg_march *march) {
    for (uint32_t ended = gg_march_on(march, s->shape, v->grids, v->samples); ended; ended &= ended - 1u) {
        int k = gg_bit_lowest(ended);
        gg_strip_put(strip, march->pixel[k], march->rays.met[k], s->id);
    }
}

/* Draws a part but a plane, with the bits of gg_strip_solid_draw. */
GG_FN_LARGE void gg_draw_rays(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_shape *shape,
                              gg_pose pose, int32_t id) {
    gg_draw_solid s = gg_draw_solid_make(strip, lens, v, shape, pose, id);
    gg_march march;
    gg_march_clear(&march);
    for (int32_t row = s.part.area.row_begin; row < s.part.area.row_end; row++) {
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = s.part.area.column_begin; column < s.part.area.column_end; column += GG_LANES) {
            gg_draw_beam beam;
            gg_draw_aim(&beam, strip, lens, &s, row, column);
            for (uint32_t open = beam.open; open; open &= open - 1u) {
                int k = gg_bit_lowest(open);
                while (march.open == GG_MARCH_ALL) {
                    gg_draw_march(strip, v, &s.part, &march);
                }
                gg_march_add(&march, &beam.rays, k, beam.from[k], first + column + k);
            }
        }
    }
    while (march.open) {
        gg_draw_march(strip, v, &s.part, &march);
    }
}

/* gg_strip_plane, without bounds */
GG_FN void gg_draw_plane(const gg_strip *strip, const gg_lens *lens, gg_pose pose, int32_t id) {
    gg_strip_face face = gg_strip_face_make(lens, pose);
    for (int32_t row = strip->row_begin; row < strip->row_end; row++) {
        float y = gg_lens_row(lens, row), t[GG_LANES];
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = strip->column_begin; column < strip->column_end; column += GG_LANES) {
            int32_t count = GG_MIN(strip->column_end - column, GG_LANES);
            for (int32_t k = 0; k < GG_LANES; k++) {
                t[k] = gg_strip_face_depth(&face, lens->perspective, gg_lens_column(lens, column + k), y,
                                           lens->near_depth);
            }
            gg_strip_put_row(strip, first + column, t, count, id);
        }
    }
}

/* draws rows row_begin .. row_end - 1 of an image of an env into depth and, unless NULL, id, (rows, width) each */
GG_FN void gg_draw_strip(const gg_lens *lens, const gg_view *v, int64_t env, int32_t row_begin, int32_t row_end,
                         float *depth, int32_t *id, gg_strip_walls walls) {
    gg_strip strip = {row_begin, row_end, 0, lens->width, depth, id, 0, 0};
    gg_strip_clear(&strip, lens);
    if (!lens->usable) {
        return;
    }
    gg_draw_grains(&strip, lens, v, env);
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        const gg_shape *shape = &v->parts[k];
        gg_pose pose = gg_depth_part_pose(v, env, k);
        int32_t part = GG_STRIP_PART - (int32_t)k;
        if (!gg_strip_shows(v, env, k, walls)) {
            continue;
        }
        if (shape->kind != GG_SHAPE_PLANE) {
            gg_draw_rays(&strip, lens, v, shape, pose, part);
        } else if (gg_strip_edges(v, shape)) {
            gg_strip_plane(&strip, lens, pose, gg_strip_edges(v, shape), part);
        } else {
            gg_draw_plane(&strip, lens, pose, part);
        }
    }
}

#endif
