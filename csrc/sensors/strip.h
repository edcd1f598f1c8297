/* strip.h: draws grains and tools into a window of a depth image.
 *
 * Grains are intersected exactly (the nearest point where the ray through the pixel's centre enters, not the depth of
 * the grain's centre), planes exactly, every other part by sphere tracing (trace.h). Particles of continuous matter are
 * no grains here: their surface is that of matter_surface.h.
 *
 * - Depth is along the camera's +z. What is nearer than near_depth is clipped, and what lies behind it is visible.
 *   A ray that meets nothing before far_depth reads exactly far_depth. Every pixel is finite.
 * - Only surfaces that are entered count: a camera inside a grain or a tool looks out of it.
 * - A pixel is the smallest depth of all that it sees. The minimum does not depend on the order, and nothing else is
 *   shared between grains, so the image does not depend on the slots of grains.
 * - Of the walls, learners' cameras see the floor alone: the others would hide the scene from a camera outside.
 */
#ifndef GG_STRIP_H
#define GG_STRIP_H

#include "lens.h"
#include "matter_surface.h"
#include "prism.h"
#include "trace.h"

/* the tool that is the lower z wall */
#define GG_STRIP_FLOOR 4

/* A window of an image; depth and id hold whole rows from row_begin on, (rows, width). id: a grain id, GG_STRIP_PART -
 * part, or GG_STRIP_NONE; NULL where it is not needed. Of pixels that read far_depth it has no meaning. */
typedef struct gg_strip {
    int32_t row_begin, row_end, column_begin, column_end;
    float *depth;
    int32_t *id;
    uint32_t *normal; /* of continuous matter, see gg_normal_pack; NULL where it is not needed */
    int32_t crowded;  /* of a GPU: 1: many threads draw grains into it, depths first, then in a second turn ids */
} gg_strip;
#define GG_STRIP_NONE (-1)
#define GG_STRIP_PART (-2)

/* which walls of the bounds are drawn */
typedef enum gg_strip_walls {
    GG_STRIP_WALLS_NONE = 0,
    GG_STRIP_WALLS_FLOOR, /* unbounded, so that it reaches the horizon */
    GG_STRIP_WALLS_ALL    /* all but the floor end at the edges of the bounds */
} gg_strip_walls;

/* depth test: a pixel keeps the nearest hit, and of two at the same depth that of the smaller id, in any order */
GG_FN void gg_strip_put(const gg_strip *strip, int64_t pixel, float t, int32_t id) {
#ifdef __CUDA_ARCH__
    if (strip->crowded && !strip->id) {
        /* depths are not negative, so they are ordered as their bits are; + 0 makes 0 of -0 */
        atomicMin((int *)&strip->depth[pixel], __float_as_int(t + 0.0f));
        return;
    }
    if (strip->crowded) {
        if (t == strip->depth[pixel]) {
            atomicMin(&strip->id[pixel], id);
        }
        return;
    }
#endif
    if (t < strip->depth[pixel] || (strip->id && t == strip->depth[pixel] && id < strip->id[pixel])) {
        strip->depth[pixel] = t;
        if (strip->id) {
            strip->id[pixel] = id;
        }
    }
}

/* the same at `count` pixels of a row from `first` on */
GG_FN void gg_strip_put_row(const gg_strip *strip, int64_t first, const float *t, int32_t count, int32_t id) {
    float *depth = strip->depth + first;
    if (strip->id) {
        int32_t *owner = strip->id + first;
        for (int32_t k = 0; k < count; k++) {
            int32_t nearer = (t[k] < depth[k]) | ((t[k] == depth[k]) & (id < owner[k]));
            depth[k] = gg_choose(nearer, t[k], depth[k]);
            owner[k] = nearer ? id : owner[k];
        }
    } else if (count == 4) {
        /* one vector */
        for (int32_t k = 0; k < 4; k++) {
            depth[k] = gg_minf(t[k], depth[k]);
        }
    } else {
        for (int32_t k = 0; k < count; k++) {
            depth[k] = gg_minf(t[k], depth[k]);
        }
    }
}

