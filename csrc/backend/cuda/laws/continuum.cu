/* continuum.cu: the step kernel of the law `continuum`. */
#define GG_STEP_LAW continuum
#include "../step_kernel.cuh"
