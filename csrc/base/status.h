/* status.h: result codes of the engine's calls. */
#ifndef GG_STATUS_H
#define GG_STATUS_H

typedef enum gg_status {
    GG_OK = 0,
    GG_ERROR_ARGUMENT = -1, /* a value outside what the call accepts */
    GG_ERROR_MEMORY = -2,   /* out of memory */
    GG_ERROR_CAPACITY = -3, /* more contacts than any packing of grains can have: the scene overlaps massively */
    GG_ERROR_STATE = -4,    /* a snapshot of another version, scene or size */
    GG_ERROR_BACKEND = -5,  /* the device is missing or failed */
    GG_INTERRUPTED = -6     /* the poll callback asked to stop; the world is at the end of a whole substep */
} gg_status;

#endif