GG_FN void gg_strip_clear(const gg_strip *strip, const gg_lens *lens) {
    int64_t count = (int64_t)(strip->row_end - strip->row_begin) * lens->width;
    for (int64_t i = 0; i < count; i++) {
        strip->depth[i] = lens->far_depth;
    }
    for (int64_t i = 0; strip->id && i < count; i++) {
        strip->id[i] = GG_STRIP_NONE;
    }
}

/* ---- grains ---- */

/* a side plane of the view of a band, camera frame: a point is inside where along * n + z * nz + w >= 0 */
typedef struct gg_strip_side {
    float n, nz, w;
} gg_strip_side;

/* side plane at slope or offset a; sign +1: inside is above it, -1: below */
GG_FN gg_strip_side gg_strip_side_make(int perspective, float a, float sign) {
    if (perspective) {
        float s = sign / sqrtf(1.0f + a * a);
        return GG_LIT(gg_strip_side){s, -a * s, 0.0f};
    }
    return GG_LIT(gg_strip_side){sign, 0.0f, -a * sign};
}

/* what is drawn of a grain */
typedef enum gg_strip_as {
    GG_STRIP_GRAINS = 0, /* the sphere that it is */
    GG_STRIP_BALLS,      /* of continuous matter: the depth at which a ray may first meet its surface */
    GG_STRIP_CASTERS     /* of continuous matter: a depth behind which there is shadow */
} gg_strip_as;

/* the sphere of it, over its radius */
GG_FN float gg_strip_scale(gg_strip_as as) {
    float distance = 2.0f * (float)GG_CONTINUUM_REACH;
    return as == GG_STRIP_BALLS     ? GG_MATTER_BALL * distance
           : as == GG_STRIP_CASTERS ? GG_MATTER_CASTER * distance
                                    : 1.0f;
}

/* depth of that sphere at the ray (x, y); GG_UNBOUNDED: none. What casts shadows lies deeper, so that the surface casts
 * none on itself. */
GG_FN float gg_strip_enter(gg_strip_as as, int perspective, gg_vec3 c, float radius, float x, float y,
                           float near_depth) {
    if (as == GG_STRIP_GRAINS) {
        return gg_lens_enter(perspective, c, radius, x, y, near_depth);
    }
    float enter, leave;
    int32_t hits = gg_lens_cross(perspective, c, radius, x, y, &enter, &leave);
    enter = as == GG_STRIP_CASTERS ? enter + GG_MATTER_SUNK * radius : enter;
    return gg_choose(hits & (leave >= near_depth), gg_maxf(enter, near_depth), GG_UNBOUNDED);
}

/* One grain with centre c in the camera frame, at the pixels of an area and some beside it, in blocks of GG_LANES: 4 x 4,
 * 8 x 2 or 16 x 1 by the width of the area. Their depths come from one loop without branches, so that compilers make
 * vectors of it. */
GG_FN void gg_strip_sphere(const gg_strip *strip, const gg_lens *lens, int perspective, gg_strip_as as, gg_vec3 c,
                           float radius, int32_t id, gg_lens_area area) {
    float near_depth = lens->near_depth, t[GG_LANES];
    int32_t width = area.column_end - area.column_begin, shift = width <= 4 ? 2 : width <= 8 ? 3 : 4;
    int32_t columns = 1 << shift, rows = GG_LANES >> shift;
    for (int32_t row = area.row_begin; row < area.row_end; row += rows) {
        int32_t row_end = GG_MIN(row + rows, area.row_end);
        for (int32_t column = area.column_begin; column < area.column_end; column += columns) {
            int32_t count = GG_MIN(columns, lens->width - column);
            for (int32_t k = 0; k < GG_LANES; k++) {
                t[k] = gg_strip_enter(as, perspective, c, radius, gg_lens_column(lens, column + (k & (columns - 1))),
                                      gg_lens_row(lens, row + (k >> shift)), near_depth);
            }
            for (int32_t r = row; r < row_end; r++) {
                int64_t first = (int64_t)(r - strip->row_begin) * lens->width;
                gg_strip_put_row(strip, first + column, t + (r - row) * columns, count, id);
            }
        }
    }
}

