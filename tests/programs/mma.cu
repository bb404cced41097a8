// Matrix products by mma.sync, ldmatrix and cp.async in inline PTX.
// nvcc -arch=compute_80

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void load_four(unsigned (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)));
}

__device__ void load_two_transposed(unsigned (&r)[2], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(shared_address(p)));
}

__device__ void multiply_half(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// c = a·b, a block of four warps for each 32×32 of it; two stages of tiles come by cp.async.
extern "C" __global__ void __launch_bounds__(128)
    product_pipelined(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half left[2][32][40], right[2][32][40];  // padded against bank conflicts
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row = blockIdx.y * 32, column = blockIdx.x * 32;

    auto fetch = [&](int stage, int from) {
        int line = t / 4, part = t % 4 * 8;
        __pipeline_memcpy_async(&left[stage][line][part], a + (row + line) * k + from + part, 16);
        __pipeline_memcpy_async(&right[stage][line][part], b + (from + line) * n + column + part, 16);
        __pipeline_commit();
    };

    float sums[2][4] = {};
    int y = warp / 2 * 16, x = warp % 2 * 16;
    fetch(0, 0);
    for (int from = 0, stage = 0; from < k; from += 32, stage ^= 1) {
        if (from + 32 < k) {
            fetch(stage ^ 1, from + 32);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int inner = 0; inner < 32; inner += 16) {
            unsigned fragment[4];
            load_four(fragment, &left[stage][y + lane % 16][inner + lane / 16 * 8]);
            for (int part = 0; part < 2; part++) {
                unsigned other[2];
                load_two_transposed(other, &right[stage][inner + lane % 16][x + 8 * part]);
                multiply_half(sums[part], fragment, other);
            }
        }
        __syncthreads();
    }
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 4; i++) {
            int line = row + y + lane / 4 + i / 2 * 8;
            c[line * n + column + x + 8 * part + lane % 4 * 2 + i % 2] = sums[part][i];
        }
}

// One warp: 16×8 tiles of bytes, k a multiple of 32; b is given by columns.
extern "C" __global__ void product_bytes(const unsigned *a, const unsigned *b, int2 *c, int k)
{
    int group = threadIdx.x / 4, in_group = threadIdx.x % 4, words = k / 4;
    int d[4] = {};
    for (int i = 0; i < words; i += 8) {
        unsigned a0 = a[group * words + i + in_group], a1 = a[(group + 8) * words + i + in_group];
        unsigned a2 = a[group * words + i + in_group + 4];
        unsigned a3 = a[(group + 8) * words + i + in_group + 4];
        unsigned b0 = b[group * words + i + in_group], b1 = b[group * words + i + in_group + 4];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    c[group * 4 + in_group] = make_int2(d[0], d[1]);
    c[(group + 8) * 4 + in_group] = make_int2(d[2], d[3]);
}

// One warp: Gram matrix aᵀ·a of a 64×8 matrix in double precision, by m8n8k4.
extern "C" __global__ void gram_double(const double *a, double2 *c)
{
    int group = threadIdx.x / 4, in_group = threadIdx.x % 4;
    double d0 = 0, d1 = 0;
    for (int i = 0; i < 64; i += 4) {
        double x = a[(i + in_group) * 8 + group];
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d0), "+d"(d1) : "d"(x), "d"(x));
    }
    c[group * 4 + in_group] = make_double2(d0, d1);
}

// One warp: a 16×8 tile with tf32 inputs (converted by cvt.rna) and with bfloat16.
extern "C" __global__ void product_narrow(const float *a, const float *b, float *tf32, float *bf16)
{
    int group = threadIdx.x / 4, in_group = threadIdx.x % 4;
    auto round = [](float x) {
        unsigned r;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
        return r;
    };
    auto pair = [](float low, float high) {
        unsigned r;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
        return r;
    };
    float d[4] = {}, e[4] = {};  // a is 16×8, b 8×8 by columns
    const float *top = a + group * 8, *bottom = a + (group + 8) * 8, *right = b + group * 8;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(round(top[in_group])), "r"(round(bottom[in_group])),
                   "r"(round(top[in_group + 4])), "r"(round(bottom[in_group + 4])),
                   "r"(round(right[in_group])), "r"(round(right[in_group + 4])));
    int i = 2 * in_group;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                 : "r"(pair(top[i], top[i + 1])), "r"(pair(bottom[i], bottom[i + 1])),
                   "r"(pair(right[i], right[i + 1])));
    for (int k = 0; k < 4; k++) {
        int at = (group + k / 2 * 8) * 8 + i + k % 2;
        tf32[at] = d[k];
        bf16[at] = e[k];
    }
}
