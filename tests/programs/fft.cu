// Transforms: Fourier in floats, the same modulo a prime, cosines of 8×8 blocks.
// nvcc -arch=compute_80

// A block for each row of 256 complex numbers: Stockham's radix-2 FFT between two buffers in shared memory.
extern "C" __global__ void fft(const float2 *in, float2 *out)
{
    const int N = 256;
    __shared__ float2 buffers[2][N];
    float2 *x = buffers[0], *y = buffers[1];
    int t = threadIdx.x;
    x[t] = in[blockIdx.x * N + t];
    x[t + N / 2] = in[blockIdx.x * N + t + N / 2];
    for (int half = N / 2, stride = 1; half >= 1; half /= 2, stride *= 2) {
        __syncthreads();
        int p = t / stride, q = t % stride;
        float sine, cosine;
        sincospif(-(float)p / half, &sine, &cosine);
        float2 a = x[q + stride * p], b = x[q + stride * (p + half)];
        float2 d = make_float2(a.x - b.x, a.y - b.y);
        y[q + stride * 2 * p] = make_float2(a.x + b.x, a.y + b.y);
        y[q + stride * (2 * p + 1)] =
            make_float2(d.x * cosine - d.y * sine, d.x * sine + d.y * cosine);
        float2 *swap = x; x = y; y = swap;
    }
    __syncthreads();
    out[blockIdx.x * N + t] = x[t];
    out[blockIdx.x * N + t + N / 2] = x[t + N / 2];
}

// The transform modulo 998244353 = 119·2^23 + 1, whose primitive root is 3.
const unsigned P = 998244353;

__device__ unsigned multiply(unsigned a, unsigned b)
{
    return (unsigned long long)a * b % P;
}

__device__ unsigned power(unsigned base, unsigned exponent)
{
    unsigned result = 1;
    for (; exponent; exponent >>= 1, base = multiply(base, base))
        if (exponent & 1)
            result = multiply(result, base);
    return result;
}

// Cyclic convolution of two rows of 256 numbers: transform both, multiply, transform back.
__device__ void transform(unsigned *x, unsigned root)
{
    const int N = 256;
    int t = threadIdx.x;
    unsigned a = x[t], b = x[t + N / 2];
    __syncthreads();
    x[__brev(t) >> 24] = a;
    x[__brev(t + N / 2) >> 24] = b;
    for (int half = 1; half < N; half *= 2) {
        __syncthreads();
        int i = 2 * t - (t & (half - 1)), k = t & (half - 1);
        unsigned w = power(root, k * (N / 2 / half));
        unsigned u = x[i], v = multiply(x[i + half], w);
        x[i] = u + v >= P ? u + v - P : u + v;
        x[i + half] = u >= v ? u - v : u + P - v;
    }
    __syncthreads();
}

extern "C" __global__ void convolve_modular(const unsigned *a, const unsigned *b, unsigned *out)
{
    const int N = 256;
    __shared__ unsigned x[N], y[N];
    unsigned root = power(3, (P - 1) / N);
    for (int i = threadIdx.x; i < N; i += N / 2) {
        x[i] = a[i];
        y[i] = b[i];
    }
    __syncthreads();
    transform(x, root);
    transform(y, root);
    for (int i = threadIdx.x; i < N; i += N / 2)
        x[i] = multiply(x[i], y[i]);
    __syncthreads();
    transform(x, power(root, P - 2));
    unsigned scale = power(N, P - 2);
    for (int i = threadIdx.x; i < N; i += N / 2)
        out[i] = multiply(x[i], scale);
}

// Cosine transform of 8×8 blocks, as in JPEG, its table in constant memory and filled by the thread's own
// arithmetic only where it is used.
__constant__ float COSINES[8] = {1.0f,          0.980785280f, 0.923879533f, 0.831469612f,
                                 0.707106781f,  0.555570233f, 0.382683432f, 0.195090322f};

__device__ float cosine(int k)  // of k·π/16
{
    k %= 32;
    float sign = 1;
    if (k > 16)
        k = 32 - k;
    if (k > 8) {
        k = 16 - k;
        sign = -1;
    }
    return k == 8 ? 0 : sign * COSINES[k];
}

extern "C" __global__ void cosine_transform(const unsigned char *image, float *out, int width)
{
    __shared__ float block[8][8], rows[8][9];
    int x = threadIdx.x, y = threadIdx.y;
    int index = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    block[y][x] = image[index] - 128;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += block[y][k] * cosine((2 * k + 1) * x);
    rows[y][x] = sum * (x == 0 ? 0.353553391f : 0.5f);
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += rows[k][x] * cosine((2 * k + 1) * y);
    out[index] = sum * (y == 0 ? 0.353553391f : 0.5f);
}