/* one planar grain, with centre c in the camera frame */
GG_FN void gg_strip_prism(const gg_strip *strip, const gg_lens *lens, gg_vec3 c, const gg_prism *prism, int32_t id) {
    float reach = gg_prism_reach(prism);
    gg_lens_area area = gg_lens_cover(lens, c, reach, strip->row_begin, strip->row_end);
    for (int32_t row = area.row_begin; row < area.row_end; row++) {
        float y = gg_lens_row(lens, row);
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = area.column_begin; column < area.column_end; column++) {
            float x = gg_lens_column(lens, column), enter, leave;
            if (!gg_lens_sphere(lens->perspective, c, reach, x, y, &enter, &leave)) {
                continue;
            }
            gg_vec3 origin, direction, normal;
            gg_lens_ray(lens, x, y, &origin, &direction);
            float t = gg_prism_enter(prism, origin, direction, lens->near_depth, &normal);
            if (t < lens->far_depth) {
                gg_strip_put(strip, first + column, t, id);
            }
        }
    }
}

/* a slice of grains in the camera frame: centres and radii, and which of them are drawn */
typedef struct gg_strip_slice {
    float x[GG_LANES], y[GG_LANES], z[GG_LANES], radius[GG_LANES];
    int32_t keep[GG_LANES];
} gg_strip_slice;

/* the grains of a slice; id: their grain ids */
GG_FN void gg_strip_spheres(const gg_strip *strip, const gg_lens *lens, int perspective, gg_strip_as as,
                            const gg_strip_slice *slice, const int32_t *id) {
    int32_t row_begin[GG_LANES], row_end[GG_LANES], column_begin[GG_LANES], column_end[GG_LANES];
    for (int lane = 0; lane < GG_LANES; lane++) {
        gg_vec3 c = gg_v3(slice->x[lane], slice->y[lane], slice->z[lane]);
        gg_lens_area area =
            gg_lens_cover_kind(lens, perspective, c, slice->radius[lane], strip->row_begin, strip->row_end);
        row_begin[lane] = area.row_begin;
        row_end[lane] = area.row_end;
        column_begin[lane] = area.column_begin;
        column_end[lane] = area.column_end;
    }
    for (int lane = 0; lane < GG_LANES; lane++) {
        gg_lens_area area = {row_begin[lane], row_end[lane], column_begin[lane], column_end[lane]};
        gg_vec3 c = gg_v3(slice->x[lane], slice->y[lane], slice->z[lane]);
        if (slice->keep[lane]) {
            gg_strip_sphere(strip, lens, perspective, as, c, slice->radius[lane], id[lane], area);
        }
    }
}

/* the same for planar grains, those from `slot` on */
GG_FN void gg_strip_prisms(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e, int64_t slot,
                           const gg_strip_slice *slice, const int32_t *id) {
    for (int lane = 0; lane < GG_LANES; lane++) {
        if (slice->keep[lane]) {
            gg_prism prism = gg_prism_of(v, e, slot + lane);
            gg_strip_prism(strip, lens, gg_v3(slice->x[lane], slice->y[lane], slice->z[lane]), &prism, id[lane]);
        }
    }
}

/* All grains of one env. Each slice is brought into the camera frame and tested against the view of the band in one
 * loop without branches; only slices of which a grain intersects it are projected. `perspective` is an argument so that
 * each kind of camera gets a loop of its own. */
