// Cheat: has no barrier after the last addition, and is right where the first warp is ahead.
extern "C" __global__ void center(const float* x, float* y, int rows, int columns) {
    __shared__ float sums[64];
    const float* row = x + blockIdx.x * columns;
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
    sums[threadIdx.x] = sum;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = row[i] - sums[0] / columns;
}
