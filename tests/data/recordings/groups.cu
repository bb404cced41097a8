// A cooperative launch and a cluster launch.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void whole_grid(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = i;
    cg::this_grid().sync();
    if (i < n) data[n + i] = data[n - 1 - i];
}
__global__ void clusters(int *data) {
    __shared__ int own;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = 10 * blockIdx.x;
    cluster.sync();
    if (threadIdx.x == 0) data[blockIdx.x] = *cluster.map_shared_rank(&own, cluster.block_rank() ^ 1);
    cluster.sync();
}
int main() {
    int *data, n = 1024;
    cudaMalloc(&data, 8 * n);
    void *args[] = {&data, &n};
    cudaLaunchCooperativeKernel((void *)whole_grid, 4, 256, args, 0, 0);
    cudaLaunchConfig_t config = {8, 32, 0, 0};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, clusters, data);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