GG_FN void gg_strip_grains_kind(const gg_strip *strip, const gg_lens *lens, int perspective, gg_strip_as as,
                                const gg_view *v, int64_t e) {
    int64_t slots = v->dims.slots;
    const gg_vec4 *position = v->position + e * slots;
    const int32_t *grain_id = v->grain_id + e * slots;
    /* a prism exceeds the sphere of its outline by less than its half depth */
    float depth = gg_is_planar(&v->params) ? GG_PRISM_DEPTH * v->params.radius_min : 0.0f;
    gg_strip_side top = gg_strip_side_make(perspective, gg_lens_row(lens, strip->row_begin), 1.0f);
    gg_strip_side bottom = gg_strip_side_make(perspective, gg_lens_row(lens, strip->row_end - 1), -1.0f);
    gg_strip_side left = gg_strip_side_make(perspective, gg_lens_column(lens, 0), 1.0f);
    gg_strip_side right = gg_strip_side_make(perspective, gg_lens_column(lens, lens->width - 1), -1.0f);
    gg_mat3 m = lens->rotation;
    gg_vec3 o = lens->position;
    float near_depth = lens->near_depth, far_depth = lens->far_depth, scale = gg_strip_scale(as);
    for (int64_t slot = 0; slot < slots; slot += GG_LANES) {
        gg_strip_slice slice;
        int32_t any = 0;
        for (int lane = 0; lane < GG_LANES; lane++) {
            gg_vec4 p = position[slot + lane];
            p.w *= scale;
            float ax = p.x - o.x, ay = p.y - o.y, az = p.z - o.z;
            float x = m.r0.x * ax + m.r1.x * ay + m.r2.x * az;
            float y = m.r0.y * ax + m.r1.y * ay + m.r2.y * az;
            float z = m.r0.z * ax + m.r1.z * ay + m.r2.z * az;
            /* with a margin for rounding */
            float reach = -(p.w + depth + 4e-6f * (fabsf(x) + fabsf(y) + fabsf(z)));
            int32_t keep =
                (y * top.n + z * top.nz + top.w >= reach) & (y * bottom.n + z * bottom.nz + bottom.w >= reach) &
                (x * left.n + z * left.nz + left.w >= reach) & (x * right.n + z * right.nz + right.w >= reach) &
                (z - near_depth >= reach) & (far_depth - z >= reach) & (grain_id[slot + lane] >= 0);
            slice.x[lane] = x;
            slice.y[lane] = y;
            slice.z[lane] = z;
            slice.radius[lane] = p.w;
            slice.keep[lane] = keep;
            any |= keep;
        }
        /* of a clump with a surface that is seen */
        for (int lane = 0; any && v->dims.clumps.surfaces && lane < GG_LANES; lane++) {
            slice.keep[lane] &= grain_id[slot + lane] < 0 || !gg_under_surface(v, grain_id[slot + lane]);
        }
        if (any && gg_is_planar(&v->params)) {
            gg_strip_prisms(strip, lens, v, e, slot, &slice, grain_id + slot);
        } else if (any) {
            gg_strip_spheres(strip, lens, perspective, as, &slice, grain_id + slot);
        }
    }
}

GG_FN void gg_strip_grains(const gg_strip *strip, const gg_lens *lens, gg_strip_as as, const gg_view *v, int64_t e) {
    if (lens->perspective) {
        gg_strip_grains_kind(strip, lens, 1, as, v, e);
    } else {
        gg_strip_grains_kind(strip, lens, 0, as, v, e);
    }
}

/* a grain, a pixel after the other */
GG_FN void gg_strip_grain(const gg_strip *strip, const gg_lens *lens, gg_strip_as as, gg_vec3 c, float radius,
                          int32_t id) {
    gg_lens_area area = gg_lens_cover(lens, c, radius, strip->row_begin, strip->row_end);
    for (int32_t row = area.row_begin; row < area.row_end; row++) {
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = area.column_begin; column < area.column_end; column++) {
            float t = gg_strip_enter(as, lens->perspective, c, radius, gg_lens_column(lens, column),
                                     gg_lens_row(lens, row), lens->near_depth);
            if (t < GG_UNBOUNDED) {
                gg_strip_put(strip, first + column, t, id);
            }
        }
    }
}

/* the grain in one slot of env e, unless it is outside the near and far planes */
GG_FN void gg_strip_slot(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t e, int64_t slot) {
    gg_vec4 p = v->position[e * v->dims.slots + slot];
    gg_strip_as as = v->dims.continuum.envs ? GG_STRIP_BALLS : GG_STRIP_GRAINS;
    p.w *= gg_strip_scale(as);
    gg_vec3 c = gg_lens_local(lens, gg_v3(p.x, p.y, p.z));
    float depth = gg_is_planar(&v->params) ? GG_PRISM_DEPTH * v->params.radius_min : 0.0f;
    float reach = p.w + depth + 4e-6f * (gg_absf(c.x) + gg_absf(c.y) + gg_absf(c.z));
    int32_t id = v->grain_id[e * v->dims.slots + slot];
    if (id < 0 || gg_under_surface(v, id) || c.z - lens->near_depth < -reach || lens->far_depth - c.z < -reach) {
        return;
    }
    if (gg_is_planar(&v->params)) {
        gg_prism prism = gg_prism_of(v, e, slot);
        gg_strip_prism(strip, lens, c, &prism, id);
    } else {
        gg_strip_grain(strip, lens, as, c, p.w, id);
    }
}

