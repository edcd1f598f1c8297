/* coloured.h: sizes and fields of the law `coloured`: spheres solved by coloured Gauss-Seidel. See
 * solvers/spheres/coloured/coloured.h. */
#ifndef GG_STATE_COLOURED_H
#define GG_STATE_COLOURED_H

#include <stdint.h>

/* the most colours; the last one is for contacts that found no other, see solvers/spheres/coloured/colours.h */
#define GG_COLOURS 64
/* colours by which a GPU finds the contacts of a grain, see `colour_contact` */
#define GG_COLOURS_FOUND 32

typedef struct gg_coloured_dims {
    int64_t envs, slots, rows, touches; /* 1, slots, contact_rows and tool_contacts, or 0 under another law */
    int64_t firsts, found, pushes; /* on a GPU twice the slots, and without clumps slots and rows; else slots, 0, 0 */
} gg_coloured_dims;

/* where the contacts of each colour lie: whole rows of GG_LANES, the last one padded */
typedef struct gg_colouring {
    int32_t first_row[GG_COLOURS + 1];
    int32_t contacts[GG_COLOURS];
} gg_colouring;

/* what the threads of a GPU that colour the contacts of an env tell each other */
typedef struct gg_colour_tally {
    int32_t collected; /* contacts without a colour yet, before the first round */
    int32_t left[2];   /* after an even round, and after an odd one */
    int32_t rest;      /* contacts of the last colour */
} gg_colour_tally;

/* clang-format off */
#define GG_COLOURED_FIELDS(X)                                                                                          \
    X(gg_colouring, colouring, d->coloured.envs, SCRATCH)                                                              \
    X(uint64_t, colours, d->coloured.slots, SCRATCH)                    /* bit k: a contact has colour k */            \
    X(gg_vec4, shift, d->coloured.slots, SCRATCH)                       /* position correction [m], count over mass */ \
    /* lists by grain, compact: element contact_first + k is contact k of the grain that owns it */                    \
    X(int32_t, list_body, d->coloured.rows * GG_LANES, SCRATCH)         /* body of the other side */                   \
    X(int32_t, list_owner, d->coloured.rows * GG_LANES, SCRATCH)        /* slot of the grain that lists it */          \
    X(int32_t, link_a, d->coloured.rows * GG_LANES, STATE)              /* record and colour, see GG_LINK */           \
    X(int32_t, link_b, d->coloured.rows * GG_LANES, STATE)                                                             \
    /* contacts without a colour yet, in any order */                                                                  \
    X(int32_t, uncoloured, d->coloured.rows * GG_LANES, SCRATCH)                                                       \
    X(int32_t, uncoloured_slot, d->coloured.rows * GG_LANES, SCRATCH)   /* of their owners */                          \
    X(uint64_t, uncoloured_first, d->coloured.firsts, SCRATCH)          /* order of the first one of a grain */        \
    X(gg_colour_tally, colour_tally, d->coloured.envs, SCRATCH)                                                        \
    X(gg_vec4, touch, d->coloured.touches, SCRATCH)                     /* normal and gap of a contact with a tool */  \
    /* records of contacts, by colour */                                                                               \
    X(int32_t, colour_contact, d->coloured.found * GG_COLOURS_FOUND, SCRATCH) /* GPU: of a slot; 2 record + side */    \
    X(float, push, d->coloured.pushes * GG_LANES * 3, SCRATCH)          /* GPU: position correction, mass times way */ \
    X(int32_t, first_body, d->coloured.rows * GG_LANES, SCRATCH)        /* body of the grain that owns the contact */  \
    X(int32_t, sweep_own, d->coloured.pushes * GG_LANES, SCRATCH)       /* GPU: first_body, see gg_gpu_sweep_body */   \
    X(int32_t, sweep_other, d->coloured.pushes * GG_LANES, SCRATCH)     /* GPU: other_body, likewise */                \
    X(float, overlap, d->coloured.rows * GG_LANES, SCRATCH)             /* over the smaller diameter */                \
    X(int32_t, contact_pair, d->coloured.rows * GG_LANES, SCRATCH)      /* index of the pair of materials */           \
    X(int32_t, contact_from, d->coloured.rows * GG_LANES, SCRATCH)      /* record in the last substep, -1: none */

/* clang-format on */

#endif
