/* broken_rules.cpp: breaks one rule of CUDA, named by the argument: the emulator reports it and "found" is printed, or
 * it ends the process.
 */
#define GG_EMULATOR_IMPLEMENTATION
#include "cuda_runtime.h"

struct shared {
    int32_t first;
};

/* writes the content of uninitialized shared memory */
static void look(int32_t *at) {
    GG_BLOCK_MEMORY(shared, own);
    if (threadIdx.x == 0) {
        *at = own.first;
    }
}

/* writes the word behind the memory of a launch that asks for `words` of them */
static void overrun(int32_t words) { gg_near_memory()[words] = 1.0f; }

static int found(bool is) {
    puts(is ? "found" : "not found");
    return 0;
}

int main(int count, char **words) {
    const char *rule = count > 1 ? words[1] : "";
    int32_t *there = nullptr, here = 0;
    cudaStream_t stream = nullptr;
    cudaMalloc((void **)&there, sizeof *there);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (!strcmp(rule, "host address")) {
        return found(gg_launch(look, 1, 32, 0, 0, stream, &here) != cudaSuccess);
    }
    if (!strcmp(rule, "device address")) {
        return found(*(volatile int32_t *)there == 0);
    }
    if (!strcmp(rule, "kind")) {
        return found(cudaMemcpyAsync(&here, there, sizeof here, cudaMemcpyHostToDevice, stream) != cudaSuccess);
    }
    if (!strcmp(rule, "memory of the host")) {
        return found(cudaMemsetAsync(&here, 0, sizeof here, stream) != cudaSuccess);
    }
    if (!strcmp(rule, "shared memory")) {
        return found(gg_launch(overrun, 2, 32, 8 * sizeof(float), 0, stream, 8) != cudaSuccess);
    }
    if (!strcmp(rule, "capture")) {
        cudaGraph_t graph = nullptr;
        cudaFuncAttributes attributes;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        bool early = gg_launch(look, 1, 32, 0, 0, stream, there) == cudaSuccess;
        cudaFuncGetAttributes(&attributes, look);
        bool late = gg_launch(look, 1, 32, 0, 0, stream, there) == cudaSuccess;
        cudaStreamEndCapture(stream, &graph);
        return found(!early && late);
    }
    /* no rule is broken: a kernel runs, and its result is copied back */
    here = 1;
    bool done = cudaMemsetAsync(there, 0, sizeof *there, stream) == cudaSuccess &&
                gg_launch(look, 1, 32, 0, 0, stream, there) == cudaSuccess &&
                cudaMemcpyAsync(&here, there, sizeof here, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
                cudaStreamSynchronize(stream) == cudaSuccess;
    printf("%08x\n", (unsigned)here);
    return done ? 0 : 1;
}