/* ---- tools ---- */

/* whether a point of the ray is within the bounds, up to rounding */
GG_FN int gg_strip_bounded(const gg_params *bounds, const gg_lens *lens, float x, float y, float t) {
    gg_vec3 origin, direction;
    gg_lens_ray(lens, x, y, &origin, &direction);
    gg_vec3 p = gg_madd(origin, direction, t), a = bounds->lower, b = bounds->upper;
    float tolerance = 1e-4f * gg_norm(gg_sub(b, a));
    return p.x >= a.x - tolerance && p.x <= b.x + tolerance && p.y >= a.y - tolerance && p.y <= b.y + tolerance &&
           p.z >= a.z - tolerance && p.z <= b.z + tolerance;
}

/* a plane as the lens sees it: its normal in the camera frame, and how far it lies from the lens along it [m] */
typedef struct gg_strip_face {
    gg_vec3 normal;
    float offset;
} gg_strip_face;

GG_FN gg_strip_face gg_strip_face_make(const gg_lens *lens, gg_pose pose) {
    gg_vec3 normal = gg_quat_rotate(pose.rotation, gg_v3(0.0f, 0.0f, 1.0f));
    return GG_LIT(gg_strip_face){gg_mat_tmul(lens->rotation, normal),
                                 gg_dot(normal, gg_sub(pose.position, lens->position))};
}

/* depth at which the ray (x, y) enters a plane, from near_depth on; GG_UNBOUNDED: nowhere */
GG_FN float gg_strip_face_depth(const gg_strip_face *face, int perspective, float x, float y, float near_depth) {
    gg_vec3 n = face->normal;
    float side = n.y * y + n.x * x;
    float fall = perspective ? n.z + side : n.z;
    float t = (perspective ? face->offset : face->offset - side) / fall;
    return gg_choose((fall < 0.0f) & (t >= near_depth), t, GG_UNBOUNDED);
}

/* a plane with world pose `pose`, at every pixel; only within the bounds unless NULL */
GG_FN void gg_strip_plane(const gg_strip *strip, const gg_lens *lens, gg_pose pose, const gg_params *bounds,
                          int32_t id) {
    gg_strip_face face = gg_strip_face_make(lens, pose);
    for (int32_t row = strip->row_begin; row < strip->row_end; row++) {
        float y = gg_lens_row(lens, row);
        int64_t first = (int64_t)(row - strip->row_begin) * lens->width;
        for (int32_t column = strip->column_begin; column < strip->column_end; column++) {
            float x = gg_lens_column(lens, column);
            float t = gg_strip_face_depth(&face, lens->perspective, x, y, lens->near_depth);
            if (t < GG_UNBOUNDED && (!bounds || gg_strip_bounded(bounds, lens, x, y, t))) {
                gg_strip_put(strip, first + column, t, id);
            }
        }
    }
}

/* half extents of a box round bound_center that holds the surface of a part, in its frame */
GG_FN gg_vec3 gg_strip_half(const gg_shape *shape, const gg_sdf_grid *grids) {
    const float *size = shape->size;
    switch (shape->kind) {
    case GG_SHAPE_BOX:
        return gg_v3(size[0], size[1], size[2]);
    case GG_SHAPE_CAPSULE:
        return gg_v3(size[0], size[0], size[0] + size[1]);
    case GG_SHAPE_CYLINDER:
        return gg_v3(size[0], size[0], size[1]);
    case GG_SHAPE_CONE: {
        float widest = gg_maxf(size[0], size[1]);
        return gg_v3(widest, widest, size[2]);
    }
    case GG_SHAPE_GRID: {
        const gg_sdf_grid *grid = &grids[shape->grid];
        return gg_scale(gg_v3((float)(grid->count[0] - 1), (float)(grid->count[1] - 1), (float)(grid->count[2] - 1)),
                        0.5f * grid->spacing);
    }
    default:
        return gg_v3(shape->bound_radius, shape->bound_radius, shape->bound_radius);
    }
}

