// Matrix products of warpgroups in inline PTX, as libraries write them. Beside it is what nvcc 13.0
// gave for it: nvcc -ptx -std=c++17 -arch=sm_90a warpgroups.cu, with the `.version` set to 8.8.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int TILE = 64;     // rows, columns, and elements along k, of a tile of halves: 8 KiB
constexpr int STAGES = 3;

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

// A tile whose lines have 128 bytes, swizzled: eight lines are 1,024 bytes.
__device__ uint64_t descriptor(const void* p, uint32_t leading, uint32_t stride) {
    uint64_t start = (shared_address(p) & 0x3FFFF) >> 4;
    return start | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 62;
}

__device__ int swizzled(int line, int element) {
    int byte = line * 128 + element * 2;
    return (byte ^ (byte >> 7 & 7) << 4) / 2;
}

// Columns of B are lines of their own (imm-trans-b 0), or lie across (1).
template <int transposed>
__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int scale) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1, 0, %35;\n}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
          "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
          "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "r"(scale), "n"(transposed));
}

__device__ void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void finish() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

__device__ void store(const float (&d)[32], float* c, int n) {
    int lane = threadIdx.x % 128, row = lane / 32 * 16 + lane % 32 / 4, column = lane % 4 * 2;
    for (int i = 0; i < 32; ++i)
        c[(row + 8 * (i / 2 % 2)) * n + column + i / 4 * 8 + i % 2] = d[i];
}

// c = a·b, two warpgroups: each has 64 rows of a block's 128, and all read one tile of b.
extern "C" __global__ void __launch_bounds__(256)
product(const half* a, const half* b, float* c, int n, int k) {
    extern __shared__ __align__(1024) half room[];
    int group = threadIdx.x / 128;
    half *left = room, *right = room + 2 * TILE * TILE;
    a += blockIdx.y * 2 * TILE * k;
    b += blockIdx.x * TILE;
    float d[32];
    for (int start = 0; start < k; start += TILE) {
        for (int i = threadIdx.x; i < 2 * TILE * TILE; i += 256)
            left[swizzled(i / TILE, i % TILE)] = a[i / TILE * k + start + i % TILE];
        for (int i = threadIdx.x; i < TILE * TILE; i += 256)
            right[swizzled(i / TILE, i % TILE)] = b[(start + i / TILE) * n + i % TILE];
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        begin();
        for (int step = 0; step < TILE; step += 16)
            multiply<1>(d, descriptor(left + group * TILE * TILE + step, 16, 1024),
                        descriptor(right + step * TILE, 8192, 1024), start + step > 0);
        finish();
        __syncthreads();
    }
    store(d, c + (blockIdx.y * 2 + group) * TILE * n + blockIdx.x * TILE, n);
}

__device__ void wait(uint64_t* bar, int parity) {
    asm volatile(
        "{\n.reg .pred p;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}\n"
        :: "r"(shared_address(bar)), "r"(parity) : "memory");
}

__device__ void arrive(uint64_t* bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(bar)) : "memory");
}

// c = a·bᵀ: one warpgroup brings tiles, two multiply; one thread of each gives a stage back.
extern "C" __global__ void __launch_bounds__(384)
specialised(const half* a, const half* b, float* c, int n, int k) {
    extern __shared__ __align__(1024) half room[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; ++i) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(&full[i])), "r"(128));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(shared_address(&empty[i])), "r"(2));
        }
    __syncthreads();
    int group = threadIdx.x / 128, lane = threadIdx.x % 128;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        for (int tile = 0; tile * TILE < k; ++tile) {
            int stage = tile % STAGES, round = tile / STAGES;
            half* left = room + stage * 3 * TILE * TILE;
            half* right = left + 2 * TILE * TILE;
            wait(&empty[stage], round & 1 ^ 1);
            for (int i = lane; i < 2 * TILE * TILE; i += 128)
                left[swizzled(i / TILE, i % TILE)] = a[(blockIdx.y * 2 * TILE + i / TILE) * k + tile * TILE + i % TILE];
            for (int i = lane; i < TILE * TILE; i += 128)
                right[swizzled(i / TILE, i % TILE)] = b[(blockIdx.x * TILE + i / TILE) * k + tile * TILE + i % TILE];
            asm volatile("fence.proxy.async;" ::: "memory");
            arrive(&full[stage]);
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
    float d[32];
    for (int i = 0; i < 32; ++i) d[i] = 0;
    for (int tile = 0; tile * TILE < k; ++tile) {
        int stage = tile % STAGES, round = tile / STAGES;
        half* left = room + stage * 3 * TILE * TILE + (group - 1) * TILE * TILE;
        half* right = room + stage * 3 * TILE * TILE + 2 * TILE * TILE;
        wait(&full[stage], round & 1);
        begin();
        for (int step = 0; step < TILE; step += 16)
            multiply<0>(d, descriptor(left + step, 16, 1024), descriptor(right + step, 16, 1024), 1);
        finish();
        if (lane == 0) arrive(&empty[stage]);
    }
    store(d, c + (blockIdx.y * 2 + group - 1) * TILE * n + blockIdx.x * TILE, n);
}
