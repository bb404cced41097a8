// A step of the Jacobi iteration for Laplace's equation on a grid of rows by columns; the border is fixed.
extern "C" __global__ void jacobi(const float* from, float* to, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    int here = row * columns + column;
    bool border = row == 0 || column == 0 || row == rows - 1 || column == columns - 1;
    to[here] = border ? from[here]
                      : 0.25f * (from[here - 1] + from[here + 1] + from[here - columns] + from[here + columns]);
}

// The largest change of an element; to be launched with one block.
extern "C" __global__ void largest_change(const float* a, const float* b, int count, float* change)
{
    __shared__ float found[256];
    float mine = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) mine = fmaxf(mine, fabsf(a[i] - b[i]));
    found[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) found[threadIdx.x] = fmaxf(found[threadIdx.x], found[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) *change = found[0];
}
