// out = transpose of in, which is rows by columns: two ways of walking through memory.
//
// In the naive kernel neighbouring threads write `rows` elements apart, so a warp's store touches
// 32 separate pieces of memory. The tiled one turns the matrix round in shared memory, where that
// costs little, and both reads and writes whole rows.

#define TILE 32
#define ROWS_PER_BLOCK 8  // the tiled kernel's block is 32 by 8: each thread moves four elements

extern "C" __global__ void transpose_naive(const float* in, float* out, int rows, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        out[column * rows + row] = in[row * columns + column];
    }
}

extern "C" __global__ void transpose_tiled(const float* in, float* out, int rows, int columns) {
    // One column more than needed: without it a column of the tile lies in a single memory bank,
    // and the 32 lanes that read it below would take turns.
    __shared__ float tile[TILE][TILE + 1];

    int first_row = blockIdx.y * TILE;
    int first_column = blockIdx.x * TILE;

    int column = first_column + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS_PER_BLOCK) {
        int row = first_row + i;
        if (row < rows && column < columns) {
            tile[i][threadIdx.x] = in[row * columns + column];
        }
    }
    __syncthreads();

    int row = first_row + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS_PER_BLOCK) {
        int column = first_column + i;
        if (row < rows && column < columns) {
            out[column * rows + row] = tile[threadIdx.x][i];
        }
    }
}
