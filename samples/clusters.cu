// The position of each block in its cluster (compute capability 9.0 and later): the blocks of a
// cluster run at the same time on nearby multiprocessors and can access each other's shared memory.
//
// --cluster sets the size of the clusters at launch; without it each block is its own cluster.

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
