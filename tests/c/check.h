/* check.h: the whole test framework of the C tests: macros that count, say where a check failed, and go on.
 *
 * A test file calls its test functions from main and ends with `return check_report();`: 0 only where checks ran and
 * none failed. Only the first 50 failures are printed.
 */
#ifndef GG_CHECK_H
#define GG_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long check_passed, check_failed;

static inline int check_note(int ok, const char *file, int line, const char *text) {
    if (ok) {
        check_passed++;
    } else if (++check_failed <= 50) {
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    }
    return ok;
}

static inline int check_near(double got, double expected, double tolerance, const char *file, int line,
                             const char *text) {
    int ok = fabs(got - expected) <= tolerance;
    check_note(ok, file, line, text);
    if (!ok && check_failed <= 50) {
        fprintf(stderr, "    got %.9g, expected %.9g within %g\n", got, expected, tolerance);
    }
    return ok;
}

static inline int check_report(void) {
    printf("%ld passed, %ld failed\n", check_passed, check_failed);
    return check_failed || !check_passed;
}

/* whether GG_TEST_FULL=1 asks for the full size, as `make test FULL=1` does */
static inline int check_full(void) {
    const char *asked = getenv("GG_TEST_FULL");
    return asked && !strcmp(asked, "1");
}

/* how often something is done: under a sanitizer, which looks at memory and threads and makes all ten times as slow, a few
 * times are enough */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECK_TIMES(all, few) (few)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CHECK_TIMES(all, few) (few)
#endif
#endif
#ifndef CHECK_TIMES
#define CHECK_TIMES(all, few) (all)
#endif

/* true when the condition held, so that a test can print more where it did not */
#define CHECK(condition) check_note(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_NEAR(got, expected, tolerance)                                                                           \
    check_near((got), (expected), (tolerance), __FILE__, __LINE__, #got " near " #expected)

#endif
