// A kernel for each fault that ends a launch, and two that come back: what the fault matrix launches
// (tests/support/fault_matrix.py, docs/evidence/reliability.md).
//
// Compiled by
//     nvcc -ptx -lineinfo -arch=compute_75 faults.cu
//     sed -i -E 's/^\.version .*/.version 8.0/; s,"/[^"]*/,",' faults.ptx

#include <cassert>

__managed__ int counter = 0;

extern "C" __global__ void good(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = i;
    }
    if (i == 0) {
        atomicAdd(&counter, 1);
    }
}

// Takes n milliseconds, so that something can happen meanwhile.
extern "C" __global__ void slow(int* out, int n) {
    unsigned long long now, start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < n * 1000000ull);
    out[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void illegal_address(int* out, int n) {
    *reinterpret_cast<volatile int*>(static_cast<long long>(n) << 4) = 1;  // no allocation lies so low
}

extern "C" __global__ void out_of_bounds(int* out, int n) {
    out[static_cast<long long>(n) << 32] = 1;
}

extern "C" __global__ void misaligned(int* out, int n) {
    *reinterpret_cast<volatile int*>(reinterpret_cast<char*>(out) + 1) = 1;
}

extern "C" __global__ void trap(int* out, int n) {
    __trap();
}

extern "C" __global__ void assertion(int* out, int n) {
    assert(n < 0);
    out[0] = n;
}

__device__ __noinline__ int descend(volatile int* out, int depth) {
    volatile int frame[1024];  // 4 KiB, so that no stack is large enough for long
    frame[depth & 1023] = depth;
    return depth == 0 ? frame[0] : descend(out, depth - 1) + frame[depth & 1023] + out[0];
}

extern "C" __global__ void stack_overflow(int* out, int n) {
    out[0] = descend(out, n * 1000);
}

extern "C" __global__ void endless(int* out, int n) {
    while (*static_cast<volatile int*>(out) != -1) {
    }
}

extern "C" __global__ void heap_exhausted(int* out, int n) {
    for (;;) {  // nobody looks at what malloc returns
        int* block = static_cast<int*>(malloc(1 << 20));
        *block = n;
        out[0] = *block;
    }
}
