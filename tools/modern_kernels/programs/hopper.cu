// Hopper features through CUDA's own C++ interfaces.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cudaTypedefs.h>
#include <mma.h>
#include <random>
#include <vector>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *in, int n, int *bins) {
    __shared__ int mine[64];
    auto c = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        mine[i] = 0;
    c.sync();
    for (int i = c.thread_rank(); i < n; i += c.num_threads()) {
        int v = in[i] & 255;
        int *there = c.map_shared_rank(mine, v / 64);
        atomicAdd(there + v % 64, 1);
    }
    c.sync();
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        bins[c.block_rank() * 64 + i] = mine[i];
}
__global__ void grid_norm(float *x, int n, float *sum) {
    auto g = cg::this_grid();
    float s = 0;
    for (int i = g.thread_rank(); i < n; i += g.size())
        s += x[i] * x[i];
    s = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), s, cg::plus<float>());
    if (threadIdx.x % 32 == 0)
        sum[g.thread_rank() / 32 + 1] = s;
    g.sync();
    if (g.thread_rank() == 0) {
        float t = 0;
        for (int i = 0; i < g.size() / 32; i++)
            t += sum[i + 1];
        sum[0] = t;
    }
    g.sync();
    for (int i = g.thread_rank(); i < n; i += g.size())
        x[i] /= sqrtf(sum[0]);
}
__global__ void bulk_copy(const int *in, int *out) {
    __shared__ alignas(16) int buffer[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::memcpy_async(buffer, in + blockIdx.x * 1024, cuda::aligned_size_t<16>(4096), bar);
    }
    token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        buffer[i] += i;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 1024, buffer, 4096);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
__global__ void tensor_scale(const __grid_constant__ CUtensorMap in,
                             const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(128) float tile[32][32];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    barrier::arrival_token token;
    int at[2] = {(int)blockIdx.x * 32, (int)blockIdx.y * 32};
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &tile, &in, at,
                                  cuda::device::barrier_native_handle(bar));
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else
        token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        (&tile[0][0])[i] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, &tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
__global__ void tensor_add(const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(128) float tile[32][32];
    int at[2] = {(int)blockIdx.x * 16 - 8, (int)blockIdx.y * 16 - 8};
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        (&tile[0][0])[i] = i;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &out, at, &tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
__global__ void pipelined(const float *x, float *y, int n) {
    constexpr int stages = 3;
    __shared__ float buffer[stages][128];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    float s = 0;
    int tiles = n / 128, loaded = 0;
    for (int t = 0; t < tiles; t++) {
        for (; loaded < tiles && loaded < t + stages; loaded++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[loaded % stages], x + loaded * 128, sizeof(float) * 128, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        s += buffer[t % stages][threadIdx.x] * (t + 1);
        pipe.consumer_release();
    }
    y[threadIdx.x] = s;
}
__global__ void wmma_product(const half *a, const half *b, float *c, int n) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0);
    int w = threadIdx.x / 32, r = blockIdx.x * 16, col = (blockIdx.y * 4 + w) * 16;
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + r * n + k, n);
        load_matrix_sync(fb, b + col * n + k, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + r * n + col, fc, n, mem_row_major);
}
__global__ void remote_store(int *out) {
    __shared__ alignas(16) int4 cell[64];
    __shared__ alignas(8) uint64_t bar;
    auto c = cg::this_cluster();
    unsigned next = (c.block_rank() + 1) % c.num_blocks();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar,
                                       64 * 16);
    }
    c.sync();
    auto *rb = c.map_shared_rank(&bar, next);
    auto *rc = c.map_shared_rank(cell, next);
    if (threadIdx.x < 64) {
        int v[4] = {(int)c.block_rank(), (int)threadIdx.x, 7, -1};
        ptx::st_async((int *)&rc[threadIdx.x], v, rb);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0))
        ;
    if (threadIdx.x < 64)
        ((int4 *)out)[c.block_rank() * 64 + threadIdx.x] = cell[threadIdx.x];
    c.sync();
}
static CUtensorMap map(float *p, uint64_t w, uint64_t h) {
    void *f;
    cudaDriverEntryPointQueryResult q;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &q);
    CUtensorMap m;
    cuuint64_t dims[2] = {w, h}, strides[1] = {w * 4};
    cuuint32_t box[2] = {32, 32}, one[2] = {1, 1};
    auto r = ((PFN_cuTensorMapEncodeTiled_v12000)f)(
        &m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, p, dims, strides, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r)
        printf("encode %d\n", r);
    return m;
}
int main(int argc, char **argv) {
    int which = atoi(argv[1]), n = 16384;
    std::mt19937 g(5);
    std::vector<float> f(n);
    std::vector<int> v(n);
    std::vector<half> hh(n);
    for (int i = 0; i < n; i++) {
        v[i] = g();
        f[i] = (g() % 2001) / 1000.f - 1;
        hh[i] = __float2half(f[i]);
    }
    float *x, *y;
    int *a, *b;
    half *p;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&y, n * 4);
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&p, n * 2);
    cudaMemcpy(x, f.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(a, v.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(p, hh.data(), n * 2, cudaMemcpyHostToDevice);
    cudaMemset(y, 0, n * 4);
    cudaMemset(b, 0, n * 4);
    switch (which) {
    case 0:
        cluster_histogram<<<8, 128>>>(a, n, b);
        break;
    case 1: {
        void *args[] = {&x, &n, &y};
        cudaLaunchCooperativeKernel((void *)grid_norm, dim3(8), dim3(128), args, 0, 0);
        break;
    }
    case 2:
        bulk_copy<<<16, 256>>>(a, b);
        break;
    case 3: {
        auto i = map(x, 100, 96), o = map(y, 100, 96);
        tensor_scale<<<dim3(4, 3), 128>>>(i, o);
        break;
    }
    case 4: {
        auto o = map(y, 100, 96);
        tensor_add<<<dim3(4, 3), 128>>>(o);
        break;
    }
    case 5:
        pipelined<<<1, 128>>>(x, y, n);
        break;
    case 6:
        wmma_product<<<dim3(8, 2), 128>>>(p, p, y, 128);
        break;
    case 7: {
        cudaLaunchConfig_t c = {};
        c.gridDim = dim3(8);
        c.blockDim = dim3(64);
        cudaLaunchAttribute at[1];
        at[0].id = cudaLaunchAttributeClusterDimension;
        at[0].val.clusterDim = {4, 1, 1};
        c.attrs = at;
        c.numAttrs = 1;
        cudaLaunchKernelEx(&c, remote_store, b);
        break;
    }
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