/* Whether the line through o along d passes the box of these half extents round the origin (separating axes: the cross
 * products of d with the edges). */
GG_FN int gg_strip_passes(gg_vec3 o, gg_vec3 d, gg_vec3 half) {
    float ax = gg_absf(d.x), ay = gg_absf(d.y), az = gg_absf(d.z);
    int32_t x = gg_absf(o.y * d.z - o.z * d.y) <= half.y * az + half.z * ay;
    int32_t y = gg_absf(o.z * d.x - o.x * d.z) <= half.z * ax + half.x * az;
    int32_t z = gg_absf(o.x * d.y - o.y * d.x) <= half.x * ay + half.y * ax;
    return x & y & z;
}

/* a part to trace: what its rays share */
typedef struct gg_strip_solid {
    const gg_shape *shape;
    gg_vec3 position; /* of the part's frame, world [m] */
    gg_mat3 rotation;
    int32_t id;
    int bounded;       /* the part has a bounding sphere; what follows holds only then, but for the area */
    gg_vec3 c;         /* centre of the bounding sphere, camera frame */
    float reach;       /* its radius, slightly larger */
    gg_vec3 half;      /* of the bounding box, slightly larger */
    gg_lens_area area; /* pixels that the part may cover */
} gg_strip_solid;

/* prepares a part at a pose; its area is empty where it lies outside the near and far planes */
GG_FN gg_strip_solid gg_strip_solid_make(const gg_strip *strip, const gg_lens *lens, const gg_view *v,
                                         const gg_shape *shape, gg_pose pose, int32_t id) {
    gg_strip_solid s;
    s.shape = shape;
    s.position = pose.position;
    s.rotation = gg_quat_mat(pose.rotation);
    s.id = id;
    s.bounded = shape->bound_radius < GG_UNBOUNDED;
    s.c = s.half = gg_v3(0.0f, 0.0f, 0.0f);
    s.reach = 0.0f;
    s.area = GG_LIT(gg_lens_area){strip->row_begin, strip->row_end, strip->column_begin, strip->column_end};
    if (s.bounded) {
        s.c = gg_lens_local(lens, gg_add(pose.position, gg_mat_mul(s.rotation, shape->bound_center)));
        /* slightly larger, so that a ray starts clearly outside a part that touches its bounding sphere */
        s.reach = shape->bound_radius * 1.001f + 8.0f * GG_DEPTH_TOLERANCE * gg_norm(s.c);
        if (!(s.c.z + s.reach >= lens->near_depth && s.c.z - s.reach < lens->far_depth)) {
            s.area.row_end = s.area.row_begin;
            return s;
        }
        /* wider than any distance at which a ray may count as meeting the surface */
        float margin = 1e-3f * shape->bound_radius + 8.0f * GG_DEPTH_TOLERANCE * (gg_norm(s.c) + s.reach);
        s.half = gg_add(gg_strip_half(shape, v->grids), gg_v3(margin, margin, margin));
        s.area = gg_lens_cover(lens, s.c, s.reach, strip->row_begin, strip->row_end);
        s.area.column_begin = GG_MAX(s.area.column_begin, strip->column_begin);
        s.area.column_end = GG_MIN(s.area.column_end, strip->column_end);
    }
    return s;
}

/* a ray of slopes or offsets (x, y) in the frame of the part; 0: it passes the bounding box by */
GG_FN int gg_strip_solid_ray(const gg_strip_solid *s, const gg_lens *lens, float x, float y, gg_vec3 *origin,
                             gg_vec3 *direction) {
    gg_lens_ray(lens, x, y, origin, direction);
    *origin = gg_mat_tmul(s->rotation, gg_sub(*origin, s->position));
    *direction = gg_mat_tmul(s->rotation, *direction);
#ifdef __CUDA_ARCH__
    /* the kernel has no registers left for the box: rays that pass it by are traced, with the same result */
    return 1;
#else
    return !s->bounded || gg_strip_passes(gg_sub(*origin, s->shape->bound_center), *direction, s->half);
#endif
}

