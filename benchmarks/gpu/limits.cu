/* limits.cu: what a GPU can do at best in what a step is made of: the rates that models of its time rest on.
 *
 *     limits [ROUNDS]
 *
 * Prints one line per figure, "NAME VALUE UNIT", medians of five. Built and run by the case `limits` of
 * benchmarks/gpu/run.py.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cooperative_groups.h>

#include "../../csrc/backend/cuda/team.cuh"

namespace cg = cooperative_groups;

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "limits: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

/* median time of five calls [s], after one that is not timed */
template <class Launch> static double seconds_of(Launch launch) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<double> times;
    for (int k = 0; k < 6; k++) {
        float ms = 0.0f;
        check(cudaEventRecord(begin));
        launch();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaGetLastError());
        check(cudaEventElapsedTime(&ms, begin, end));
        if (k > 0) {
            times.push_back(1e-3 * ms);
        }
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static void print(const char *name, double value, const char *unit) { printf("%s %.6g %s\n", name, value, unit); }

/* ---- barriers ---- */

__global__ void __launch_bounds__(GG_THREADS) team_barrier(gg_meeting *meetings, int32_t blocks, int rounds) {
    gg_gpu_team team = {};
    team.meeting = meetings + blockIdx.x / blocks;
    team.block = (int32_t)blockIdx.x % blocks;
    team.blocks = blocks;
    for (int k = 0; k < rounds; k++) {
        gg_gpu_wait(&team);
    }
}

__global__ void __launch_bounds__(GG_THREADS) grid_barrier(int rounds) {
    cg::grid_group grid = cg::this_grid();
    for (int k = 0; k < rounds; k++) {
        grid.sync();
    }
}

__global__ void __launch_bounds__(GG_THREADS) cluster_barrier(int rounds) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    for (int k = 0; k < rounds; k++) {
        asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    }
#endif
    (void)rounds;
}

__global__ void __launch_bounds__(GG_THREADS) block_barrier(int rounds) {
    for (int k = 0; k < rounds; k++) {
        __syncthreads();
    }
}

static void cooperative(const void *kernel, int blocks, void **arguments) {
    check(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(GG_THREADS), arguments, 0, 0));
}

static void clustered(int blocks, int rounds) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(GG_THREADS);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)blocks;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, cluster_barrier, rounds));
}

static void barriers(int multiprocessors, int capability, int rounds) {
    gg_meeting *meetings = NULL;
    check(cudaMalloc((void **)&meetings, sizeof(gg_meeting) * 4096));
    check(cudaMemset(meetings, 0, sizeof(gg_meeting) * 4096));
    char name[64];
    for (int blocks : {2, 4, 8, 16, 64, multiprocessors, 2 * multiprocessors, 4 * multiprocessors}) {
        void *team[] = {&meetings, &blocks, &rounds}, *grid[] = {&rounds};
        double s = seconds_of([&] { cooperative((const void *)team_barrier, blocks, team); });
        snprintf(name, sizeof name, "team_barrier_%d_blocks", blocks);
        print(name, 1e6 * s / rounds, "us");
        s = seconds_of([&] { cooperative((const void *)grid_barrier, blocks, grid); });
        snprintf(name, sizeof name, "grid_sync_%d_blocks", blocks);
        print(name, 1e6 * s / rounds, "us");
    }
    if (capability >= 9) {
        check(cudaFuncSetAttribute((const void *)cluster_barrier, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    }
    for (int blocks = 2; capability >= 9 && blocks <= 16; blocks *= 2) {
        double s = seconds_of([&] { clustered(blocks, rounds); });
        snprintf(name, sizeof name, "cluster_barrier_%d_blocks", blocks);
        print(name, 1e6 * s / rounds, "us");
    }
    double s = seconds_of([&] { block_barrier<<<1, GG_THREADS>>>(rounds); });
    print("block_barrier", 1e6 * s / rounds, "us");
    check(cudaFree(meetings));
}

/* ---- memory ---- */

/* every thread reads `count` rows of 32 bytes at places without order, eight at a time */
__global__ void __launch_bounds__(GG_THREADS) gather(const float4 *rows, uint32_t mask, int count, float4 *out) {
    uint32_t at = (blockIdx.x * GG_THREADS + threadIdx.x) * 2654435761u + 12345u;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < count; k += 8) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            at = at * 1664525u + 1013904223u;
            const float4 *row = rows + 2 * (size_t)((at >> 7) & mask);
            float4 a = row[0], b = row[1];
            sum.x += a.x + b.x;
            sum.y += a.y + b.y;
            sum.z += a.z + b.z;
            sum.w += a.w + b.w;
        }
    }
    out[blockIdx.x * GG_THREADS + threadIdx.x] = sum;
}

