/* test_continuum.c: continuous matter piece by piece: splines, stretches, the energies of matter and contact beside their
 * derivatives, return mapping.
 *
 * Links against nothing: the code is in headers.
 */
#include <string.h>

#include "base/rng.h"
#include "base/root.h"
#include "check.h"
#include "solvers/continuum/cells.h"
#include "solvers/continuum/contacts.h"
#include "solvers/continuum/liquid.h"
#include "solvers/continuum/matter.h"
#include "solvers/continuum/spline.h"

static double draw(void) {
    static uint64_t count;
    return 2.0 * (double)gg_rng_uniform(1, 2, count++) - 1.0;
}

static gg_sym draw_sym(double size) {
    return gg_sym_make(size * draw(), size * draw(), size * draw(), size * draw(), size * draw(), size * draw());
}

static const gg_continuum_material materials[] = {
    {3e5, 1e5, GG_UNYIELDING, 0.0, GG_UNYIELDING, 0.0, 0.0, 0.0, 0.0},
    {3e5, 1e5, 2e3, 0.0, GG_UNYIELDING, 5.0, 0.0, 0.0, 0.0},
    {3e5, 1e5, 50.0, 0.7, 100.0, 2.0, 0.0, 0.0, 0.0},
    {3e5, 1e5, 50.0, 0.7, 100.0, 2.0, 0.0, 0.3, 0.2505},
};
enum { MATERIALS = sizeof materials / sizeof *materials };

/* A double as a float and what was lost to its rounding: of two side by side, too, of which compilers make a vector. */
static void split_two(const double *from, float *value, float *error) {
    float one, other, lost, other_lost;
    gg_split(from[0], &one, &lost);
    gg_split(from[1], &other, &other_lost);
    value[0] = one;
    value[1] = other;
    error[0] = lost;
    error[1] = other_lost;
}
static void (*volatile splits)(const double *, float *, float *) = split_two; /* so that it is not inlined */
static void test_splits(void) {
    for (int n = 0; n < 100; n++) {
        double from[2] = {draw() / 3.0, draw() / 7.0}; /* more digits than a float has */
        float value[2], error[2];
        splits(from, value, error);
        for (int k = 0; k < 2; k++) {
            CHECK(value[k] == (float)from[k]);
            CHECK_NEAR((double)value[k] + (double)error[k], from[k], 1e-14);
        }
    }
}

/* weights add up to 1, reproduce linear fields, and their derivatives are those of the weights */
static void test_splines(void) {
    double spacing = 0.3;
    for (int k = 0; k < 200; k++) {
        double place[3] = {1.0 + 0.5 * draw(), 1.0 + 0.5 * draw(), 1.0 + 0.5 * draw()};
        double slope[3] = {draw(), draw(), draw()};
        gg_real4 halo[216], value, along[3];
        for (int n = 0; n < 216; n++) {
            double at = slope[0] * (n % 6) + slope[1] * (n / 6 % 6) + slope[2] * (n / 36);
            halo[n] = gg_real4_set(1.0, at * spacing, 0.0, 0.0);
        }
        gg_spline s = gg_spline_slopes(place, spacing), moments = gg_spline_moments(place, spacing);
        gg_spline_gather(&s, halo, &value, along);
        CHECK_NEAR(gg_real4_at(value, 0), 1.0, 1e-14);
        for (int axis = 0; axis < 3; axis++) {
            CHECK_NEAR(gg_real4_at(along[axis], 0), 0.0, 1e-12);
            CHECK_NEAR(gg_real4_at(along[axis], 1), slope[axis], 1e-12);
        }
        gg_spline_gather(&moments, halo, &value, along);
        for (int axis = 0; axis < 3; axis++) {
            /* the second moment of a quadratic B-spline is a quarter of the spacing squared */
            CHECK_NEAR(gg_real4_at(along[axis], 0), 0.0, 1e-14);
            CHECK_NEAR(gg_real4_at(along[axis], 1), 0.25 * spacing * spacing * slope[axis], 1e-12);
        }
    }
}

