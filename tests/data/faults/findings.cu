// Faults that no launch fails of, one in each kernel but the first: what --sanitize and --detect are there
// to find.
//
// Compiled as faults.cu is.

extern "C" __global__ void clean(int* out, int n) {
    __shared__ int part[256];
    part[threadIdx.x] = n;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void one_past(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {  // should be <
        out[i] = i;
    }
}

extern "C" __global__ void shared_race(int* out, int n) {
    __shared__ int part[256];
    part[threadIdx.x] = threadIdx.x;  // nobody waits for the others
    out[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void uninitialised_read(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] += i;
    }
}

extern "C" __global__ void divergent_barrier(int* out, int n) {
    __shared__ int total;
    if (threadIdx.x == 0) {
        total = n;
    }
    if (threadIdx.x < blockDim.x / 2 + 7) {
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
