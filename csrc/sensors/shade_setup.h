/* shade_setup.h: what the passes of a picture share: its cameras, the sun's among them, and its buffers. */
#ifndef GG_SHADE_SETUP_H
#define GG_SHADE_SETUP_H

#include "../geometry/picture.h"
#include "strip.h"

#define GG_SHADE_MAP       1024 /* side of the shadow map [texels] */
#define GG_SHADE_MAP_BLOCK 16   /* side of a block of its texels; a divisor of GG_SHADE_MAP */
#define GG_SHADE_BLOCK     16   /* side of a block of rays */

/* a part of a tool in the world */
typedef struct gg_shade_part {
    gg_vec3 position;
    gg_mat3 rotation; /* part frame -> world */
} gg_shade_part;

/* nearest and farthest depth of a block of the shadow map [m] */
typedef struct gg_shade_range {
    float nearest, farthest;
} gg_shade_range;

#define GG_SHADE_POINTS        16 /* of the disc at which the shadow map is read */
#define GG_SHADE_SEARCH_POINTS 8  /* of the wider one at which occluders are searched */
#define GG_SHADE_CREASE_POINTS 12 /* of the disc at which ambient occlusion looks */

/* Points of a unit disc, on a spiral of equal areas: the golden angle spreads any number evenly. */
typedef struct gg_shade_disc {
    float x[GG_SHADE_POINTS], y[GG_SHADE_POINTS], radius[GG_SHADE_POINTS];
} gg_shade_disc;

/* what all passes of a picture see */
typedef struct gg_shade {
    const gg_view *view;
    const gg_picture *picture;
    int64_t env;
    int32_t samples;
    gg_lens lens, sun;                /* of the camera, with samples x samples rays per pixel; of the shadow map */
    gg_vec3 light;                    /* unit, towards the sun */
    float crease;                     /* range of ambient occlusion [m] */
    float line_spacing;               /* of the floor's lines [m] */
    gg_shade_disc disc, search, ring; /* points of the shadow map, of the search for occluders, of ambient occlusion */
    int32_t floor_id;                 /* of rays that meet the floor; GG_STRIP_NONE: there is none */
    /* the caller's buffers */
    float *depth;          /* (samples * height, samples * width) */
    int32_t *id;           /* the same */
    uint32_t *normal;      /* the same, of continuous matter */
    uint8_t *busy;         /* by block of rays: 1: some ray meets more than floor and sky */
    float *map;            /* (GG_SHADE_MAP, GG_SHADE_MAP) */
    gg_shade_range *range; /* by block of the map */
    gg_shade_part *part;   /* (part_count,) */
} gg_shade;

/* where a ray meets a surface */
typedef struct gg_shade_hit {
    gg_vec3 point, normal; /* world */
    gg_vec3 color;         /* albedo */
} gg_shade_hit;

/* elements of the buffers: of depth and id, of busy, of map, of range */
GG_FN int64_t gg_shade_ray_count(const gg_picture *picture) {
    return (int64_t)picture->camera.height * picture->camera.width * picture->samples * picture->samples;
}
GG_FN int64_t gg_shade_blocks(int32_t rays) { return (rays + GG_SHADE_BLOCK - 1) / GG_SHADE_BLOCK; }
GG_FN int64_t gg_shade_block_count(const gg_picture *picture) {
    return gg_shade_blocks(picture->camera.height * picture->samples) *
           gg_shade_blocks(picture->camera.width * picture->samples);
}
#define GG_SHADE_MAP_TEXELS ((int64_t)GG_SHADE_MAP * GG_SHADE_MAP)
#define GG_SHADE_MAP_BLOCKS (GG_SHADE_MAP_TEXELS / (GG_SHADE_MAP_BLOCK * GG_SHADE_MAP_BLOCK))

