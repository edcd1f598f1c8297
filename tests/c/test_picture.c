/* test_picture.c: pictures for people and PNG files.
 *
 * Links against csrc/sensors/picture.c, csrc/sensors/png.c and the kernels of csrc/backend.
 */
#include "../../csrc/backend/kernels.h"
#include "../../csrc/sensors/picture.h"
#include "../../csrc/sensors/png.h"
#include "../../csrc/sensors/shade_trace.h"
#include "small_world.h"

static gg_picture_passes passes; /* of the widest kernel of this processor */
static gg_picture_memory memory;

static int brightness(const uint8_t *rgb, int width, int row, int column) {
    const uint8_t *p = rgb + 3 * (row * width + column);
    return p[0] + p[1] + p[2];
}

static void test_picture(void) {
    gg_view *v = fresh(GG_CAMERA_ORTHOGRAPHIC, 8, 8, 1.0f);
    v->dims.grain_count = 200;
    put_part(GG_SHAPE_PLANE, 4, 0.0f, 0.0f, 0.0f);
    put_part(GG_SHAPE_BOX, 6, 0.05f, 0.3f, 0.1f)->position = gg_v3(-0.8f, 0.0f, 0.1f);
    /* one grain in the air, the others in a corner */
    put_grain(0, gg_v3(0.0f, 0.0f, 0.3f), 0.1f);
    for (int k = 1; k < 200; k++) {
        put_grain(k, gg_v3(uniform(0.5f, 0.9f), uniform(0.5f, 0.9f), uniform(0.05f, 0.2f)), 0.05f);
    }
    /* two grains at one position: which is seen must not depend on their slots */
    world.position[7] = world.position[0];
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    picture.camera = world.cameras[0];
    picture.camera.height = 60;
    picture.camera.width = 80;
    picture.camera.pose.position = gg_v3(0.0f, 0.0f, 3.0f);
    picture.camera.pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    picture.light = gg_v3(-1.0f, 0.0f, 1.0f);
    picture.samples = 2;
    static uint8_t one[60 * 80 * 3], other[60 * 80 * 3];
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, one) == GG_OK);
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 3, other) == GG_OK);
    CHECK(memcmp(one, other, sizeof one) == 0);
    /* the sun stands at -x, half high: the shadow of the grain in the air falls 0.3 m to +x of it, 9 pixels of 1/30 m
     */
    CHECK(brightness(one, 80, 30, 49) < 0.8 * brightness(one, 80, 30, 31 + 36));
    CHECK(brightness(one, 80, 30, 49) < 0.8 * brightness(one, 80, 10, 49));
    /* its bright side faces the sun */
    CHECK(brightness(one, 80, 30, 38) > brightness(one, 80, 30, 41) + 30);
    /* slots shuffled, ids kept */
    for (int k = 0; k < 100; k++) {
        int a = k, b = 511 - 2 * k;
        gg_vec4 p = world.position[a];
        int32_t id = world.grain_id[a];
        world.position[a] = world.position[b];
        world.grain_id[a] = world.grain_id[b];
        world.position[b] = p;
        world.grain_id[b] = id;
    }
    for (int k = 0; k < SLOTS; k++) {
        if (world.grain_id[k] >= 0) {
            world.slot_of[world.grain_id[k]] = k;
        }
    }
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 2, other) == GG_OK);
    CHECK(memcmp(one, other, sizeof one) == 0);
    /* colours are the caller's: red grains, a blue tool */
    static uint8_t grain_color[3 * SLOTS], tool_color[3 * TOOLS];
    for (int k = 0; k < SLOTS; k++) {
        grain_color[3 * k] = 200;
    }
    for (int k = 0; k < TOOLS; k++) {
        tool_color[3 * k + 2] = 200;
    }
    picture.grain_color = grain_color;
    picture.tool_color = tool_color;
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 2, other) == GG_OK);
    const uint8_t *grain = other + 3 * (30 * 80 + 39), *tool = other + 3 * (30 * 80 + 16);
    CHECK(grain[0] > 100 && grain[1] == 0 && grain[2] == 0);
    CHECK(tool[2] > 100 && tool[0] < tool[2]);
    /* an escaped grain far away changes nothing near */
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 2, one) == GG_OK);
    put_grain(400, gg_v3(1e6f, 0.0f, 50.0f), 0.1f);
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 2, other) == GG_OK);
    CHECK(memcmp(one, other, sizeof one) == 0);
}

static const int kinds[] = {GG_SHAPE_BOX,  GG_SHAPE_SPHERE, GG_SHAPE_CAPSULE, GG_SHAPE_CYLINDER,
                            GG_SHAPE_CONE, GG_SHAPE_GRID,   GG_SHAPE_CAVITY};
#define KINDS 7

