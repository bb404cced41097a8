// Copies of one box by a tensor map to shared memory, and of its bytes to `out`. `fetch.ptx` beside it is what nvcc 13.0
// gave for it: nvcc -ptx -arch=sm_90 fetch.cu, then `.version 8.0`.

struct __align__(64) CUtensorMap { unsigned long long opaque[16]; };
struct Wrapped { int n; CUtensorMap map; float scale; };
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
#define KERNEL(NAME, PARAMETER, MAP, INSTRUCTION, COORDINATES, ...) \
extern "C" __global__ void NAME(const __grid_constant__ PARAMETER m, unsigned char* out, int bytes, int a, int b, int c, int d, int e) { \
    extern __shared__ __align__(1024) unsigned char tile[]; \
    __shared__ __align__(8) unsigned long long full; \
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = 0xAB; \
    if (threadIdx.x == 0) { \
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&full)) : "memory"); \
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); } \
    asm volatile("fence.proxy.async;" ::: "memory"); \
    __syncthreads(); \
    if (threadIdx.x == 0) { \
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&full)), "r"(bytes) : "memory"); \
        asm volatile(INSTRUCTION " [%0], [%1, " COORDINATES ::"r"(at(tile)), "l"(MAP), "r"(at(&full)), __VA_ARGS__ : "memory"); } \
    unsigned done = 0; \
    while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&full)) : "memory"); \
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i]; \
}
#define TILE(N) "cp.async.bulk.tensor." N "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
#define IM2COL(N) "cp.async.bulk.tensor." N "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
KERNEL(fetch1, CUtensorMap, &m, TILE("1"), "{%3}], [%2];", "r"(a))
KERNEL(fetch2, CUtensorMap, &m, TILE("2"), "{%3, %4}], [%2];", "r"(a), "r"(b))
KERNEL(fetch3, CUtensorMap, &m, TILE("3"), "{%3, %4, %5}], [%2];", "r"(a), "r"(b), "r"(c))
KERNEL(fetch4, CUtensorMap, &m, TILE("4"), "{%3, %4, %5, %6}], [%2];", "r"(a), "r"(b), "r"(c), "r"(d))
KERNEL(fetch5, CUtensorMap, &m, TILE("5"), "{%3, %4, %5, %6, %7}], [%2];", "r"(a), "r"(b), "r"(c), "r"(d), "r"(e))
KERNEL(columns4, CUtensorMap, &m, IM2COL("4"), "{%3, %4, %5, %6}], [%2], {1, 2};", "r"(a), "r"(b), "r"(c), "r"(d))
KERNEL(wrapped, Wrapped, &m.map, TILE("2"), "{%3, %4}], [%2];", "r"(a), "r"(b))
// The map itself without its address: 120 bytes, and the misalignment of the parameter.
extern "C" __global__ void dump(const __grid_constant__ CUtensorMap m, unsigned char* out) {
    out[threadIdx.x] = threadIdx.x < 8 ? (unsigned char)((unsigned long long)&m % 64) : ((const unsigned char*)&m)[threadIdx.x];
}
