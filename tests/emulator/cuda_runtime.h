/* cuda_runtime.h: stands in for the CUDA toolkit and runs kernels on a CPU, thread by thread.
 *
 * For tests where there is no GPU: a plain C++ compiler compiles csrc/backend/cuda with this header in place of the
 * toolkit's. Every CUDA thread is a fibre; barriers, half-warp barriers, atomics, cooperative grids, streams, graphs
 * and memory behave as documented. All blocks of a cooperative grid are resident; the blocks of any other grid run one
 * after another, so code that waits for a block that need not be resident deadlocks here too, and is reported. The host
 * cannot access device memory except through a kernel or a copy, kernels may not be given host addresses, and the kind
 * of a copy must be right. Uninitialized memory, of the device or of a block, is never zero.
 *
 * Environment: GG_EMULATOR_DEVICES (1), GG_EMULATOR_MEMORY bytes per device (unlimited), GG_EMULATOR_SEED (0: threads
 * run in order, else shuffled by it), GG_EMULATOR_FAIL=n (kernel launch n and everything after it fails, as a lost
 * device does), GG_EMULATOR_DRIVER (13000), 0: no driver; GG_EMULATOR_OWNER: the process in which another library has
 * started CUDA, so that it cannot be started in a child.
 */
#ifndef GG_EMULATOR_CUDA_RUNTIME_H
#define GG_EMULATOR_CUDA_RUNTIME_H

#include "allocations.h"
#include "copies.h"
#include "devices.h"
#include "kernel_launch.h"
#include "language.h"
#include "streams.h"

#endif
