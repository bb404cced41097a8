// Fails on purpose for negative data: an assertion in device code.
//
// A failed assertion prints the block, the thread and the condition on stderr, and ends the launch
// with CUDA_ERROR_ASSERT. The context cannot be used afterwards.

extern "C" __global__ void square_roots(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(x[i] >= 0.0f);
        y[i] = sqrtf(x[i]);
    }
}
