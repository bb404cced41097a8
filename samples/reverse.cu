// Reverses the part of the data of each block, in dynamic shared memory (4 bytes per thread).
//
// `reverse_racy` is FAULTY ON PURPOSE: without a barrier a thread may read an element before another
// thread has written it. The result is often correct nevertheless, which makes races hard to
// find.

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
