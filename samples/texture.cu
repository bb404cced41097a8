// An image rotated around its center, read through a texture with linear filtering: the hardware interpolates between
// four texels, and texels outside of the image have the border color.

extern "C" __global__ void rotate(cudaTextureObject_t image, float *rotated, int width, int height,
                                  float2 from, float2 direction)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    // The center of a texel is at one half; `from` is the size of the image.
    float u = x + 0.5f - 0.5f * width, v = y + 0.5f - 0.5f * height;
    float across = u * direction.x - v * direction.y + 0.5f * from.x;
    float down = u * direction.y + v * direction.x + 0.5f * from.y;
    rotated[y * width + x] = tex2D<float>(image, across, down);
}
