/* expect.h: how arguments are checked: a check that fails names the argument, what was expected and what came. */
#ifndef GG_EXPECT_H
#define GG_EXPECT_H

#include "../gg.h"

/* where a check writes what is wrong: `size` bytes, or NULL */
typedef struct gg_message {
    char *text;
    size_t size;
} gg_message;

/* writes the message; GG_ERROR_ARGUMENT */
gg_status gg_refuse(gg_message out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* leaves the function that checks, with GG_ERROR_ARGUMENT, unless the condition holds */
#define GG_EXPECT(out, condition, ...)                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            return gg_refuse(out, __VA_ARGS__);                                                                        \
        }                                                                                                              \
    } while (0)

/* whether low <= x <= high; not where x is not a number */
static inline int gg_within(float x, float low, float high) { return x >= low && x <= high; }

#endif
