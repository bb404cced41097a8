// Honest: a variable of the image is scratch memory, which every launch writes before it reads.
__device__ float means[1024];

extern "C" __global__ void center(const float* x, float* y, int rows, int columns) {
    const float* row = x + blockIdx.x * columns;
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < columns; ++i) sum += row[i];
        means[blockIdx.x] = sum / columns;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = row[i] - means[blockIdx.x];
}
