// FAULTY ON PURPOSE: two writes outside the buffer, one near and one far.
//
// A GPU detects only accesses outside the mapped pages. A near miss overwrites other memory and the
// launch reports success. Guard zones, or a device that checks the bounds of every access, detect
// it.

extern "C" __global__ void one_past(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {  // should be <
        out[i] = i;
    }
}

extern "C" __global__ void far_past(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // As if the two 32-bit halves of an index were exchanged.
        long long index = static_cast<long long>(i) << 32;
        out[index] = i;
    }
}
