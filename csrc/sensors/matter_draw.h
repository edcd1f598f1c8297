/* matter_draw.h: draws the surface of continuous matter on a CPU: what matter_surface.h says of a ray, for blocks of GG_LANES
 * pixels at once, with the same bits.
 *
 * The particles near the rays of a block are listed once for all of them and several of their steps, in the order in
 * which a single ray would find them.
 */
#ifndef GG_MATTER_DRAW_H
#define GG_MATTER_DRAW_H

#include "matter_face.h"
#include "normal.h"
#include "strip.h"

/* pixels along a side of a block */
#define GG_MATTER_BLOCK 4
/* particles that a list holds */
#define GG_MATTER_LIST 768
/* what a list looks ahead of rays, in units of the distance of particles */
#define GG_MATTER_AHEAD 0.8f

/* particles near a box, in their order */
typedef struct gg_matter_list {
    gg_aabb box;
    int32_t count; /* -1: there is no list */
    float x[GG_MATTER_LIST], y[GG_MATTER_LIST], z[GG_MATTER_LIST], scale[GG_MATTER_LIST];
    int32_t id[GG_MATTER_LIST];
} gg_matter_list;

/* a block of rays, where they are, and the sums there */
typedef struct gg_matter_block {
    gg_matter_ray ray[GG_LANES];
    float x[GG_LANES], y[GG_LANES], z[GG_LANES];
    float weight[GG_LANES], lean_x[GG_LANES], lean_y[GG_LANES], lean_z[GG_LANES];
    uint32_t open; /* bit k: ray k is on its way */
} gg_matter_block;

GG_FN gg_aabb gg_aabb_point(gg_vec3 p) { return GG_LIT(gg_aabb){p, p}; }

/* squared distance of a coordinate from an interval */
GG_FN float gg_matter_off2(float x, float low, float high) {
    float off = gg_choose_max(gg_choose_max(low - x, x - high), 0.0f);
    return off * off;
}

/* which of the particles of a run from k on, GG_LANES at most, have a say in a box: bit by bit */
GG_FN uint32_t gg_matter_near(const gg_matter_points *p, int32_t k, int32_t end, gg_aabb box) {
    int32_t near[GG_LANES];
    uint32_t bits = 0;
    for (int lane = 0; lane < GG_LANES; lane++) {
        float off2 = gg_matter_off2(p->x[k + lane], box.low.x, box.high.x) +
                     gg_matter_off2(p->y[k + lane], box.low.y, box.high.y) +
                     gg_matter_off2(p->z[k + lane], box.low.z, box.high.z);
        float scale = p->scale[k + lane];
        near[lane] = off2 * (scale * scale) < 1.001f * (GG_MATTER_REACH * GG_MATTER_REACH);
    }
    for (int lane = 0; lane < GG_LANES; lane++) {
        bits |= (uint32_t)near[lane] << lane;
    }
    return end - k < GG_LANES ? bits & ((1u << (end - k)) - 1u) : bits;
}

/* lists the particles that have a say in a box; none where they are too many or out of order */
GG_FN void gg_matter_list_make(gg_matter_list *list, const gg_view *v, int64_t e, gg_aabb box) {
    gg_matter_walk walk;
    gg_matter_points p = gg_matter_points_of(v, e);
    int32_t count = 0;
    list->box = box;
    list->count = -1;
    if (!gg_matter_walk_open(&walk, v, e, box.low, box.high)) {
        return;
    }
    while (gg_matter_walk_on(&walk)) {
        for (int32_t k = walk.begin; k < walk.end; k += GG_LANES) {
            uint32_t near = gg_matter_near(&p, k, walk.end, box);
            if (count > GG_MATTER_LIST - GG_LANES) {
                return;
            }
            for (; near; near &= near - 1u, count++) {
                int32_t from = k + gg_bit_lowest(near);
                list->x[count] = p.x[from];
                list->y[count] = p.y[from];
                list->z[count] = p.z[from];
                list->scale[count] = p.scale[from];
                list->id[count] = p.id[from];
            }
        }
    }
    list->count = count;
}

