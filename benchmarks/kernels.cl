/* The kernels that emulator.py and engines.py time, in OpenCL C for Oclgrind and PoCL: the same grid,
 * blocks and tiles in local memory, line by line where that is possible. Where they differ: OpenCL 1.2
 * has no shuffles, no atomic addition of floats and no matrix instructions. `reduce` halves in local
 * memory and adds by compare-and-swap, `scan_block` doubles in local memory, `product_pipelined`
 * multiplies in f32 what the kernel gives to mma, and `attention` multiplies tiles of f32 in place of
 * wgmma. */

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

kernel void scan_block(global const int4 *in, global int4 *out, global int *totals) {
    local int sums[2][256];

    int4 x = in[get_global_id(0)];
    x.y += x.x;
    x.z += x.y;
    x.w += x.z;

    int me = get_local_id(0);
    int stage = 0;
    sums[stage][me] = x.w;
    for (int distance = 1; distance < 256; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[stage ^ 1][me] = sums[stage][me] + (me >= distance ? sums[stage][me - distance] : 0);
        stage ^= 1;
    }
    int before = sums[stage][me] - x.w;
    out[get_global_id(0)] = x + before;
    if (me == 255) {
        totals[get_group_id(0)] = sums[stage][me];
    }
}

#define SIDE 32

kernel void product_pipelined(global const half *a, global const half *b, global float *c,
                              int n, int k) {
    local float left[SIDE][SIDE];
    local float right[SIDE][SIDE];

    int x = get_local_id(0) % SIDE;
    int y = get_local_id(0) / SIDE * 8;
    int row = get_group_id(1) * SIDE + y;
    int column = get_group_id(0) * SIDE + x;

    float sums[8] = {0};
    for (int start = 0; start < k; start += SIDE) {
        for (int i = 0; i < 8; ++i) {
            left[y + i][x] = vload_half((row + i) * k + start + x, a);
            right[y + i][x] = vload_half((start + y + i) * n + column, b);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int inner = 0; inner < SIDE; ++inner) {
            float factor = right[inner][x];
            for (int i = 0; i < 8; ++i) {
                sums[i] += left[y + i][inner] * factor;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 8; ++i) {
        c[(row + i) * n + column] = sums[i];
    }
}

#define DEPTH 64
#define ROWS 64
#define PART 32

/* Of each tensor map, the buffer; its sizes and steps are not used. */
#define TENSOR(name) \
    global half *name, int name##_rows, int name##_columns, long name##_step, long name##_next

kernel void attention(TENSOR(q), TENSOR(k), TENSOR(v), TENSOR(o), int length, float scale,
                      long scratch, long more_scratch) {
    local float queries[ROWS][DEPTH];
    local float keys[DEPTH][ROWS];
    local float values[ROWS][DEPTH];
    local float weights[ROWS][ROWS];
    local float parts[ROWS][2];

    int row = get_local_id(0) / 2;
    int side = get_local_id(0) % 2;
    int part = side * PART;
    int head = get_group_id(1) * length;
    int place = (head + get_group_id(0) * ROWS + row) * DEPTH + part;

    for (int i = 0; i < PART; ++i) {
        queries[row][part + i] = vload_half(place + i, q);
    }
    float largest = -INFINITY;
    float total = 0.0f;
    float result[PART] = {0};
    for (int start = 0; start < length; start += ROWS) {
        int from = (head + start + row) * DEPTH + part;
        for (int i = 0; i < PART; ++i) {
            keys[part + i][row] = vload_half(from + i, k);
            values[row][part + i] = vload_half(from + i, v);
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        float scores[PART] = {0};
        for (int d = 0; d < DEPTH; ++d) {
            float query = queries[row][d];
            for (int i = 0; i < PART; ++i) {
                scores[i] += query * keys[d][part + i];
            }
        }
        float larger = -INFINITY;
        for (int i = 0; i < PART; ++i) {
            scores[i] *= scale;
            larger = fmax(larger, scores[i]);
        }
        parts[row][side] = larger;
        barrier(CLK_LOCAL_MEM_FENCE);

        larger = fmax(largest, fmax(larger, parts[row][1 - side]));
        float factor = exp2(largest - larger);
        total *= factor;
        for (int i = 0; i < PART; ++i) {
            float weight = exp2(scores[i] - larger);
            weights[row][part + i] = weight;
            total += weight;
            result[i] *= factor;
        }
        largest = larger;
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int j = 0; j < ROWS; ++j) {
            float weight = weights[row][j];
            for (int i = 0; i < PART; ++i) {
                result[i] += weight * values[j][part + i];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    parts[row][side] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    total += parts[row][1 - side];
    for (int i = 0; i < PART; ++i) {
        vstore_half(result[i] / total, place + i, o);
    }
}
