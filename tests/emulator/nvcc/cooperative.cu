// Cooperative groups: a barrier over the grid, tiles of a block, and the threads that run together.
// `cooperative.ptx` beside it is what nvcc 13.0 gave for it: nvcc -ptx -arch=sm_80 cooperative.cu
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void grid_sync(int* a, int* b) {
    auto grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    a[i] = i;
    grid.sync();
    b[i] = a[(i + n / 2) % n];
    grid.sync();
    a[i] = b[(i + 1) % n];
}

extern "C" __global__ void tiles(int* out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int sum = threadIdx.x;
    for (int offset = 4; offset > 0; offset /= 2) sum += tile.shfl_xor(sum, offset);
    out[threadIdx.x] = sum;
    if (threadIdx.x % 3 == 0) {
        auto together = cg::coalesced_threads();
        out[threadIdx.x + blockDim.x] = together.size() * 100 + together.thread_rank();
    }
}
