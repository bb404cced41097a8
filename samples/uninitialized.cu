// The sum of each row, first with a running total in shared memory that is set before it is used,
// then without.
//
// `row_sums_unset` is FAULTY ON PURPOSE: shared memory starts with whatever the last block left.

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
