// A program of the runtime API: a constant, a struct with pointers, dynamic shared memory, two
// streams, a cooperative and a cluster launch, and a graph with a copy and a fill.
// Usage: runtime [graph | change | child | fault]
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

struct Vectors {
    const float *x;
    float *y;
    int n;
};

__constant__ float factor[4];
__device__ unsigned counter;

__global__ void blend(Vectors vectors, float scale) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) counter += 1;
    tile[threadIdx.x] = i < vectors.n ? vectors.x[i] : 0;
    __syncthreads();
    int other = blockDim.x - 1 - threadIdx.x;
    if (i < vectors.n) vectors.y[i] = scale * tile[other] + factor[i % 4];
}

__global__ void settle(float *y, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 1;
    grid.sync();
    if (i < n) y[i] *= 2;
}

__global__ void __cluster_dims__(2, 1, 1) exchange(float *y, int n) {
    __shared__ float own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = cluster.block_rank();
    cluster.sync();
    float theirs = *cluster.map_shared_rank(&own, 1 - cluster.block_rank());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += theirs;
    cluster.sync();
}

__global__ void increase(float *y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += by;
}

#define CHECK(call)                                                                                \
    if (cudaError_t error = (call)) {                                                              \
        printf("%s: %s\n", #call, cudaGetErrorString(error));                                      \
        exit(1);                                                                                   \
    }

enum { N = 16384, BLOCK = 256 };

// Let the last kernel of a graph add 7.
static void change(cudaGraph_t captured, cudaGraphExec_t exec, float *x) {
    cudaGraphNode_t nodes[8];
    size_t count = 8;
    CHECK(cudaGraphGetNodes(captured, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        cudaGraphNodeType type;
        cudaKernelNodeParams params;
        CHECK(cudaGraphNodeGetType(nodes[i], &type));
        if (type != cudaGraphNodeTypeKernel) continue;
        CHECK(cudaGraphKernelNodeGetParams(nodes[i], &params));
        if (*(float **)params.kernelParams[0] != x) continue;
        int n = N;
        float by = 7;
        void *changed[] = {&x, &n, &by};
        params.kernelParams = changed;
        CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[i], &params));
    }
}

// Ways: a graph, the same as a child of another, one with a kernel node that is changed before the last launch, one that faults.
static int graph(float *x, float *y, const char *way) {
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(y, 0, N * sizeof *y, stream));
    increase<<<N / BLOCK, BLOCK, 0, stream>>>(y, N, 1);
    CHECK(cudaMemcpyAsync(x, y, N * sizeof *y, cudaMemcpyDeviceToDevice, stream));
    bool faults = !strcmp(way, "fault"), changes = !strcmp(way, "change");
    increase<<<N / BLOCK, BLOCK, 0, stream>>>(faults ? x + (1ll << 40) : x, N, 2);
    CHECK(cudaStreamEndCapture(stream, &captured));
    if (!strcmp(way, "child")) {
        cudaGraph_t parent;
        cudaGraphNode_t node;
        CHECK(cudaGraphCreate(&parent, 0));
        CHECK(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, captured));
        captured = parent;
    }
    CHECK(cudaGraphInstantiate(&exec, captured, 0));
    for (int i = 0; i < 3; i++) {
        if (changes && i == 2) change(captured, exec, x);
        CHECK(cudaGraphLaunch(exec, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphDestroy(captured));
    float last;
    CHECK(cudaMemcpy(&last, x + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    puts("done");
    return last == (changes ? 8 : 3) ? 0 : 5;
}

int main(int count, char **words) {
    float *host = (float *)malloc(N * sizeof *host), *x, *y, factors[4] = {1, 2, 3, 4};
    for (int i = 0; i < N; i++) host[i] = i;
    CHECK(cudaMalloc(&x, N * sizeof *x));
    CHECK(cudaMalloc(&y, N * sizeof *y));
    CHECK(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(y, 0, N * sizeof *y));
    CHECK(cudaMemcpyToSymbol(factor, factors, sizeof factors));
    if (count > 1) return graph(x, y, words[1]);
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    blend<<<N / BLOCK, BLOCK, BLOCK * sizeof(float), first>>>(Vectors{x, y, N}, 2.0f);
    CHECK(cudaStreamSynchronize(first));
    blend<<<N / BLOCK, BLOCK, BLOCK * sizeof(float), second>>>(Vectors{y, x, N}, 0.5f);
    CHECK(cudaStreamSynchronize(second));
    int n = N;
    void *parameters[] = {&y, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)settle, N / BLOCK, BLOCK, parameters, 0, first));
    exchange<<<N / BLOCK, BLOCK, 0, first>>>(y, N);
    CHECK(cudaDeviceSynchronize());
    puts("done");
    return 0;
}
