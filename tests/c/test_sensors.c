/* test_sensors.c: depth images against analytic depths in double precision and against a loop over all pixels and
 * grains.
 *
 * Links against nothing: the code is in headers.
 */
#include "small_world.h"

/* all items, into a buffer that is NaN before */
static void render(void) {
    gg_view *v = &world.view;
    for (int64_t i = 0; i < ENVS * PIXELS + 2; i++) {
        world.depth[i] = NAN;
    }
    /* backwards: items do not lean on each other */
    for (int64_t e = v->dims.env_count - 1; e >= 0; e--) {
        for (int64_t i = v->dims.bands - 1; i >= 0; i--) {
            gg_depth_band(v, e, i);
        }
    }
}

/* ---- spheres ---- */

/* depth at which a ray enters a sphere, in double, from the camera's definition; *slack: what single precision may
 * miss. A ray nearer to the limb than single precision can tell has an endless slack. */
static double sphere_depth(const gg_camera *c, gg_vec4 sphere, int row, int column, double *slack) {
    gg_mat3 m = gg_quat_mat(gg_quat_unit(c->pose.rotation));
    double ax[3] = {m.r0.x, m.r1.x, m.r2.x}, ay[3] = {m.r0.y, m.r1.y, m.r2.y}, az[3] = {m.r0.z, m.r1.z, m.r2.z};
    double pixel = 2.0 * c->extent / c->height;
    double x = (column + 0.5 - 0.5 * c->width) * pixel, y = (row + 0.5 - 0.5 * c->height) * pixel;
    double o[3] = {c->pose.position.x, c->pose.position.y, c->pose.position.z}, d[3], to[3];
    double p[3] = {sphere.x, sphere.y, sphere.z};
    for (int k = 0; k < 3; k++) {
        if (c->kind == GG_CAMERA_PERSPECTIVE) {
            d[k] = az[k] + ax[k] * x + ay[k] * y;
        } else {
            d[k] = az[k];
            o[k] += ax[k] * x + ay[k] * y;
        }
        to[k] = p[k] - o[k];
    }
    double a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double b = to[0] * d[0] + to[1] * d[1] + to[2] * d[2];
    double r = sphere.w, away2 = 0.0, far2 = 0.0;
    for (int k = 0; k < 3; k++) {
        double q = to[k] - d[k] * (b / a);
        away2 += q * q;
        far2 += to[k] * to[k];
    }
    /* what rounding the places of both shifts the ray sideways */
    double shift = 1e-6 * (sqrt(far2) + r + fabs(x) + fabs(y));
    double away = sqrt(away2);
    *slack = fabs(away - r) < shift ? INFINITY : 0.0;
    if (away >= r) {
        return INFINITY;
    }
    double half = sqrt(r * r - away2);
    *slack = fmax(*slack, shift * (1.0 + away / half) * 2.0);
    return (b - half * sqrt(a)) / a;
}

/* compares the whole image of camera 0 with the nearest of `count` spheres; returns the pixels that see one */
static int check_spheres(int count) {
    const gg_camera *c = &world.cameras[0];
    int hits = 0, wrong = 0;
    for (int row = 0; row < c->height; row++) {
        for (int column = 0; column < c->width; column++) {
            double expected = c->far_depth, slack = 0.0;
            for (int k = 0; k < count; k++) {
                double s, t = sphere_depth(c, world.position[k], row, column, &s);
                if (fabs(t - c->near_depth) < s || fabs(t - c->far_depth) < s) {
                    s = INFINITY;
                }
                slack = fmax(slack, s);
                expected = t >= c->near_depth && t < expected ? t : expected;
            }
            float got = world.view.depth[row * c->width + column];
            if (expected < c->far_depth) {
                hits++;
                wrong += !(fabs(got - expected) <= slack);
            } else if (slack < INFINITY) {
                wrong += got != c->far_depth;
            }
            wrong += !gg_finite(got);
        }
    }
    CHECK(wrong == 0);
    return hits;
}

