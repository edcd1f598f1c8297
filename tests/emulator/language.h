/* language.h: the device side of CUDA C++: keywords, indices, barriers, atomics, shared memory of a block. */
#ifndef GG_EMULATOR_LANGUAGE_H
#define GG_EMULATOR_LANGUAGE_H

#include "fibres.h"
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

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
    emulator::meet(b->all, EMULATOR_BLOCK, 0, b->threads);
}
/* warps and half warps: the backend uses no other mask */
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
    emulator::fibre *f = emulator::now().current;
    if (mask == 0xFFFFFFFFu) {
        emulator::meet(f->home->warps[f->thread / 32], EMULATOR_WARP, f->thread / 32 * 32, 32);
        return;
    }
    if (mask != 0xFFFFu << (f->thread & 16u)) {
        fprintf(stderr, "CUDA emulator: __syncwarp of mask %08x\n", mask);
        abort();
    }
    emulator::meet(f->home->half_warps[f->thread / 16], EMULATOR_HALF_WARP, f->thread / 16 * 16, 16);
}
inline void __threadfence() { gg_meter_fence(); }
namespace emulator {
/* changes a word as an instrument sees it: atomically, from where the caller stands */
template <class T, class Change> EMULATOR_UNSEEN inline T atomically(T *at, emulator_order order, Change change) {
    gg_meter_atomic(__builtin_return_address(0), at, sizeof *at, order);
    T before = *at;
    *at = change(before);
    return before;
}
} // namespace emulator
inline int32_t atomicAdd(int32_t *at, int32_t value) {
    return emulator::atomically(at, EMULATOR_RELAXED, [=](int32_t before) { return before + value; });
}
inline int32_t atomicOr(int32_t *at, int32_t bits) {
    return emulator::atomically(at, EMULATOR_RELAXED, [=](int32_t before) { return before | bits; });
}
inline uint32_t atomicOr(uint32_t *at, uint32_t bits) {
    return emulator::atomically(at, EMULATOR_RELAXED, [=](uint32_t before) { return before | bits; });
}
inline unsigned long long atomicOr(unsigned long long *at, unsigned long long bits) {
    return emulator::atomically(at, EMULATOR_RELAXED, [=](unsigned long long before) { return before | bits; });
}
inline unsigned long long atomicMin(unsigned long long *at, unsigned long long value) {
    return emulator::atomically(at, EMULATOR_RELAXED,
                                [=](unsigned long long before) { return value < before ? value : before; });
}
inline int32_t atomicExch(int32_t *at, int32_t value) {
    return emulator::atomically(at, EMULATOR_RELAXED, [=](int32_t) { return value; });
}
inline uint32_t gg_add_release(uint32_t *at, uint32_t value) {
    return emulator::atomically(at, EMULATOR_RELEASE, [=](uint32_t before) { return before + value; });
}
EMULATOR_UNSEEN inline uint32_t gg_load_acquire(const uint32_t *at) {
    gg_meter_atomic(__builtin_return_address(0), at, sizeof *at, EMULATOR_ACQUIRE);
    return *at;
}

#define GG_BLOCK_MEMORY(type, name) type &name = *reinterpret_cast<type *>(emulator::now().current->home->memory)
inline float *gg_near_memory() {
    return reinterpret_cast<float *>(emulator::now().current->home->memory + emulator::BLOCK_MEMORY);
}
#define GG_SPIN() emulator::yield()
inline int64_t gg_cycles() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
#define GG_NOTE_PHASE(phase)      gg_meter_phase(phase)
#define GG_KERNEL_PARAMETER(type) const type &
#define GG_UNROLL(count)

#endif
