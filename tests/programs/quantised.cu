// Sums of products of bytes: a convolution and a matrix product by dp4a, dp2a, and the SIMD video intrinsics.
// nvcc -arch=compute_80

// 3×3 convolution over 4 channels: a pixel is a word. Output is shifted, rounded and clamped to bytes.
extern "C" __global__ void convolve(const int *image, const int *weights, unsigned char *out, int width,
                                    int height, int shift)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width - 2 || y >= height - 2)
        return;
    int sum = 1 << (shift - 1);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            sum = __dp4a(image[(y + j) * width + x + i], weights[3 * j + i], sum);
    out[y * (width - 2) + x] = min(max(sum >> shift, 0), 255);
}

extern "C" __global__ void multiply_words(const short2 *a, const char4 *b, const unsigned *c,
                                          const unsigned *d, int *low, int *high, unsigned *bytes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    low[i] = __dp2a_lo(a[i], b[i], i);
    high[i] = __dp2a_hi(a[i], b[i], -i);
    bytes[i] = __dp4a(c[i], d[i], 0u) ^ __dp2a_lo(c[i], d[i], 5u);
}

extern "C" __global__ void video(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], *o = out + 12 * i;
    o[0] = __vadd4(x, y);
    o[1] = __vsubss4(x, y);
    o[2] = __vabsdiffu4(x, y);
    o[3] = __vmaxs2(x, y);
    o[4] = __vsads4(x, y);
    o[5] = __vcmpgtu4(x, y);
    o[6] = __vavgu4(x, y);
    o[7] = __vaddus2(x, y);
    o[8] = __viaddmax_s32(x, y, 7);
    o[9] = __vimin3_u16x2(x, y, 0x12345678);
    o[10] = __sad(x, y, 3);
    o[11] = __vseteq4(x, y ^ (x & 0xff));
}
