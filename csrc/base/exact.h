/* exact.h: sums whose result does not depend on the order of their terms.
 *
 * Fixed point in two words: each term is cut to a multiple of 2^-50 once, and integers add without rounding. Terms of
 * 2^32 and more, infinities and NaN are counted as lost, and the sum is infinite then.
 */
#ifndef GG_EXACT_H
#define GG_EXACT_H

#include "vec.h"

#define GG_EXACT_WHOLE 1024.0             /* 2^10 steps in 1 of the first word */
#define GG_EXACT_PART  1125899906842624.0 /* 2^50 of the second: 2^23 terms fit into either */
#define GG_EXACT_MOST  4294967296.0       /* 2^32 */

typedef struct gg_exact {
    int64_t whole, part, lost;
} gg_exact;

GG_FN void gg_exact_add(gg_exact *sum, double term) {
    if (!(term > -GG_EXACT_MOST && term < GG_EXACT_MOST)) {
        sum->lost++;
        return;
    }
    int64_t whole = (int64_t)(term * GG_EXACT_WHOLE);
    sum->whole += whole;
    sum->part += (int64_t)((term - (double)whole / GG_EXACT_WHOLE) * GG_EXACT_PART);
}

GG_FN void gg_exact_merge(gg_exact *sum, const gg_exact *other) {
    sum->whole += other->whole;
    sum->part += other->part;
    sum->lost += other->lost;
}

GG_FN double gg_exact_value(const gg_exact *sum) {
    double value = (double)sum->whole / GG_EXACT_WHOLE + (double)sum->part / GG_EXACT_PART;
    return sum->lost ? 1e300 * 1e300 : value;
}

#endif
