// printf on the device, one thread after the other so that the order is certain.
// nvcc -arch=compute_80

#include <stdio.h>

extern "C" __global__ void print_formats(int number, double fraction, const int *written)
{
    if (threadIdx.x != 0)
        return;
    printf("int %d|%5d|%-5d|%05d|%+d|%x|%#X|%o\n", number, number, number, number, number, number,
           number, number);
    printf("wide %lld|%llu|%llx|%ld|%hd|%hu\n", -1234567890123LL, ~0ULL, 0xfedcba9876543210ULL, -5L,
           (short)-3, (unsigned short)200);
    printf("float %f|%.3f|%10.2f|%-10.1f|%e|%G|%g\n", fraction, fraction, fraction, fraction,
           fraction, fraction * 1e10, fraction * 1e-10);
    printf("text %s|%10s|%-6s|%.2s|%c|%%\n", "word", "right", "left", "cut", 'x');
    printf("%d %s %d %s %f\n", 1, "two", 3, "four", 5.0f);
    int count = printf("%d and %d\n", written[0], written[1]);
    printf("%d\n", count);
    printf("infinity %f, nothing\n", 1.0 / 0.0);
}

// Every thread in turn, by a chain of barriers, prints what it holds.
extern "C" __global__ void print_in_turn(const float *values)
{
    for (int turn = 0; turn < blockDim.x; turn++) {
        if (turn == threadIdx.x)
            printf("thread %2d of block %d: %.2f\n", threadIdx.x, blockIdx.x, values[turn]);
        __syncthreads();
    }
}
