/* shade_surface.h: the surfaces of a picture: normal, colour and gloss of grains, tools and floor. */
#ifndef GG_SHADE_SURFACE_H
#define GG_SHADE_SURFACE_H

#include "normal.h"
#include "sand.h"
#include "shade_setup.h"

/* a grain: its colour, or sand; brightness varies between grains, so that they can be told apart */
GG_FN gg_vec3 gg_shade_grain_color(const gg_shade *shade, int32_t id) {
    uint64_t bits = gg_sand_bits(id, shade->view->dims.continuum.envs > 0);
    if (shade->picture->grain_color) {
        return gg_scale(gg_color_of(shade->picture->grain_color + 3 * (int64_t)id),
                        0.82f + 0.3f * gg_sand_brightness(bits));
    }
    return gg_sand_color(bits);
}

/* share of a pixel that a line at 0 covers; x, width and footprint of the pixel in the same unit */
GG_FN float gg_shade_line(float x, float width, float footprint) {
    float within = width + footprint - gg_absf(x);
    if (!(within > 0.0f)) {
        return 0.0f;
    }
    float covered = gg_minf(within / (2.0f * footprint), 1.0f);
    return covered * gg_minf(1.0f, width / footprint);
}

/* distance to the nearest multiple of spacing, signed */
GG_FN float gg_shade_offset(float x, float spacing) {
    float multiple = gg_clampf(x / spacing, -1e6f, 1e6f);
    float nearest = (float)(int32_t)(multiple + (multiple < 0.0f ? -0.5f : 0.5f));
    return (multiple - nearest) * spacing;
}

/* a part of a tool: the tool's colour, or a default: walls grey, the first tool yellow, others steel and accents */
GG_FN gg_vec3 gg_shade_tool_color(const gg_shade *shade, int32_t tool) {
    if (shade->picture->tool_color) {
        return gg_color_of(shade->picture->tool_color + 3 * (int64_t)tool);
    }
    if (tool < GG_WALL_COUNT) {
        return tool == GG_STRIP_FLOOR ? gg_v3(0.34f, 0.34f, 0.33f) : gg_v3(0.50f, 0.52f, 0.54f);
    }
    switch ((tool - GG_WALL_COUNT) % 5) {
    case 0:
        return gg_v3(0.78f, 0.36f, 0.02f);
    case 1:
        return gg_v3(0.20f, 0.23f, 0.27f);
    case 2:
        return gg_v3(0.62f, 0.64f, 0.66f);
    case 3:
        return gg_v3(0.07f, 0.30f, 0.42f);
    default:
        return gg_v3(0.50f, 0.10f, 0.06f);
    }
}

/* what the rays of a pixel that meet the same grain or part have in common */
typedef struct gg_shade_surface {
    int32_t id;
    gg_vec3 color; /* of a floor: without its lines */
    float gloss;   /* 1: painted metal, 0: matt */
    int floor;
    gg_vec3 center; /* of a grain */
    gg_prism prism; /* of a planar grain */
    const gg_shape *shape;
    const gg_shade_part *part;
} gg_shade_surface;

/* id is not GG_STRIP_NONE */
GG_FN gg_shade_surface gg_shade_surface_of(const gg_shade *shade, int32_t id) {
    const gg_view *v = shade->view;
    gg_shade_surface surface = GG_ZERO;
    surface.id = id;
    surface.gloss = 0.0f;
    surface.floor = 0;
    if (id >= 0) {
        int64_t slot = v->slot_of[shade->env * v->dims.slots + id];
        gg_vec4 p = v->position[shade->env * v->dims.slots + slot];
        surface.center = gg_v3(p.x, p.y, p.z);
        surface.color = gg_shade_grain_color(shade, id);
        if (gg_is_planar(&v->params)) {
            surface.prism = gg_prism_of(v, shade->env, slot);
        }
        return surface;
    }
    surface.shape = &v->parts[GG_STRIP_PART - id];
    surface.part = &shade->part[GG_STRIP_PART - id];
    surface.color = gg_shade_tool_color(shade, surface.shape->tool);
    surface.floor = surface.shape->tool == GG_STRIP_FLOOR;
    surface.gloss = surface.shape->tool >= GG_WALL_COUNT ? 1.0f : 0.0f;
    return surface;
}

