// Counts the occurrences of each byte value.
//
// Atomics on shared memory are fast, so every block counts in shared memory first and then adds its
// 256 counts to the global ones. `bins` must be zero before the launch.

extern "C" __global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
    __shared__ unsigned int local[256];

    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();

    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        atomicAdd(&bins[bin], local[bin]);
    }
}
