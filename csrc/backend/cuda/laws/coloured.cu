/* coloured.cu: the step kernel of the law `coloured`. */
#define GG_STEP_LAW coloured
#include "../step_kernel.cuh"
