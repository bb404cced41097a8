// total += sum of x, in three steps:
// each thread sums its elements in a register, each block its threads, and the grid its blocks.
//
// The block must be a multiple of 32 threads. `total` must be zero before the launch.

#define WARP 32

__device__ float warp_sum(float value) {
    // After log2(WARP) steps lane 0 has the sum of the warp; no shared memory is needed.
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

extern "C" __global__ void reduce(const float* x, float* total, int n) {
    __shared__ float warp_sums[32];  // a block has at most 1024 threads: 32 warps

    float sum = 0.0f;
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        sum += x[i];
    }

    int lane = threadIdx.x % WARP;
    int warp = threadIdx.x / WARP;
    sum = warp_sum(sum);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();

    // The first warp sums the results of all warps.
    if (warp == 0) {
        int warps = blockDim.x / WARP;
        sum = warp_sum(lane < warps ? warp_sums[lane] : 0.0f);
        if (lane == 0) {
            atomicAdd(total, sum);  // one per block, so the contention is small
        }
    }
}
