/* shade_trace.h: draws the parts of tools into a picture, coarse to fine.
 *
 * The rays of a tile share the free space before them: one march along the middle of the tile gives all its rays a depth
 * before which they cannot meet the part, and drops tiles that pass the part by or see it only behind what is drawn
 * (cone marching, after Hart 1996). The rays meet what strip.h would have them meet, up to rounding.
 */
#ifndef GG_SHADE_TRACE_H
#define GG_SHADE_TRACE_H

#include "matter_draw.h"
#include "shade_rays.h"
#include "strip.h"

#define GG_SHADE_TILE       16 /* rays along a side of the largest tile */
#define GG_SHADE_TILE_LEAST 4  /* side of the smallest tile; its rays are GG_LANES */
#define GG_SHADE_TILE_STEPS 48 /* of a march at most */

/* a part to draw; its frame as seen through the lens */
typedef struct gg_shade_solid {
    gg_strip_solid solid;
    gg_vec3 eye;                   /* the lens, in the part's frame [m] */
    gg_vec3 right, down, straight; /* the axes of the lens there */
    float from, to;                /* depths between which rays may meet the part [m] */
} gg_shade_solid;

GG_FN gg_shade_solid gg_shade_solid_make(const gg_strip *strip, const gg_lens *lens, const gg_view *v,
                                         const gg_shape *shape, gg_pose pose, int32_t id) {
    gg_shade_solid s;
    s.solid = gg_strip_solid_make(strip, lens, v, shape, pose, id);
    gg_mat3 turn = s.solid.rotation, m = lens->rotation;
    s.eye = gg_mat_tmul(turn, gg_sub(lens->position, s.solid.position));
    s.right = gg_mat_tmul(turn, gg_v3(m.r0.x, m.r1.x, m.r2.x));
    s.down = gg_mat_tmul(turn, gg_v3(m.r0.y, m.r1.y, m.r2.y));
    s.straight = gg_mat_tmul(turn, gg_v3(m.r0.z, m.r1.z, m.r2.z));
    s.from = s.solid.bounded ? gg_maxf(lens->near_depth, s.solid.c.z - s.solid.reach) : lens->near_depth;
    s.to = s.solid.bounded ? gg_minf(lens->far_depth, s.solid.c.z + s.solid.reach) : lens->far_depth;
    return s;
}

/* ray of slopes or offsets (x, y) in the part's frame */
GG_FN void gg_shade_solid_ray(const gg_shade_solid *s, const gg_lens *lens, float x, float y, gg_vec3 *origin,
                              gg_vec3 *direction) {
    gg_vec3 side = gg_madd(gg_scale(s->right, x), s->down, y);
    *origin = lens->perspective ? s->eye : gg_add(s->eye, side);
    *direction = lens->perspective ? gg_add(s->straight, side) : s->straight;
}

/* a square of pixels */
typedef struct gg_shade_tile {
    gg_vec3 origin, direction; /* of the middle ray, in the part's frame */
    float spread;              /* distance of a ray from it: at depth 1 in perspective, else at any depth [m] */
} gg_shade_tile;

GG_FN gg_shade_tile gg_shade_tile_make(const gg_lens *lens, const gg_shade_solid *s, int32_t row, int32_t column,
                                       int32_t size) {
    gg_shade_tile tile;
    float middle = 0.5f * (float)(size - 1) * lens->pixel;
    gg_shade_solid_ray(s, lens, gg_lens_column(lens, column) + middle, gg_lens_row(lens, row) + middle, &tile.origin,
                       &tile.direction);
    /* half a diagonal, and rounding */
    tile.spread = 1.42f * middle;
    return tile;
}

/* Depth before which no ray of a tile meets a part; GG_UNBOUNDED: none meets it before `to`. At one depth all rays of
 * the tile lie within its spread there, so all are free as long as the distance of the middle ray exceeds it. */
