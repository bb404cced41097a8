// Kernels that never end, in states that a report of a time limit describes.
//
// Compiled by NVRTC 13, as by
//     nvcc -ptx -lineinfo -arch=compute_75 hangs.cu
//     sed -i -E 's/^\.version .*/.version 8.0/; s,"/[^"]*/,",' hangs.ptx

#include <cstdio>

// A race, then one thread of each block polls while the others wait for it at a barrier.
extern "C" __global__ void at_a_barrier(volatile int *flag, int *y, int n) {
    __shared__ int part[64];
    part[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = part[63 - threadIdx.x];
    if (threadIdx.x == 0) {
        printf("waiting\n");
        while (*flag == 0) {}
    } __syncthreads();
}

// Six threads poll, each in a loop of its own.
extern "C" __global__ void in_six_loops(volatile int *flag) {
    if (threadIdx.x == 0) while (*flag < 1) {}
    if (threadIdx.x == 1) while (*flag < 2) {}
    if (threadIdx.x == 2) while (*flag < 3) {}
    if (threadIdx.x == 3) while (*flag < 4) {}
    if (threadIdx.x == 4) while (*flag < 5) {}
    if (threadIdx.x == 5) while (*flag < 6) {}
}
