/* table.cu: the step kernel of the law `table`. */
#define GG_STEP_LAW table
#include "../step_kernel.cuh"
