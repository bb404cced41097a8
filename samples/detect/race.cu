// Races, each with a correct version of the same kernel. Kernels whose names end in `_racy` are
// FAULTY ON PURPOSE: their results may nevertheless be correct on a particular machine.

// --- a barrier is missing: shared memory -----------------------------------------------------------

// Each block reverses its part of x. A thread reads an element that another thread has written.

extern "C" __global__ void reverse_racy(const int* x, int* y) {
    __shared__ int part[256];
    const int first = blockIdx.x * blockDim.x;
    part[threadIdx.x] = x[first + threadIdx.x];
    y[first + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];  // no sync
}

extern "C" __global__ void reverse_block(const int* x, int* y) {
    __shared__ int part[256];
    const int first = blockIdx.x * blockDim.x;
    part[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    y[first + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

// --- one of two barriers is missing: the next iteration overwrites data that is still being read ----

extern "C" __global__ void rounds_racy(const int* x, int* sums, int rounds) {
    __shared__ int part[64];
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        part[threadIdx.x] = x[round * blockDim.x + threadIdx.x];
        __syncthreads();
        sum += part[(threadIdx.x + 1) % blockDim.x];
    }
    sums[threadIdx.x] = sum;
}

extern "C" __global__ void rounds(const int* x, int* sums, int rounds) {
    __shared__ int part[64];
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        part[threadIdx.x] = x[round * blockDim.x + threadIdx.x];
        __syncthreads();
        sum += part[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    sums[threadIdx.x] = sum;
}

// --- no atomics: global memory, between blocks -------------------------------------------------------

extern "C" __global__ void count_racy(const unsigned char* data, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bins[data[i]] += 1;  // a load, an addition, a store
}

extern "C" __global__ void count(const unsigned char* data, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i]], 1u);
}

// --- threads of a warp do not synchronize implicitly ---------------------------------------------------

extern "C" __global__ void warp_sum_racy(const int* x, int* sum) {
    __shared__ int part[32];
    part[threadIdx.x] = x[threadIdx.x];
    for (int half = 16; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *sum = part[0];
}

extern "C" __global__ void warp_sum(const int* x, int* sum) {
    __shared__ int part[32];
    part[threadIdx.x] = x[threadIdx.x];
    for (int half = 16; half > 0; half /= 2) {
        __syncwarp();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *sum = part[0];
}

// --- a fence is missing: writes of the others may not be visible to the last block -------------------

// See last_block_sum in patterns.cu for the correct kernel.

extern "C" __global__ void last_block_racy(const int* x, int* sums, unsigned* done, int* total) {
    __shared__ int part;
    __shared__ bool last;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    atomicAdd(&part, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = part;
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int block = 0; block < gridDim.x; ++block) all += sums[block];
        *total = all;
    }
}
