/* shade_trace.h: draws the parts of tools into a picture, coarse to fine.
 *
 * The rays of a tile share the free space before them: one march along the middle of the tile gives all its rays a depth
 * before which they cannot meet the part, and drops tiles that pass the part by (cone marching, after Hart 1996).
 * The rays meet what strip.h would have them meet, up to rounding.
 */
#ifndef GG_SHADE_TRACE_H
#define GG_SHADE_TRACE_H

#include "strip.h"

#define GG_SHADE_TILE         16 /* rays along a side of the largest tile */
#define GG_SHADE_TILE_LEAST   4  /* side of the smallest tile */
#define GG_SHADE_TILE_STEPS   48 /* of a march at most */
#define GG_SHADE_NEWTON_STEPS 24

/* Distance within which a surface counts as met if the ray meets it soon: the rest of the way is then straight. Both in
 * pixels. */
#define GG_SHADE_NEAR 0.7f
#define GG_SHADE_SOON 1.0f

/* depth in [from, to) at which a ray enters a box of these half extents; GG_UNBOUNDED: nowhere */
GG_FN float gg_shade_box(gg_vec3 o, gg_vec3 d, gg_vec3 half, float from, float to) {
    float enter = -GG_UNBOUNDED, leave = GG_UNBOUNDED;
    float origin[3] = {o.x, o.y, o.z}, direction[3] = {d.x, d.y, d.z}, size[3] = {half.x, half.y, half.z};
    for (int k = 0; k < 3; k++) {
        if (gg_absf(direction[k]) < 1e-12f) {
            leave = gg_absf(origin[k]) > size[k] ? -GG_UNBOUNDED : leave;
            continue;
        }
        float inverse = 1.0f / direction[k];
        float middle = -origin[k] * inverse, side = size[k] * gg_absf(inverse);
        enter = gg_maxf(enter, middle - side);
        leave = gg_minf(leave, middle + side);
    }
    return enter < leave && enter >= from && enter < to ? enter : GG_UNBOUNDED;
}

/* depth in [from, to) at which a ray leaves a tube round z, and so enters its wall; GG_UNBOUNDED: nowhere */
GG_FN float gg_shade_cavity(gg_vec3 o, gg_vec3 d, float radius, float from, float to) {
    float a = d.x * d.x + d.y * d.y, cross = o.x * d.y - o.y * d.x;
    float s = a * (radius * radius) - cross * cross;
    if (!(a > 1e-18f && s > 0.0f)) {
        return GG_UNBOUNDED;
    }
    float t = (sqrtf(s) - (o.x * d.x + o.y * d.y)) / a;
    return t >= from && t < to ? t : GG_UNBOUNDED;
}

/* The same for a convex part. Along a ray the distance to it is convex, so Newton's steps never overshoot, and a ray
 * that does not approach the part has missed it. */
GG_FN float gg_shade_convex(const gg_lens *lens, const gg_view *v, const gg_shape *shape, gg_vec3 origin,
                            gg_vec3 direction, float from, float to) {
    float t = from;
    for (int step = 0; step < GG_SHADE_NEWTON_STEPS && t < to; step++) {
        gg_sdf_hit hit = gg_sdf_eval(shape, v->grids, v->samples, gg_madd(origin, direction, t));
        float approach = -gg_dot(hit.gradient, direction);
        if (!(approach > 0.0f) || (step == 0 && hit.distance < 0.0f)) {
            return GG_UNBOUNDED;
        }
        t += hit.distance / approach;
        /* the error left is of the second order in the distance */
        float pixel = lens->pixel * (lens->perspective ? gg_absf(t) : 1.0f);
        if (hit.distance < GG_DEPTH_TOLERANCE * gg_absf(t) || hit.distance < GG_SHADE_NEAR * pixel * approach) {
            return t < to ? t : GG_UNBOUNDED;
        }
    }
    return GG_UNBOUNDED;
}

/* The same for any other part, as gg_depth_trace, to a share of a pixel; pixel: its size at depth 1 in perspective,
 * else at any depth [m] */
