/* springs.cu: the step kernel of the law `springs`. */
#define GG_STEP_LAW springs
#include "../step_kernel.cuh"
