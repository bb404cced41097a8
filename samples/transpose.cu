// out = transpose of in (rows by columns), with two access patterns.
//
// In the naive kernel neighboring threads write `rows` elements apart, so a warp's store accesses
// 32 separate segments of memory. The tiled kernel transposes in shared memory, where this is
// cheap, and reads and writes whole rows.

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
    // One additional column: without it a column of the tile is in a single bank of shared memory,
    // and the accesses of the 32 lanes below would be serialized.
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
