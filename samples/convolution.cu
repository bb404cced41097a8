// A separable convolution with filters in constant memory: one kernel for the rows, one for the
// columns. Outside of the image are zeros.

enum { RADIUS = 2 };

__constant__ float row_filter[2 * RADIUS + 1];
__constant__ float column_filter[2 * RADIUS + 1];

extern "C" __global__ void convolve_rows(const float* in, float* out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; ++i)
        if (0 <= x + i && x + i < width)
            sum += row_filter[i + RADIUS] * in[y * width + x + i];
    out[y * width + x] = sum;
}

extern "C" __global__ void convolve_columns(const float* in, float* out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; ++i)
        if (0 <= y + i && y + i < height)
            sum += column_filter[i + RADIUS] * in[(y + i) * width + x];
    out[y * width + x] = sum;
}
