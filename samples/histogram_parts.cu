// A histogram in two kernels: a part for each block, then their sum.
extern "C" __global__ void count_parts(const unsigned char* data, int n, unsigned int* parts)
{
    __shared__ unsigned int bins[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
        parts[256 * blockIdx.x + bin] = bins[bin];
}

extern "C" __global__ void add_parts(const unsigned int* parts, int count, unsigned int* bins)
{
    unsigned int sum = 0;
    for (int part = 0; part < count; part++) sum += parts[256 * part + threadIdx.x];
    bins[threadIdx.x] = sum;
}
