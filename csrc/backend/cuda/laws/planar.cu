/* planar.cu: the step kernel of the law `planar`. */
#define GG_STEP_LAW planar
#include "../step_kernel.cuh"
