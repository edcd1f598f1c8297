/* cub_sort.cu: time of CUB's sort and scan for the work of the engine's sort by cells (csrc/backend/cuda/device.cuh).
 *
 *     cub_sort GRAINS CELLS ENVS
 *
 * Prints the median time in us of one stable sort of (cell, grain) pairs from the order of ids, over the cells of all
 * envs, and of the prefix sum over the cells; without the computation of cells before it and the lists by length after
 * it. Built and run by the case `sort` of benchmarks/gpu/run.py.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "cub_sort: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

template <class T> static T *device_array(const std::vector<T> &values) {
    T *array = nullptr;
    check(cudaMalloc((void **)&array, sizeof(T) * values.size()));
    check(cudaMemcpy(array, values.data(), sizeof(T) * values.size(), cudaMemcpyHostToDevice));
    return array;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: cub_sort GRAINS CELLS ENVS\n");
        return 2;
    }
    int64_t grains = atoll(argv[1]), cells = atoll(argv[2]), envs = atoll(argv[3]);
    int64_t total = grains * envs, total_cells = cells * envs;
    if (grains < 1 || cells < 1 || envs < 1 || total > INT32_MAX || total_cells > INT32_MAX) {
        fprintf(stderr, "cub_sort: expected sizes > 0 whose products fit into 31 bits\n");
        return 2;
    }
    int bits = 1;
    while (bits < 31 && ((int64_t)1 << bits) < total_cells) {
        bits++;
    }
    std::vector<uint32_t> keys(total);
    std::vector<int32_t> items(total), counts(total_cells);
    uint32_t state = 1u;
    for (int64_t i = 0; i < total; i++) {
        state = state * 1664525u + 1013904223u;
        keys[i] = (uint32_t)(i / grains * cells + (int64_t)(state >> 8) % cells);
        items[i] = (int32_t)i;
        counts[keys[i]]++;
    }
    uint32_t *key = device_array(keys), *key_out = device_array(keys);
    int32_t *item = device_array(items), *item_out = device_array(items);
    int32_t *count = device_array(counts), *first = device_array(counts);
    size_t sorting = 0, scanning = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, sorting, key, key_out, item, item_out, (int)total, 0, bits));
    check(cub::DeviceScan::ExclusiveSum(nullptr, scanning, count, first, (int)total_cells));
    void *workspace = nullptr;
    check(cudaMalloc(&workspace, std::max(sorting, scanning)));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<float> times;
    for (int k = 0; k < 25; k++) {
        float ms = 0.0f;
        check(cudaEventRecord(begin));
        check(cub::DeviceRadixSort::SortPairs(workspace, sorting, key, key_out, item, item_out, (int)total, 0, bits));
        check(cub::DeviceScan::ExclusiveSum(workspace, scanning, count, first, (int)total_cells));
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms, begin, end));
        if (k >= 5) {
            times.push_back(1e3f * ms);
        }
    }
    std::vector<uint32_t> sorted(total);
    check(cudaMemcpy(sorted.data(), key_out, sizeof(uint32_t) * (size_t)total, cudaMemcpyDeviceToHost));
    if (!std::is_sorted(sorted.begin(), sorted.end())) {
        fprintf(stderr, "cub_sort: the keys are not sorted\n");
        return 1;
    }
    std::sort(times.begin(), times.end());
    printf("%.3f\n", times[times.size() / 2]);
    return 0;
}
