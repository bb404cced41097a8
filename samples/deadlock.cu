// FAULTY ON PURPOSE: the two halves of a block wait for each other at two different barriers.
//
// Barriers 1 and 2 both expect all threads of the block. Each half arrives at one of them and
// waits for the other half, which waits at the other barrier.

extern "C" __global__ void deadlock() {
    if (threadIdx.x < blockDim.x / 2) {
        asm volatile("barrier.sync 1;");
    } else {
        asm volatile("barrier.sync 2;");
    }
}