GG_FN float gg_shade_steps(const gg_lens *lens, const gg_view *v, const gg_shape *shape, gg_vec3 origin,
                           gg_vec3 direction, float from, float to) {
    float inverse = 1.0f / gg_norm(direction);
    float safety = shape->kind == GG_SHAPE_GRID ? 0.9f : 1.0f;
    float push = (to - from) * (1.0f / (float)GG_DEPTH_PUSH);
    float t = from, last_t = from;
    int outside = 0;
    for (int step = 0; step <= GG_DEPTH_STEPS && t < to; step++) {
        gg_vec3 p = gg_madd(origin, direction, t);
        float distance = gg_sdf_distance(shape, v->grids, v->samples, p);
        float tolerance = GG_DEPTH_TOLERANCE * gg_absf(t) + 1e-7f;
        float pixel = lens->pixel * (lens->perspective ? gg_absf(t) : 1.0f);
        if (outside && distance < 0.0f) {
            return gg_depth_bisect(shape, v->grids, v->samples, origin, direction, last_t, t);
        }
        if (distance >= 0.0f && distance < gg_maxf(tolerance, GG_SHADE_NEAR * pixel)) {
            float facing = -gg_dot(gg_sdf_eval(shape, v->grids, v->samples, p).gradient, direction) * inverse;
            if (facing > 0.0f && (distance < tolerance || distance < GG_SHADE_SOON * pixel * facing)) {
                return t + distance / gg_maxf(facing, 0.1f) * inverse;
            }
        }
        outside = distance >= 0.0f;
        last_t = t;
        float advance = gg_maxf(gg_absf(distance) * safety, tolerance) * inverse;
        t += step < GG_DEPTH_FREE_STEPS ? advance : gg_maxf(advance, push);
    }
    return GG_UNBOUNDED;
}

/* depth in [from, to) at which a ray of the part's frame enters the part; GG_UNBOUNDED: nowhere */
GG_FN float gg_shade_trace(const gg_lens *lens, const gg_view *v, const gg_shape *shape, gg_vec3 origin,
                           gg_vec3 direction, float from, float to) {
    switch (shape->kind) {
    case GG_SHAPE_BOX:
        return gg_shade_box(origin, direction, gg_v3(shape->size[0], shape->size[1], shape->size[2]), from, to);
    case GG_SHAPE_CAVITY:
        return gg_shade_cavity(origin, direction, shape->size[0], from, to);
    case GG_SHAPE_GRID:
        return gg_shade_steps(lens, v, shape, origin, direction, from, to);
    default:
        return gg_shade_convex(lens, v, shape, origin, direction, from, to);
    }
}

/* a square of pixels */
typedef struct gg_shade_tile {
    int32_t row, column, size;
    gg_vec3 origin, direction; /* of the middle ray, in the part's frame */
    float spread;              /* distance of a ray from it: at depth 1 in perspective, else at any depth [m] */
} gg_shade_tile;

GG_FN gg_shade_tile gg_shade_tile_make(const gg_lens *lens, const gg_strip_solid *s, int32_t row, int32_t column,
                                       int32_t size) {
    gg_shade_tile tile;
    float middle = 0.5f * (float)(size - 1) * lens->pixel;
    tile.row = row;
    tile.column = column;
    tile.size = size;
    gg_strip_solid_ray(s, lens, gg_lens_column(lens, column) + middle, gg_lens_row(lens, row) + middle, &tile.origin,
                       &tile.direction);
    /* half a diagonal, and rounding */
    tile.spread = 1.42f * middle;
    return tile;
}

/* Depth before which no ray of a tile meets a part; GG_UNBOUNDED: none meets it before `to`. At one depth all rays of
 * the tile lie within its spread there, so all are free as long as the distance of the middle ray exceeds it. */
GG_FN float gg_shade_march(const gg_lens *lens, const gg_view *v, const gg_strip_solid *s, const gg_shade_tile *tile,
                           float from, float to) {
    /* no ray of the tile is longer per depth */
    float inverse = 1.0f / (gg_norm(tile->direction) + (lens->perspective ? tile->spread : 0.0f));
    float safety = s->shape->kind == GG_SHAPE_GRID ? 0.9f : 1.0f;
    float t = from;
    for (int step = 0; step < GG_SHADE_TILE_STEPS; step++) {
        gg_vec3 p = gg_madd(tile->origin, tile->direction, t);
        float distance = safety * gg_sdf_distance(s->shape, v->grids, v->samples, p);
        float spread = lens->perspective ? tile->spread * gg_absf(t) : tile->spread;
        float room = distance - spread - 4.0f * GG_DEPTH_TOLERANCE * gg_absf(t);
        if (!(room > 0.0f)) {
            return t;
        }
        t += room * inverse;
        if (t >= to) {
            return GG_UNBOUNDED;
        }
        if (room < 0.5f * spread) {
            return t;
        }
    }
    return t;
}

/* the depth up to which a part is far from all rays of a tile; GG_UNBOUNDED: it is nowhere near. free_depth: the part is
 * known to be no nearer; to: the rays end there */
