// nvcc -arch=compute_80 -G -ptx
__global__ void reverse(float *y)
{
    __shared__ float tile[32];
    int i = threadIdx.x;
    tile[i] = y[i];
    __syncthreads();
    y[i] = tile[31 - i];
}
