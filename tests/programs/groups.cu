// Cooperative groups: tiles, reductions and scans over them, partitions by label, coalesced groups, the grid.
// nvcc -arch=compute_80 -std=c++17

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Of tiles of 4, 8 and 32: sums, the largest, exclusive scans, xor.
extern "C" __global__ void reduce_tiles(const int *in, int *sums, int *largest, int *scans, unsigned *bits)
{
    auto block = cg::this_thread_block();
    int i = cg::this_grid().thread_rank(), value = in[i];
    auto four = cg::tiled_partition<4>(block);
    auto eight = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    sums[i] = cg::reduce(four, value, cg::plus<int>());
    largest[i] = cg::reduce(eight, value, cg::greater<int>());
    scans[i] = cg::exclusive_scan(warp, value);
    bits[i] = cg::reduce(warp, (unsigned)value, cg::bit_xor<unsigned>());
}

// Lanes of a warp grouped by what they hold; the rank and the size of the group, and its sum of indices.
extern "C" __global__ void partition_labels(const int *labels, int *ranks, int *sizes, int *sums)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = cg::this_grid().thread_rank();
    auto same = cg::labeled_partition(warp, labels[i]);
    ranks[i] = same.thread_rank();
    sizes[i] = same.size();
    sums[i] = cg::reduce(same, i, cg::plus<int>());
    auto parity = cg::binary_partition(warp, labels[i] % 2 == 1);
    sums[i] += 100000 * parity.shfl(labels[i], parity.size() - 1);
}

// What is positive goes to the front, in any order: one atomic for each group of lanes that come together.
extern "C" __global__ void filter(const int *in, int n, int *out, int *count)
{
    int i = cg::this_grid().thread_rank();
    if (i >= n || in[i] <= 0)
        return;
    auto together = cg::coalesced_threads();
    int first = 0;
    if (together.thread_rank() == 0)
        first = atomicAdd(count, together.size());
    first = together.shfl(first, 0);
    out[first + together.thread_rank()] = in[i];
}

// Odd-even sort over the whole grid, which synchronises between the steps.
extern "C" __global__ void sort_grid(short *values, int n)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int step = 0; step < n; step++) {
        int at = 2 * i + step % 2;
        if (at + 1 < n && values[at] > values[at + 1]) {
            short swap = values[at];
            values[at] = values[at + 1];
            values[at + 1] = swap;
        }
        grid.sync();
    }
}

// Tiles come to shared memory by memcpy_async of the block; each is turned around.
extern "C" __global__ void reverse_tiles(const int4 *in, int4 *out)
{
    __shared__ int4 tile[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in + 64 * blockIdx.x, sizeof tile);
    cg::wait(block);
    for (int i = block.thread_rank(); i < 64; i += block.size()) {
        int4 v = tile[63 - i];
        out[64 * blockIdx.x + i] = make_int4(v.w, v.z, v.y, v.x);
    }
}
