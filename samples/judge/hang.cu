// Cheat: waits for a second row that there may not be.
__device__ volatile int arrived;

extern "C" __global__ void center(const float* x, float* y, int rows, int columns) {
    __shared__ float mean;
    const float* row = x + blockIdx.x * columns;
    if (threadIdx.x == 0) {
        if (blockIdx.x == 1) arrived = 1;
        while (rows == 1 && !arrived) {}
        float sum = 0;
        for (int i = 0; i < columns; ++i) sum += row[i];
        mean = sum / columns;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = row[i] - mean;
}
