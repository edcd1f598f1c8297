/* cell_operators.h: the operations that cell_values.h asks for, of values that have operators; then that file. */
#define GG_CELL_ADD(a, b)        ((a) + (b))
#define GG_CELL_SUB(a, b)        ((a) - (b))
#define GG_CELL_TIMES(a, factor) ((a) * (factor))
#ifdef GG_CELL_FROM_EDGE
#define GG_CELL_T(place) (place)
#else
#define GG_CELL_T(place) ((place) - (GG_CELL_SCALAR)1.0)
#endif
#define GG_CELL_SCALE(a, t)     ((a) * (t))
#define GG_CELL_MADD(sum, t, a) ((sum) + (a) * (t))
#include "cell_values.h"