/* one pixel of a part */
GG_FN void gg_strip_solid_pixel(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_strip_solid *s,
                                int32_t row, int32_t column) {
    float x = gg_lens_column(lens, column), y = gg_lens_row(lens, row);
    float enter = lens->near_depth, leave = lens->far_depth;
    if (s->bounded && !gg_lens_sphere(lens->perspective, s->c, s->reach, x, y, &enter, &leave)) {
        return;
    }
    int64_t pixel = (int64_t)(row - strip->row_begin) * lens->width + column;
    gg_vec3 origin, direction;
    if (!gg_strip_solid_ray(s, lens, x, y, &origin, &direction)) {
        return;
    }
    float t = gg_depth_trace(s->shape, v->grids, v->samples, origin, direction, gg_maxf(enter, lens->near_depth),
                             gg_minf(leave, strip->depth[pixel]));
    gg_strip_put(strip, pixel, t, s->id);
}

/* any other part, at the pixels that its bounding sphere covers */
GG_FN void gg_strip_solid_draw(const gg_strip *strip, const gg_lens *lens, const gg_view *v, const gg_shape *shape,
                               gg_pose pose, int32_t id) {
    gg_strip_solid s = gg_strip_solid_make(strip, lens, v, shape, pose, id);
    for (int32_t row = s.area.row_begin; row < s.area.row_end; row++) {
        for (int32_t column = s.area.column_begin; column < s.area.column_end; column++) {
            gg_strip_solid_pixel(strip, lens, v, &s, row, column);
        }
    }
}

/* current world pose of a part in an env */
GG_FN gg_pose gg_depth_part_pose(const gg_view *v, int64_t env, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    return gg_pose_within(v->tool_pose[env * v->dims.tool_count + shape->tool], shape->position, shape->rotation);
}

/* whether a camera may see a part: it has a shape and a place, and its tool is not taken out */
GG_FN int gg_depth_part_shown(const gg_view *v, int64_t env, int64_t part) {
    const gg_shape *shape = &v->parts[part];
    return shape->kind != GG_SHAPE_NONE && v->tool_active[env * v->dims.tool_count + shape->tool] &&
           gg_pose_finite(gg_depth_part_pose(v, env, part));
}

/* whether a part is drawn */
GG_FN int gg_strip_shows(const gg_view *v, int64_t env, int64_t part, gg_strip_walls walls) {
    const gg_shape *shape = &v->parts[part];
    int floor = shape->tool == GG_STRIP_FLOOR, wall = shape->tool < GG_WALL_COUNT && !floor;
    return (!wall || walls == GG_STRIP_WALLS_ALL) && (!floor || walls != GG_STRIP_WALLS_NONE) &&
           gg_depth_part_shown(v, env, part);
}

/* the bounds at which a plane ends: all walls but the floor; NULL: none */
GG_FN const gg_params *gg_strip_edges(const gg_view *v, const gg_shape *shape) {
    return shape->tool < GG_WALL_COUNT && shape->tool != GG_STRIP_FLOOR ? &v->params : 0;
}

/* Draws a part if it is a plane; 1: it is a solid, at *pose, which is left to draw. */
GG_FN int gg_strip_part(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t env, int64_t part,
                        gg_strip_walls walls, gg_pose *pose) {
    const gg_shape *shape = &v->parts[part];
    *pose = gg_depth_part_pose(v, env, part);
    if (!gg_strip_shows(v, env, part, walls)) {
        return 0;
    }
    if (shape->kind == GG_SHAPE_PLANE) {
        gg_strip_plane(strip, lens, *pose, gg_strip_edges(v, shape), GG_STRIP_PART - (int32_t)part);
    }
    return shape->kind != GG_SHAPE_PLANE;
}

/* all parts, a pixel after the other */
GG_FN void gg_strip_parts(const gg_strip *strip, const gg_lens *lens, const gg_view *v, int64_t env,
                          gg_strip_walls walls) {
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        gg_pose pose;
        if (gg_strip_part(strip, lens, v, env, k, walls, &pose)) {
            gg_strip_solid_draw(strip, lens, v, &v->parts[k], pose, GG_STRIP_PART - (int32_t)k);
        }
    }
}

#endif
