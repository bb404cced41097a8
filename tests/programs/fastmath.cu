// Single precision as -use_fast_math has it: approximations, and denormals flushed to zero.
// nvcc -arch=compute_80 -use_fast_math

extern "C" __global__ void fast_functions(const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[i], b = y[i], *o = out + 12 * i;
    o[0] = expf(a);
    o[1] = logf(b);
    o[2] = sinf(a);
    o[3] = cosf(a);
    o[4] = a / b;
    o[5] = sqrtf(b);
    o[6] = rsqrtf(b);
    o[7] = powf(b, a);
    o[8] = tanhf(a);
    o[9] = exp10f(a);
    o[10] = log2f(b);
    o[11] = 1.0f / b;
}

// Products at the edge of the denormals, which are zero here.
extern "C" __global__ void flushed(const float *x, const float *y, float *sum, float *product, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    sum[i] = x[i] + y[i];
    product[i] = fmaf(x[i], y[i], 0.0f);
}

// Softmax of rows of any length, a block each: maximum, sum of exponentials, quotient.
extern "C" __global__ void fast_softmax(const float *in, float *out, int columns)
{
    __shared__ float partial[4];
    const float *row = in + blockIdx.x * columns;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        largest = fmaxf(largest, row[i]);
    for (int d = 16; d > 0; d /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
    if (lane == 0)
        partial[warp] = largest;
    __syncthreads();
    largest = fmaxf(fmaxf(partial[0], partial[1]), fmaxf(partial[2], partial[3]));
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(row[i] - largest);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        partial[warp] = sum;
    __syncthreads();
    sum = partial[0] + partial[1] + partial[2] + partial[3];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
}