/* a world without grains, with the samples of a sphere as its grid */
static gg_view *fresh_parts(int camera) {
    static float sample[13 * 13 * 13];
    gg_view *v = fresh(camera, 90, 120, 0.6f);
    world.grid = (gg_sdf_grid){.count = {13, 13, 13}, .spacing = 0.1f, .origin = {-0.6f, -0.6f, -0.6f}};
    for (int k = 0; k < 13 * 13 * 13; k++) {
        gg_vec3 p = gg_v3(0.1f * (float)(k % 13 - 6), 0.1f * (float)(k / 13 % 13 - 6), 0.1f * (float)(k / 169 - 6));
        sample[k] = gg_norm(p) - 0.4f;
    }
    v->samples = sample;
    return v;
}

/* Rays that meet a part, those that do where learners' cameras do not (or elsewhere), and those that differ at all. The
 * camera is `height` above the origin and looks down. */
typedef struct comparison {
    int seen, apart, unequal;
} comparison;

static comparison compare_part(gg_view *v, float height) {
    static float fine[90 * 120], coarse[90 * 120];
    static int32_t ids[2][90 * 120];
    gg_camera camera = world.cameras[0];
    camera.pose.position = gg_v3(0.0f, 0.0f, height);
    camera.pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    gg_lens lens = gg_lens_make(&camera, gg_camera_pose(v, 0, &camera));
    gg_draw_strip(&lens, v, 0, 0, 90, fine, ids[0], GG_STRIP_WALLS_NONE);
    gg_shade_strip(&lens, v, 0, 0, 90, coarse, ids[1], 0, GG_STRIP_WALLS_NONE);
    comparison c = {0, 0, 0};
    for (int k = 0; k < 90 * 120; k++) {
        c.seen += ids[0][k] != GG_STRIP_NONE;
        c.apart += ids[0][k] != ids[1][k] || fabsf(fine[k] - coarse[k]) > 2.0f * lens.pixel;
        c.unequal += ids[0][k] != ids[1][k] || fabsf(fine[k] - coarse[k]) > 0.05f * lens.pixel;
    }
    return c;
}

/* parts drawn coarse to fine are where learners' cameras see them: all but a few rays at edges */
static void test_parts(void) {
    for (int trial = 0; trial < CHECK_TIMES(20, 6) * KINDS; trial++) {
        gg_view *v = fresh_parts(trial / KINDS % 2 ? GG_CAMERA_PERSPECTIVE : GG_CAMERA_ORTHOGRAPHIC);
        int kind = kinds[trial % KINDS];
        gg_shape *part = put_part(kind, 6, 0.3f, 0.2f, 0.25f);
        part->position = gg_v3(0.107f, -0.093f, 0.21f);
        /* the first two along the axes of the camera */
        part->rotation = trial < 2 * KINDS ? gg_quat_make(1.0f, 0.0f, 0.0f, 0.0f) : random_turn();
        comparison c = compare_part(v, 2.0f);
        int seen = kind != GG_SHAPE_CAVITY || trial >= 2 * KINDS;
        CHECK(!seen || c.seen > 100);
        CHECK(c.apart <= 0.03 * c.seen);
        CHECK(kind == GG_SHAPE_GRID || kind == GG_SHAPE_CONE || c.unequal <= 0.03 * c.seen);
    }
}

/* from inside one looks out of a solid part, and at the wall of a cavity */
static void test_inside(void) {
    for (int trial = 0; trial < CHECK_TIMES(4, 2) * KINDS; trial++) {
        gg_view *v = fresh_parts(GG_CAMERA_PERSPECTIVE);
        world.cameras[0].near_depth = 0.0f;
        int kind = kinds[trial % KINDS];
        put_part(kind, 6, 0.3f, 0.2f, 0.25f)->rotation = random_turn();
        comparison c = compare_part(v, 0.05f);
        CHECK(c.apart <= 0.03 * c.seen);
        CHECK((c.seen > 0) == (kind == GG_SHAPE_CAVITY));
    }
}

