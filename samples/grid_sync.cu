// The whole grid waits for itself: every block adds up its share, and only when all shares are
// there does each block write its part of x divided by the total.
//
// A block that waits for another which has not begun would wait forever, so this needs a cooperative
// launch: it is refused unless all blocks are resident at once. The total of softmax, of a norm, of a
// residual: a second kernel would do as well, at the price of another launch.

extern "C" __global__ void normalize(const float* x, float* y, float* total, unsigned* arrived, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;

    float sum = 0;
    for (int i = first; i < n; i += stride) sum += x[i];
    atomicAdd(total, sum);

    __threadfence();  // the share is written before the arrival is
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < gridDim.x) {
        }
    }
    __syncthreads();

    const float all = *(volatile float*)total;
    for (int i = first; i < n; i += stride) y[i] = x[i] / all;
}
