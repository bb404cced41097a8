// Small matrices: LU with pivots, Cholesky, QR by Householder, eigenvalues by Jacobi, the exponential.
// nvcc -arch=compute_80

// A block of one warp for each 16×16 matrix; the lane has a column. Solves a·x = b.
extern "C" __global__ void solve_lu(const double *matrices, const double *sides, double *solutions,
                                    double *determinants)
{
    const int N = 16;
    __shared__ double a[N][N + 2];
    __shared__ int pivot;
    int t = threadIdx.x;
    if (t <= N)
        for (int i = 0; i < N; i++)
            a[i][t] = t < N ? matrices[(blockIdx.x * N + i) * N + t] : sides[blockIdx.x * N + i];
    double determinant = 1;
    for (int k = 0; k < N; k++) {
        __syncthreads();
        if (t == 0) {
            pivot = k;
            for (int i = k + 1; i < N; i++)
                if (fabs(a[i][k]) > fabs(a[pivot][k]))
                    pivot = i;
        }
        __syncthreads();
        if (pivot != k && t <= N) {
            double swap = a[k][t];
            a[k][t] = a[pivot][t];
            a[pivot][t] = swap;
            determinant = -determinant;
        }
        __syncthreads();
        determinant *= a[k][k];
        if (t > k && t <= N)
            for (int i = k + 1; i < N; i++)
                a[i][t] -= a[i][k] / a[k][k] * a[k][t];
    }
    __syncthreads();
    if (t != 0)
        return;
    determinants[blockIdx.x] = determinant;
    for (int i = N - 1; i >= 0; i--) {
        double sum = a[i][N];
        for (int j = i + 1; j < N; j++)
            sum -= a[i][j] * a[j][N];
        solutions[blockIdx.x * N + i] = a[i][N] = sum / a[i][i];
    }
}

// Lower factor of a positive definite matrix, a warp each, in single precision.
extern "C" __global__ void cholesky(const float *matrices, float *factors)
{
    const int N = 16;
    __shared__ float a[N][N + 1];
    int t = threadIdx.x;
    const float *in = matrices + blockIdx.x * N * N;
    for (int i = t; i < N * N; i += 32)
        a[i / N][i % N] = in[i];
    __syncwarp();
    for (int k = 0; k < N; k++) {
        float root = sqrtf(a[k][k]);
        __syncwarp();
        if (t >= k && t < N)
            a[t][k] = t == k ? root : a[t][k] / root;
        __syncwarp();
        if (t > k && t < N)
            for (int j = k + 1; j <= t; j++)
                a[t][j] -= a[t][k] * a[j][k];
        __syncwarp();
    }
    for (int i = t; i < N * N; i += 32)
        factors[blockIdx.x * N * N + i] = i % N <= i / N ? a[i / N][i % N] : 0;
}

// Symmetric 4×4 matrices in registers and local memory, a thread each: eigenvalues, ascending.
extern "C" __global__ void eigenvalues(const double *matrices, double *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a[4][4];
    for (int k = 0; k < 16; k++)
        a[k / 4][k % 4] = matrices[16 * i + k];
#pragma unroll 1
    for (int sweep = 0; sweep < 8; sweep++)
#pragma unroll 1
        for (int p = 0; p < 3; p++)
#pragma unroll 1
            for (int q = p + 1; q < 4; q++) {
                if (a[p][q] == 0)
                    continue;
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = rsqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 4; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 4; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
            }
    double sorted[4];
    for (int k = 0; k < 4; k++) {
        int place = k;
        for (; place > 0 && sorted[place - 1] > a[k][k]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = a[k][k];
    }
    for (int k = 0; k < 4; k++)
        values[4 * i + k] = sorted[k];
}

// Householder's QR of a 32×8 matrix by a warp: the lane has a row; sums over lanes by shuffles.
__device__ float sum_lanes(float x)
{
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_xor_sync(~0u, x, d);
    return x;
}

extern "C" __global__ void triangle_qr(const float *matrices, float *triangles)
{
    int lane = threadIdx.x;
    float row[8];
    for (int j = 0; j < 8; j++)
        row[j] = matrices[(blockIdx.x * 32 + lane) * 8 + j];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float x = lane >= k ? row[k] : 0, norm = sqrtf(sum_lanes(x * x));
        float first = __shfl_sync(~0u, x, k), alpha = first > 0 ? -norm : norm;
        float v = lane == k ? x - alpha : x, length = sum_lanes(v * v);
#pragma unroll
        for (int j = k; j < 8; j++) {
            float share = 2 * sum_lanes(v * row[j]) / length;
            row[j] -= share * v;
        }
    }
    if (lane < 8)
        for (int j = 0; j < 8; j++)
            triangles[(blockIdx.x * 8 + lane) * 8 + j] = j >= lane ? row[j] : 0;
}
