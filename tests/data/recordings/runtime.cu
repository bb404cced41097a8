// Constant, struct of pointers, dynamic shared memory, two streams; its own check; exit code 3.
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Vectors { const float *x; float *y; int n; };
__constant__ float factor[4];
__device__ unsigned counter;
__global__ void blend(Vectors v, float a) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < v.n ? v.x[i] : 0;
    __syncthreads();
    if (i < v.n) v.y[i] = a * tile[threadIdx.x ^ 1] + factor[i & 3];
    if (threadIdx.x == 0) atomicAdd(&counter, 1u);
}
__global__ void gather(float **table, float *sum, int n) {
    float total = 0;
    for (int i = 0; i < n; i++) total += table[i][threadIdx.x];
    sum[threadIdx.x] = total;
}
int main() {
    const int n = 1 << 14;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++) x[i] = i;
    float f[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(factor, f, sizeof f);
    cudaStream_t s[2];
    float *dx[2], *dy[2], **table, *sum;
    for (int k = 0; k < 2; k++) {
        cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
        cudaMalloc(&dx[k], n * 4);
        cudaMalloc(&dy[k], n * 4);
        cudaMemcpyAsync(dx[k], x.data(), n * 4, cudaMemcpyHostToDevice, s[k]);
        Vectors v{dx[k], dy[k], n};
        blend<<<n / 256, 256, 256 * 4, s[k]>>>(v, 2.f + k);
    }
    cudaMalloc(&table, 16);
    cudaMalloc(&sum, 256 * 4);
    cudaDeviceSynchronize();
    cudaMemcpy(table, dy, 16, cudaMemcpyHostToDevice);
    gather<<<1, 256>>>(table, sum, 2);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(y.data(), dy[1], n * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (y[i] != 3.f * x[i ^ 1] + f[i & 3]) { printf("wrong at %d\n", i); return 4; }
    printf("ok %s\n", cudaGetErrorString(e));
    return 3;
}