/* the same bytes from every instruction set */
static void test_kernels(void) {
    static const char *names[] = {"scalar", "vector128", "avx2", "avx512"};
    static uint8_t first[61 * 83 * 3], other[61 * 83 * 3];
    gg_view *v = fresh_parts(GG_CAMERA_PERSPECTIVE);
    v->dims.grain_count = 200;
    put_part(GG_SHAPE_PLANE, 4, 0.0f, 0.0f, 0.0f)->position = gg_v3(0.0f, 0.0f, -0.4f);
    for (int k = 0; k < KINDS; k++) {
        gg_shape *part = put_part(kinds[k], 6 + k % 2, 0.12f, 0.08f, 0.1f);
        part->position = gg_v3(uniform(-0.6f, 0.6f), uniform(-0.4f, 0.4f), uniform(0.0f, 0.3f));
        part->rotation = random_turn();
    }
    for (int k = 0; k < 200; k++) {
        put_grain(k, gg_v3(uniform(-0.8f, 0.8f), uniform(-0.6f, 0.6f), uniform(-0.35f, 0.3f)), 0.05f);
    }
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    picture.camera = world.cameras[0];
    picture.camera.height = 61;
    picture.camera.width = 83;
    picture.camera.pose.position = gg_v3(0.1f, 0.0f, 2.0f);
    picture.camera.pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    picture.light = gg_v3(-1.0f, 0.3f, 1.0f);
    int kernels = 0;
    for (int samples = CHECK_TIMES(1, 2); samples <= CHECK_TIMES(3, 2); samples++) {
        picture.samples = samples;
        CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, first) == GG_OK);
        for (int k = 0; k < 4; k++) {
            gg_kernel kernel = gg_kernel_select(names[k]);
            if (kernel.name) {
                memset(other, 0, sizeof other);
                CHECK(gg_picture_render(v, 0, &picture, &kernel.picture, &memory, 2, other) == GG_OK);
                CHECK(memcmp(first, other, sizeof first) == 0);
                kernels++;
            }
        }
    }
    CHECK(kernels >= CHECK_TIMES(3, 2));
}

static void test_walls(void) {
    gg_view *v = fresh(GG_CAMERA_PERSPECTIVE, 8, 8, 1.0f);
    /* the upper x wall of bounds -1 .. 1, 0 .. 1, seen from within along +x and from without along -x */
    gg_shape *wall = put_part(GG_SHAPE_PLANE, 1, 0.0f, 0.0f, 0.0f);
    wall->position = gg_v3(1.0f, 0.0f, 0.0f);
    wall->rotation = gg_quat_unit(gg_quat_make(1.0f, 0.0f, -1.0f, 0.0f));
    static uint8_t tool_color[3 * TOOLS], hidden[40 * 40 * 3], shown[40 * 40 * 3];
    tool_color[3] = 255;
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    picture.camera = world.cameras[0];
    picture.camera.height = picture.camera.width = 40;
    picture.camera.pose.position = gg_v3(0.0f, 0.0f, 0.5f);
    picture.camera.pose.rotation = gg_quat_make(0.5f, -0.5f, 0.5f, -0.5f);
    picture.light = gg_v3(-1.0f, 0.0f, 1.0f);
    picture.tool_color = tool_color;
    picture.samples = 1;
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, hidden) == GG_OK);
    picture.show_walls = 1;
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, shown) == GG_OK);
    /* red in the middle, but not above the upper edge of the bounds */
    const uint8_t *middle = shown + 3 * (20 * 40 + 20), *above = shown + 3 * (4 * 40 + 20);
    CHECK(middle[0] > 100 && middle[2] == 0);
    CHECK(above[2] > above[0]);
    CHECK(hidden[3 * (20 * 40 + 20) + 2] > 100);
    /* from without one looks in */
    picture.camera.pose.position = gg_v3(3.0f, 0.0f, 0.5f);
    picture.camera.pose.rotation = gg_quat_make(0.5f, -0.5f, -0.5f, 0.5f);
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, shown) == GG_OK);
    CHECK(middle[2] > 100);
}

/* a green mark on the floor between 0 and .5, its edge stronger than its inside, none beyond it */
static void test_mark(void) {
    static const float mark[GG_MARK_SIZE] = {0.0f, 0.0f, 0.5f, 0.5f, 0.1f, 0.0f, 200.0f, 0.0f};
    static uint8_t plain[40 * 40 * 3], marked[40 * 40 * 3];
    gg_view *v = fresh(GG_CAMERA_ORTHOGRAPHIC, 8, 8, 1.0f);
    put_part(GG_SHAPE_PLANE, 4, 0.0f, 0.0f, 0.0f);
    gg_picture picture;
    memset(&picture, 0, sizeof picture);
    picture.camera = world.cameras[0];
    picture.camera.height = picture.camera.width = 40;
    picture.camera.pose.position = gg_v3(0.0f, 0.0f, 3.0f);
    picture.camera.pose.rotation = gg_quat_make(0.0f, 1.0f, 0.0f, 0.0f);
    picture.light = gg_v3(-1.0f, 0.0f, 1.0f);
    picture.samples = 2;
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, plain) == GG_OK);
    picture.floor_mark = mark;
    CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, marked) == GG_OK);
    int changed = 0;
    for (int k = 0; k < 40 * 40; k++) {
        changed += memcmp(plain + 3 * k, marked + 3 * k, 3) != 0;
    }
    /* 10 x 10 pixels, and what they share with their neighbours */
    CHECK(changed >= 100 && changed <= 144);
    /* the camera looks down with its rows along -y: (.25, .25), (.05, .25) and (-.25, .25) */
    const uint8_t *inside = marked + 3 * (14 * 40 + 25), *edge = marked + 3 * (14 * 40 + 21);
    const uint8_t *out = marked + 3 * (14 * 40 + 14);
    CHECK(inside[1] > inside[0] + 10 && edge[0] + 10 < inside[0] && out[1] < out[0] + 10);
}