GG_FN float gg_shade_march(const gg_lens *lens, const gg_view *v, const gg_shape *shape, const gg_shade_tile *tile,
                           float from, float to) {
    /* no ray of the tile is longer per depth; the interpolant of a grid may be slightly steeper than a distance */
    float inverse = 1.0f / (gg_norm(tile->direction) + (lens->perspective ? tile->spread : 0.0f));
    float safety = shape->kind == GG_SHAPE_GRID ? 0.9f : 1.0f;
    float t = from;
    for (int step = 0; step < GG_SHADE_TILE_STEPS; step++) {
        gg_vec3 p = gg_madd(tile->origin, tile->direction, t);
        float distance = safety * gg_sdf_distance(shape, v->grids, v->samples, p);
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

/* the depth up to which a part is far from all rays of a tile; GG_UNBOUNDED: it is nowhere near. from: the part is known
 * to be no nearer; to: the rays end there */
GG_FN float gg_shade_tile_free(const gg_lens *lens, const gg_view *v, const gg_shade_solid *s, int32_t row,
                               int32_t column, int32_t size, float from, float to) {
    if (!(from < to)) {
        return GG_UNBOUNDED;
    }
    const gg_shape *shape = s->solid.shape;
    int marched = shape->kind == GG_SHAPE_GRID;
    if (!marched && !s->solid.bounded) {
        return from;
    }
    gg_shade_tile tile = gg_shade_tile_make(lens, s, row, column, size);
    if (s->solid.bounded) {
        float spread = lens->perspective ? tile.spread * gg_maxf(gg_absf(to), gg_absf(from)) : tile.spread;
        gg_vec3 half = gg_add(s->solid.half, gg_v3(spread, spread, spread));
        if (!gg_strip_passes(gg_sub(tile.origin, shape->bound_center), tile.direction, half)) {
            return GG_UNBOUNDED;
        }
    }
    return marched ? gg_shade_march(lens, v, shape, &tile, from, to) : from;
}

/* the greatest depth drawn in a tile: rays need not go farther */
GG_FN float gg_shade_farthest(const gg_strip *strip, const gg_lens *lens, const gg_lens_area *tile) {
    float farthest = -GG_UNBOUNDED;
    for (int32_t row = tile->row_begin; row < tile->row_end; row++) {
        const float *depth = strip->depth + (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = tile->column_begin; column < tile->column_end; column++) {
            farthest = gg_maxf(farthest, depth[column]);
        }
    }
    return farthest;
}

/* the pixels of an area in a tile that begins at row and column */
GG_FN gg_lens_area gg_shade_tile_area(const gg_lens_area *area, int32_t row, int32_t column, int32_t size) {
    return GG_LIT(gg_lens_area){row, GG_MIN(row + size, area->row_end), column,
                                GG_MIN(column + size, area->column_end)};
}

/* the rays of a smallest tile */
GG_FN void gg_shade_tile_rays(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_shade_solid *s,
                              const gg_lens_area *area, float from) {
    gg_rays rays;
    float slant = lens->perspective ? 1.0f : 0.0f, flat = 1.0f - slant;
    for (int k = 0; k < GG_LANES; k++) {
        float x = gg_lens_column(lens, area->column_begin + k % GG_SHADE_TILE_LEAST);
        float y = gg_lens_row(lens, area->row_begin + k / GG_SHADE_TILE_LEAST);
        float sx = s->right.x * x + s->down.x * y, sy = s->right.y * x + s->down.y * y;
        float sz = s->right.z * x + s->down.z * y;
        rays.x[k] = s->eye.x + flat * sx;
        rays.y[k] = s->eye.y + flat * sy;
        rays.z[k] = s->eye.z + flat * sz;
        rays.dx[k] = s->straight.x + slant * sx;
        rays.dy[k] = s->straight.y + slant * sy;
        rays.dz[k] = s->straight.z + slant * sz;
        rays.to[k] = -GG_UNBOUNDED;
    }
    for (int32_t row = area->row_begin; row < area->row_end; row++) {
        const float *depth = strip->depth + (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = area->column_begin; column < area->column_end; column++) {
            int k = (row - area->row_begin) * GG_SHADE_TILE_LEAST + column - area->column_begin;
            rays.to[k] = gg_minf(s->to, depth[column]);
        }
    }
    gg_shade_meet(&rays, lens, v, s->solid.shape, from);
    for (int32_t row = area->row_begin; row < area->row_end; row++) {
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = area->column_begin; column < area->column_end; column++) {
            int k = (row - area->row_begin) * GG_SHADE_TILE_LEAST + column - area->column_begin;
            gg_strip_put(strip, first + column, rays.met[k], s->solid.id);
        }
    }
}

/* a largest tile, then the smallest ones in it */
GG_FN void gg_shade_tile_draw(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_shade_solid *s,
                              int32_t row, int32_t column) {
    gg_lens_area tile = gg_shade_tile_area(&s->solid.area, row, column, GG_SHADE_TILE);
    float to = gg_minf(s->to, gg_shade_farthest(strip, lens, &tile));
    float start = gg_shade_tile_free(lens, v, s, row, column, GG_SHADE_TILE, s->from, to);
    for (int32_t r = row; r < tile.row_end && start < GG_UNBOUNDED; r += GG_SHADE_TILE_LEAST) {
        for (int32_t c = column; c < tile.column_end; c += GG_SHADE_TILE_LEAST) {
            gg_lens_area least = gg_shade_tile_area(&tile, r, c, GG_SHADE_TILE_LEAST);
            float limit = gg_minf(to, gg_shade_farthest(strip, lens, &least));
            float near = gg_shade_tile_free(lens, v, s, r, c, GG_SHADE_TILE_LEAST, start, limit);
            if (near < GG_UNBOUNDED) {
                gg_shade_tile_rays(strip, lens, v, s, &least, near);
            }
        }
    }
}

/* any part but a plane, at the pixels that its bounding sphere covers */
GG_FN_LARGE void gg_shade_solid_draw(const gg_strip *strip, const gg_lens *lens, const gg_view *v,
                                     const gg_shape *shape, gg_pose pose, int32_t id) {
    gg_shade_solid s = gg_shade_solid_make(strip, lens, v, shape, pose, id);
    const gg_lens_area *area = &s.solid.area;
    for (int32_t row = area->row_begin; row < area->row_end; row += GG_SHADE_TILE) {
        for (int32_t column = area->column_begin; column < area->column_end; column += GG_SHADE_TILE) {
            gg_shade_tile_draw(strip, lens, v, &s, row, column);
        }
    }
}

/* draws rows row_begin .. row_end - 1 of an image of an env, as gg_draw_strip does, and normals of continuous matter;
 * without them what casts shadows in its place */
GG_FN_LARGE void gg_shade_strip(const gg_lens *lens, const gg_view *v, int64_t env, int32_t row_begin, int32_t row_end,
                                float *depth, int32_t *id, uint32_t *normal, gg_strip_walls walls) {
    gg_strip strip = {row_begin, row_end, 0, lens->width, depth, id, normal, 0};
    gg_strip_clear(&strip, lens);
    if (!lens->usable) {
        return;
    }
    if (v->dims.continuum.envs && !normal) {
        gg_strip_grains(&strip, lens, GG_STRIP_CASTERS, v, env);
    } else {
        gg_draw_grains(&strip, lens, v, env);
    }
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        gg_pose pose;
        if (gg_strip_part(&strip, lens, v, env, k, walls, &pose)) {
            gg_shade_solid_draw(&strip, lens, v, &v->parts[k], pose, GG_STRIP_PART - (int32_t)k);
        }
    }
}

#endif
