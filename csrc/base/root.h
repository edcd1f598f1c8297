/* root.h: the root of a rising function of one variable, from 0 on: Newton's method that bisection keeps in bounds.
 *
 * A step must halve the one before; else, once the root is bounded on both sides, the bounds are bisected. Without this
 * rule Newton's method may go to and fro for ever between two pieces of a function that has kinks.
 */
#ifndef GG_ROOT_H
#define GG_ROOT_H

#include "base.h"

typedef struct gg_root {
    double at;        /* where the function is tried next */
    double low, high; /* bounds of the root; high < 0: none yet */
    double step;      /* length of the last step */
} gg_root;

/* the first try is at 1; a step from there may go anywhere within the bounds */
GG_FN gg_root gg_root_begin(void) {
    gg_root r = {1.0, 0.0, -1.0, 2.0};
    return r;
}

/* goes on from the value of the function where it was tried, and its derivative */
GG_FN void gg_root_next(gg_root *r, double value, double rise) {
    double before = r->at, newton = before - value / rise;
    if (value < 0.0) {
        r->low = before;
    } else {
        r->high = before;
    }
    if (r->high < 0.0) {
        r->at = newton > r->low ? newton : 2.0 * r->low;
    } else {
        double step = newton > before ? newton - before : before - newton;
        int inside = newton > r->low && newton < r->high && step <= 0.5 * r->step;
        r->at = inside ? newton : 0.5 * (r->low + r->high);
    }
    r->step = r->at > before ? r->at - before : before - r->at;
}

#endif
