// y = softmax of each row of x (rows by columns): one block per row.
//
// exp() of a large number overflows, so the row's maximum is subtracted first. Finding it would need
// a separate pass; the online algorithm keeps a running maximum and rescales the running sum when
// the maximum grows, so that x is read twice instead of three times.
//
// The block must be a multiple of 32 threads, at most 1024.

#define WARP 32
#define MINUS_INFINITY __int_as_float(0xff800000)

struct Partial {
    float max;  // of the elements seen
    float sum;  // of exp(element - max)
};

__device__ Partial make_partial(float max, float sum) {
    Partial partial;
    partial.max = max;
    partial.sum = sum;
    return partial;
}

__device__ Partial nothing() {
    return make_partial(MINUS_INFINITY, 0.0f);
}

__device__ Partial merge(Partial a, Partial b) {
    float max = fmaxf(a.max, b.max);
    // If one side has no element, exp(-inf - max) is 0. If both have none, the difference
    // would be NaN.
    if (max == MINUS_INFINITY) {
        return nothing();
    }
    return make_partial(max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max));
}

__device__ Partial merge_warp(Partial mine) {
    // The butterfly pattern leaves the result in every lane.
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
        float max = __shfl_xor_sync(0xffffffffu, mine.max, mask);
        float sum = __shfl_xor_sync(0xffffffffu, mine.sum, mask);
        mine = merge(mine, make_partial(max, sum));
    }
    return mine;
}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int columns) {
    __shared__ Partial partials[32];

    int row = blockIdx.x;
    if (row >= rows) {
        return;  // the whole block returns, so no thread misses a barrier
    }
    x += static_cast<size_t>(row) * columns;
    y += static_cast<size_t>(row) * columns;

    Partial mine = nothing();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        mine = merge(mine, make_partial(x[i], 1.0f));
    }

    int lane = threadIdx.x % WARP;
    int warp = threadIdx.x / WARP;
    mine = merge_warp(mine);
    if (lane == 0) {
        partials[warp] = mine;
    }
    __syncthreads();

    // Every warp merges the results of all warps, which saves a second barrier.
    int warps = blockDim.x / WARP;
    Partial whole = merge_warp(lane < warps ? partials[lane] : nothing());

    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        y[i] = expf(x[i] - whole.max) / whole.sum;
    }
}
