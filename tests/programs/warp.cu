// Warp intrinsics: shuffles of all kinds and widths, votes, match, reduce, under divergence too.
// nvcc -arch=compute_80

extern "C" __global__ void shuffle(const double *in, double *out, int *lanes)
{
    int lane = threadIdx.x, at = 4 * lane;
    double value = in[lane];
    out[at] = __shfl_sync(~0u, value, lane * 7 + 3);
    out[at + 1] = __shfl_up_sync(~0u, value, 3, 8);
    out[at + 2] = __shfl_down_sync(~0u, value, 5, 16);
    out[at + 3] = __shfl_xor_sync(~0u, value, 9);
    // Half of the warp among itself, the others with another pattern.
    if (lane % 2)
        lanes[lane] = __shfl_sync(0xaaaaaaaa, lane, lane ^ 2);
    else
        lanes[lane] = __shfl_sync(0x55555555, lane, (lane + 2) % 32) + 100;
}

extern "C" __global__ void vote(const int *in, uint4 *ballots, int4 *answers, uint2 *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = in[i];
    unsigned mask = __ballot_sync(~0u, value != 0), same, equal;
    int alike;
    same = __match_any_sync(~0u, value % 5);
    equal = __match_all_sync(~0u, value >> 20, &alike);
    ballots[i] = make_uint4(mask, same, equal, __match_any_sync(~0u, (long long)value * value));
    answers[i] = make_int4(__all_sync(~0u, value >= 0), __any_sync(~0u, value > 90), alike,
                           __popc(__activemask()));
    unsigned third = __match_any_sync(~0u, value % 3);
    if (value % 3 == 0) {
        sums[i].x = __reduce_add_sync(third, value);
        sums[i].y = __reduce_min_sync(third, value) ^ __reduce_or_sync(third, value << 8);
    } else {
        sums[i].x = __reduce_max_sync(third, value);
        sums[i].y = __reduce_and_sync(third, value) ^ __reduce_xor_sync(third, value << 8);
    }
}

// Elements equal to their left neighbour are dropped, per warp and then over the block: stream compaction.
extern "C" __global__ void unique(const int *in, int n, int *out, int *count)
{
    __shared__ int starts[33];
    int i = threadIdx.x, lane = i % 32, warp = i / 32;
    bool keep = i < n && (i == 0 || in[i] != in[i - 1]);
    unsigned kept = __ballot_sync(~0u, keep);
    if (lane == 0)
        starts[warp + 1] = __popc(kept);
    __syncthreads();
    if (i == 0) {
        starts[0] = 0;
        for (int k = 1; k <= blockDim.x / 32; k++)
            starts[k] += starts[k - 1];
        *count = starts[blockDim.x / 32];
    }
    __syncthreads();
    if (keep)
        out[starts[warp] + __popc(kept & ((1u << lane) - 1))] = in[i];
}
