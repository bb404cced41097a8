// C = A B, row-major, A is m by k, B is k by n: one thread per element of C.
//
// The naive kernel reads every element of A n times and every element of B m times. In the tiled
// one, each block stages TILE by TILE pieces in shared memory: it reads global memory 1/TILE times.

#define TILE 16

extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c,
                                        int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

// The block must be TILE by TILE threads.
extern "C" __global__ void matmul_tiled(const float* a, const float* b, float* c,
                                        int m, int n, int k) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    int x = threadIdx.x;
    int y = threadIdx.y;
    int row = blockIdx.y * TILE + y;
    int column = blockIdx.x * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        // Tiles extend past the edges if the sizes are not multiples of TILE; zeros add nothing.
        a_tile[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        b_tile[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();  // the tiles are complete

        for (int i = 0; i < TILE; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        __syncthreads();  // all reads are complete, so the next iteration may overwrite the tiles
    }

    // No early return above: every thread of the block must reach every barrier.
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}
