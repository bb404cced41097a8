// y = a*x + y, the "hello world" of CUDA: one thread per element.
//
// The grid consists of whole blocks, so it usually has a few more threads than elements.
// The guard `i < n` keeps these threads from accessing memory past the end.

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];  // one fused multiply-add
    }
}
