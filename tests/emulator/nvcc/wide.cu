// What the compiler makes of atomics on vectors and on 128 bits, and of comparisons of pairs.
// `wide.ptx` beside it is what nvcc 13.0 gave for it: nvcc -ptx -arch=sm_90 wide.cu
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct __align__(16) Pair {
    unsigned long long first, second;
};

extern "C" __global__ void vectors(float4 *four, float2 *two, float2 *old)
{
    atomicAdd(four, make_float4(1, 2, 3, 4));
    old[threadIdx.x] = atomicAdd(two, make_float2(1, -1));
}

extern "C" __global__ void masks(unsigned *out, const __half2 *a, const __nv_bfloat162 *b)
{
    int i = threadIdx.x;
    out[2 * i] = __hlt2_mask(a[i], a[i ^ 1]);
    out[2 * i + 1] = __hne2_mask(b[i], b[i ^ 1]);
}

extern "C" __global__ void pairs(Pair *lock, Pair *last, Pair *out)
{
    Pair mine = {threadIdx.x + 1, 7};
    Pair seen = atomicCAS(lock, Pair{0, 0}, mine);
    out[2 * threadIdx.x] = seen;
    out[2 * threadIdx.x + 1] = atomicExch(last, mine);
}
