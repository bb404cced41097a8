// Accesses of a warp's lanes to the same bank of shared memory are serialized: with a stride of
// 8 words, eight lanes use one bank. --stats counts the conflicts.

extern "C" __global__ void banks(int* out, int stride) {
    __shared__ int table[32 * 32];
    table[threadIdx.x * stride] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = table[(31 - threadIdx.x) * stride];
}