/* gather and scatter are transposes of each other */
static void test_transposes(void) {
    double place[3] = {0.7, 1.2, 0.9};
    gg_spline s = gg_spline_slopes(place, 0.1);
    gg_real4 in[216], out[216], value, along[3], given, given_along[3];
    for (int n = 0; n < 216; n++) {
        in[n] = gg_real4_set(draw(), draw(), draw(), 0.0);
        out[n] = gg_real4_zero();
    }
    given = gg_real4_set(draw(), draw(), draw(), 0.0);
    double left = 0.0, right = 0.0;
    gg_spline_gather(&s, in, &value, along);
    left += gg_real4_dot3(value, given);
    for (int axis = 0; axis < 3; axis++) {
        given_along[axis] = gg_real4_set(draw(), draw(), draw(), 0.0);
        left += gg_real4_dot3(along[axis], given_along[axis]);
    }
    gg_spline_scatter(&s, given, given_along, out);
    for (int n = 0; n < 216; n++) {
        right += gg_real4_dot3(in[n], out[n]);
    }
    CHECK_NEAR(right, left, 1e-12 * fabs(left) + 1e-12);
}

/* the polynomial of a cell is its splines, both ways; what two particles of it and one of the next give adds up */
static void test_cells(void) {
    gg_real4 in[GG_HALO], one[GG_HALO], other[GG_HALO], value[2], along[2][3];
    for (int n = 0; n < GG_HALO; n++) {
        in[n] = gg_real4_set(draw(), draw(), draw(), 0.0);
        one[n] = other[n] = gg_real4_zero();
    }
    gg_cell cell;
    gg_cell_begin(&cell, 0.1);
    for (int k = 0; k < 3; k++) {
        double place[3] = {1.0 + 0.5 * draw(), 1.0 + 0.5 * draw(), 1.0 + 0.5 * draw()};
        int at = k < 2 ? 2 * 36 + 6 + 3 : 3 * 36 + 6 + 3;
        gg_spline s = gg_spline_slopes(place, 0.1);
        gg_spline_gather(&s, in + at, &value[0], along[0]);
        gg_cell_enter(&cell, at, in, other);
        gg_cell_gather(&cell, place, &value[1], along[1]);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(gg_real4_at(value[1], i), gg_real4_at(value[0], i), 1e-14);
            for (int axis = 0; axis < 3; axis++) {
                CHECK_NEAR(gg_real4_at(along[1][axis], i), gg_real4_at(along[0][axis], i), 1e-12);
            }
        }
        gg_spline_scatter(&s, value[0], along[0], one + at);
        gg_cell_scatter(&cell, place, value[0], along[0]);
    }
    gg_cell_end(&cell, other);
    for (int n = 0; n < GG_HALO; n++) {
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(gg_real4_at(other[n], i), gg_real4_at(one[n], i), 1e-11);
        }
    }
}

/* stretches: V V^T = F F^T, and V is positive definite, also where F turns by any angle and is far from the unit */
static void test_stretches(void) {
    for (int k = 0; k < 500; k++) {
        double size = k % 2 ? 0.05 : 1.0;
        gg_tensor f;
        for (int i = 0; i < 9; i++) {
            f.m[i / 3][i % 3] = (i % 4 == 0) + size * draw();
        }
        gg_tensor cofactors;
        if (fabs(gg_tensor_cofactors(&f, &cofactors)) < 1e-3) {
            continue;
        }
        gg_sym v = {0};
        CHECK(gg_tensor_stretch(f, &v));
        gg_tensor square = gg_sym_product(v, v);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double wanted = 0.0;
                for (int n = 0; n < 3; n++) {
                    wanted += f.m[i][n] * f.m[j][n];
                }
                CHECK_NEAR(square.m[i][j], wanted, 1e-9);
            }
        }
        CHECK(gg_stretch_usable(v));
    }
    gg_tensor flat = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}};
    gg_sym kept = {7, 7, 7, 0, 0, 0};
    CHECK(!gg_tensor_stretch(flat, &kept) && kept.xx == 7.0);
}

