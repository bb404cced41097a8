// Clusters of blocks that reach into each other's shared memory.
// nvcc -arch=compute_90

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A histogram too large for a block: each block of the cluster holds a part of the bins.
extern "C" __global__ void histogram_cluster(const int *in, int n, unsigned *bins, int bins_each)
{
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_each; i += blockDim.x)
        mine[i] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < n; i += gridDim.x * blockDim.x) {
        unsigned *part = cluster.map_shared_rank(mine, in[i] / bins_each);
        atomicAdd(part + in[i] % bins_each, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < bins_each; i += blockDim.x)
        atomicAdd(bins + cluster.block_rank() * bins_each + i, mine[i]);
}

// The sum of what the blocks of a cluster hold, each adding to the first one's variable.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sum_cluster(const double *in, double *sums)
{
    __shared__ double sum, parts[8];
    cg::cluster_group cluster = cg::this_cluster();
    double value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_down_sync(~0u, value, d);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < blockDim.x / 32; i++)
            sum += parts[i];
    }
    cluster.sync();
    double total = 0;
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
            total += *cluster.map_shared_rank(&sum, rank);
        sums[blockIdx.x / 4] = total;
    }
    cluster.sync();  // nobody leaves while another reads
}

// Blocks in a ring: each hands its tile to the next one, round by round, until it has come home.
extern "C" __global__ void ring(const int *in, int *out, int2 *ranks)
{
    __shared__ int tiles[2][64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    int t = threadIdx.x;
    tiles[0][t] = in[blockIdx.x * 64 + t];
    for (unsigned round = 0; round < size; round++) {
        int *next = cluster.map_shared_rank(&tiles[(round + 1) % 2][0], (rank + 1) % size);
        auto token = cluster.barrier_arrive();
        cluster.barrier_wait(cuda::std::move(token));
        next[t] = 2 * tiles[round % 2][t] + rank;
        cluster.sync();
    }
    out[blockIdx.x * 64 + t] = tiles[size % 2][t];
    if (t == 0)
        ranks[blockIdx.x] = make_int2(cluster.query_shared_rank(&tiles[0][0]), cluster.dim_blocks().x);
}
