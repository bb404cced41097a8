// An image written through a surface. The x coordinate of a surface counts bytes, not texels.

extern "C" __global__ void gradient(cudaSurfaceObject_t image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 color = make_uchar4(x, y, x ^ y, 255);
    surf2Dwrite(color, image, x * (int)sizeof(uchar4), y);
}