/* logarithms and exponentials beside the C library's, of numbers and of symmetric matrices, which they turn about */
static void test_logarithms(void) {
    for (int k = 0; k < 500; k++) {
        double x = 13.0 * draw();
        CHECK_NEAR(gg_exp(x) * exp(-x), 1.0, 1e-12);
        CHECK_NEAR(gg_log(exp(x)), x, 1e-13);
        double value[3], axes[3][3];
        gg_sym a = draw_sym(k % 2 ? 1.0 : 1e-6), sum = GG_ZERO, stretch = gg_sym_exp(a);
        gg_sym_spectrum(a, value, axes);
        for (int i = 0; i < 3; i++) {
            sum = gg_sym_madd(sum, value[i], gg_sym_outer(axes[i]));
            for (int j = 0; j < 3; j++) {
                CHECK_NEAR(gg_dot3(axes[i], axes[j]), i == j, 1e-14);
            }
        }
        CHECK_NEAR(gg_sym_norm(gg_sym_sub(sum, a)), 0.0, 1e-14);
        CHECK_NEAR(log(gg_sym_det(stretch)), gg_sym_trace(a), 1e-13);
        CHECK_NEAR(gg_sym_norm(gg_sym_sub(gg_sym_log(stretch), a)), 0.0, 1e-13);
    }
    CHECK(gg_log(1.0) == 0.0 && gg_exp(0.0) == 1.0);
    CHECK_NEAR(gg_log(1e6), log(1e6), 1e-13);
}

static double energy_of(const gg_continuum_material *m, double strength, gg_sym strain, gg_sym change) {
    return gg_matter_of(m, strength, strain, change, 0.01).energy;
}

/* stress is the derivative of the energy, the tangent that of the stress; the tangent is symmetric and not negative */
static void test_matter(void) {
    for (int k = 0; k < 600; k++) {
        const gg_continuum_material *m = &materials[k % MATERIALS];
        gg_sym strain = draw_sym(0.02), change = draw_sym(0.01), way = draw_sym(1.0), other = draw_sym(1.0);
        double strength = m->strength < GG_UNYIELDING ? 1e3 : GG_UNYIELDING, step = 1e-7;
        gg_matter at = gg_matter_of(m, strength, strain, change, 0.01);
        gg_sym up = gg_sym_madd(strain, step, way), down = gg_sym_madd(strain, -step, way);
        gg_sym change_up = gg_sym_madd(change, step, way), change_down = gg_sym_madd(change, -step, way);
        double slope = (energy_of(m, strength, up, change_up) - energy_of(m, strength, down, change_down)) / (2 * step);
        double scale = 1e5;
        CHECK_NEAR(slope, gg_sym_dot(at.stress, way), 1e-5 * scale);
        gg_matter above = gg_matter_of(m, strength, up, change_up, 0.01);
        gg_matter below = gg_matter_of(m, strength, down, change_down, 0.01);
        gg_sym rise = gg_sym_scale(gg_sym_sub(above.stress, below.stress), 0.5 / step);
        gg_sym tangent = gg_matter_tangent(&at, way);
        /* away from the edges of the yield surface */
        if ((above.soften > 0.0) == (below.soften > 0.0) && above.bulk == below.bulk) {
            CHECK_NEAR(gg_sym_norm(gg_sym_sub(rise, tangent)), 0.0, 1e-4 * scale);
        }
        gg_sym turned = gg_matter_tangent(&at, other);
        CHECK_NEAR(gg_sym_dot(tangent, other), gg_sym_dot(turned, way), 1e-9 * scale);
        CHECK(gg_sym_dot(tangent, way) >= -1e-9 * scale);
    }
}

/* what is left of a strain is on the yield surface or inside, and its mean tension within the bound; what dilates grows in
 * proportion to its flow, to a bound */
