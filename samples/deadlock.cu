// FAULTY ON PURPOSE: the two halves of a block wait at two different barriers, for each other.
//
// Barriers 1 and 2 both want all the threads of the block. Each half arrives at one of them and
// waits for the other half, which is waiting elsewhere.

extern "C" __global__ void deadlock() {
    if (threadIdx.x < blockDim.x / 2) {
        asm volatile("barrier.sync 1;");
    } else {
        asm volatile("barrier.sync 2;");
    }
}
