// Prints a line from every thread.
//
// The text goes into a buffer on the device, which the host empties when it synchronizes. The order
// of lines from different warps and blocks is undefined.

extern "C" __global__ void hello(int year, double version) {
    printf("hello from block %d, thread %d: the year is %d, the version %.1f\n",
           blockIdx.x, threadIdx.x, year, version);
}
