/* test_parts.c: depth images of parts of tools against marched distance fields and analytic depths.
 *
 * Links against nothing: the code is in headers.
 */
#include "small_world.h"

/* signed distance of part 0 at depth t of a ray of its own frame */
static double distance_along(gg_vec3 origin, gg_vec3 direction, double t) {
    gg_vec3 p = gg_madd(origin, direction, (float)t);
    return (double)gg_sdf_distance(&world.parts[0], &world.grid, world.samples, p);
}

/* signed distance of part 0 at depth t of a pixel's ray */
static double distance_at(gg_vec3 origin, gg_vec3 direction, double t) {
    gg_pose pose = gg_depth_part_pose(&world.view, 0, 0);
    gg_vec3 p = gg_sub(gg_madd(origin, direction, (float)t), pose.position);
    return (double)gg_sdf_distance(&world.parts[0], &world.grid, world.samples,
                                   gg_mat_tmul(gg_quat_mat(pose.rotation), p));
}

/* Holds every pixel of a part against its own field, marched in small steps: the depth is the first point where the ray
 * comes from outside to the surface; returns the pixels that see the part. */
static int check_part(void) {
    const gg_camera *c = &world.cameras[0];
    gg_pose pose = gg_camera_pose(&world.view, 0, c);
    int hits = 0, off = 0, early = 0, missed = 0;
    for (int row = 0; row < c->height; row++) {
        for (int column = 0; column < c->width; column++) {
            gg_vec3 origin, direction;
            gg_camera_ray(c, pose, row, column, &origin, &direction);
            double got = (double)world.view.depth[row * c->width + column];
            double length = (double)gg_norm(direction), end = got;
            if (got < (double)c->far_depth) {
                hits++;
                off += fabs(distance_at(origin, direction, got)) > 2e-4 * got;
            }
            /* before the hit no solid that was entered from outside; a ray in a solid may miss a chord outside of it
             * that is shorter than a push */
            double free_path = 0.0, push = (double)(c->far_depth - c->near_depth) / GG_DEPTH_PUSH;
            for (double t = (double)c->near_depth; t < end - 2e-4 * got;) {
                double d = distance_at(origin, direction, t);
                int inside = free_path > push && d < -2e-4 * t;
                early += inside && got < (double)c->far_depth;
                missed += inside && got >= (double)c->far_depth;
                double step = fmax(fabs(d) * 0.5, 1e-3) / length;
                free_path += d > 2e-4 * t ? step : 0.0;
                t += step;
            }
        }
    }
    CHECK(off == 0);
    CHECK(early == 0);
    CHECK(missed == 0);
    return hits;
}

static void test_parts_march(void) {
    float sizes[GG_SHAPE_KIND_COUNT][3] = {{0}};
    int kinds[] = {GG_SHAPE_BOX,  GG_SHAPE_SPHERE, GG_SHAPE_CAPSULE, GG_SHAPE_CYLINDER,
                   GG_SHAPE_CONE, GG_SHAPE_GRID,   GG_SHAPE_CAVITY};
    memcpy(sizes[GG_SHAPE_BOX], (float[3]){0.3f, 0.5f, 0.05f}, sizeof sizes[0]);
    memcpy(sizes[GG_SHAPE_SPHERE], (float[3]){0.4f}, sizeof sizes[0]);
    memcpy(sizes[GG_SHAPE_CAPSULE], (float[3]){0.15f, 0.4f}, sizeof sizes[0]);
    memcpy(sizes[GG_SHAPE_CYLINDER], (float[3]){0.3f, 0.2f}, sizeof sizes[0]);
    memcpy(sizes[GG_SHAPE_CONE], (float[3]){0.4f, 0.1f, 0.3f}, sizeof sizes[0]);
    memcpy(sizes[GG_SHAPE_CAVITY], (float[3]){0.6f}, sizeof sizes[0]);
    for (int i = 0; i < 7; i++) {
        int hits = 0;
        for (int trial = 0; trial < 12; trial++) {
            fresh(1 + trial % 2, 24, 33, trial % 2 ? 0.8f : 0.5f);
            /* a ball with a flat side, sampled */
            world.grid = (gg_sdf_grid){.count = {24, 24, 24}, .spacing = 0.05f, .origin = {-0.575f, -0.575f, -0.575f}};
            for (int k = 0; k < 24 * 24 * 24; k++) {
                gg_vec3 p =
                    gg_madd(world.grid.origin, gg_v3((float)(k % 24), (float)(k / 24 % 24), (float)(k / 576)), 0.05f);
                world.samples[k] = gg_maxf(gg_norm(p) - 0.45f, p.z - 0.2f);
            }
            gg_shape *shape = put_part(kinds[i], 6, sizes[kinds[i]][0], sizes[kinds[i]][1], sizes[kinds[i]][2]);
            shape->position = random_point(0.2f);
            shape->rotation = random_turn();
            world.poses[6].position = random_point(1.0f);
            world.poses[6].rotation = random_turn();
            gg_camera *c = &world.cameras[0];
            c->pose.rotation = random_turn();
            gg_vec3 ahead = gg_quat_rotate(c->pose.rotation, gg_v3(uniform(-0.2f, 0.2f), uniform(-0.2f, 0.2f), 1.0f));
            /* within the tube for the cavity, near and far for the others */
            float away = kinds[i] == GG_SHAPE_CAVITY ? 0.2f : trial < 6 ? 1.5f : 3.0f;
            c->pose.position = gg_madd(gg_depth_part_pose(&world.view, 0, 0).position, ahead, -away);
            c->near_depth = trial % 4 == 3 ? away : 0.02f;
            c->far_depth = 6.0f;
            render();
            hits += check_part();
        }
        CHECK(hits > 400);
    }
}

