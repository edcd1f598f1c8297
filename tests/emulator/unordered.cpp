/* unordered.cpp: small kernels for the emulator's instrument, whose traffic and order are known; the argument names one.
 *
 * Built as the instrumented package is; prints what the instrument reports. "no ..." leaves out one of the things that
 * puts the accesses of a kernel in order.
 */
#define GG_EMULATOR_IMPLEMENTATION
#include "cuda_runtime.h"

extern "C" void gg_meter_clear();
extern "C" const char *gg_meter_report();

/* Block 0 writes a word, then tells block 1, which reads it. */
static void message(int32_t *data, int32_t *flag, int releases, int acquires) {
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        data[0] = 1;
        if (releases) {
            __threadfence();
        }
        atomicExch(flag, 1);
        return;
    }
    while (atomicAdd(flag, 0) == 0) {
        GG_SPIN();
    }
    if (acquires) {
        __threadfence();
    }
    data[64] = data[0];
}

/* the same by a release and an acquire; all threads of both blocks write and read */
static void barrier(int32_t *data, uint32_t *flag, int meets_before, int meets_after) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 1;
        if (meets_before) {
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            gg_add_release(flag, 1);
        }
        return;
    }
    while (threadIdx.x == 0 && gg_load_acquire(flag) == 0) {
        GG_SPIN();
    }
    if (meets_after) {
        __syncthreads();
    }
    data[64 + threadIdx.x] = data[threadIdx.x];
}

struct lanes {
    int32_t of[32];
};
/* each lane reads what the next one has written, of its half warp */
static void exchange(int32_t *data, int meets) {
    GG_BLOCK_MEMORY(lanes, memory);
    unsigned own = threadIdx.x, next = own / 16 * 16 + (own + 1) % 16;
    memory.of[own] = (int32_t)own;
    if (meets) {
        __syncwarp(0xFFFFu << (own & 16u));
    }
    data[own] = memory.of[next];
}

/* a warp reads words that are `stride` apart, `again` times */
static void stride(float *data, int apart, int again) {
    float sum = 0.0f;
    for (int k = 0; k < again; k++) {
        sum += *(volatile float *)(data + (int)threadIdx.x * apart);
    }
    if (sum != sum) {
        data[0] = sum;
    }
}
/* a warp reads four words a thread */
static void vectors(float *data) {
    const volatile float *own = data + 4 * threadIdx.x;
    float sum = own[0] + own[1] + own[2] + own[3];
    if (sum != sum) {
        data[0] = sum;
    }
}

int main(int count, char **words) {
    const char *name = count > 1 ? words[1] : "";
    auto is = [&](const char *other) { return !strcmp(name, other); };
    char *memory = nullptr;
    cudaMalloc((void **)&memory, 1 << 14);
    cudaMemsetAsync(memory, 0, 1 << 14, nullptr);
    auto *data = (int32_t *)memory, *flag = data + 1024;
    auto *values = (float *)memory;
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    gg_meter_clear();
    if (strstr(name, "fence")) {
        gg_launch(message, 2, 32, 0, 1, stream, data, flag, !is("no fence before"), !is("no fence after"));
    } else if (strstr(name, "barrier")) {
        gg_launch(barrier, 2, 32, 0, 1, stream, data, (uint32_t *)flag, !is("no barrier before"),
                  !is("no barrier after"));
    } else if (strstr(name, "half warps")) {
        gg_launch(exchange, 1, 32, 0, 0, stream, data, !is("no half warps"));
    } else if (is("words")) {
        gg_launch(stride, 1, 32, 0, 0, stream, values, 1, 1);
    } else if (is("words apart")) {
        gg_launch(stride, 1, 32, 0, 0, stream, values, 8, 1);
    } else if (is("words again")) {
        gg_launch(stride, 1, 32, 0, 0, stream, values, 1, 3);
    } else if (is("vectors")) {
        gg_launch(vectors, 1, 32, 0, 0, stream, values);
    } else {
        return 1;
    }
    puts(gg_meter_report());
    return 0;
}