static void test_one_sphere(void) {
    for (int kind = GG_CAMERA_PERSPECTIVE; kind <= GG_CAMERA_ORTHOGRAPHIC; kind++) {
        gg_view *v = fresh(kind, 37, 53, 1.0f);
        gg_camera *c = &world.cameras[0];
        /* straight ahead: the middle pixel is the near pole */
        put_grain(5, gg_v3(0.0f, 0.0f, 3.0f), 0.5f);
        world.position[0] = world.position[5];
        render();
        CHECK(v->depth[18 * 53 + 26] == 2.5f);
        CHECK(v->depth[0] == 30.0f);
        CHECK(check_spheres(1) > 20);
        world.grain_id[5] = -1;
        /* off centre, partly out of the image on every side and corner, tiny, and wholly out */
        float reach = kind == GG_CAMERA_PERSPECTIVE ? 3.0f : 1.0f;
        for (int i = -2; i <= 2; i++) {
            for (int j = -2; j <= 2; j++) {
                put_grain(0, gg_v3(0.9f * (float)i * reach, 0.6f * (float)j * reach, 3.0f), 0.45f);
                render();
                int hits = check_spheres(1);
                CHECK(abs(i) < 2 && abs(j) < 2 ? hits > 0 : 1);
            }
        }
        put_grain(0, gg_v3(0.02f, -0.03f, 20.0f), 0.02f);
        c->extent = 0.01f;
        render();
        CHECK(kind == GG_CAMERA_ORTHOGRAPHIC || check_spheres(1) > 0);
        c->extent = 1.0f;
        /* +x is right, +y down */
        put_grain(0, gg_v3(0.5f, 0.3f, 2.0f), 0.2f);
        render();
        int row = kind == GG_CAMERA_PERSPECTIVE ? 18 + 3 : 18 + 6,
            column = kind == GG_CAMERA_PERSPECTIVE ? 26 + 5 : 26 + 9;
        CHECK(v->depth[row * 53 + column] < 2.0f);
        /* the camera within a grain looks out of it */
        put_grain(0, gg_v3(0.05f, 0.0f, 0.1f), 0.6f);
        put_grain(1, gg_v3(0.0f, 0.0f, 2.0f), 0.3f);
        render();
        CHECK(v->depth[18 * 53 + 26] == 1.7f || kind == GG_CAMERA_ORTHOGRAPHIC);
        CHECK(check_spheres(2) > 0);
        /* the near plane cuts a grain: what lies behind the cut is seen */
        c->near_depth = 1.0f;
        put_grain(0, gg_v3(0.0f, 0.0f, 1.3f), 0.35f);
        render();
        CHECK_NEAR(v->depth[18 * 53 + 26], 1.7, 1e-6);
        CHECK(check_spheres(2) > 0);
        /* behind the camera and behind far; across far */
        c->near_depth = 0.1f;
        c->far_depth = 5.0f;
        put_grain(0, gg_v3(0.0f, 0.0f, -2.0f), 0.5f);
        put_grain(1, gg_v3(0.0f, 0.0f, 8.0f), 1.0f);
        render();
        CHECK(check_spheres(2) == 0);
        put_grain(1, gg_v3(0.0f, 0.0f, 5.5f), 1.0f);
        render();
        CHECK(check_spheres(2) > 0);
        /* any pose of the camera */
        int hits = 0;
        for (int trial = 0; trial < 40; trial++) {
            c->pose.position = random_point(4.0f);
            c->pose.rotation = random_turn();
            c->far_depth = 12.0f;
            gg_vec3 ahead = gg_quat_rotate(c->pose.rotation, gg_v3(uniform(-0.6f, 0.6f), uniform(-0.6f, 0.6f), 1.0f));
            put_grain(0, gg_madd(c->pose.position, ahead, uniform(0.2f, 4.0f)), uniform(0.02f, 0.8f));
            put_grain(1, gg_madd(c->pose.position, ahead, uniform(4.0f, 9.0f)), uniform(0.5f, 1.5f));
            render();
            hits += check_spheres(2);
        }
        CHECK(hits > 1000);
    }
}

/* what the band code does with culling, rectangles and lanes, against every grain tried at every pixel: the same bits
 */
