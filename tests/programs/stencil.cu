// Stencils over tiles in shared memory with halos: heat in 2-D, a wave in 3-D, the game of life.
// nvcc -arch=compute_80

// One step of heat conduction; the edge of the plate keeps its temperature. Blocks of 32×8.
extern "C" __global__ void heat(const float *__restrict__ in, float *__restrict__ out, int width,
                                int height, float rate)
{
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
        int column = min(max(left + i % 34, 0), width - 1);
        int row = min(max(top + i / 34, 0), height - 1);
        tile[i / 34][i % 34] = in[row * width + column];
    }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    float center = tile[i][j];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        center += rate * (tile[i - 1][j] + tile[i + 1][j] + tile[i][j - 1] + tile[i][j + 1] -
                          4 * center);
    out[y * width + x] = center;
}

// One step of the wave equation: a tile of each plane in shared memory, the planes before and behind in
// registers. The outermost two layers are left alone.
extern "C" __global__ void wave(const double *now, const double *before, double *next, int n,
                                double courant)
{
    __shared__ double plane[12][12];
    int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
    int x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
    int column = y * n + x, area = n * n;
    double back[2] = {now[column], now[column + area]};
    double here = now[column + 2 * area];
    double front[2] = {now[column + 3 * area], now[column + 4 * area]};
    for (int z = 2; z < n - 2; z++) {
        __syncthreads();
        plane[ty][tx] = here;
        if (threadIdx.x < 2) {
            plane[ty][threadIdx.x] = now[z * area + column - 2];
            plane[ty][threadIdx.x + 10] = now[z * area + column + 8];
        }
        if (threadIdx.y < 2) {
            plane[threadIdx.y][tx] = now[z * area + column - 2 * n];
            plane[threadIdx.y + 10][tx] = now[z * area + column + 8 * n];
        }
        __syncthreads();
        double near = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] +
                      plane[ty + 1][tx] + back[1] + front[0];
        double far = plane[ty][tx - 2] + plane[ty][tx + 2] + plane[ty - 2][tx] +
                     plane[ty + 2][tx] + back[0] + front[1];
        double laplacian = 4.0 / 3 * near - 1.0 / 12 * far - 7.5 * here;
        int index = z * area + column;
        next[index] = 2 * here - before[index] + courant * laplacian;
        back[0] = back[1];
        back[1] = here;
        here = front[0];
        front[0] = front[1];
        if (z + 3 < n)
            front[1] = now[index + 3 * area];
    }
}

// The game of life on a torus, 32 cells in a word; neighbours are counted in three bit planes.
__device__ void count(unsigned x, unsigned &ones, unsigned &twos, unsigned &fours)
{
    unsigned carry = ones & x;
    ones ^= x;
    unsigned carry2 = twos & carry;
    twos ^= carry;
    fours |= carry2;
}

extern "C" __global__ void life(const unsigned *in, unsigned *out, int words, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words * height)
        return;
    int column = i % words, row = i / words;
    int left = (column + words - 1) % words, right = (column + 1) % words;
    unsigned ones = 0, twos = 0, fours = 0, alive = in[i];
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *line = in + (row + dy + height) % height * words;
        unsigned here = line[column];
        count(__funnelshift_l(line[left], here, 1), ones, twos, fours);
        count(__funnelshift_r(here, line[right], 1), ones, twos, fours);
        if (dy != 0)
            count(here, ones, twos, fours);
    }
    out[i] = twos & ~fours & (ones | alive);
}
