// A grid-wide barrier: every block adds its partial sum to the total. When all partial sums are
// added, each block writes its part of x divided by the total.
//
// A block that waits for one that has not started would wait forever. This needs a cooperative
// launch, which is refused unless all blocks are resident at once. A second kernel would give the
// same result at the cost of another launch.

extern "C" __global__ void normalize(const float* x, float* y, float* total, unsigned* arrived, int n) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;

    float sum = 0;
    for (int i = first; i < n; i += stride) sum += x[i];
    atomicAdd(total, sum);

    __threadfence();  // the partial sum is visible before the arrival
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