static void test_brute_force(void) {
    for (int trial = 0; trial < 60; trial++) {
        int kind = 1 + trial % 2;
        gg_view *v = fresh(kind, 9 + trial % 40, 61 - trial % 30, uniform(0.1f, 1.5f));
        gg_camera *c = &world.cameras[0];
        c->pose.position = random_point(1.0f);
        c->pose.rotation = random_turn();
        c->near_depth = trial % 3 ? 0.05f : 0.5f;
        c->far_depth = 3.0f;
        float scale = trial % 5 == 0 ? 0.02f : 0.15f;
        for (int k = 0; k < SLOTS - 7; k++) {
            put_grain(k, random_point(1.5f), scale * uniform(0.2f, 1.0f));
        }
        /* what must not be drawn: an empty slot with numbers in it, grains that are nowhere */
        world.grain_id[100] = -1;
        world.position[101].x = NAN;
        world.position[102].z = INFINITY;
        world.position[103].y = -3e38f;
        render();
        gg_lens lens = gg_lens_make(c, gg_camera_pose(v, 0, c));
        int64_t different = 0, hits = 0;
        for (int row = 0; row < c->height; row++) {
            for (int column = 0; column < c->width; column++) {
                float expected = c->far_depth;
                for (int k = 0; k < SLOTS; k++) {
                    float enter, leave;
                    gg_vec3 p = gg_v3(world.position[k].x, world.position[k].y, world.position[k].z);
                    if (world.grain_id[k] >= 0 &&
                        gg_lens_sphere(lens.perspective, gg_lens_local(&lens, p), world.position[k].w,
                                       gg_lens_column(&lens, column), gg_lens_row(&lens, row), &enter, &leave) &&
                        enter >= c->near_depth && enter < expected) {
                        expected = enter;
                    }
                }
                float got = v->depth[row * c->width + column];
                different += memcmp(&got, &expected, sizeof got) != 0;
                hits += expected < c->far_depth;
            }
        }
        CHECK(different == 0);
        CHECK(hits > 0);
        /* shuffled slots: the same bits */
        static float before[PIXELS];
        memcpy(before, v->depth, sizeof(float) * (size_t)v->dims.pixels);
        for (int k = SLOTS - 1; k > 0; k--) {
            int other = (int)uniform(0.0f, (float)(k + 1));
            gg_vec4 p = world.position[k];
            int32_t id = world.grain_id[k];
            world.position[k] = world.position[other];
            world.grain_id[k] = world.grain_id[other];
            world.position[other] = p;
            world.grain_id[other] = id;
        }
        render();
        CHECK(memcmp(before, v->depth, sizeof(float) * (size_t)v->dims.pixels) == 0);
    }
}

/* ---- layout ---- */

static void test_layout(void) {
    gg_view *v = fresh(GG_CAMERA_PERSPECTIVE, 36, 36, 0.7f);
    world.cameras[1] = world.cameras[0];
    world.cameras[1].kind = GG_CAMERA_ORTHOGRAPHIC;
    world.cameras[1].height = 17;
    world.cameras[1].width = 72;
    world.cameras[1].first_pixel = 36 * 36;
    world.cameras[2] = world.cameras[1];
    world.cameras[2].height = 1;
    world.cameras[2].width = 5;
    world.cameras[2].first_pixel = 36 * 36 + 17 * 72;
    v->dims.camera_count = 3;
    v->dims.pixels = 36 * 36 + 17 * 72 + 5;
    v->dims.bands = 5 + 3 + 1;
    v->dims.env_count = ENVS;
    CHECK(gg_depth_camera_bands(&world.cameras[0]) == 5);
    CHECK(gg_depth_camera_bands(&world.cameras[1]) == 3);
    CHECK(gg_depth_camera_bands(&world.cameras[2]) == 1);
    for (int e = 0; e < ENVS; e++) {
        for (int k = 0; k < 40; k++) {
            gg_vec3 p = random_point(1.0f);
            put_grain(e * SLOTS + k, gg_v3(p.x, p.y, p.z + 2.5f), 0.1f);
        }
    }
    render();
    int64_t total = ENVS * v->dims.pixels;
    int64_t written = 0, between = 0;
    for (int64_t i = 0; i < total; i++) {
        written += gg_finite(v->depth[i]);
        between += v->depth[i] > 1.0f && v->depth[i] < 4.0f;
    }
    CHECK(written == total);
    CHECK(between > total / 20);
    /* nothing outside */
    CHECK(isnan(world.depth[0]) && isnan(v->depth[total]));
    /* an env among others = the env alone; envs differ */
    static float last[PIXELS];
    size_t bytes = sizeof(float) * (size_t)v->dims.pixels;
    memcpy(last, v->depth + 2 * v->dims.pixels, bytes);
    CHECK(memcmp(last, v->depth, bytes) != 0);
    memcpy(world.position, world.position + 2 * SLOTS, sizeof(gg_vec4) * SLOTS);
    v->dims.env_count = 1;
    render();
    CHECK(memcmp(last, v->depth, bytes) == 0);
    /* a camera without a kind, or nowhere, sees nothing */
    world.cameras[0].kind = GG_CAMERA_NONE;
    world.cameras[1].pose.position.x = NAN;
    render();
    int64_t seen = 0;
    for (int64_t i = 0; i < 36 * 36 + 17 * 72; i++) {
        seen += v->depth[i] != 30.0f;
    }
    CHECK(seen == 0);
}

