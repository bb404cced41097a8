// Synchronization errors, each with a correct version of the same kernel. Kernels whose names end in
// `_divergent` or `_outside` are FAULTY ON PURPOSE, although hardware mostly gives the expected results.

// --- two barriers for the threads of a warp, instead of one for all -------------------------------------

extern "C" __global__ void neighbors_divergent(const int* x, int* y) {
    __shared__ int part[64];
    const int i = threadIdx.x;
    if (i % 2) {
        part[i] = x[i];
        __syncthreads();
    } else {
        part[i] = 2 * x[i];
        __syncthreads();
    }
    y[i] = part[i ^ 1];
}

extern "C" __global__ void neighbors(const int* x, int* y) {
    __shared__ int part[64];
    const int i = threadIdx.x;
    part[i] = i % 2 ? x[i] : 2 * x[i];
    __syncthreads();
    y[i] = part[i ^ 1];
}

// --- sums of half warps: lanes 8 to 15 read beyond the lanes of the member mask -------------------------

extern "C" __global__ void half_sums_outside(const int* x, int* y) {
    const int i = threadIdx.x;
    int sum = x[i];
    if (i < 16)
        for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffff, sum, offset);
    y[i] = sum;
}

extern "C" __global__ void half_sums(const int* x, int* y) {
    const int i = threadIdx.x;
    int sum = x[i];
    if (i < 16)
        for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffff, sum, offset);
    y[i] = sum;
}