static void test_picture_refusals(void) {
    gg_view *v = fresh(GG_CAMERA_PERSPECTIVE, 8, 8, 1.0f);
    gg_picture good;
    memset(&good, 0, sizeof good);
    good.camera = world.cameras[0];
    good.samples = 1;
    uint8_t rgb[8 * 8 * 3], before[8 * 8 * 3];
    char message[200];
    /* nothing in the world, light from nowhere: a sky */
    CHECK(gg_picture_render(v, 0, &good, &passes, &memory, 1, rgb) == GG_OK);
    memcpy(before, rgb, sizeof rgb);
#define REFUSED(change, name)                                                                                          \
    do {                                                                                                               \
        gg_picture picture = good;                                                                                     \
        change;                                                                                                        \
        CHECK(gg_picture_check(v, 0, &picture, message, sizeof message) == GG_ERROR_ARGUMENT);                         \
        CHECK(strstr(message, name) && strstr(message, "expected") && strstr(message, "got"));                         \
        CHECK(gg_picture_render(v, 0, &picture, &passes, &memory, 1, rgb) == GG_ERROR_ARGUMENT);                       \
    } while (0)
    REFUSED(picture.samples = 0, "samples");
    REFUSED(picture.samples = 5, "samples");
    REFUSED(picture.camera.kind = 7, "kind");
    REFUSED(picture.camera.height = 0, "height");
    REFUSED(picture.camera.width = -3, "width");
    REFUSED(picture.camera.width = 1 << 30, "width");
    REFUSED((picture.camera.width = picture.camera.height = 16384, picture.samples = 4), "samples");
    REFUSED(picture.camera.extent = 0.0f, "extent");
    REFUSED(picture.camera.extent = NAN, "extent");
    REFUSED(picture.camera.far_depth = 0.1f, "far_depth");
    REFUSED(picture.camera.far_depth = INFINITY, "far_depth");
    REFUSED(picture.camera.tool = TOOLS, "tool");
    REFUSED(picture.camera.pose.position.y = NAN, "pose");
    REFUSED(picture.light.x = INFINITY, "light");
#undef REFUSED
    CHECK(gg_picture_check(v, 1, &good, message, sizeof message) == GG_ERROR_ARGUMENT && strstr(message, "env"));
    CHECK(gg_picture_check(v, -1, &good, NULL, 0) == GG_ERROR_ARGUMENT);
    CHECK(gg_picture_check(v, 0, &good, message, sizeof message) == GG_OK && message[0] == 0);
    CHECK(memcmp(before, rgb, sizeof rgb) == 0);
}

/* ---- files ---- */

static void test_png(void) {
    static uint8_t pixels[20 * 30 * 3], file[4096];
    for (size_t i = 0; i < sizeof pixels; i++) {
        pixels[i] = (uint8_t)(i * 7);
    }
    const char *path = "test_sensors.tmp.png";
    for (int channels = 1; channels <= 3; channels += 2) {
        CHECK(gg_write_png(path, 20, 30, channels, pixels) == GG_OK);
        FILE *in = fopen(path, "rb");
        size_t size = in ? fread(file, 1, sizeof file, in) : 0;
        if (in) {
            fclose(in);
        }
        /* signature; width, height, 8 bits, grey or colour; the end chunk last */
        CHECK(size > 60 && memcmp(file, "\x89PNG\r\n\x1a\n", 8) == 0);
        CHECK(memcmp(file + 16, "\0\0\0\x1e\0\0\0\x14\x08", 9) == 0 && file[25] == (channels == 1 ? 0 : 2));
        CHECK(size > 60 && memcmp(file + size - 8, "IEND", 4) == 0);
    }
    remove(path);
    CHECK(gg_write_png("no/such/folder/a.png", 20, 30, 3, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(".", 20, 30, 3, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png("", 20, 30, 3, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(NULL, 20, 30, 3, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(path, 20, 30, 3, NULL) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(path, 0, 30, 3, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(path, 20, -1, 3, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(path, 20, 30, 2, pixels) == GG_ERROR_ARGUMENT);
    CHECK(gg_write_png(path, 1 << 30, 1 << 30, 3, pixels) == GG_ERROR_ARGUMENT);
    FILE *left = fopen(path, "rb");
    CHECK(!left);
}

int main(void) {
    passes = gg_kernel_select(NULL).picture;
    test_picture();
    test_parts();
    test_inside();
    test_kernels();
    test_walls();
    test_mark();
    test_picture_refusals();
    test_png();
    gg_picture_memory_free(&memory);
    return check_report();
}
