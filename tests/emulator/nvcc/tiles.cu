// Tiles of several warps, whose barriers are in the shared memory that the system reserves.
// `tiles.ptx` beside it is what nvcc 13.0 gave for it: nvcc -ptx -arch=sm_90 tiles.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// The sums of each half of a block of 256 threads, 64 threads each; 52 bytes of shared memory.
extern "C" __global__ void sums(const int *in, int *out)
{
    __shared__ int kept[13];
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x < 13) kept[threadIdx.x] = 1000 * threadIdx.x;
    block.sync();
    auto tile = cg::tiled_partition<64>(block);
    int sum = cg::reduce(tile, in[blockIdx.x * blockDim.x + threadIdx.x], cg::plus<int>());
    block.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum + kept[threadIdx.x % 13];
}

// Values go around a tile of 128 threads through dynamic shared memory, ordered by its barrier only.
extern "C" __global__ void around(int *out)
{
    extern __shared__ int values[];
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    int me = threadIdx.x, next = me / 128 * 128 + (me + 33) % 128;
    values[me] = me;
    for (int round = 0; round < 3; ++round) {
        tile.sync();
        int value = values[next];
        tile.sync();
        values[me] = value;
    }
    out[blockIdx.x * blockDim.x + me] = values[me];
}
