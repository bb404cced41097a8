// A batch of matrix products, as of cublasSgemmBatched: arrays of pointers to row-major matrices,
// a matrix per blockIdx.z, a thread per element of the result.

extern "C" __global__ void batched_matmul(const float* const* a, const float* const* b,
                                          float* const* c, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n)
        return;
    const float* left = a[blockIdx.z] + row * k;
    const float* right = b[blockIdx.z] + column;
    float sum = 0;
    for (int i = 0; i < k; ++i)
        sum += left[i] * right[i * n];
    c[blockIdx.z][row * n + column] = sum;
}
