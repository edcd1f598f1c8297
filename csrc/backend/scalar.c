/* scalar.c: the contact laws on one grain at a time. */
#define GG_KERNEL      gg_kernel_scalar
#define GG_KERNEL_NAME "scalar"
#include "kernel.h"
