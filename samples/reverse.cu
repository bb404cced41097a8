// Reverses each block's stretch of data, through dynamic shared memory (4 bytes per thread).
//
// `reverse_racy` is FAULTY ON PURPOSE: without a barrier a thread may read an element before the
// thread that writes it has done so. The result is often right all the same, which is what makes
// races hard to find.

extern __shared__ int staged[];

extern "C" __global__ void reverse(int* data) {
    int* mine = data + blockIdx.x * blockDim.x;
    staged[threadIdx.x] = mine[threadIdx.x];
    __syncthreads();
    mine[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void reverse_racy(int* data) {
    int* mine = data + blockIdx.x * blockDim.x;
    staged[threadIdx.x] = mine[threadIdx.x];
    // A __syncthreads() belongs here.
    mine[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}
