// Uninitialized reads, each with a correct version of the same kernel. Kernels whose names end
// in `_unset` are FAULTY ON PURPOSE.

// --- shared memory: the halo of the first and the last block is missing -------------------------------

extern "C" __global__ void smooth_unset(const float* x, float* y, int n) {
    __shared__ float tile[66];
    const int i = blockIdx.x * 64 + threadIdx.x, place = threadIdx.x + 1;
    tile[place] = x[i];
    if (threadIdx.x == 0 && i > 0) tile[0] = x[i - 1];
    if (threadIdx.x == 63 && i < n - 1) tile[65] = x[i + 1];
    __syncthreads();
    y[i] = (tile[place - 1] + tile[place] + tile[place + 1]) / 3.0f;
}

extern "C" __global__ void smooth(const float* x, float* y, int n) {
    __shared__ float tile[66];
    const int i = blockIdx.x * 64 + threadIdx.x, place = threadIdx.x + 1;
    tile[place] = x[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : x[i];
    if (threadIdx.x == 63) tile[65] = i < n - 1 ? x[i + 1] : x[i];
    __syncthreads();
    y[i] = (tile[place - 1] + tile[place] + tile[place + 1]) / 3.0f;
}

// --- global memory: the kernel adds to an uninitialized buffer -----------------------------------------

// The launch decides whether it is correct: y must have an initializer.

extern "C" __global__ void add_to(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

// --- local memory: one entry of a table is not initialized -----------------------------------------------

// `shift` is not known at compile time, so the table is in memory and not in registers.

extern "C" __global__ void rotate_unset(int* y, int shift) {
    int table[8];
    for (int k = 0; k < 7; ++k) table[(k + shift) % 8] = k * k;
    y[threadIdx.x] = table[threadIdx.x % 8];
}

extern "C" __global__ void rotate(int* y, int shift) {
    int table[8];
    for (int k = 0; k < 8; ++k) table[(k + shift) % 8] = k * k;
    y[threadIdx.x] = table[threadIdx.x % 8];
}

// --- a register: the sum does not begin with 0 ------------------------------------------------------------

extern "C" __global__ void column_sums_unset(const float* x, float* y, int rows) {
    float sum;
    for (int row = 0; row < rows; ++row) sum += x[row * blockDim.x + threadIdx.x];
    y[threadIdx.x] = sum;
}

extern "C" __global__ void column_sums(const float* x, float* y, int rows) {
    float sum = 0;
    for (int row = 0; row < rows; ++row) sum += x[row * blockDim.x + threadIdx.x];
    y[threadIdx.x] = sum;
}