/* where the ray of a pixel meets a surface at depth t */
GG_FN gg_shade_hit gg_shade_hit_of(const gg_shade *shade, const gg_shade_surface *surface, gg_vec3 origin,
                                   gg_vec3 direction, float t, int64_t pixel) {
    const gg_view *v = shade->view;
    gg_shade_hit hit;
    hit.point = gg_madd(origin, direction, t);
    hit.color = surface->color;
    if (surface->id >= 0) {
        hit.normal = gg_unit(gg_sub(hit.point, surface->center), gg_v3(0.0f, 0.0f, 1.0f));
        if (v->dims.continuum.envs) {
            hit.normal = gg_normal_unpack(shade->normal[pixel]);
        }
        if (gg_is_planar(&v->params)) {
            gg_prism_enter(&surface->prism, origin, direction, shade->lens.near_depth, &hit.normal);
        }
        return hit;
    }
    const gg_shade_part *part = surface->part;
    if (surface->shape->kind == GG_SHAPE_PLANE) {
        hit.normal = gg_v3(part->rotation.r0.z, part->rotation.r1.z, part->rotation.r2.z);
    } else {
        gg_vec3 local = gg_mat_tmul(part->rotation, gg_sub(hit.point, part->position));
        hit.normal = gg_mat_mul(part->rotation, gg_sdf_eval(surface->shape, v->grids, v->samples, local).gradient);
    }
    return hit;
}

/* share of a pixel that lies on the positive side of an edge at signed distance x */
GG_FN float gg_shade_side(float x, float footprint) { return gg_clampf(0.5f + 0.5f * x / footprint, 0.0f, 1.0f); }

/* the colour of the floor with the caller's mark */
GG_FN gg_vec3 gg_shade_marked(const float *mark, gg_vec3 color, gg_vec3 p, float footprint) {
    float x = gg_minf(p.x - mark[GG_MARK_LOWER_X], mark[GG_MARK_UPPER_X] - p.x);
    float y = gg_minf(p.y - mark[GG_MARK_LOWER_Y], mark[GG_MARK_UPPER_Y] - p.y);
    float within = gg_minf(x, y), inner = gg_shade_side(within - mark[GG_MARK_EDGE], footprint);
    float share = gg_shade_side(within, footprint) * (0.8f - 0.42f * inner);
    const float *rgb = mark + GG_MARK_COLOR;
    return gg_color_mix(color, gg_v3(gg_color_decode(rgb[0]), gg_color_decode(rgb[1]), gg_color_decode(rgb[2])), share);
}

/* The floor where a pixel meets it at depth t: lines every line_spacing, a frame at the edge of the bounds, slightly
 * darker beyond it. along: unit direction of the pixel */
GG_FN gg_vec3 gg_shade_floor_color(const gg_shade *shade, const gg_shade_hit *hit, float t, gg_vec3 along) {
    const gg_params *b = &shade->view->params;
    float spacing = shade->line_spacing, width = 0.012f * spacing;
    /* half of what a pixel covers, with half a ray around it */
    float footprint = 0.5f * (float)(shade->samples + 1) * shade->lens.pixel * (shade->lens.perspective ? t : 1.0f);
    footprint /= gg_maxf(-gg_dot(hit->normal, along), 0.08f);
    gg_vec3 p = hit->point;
    float beyond = gg_maxf(gg_maxf(b->lower.x - p.x, p.x - b->upper.x), gg_maxf(b->lower.y - p.y, p.y - b->upper.y));
    float line = gg_maxf(gg_shade_line(gg_shade_offset(p.x, spacing), width, footprint),
                         gg_shade_line(gg_shade_offset(p.y, spacing), width, footprint));
    gg_vec3 color = gg_scale(hit->color, beyond > 0.0f ? 0.86f : 1.0f);
    color = gg_scale(color, 1.0f - 0.22f * line);
    if (shade->picture->floor_mark) {
        color = gg_shade_marked(shade->picture->floor_mark, color, p, footprint);
    }
    return gg_scale(color, 1.0f - 0.45f * gg_shade_line(beyond, 2.5f * width, footprint));
}

#endif
