#include "flash_fwd_launch_template.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
namespace F = FLASH_NAMESPACE;
#ifndef DIM
#define DIM 64
#endif
#ifndef CAUSAL
#define CAUSAL false
#endif
int main() {
    const int B = 1, H = 2, S = 128, D = DIM;
    using T = cutlass::half_t;
    size_t n = (size_t)B * S * H * D;
    std::vector<T> h(n);
    std::mt19937 g(1);
    std::normal_distribution<float> d;
    void *q, *k, *v, *o;
    float *lse;
    void **all[3] = {&q, &k, &v};
    for (auto p : all) {
        cudaMalloc(p, n * 2);
        for (auto &x : h)
            x = T(d(g));
        cudaMemcpy(*p, h.data(), n * 2, cudaMemcpyHostToDevice);
    }
    cudaMalloc(&o, n * 2);
    cudaMalloc((void **)&lse, B * H * S * 4);
    F::Flash_fwd_params p;
    memset(&p, 0, sizeof p);
    p.q_ptr = q;
    p.k_ptr = k;
    p.v_ptr = v;
    p.o_ptr = o;
    p.softmax_lse_ptr = lse;
    p.q_batch_stride = p.k_batch_stride = p.v_batch_stride = p.o_batch_stride = (int64_t)S * H * D;
    p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = H * D;
    p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = D;
    p.h = p.h_k = H;
    p.h_h_k_ratio = 1;
    p.b = B;
    p.seqlen_q = p.seqlen_k = S;
    p.d = D;
    p.seqlen_q_rounded = p.seqlen_k_rounded = S;
    p.d_rounded = D;
    p.scale_softmax = 1.f / sqrtf(D);
    p.scale_softmax_log2 = p.scale_softmax * 1.4426950408889634f;
    p.p_dropout = 1.f;
    p.p_dropout_in_uint8_t = 255;
    p.rp_dropout = 1.f;
    p.scale_softmax_rp_dropout = p.scale_softmax;
    p.window_size_left = -1;
    p.window_size_right = CAUSAL ? 0 : -1;
    p.is_causal = CAUSAL;
    p.is_seqlens_k_cumulative = true;
    p.num_splits = 1;
#if DIM == 64
    F::run_mha_fwd_hdim64<T, CAUSAL>(p, 0);
#else
    F::run_mha_fwd_hdim128<T, CAUSAL>(p, 0);
#endif
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
