// FAULTY ON PURPOSE: two writes outside the buffer, one near and one far.
//
// A GPU notices only what falls outside the pages mapped into the address space. A near miss lands in
// somebody else's memory and the launch reports success; it takes a guard zone or a checked device
// to find it.

extern "C" __global__ void one_past(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {  // should be <
        out[i] = i;
    }
}

extern "C" __global__ void far_past(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // As when two 32-bit halves of an index are put together the wrong way round.
        long long index = static_cast<long long>(i) << 32;
        out[index] = i;
    }
}