/* extends a bounding box by one of half extents `half` round p */
GG_FN void gg_shade_extend(gg_vec3 p, gg_vec3 half, gg_vec3 *lower, gg_vec3 *upper) {
    *lower = gg_v3(gg_minf(lower->x, p.x - half.x), gg_minf(lower->y, p.y - half.y), gg_minf(lower->z, p.z - half.z));
    *upper = gg_v3(gg_maxf(upper->x, p.x + half.x), gg_maxf(upper->y, p.y + half.y), gg_maxf(upper->z, p.z + half.z));
}

/* half extents along the axes of a frame of a box whose axes are x, y and z there */
GG_FN gg_vec3 gg_shade_extents(gg_vec3 x, gg_vec3 y, gg_vec3 z, gg_vec3 half) {
    return gg_v3(gg_absf(x.x) * half.x + gg_absf(y.x) * half.y + gg_absf(z.x) * half.z,
                 gg_absf(x.y) * half.x + gg_absf(y.y) * half.y + gg_absf(z.y) * half.z,
                 gg_absf(x.z) * half.x + gg_absf(y.z) * half.y + gg_absf(z.z) * half.z);
}

/* The sun's view of all that casts a shadow, for the shadow map. What is far outside the bounds casts none: one escaped
 * grain must not coarsen the map. */
GG_FN gg_lens gg_shade_sun(const gg_view *v, int64_t env, gg_vec3 light) {
    gg_lens sun;
    gg_vec3 z = gg_scale(light, -1.0f);
    gg_vec3 x = gg_unit(gg_cross(gg_absf(z.x) < 0.8f ? gg_v3(1.0f, 0.0f, 0.0f) : gg_v3(0.0f, 1.0f, 0.0f), z), z);
    gg_vec3 y = gg_cross(z, x);
    sun.rotation.r0 = gg_v3(x.x, y.x, z.x);
    sun.rotation.r1 = gg_v3(x.y, y.y, z.y);
    sun.rotation.r2 = gg_v3(x.z, y.z, z.z);
    gg_vec3 middle = gg_scale(gg_add(v->params.lower, v->params.upper), 0.5f);
    float size = gg_norm(gg_sub(v->params.upper, v->params.lower));
    gg_vec3 lower = gg_v3(GG_UNBOUNDED, GG_UNBOUNDED, GG_UNBOUNDED), upper = gg_scale(lower, -1.0f);
    for (int64_t slot = env * v->dims.slots; slot < (env + 1) * v->dims.slots; slot++) {
        gg_vec3 p = gg_sub(gg_v3(v->position[slot].x, v->position[slot].y, v->position[slot].z), middle);
        if (v->grain_id[slot] >= 0 && gg_norm(p) <= size) {
            float r = v->position[slot].w;
            gg_shade_extend(gg_mat_tmul(sun.rotation, p), gg_v3(r, r, r), &lower, &upper);
        }
    }
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        const gg_shape *shape = &v->parts[k];
        gg_pose pose = gg_depth_part_pose(v, env, k);
        gg_vec3 p = gg_sub(gg_add(pose.position, gg_quat_rotate(pose.rotation, shape->bound_center)), middle);
        if (shape->tool >= GG_WALL_COUNT && gg_depth_part_shown(v, env, k) &&
            gg_norm(p) + shape->bound_radius <= 2.0f * size) {
            gg_mat3 m = gg_quat_mat(pose.rotation);
            gg_vec3 box = gg_shade_extents(gg_mat_tmul(sun.rotation, gg_v3(m.r0.x, m.r1.x, m.r2.x)),
                                           gg_mat_tmul(sun.rotation, gg_v3(m.r0.y, m.r1.y, m.r2.y)),
                                           gg_mat_tmul(sun.rotation, gg_v3(m.r0.z, m.r1.z, m.r2.z)),
                                           gg_strip_half(shape, v->grids));
            gg_shade_extend(gg_mat_tmul(sun.rotation, p), box, &lower, &upper);
        }
    }
    gg_vec3 half = gg_scale(gg_sub(upper, lower), 0.5f);
    gg_vec3 c = gg_scale(gg_add(upper, lower), 0.5f);
    sun.usable = upper.x > lower.x;
    sun.position = gg_add(middle, gg_mat_mul(sun.rotation, gg_v3(c.x, c.y, lower.z)));
    sun.perspective = 0;
    sun.height = sun.width = GG_SHADE_MAP;
    sun.half_height = sun.half_width = 0.5f * (float)GG_SHADE_MAP;
    sun.pixel = gg_maxf(gg_maxf(half.x, half.y), 1e-6f) * (2.0f / (float)(GG_SHADE_MAP - 4));
    sun.inverse_pixel = 1.0f / sun.pixel;
    sun.near_depth = -0.01f * size;
    sun.far_depth = 2.0f * half.z + 0.01f * size;
    return sun;
}

