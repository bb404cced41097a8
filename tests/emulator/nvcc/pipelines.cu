// What the compiler makes of barriers and pipelines of CUDA C++, one kernel each. Beside it is what
// nvcc 13.0 gave for it, for two architectures: nvcc -ptx -std=c++17 -arch=sm_80 pipelines.cu, with
// the `.version` set to 8.8. Bulk copies begin with sm_90.
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init
// A barrier that is arrived at and waited for in two steps.
extern "C" __global__ void split(const float* x, float* y, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float tile[256];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int base = blockIdx.x * 256; base < n; base += gridDim.x * 256) {
        tile[threadIdx.x] = x[base + threadIdx.x];
        bar.arrive_and_wait();
        float s = tile[threadIdx.x ^ 1] + tile[(threadIdx.x + 33) % 256];
        auto token = bar.arrive();
        y[base + threadIdx.x] = s;
        bar.wait(std::move(token));
    }
}
// Copies that a barrier counts.
extern "C" __global__ void copied(const float4* x, float4* y, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) float4 tile[64];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    for (int base = 0; base < n; base += 64) {
        cuda::memcpy_async(&tile[threadIdx.x], &x[base + threadIdx.x], cuda::aligned_size_t<16>(16), bar);
        bar.arrive_and_wait();
        y[base + threadIdx.x] = tile[63 - threadIdx.x];
        bar.arrive_and_wait();
    }
}
// Copies that a group waits for.
extern "C" __global__ void grouped(const int* x, int* y, int n) {
    __shared__ int tile[128];
    auto block = cg::this_thread_block();
    for (int base = 0; base < n; base += 128) {
        cg::memcpy_async(block, tile, x + base, sizeof(int) * 128);
        cg::wait(block);
        y[base + threadIdx.x] = tile[127 - threadIdx.x];
        block.sync();
    }
}
// Two stages, one being copied while the other is used.
extern "C" __global__ void piped(const int* x, int* y, int n) {
    constexpr int stages = 2;
    __shared__ int tile[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int count = n / 64;
    for (int step = 0, ahead = 0; step < count; ++step) {
        for (; ahead < count && ahead < step + stages; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[ahead % stages], x + ahead * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[step * 64 + threadIdx.x] = tile[step % stages][63 - threadIdx.x];
        pipe.consumer_release();
    }
}
