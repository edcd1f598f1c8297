/* test_rounding.c: an optimised build rounds doubles to floats where the source says so, also where they become doubles
 * again. Flags of setup.py and testbed/engine.py see to it. */
#include "check.h"

typedef struct three {
    float x, y, z;
} three;

typedef struct four {
    float x, y, z, w;
} four;

/* component of a moment: the lever arm is in single precision, its products are in double precision; external, so that
 * nothing is known of the arguments */
__attribute__((noinline)) double moment_of_three(three at, const double *origin, int axis, three *out);
double moment_of_three(three at, const double *origin, int axis, three *out) {
    three arm = {(float)((double)at.x - origin[0]), (float)((double)at.y - origin[1]),
                 (float)((double)at.z - origin[2])};
    double r[3] = {arm.x, arm.y, arm.z};
    *out = arm;
    return r[(axis + 1) % 3] * origin[0] - r[(axis + 2) % 3] * origin[1];
}

/* as many as a register of AVX holds */
__attribute__((noinline)) double moment_of_four(four at, const double *origin, int axis, four *out);
double moment_of_four(four at, const double *origin, int axis, four *out) {
    four arm = {(float)((double)at.x - origin[0]), (float)((double)at.y - origin[1]), (float)((double)at.z - origin[2]),
                (float)((double)at.w - origin[3])};
    double r[4] = {arm.x, arm.y, arm.z, arm.w};
    *out = arm;
    return r[(axis + 1) % 4] * origin[0] - r[(axis + 2) % 4] * origin[1];
}

/* the same, every number stored before it is read */
static double moment_in_order(const float *at, const double *origin, int axis, int count) {
    volatile float next = (float)((double)at[(axis + 1) % count] - origin[(axis + 1) % count]);
    volatile float last = (float)((double)at[(axis + 2) % count] - origin[(axis + 2) % count]);
    volatile double one = (double)next * origin[0], other = (double)last * origin[1];
    return one - other;
}

int main(void) {
    const float at[4] = {0.7f, 0.8f, 0.9f, 0.95f};
    const double origin[4] = {0.1, 0.2, 0.3, 0.4};
    three arm;
    four wide;
    for (int axis = 0; axis < 4; axis++) {
        three first = {at[0], at[1], at[2]};
        four all = {at[0], at[1], at[2], at[3]};
        CHECK(moment_of_three(first, origin, axis, &arm) == moment_in_order(at, origin, axis, 3));
        CHECK(moment_of_four(all, origin, axis, &wide) == moment_in_order(at, origin, axis, 4));
    }
    return check_report();
}
