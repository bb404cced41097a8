// nvcc -arch=compute_80 -G -ptx
struct Pair {
    float factor;
    int bounds[2];
};

__device__ float scaled(float value, float factor)
{
    float result = value * factor;
    return result;
}

extern "C" __global__ void scale(float *y, const float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair pair = {factor, {i, n}};
    if (i < n) {
        float t = scaled(x[i], pair.factor);
        y[i] += t;
    }
}
