/* spheres.cu: the step kernel of the law `spheres`. */
#define GG_STEP_LAW spheres
#include "../step_kernel.cuh"
