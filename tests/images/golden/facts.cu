// What a cubin and a PTX text can tell of kernels and variables, one of each.
struct Particle {
    double mass;
    float position[3];
    char charge;
};

__managed__ int counter = 3;
__device__ float table[4] = {1, 2, 3, 4};
__device__ double total;
__constant__ int steps[2] = {1, 2};

namespace ns {
template <class T>
__global__ void scale(T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
template __global__ void scale<float>(float *, int);
}  // namespace ns

extern "C" __global__ void __launch_bounds__(128, 2)
    gather(Particle p, char a, short b, double *out) {
    __shared__ float sh[32];
    sh[threadIdx.x & 31] = p.position[1];
    __syncthreads();
    out[threadIdx.x] = sh[a & 31] + b + table[b & 3];
    atomicAdd(&counter, steps[0]);
    total = p.mass;
}

// A local array with a computed index, so that it stays in memory.
extern "C" __global__ void frame(int *x, int n) {
    volatile int local[20];
    for (int i = 0; i < n; i++) local[i] = x[i];
    x[0] = local[x[1]];
}
