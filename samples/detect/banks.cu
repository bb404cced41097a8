// Lanes of a warp that use the same bank of shared memory take turns: with a stride of 8 words,
// eight of them do. --stats tells how often.

extern "C" __global__ void banks(int* out, int stride) {
    __shared__ int table[32 * 32];
    table[threadIdx.x * stride] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = table[(31 - threadIdx.x) * stride];
}
