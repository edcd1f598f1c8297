/* bell.cu: the step kernel of the law `bell`. */
#define GG_STEP_LAW bell
#include "../step_kernel.cuh"
