// The Mandelbrot set as a gray image: each pixel is the number of steps of z = z*z + c before |z|
// exceeds 2, at most `limit`.
//
// Neighboring threads leave the loop after different numbers of steps: this is divergence.
// `center` is a CUDA vector type that is passed by value.

extern "C" __global__ void mandelbrot(unsigned char* image, int width, int height,
                                      float2 center, float pixel, int limit) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) {
        return;
    }

    // The pixels are symmetric about `center`, so an image about the real axis is symmetric.
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
