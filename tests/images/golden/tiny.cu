// One small kernel, for files of which the container matters.
struct Large {
    char bytes[LARGE];
};

extern "C" __global__ void tiny(Large large, float3 v, float *out) {
    __shared__ float sh[4];
    sh[threadIdx.x & 3] = v.x;
    __syncthreads();
    out[0] = sh[large.bytes[1] & 3];
}
