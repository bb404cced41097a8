#include <cstdio>
#include <cub/cub.cuh>
#include <random>
#include <vector>
struct Even {
    __device__ bool operator()(int x) const {
        return !(x & 1);
    }
};
int main(int argc, char **argv) {
    int which = atoi(argv[1]), n = 5000;
    std::mt19937 g(3);
    std::vector<int> h(n);
    for (auto &x : h)
        x = g() % 1000;
    int *a, *b, *c, *count;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&c, n * 4);
    cudaMalloc(&count, 4096);
    cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, n * 4);
    cudaMemset(c, 0, n * 4);
    cudaMemset(count, 0, 4096);
    void *t = nullptr;
    size_t bytes = 0;
    for (int round = 0; round < 2; round++) {
        switch (which) {
        case 0:
            cub::DeviceReduce::Sum(t, bytes, a, count, n);
            break;
        case 1:
            cub::DeviceScan::InclusiveSum(t, bytes, a, b, n);
            break;
        case 2:
            cub::DeviceRadixSort::SortPairs(t, bytes, a, b, a, c, n);
            break;
        case 3:
            cub::DeviceSelect::If(t, bytes, a, b, count, n, Even());
            break;
        case 4:
            cub::DeviceHistogram::HistogramEven(t, bytes, a, count, 101, 0, 1000, n);
            break;
        case 5:
            cub::DeviceRunLengthEncode::Encode(t, bytes, a, b, c, count, n);
            break;
        case 6:
            cub::DeviceMergeSort::SortKeys(t, bytes, a, n, [] __device__(int x, int y) { return x < y; });
            break;
        }
        if (!round) {
            cudaMalloc(&t, bytes ? bytes : 1);
            cudaMemset(t, 0, bytes);
        }
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
