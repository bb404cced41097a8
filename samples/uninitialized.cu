// The sum of each row, with a running total in shared memory: first initialized,
// then uninitialized.
//
// `row_sums_unset` is FAULTY ON PURPOSE: shared memory contains data of the previous block.

extern "C" __global__ void row_sums(const int* x, int* sums, int columns) {
    __shared__ int total;
    if (threadIdx.x == 0) {
        total = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        atomicAdd(&total, x[blockIdx.x * columns + i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
    }
}

extern "C" __global__ void row_sums_unset(const int* x, int* sums, int columns) {
    __shared__ int total;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        atomicAdd(&total, x[blockIdx.x * columns + i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = total;
    }
}