/* where the open rays are; makes a list for these places, and some way ahead, unless the last one will do */
GG_FN void gg_matter_block_place(gg_matter_block *b, gg_matter_list *list, const gg_view *v, int64_t e) {
    gg_aabb box = gg_aabb_empty(), old = list->box;
    for (uint32_t open = b->open; open; open &= open - 1u) {
        int k = gg_bit_lowest(open);
        gg_vec3 p = gg_matter_ray_point(&b->ray[k]);
        b->x[k] = p.x;
        b->y[k] = p.y;
        b->z[k] = p.z;
        box = gg_aabb_join(box, gg_aabb_point(p));
    }
    gg_aabb both = gg_aabb_join(box, old);
    if (memcmp(&both, &old, sizeof old) == 0) {
        return;
    }
    for (uint32_t open = b->open; open; open &= open - 1u) {
        const gg_matter_ray *r = &b->ray[gg_bit_lowest(open)];
        box = gg_aabb_join(
            box, gg_aabb_point(gg_madd(r->origin, r->direction, gg_minf(r->t + GG_MATTER_AHEAD * r->unit, r->to))));
    }
    gg_matter_list_make(list, v, e, box);
}

/* the sums at a ray of a block */
GG_FN gg_matter_sum gg_matter_block_sum(const gg_matter_block *b, int k) {
    return GG_LIT(gg_matter_sum){b->weight[k], b->lean_x[k], b->lean_y[k], b->lean_z[k]};
}

/* the sums at the open rays */
GG_FN void gg_matter_block_add(gg_matter_block *b, const gg_matter_list *list, const gg_view *v, int64_t e) {
    for (uint32_t open = list->count < 0 ? b->open : 0; open; open &= open - 1u) {
        int k = gg_bit_lowest(open);
        gg_matter_sum sum = gg_matter_sum_at(v, e, gg_v3(b->x[k], b->y[k], b->z[k]));
        b->weight[k] = sum.weight;
        b->lean_x[k] = sum.x;
        b->lean_y[k] = sum.y;
        b->lean_z[k] = sum.z;
    }
    if (list->count < 0) {
        return;
    }
    for (int k = 0; k < GG_LANES; k++) {
        b->weight[k] = b->lean_x[k] = b->lean_y[k] = b->lean_z[k] = 0.0f;
    }
    for (int32_t i = 0; i < list->count; i++) {
        float x = list->x[i], y = list->y[i], z = list->z[i], scale = list->scale[i];
        for (int k = 0; k < GG_LANES; k++) {
            gg_matter_sum sum = gg_matter_block_sum(b, k);
            gg_matter_add(&sum, gg_v3(b->x[k], b->y[k], b->z[k]), x, y, z, scale);
            b->weight[k] = sum.weight;
            b->lean_x[k] = sum.x;
            b->lean_y[k] = sum.y;
            b->lean_z[k] = sum.z;
        }
    }
}

/* the faces of a block, side by side */
typedef struct gg_matter_faces {
    float best[GG_LANES], x[GG_LANES], y[GG_LANES], z[GG_LANES];
    int32_t id[GG_LANES];
} gg_matter_faces;

GG_FN gg_matter_face gg_matter_faces_get(const gg_matter_faces *f, int k) {
    return GG_LIT(gg_matter_face){f->best[k], f->id[k], f->x[k], f->y[k], f->z[k]};
}
GG_FN void gg_matter_faces_set(gg_matter_faces *f, int k, gg_matter_face face) {
    f->best[k] = face.best;
    f->x[k] = face.x;
    f->y[k] = face.y;
    f->z[k] = face.z;
    f->id[k] = face.id;
}

/* tells of the faces where rays of a block enter */
GG_FN void gg_matter_block_tell(gg_matter_block *b, gg_matter_list *list, const gg_view *v, int64_t e, int32_t *id,
                                uint32_t *normal) {
    gg_matter_faces faces;
    for (int k = 0; k < GG_LANES; k++) {
        gg_matter_faces_set(&faces, k, gg_matter_face_none());
        if (b->ray[k].met < GG_UNBOUNDED) {
            b->open |= 1u << k;
            b->ray[k].t = b->ray[k].met;
        }
    }
    gg_matter_block_place(b, list, v, e);
    for (int32_t i = 0; i < list->count; i++) {
        float x = list->x[i], y = list->y[i], z = list->z[i], scale = list->scale[i];
        int32_t own = list->id[i];
        for (int k = 0; k < GG_LANES; k++) {
            gg_matter_face face = gg_matter_faces_get(&faces, k);
            gg_matter_face_add(&face, gg_v3(b->x[k], b->y[k], b->z[k]), x, y, z, scale, own);
            gg_matter_faces_set(&faces, k, face);
        }
    }
    for (uint32_t open = b->open; open; open &= open - 1u) {
        int k = gg_bit_lowest(open);
        gg_matter_face face = list->count < 0 ? gg_matter_face_at(v, e, gg_v3(b->x[k], b->y[k], b->z[k]))
                                              : gg_matter_faces_get(&faces, k);
        gg_vec3 towards = gg_scale(b->ray[k].direction, -1.0f);
        id[k] = face.id;
        normal[k] = gg_normal_pack(gg_unit(gg_v3(face.x, face.y, face.z), towards));
    }
}