/* depth at which a ray of the part's frame enters a box, in double; INFINITY: it passes by */
static double box_depth(const float *half, gg_vec3 origin, gg_vec3 direction, double *slack) {
    double o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
    double enter = -INFINITY, leave = INFINITY;
    for (int k = 0; k < 3; k++) {
        double a = (-half[k] - o[k]) / d[k], b = (half[k] - o[k]) / d[k];
        enter = fmax(enter, fmin(a, b));
        leave = fmin(leave, fmax(a, b));
    }
    /* rays that graze an edge may be taken for either */
    *slack = fabs(leave - enter) < 0.01 ? INFINITY : 0.0;
    return enter < leave ? enter : INFINITY;
}

static void test_parts_analytic(void) {
    int64_t hits = 0, grazed = 0;
    for (int trial = 0; trial < 30; trial++) {
        gg_view *v = fresh(1 + trial % 2, 40, 40, trial % 2 ? 1.0f : 0.5f);
        gg_camera *c = &world.cameras[0];
        c->pose.rotation = random_turn();
        c->pose.position = random_point(1.0f);
        gg_vec3 z = gg_quat_rotate(c->pose.rotation, gg_v3(0.0f, 0.0f, 1.0f));
        gg_shape *shape = put_part(trial % 3 ? GG_SHAPE_BOX : GG_SHAPE_PLANE, 7, 0.4f, 0.3f, 0.2f);
        shape->rotation = random_turn();
        shape->position = random_point(0.1f);
        world.poses[7].rotation = random_turn();
        world.poses[7].position = gg_madd(c->pose.position, z, 2.0f);
        render();
        gg_pose pose = gg_depth_part_pose(v, 0, 0);
        gg_mat3 m = gg_quat_mat(pose.rotation);
        int wrong = 0;
        for (int i = 0; i < 1600; i++) {
            gg_vec3 origin, direction;
            gg_camera_ray(c, c->pose, i / 40, i % 40, &origin, &direction);
            origin = gg_mat_tmul(m, gg_sub(origin, pose.position));
            direction = gg_mat_tmul(m, direction);
            double slack = 0.0, expected;
            if (shape->kind == GG_SHAPE_PLANE) {
                expected = direction.z < 0.0f ? -(double)origin.z / (double)direction.z : INFINITY;
                /* far away the slope of the ray decides, to its last bits */
                slack = fabs((double)direction.z) < 0.02 ? INFINITY : 0.0;
            } else {
                expected = box_depth(shape->size, origin, direction, &slack);
            }
            expected = expected >= 0.1 && expected < 30.0 ? expected : 30.0;
            hits += expected < 30.0;
            /* a ray that passes an edge by less than the tolerance may meet it */
            double got = (double)v->depth[i], gap = fabs(got - expected);
            int grazes = got < 30.0 && fabs(distance_along(origin, direction, got)) <= GG_DEPTH_TOLERANCE * got;
            grazed += gap > 2e-4 * expected && grazes;
            wrong += slack == 0.0 && !(gap <= 2e-4 * expected) && !grazes;
        }
        CHECK(wrong == 0);
    }
    CHECK(hits > 5000);
    CHECK(grazed < hits / 1000);
}

