/* language.h: the device side of CUDA C++: keywords, indices, barriers, atomics, shared memory of a block. */
#ifndef GG_EMULATOR_LANGUAGE_H
#define GG_EMULATOR_LANGUAGE_H

#include "fibres.h"
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

/* threads per block: few, so that envs of some hundred grains have teams of several blocks */
#ifndef GG_THREADS
#define GG_THREADS 64
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* as in the toolkit, but a read-only view of the current fibre */
struct emulator_index {
    unsigned x;
};
#define threadIdx (emulator_index{emulator::now().current->thread})
#define blockIdx  (emulator_index{emulator::now().current->home->index})
#define gridDim   (emulator_index{emulator::now().grid})
#define blockDim  (emulator_index{emulator::now().threads})

inline void __syncthreads() {
    emulator::block *b = emulator::now().current->home;
    emulator::meet(b->all, b->threads);
}
/* warps and half warps: the backend uses no other mask */
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
    emulator::fibre *f = emulator::now().current;
    if (mask == 0xFFFFFFFFu) {
        emulator::meet(f->home->warps[f->thread / 32], 32);
        return;
    }
    if (mask != 0xFFFFu << (f->thread & 16u)) {
        fprintf(stderr, "CUDA emulator: __syncwarp of mask %08x\n", mask);
        abort();
    }
    emulator::meet(f->home->half_warps[f->thread / 16], 16);
}
inline void __threadfence() {}
inline int32_t atomicAdd(int32_t *at, int32_t value) {
    int32_t before = *at;
    *at = before + value;
    return before;
}
inline uint32_t atomicOr(uint32_t *at, uint32_t bits) { return std::exchange(*at, *at | bits); }
inline unsigned long long atomicOr(unsigned long long *at, unsigned long long bits) {
    return std::exchange(*at, *at | bits);
}
inline unsigned long long atomicMin(unsigned long long *at, unsigned long long value) {
    return std::exchange(*at, value < *at ? value : *at);
}
inline uint32_t gg_add_release(uint32_t *at, uint32_t value) { return std::exchange(*at, *at + value); }
inline uint32_t gg_load_acquire(const uint32_t *at) { return *at; }
inline int32_t atomicExch(int32_t *at, int32_t value) { return std::exchange(*at, value); }

#define GG_BLOCK_MEMORY(type, name) type &name = *reinterpret_cast<type *>(emulator::now().current->home->memory)
inline float *gg_near_memory() {
    return reinterpret_cast<float *>(emulator::now().current->home->memory + emulator::BLOCK_MEMORY);
}
#define GG_SPIN() emulator::yield()
inline int64_t gg_cycles() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
#define GG_KERNEL_PARAMETER const
#define GG_UNROLL(count)

#endif
