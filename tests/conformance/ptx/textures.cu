// Fetches through texture objects, as a compiler emits them. `textures.ptx` beside it is what nvcc 13.0 gave
// for it, with the .version it needs: nvcc -ptx -arch=sm_90 textures.cu, then `.version 8.0`.
// Every thread makes one fetch; what it gets is stored as four words.

extern "C" __global__ void fetch_float(cudaTextureObject_t texture, const int* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(texture, x[i]);
}

extern "C" __global__ void fetch_short2(cudaTextureObject_t texture, const int* x, int2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    short2 value = tex1Dfetch<short2>(texture, x[i]);
    out[i] = make_int2(value.x, value.y);
}

extern "C" __global__ void fetch_uint4(cudaTextureObject_t texture, const int* x, uint4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<uint4>(texture, x[i]);
}

// --- one dimension -------------------------------------------------------------------------------

extern "C" __global__ void float_1d(cudaTextureObject_t texture, const float* x, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float4>(texture, x[i]);
}

extern "C" __global__ void int_1d(cudaTextureObject_t texture, const float* x, int4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<int4>(texture, x[i]);
}

// --- two dimensions ------------------------------------------------------------------------------

extern "C" __global__ void float_2d(cudaTextureObject_t texture, const float2* at, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float4>(texture, at[i].x, at[i].y);
}

extern "C" __global__ void uint_2d(cudaTextureObject_t texture, const float2* at, uint4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<uint4>(texture, at[i].x, at[i].y);
}

extern "C" __global__ void whole_2d(cudaTextureObject_t texture, const int2* at, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v;  // what tex2D of integers is in other languages; CUDA C++ has no name for it
    asm("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(texture), "r"(at[i].x), "r"(at[i].y));
    out[i] = v;
}

extern "C" __global__ void level_2d(cudaTextureObject_t texture, const float2* at, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2DLod<float4>(texture, at[i].x, at[i].y, 0.0f);
}

extern "C" __global__ void grad_2d(cudaTextureObject_t texture, const float2* at, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 none = make_float2(0.0f, 0.0f);
    if (i < n) out[i] = tex2DGrad<float4>(texture, at[i].x, at[i].y, none, none);
}

// --- of two textures, and of none ----------------------------------------------------------------

extern "C" __global__ void either(cudaTextureObject_t even, cudaTextureObject_t odd, float* out) {
    int i = threadIdx.x;
    out[i] = tex1Dfetch<float>(i % 2 ? odd : even, i / 2);
}

extern "C" __global__ void size_2d(cudaTextureObject_t texture, int* out) {
    asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(texture));
    asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(texture));
}