/* a hollow ball in the middle of a grid, or a slab that its faces cut */
static void sample_grid(int cut) {
    world.grid = (gg_sdf_grid){.count = {24, 24, 24}, .spacing = 0.05f, .origin = {-0.575f, -0.575f, -0.575f}};
    for (int k = 0; k < 24 * 24 * 24; k++) {
        gg_vec3 p = gg_madd(world.grid.origin, gg_v3((float)(k % 24), (float)(k / 24 % 24), (float)(k / 576)), 0.05f);
        float ball = gg_maxf(gg_maxf(gg_norm(p) - 0.3f, 0.15f - gg_norm(p)), p.z - 0.1f);
        world.samples[k] = cut ? gg_maxf(gg_absf(p.x - 0.1f) - 0.1f, p.z - 0.1f) : ball;
    }
    gg_sdf_grid_set_surface(&world.grid, world.samples);
    CHECK((world.grid.surface_margin > 0.0f) == !cut);
}

/* grains, planes and parts of every kind before and behind each other */
static gg_view *crowd(int trial) {
    gg_view *v = fresh(1 + trial % 2, 20 + trial % 13, 30 + trial % 37, trial % 2 ? 0.6f : 0.9f);
    sample_grid(trial % 3 == 2);
    for (int kind = GG_SHAPE_PLANE; kind < GG_SHAPE_KIND_COUNT; kind++) {
        gg_shape *shape = put_part(kind, kind - 1, uniform(0.05f, 0.5f), uniform(0.05f, 0.4f), uniform(0.05f, 0.3f));
        if (kind == GG_SHAPE_CAVITY) {
            shape->size[0] = 3.0f;
        }
        shape->tool = kind == GG_SHAPE_PLANE ? GG_STRIP_FLOOR : 6 + kind % 2;
        shape->position = gg_add(random_point(0.8f), gg_v3(0.0f, 0.0f, kind == GG_SHAPE_PLANE ? 4.0f : 2.0f));
        shape->rotation = kind == GG_SHAPE_PLANE ? gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f) : random_turn();
    }
    world.poses[6].rotation = gg_quat_unit(gg_quat_make(1.0f, 0.05f, 0.0f, 0.1f));
    for (int k = 0; k < 40; k++) {
        put_grain(7 * k, gg_add(random_point(1.0f), gg_v3(0.0f, 0.0f, 2.0f)), uniform(0.005f, 0.2f));
    }
    world.cameras[0].near_depth = trial % 4 == 3 ? 1.9f : 0.05f;
    world.cameras[0].far_depth = trial % 5 == 4 ? 2.5f : 30.0f;
    return v;
}

/* images that are drawn side by side are those drawn a pixel after the other, bit for bit, in bands or at once; so are
 * whose surfaces they show, and with these kept depths are the same */
static void test_drawn_side_by_side(void) {
    static float image[3][PIXELS];
    static int32_t id[2][PIXELS];
    int64_t different = 0, parts = 0, nothing = 0, grains = 0, tools = 0;
    const int trials = CHECK_TIMES(60, 20);
    for (int trial = 0; trial < trials; trial++) {
        gg_view *v = crowd(trial);
        gg_camera *c = &world.cameras[0];
        gg_lens lens = gg_lens_make(c, gg_camera_pose(v, 0, c));
        gg_strip strip = {0, c->height, 0, c->width, image[0], id[0], 0, 0};
        gg_strip_clear(&strip, &lens);
        for (int64_t slot = 0; slot < SLOTS; slot++) {
            gg_strip_slot(&strip, &lens, v, 0, slot);
        }
        memcpy(image[1], image[0], sizeof image[0]);
        gg_strip_parts(&strip, &lens, v, 0, GG_STRIP_WALLS_FLOOR);
        size_t size = sizeof(float) * (size_t)v->dims.pixels;
        for (int k = 0; k < v->dims.pixels; k++) {
            parts += image[0][k] != image[1][k];
        }
        render();
        different += memcmp(image[0], v->depth, size) != 0;
        gg_draw_strip(&lens, v, 0, 0, c->height, image[1], 0, GG_STRIP_WALLS_FLOOR);
        different += memcmp(image[0], image[1], size) != 0;
        gg_draw_strip(&lens, v, 0, 0, c->height, image[2], id[1], GG_STRIP_WALLS_FLOOR);
        different += memcmp(image[0], image[2], size) != 0;
        different += memcmp(id[0], id[1], sizeof(int32_t) * (size_t)v->dims.pixels) != 0;
        for (int k = 0; k < v->dims.pixels; k++) {
            nothing += (id[0][k] == GG_STRIP_NONE) != (image[0][k] == c->far_depth);
            grains += id[0][k] >= 0;
            tools += id[0][k] <= GG_STRIP_PART;
        }
    }
    CHECK(different == 0);
    CHECK(nothing == 0);
    CHECK(grains > trials * 10 && tools > trials * 300);
    CHECK(parts > trials * 300);
}

int main(void) {
    draw = 153740;
    test_parts_march();
    test_drawn_side_by_side();
    test_parts_analytic();
    return check_report();
}
