// Matrix products by nvcuda::wmma, a warp for each tile: half, bfloat16, tf32, bytes, double.
// nvcc -arch=compute_80

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

// d = a·b + c for matrices of any multiple of the tile; blocks are one warp.
template <int M, int N, int K, typename Input, typename Element, typename Sum, typename LayoutA,
          typename LayoutB>
__device__ void product(const Element *a, const Element *b, const Sum *c, Sum *d, int n, int k)
{
    int row = blockIdx.y * M, column = blockIdx.x * N;
    fragment<matrix_a, M, N, K, Input, LayoutA> left;
    fragment<matrix_b, M, N, K, Input, LayoutB> right;
    fragment<accumulator, M, N, K, Sum> sum;
    load_matrix_sync(sum, c + row * n + column, n, mem_row_major);
    for (int i = 0; i < k; i += K) {
        int lines = gridDim.y * M;
        if constexpr (std::is_same<LayoutA, row_major>::value)
            load_matrix_sync(left, a + row * k + i, k);
        else
            load_matrix_sync(left, a + i * lines + row, lines);
        if constexpr (std::is_same<LayoutB, row_major>::value)
            load_matrix_sync(right, b + i * n + column, n);
        else
            load_matrix_sync(right, b + column * k + i, k);
        if constexpr (std::is_same<Input, precision::tf32>::value) {
            for (auto &x : left.x)
                x = __float_to_tf32(x);
            for (auto &x : right.x)
                x = __float_to_tf32(x);
        }
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(d + row * n + column, sum, n, mem_row_major);
}

extern "C" __global__ void product_half(const half *a, const half *b, const float *c, float *d, int n,
                                        int k)
{
    product<16, 16, 16, half, half, float, row_major, row_major>(a, b, c, d, n, k);
}

// Sums in half precision too, a given by columns.
extern "C" __global__ void product_half_half(const half *a, const half *b, const half *c, half *d,
                                             int n, int k)
{
    product<32, 8, 16, half, half, half, col_major, row_major>(a, b, c, d, n, k);
}

extern "C" __global__ void product_bfloat16(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                            const float *c, float *d, int n, int k)
{
    product<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, col_major>(a, b, c, d, n, k);
}

extern "C" __global__ void product_tf32(const float *a, const float *b, const float *c, float *d, int n,
                                        int k)
{
    product<16, 16, 8, precision::tf32, float, float, row_major, col_major>(a, b, c, d, n, k);
}

extern "C" __global__ void product_bytes(const signed char *a, const signed char *b, const int *c,
                                         int *d, int n, int k)
{
    product<16, 16, 16, signed char, signed char, int, row_major, col_major>(a, b, c, d, n, k);
}

extern "C" __global__ void product_double(const double *a, const double *b, const double *c, double *d,
                                          int n, int k)
{
    product<8, 8, 4, double, double, double, row_major, row_major>(a, b, c, d, n, k);
}
