// Moving data: transposition through padded tiles, any permutation of three axes, in place by pairs of tiles.
// nvcc -arch=compute_80

template <typename T>
__device__ void transpose_tile(const T *__restrict__ in, T *__restrict__ out, int width, int height)
{
    __shared__ T tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width)
            out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose_bytes(const unsigned char *in, unsigned char *out, int width,
                                           int height)
{
    transpose_tile(in, out, width, height);
}

extern "C" __global__ void transpose_complex(const double2 *in, double2 *out, int width, int height)
{
    transpose_tile(in, out, width, height);
}

// A square matrix in place: a block takes a tile and its mirror image.
extern "C" __global__ void transpose_square(float *matrix, int n)
{
    __shared__ float one[16][17], other[16][17];
    if (blockIdx.x < blockIdx.y)
        return;
    int x = threadIdx.x, y = threadIdx.y;
    float *here = matrix + (blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x;
    float *there = matrix + (blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x;
    one[y][x] = *here;
    other[y][x] = *there;
    __syncthreads();
    *here = other[x][y];
    *there = one[x][y];
}

struct Permutation {
    int extent[3];
    char axis[3];
};

extern "C" __global__ void permute(const short *in, short *out, Permutation p)
{
    int total = p.extent[0] * p.extent[1] * p.extent[2];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        int rest = i, index[3];
        for (int k = 2; k >= 0; k--) {
            int extent = p.extent[p.axis[k]];
            index[p.axis[k]] = rest % extent;
            rest /= extent;
        }
        out[i] = in[(index[0] * p.extent[1] + index[1]) * p.extent[2] + index[2]];
    }
}
