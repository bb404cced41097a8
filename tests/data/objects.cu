// Reads of textures and writes of surfaces of all geometries, a place to a thread. `objects.ptx` beside it is what
// nvcc 13.0 gave for it: nvcc -ptx -arch=sm_75 objects.cu, then `.version 8.0`.
// A place is x, y, z and a layer or a level.

#define READ(name, type, expression)                                                                   \
    extern "C" __global__ void name(cudaTextureObject_t t, const float4 *at, type##4 *out, int n) {    \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        if (i < n) {                                                                                   \
            float4 p = at[i];                                                                          \
            out[i] = expression;                                                                       \
        }                                                                                              \
    }

READ(linear, float, tex1Dfetch<float4>(t, (int)p.x))
READ(read_1d, float, tex1D<float4>(t, p.x))
READ(read_2d, float, tex2D<float4>(t, p.x, p.y))
READ(read_3d, float, tex3D<float4>(t, p.x, p.y, p.z))
READ(read_a1d, float, tex1DLayered<float4>(t, p.x, (int)p.w))
READ(read_a2d, float, tex2DLayered<float4>(t, p.x, p.y, (int)p.w))
READ(read_cube, float, texCubemap<float4>(t, p.x, p.y, p.z))
READ(read_acube, float, texCubemapLayered<float4>(t, p.x, p.y, p.z, (int)p.w))
READ(level_2d, float, tex2DLod<float4>(t, p.x, p.y, p.w))
READ(gather_2d, float, tex2Dgather<float4>(t, p.x, p.y, 0))
READ(int_2d, int, tex2D<int4>(t, p.x, p.y))
READ(uint_2d, uint, tex2D<uint4>(t, p.x, p.y))

// The textures of an array in memory, and one in a struct.

extern "C" __global__ void table(const cudaTextureObject_t *textures, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(textures[i], 0.5f + i);
}

struct Lens {
    int scale;
    cudaTextureObject_t texture;
};

extern "C" __global__ void lens(Lens lens, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = lens.scale * tex1D<float>(lens.texture, 0.5f + i);
}

// An array through both: what the texture reads is from before the launch.

extern "C" __global__ void twice(cudaTextureObject_t t, cudaSurfaceObject_t s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    surf1Dwrite(2 * tex1D<int>(t, x + 0.5f), s, 4 * x);
}

// Every texel gets one more than before.

#define PLACE                                                                                          \
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;          \
    int z = blockIdx.z * blockDim.z + threadIdx.z;                                                     \
    if (x < 0 || y < 0 || z < 0) return;

extern "C" __global__ void write_1d(cudaSurfaceObject_t s) {
    PLACE
    surf1Dwrite(surf1Dread<int>(s, 4 * x) + 1, s, 4 * x);
}

extern "C" __global__ void write_2d(cudaSurfaceObject_t s) {
    PLACE
    surf2Dwrite(surf2Dread<int>(s, 4 * x, y) + 1, s, 4 * x, y);
}

extern "C" __global__ void write_3d(cudaSurfaceObject_t s) {
    PLACE
    surf3Dwrite(surf3Dread<int>(s, 4 * x, y, z) + 1, s, 4 * x, y, z);
}

extern "C" __global__ void write_a1d(cudaSurfaceObject_t s) {
    PLACE
    surf1DLayeredwrite(surf1DLayeredread<int>(s, 4 * x, z) + 1, s, 4 * x, z);
}

extern "C" __global__ void write_a2d(cudaSurfaceObject_t s) {
    PLACE
    surf2DLayeredwrite(surf2DLayeredread<int>(s, 4 * x, y, z) + 1, s, 4 * x, y, z);
}

extern "C" __global__ void write_bytes(cudaSurfaceObject_t s, int width) {
    PLACE
    if (x < width) surf2Dwrite((unsigned char)(16 * y + x), s, x, y);
}