static void test_return(void) {
    double most_grown = 0.0;
    int held = 0;
    for (int k = 0; k < 600; k++) {
        const gg_continuum_material *m = &materials[k % MATERIALS];
        gg_sym start = gg_sym_shift(draw_sym(0.01), 1.0);
        gg_tensor gradient;
        for (int i = 0; i < 9; i++) {
            gradient.m[i / 3][i % 3] = 20.0 * draw();
        }
        double strength = m->strength < GG_UNYIELDING ? 1e3 : GG_UNYIELDING;
        gg_matter_history history = {0.25, 0.25};
        gg_matter_room room = gg_matter_room_of(0.7 + 0.5 * draw(), 0.0, k % 2);
        gg_sym next = gg_matter_return(m, strength, gradient, gg_matter_strain(m, start), 0.01, &room, &history);
        double most = 0.5 * strength / m->shear;
        double size = gg_sym_norm(gg_sym_deviator(next));
        CHECK(gg_matter_usable(m, next) || m->strength >= GG_UNYIELDING);
        if (gg_matter_logarithmic(m)) { /* flow changes no volume */
            gg_tensor deformed;
            for (int i = 0; i < 9; i++) {
                deformed.m[i / 3][i % 3] = (i % 4 == 0) + 0.01 * gradient.m[i / 3][i % 3];
            }
            double volume = gg_tensor_cofactors(&deformed, &gradient) * gg_sym_det(start);
            CHECK_NEAR(gg_sym_det(gg_matter_stretch(m, next)), volume, 1e-12);
        }
        int open = m->tension < GG_UNYIELDING && gg_sym_trace(next) > m->tension / m->bulk + 1e-12;
        double plastic = history.plastic, grown = history.dilation - 0.25;
        CHECK(plastic >= 0.25 && grown >= 0.0 && (grown == 0.0 || m->dilatancy > 0.0));
        if (grown > 0.0) { /* plastic is sqrt(2/3) times the norm of the plastic strain */
            CHECK_NEAR(grown, fmin(m->dilatancy * (plastic - 0.25) * sqrt(1.5), m->dilation - 0.25), 1e-12);
            most_grown = fmax(most_grown, grown);
            held += grown == m->dilation - 0.25;
        }
        if (open) {
            CHECK(size < 1e-12); /* nothing holds it together: no shear stress is left */
        } else {
            CHECK((plastic == 0.25) == (size < most * (1.0 - 1e-12) || strength >= GG_UNYIELDING));
        }
        if (strength < GG_UNYIELDING && plastic > 0.25 && !open) {
            CHECK_NEAR(size, most, 1e-10);
        }
        if (m->tension < GG_UNYIELDING) {
            double opening = room.touching ? GG_CONTINUUM_OPENING : room.opening;
            CHECK(gg_sym_trace(next) <= m->tension / m->bulk + opening + 1e-12);
        }
    }
    CHECK(most_grown > 0.0 && held > 0);
}

/* what the grid tells of the room of a particle, and the volume that follows */
static void test_room(void) {
    for (int k = 0; k < 100; k++) {
        double density = 0.2 + 0.01 * k;
        gg_matter_room amid = gg_matter_room_of(density, 0.0, 0), wall = gg_matter_room_of(density, 0.0, 1);
        double side = 1.0 + amid.opening / 3.0;
        CHECK_NEAR(side * side * side, density < 1.0 ? 1.0 / density : 1.0, 1e-6);
        CHECK((amid.excess > 0.0) == (density > GG_CONTINUUM_DENSE) && amid.excess <= GG_CONTINUUM_EXCESS);
        double pulled = gg_matter_volumetric(2.0, 1e-3, &amid, 0.01),
               held = gg_matter_volumetric(2.0, 1e-3, &wall, 0.01);
        double pressed = gg_matter_volumetric(-1e-3, 1e-3, &amid, 0.01);
        if (amid.excess > 0.0) {
            CHECK(pulled <= 1e-3 && held <= 1e-3 && pressed < -1e-3);
        } else {
            CHECK_NEAR(pulled, 1e-3 + amid.opening, 1e-15);
            CHECK_NEAR(held, 1e-3 + GG_CONTINUUM_OPENING, 1e-15);
            CHECK_NEAR(pressed, -1e-3, 1e-15);
        }
    }
    gg_matter_room face = gg_matter_room_of(0.635, 0.211, 0);
    CHECK_NEAR(face.opening, 0.0, 0.02);
    CHECK(isfinite(gg_matter_room_of(0.0, NAN, 0).opening));
}

static gg_continuum_contact contact_of(double friction) {
    gg_continuum_contact c;
    memset(&c, 0, sizeof c);
    double n[3] = {draw(), draw(), draw()}, length = sqrt(gg_dot3(n, n));
    for (int i = 0; i < 3; i++) {
        c.normal[i] = n[i] / length;
    }
    c.target = 0.1 * draw();
    c.friction = friction;
    gg_continuum_regularise(&c, 3.0);
    return c;
}

/* 0: apart, 1: it sticks, 2: it slides */
static int kind_of(const gg_continuum_contact *c) {
    double pushed = gg_dot3(c->impulse, c->normal), across = 0.0;
    for (int i = 0; i < 3; i++) {
        double side = c->impulse[i] - pushed * c->normal[i];
        across += side * side;
    }
    return pushed == 0.0 ? 0 : sqrt(across) < c->friction * pushed * (1.0 - 1e-9) ? 1 : 2;
}

