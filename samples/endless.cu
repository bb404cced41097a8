// FAULTY ON PURPOSE: waits for a flag that nobody sets.
//
// The pointer is volatile, so the compiler must read the flag again in every round. (A loop without
// effects may be assumed to end, and be removed.)

extern "C" __global__ void endless(const volatile int* flag) {
    while (*flag == 0) {
    }
}