/* spacing of the floor's lines: 1, 2 or 5 times a power of ten, about sixteen along the longer side of the bounds */
GG_FN float gg_shade_line_spacing(const gg_params *params) {
    float target = gg_maxf(params->upper.x - params->lower.x, params->upper.y - params->lower.y) * 0.0625f;
    float decade = 1e-4f;
    for (int i = 0; i < 9 && decade * 10.0f <= target; i++) {
        decade *= 10.0f;
    }
    return decade * (target >= 5.0f * decade ? 5.0f : target >= 2.0f * decade ? 2.0f : 1.0f);
}

GG_FN gg_shade_disc gg_shade_disc_make(int count) {
    gg_shade_disc disc = GG_ZERO;
    float c = 1.0f, s = 0.0f;
    for (int i = 0; i < count; i++) {
        disc.radius[i] = sqrtf(((float)i + 0.5f) / (float)count);
        disc.x[i] = disc.radius[i] * c;
        disc.y[i] = disc.radius[i] * s;
        float turned = c * -0.7373688f - s * 0.6754903f;
        s = c * 0.6754903f + s * -0.7373688f;
        c = turned;
    }
    return disc;
}

/* Prepares a picture of env; the caller then sets the buffers and calls gg_shade_parts. picture->camera.tool counts the
 * walls: it is an index into view->tool_pose. */
GG_FN gg_shade gg_shade_make(const gg_view *view, int64_t env, const gg_picture *picture) {
    gg_shade shade;
    shade.view = view;
    shade.picture = picture;
    shade.env = env;
    shade.samples = picture->samples;
    gg_camera camera = picture->camera;
    camera.height *= picture->samples;
    camera.width *= picture->samples;
    shade.lens = gg_lens_make(&camera, gg_camera_pose(view, env, &picture->camera));
    shade.light = gg_unit(picture->light, gg_unit(gg_v3(-0.45f, -0.35f, 0.8f), picture->light));
    shade.sun = gg_shade_sun(view, env, shade.light);
    shade.crease = 3.0f * view->params.radius_max;
    shade.line_spacing = gg_shade_line_spacing(&view->params);
    shade.disc = gg_shade_disc_make(GG_SHADE_POINTS);
    shade.search = gg_shade_disc_make(GG_SHADE_SEARCH_POINTS);
    shade.ring = gg_shade_disc_make(GG_SHADE_CREASE_POINTS);
    shade.floor_id = GG_STRIP_NONE;
    shade.depth = shade.map = 0;
    shade.id = 0;
    shade.normal = 0;
    shade.busy = 0;
    shade.range = 0;
    shade.part = 0;
    return shade;
}

/* where the parts of tools are */
GG_FN void gg_shade_parts(gg_shade *shade) {
    const gg_view *v = shade->view;
    for (int64_t k = 0; k < v->dims.part_count; k++) {
        gg_pose pose = gg_depth_part_pose(v, shade->env, k);
        shade->part[k].position = pose.position;
        shade->part[k].rotation = gg_quat_mat(pose.rotation);
        if (v->parts[k].tool == GG_STRIP_FLOOR && v->parts[k].kind == GG_SHAPE_PLANE) {
            shade->floor_id = GG_STRIP_PART - (int32_t)k;
        }
    }
}

#endif
