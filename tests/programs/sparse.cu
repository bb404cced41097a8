// Sparse matrices: products with a vector by rows (CSR, a warp each) and by entries (COO, atomics), and the
// method of conjugate gradients in one cooperative launch.
// nvcc -arch=compute_80

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void multiply_rows(const int *__restrict__ starts, const int *__restrict__ columns,
                                         const float *__restrict__ values,
                                         const float *__restrict__ x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        sum = fmaf(values[i], x[columns[i]], sum);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

struct Entry {
    int row, column;
    double value;
};

extern "C" __global__ void multiply_entries(const Entry *entries, int n, const double *x, double *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Entry entry = entries[i];
        atomicAdd(y + entry.row, entry.value * x[entry.column]);
    }
}

// Poisson's equation on a line: 2 on the diagonal, -1 beside it, solved for x.
__device__ double product(const double *p, int i, int n)
{
    return 2 * p[i] - (i > 0 ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0);
}

__device__ double dot(cg::grid_group grid, double mine, double *place)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    double sum = cg::reduce(warp, mine, cg::plus<double>());
    if (warp.thread_rank() == 0)
        atomicAdd(place, sum);
    grid.sync();
    return *(volatile double *)place;
}

// ``sums`` has two places for each step, all 0. Every thread has one row.
extern "C" __global__ void conjugate_gradients(const double *b, double *x, double *p, double *sums,
                                               int n, double tolerance, int *steps)
{
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    bool there = i < n;
    double residual = there ? b[i] : 0, solution = 0;
    if (there)
        p[i] = residual;
    double squared = dot(grid, residual * residual, sums++);
    int step = 0;
    for (; squared > tolerance && step < 2 * n; step++) {
        double q = there ? product(p, i, n) : 0;
        double alpha = squared / dot(grid, there ? p[i] * q : 0, sums++);
        solution += alpha * (there ? p[i] : 0);
        residual -= alpha * q;
        double next = dot(grid, residual * residual, sums++);
        if (there)
            p[i] = residual + next / squared * p[i];
        squared = next;
        grid.sync();
    }
    if (there)
        x[i] = solution;
    if (i == 0)
        *steps = step;
}