/* ---- tools ---- */

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

/* Holds every pixel of a part against its own field, marched in small steps: the depth is the first place where the ray
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
            double free_way = 0.0, push = (double)(c->far_depth - c->near_depth) / GG_DEPTH_PUSH;
            for (double t = (double)c->near_depth; t < end - 2e-4 * got;) {
                double d = distance_at(origin, direction, t);
                int inside = free_way > push && d < -2e-4 * t;
                early += inside && got < (double)c->far_depth;
                missed += inside && got >= (double)c->far_depth;
                double step = fmax(fabs(d) * 0.5, 1e-3) / length;
                free_way += d > 2e-4 * t ? step : 0.0;
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
            world.grid = (gg_sdf_grid){{24, 24, 24}, 0.05f, {-0.575f, -0.575f, -0.575f}, 0};
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

static void test_walls_and_mixture(void) {
    gg_view *v = fresh(GG_CAMERA_ORTHOGRAPHIC, 24, 24, 1.0f);
    gg_camera *c = &world.cameras[0];
    /* a sky camera: looks down, image up is +y */
    c->pose.position = gg_v3(0.0f, 0.0f, 3.0f);
    c->pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    gg_quat up = gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f);
    /* the upper z wall would hide all */
    put_part(GG_SHAPE_PLANE, 5, 0.0f, 0.0f, 0.0f)->position = gg_v3(0.0f, 0.0f, 1.0f);
    render();
    CHECK(v->depth[0] == 30.0f);
    put_part(GG_SHAPE_PLANE, 4, 0.0f, 0.0f, 0.0f)->rotation = up;
    render();
    CHECK(v->depth[0] == 3.0f && v->depth[575] == 3.0f);
    /* a grain on the floor, half sunk: only its upper part shows; a tool over it hides it */
    put_grain(0, gg_v3(0.0f, 0.0f, 0.0f), 0.5f);
    render();
    CHECK_NEAR(v->depth[12 * 24 + 12], 3.0 - sqrt(0.25 - 2.0 / 24 / 24), 1e-5);
    put_part(GG_SHAPE_BOX, 6, 0.3f, 2.0f, 0.1f)->position = gg_v3(-0.6f, 0.0f, 0.8f);
    render();
    CHECK_NEAR(v->depth[12 * 24 + 6], 2.1, 1e-4);
    CHECK(v->depth[12 * 24 + 14] < 2.6f && v->depth[12 * 24 + 14] > 2.4f);
    CHECK(v->depth[12 * 24 + 22] == 3.0f);
    /* a tool that is nowhere is not drawn, and does no harm */
    world.poses[6].position.x = NAN;
    render();
    CHECK(v->depth[12 * 24 + 6] > 2.5f && gg_finite(v->depth[12 * 24 + 6]));
    /* a camera within a box looks out of it */
    world.poses[6] = gg_pose_identity();
    world.parts[2].position = c->pose.position;
    render();
    CHECK(v->depth[0] == 3.0f);
}

static void test_riding(void) {
    gg_view *v = fresh(GG_CAMERA_PERSPECTIVE, 30, 40, 0.6f);
    gg_camera *c = &world.cameras[0];
    for (int k = 0; k < 60; k++) {
        put_grain(k, random_point(1.5f), 0.15f);
    }
    gg_pose mount = {gg_v3(0.2f, -0.1f, 0.3f), random_turn()};
    static float still[PIXELS];
    for (int trial = 0; trial < 5; trial++) {
        world.poses[6].position = random_point(0.5f);
        world.poses[6].rotation = random_turn();
        c->tool = 6;
        c->pose = mount;
        render();
        memcpy(still, v->depth, sizeof(float) * 1200);
        /* the same camera fixed where the tool carries it */
        c->tool = -1;
        c->pose.position = gg_add(world.poses[6].position, gg_quat_rotate(world.poses[6].rotation, mount.position));
        c->pose.rotation = gg_quat_mul(world.poses[6].rotation, mount.rotation);
        render();
        int near_ones = 0, hits = 0;
        for (int i = 0; i < 1200; i++) {
            near_ones += fabsf(still[i] - v->depth[i]) < 1e-3f;
            hits += still[i] < 30.0f;
        }
        /* a pixel at a limb may turn with the last bits of the pose */
        CHECK(near_ones >= 1195 && hits > 50);
    }
}

int main(void) {
    test_one_sphere();
    test_brute_force();
    test_layout();
    test_parts_march();
    test_parts_analytic();
    test_walls_and_mixture();
    test_riding();
    return check_report();
}
