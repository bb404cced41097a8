// Loops whose length differs by lane: Mandelbrot's and Julia's sets, Newton's method, distances by marching.
// nvrtc --std=c++17 -lineinfo

extern "C" __global__ void mandelbrot(unsigned short *image, int width, int height, double2 center,
                                      double pixel, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    double cx = center.x + (x - width / 2) * pixel, cy = center.y + (y - height / 2) * pixel;
    double zx = 0, zy = 0;
    int count = 0;
    while (count < limit && __dadd_rn(__dmul_rn(zx, zx), __dmul_rn(zy, zy)) <= 4) {
        double next = __dadd_rn(__dsub_rn(__dmul_rn(zx, zx), __dmul_rn(zy, zy)), cx);
        zy = __dadd_rn(__dmul_rn(2 * zx, zy), cy);
        zx = next;
        count++;
    }
    image[y * width + x] = count;
}

// Julia's set in 32-bit fixed point, with 64-bit products: 28 bits after the point.
extern "C" __global__ void julia_fixed(unsigned char *image, int width, int height, int2 c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int zx = (x - width / 2) * ((3 << 28) / width), zy = (y - height / 2) * ((3 << 28) / height);
    int count = 0;
    for (; count < 200; count++) {
        long long xx = (long long)zx * zx, yy = (long long)zy * zy;
        if (xx + yy > 4LL << 56)
            break;
        int next = (int)((xx - yy) >> 28) + c.x;
        zy = (int)(((long long)zx * zy) >> 27) + c.y;
        zx = next;
    }
    image[y * width + x] = count;
}

// The root of z³ = 1 that Newton's method ends at; `break` from the middle and `continue`.
extern "C" __global__ void newton(unsigned char *roots, float *steps, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size * size)
        return;
    float x = (i % size - size / 2 + 0.5f) * 4 / size, y = (i / size - size / 2 + 0.5f) * 4 / size;
    int step = 0;
    unsigned char root = 3;
    for (; step < 60; step++) {
        float xx = x * x, yy = y * y, length = xx + yy;
        if (length < 1e-6f) {
            x += 0.01f;
            continue;
        }
        float scale = 3 * length * length;
        float nx = (2 * x) / 3 + (xx - yy) / scale, ny = (2 * y) / 3 - (2 * x * y) / scale;
        float moved = fabsf(nx - x) + fabsf(ny - y);
        x = nx;
        y = ny;
        if (moved < 1e-5f) {
            root = x > 0.5f ? 0 : y > 0 ? 1 : 2;
            break;
        }
    }
    roots[i] = root;
    steps[i] = step;
}
