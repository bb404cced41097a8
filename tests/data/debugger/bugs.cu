// Kernels with one bug each, for sessions of the debugger.

// The last element of a row is read as the first one of the next row.
extern "C" __global__ void row_sums(const float* x, float* sums, int columns) {
    int row = threadIdx.x;
    float sum = 0;
    for (int i = 1; i <= columns; ++i) {
        sum += x[row * columns + i];
    }
    sums[row] = sum;
}

// The variance of equal numbers can be a little less than zero.
extern "C" __global__ void deviations(const float* x, float* y) {
    __shared__ float total[2];
    int i = threadIdx.x;
    if (i < 2) total[i] = 0;
    __syncthreads();
    atomicAdd(&total[0], x[i]);
    atomicAdd(&total[1], x[i] * x[i]);
    __syncthreads();
    float mean = total[0] / blockDim.x;
    float deviation = sqrtf(total[1] / blockDim.x - mean * mean - 1e-3f);
    y[i] = (x[i] - mean) / deviation;
}

// The lanes above an offset of 8 add those below once more.
extern "C" __global__ void warp_sum(const int* x, int* sum) {
    int value = x[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_up_sync(0xffffffff, value, offset);
    }
    if (threadIdx.x == 31) *sum = value;
}

struct Box {
    int first;
    int size;
    float scale;
};

// The end is the size, not the first element plus the size.
extern "C" __global__ void fill_box(Box box, float* y) {
    for (int i = box.first + threadIdx.x; i < box.size; i += blockDim.x) {
        y[i] = i * box.scale;
    }
}

template <class T, int factor>
__device__ __noinline__ T scaled(T value) {
    return value * factor / 2;
}

// Half of an odd integer is rounded.
template <class T>
__global__ void scale(T* x) {
    x[threadIdx.x] = scaled<T, 3>(x[threadIdx.x]);
}
template __global__ void scale<int>(int*);
template __global__ void scale<float>(float*);

// The Fibonacci numbers begin with 0 and 1, not with 1 and 1.
__device__ __noinline__ int fibonacci(int n) {
    if (n < 2) return 1;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void sequence(int* y) {
    y[threadIdx.x] = fibonacci(threadIdx.x);
}

// The threads of the second half do not wait for the first half.
extern "C" __global__ void handed_over(int* y) {
    __shared__ int part[64];
    int i = threadIdx.x;
    if (i < 32) part[i] = i;
    y[i] = part[i % 32];
}

// Half of the shared memory is not written.
extern "C" __global__ void half_written(const int* x, int* y) {
    __shared__ int part[64];
    int i = threadIdx.x;
    if (i < 32) part[i] = x[i];
    __syncthreads();
    y[i] = part[i];
}

// One half of the block waits at a barrier that the other half leaves out.
extern "C" __global__ void half_waits(int* y) {
    if (threadIdx.x < 32) {
        asm volatile("barrier.sync 1, 64;");
    } else {
        asm volatile("barrier.sync 2, 64;");
    }
    y[threadIdx.x] = 1;
}