/* the impulse is minus the derivative of the potential, the tangent minus that of the impulse; it lies in the cone */
static void test_contacts(void) {
    static const double frictions[] = {0.0, 0.3, 1.0};
    int kinds[3] = {0, 0, 0};
    for (int k = 0; k < 3000; k++) {
        gg_continuum_contact c = contact_of(frictions[k % 3]), up = c, down = c;
        double u[3], way[3], step = 1e-8, above[3], below[3];
        for (int i = 0; i < 3; i++) {
            u[i] = 0.3 * draw() * (k % 2 ? 1.0 : 1e-2);
            u[i] += c.target * c.normal[i];
            way[i] = draw();
            above[i] = u[i] + step * way[i];
            below[i] = u[i] - step * way[i];
        }
        gg_continuum_contact_law(&c, u);
        double slope = (gg_continuum_contact_law(&up, above) - gg_continuum_contact_law(&down, below)) / (2.0 * step);
        CHECK_NEAR(slope, -gg_dot3(c.impulse, way), 1e-5 * (1.0 + sqrt(gg_dot3(c.impulse, c.impulse))));
        double pushed = gg_dot3(c.impulse, c.normal), across = 0.0, turned[3], wrong = 0.0, size = 0.0;
        gg_sym_mul(c.tangent, way, turned);
        CHECK(gg_dot3(turned, way) >= -1e-9);
        for (int i = 0; i < 3; i++) {
            double side = c.impulse[i] - pushed * c.normal[i];
            across += side * side;
        }
        CHECK(pushed >= 0.0 && sqrt(across) <= c.friction * pushed + 1e-9);
        kinds[kind_of(&c)]++;
        for (int i = 0; i < 3; i++) {
            double rise = (down.impulse[i] - up.impulse[i]) / (2.0 * step);
            wrong += (rise - turned[i]) * (rise - turned[i]);
            size += turned[i] * turned[i];
        }
        /* where it goes over from sticking to sliding or apart the tangent jumps */
        CHECK(sqrt(wrong) <= 1e-4 * sqrt(size) + 1e-4 || kind_of(&up) != kind_of(&down));
    }
    CHECK(kinds[0] > 300 && kinds[1] > 10 && kinds[2] > 300);
}

/* A rising function of straight pieces between which Newton's method goes to and fro: from either end to just before the
 * other. */
static double zigzag(double x, double *rise) {
    double near_end = (1.0 + 1e-9) * x - 1.0, far_end = x - 1e-9, steep = -0.8 + 21.0 * (x - 0.2);
    *rise = x < 0.2 ? 1.0 + 1e-9 : x < 0.25 ? 21.0 : 1.0;
    return x < 0.2 ? near_end : x < 0.25 ? steep : far_end;
}

/* how many tries it takes to bring a function below a bound */
static int tries_of(double (*f)(double, double *), double bound) {
    gg_root root = gg_root_begin();
    for (int k = 1; k < 100; k++) {
        double rise, value = f(root.at, &rise);
        if (fabs(value) <= bound) {
            return k;
        }
        gg_root_next(&root, value, rise);
    }
    return 100;
}

static double line_scale, line_root;
static double line(double x, double *rise) {
    *rise = line_scale;
    return line_scale * (x - line_root);
}
static double cubic(double x, double *rise) {
    double y = x - line_root;
    *rise = line_scale * (3.0 * y * y + 1e-3);
    return line_scale * (y * y * y + 1e-3 * y);
}

static void test_root(void) {
    CHECK(tries_of(zigzag, 1e-3) <= 12);
    for (int k = 0; k < 200; k++) {
        line_scale = 1.0 + 0.9 * draw();
        line_root = 2.0 + 1.99 * draw();
        CHECK(tries_of(line, 1e-9) <= 3);
        CHECK(tries_of(cubic, 1e-9) <= 30);
    }
}

