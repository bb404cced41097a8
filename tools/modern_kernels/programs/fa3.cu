#include "flash_fwd_launch_template.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#ifndef DIM
#define DIM 64
#endif
#ifndef CAUSAL
#define CAUSAL false
#endif
#ifndef ELEMENT
#define ELEMENT cutlass::half_t
#endif
int main() {
    const int B = 1, H = 2, S = 256, D = DIM;
    using T = ELEMENT;
    size_t n = (size_t)B * S * H * D;
    std::vector<T> h(n);
    std::mt19937 g(1);
    std::normal_distribution<float> d;
    void *q, *k, *v, *o;
    float *lse;
    int *sem;
    void **all[3] = {&q, &k, &v};
    for (auto p : all) {
        cudaMalloc(p, n * sizeof(T));
        for (auto &x : h)
            x = T(d(g));
        cudaMemcpy(*p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&o, n * 2);
    cudaMalloc((void **)&lse, B * H * S * 4);
    cudaMalloc((void **)&sem, 4);
    cudaMemset(sem, 0, 4);
    Flash_fwd_params p;
    memset(&p, 0, sizeof p);
    p.q_ptr = q;
    p.k_ptr = k;
    p.v_ptr = v;
    p.o_ptr = o;
    p.softmax_lse_ptr = lse;
    p.q_batch_stride = p.k_batch_stride = p.v_batch_stride = p.o_batch_stride = (int64_t)S * H * D;
    p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = H * D;
    p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = D;
    p.v_dim_stride = 1;
    p.h = p.h_k = H;
    p.b = p.b_k = B;
    p.seqlen_q = p.seqlen_k = S;
    p.d = p.dv = D;
    p.seqlen_q_rounded = p.seqlen_k_rounded = S;
    p.d_rounded = p.dv_rounded = D;
    p.scale_softmax = 1.f / sqrtf(D);
    p.p_dropout = 1.f;
    p.p_dropout_in_uint8_t = 255;
    p.rp_dropout = 1.f;
    p.window_size_left = -1;
    p.window_size_right = CAUSAL ? 0 : -1;
    p.is_causal = CAUSAL;
    p.num_splits = 1;
    p.tile_count_semaphore = sem;
    p.arch = 90;
    p.num_sm = 8;
    p.skip_scheduler_metadata_computation = true;
    run_mha_fwd_<90, T, DIM, DIM, false, false, false, false>(p, 0);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
