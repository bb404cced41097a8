// Functions that are compiled apart and linked: their stack is told of the kernel, not in its frame.
__device__ __noinline__ float deep(float *p, int i) {
    float t[16];
    for (int k = 0; k < 16; k++) t[k] = p[k * i];
    return t[i] + t[(int)p[0]];
}

__device__ __noinline__ float outer(float *p, int i) {
    float t[20];
    for (int k = 0; k < 20; k++) t[k] = p[k * i];
    return t[i] + t[(int)p[0]] + deep(p, i);
}

__device__ __noinline__ int again(int n, int *q) {
    int t[9];
    for (int k = 0; k < 9; k++) t[k] = q[k * n];
    return n < 2 ? t[q[0]] : n * again(n - 1, q) + t[n];
}

extern "C" __global__ void calls(float *p, int i) { p[i] = outer(p, i); }

extern "C" __global__ void recursive(int *p, int i) { p[i] = again(i, p); }

extern "C" __global__ void alone(float *p, int i) { p[i] = i; }
