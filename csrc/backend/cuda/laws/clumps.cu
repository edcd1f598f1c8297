/* clumps.cu: the step kernel of the law `clumps`. */
#define GG_STEP_LAW clumps
#include "../step_kernel.cuh"