/* a contact of a liquid adds a drag across to its friction: the tangent and impulse of the one and the other */
static void test_clinging(void) {
    for (int k = 0; k < 300; k++) {
        gg_continuum_contact c = contact_of(0.3), plain = c;
        c.cling = 2.0;
        double u[3] = {draw(), draw(), draw()}, un = gg_dot3(c.normal, u), across2 = 0.0, turned[3];
        double more = gg_continuum_contact_law(&c, u) - gg_continuum_contact_law(&plain, u);
        gg_sym_mul(gg_sym_sub(c.tangent, plain.tangent), u, turned);
        for (int i = 0; i < 3; i++) {
            double across = u[i] - un * c.normal[i];
            across2 += across * across;
            CHECK_NEAR(c.impulse[i] - plain.impulse[i], -2.0 * across, 1e-9);
            CHECK_NEAR(turned[i], 2.0 * across, 1e-7);
        }
        CHECK_NEAR(more, across2, 1e-9);
    }
}

/* splines over cubes of half a spacing, and what two tools leave of a cube */
static void test_cubes(void) {
    static float from[GG_ROOM_CUBES];
    static int met[GG_ROOM_CUBES];
    for (int k = 0; k < 300; k++) {
        double a = 0.5 + 0.5 * draw(), b = 0.5 + 0.5 * draw();
        CHECK_NEAR(gg_room_joint(a, b, 1.0), GG_MIN(a, b), 1e-12);
        CHECK_NEAR(gg_room_joint(a, b, 0.0), a * b, 1e-12);
        CHECK_NEAR(gg_room_joint(a, b, -1.0), GG_MAX(a + b - 1.0, 0.0), 1e-12);
    }
    /* over a cube the two or three nodes of its row add up to the value and the slope of a linear function */
    for (int half = 0; half < 2; half++) {
        double share = 0.0, mean = 0.0, slope = 0.0, rise = 0.0;
        for (int node = 0; node < 3; node++) {
            int k = 4 + half - 2 * node;
            share += gg_room_share(k);
            mean += gg_room_share(k) * node;
            slope += gg_room_slope(k);
            rise += gg_room_slope(k) * node;
        }
        CHECK_NEAR(share, 0.5, 1e-12);
        CHECK_NEAR(mean, 0.5 * (0.75 + 0.5 * half), 1e-12);
        CHECK_NEAR(slope, 0.0, 1e-12);
        CHECK_NEAR(rise, 0.5, 1e-12);
    }
    for (int k = 0; k < GG_ROOM_CUBES; k++) {
        from[k] = (float)draw();
    }
    /* a pressure at one node rises as its spline does, in the cubes that this reaches; octets hold each cube once */
    for (int local = 0; local < GG_NODES; local += 7) {
        const int node[3] = {local & 3, local >> 2 & 3, local >> 4};
        gg_real4 nodes[GG_NODES];
        double sum[3] = {0.0}, mean = 0.0;
        for (int k = 0; k < GG_NODES; k++) {
            nodes[k] = gg_real4_set(0.0, 0.0, 0.0, k == local ? 1.0 : 0.0);
        }
        memset(met, 0, sizeof met);
        for (int k = 0; k < GG_ROOM_CUBES; k++) {
            int cube[3];
            gg_room_cube_of(k / 8, k % 8, cube);
            gg_vec3 rise = gg_room_rise(nodes, cube);
            int index = gg_room_index(cube), rises = rise.x != 0.0f || rise.y != 0.0f || rise.z != 0.0f;
            CHECK(index >= 0 && index < GG_ROOM_CUBES && !met[index]++);
            CHECK(rises == gg_room_reached(node, cube));
            double share = gg_room_reached(node, cube);
            for (int axis = 0; share > 0.0 && axis < 3; axis++) {
                share *= gg_room_share(cube[axis] - 2 * node[axis]);
            }
            mean += share * (double)from[index];
            for (int axis = 0; axis < 3; axis++) {
                sum[axis] += (double)gg_axis_of(rise, axis) * (double)from[index];
            }
        }
        CHECK_NEAR(mean, gg_room_gather(from, local, -1), 1e-6);
        for (int axis = 0; axis < 3; axis++) {
            CHECK_NEAR(sum[axis], gg_room_gather(from, local, axis), 1e-6);
        }
    }
}

int main(void) {
    test_root();
    test_clinging();
    test_cubes();
    test_splits();
    test_splines();
    test_transposes();
    test_cells();
    test_stretches();
    test_logarithms();
    test_matter();
    test_return();
    test_room();
    test_contacts();
    return check_report();
}
