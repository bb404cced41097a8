// Histograms: of bytes with a copy for each warp, of pairs in two dimensions, by weights, an equalised image.
// nvrtc --std=c++17 -lineinfo

extern "C" __global__ void histogram_warps(const uchar4 *in, int n, unsigned *bins)
{
    __shared__ unsigned counts[4][256];
    for (int i = threadIdx.x; i < 4 * 256; i += blockDim.x)
        (&counts[0][0])[i] = 0;
    __syncthreads();
    unsigned *mine = counts[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uchar4 v = in[i];
        atomicAdd(mine + v.x, 1);
        atomicAdd(mine + v.y, 1);
        atomicAdd(mine + v.z, 1);
        atomicAdd(mine + v.w, 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(bins + i, counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i]);
}

// Places in the plane, counted in 16-bit halves of shared words, and summed up with their weights.
extern "C" __global__ void histogram_plane(const float2 *points, const double *weights, int n,
                                           unsigned short *counts, double *sums)
{
    __shared__ unsigned packed[16 * 8];
    __shared__ double weighted[16];
    if (threadIdx.x < 128)
        packed[threadIdx.x] = 0;
    if (threadIdx.x < 16)
        weighted[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int x = min(max((int)floorf(points[i].x * 16), 0), 15);
        int y = min(max((int)floorf(points[i].y * 16), 0), 15);
        atomicAdd(packed + y * 8 + x / 2, 1u << (x % 2 * 16));
        atomicAdd(weighted + x, weights[i]);
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        counts[2 * threadIdx.x] = packed[threadIdx.x] & 0xffff;
        counts[2 * threadIdx.x + 1] = packed[threadIdx.x] >> 16;
    }
    if (threadIdx.x < 16)
        sums[threadIdx.x] = weighted[threadIdx.x];
}

// One block of 256: the histogram, its sums, and the image through the table that they make.
extern "C" __global__ void equalise(const unsigned char *in, unsigned char *out, int n)
{
    __shared__ unsigned counts[256], sums[2][256];
    int t = threadIdx.x;
    counts[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 256)
        atomicAdd(counts + in[i], 1);
    __syncthreads();
    sums[0][t] = counts[t];
    int from = 0;
    for (int d = 1; d < 256; d *= 2, from ^= 1) {
        __syncthreads();
        sums[from ^ 1][t] = sums[from][t] + (t >= d ? sums[from][t - d] : 0);
    }
    __syncthreads();
    counts[t] = (unsigned)((unsigned long long)(sums[from][t] - counts[t] / 2) * 255 / n);
    __syncthreads();
    for (int i = t; i < n; i += 256)
        out[i] = counts[in[i]];
}