/* traces the rays of a block */
GG_FN void gg_matter_block_trace(gg_matter_block *b, gg_matter_list *list, const gg_lens *lens, const gg_view *v,
                                 int64_t e, int32_t row, int32_t column) {
    while (b->open) {
        gg_matter_block_place(b, list, v, e);
        gg_matter_block_add(b, list, v, e);
        for (uint32_t open = b->open; open; open &= open - 1u) {
            int k = gg_bit_lowest(open);
            gg_matter_sum sum = gg_matter_block_sum(b, k);
            gg_matter_advance(&b->ray[k], &sum);
            if (b->ray[k].stage == GG_MATTER_STRAYED) {
                gg_matter_find(&b->ray[k], lens, v, e, gg_lens_column(lens, column + k % GG_MATTER_BLOCK),
                               gg_lens_row(lens, row + k / GG_MATTER_BLOCK));
            }
            b->open &= ~((uint32_t)(b->ray[k].stage == GG_MATTER_ENDED) << k);
        }
    }
}

/* the pixels of a block, whose depths are those at which rays first come near a particle */
GG_FN_LARGE void gg_matter_block_draw(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e,
                                      int32_t row, int32_t column) {
    gg_matter_block b;
    gg_matter_list list;
    int32_t row_end = GG_MIN(row + GG_MATTER_BLOCK, strip->row_end), id[GG_LANES];
    int32_t column_end = GG_MIN(column + GG_MATTER_BLOCK, strip->column_end);
    uint32_t normal[GG_LANES], near = 0;
    b.open = 0;
    list.box = gg_aabb_empty();
    list.count = 0;
    for (int32_t r = row; r < row_end; r++) {
        const float *depth = strip->depth + (int64_t)(r - strip->row_begin) * lens->width;
        for (int32_t c = column; c < column_end; c++) {
            int k = (r - row) * GG_MATTER_BLOCK + c - column;
            if (depth[c] < lens->far_depth) {
                b.ray[k] = gg_matter_ray_make(lens, v, e, gg_lens_column(lens, c), gg_lens_row(lens, r), depth[c]);
                near |= 1u << k;
                b.open |= (uint32_t)(b.ray[k].stage != GG_MATTER_ENDED) << k;
            }
        }
    }
    if (!near) {
        return;
    }
    for (int k = 0; k < GG_LANES; k++) {
        b.ray[k].met = near >> k & 1u ? b.ray[k].met : GG_UNBOUNDED;
        b.x[k] = b.y[k] = b.z[k] = 0.0f;
    }
    gg_matter_block_trace(&b, &list, lens, v, e, row, column);
    if (strip->id) {
        gg_matter_block_tell(&b, &list, v, e, id, normal);
    }
    for (; near; near &= near - 1u) {
        int k = gg_bit_lowest(near);
        int64_t pixel =
            (int64_t)(row - strip->row_begin + k / GG_MATTER_BLOCK) * lens->width + column + k % GG_MATTER_BLOCK;
        int seen = b.ray[k].met < lens->far_depth;
        strip->depth[pixel] = seen ? b.ray[k].met : lens->far_depth;
        if (strip->id && seen) {
            strip->id[pixel] = id[k];
            if (strip->normal) {
                strip->normal[pixel] = normal[k];
            }
        }
    }
}

/* the surface of the matter of an env in a strip that is clear */
GG_FN void gg_matter_draw(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e) {
    gg_strip balls = *strip;
    balls.id = 0;
    gg_strip_grains(&balls, lens, GG_STRIP_BALLS, v, e);
    for (int32_t row = strip->row_begin; row < strip->row_end; row += GG_MATTER_BLOCK) {
        for (int32_t column = strip->column_begin; column < strip->column_end; column += GG_MATTER_BLOCK) {
            gg_matter_block_draw(strip, lens, v, e, row, column);
        }
    }
}

/* what grains there are in an env */
GG_FN void gg_draw_grains(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e) {
    if (v->dims.continuum.envs) {
        gg_matter_draw(strip, lens, v, e);
    } else {
        gg_strip_grains(strip, lens, GG_STRIP_GRAINS, v, e);
    }
}

#endif
