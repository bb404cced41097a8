// Kernels with tensor maps, as a compiler emits them. `tensor_maps.ptx` beside it is what nvcc 13.0 gave for it:
// nvcc -ptx -arch=sm_90a tensor_maps.cu, then `.version 8.6`.
// A tile has 32 rows of 32 floats, and blocks of 128 threads work on it.

#include <cuda.h>

typedef unsigned long long ulong64;

static __device__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

static __device__ void init(ulong64* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void expect(ulong64* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

static __device__ void wait(ulong64* barrier, int parity) {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" :: "r"(shared_address(barrier)), "r"(parity) : "memory");
}

static __device__ void load(void* to, const CUtensorMap* map, int x, int y, ulong64* barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)) : "memory");
}

static __device__ void store(const CUtensorMap* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(map), "r"(x), "r"(y), "r"(shared_address(from)) : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Double every tile: one in flight while the other is worked on.
extern "C" __global__ void doubled(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                                   int tiles) {
    __shared__ alignas(128) float tile[2][32 * 32];
    __shared__ alignas(8) ulong64 ready[2];
    int y = 32 * blockIdx.x;
    if (threadIdx.x == 0) {
        init(&ready[0], 1);
        init(&ready[1], 1);
        expect(&ready[0], sizeof tile[0]);
        load(tile[0], &from, 0, y, &ready[0]);
    }
    __syncthreads();
    for (int n = 0; n < tiles; n++) {
        int stage = n & 1;
        if (threadIdx.x == 0 && n + 1 < tiles) {
            expect(&ready[stage ^ 1], sizeof tile[0]);
            load(tile[stage ^ 1], &from, 32 * (n + 1), y, &ready[stage ^ 1]);
        }
        wait(&ready[stage], n >> 1 & 1);
        for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[stage][i] *= 2;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) store(&to, 32 * n, y, tile[stage]);
        __syncthreads();
    }
}

// Transpose a tile that is swizzled by 128 bytes, so that neither rows nor columns have bank conflicts.
extern "C" __global__ void transposed(const __grid_constant__ CUtensorMap from, float* to) {
    __shared__ alignas(1024) float tile[32 * 32];
    __shared__ alignas(8) ulong64 ready;
    if (threadIdx.x == 0) {
        init(&ready, 1);
        expect(&ready, sizeof tile);
        load(tile, &from, 0, 0, &ready);
    }
    __syncthreads();
    wait(&ready, 0);
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
        int row = i % 32, column = i / 32;
        to[i] = tile[row * 32 + ((column / 4 ^ row % 8) * 4 + column % 4)];
    }
}

static __device__ void sum_of(const CUtensorMap* map, float* to) {
    __shared__ alignas(128) float tile[32 * 32];
    __shared__ alignas(8) ulong64 ready;
    __shared__ float sum;
    if (threadIdx.x == 0) {
        sum = 0;
        init(&ready, 1);
        expect(&ready, sizeof tile);
        load(tile, map, 0, 0, &ready);
    }
    __syncthreads();
    wait(&ready, 0);
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) atomicAdd(&sum, tile[i]);
    __syncthreads();
    if (threadIdx.x == 0) *to = sum;
}

__constant__ CUtensorMap constant_map;

extern "C" __global__ void of_constant(float* to) { sum_of(&constant_map, to); }

extern "C" __global__ void of_global(const CUtensorMap* map, float* to) {
    asm volatile("prefetch.tensormap [%0];" :: "l"(map));
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
    sum_of(map, to);
}

// Every block makes a map of its own: that of the parameter, with another address and fewer rows.
extern "C" __global__ void replaced(const __grid_constant__ CUtensorMap from, CUtensorMap* made, const float* tensor,
                                    float* to, int rows) {
    __shared__ alignas(128) ulong64 map[16];
    CUtensorMap* mine = made + blockIdx.x;
    if (threadIdx.x < 16) map[threadIdx.x] = reinterpret_cast<const ulong64*>(&from)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
                     :: "r"(shared_address(map)), "l"(tensor + 32 * blockIdx.x) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;"
                     :: "r"(shared_address(map)), "r"(rows - int(blockIdx.x)) : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
                     " [%0], [%1], 128;" :: "l"(mine), "r"(shared_address(map)) : "memory");
    __syncthreads();
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(mine) : "memory");
    sum_of(mine, to + blockIdx.x);
}

// Each of two blocks loads half a tile for both.
extern "C" __global__ void __cluster_dims__(2, 1, 1) shared_by_two(const __grid_constant__ CUtensorMap from, float* to) {
    __shared__ alignas(128) float tile[32 * 32];
    __shared__ alignas(8) ulong64 ready;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        init(&ready, 1);
        expect(&ready, sizeof tile);
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                     :: "r"(shared_address(tile + 16 * 32 * rank)), "l"(&from), "r"(0), "r"(int(16 * rank)),
                        "r"(shared_address(&ready)), "h"((unsigned short) 3) : "memory");
    wait(&ready, 0);
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) to[32 * 32 * rank + i] = tile[i];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// Add a tile of ones to a tensor.
extern "C" __global__ void increased(const __grid_constant__ CUtensorMap to, int x, int y) {
    __shared__ alignas(128) float tile[32 * 32];
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i] = 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(&to), "r"(x), "r"(y), "r"(shared_address(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Any load of 32 rows of 32 floats, for the faults.
extern "C" __global__ void any_load(const CUtensorMap* map, int x, int y, unsigned offset) {
    extern __shared__ __align__(1024) char memory[];
    ulong64* ready = reinterpret_cast<ulong64*>(memory);
    init(ready, 1);
    expect(ready, 4096);
    load(memory + 1024 + offset, map, x, y, ready);
    wait(ready, 0);
}

extern "C" __global__ void any_store(const CUtensorMap* map, int x, int y, unsigned offset) {
    extern __shared__ __align__(1024) char memory[];
    store(map, x, y, memory + 1024 + offset);
}
