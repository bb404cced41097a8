/* The samples that emulator.py times, line by line in OpenCL C for Oclgrind. Where they differ:
 * OpenCL 1.2 has no shuffles and no atomic addition of floats, so `reduce` halves in local memory
 * and adds by compare-and-swap. */

#define TILE 16

kernel void saxpy(float a, global const float *x, global float *y, int n) {
    int i = get_global_id(0);
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

kernel void matmul_naive(global const float *a, global const float *b, global float *c,
                         int m, int n, int k) {
    int row = get_global_id(1);
    int column = get_global_id(0);
    if (row >= m || column >= n) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += a[row * k + i] * b[i * n + column];
    }
    c[row * n + column] = sum;
}

kernel void matmul_tiled(global const float *a, global const float *b, global float *c,
                         int m, int n, int k) {
    local float a_tile[TILE][TILE];
    local float b_tile[TILE][TILE];

    int x = get_local_id(0);
    int y = get_local_id(1);
    int row = get_group_id(1) * TILE + y;
    int column = get_group_id(0) * TILE + x;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        b_tile[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int i = 0; i < TILE; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

static void add(volatile global float *total, float value) {
    union { unsigned int bits; float number; } old, new;
    do {
        old.number = *total;
        new.number = old.number + value;
    } while (atomic_cmpxchg((volatile global unsigned int *)total, old.bits, new.bits) != old.bits);
}

kernel void reduce(global const float *x, global float *total, int n) {
    local float sums[256];

    float sum = 0.0f;
    int stride = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += stride) {
        sum += x[i];
    }

    int me = get_local_id(0);
    sums[me] = sum;
    for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < width) {
            sums[me] += sums[me + width];
        }
    }
    if (me == 0) {
        add(total, sums[0]);
    }
}

kernel void histogram(global const uchar *data, global unsigned int *bins, int n) {
    local unsigned int mine[256];

    for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0)) {
        mine[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int stride = get_global_size(0);
    for (int i = get_global_id(0); i < n; i += stride) {
        atomic_add(&mine[data[i]], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int bin = get_local_id(0); bin < 256; bin += get_local_size(0)) {
        atomic_add(&bins[bin], mine[bin]);
    }
}

kernel void mandelbrot(global uchar *image, int width, int height,
                       float2 center, float pixel, int limit) {
    int column = get_global_id(0);
    int row = get_global_id(1);
    if (column >= width || row >= height) {
        return;
    }
    float c_re = center.x + pixel * (column - 0.5f * (width - 1));
    float c_im = center.y + pixel * (row - 0.5f * (height - 1));

    float re = 0.0f;
    float im = 0.0f;
    int steps = 0;
    while (steps < limit && re * re + im * im <= 4.0f) {
        float next_re = re * re - im * im + c_re;
        im = 2.0f * re * im + c_im;
        re = next_re;
        ++steps;
    }
    image[row * width + column] = steps;
}
