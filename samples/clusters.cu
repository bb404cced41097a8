// Where each block stands in its cluster (compute capability 9.0 and later): blocks of one cluster
// run at the same time on neighbouring multiprocessors and can reach each other's shared memory.
//
// The size of the clusters comes with the launch, --cluster; without it each block is its own.

extern "C" __global__ void where_am_i(int2* place, int* size) {
    int cluster, rank, blocks;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    if (threadIdx.x == 0) {
        place[blockIdx.x].x = cluster;
        place[blockIdx.x].y = rank;
        size[blockIdx.x] = blocks;
    }
}