GG_FN float gg_shade_tile_free(const gg_lens *lens, const gg_view *v, const gg_strip_solid *s, int32_t row,
                               int32_t column, int32_t size, float free_depth, float to) {
    const gg_shape *shape = s->shape;
    gg_shade_tile tile = gg_shade_tile_make(lens, s, row, column, size);
    if (s->bounded) {
        float spread = lens->perspective ? tile.spread * gg_maxf(gg_absf(to), gg_absf(free_depth)) : tile.spread;
        gg_vec3 half = gg_add(s->half, gg_v3(spread, spread, spread));
        if (!gg_strip_passes(gg_sub(tile.origin, shape->bound_center), tile.direction, half)) {
            return GG_UNBOUNDED;
        }
    }
    /* where the ray's way is known at once, there is no march to share */
    int known = shape->kind == GG_SHAPE_BOX || shape->kind == GG_SHAPE_CAVITY;
    return known ? free_depth : gg_shade_march(lens, v, s, &tile, free_depth, to);
}

/* the rays of a smallest tile */
GG_FN void gg_shade_tile_rays(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_strip_solid *s,
                              int32_t row, int32_t column, float start, float to) {
    int32_t row_end = GG_MIN(row + GG_SHADE_TILE_LEAST, s->area.row_end);
    int32_t column_end = GG_MIN(column + GG_SHADE_TILE_LEAST, s->area.column_end);
    for (int32_t r = row; r < row_end; r++) {
        for (int32_t c = column; c < column_end; c++) {
            int64_t pixel = (int64_t)(r - strip->row_begin) * lens->width + c;
            float limit = gg_minf(to, strip->depth[pixel]);
            gg_vec3 origin, direction;
            if (start < limit &&
                gg_strip_solid_ray(s, lens, gg_lens_column(lens, c), gg_lens_row(lens, r), &origin, &direction)) {
                gg_strip_put(strip, pixel, gg_shade_trace(lens, v, s->shape, origin, direction, start, limit), s->id);
            }
        }
    }
}

/* a largest tile, then the smallest ones in it; free_depth: the part is known to be no nearer */
GG_FN void gg_shade_tile_draw(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_strip_solid *s,
                              int32_t row, int32_t column, float free_depth) {
    float to = s->bounded ? gg_minf(lens->far_depth, s->c.z + s->reach) : lens->far_depth;
    float start = gg_shade_tile_free(lens, v, s, row, column, GG_SHADE_TILE, free_depth, to);
    if (start >= GG_UNBOUNDED) {
        return;
    }
    int32_t row_end = GG_MIN(row + GG_SHADE_TILE, s->area.row_end);
    int32_t column_end = GG_MIN(column + GG_SHADE_TILE, s->area.column_end);
    for (int32_t r = row; r < row_end; r += GG_SHADE_TILE_LEAST) {
        for (int32_t c = column; c < column_end; c += GG_SHADE_TILE_LEAST) {
            float near = gg_shade_tile_free(lens, v, s, r, c, GG_SHADE_TILE_LEAST, start, to);
            if (near < GG_UNBOUNDED) {
                gg_shade_tile_rays(strip, lens, v, s, r, c, near, to);
            }
        }
    }
}

/* any part but a plane, at the pixels that its bounding sphere covers */
GG_FN void gg_shade_solid(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_shape *shape,
                          gg_pose pose, int32_t id) {
    gg_strip_solid s = gg_strip_solid_make(strip, lens, v, shape, pose, id);
    float from = s.bounded ? gg_maxf(lens->near_depth, s.c.z - s.reach) : lens->near_depth;
    for (int32_t row = s.area.row_begin; row < s.area.row_end; row += GG_SHADE_TILE) {
        for (int32_t column = s.area.column_begin; column < s.area.column_end; column += GG_SHADE_TILE) {
            gg_shade_tile_draw(strip, lens, v, &s, row, column, from);
        }
    }
}

/* draws rows row_begin .. row_end - 1 of an image of an env, as gg_strip_draw does */
GG_FN void gg_shade_strip(const gg_lens *lens, const gg_view *v, int64_t env, int32_t row_begin, int32_t row_end,
                          float *depth, int32_t *id, gg_strip_walls walls) {
    gg_strip strip = {row_begin, row_end, 0, lens->width, depth, id};
    gg_strip_clear(&strip, lens);
    if (!lens->usable) {
        return;
    }
    gg_strip_grains(&strip, lens, v, env);
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        const gg_shape *shape = &v->parts[k];
        gg_pose pose = gg_depth_part_pose(v, env, k);
        if (!gg_strip_shows(v, env, k, walls)) {
            continue;
        }
        int32_t part = GG_STRIP_PART - (int32_t)k;
        if (shape->kind == GG_SHAPE_PLANE) {
            gg_strip_plane(&strip, lens, pose, gg_strip_edges(v, shape), part);
        } else {
            gg_shade_solid(&strip, lens, v, shape, pose, part);
        }
    }
}

#endif
