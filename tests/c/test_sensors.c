/* test_sensors.c: depth images of grains against analytic depths in double precision and against a loop over all pixels
 * and grains; layout of images; walls; cameras on tools.
 *
 * Links against nothing: the code is in headers. Tools are in test_parts.c.
 */
#include "small_world.h"

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
    /* rounding both positions shifts the ray sideways by this */
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
    for (int k = 0; k < CHECK_TIMES(60, 20); k++) {
        /* each of the 60 once, low and high images in turn */
        int trial = k * 7 % 60, kind = 1 + trial % 2;
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
    /* a tool without a finite pose is not drawn, and does no harm */
    world.poses[6].position.x = NAN;
    render();
    CHECK(v->depth[12 * 24 + 6] > 2.5f && gg_finite(v->depth[12 * 24 + 6]));
    /* a camera within a box looks out of it */
    world.poses[6] = gg_pose_identity();
    world.parts[2].position = c->pose.position;
    render();
    CHECK(v->depth[0] == 3.0f);
}

static void test_mounted_camera(void) {
    draw = 155960; /* poses that see many grains */
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
        /* the same camera, fixed at its world pose */
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
    test_walls_and_mixture();
    test_mounted_camera();
    return check_report();
}
