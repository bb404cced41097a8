// Arithmetic in half and bfloat16, single and in pairs: polynomials, norms, comparisons, functions, atomics.
// nvcc -arch=compute_80

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Horner's rule in pairs, fused and not, with saturation at the end.
extern "C" __global__ void polynomial_half(const half2 *x, half2 *fused, half2 *apart, half2 *clamped,
                                           int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    half2 v = x[i], sum = __float2half2_rn(0.25f), other = sum;
    for (float c : {-1.5f, 0.75f, 2.0f, -0.125f}) {
        half2 next = __float2half2_rn(c);
        sum = __hfma2(sum, v, next);
        other = __hadd2_rn(__hmul2_rn(other, v), next);
    }
    fused[i] = sum;
    apart[i] = other;
    clamped[i] = __hfma2_sat(v, v, __hneg2(sum));
}

extern "C" __global__ void polynomial_bfloat16(const __nv_bfloat162 *x, __nv_bfloat162 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat162 sum = __float2bfloat162_rn(0.25f);
    for (float c : {-1.5f, 0.75f, 2.0f, -0.125f})
        sum = __hfma2(sum, x[i], __float2bfloat162_rn(c));
    out[i] = sum;
}

// What scalar operators give: + - * /, comparisons with NaN, min and max, absolute values, integers.
extern "C" __global__ void operate_half(const half *x, const half *y, half *out, int *flags, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    half a = x[i], b = y[i];
    half *o = out + 8 * i;
    o[0] = a + b;
    o[1] = a - b;
    o[2] = a * b;
    o[3] = a / b;
    o[4] = __hmin(a, b);
    o[5] = __hmax_nan(a, b);
    o[6] = __habs(a);
    o[7] = __hmul_sat(a, b);
    flags[i] = (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | __hltu(a, b) << 4 |
               __hisnan(a) << 5 | (__hisinf(b) != 0) << 6 | (__half2int_rz(a) & 255) << 8 |
               (__half2short_rn(b) & 0xffff) << 16;
}

// The same in bfloat16, through conversions where the device has no instruction.
extern "C" __global__ void operate_bfloat16(const __nv_bfloat16 *x, const __nv_bfloat16 *y,
                                            __nv_bfloat16 *out, float *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 a = x[i], b = y[i], *o = out + 8 * i;
    o[0] = a + b;
    o[1] = a - b;
    o[2] = a * b;
    o[3] = a / b;
    o[4] = __hmin(a, b);
    o[5] = __hmax_nan(a, b);
    o[6] = __hfma_relu(a, b, a);
    o[7] = __float2bfloat16_rz(__bfloat162float(a) * 1.0001f);
    wide[i] = __bfloat162float(a) + __low2float(__halves2bfloat162(b, a));
}

// Functions of half precision, by single precision and rounded.
extern "C" __global__ void functions_half(const half *x, half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    half a = x[i], *o = out + 8 * i;
    o[0] = hsqrt(a);
    o[1] = hrsqrt(a);
    o[2] = hexp(a);
    o[3] = hlog(a);
    o[4] = hsin(a);
    o[5] = hrcp(a);
    o[6] = hrint(a);
    o[7] = hfloor(__hneg(a));
}

// Squared norm of rows: pairs, then the warp by shuffles of half2, then atomics on half2.
extern "C" __global__ void norm_half(const half2 *x, half2 *sums, int pairs)
{
    int row = blockIdx.x;
    half2 sum = __float2half2_rn(0);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x)
        sum = __hfma2(x[row * pairs + i], x[row * pairs + i], sum);
    for (int d = 16; d > 0; d /= 2)
        sum = __hadd2(sum, __shfl_down_sync(0xffffffff, sum, d));
    if (threadIdx.x % 32 == 0)
        atomicAdd(sums + row, sum);
}