/* the grid reads all values in order */
__global__ void __launch_bounds__(GG_THREADS) stream(const float4 *values, size_t count, float4 *out) {
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    size_t step = (size_t)gridDim.x * GG_THREADS, rank = blockIdx.x * (size_t)GG_THREADS + threadIdx.x;
    for (size_t i = rank; i < count; i += step) {
        float4 a = values[i];
        sum.x += a.x;
        sum.y += a.y;
        sum.z += a.z;
        sum.w += a.w;
    }
    out[rank] = sum;
}

static void memory(int multiprocessors) {
    const size_t most = (size_t)1 << 30;
    int blocks = 8 * multiprocessors;
    float4 *rows = NULL, *out = NULL;
    char name[64];
    check(cudaMalloc((void **)&rows, 2 * most));
    check(cudaMalloc((void **)&out, sizeof(float4) * (size_t)blocks * GG_THREADS));
    check(cudaMemset(rows, 0, 2 * most));
    for (int megabytes : {4, 16, 32, 64, 1024}) {
        size_t bytes = (size_t)megabytes << 20;
        uint32_t mask = (uint32_t)(bytes / 32 - 1);
        int count = 512;
        double s = seconds_of([&] { gather<<<blocks, GG_THREADS>>>(rows, mask, count, out); });
        snprintf(name, sizeof name, "gather_%d_MB", megabytes);
        print(name, 32e-9 * count * (double)blocks * GG_THREADS / s, "GB/s");
    }
    double s = seconds_of([&] { stream<<<blocks, GG_THREADS>>>(rows, most / sizeof(float4), out); });
    print("read_1024_MB", 1e-9 * (double)most / s, "GB/s");
    s = seconds_of([&] { check(cudaMemcpyAsync(rows + most / sizeof(float4), rows, most, cudaMemcpyDeviceToDevice)); });
    print("copy_read_and_written", 2e-9 * (double)most / s, "GB/s");
    check(cudaFree(rows));
    check(cudaFree(out));
}

/* ---- instructions ---- */

__device__ __forceinline__ uint64_t nanoseconds() {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* independent multiplications and additions, as in the iterations: no contraction. Block 0 tells cycles and time. */
__global__ void __launch_bounds__(GG_THREADS) arithmetic(int count, float factor, float *out, int64_t *told) {
    float a[8];
    for (int j = 0; j < 8; j++) {
        a[j] = (float)(threadIdx.x + j);
    }
    int64_t cycle = clock64();
    uint64_t time = nanoseconds();
    for (int k = 0; k < count; k++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            a[j] = __fadd_rn(__fmul_rn(a[j], factor), 1.0f);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        told[0] = clock64() - cycle;
        told[1] = (int64_t)(nanoseconds() - time);
    }
    float sum = 0.0f;
    for (int j = 0; j < 8; j++) {
        sum += a[j];
    }
    out[blockIdx.x * GG_THREADS + threadIdx.x] = sum;
}

static void instructions(int multiprocessors) {
    int count = 100000;
    float *out = NULL;
    int64_t *told = NULL, here[2];
    for (int per : {1, 2, 4, 8}) {
        int blocks = per * multiprocessors;
        char name[64];
        check(cudaMalloc((void **)&out, sizeof(float) * (size_t)blocks * GG_THREADS));
        check(cudaMalloc((void **)&told, sizeof here));
        double s = seconds_of([&] { arithmetic<<<blocks, GG_THREADS>>>(count, 0.999f, out, told); });
        check(cudaMemcpy(here, told, sizeof here, cudaMemcpyDeviceToHost));
        snprintf(name, sizeof name, "float_operations_%d_warps_per_multiprocessor", per * GG_THREADS / 32);
        print(name, 1e-12 * 16.0 * count * blocks * GG_THREADS / s, "1e12/s");
        if (per == 8) {
            print("clock", 1e3 * (double)here[0] / (double)here[1], "MHz");
        }
        check(cudaFree(out));
        check(cudaFree(told));
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 2000, multiprocessors = 0, capability = 0;
    if (argc > 2 || rounds < 1) {
        fprintf(stderr, "usage: limits [ROUNDS]\n");
        return 2;
    }
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, 0));
    print("multiprocessors", multiprocessors, "1");
    instructions(multiprocessors);
    memory(multiprocessors);
    barriers(multiprocessors, capability, rounds);
    return 0;
}
